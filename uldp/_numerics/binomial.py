"""Probabilities, the mean absolute deviation and intervals of binomial numbers, many at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, xlog1py

from uldp._numerics.chunks import chunks

Floats = NDArray[np.floating[Any]]

IN_CACHE = 1 << 14
FEW = 16
STIRLING_ERRORS = np.array(
    [0.0]
    + [
        math.lgamma(x + 1) - (x + 0.5) * math.log(x) + x - 0.5 * math.log(2 * math.pi)
        for x in range(1, FEW)
    ]
)


def mean_absolute_deviation(n: int, m: Floats, complement: Floats) -> Floats:
    """Return E|B - nm| for binomial numbers B of n trials with probabilities m of at most 1/2.

    By de Moivre's formula, 2 (⌊nm⌋ + 1) (1 - m) Pr[B = ⌊nm⌋ + 1].

    Parameters
    ----------
    n : int
        The number of trials, at least 1.
    m, complement : (k,) ndarray
        The probabilities and 1 - m.
    """
    deviation = np.zeros(m.size)
    trials = np.array([float(n)])
    for chunk in chunks(m.size, IN_CACHE):
        mean = n * m[chunk]
        above = np.floor(mean) + 1
        chance = probability(above, trials, mean)
        deviation[chunk] = 2 * above * complement[chunk] * chance
    return deviation


def probability(x: Floats, n: Floats, mean: Floats) -> Floats:
    """Return Pr[B = x] for binomial numbers B of n trials, by the saddle point (Loader 2000).

    It differs from its Stirling approximation by known errors; nothing large cancels where x is
    near the mean. Some 5 times as fast as a general routine and as exact.

    Parameters
    ----------
    x, n, mean : (k,) ndarray
        Whole numbers 0 to n, the numbers of trials, and the means nm, 0 to n; n may be (1,).
    """
    above = x - mean
    rest = n - x
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distance = xlog1py(x, above / mean) + xlog1py(rest, -above / (n - mean))
        correction = _stirling_error(n) - _stirling_error(x) - _stirling_error(rest)
        inside = np.sqrt(n / (2 * np.pi * x * rest)) * np.exp(correction - distance)
        at_ends = np.exp(-distance)
    certain = np.where(mean > 0, x == n, x == 0)
    possible = [(mean <= 0) | (mean >= n), (x == 0) | (x == n)]
    return np.select(possible, [certain, at_ends], inside)


def exact_interval(x: NDArray[np.number[Any]], n: int, missed: float) -> tuple[Floats, Floats]:
    """Return the interval of Clopper and Pearson (1934) for the probability of binomial numbers.

    Parameters
    ----------
    x : (k,) ndarray
        The numbers, of n trials each; between two whole ones the ends lie between theirs.
    n : int
        At least 1.
    missed : float
        The chance, in (0, 1), that an interval may leave the probability out.

    Returns
    -------
    low, not_high : (k,) ndarray
        The lower end, and 1 less the upper one.
    """
    rest = n - x
    low = betaincinv(np.where(x > 0, x, 1), rest + 1, missed / 2)
    not_high = betaincinv(np.where(rest > 0, rest, 1), x + 1, missed / 2)
    return np.where(x > 0, low, 0), np.where(rest > 0, not_high, 0)


def _stirling_error(x: Floats) -> Floats:
    """Return log x! less its Stirling approximation."""
    y = 1 / x
    z = y * y
    series = y * (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188))))
    few = x < FEW
    series[few] = STIRLING_ERRORS[x[few].astype(np.intp)]
    return series
