"""Ascent to the largest mean of logarithms of linear forms, E log(l·q), over the simplex.

The Hessian of such a mean is -E[l lᵀ/(l·q)²]. Where the forms are many and each has many terms, it
is close to a diagonal matrix plus one of rank one, and a step to the top of that quadratic is
water-filling. Where they are few, the step goes to the top of the exact quadratic: a problem of
least squares over the simplex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEAST_CURVATURE = 1e-8
LEAST_RISE = 1e-14
MOST_PASSES = 1000
PATIENCE = 50
MOST_SECANTS = 60


class Point(NamedTuple):
    """A distribution q, and the mean log-likelihood with its derivatives there.

    Attributes
    ----------
    q : (c,) ndarray
        On the simplex.
    value : float
        The mean log-likelihood.
    gradient : (c,) ndarray
        That of the value less Σ q, which is 1 on the simplex: its mean under q is 0, and its
        largest entry bounds how far below the optimum the value is.
    diagonal, rank_one : (c,) ndarray
        The negative Hessian is close to the diagonal matrix plus rank_one rank_oneᵀ.
    """

    q: Array
    value: float
    gradient: Array
    diagonal: Array
    rank_one: Array

    @property
    def certificate(self) -> float:
        """How far at most the value is below the optimum."""
        return float(self.gradient.max())

    def certified(self, tolerance: float) -> float:
        """Return the certificate, at least 0, or refuse one above the tolerance."""
        if self.certificate > tolerance:
            raise ArithmeticError(f"the certificate is {self.certificate}, above {tolerance}")
        return max(self.certificate, 0.0)


def maximize(
    evaluate: Callable[[Array], Point],
    rows: Callable[[Array], Array] | None,
    use_exact_hessian: bool,
    positive: slice,
    start: Array,
    tolerance: float,
) -> tuple[Point, int]:
    """Return the point where an ascent ends, and how often it evaluated: once at each q it tried.

    It ends where the certificate meets the tolerance, or where neither quadratic has a top that is
    higher by more than rounding.

    Parameters
    ----------
    evaluate : callable
        The point of a q.
    rows : callable, or None
        The l/(l·q) at a q, a row for each, so scaled that their squares add up to the Hessian;
        None if they do not fit in memory.
    use_exact_hessian : bool
        Whether to use the rows from the start, not only after many passes.
    positive : slice
        The masses that are forms themselves, so that they must not vanish.
    start : (c,) ndarray
        A distribution without zeros.
    tolerance : float
        The largest certificate at which it ends.
    """
    here = evaluate(start)
    passes = 1
    is_exact = use_exact_hessian
    patience = PATIENCE
    stuck = False
    while here.certificate > tolerance and passes < MOST_PASSES:
        if passes > patience and rows:
            is_exact = True
            patience = MOST_PASSES
        target = newton_target(here.q, rows(here.q)) if is_exact and rows else scaled_target(here)
        rise = float(here.gradient @ (target - here.q))
        # A top that is no higher: the other quadratic has one try.
        if rise <= 0:
            if stuck or not rows:
                break
            is_exact = not is_exact
            stuck = True
            continue
        stuck = False
        share = _largest_share(here.q, target, positive)
        while passes < MOST_PASSES:
            there = evaluate((1 - share) * here.q + share * target)
            passes += 1
            # The slope along the step, here and there. It may fall below 0 by half as much: the
            # value is concave, so the step went past the top, but not far. Otherwise the next step
            # ends where a line through both slopes is 0.
            end = float(there.gradient @ (target - here.q))
            rounding = LEAST_RISE * (1 + abs(here.value))
            if end >= -rise / 2 and there.value >= here.value - rounding:
                break
            share *= np.clip(rise / (rise - end), 0.1, 0.5) if end < rise else 0.5
        here = there
    return here, passes


def scaled_target(here: Point) -> Array:
    """Return the top over the simplex of the quadratic with the diagonal and the rank-one part.

    For t = rank_one · (q' - q) it is the top of the quadratic with the diagonal alone and the
    gradient less t rank_one. The t that agrees with its own q' is the root of a falling function.
    """
    least = LEAST_CURVATURE * float((here.diagonal + here.rank_one**2).max())
    diagonal = np.maximum(here.diagonal, least)

    def top(t: float) -> tuple[Array, float]:
        q = nearest(here.q + (here.gradient - t * here.rank_one) / diagonal, diagonal)
        q /= q.sum()
        return q, float(here.rank_one @ (q - here.q)) - t

    # The root lies between 0 and the first guess. It is found by secants, or by halving where a
    # secant leads out of what is left.
    target, ahead = top(0.0)
    low, high = sorted((0.0, ahead))
    before = 0.0
    t = ahead
    for _ in range(MOST_SECANTS):
        if not low <= t <= high:
            t = (low + high) / 2
        target, excess = top(t)
        low, high = (t, high) if excess > 0 else (low, t)
        if excess in (0.0, ahead) or not low < high:
            break
        secant = t - excess * (t - before) / (excess - ahead)
        before = t
        ahead = excess
        t = secant
    return target


def newton_target(q: Array, rows: Array) -> Array:
    """Return the top over the simplex of the exact quadratic at q.

    It is least squares: with X the rows, the quadratic is -‖X q' - 2 X q‖²/2 up to a constant. On
    the simplex X q' - 2 X q = Z q', and the least ‖Z q'‖ is that of non-negative least squares with
    a further row of ones that shall add up to 1, up to a factor.
    """
    Z: Array = rows - 2 * (rows @ q)[:, np.newaxis]
    if len(Z) > q.size:
        Z = np.asarray(np.linalg.qr(Z, mode="r"))
    further = np.vstack([Z, np.ones(q.size)])
    least, _ = scipy.optimize.nnls(further, np.append(np.zeros(len(Z)), 1.0))
    target: Array = least / least.sum()
    return target


def nearest(center: Array, weights: Array) -> Array:
    """Return the q on the simplex of least Σ weights (q - center)²: water-filling.

    It is max(0, center - λ/weights), with λ such that it sums to 1. A number added to all prices
    changes nothing but the size of the numbers.
    """
    price = center * weights
    highest = price.max()
    price = price - highest
    center = center - highest / weights
    order = np.argsort(-price, kind="stable")
    level = (np.cumsum(center[order]) - 1) / np.cumsum(1 / weights[order])
    served = np.flatnonzero(price[order] > level)
    q: Array = np.maximum(center - level[served[-1]] / weights, 0)
    return q


def _largest_share(q: Array, target: Array, positive: slice) -> float:
    """Return how far to go from q so that masses that must not vanish keep a tenth."""
    falls = q[positive] - target[positive]
    steep = falls > 0.9 * q[positive]
    return float(np.min(0.9 * q[positive][steep] / falls[steep], initial=1.0))
