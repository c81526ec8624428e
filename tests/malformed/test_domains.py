"""Domains of values, with tags, and products."""

import math

import uldp
from malformed.table import (
    DOMAIN,
    HUGE,
    NOT_DOMAINS,
    NOT_LABELS,
    Call,
    K,
    both_tests,
    call,
    vector,
)
from uldp import personalized
from uldp.domain import ProductDomain


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
    cells = domain.product(one=["a", "b"], two=[*"abcde"], sensitive=lambda one, two: two == "a")
    of_two = [*NOT_LABELS, [*"abc"]]
    not_cells = [
        *not_sensitive[:5],
        lambda **cell: 1,
        lambda **cell: None,
        ["a"],
        [20],
        [0, 0],
        [1.5],
    ]
    levels = [*NOT_LABELS[:11], ["a", "z"], ["a", "a"], [0, 0], {"z": 1}, {"a": None}, {"a": HUGE}]
    return [
        call(domain, values=([*"abcde"], not_labels), sensitive=(["a"], not_sensitive)),
        call(DOMAIN.indices, values=(["a"], NOT_LABELS)),
        call(DOMAIN.labelled, vector=([1, 2, 3, 4, 5], vector(K, 1))),
        call(
            domain.product,
            sensitive=(..., not_cells),
            one=(["a", "b"], not_labels),
            two=([*"abcde"], not_labels),
        ),
        call(
            ProductDomain,
            factors=(
                {"a": [1, 2]},
                [None, 1, "a", [], {}, {1: [1]}, {"a": 0}, {"a": None}, object()],
            ),
            sensitive=(..., not_cells),
        ),
        call(cells.cells, {"two": "two|values"}, one=(["b", "a"], []), two=(["a", "c"], of_two)),
        call(cells.marginal, vector=(range(10), vector(10, 1))),
        call(cells.weights, one=("a", []), two=({"a": 2}, levels)),
        call(tagged, base=(DOMAIN, NOT_DOMAINS), tags=(["home"], not_tags)),
    ]


CALLS = calls_of_domains()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
