"""Estimators and the likelihood."""

from malformed.reports import URAP, reports_of
from malformed.table import (
    UNIFORM,
    URR,
    Call,
    K,
    both_tests,
    call,
    distribution,
    real,
    vector,
    whole,
)
from uldp import likelihood, tallies


def calls_of_estimators() -> list[Call]:
    reports, evidence = reports_of(URR), URAP.evidence(reports_of(URAP))
    not_tallies = [None, 1, "tally", reports, evidence, URR, object(), URR.tally([])]
    tally = URR.tally(reports), not_tallies
    not_evidence = [None, 1, "evidence", reports, tally[0], URAP, object()]
    nothing = URAP.evidence(reports_of(URAP)[:0])
    of_tally, of_evidence = {"tally": "tally|reports"}, {"evidence": "evidence|reports"}
    return [
        call(tallies.empirical, of_tally, tally=tally),
        call(tallies.norm_sub, of_tally, tally=tally),
        call(tallies.threshold, of_tally, tally=tally, alpha=(..., real(0, 1, -1, 2))),
        call(
            likelihood.maximum_likelihood,
            of_evidence,
            evidence=(evidence, [*not_evidence, nothing]),
            tolerance=(..., real(0, -1)),
        ),
        call(
            likelihood.em,
            of_evidence,
            evidence=(evidence, [*not_evidence, nothing]),
            start=(UNIFORM, distribution(K)),
            steps=(1, whole(-1)),
            tolerance=(..., real(-1)),
        ),
        call(
            likelihood.log_likelihood,
            evidence=(evidence, not_evidence),
            p=(UNIFORM, distribution(K)),
        ),
        call(
            likelihood.water_filling,
            {"counts": "counts|offsets"},
            counts=([1, 0, 2], [*vector(3, 1), [0, 0, 0], [-1, 1, 1]]),
            offsets=([1.0, 2.0, 0.0], [*vector(3, 1), [-1, 1, 1]]),
        ),
    ]


CALLS = calls_of_estimators()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
