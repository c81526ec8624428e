"""What reports alone prove about the level of the code that made them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.binomial import exact_interval

__all__ = ["EmpiricalLevel", "empirical_level"]


@dataclass(frozen=True, eq=False)
class EmpiricalLevel:
    """A lower bound on ε that reports prove.

    Attributes
    ----------
    epsilon : float
        If the level of the code is below this, then the reports were less likely than
        1 - `confidence`.
    event : ndarray
        The distinct reports that make up the event, one along the first axis.
    hits : tuple of int
        How many of the tested reports of the first and of the second value lie in it.
    tested : tuple of int
        How many reports were tested.
    confidence : float
        The confidence of the bound.
    """

    epsilon: float
    event: NDArray[Any]
    hits: tuple[int, int]
    tested: tuple[int, int]
    confidence: float


def empirical_level(
    first: ArrayLike,
    second: ArrayLike,
    confidence: float = 0.999,
    outputs: ArrayLike | None = None,
) -> EmpiricalLevel:
    """Bound ε from below by how often an event happens in reports of two values.

    Half of the reports serve to choose the event, a set of reports that come from the first value
    more often than from the second: a quarter to order them by the odds, a quarter to find how many
    of them to take. In the other half, which the choice has not seen, the two probabilities are
    bounded by Clopper and Pearson (1934), one from below and one from above; the logarithm of the
    ratio of the bounds is proven. Nothing need be known of the code that made the reports.

    Parameters
    ----------
    first, second : array_like
        Independent reports of two values, one along the first axis, as `Mechanism.privatize` makes
        them. If `first` is a sensitive value, the bound holds for LDP and ULDP alike.
    confidence : float, optional
        The least probability that the bound holds.
    outputs : array_like, optional
        The reports of which an event may consist; by default all. If `first` is not sensitive,
        then ULDP bounds the protected ones only, ``mechanism.outputs[mechanism.protected]``.
    """
    confidence = checks.open_unit(confidence, "confidence")
    both = [_reports(first, "first"), _reports(second, "second")]
    if both[0].shape[1:] != both[1].shape[1:]:
        raise ValueError(
            "first and second must hold reports of one shape, got "
            f"{both[0].shape[1:]} and {both[1].shape[1:]}"
        )
    reports = np.concatenate(both)
    if reports.dtype.kind == "f":  # of int64 and uint64, whose large numbers it would round
        raise ValueError(
            f"first and second must be of one type, got {both[0].dtype} and {both[1].dtype}"
        )
    keys, places, codes = np.unique(_keys(reports), return_index=True, return_inverse=True)
    ordered, sized, tested = (
        np.array([np.bincount(code, minlength=keys.size) for code in part])
        for part in _parts(codes, len(both[0]))
    )
    candidates = np.arange(keys.size)
    if outputs is not None:
        listed = checks.integers(outputs, "outputs")
        if listed.shape[1:] != reports.shape[1:] or listed.ndim != reports.ndim:
            raise ValueError(f"outputs must be an array of reports, got shape {listed.shape}")
        allowed = listed.astype(reports.dtype)
        if (allowed != listed).any():
            raise ValueError(f"outputs must fit {reports.dtype}, as the reports do")
        candidates = np.flatnonzero(np.isin(keys, _keys(allowed)))
    odds = (ordered[0, candidates] + 0.5) / (ordered[1, candidates] + 0.5)
    by_odds = candidates[np.argsort(-odds, kind="stable")]
    unions = sized[:, by_odds].cumsum(axis=1)
    bounds = _bound(unions, sized.sum(axis=1)[:, None], confidence)
    event = np.sort(by_odds[: 1 + bounds.argmax()]) if by_odds.size else by_odds
    hits = tested[:, event].sum(axis=1)
    n = tested.sum(axis=1)
    return EmpiricalLevel(
        epsilon=max(0.0, float(_bound(hits, n, confidence))),
        event=reports[places[event]],
        hits=(int(hits[0]), int(hits[1])),
        tested=(int(n[0]), int(n[1])),
        confidence=confidence,
    )


def _bound(
    hits: NDArray[np.int64], tested: NDArray[np.int64], confidence: float
) -> NDArray[np.float64]:
    """Return the logarithm of the least ratio of the probabilities; shape of ``hits[0]``."""
    least, _ = exact_interval(hits[0], tested[0], 1 - confidence)
    _, not_most = exact_interval(hits[1], tested[1], 1 - confidence)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(least) - np.log1p(-not_most))


def _parts(codes: NDArray[np.intp], n: int) -> Iterator[list[NDArray[np.intp]]]:
    """Deal the reports of both values to two quarters and a half."""
    for start, step in ((0, 4), (2, 4), (1, 2)):
        yield [codes[:n][start::step], codes[n:][start::step]]


def _keys(reports: NDArray[Any]) -> NDArray[np.bytes_]:
    """Return each report as a string of bytes, which sort fast; shape (n,)."""
    rows = np.ascontiguousarray(reports).reshape(len(reports), -1)
    return rows.view(f"S{rows.itemsize * rows.shape[1]}").ravel()


def _reports(values: ArrayLike, name: str) -> NDArray[Any]:
    array = checks.integers(values, name)
    if array.ndim == 0 or len(array) < 4 or array[0].size == 0:
        raise ValueError(f"{name} must hold four or more reports, got shape {array.shape}")
    return array
