"""The mean absolute value of a sum of equal and independent few-valued numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.binomial import probability, tail

MOST_TERMS = 1 << 20
LOGARITHM_OF_TAIL = math.log(1e-18)


def mean_absolute_value(
    n: int, values: NDArray[np.float64], probabilities: NDArray[np.float64]
) -> float:
    """Return E|Σ v_i N_i| for multinomial counts N of n trials.

    The counts of all values but two are summed over, from the rarest value on and as far as they
    occur with probability above 10^-18. Given these, the rest is binomial, T say, and

        E|T - c| = (rq - c)(2 Pr[T > c] - 1) + 2 (⌊c⌋ + 1)(1 - q) Pr[T = ⌊c⌋ + 1]

    for r trials of probability q: de Moivre's formula for any c. For v values the number of terms
    grows as n^(v/2 - 1).

    Parameters
    ----------
    n : int
        The number of trials, at least 1.
    values, probabilities : (v,) ndarray
        The values, and with what probability each comes.

    Raises
    ------
    ValueError
        If there would be more than 2^20 terms.
    """
    values, place = np.unique(values, return_inverse=True)
    merged = np.bincount(place, weights=probabilities)
    order = np.argsort(merged, kind="stable")[np.count_nonzero(merged == 0) :]
    values = values[order]
    merged = merged[order]
    if values.size == 1:
        return float(n * abs(values[0]))
    # Value by value, each state so far has a child for each likely count of the value. `rest`
    # trials are left, and the share of the value is that among those that are left.
    rest: NDArray[np.int64] = np.array([n], dtype=np.int64)
    total = np.zeros(1)
    weight = np.ones(1)
    shares = merged / np.cumsum(merged[::-1])[::-1]
    for value, share in zip(values[:-2], shares[:-2], strict=True):
        least, most = _likely(rest, share)
        terms = most - least + 1
        if terms.sum() > MOST_TERMS:
            raise ValueError(
                f"n must be smaller for the exact loss of these sizes, got {n}: "
                f"it would take more than {MOST_TERMS} terms"
            )
        parent = np.repeat(np.arange(terms.size), terms)
        first = np.cumsum(terms) - terms
        times = np.arange(parent.size) - first[parent] + least[parent]
        trials = rest[parent].astype(float)
        weight = weight[parent] * probability(times.astype(float), trials, trials * share)
        total = total[parent] + value * times
        rest = rest[parent] - times
    share = shares[-2]
    scale = values[-2] - values[-1]
    trials = rest.astype(float)
    centre = -(total + values[-1] * rest) / scale
    below = np.floor(centre)
    deviation = (rest * share - centre) * (2 * tail(below, trials, share) - 1)
    possible = (below >= 0) & (below < rest)
    next_above = np.where(possible, below + 1, 0)
    at_next = probability(next_above, trials, trials * share)
    deviation += 2 * next_above * (1 - share) * at_next
    return float(abs(scale) * (weight @ deviation))


def _likely(n: NDArray[np.int64], m: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return bounds of binomial numbers that hold but with probability 10^-18 each (Bernstein)."""
    mean = n * m
    third = -LOGARITHM_OF_TAIL / 3
    reach = third + np.sqrt(third**2 + 6 * third * mean * (1 - m))
    least = np.maximum(np.ceil(mean - reach), 0)
    most = np.minimum(np.floor(mean + reach), n)
    return least.astype(np.int64), most.astype(np.int64)
