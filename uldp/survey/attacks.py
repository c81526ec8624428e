"""What reports that somebody makes up can do to an estimate.

The empirical estimate p̂ is the mean of the rows D_y that the decoder makes of single reports y. A
forged report y that is added to n others moves p̂ by (D_y - p̂)/(n + 1), and one that replaces an
honest report z moves it by (D_y - D_z)/n. So all that forgers can do to Σ p̂ over some values, the
*targets*, follows from the least and the largest sum of D_y over these, and no reports need to be
listed to find them.

A function that takes a `PersonalizedMechanism` looks at its common mechanism. With what the
collector knows of each tag, `background`, p̂ is that of eq. (21) over X, which then is linear too;
without it, r̂ over the values and the bots takes the place of p̂.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uldp._numerics import checks
from uldp._numerics.packed import PackedSets
from uldp.decoders import SupportDecoder
from uldp.domain import Domain, PerValue, chosen_values, per_value
from uldp.mechanisms import Mechanism
from uldp.mechanisms.block_decoder import BlockDecoder
from uldp.mechanisms.hadamard import HadamardDecoder
from uldp.personalized import PersonalizedMechanism
from uldp.personalized.tagged import tagged_domain

__all__ = ["gain", "influence", "unforged", "users_needed", "worst_report"]

Background = Mapping[str, PerValue]
Array = NDArray[np.float64]


def influence(
    mechanism: Mechanism | PersonalizedMechanism, background: Background | None = None
) -> NDArray[np.float64]:
    """Return the least and the largest entry D_yx of a decoded report, over all reports y.

    A forged report that is added to n others moves p̂(x) by (D_yx - p̂(x))/(n + 1); one more honest
    user who holds x moves it by (1 - p̂(x))/(n + 1) on average. So a forger counts for up to
    max D_yx holders of x.

    Parameters
    ----------
    mechanism : Mechanism or PersonalizedMechanism
        What makes the reports.
    background : mapping of str to (k,) array_like or mapping of label to float, optional
        For a personalized mechanism, what the collector takes for the distribution of the values
        of each tag.

    Returns
    -------
    (k, 2) ndarray
        The least and the largest entry of each value; of values and bots, (k + κ, 2), for a
        personalized mechanism without background.
    """
    common, weights = _question(mechanism, background)
    range_of_total = common.decoder.range_of_total
    if weights is not None:
        return np.array([range_of_total(column) for column in weights.T])
    extremes = np.empty((common.domain.size, 2))
    for members in filter(np.size, (common.sensitive, common.nonsensitive)):
        extremes[members] = range_of_total(np.eye(1, len(extremes), members[0])[0])
    return extremes


def worst_report(
    mechanism: Mechanism | PersonalizedMechanism,
    targets: Any,
    background: Background | None = None,
) -> Any:
    """Return the one report that lifts Σ p̂ over the targets most.

    For RR and uRR it names a target, for RAPPOR and uRAP it is the set of all sensitive targets
    with one of the others revealed, and for block designs a set that holds as many sensitive
    targets as it can, or a revealed one. Where several reports lift the sum alike, the first value
    that does is taken; where it does not matter whether a set holds a value, it does not.

    Parameters
    ----------
    mechanism : Mechanism or PersonalizedMechanism
        What makes the reports.
    targets : one-dimensional array_like
        At least one value, as labels or (where they are strings) as indices; of values and bots
        for a personalized mechanism without background.
    background : mapping of str to (k,) array_like or mapping of label to float, optional
        See `influence`.

    Returns
    -------
    report
        Of the mechanism's `report_dtype`, as `Mechanism.privatize` returns it for a single value.

    Raises
    ------
    ValueError
        If the mechanism, of a kind of its own, has too many reports to list.
    """
    common, weights = _question(mechanism, background)
    return _best_report(common, _sum_over(targets, common, weights))


def gain(
    mechanism: Mechanism | PersonalizedMechanism,
    p: PerValue,
    targets: Any,
    share: float,
    background: Background | None = None,
) -> float:
    """Return how far a share of forgers lifts Σ p̂ over the targets at p, on average.

    If a share β of the reports are the worst one y and the others honest, the mean of Σ p̂ exceeds
    p(T) by β (D_yT - p(T)), whatever the number of users. This is the most that any forgers can do,
    also together.

    Parameters
    ----------
    mechanism : Mechanism or PersonalizedMechanism
        What makes the reports.
    p : (k,) array_like or mapping of label to float
        The distribution of the honest users' values; of values and bots, (k + κ,), for a
        personalized mechanism without background.
    targets : one-dimensional array_like
        See `worst_report`.
    share : float
        The share β of forged reports, from 0 to 1.
    background : mapping of str to (k,) array_like or mapping of label to float, optional
        See `influence`. It is taken to be right, so that p̂ is unbiased without forgers.
    """
    common, weights = _question(mechanism, background)
    honest = _distribution(common.domain if weights is None else tagged_domain(common).base, p, "p")
    held = float(honest[_targets(targets, common, weights)].sum())
    _, largest = common.decoder.range_of_total(_sum_over(targets, common, weights))
    return checks.nonnegative(share, "share", most=1) * (largest - held)


def unforged(
    mechanism: Mechanism | PersonalizedMechanism,
    targets: Any,
    interval: tuple[float, float],
    share: float,
    background: Background | None = None,
) -> tuple[float, float]:
    """Return the interval of Σ p̂ over the targets that allows for a share of forgers.

    With f the mean of the decoded sums D_yT of the forged reports and h that of the honest ones,
    Σ p̂ = (1 - β) h + β f, and f lies between the least and the largest D_yT. So where Σ p̂ lies in
    an interval, h lies in the one returned, whatever the forgers send, alone or together.

    Parameters
    ----------
    mechanism : Mechanism or PersonalizedMechanism
        What makes the reports.
    targets : one-dimensional array_like
        See `worst_report`.
    interval : (float, float)
        The ends of an interval for Σ p̂, or Σ p̂ itself twice.
    share : float
        The share β of forged reports at most, from 0 to below 1.
    background : mapping of str to (k,) array_like or mapping of label to float, optional
        See `influence`.

    Returns
    -------
    (float, float)
        The ends, not clipped to 0..1.
    """
    common, weights = _question(mechanism, background)
    low, high = checks.numbers(interval, "interval", (2,)).astype(float).tolist()
    if low > high:
        raise ValueError(f"interval must go up, got {low}..{high}")
    beta = _share_below_1(share)
    least, largest = common.decoder.range_of_total(_sum_over(targets, common, weights))
    return (low - beta * largest) / (1 - beta), (high - beta * least) / (1 - beta)


def users_needed(
    mechanism: Mechanism,
    p: PerValue,
    targets: Any,
    margin: float,
    share: float,
    level: float = 0.95,
) -> int:
    """Return n with which Σ p̂ over the targets is within a margin of p(T), forgers or not.

    Of n reports a share β is forged, in the worst way up or down. The forgers move the sum by
    b = β max(max D_yT - p(T), p(T) - min D_yT) at most, on which no number of users has an effect;
    what is left of the margin is for the chance of the honest reports, by the central limit
    theorem: n = (1 - β) v z²/(margin - b)² with v = n Var Σ p̂ at p of n honest users, and z the
    quantile of the level on both sides. Without forgers it is the least such n; with them it is
    enough, and fewer may be, as they move the sum to one side.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.
    p : (k,) array_like or mapping of label to float
        The distribution of the honest users' values.
    targets : one-dimensional array_like
        At least one value, as labels or (where they are strings) as indices.
    margin : float
        How far Σ p̂ may be from p(T), above 0.
    share : float
        The share β of forged reports, from 0 to below 1.
    level : float, optional
        The probability, in (0, 1), with which it shall be within the margin.

    Raises
    ------
    ValueError
        If the margin is not above what the forgers can do alone.
    """
    checks.instance(mechanism, "mechanism", Mechanism)
    distribution = _distribution(mechanism.domain, p, "p")
    weights = _sum_over(targets, mechanism, None)
    allowed = checks.positive(margin, "margin")
    beta = _share_below_1(share)
    quantile = float(ndtri((1 - checks.open_unit(level, "level")) / 2))
    held = float(distribution @ weights)
    least, largest = mechanism.decoder.range_of_total(weights)
    moved = beta * max(largest - held, held - least)
    if allowed <= moved:
        raise ValueError(
            f"margin must exceed what the forgers can move the sum by, {moved:.6g}, got {margin!r}"
        )
    second = mechanism.decoder.apply_second_moment(distribution, weights)
    variance = max(float(weights @ second) - held**2, 0.0)
    try:
        return max(1, math.ceil((1 - beta) * variance * (quantile / (allowed - moved)) ** 2))
    except OverflowError:
        raise ValueError(f"margin must be within reach of users, got {margin!r}") from None


def _question(
    mechanism: Mechanism | PersonalizedMechanism, background: Background | None
) -> tuple[Mechanism, Array | None]:
    """Return who makes the reports, and p̂ = r̂ W if the estimate is not that of the decoder."""
    if isinstance(mechanism, Mechanism):
        if background is not None:
            raise TypeError("background must be None but for a personalized mechanism")
        return mechanism, None
    if not isinstance(mechanism, PersonalizedMechanism):
        raise TypeError(f"mechanism must be a Mechanism or personalized, got {mechanism!r}")
    common = mechanism.common
    if background is None:
        return common, None
    domain = tagged_domain(common)
    if not isinstance(background, Mapping) or set(background) != set(domain.tags):
        tags = ", ".join(domain.tags)
        raise TypeError(f"background must map each of {tags} to a distribution")
    size = domain.base.size
    weights = np.zeros((domain.size, size))
    weights[:size] = np.eye(size)
    for bot, tag in zip(domain.bots, domain.tags, strict=True):
        weights[bot] = _distribution(domain.base, background[tag], f"background[{tag!r}]")
    return common, weights


def _targets(targets: Any, common: Mechanism, weights: Array | None) -> NDArray[np.intp]:
    domain = common.domain if weights is None else tagged_domain(common).base
    chosen = checks.positions(chosen_values(domain, targets, "targets"), "targets", domain.size)
    if not chosen.size:
        raise ValueError("targets must hold at least one value, got none")
    return chosen


def _distribution(domain: Domain, p: PerValue, name: str) -> Array:
    return checks.distribution(per_value(domain, p, name), name, domain.size)


def _share_below_1(share: float) -> float:
    beta = checks.nonnegative(share, "share", most=1)
    if beta == 1:
        raise ValueError(f"share must be below 1, as some reports are honest, got {share!r}")
    return beta


def _sum_over(targets: Any, common: Mechanism, weights: Array | None) -> Array:
    """Return w for which D_y w is what a report adds to n Σ p̂ over the targets."""
    if weights is not None:
        return np.asarray(weights[:, _targets(targets, common, weights)].sum(axis=1))
    chosen = np.zeros(common.domain.size)
    chosen[_targets(targets, common, None)] = 1
    return chosen


def _best_report(mechanism: Mechanism, w: Array) -> Any:
    """Return a report y of the largest D_y w."""
    decoder = mechanism.decoder
    if isinstance(decoder, BlockDecoder):
        return _best_block(mechanism, decoder, w)
    if isinstance(decoder, HadamardDecoder):
        return mechanism.report_dtype.type(decoder.totals(w).argmax())
    if not isinstance(decoder, SupportDecoder):
        return _best_listed(mechanism, w)
    each = w / decoder.gain
    if decoder.names_one:
        return mechanism.report_dtype.type(each.argmax())
    of_N = np.append(0, each[mechanism.nonsensitive])
    return _set_report(mechanism, each[mechanism.sensitive] > 0, int(of_N.argmax()))


def _best_block(mechanism: Mechanism, decoder: BlockDecoder, w: Array) -> NDArray[np.uint8]:
    own = w[mechanism.sensitive]
    of_N = w[mechanism.nonsensitive]
    descending = np.argsort(-own, kind="stable")
    candidates = []
    for row, size in enumerate(decoder.law.sizes.tolist()):
        held = np.zeros(own.size, dtype=np.bool_)
        held[descending[:size]] = True
        value = decoder.outside[row] * own.sum() + decoder.hidden[row] * of_N.sum()
        value += decoder.contrast[row] * own[held].sum()
        candidates.append((float(value), held, 0))
    if of_N.size:
        revealed = int(of_N.argmax())
        value = decoder.absent * own.sum() + decoder.unnamed * of_N.sum()
        value += (decoder.named - decoder.unnamed) * of_N[revealed]
        candidates.append((float(value), np.zeros(own.size, dtype=np.bool_), revealed + 1))
    _, held, revealed = max(candidates, key=lambda one: one[0])
    return _set_report(mechanism, held, revealed)


def _best_listed(mechanism: Mechanism, w: Array) -> Any:
    """Return the best report of a mechanism whose reports can be listed."""
    outputs = mechanism.outputs
    decoder = mechanism.decoder
    values = [decoder.estimate(mechanism.tally(y[None]).counts, 1) @ w for y in outputs]
    return outputs[np.argmax(values)]


def _set_report(mechanism: Mechanism, held: NDArray[np.bool_], revealed: int) -> NDArray[np.uint8]:
    """Return the bytes of a report, laid out as `UtilityOptimizedRappor` says; 0 reveals none."""
    report = np.zeros(mechanism.report_dtype.shape, dtype=np.uint8)
    packed = PackedSets(held.size).pack(held[None])[0]
    report[: packed.size] = packed
    number = revealed.to_bytes(report.size - packed.size, "little")
    report[packed.size :] = np.frombuffer(number, dtype=np.uint8)
    return report
