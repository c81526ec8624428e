"""A row for each public function: its right arguments, and what is wrong besides `wrong.py`.

Every wrong value is put in alone, among right ones. What may come of it is a ValueError or a
TypeError whose message names the argument; not a warning, another exception or a result.
"""

import dataclasses
import inspect
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

import uldp
from malformed.reports import (
    ELSEWHERE,
    MECHANISMS,
    ONE_SIZE,
    SURVEY,
    TWO_SIZES,
    URAP,
    not_of_the_type,
    not_reports,
    reports_of,
)
from malformed.wrong import (
    DAY,
    DOMAIN,
    GRID,
    HUGE,
    NOT_ARRAYS,
    NOT_BYTES,
    NOT_FLAGS,
    NOT_INDICES,
    NOT_LABELS,
    NOT_REAL,
    NOT_SEEDS,
    NOT_SENSITIVE,
    NOT_STRINGS,
    NOT_VALUES,
    NOT_WHOLE,
    STRANGERS,
    UNIFORM,
    URR,
    K,
    S,
    distribution,
    wrong_values,
)
from uldp import inference, likelihood, losses, personalized, privacy, tallies
from uldp.attributes import OneByOne
from uldp.beyond import limits
from uldp.beyond.shuffling import Shuffled
from uldp.domain import ProductDomain
from uldp.paper import datasets, experiments, garbling, regimes
from uldp.privacy import osldp
from uldp.survey import (
    attacks,
    choosing,
    empirical,
    parquet,
    plans_for_rounds,
    repetition,
    wire,
)

CALLED = {"tally": "tally|reports", "evidence": "evidence|reports"}
"""What messages call an argument, where they do not call it by its name."""

NOT_TRIED = [
    *("Survey.load.old", "Tallies.load.old"),  # after a file was read
]


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


def only(
    function: Callable[..., Any],
    wrong: dict[str, list[Any]],
    called: dict[str, str] | None = None,
    **right: Any,
) -> Call:
    """A row whose wrong values are those that it names."""
    return Call(function, right, wrong, CALLED | (called or {}), True)


def call(
    function: Callable[..., Any],
    more: dict[str, list[Any]] | None = None,
    called: dict[str, str] | None = None,
    runs: bool = True,
    **right: Any,
) -> Call:
    """A row whose wrong values follow from the annotations, and more of some arguments.

    With `runs` false the right arguments are not tried: they name files that are not there.
    """
    wrong = {}
    for name, hint in hints(function).items():
        if f"{function.__qualname__}.{name}" in NOT_TRIED:
            continue
        derived = wrong_values(function.__qualname__, name, hint, right.get(name, UNIFORM))
        wrong[name] = [*derived, *(more or {}).get(name, [])]
    return Call(function, right, {**(more or {}), **wrong}, CALLED | (called or {}), runs)


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotation of each argument but `**options`."""
    of_init = inspect.isclass(function) and not dataclasses.is_dataclass(function)
    typed = function.__init__ if of_init else function
    known = get_type_hints(typed, localns={"DataFrame": object}, include_extras=True)
    arguments = inspect.signature(function).parameters.values()
    return {one.name: known.get(one.name) for one in arguments if one.kind != one.VAR_KEYWORD}


TALLY, EVIDENCE = URR.tally(reports_of(URR)), URAP.evidence(reports_of(URAP))
EMPTY, ALONE = URR.tally([]), URR.tally(reports_of(URR)[:1])
OF_OTHERS = uldp.UtilityOptimizedRR(uldp.Domain(K), 1.0).tally([0, 1])
TWO = [EMPTY, ALONE]
TAGGED = personalized.TaggedDomain(DOMAIN, ["home", "work"])
COMMON = uldp.UtilityOptimizedRR(TAGGED, 1.0)
PAIR = ["a", "b"]
NEVER_RIGHT = [1j, b"1", {1}, DAY, object()]
NOT_LISTS = [*NOT_ARRAYS, 1, [-1], [[1]], ["1"], [math.nan], [HUGE], [None], [1j]]


def of_domains() -> list[Call]:
    tags = [None, 1, "home", b"home", [], [""], ["home", "home"], [1], [None], ["home", 1], {1: 2}]
    cells = uldp.Domain.product(one=PAIR, two=[*"abcde"], sensitive=lambda one, two: two == "a")
    not_cells = [*NOT_SENSITIVE[:5], lambda **cell: 1, lambda **cell: None, ["a"], [20], [1.5]]
    not_cells += [[0, 0], lambda **cell: False]
    factors = [None, 1, "a", [], {}, {1: [1]}, {"a": 0}, {"a": None}, object()]
    levels = [*NOT_LABELS[:11], ["a", "z"], ["a", "a"], [0, 0], {"z": 1}, {"a": None}, {"a": HUGE}]
    product = {"sensitive": not_cells, "one": NOT_VALUES, "two": NOT_VALUES}
    return [
        call(uldp.Domain, values=[*"abcde"], sensitive=["a"]),
        call(DOMAIN.indices, values=["a"]),
        only(uldp.Domain.product, product, one=PAIR, two=[*"abcde"]),
        only(ProductDomain, {"factors": factors, "sensitive": not_cells}, factors={"a": [1, 2]}),
        only(
            cells.cells,
            {"two": [*NOT_LABELS, [*"abc"]], "indices": NOT_FLAGS},
            {"two": "two|values"},
            one=["b", "a"],
            two=["a", "c"],
        ),
        call(cells.marginal, vector=range(10)),
        only(cells.weights, {"two": levels}, one="a", two={"a": 2}),
        call(
            personalized.TaggedDomain,
            {"tags": [*tags, object()], "base": [uldp.Domain(["⊥home"])]},
            {"base": "base|tags"},
            base=DOMAIN,
            tags=["home"],
        ),
    ]


def of_constructors() -> list[Call]:
    sizes = [
        *(0, -1, S, S + 1, 1.5, math.nan, HUGE, True, "2", b"2", 1j, [1, 2], [[1, 2, 3]], object()),
        *({}, {1: 0.5}, {1: 1.5, 2: -0.5}, {0: 1.0}, {S: 1.0}, {S + 1: 1.0}, {"1": 1.0}),
        *({1: None}, {1: "1"}, {1: math.nan}, {1.5: 1.0}, {True: 1.0}, {1: 1j}, [(1, 0.5), (2,)]),
    ]
    known = {"epsilon": [9e-10, 501], "theta": [1e-81], "sizes": sizes}
    sets = np.zeros((1, 2), dtype=np.uint8)
    not_sets = [1, "ab", [[0, 0]], sets[0], np.zeros((2, 2), dtype=np.uint8), sets + 0.0, object()]
    kinds = [
        call(kind, {name: known.get(name, NEVER_RIGHT) for name in names}, domain=DOMAIN, epsilon=1)
        for kind in uldp.mechanisms.KINDS
        for names in [[field.name for field in fields(kind) if field.init][1:]]
    ]
    evidence = {"law": URAP, "sets": sets, "times": [1, 1], "revealed": [0, 0]}
    not_counts = [[K + 1] * K, [2] + [1] * (K - 1), [0] * K]
    return [
        *kinds,
        call(uldp.Tally, {"counts": not_counts}, law=URR, n=K, counts=[1] * K),
        call(
            likelihood.Evidence,
            {"sets": not_sets},
            {"times": "times|sets"},
            **evidence,
        ),
    ]


def of_sums() -> list[Call]:
    evidence = URR.evidence(reports_of(URR))
    all_sensitive = uldp.RandomizedResponse(DOMAIN, 1.0)
    not_added = [None, 1, "", [], object()]
    others = [ELSEWHERE.tally([0]), all_sensitive.tally([0]), evidence]
    other_evidence = [ELSEWHERE.evidence([0]), all_sensitive.evidence([0]), TALLY]
    return [
        only(lambda x: TALLY + x, {"x": not_added + others}, {"x": "tally|Tally"}, x=TALLY),
        only(
            lambda x: evidence + x,
            {"x": not_added + other_evidence},
            {"x": "evidence|Evidence"},
            x=evidence,
        ),
    ]


def of_mechanism(mechanism: uldp.Mechanism) -> list[Call]:
    reports, wrong = reports_of(mechanism), not_reports(mechanism)
    tally = mechanism.tally(reports)
    right = tally.counts
    not_counts = [-right, right + 0.5, right + 1j, right[None], right[..., 1:], right + tally.n + 1]
    foreign = [*wrong, ELSEWHERE.tally([0]), ELSEWHERE.evidence([0]), reports[:0]]
    no_tally = {"reports": [*foreign, mechanism.evidence(reports)]}
    tallied = [tally] if mechanism.report_dtype.shape else []
    no_evidence = {"reports": [*foreign, *tallied]}
    no_rule = {"alpha": [0.5]}
    em = {"start": distribution(UNIFORM), "steps": [*NOT_WHOLE, -1], "tolerance": [*NOT_REAL, -1]}
    mle = {"tolerance": [*NOT_REAL, 0, -1], "start": [UNIFORM]}
    estimate = mechanism.estimate
    return [
        call(mechanism.privatize, {"values": [0, [0, 1]]}, values=["a"], indices=False),
        only(mechanism.privatize, {"values": NOT_INDICES}, values=[0], indices=True),
        call(mechanism.tally, {"reports": wrong}, reports=reports),
        call(mechanism.check, {"reports": wrong}, reports=reports),
        call(mechanism.second_moment, p=UNIFORM),
        call(mechanism.decoder_of, method="adjusted"),
        only(
            uldp.Tally,
            {"n": [*NOT_WHOLE, -1, 0], "counts": not_counts},
            law=mechanism,
            n=tally.n,
            counts=right,
        ),
        call(mechanism.possible, {"reports": not_of_the_type(mechanism)}, reports=reports),
        call(mechanism.simulate, true_counts=[1] * K),
        call(
            mechanism.evidence,
            {"reports": [*wrong, ELSEWHERE.tally([0]), *tallied]},
            reports=reports,
        ),
        call(estimate, no_tally, reports=reports),
        only(estimate, no_tally | no_rule, reports=reports, method="threshold"),
        only(estimate, no_rule, reports=reports, method="norm_sub"),
        only(estimate, no_evidence | em | no_rule, reports=reports, method="em", steps=1),
        only(estimate, no_evidence | mle, reports=reports, method="mle"),
        call(mechanism.maximum_likelihood, no_evidence, reports=reports),
        call(mechanism.l1_loss, p=UNIFORM, n=9),
        call(mechanism.l2_loss, p=UNIFORM, n=9),
        call(mechanism.worst_case, loss="l1"),
    ]


def of_estimators() -> list[Call]:
    nothing = {"evidence": [URAP.evidence(reports_of(URAP)[:0])]}
    return [
        call(tallies.empirical, {"tally": [EMPTY]}, tally=TALLY),
        call(tallies.adjusted, {"tally": [EMPTY]}, tally=TALLY),
        call(tallies.norm_sub, {"tally": [EMPTY]}, tally=TALLY),
        call(tallies.threshold, {"tally": [EMPTY]}, tally=TALLY),
        call(TALLY.estimate),
        only(TALLY.estimate, {"alpha": [0.5]}, method="threshold"),
        call(likelihood.maximum_likelihood, nothing, evidence=EVIDENCE),
        call(likelihood.em, nothing, evidence=EVIDENCE, start=UNIFORM, steps=1),
        call(likelihood.log_likelihood, evidence=EVIDENCE, p=UNIFORM),
    ]


def of_losses() -> list[Call]:
    sizes = {"s": 3, "nu": 2, "epsilon": 1.0}
    tiny, small = {"epsilon": [9e-10]}, {"s": [3], "k": [1]}
    no_uRAP = [URAP.domain, ONE_SIZE, uldp.UtilityOptimizedRappor]
    nothing_sensitive = uldp.UtilityOptimizedRappor(uldp.Domain(2), 1.0)
    return [
        call(losses.variances, law=URR, p=UNIFORM),
        call(losses.l1_loss, law=URR, p=UNIFORM, n=9),
        call(losses.l2_loss, law=URR, p=UNIFORM, n=9),
        call(losses.total_variance, law=URR, weights=UNIFORM),
        call(losses.worst_case, law=URR, loss="l2"),
        call(regimes.worst_case_loss, mechanism=URR, loss="l2"),
        call(regimes.rows, small | tiny, s=1, k=2, epsilon=1.0),
        call(regimes.compare, small, loss="l2", s=1, k=2),
        call(uldp.fundamental_limit, tiny, domain=DOMAIN, epsilon=1.0),
        call(limits.saddle, tiny, **sizes),
        only(limits.saddle, {"nu": [0]}, s=0, nu=1, epsilon=1.0),
        call(limits.single_size_losses, tiny, **sizes),
        only(limits.single_size_losses, {"nu": [0]}, s=0, nu=1, epsilon=1.0),
        call(limits.epsilon_from_which_uRR_is_optimal, s=3, nu=2),
        call(uldp.beyond.best_theta, {"mechanism": no_uRAP}, mechanism=URAP, loss="l2"),
        call(garbling.rappor_as_garbling, {"rappor": [*no_uRAP, nothing_sensitive]}, rappor=URAP),
    ]


def of_choosing() -> list[Call]:
    not_makers = [None, 1, "rr", URR, object(), [uldp.UtilityOptimizedRR], lambda d, e: None]
    users, epsilon = choosing.users_needed, choosing.epsilon_needed
    needed = {"target": 0.1, "loss": "standard_error", "weights": [1.0, 0, 0, 0, 0]}
    at_most = {"target": [5e-324, 1e-9]}
    question = {"make": uldp.UtilityOptimizedRR, "domain": DOMAIN, "n": 10**6}
    return [
        call(uldp.compare, domain=DOMAIN, epsilon=1.0, n=10**6),
        call(users, {"target": [5e-324]}, mechanism=URR, loss="l2", target=0.1),
        call(users, {"target": [5e-324, 0.5]}, mechanism=URR, **needed),
        call(epsilon, at_most | {"make": not_makers}, **question, loss="l2", target=0.1),
        call(epsilon, at_most | {"make": not_makers}, **question, **needed),
        call(choosing.excess, mechanism=URR),
        call(
            choosing.excess_map,
            {"sizes": [*NOT_LISTS, None, [4], [1.5]], "epsilons": [*NOT_LISTS, None, [0.0]]},
            k=3,
            sizes=[1],
            epsilons=[1.0],
        ),
    ]


def of_attributes() -> list[Call]:
    coin = uldp.RandomizedResponse(uldp.Domain(["x", "y"]), 1.0)
    both = OneByOne({"one": URR, "two": coin})
    not_mappings = [{}, {"one": None}, {1: URR}, {"one": uldp.Domain(2)}, {"one": URR, "two": "RR"}]
    not_mappings += [*STRANGERS[:5], DOMAIN, URR, {"one": uldp.Rappor(coin.domain, 1.0)}]
    not_pairs = [*NOT_ARRAYS, None, 1, [], [0, 1], [[0]], [[0, 2]], [[5, 0]], [[-1, 0]]]
    not_pairs += [[[0.0, 1.0]], [["a", "x"]], [[True, False]], [[0, 1, 1]]]
    table = np.ones((5, 2), dtype=int)
    not_tables = [*NOT_ARRAYS, None, 1, table.T, table[0], table.ravel(), 0 * table, -table]
    not_tables += [table / 2, table.astype(bool), np.full((5, 2), "a"), np.full((5, 2), 2**62)]
    no_table, p = {"table": not_tables}, np.full(10, 0.1)
    return [
        call(OneByOne, {"mechanisms": not_mappings}, mechanisms={"one": URR, "two": coin}),
        only(
            both.privatize,
            {"values": [*NOT_LABELS[:9], 10, "a", ["a, x", "z"], ["a"], [10]], "rng": NOT_SEEDS},
            values=["a, x"],
        ),
        call(both.count, {"reports": not_pairs}, reports=[[0, 1]]),
        call(both.estimate, no_table, table=table),
        call(both.maximum_likelihood, no_table, table=table, tolerance=1e-3),
        call(both.l2_loss, p=p, n=3),
        call(both.total_variance, weights=p, p=p),
    ]


@wraps(inference.homogeneity)
def homogeneity_of(tallies: Sequence[Any]) -> inference.ChiSquare:
    """Take as one argument what `homogeneity` takes as several."""
    return inference.homogeneity(*tallies)


@wraps(inference.marginal)
def marginal_of(tally: Any, factors: Any, confidence: float = 0.95) -> inference.EstimateTable:
    """Take as one argument what `marginal` takes as several."""
    return inference.marginal(tally, factors, confidence=confidence)


def of_inference() -> list[Call]:
    one, two = {"tally": [EMPTY]}, {"tally": TWO}
    of_common = COMMON.tally([0, 1, 5, 2])
    tagged = {"tally": [TALLY, COMMON.tally([]), COMMON.tally([1])]}
    of_cells = uldp.UtilityOptimizedRR(uldp.Domain.product(age=2, drug=2), 1.0)
    not_strata = [*({"a": TALLY, "b": wrong} for wrong in (None, 1, *TWO))]
    not_strata += [None, 1, [], {}, TALLY, [TALLY], {"a": TALLY, "b": OF_OTHERS}]
    not_pairs = [[], [TALLY], *([TALLY, wrong] for wrong in (None, 1, URR, EMPTY, OF_OTHERS))]
    return [
        call(inference.covariance, two, tally=TALLY),
        call(inference.standard_errors, two, tally=TALLY),
        call(inference.intervals, one, tally=TALLY),
        call(inference.total, two, tally=TALLY, weights=UNIFORM),
        call(
            inference.difference,
            {"before": TWO, "after": [*TWO, OF_OTHERS]},
            before=TALLY,
            after=TALLY,
        ),
        call(
            personalized.total,
            tagged,
            tally=of_common,
            background={"home": UNIFORM},
            weights=UNIFORM,
        ),
        call(
            personalized.summary,
            tagged | {"law": [URR]},
            {"law": "common|law"},
            law=COMMON,
            tally=of_common,
            background={"home": UNIFORM},
        ),
        call(
            inference.ratio,
            two | {"whole": [-UNIFORM, np.zeros(K)]},
            {"part": "part|whole"},
            tally=URR.simulate(np.full(K, 1000), 1),
            part=UNIFORM,
            whole=UNIFORM,
        ),
        call(
            marginal_of,
            {"tally": [TALLY, of_cells.tally([])]},
            tally=of_cells.simulate([9, 9, 9, 9], 1),
            factors="age",
        ),
        call(
            inference.stratified,
            {"tallies": not_strata, "shares": [{"c": 1}, {"a": 1}]},
            tallies={"a": TALLY, "b": TALLY},
            shares=[0.5, 0.5],
        ),
        only(homogeneity_of, {"tallies": not_pairs}, tallies=[TALLY, TALLY]),
        call(inference.goodness_of_fit, one, tally=TALLY, p=UNIFORM),
        call(inference.summary, one, tally=TALLY, method="norm_sub"),
    ]


def of_personalized() -> list[Call]:
    not_maps = [
        *(None, 1, "home", ["a"], [("a", "home")], object(), {"z": "home"}, {"a": "school"}),
        *({K: "home"}, {-1: "home"}, {"a": 2}, {"a": -1}, {"a": None}, {None: "home"}),
        *({"a": 0.5}, {"a": math.nan}, {"a": ["home"]}, {("a",): "home"}, {1.5: "home"}),
        *({HUGE: "home"}, {"a": HUGE}, {"a": True}, {True: "home"}, {"a": "home", "b": 1}),
        {"a": "home", 1: "home"},
    ]
    person = personalized.PersonalizedMechanism(COMMON, {"a": "home"})
    population = personalized.SecretMaps(TAGGED, [0, 1], PAIR, ["home", "work"])
    alone = personalized.SecretMaps(TAGGED, [0], ["a"], ["home"])
    of_all = {"values": [["a"], "a", []]}
    columns = [*NOT_ARRAYS, None, [0], [0, 1, 2], [-1, 0], [0.0, 1.0], [True, False], [HUGE, 0]]
    not_maps_of_all = {
        "domain": [DOMAIN, None, 5, object()],
        "users": [*columns, 0, [0, 2**31], ["0", "1"]],
        "values": [*columns, "a", ["a"], ["a", "z"], [0, K], ["a", 0]],
        "tags": [*columns, "home", ["home"], ["home", "school"], [0, 2], ["home", 0]],
    }
    table = np.full((K, 3), 1 / (3 * K))
    not_tables = [
        *(*NOT_ARRAYS, None, 1.0, UNIFORM, table.T, table * 2, table * 0, table * np.nan, -table),
        *(np.full((K, 3), 1e308), np.full((K, 3), "a"), np.full((K, 3), 1j)),
    ]
    home_only = personalized.TaggedDomain(DOMAIN, ["home"])
    other_law = personalized.JointLaw(home_only, np.full((K, 2), 1 / (2 * K)))
    not_intermediate = [
        *(None, 1.5, "z", [K + 2, 0], [-1, 0], ["a", "z"], ["b", "a"], ["a"], [], {}),
        *([PAIR], [0.0, 1.0], [True, False], [None, None], [[0], [0, 1]], object()),
    ]
    of_tags, r = personalized.PersonalizedEstimate, np.full(K + 2, 1 / (K + 2))
    not_common_reports = [*NOT_ARRAYS, None, [0.5], [K + 2], [-1], ["a"], [[0]]]
    not_visits = [np.eye(K - 1), np.ones((K, K)), np.zeros((K, K))]
    other = {"common": [URR]}
    maps, everyone = personalized.SecretMaps, {"users": [0, 1], "tags": [0, 1]}
    return [
        call(
            personalized.PersonalizedMechanism,
            other | {"user_sensitive": not_maps},
            common=COMMON,
            user_sensitive={"a": "home"},
        ),
        call(person.privatize, values=PAIR),
        call(person.intermediate, values=PAIR),
        only(maps, not_maps_of_all, domain=TAGGED, values=PAIR, **everyone),
        only(
            maps,
            {"users": [[0, 0], [1, 1]]},
            {"users": "the same user"},
            domain=TAGGED,
            values=["a", "a"],
            **everyone,
        ),
        call(population.intermediate, of_all, values=PAIR),
        only(alone.intermediate, {"values": ["a", []]}, values=["a"]),
        call(population.privatize, other | of_all, common=COMMON, values=PAIR),
        call(
            personalized.JointLaw, {"probabilities": not_tables}, domain=TAGGED, probabilities=table
        ),
        call(
            personalized.JointLaw.of_users,
            of_all | {"intermediate": not_intermediate},
            domain=TAGGED,
            values=PAIR,
            intermediate=["a", "⊥home"],
        ),
        call(of_tags.of, domain=TAGGED, r=r),
        call(
            of_tags.of(TAGGED, r).loss_terms,
            {"truth": [of_tags.of(TAGGED, r), other_law]},
            truth=personalized.JointLaw(TAGGED, table),
        ),
        call(
            personalized.estimate,
            other
            | {"alpha": [0.5], "reports": [*not_common_reports, [], URR.tally([0]), EVIDENCE]},
            common=COMMON,
            reports=COMMON.privatize(PAIR, rng=1),
        ),
        call(
            personalized.posterior,
            other | {"reports": [*not_common_reports, 0], "tag": ["school"], "visits": not_visits},
            common=COMMON,
            reports=COMMON.privatize(PAIR, rng=1),
            tag="home",
            prior=UNIFORM,
            visits=UNIFORM,
        ),
    ]


def of_privacy() -> list[Call]:
    matrix = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    channel = privacy.Channel(matrix, [0, 1])
    Q, both = {"Q": matrix}, {"sensitive": [0], "protected": [0, 1]}
    post = {"channel": channel, "R": np.eye(3), "protected": [0, 1]}
    not_R = {"R": [np.eye(2), np.eye(4)]}
    not_second = [None, 1.0, matrix, URR, "channel", object(), [], [channel], [channel] * 4]
    not_thirds = [None, matrix, privacy.Channel(matrix, [0]), privacy.Channel(matrix, [0, 2])]
    not_second += [[channel] * 2 + [one] for one in not_thirds]
    not_second += [privacy.Channel(np.eye(3), [0])]
    samples = [*NOT_ARRAYS, 1, [0.5] * 4, ["a"] * 4, [None] * 4, [True] * 4, [HUGE] * 4, [1j] * 4]
    no_sample = [*samples, None, [], [1, 1, 1], [[]] * 4, reports_of(URAP)]
    return [
        call(privacy.ldp_level, **Q),
        call(privacy.uldp_level, **Q, **both),
        call(privacy.osldp_level, **Q, sensitive=[0]),
        call(privacy.pair_levels, **Q),
        call(privacy.audit, **Q, sensitive=[0]),
        call(privacy.Channel, matrix=matrix, protected=[0, 1]),
        call(privacy.Channel.of, mechanism=URR),
        call(channel.uldp_level, sensitive=[0]),
        call(privacy.compose, {"second": not_second}, first=channel, second=channel),
        call(privacy.compose_repeatedly, channel=channel, times=2),
        call(privacy.parallel, {"Q": [np.eye(3)]}, channel=channel, **Q),
        call(privacy.postprocess, not_R, **post),
        call(privacy.preserves_data_types, not_R, **post),
        call(
            empirical.empirical_level,
            {
                "first": no_sample,
                "second": no_sample,
                "outputs": [*samples, [[0, 0]], np.uint64([2**63])],
            },
            first=reports_of(URR),
            second=reports_of(URR),
        ),
        call(osldp.decompose, **Q, sensitive=[0], epsilon=1.0),
        only(osldp.decompose, {"Q": [np.eye(2)]}, **Q, sensitive=[0], epsilon=1.0),
    ]


def of_shuffling() -> list[Call]:
    domain = uldp.Domain(4, sensitive=[0, 2])
    urr = uldp.UtilityOptimizedRR(domain, 1.0)
    few = Shuffled(urr, 4)
    without_cover = [
        *(uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=range(s)), 1.0) for s in (0, 1, 3)),
        uldp.RandomizedResponse(domain, 1.0),
        uldp.UtilityOptimizedRR(domain, 31.0),
    ]
    return [
        call(Shuffled, {"mechanism": without_cover, "n": [10**7 + 1]}, mechanism=urr, n=4),
        call(few.delta, level=0.3),
        call(few.exact_delta, level=0.3),
        call(few.level, delta=0.1),
        call(few.exact_level, delta=0.1),
    ]


def of_repetition() -> list[Call]:
    matrix = [[0.75, 0.25], [0.25, 0.75]]
    device = repetition.Device.of(URR)
    answers = [*NOT_ARRAYS, None, 0, [], [0.0], [0.5], ["0"], [None], [[0]], [-1], [K], [HUGE]]
    answers += [[True], [0] * 12, [0] * 10**5]
    not_layers = [
        uldp.UtilityOptimizedBlockDesign(DOMAIN, 1.0),
        uldp.UtilityOptimizedRR(uldp.Domain(3), 1.0),
        uldp.Rappor(uldp.Domain(16), 1.0),
        uldp.UtilityOptimizedRappor(uldp.Domain(40, range(30)), 1.0),
        uldp.RandomizedResponse(uldp.Domain(1000), 1.0),
    ]
    too_many = {"total": [1e-9, 501], "rounds": [1001]}
    return [
        call(
            repetition.Device,
            {"second": [[[1.0]]], "protected": [[0], []], "keeps": ["per_value"]},
            first=matrix,
            second=matrix,
            protected=[0, 1],
            keeps="per value",
        ),
        call(
            repetition.Device.of,
            {"mechanism": [uldp.Rappor(uldp.Domain(40), 1.0)], "keeps": ["per_value"]},
            {"mechanism": "mechanism|domain"},
            mechanism=URR,
            keeps="first",
        ),
        only(device.law, {"answers": answers}, {"answers": "answers|rounds"}, answers=[0, 4]),
        call(device.level, {"rounds": [100, 2**62]}, rounds=2, changes=1),
        call(device.bound, rounds=2, changes=1),
        only(
            device.pair_level,
            {"one": answers, "other": [*answers, [0], [0, 0, 0]]},
            {"one": "answers|one|other|rounds", "other": "answers|other|rounds"},
            one=[0, 4],
            other=[4, 4],
        ),
        call(
            repetition.two_layers,
            {"mechanism": not_layers},
            mechanism=URR,
            epsilon=1.0,
            reveals="anew",
        ),
        call(plans_for_rounds, too_many, domain=DOMAIN, total=1.0, rounds=4, n=1000),
    ]


def of_attacks() -> list[Call]:
    person = personalized.PersonalizedMechanism(COMMON, {"a": "home"})
    not_ends = [*NOT_ARRAYS, None, 0.5, [0.5], [0.6, 0.5], [0, np.nan], [None, 1], ["0", "1"]]
    other, aimed = {"mechanism": [person]}, {"mechanism": URR, "targets": [1, 3]}
    asked = aimed | {"p": UNIFORM, "share": 0.1}
    return [
        call(attacks.influence, other, mechanism=URR),
        call(attacks.worst_report, other, **aimed),
        call(attacks.gain, other, **asked),
        call(
            attacks.unforged,
            other | {"interval": [*not_ends, [[0, 1]]], "share": [1]},
            **aimed,
            interval=(0.1, 0.2),
            share=0.1,
        ),
        call(
            attacks.users_for_margin,
            other | {"margin": [0.1], "share": [1.0]},
            **asked,
            margin=5.0,
            confidence=0.9,
        ),
        only(
            attacks.users_for_margin,
            {"margin": [5e-324, 1e-300, 1e-160]},
            **(asked | {"share": 0.0}),
            margin=0.1,
            confidence=1 - 2**-53,
        ),
    ]


def of_datasets() -> list[Call]:
    ones = dict.fromkeys(
        ("counts", "home", "office", "home_places", "office_places"), np.ones(625, dtype=int)
    )
    nowhere = "no such file"
    return [
        call(
            datasets.Histogram, {"counts": [[0] * K]}, domain=DOMAIN, counts=[1] * K, source="here"
        ),
        call(
            datasets.GridHistogram,
            {"domain": [DOMAIN]},
            {"domain": "domain|counts"},
            domain=GRID.domain,
            source="here",
            **ones,
        ),
        call(datasets.census, {"attributes": [3, 10]}, attributes=4),
        call(datasets.manhattan_cell, latitude=40.7, longitude=-74.0),
        call(datasets.load_us_census_1990, {"attributes": [3, 10]}, runs=False, path=nowhere),
        call(datasets.load_foursquare, runs=False, pois_path=nowhere, checkins_path=nowhere),
    ]


def of_experiments() -> list[Call]:
    quick = experiments.Settings(quick=True, realizations=1, methods=("empirical",))
    not_methods = [None, 1, (), "em", ("EM",), ("em", 1), ("em", None), (["em"],), object()]
    not_pairs = [1, "file", ("file",), ("a", "b", "c"), (1, 2), (None, None), object()]
    no_figure, nowhere = {"figure": ["fig1"]}, Path("no such file")
    return [
        call(experiments.Settings, {"methods": not_methods, "foursquare": not_pairs}),
        call(quick.command, no_figure, figure="fig5"),
        call(experiments.plan, no_figure, figure="fig5", settings=quick),
        call(experiments.reproduce, no_figure, runs=False, figure="fig5", settings=quick),
        call(
            experiments.run,
            {"points": [None, 1, "points", [None], [1], object()]},
            points=[],
            record=nowhere,
            seed=1,
        ),
        call(experiments.read_table, runs=False, path=nowhere),
        call(experiments.checkin_law, people=GRID),
        call(experiments.place_distributions, people=GRID),
    ]


MESSAGE = SURVEY.message("uRAP", reports_of(URAP))
TALLIES = uldp.Tallies(SURVEY, {"uRAP": URAP.tally(reports_of(URAP))})
OTHER = uldp.Survey.from_json(SURVEY.to_json() + " ")


def not_questions() -> list[object]:
    alice = personalized.PersonalizedMechanism(COMMON, {})
    labels = [["a", "b\n"], ["", "b"], [1, 2**53], ["\ud800"]]
    return [
        *(None, 1, "uRR", [], [URAP], {}, URAP, object(), SURVEY),
        *({"q": wrong} for wrong in (None, 1, "uRR", uldp.UtilityOptimizedRR, DOMAIN, alice)),
        *({"q": uldp.UtilityOptimizedRR(uldp.Domain(wrong), 1.0)} for wrong in labels),
        *({wrong: URAP} for wrong in (None, 1, "", "a\n", "\ud800", b"a", ("a",))),
    ]


def not_repetitions() -> list[object]:
    first = {"keep": "first", "rounds": 4}
    often = {"keep": "nothing", "rounds": 4, "reports": 2}
    keeps = [*NOT_STRINGS, "", "First", "per value", "while same", np.array("first")]
    return [
        *(1, 1.5, "first", b"first", [], ["first"], [first], set(), object(), SURVEY, {}),
        *({**first, "keep": wrong} for wrong in keeps),
        *({**first, "rounds": wrong} for wrong in (*NOT_WHOLE, 0, -1, 1001)),
        *({**often, "rounds": wrong} for wrong in (*NOT_WHOLE, 0, -1, 1, 1001)),
        *({**often, "reports": wrong} for wrong in (*NOT_WHOLE, 0, -1, 5)),
        *({**often, "keep": "first"}, {**first, "keep": "nothing"}),
        *({key: value for key, value in often.items() if key != one} for one in often),
        *({**first, wrong: 1} for wrong in ("", "surveys", "reports", 1, None, ("a",))),
    ]


def of_surveys() -> list[Call]:
    damaged = [
        *(b"", b"uld", b"uldp", b"GIF89a", MESSAGE[:-1], MESSAGE + b"0", MESSAGE[1:]),
        *(MESSAGE[:9] + b"\xff" + MESSAGE[10:], MESSAGE[:30], MESSAGE[:-1] + b"\0"),
    ]
    foreign = [
        OTHER.message("uRAP", reports_of(URAP)),
        *(
            uldp.Survey("survey", {"uRAP": other}).message("uRAP", reports_of(other))
            for other in MECHANISMS
        ),
    ]
    not_lists = [None, 1, 1.5, "text", object(), MESSAGE, bytearray(MESSAGE), memoryview(MESSAGE)]
    not_tallies = [
        *(1, "tally", TALLIES["uRAP"], [1], object()),
        *({"uRAP": wrong} for wrong in (None, 1, reports_of(URAP), URAP, TALLIES["RR"])),
        *({wrong: TALLIES["uRAP"]} for wrong in (None, 1, "urap", "two sizes")),
    ]
    wrong_counts = [
        json.dumps(json.loads(TALLIES.to_json()) | {"tallies": wrong})
        for wrong in (None, [], {}, "none", [1, 2, 3], [{}, {}, {}])
    ]
    not_texts = [1, "text", [], {"uRAP": 1}, {"urap": "text"}, {1: "text"}, object()]
    often = {"keep": "nothing", "rounds": 4, "reports": 2}
    return [
        call(
            uldp.Survey,
            {"questions": not_questions(), "repeat": not_repetitions(), "texts": not_texts},
            id="survey",
            questions={"uRAP": URAP, "two sizes": TWO_SIZES},
            repeat=often,
        ),
        call(uldp.Survey.from_json, text=SURVEY.to_json()),
        call(
            SURVEY.message,
            {"reports": not_reports(URAP)},
            question="uRAP",
            reports=reports_of(URAP),
        ),
        call(uldp.Survey.load, runs=False, path="missing"),
        call(SURVEY.save, runs=False, path="missing"),
        call(uldp.Tallies.load, runs=False, path="missing"),
        call(TALLIES.save, runs=False, path="missing"),
        call(
            SURVEY.privatize,
            {"secrets": [1, "a", [], {}, ["a"], {"a": "home"}]},
            {"answer": "answer|values"},
            question="uRAP",
            answer="a",
        ),
        call(SURVEY.open, {"message": [*damaged, *foreign]}, message=MESSAGE, max_reports=99),
        call(SURVEY.read, {"messages": not_lists}, messages=[MESSAGE]),
        call(SURVEY.longest_message),
        call(uldp.Tallies, {"tallies": not_tallies}, survey=SURVEY, tallies=dict(TALLIES)),
        call(
            uldp.Tallies.from_json,
            {"text": wrong_counts},
            text=TALLIES.to_json(),
        ),
        only(
            wire.split,
            {"data": NOT_BYTES, "longest": [*NOT_WHOLE, 0, -1]},
            data=MESSAGE,
            longest=99,
        ),
        only(wire.unpack, {"message": [*damaged, *NOT_BYTES]}, message=MESSAGE),
    ]


def of_files() -> list[Call]:
    not_paths = [None, 1, "missing", b"missing", Path("missing"), [1], [None], ["a", "a"], object()]
    clients = [1, "local", object()]
    return [
        call(
            parquet.write_reports,
            {"reports": not_reports(URAP), "path": ["missing"]},
            runs=False,
            survey=SURVEY,
            question="uRAP",
            reports=reports_of(URAP),
            path="missing.parquet",
        ),
        call(parquet.tally_files, {"paths": not_paths, "client": clients}, survey=SURVEY, paths=[]),
    ]


CALLS = [
    *(*of_domains(), *of_constructors(), *of_sums()),
    *(one for mechanism in MECHANISMS for one in of_mechanism(mechanism)),
    *(*of_estimators(), *of_losses(), *of_choosing(), *of_attributes(), *of_inference()),
    *(*of_personalized(), *of_privacy(), *of_shuffling(), *of_repetition(), *of_attacks()),
    *(*of_datasets(), *of_experiments(), *of_surveys(), *of_files()),
]
