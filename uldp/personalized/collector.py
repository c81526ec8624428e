"""The collector's side: from the common mechanism's reports to the distribution of the values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, set_fields
from uldp.domain import PerValue, numbers_over
from uldp.law import distribution_over
from uldp.likelihood import Evidence
from uldp.mechanisms.base import Mechanism
from uldp.personalized.tagged import TaggedDomain, tagged_domain
from uldp.tallies import Tally

__all__ = ["JointLaw", "LossTerms", "PersonalizedEstimate", "estimate"]

Background = Mapping[str, PerValue | None]


@dataclass(frozen=True, eq=False)
class JointLaw(Frozen):
    """The joint law of a user's value and of the tag under which it is sensitive to her, if any.

    p, r and the π_t follow from it, so that p = r + Σ_t r(⊥_t) π_t holds also where users who call
    a value sensitive hold it more often than others do, as with one's home.

    Parameters
    ----------
    domain : TaggedDomain
        X and the tags.
    probabilities : (k, 1 + κ) array_like
        Probability of each value x with, in column 0, x not sensitive to the user herself, and in
        column j, x sensitive to her under ``domain.tags[j - 1]``. They sum to 1.
    """

    domain: TaggedDomain
    probabilities: NDArray[np.float64] = field(repr=False)

    def __post_init__(self) -> None:
        checks.instance(self.domain, "domain", TaggedDomain)
        shape = self.domain.base.size, 1 + len(self.domain.tags)
        table = checks.numbers(self.probabilities, "probabilities", shape)
        table = checks.distribution(table.ravel(), "probabilities", table.size).reshape(shape)
        set_fields(self, probabilities=table)

    @classmethod
    def of_users(
        cls,
        domain: TaggedDomain,
        values: ArrayLike,
        intermediate: ArrayLike,
        *,
        indices: bool = False,
    ) -> JointLaw:
        """Return the frequencies among users.

        Parameters
        ----------
        domain : TaggedDomain
            X and the tags.
        values : (n,) array_like
            The users' values in X.
        intermediate : (n,) array_like
            What their pre-processors make of these, in Z, as labels or as the indices that
            `SecretMaps.intermediate` returns.
        indices : bool, optional
            Whether the values are indices (see `Domain.indices`).
        """
        checks.instance(domain, "domain", TaggedDomain)
        x = domain.base._indices(values, "values", indices, secret=True)
        by_index = checks.as_array(intermediate, "intermediate").dtype.kind in "iu"
        z = domain._indices(intermediate, "intermediate", by_index, secret=True)
        if x.shape != z.shape or x.ndim != 1 or not x.size:
            raise ValueError(
                "values and intermediate must hold one for each user, got shapes "
                f"{x.shape} and {z.shape}"
            )
        k = domain.base.size
        tag = np.maximum(z - k + 1, 0)
        if ((tag == 0) & (x != z)).any():
            raise ValueError("intermediate must be the user's own value or a bot")
        columns = 1 + len(domain.tags)
        counts = np.bincount(x * columns + tag, minlength=k * columns)
        return cls(domain, counts.reshape(k, columns) / x.size)

    @property
    def p(self) -> NDArray[np.float64]:
        """The distribution of the values, shape (k,)."""
        p: NDArray[np.float64] = self.probabilities.sum(axis=1)
        return p

    @property
    def r(self) -> NDArray[np.float64]:
        """The distribution of the intermediate data, shape (k + κ,)."""
        return np.concatenate([self.probabilities[:, 0], self.probabilities[:, 1:].sum(axis=0)])

    @property
    def pi(self) -> NDArray[np.float64]:
        """π_t, the distribution of the value given each bot, shape (κ, k).

        Uniform for a tag that does not occur, which then has no part in anything.
        """
        tagged = self.probabilities[:, 1:].T
        mass = tagged.sum(axis=1, keepdims=True)
        uniform = np.full(tagged.shape, 1 / tagged.shape[1])
        pi: NDArray[np.float64] = np.divide(tagged, mass, out=uniform, where=mass > 0)
        return pi


@dataclass(frozen=True)
class LossTerms:
    """Both sides of Theorem 1: loss ≤ first + second.

    Attributes
    ----------
    loss : float
        l1(p̂, p), over X.
    first : float
        l1(r̂, r), over Z.
    second : float
        Σ_t abs(r̂(⊥_t)) l1(π̂_t, π_t). The paper has r̂(⊥_t) itself here, with which the theorem
        holds only if no r̂(⊥_t) is negative.
    """

    loss: float
    first: float
    second: float


@dataclass(frozen=True, eq=False)
class PersonalizedEstimate:
    """What the collector estimates: r and the π_t, and p from both (eq. 21).

    Attributes
    ----------
    domain : TaggedDomain
        X and the tags.
    r : (k + κ,) ndarray
        The estimate r̂ over Z.
    pi : (κ, k) ndarray
        π̂_t: the background knowledge or, without, what stands in for it.
    """

    domain: TaggedDomain
    r: NDArray[np.float64]
    pi: NDArray[np.float64]

    @classmethod
    def of(
        cls, domain: TaggedDomain, r: PerValue, background: Background | None = None
    ) -> PersonalizedEstimate:
        """Return the estimate from r̂, however that was made (see `estimate`).

        Parameters
        ----------
        domain : TaggedDomain
            X and the tags.
        r : (k + κ,) array_like or mapping of label to float
            r̂ over Z; entries may be negative.
        background : mapping of str to (k,) array_like, mapping of label to float, or None, optional
            For tags of the domain what the collector takes for the distribution of the values with
            that tag; None, or no entry, where nothing is known.
        """
        checks.instance(domain, "domain", TaggedDomain)
        r = numbers_over(domain, r, "r")
        return cls(domain, r, _pi(domain, r, background))

    @property
    def p(self) -> NDArray[np.float64]:
        """The estimate p̂(x) = r̂(x) + Σ_t r̂(⊥_t) π̂_t(x) of eq. (21), shape (k,)."""
        return self.r[: self.domain.base.size] + self.bots @ self.pi

    @property
    def bots(self) -> NDArray[np.float64]:
        """r̂(⊥_t), the estimated share of users with each tag, shape (κ,)."""
        return self.r[self.domain.bots]

    @property
    def second_term_bound(self) -> float:
        """2 Σ_t abs(r̂(⊥_t)), the most that the second term of Theorem 1 can be.

        This is known without the truth: it says how much a wrong π̂ can cost.
        """
        return 2 * float(np.abs(self.bots).sum())

    def loss_terms(self, truth: JointLaw) -> LossTerms:
        """Return both sides of Theorem 1 where the truth is known."""
        checks.instance(truth, "truth", JointLaw)
        if truth.domain != self.domain:
            raise ValueError(f"truth must be over {self.domain!r}, got {truth.domain!r}")
        return LossTerms(
            loss=float(np.abs(self.p - truth.p).sum()),
            first=float(np.abs(self.r - truth.r).sum()),
            second=float(np.abs(self.bots) @ np.abs(self.pi - truth.pi).sum(axis=1)),
        )


def estimate(
    common: Mechanism,
    reports: ArrayLike | Tally | Evidence,
    background: Background | None = None,
    method: str = "empirical",
    **options: Any,
) -> PersonalizedEstimate:
    """Estimate the distribution of the values from reports of the common mechanism (Section 5.3).

    Parameters
    ----------
    common : Mechanism
        The common mechanism, over a `TaggedDomain`.
    reports : Tally, Evidence or array_like
        The collector's tally or evidence, or the reports themselves; "em" and "mle" need reports
        or evidence where a report is a set.
    background : mapping of str to (k,) array_like, mapping of label to float, or None, optional
        For tags of the domain what the collector takes for the distribution of the values with
        that tag, which may be a rough guess; None, or no entry, where nothing is known.
    method : {"empirical", "adjusted", "threshold", "norm_sub", "em", "mle"}
        The estimator of r.
    **options
        Passed on to the estimator.

    Returns
    -------
    PersonalizedEstimate

    Notes
    -----
    Where nothing is known, π̂_t ∝ r̂ over X_N. With B the estimated mass of all such bots, this
    multiplies r̂ on X_N by 1 + B/r̂(X_N) and leaves r̂ on X_S as it is. If no tag has knowledge and r̂
    sums to 1, the bots are dropped and r̂ on X_N is rescaled so that p̂ sums to 1; a tag with
    knowledge adds its own share to that, in which the other bots have no part.

    The paper leaves open what to do where r̂ is negative on X_N, which for uRR and uRAP cannot be:
    then π̂_t ∝ max(r̂, 0), and uniform on X_N if no entry is positive. A negative r̂(⊥_t) enters
    eq. (21) as it is: with the true π_t, p̂ is then unbiased if r̂ is.
    """
    domain = tagged_domain(common)
    return PersonalizedEstimate.of(domain, common.estimate(reports, method, **options), background)


def _pi(
    domain: TaggedDomain, r: NDArray[np.float64], background: Background | None
) -> NDArray[np.float64]:
    """Return π̂_t of each tag, shape (κ, k)."""
    known = {} if background is None else background
    if not isinstance(known, Mapping):
        raise TypeError(f"background must map tags to distributions, got {background!r}")
    for tag in known:
        if tag not in domain.tags:
            raise ValueError(f"background must be of {', '.join(domain.tags)}, got {tag!r}")
    rows = []
    for tag in domain.tags:
        given = known.get(tag)
        if given is None:
            rows.append(_without_knowledge(domain, r))
            continue
        rows.append(distribution_over(domain.base, given, f"background[{tag!r}]"))
    return np.array(rows)


def _without_knowledge(domain: TaggedDomain, r: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is proportional to r̂ on X_N, shape (k,)."""
    open_values = domain.base.nonsensitive
    if not open_values.size:
        raise ValueError("background must be given for each tag, for every value is sensitive")
    mass = np.maximum(r[open_values], 0)
    total = mass.sum()
    pi = np.zeros(domain.base.size)
    pi[open_values] = mass / total if total > 0 else 1 / open_values.size
    return pi
