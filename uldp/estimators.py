"""From a tally to an estimate of the distribution (Section 2.5 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from uldp import _checks, likelihood
from uldp.likelihood import Evidence
from uldp.tallies import Tally

if TYPE_CHECKING:
    from uldp.mechanisms import Mechanism

__all__ = ["as_evidence", "as_tally", "empirical", "estimate", "norm_sub", "threshold"]


def empirical(tally: Tally) -> NDArray[np.float64]:
    """Return the empirical estimate, which solves pQ = m̂ in expectation.

    It is unbiased; its entries may be negative and, for RAPPOR and uRAP, need not sum to 1. It is
    the estimate of the mechanism's `decoder`: `decoders.Support` for those of the paper,
    `BlockDecoder` for the block design.

    Parameters
    ----------
    tally : Tally
        Of at least one report.

    Returns
    -------
    (k,) ndarray

    Raises
    ------
    ValueError
        If the tally is empty.
    """
    _checks.instance(tally, "tally", Tally)
    if tally.n == 0:
        raise ValueError("reports must not be empty: there is nothing to estimate from")
    return tally.mechanism.decoder.estimate(tally.counts, tally.n)


def threshold(tally: Tally, alpha: float = 0.05) -> NDArray[np.float64]:
    """Return the empirical estimate with significance threshold (Erlingsson et al. 2014).

    Entries above T = Φ⁻¹(1 - α/k) σ are kept, where σ is the largest standard deviation that the
    entry's estimate can have if the value does not occur; what they leave of the probability is
    spread uniformly over the others. Two cases are left open by the paper. A non-sensitive value
    that does not occur is never revealed, so its σ is 0, but for block designs of several sizes,
    and any positive estimate is kept. If the kept entries exceed 1 in sum, or if all are kept, they
    are scaled to sum to 1 and the others are 0.

    Parameters
    ----------
    tally : Tally
        Of at least one report.
    alpha : float, optional
        The chance, in (0, 1), that any value that does not occur is kept (Bonferroni).

    Returns
    -------
    (k,) ndarray
        A probability vector.

    Raises
    ------
    ValueError
        If the tally is empty or α lies outside (0, 1).
    """
    alpha = _checks.open_unit(alpha, "alpha")
    raw = empirical(tally)
    deviation = np.sqrt(tally.mechanism.decoder.null_variances / tally.n)
    kept = raw > -ndtri(alpha / raw.size) * deviation
    mass = float(raw[kept].sum())
    if mass >= 1 or kept.all():
        return np.where(kept, raw, 0) / mass
    return np.where(kept, raw, (1 - mass) / (~kept).sum())


def norm_sub(tally: Tally) -> NDArray[np.float64]:
    """Return the empirical estimate projected to the simplex ("Norm-Sub", Wang et al. 2020).

    The same amount is taken from each entry, and entries that would become negative are 0; this is
    the nearest distribution in the Euclidean norm.

    Parameters
    ----------
    tally : Tally
        Of at least one report.

    Returns
    -------
    (k,) ndarray
        A probability vector.

    Raises
    ------
    ValueError
        If the tally is empty.
    """
    raw = empirical(tally)
    raw -= raw.max()  # which changes nothing but the size of the numbers
    descending = np.sort(raw)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, raw.size + 1)
    last_positive = np.flatnonzero(descending > excess)[-1]
    projected: NDArray[np.float64] = np.maximum(raw - excess[last_positive], 0)
    return projected


BY_TALLY: dict[str, Callable[..., NDArray[np.float64]]] = {
    "empirical": empirical,
    "threshold": threshold,
    "norm_sub": norm_sub,
}


def estimate(
    mechanism: Mechanism, reports: ArrayLike | Tally | Evidence, method: str, **options: Any
) -> NDArray[np.float64]:
    """Return the estimate of the method of that name.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that made the reports.
    reports : array_like, Tally or Evidence
        The reports, or what a collector has kept of them; "em" and "mle" need reports or evidence
        where a report is a set (RAPPOR and uRAP), the others reports or a tally.
    method : {"empirical", "threshold", "norm_sub", "em", "mle"}
        For "em" and "mle" see `likelihood.em`, whose default start is the estimate "threshold" as
        in the paper, and `likelihood.maximum_likelihood`.
    **options
        Passed on to the estimator.

    Returns
    -------
    (k,) ndarray

    Raises
    ------
    ValueError
        If there is no such method, or the reports do not fit it or the mechanism.
    """
    _checks.mechanism(mechanism, "mechanism")
    _checks.choice(method, "method", (*BY_TALLY, "em", "mle"))
    if method in BY_TALLY:
        return BY_TALLY[method](as_tally(mechanism, reports), **options)
    if method == "mle":
        return mechanism.maximum_likelihood(reports, **options).p
    if "start" not in options:
        options["start"] = threshold(as_tally(mechanism, reports))
    return likelihood.em(as_evidence(mechanism, reports), **options)


def as_tally(mechanism: Mechanism, reports: ArrayLike | Tally | Evidence) -> Tally:
    """Return the tally of reports, or the tally given after a check that it fits."""
    _checks.mechanism(mechanism, "mechanism")
    if isinstance(reports, Evidence):
        raise ValueError("reports must be reports or a tally here, got evidence")
    if not isinstance(reports, Tally):
        return mechanism.tally(reports)
    if reports.mechanism != mechanism:
        raise ValueError(f"reports must be of {mechanism!r}, got a tally of {reports.mechanism!r}")
    return reports


def as_evidence(mechanism: Mechanism, reports: ArrayLike | Tally | Evidence) -> Evidence:
    """Return the evidence of reports, or the evidence given after a check that it fits."""
    _checks.mechanism(mechanism, "mechanism")
    if not isinstance(reports, Evidence):
        return mechanism.evidence(reports)
    if reports.mechanism != mechanism:
        raise ValueError(f"reports must be of {mechanism!r}, got evidence of {reports.mechanism!r}")
    return reports
