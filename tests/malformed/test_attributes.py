"""Attributes one by one."""

import numpy as np

import uldp
from malformed.table import (
    NOT_ARRAYS,
    NOT_LABELS,
    NOT_MECHANISMS,
    NOT_SEEDS,
    URR,
    Call,
    both_tests,
    call,
    distribution,
    real,
    vector,
    whole,
)
from uldp.attributes import OneByOne

COIN = uldp.RandomizedResponse(uldp.Domain(["x", "y"]), 1.0)
BOTH = OneByOne({"one": URR, "two": COIN})


def calls_of_attributes() -> list[Call]:
    not_mappings = [*NOT_MECHANISMS, {}, {"one": None}, {1: URR}, {"one": uldp.Domain(2)}]
    not_mappings += [{"one": uldp.Rappor(COIN.domain, 1.0)}, {"one": URR, "two": "RR"}]
    not_reports = [*NOT_ARRAYS, None, 1, [], [0, 1], [[0]], [[0, 2]], [[5, 0]], [[-1, 0]]]
    not_reports += [[[0.0, 1.0]], [["a", "x"]], [[True, False]], [[0, 1, 1]]]
    right = np.ones((5, 2), dtype=int)
    not_tables = [*NOT_ARRAYS, None, 1, right.T, right[0], right.ravel(), 0 * right, -right]
    not_tables += [right / 2, right.astype(bool), np.full((5, 2), "a"), np.full((5, 2), 2**62)]
    table = right, not_tables
    p = np.full(10, 0.1)
    return [
        call(OneByOne, mechanisms=({"one": URR, "two": COIN}, not_mappings)),
        call(
            BOTH.privatize,
            values=(["a, x"], [*NOT_LABELS[:9], 10, "a", ["a, x", "z"], ["a"], [10]]),
            rng=(..., NOT_SEEDS),
        ),
        call(BOTH.count, reports=([[0, 1]], not_reports)),
        call(BOTH.estimate, table=table),
        call(BOTH.maximum_likelihood, table=table, tolerance=(1e-3, real(0, -1))),
        call(BOTH.l2_loss, p=(p, distribution(10)), n=(3, whole(0, -1))),
        call(BOTH.total_variance, weights=(p, vector(10, 0.1)), p=(p, vector(10, 0.1))),
    ]


CALLS = calls_of_attributes()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
