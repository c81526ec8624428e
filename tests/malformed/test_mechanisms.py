"""Mechanisms: how they are made, what they take, and what a collector keeps."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

import uldp
from malformed.reports import (
    ELSEWHERE,
    MECHANISMS,
    ONE_SIZE,
    TWO_SIZES,
    URAP,
    impossible,
    not_of_the_type,
    not_reports,
    reports_of,
)
from malformed.table import (
    DAY,
    DOMAIN,
    HUGE,
    NOT_DOMAINS,
    NOT_FLAGS,
    NOT_INDICES,
    NOT_LABELS,
    NOT_LOSSES,
    NOT_MECHANISMS,
    NOT_SEEDS,
    NOT_STRINGS,
    UNIFORM,
    URR,
    Call,
    K,
    S,
    both_tests,
    call,
    counts,
    distribution,
    real,
    vector,
    whole,
)
from uldp import likelihood
from uldp.survey import choosing

ALL_SENSITIVE = uldp.RandomizedResponse(DOMAIN, 1.0)
NEVER_RIGHT = [1j, b"1", {1}, DAY, object()]


def calls_of_constructors() -> list[Call]:
    common = {"domain": (DOMAIN, NOT_DOMAINS), "epsilon": (1.0, real(0, -1, 9e-10, 501))}
    not_sizes = [
        *(0, -1, S, S + 1, 1.5, math.nan, HUGE, True, "2", b"2", 1j, [1, 2], [[1, 2, 3]], object()),
        *({}, {1: 0.5}, {1: 1.5, 2: -0.5}, {0: 1.0}, {S: 1.0}, {S + 1: 1.0}, {"1": 1.0}),
        *({1: None}, {1: "1"}, {1: math.nan}, {1.5: 1.0}, {True: 1.0}, {1: 1j}, [(1, 0.5), (2,)]),
    ]
    not_fields = {"theta": real(0, 1, -1, 2, 1e-81, "best", "", optional=True), "sizes": not_sizes}
    kinds = [
        call(kind, **common, **{name: (..., not_fields.get(name, NEVER_RIGHT)) for name in names})
        for kind in uldp.mechanisms.KINDS
        for names in [[field.name for field in fields(kind) if field.init][len(common) :]]
    ]
    sets = np.zeros((1, 2), dtype=np.uint8)
    not_sets = [1, "ab", [[0, 0]], sets[0], np.zeros((2, 2), dtype=np.uint8), sets + 0.0, object()]
    return [
        *kinds,
        call(
            uldp.Tally,
            law=(URR, NOT_MECHANISMS),
            n=(K, whole(-1, 0)),
            counts=([1] * K, [*counts(K), [K + 1] * K, [2] + [1] * (K - 1), [0] * K]),
        ),
        call(
            likelihood.Evidence,
            {"times": "times|sets"},
            law=(URAP, NOT_MECHANISMS),
            sets=(sets, not_sets),
            times=([1, 1], counts(2)),
            revealed=([0, 0], counts(K - S)),
        ),
    ]


def calls_of_sums() -> list[Call]:
    tally, evidence = URR.tally(reports_of(URR)), URR.evidence(reports_of(URR))
    not_added = [None, 1, "", [], object()]
    other_tallies = [ELSEWHERE.tally([0]), ALL_SENSITIVE.tally([0]), evidence]
    other_evidence = [ELSEWHERE.evidence([0]), ALL_SENSITIVE.evidence([0]), tally]
    return [
        call(lambda x: tally + x, {"x": "tally|Tally"}, x=(tally, not_added + other_tallies)),
        call(
            lambda x: evidence + x,
            {"x": "evidence|Evidence"},
            x=(evidence, not_added + other_evidence),
        ),
    ]


def calls_of_mechanism(mechanism: uldp.Mechanism) -> list[Call]:
    reports = reports_of(mechanism)
    wrong = not_reports(mechanism)
    tally = mechanism.tally(reports)
    right = tally.counts
    not_counts = [-right, right + 0.5, right + 1j, right[None], right[..., 1:], right + tally.n + 1]
    foreign = [*wrong, ELSEWHERE.tally([0]), ELSEWHERE.evidence([0])]
    no_tally = reports, [*foreign, reports[:0], mechanism.evidence(reports)]
    tallied = [tally] if mechanism.report_dtype.shape else []
    no_evidence = reports, [*foreign, reports[:0], *tallied]
    estimate = mechanism.estimate
    p_and_n = {"p": (UNIFORM, distribution(K)), "n": (9, whole(0, -1))}
    return [
        call(
            mechanism.privatize,
            values=(["a"], [*NOT_LABELS, 0, [0, 1]]),
            rng=(..., NOT_SEEDS),
            indices=(False, NOT_FLAGS),
        ),
        call(mechanism.privatize, values=([0], NOT_INDICES), indices=(True, [])),
        call(mechanism.tally, reports=(reports, wrong)),
        call(mechanism.check, reports=(reports, wrong)),
        call(mechanism.second_moment, p=(UNIFORM, vector(K, 1 / K))),
        call(
            uldp.Tally,
            law=(mechanism, []),
            n=(tally.n, whole(-1, 0)),
            counts=(tally.counts, not_counts),
        ),
        call(mechanism.possible, reports=(reports, not_of_the_type(mechanism))),
        call(mechanism.simulate, true_counts=([1] * K, counts(K)), rng=(..., NOT_SEEDS)),
        call(mechanism.evidence, reports=(reports, [*wrong, ELSEWHERE.tally([0]), *tallied])),
        call(estimate, reports=no_tally, method=(..., [*NOT_STRINGS, "EM", ""])),
        call(
            estimate,
            reports=no_tally,
            method=("threshold", []),
            alpha=(..., real(0, 1, -1, 2)),
            beta=(..., [1]),
        ),
        call(estimate, reports=no_tally, method=("norm_sub", []), alpha=(..., [0.5])),
        call(
            estimate,
            reports=no_evidence,
            method=("em", []),
            start=(UNIFORM, distribution(K)),
            steps=(1, whole(-1)),
            tolerance=(..., real(-1)),
            alpha=(..., [0.5]),
        ),
        call(
            estimate,
            reports=no_evidence,
            method=("mle", []),
            tolerance=(..., real(0, -1)),
            start=(..., [UNIFORM]),
        ),
        call(mechanism.maximum_likelihood, reports=no_evidence, tolerance=(..., real(0, -1))),
        call(mechanism.l1_loss, **p_and_n, exact=(..., NOT_FLAGS)),
        call(mechanism.l2_loss, **p_and_n),
        call(mechanism.worst_case, loss=("l1", NOT_LOSSES)),
    ]


CALLS = [
    *calls_of_constructors(),
    *calls_of_sums(),
    *(one for mechanism in MECHANISMS for one in calls_of_mechanism(mechanism)),
]
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_reports_are_possible_or_not(mechanism):
    wrong = impossible(mechanism)
    assert len(wrong) >= 5
    assert mechanism.possible(mechanism.outputs).all()
    assert not mechanism.possible(wrong).any()


@pytest.mark.parametrize("epsilon", [1e-9, 500.0])
def test_the_ends_of_the_range_of_epsilon(epsilon):
    """What is only just allowed gives no warning, infinity or NaN either."""
    registered = uldp.mechanisms.MECHANISMS
    blocks = [replace(mechanism, epsilon=epsilon) for mechanism in (ONE_SIZE, TWO_SIZES)]
    for mechanism in (*(make(DOMAIN, epsilon) for make in registered.values()), *blocks):
        reports = reports_of(mechanism)
        results = [
            *(mechanism.l1_loss(UNIFORM, 9, exact) for exact in (False, True)),
            *(mechanism.l2_loss(mechanism.worst_case(loss), 9) for loss in ("l1", "l2")),
            *mechanism.estimate(mechanism.simulate([4] * K, rng=1)),
            choosing.excess(mechanism),
        ]
        assert np.isfinite(results).all()
        for method in ("threshold", "norm_sub", "em", "mle"):
            estimate = mechanism.estimate(reports, method)
            assert (estimate >= 0).all()
            assert estimate.sum() == pytest.approx(1, abs=1e-6)
