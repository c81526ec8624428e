"""What the collector keeps of the reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, set_fields
from uldp.domain import PER_VALUE, per_value
from uldp.law import Law

__all__ = ["Summary", "Tally"]

MOST_REPORTS = 2**53
"""Up to here every whole number is a float, as in JavaScript."""


@dataclass(frozen=True, eq=False)
class Summary(Frozen, ABC):
    """What is kept of the reports of one law; parts can be added with ``+`` or `sum`.

    Parameters
    ----------
    law : Law
        The mechanism that made the reports.
    """

    law: Law

    def __post_init__(self) -> None:
        checks.instance(self.law, "law", Law)

    @abstractmethod
    def _plus(self, other: Self) -> Self:
        """Return the summary of both parts' reports."""

    @abstractmethod
    def _content(self) -> tuple[ArrayLike, ...]:
        """Return what is equal if and only if the summaries of one law are."""

    def __add__(self, other: Self | int) -> Self:
        if isinstance(other, int) and other == 0:
            return self
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.law != other.law:
            kind = type(self).__name__.lower()
            raise ValueError(
                f"each {kind} must be of one mechanism, got {self.law!r} and {other.law!r}"
            )
        return self._plus(other)

    __radd__ = __add__

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, type(self))
            and self.law == other.law
            and all(
                np.array_equal(a, b) for a, b in zip(self._content(), other._content(), strict=True)
            )
        )


@dataclass(frozen=True, eq=False)
class Tally(Summary):
    """How many reports came, and how many of them support each value.

    Tallies of one mechanism add up, so that batches and machines can count apart.

    Parameters
    ----------
    law : Law
        The mechanism that made the reports.
    n : int
        The number of reports, at most 2^53.
    counts : array_like of int, of shape `law.tally_shape`, or mapping of label to int
        For each value the number of reports that support it, shape (k,), unless the mechanism says
        otherwise.
    """

    n: int
    counts: Annotated[NDArray[np.int64], PER_VALUE]

    def __post_init__(self) -> None:
        super().__post_init__()
        n = checks.whole(self.n, "n", least=0, most=MOST_REPORTS)
        shape = self.law.tally_shape
        domain = self.law.domain
        given = per_value(domain, self.counts, "counts")
        if given is not self.counts and shape != (domain.size,):
            raise TypeError(f"counts must be an array of shape {shape} here, got {self.counts!r}")
        counts = checks.counts(given, "counts", *shape)
        if counts.max() > n:
            raise ValueError(f"counts must not exceed n = {n}, got {counts.max()}")
        for met, condition in self.law._count_conditions(counts, n):
            if not met:
                raise ValueError(f"counts of n = {n} reports must {condition}")
        set_fields(self, n=n, counts=counts)

    def _plus(self, other: Tally) -> Tally:
        return Tally(self.law, self.n + other.n, self.counts + other.counts)

    def _content(self) -> tuple[ArrayLike, ...]:
        return self.n, self.counts

    def __repr__(self) -> str:
        counts = np.array2string(self.counts, separator=", ", threshold=12)
        return f"Tally({self.law!r}, n={self.n}, counts={counts})"
