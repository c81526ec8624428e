"""Intervals for the entries of the empirical estimate."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from uldp import _checks
from uldp.decoders import OutcomeDecoder, SupportDecoder
from uldp.estimators import empirical
from uldp.tallies import Tally

__all__ = ["intervals"]


def intervals(
    tally: Tally, level: float = 0.95, simultaneous: bool = False, clip: bool = False
) -> NDArray[np.float64]:
    """Return an interval for each entry of p.

    For RR, RAPPOR, uRR and uRAP each entry of the estimate is an affine image of a binomial count;
    so is the interval, of that of Clopper and Pearson (1934). It holds p(x) with at least the
    probability `level`, for every n ≥ 1 and every p. For others, such as the block design, it is a
    score interval: all p(x) with abs(p̂(x) - p(x)) ≤ z σ, where σ² is the variance at p(x) and the
    estimate of p(X_S), and p̂(x) itself. Its coverage nears `level` as n grows: of 95% intervals
    from sets of two of four values, ε = 1, at least 85% hold at n = 10, 92% at n = 50, 93% at 200.

    An interval can reach below 0 or above 1, or lie there altogether: noise does that, and a
    negative estimate says as much about the noise as a positive one.

    Parameters
    ----------
    tally : Tally
        Of at least one report.
    level : float, optional
        The probability, in (0, 1), that an interval holds its p(x).
    simultaneous : bool, optional
        If true, all intervals together hold p with this probability (Bonferroni).
    clip : bool, optional
        If true, the ends are brought to the nearest number in [0, 1].

    Returns
    -------
    (k, 2) ndarray
        The lower and the upper end for each value.

    Raises
    ------
    ValueError
        If the tally is empty or the level lies outside (0, 1).
    TypeError
        If an argument is of the wrong type.
    """
    estimate = empirical(tally)
    missed = 1 - _checks.open_unit(level, "level")
    if _checks.flag(simultaneous, "simultaneous"):
        missed /= estimate.size
    decoder = tally.law.decoder
    if isinstance(decoder, SupportDecoder):
        ends = _exact(decoder, tally, missed)
    else:
        ends = _score(cast(OutcomeDecoder, decoder), estimate, tally.n, missed)
    if _checks.flag(clip, "clip"):
        ends = np.clip(ends, 0, 1)
    return ends


def _exact(decoder: SupportDecoder, tally: Tally, missed: float) -> NDArray[np.float64]:
    """Return the images of the Clopper-Pearson intervals of the counts."""
    counts, rest = tally.counts, tally.n - tally.counts
    low = betaincinv(np.maximum(counts, 1), rest + 1, missed / 2)
    not_high = betaincinv(np.maximum(rest, 1), counts + 1, missed / 2)
    above = np.where(counts > 0, low, 0) - decoder.other
    below = decoder.not_other - np.where(rest > 0, not_high, 0)
    return np.stack([above / decoder.gain, below / decoder.gain], axis=1)


def _score(
    decoder: OutcomeDecoder, estimate: NDArray[np.float64], n: int, missed: float
) -> NDArray[np.float64]:
    """Solve n (p̂ - p)² = z² (c + b p - p²) for p, with E D_yx² = c + b p at p(x) = p."""
    mass = float(np.clip(estimate[decoder.sensitive].sum(), 0, 1))
    constants, slopes = decoder.squares(mass)
    q = float(ndtri(missed / 2) ** 2 / n)
    middle = estimate + q * slopes / 2
    root = np.sqrt(np.maximum(middle**2 - (1 + q) * (estimate**2 - q * constants), 0))
    low, high = (middle - root) / (1 + q), (middle + root) / (1 + q)
    return np.stack([np.minimum(low, estimate), np.maximum(high, estimate)], axis=1)
