"""Proposition 14 on random mechanisms, in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from random_channels import exact_levels, osldp_matrices

import uldp
from uldp import privacy
from uldp.privacy import Channel
from uldp.privacy.osldp import decompose


def level(matrix, sensitive) -> float:
    return privacy.osldp_level(matrix, sorted(sensitive))


@settings(max_examples=300)
@given(osldp_matrices())
def test_decomposition_is_exact_and_as_private(drawn):
    matrix, sensitive = drawn
    epsilon = level(matrix, sensitive)
    parts = decompose(matrix, sorted(sensitive), epsilon)
    assert (parts.uldp @ parts.postprocessing == matrix).all()
    for factor in (parts.uldp, parts.postprocessing):
        assert (factor >= 0).all()
        assert (factor.sum(axis=1) == 1).all()
    assert len(parts.protected) == parts.uldp.shape[1] == len(parts.postprocessing)
    ratio = exact_levels(Channel(parts.uldp, parts.protected), sensitive)
    assert ratio == privacy.audit(matrix, sorted(sensitive)).osldp.ratio


@settings(max_examples=100)
@given(osldp_matrices())
def test_floats_give_the_same_decomposition(drawn):
    matrix, sensitive = drawn
    floats = decompose(matrix.astype(float), sorted(sensitive), level(matrix, sensitive))
    np.testing.assert_allclose(floats.uldp @ floats.postprocessing, matrix.astype(float))
    assert privacy.uldp_level(floats.uldp, sorted(sensitive), floats.protected) <= (
        level(matrix, sensitive) + 1e-9
    )


@settings(max_examples=100)
@given(osldp_matrices())
def test_mixing_raises_no_divergence(drawn):
    """Total variation, exactly, and the squared Hellinger distance, of any two values."""
    matrix, sensitive = drawn
    parts = decompose(matrix, sorted(sensitive), level(matrix, sensitive))
    for x, other in np.ndindex(len(matrix), len(matrix)):
        apart, mixed = parts.uldp[[x, other]], matrix[[x, other]]
        assert abs(mixed[0] - mixed[1]).sum() <= abs(apart[0] - apart[1]).sum()
        alike = [np.sqrt(rows.prod(axis=0).astype(float)).sum() for rows in (apart, mixed)]
        assert alike[0] <= alike[1] + 1e-12


@pytest.mark.parametrize(("k", "s", "epsilon"), [(2, 1, 0.05), (5, 2, 1.0), (12, 11, 5.0)])
def test_the_uldp_part_of_rr_is_urr_with_blanks(k, s, epsilon):
    domain = uldp.Domain(k, sensitive=range(s))
    rr = uldp.RandomizedResponse(domain, epsilon).transition_matrix()
    found = decompose(rr, domain.sensitive, epsilon).uldp
    blank = (k - s) / (k + np.exp(epsilon) - 1)
    np.testing.assert_allclose(found[:, s:k], blank / (k - s))
    urr = uldp.UtilityOptimizedRR(domain, epsilon).transition_matrix()
    informative = np.delete(found, np.arange(s, k), axis=1)
    np.testing.assert_allclose(informative, (1 - blank) * urr, atol=1e-15)


def test_a_row_that_sends_nothing_to_the_invertible_outputs():
    """Where the paper's proof divides by zero."""
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    matrix = [[half, half, 0], [quarter, 3 * quarter, 0], [quarter, quarter, half]]
    parts = decompose([[Fraction(v) for v in row] for row in matrix], [0], np.log(2))
    assert (parts.uldp @ parts.postprocessing == np.array(matrix)).all()
    np.testing.assert_array_equal(parts.protected, [True, True, False, False])
    np.testing.assert_array_equal(
        parts.uldp, [[half, half, 0, 0], [quarter, half, quarter, 0], [quarter, quarter, 0, half]]
    )


def test_no_sensitive_value_reveals_everything_and_all_sensitive_nothing():
    Q = np.array([[0.2, 0.8], [0.5, 0.5]])
    none = decompose(Q, [], 0.0)
    np.testing.assert_array_equal(none.uldp, np.eye(2))
    np.testing.assert_array_equal(none.postprocessing, Q)
    everything = decompose(Q, [0, 1], 1.0)
    np.testing.assert_array_equal(everything.uldp, Q)
    np.testing.assert_array_equal(everything.postprocessing, np.eye(2))


def test_a_mechanism_that_is_not_osldp():
    Q = [[0.9, 0.1, 0.0], [0.3, 0.2, 0.5]]
    with pytest.raises(
        ValueError, match=r"Q must be OSLDP with epsilon = 1\.0, got 1\.09.*output 0"
    ):
        decompose(Q, [0], 1.0)
    with pytest.raises(
        ValueError, match=r"got inf: output 2 has probability 0\.5 at input 1, 0\.0"
    ):
        decompose(Q, [1], 5.0)


@pytest.mark.parametrize("level", [0.5, 20.0])
def test_the_level_may_be_missed_by_rounding(level):
    """By 1e-12, or this share of levels above 1."""
    Q = np.array([[np.exp(level), 1], [1, np.exp(level)]]) / (np.exp(level) + 1)
    rounding = 1e-12 * max(1, level)
    decompose(Q, [0], level - 0.9 * rounding)
    with pytest.raises(ValueError, match="Q must be OSLDP"):
        decompose(Q, [0], level - 1.1 * rounding)
