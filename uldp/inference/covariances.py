"""The covariance of an estimate that is linear in the counts, from a tally alone.

For n users drawn independently from p it is (M(p) - p pᵀ)/n, with the second moment M(p) of a
decoded report (see `uldp.decoders`). M is affine in p, so (M(p̂) - p̂ p̂ᵀ)/(n - 1) is unbiased for it,
as a sample covariance is: E p̂ p̂ᵀ = p pᵀ + Cov p̂, hence E (M(p̂) - p̂ p̂ᵀ) = n Cov p̂ - Cov p̂.
So it is with M at any other unbiased estimate. Under uHR M grows with the sum of p, so that it is
taken at the adjusted estimate, which sums to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp.decoders import ROUNDING, Decoder
from uldp.tallies import Tally, linear, projected

__all__ = ["Part", "covariance", "standard_errors"]

ALIKE = 1e-14
"""Variances are less than so much of the squared range where rounding alone makes them."""


class Part(NamedTuple):
    """A decoded tally of two reports or more, of people with a share of the population.

    Attributes
    ----------
    tally : Tally
        The tally.
    decoder : Decoder
        That of a method.
    estimate : (k,) ndarray
        Its estimate.
    share : float
        The share.
    """

    tally: Tally
    decoder: Decoder
    estimate: NDArray[np.float64]
    share: float

    @classmethod
    def of(cls, tally: Tally, method: str, share: float = 1.0, name: str = "tally") -> Part:
        """Return the part of a tally, which an error message calls by a name."""
        checks.instance(tally, name, Tally)
        if tally.n < 2:
            raise ValueError(f"{name} must be of at least two reports, got {tally.n}")
        return cls(tally, tally.law.decoder_of(method), linear(tally, method), share)

    @property
    def point(self) -> NDArray[np.float64]:
        """The estimate that M is taken at."""
        return self.estimate if self.decoder.is_entrywise else linear(self.tally, "adjusted")


def covariance(tally: Tally, method: str = "adjusted") -> NDArray[np.float64]:
    """Return an unbiased estimate of the covariance of an estimate.

    It is (M - p̂ p̂ᵀ)/(n - 1), for every mechanism, if the n users were drawn independently; for a
    population that is asked as a whole it is too large, since it counts the draw as well. M is
    taken at p̂, under uHR at the adjusted estimate. For the empirical estimate it is
    -p̂(x) p̂(z)/(n - 1) off the diagonal under RAPPOR and uRAP, -m̂(x) m̂(z)/((n - 1) g(x) g(z))
    under RR and uRR, and m̂(1 - m̂)/((n - 1) g²) on it under all four.

    Unbiased does not mean positive semidefinite: at small n a weighted sum can have a negative
    variance under it. `total` says what it does then.

    Parameters
    ----------
    tally : Tally
        Of at least two reports.
    method : {"adjusted", "empirical"}, optional
        The estimate.

    Returns
    -------
    (k, k) ndarray

    Raises
    ------
    ValueError
        If it would have more than 2^24 entries: `standard_errors` and `total` need no matrix.
    """
    part = Part.of(tally, method)
    moment = tally.law.second_moment(part.point, method)
    return (moment - np.outer(part.estimate, part.estimate)) / (tally.n - 1)


def standard_errors(tally: Tally, method: str = "adjusted") -> NDArray[np.float64]:
    """Return the standard error of each entry of an estimate.

    Their squares are the diagonal of `covariance`, computed without the matrix. For RR and uRR, and
    for the empirical estimate under RAPPOR and uRAP, this is m̂(1 - m̂)/((n - 1) g²): unbiased for
    the variance, and never negative. Else it can come out negative at small n, but under a block
    design of one size; then the variance at the projection of p̂ to the simplex takes its place.

    Do not build intervals from them: p̂ ± 1.96 standard errors can miss p(x) nearly always. Where a
    value that is not sensitive is so rare that nobody reveals it, there is none, only an upper end.
    Use `intervals`.

    Parameters
    ----------
    tally : Tally
        Of at least two reports.
    method : {"adjusted", "empirical"}, optional
        The estimate.

    Returns
    -------
    (k,) ndarray
        It is nan where this estimate of the variance is 0, as where none reveals a value: that does
        not make the share sure. Under RR and uRR this is so where the reports are all alike; not
        always under block designs with sets of several values, uHR, and RAPPOR and uRAP, adjusted.
    """
    return errors_of(Part.of(tally, method))


def errors_of(part: Part) -> NDArray[np.float64]:
    """Return the standard errors of a part."""
    tally, decoder, estimate, _ = part
    n = tally.n
    unbiased = decoder.unbiased_variances(tally.counts, n, part.point)
    at_projection = np.maximum(decoder.variances(projected(estimate)), 0)
    low, high = decoder.ranges().T
    scale = (high - low) ** 2
    positive = np.where(unbiased > ALIKE * scale, unbiased, 0)
    variances = np.where(unbiased < -ROUNDING * scale, at_projection / n, positive / (n - 1))
    return known(np.sqrt(variances), low, high)


def known(errors: ArrayLike, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    """Return standard errors, but nan for those of 0 of numbers between ends that differ."""
    return np.where((np.asarray(errors) > 0) | (np.asarray(low) >= high), errors, np.nan)


def total_variance(part: Part, weights: NDArray[np.float64]) -> float:
    """Return the variance of Σ w(x) p̂(x), in O(k): unbiased, or at the projection if negative."""
    tally, decoder, estimate, _ = part
    said = decoder.said(weights)
    if said is not None:
        return _sample_variance(said, tally) / (tally.n - 1)
    unbiased = _quadratic(decoder, part.point, estimate, weights)
    # A weight of what is estimated at 0 adds nothing, and no rounding.
    low, high = decoder.range_of_total(np.where(estimate != 0, weights, 0))
    scale = (high - low) ** 2
    if unbiased < -ROUNDING * scale:
        p = projected(estimate)
        return max(_quadratic(decoder, p, p, weights), 0.0) / tally.n
    return unbiased / (tally.n - 1) if unbiased > ALIKE * scale else 0.0


def _sample_variance(said: NDArray[np.float64], tally: Tally) -> float:
    """Return the variance of what reports say that name a value each, or 0 if that is rounding."""
    shares = tally.counts / tally.n
    # Less what most say, so that nothing is left where all say the same.
    deviations = said - said[tally.counts.argmax()]
    variance = float(shares @ (deviations - shares @ deviations) ** 2)
    largest = np.abs(said[tally.counts > 0]).max()
    return variance if variance > (ROUNDING * largest) ** 2 else 0.0


def _quadratic(
    decoder: Decoder,
    point: NDArray[np.float64],
    estimate: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    """Return wᵀ (M - p̂ p̂ᵀ) w, with M at a point."""
    moment = weights @ decoder.apply_second_moment(point, weights)
    return float(moment - (weights @ estimate) ** 2)
