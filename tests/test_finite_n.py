"""Expected losses for a finite number of users, by enumerating all that can be reported."""

import mpmath
import numpy as np
import pytest
from cases import compositions, random_distribution, rows_of
from scipy.stats import multinomial

import uldp
from uldp import mechanisms
from uldp.decoders import SupportDecoder

SHAPES = [(1, 1), (2, 0), (2, 1), (3, 1), (3, 2), (3, 3)]


@pytest.mark.parametrize(("k", "s"), SHAPES)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_losses_are_expectations_over_all_report_counts(make, k, s, n):
    rng = np.random.default_rng([k, s, n])
    mechanism = make(uldp.Domain(k, sensitive=range(s)), rng.uniform(0.2, 3))
    p = random_distribution(rng, k)
    m = p @ mechanism.transition_matrix()
    report_counts = compositions(n, len(m))
    weights = multinomial.pmf(report_counts, n, m / m.sum())
    assert weights.sum() == pytest.approx(1)
    errors = report_counts @ rows_of(mechanism) / n - p
    l1, l2 = weights @ np.abs(errors).sum(axis=1), weights @ (errors**2).sum(axis=1)
    assert mechanism.l2_loss(p, n) == pytest.approx(l2, rel=1e-11, abs=1e-14)
    if isinstance(mechanism.decoder, SupportDecoder):
        assert mechanism.l1_loss(p, n, exact=True) == pytest.approx(l1, rel=1e-11, abs=1e-14)
    else:
        with pytest.raises(ValueError, match="an entry hangs on several counts"):
            mechanism.l1_loss(p, n, exact=True)


def mean_absolute_deviation(n: int, m: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        m = mpmath.mpf(m)
        top = int(mpmath.floor(n * m)) + 1
        if top > n:
            return mpmath.mpf(0)
        log_choose = (
            mpmath.loggamma(n + 1) - mpmath.loggamma(top + 1) - mpmath.loggamma(n - top + 1)
        )
        log_pmf = log_choose + top * mpmath.log(m) + (n - top) * mpmath.log1p(-m)
        return 2 * top * (1 - m) * mpmath.exp(log_pmf)


@pytest.mark.parametrize("n", [1, 7, 1000, 10**6, 10**9])
@pytest.mark.parametrize("m", [1e-12, 3.3e-7, 1e-3, 0.1, 0.5, 0.75, 1 - 1e-9])
def test_exact_l1_loss_is_stable(n, m):
    """With nothing sensitive the uRR reports the truth, so that its loss is E|B - nm|/n summed."""
    identity = uldp.UtilityOptimizedRR(uldp.Domain(2), 1.0)
    rare = min(m, 1 - m)
    expected = float(2 * mean_absolute_deviation(n, rare) / n)
    assert identity.l1_loss([m, 1 - m], n, exact=True) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("make", mechanisms.PAPER.values(), ids=mechanisms.PAPER.keys())
def test_central_limit(make):
    mechanism = make(uldp.Domain(5, sensitive=[0, 1]), 1.0)
    p = np.array([0.3, 0.2, 0.1, 0.15, 0.25])
    ratios = [mechanism.l1_loss(p, n, exact=True) / mechanism.l1_loss(p, n) for n in (100, 10**8)]
    assert abs(ratios[1] - 1) < 1e-6 < abs(ratios[0] - 1)
