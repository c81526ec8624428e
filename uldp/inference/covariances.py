"""The covariance of the empirical estimate, from a tally alone.

For n users drawn independently from p it is (M(p) - p pᵀ)/n, with the second moment M(p) of a
decoded report (see `uldp.decoders`). M is affine in p, so (M(p̂) - p̂ p̂ᵀ)/(n - 1) is unbiased for it,
as a sample covariance is: E p̂ p̂ᵀ = p pᵀ + Cov p̂, hence E (M(p̂) - p̂ p̂ᵀ) = n Cov p̂ - Cov p̂.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp.law import Law
from uldp.tallies import Tally, empirical, norm_sub

__all__ = ["covariance", "standard_errors"]

ROUNDING = 1e-12
ALIKE = 1e-14


def covariance(tally: Tally) -> NDArray[np.float64]:
    """Return an unbiased estimate of the covariance of the empirical estimate.

    It is (M(p̂) - p̂ p̂ᵀ)/(n - 1), for every mechanism, if the n users were drawn independently; for a
    population that is asked as a whole it is too large, since it counts the draw as well. For
    RAPPOR and uRAP it is -p̂(x) p̂(z)/(n - 1) off the diagonal, for RR and uRR -m̂(x) m̂(z)/((n - 1)
    g(x) g(z)), and for all four m̂(1 - m̂)/((n - 1) g²) on it.

    Unbiased does not mean positive semidefinite: at small n a weighted sum can have a negative
    variance under it. `total` says what it does then.

    Parameters
    ----------
    tally : Tally
        Of at least two reports.

    Returns
    -------
    (k, k) ndarray

    Raises
    ------
    ValueError
        If it would have more than 2^24 entries: `standard_errors` and `total` need no matrix.
    """
    estimate = at_least_two(tally)
    moment = tally.law.second_moment(estimate)
    return (moment - np.outer(estimate, estimate)) / (tally.n - 1)


def standard_errors(tally: Tally) -> NDArray[np.float64]:
    """Return the standard error of each entry of the empirical estimate.

    Their squares are the diagonal of `covariance`, computed without the matrix. For RR, RAPPOR, uRR
    and uRAP this is m̂(1 - m̂)/((n - 1) g²): unbiased for the variance, and never negative. For uHR
    and a block design of several sizes it can come out negative at small n; then the variance at
    the projection of p̂ to the simplex takes its place.

    Do not build intervals from them: p̂ ± 1.96 standard errors can miss p(x) nearly always. Where a
    value that is not sensitive is so rare that nobody reveals it, there is none, only an upper end.
    Use `intervals`.

    Parameters
    ----------
    tally : Tally
        Of at least two reports.

    Returns
    -------
    (k,) ndarray
        It is nan where the reports are all alike, as where none reveals a value: that this estimate
        of its variance is 0 does not make the share sure.
    """
    estimate = at_least_two(tally)
    n = tally.n
    decoder = tally.law.decoder
    unbiased = decoder.variances_of_counts(tally.counts, n)
    projected = decoder.variances(norm_sub(tally))
    negative = unbiased < -ROUNDING * np.abs(unbiased + estimate**2).max()
    variances = np.where(negative, projected / n, unbiased / (n - 1))
    return known(np.sqrt(np.maximum(variances, 0)), *decoder.ranges().T)


def known(errors: ArrayLike, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    """Return standard errors, but nan for those of 0 of numbers between ends that differ."""
    return np.where((np.asarray(errors) > 0) | (np.asarray(low) >= high), errors, np.nan)


def at_least_two(tally: Tally, name: str = "tally") -> NDArray[np.float64]:
    """Return the empirical estimate of a tally of two reports or more."""
    checks.instance(tally, name, Tally)
    if tally.n < 2:
        raise ValueError(f"{name} must be of at least two reports, got {tally.n}")
    return empirical(tally)


def total_variance(
    tally: Tally, estimate: NDArray[np.float64], weights: NDArray[np.float64]
) -> float:
    """Return the variance of Σ w(x) p̂(x), in O(k): unbiased, or at the projection if negative."""
    n = tally.n
    law = tally.law
    unbiased = _quadratic(law, estimate, weights)
    squares = np.abs(law.decoder.variances(estimate) + estimate**2)
    scale = weights**2 @ squares
    if unbiased < -ROUNDING * scale:
        return max(_quadratic(law, norm_sub(tally), weights), 0.0) / n
    return unbiased / (n - 1) if unbiased > ALIKE * scale else 0.0


def _quadratic(law: Law, p: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return wᵀ (M(p) - p pᵀ) w."""
    return float(weights @ law.decoder.apply_second_moment(p, weights) - (weights @ p) ** 2)
