"""Reports that are the number of an output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uldp.mechanisms.base import Mechanism

__all__ = ["IndexReports"]


class IndexReports(Mechanism):
    """A mechanism whose report is an integer, 0 to |Y| - 1; its tally counts each of these.

    A kind states its names, its decoder, its matrix and how a report is drawn. Unless it says
    otherwise, a report is the index of a value.
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

    @property
    def output_count(self) -> int:
        """The number k of values."""
        return self.domain.size

    @property
    def protected(self) -> NDArray[np.bool_]:
        """Y_P = X_S: a report that names a sensitive value."""
        return np.isin(self.outputs, self.sensitive)

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
