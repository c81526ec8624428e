"""Expected losses against the printed formulas, evaluated in 60 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

import uldp
from uldp.losses import total_variance

mpmath.mp.dps = 60

EXTREME_EPSILONS = [1e-6, 0.01, 1.0, 6.0, 30.0]
SHAPES = [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (5, 0), (5, 1), (5, 3), (5, 5), (400, 76)]


def exactly(p: np.ndarray) -> list:
    total = mpmath.fsum(map(mpmath.mpf, p))
    return [mpmath.mpf(x) / total for x in p]


def paper_losses(name: str, p: list, sensitive: set, n: int, epsilon: float) -> tuple:
    """Propositions 4 and 15 (uRR), 7 and 18 (uRAP) as they are printed."""
    E, root, pi = mpmath.exp(epsilon), mpmath.exp(mpmath.mpf(epsilon) / 2), mpmath.pi
    u, s = E - 1, len(sensitive)
    S = [p[j] for j in range(len(p)) if j in sensitive]
    N = [p[j] for j in range(len(p)) if j not in sensitive]
    fsum = mpmath.fsum

    def sqrt(x):
        return mpmath.sqrt(max(x, 0))

    squares = fsum(x**2 for x in p)
    if name == "uRR":
        v = (s + u) / u
        terms = [sqrt((x + 1 / u) * (v - x - 1 / u)) for x in S] + [sqrt(x * (v - x)) for x in N]
        l2 = (2 * u * (s - fsum(S)) + s * (s - 1)) / (n * u**2) + (1 - squares) / n
    else:
        w = root - 1
        v = root / w
        terms = [sqrt((x + 1 / w) * (v - x)) for x in S] + [sqrt(x * (v - x)) for x in N]
        l2 = (1 + ((s + 1) * root - 1) / w**2 - fsum(S) / w - squares) / n
    return float(sqrt(2 / (n * pi)) * fsum(terms)), float(l2)


def distributions(k: int) -> list[np.ndarray]:
    rng = np.random.default_rng(k)
    random = rng.dirichlet(np.full(k, 0.3))
    return [np.full(k, 1 / k), np.eye(k)[0], np.eye(k)[-1], random / random.sum()]


@pytest.mark.parametrize("epsilon", EXTREME_EPSILONS)
@pytest.mark.parametrize(("k", "s"), SHAPES)
def test_losses_are_those_printed_in_the_paper(k, s, epsilon):
    domain = uldp.Domain(k, sensitive=range(s))
    everything = set(range(k))
    mechanisms = [
        ("uRR", uldp.UtilityOptimizedRR(domain, epsilon), set(range(s))),
        ("uRR", uldp.RandomizedResponse(domain, epsilon), everything),
        ("uRAP", uldp.UtilityOptimizedRappor(domain, epsilon), set(range(s))),
        ("uRAP", uldp.Rappor(domain, epsilon), everything),
    ]
    for name, mechanism, sensitive in mechanisms:
        for p in distributions(k):
            for n in (1, 10**6):
                l1, l2 = paper_losses(name, exactly(p), sensitive, n, epsilon)
                assert mechanism.l1_loss(p, n) == pytest.approx(l1, rel=1e-7, abs=1e-15)
                assert mechanism.l2_loss(p, n) == pytest.approx(l2, rel=1e-11, abs=1e-15)


@given(
    epsilon=st.floats(1e-4, 20),
    theta=st.floats(0.01, 0.99),
    weights=st.lists(st.integers(0, 100), min_size=2, max_size=8).filter(any),
    data=st.data(),
)
def test_uRAP_loss_at_any_theta(epsilon, theta, weights, data):
    """n E l2 = [Q/θ + P/(1-θ)]/(E-1)² - Σp² with Q = E(s+E-1), P = Es - p(S)(E-1)."""
    k = len(weights)
    sensitive = data.draw(st.sets(st.integers(0, k - 1)))
    p = np.array(weights) / sum(weights)
    E = mpmath.exp(epsilon)
    s, mass, t = len(sensitive), mpmath.fsum(p[j] for j in sensitive), mpmath.mpf(theta)
    Q, P = E * (s + E - 1), E * s - mass * (E - 1)
    expected = (Q / t + P / (1 - t)) / (E - 1) ** 2 - mpmath.fsum(x**2 for x in exactly(p))
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(k, sensitive=sensitive), epsilon, theta)
    assert mechanism.l2_loss(p, 1) == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


def test_largest_variance_of_a_total_is_attained_and_not_passed(make):
    """At the maximum p* the gradient vanishes on the face of p*, and the curvature is -2 w w^T.

    Some p of the grid on that face is at most one step off in each entry, so its variance is less
    by (w · (p - p*))² only, which is at most (3 steps of the range of w)².
    """
    mechanism = make(uldp.Domain(3, sensitive=[0]), 1.0)
    steps = 20
    grid = [(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]
    for weights in ([1.0, 0.0, 0.0], [1.0, 2.0, 4.0], [-3.0, 0.5, 0.2]):
        attained = max(total_variance(mechanism, weights, np.array(p) / steps) for p in grid)
        found = total_variance(mechanism, weights)
        assert attained * (1 - 1e-9) <= found <= attained + (3 * np.ptp(weights) / steps) ** 2
