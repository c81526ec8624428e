"""The fundamental limit against its definition, all mechanisms of small domains, and 60 digits."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

import uldp
from uldp.beyond import limits
from uldp.paper import regimes

mpmath.mp.dps = 60

SMALL = [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (2, 3), (3, 2), (3, 0), (4, 0), (4, 1)]

sizes_and_budgets = st.tuples(st.integers(1, 60), st.integers(1, 60), st.floats(-6, 1.4)).map(
    lambda drawn: (drawn[0], drawn[1], 10 ** drawn[2])
)


def defined(s, nu, epsilon, mass, weights):
    """f(σ, λ) as it is defined, in 60 digits; J_N and J_T are infinite at σ = 1."""
    E, mass = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(float(mass))
    J_S = J_N = J_T = mpmath.mpf(0)
    for d, weight in enumerate(map(mpmath.mpf, map(float, weights)), start=1):
        mu = s / (d * E + s - d)
        m = mass + mu * (1 - mass)
        if s > 1:
            J_S += weight * mu**2 * (E - 1) ** 2 * d * (s - d) / (s * (s - 1) * m)
        J_N += weight * (1 - mu) * nu
        J_T += weight * (1 - mu) / m / (mpmath.mpf(1) / s + mpmath.mpf(1) / nu) if nu else 0
    value = (s - 1) / J_S if s > 1 else mpmath.mpf(0)
    return value + (1 - mass) * ((nu - 1) / J_N + 1 / J_T) if nu else value


def on_the_edges(s, nu):
    """ε at which the optimal sizes change, next to them and between them."""
    low = math.log(max((s - 1) * (s - 2) / 2, 1.1)) / 2
    high = limits.epsilon_from_which_uRR_is_optimal(s, nu) or 0.1
    return [low - 1e-9, low, low + 1e-9, (low + high) / 2, high - 1e-9, high, high + 1e-9]


@settings(max_examples=30, deadline=None)
@given(sizes_and_budgets)
def test_the_certificate_is_tight(case):
    s, nu, _ = case
    for epsilon in (case[2], *on_the_edges(s, nu)):
        point = limits.saddle(s, nu, epsilon)
        assert point.lower <= point.value <= point.upper
        assert point.upper - point.lower <= 1e-12 * point.value
        used = np.flatnonzero(point.weights)
        assert point.weights.sum() == pytest.approx(1, abs=1e-15)
        assert (point.weights >= 0).all()
        assert used.size == 1 or used.tolist() == [0, 1]


@settings(max_examples=40, deadline=None)
@given(sizes_and_budgets, st.integers(0, 2**32 - 1))
def test_it_is_a_saddle_point_of_the_definition(case, seed):
    """No other mass makes f larger, and no other weights make it smaller, up to rounding."""
    s, nu, epsilon = case
    rng = np.random.default_rng(seed)
    point = limits.saddle(s, nu, epsilon)
    value = defined(s, nu, epsilon, point.mass, point.weights)
    assert point.value == pytest.approx(float(value), rel=1e-12)
    for mass in (0, 1, rng.random(), min(point.mass + 1e-3, 1), max(point.mass - 1e-3, 0)):
        assert defined(s, nu, epsilon, mass, point.weights) <= value * (1 + 1e-12)
    for _ in range(4):
        size = rng.integers(s)
        nearby = point.weights * 0.999 + 0.001 * np.eye(s)[size]
        for weights in (rng.dirichlet(np.full(s, 0.2)), nearby / nearby.sum()):
            if s == 1 or weights[:-1].any():
                assert defined(s, nu, epsilon, point.mass, weights) >= value * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 10.0, 30.0])
@pytest.mark.parametrize(
    ("s", "nu"), [(1, 1), (1, 10**6), (2, 1), (2, 500), (3, 2), (40, 7), (9, 0)]
)
def test_no_digit_is_lost_at_the_extremes(s, nu, epsilon):
    point = limits.saddle(s, nu, epsilon)
    exact = defined(s, nu, epsilon, point.mass, point.weights)
    assert point.value == pytest.approx(float(exact), rel=1e-13)
    assert point.upper - point.lower <= 1e-13 * point.value


def class_uniform(s, nu, mass):
    return np.concatenate([np.full(s, mass / max(s, 1)), np.full(nu, (1 - mass) / max(nu, 1))])


@pytest.mark.parametrize(("s", "nu"), SMALL)
@pytest.mark.parametrize("epsilon", [0.05, 0.4, 0.8, 1.3, 2.0, 4.0])
def test_no_mechanism_at_all_beats_the_limit(s, nu, epsilon):
    """Among all ULDP mechanisms of the domain, none has a smaller information bound at σ.

    A protected output's column is a mixture of columns with entries 1 and e^ε, scaled, so that the
    weights w of all 2^k such columns describe every mechanism: they give sensitive rows the sum 1,
    and what they leave of a non-sensitive row is revealed. The bound is convex in w, hence at least
    its value at the optimal block design plus the least linear change from there, which a linear
    program finds.
    """
    point, k = limits.saddle(s, nu, epsilon), s + nu
    p, N = class_uniform(s, nu, point.mass), np.arange(s, s + nu if point.mass < 1 else s)
    E = math.exp(epsilon)
    sets = np.array(list(itertools.product([0, 1], repeat=k)), dtype=int).T
    patterns = E**sets
    size = sets.sum(axis=0)
    w = np.zeros(2**k)
    for d, weight in enumerate(point.weights, start=1):
        blocks = (sets[s:] == 0).all(axis=0) & (size == d)
        w[blocks] = weight * s / ((d * E + s - d) * math.comb(s, d))
    np.testing.assert_allclose(patterns[:s] @ w, 1)

    rows = np.union1d(np.arange(s), N)
    reached = p @ patterns
    shown = 1 - patterns[N] @ w
    information = patterns[rows] * (w / reached) @ patterns[rows].T
    information[N, N] += shown / p[N]
    inverse = np.linalg.inv(information)
    assert np.trace(inverse) - p @ p == pytest.approx(point.value, rel=1e-9)
    slopes = -((inverse @ patterns[rows]) ** 2).sum(axis=0) / reached
    slopes += ((inverse[:, N] ** 2).sum(axis=0) / p[N]) @ patterns[N]
    least = linprog(slopes, A_eq=patterns[:s], b_eq=np.ones(s), A_ub=patterns[s:], b_ub=np.ones(nu))
    assert least.status == 0
    assert least.fun - slopes @ w >= -1e-8 * point.value


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 2000), st.integers(1, 5000), st.floats(0, 1))
def test_subset_selection_over_the_sensitive_values_is_optimal_for_small_epsilon(s, nu, share):
    """For e^ε ≤ √((s-1)(s-2)/2), and then non-sensitive values cost nothing at all."""
    edge = math.log((s - 1) * (s - 2) / 2) / 2
    epsilon = max(share * edge, 1e-6)
    if s > 3:
        point = limits.saddle(s, nu, min(epsilon, edge * (1 - 1e-9)))
        assert point.mass == 1
        assert point.value == limits.saddle(s, 0, min(epsilon, edge * (1 - 1e-9))).value
        used = np.flatnonzero(point.weights) + 1
        assert used.size == 1
        assert used[0] == pytest.approx(s / (math.exp(min(epsilon, edge)) + 1), abs=1)
    beyond = limits.saddle(s, nu, edge * (1 + 1e-6) + 1e-6)
    assert np.flatnonzero(beyond.weights).tolist() == [0, 1]
    assert beyond.mass < 1


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 500), st.integers(1, 3000))
def test_uRR_is_optimal_from_its_threshold_on_and_not_just_below(s, nu):
    threshold = limits.epsilon_from_which_uRR_is_optimal(s, nu)
    for epsilon in (threshold + 1e-9, threshold + 1.0, threshold + 10.0):
        point = limits.saddle(s, nu, epsilon)
        assert point.weights[0] == 1
        domain = uldp.Domain(s + nu, sensitive=range(s))
        uRR = uldp.UtilityOptimizedRR(domain, epsilon)
        assert regimes.worst_case_loss(uRR, "l2") == pytest.approx(point.value, rel=1e-12)
        assert uRR.worst_case("l2")[:s].sum() == pytest.approx(point.mass, abs=1e-9)
    if threshold == 0:
        assert limits.saddle(s, nu, 1e-3).weights[0] == 1
    elif s > 2:
        for share in (1 - 1e-4, 0.9, 0.5, 0.1):
            point = limits.saddle(s, nu, threshold * share)
            assert point.weights[0] < 1
            assert limits.single_size_losses(s, nu, threshold * share)[0] > point.lower


@pytest.mark.parametrize("nu", [0, 1, 5])
@pytest.mark.parametrize("s", [1, 2, 3])
def test_the_first_of_the_single_sizes_is_uRR(s, nu):
    uRR = uldp.UtilityOptimizedRR(uldp.Domain(s + nu, sensitive=range(s)), 1.0)
    sizes = limits.single_size_losses(s, nu, 1.0)
    assert sizes[0] == pytest.approx(regimes.worst_case_loss(uRR, "l2"), rel=1e-12)
    assert sizes.shape == (s,)
    assert (sizes[-1] == np.inf) == (s > 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 30), st.integers(0, 30), st.floats(-2, 1.3), st.data())
def test_single_sizes_are_those_of_the_mechanism(s, nu, exponent, data):
    """test_block_design has its loss in 60 digits."""
    d, epsilon = data.draw(st.integers(1, s - 1)), 10**exponent
    loss = limits.single_size_losses(s, nu, epsilon)[d - 1]
    domain = uldp.Domain(s + nu, sensitive=range(s))
    mechanism = uldp.UtilityOptimizedBlockDesign(domain, epsilon, sizes=d)
    assert regimes.worst_case_loss(mechanism, "l2") == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("nu", [1, 2, 3, 10, 10**4])
def test_uRR_is_optimal_for_two_sensitive_values_at_small_epsilon_too(nu):
    low = math.log(1 + math.sqrt(2 * nu / (nu + 1)))
    high = limits.epsilon_from_which_uRR_is_optimal(2, nu) or low
    assert high >= low * (1 - 1e-12)
    for epsilon in (1e-6, low / 2, low * (1 - 1e-9)):
        assert limits.saddle(2, nu, epsilon).weights.tolist() == [1, 0]
    if nu > 1:
        for epsilon in (low * (1 + 1e-6), (low + high) / 2, high * (1 - 1e-6)):
            assert limits.saddle(2, nu, epsilon).weights[1] > 0


@pytest.mark.parametrize("mass", [0.0, 0.2, 0.7, 1.0])
def test_the_guarantee_of_a_single_size_is_its_loss_wherever_it_is_taken(mass):
    """There is one linear estimate only."""
    for s, nu, size, epsilon in ((5, 3, 1, 1.0), (5, 3, 2, 2.5), (4, 9, 1, 4.0), (7, 1, 3, 0.5)):
        game = limits._Game(s, nu, epsilon, [size])
        guarantee = game.guarantee(mass, game.play(mass, np.ones(1)))
        assert guarantee == pytest.approx(
            limits.single_size_losses(s, nu, epsilon)[size - 1], rel=1e-9
        )


def test_where_uRR_is_optimal_at_every_epsilon():
    for s, nu in ((0, 3), (1, 0), (1, 5), (2, 0), (2, 1)):
        assert limits.epsilon_from_which_uRR_is_optimal(s, nu) == 0
    for s, nu in ((2, 1), (1, 5)):
        for epsilon in (1e-6, 0.3, 0.69, math.log(2), 0.7, 30.0):
            assert limits.saddle(s, nu, epsilon).weights[0] == 1
    for s, nu in ((2, 2), (3, 1), (4, 0)):
        assert limits.epsilon_from_which_uRR_is_optimal(s, nu) > 0.5


@settings(max_examples=40)
@given(st.integers(2, 400), st.floats(1e-6, 30))
def test_without_non_sensitive_values_it_is_subset_selection(k, epsilon):
    """The closed form of Ye and Barg (2018), least over d."""
    E = mpmath.exp(epsilon)
    losses = [
        (k - 1) ** 2 * (d * E + k - d) ** 2 / (k * d * (k - d) * (E - 1) ** 2) for d in range(1, k)
    ]
    limit = uldp.fundamental_limit(uldp.Domain(k, sensitive=range(k)), epsilon)
    assert limit == pytest.approx(float(min(losses)), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 30.0, 1000.0])
def test_nothing_to_protect_or_nothing_to_learn(epsilon):
    for k in (1, 2, 7):
        assert uldp.fundamental_limit(uldp.Domain(k), epsilon) == 1 - 1 / k
    assert uldp.fundamental_limit(uldp.Domain(1, sensitive=[0]), epsilon) == 0
    nothing, everything = limits.saddle(0, 3, epsilon), limits.saddle(1, 0, epsilon)
    assert (nothing.mass, nothing.weights.tolist()) == (0, [])
    assert (everything.mass, everything.weights.tolist()) == (1, [1])
    assert limits.single_size_losses(1, 0, epsilon).tolist() == [0]
    assert limits.single_size_losses(0, 5, epsilon).tolist() == []
    assert limits.single_size_losses(0, 1, epsilon).tolist() == []


def test_the_limit_tends_to_that_of_no_privacy():
    for s, nu in ((1, 1), (2, 5), (30, 4), (5000, 10)):
        assert limits.saddle(s, nu, 1000.0).value == pytest.approx(1 - 1 / (s + nu), rel=1e-14)
