"""Totals and shares of answers behind a personalized mechanism, with their errors."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.intervals import NUISANCE
from uldp.adjusted import AdjustedDecoder
from uldp.domain import Weights, weights_of
from uldp.inference import totals
from uldp.inference.groups import interval_of_ratio
from uldp.inference.tables import EstimateTable, remarks_on
from uldp.law import Law
from uldp.personalized.collector import Background, PersonalizedEstimate
from uldp.personalized.tagged import TaggedDomain, tagged_domain
from uldp.tallies import Tally, linear

__all__ = ["PersonalizedTotal", "summary", "total"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

OF_ANSWERS = (
    "shares of answers, if the guess of the values behind the tags is right; the last column, not "
    "in the intervals, is the most that a wrong guess can add"
)


@dataclass(frozen=True)
class PersonalizedTotal(totals.Total):
    """A `uldp.inference.Total` of what users hide in secret, for the guess that the collector has.

    Attributes
    ----------
    background_error : float
        The most by which a wrong guess of the values behind the tags can move the value. The
        interval does not count it.
    """

    background_error: float


def total(
    tally: Tally,
    background: Background | None,
    weights: Weights,
    confidence: float = 0.95,
    method: str = "adjusted",
) -> PersonalizedTotal:
    """Estimate a total of the values behind a personalized mechanism (eq. 21 of the paper).

    Where π̂_t is known, p̂(x) = r̂(x) + Σ_t r̂(⊥_t) π̂_t(x) is linear in r̂, so that Σ w(x) p̂(x) is a
    total of r̂, with the weight Σ w(x) π̂_t(x) for the bot ⊥_t. Where it is not, π̂ is r̂ on X_N over
    its sum there (see `estimate`). Then p̂ changes by the factor c if r̂ does. So it is its own
    linear expansion at r̂, a total with the derivatives as weights, whose error is that of the delta
    method. And Σ w(x) p(x) is a total of r once the mean score R of the open values is known, which
    also stands for the answers behind the unknown tags. R has the interval of `ratio` of
    `uldp.inference` or, where that refuses, the interval of all scores. The interval of the total
    reaches from the lower end at the least R to the upper end at the largest; nine tenths of the
    chance 1 - `confidence` go to R, unless it is sure.

    If π̂_t is not π_t, the value is off by Σ_t r(⊥_t) Σ_x w(x) (π̂_t(x) - π_t(x)) on average, however
    many users there are; the largest that this can be for any π_t, at r̂, is the `background_error`.
    It is what the second term of Theorem 1 is for the l1 loss
    (`PersonalizedEstimate.second_term_bound`).

    Parameters
    ----------
    tally : Tally
        Of at least two reports of the common mechanism, over a `TaggedDomain`.
    background : mapping of str to (k,) array_like, mapping of label to float, or None
        For tags of the domain the distribution π̂_t of the values with that tag; None, or no entry,
        where nothing is known.
    weights : (k,) array_like, collection of labels, or mapping of label to float
        A weight for each value of X (see `uldp.inference.total`).
    confidence : float, optional
        The probability, in (0, 1), that the interval holds the total if the background is right.
        For known tags it holds it as often as `uldp.inference.total` says. Without knowledge at
        least 96% of 95% intervals held their shares in an enumeration of small surveys, shared as
        assumed.
    method : {"adjusted", "empirical"}, optional
        The estimate of what devices processed: the one that sums to 1, or the paper's.

    Returns
    -------
    PersonalizedTotal
    """
    checks.instance(tally, "tally", Tally)
    domain = tally.law.domain
    if not isinstance(domain, TaggedDomain):
        raise TypeError(f"tally must be of a mechanism over a TaggedDomain, got {tally!r}")
    weights = weights_of(domain.base, weights)
    sample = totals.Sample.of(tally, method)
    r = sample.estimate
    estimate = PersonalizedEstimate.of(domain, r, background)
    behind = estimate.pi @ weights
    scores = np.concatenate([weights, behind])
    unknown = domain.bots[[(background or {}).get(tag) is None for tag in domain.tags]]
    missed = 1 - checks.open_unit(confidence, "confidence")
    open_values = domain.base.nonsensitive
    sure = totals.total_of(sample, _delta_weights(r, scores, open_values, unknown), missed)
    low, high = sure.low, sure.high
    if unknown.size:
        least, most = _ends_without_knowledge(sample, scores, open_values, unknown, missed)
        low, high = min(least, sure.value), max(most, sure.value)
    farthest = np.maximum(weights.max() - behind, behind - weights.min())
    off = float(np.abs(estimate.bots) @ farthest)
    return PersonalizedTotal(
        sure.value, sure.standard_error, low, high, background_error=off, method=method
    )


def _delta_weights(r: Array, scores: Array, open_values: Indices, unknown: Indices) -> Array:
    """Return the derivatives of Σ w(x) p̂(x) in r̂, from the scores of values and behind bots.

    The score of an unknown bot is the mean R = Σ w(x) r̂(x)/O of the open values with r̂(x) > 0,
    where O is the sum of their r̂(x). Let U be the sum of r̂ over the unknown bots. They add U R, of
    which the derivative in r̂(x) is (w(x) - R) U/O.
    """
    weights = scores.copy()
    taken = open_values[r[open_values] > 0]
    if unknown.size and taken.size:
        weights[taken] += r[unknown].sum() / r[taken].sum() * (scores[taken] - scores[unknown[0]])
    return weights


def _ends_without_knowledge(
    sample: totals.Sample, scores: Array, open_values: Indices, unknown: Indices, missed: float
) -> tuple[float, float]:
    """Return the least and the largest total, over the mean scores R of the open values.

    Given R the total is linear in r: R is the weight of every open value and unknown bot.
    """
    weighs_R = np.zeros(scores.size)
    weighs_R[open_values] = 1
    means = interval_of_ratio(sample, scores * weighs_R, weighs_R, (1 - NUISANCE) * missed)
    weighs_R[unknown] = 1
    rest = missed if means[0] == means[1] else NUISANCE * missed
    least, most = (
        totals.total_of(sample, np.where(weighs_R > 0, mean, scores), rest) for mean in means
    )
    return least.low, most.high


def summary(
    law: Law | Tally,
    tally: Tally | None = None,
    background: Background | None = None,
    confidence: float = 0.95,
    method: str = "adjusted",
) -> EstimateTable:
    """Return a labelled table of the shares of answers, a `total` for each.

    `uldp.inference.summary` has those of what devices processed, in which hidden answers are bots.
    Values of a class with the same estimate and the same guess have the same row, which is computed
    once. Where a tag is unknown and the guess differs from value to value, a row takes some ten
    totals: seconds for 1,000 values, and more than in proportion for more.

    Parameters
    ----------
    law : Mechanism
        The common mechanism, over a `TaggedDomain`; or the tally alone, which knows it.
    tally : Tally
        Of at least two of its reports.
    background : mapping of str to (k,) array_like, mapping of label to float, or None, optional
        For tags of the domain the distribution of the values with that tag; None, or no entry,
        where nothing is known. Then they are taken to be shared as the open values that were not
        hidden, and none to be a sensitive one.
    confidence : float, optional
        The confidence of each interval, in (0, 1), if the background is right (see `total`).
    method : {"adjusted", "empirical"}, optional
        The estimate of what devices processed: the one that sums to 1, or the paper's.

    Returns
    -------
    EstimateTable
        With a further column, "background_error", the most by which a share is off if the guess
        of the values behind the tags is wrong.
    """
    if isinstance(law, Tally) and tally is None:
        tally = law
        law = tally.law
    domain = tagged_domain(law)
    if not isinstance(tally, Tally):
        raise TypeError(f"tally must be a Tally, got {tally!r}")
    if tally.law != law:
        raise ValueError(f"tally must be of {law!r}, got {tally.law!r}")
    base = domain.base
    values = np.arange(base.size)
    sensitive = np.isin(values, base.sensitive)
    r = linear(tally, method)
    pi = PersonalizedEstimate.of(domain, r, background).pi
    # Under uHR it matters which sensitive value goes together with which bot, and if the estimate
    # is adjusted with which other values.
    decoder = tally.law.decoder_of(method)
    are_alike = not isinstance(decoder, AdjustedDecoder) or decoder.is_alike
    together = (pi > 0).any(axis=0) if are_alike else True
    apart = np.where(sensitive & together, values, -1)
    same = np.stack([sensitive, apart, r[: base.size], *pi])
    _, first, row_of = np.unique(same, axis=1, return_index=True, return_inverse=True)
    rows = [total(tally, background, 1.0 * (values == x), confidence, method) for x in first]
    found = np.array([[*astuple(row)[:4], row.background_error] for row in rows])
    value, error, low, high, off = found[row_of.reshape(-1)].T
    return EstimateTable(
        base,
        tally.n,
        float(confidence),
        value,
        error,
        low,
        high,
        (*remarks_on(tally.law, method=method), OF_ANSWERS),
        further={"background_error": off},
        method=method,
    )
