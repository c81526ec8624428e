"""Expected losses of the empirical estimate, and where they are largest.

Each entry of the estimate is affine in one binomial count: with m(x) the probability that a report
supports x, its variance is m(1 - m) / (n gain²). All losses and worst cases here come from that one
law, so that they hold for every mechanism with a `Support`, at any θ, and with any number of
sensitive values.

Every loss is concave in p and symmetric within X_S and within X_N, so its largest value lies where
p is uniform within both; what is left is to find p(X_S). Writing m_S and m_N for the probabilities
of support there, the l1 loss is stationary where m_S = m_N; if m_S > m_N at p(X_S) = 0 already, the
worst case is the uniform distribution over X_N.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp._binomial import mean_absolute_deviation

if TYPE_CHECKING:
    from uldp.mechanisms import Mechanism

__all__ = ["Norm", "l1_loss", "l2_loss", "variances", "worst_case", "worst_case_mass"]

Norm = Literal["l1", "l2"]


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
    supported, not_supported = _support_probabilities(mechanism, p)
    return supported * not_supported / mechanism.support.gain**2


def l1_loss(mechanism: Mechanism, p: ArrayLike, n: int, exact: bool = False) -> float:
    """Return the expected l1 loss E Σ|p̂(x) - p(x)|; the total variation is half of it.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism.
    p : (k,) array_like
        The true distribution, from which n users are drawn independently.
    n : int
        The number of users, at least 1.
    exact : bool, optional
        By default the value of the central limit theorem, Σ √(2 Var / π), whose ratio to the exact
        one tends to 1 (Propositions 4 and 7, eqs. 11 and 16). If true, the exact value for this n,
        from de Moivre's mean absolute deviation of a binomial number B with mean nm,
        E|B - nm| = 2 (⌊nm⌋ + 1) (1 - m) Pr[B = ⌊nm⌋ + 1].

    Raises
    ------
    ValueError
        If p is not a distribution over the domain or n is not a whole number of at least 1.
    """
    n = _checks.whole(n, "n", least=1)
    if not exact:
        return float(np.sqrt(2 * variances(mechanism, p) / (np.pi * n)).sum())
    supported, not_supported = _support_probabilities(mechanism, p)
    rarer, complement = np.minimum(supported, not_supported), np.maximum(supported, not_supported)
    deviation = mean_absolute_deviation(n, rarer, complement)
    return float((deviation / mechanism.support.gain).sum() / n)


def l2_loss(mechanism: Mechanism, p: ArrayLike, n: int, exact: bool = False) -> float:
    """Return the expected squared l2 loss E Σ(p̂(x) - p(x))², the paper's MSE.

    It is exact for every n, so that `exact` changes nothing (Propositions 15 and 18, eqs. 25 and
    27). Parameters and errors are those of `l1_loss`.
    """
    n = _checks.whole(n, "n", least=1)
    return float(variances(mechanism, p).sum() / n)


def worst_case(mechanism: Mechanism, norm: Norm) -> NDArray[np.float64]:
    """Return the distribution at which the expected loss of the empirical estimate is largest.

    The l1 loss is that of the central limit theorem; the maximiser does not depend on n.
    Propositions 5, 6 and 8 (l1) and 16, 17 and 19 (l2) are the cases of uRR and uRAP.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism.
    norm : {"l1", "l2"}
        The loss.

    Returns
    -------
    (k,) ndarray

    Raises
    ------
    ValueError
        If the norm is neither of the two.
    """
    mass = worst_case_mass(mechanism, norm)
    p = np.empty(mechanism.domain.size)
    for members, total in ((mechanism.sensitive, mass), (mechanism.nonsensitive, 1 - mass)):
        if members.size:
            p[members] = total / members.size
    return p


def worst_case_mass(mechanism: Mechanism, norm: Norm) -> float:
    """Return p(X_S) at the worst case, 0 where it is uniform over X_N.

    With o and g_S the probability `other` and the `gain` on X_S, and g_N the gain on X_N,

    - l1: (g_N/|X_N| - o) / (g_S/|X_S| + g_N/|X_N|), where the probabilities of support are equal;
    - l2: ((1 - 2o)/g_S - 1/g_N + 2/|X_N|) / (2/|X_S| + 2/|X_N|),

    or 0 if that is negative. Parameters and errors are those of `worst_case`.
    """
    if norm not in ("l1", "l2"):
        raise ValueError(f"norm must be 'l1' or 'l2', got {norm!r}")
    S, N = mechanism.sensitive, mechanism.nonsensitive
    if not S.size or not N.size:
        return float(S.size > 0)
    law = mechanism.support
    other, gain_S, gain_N = law.other[S[0]], law.gain[S[0]], law.gain[N[0]]
    if norm == "l1":
        mass = (gain_N / N.size - other) / (gain_S / S.size + gain_N / N.size)
    else:
        slope = (law.not_other[S[0]] - other) / gain_S - 1 / gain_N + 2 / N.size
        mass = slope / (2 / S.size + 2 / N.size)
    return float(np.clip(mass, 0, 1))


def _support_probabilities(
    mechanism: Mechanism, p: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities m and 1 - m that a report supports each value."""
    p = _checks.distribution(p, "p", mechanism.domain.size)
    law = mechanism.support
    return law.own * p + law.other * (1 - p), law.not_own * p + law.not_other * (1 - p)
