"""Reports that are a set of sensitive values, a revealed non-sensitive value, or both."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics.packed import PackedSets, integer_dtype
from uldp.likelihood import Evidence
from uldp.mechanisms.base import Mechanism
from uldp.tallies import Tally

__all__ = ["SetReports"]


class SetReports(Mechanism):
    """A mechanism whose report is a set of sensitive values and at most one revealed value.

    The layout in bytes is described under `UtilityOptimizedRappor`.
    """

    @cached_property
    def report_dtype(self) -> np.dtype[Any]:
        """The type of one report: a row of bytes."""
        return np.dtype((np.uint8, (self._sets.width + self._revealed_dtype.itemsize,)))

    @property
    def output_count(self) -> int:
        """The number |Y| of the outputs."""
        return len(self.outputs)

    @property
    def protected(self) -> NDArray[np.bool_]:
        """The outputs without a revealed value."""
        mask: NDArray[np.bool_] = self._revealed(self.outputs) == 0
        return mask

    def evidence(self, reports: ArrayLike | Tally) -> Evidence:
        """Return the sets of the protected reports (see `Mechanism.evidence`).

        Sets of up to 16 values are counted rather than listed. A tally is not enough: it does
        not record which bits came together.
        """
        if isinstance(reports, Tally):
            raise ValueError(
                "reports must be the reports themselves or their evidence, got a tally, which does "
                "not know which bits came together"
            )
        checked = self.check(reports)
        revealed = self._count_revealed(checked)
        sets = self._sets_of(checked[self._revealed(checked) == 0])
        times = np.ones(len(sets), dtype=np.int64)
        width = self._sets.width
        if width <= 2:
            # A set of at most two bytes is the number with these digits.
            digits = 256 ** np.arange(width)
            codes, times = np.unique(sets @ digits, return_counts=True)
            sets = (codes[:, None] // digits % 256).astype(np.uint8)
        return Evidence(self, np.ascontiguousarray(sets.T), times, revealed)

    @cached_property
    def _sets(self) -> PackedSets:
        """Subsets of X_S, whose values count from 0."""
        return PackedSets(self.sensitive.size)

    def _sets_of(self, reports: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return reports[:, : self._sets.width]

    @cached_property
    def _revealed_dtype(self) -> np.dtype[Any]:
        # Where nothing can be revealed, a report has no bytes for it.
        values = self.nonsensitive.size
        return integer_dtype(values) if values else np.dtype("V0")

    def _reports(self, sets: NDArray[np.uint8], revealed: NDArray[Any]) -> NDArray[np.uint8]:
        if not self.nonsensitive.size:
            return sets
        reports = np.empty(len(sets), dtype=self.report_dtype)
        reports[:, : self._sets.width] = sets
        # The bytes behind the set are one integer.
        reports[:, self._sets.width :].view(self._revealed_dtype)[:, 0] = revealed
        return reports

    def _report(self, held: NDArray[np.bool_], revealed: int) -> NDArray[np.uint8]:
        """Return the one report of a set that reveals a value by its number, or 0."""
        sets = self._sets.pack(held[np.newaxis])
        return self._reports(sets, np.array([revealed])).reshape(-1)

    def _revealed(self, reports: NDArray[np.uint8]) -> NDArray[Any]:
        if not self.nonsensitive.size:
            return np.zeros(len(reports), dtype=np.uint8)
        return reports[:, self._sets.width :].view(self._revealed_dtype)[:, 0]

    def _conditions(self, reports: NDArray[Any]) -> Iterator[tuple[NDArray[np.bool_], str]]:
        s = self.sensitive.size
        values = self.nonsensitive.size
        if s:
            last = self._sets_of(reports)[:, -1]
            yield last <= self._sets.last_byte, f"have no bit set beyond the {s} sensitive values"
        if values:
            revealed = self._revealed(reports)
            yield revealed <= values, f"reveal at most one of the {values} non-sensitive values"

    def _count_conditions(self, counts: NDArray[np.int64], n: int) -> Iterator[tuple[bool, str]]:
        """Yield that a report reveals one value at most."""
        revealed = int(counts.reshape(-1, self.domain.size)[0, self.nonsensitive].sum())
        yield revealed <= n, f"reveal at most n values, got {revealed}"

    def _count_revealed(self, reports: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Count the revealed values; shape (|X_N|,)."""
        return np.bincount(self._revealed(reports), minlength=self.nonsensitive.size + 1)[1:]
