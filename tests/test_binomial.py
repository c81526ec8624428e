import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from uldp._numerics.binomial import _stirling_error, mean_absolute_deviation, probability


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 40, 1000, 10**6, 10**9, 10**12])
def test_agrees_with_a_general_routine(n):
    """SciPy's binomial probabilities, right to about 1e-14 themselves, in de Moivre's formula."""
    m = np.append(10.0 ** np.random.default_rng(n % 97).uniform(-14, -0.31, 40_000), [0.5, 1e-12])
    above = np.floor(n * m) + 1
    expected = 2 * above * (1 - m) * binom.pmf(above, n, m)
    np.testing.assert_allclose(mean_absolute_deviation(n, m, 1 - m), expected, rtol=3e-14)


def test_the_error_of_stirlings_formula():
    """The first term that the series leaves out is below 2e-16 from 16 on."""
    x = np.array([1, 2, 15, 16, 17, 20, 30, 100, 10**6])
    with mpmath.workdps(60):
        stirling = [(m + mpmath.mpf("0.5")) * mpmath.log(m) - m for m in x.tolist()]
        missing = mpmath.log(2 * mpmath.pi) / 2
        factorials = (mpmath.loggamma(m + 1) for m in x.tolist())
        exact = [float(f - s - missing) for f, s in zip(factorials, stirling, strict=True)]
    np.testing.assert_allclose(_stirling_error(x.astype(float))[3:], exact[3:], rtol=0, atol=2e-16)
    np.testing.assert_allclose(_stirling_error(x.astype(float)), exact, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [1, 15, 16, 10**6])
def test_what_never_happens_does_not_deviate(n):
    np.testing.assert_array_equal(mean_absolute_deviation(n, np.zeros(3), np.ones(3)), 0)


def test_probabilities_of_almost_nothing_overflow_nowhere():
    m = np.array([5e-324, 1e-310, 1e-300])
    assert (mean_absolute_deviation(10**6, m, np.ones(3)) <= 2e6 * m * (1 + 1e-12)).all()


def test_is_the_mean_of_the_absolute_deviation():
    for n in (3, 20, 33):
        for m in (0.01, 0.3, 0.5):
            values = np.arange(n + 1)
            expected = binom.pmf(values, n, m) @ np.abs(values - n * m)
            computed = mean_absolute_deviation(n, np.array([m]), np.array([1 - m]))
            assert computed[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 15, 16, 40])
@pytest.mark.parametrize("m", [0, 1e-9, 0.01, 0.3, 0.5, 0.9, 1])
def test_every_probability(n, m):
    x, trials = np.arange(n + 1.0), np.array([float(n)])
    for each in (trials, np.full(n + 1, float(n))):
        found = probability(x, each, each * m)
        np.testing.assert_allclose(found, binom.pmf(x, n, m), rtol=1e-12)


def test_probabilities_of_unlike_numbers_of_trials():
    n = np.array([5.0, 20.0, 3.0, 0.0])
    x, mean = np.array([2.0, 20.0, 3.0, 0.0]), n * np.array([0.4, 0.9, 1.0, 0.3])
    expected = binom.pmf(x, n, [0.4, 0.9, 1.0, 0.3])
    np.testing.assert_allclose(probability(x, n, mean), expected, rtol=1e-13)
