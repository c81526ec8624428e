"""E|Σ v_i N_i| against enumeration, de Moivre's formula and the central limit."""

import itertools

import numpy as np
import pytest
from scipy.stats import multinomial

from uldp._numerics.binomial import mean_absolute_deviation
from uldp._numerics.multinomial import _likely, mean_absolute_value


def enumerated(n: int, values: np.ndarray, probabilities: np.ndarray) -> float:
    bars = itertools.combinations(range(n + values.size - 1), values.size - 1)
    edges = np.array([(-1, *bar, n + values.size - 1) for bar in bars])
    counts = np.diff(edges, axis=1) - 1
    return multinomial.pmf(counts, n, probabilities) @ np.abs(counts @ values)


@pytest.mark.parametrize("number", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_small_numbers_by_enumeration(number, n):
    rng = np.random.default_rng([number, n])
    for _ in range(10):
        values = rng.integers(-3, 4, size=number) + rng.choice([0, 0.25])
        probabilities = rng.dirichlet(np.full(number, 0.5))
        found = mean_absolute_value(n, values, probabilities)
        assert found == pytest.approx(enumerated(n, values, probabilities), rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("n", [5, 1000, 10**6])
@pytest.mark.parametrize("m", [1e-6, 0.01, 0.3, 0.5])
def test_two_and_three_values_by_de_moivre(n, m):
    """Splitting one of two values in two equal ones, or in two nearly equal, changes nothing."""
    exact = mean_absolute_deviation(n, np.array([m]), np.array([1 - m]))[0]
    assert mean_absolute_value(n, np.array([1 - m, -m]), np.array([m, 1 - m])) == pytest.approx(
        exact, rel=1e-9
    )
    values = np.array([1 - m, -m, -m * (1 + 1e-13)])
    split = mean_absolute_value(n, values, np.array([m, (1 - m) / 3, (1 - m) * 2 / 3]))
    assert split == pytest.approx(exact, rel=1e-8)


def test_central_limit():
    values, probabilities = np.array([2.0, -1.3, 0.4]), np.array([0.2, 0.5, 0.3])
    values = values - probabilities @ values
    variance = probabilities @ values**2
    for n, distance in [(100, 1e-2), (10**6, 1e-5)]:
        limit = np.sqrt(2 * n * variance / np.pi)
        assert mean_absolute_value(n, values, probabilities) == pytest.approx(limit, rel=distance)


def test_too_many_terms():
    with pytest.raises(ValueError, match=r"n must be smaller for the exact loss .* got 100000000"):
        mean_absolute_value(10**8, np.arange(5.0), np.full(5, 0.2))


@pytest.mark.parametrize("m", [1e-4, 0.01, 0.3, 0.5, 0.8, 1.0])
def test_counts_that_are_left_out_have_bernsteins_probability(m):
    """Those next to the bounds have at most 10^-18, the bounds themselves more."""
    n = np.array([0, 1, 10, 1000, 10**5, 10**7])
    mean, variance = n * m, n * m * (1 - m)
    least, most = _likely(n, m)
    for bound, beyond, inside in ((least, -1, least > 0), (most, 1, most < n)):
        for place, likely in ((bound, True), (bound + beyond, False)):
            distance = np.abs(place - mean)[inside]
            chance = np.exp(-(distance**2) / (2 * (variance[inside] + distance / 3)))
            np.testing.assert_array_equal(chance > 1e-18, likely)
    assert (least <= mean).all()
    assert (most >= np.floor(mean)).all()
    assert (least >= 0).all()
    assert (most <= n).all()
