"""Reports that are the number of an output."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics.packed import PackedSets
from uldp.likelihood import Evidence
from uldp.mechanisms.base import Mechanism
from uldp.tallies import Tally

__all__ = ["IndexReports"]

PRECISION = 1e-9


class IndexReports(Mechanism):
    """A mechanism whose report is an integer, 0 to |Y| - 1; its tally counts each of these.

    A kind states its names, its decoder, its matrix and how a report is drawn. All else follows
    from the matrix; a kind overrides what would need too large a one.
    """

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The type of one report: int64."""
        return np.dtype(np.int64)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        """The shape (|Y|,) of a tally's counts."""
        return (self.output_count,)

    @property
    def outputs(self) -> NDArray[Any]:
        """The reports 0, ..., |Y| - 1."""
        return np.arange(self.output_count)

    @cached_property
    def output_count(self) -> int:
        """The number |Y| of the matrix's columns."""
        return len(self._matrix()[0])

    @cached_property
    def protected(self) -> NDArray[np.bool_]:
        """All outputs except those that a single, non-sensitive value leads to."""
        sent = self._matrix() > 0
        alone = sent.sum(axis=0) == 1
        mask: NDArray[np.bool_] = ~(alone & sent[self.nonsensitive].any(axis=0))
        mask.setflags(write=False)
        return mask

    def evidence(self, reports: ArrayLike | Tally) -> Evidence:
        """Return the sets that the reports name, read off their columns of the matrix.

        A protected column must hold two numbers, the smaller one for all of X_N. If the larger one
        is e^ε times as large it names the values that have it; if not, it must name a single one.
        """
        counts = self._as_tally(reports).counts
        matrix = self.transition_matrix()
        # Only one value leads to a report that is not protected: the one with an entry above 0.
        revealed = np.zeros(self.domain.size, dtype=np.int64)
        np.add.at(revealed, matrix[:, ~self.protected].argmax(axis=0), counts[~self.protected])
        columns = matrix[:, self.protected]
        # The set of a column is where it is above its least entry, but for rounding; the logarithm
        # of largest by least is its level. With set and level alone the column must come back.
        least = columns.min(axis=0)
        held = columns > least * (1 + PRECISION)
        levels = np.log(columns.max(axis=0) / least)
        expected = np.where(held, np.exp(levels), 1) * least
        if held[self.nonsensitive].any() or not np.allclose(columns, expected, rtol=PRECISION):
            raise ValueError("reports must each have one of two probabilities, but these have more")
        times = counts[self.protected]
        sets = held[self.sensitive]
        if np.array_equal(sets, np.eye(self.sensitive.size, dtype=np.bool_)):
            return Evidence(self, None, times, revealed[self.nonsensitive], levels)
        if not np.allclose(levels[held.any(axis=0)], self.epsilon, rtol=PRECISION):
            raise ValueError("reports that name sets must do so with the factor e^ε")
        packed = np.ascontiguousarray(PackedSets(self.sensitive.size).pack(sets.T).T)
        return Evidence(self, packed, times, revealed[self.nonsensitive])

    def _count_conditions(self, counts: NDArray[np.int64], n: int) -> Iterator[tuple[bool, str]]:
        """Yield that each report is counted once."""
        total = int(counts.sum())
        yield total == n, f"sum to n, got {total}"

    def _conditions(self, reports: NDArray[Any]) -> Iterator[tuple[NDArray[np.bool_], str]]:
        negative_are_beyond_all = reports.view(np.uint64)
        last = self.output_count - 1
        yield negative_are_beyond_all <= last, f"lie in 0..{last}"

    def _count(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(reports, minlength=self.output_count)
