"""From counts to an unbiased estimate, and the exact law of its errors.

A decoder turns each report y into a row D_y; the mean of the rows is the estimate p̂. All that is
known about the errors follows from the *second moment* M(p) = E_p[D_y D_yᵀ], shape (k, k): for
n users drawn independently from p, the covariance of p̂ is (M(p) - p pᵀ)/n. M is affine in p.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.binomial import exact_interval, mean_absolute_deviation
from uldp._numerics.fields import Frozen, lock_arrays
from uldp._numerics.intervals import NUISANCE, exact, score

__all__ = ["Bernoulli", "ClassDecoder", "Decoder", "Moments", "SupportDecoder"]

ROUNDING = 1e-12


class Bernoulli(NamedTuple):
    """Bernoulli variables that give the variances of the estimate's entries.

    Where p is uniform within X_S and within X_N, n times the variance of the estimate of p(x) is
    m(1 - m) / gain², with m = false_support + gain p(x). This holds for every unbiased linear
    estimate that treats the values of a class alike, because n Var p̂(x) + p(x)² is then affine in
    p(x). For a `SupportDecoder` it holds at every p.

    Attributes
    ----------
    false_support, not_false_support : (k,) ndarray
        m and 1 - m at p(x) = 0.
    gain : (k,) ndarray
        The slope of m.
    """

    false_support: NDArray[np.float64]
    not_false_support: NDArray[np.float64]
    gain: NDArray[np.float64]


class Decoder(Frozen, ABC):
    """An unbiased estimate of p that is linear in the counts of a tally.

    Everything about errors, intervals, tests and forged reports is computed from these methods.
    Their arrays are in the order of the domain, which a decoder does not know: give no Series.
    """

    @abstractmethod
    def estimate(self, counts: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Return the estimate, shape (k,), from the counts of n ≥ 1 reports."""

    @abstractmethod
    def apply_second_moment(
        self, p: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return M(p) w for weights w of shape (k,) or (k, m), without the (k, k) matrix.

        The vector p need not be a distribution. M is affine in p, so an unbiased estimate of p
        gives an unbiased estimate of M(p) w.
        """

    @abstractmethod
    def variances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return n times the variance of each entry, M(p)(x, x) - p(x)², shape (k,)."""

    @abstractmethod
    def intervals(self, counts: NDArray[np.int64], n: int, missed: float) -> NDArray[np.float64]:
        """Return an interval for each p(x), shape (k, 2), that may miss it with chance `missed`."""

    is_entrywise: ClassVar[bool] = False
    """Whether the variance of each entry hangs on p(x) alone, at every p."""

    def unbiased_variances(
        self, counts: NDArray[np.int64], n: int, point: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return M(x, x) - p̂(x)², with M at a point, for the estimate p̂ from n counts.

        Over n - 1 they are unbiased for the variances of p̂, if the point is unbiased for p.
        """
        estimate = self.estimate(counts, n)
        return self.variances(point) + (point - estimate) * (point + estimate)

    def said(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return D_y · w, less a number, by the value that y names, if every report names one."""
        return None

    def reported(self, counts: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
        """Return which values the counts of n reports say anything about, shape (k,)."""
        mask: NDArray[np.bool_] = np.abs(self.estimate(counts, n)) > ROUNDING
        return mask

    def as_diagonal(
        self, p: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return a and b, each of shape (k,), if M(p) - p pᵀ = diag(a) - b bᵀ."""
        return None

    def moments_of_total(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E[(D_y · w)²] by the value behind the report y, shape (k,), for w of shape (k,).

        Their mean at a distribution p is wᵀ M(p) w. Takes O(k²) unless a decoder has a faster way.
        """
        holders = np.eye(weights.size)
        return np.array([weights @ self.apply_second_moment(x, weights) for x in holders])

    @abstractmethod
    def ranges(self) -> NDArray[np.float64]:
        """Return the least and the largest entry D_yx over all reports y; shape (k, 2)."""

    @abstractmethod
    def range_of_total(self, weights: NDArray[np.float64]) -> tuple[float, float]:
        """Return the least and the largest D_y · w over all reports y, for w of shape (k,)."""

    def jump_of_total(self, weights: NDArray[np.float64]) -> float:
        """Return how much a single random choice in a report can change D_y · w."""
        low, high = self.range_of_total(weights)
        return high - low

    def two_values(self, weights: NDArray[np.float64]) -> tuple[float, float] | None:
        """Return (low, high) if D_y · w takes no other value for any report y, and None otherwise.

        It takes only these two if E[(D_y · w - low)(high - D_y · w)] is 0 for every value behind y.
        """
        low, high = self.range_of_total(weights)
        inside = (low + high) * weights - low * high - self.moments_of_total(weights)
        return (low, high) if inside.max() <= ROUNDING * (high - low) ** 2 else None

    @property
    @abstractmethod
    def sums_to_one(self) -> bool:
        """Whether every estimate sums to 1."""

    @property
    @abstractmethod
    def null_variances(self) -> NDArray[np.float64]:
        """For each x the largest n Var p̂(x) over all p with p(x) = 0; shape (k,)."""

    @property
    @abstractmethod
    def own_squares(self) -> NDArray[np.float64]:
        """For each x the mean of D_yx² over the reports y of a user who holds x, shape (k,)."""

    def absolute_deviations(self, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return E|p̂(x) - p(x)| for n users, shape (k,), at a distribution p.

        An entry that hangs on several counts is refused: their joint law has no short sum.
        """
        raise ValueError(
            "exact must be False where an entry hangs on several counts: the exact loss is had of "
            "the empirical estimate under RR, uRR, RAPPOR and uRAP, got True"
        )

    @abstractmethod
    def as_bernoulli(self) -> Bernoulli:
        """Return the Bernoulli variables of the entries for p uniform within both classes."""

    @property
    def slopes(self) -> NDArray[np.float64]:
        """How E[|D_y|² | x] differs by x, the value behind y: less a number, shape (k,)."""
        one = self.as_bernoulli()
        return (one.not_false_support - one.false_support) / one.gain


@dataclass(frozen=True, eq=False)
class SupportDecoder(Decoder):
    """An estimate whose entries are each affine in one binomial count; all arrays have shape (k,).

    A report *supports* some values. With m̂(x) the share of reports that support x,
    p̂(x) = (m̂(x) - false_support(x)) / gain(x). The complements and the difference are fields of
    their own, computed without cancellation, so that they are right to the last digits where ε is
    tiny or large.

    Attributes
    ----------
    true_support, not_true_support : ndarray
        Probability that the report of a user who holds x supports x, and that it does not (the p*
        of Wang et al. 2017 and its complement).
    false_support, not_false_support : ndarray
        The same for a user who holds another value (their q*).
    gain : ndarray
        true_support - false_support.
    names_one : bool
        Whether a report supports exactly one value. If not, it supports values independently of
        one another, given the user's, but of X_N at most one.
    """

    true_support: NDArray[np.float64]
    not_true_support: NDArray[np.float64]
    false_support: NDArray[np.float64]
    not_false_support: NDArray[np.float64]
    gain: NDArray[np.float64]
    names_one: bool
    is_entrywise = True

    def __post_init__(self) -> None:
        lock_arrays(self)

    def estimate(self, counts: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Return (m̂ - false_support) / gain."""
        return (counts / n - self.false_support) / self.gain

    def apply_second_moment(
        self, p: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return M(p) w; off the diagonal M is 0, or p pᵀ - (m/gain)(m/gain)ᵀ if one is named."""
        w = weights.reshape(p.size, -1)
        supported = self._probabilities(p)[0]
        if self.names_one:
            # D_yx is [y names x]/gain(x) - shift(x), and the named x has the probability m(x).
            shift = self.false_support / self.gain
            applied = (supported / self.gain**2)[:, None] * w
            applied -= np.outer(shift, p @ w) + np.outer(p + shift, shift @ w)
        else:
            applied = (self.variances(p) + p**2)[:, None] * w
        return applied.reshape(weights.shape)

    def variances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return m(1 - m) / gain²."""
        supported, not_supported = self._probabilities(p)
        return supported * not_supported / self.gain**2

    def unbiased_variances(
        self, counts: NDArray[np.int64], n: int, point: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return m̂(1 - m̂) / gain², those at the estimate; none is negative."""
        return counts / n * ((n - counts) / n) / self.gain**2

    def said(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return w / gain, if a report names one value."""
        return weights / self.gain if self.names_one else None

    def intervals(self, counts: NDArray[np.int64], n: int, missed: float) -> NDArray[np.float64]:
        """Return the images of the exact intervals of the counts."""
        low, not_high = exact_interval(counts, n, missed)
        above = low - self.false_support
        below = self.not_false_support - not_high
        return np.stack([above / self.gain, below / self.gain], axis=1)

    def moments_of_total(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E[(D_y · w)²] by the value behind the report y, in O(k)."""
        scaled = weights / self.gain
        if self.names_one:
            squares = (scaled - self.false_support @ scaled) ** 2
            return self.false_support @ squares + self.gain * squares
        # Bits are independent: their variances, with the holder's for the own bit, and the mean².
        noise = self.false_support * self.not_false_support
        own_noise = self.true_support * self.not_true_support
        return noise @ scaled**2 + (own_noise - noise) * scaled**2 + weights**2

    def ranges(self) -> NDArray[np.float64]:
        """Return (0 - q)/gain and (1 - q)/gain, q the false support; a value alone is supported."""
        named = self.not_false_support / self.gain
        unnamed = named if self.names_one and named.size == 1 else -self.false_support / self.gain
        return np.stack([unnamed, named], axis=1)

    def range_of_total(self, weights: NDArray[np.float64]) -> tuple[float, float]:
        """Return the least and the largest D_y · w over all reports y, in O(k)."""
        scaled = weights / self.gain
        if self.names_one:
            values = scaled - self.false_support @ scaled
            return float(values.min()), float(values.max())
        # Independent bits are each at the end that serves; of the others, which nobody else can
        # set, one at most is 1.
        noisy = self.false_support > 0
        ends = np.stack([-self.false_support, self.not_false_support]) * scaled
        low, high = np.sort(ends[:, noisy], axis=0).sum(axis=1)
        revealed = np.append(scaled[~noisy], 0)
        return float(low + revealed.min()), float(high + revealed.max())

    def jump_of_total(self, weights: NDArray[np.float64]) -> float:
        """Return the range of D_y · w, or that of a single bit if the bits are independent."""
        if self.names_one:
            return super().jump_of_total(weights)
        return float(np.ptp(np.append(weights / self.gain, 0)))

    @property
    def sums_to_one(self) -> bool:
        """Whether a report supports exactly one value."""
        return self.names_one

    def as_diagonal(
        self, p: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a and b: the variances and p, unless a report names one value."""
        if self.names_one:
            supported = self._probabilities(p)[0]
            return supported / self.gain**2, supported / self.gain
        return self.variances(p) + p**2, p

    @property
    def null_variances(self) -> NDArray[np.float64]:
        """The variance at p(x) = 0, whatever p is elsewhere."""
        return self.false_support * self.not_false_support / self.gain**2

    @property
    def own_squares(self) -> NDArray[np.float64]:
        """The variance at p(x) = 1, and 1."""
        return self.true_support * self.not_true_support / self.gain**2 + 1

    def absolute_deviations(self, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return the mean absolute deviations of the binomial counts over n gain."""
        supported, not_supported = self._probabilities(p)
        rarer = np.minimum(supported, not_supported)
        complement = np.maximum(supported, not_supported)
        return mean_absolute_deviation(n, rarer, complement) / (n * self.gain)

    def as_bernoulli(self) -> Bernoulli:
        """Return the probabilities of support by users who hold another value, and the gain."""
        return Bernoulli(self.false_support, self.not_false_support, self.gain)

    def _probabilities(
        self, p: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probabilities m and 1 - m that a report supports each value."""
        rest = 1 - p
        supported = self.true_support * p + self.false_support * rest
        not_supported = self.not_true_support * p + self.not_false_support * rest
        return supported, not_supported


class Moments(NamedTuple):
    """The mean square of an entry D_yx, by who sends the report.

    Attributes
    ----------
    own, fellow, foreign : float
        A user who holds x, another value of the class of x, or a value of the other class; the
        largest of those where they differ. Without fellows, `fellow` is `foreign`.
    """

    own: float
    fellow: float
    foreign: float


@dataclass(frozen=True, eq=False)
class ClassDecoder(Decoder):
    """A decoder of which E D_yx² hangs on the classes of x and of the value behind y alone.

    An `AdjustedDecoder` need not be so.

    Attributes
    ----------
    sensitive, nonsensitive : ndarray of int
        The indices of the two classes.
    """

    sensitive: NDArray[np.intp]
    nonsensitive: NDArray[np.intp]

    def __post_init__(self) -> None:
        lock_arrays(self)

    def alike(self) -> list[NDArray[np.intp]]:
        """Return the values in groups, in each of which the entries take the same numbers."""
        return [members for members in (self.sensitive, self.nonsensitive) if members.size]

    def _entry(self, x: int) -> NDArray[np.float64]:
        """Return the weights w for which D_y · w is D_yx."""
        entry: NDArray[np.float64] = np.eye(1, self.sensitive.size + self.nonsensitive.size, x)[0]
        return entry

    @property
    def _moments(self) -> list[tuple[NDArray[np.intp], Moments]]:
        """Each group, and the mean squares of its entries."""
        return list(zip(self.alike(), self._mean_squares, strict=True))

    @cached_property
    def _mean_squares(self) -> list[Moments]:
        found = []
        for members in self.alike():
            x = members[0]
            squares = self.moments_of_total(self._entry(x))
            own_class, other_class = self.sensitive, self.nonsensitive
            if x not in own_class:
                own_class, other_class = other_class, own_class
            foreign = squares[other_class].max(initial=0)
            fellow = squares[own_class[own_class != x]].max() if own_class.size > 1 else foreign
            found.append(Moments(squares[x], fellow, foreign))
        return found

    def ranges(self) -> NDArray[np.float64]:
        """Return the range of each entry."""
        ends = np.empty((self.sensitive.size + self.nonsensitive.size, 2))
        for members in self.alike():
            ends[members] = self.range_of_total(self._entry(members[0]))
        return ends

    @property
    def null_variances(self) -> NDArray[np.float64]:
        """For each x the larger of the variances with all of p in X_S and with all of it in X_N."""
        variances = np.empty(self.sensitive.size + self.nonsensitive.size)
        for members, moments in self._moments:
            variances[members] = max(moments.fellow, moments.foreign)
        return variances

    @property
    def own_squares(self) -> NDArray[np.float64]:
        """The mean square that is its own, for each class."""
        squares = np.empty(self.sensitive.size + self.nonsensitive.size)
        for members, moments in self._moments:
            squares[members] = moments.own
        return squares

    def as_bernoulli(self) -> Bernoulli:
        """Return Bernoulli variables of the same variances: n Var + p(x)² is affine in p(x)."""
        below, above, width = np.empty((3, self.sensitive.size + self.nonsensitive.size))
        for members, (own, fellow, foreign) in self._moments:
            # n Var + p² is foreign + slope p. With f = false_support that of the Bernoulli variable
            # is f (1 - f)/gain² + (1 - 2f)/gain p. So below = f/gain and above = (1 - f)/gain have
            # the product foreign, the difference slope and the sum `length`.
            slope = own - foreign + (members.size - 1) * (fellow - foreign)
            length = math.sqrt(slope**2 + 4 * foreign)
            small = 2 * foreign / (length + abs(slope))
            below[members] = small if slope > 0 else length - small
            above[members] = length - small if slope > 0 else small
            width[members] = length
        return Bernoulli(below / width, above / width, 1 / width)

    def intervals(self, counts: NDArray[np.int64], n: int, missed: float) -> NDArray[np.float64]:
        """Return exact intervals for the groups whose entries take two values, or else scores."""
        estimate = self.estimate(counts, n)
        ends = np.empty((estimate.size, 2))
        in_N = np.zeros(estimate.size)
        in_N[self.nonsensitive] = 1
        mass = exact(self.range_of_total(in_N), in_N @ estimate, n, 2 * NUISANCE * missed)
        mass_N = np.clip(mass, 0, 1)
        for members, (own, fellow, foreign) in self._moments:
            entry = self._entry(members[0])
            between = self.two_values(entry)
            if between:
                ends[members] = exact(between, estimate[members], n, missed)
                continue
            # E D_yx² is c + b p(x) with a c that is affine in the mass of the other class. So its
            # largest is at an end of the interval for that mass, and too low only if the mass lies
            # beyond this end, of which the chance is NUISANCE times `missed`.
            others = 1 - mass_N if in_N[members[0]] else mass_N
            constant = (fellow * (1 - others) + foreign * others).max()
            left = (1 - NUISANCE) * missed
            jump = self.jump_of_total(entry)
            found = score(estimate[members], (constant, own - fellow), jump, n, left)
            ends[members] = np.clip(found, *self.range_of_total(entry))
        return ends
