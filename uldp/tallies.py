"""What the collector keeps of the reports, and the estimates from it (Section 2.5 of the paper)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from uldp._numerics import checks
from uldp._numerics.ascent import nearest
from uldp._numerics.fields import Frozen, set_fields
from uldp.domain import PER_VALUE, per_value
from uldp.law import Law

__all__ = [
    "FROM_TALLIES",
    "METHODS",
    "Summary",
    "Tally",
    "adjusted",
    "empirical",
    "norm_sub",
    "threshold",
]

ALPHA = 0.05
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

    def estimate(self, method: str = "empirical") -> NDArray[np.float64]:
        """Estimate the distribution of the true values.

        Parameters
        ----------
        method : {"empirical", "adjusted", "threshold", "norm_sub"}, optional
            The function of this module.

        Returns
        -------
        (k,) ndarray
        """
        checks.choice(method, "method", tuple(FROM_TALLIES))
        return FROM_TALLIES[method](self)

    def _plus(self, other: Tally) -> Tally:
        return Tally(self.law, self.n + other.n, self.counts + other.counts)

    def _content(self) -> tuple[ArrayLike, ...]:
        return self.n, self.counts

    def __repr__(self) -> str:
        counts = np.array2string(self.counts, separator=", ", threshold=12)
        return f"Tally({self.law!r}, n={self.n}, counts={counts})"


def empirical(tally: Tally) -> NDArray[np.float64]:
    """Return the empirical estimate: linear in the counts, and unbiased.

    Its entries may be negative and, for RAPPOR, uRAP and uHR, need not sum to 1. It is the estimate
    of the law's `decoder` (see `uldp.decoders`).

    Parameters
    ----------
    tally : Tally
        Of at least one report.

    Returns
    -------
    (k,) ndarray
    """
    return linear(tally, "empirical")


def adjusted(tally: Tally) -> NDArray[np.float64]:
    """Return the empirical estimate, adjusted to sum to 1: linear in the counts, and unbiased, too.

    What the empirical estimate lacks of 1 is added to the sensitive values in equal parts: to all
    values under RAPPOR, and to none where estimates sum to 1 anyway. So the share of any sensitive
    answer is what is left by the others (see `uldp.adjusted`). Without a sensitive value, uRAP's
    estimate stays as it is. Entries may be negative.

    Adding up can cost. For a group, and for any weights of one sign, it never does under RAPPOR and
    uRAP with the paper's θ, nor for a single value under uHR with ε up to ln 3. Elsewhere it can:
    where nearly all people have one sensitive value, much under uHR at a large ε. The book's
    chapter *Shares add up to one* has the factors.

    Parameters
    ----------
    tally : Tally
        Of at least one report.

    Returns
    -------
    (k,) ndarray
    """
    return linear(tally, "adjusted")


def linear(tally: Tally, method: str) -> NDArray[np.float64]:
    """Return the estimate by a method in `uldp.law.LINEAR`."""
    checks.instance(tally, "tally", Tally)
    if tally.n == 0:
        raise ValueError("reports must not be empty: there is nothing to estimate from")
    return tally.law.decoder_of(method).estimate(tally.counts, tally.n)


def threshold(tally: Tally) -> NDArray[np.float64]:
    """Return the empirical estimate with significance threshold (Erlingsson et al. 2014).

    Entries above T = Φ⁻¹(1 - α/k) σ are kept, where σ is the largest standard deviation that the
    entry's estimate can have if the value does not occur; what they leave of the probability is
    spread uniformly over the others. α = 0.05, the chance that any value that does not occur is
    kept (Bonferroni), is the paper's. The paper leaves two cases open. A non-sensitive value
    that does not occur is never revealed, so its σ is 0 (except for block designs of several sizes)
    and any positive estimate of it is kept. If the kept entries sum to more than 1, or if all are
    kept, they are scaled to sum to 1 and the others are set to 0.

    Parameters
    ----------
    tally : Tally
        Of at least one report.

    Returns
    -------
    (k,) ndarray
        A probability vector.
    """
    raw = empirical(tally)
    deviation = np.sqrt(tally.law.decoder.null_variances / tally.n)
    kept = raw > -ndtri(ALPHA / raw.size) * deviation
    mass = float(raw[kept].sum())
    if mass >= 1 or kept.all():
        return np.where(kept, raw, 0) / mass
    return np.where(kept, raw, (1 - mass) / (~kept).sum())


def norm_sub(tally: Tally) -> NDArray[np.float64]:
    """Return the empirical estimate projected to the simplex ("Norm-Sub", Wang et al. 2020).

    The same amount is subtracted from each entry, and entries that would become negative are set
    to 0. The result is the nearest distribution in the Euclidean norm.

    Parameters
    ----------
    tally : Tally
        Of at least one report.

    Returns
    -------
    (k,) ndarray
        A probability vector.
    """
    return projected(empirical(tally))


def projected(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distribution that is nearest to an estimate, each of shape (k,)."""
    return nearest(raw, np.ones(raw.size))


FROM_TALLIES: dict[str, Callable[[Tally], NDArray[np.float64]]] = {
    "empirical": empirical,
    "adjusted": adjusted,
    "threshold": threshold,
    "norm_sub": norm_sub,
}
"""The estimators that need a tally alone, by their names."""

METHODS = (*FROM_TALLIES, "em", "mle")
"""The names of all estimators; the last two are those of `uldp.likelihood`, from evidence."""
