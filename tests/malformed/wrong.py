"""Values that are wrong for an argument: they follow from its annotation, its name and a right one.

A rule by the name of an argument goes before one by its annotation, and a rule by the names of
function and argument before both. The domain of the arguments has K values.
"""

import json
import math
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

import uldp
from uldp.mechanisms.base import Seed
from uldp.paper import datasets

K, S = 5, 3
DOMAIN = uldp.Domain(["a", "b", "c", "d", "e"], sensitive=["a", "b", "c"])
UNIFORM = np.full(K, 1 / K)
URR = uldp.UtilityOptimizedRR(DOMAIN, 1.0)
GRID = datasets.manhattan()
REPORTS = URR.privatize(np.arange(20) % K, rng=1, indices=True)
SURVEY = uldp.Survey("survey", {"uRR": URR})

HUGE = 10**400
DAY = date(2019, 8, 14)
NOT_NUMBERS = [True, np.True_, "1", b"1", 1j, [1], np.ones(2), {}, {1}, DAY, object()]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float32("nan"), HUGE]
NOT_REAL = [None, *NOT_NUMBERS, *NOT_FINITE]
NOT_WHOLE = [*NOT_REAL, 1.5, -HUGE, Fraction(3, 2)]
NOT_ARRAYS = [
    *("abc", b"abc", {}, {0: 1}, {0, 1}, object(), DAY, [[0], [0, 1]]),
    np.ma.masked_array([0, 1], mask=[True, False]),
]
NOT_FLAGS = [None, 0, 1, "no", 0.5, [True], np.ones(2, dtype=bool), object()]
NOT_STRINGS = [None, 0, 1.5, True, b"l1", ["l1"], {"l1"}, {}, np.array(["l1", "l2"]), object()]
NOT_SEEDS = [-1, 1.5, math.nan, True, "seed", b"seed", 1j, {}, [-1], [1.5], ["a"], object()]
NOT_PATHS = [None, 1, 1.5, True, b"file", ["file"], {}, object()]
NOT_BYTES = [None, 1, "message", [1], 1.5, object()]
STRANGERS = [
    *(None, 1, 1.5, "RR", [], ["a"], {"quick": True}, UNIFORM, DOMAIN, URR, REPORTS, GRID),
    *(URR.tally(REPORTS), URR.evidence(REPORTS), SURVEY, SURVEY.to_json(), dict(SURVEY.questions)),
    *(datasets.census(), uldp.RandomizedResponse, uldp.Survey, object()),
]
"""Among them, whatever an annotation asks for is the only one that is right."""

NOT_LABELS = [  # what is no value of `DOMAIN`, nor an array of some
    *(None, 1.5, math.nan, True, 1j, "z", "", b"a", -1, K, HUGE, {}, {"a"}, object(), DAY),
    *(["a", "z"], ["a", 0], ["a", None], [0, K], [-1], [0.0], [True], [b"a"], [["a"]], [HUGE]),
    *([[0], [0, 1]], [1j], [math.nan], np.array(["2019-08-14"], dtype="datetime64[D]")),
    np.ma.masked_array([0, 1], mask=[True, False]),
]
NOT_INDICES = [*NOT_LABELS, "a", ["a"], ["a", "b"]]
NOT_VALUES = [  # what makes no domain
    *(None, True, 1.5, math.nan, "abc", b"abc", {"a", "b"}, object(), 0, -1, 2**31, HUGE, 1j),
    *([], [None], ["a", 1], ["a", "a"], [1.5], [True], [["a"]], [b"a"], [0, 0], [math.nan]),
]
NOT_SENSITIVE = [
    *(None, 0, 1.5, "ab", b"\x00", object(), ["z"], ["a", "a"], [20], [-1], [0, 0], [0.0]),
    *([True], [None], [["a"]], [[0], [0, 1]], ["a", 0], [HUGE], [math.nan], [1j], [b"a"]),
]
NOT_STOCHASTIC = [
    *NOT_ARRAYS,
    *(None, 1.0, [0.5, 0.5], [], [[]], np.empty((0, 2)), [[[1.0]]]),
    *([["a"]], [[None]], [[1j]], [[True]], [[math.nan, 1]], [[math.inf, -math.inf]], [[object()]]),
    *([[-0.5, 1.5]], [[0.5, 0.6]], [[0, 0]], [[1e308, 1e308]], [[HUGE, 0.5]], [[HUGE, 1]]),
    [[Fraction(1, 3), Fraction(1, 3)]],
]


def vector(right: Any) -> list[object]:
    """What is no vector of as many finite real numbers."""
    size = np.size(right)
    right = np.full(size, 1 / size)
    not_entries = [math.nan, math.inf, "a", b"a", None, 1j, HUGE, DAY, object(), [1]]
    return [
        *(*NOT_ARRAYS, None),
        *([], right[0], right[:-1], np.append(right, 0), right[None], right[:, None]),
        np.ones(size, dtype=bool),
        *([wrong, *right[1:].tolist()] for wrong in not_entries),
    ]


def weights(right: Any) -> list[object]:
    """What gives no weight to each value, neither as numbers nor by labels."""
    not_numbers = [one for one in vector(right) if not isinstance(one, dict) or not one]
    of_labels = [{K: 1}, {0.5: 1}, {"z": 1}, {0: "a"}, {0: math.nan}, {0: None}, {(0,): 1}]
    return [*not_numbers, *of_labels, ["z"], ["a", "a"], ["a", 0.5], [["a"]]]


def distribution(right: Any) -> list[object]:
    size = np.size(right)
    fair = np.full(size, 1 / size)
    return [
        *vector(fair),
        *(0 * fair, 2 * fair, -fair, fair * (1 + 1e-6), np.full(size, 1e308)),
        np.append([-0.5, 1.5], np.zeros(size - 2)),
    ]


def counts(right: Any) -> list[object]:
    too_large = ([entry] * np.size(right) for entry in (-1, 1.5, 2**62, 2**64, 1e19))
    return [*vector(right), *too_large]


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


def texts(right: str) -> list[object]:
    """What is not the text of a file of this kind."""
    content = json.loads(right)
    return [
        *(None, 1, 1.5, [], {}, content, object(), "", "{", "[]", "null", "2", "uldp", right[:-3]),
        *(right + "}", "\ufeff" + right, right.encode("utf-16"), b"\xff", "[" * 100_000),
        *(json.dumps(content | {"uldp": version}) for version in (1, 4, True, "3", None, [3])),
        *(json.dumps({k: v for k, v in content.items() if k != key}) for key in content),
        json.dumps(content | {"note": ""}),
    ]


BACKGROUNDS = [
    *(1, "home", ["home"], [("home", UNIFORM)], {"school": UNIFORM}, {0: UNIFORM}, object()),
    *({"home": wrong} for wrong in distribution(UNIFORM) if wrong is not None),
]
TARGETS = [*positions(K), [], ["a", "z"], ["a", "a"], "a", {"a"}]

UNIT = (0, 1, -1, 2)
OUTSIDE: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("confidence", "delta"), UNIT),
    **dict.fromkeys(("latitude", "longitude"), ()),
    **dict.fromkeys(("s", "nu", "seed", "steps", "changes", "likelihood_realizations"), (-1,)),
    **dict.fromkeys(("em.tolerance", "decompose.epsilon"), (-1,)),
    **{"share": (-0.1, 1.1), "level": (-0.1,), "theta": (*UNIT, "best", "")},
}
"""Numbers out of the range of an argument; of others 0 and less are."""

BY_NAME: dict[str, list[Any] | Callable[[Any], list[Any]]] = {
    **dict.fromkeys(("p", "start", "prior", "visits", "shares"), distribution),
    **dict.fromkeys(("weights", "part", "whole"), weights),
    **dict.fromkeys(("Evidence.times", "Evidence.revealed", "true_counts"), counts),
    **dict.fromkeys(("Q", "R", "matrix"), NOT_STOCHASTIC),
    **dict.fromkeys(("Device.first", "Device.second"), NOT_STOCHASTIC),
    **dict.fromkeys(("values", "answer"), NOT_LABELS),
    **dict.fromkeys(("us_census_1990", "record", "folder"), NOT_PATHS),
    **dict.fromkeys(("vector", "r"), vector),
    **dict.fromkeys(("Law.second_moment.p", "OneByOne.total_variance.p"), vector),
    **{"protected": mask(3), "Device.protected": mask(2), "sensitive": positions(2)},
    **{"Domain.values": NOT_VALUES, "Domain.sensitive": NOT_SENSITIVE},
    "Channel.of.mechanism": [one for one in STRANGERS if one is not URR],
    **{"text": texts, "background": BACKGROUNDS, "targets": TARGETS, "source": NOT_STRINGS},
    **{"id": [*NOT_STRINGS, "", "a\n", "\ud800", "\x7f"], "name": NOT_STRINGS},
}


def wrong_values(function: str, name: str, hint: Any, right: Any) -> list[Any]:
    """Values that are wrong for an argument, none where neither name nor annotation tells any."""
    kinds = {*get_args(hint)} if get_origin(hint) in (Union, UnionType) else {hint}
    rule = BY_NAME.get(f"{function}.{name}", BY_NAME.get(name))
    if rule is None:
        values = by_annotation(function, name, hint, kinds, right)
    else:
        values = rule(right) if callable(rule) else rule
    return [one for one in values if one is not None or NoneType not in kinds]


def by_annotation(function: str, name: str, hint: Any, kinds: set[Any], right: Any) -> list[Any]:
    kinds = kinds - {NoneType}
    literals = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    classes = [kind for kind in kinds if getattr(kind, "__module__", "").startswith("uldp.")]
    outside = OUTSIDE.get(f"{function}.{name}", OUTSIDE.get(name, (0, -1)))
    by_kind: dict[Any, list[Any]] = {
        bool: NOT_FLAGS,
        float: [*NOT_REAL, *outside],
        int: [*NOT_WHOLE, *outside],
        str: [*NOT_STRINGS, "", str(right).swapcase()],
        Path: NOT_PATHS,
    }
    if hint == Seed:
        return NOT_SEEDS
    if literals:
        others = {"", "tv", "mse", *map(str.swapcase, literals)} - {*literals}
        return [*NOT_STRINGS, *sorted(others)]
    if PathLike[str] in kinds:
        return NOT_PATHS
    if bytes in kinds and str not in kinds:
        return NOT_BYTES
    if "one number for each value" in str(hint):
        return counts(right) if "int64" in str(hint) else vector(right)
    if kinds == {*classes} and not any(getattr(kind, "_is_protocol", False) for kind in kinds):
        return [one for one in STRANGERS if not isinstance(one, tuple(classes))]
    return by_kind.get(*kinds, []) if len(kinds) == 1 else []
