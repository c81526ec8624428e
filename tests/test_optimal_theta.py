"""The best θ against 60 digits, general minimizers over θ and over p, and its printed gains."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from cases import random_distribution
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit

import uldp
from uldp import losses
from uldp.beyond.theta import best_theta, l2_log_odds, minimax_mass
from uldp.paper import regimes

mpmath.mp.dps = 60

classes = st.tuples(st.integers(1, 200), st.integers(0, 200))


def uRAP(s, nu, epsilon, theta=None):
    return uldp.UtilityOptimizedRappor(uldp.Domain(s + nu, sensitive=range(s)), epsilon, theta)


def best(s, nu, epsilon):
    """The uRAP of the least worst-case l2 loss."""
    paper = uRAP(s, nu, epsilon)
    return replace(paper, theta=best_theta(paper))


def class_uniform(s, nu, mass):
    return np.concatenate([np.full(s, mass / s), np.full(nu, (1 - mass) / max(nu, 1))])


def defined_log_odds(s, epsilon, mass):
    """ln(θ/(1-θ)) = ½ ln(Q/P) with Q = E(s+E-1), P = Es - σ(E-1), in 60 digits."""
    E = mpmath.exp(mpmath.mpf(epsilon))
    return mpmath.log(E * (s + E - 1) / (E * s - mpmath.mpf(mass) * (E - 1))) / 2


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1.0, 6.0, 30.0, 100.0])
@pytest.mark.parametrize("s", [1, 2, 15, 10**6])
@pytest.mark.parametrize("mass", [0.0, 0.3, 1.0])
def test_no_digit_of_theta_is_lost(s, epsilon, mass):
    log_odds = l2_log_odds(s, epsilon, mass)
    exact = defined_log_odds(s, epsilon, mass)
    assert log_odds == pytest.approx(float(exact), rel=1e-14)
    assert expit(log_odds) == pytest.approx(float(1 / (1 + mpmath.exp(-exact))), rel=1e-15)
    assert expit(-log_odds) == pytest.approx(float(1 / (1 + mpmath.exp(exact))), rel=1e-12)


@pytest.mark.parametrize(("s", "nu"), [(3, 2), (1, 1), (1, 1000), (1000, 1), (76, 324)])
@pytest.mark.parametrize("epsilon", [75.0, 100.0, 500.0])
def test_the_worst_case_of_a_very_large_epsilon_is_the_uniform_distribution(s, nu, epsilon):
    mass = minimax_mass(s, nu, epsilon)
    assert mass == pytest.approx(s / (s + nu), rel=1e-12)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_no_other_theta_is_better_at_a_given_p(norm):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        s, nu = int(rng.integers(1, 7)), int(rng.integers(0, 9))
        p, mechanism = random_distribution(rng, s + nu), uRAP(s, nu, 10 ** rng.uniform(-2, 1.2))
        loss = losses.l1_loss if norm == "l1" else losses.l2_loss
        least = loss(replace(mechanism, theta=best_theta(mechanism, norm, p)), p, 1)
        others = [loss(replace(mechanism, theta=t), p, 1) for t in np.linspace(0.001, 0.999, 300)]
        assert least <= min(others) * (1 + 1e-12)
        assert least >= min(others) * (1 - 5e-3), "a grid that stays far above proves nothing"


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_no_other_theta_has_a_smaller_worst_case(norm):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        s, nu = int(rng.integers(1, 40)), int(rng.integers(0, 40))
        mechanism = uRAP(s, nu, 10 ** rng.uniform(-2, 1.2))

        def worst(theta, mechanism=mechanism):
            return regimes.worst_case_loss(replace(mechanism, theta=theta), norm)

        least = worst(best_theta(mechanism, norm))
        grid = np.linspace(0.001, 0.999, 300)
        others = [worst(theta) for theta in grid]
        around = np.clip(grid[np.argmin(others)] + np.array([-0.004, 0.004]), 1e-9, 1 - 1e-9)
        found = minimize_scalar(worst, bounds=around, method="bounded", options={"xatol": 1e-9})
        assert least == pytest.approx(min(found.fun, *others), rel=1e-7)


@settings(max_examples=150, deadline=None)
@given(classes, st.floats(-3, 1.5), st.floats(0.001, 0.999), st.integers(0, 2**32 - 1))
def test_optimal_theta_and_worst_p_are_a_saddle_point(sizes, exponent, theta, seed):
    s, nu = sizes
    epsilon = 10**exponent
    optimal = best(s, nu, epsilon)
    mass = minimax_mass(s, nu, epsilon)
    p = class_uniform(s, nu, mass)
    value = optimal.l2_loss(p, 1)
    assert optimal.worst_case("l2")[:s].sum() == pytest.approx(mass, abs=1e-6)
    other = random_distribution(np.random.default_rng(seed), s + nu)
    assert optimal.l2_loss(other, 1) <= value * (1 + 1e-12)
    assert replace(optimal, theta=theta).l2_loss(p, 1) >= value * (1 - 1e-12)


@settings(max_examples=100)
@given(st.integers(1, 300), st.integers(1, 3000))
def test_p_is_worst_without_sensitive_values_up_to_a_sharp_threshold(s, nu):
    """E = 1 + ν + ν²/(4s), by the closed form of the worst case at the θ of σ = 0."""
    threshold = math.log(1 + nu + nu**2 / (4 * s))
    for epsilon, is_zero in ((threshold * (1 - 1e-7), True), (threshold * (1 + 1e-5), False)):
        assert (minimax_mass(s, nu, epsilon) == 0) == is_zero
        theta_there = float(expit(float(defined_log_odds(s, epsilon, 0))))
        mass = uRAP(s, nu, epsilon, theta_there).worst_case("l2")[:s].sum()
        assert (mass == 0) == is_zero


@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 1.0, 30.0])
@pytest.mark.parametrize(("s", "nu"), [(1, 1), (1, 5), (2, 2), (4, 0), (76, 324), (1000, 3)])
def test_the_least_loss_has_all_its_digits(s, nu, epsilon):
    """n E l2 = (√P + √Q)²/(E-1)² - Σp² at the worst p."""
    mechanism = best(s, nu, epsilon)
    mass = mpmath.mpf(minimax_mass(s, nu, epsilon))
    E = mpmath.exp(mpmath.mpf(epsilon))
    Q, P = E * (s + E - 1), E * s - mass * (E - 1)
    squares = mass**2 / s + ((1 - mass) ** 2 / nu if nu else 0)
    least = (mpmath.sqrt(P) + mpmath.sqrt(Q)) ** 2 / (E - 1) ** 2 - squares
    worst_case = regimes.worst_case_loss(mechanism, "l2")
    assert worst_case == pytest.approx(float(least), rel=1e-11)


def test_without_sensitive_values_theta_is_1():
    assert best_theta(uRAP(0, 4, 1.0), "l1") == 1
    assert best_theta(uRAP(0, 4, 1.0), "l2", [1, 0, 0, 0]) == 1
