"""Intervals for the expectation of numbers, from their mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from uldp._numerics.binomial import exact_interval

__all__ = ["NUISANCE", "exact", "score"]

NUISANCE = 0.1
"""The part of the chance to miss that goes to what is not asked for (Berger and Boos 1994)."""
ROUNDING = 1e-12


def exact(
    between: tuple[float, float], means: ArrayLike, n: int, missed: float
) -> NDArray[np.float64]:
    """Return, for means of n numbers that are low or high, the intervals of their expectations.

    If some lie between, the number of high ones with this mean need not be whole.
    """
    low, high = between
    length = high - low
    share = np.divide(np.subtract(means, low), length) if length else np.zeros(np.shape(means))
    number = n * np.clip(share, 0, 1)
    whole = np.rint(number)
    # Only rounding errors are taken away: halves would go up or down by them.
    number = np.where(np.abs(number - whole) <= ROUNDING * n, whole, number)
    least, not_most = exact_interval(number, n, missed)
    return np.stack([low + length * least, high - length * not_most], axis=-1)


def score(
    means: ArrayLike,
    squares: tuple[ArrayLike, ArrayLike],
    jump: ArrayLike,
    n: int,
    missed: float,
) -> NDArray[np.float64]:
    """Return all t with abs(mean - t) ≤ z √((c + b t - t²)/n) + correction, and the mean.

    Parameters
    ----------
    means : (k,) array_like or float
        The means of n numbers each.
    squares : two of (k,) array_like or float
        c and b: the expected square of one number is c + b t if its mean is t.
    jump : (k,) array_like or float
        The length of an interval that holds such a number.
    n : int
        At least 1.
    missed : float
        The chance, in (0, 1), that an interval may leave the expectation out.
    """
    constants, slopes = map(np.asarray, squares)
    z = float(ndtri(missed / 2))
    q = z**2 / n
    correction = max(0.5, (z**2 - 1) / 6) * np.asarray(jump) / n
    ends = []
    for sign in (-1, 1):
        nearest = np.asarray(means) + sign * correction
        middle = nearest + q * slopes / 2
        inside = middle**2 - (1 + q) * (nearest**2 - q * constants)
        farthest = (middle + sign * np.sqrt(np.maximum(inside, 0))) / (1 + q)
        ends.append(sign * np.maximum(sign * farthest, sign * nearest))
    return np.stack(ends, axis=-1)
