"""The Hadamard response: a report is a column of a Hadamard matrix, or a true value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from uldp.decoders import Masses, OutcomeDecoder, Outcomes
from uldp.mechanisms.base import Names
from uldp.mechanisms.numbered_sets import NumberedSets

__all__ = ["UtilityOptimizedHadamard"]


@dataclass(frozen=True)
class UtilityOptimizedHadamard(NumberedSets):
    """Utility-optimized Hadamard response (uHR).

    Let H be Sylvester's Hadamard matrix of the least order V = 2^v above s = |X_S|: row r has -1 in
    column y if r and y have an odd number of binary digits 1 in common, and +1 otherwise. The
    sensitive values have rows 1 to s. A user draws any column with probability 2/(e^ε + 1), and
    otherwise one with +1 in the row of her value or, if that is not sensitive, she tells it. This
    is (X_S, Y_P, ε)-ULDP, where Y_P holds the columns. With no sensitive values all is told.

    A report is an integer: the number of a column, or V plus the place of a value in X_N.

    Parameters
    ----------
    domain : Domain
        The values, and which of them are sensitive.
    epsilon : float
        The privacy budget ε, in nats.

    Raises
    ------
    ValueError
        If ε does not lie in 1e-9..500.
    TypeError
        If an argument is of the wrong type.
    """

    names: ClassVar[Names] = {"uHR": {}}
    set_share = 0.5

    @property
    def set_count(self) -> int:
        """The order V, 0 if no value is sensitive."""
        return 1 << self.sensitive.size.bit_length() if self.sensitive.size else 0

    def _members(self, sets: NDArray[np.integer]) -> NDArray[np.bool_]:
        rows = np.arange(1, self.sensitive.size + 1)
        return np.asarray(np.bitwise_count(sets[:, None] & rows) % 2 == 0, dtype=np.bool_)

    def _sets_around(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[Any]:
        """Draw any column, and change a digit of it that matters if it has -1."""
        columns = rng.integers(self.set_count, size=places.size)
        columns ^= np.bitwise_count(places & columns) % 2 * (places & -places)
        return columns

    @cached_property
    def decoder(self) -> HadamardDecoder:
        """The published estimate."""
        return HadamardDecoder(self.sensitive, self.nonsensitive, self.set_count, *self._choices)


@dataclass(frozen=True, eq=False)
class HadamardDecoder(OutcomeDecoder):
    """c H counts/n on X_S and c counts/n on X_N, where c = 1/told = (e^ε + 1)/(e^ε - 1)."""

    order: int
    told: float
    hidden: float

    def estimate(self, counts: NDArray[Any], n: int) -> NDArray[np.float64]:
        """Return the estimate from counts, or from a matrix with counts in its columns."""
        total = np.empty((self.sensitive.size + self.nonsensitive.size, *counts.shape[1:]))
        total[self.sensitive] = transformed(counts[: self.order])[1 : self.sensitive.size + 1]
        total[self.nonsensitive] = counts[self.order :]
        return total / (n * self.told)

    def apply_second_moment(
        self, p: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return Dᵀ diag(q) D w with q, the law of the reports at p, and the rows D_y."""
        S, N = self.sensitive, self.nonsensitive
        mass = p[S].sum() + self.hidden * p[N].sum()
        each = (mass + self.told * self._by_column(p[S])) / self.order
        law = np.concatenate([each, self.told * p[N]])
        decoded = np.concatenate([self._by_column(weights[S]), weights[N]]) / self.told
        return self.estimate((decoded.T * law).T, 1)

    def _by_column(self, masses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each column the masses of the rows in which it has +1 less the others."""
        rows = np.zeros((self.order, *masses.shape[1:]))
        rows[1 : len(masses) + 1] = masses
        return transformed(rows)

    def sensitive_outcomes(self, own: Masses, fellow: Masses, foreign: float) -> Outcomes:
        """Yield c and -c, for a column with +1 or -1, and 0 for a value that is told."""
        minus = (self.hidden * (own + foreign) + fellow) / 2
        yield from ((1 / self.told, self.told * own + minus), (-1 / self.told, minus))
        yield 0.0, self.told * foreign

    def nonsensitive_outcomes(self, own: Masses, fellow: Masses, foreign: float) -> Outcomes:
        """Yield c and 0, for the value and for all else."""
        yield from ((1 / self.told, self.told * own), (0.0, self.hidden * own + fellow + foreign))


def transformed(values: NDArray[Any]) -> NDArray[Any]:
    """Return H times the values along the first axis, by the fast Walsh-Hadamard transform."""
    result = values
    for _ in range(len(values).bit_length() - 1):
        even, odd = result[::2], result[1::2]
        result = np.concatenate([even + odd, even - odd])
    return result
