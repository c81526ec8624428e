"""Estimates whose entries take few values, each with a known probability."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.fields import lock_arrays
from uldp._numerics.intervals import NUISANCE, exact, score
from uldp._numerics.multinomial import mean_absolute_value
from uldp.decoders import Bernoulli, Decoder

__all__ = ["Masses", "OutcomeDecoder", "Outcomes"]

Masses = float | NDArray[np.float64]
Outcomes = Iterator[tuple[float, Masses]]


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
    def sensitive_outcomes(self, p_own: Masses, p_fellow: Masses, p_foreign: float) -> Outcomes:
        """Yield the values of an entry D_yx with x in X_S, each with its probability.

        The arguments are p at the value, at the rest of its class, and at the other class.
        """

    @abstractmethod
    def nonsensitive_outcomes(self, p_own: Masses, p_fellow: Masses, p_foreign: float) -> Outcomes:
        """Yield the same for an entry with x in X_N."""

    def ranges(self) -> NDArray[np.float64]:
        """Return the range of an entry of each class."""
        ends = np.empty((self.sensitive.size + self.nonsensitive.size, 2))
        for members in filter(np.size, (self.sensitive, self.nonsensitive)):
            ends[members] = self.range_of_total(np.eye(1, len(ends), members[0])[0])
        return ends

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
        """For each x the larger of the variances with all of p in X_S and with all of it in X_N."""
        k = self.sensitive.size + self.nonsensitive.size
        variances = np.empty(k)
        for sensitive, members in ((True, self.sensitive), (False, self.nonsensitive)):
            moments = self._moments(sensitive)
            with_fellow = moments.fellow if members.size > 1 else 0.0
            with_foreign = moments.foreign if members.size < k else 0.0
            variances[members] = max(with_fellow, with_foreign)
        return variances

    def absolute_deviations(self, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return E|p̂(x) - p(x)|, by enumeration of all counts but two."""
        deviations = np.empty(p.size)
        for members, outcomes in self._classes(p):
            values, probabilities = zip(*outcomes, strict=True)
            table = np.array([np.broadcast_to(q, members.size) for q in probabilities])
            # Values of a class with the same p have the same deviation, which is computed once.
            entries, first, place = np.unique(p[members], return_index=True, return_inverse=True)
            each = [
                mean_absolute_value(n, np.array(values) - entry, table[:, column]) / n
                for entry, column in zip(entries, first, strict=True)
            ]
            deviations[members] = np.array(each)[place]
        return deviations

    def as_bernoulli(self) -> Bernoulli:
        """Return Bernoulli variables of the same variances: n Var + p(x)² is affine in p(x)."""
        below, above, width = np.empty((3, self.sensitive.size + self.nonsensitive.size))
        for sensitive, members in ((True, self.sensitive), (False, self.nonsensitive)):
            if not members.size:
                continue
            own, fellow, foreign = self._moments(sensitive)
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

    def intervals(self, counts: NDArray[np.int64], n: int, missed: float) -> NDArray[np.float64]:
        """Return exact intervals for the classes whose entries take two values, or else scores."""
        estimate = self.estimate(counts, n)
        ends = np.empty((estimate.size, 2))
        constants, slopes = self._largest_squares(estimate, n, NUISANCE * missed)
        for members in filter(np.size, (self.sensitive, self.nonsensitive)):
            entry = np.eye(1, estimate.size, members[0])[0]
            between = self.two_values(entry)
            if between:
                ends[members] = exact(between, estimate[members], n, missed)
                continue
            squares = constants[members], slopes[members]
            possible = self.range_of_total(entry)
            left = (1 - NUISANCE) * missed
            found = score(estimate[members], squares, self.jump_of_total(entry), n, left)
            ends[members] = np.clip(found, *possible)
        return ends

    def _largest_squares(
        self, estimate: NDArray[np.float64], n: int, missed: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the largest c, and b, with E D_yx² = c + b p(x), over an interval for p(X_S)."""
        foreign = np.zeros(estimate.size)
        foreign[self.nonsensitive] = 1
        between = self.range_of_total(foreign)
        # c is affine in the mass. So the largest is at an end, and too low only if the mass lies
        # beyond that end, of which the chance is `missed`.
        masses = np.clip(1 - exact(between, foreign @ estimate, n, 2 * missed), 0, 1)
        (constants, slopes), (others, _) = (self.squares(float(mass)) for mass in masses)
        return np.maximum(constants, others), slopes

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
