"""The best θ for uRAP and RAPPOR, which the paper leaves open.

For the l2 loss there is a formula (`uldp.mechanisms.theta`). The l1 loss has none; its best θ is
found by search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from uldp import losses
from uldp._numerics import checks
from uldp.domain import PerValue
from uldp.law import distribution_over
from uldp.mechanisms.rappor import UtilityOptimizedRappor
from uldp.mechanisms.theta import l2_log_odds, minimax_mass

__all__ = ["best_theta"]

SEARCH_POINTS = 65
LARGEST_LOG_ODDS = 36.0


def best_theta(
    mechanism: UtilityOptimizedRappor, loss: losses.Loss = "l2", p: PerValue | None = None
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
        θ in (0, 1); 1, which is the limit, where no value is sensitive.
    """
    checks.instance(mechanism, "mechanism", UtilityOptimizedRappor)
    checks.choice(loss, "loss", losses.LOSSES)
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
        at = losses.worst_case(candidate, "l1") if p is None else p
        return losses.l1_loss(candidate, at, 1)

    return float(expit(_least(l1_loss, min(epsilon + math.log(s + nu), LARGEST_LOG_ODDS))))


def _least(loss: Callable[[float], float], high: float) -> float:
    """Return where a function on [0, high] is least: on a grid first, then between its points."""
    grid = np.linspace(0, high, SEARCH_POINTS)
    best = int(np.argmin([loss(x) for x in grid]))
    low = grid[max(best - 1, 0)]
    high = grid[min(best + 1, SEARCH_POINTS - 1)]
    return float(
        minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x
    )
