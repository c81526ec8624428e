"""Errors, intervals, totals, changes and tests."""

from collections.abc import Sequence
from functools import wraps
from typing import Any

import numpy as np

import uldp
from malformed.reports import URAP, reports_of
from malformed.table import (
    NOT_FLAGS,
    NOT_MECHANISMS,
    NOT_STRINGS,
    UNIFORM,
    URR,
    Call,
    K,
    both_tests,
    call,
    distribution,
    real,
    weights,
)
from uldp import inference, personalized


@wraps(inference.homogeneity)
def homogeneity_of(tallies: Sequence[Any]) -> inference.ChiSquare:
    """Take as one argument what `homogeneity` takes as several."""
    return inference.homogeneity(*tallies)


@wraps(inference.marginal)
def marginal_of(tally: Any, factors: Any, confidence: float = 0.95) -> inference.EstimateTable:
    """Take as one argument what `marginal` takes as several."""
    return inference.marginal(tally, factors, confidence=confidence)


def calls_of_inference() -> list[Call]:
    reports = reports_of(URR)
    tally = URR.tally(reports)
    of_others = uldp.UtilityOptimizedRR(uldp.Domain(K), 1.0).tally([0, 1])
    not_tallies = [None, 1, "tally", reports, URR, URAP.evidence(reports_of(URAP)), object()]
    empty, alone = URR.tally([]), URR.tally(reports[:1])
    any_tally, two = (tally, [*not_tallies, empty]), (tally, [*not_tallies, empty, alone])
    of_tally = {"tally": "tally|reports"}
    level, weighted = (..., real(0, 1, -1, 2)), (UNIFORM, weights())
    flag = ..., NOT_FLAGS
    tagged = personalized.TaggedDomain(uldp.Domain([*"abcde"], ["a"]), ["home"])
    common = uldp.UtilityOptimizedRR(tagged, 1.0)
    of_common = common.tally([0, 1, 5, 2])
    many = URR.simulate(np.full(K, 1000), 1)
    cells = uldp.Domain.product(age=2, drug=2)
    of_cells = uldp.UtilityOptimizedRR(cells, 1.0).simulate([9, 9, 9, 9], 1)
    not_background = [
        *(1, "home", ["home"], {"work": UNIFORM}, {0: UNIFORM}),
        *({"home": wrong} for wrong in distribution(K, optional=True)),
    ]
    return [
        call(inference.covariance, tally=two),
        call(inference.standard_errors, tally=two),
        call(
            inference.intervals,
            of_tally,
            tally=any_tally,
            confidence=level,
            simultaneous=flag,
            clip=flag,
        ),
        call(inference.total, tally=two, weights=weighted, confidence=level),
        call(
            inference.difference,
            before=two,
            after=(tally, [*two[1], of_others]),
            weights=(..., weights(optional=True)),
            confidence=level,
            simultaneous=flag,
        ),
        call(
            personalized.total,
            of_tally,
            tally=(of_common, [*not_tallies, tally, common.tally([]), common.tally([1])]),
            background=({"home": UNIFORM}, not_background),
            weights=weighted,
            confidence=level,
        ),
        call(
            personalized.summary,
            {**of_tally, "law": "common|law"},
            law=(common, [*NOT_MECHANISMS, URR]),
            tally=(of_common, [*not_tallies, tally, common.tally([]), common.tally([1])]),
            background=({"home": UNIFORM}, not_background),
            confidence=level,
        ),
        call(
            inference.ratio,
            {**of_tally, "part": "part|whole"},
            tally=(many, [*not_tallies, empty, alone]),
            part=(UNIFORM, weights()),
            whole=(UNIFORM, [*weights(), -np.array(UNIFORM), np.zeros(K)]),
            confidence=level,
        ),
        call(
            marginal_of,
            of_tally,
            tally=(of_cells, [*not_tallies, tally, of_cells.law.tally([])]),
            factors=("age", [*NOT_STRINGS, "", "Age"]),
            confidence=level,
        ),
        call(
            inference.stratified,
            tallies=(
                {"a": tally, "b": tally},
                [
                    *(None, 1, [], {}, tally, [tally], {"a": tally, "b": of_others}),
                    *({"a": tally, "b": wrong} for wrong in two[1]),
                ],
            ),
            shares=([0.5, 0.5], distribution(2)),
            confidence=level,
        ),
        call(
            homogeneity_of,
            tallies=(
                [tally, tally],
                [[], [tally], [tally, of_others], *([tally, wrong] for wrong in any_tally[1])],
            ),
        ),
        call(
            inference.goodness_of_fit,
            of_tally,
            tally=any_tally,
            p=(UNIFORM, distribution(K)),
        ),
        call(
            inference.summary,
            of_tally,
            tally=any_tally,
            confidence=level,
            method=("norm_sub", [*NOT_STRINGS, "", "MLE"]),
            simultaneous=flag,
            clip=flag,
        ),
    ]


CALLS = calls_of_inference()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
