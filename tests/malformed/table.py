"""The table's entries, the two tests that they give, and values that are wrong for most."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import uldp
from uldp.paper import datasets
from uldp.survey import wire


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


def both_tests(calls: list[Call]) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return a test that wrong arguments are refused by name, and one that the others are right."""
    arguments = [
        pytest.param(one, argument, id=f"{i}-{one.name}-{argument}")
        for i, one in enumerate(calls)
        for argument in one.wrong
    ]
    running = [one for one in calls if one.runs]

    @pytest.mark.parametrize(("one", "argument"), arguments)
    def refused(one: Call, argument: str) -> None:
        answers = [answer(one, argument, wrong) for wrong in one.wrong[argument]]
        assert [text for text in answers if text] == []

    @pytest.mark.parametrize("one", running, ids=lambda one: one.name)
    def right(one: Call) -> None:
        one.function(**one.right)

    return refused, right


def answer(one: Call, argument: str, wrong: object) -> str:
    """What comes of a wrong argument, "" if it is refused as it should be."""
    try:
        result = one.function(**one.right | {argument: wrong})
    except Exception as error:
        named = re.search(rf"\b({one.called.get(argument, argument)})\b", str(error))
        refused = type(error) in (ValueError, TypeError, wire.MessageError)
        return "" if named and refused else f"{wrong!r}: {type(error).__name__}, {error}"
    return f"{wrong!r}: {result!r}"


K, S = 5, 3
DOMAIN = uldp.Domain(["a", "b", "c", "d", "e"], sensitive=["a", "b", "c"])
UNIFORM = np.full(K, 1 / K)
URR = uldp.UtilityOptimizedRR(DOMAIN, 1.0)
GRID = datasets.manhattan()

HUGE = 10**400
DAY = date(2019, 8, 14)
NOT_NUMBERS = [True, np.True_, "1", b"1", 1j, [1], np.ones(2), {}, {1}, DAY, object()]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float32("nan"), HUGE]
NOT_ARRAYS = [
    *("abc", b"abc", {}, {0: 1}, {0, 1}, object(), DAY, [[0], [0, 1]]),
    np.ma.masked_array([0, 1], mask=[True, False]),
]
NOT_FLAGS = [None, 0, 1, "no", 0.5, [True], np.ones(2, dtype=bool), object()]
NOT_STRINGS = [None, 0, 1.5, True, b"l1", ["l1"], {"l1"}, {}, np.array(["l1", "l2"]), object()]
NOT_SEEDS = [-1, 1.5, math.nan, True, "seed", b"seed", 1j, {}, [-1], [1.5], ["a"], object()]
NOT_PATHS = [None, 1, 1.5, True, b"file", ["file"], {}, object()]
NOT_DOMAINS = [None, 5, ["a"], URR, object()]
NOT_MECHANISMS = [None, 1.0, "RR", DOMAIN, GRID, uldp.RandomizedResponse, [], object()]
NOT_LOSSES = [*NOT_STRINGS, "tv", "L1", "mse", ""]
NOT_LABELS = [  # what is no value of `DOMAIN`, nor an array of some
    *(None, 1.5, math.nan, True, 1j, "z", "", b"a", -1, K, HUGE, {}, {"a"}, object(), DAY),
    *(["a", "z"], ["a", 0], ["a", None], [0, K], [-1], [0.0], [True], [b"a"], [["a"]], [HUGE]),
    *([[0], [0, 1]], [1j], [math.nan], np.array(["2019-08-14"], dtype="datetime64[D]")),
    np.ma.masked_array([0, 1], mask=[True, False]),
]
NOT_INDICES = [*NOT_LABELS, "a", ["a"], ["a", "b"]]
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


def weights(optional: bool = False) -> list[object]:
    """What gives no weight to each value of `DOMAIN`, neither as numbers nor by labels."""
    not_numbers = [one for one in vector(K, 0.2, optional) if not isinstance(one, dict) or not one]
    of_labels = [{K: 1}, {0.5: 1}, {"z": 1}, {0: "a"}, {0: math.nan}, {0: None}, {(0,): 1}]
    return [*not_numbers, *of_labels, ["z"], ["a", "a"], ["a", 0.5], [["a"]]]


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
