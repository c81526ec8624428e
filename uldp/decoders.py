"""From counts to an unbiased estimate, and the exact law of its errors.

A decoder makes of a single report y a row D_y, whose mean over the reports is the estimate p̂. All
that is known of the errors follows from the *second moment* M(p) = E_p[D_y D_yᵀ], shape (k, k): for
n users drawn independently from p, the covariance of p̂ is (M(p) - p pᵀ)/n. M is affine in p.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.binomial import mean_absolute_deviation
from uldp._numerics.fields import lock_arrays
from uldp._numerics.multinomial import mean_absolute_value

__all__ = ["Bernoulli", "Decoder", "OutcomeDecoder", "SupportDecoder"]

Masses = float | NDArray[np.float64]
Outcomes = Iterator[tuple[float, Masses]]


class Bernoulli(NamedTuple):
    """The Bernoulli number whose variance an entry of the estimate has.

    Where p is uniform within X_S and within X_N, n times the variance of the estimate of p(x) is
    m(1 - m) / gain², with m = other + gain p(x). So it is for every unbiased linear estimate that
    treats the values of a class alike: n Var p̂(x) + p(x)² is then affine in p(x).

    Attributes
    ----------
    other, not_other : float
        m and 1 - m at p(x) = 0.
    gain : float
        The slope of m.
    """

    other: float
    not_other: float
    gain: float


class Decoder(ABC):
    """An unbiased estimate of p that is linear in the counts of a tally.

    The law of an entry is the same for all values of a class, X_S or X_N.
    """

    @abstractmethod
    def estimate(self, counts: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Return the estimate, shape (k,), from the counts of n ≥ 1 reports."""

    @abstractmethod
    def apply_second_moment(
        self, p: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return M(p) w for weights w of shape (k,) or (k, m), without the (k, k) matrix.

        The vector p need not be a distribution: M is affine in p, so that with an unbiased estimate
        for p this is one of M(p) w.
        """

    @abstractmethod
    def variances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return n times the variance of each entry, M(p)(x, x) - p(x)², shape (k,)."""

    def moments_of_total(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E[(D_y · w)²] by the value behind the report y, shape (k,), for w of shape (k,).

        At a distribution p, wᵀ M(p) w is their mean. Unless there is a shorter way, in O(k²).
        """
        holders = np.eye(weights.size)
        return np.array([weights @ self.apply_second_moment(x, weights) for x in holders])

    @abstractmethod
    def range_of_total(self, weights: NDArray[np.float64]) -> tuple[float, float]:
        """Return the least and the largest D_y · w over all reports y, for w of shape (k,)."""

    @property
    @abstractmethod
    def sums_to_one(self) -> bool:
        """Whether every estimate sums to 1."""

    @property
    @abstractmethod
    def null_variances(self) -> NDArray[np.float64]:
        """For each x the largest n Var p̂(x) over all p with p(x) = 0; shape (k,)."""

    @abstractmethod
    def absolute_deviations(self, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return E|p̂(x) - p(x)| for n users, shape (k,), at a distribution p."""

    @abstractmethod
    def as_bernoulli(self, x: int) -> Bernoulli:
        """Return what the variance of entry x is where p is uniform within both classes."""


@dataclass(frozen=True, eq=False)
class SupportDecoder(Decoder):
    """The estimate where each entry is affine in one binomial count; all arrays have shape (k,).

    A report *supports* some values. With m̂(x) the share of reports that support x, p̂(x) = (m̂(x) -
    other(x)) / gain(x). The complements and the difference are fields of their own, computed
    without cancellation, so that they are right to the last digits where ε is tiny or large.

    Attributes
    ----------
    own, not_own : ndarray
        Probability that the report of a user who holds x supports x, and that it does not (the p*
        of Wang et al. 2017 and its complement).
    other, not_other : ndarray
        The same for a user who holds another value (their q*).
    gain : ndarray
        own - other.
    names_one : bool
        Whether a report supports exactly one value. If not, it supports values independently of
        one another, given the user's, but of X_N at most one.
    """

    own: NDArray[np.float64]
    not_own: NDArray[np.float64]
    other: NDArray[np.float64]
    not_other: NDArray[np.float64]
    gain: NDArray[np.float64]
    names_one: bool

    def __post_init__(self) -> None:
        lock_arrays(self)

    def estimate(self, counts: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Return (m̂ - other) / gain."""
        return (counts / n - self.other) / self.gain

    def apply_second_moment(
        self, p: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return M(p) w; off the diagonal M is 0, or p pᵀ - (m/gain)(m/gain)ᵀ if one is named."""
        w = weights.reshape(p.size, -1)
        supported = self._probabilities(p)[0]
        if self.names_one:
            shift = self.other / self.gain
            applied = (supported / self.gain**2)[:, None] * w
            applied -= np.outer(shift, p @ w) + np.outer(p + shift, shift @ w)
        else:
            applied = (self.variances(p) + p**2)[:, None] * w
        return applied.reshape(weights.shape)

    def variances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return m(1 - m) / gain²."""
        supported, not_supported = self._probabilities(p)
        return supported * not_supported / self.gain**2

    def moments_of_total(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E[(D_y · w)²] by the value behind the report y, in O(k)."""
        scaled = weights / self.gain
        if self.names_one:
            squares = (scaled - self.other @ scaled) ** 2
            return self.other @ squares + self.gain * squares
        noise = self.other * self.not_other
        own_noise = self.own * self.not_own
        return noise @ scaled**2 + (own_noise - noise) * scaled**2 + weights**2

    def range_of_total(self, weights: NDArray[np.float64]) -> tuple[float, float]:
        """Return the least and the largest D_y · w over all reports y, in O(k)."""
        scaled = weights / self.gain
        if self.names_one:
            values = scaled - self.other @ scaled
            return float(values.min()), float(values.max())
        noisy = self.other > 0
        bits = np.sort([-self.other * scaled, self.not_other * scaled], axis=0)[:, noisy]
        revealed = np.append(scaled[~noisy], 0)
        low, high = bits.sum(axis=1) + np.array([revealed.min(), revealed.max()])
        return float(low), float(high)

    @property
    def sums_to_one(self) -> bool:
        """Whether a report supports exactly one value."""
        return self.names_one

    def as_diagonal(
        self, p: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a and b, each of shape (k,), with M(p) - p pᵀ = diag(a) - b bᵀ."""
        if self.names_one:
            supported = self._probabilities(p)[0]
            return supported / self.gain**2, supported / self.gain
        return self.variances(p) + p**2, p

    @property
    def null_variances(self) -> NDArray[np.float64]:
        """The variance at p(x) = 0, whatever p is elsewhere."""
        return self.other * self.not_other / self.gain**2

    def absolute_deviations(self, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return the mean absolute deviations of the binomial counts over n gain."""
        supported, not_supported = self._probabilities(p)
        rarer = np.minimum(supported, not_supported)
        complement = np.maximum(supported, not_supported)
        return mean_absolute_deviation(n, rarer, complement) / (n * self.gain)

    def as_bernoulli(self, x: int) -> Bernoulli:
        """Return the probabilities of support by users who do not hold x, and the gain."""
        return Bernoulli(float(self.other[x]), float(self.not_other[x]), float(self.gain[x]))

    def _probabilities(
        self, p: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probabilities m and 1 - m that a report supports each value."""
        return self.own * p + self.other * (1 - p), self.not_own * p + self.not_other * (1 - p)


class Moments(NamedTuple):
    """The mean square of an entry D_yx, by who sends the report.

    Attributes
    ----------
    own, fellow, foreign : float
        A user who holds x, another value of the class of x, or a value of the other class.
    """

    own: float
    fellow: float
    foreign: float


@dataclass(frozen=True, eq=False)
class OutcomeDecoder(Decoder):
    """An estimate whose entries D_yx take few values, each with a known probability.

    Attributes
    ----------
    sensitive, nonsensitive : ndarray of int
        The indices of the two classes.
    """

    sensitive: NDArray[np.intp]
    nonsensitive: NDArray[np.intp]

    def __post_init__(self) -> None:
        lock_arrays(self)

    @abstractmethod
    def sensitive_outcomes(self, own: Masses, fellow: Masses, foreign: float) -> Outcomes:
        """Yield the values of an entry D_yx with x in X_S, each with its probability.

        The arguments are p at the value, at the rest of its class, and at the other class.
        """

    @abstractmethod
    def nonsensitive_outcomes(self, own: Masses, fellow: Masses, foreign: float) -> Outcomes:
        """Yield the same for an entry with x in X_N."""

    def variances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return n times the variance of each entry, M(p)(x, x) - p(x)² for any vector p."""
        variances: NDArray[np.float64] = p**2 * (1 - p.sum())
        for members, outcomes in self._classes(p):
            entries = p[members]
            variances[members] += sum(
                probability * (value - entries) ** 2 for value, probability in outcomes
            )
        return variances

    @property
    def null_variances(self) -> NDArray[np.float64]:
        """For each x the larger variance of those where X_S or X_N holds all of p."""
        sizes = self.sensitive.size, self.nonsensitive.size
        variances = np.zeros(sum(sizes))
        for sensitive, members, (size, others) in (
            (True, self.sensitive, sizes),
            (False, self.nonsensitive, sizes[::-1]),
        ):
            moments = self._moments(sensitive)
            possible = [moments.fellow] * (size > 1) + [moments.foreign] * (others > 0)
            variances[members] = max(possible, default=0.0)
        return variances

    def absolute_deviations(self, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return E|p̂(x) - p(x)|, by enumeration of all counts but two."""
        deviations = np.empty(p.size)
        for members, outcomes in self._classes(p):
            values, probabilities = zip(*outcomes, strict=True)
            table = np.array([np.broadcast_to(q, members.size) for q in probabilities])
            entries, first, place = np.unique(p[members], return_index=True, return_inverse=True)
            each = [
                mean_absolute_value(n, np.array(values) - entry, table[:, column]) / n
                for entry, column in zip(entries, first, strict=True)
            ]
            deviations[members] = np.array(each)[place]
        return deviations

    def as_bernoulli(self, x: int) -> Bernoulli:
        """Return the Bernoulli number of the same variance: n Var + p(x)² is affine in p(x)."""
        sensitive = x in self.sensitive
        moments = self._moments(sensitive)
        size = (self.sensitive if sensitive else self.nonsensitive).size
        slope = moments.own - moments.foreign + (size - 1) * (moments.fellow - moments.foreign)
        width = np.sqrt(slope**2 + 4 * moments.foreign)
        small = 2 * moments.foreign / (width + abs(slope))
        below, above = (small, width - small) if slope > 0 else (width - small, small)
        return Bernoulli(below / width, above / width, 1 / width)

    def squares(self, mass: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return c and b, each of shape (k,), with E D_yx² = c + b p(x) where p(X_S) = mass.

        A value that is alone in its class holds all its mass; there any mass gives the same.
        """
        constants, slopes = np.empty((2, self.sensitive.size + self.nonsensitive.size))
        for sensitive, members, share in (
            (True, self.sensitive, mass),
            (False, self.nonsensitive, 1 - mass),
        ):
            own, fellow, foreign = self._moments(sensitive)
            if members.size == 1:
                fellow = foreign
            constants[members] = fellow * share + foreign * (1 - share)
            slopes[members] = own - fellow
        return constants, slopes

    def _classes(self, p: NDArray[np.float64]) -> list[tuple[NDArray[np.intp], Outcomes]]:
        """Return, for each class, the values of its entries, and how likely they are at p."""
        S = self.sensitive
        N = self.nonsensitive
        mass_S = p[S].sum()
        mass_N = p[N].sum()
        classes = [
            (S, self.sensitive_outcomes(p[S], mass_S - p[S], mass_N)),
            (N, self.nonsensitive_outcomes(p[N], mass_N - p[N], mass_S)),
        ]
        return [one for one in classes if one[0].size]

    def _moments(self, sensitive: bool) -> Moments:
        outcomes = self.sensitive_outcomes if sensitive else self.nonsensitive_outcomes
        holders = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        return Moments(
            *(
                float(sum(probability * value**2 for value, probability in outcomes(*holder)))
                for holder in holders
            )
        )
