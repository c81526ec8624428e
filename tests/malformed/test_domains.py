"""Domains of values, and with tags."""

import math

import uldp
from malformed.table import DOMAIN, HUGE, NOT_DOMAINS, NOT_LABELS, Call, K, both_tests, call
from uldp import personalized


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
        call(DOMAIN.indices, values=(["a"], NOT_LABELS), secret=(True, [])),
        call(tagged, base=(DOMAIN, NOT_DOMAINS), tags=(["home"], not_tags)),
    ]


CALLS = calls_of_domains()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
