"""The θ with the least l2 loss, as functions of plain numbers.

With E = e^ε, s = |X_S|, ν = |X_N| and σ = p(X_S), n times the l2 loss of uRAP at any θ is

    [E(s + E - 1)/θ + (Es - σ(E - 1))/(1 - θ)] / (E - 1)² - Σp²,

least at the odds θ/(1 - θ) = √((s + E - 1)/(s - σ(1 - 1/E))). They are at least those at σ = 0,
√(1 + (E - 1)/s). θ tends to 1/2 (optimized unary encoding) as ε → 0 or s → ∞, and is the paper's
where s = 1 + σ only. The loss is convex in θ and concave in p, so that the θ of the least worst
case is one half of a saddle point, of which the other is p uniform within X_S and within X_N. For
s = 1 it is the paper's while E - 1 ≤ ν + ν²/4.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from uldp._numerics import checks

__all__ = ["l2_log_odds", "largest_epsilon_with_worst_mass_0", "minimax_log_odds", "minimax_mass"]

NOT_YET_0 = 700.0


def l2_log_odds(s: int, epsilon: float, mass: float) -> float:
    """Return ln(θ/(1-θ)) of the least l2 loss at every p with this p(X_S).

    The square of the odds exceeds 1 by (E - 1)(1 + σ/E)/(s - σ(1 - 1/E)).

    Parameters
    ----------
    s : int
        The number of sensitive values; infinity is returned if it is 0.
    epsilon : float
        ε, in nats.
    mass : float
        p(X_S), 0 to 1.
    """
    s = checks.whole(s, "s", least=0)
    epsilon = checks.budget(epsilon, "epsilon")
    mass = checks.nonnegative(mass, "mass", most=1)
    if s == 0:
        return math.inf
    shrink = math.exp(-min(epsilon, NOT_YET_0))
    growth = -math.expm1(-epsilon)
    log_excess = epsilon + math.log(growth * (1 + mass * shrink) / (s - mass + mass * shrink))
    return float(np.logaddexp(0, log_excess)) / 2


def minimax_mass(s: int, nu: int, epsilon: float) -> float:
    """Return the worst p(X_S) for the l2 loss at the θ of the least worst case.

    It is the root of σ (2/s + 2/ν) = 2/ν - 1/((1-θ)(E-1)) with the θ of `l2_log_odds` at σ, or 0
    if that is negative.

    Parameters
    ----------
    s, nu : int
        The numbers of sensitive and of non-sensitive values.
    epsilon : float
        ε, in nats.
    """
    s = checks.whole(s, "s", least=0)
    nu = checks.whole(nu, "nu", least=0)
    epsilon = checks.budget(epsilon, "epsilon")
    if s == 0 or nu == 0:
        return float(s > 0)
    if epsilon <= largest_epsilon_with_worst_mass_0(s, nu):
        return 0.0
    shrink = math.exp(-epsilon)
    growth = -math.expm1(-epsilon)

    def gap(mass: float) -> float:
        odds_shrunk = math.exp(l2_log_odds(s, epsilon, mass) - epsilon)
        slope = 2 / nu - (shrink + odds_shrunk) / growth
        return slope / (2 / s + 2 / nu) - mass

    high = s / (s + nu)
    return high if gap(high) >= 0 else float(brentq(gap, 0.0, high, xtol=1e-16, rtol=1e-15))


def minimax_log_odds(s: int, nu: int, epsilon: float) -> float:
    """Return ln(θ/(1-θ)) of the least worst-case l2 loss.

    Parameters
    ----------
    s, nu : int
        The numbers of sensitive and of non-sensitive values.
    epsilon : float
        ε, in nats.
    """
    return l2_log_odds(s, epsilon, minimax_mass(s, nu, epsilon))


def largest_epsilon_with_worst_mass_0(s: int, nu: int) -> float:
    """Return the ε up to which the minimax θ has its worst p at p(X_S) = 0, ln(1 + ν + ν²/(4s)).

    Parameters
    ----------
    s, nu : int
        The numbers of sensitive and of non-sensitive values, s at least 1.
    """
    s = checks.whole(s, "s", least=1)
    nu = checks.whole(nu, "nu", least=0)
    return math.log1p(nu + nu**2 / (4 * s))
