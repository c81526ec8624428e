"""From a tally to an estimate of the distribution (Section 2.5 of the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uldp import _checks

if TYPE_CHECKING:
    from uldp.mechanisms import Tally

__all__ = ["empirical", "estimate", "threshold"]


def empirical(tally: Tally) -> NDArray[np.float64]:
    """Return the empirical estimate, which solves pQ = m̂ in expectation.

    It is unbiased; its entries may be negative and, for RAPPOR and uRAP, need not sum to 1.

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

    Notes
    -----
    With m̂(x) the share of reports that support x, p̂(x) = (m̂(x) - other(x)) / gain(x).
    """
    if tally.n == 0:
        raise ValueError("reports must not be empty: there is nothing to estimate from")
    law = tally.mechanism.support
    return (tally.counts / tally.n - law.other) / law.gain


def threshold(tally: Tally, alpha: float = 0.05) -> NDArray[np.float64]:
    """Return the empirical estimate with significance threshold (Erlingsson et al. 2014).

    Entries above T = Φ⁻¹(1 - α/k) σ are kept, where σ is the standard deviation that the entry's
    estimate would have if the value did not occur; what they leave of the probability is spread
    uniformly over the others. Two cases are left open by the paper. A non-sensitive value that
    does not occur is never revealed, so its σ is 0 and any positive estimate is kept. If the kept
    entries exceed 1 in sum, or if all are kept, they are scaled to sum to 1 and the others are 0.

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
    law = tally.mechanism.support
    deviation = np.sqrt(law.other * law.not_other / tally.n) / law.gain
    kept = raw > -ndtri(alpha / raw.size) * deviation
    mass = float(raw[kept].sum())
    if mass >= 1 or kept.all():
        return np.where(kept, raw, 0) / mass
    return np.where(kept, raw, (1 - mass) / (~kept).sum())


METHODS = {"empirical": empirical, "threshold": threshold}


def estimate(tally: Tally, method: str = "empirical", **options: Any) -> NDArray[np.float64]:
    """Return the estimate of the method of that name, one of "empirical" and "threshold".

    Raises
    ------
    ValueError
        If there is no such method.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    return METHODS[method](tally, **options)
