"""From counts to an unbiased estimate, and the exact law of its errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uldp._binomial import mean_absolute_deviation

__all__ = ["Bernoulli", "Decoder", "Support"]


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
    """An unbiased estimate of p that is linear in the counts of a tally."""

    @abstractmethod
    def estimate(self, counts: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Return the estimate, shape (k,), from the counts of n ≥ 1 reports."""

    @abstractmethod
    def variances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return n times the variance of each entry, shape (k,), at a distribution p."""

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
class Support(Decoder):
    """The probabilities that a report supports each value x; all arrays have shape (k,).

    With m̂(x) the share of reports that support x, p̂(x) = (m̂(x) - other(x)) / gain(x), an affine
    image of a binomial number. The complements and the difference are fields of their own, computed
    without cancellation, so that they are right to the last digits where ε is tiny or large.

    Attributes
    ----------
    own, not_own : ndarray
        Probability that the report of a user who holds x supports x, and that it does not.
    other, not_other : ndarray
        The same for a user who holds another value.
    gain : ndarray
        own - other.
    """

    own: NDArray[np.float64]
    not_own: NDArray[np.float64]
    other: NDArray[np.float64]
    not_other: NDArray[np.float64]
    gain: NDArray[np.float64]

    def estimate(self, counts: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Return (m̂ - other) / gain."""
        return (counts / n - self.other) / self.gain

    def variances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return m(1 - m) / gain²."""
        supported, not_supported = self._probabilities(p)
        return supported * not_supported / self.gain**2

    @property
    def null_variances(self) -> NDArray[np.float64]:
        """The variance at p(x) = 0, whatever p is elsewhere."""
        return self.other * self.not_other / self.gain**2

    def absolute_deviations(self, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return the mean absolute deviations of the binomial counts over n gain."""
        supported, not_supported = self._probabilities(p)
        rarer, complement = (
            np.minimum(supported, not_supported),
            np.maximum(supported, not_supported),
        )
        return mean_absolute_deviation(n, rarer, complement) / (n * self.gain)

    def as_bernoulli(self, x: int) -> Bernoulli:
        """Return the probabilities of support by users who do not hold x, and the gain."""
        return Bernoulli(float(self.other[x]), float(self.not_other[x]), float(self.gain[x]))

    def _probabilities(
        self, p: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probabilities m and 1 - m that a report supports each value."""
        return self.own * p + self.other * (1 - p), self.not_own * p + self.not_other * (1 - p)
