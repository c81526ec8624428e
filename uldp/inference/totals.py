"""Sums over groups of values, and what changed between two surveys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from uldp import _checks
from uldp.estimators import empirical
from uldp.inference.covariances import standard_errors, total_variance
from uldp.inference.entries import intervals
from uldp.personalized.collector import Background, PersonalizedEstimate
from uldp.personalized.tagged import TaggedDomain
from uldp.tallies import Tally

__all__ = ["Change", "PersonalizedTotal", "Total", "difference", "personalized", "total"]


@dataclass(frozen=True)
class Total:
    """An estimate of one number and how sure it is.

    Attributes
    ----------
    value : float
        The estimate.
    standard_error : float
        The root of its estimated variance.
    low, high : float
        The ends of its interval.
    """

    value: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class PersonalizedTotal(Total):
    """An estimate from what users hide in secret, and what the collector's guess can add.

    Attributes
    ----------
    value, standard_error, low, high : float
        As of a `Total`, for the given background knowledge.
    background_error : float
        The most by which the background knowledge, if it is wrong, can move the value. The interval
        does not count it.
    """

    background_error: float


@dataclass(frozen=True, eq=False)
class Change:
    """The change of every entry of p between two surveys.

    Attributes
    ----------
    value, standard_error : (k,) ndarray
        The difference of the estimates, the later less the earlier, and its standard error.
    low, high : (k,) ndarray
        The ends of the intervals.
    """

    value: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def total(tally: Tally, weights: ArrayLike, level: float = 0.95) -> Total:
    """Estimate a linear combination Σ w(x) p(x): a group, a marginal, a mean score.

    The value is Σ w(x) p̂(x) of the empirical estimate, and the variance wᵀ Ĉ w with its unbiased
    `covariance`, in O(k) time and memory. Where that is negative, which happens at small n for
    RAPPOR, uRAP and block designs, the variance at the projection of p̂ to the simplex takes its
    place. The interval is that of the normal law, value ± z · standard error: its coverage comes
    near `level` as n grows.

    Parameters
    ----------
    tally : Tally
        Of at least two reports.
    weights : (k,) array_like
        For a group 1 for its values and 0 for the others.
    level : float, optional
        The probability, in (0, 1), that the interval holds the total.

    Returns
    -------
    Total

    Raises
    ------
    ValueError
        If the tally has fewer than two reports, the weights are not k finite numbers, or the level
        lies outside (0, 1).
    TypeError
        If an argument is of the wrong type.
    """
    _checks.instance(tally, "tally", Tally)
    weights = _checks.numbers(weights, "weights", (tally.law.domain.size,)).astype(float)
    variance = total_variance(tally, weights)
    return _normal(float(weights @ empirical(tally)), variance, level)


def difference(
    before: Tally,
    after: Tally,
    weights: ArrayLike | None = None,
    level: float = 0.95,
    simultaneous: bool = False,
) -> Total | Change:
    """Estimate what changed between two surveys of different people.

    The mechanisms may differ, and what they protect, too, if the values are the same. The surveys
    must be independent: the same people asked twice change less than this says.

    With weights, the two variances of `total` add up. Without, each entry gets the interval that
    Zou and Donner (2008) make of two others ("square and add"): with [l, u] and [l', u'] the
    `intervals` of the earlier and the later p(x), and d = p̂'(x) - p̂(x), it reaches from
    d - √((p̂' - l')² + (u - p̂)²) to d + √((u' - p̂')² + (p̂ - l)²). So it stays honest where a count
    is 0.

    Parameters
    ----------
    before, after : Tally
        Each of at least two reports, over the same values.
    weights : (k,) array_like, optional
        For a linear combination; by default every entry by itself.
    level : float, optional
        The probability, in (0, 1), that an interval holds the change.
    simultaneous : bool, optional
        If true, and without weights, all intervals together hold the changes with this probability
        (Bonferroni). A value whose interval then leaves out 0 has changed.

    Returns
    -------
    Total or Change
        The later less the earlier; a `Total` if weights are given.

    Raises
    ------
    ValueError
        If a tally has fewer than two reports, the values differ, the weights are not k finite
        numbers, or the level lies outside (0, 1).
    TypeError
        If an argument is of the wrong type.
    """
    _checks.instance(before, "before", Tally)
    _checks.instance(after, "after", Tally)
    for tally, name in ((before, "before"), (after, "after")):
        if tally.n < 2:
            raise ValueError(f"{name} must be of at least two reports, got {tally.n}")
    if before.law.domain.labels != after.law.domain.labels:
        raise ValueError(
            f"after must be over the values of before, {before.law.domain!r}, "
            f"got {after.law.domain!r}"
        )
    simultaneous = _checks.flag(simultaneous, "simultaneous")
    if weights is not None:
        first, second = total(before, weights, level), total(after, weights, level)
        variance = first.standard_error**2 + second.standard_error**2
        return _normal(second.value - first.value, variance, level)
    first_value, second_value = empirical(before), empirical(after)
    change = second_value - first_value
    (low, high), (later_low, later_high) = (
        intervals(tally, level, simultaneous).T for tally in (before, after)
    )
    return Change(
        change,
        np.hypot(standard_errors(before), standard_errors(after)),
        change - np.hypot(second_value - later_low, high - first_value),
        change + np.hypot(later_high - second_value, first_value - low),
    )


def personalized(
    tally: Tally, background: Background, weights: ArrayLike, level: float = 0.95
) -> PersonalizedTotal:
    """Estimate a total of the values behind a personalized mechanism (eq. 21 of the paper).

    With known π̂_k, p̂(x) = r̂(x) + Σ_k r̂(⊥_k) π̂_k(x) is linear in r̂, so that Σ w(x) p̂(x) is a total
    of r̂, with the weight Σ w(x) π̂_k(x) for the bot ⊥_k. If π̂_k is not π_k, the value is off by
    Σ_k r(⊥_k) Σ_x w(x) (π̂_k(x) - π_k(x)) on average, however many users there are; the largest that
    this can be for any π_k, at r̂, is the `background_error`. It is what the second term of Theorem
    1 is for the l1 loss (`personalized.PersonalizedEstimate.second_term_bound`).

    Parameters
    ----------
    tally : Tally
        Of at least two reports of the common mechanism, over a `TaggedDomain`.
    background : mapping of str to (k,) array_like
        For each tag the distribution π̂_k of the values with that tag. None is left out: an estimate
        that takes π̂_k from the reports is not linear.
    weights : (k,) array_like
        A weight for each value of X.
    level : float, optional
        The probability, in (0, 1), that the interval holds the total if the background is right.

    Returns
    -------
    PersonalizedTotal

    Raises
    ------
    ValueError
        If the tally has fewer than two reports, the weights are not k finite numbers, a tag is
        unknown or has no distribution, or the level lies outside (0, 1).
    TypeError
        If an argument is of the wrong type, or the tally's mechanism is not over a `TaggedDomain`.
    """
    _checks.instance(tally, "tally", Tally)
    domain = tally.law.domain
    if not isinstance(domain, TaggedDomain):
        raise TypeError(f"tally must be of a mechanism over a TaggedDomain, got {tally!r}")
    weights = _checks.numbers(weights, "weights", (domain.base.size,)).astype(float)
    estimate = PersonalizedEstimate.of(domain, empirical(tally), background)
    unknown = [tag for tag in domain.tags if (background or {}).get(tag) is None]
    if unknown:
        raise ValueError(f"background must hold a distribution for {unknown[0]!r}, got none")
    behind = estimate.pi @ weights
    sure = total(tally, np.concatenate([weights, behind]), level)
    farthest = np.maximum(weights.max() - behind, behind - weights.min())
    off = float(np.abs(estimate.bots) @ farthest)
    return PersonalizedTotal(**vars(sure), background_error=off)


def _normal(value: float, variance: float, level: float) -> Total:
    error = float(np.sqrt(variance))
    reach = -float(ndtri((1 - _checks.open_unit(level, "level")) / 2)) * error
    return Total(value, error, value - reach, value + reach)
