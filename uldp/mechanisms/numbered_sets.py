"""Reports that are the number of a set of sensitive values, or a revealed non-sensitive value."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._bits import bernoulli
from uldp._chunks import chunks
from uldp._packed import PackedSets
from uldp.likelihood import Evidence
from uldp.mechanisms.index_reports import IndexReports
from uldp.tallies import Tally

__all__ = ["NumberedSets"]

MEMBERS_AT_ONCE = 1 << 22


class NumberedSets(IndexReports):
    """A mechanism that sends one of m listed sets of sensitive values, or a non-sensitive value.

    Each sensitive value lies in the same share r of the sets. A user with one sends each set that
    holds it with a probability of e^ε h/m, and each other with h/m; a user with a non-sensitive
    value sends each set with h/m, and the value otherwise. All of this sums to 1 if h = 1/(1 +
    r (e^ε - 1)). In other words: with probability h she sends any set, and otherwise any that holds
    her value, or her value itself. With no sensitive values every report is true.

    A report is an integer: the number of a set, 0 to m - 1, or m plus the place of a value in X_N.
    """

    @property
    @abstractmethod
    def set_count(self) -> int:
        """The number m of sets, 0 if no value is sensitive."""

    @property
    @abstractmethod
    def set_share(self) -> float:
        """The share r of the sets that hold a given sensitive value."""

    @abstractmethod
    def _members(self, sets: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell which sensitive values these sets hold, shape (sets, s)."""

    @abstractmethod
    def _sets_around(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[Any]:
        """Draw for each sensitive value, known by its place 1..s, a set that holds it."""

    @property
    def _choices(self) -> tuple[float, float]:
        """1 - h, the probability that the report tells of the value, and h."""
        if not self.set_count:
            return 1.0, 0.0
        shrink, growth = np.exp(-self.epsilon), -np.expm1(-self.epsilon) * self.set_share
        return growth / (shrink + growth), shrink / (shrink + growth)

    @property
    def output_count(self) -> int:
        """The number m + |X_N| of the sets and the non-sensitive values."""
        return self.set_count + self.nonsensitive.size

    @property
    def revealed_share(self) -> float:
        """1 - h, the probability to send no set."""
        return float(self._choices[0]) if self.nonsensitive.size else 0.0

    @property
    def protected(self) -> NDArray[np.bool_]:
        """The sets."""
        return self.outputs < self.set_count

    def evidence(self, reports: ArrayLike | Tally) -> Evidence:
        """Return the sets that were sent (see `Mechanism.evidence`); a tally keeps all of it."""
        counts, elements = self._as_tally(reports).counts, PackedSets(self.sensitive.size)
        numbers = np.flatnonzero(counts[: self.set_count])
        sets = np.empty((elements.width, numbers.size), dtype=np.uint8)
        for chunk in chunks(numbers.size, max(1, MEMBERS_AT_ONCE // max(elements.size, 1))):
            sets[:, chunk] = elements.pack(self._members(numbers[chunk])).T
        return Evidence(self, sets, counts[numbers], counts[self.set_count :])

    def _matrix(self) -> NDArray[np.float64]:
        m, (told, hidden) = self.set_count, self._choices
        matrix = np.zeros((self.domain.size, self.output_count))
        matrix[:, :m] = hidden / max(m, 1)
        matrix[self.sensitive, :m] *= np.exp(self.epsilon * self._members(np.arange(m)).T)
        matrix[self.nonsensitive, m:] = told * np.eye(self.nonsensitive.size)
        return matrix

    def _perturb(self, users: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        places, m = self._place[users], self.set_count
        reports = m - 1 - places.astype(self.report_dtype)
        if m:
            told = bernoulli(rng, *self._choices, users.size)
            reports[~told] = rng.integers(m, size=np.count_nonzero(~told))
            own = told & (places > 0)
            reports[own] = self._sets_around(places[own], rng)
        return reports
