"""Tables 3 and 4: the exact worst cases, and the printed terms as their limits."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st

from uldp.paper import regimes

SIZES = [(15, 625), (76, 400)]


@pytest.mark.parametrize("norm", ["l1", "l2"])
@settings(deadline=None, max_examples=40)
@given(epsilon=st.floats(0.01, 8), data=st.data())
def test_no_distribution_has_a_larger_loss(norm, epsilon, data):
    k = data.draw(st.integers(2, 12))
    s = data.draw(st.integers(0, k))
    weights = data.draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any))
    p = np.array(weights) / sum(weights)
    for mechanism in regimes.rows(s, k, epsilon).values():
        largest = regimes.worst_case_loss(mechanism, norm)
        unit = math.sqrt(2 / math.pi) if norm == "l1" else 1
        loss = mechanism.l1_loss if norm == "l1" else mechanism.l2_loss
        assert loss(p, 1) <= unit * largest * (1 + 1e-12)
        assert loss(mechanism.worst_case(norm), 1) == pytest.approx(unit * largest)


@pytest.mark.parametrize(("s", "k"), [*SIZES, (2, 4), (30, 40)])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_printed_terms_are_limits_for_small_epsilon(norm, s, k):
    """But for RAPPOR's l2 loss, of whose leading term the table prints the part 1 - 1/k."""
    for name, entry in regimes.compare(norm, s, k, 1e-9).items():
        limit = 1 - 1 / k if (norm, name) == ("l2", "RAPPOR") else 1
        assert entry.share == pytest.approx(limit, abs=1e-4), name


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_printed_terms_are_limits_for_many_values_at_ln_k(norm):
    for name, entry in regimes.compare(norm, 5, 10**5).items():
        assert entry.share == pytest.approx(1, abs=4 / math.sqrt(10**5)), name


def test_one_sensitive_value_has_no_printed_term():
    rows = {norm: regimes.compare(norm, 1, 625, 1e-6)["uRR"] for norm in ("l1", "l2")}
    assert [entry.printed for entry in rows.values()] == [0, 0]
    assert rows["l1"].exact == pytest.approx((1 + math.sqrt(624)) / math.sqrt(1e-6), rel=1e-3)
    assert rows["l2"].exact == pytest.approx(2 / 1e-6, rel=1e-3)


def test_what_is_printed_for_50_sensitive_values_of_625():
    """Worked out by hand: √625 = 25, 625^(3/4) = 125, √49 = 7."""
    root = math.sqrt(624)
    for norm, epsilon, column in (
        ("l1", 0.1, (6250 * root, 12500, 3500, 1000, root)),
        ("l1", None, (2 * root, 5 * root, root, 1.4 * root, root)),
        ("l2", 0.1, (39_000_000, 249_600, 245_000, 20_000, 0.9984)),
        ("l2", None, (3.9936, 24.96, 1, 3.04, 0.9984)),
    ):
        entries = regimes.compare(norm, 50, 625, epsilon).values()
        np.testing.assert_allclose([entry.printed for entry in entries], column, rtol=1e-12)


def test_printed_formulas_take_symbols():
    s, k, ε = sp.symbols("s k epsilon", positive=True)
    for rows in regimes.PRINTED.values():
        for formula in rows.values():
            assert sp.sympify(formula(s, k, ε)).free_symbols <= {s, k, ε}
