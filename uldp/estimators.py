"""From a tally to an estimate of the distribution (Section 2.5 of the paper)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uldp._numerics import checks
from uldp._numerics.ascent import nearest
from uldp.tallies import Tally

__all__ = ["FROM_TALLIES", "METHODS", "empirical", "norm_sub", "threshold"]


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
    checks.instance(tally, "tally", Tally)
    if tally.n == 0:
        raise ValueError("reports must not be empty: there is nothing to estimate from")
    return tally.law.decoder.estimate(tally.counts, tally.n)


def threshold(tally: Tally, alpha: float = 0.05) -> NDArray[np.float64]:
    """Return the empirical estimate with significance threshold (Erlingsson et al. 2014).

    Entries above T = Φ⁻¹(1 - α/k) σ are kept, where σ is the largest standard deviation that the
    entry's estimate can have if the value does not occur; what they leave of the probability is
    spread uniformly over the others. The paper leaves two cases open. A non-sensitive value
    that does not occur is never revealed, so its σ is 0 (except for block designs of several sizes)
    and any positive estimate of it is kept. If the kept entries sum to more than 1, or if all are
    kept, they are scaled to sum to 1 and the others are set to 0.

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
    """
    alpha = checks.open_unit(alpha, "alpha")
    raw = empirical(tally)
    deviation = np.sqrt(tally.law.decoder.null_variances / tally.n)
    kept = raw > -ndtri(alpha / raw.size) * deviation
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


FROM_TALLIES: dict[str, Callable[..., NDArray[np.float64]]] = {
    "empirical": empirical,
    "threshold": threshold,
    "norm_sub": norm_sub,
}
"""The estimators that need a tally alone, by their names."""

METHODS = (*FROM_TALLIES, "em", "mle")
"""The names of all estimators; the last two are those of `uldp.likelihood`."""
