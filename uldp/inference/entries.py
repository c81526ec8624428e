"""Intervals for the entries of an estimate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.intervals import score
from uldp.inference.covariances import Part, errors_of, known
from uldp.tallies import Tally, linear

__all__ = ["intervals", "of_strata"]

Array = NDArray[np.float64]


def intervals(
    tally: Tally,
    confidence: float = 0.95,
    simultaneous: bool = False,
    clip: bool = False,
    method: str = "adjusted",
) -> NDArray[np.float64]:
    """Return an interval for each entry of p.

    For RR and uRR, and by the empirical estimate for RAPPOR and uRAP, each entry is an affine image
    of a binomial count; so is the interval, of that of Clopper and Pearson (1934). It holds p(x)
    with at least the probability `confidence`, for every n ≥ 1 and every p. The same is true of the
    non-sensitive values under uRAP, uHR and a block design of one size; under the latter of all
    values, if all are sensitive or if the sets have one value.

    The other entries have a score interval: all p(x) with abs(p̂(x) - p(x)) ≤ z σ + c, and p̂(x)
    itself. Here σ² is the variance at p(x), the largest for any p(X_S) that the revealed values
    leave possible. Clopper and Pearson's set of these masses may miss the true one with a tenth of
    the chance 1 - `confidence`, and z leaves the rest (Berger and Boos 1994). And c = max(1/2,
    (z² - 1)/6) h/n, for entries of single reports in an interval of the length h, makes up for
    counts that are whole numbers and for rare ones, which are skewed.

    That is not proved, but enumerated for small surveys. Of adjusted 95% intervals at least 95.7%
    hold p(x), fewest from one report under RAPPOR and uRAP with ε = 8, p(x) = 0.0435. Of empirical
    ones at least 94.8% do at n = 1 (under uHR with 2 sensitive values and another one, ε = 3, p(x)
    = 0.99, p(X_S) = 1) and at least 95% from n = 2 on. Adjusted ones are on average up to a quarter
    shorter than the exact ones of the empirical estimate where two values are sensitive, and 2%
    longer where many are (at ε = 8 and n = 100, 14%).

    An interval can reach below 0 or above 1, or lie there altogether: noise does that, and a
    negative estimate says as much about the noise as a positive one.

    Parameters
    ----------
    tally : Tally
        Of at least one report.
    confidence : float, optional
        The probability, in (0, 1), that an interval is made to hold its p(x) with.
    simultaneous : bool, optional
        If true, all intervals together hold p with this probability (Bonferroni).
    clip : bool, optional
        If true, the ends are brought to the nearest number in [0, 1].
    method : {"adjusted", "empirical"}, optional
        The estimate: the one that sums to 1 (see `uldp.tallies.adjusted`), or the paper's.

    Returns
    -------
    (k, 2) ndarray
        The lower and the upper end for each value.
    """
    estimate = linear(tally, method)
    missed = 1 - checks.open_unit(confidence, "confidence")
    if checks.flag(simultaneous, "simultaneous"):
        missed /= estimate.size
    low, high = tally.law.decoder_of(method).intervals(tally.counts, tally.n, missed).T
    # Rounding alone can put the estimate beyond an end.
    ends = np.stack([np.minimum(low, estimate), np.maximum(high, estimate)], axis=1)
    if checks.flag(clip, "clip"):
        ends = np.clip(ends, 0, 1)
    return ends


def of_strata(parts: Sequence[Part], missed: float) -> tuple[Array, Array, Array, Array]:
    """Return the estimates of `stratified`, their standard errors, and the ends of intervals."""
    sizes = np.array([part.tally.n for part in parts])
    n = int(sizes.sum())
    w = np.array([part.share for part in parts])[:, np.newaxis]
    times = w * n / sizes[:, np.newaxis]
    others = np.array([part.decoder.null_variances for part in parts])
    slopes = np.array([part.decoder.own_squares for part in parts]) - others
    squares = (w * times * others).sum(axis=0), (times * slopes).max(axis=0)
    jump = (times * [np.ptp(part.decoder.ranges(), axis=1) for part in parts]).max(axis=0)
    value = (w * [part.estimate for part in parts]).sum(axis=0)
    low, high = score(value, squares, jump, n, missed).T
    errors = np.nan_to_num([errors_of(part) for part in parts])
    error = known(np.sqrt((w**2 * errors**2).sum(axis=0)), low, high)
    return value, error, low, high
