"""The best θ of uRAP and RAPPOR, which the paper leaves open.

With E = e^ε, s = |X_S|, ν = |X_N| and σ = p(X_S), n times the l2 loss of uRAP at any θ is

    [E(s + E - 1)/θ + (Es - σ(E - 1))/(1 - θ)] / (E - 1)² - Σp²,

least at the odds θ/(1 - θ) = √((s + E - 1)/(s - σ(1 - 1/E))). They are at least those at σ = 0,
√(1 + (E - 1)/s). θ tends to 1/2 (optimized unary encoding) as ε → 0 or s → ∞, and is the paper's
where s = 1 + σ only. The loss is convex in θ and concave in p, so that the θ of the least worst
case is one half of a saddle point, of which the other is p uniform within X_S and within X_N. For
s = 1 it is the paper's while E - 1 ≤ ν + ν²/4.

The l1 loss has no such formula; its best θ is found by search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy
from scipy.special import expit

from uldp._numerics import checks
from uldp.beyond.limits import clipped_root
from uldp.domain import PerValue
from uldp.law import distribution_over
from uldp.losses import LOSSES, Loss
from uldp.mechanisms.rappor import UtilityOptimizedRappor

__all__ = ["best_theta"]

SEARCH_POINTS = 65
LARGEST_LOG_ODDS = 36.0


def best_theta(
    mechanism: UtilityOptimizedRappor, loss: Loss = "l2", p: PerValue | None = None
) -> float:
    """Return the θ with which a mechanism of this domain and ε has the least loss.

    Parameters
    ----------
    mechanism : UtilityOptimizedRappor
        A uRAP or RAPPOR, with any θ.
    loss : {"l1", "l2"}, optional
        The loss; l1 is that of the central limit theorem.
    p : (k,) array_like or mapping of label to float, optional
        The true distribution. By default θ is that of the least worst case over all p.

    Returns
    -------
    float
        θ. It is 1, which no mechanism takes, where no value is sensitive, and where ε is so large
        that it rounds to 1.
    """
    checks.instance(mechanism, "mechanism", UtilityOptimizedRappor)
    checks.choice(loss, "loss", LOSSES)
    if p is not None:
        p = distribution_over(mechanism.domain, p)
    s = mechanism.sensitive.size
    nu = mechanism.nonsensitive.size
    epsilon = mechanism.epsilon
    if s == 0:
        return 1.0
    if loss == "l2":
        mass = minimax_mass(s, nu, epsilon) if p is None else float(p[mechanism.sensitive].sum())
        return float(expit(l2_log_odds(s, epsilon, mass)))

    def l1_loss(log_odds: float) -> float:
        candidate = replace(mechanism, theta=float(expit(log_odds)))
        at = candidate.worst_case("l1") if p is None else p
        return candidate.l1_loss(at, 1)

    return float(expit(_least(l1_loss, min(epsilon + math.log(s + nu), LARGEST_LOG_ODDS))))


def l2_log_odds(s: int, epsilon: float, mass: float) -> float:
    """Return ln(θ/(1-θ)) of the least l2 loss at every p with this p(X_S), for s > 0.

    The square of the odds exceeds 1 by (E - 1)(1 + σ/E)/(s - σ(1 - 1/E)).
    """
    shrink = math.exp(-epsilon)
    growth = -math.expm1(-epsilon)
    log_excess = epsilon + math.log(growth * (1 + mass * shrink) / (s - mass + mass * shrink))
    return float(np.logaddexp(0, log_excess)) / 2


def minimax_mass(s: int, nu: int, epsilon: float) -> float:
    """Return the worst p(X_S) for the l2 loss at the θ of the least worst case, for s > 0.

    It is the root of σ (2/s + 2/ν) = 2/ν - 1/((1-θ)(E-1)) with the θ of `l2_log_odds` at σ, or 0
    if that is negative, as it is for E up to 1 + ν + ν²/(4s).
    """
    if nu == 0:
        return 1.0
    shrink = math.exp(-epsilon)
    growth = -math.expm1(-epsilon)

    def gap(mass: float) -> float:
        odds_shrunk = math.exp(l2_log_odds(s, epsilon, mass) - epsilon)
        slope = 2 / nu - (shrink + odds_shrunk) / growth
        return slope / (2 / s + 2 / nu) - mass

    return clipped_root(gap, s / (s + nu))


def _least(loss: Callable[[float], float], high: float) -> float:
    """Return where a function on [0, high] is least: on a grid first, then between its points."""
    grid = np.linspace(0, high, SEARCH_POINTS)
    best = int(np.argmin([loss(x) for x in grid]))
    low = grid[max(best - 1, 0)]
    high = grid[min(best + 1, SEARCH_POINTS - 1)]
    found = scipy.optimize.minimize_scalar(
        loss, bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.x)
