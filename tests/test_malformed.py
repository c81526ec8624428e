"""Malformed arguments, by the thousand: each is refused by an error that names the argument.

The table lists the public functions, and for each of their arguments a right value and wrong ones.
Every wrong value is put in alone, among right ones. What may come of it is a ValueError or a
TypeError whose message names the argument; not a warning, another exception or a result.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uldp
from uldp import (
    choosing,
    collecting,
    datasets,
    estimators,
    experiments,
    garbling,
    likelihood,
    limits,
    losses,
    optimal_theta,
    osldp,
    personalized,
    privacy,
    regimes,
    wire,
)


@dataclass
class Call:
    """A function, its right and wrong arguments, and what messages call them if not by name."""

    function: Callable[..., Any]
    right: dict[str, Any]
    wrong: dict[str, list[Any]]
    called: dict[str, str]
    runs: bool

    @property
    def name(self) -> str:
        return self.function.__qualname__


def call(
    function: Callable[..., Any],
    called: dict[str, str] | None = None,
    runs: bool = True,
    **arguments: tuple[Any, list[Any]],
) -> Call:
    """Each argument comes as its right value, or `...` to leave it out, and its wrong ones.

    With `runs` false the right arguments are not tried: they name files that are not there.
    """
    right = {name: value for name, (value, _) in arguments.items() if value is not ...}
    wrong = {name: values for name, (_, values) in arguments.items() if values}
    return Call(function, right, wrong, called or {}, runs)


K, S = 5, 3
DOMAIN = uldp.Domain(["a", "b", "c", "d", "e"], sensitive=["a", "b", "c"])
UNIFORM = np.full(K, 1 / K)
RR = uldp.RandomizedResponse(DOMAIN, 1.0)
RAPPOR = uldp.Rappor(DOMAIN, 1.0)
URR = uldp.UtilityOptimizedRR(DOMAIN, 1.0)
URAP = uldp.UtilityOptimizedRappor(DOMAIN, 1.0)
ONE_SIZE = uldp.UtilityOptimizedBlockDesign(DOMAIN, 1.0, sizes=2)
TWO_SIZES = uldp.UtilityOptimizedBlockDesign(DOMAIN, 1.0, sizes={1: 0.5, 2: 0.5})
ELSEWHERE = uldp.UtilityOptimizedRR(uldp.Domain(K, sensitive=[0]), 1.0)
MECHANISMS = [RR, RAPPOR, URR, URAP, ONE_SIZE, TWO_SIZES]
MATRIX = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
GRID = datasets.manhattan()

HUGE = 10**400
DAY = date(2019, 8, 14)
NOT_NUMBERS = [True, np.True_, "1", b"1", 1j, [1], np.ones(2), {}, {1}, DAY, object()]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float32("nan"), HUGE]
NOT_ARRAYS = ["abc", b"abc", {}, {0: 1}, {0, 1}, object(), DAY, [[0], [0, 1]]]
NOT_FLAGS = [None, 0, 1, "no", 0.5, [True], np.ones(2, dtype=bool), object()]
NOT_STRINGS = [None, 0, 1.5, True, b"l1", ["l1"], {"l1"}, {}, np.array(["l1", "l2"]), object()]
NOT_SEEDS = [-1, 1.5, math.nan, True, "seed", b"seed", 1j, {}, [-1], [1.5], ["a"], object()]
NOT_PATHS = [None, 1, 1.5, True, b"file", ["file"], {}, object()]
NOT_DOMAINS = [None, 5, ["a"], URR, object()]
NOT_MECHANISMS = [None, 1.0, "RR", DOMAIN, GRID, uldp.RandomizedResponse, [], object()]
NOT_NORMS = [*NOT_STRINGS, "tv", "L1", ""]
NOT_LABELS = [  # what is no value of `DOMAIN`, nor an array of some
    *(None, 1.5, math.nan, True, 1j, "z", "", b"a", -1, K, HUGE, {}, {"a"}, object(), DAY),
    *(["a", "z"], ["a", 0], ["a", None], [0, K], [-1], [0.0], [True], [b"a"], [["a"]], [HUGE]),
    *([[0], [0, 1]], [1j], [math.nan], np.array(["2019-08-14"], dtype="datetime64[D]")),
]
NOT_STOCHASTIC = [
    *NOT_ARRAYS,
    *(None, 1.0, [0.5, 0.5], [], [[]], np.empty((0, 2)), [[[1.0]]]),
    *([["a"]], [[None]], [[1j]], [[True]], [[math.nan, 1]], [[math.inf, -math.inf]], [[object()]]),
    *([[-0.5, 1.5]], [[0.5, 0.6]], [[0, 0]], [[1e308, 1e308]], [[HUGE, 0.5]], [[HUGE, 1]]),
    [[Fraction(1, 3), Fraction(1, 3)]],
]


def real(*outside: object, optional: bool = False) -> list[object]:
    """What is no finite real number, and numbers out of range; None unless it is the default."""
    return [*NOT_NUMBERS, *NOT_FINITE, *outside, *([] if optional else [None])]


def whole(*outside: object, optional: bool = False) -> list[object]:
    return [*real(*outside, optional=optional), 1.5, -HUGE, Fraction(3, 2)]


def vector(size: int, entry: float, optional: bool = False) -> list[object]:
    """What is no vector of that many finite real numbers."""
    right = np.full(size, entry)
    not_entries = [math.nan, math.inf, "a", b"a", None, 1j, HUGE, DAY, object(), [1]]
    return [
        *NOT_ARRAYS,
        *([] if optional else [None]),
        *([], right[0], right[:-1], np.append(right, 0), right[None], right[:, None]),
        np.ones(size, dtype=bool),
        *([wrong, *right[1:].tolist()] for wrong in not_entries),
    ]


def distribution(size: int, optional: bool = False) -> list[object]:
    fair = np.full(size, 1 / size)
    return [
        *vector(size, 1 / size, optional),
        *(0 * fair, 2 * fair, -fair, fair * (1 + 1e-6), np.full(size, 1e308)),
        np.append([-0.5, 1.5], np.zeros(size - 2)),
    ]


def counts(size: int) -> list[object]:
    too_large = ([entry] * size for entry in (-1, 1.5, 2**62, 2**64, 1e19))
    return [*vector(size, 1), *too_large]


def positions(size: int) -> list[object]:
    return [
        *NOT_ARRAYS,
        *(None, 0, 1.5, [0.0], [1.5], [math.nan], ["0"], [None], [1j], [object()], [[0]], [[]]),
        *([-1], [size], [0, 0], [HUGE], np.uint64([2**63])),
    ]


def mask(size: int) -> list[object]:
    return [
        *positions(size),
        *(True, np.ones(size + 1, dtype=bool), np.ones((1, size), dtype=bool), [True, None]),
    ]


def reports_of(mechanism: uldp.Mechanism) -> np.ndarray:
    return mechanism.privatize(np.arange(20) % K, rng=1)


def not_of_the_type(mechanism: uldp.Mechanism) -> list[object]:
    """What is no array of reports for its type or shape; reports of other mechanisms among it."""
    shape = mechanism.report_dtype.shape
    one = np.zeros([1, *shape], dtype=int)
    wrong = [
        *NOT_ARRAYS,
        *(None, 1.5, True, 1j, one.astype(str), one.astype(bool), one.astype(object) + HUGE),
        *(one + 0.0, one + 0.5, one * np.nan, one + 1j, one.astype(np.uint64) + 2**63, one[None]),
        *(reports_of(other) for other in MECHANISMS if other.report_dtype.shape != shape),
    ]
    if mechanism is RAPPOR:
        return [*wrong, one - 1, one + 256]
    return [*wrong, one - 1, one + 256, [[0]], [[0, 0, 0]]] if shape else wrong


def not_reports(mechanism: uldp.Mechanism) -> list[object]:
    """What a mechanism cannot have sent."""
    wrong = not_of_the_type(mechanism)
    if mechanism is RAPPOR:
        return [*wrong, [[1 << K]]]
    if not mechanism.report_dtype.shape:
        return [*wrong, [-1], [K], [256]]
    wrong += [[[1 << S, 0]], [[1, K - S + 1]], [[0, 255]]]
    if isinstance(mechanism, uldp.UtilityOptimizedBlockDesign):
        wrong += [[[0b111, 0]], [[0, 0]], [[0b011, 1]], [[0b011, 0], [0b111, 0]]]
    return wrong


def calls_of_domains() -> list[Call]:
    not_labels = [
        *(None, True, 1.5, math.nan, "abc", b"abc", {"a", "b"}, object(), 0, -1, 2**31, HUGE, 1j),
        *([], [None], ["a", 1], ["a", "a"], [1.5], [True], [["a"]], [b"a"], [0, 0], [math.nan]),
    ]
    not_sensitive = [
        *(None, 0, 1.5, "ab", b"\x00", object(), ["z"], ["a", "a"], [K], [-1], [0, 0], [0.0]),
        *([True], [None], [["a"]], [[0], [0, 1]], ["a", 0], [HUGE], [math.nan], [1j], [b"a"]),
    ]
    not_tags = [
        *(None, 1, "home", b"home", [], [""], ["home", "home"], [1], [None], [b"home"]),
        *(["home", 1], {1: 2}, object()),
    ]
    domain, tagged = uldp.Domain, personalized.TaggedDomain
    return [
        call(domain, values=([*"abcde"], not_labels), sensitive=(["a"], not_sensitive)),
        call(DOMAIN.indices, values=(["a"], NOT_LABELS)),
        call(tagged, base=(DOMAIN, NOT_DOMAINS), tags=(["home"], not_tags)),
    ]


def calls_of_constructors() -> list[Call]:
    common = {"domain": (DOMAIN, NOT_DOMAINS), "epsilon": (1.0, real(0, -1, 9e-10, 501))}
    theta = ..., real(0, 1, -1, 2, "best", "", optional=True)
    not_sizes = [
        *(0, -1, S, S + 1, 1.5, math.nan, HUGE, True, "2", b"2", 1j, [1, 2], [[1, 2, 3]], object()),
        *({}, {1: 0.5}, {1: 1.5, 2: -0.5}, {0: 1.0}, {S: 1.0}, {S + 1: 1.0}, {"1": 1.0}),
        *({1: None}, {1: "1"}, {1: math.nan}, {1.5: 1.0}, {True: 1.0}, {1: 1j}, [(1, 0.5), (2,)]),
    ]
    sets = np.zeros((1, 2), dtype=np.uint8)
    not_sets = [1, "ab", [[0, 0]], sets[0], np.zeros((2, 2), dtype=np.uint8), sets + 0.0, object()]
    return [
        call(uldp.RandomizedResponse, **common),
        call(uldp.UtilityOptimizedRR, **common),
        call(uldp.Rappor, **common, theta=theta),
        call(uldp.UtilityOptimizedRappor, **common, theta=theta),
        call(uldp.UtilityOptimizedBlockDesign, **common, sizes=(..., not_sizes)),
        call(
            uldp.Tally,
            mechanism=(URR, NOT_MECHANISMS),
            n=(K, whole(-1, 0)),
            counts=([1] * K, [*counts(K), [K + 1] * K]),
        ),
        call(
            likelihood.Evidence,
            {"times": "times|sets"},
            mechanism=(URAP, NOT_MECHANISMS),
            sets=(sets, not_sets),
            times=([1, 1], counts(2)),
            revealed=([0, 0], counts(K - S)),
        ),
    ]


def calls_of_sums() -> list[Call]:
    tally, evidence = URR.tally(reports_of(URR)), URR.evidence(reports_of(URR))
    not_added = [None, 1, "", [], object()]
    other_tallies = [ELSEWHERE.tally([0]), RR.tally([0]), evidence]
    other_evidence = [ELSEWHERE.evidence([0]), RR.evidence([0]), tally]
    return [
        call(lambda x: tally + x, {"x": "tallies|Tally"}, x=(tally, not_added + other_tallies)),
        call(
            lambda x: evidence + x,
            {"x": "evidence|Evidence"},
            x=(evidence, not_added + other_evidence),
        ),
    ]


def calls_of_mechanism(mechanism: uldp.Mechanism) -> list[Call]:
    reports = reports_of(mechanism)
    wrong = not_reports(mechanism)
    foreign = [*wrong, ELSEWHERE.tally([0]), ELSEWHERE.evidence([0])]
    no_tally = reports, [*foreign, reports[:0], mechanism.evidence(reports)]
    tallied = [mechanism.tally(reports)] if mechanism.report_dtype.shape else []
    no_evidence = reports, [*foreign, reports[:0], *tallied]
    estimate = mechanism.estimate
    p_and_n = {
        "p": (UNIFORM, distribution(K)),
        "n": (9, whole(0, -1)),
        "exact": (..., NOT_FLAGS),
    }
    return [
        call(mechanism.privatize, values=([0], NOT_LABELS), rng=(..., NOT_SEEDS)),
        call(mechanism.tally, reports=(reports, wrong)),
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
            steps=(2, whole(-1)),
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
        call(mechanism.l1_loss, **p_and_n),
        call(mechanism.l2_loss, **p_and_n),
        call(mechanism.worst_case, norm=("l1", NOT_NORMS)),
    ]


def calls_of_estimators() -> list[Call]:
    reports, evidence = reports_of(URR), URAP.evidence(reports_of(URAP))
    not_tallies = [None, 1, "tally", reports, evidence, URR, object(), URR.tally([])]
    tally = URR.tally(reports), not_tallies
    not_evidence = [None, 1, "evidence", reports, tally[0], URAP, object()]
    nothing = URAP.evidence(reports_of(URAP)[:0])
    by_name = {
        "mechanism": (URR, NOT_MECHANISMS),
        "reports": (reports, [*not_reports(URR), ELSEWHERE.tally([0]), ELSEWHERE.evidence([0])]),
    }
    of_tally, of_evidence = {"tally": "tally|reports"}, {"evidence": "evidence|reports"}
    return [
        call(estimators.empirical, of_tally, tally=tally),
        call(estimators.norm_sub, of_tally, tally=tally),
        call(estimators.threshold, of_tally, tally=tally, alpha=(..., real(0, 1, -1, 2))),
        call(estimators.estimate, **by_name, method=("norm_sub", NOT_STRINGS)),
        call(estimators.as_tally, **by_name),
        call(estimators.as_evidence, **by_name),
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
            steps=(2, whole(-1)),
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


def calls_of_losses() -> list[Call]:
    mechanism, p = (URR, NOT_MECHANISMS), (UNIFORM, distribution(K))
    n, exact, norm = (9, whole(0, -1)), (..., NOT_FLAGS), ("l2", NOT_NORMS)
    s, k = (1, whole(-1, 3)), (2, whole(1, 0))
    sizes = {"s": (3, whole(-1)), "nu": (2, whole(-1))}
    epsilon = 1.0, real(0, -1, 9e-10)
    no_uRAP = [*NOT_MECHANISMS, URR, ONE_SIZE]
    nothing_sensitive = uldp.UtilityOptimizedRappor(uldp.Domain(2), 1.0)
    return [
        call(losses.variances, mechanism=mechanism, p=p),
        call(losses.l1_loss, mechanism=mechanism, p=p, n=n, exact=exact),
        call(losses.l2_loss, mechanism=mechanism, p=p, n=n, exact=exact),
        call(losses.worst_case, mechanism=mechanism, norm=norm),
        call(losses.worst_case_mass, mechanism=mechanism, norm=norm),
        call(regimes.worst_case_loss, mechanism=mechanism, norm=norm),
        call(regimes.rows, s=s, k=k, epsilon=epsilon),
        call(regimes.compare, norm=norm, s=s, k=k, epsilon=(..., real(0, -1, optional=True))),
        call(uldp.fundamental_limit, domain=(DOMAIN, NOT_DOMAINS), epsilon=epsilon),
        call(limits.saddle, **sizes, epsilon=epsilon),
        call(limits.saddle, s=(0, []), nu=(1, [0]), epsilon=epsilon),
        call(limits.single_size_losses, **sizes, epsilon=epsilon),
        call(limits.epsilon_from_which_uRR_is_optimal, **sizes),
        call(
            optimal_theta.best_theta,
            mechanism=(URAP, no_uRAP),
            norm=norm,
            p=(..., distribution(K, optional=True)),
        ),
        call(
            optimal_theta.l2_log_odds,
            s=sizes["s"],
            epsilon=epsilon,
            mass=(0.5, real(-0.1, 1.1)),
        ),
        call(optimal_theta.minimax_mass, **sizes, epsilon=epsilon),
        call(optimal_theta.minimax_log_odds, **sizes, epsilon=epsilon),
        call(optimal_theta.largest_epsilon_with_worst_mass_0, s=(3, whole(0, -1)), nu=sizes["nu"]),
        call(garbling.rappor_as_garbling, rappor=(URAP, [*no_uRAP, nothing_sensitive])),
    ]


def calls_of_choosing() -> list[Call]:
    domain, p = (DOMAIN, NOT_DOMAINS), (..., distribution(K, optional=True))
    n, loss = (10**6, whole(0, -1)), ("mse", [*NOT_STRINGS, "l1", ""])
    target = [*real(0, -1)]
    not_makers = [None, 1, "RR", URR, object(), [uldp.UtilityOptimizedRR], lambda d, e: None]
    not_lists = [*NOT_ARRAYS, None, 1, [-1], [[1]], ["1"], [math.nan], [HUGE], [None], [1j]]
    return [
        call(uldp.compare, domain=domain, epsilon=(1.0, real(0, -1)), n=n, p=p),
        call(
            choosing.users_needed,
            mechanism=(URR, NOT_MECHANISMS),
            loss=loss,
            target=(0.1, target),
            p=p,
        ),
        call(
            choosing.epsilon_needed,
            make=(uldp.UtilityOptimizedRR, not_makers),
            domain=domain,
            n=n,
            loss=loss,
            target=(0.1, [*target, 1e-9]),
            p=p,
        ),
        call(choosing.excess, mechanism=(URR, NOT_MECHANISMS)),
        call(
            choosing.excess_map,
            k=(3, whole(0, -1)),
            sizes=([1], [*not_lists, [4], [1.5]]),
            epsilons=([1.0], [*not_lists, [0.0]]),
        ),
    ]


def calls_of_privacy() -> list[Call]:
    Q, sensitive, protected = (MATRIX, NOT_STOCHASTIC), ([0], positions(2)), ([0, 1], mask(3))
    optional = ..., [wrong for wrong in mask(3) if wrong is not None]
    explicit = privacy.Channel(MATRIX, [0, 1])
    not_channels = [None, 1.0, MATRIX, URR, "channel", object()]
    channel = explicit, not_channels
    not_second = [
        *(*not_channels, [], [explicit], [explicit] * 2 + [None], [explicit] * 2 + [MATRIX]),
        *(privacy.Channel(np.eye(3), [0]), [explicit] * 2 + [privacy.Channel(MATRIX, [0])]),
    ]
    R = np.eye(3), [*NOT_STOCHASTIC, np.eye(2)]
    not_lists = [*NOT_ARRAYS, 1, [0.5] * 4, ["a"] * 4, [None] * 4, [True] * 4, [HUGE] * 4, [1j] * 4]
    not_samples = [*not_lists, None, [], [1, 1, 1], [[]] * 4, reports_of(URAP)]
    reports = reports_of(URR)
    return [
        call(privacy.ldp_level, Q=Q),
        call(privacy.uldp_level, Q=Q, sensitive=sensitive, protected=protected),
        call(privacy.osldp_level, Q=Q, sensitive=sensitive),
        call(privacy.audit, Q=Q, sensitive=sensitive, protected=optional),
        call(privacy.Channel, matrix=Q, protected=protected),
        call(privacy.Channel.of, mechanism=(URR, NOT_MECHANISMS)),
        call(explicit.uldp_level, sensitive=sensitive),
        call(privacy.compose, first=channel, second=(explicit, not_second)),
        call(privacy.compose_repeatedly, channel=channel, times=(2, whole(0, -1, 25))),
        call(privacy.parallel, channel=channel, Q=(MATRIX, [*NOT_STOCHASTIC, np.eye(3)])),
        call(privacy.postprocess, channel=channel, R=R, protected=protected),
        call(privacy.preserves_data_types, channel=channel, R=R, protected=protected),
        call(
            privacy.empirical_level,
            first=(reports, not_samples),
            second=(reports, not_samples),
            confidence=(..., real(0, 1, -1, 2)),
            outputs=(..., [*not_lists, [[0, 0]], np.uint64([2**63])]),
        ),
        call(osldp.decompose, Q=Q, sensitive=sensitive, epsilon=(1.0, real(-1))),
        call(osldp.decompose, Q=(MATRIX, [np.eye(2)]), sensitive=([0], []), epsilon=(1.0, [])),
    ]


def calls_of_personalized() -> list[Call]:
    tagged = personalized.TaggedDomain(DOMAIN, ["home", "work"])
    mechanism = uldp.UtilityOptimizedRR(tagged, 1.0)
    domain = tagged, [None, 5, "home", DOMAIN, mechanism, object()]
    common = mechanism, [*NOT_MECHANISMS, URR]
    not_maps = [
        *(None, 1, "home", ["a"], [("a", "home")], object(), {"z": "home"}, {"a": "school"}),
        *({K: "home"}, {-1: "home"}, {"a": 2}, {"a": -1}, {"a": None}, {None: "home"}),
        *({"a": 0.5}, {"a": math.nan}, {"a": ["home"]}, {("a",): "home"}, {1.5: "home"}),
        *({HUGE: "home"}, {"a": HUGE}, {"a": True}, {True: "home"}, {"a": "home", "b": 1}),
        {"a": "home", 1: "home"},
    ]
    person = personalized.PersonalizedMechanism(mechanism, {"a": "home"})
    population = personalized.SecretMaps(tagged, [0, 1], ["a", "b"], ["home", "work"])
    pair, rng = ["a", "b"], (..., NOT_SEEDS)
    values = pair, NOT_LABELS
    of_all = pair, [*NOT_LABELS, ["a"], "a", []]
    not_columns = [*NOT_ARRAYS, None, [0], [0, 1, 2], [-1, 0], [0.0, 1.0], [True, False], [HUGE, 0]]
    table = np.full((K, 3), 1 / (3 * K))
    not_tables = [
        *(*NOT_ARRAYS, None, 1.0, UNIFORM, table.T, table * 2, table * 0, table * np.nan, -table),
        *(np.full((K, 3), 1e308), np.full((K, 3), "a"), np.full((K, 3), 1j)),
    ]
    law = personalized.JointLaw(tagged, table)
    home_only = personalized.TaggedDomain(DOMAIN, ["home"])
    other_law = personalized.JointLaw(home_only, np.full((K, 2), 1 / (2 * K)))
    not_intermediate = [
        *(None, 1.5, "z", [K + 2, 0], [-1, 0], ["a", "z"], ["b", "a"], ["a"], [], {}),
        *([["a", "b"]], [0.0, 1.0], [True, False], [None, None], [[0], [0, 1]], object()),
    ]
    not_background = [
        *(1, "home", ["home"], [("home", UNIFORM)], {"school": UNIFORM}, {0: UNIFORM}, object()),
        *({"home": wrong} for wrong in distribution(K, optional=True)),
    ]
    background = ..., not_background
    r, estimate = np.full(K + 2, 1 / (K + 2)), personalized.PersonalizedEstimate
    reports = mechanism.privatize(pair, rng=1)
    other_tallies = [URR.tally([0]), URAP.evidence(reports_of(URAP))]
    not_common_reports = [*NOT_ARRAYS, None, [], [0.5], [K + 2], [-1], ["a"], [[0]], *other_tallies]
    not_visits = [*distribution(K), np.eye(K - 1), np.ones((K, K)), np.zeros((K, K))]
    return [
        call(
            personalized.PersonalizedMechanism,
            common=common,
            user_sensitive=({"a": "home"}, not_maps),
        ),
        call(person.privatize, values=values, rng=rng),
        call(person.intermediate, values=values),
        call(
            personalized.SecretMaps,
            domain=domain,
            users=([0, 1], [*not_columns, 0, [0, 2**31], ["0", "1"]]),
            values=(pair, [*not_columns, "a", ["a"], ["a", "z"], [0, K], ["a", 0]]),
            tags=(
                [0, 1],
                [*not_columns, "home", ["home"], ["home", "school"], [0, 2], ["home", 0]],
            ),
        ),
        call(
            personalized.SecretMaps,
            {"users": "the same user"},
            domain=(tagged, []),
            users=([0, 1], [[0, 0], [1, 1]]),
            values=(["a", "a"], []),
            tags=([0, 1], []),
        ),
        call(population.intermediate, values=of_all),
        call(population.privatize, common=common, values=of_all, rng=rng),
        call(population.simulate, common=common, values=of_all, rng=rng),
        call(personalized.JointLaw, domain=domain, probabilities=(table, not_tables)),
        call(
            personalized.JointLaw.of_users,
            domain=domain,
            values=of_all,
            intermediate=(["a", "⊥home"], not_intermediate),
        ),
        call(estimate.of, domain=domain, r=(r, vector(K + 2, 1 / (K + 2))), background=background),
        call(
            estimate.of(tagged, r).loss_terms,
            truth=(law, [None, UNIFORM, estimate.of(tagged, r), other_law]),
        ),
        call(
            personalized.estimate,
            common=common,
            reports=(reports, not_common_reports),
            background=background,
            method=(..., [*NOT_STRINGS, "EM"]),
            alpha=(..., [0.5]),
        ),
        call(
            personalized.posterior,
            common=common,
            reports=(reports, [*NOT_ARRAYS, None, 0, [0.5], [K + 2], [-1], ["a"], [[0]], [None]]),
            tag=("home", [*NOT_STRINGS, "school", ""]),
            prior=(UNIFORM, distribution(K)),
            visits=(UNIFORM, not_visits),
        ),
    ]


def calls_of_datasets() -> list[Call]:
    ones = np.ones(625, dtype=int)
    places = [(0, "Office", 1)]
    not_places = [
        *(None, 1, "places", [], [1], [(0, "Office")], [(625, "Office", 1)], [(-1, "Office", 1)]),
        *([(0.5, "Office", 1)], [(0, "Office", -1)], [(0, "Office", 1.5)], [(None, "Office", 1)]),
        *([(0, "Office", "1")], [(0, 1, 1)], [(0, "Office", HUGE)], [("0", "Office", 1)], object()),
    ]
    not_cells = [None, 1, "1", [-1], [625], [0, 0], [0.5], ["0"], object()]
    attributes = [*datasets.CENSUS_ATTRIBUTES.values()]
    not_categories = [
        *(None, 1, "abc", [], [["a"]], [["a"]] * 4, [1, 2, 3], [[]] * 4, object()),
        *(attributes[:3], [*attributes, []], [*attributes, [1, 2]], [*attributes, "ab"]),
    ]
    nowhere, expected = "no such file", (..., whole(0, -1))
    return [
        call(
            datasets.Histogram,
            domain=(DOMAIN, NOT_DOMAINS),
            counts=([1] * K, [*counts(K), [0] * K]),
            source=("here", NOT_STRINGS),
        ),
        call(
            datasets.GridHistogram,
            {"domain": "domain|counts"},
            domain=(GRID.domain, [*NOT_DOMAINS, DOMAIN]),
            source=("here", NOT_STRINGS),
            **dict.fromkeys(
                ("counts", "home", "office", "home_places", "office_places"), (ones, counts(625))
            ),
        ),
        call(
            datasets.GridHistogram.from_places,
            {"places": "places|counts", "hospital_cells": "sensitive"},
            places=(places, not_places),
            hospital_cells=([1], not_cells),
            source=("here", NOT_STRINGS),
        ),
        call(datasets.census, attributes=(4, whole(3, 10, 0, -1))),
        call(datasets.census_domain, categories=(attributes, not_categories)),
        call(datasets.manhattan_cell, latitude=(40.7, real()), longitude=(-74.0, real())),
        call(
            datasets.load_us_census_1990,
            runs=False,
            path=(nowhere, NOT_PATHS),
            attributes=(4, whole(3, 10)),
            expected_rows=expected,
        ),
        call(
            datasets.load_foursquare,
            runs=False,
            pois_path=(nowhere, NOT_PATHS),
            checkins_path=(nowhere, NOT_PATHS),
            expected_venues=expected,
            expected_checkins=expected,
            expected_in_manhattan=expected,
        ),
    ]


def calls_of_wire() -> list[Call]:
    mechanism = URAP, NOT_MECHANISMS
    message = wire.dumps(URAP, reports_of(URAP))
    not_bytes = [None, 1, "message", [1], 1.5, object()]
    damaged = [
        *(b"", b"uld", b"uldp", b"GIF89a", message[:-1], message + b"0", message[1:]),
        *(message[:9] + b"\xff" + message[10:], message[:30], message[:-1] + b"\0"),
        *(wire.dumps(other, reports_of(other)) for other in MECHANISMS if other is not URAP),
    ]
    not_messages = [
        None,
        1,
        1.5,
        "text",
        object(),
        *(f(message) for f in (bytes, bytearray, memoryview)),
    ]
    return [
        call(wire.parameters, mechanism=mechanism),
        call(wire.dumps, mechanism=mechanism, reports=(reports_of(URAP), not_reports(URAP))),
        call(wire.loads, mechanism=mechanism, message=(message, [*damaged, *not_bytes])),
        call(
            wire.read,
            mechanism=mechanism,
            messages=([message], not_messages),
            max_reports=(..., whole(0, -1)),
        ),
    ]


def calls_of_collecting() -> list[Call]:
    mechanism, path = (URAP, NOT_MECHANISMS), ("missing", NOT_PATHS)
    not_paths = [None, 1, "missing", b"missing", Path("missing"), [1], [None], ["a", "a"], object()]
    return [
        call(
            collecting.write_reports,
            runs=False,
            mechanism=mechanism,
            reports=(reports_of(URAP), not_reports(URAP)),
            path=path,
        ),
        call(
            collecting.tally_file,
            runs=False,
            mechanism=mechanism,
            path=path,
            max_reports=(..., whole(0, -1)),
        ),
        call(
            collecting.tally_files,
            mechanism=mechanism,
            paths=([], not_paths),
            client=(..., [1, "local", object()]),
            max_reports=(..., whole(0, -1)),
        ),
        call(
            collecting.local_client,
            runs=False,
            workers=(1, whole(0, -1, optional=True)),
        ),
    ]


def calls_of_experiments() -> list[Call]:
    quick = experiments.Settings(quick=True, realizations=1, methods=("empirical",))
    figure, nowhere = ("fig5", [*NOT_STRINGS, "fig1", ""]), Path("no such file")
    not_settings = [1, "quick", {"quick": True}, object()]
    people = GRID, [None, 1, UNIFORM, datasets.census(), object()]
    not_methods = [None, 1, (), "em", ("EM",), ("em", 1), ("em", None), (["em"],), object()]
    not_pairs = [1, "file", ("file",), ("a", "b", "c"), (1, 2), (None, None), object()]
    return [
        call(
            experiments.Settings,
            realizations=(..., whole(0, -1, optional=True)),
            likelihood_realizations=(..., whole(-1, optional=True)),
            methods=(..., not_methods),
            sampling=(..., [*NOT_STRINGS, "half"]),
            us_census_1990=(..., NOT_PATHS[1:]),
            foursquare=(..., not_pairs),
            quick=(..., NOT_FLAGS),
            seed=(..., whole(-1)),
        ),
        call(quick.command, figure=figure),
        call(experiments.plan, figure=figure, settings=(quick, [None, *not_settings])),
        call(
            experiments.reproduce,
            runs=False,
            figure=figure,
            settings=(quick, not_settings),
            folder=(nowhere, NOT_PATHS),
            jobs=(..., whole(0, -1)),
        ),
        call(
            experiments.run,
            points=([], [None, 1, "points", [None], [1], object()]),
            record=(nowhere, NOT_PATHS),
            seed=(1, whole(-1)),
            jobs=(..., whole(0, -1)),
        ),
        call(experiments.read_table, runs=False, path=(nowhere, NOT_PATHS)),
        call(experiments.read_personalized_table, runs=False, path=(nowhere, NOT_PATHS)),
        call(experiments.checkin_law, people=people),
        call(experiments.place_distributions, people=people),
    ]


CALLS = [
    *calls_of_domains(),
    *calls_of_constructors(),
    *calls_of_sums(),
    *(one for mechanism in MECHANISMS for one in calls_of_mechanism(mechanism)),
    *calls_of_estimators(),
    *calls_of_losses(),
    *calls_of_choosing(),
    *calls_of_privacy(),
    *calls_of_personalized(),
    *calls_of_datasets(),
    *calls_of_wire(),
    *calls_of_collecting(),
    *calls_of_experiments(),
]
ARGUMENTS = [
    pytest.param(one, argument, id=f"{i}-{one.name}-{argument}")
    for i, one in enumerate(CALLS)
    for argument in one.wrong
]


MODULES = [
    *(
        uldp,
        choosing,
        collecting,
        datasets,
        estimators,
        experiments,
        garbling,
        likelihood,
        limits,
        losses,
    ),
    *(optimal_theta, osldp, personalized, privacy, regimes, wire),
]
NOT_MADE_BY_USERS = [
    *("Mechanism", "Comparison", "Forecast", "MaximumLikelihood", "Saddle", "Garbling", "Batch"),
    *("Collection", "FileError"),
    *("Audit", "Witness", "EmpiricalLevel", "Decomposition", "Entry", "LossTerms", "Reason"),
    *("PersonalizedEstimate", "MessageError", "Point", "PersonalizedPoint", "Row", "CellRow"),
    *("PersonalizedRow", "Record", "Record.losses", "Record.append", "Point.losses"),
    *("Point.estimate", "PersonalizedPoint.losses", "measure", "write_table"),
]


def public() -> Iterator[Callable[..., Any]]:
    """All functions, classes and methods with arguments in the public modules."""
    for module in MODULES:
        for value in (getattr(module, name) for name in module.__all__):
            if inspect.isclass(value):
                methods = (getattr(method, "__func__", method) for method in vars(value).values())
                yield value
                yield from (m for m in methods if inspect.isfunction(m) and takes(m) > 1)
            elif inspect.isfunction(value) and takes(value):
                yield value


def takes(function: Callable[..., Any]) -> int:
    return len(inspect.signature(function).parameters)


def test_the_table_holds_all_that_is_public():
    concrete = (value for value in public() if not getattr(value, "__isabstractmethod__", False))
    names = {value.__qualname__ for value in concrete if not value.__name__.startswith("_")}
    assert names - {one.name for one in CALLS} - {*NOT_MADE_BY_USERS} == set()


def answer(one: Call, argument: str, wrong: object) -> str:
    """What comes of a wrong argument, "" if it is refused as it should be."""
    try:
        result = one.function(**one.right | {argument: wrong})
    except Exception as error:
        named = re.search(rf"\b({one.called.get(argument, argument)})\b", str(error))
        refused = type(error) in (ValueError, TypeError, wire.MessageError)
        return "" if named and refused else f"{wrong!r}: {type(error).__name__}, {error}"
    return f"{wrong!r}: {result!r}"


@pytest.mark.parametrize(("one", "argument"), ARGUMENTS)
def test_malformed_arguments_are_refused_by_name(one: Call, argument: str):
    answers = [answer(one, argument, wrong) for wrong in one.wrong[argument]]
    assert [text for text in answers if text] == []


@pytest.mark.parametrize("one", [one for one in CALLS if one.runs], ids=lambda one: one.name)
def test_the_other_arguments_are_right(one: Call):
    one.function(**one.right)


def test_there_are_thousands_of_them():
    assert sum(len(values) for one in CALLS for values in one.wrong.values()) >= 7000


@pytest.mark.parametrize("epsilon", [1e-9, 500.0])
def test_the_ends_of_the_range_of_epsilon(epsilon):
    """What is only just allowed gives no warning, infinity or NaN either."""
    for kind in (*choosing.CANDIDATES.values(), lambda d, e: replace(ONE_SIZE, epsilon=e)):
        mechanism = kind(DOMAIN, epsilon)
        reports = reports_of(mechanism)
        results = [
            *(mechanism.l1_loss(UNIFORM, 9, exact) for exact in (False, True)),
            *(mechanism.l2_loss(mechanism.worst_case(norm), 9) for norm in ("l1", "l2")),
            *mechanism.estimate(mechanism.simulate([4] * K, rng=1)),
            choosing.excess(mechanism),
        ]
        assert np.isfinite(results).all()
        for method in ("threshold", "norm_sub", "em", "mle"):
            estimate = mechanism.estimate(reports, method)
            assert (estimate >= 0).all()
            assert estimate.sum() == pytest.approx(1, abs=1e-6)
