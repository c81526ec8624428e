"""What the collector keeps of the reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from uldp import _checks

if TYPE_CHECKING:
    from uldp.mechanisms import Mechanism

__all__ = ["Tally"]


@dataclass(frozen=True, eq=False)
class Tally:
    """What a collector keeps: how many reports came, and how many of them support each value.

    Tallies of one mechanism add up, so that batches and machines can count apart.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that made the reports.
    n : int
        The number of reports.
    counts : array_like of int, of shape `mechanism.tally_shape`
        For each value the number of reports that support it, shape (k,); for a block design of
        several sizes there is a row for each.

    Raises
    ------
    ValueError
        If n or a count is negative or not whole, or a count exceeds n.
    TypeError
        If an argument is of the wrong type.
    """

    mechanism: Mechanism
    n: int
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        _checks.mechanism(self.mechanism, "mechanism")
        n = _checks.whole(self.n, "n", least=0)
        counts = _checks.counts(self.counts, "counts", *self.mechanism.tally_shape)
        if counts.max() > n:
            raise ValueError(f"counts must not exceed n = {n}, got {counts.max()}")
        counts.setflags(write=False)
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "counts", counts)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.mechanism != other.mechanism:
            raise ValueError(
                f"tallies must be of one mechanism, got {self.mechanism!r} and {other.mechanism!r}"
            )
        return Tally(self.mechanism, self.n + other.n, self.counts + other.counts)

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and (self.mechanism, self.n) == (other.mechanism, other.n)
            and np.array_equal(self.counts, other.counts)
        )

    def __repr__(self) -> str:
        counts = np.array2string(self.counts, separator=", ", threshold=12)
        return f"Tally({self.mechanism!r}, n={self.n}, counts={counts})"
