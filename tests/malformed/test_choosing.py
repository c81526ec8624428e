"""Choosing a mechanism, n and ε."""

import math

import uldp
from malformed.table import (
    DOMAIN,
    HUGE,
    NOT_ARRAYS,
    NOT_DOMAINS,
    NOT_MECHANISMS,
    NOT_STRINGS,
    URR,
    Call,
    K,
    both_tests,
    call,
    distribution,
    real,
    weights,
    whole,
)
from uldp.survey import choosing


def calls_of_choosing() -> list[Call]:
    domain, p = (DOMAIN, NOT_DOMAINS), (..., distribution(K, optional=True))
    n, loss = (10**6, whole(0, -1)), ("l2", [*NOT_STRINGS, "TV", "L1", ""])
    target = [*real(0, -1), 5e-324]
    not_makers = [None, 1, "rr", URR, object(), [uldp.UtilityOptimizedRR], lambda d, e: None]
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
        call(
            choosing.users_needed,
            mechanism=(URR, []),
            loss=("standard_error", []),
            target=(0.1, target),
            p=p,
            weights=([1.0, 0, 0, 0, 0], weights()),
        ),
        call(
            choosing.epsilon_needed,
            make=(uldp.UtilityOptimizedRR, []),
            domain=(DOMAIN, []),
            n=n,
            loss=("standard_error", []),
            target=(0.1, [*target, 1e-9]),
            weights=([1.0, 0, 0, 0, 0], weights()),
        ),
        call(choosing.excess, mechanism=(URR, NOT_MECHANISMS)),
        call(
            choosing.excess_map,
            k=(3, whole(0, -1)),
            sizes=([1], [*not_lists, [4], [1.5]]),
            epsilons=([1.0], [*not_lists, [0.0]]),
        ),
    ]


CALLS = calls_of_choosing()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
