"""Sums over groups of values, and what changed between two surveys."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.intervals import NUISANCE, exact, score
from uldp._numerics.results import Result
from uldp.domain import Domain, Weights, weights_of
from uldp.inference.covariances import Part, errors_of, known, total_variance
from uldp.inference.entries import intervals, of_strata
from uldp.inference.tables import Change, Stratified, remarks_on
from uldp.tallies import Tally

__all__ = ["Total", "difference", "total"]

Array = NDArray[np.float64]

TOO_FEW_TO_SQUARE = 2


@dataclass(frozen=True)
class Total(Result):
    """An estimate of one number, with its standard error and an interval.

    It prints, and renders in a notebook; `to_pandas()` returns a data frame of one row.

    Attributes
    ----------
    value : float
        The estimate.
    standard_error : float
        The root of its estimated variance; nan where that is 0 though the total is not sure, since
        all reports say the same of it. Then the interval alone says how large it may be.
    low, high : float
        The ends of its interval.
    method : str
        The estimator, of value and interval.
    """

    value: float
    standard_error: float
    low: float
    high: float
    method: str = field(default="adjusted", kw_only=True)


def total(
    tally: Tally | Stratified,
    weights: Weights,
    confidence: float = 0.95,
    method: str = "adjusted",
) -> Total:
    """Estimate a linear combination Σ w(x) p(x): a group, a marginal, a mean score.

    The value is Σ w(x) p̂(x) of an estimate p̂, the mean of Z = D_y · w over the reports, and the
    variance wᵀ Ĉ w with its unbiased `covariance`. Both take O(k) memory. Where the
    variance is negative, which happens at small n, but never under RR, uRR and block designs of
    size 1, that at the projection of p̂ to the simplex takes its place.

    Where Z takes two values only, one of them comes a binomial number of times, and the interval is
    the image of that of Clopper and Pearson (1934): it holds the total with at least the
    probability `confidence`, for every n and every p. So it is for every group under RR and uRR,
    for one with all sensitive values or none under uRAP, uHR and a block design of one size, and
    for a single value by the empirical estimate under RAPPOR and uRAP. A total that is the same in
    all surveys, as that of everything, has an interval of length 0.

    Otherwise it holds, within the range of Z, all T with abs(value - T) ≤ z σ + c. Here σ² is the
    variance at T, with an upper limit for E Z²: Clopper and Pearson's, which may be too low with a
    tenth of the chance 1 - `confidence`, and z leaves the rest (Berger and Boos 1994). And c =
    max(1/2, (z² - 1)/6) h/n, where h is the length of the range of Z, or under RAPPOR and uRAP of
    that of one bit; it makes up for counts that are whole numbers and for rare ones, which are
    skewed.

    That is not proved, but enumerated for small surveys. Of 95% intervals at least 94.98% hold the
    total, fewest with two reports, one of three values sensitive, and equally spaced scores; from
    three reports on it is 95.0%.

    Of a result of `stratified` the total is the mean of those in the strata, weighted by their
    shares, and has a score interval with the mean square that `stratified` speaks of.

    Parameters
    ----------
    tally : Tally or Stratified
        Of at least two reports, or what `stratified` returned.
    weights : (k,) array_like, collection of labels, or mapping of label to float
        For a group a label that is text, a list of labels, or 1 for its values and 0 for the
        others; for any total a weight for each value, or a mapping or pandas Series of labels to
        weights (missing labels weigh 0). Where labels are integers, an array of k numbers holds
        weights, one of fewer or more integers holds labels, and a set always holds labels.
    confidence : float, optional
        The confidence of the interval, in (0, 1).
    method : {"adjusted", "empirical"}, optional
        The estimate: the one that sums to 1 (see `uldp.tallies.adjusted`), or the paper's.

    Returns
    -------
    Total
    """
    sample = Sample.of(tally, method)
    weights = weights_of(sample.domain, weights)
    missed = 1 - checks.open_unit(confidence, "confidence")
    return total_of(sample, weights, missed)


def difference(
    before: Tally | Stratified,
    after: Tally | Stratified,
    weights: Weights | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    method: str = "adjusted",
) -> Total | Change:
    """Estimate what changed between two surveys of different people.

    The mechanisms may differ, and what they protect, too, if the values are the same. The surveys
    must be independent: the same people asked twice change less than this says.

    The variances add up. The interval is the one that Zou and Donner (2008) make of two others
    ("square and add"): with [l, u] and [l', u'] those of the earlier and the later number, by
    `total` if there are weights and by `intervals` for each entry if there are none, and with
    d = p̂' - p̂, it reaches from d - √((p̂' - l')² + (u - p̂)²) to d + √((u' - p̂')² + (p̂ - l)²). So it
    stays open where a count is 0. Of two normal intervals it makes a normal one. If a survey has
    two reports only, the reaches are added instead of their squares.

    That has no guarantee. By enumeration of small surveys at least 92% of 95% intervals hold the
    change. Fewest, 92.02%, hold that of a single value from 91% to 10.5% under RR with ε = 5 and
    then ε = 7, of three values and from three reports each.

    Parameters
    ----------
    before, after : Tally or Stratified
        Each of at least two reports, over the same values.
    weights : (k,) array_like, collection of labels, or mapping of label to float, optional
        For a linear combination (see `total`); by default every entry by itself.
    confidence : float, optional
        The probability, in (0, 1), that an interval holds the change.
    simultaneous : bool, optional
        If true, and without weights, all intervals together hold the changes with this probability
        (Bonferroni). A value whose interval then leaves out 0 has changed.
    method : {"adjusted", "empirical"}, optional
        The estimate: the one that sums to 1 (see `uldp.tallies.adjusted`), or the paper's.

    Returns
    -------
    Total or Change
        The later less the earlier: a `Total` if weights are given, otherwise a labelled table.
    """
    if isinstance(weights, Tally):
        raise TypeError("weights must not be a third tally: compare two, or all by `homogeneity`")
    samples = Sample.of(before, method, "before"), Sample.of(after, method, "after")
    first, second = (sample.domain for sample in samples)
    if first.labels != second.labels:
        raise ValueError(f"after must be over the values of before, {first!r}, got {second!r}")
    missed = 1 - checks.open_unit(confidence, "confidence")
    fewest = min(sample.n for sample in samples)
    if weights is not None:
        totals = (
            total_of(sample, weights_of(sample.domain, weights), missed) for sample in samples
        )
        change = _change(fewest, *(astuple(one)[:4] for one in totals))
        return Total(*map(float, change), method=method)
    if checks.flag(simultaneous, "simultaneous"):
        missed /= second.size
    value, error, low, high = _change(fewest, *(sample.entries(missed) for sample in samples))
    laws = [part.tally.law for sample in samples for part in sample.parts]
    n = sum(sample.n for sample in samples)
    remarks = remarks_on(*laws, method=method)
    return Change(second, n, float(confidence), value, error, low, high, remarks, method=method)


@dataclass(frozen=True)
class Sample:
    """What totals are estimated from: one tally, or those of strata.

    Attributes
    ----------
    parts : tuple of Part
        Each decoded by the method.
    method : str
        The method.
    """

    parts: tuple[Part, ...]
    method: str

    @classmethod
    def of(cls, source: Tally | Stratified, method: str, name: str = "tally") -> Sample:
        """Return the sample of a tally, or of the strata of a result."""
        strata = source.strata if isinstance(source, Stratified) else ((source, 1.0),)
        return cls(tuple(Part.of(tally, method, w, name) for tally, w in strata), method)

    @property
    def domain(self) -> Domain:
        """The values."""
        return self.parts[0].tally.law.domain

    @property
    def n(self) -> int:
        """The number of reports."""
        return sum(part.tally.n for part in self.parts)

    @property
    def estimate(self) -> Array:
        """The mean of the estimates, weighted by the shares."""
        estimate: Array = np.sum([part.share * part.estimate for part in self.parts], axis=0)
        return estimate

    def entries(self, missed: float) -> tuple[Array, Array, Array, Array]:
        """Return estimates, standard errors, and the ends of intervals that miss so often."""
        if len(self.parts) > 1:
            return of_strata(self.parts, missed)
        part = self.parts[0]
        low, high = intervals(part.tally, 1 - missed, method=self.method).T
        return part.estimate, errors_of(part), low, high


def total_of(sample: Sample, weights: Array, missed: float) -> Total:
    """Return a total of a sample, with an interval that misses so often."""
    scale = float(np.abs(weights).max()) or 1.0
    weights = weights / scale
    sum_to_one = all(part.decoder.sums_to_one for part in sample.parts)
    base = float(weights.min()) if sum_to_one else 0.0
    weights -= base
    value = float(weights @ sample.estimate)
    variances = (part.share**2 * total_variance(part, weights) for part in sample.parts)
    error = math.sqrt(sum(variances))
    low, high = _ends(sample, weights, missed)
    error = float(known(error, low, high))
    # Rounding alone can put the value beyond an end.
    ends = base + np.array([value, min(low, value), max(high, value)])
    value, low, high = map(float, scale * ends)
    return Total(value, scale * error, low, high, method=sample.method)


def _ends(sample: Sample, weights: Array, missed: float) -> Array:
    """Return the ends of the interval of Σ w(x) p(x), for weights of about the size of 1.

    With N reports in all, the value is the mean of N numbers: Z times λ = share · N/n for a report
    of each stratum. Their mean square is Σ share λ E Z² at most Σ share (λ c + λ b T), where T is
    the total of the stratum and at least the least weight. So it is at most affine in their mean,
    with the largest λ b as its slope; and Σ share λ T² is at least the square of this mean.
    """
    n = sample.n
    value = float(weights @ sample.estimate)
    if len(sample.parts) == 1:
        between = sample.parts[0].decoder.two_values(weights)
        if between:
            return exact(between, value, n, missed)
    least = float(weights.min())
    nuisance = NUISANCE * missed / len(sample.parts)
    times = [part.share * n / part.tally.n for part in sample.parts]
    squares = [_largest_square(part, weights, nuisance) for part in sample.parts]
    slope = max(t * b for t, (_, b) in zip(times, squares, strict=True))
    constant = jump = 0.0
    possible = np.zeros(2)
    for part, t, (c, b) in zip(sample.parts, times, squares, strict=True):
        constant += part.share * (t * c - (slope - t * b) * least)
        jump = max(jump, t * part.decoder.jump_of_total(weights))
        possible += part.share * np.array(part.decoder.range_of_total(weights))
    found = score(value, (constant, slope), jump, n, (1 - NUISANCE) * missed)
    return np.clip(found, *possible)


def _largest_square(part: Part, weights: Array, missed: float) -> tuple[float, float]:
    """Return c and b such that E Z² is at most c + b T, where a report says Z of a total T.

    Let x be the value behind the report, b the slope of the line nearest to E[Z² | x] over w(x),
    and r(x) = E[Z² | x] - b w(x). Then E Z² - b T = Σ r(x) p(x), a total, too. Bound it in three
    ways, and take the least as c: (i) by the largest r; (ii) by Clopper and Pearson's upper limit
    of that total, as if a report said of it either the least or the largest that one can say; (iii)
    by the same with the largest r of X_S for all of X_S, so that only revealed values tell.
    """
    tally, decoder, estimate, _ = part
    moments = decoder.moments_of_total(weights)
    uneven = weights - weights.mean()
    slope = float(uneven @ moments) / (float(uneven @ uneven) or 1.0)
    rest = moments - slope * weights
    S = tally.law.sensitive
    # Less `start`, the remainder in (iii) is 0 on X_S.
    start = float(rest[S].max()) if S.size else 0.0
    rest -= start
    revealed = rest.copy()
    revealed[S] = 0
    limits = [start + float(rest.max())]
    # An upper end is too low with the chance `missed`/2, and so one of the two with `missed`.
    for told in (rest, revealed):
        said = decoder.range_of_total(told)
        limits.append(start + float(exact(said, told @ estimate, tally.n, missed)[1]))
    return min(limits), slope


def _change(fewest: int, before: Iterable[Any], after: Iterable[Any]) -> tuple[Any, ...]:
    """Return value, standard error, low and high of the change between two of these."""
    value, error, low, high = before
    later_value, later_error, later_low, later_high = after
    change = later_value - value
    together = np.hypot if fewest > TOO_FEW_TO_SQUARE else np.add
    least = change - together(later_value - later_low, high - value)
    most = change + together(later_high - later_value, value - low)
    of_both = np.hypot(np.nan_to_num(error), np.nan_to_num(later_error))
    return change, known(of_both, least, most), least, most
