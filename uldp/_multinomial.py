"""The mean absolute value of a sum of equal and independent few-valued numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

__all__ = ["mean_absolute_value"]

MOST_TERMS = 1 << 20
TAIL = 1e-18


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
    order = np.argsort(merged)[np.count_nonzero(merged == 0) :]
    values, merged = values[order], merged[order]
    if values.size == 1:
        return float(n * abs(values[0]))
    rest: NDArray[np.int64] = np.array([n], dtype=np.int64)
    total, weight = np.zeros(1), np.ones(1)
    shares = merged / np.cumsum(merged[::-1])[::-1]
    for value, share in zip(values[:-2], shares[:-2], strict=True):
        ends = binom.ppf(TAIL, rest, share), rest - binom.ppf(TAIL, rest, 1 - share)
        least, most = (end.astype(np.int64) for end in ends)
        terms = most - least + 1
        if terms.sum() > MOST_TERMS:
            raise ValueError(
                f"n must be smaller for the exact loss of these sizes, got {n}: "
                f"it would take more than {MOST_TERMS} terms"
            )
        parent = np.repeat(np.arange(terms.size), terms)
        first = np.cumsum(terms) - terms
        times = np.arange(parent.size) - first[parent] + least[parent]
        weight = weight[parent] * binom.pmf(times, rest[parent], share)
        total, rest = total[parent] + value * times, rest[parent] - times
    share, scale = shares[-2], values[-2] - values[-1]
    centre = -(total + values[-1] * rest) / scale
    below = np.floor(centre)
    deviation = (rest * share - centre) * (2 * binom.sf(below, rest, share) - 1)
    deviation += 2 * (below + 1) * (1 - share) * binom.pmf(below + 1, rest, share)
    return float(abs(scale) * (weight @ deviation))
