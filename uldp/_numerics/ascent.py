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
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[np.float64]

LEAST_CURVATURE = 1e-8
LEAST_RISE = 1e-14
MOST_PASSES = 1000
PATIENCE = 50
MOST_SECANTS = 60


class Place(NamedTuple):
    """A distribution q and what is known of the mean log-likelihood around it.

    Attributes
    ----------
    q : (c,) ndarray
        On the simplex.
    value : float
        The mean log-likelihood.
    lift : (c,) ndarray
        Its gradient less 1; the mean of it under q is 0, and its largest entry bounds how far below
        the optimum the value is.
    diagonal, tilt : (c,) ndarray
        The negative Hessian is close to the diagonal matrix plus tilt tiltᵀ.
    """

    q: Array
    value: float
    lift: Array
    diagonal: Array
    tilt: Array

    @property
    def certificate(self) -> float:
        """How far at most the value is below the optimum."""
        return float(self.lift.max())


def climb(
    look: Callable[[Array], Place],
    forms: Callable[[Array], Array] | None,
    few: bool,
    positive: slice,
    start: Array,
    tolerance: float,
) -> tuple[Place, int]:
    """Return where an ascent ends, and how often it looked around: once at each place it tried.

    It ends where the certificate meets the tolerance, or where neither quadratic has a top that is
    higher by more than rounding.

    Parameters
    ----------
    look : callable
        What is known around a q.
    forms : callable, or None
        The l/(l·q) at a q, a row for each, so scaled that their squares add up to the Hessian;
        None if they do not fit in memory.
    few : bool
        Whether to use the forms from the start, not only after many passes.
    positive : slice
        The masses that are forms themselves, so that they must not vanish.
    start : (c,) ndarray
        A distribution without zeros.
    tolerance : float
        What the certificate shall meet.
    """
    here = look(start)
    passes = 1
    exact = few
    patience = PATIENCE
    stuck = False
    while here.certificate > tolerance and passes < MOST_PASSES:
        if passes > patience and forms:
            exact = True
            patience = MOST_PASSES
        target = newton_target(here.q, forms(here.q)) if exact and forms else scaled_target(here)
        rise = float(here.lift @ (target - here.q))
        if rise <= 0:
            if stuck or not forms:
                break
            exact = not exact
            stuck = True
            continue
        stuck = False
        share = _largest_share(here.q, target, positive)
        while passes < MOST_PASSES:
            there = look((1 - share) * here.q + share * target)
            passes += 1
            end = float(there.lift @ (target - here.q))
            rounding = LEAST_RISE * (1 + abs(here.value))
            if end >= -rise / 2 and there.value >= here.value - rounding:
                break
            share *= np.clip(rise / (rise - end), 0.1, 0.5) if end < rise else 0.5
        here = there
    return here, passes


def scaled_target(here: Place) -> Array:
    """Return the top of the quadratic with the diagonal and the tilt, over the simplex.

    With t the way along the tilt, it is the top of the quadratic with the diagonal alone and the
    gradient less t tilt; t is the root of a falling function.
    """
    least = LEAST_CURVATURE * float((here.diagonal + here.tilt**2).max())
    diagonal = np.maximum(here.diagonal, least)

    def top(t: float) -> tuple[Array, float]:
        q = nearest(here.q + (here.lift - t * here.tilt) / diagonal, diagonal)
        q /= q.sum()
        return q, float(here.tilt @ (q - here.q)) - t

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


def newton_target(q: Array, forms: Array) -> Array:
    """Return the top over the simplex of the exact quadratic at q.

    It is least squares: with X the forms, the quadratic is -‖X q' - 2 X q‖²/2 up to a constant. On
    the simplex X q' - 2 X q = Z q', and the least ‖Z q'‖ is that of non-negative least squares with
    a further row of ones that shall add up to 1, up to a factor.
    """
    Z: Array = forms - 2 * (forms @ q)[:, np.newaxis]
    if len(Z) > q.size:
        Z = np.asarray(np.linalg.qr(Z, mode="r"))
    least = nnls(np.vstack([Z, np.ones(q.size)]), np.append(np.zeros(len(Z)), 1.0))[0]
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
