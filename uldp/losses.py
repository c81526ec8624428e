"""Expected losses of the empirical estimate (Propositions 4, 7, 15 and 18).

Each entry of the estimate is affine in one binomial count, so that one formula for its variance,
m(1 - m) / (n gain²) with m the probability that a report supports the value, gives them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp import _checks

if TYPE_CHECKING:
    from uldp.mechanisms import Mechanism

__all__ = ["l1_loss", "l2_loss", "variances"]


def variances(mechanism: Mechanism, p: ArrayLike) -> NDArray[np.float64]:
    """Return n times the variance of each entry of the empirical estimate.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism.
    p : (k,) array_like
        The true distribution, from which n users are drawn independently.

    Returns
    -------
    (k,) ndarray

    Raises
    ------
    ValueError
        If p is not a distribution over the domain.
    """
    p = _checks.distribution(p, "p", mechanism.domain.size)
    law = mechanism.support
    supported = law.own * p + law.other * (1 - p)
    not_supported = law.not_own * p + law.not_other * (1 - p)
    return supported * not_supported / law.gain**2


def l1_loss(mechanism: Mechanism, p: ArrayLike, n: int) -> float:
    """Return the expected l1 loss E Σ|p̂(x) - p(x)| by the central limit theorem.

    The ratio to the exact value tends to 1 as n grows (Propositions 4 and 7, eqs. 11 and 16).
    The total variation is half of it.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism.
    p : (k,) array_like
        The true distribution.
    n : int
        The number of users, at least 1.

    Raises
    ------
    ValueError
        If p is not a distribution over the domain or n is not a whole number of at least 1.
    """
    n = _checks.whole(n, "n", least=1)
    return float(np.sqrt(2 * variances(mechanism, p) / (np.pi * n)).sum())


def l2_loss(mechanism: Mechanism, p: ArrayLike, n: int) -> float:
    """Return the expected squared l2 loss E Σ(p̂(x) - p(x))², exact for every n.

    Propositions 15 and 18 (eqs. 25 and 27) for uRR and uRAP; the paper's MSE. Parameters and
    errors as for `l1_loss`.
    """
    n = _checks.whole(n, "n", least=1)
    return float(variances(mechanism, p).sum() / n)
