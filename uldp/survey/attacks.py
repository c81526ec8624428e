"""What forged reports can do to an estimate.

The empirical estimate p̂ is the mean of the rows D_y that the decoder makes of single reports y. A
forged report y that is added to n others moves p̂ by (D_y - p̂)/(n + 1), and one that replaces an
honest report z moves it by (D_y - D_z)/n. So all that forgers can do to Σ p̂ over some values, the
*targets*, follows from the least and the largest sum of D_y over these, and no reports need to be
listed to find them.

The reports of a personalized mechanism are those of its common mechanism, ``user.common``, over the
values and the bots.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uldp._numerics import checks
from uldp.domain import PerValue, chosen_values
from uldp.law import distribution_over
from uldp.mechanisms import Mechanism

__all__ = ["gain", "influence", "unforged", "users_for_margin", "worst_report"]

Array = NDArray[np.float64]


def influence(mechanism: Mechanism) -> NDArray[np.float64]:
    """Return the least and the largest entry D_yx of a decoded report, over all reports y.

    A forged report that is added to n others moves p̂(x) by (D_yx - p̂(x))/(n + 1); one more honest
    user who holds x moves it by (1 - p̂(x))/(n + 1) on average. So a forger counts for up to
    max D_yx holders of x.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.

    Returns
    -------
    (k, 2) ndarray
        The least and the largest entry of each value.
    """
    checks.instance(mechanism, "mechanism", Mechanism)
    return mechanism.decoder.ranges()


def worst_report(mechanism: Mechanism, targets: Any) -> Any:
    """Return the one report that lifts Σ p̂ over the targets most.

    For RR and uRR it names a target, for RAPPOR and uRAP it is the set of all sensitive targets
    with one of the others revealed, and for block designs a set that holds as many sensitive
    targets as it can, or a revealed one. Where several reports lift the sum alike, the first value
    that does is taken; where it does not matter whether a set holds a value, it does not.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.
    targets : one-dimensional array_like
        At least one value, as labels or (where they are strings) as indices.

    Returns
    -------
    report
        Of the mechanism's `report_dtype`, as `Mechanism.privatize` returns it for a single value.

    Raises
    ------
    ValueError
        If the mechanism, of a kind of its own, has too many reports to list.
    """
    weights = _sum_over(targets, mechanism)
    return mechanism._best_report(weights)


def gain(mechanism: Mechanism, p: PerValue, targets: Any, share: float) -> float:
    """Return how far a share of forgers lifts Σ p̂ over the targets at p, on average.

    If a share β of the reports are the worst one y and the others honest, the mean of Σ p̂ exceeds
    p(T) by β (D_yT - p(T)), whatever the number of users. This is the most that any forgers can do,
    also together.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.
    p : (k,) array_like or mapping of label to float
        The distribution of the honest users' values.
    targets : one-dimensional array_like
        See `worst_report`.
    share : float
        The share β of forged reports, from 0 to 1.
    """
    weights = _sum_over(targets, mechanism)
    held = float(distribution_over(mechanism.domain, p) @ weights)
    _, largest = mechanism.decoder.range_of_total(weights)
    return checks.nonnegative(share, "share", most=1) * (largest - held)


def unforged(
    mechanism: Mechanism, targets: Any, interval: tuple[float, float], share: float
) -> tuple[float, float]:
    """Return the interval of Σ p̂ over the targets that allows for a share of forgers.

    With f the mean of the decoded sums D_yT of the forged reports and h that of the honest ones,
    Σ p̂ = (1 - β) h + β f, and f lies between the least and the largest D_yT. So where Σ p̂ lies in
    an interval, h lies in the one returned, whatever the forgers send, alone or together.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.
    targets : one-dimensional array_like
        See `worst_report`.
    interval : (float, float)
        The ends of an interval for Σ p̂, or Σ p̂ itself twice.
    share : float
        The share β of forged reports at most, from 0 to below 1.

    Returns
    -------
    (float, float)
        The ends, not clipped to 0..1.
    """
    weights = _sum_over(targets, mechanism)
    low, high = checks.numbers(interval, "interval", (2,)).astype(float).tolist()
    if low > high:
        raise ValueError(f"interval must go up, got {low}..{high}")
    beta = _share_below_1(share)
    least, largest = mechanism.decoder.range_of_total(weights)
    return (low - beta * largest) / (1 - beta), (high - beta * least) / (1 - beta)


def users_for_margin(
    mechanism: Mechanism,
    p: PerValue,
    targets: Any,
    margin: float,
    share: float,
    confidence: float = 0.95,
) -> int:
    """Return n with which Σ p̂ over the targets is within a margin of p(T), forgers or not.

    Of n reports a share β is forged, in the worst way up or down. The forgers move the sum by b = β
    max(max D_yT - p(T), p(T) - min D_yT) at most, on which no number of users has an effect; what
    is left of the margin is for the chance of the honest reports, by the central limit theorem: n =
    (1 - β) v z²/(margin - b)² with v = n Var Σ p̂ at p of n honest users, and z the quantile of the
    confidence on both sides. Without forgers it is the least such n; with them it is enough, and
    fewer may be, as they move the sum to one side.

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
    confidence : float, optional
        The probability, in (0, 1), with which it shall be within the margin.

    Raises
    ------
    ValueError
        If the margin is not above what the forgers can do alone.
    """
    weights = _sum_over(targets, mechanism)
    distribution = distribution_over(mechanism.domain, p)
    allowed = checks.positive(margin, "margin")
    beta = _share_below_1(share)
    quantile = float(ndtri((1 - checks.open_unit(confidence, "confidence")) / 2))
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


def _sum_over(targets: Any, mechanism: Mechanism) -> Array:
    """Return w for which D_y w is what a report adds to n Σ p̂ over the targets."""
    checks.instance(mechanism, "mechanism", Mechanism)
    domain = mechanism.domain
    indices = chosen_values(domain, targets, "targets")
    chosen = checks.positions(indices, "targets", domain.size, domain.labels)
    if not chosen.size:
        raise ValueError("targets must hold at least one value, got none")
    weights = np.zeros(domain.size)
    weights[chosen] = 1
    return weights


def _share_below_1(share: float) -> float:
    beta = checks.nonnegative(share, "share", most=1)
    if beta == 1:
        raise ValueError(f"share must be below 1, as some reports are honest, got {share!r}")
    return beta
