"""The validation of arguments at its bounds: the last value taken, the first refused, and why."""

from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest

from uldp._numerics import checks

LARGEST = 2**63 - 1


def test_whole_numbers_fit_64_bits():
    assert checks.whole(LARGEST, "n", 0) == LARGEST
    with pytest.raises(ValueError, match=f"n must be at most {LARGEST}, got {LARGEST + 1}"):
        checks.whole(LARGEST + 1, "n", 0)


def test_whole_numbers_start_at_the_least():
    assert checks.whole(3.0, "n", 3) == 3
    with pytest.raises(ValueError, match=r"n must be 3 or greater, got 2\.0"):
        checks.whole(2.0, "n", 3)


def test_numbers_end_at_the_most():
    assert checks.whole(5, "n", 3, 5) == 5
    assert checks.nonnegative(1.0, "share", 1) == 1.0
    with pytest.raises(ValueError, match="n must be at most 5, got 6"):
        checks.whole(6, "n", 3, 5)
    with pytest.raises(ValueError, match=r"share must be at most 1, got 1\.5"):
        checks.nonnegative(1.5, "share", 1)


@pytest.mark.parametrize("value", [1e-9, 1, 500.0])
def test_budgets(value):
    assert checks.budget(value, "epsilon") == value


def test_a_budget_lost_in_rounding_is_refused():
    with pytest.raises(ValueError, match=r"epsilon must be at least 1e-09, got 9\.99e-10"):
        checks.budget(9.99e-10, "epsilon")


def test_numbers_may_be_fractions():
    halves = checks.numbers([Fraction(1, 2), 1, 0.5], "p", (3,))
    assert halves.tolist() == [0.5, 1, 0.5]


def test_numbers_of_other_shapes_are_refused_with_the_wanted_one():
    with pytest.raises(ValueError, match=r"Q must have shape \(any, 3\), got \(2, 2\)"):
        checks.numbers([[1, 2], [3, 4]], "Q", (-1, 3))


def test_counts_may_be_odd_floats():
    assert checks.counts([1.0, 3.0], "counts", 2).tolist() == [1, 3]
    with pytest.raises(ValueError, match=r"counts must be whole numbers, got 2\.5"):
        checks.counts([1.0, 2.5], "counts", 2)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_sum_of_counts_fits_64_bits(size):
    largest = LARGEST // size
    assert (checks.counts([largest] * size, "counts", size) == largest).all()
    assert checks.counts([0] * (size - 1) + [LARGEST], "counts", size).max() == LARGEST
    with pytest.raises(ValueError, match=f"counts must sum to at most {LARGEST}, got"):
        checks.counts([largest] * (size - 1) + [largest + size], "counts", size)


def test_no_counts():
    assert checks.counts(np.empty((0,)), "counts", 0).size == 0


def test_fractions_stay_exact():
    third = Fraction(1, 3)
    rows = checks.stochastic([[third, 1 - third], [0, 1]], "Q")
    assert rows.dtype == object
    assert rows.tolist() == [[third, 1 - third], [0, 1]]
    with pytest.raises(ValueError, match=r"each row of Q must sum to 1, got .* in row 0"):
        checks.stochastic([[third, 1 - third + Fraction(1, 10**30)]], "Q")


def test_whole_numbers_make_a_matrix_of_floats():
    assert checks.stochastic([[1, 0], [0, 1]], "Q").dtype == np.float64


def test_a_table_with_labels_is_refused():
    """Its rows may be in another order."""
    table = pd.DataFrame([[0.5, 0.5], [0, 1]], index=["yes", "no"])
    for check in (checks.stochastic, partial(checks.numbers, shape=(2, 2))):
        with pytest.raises(TypeError, match="Q must be in order and without labels here, got a Da"):
            check(table, "Q")


@pytest.mark.parametrize(("wrong", "total"), [([0.5, 0.25], 0.75), ([1.5, 0.0], 1.5)])
def test_the_row_that_is_furthest_off_is_named(wrong, total):
    with pytest.raises(ValueError, match=f"each row of Q must sum to 1, got {total} in row 1"):
        checks.stochastic([[0.5, 0.5], wrong, [1.0, 0.0]], "Q")


@pytest.mark.parametrize(("values", "wrong"), [([0, 5, 1], 5), ([0, 2, -1, 5], -1), ([3], 3)])
def test_the_position_outside_is_named(values, wrong):
    with pytest.raises(ValueError, match=rf"values must lie in 0\.\.2, got {wrong}$"):
        checks.positions(values, "values", 3)
