"""Expected losses of the empirical estimate, and where they are largest.

For RR, RAPPOR, uRR and uRAP each entry of the estimate is affine in one binomial count: with m(x)
the probability that a report supports x, its variance is m(1 - m) / (n gain²). All losses and worst
cases here come from that one law, so that they hold at any θ and with any number of sensitive
values. For the block design, whose entries are affine in several counts, `Decoder.variances` and
`Decoder.absolute_deviations` take the place of the binomial law.

For all of them n Var p̂(x) + p(x)² is affine in p(x) and p(X_S). So every loss is strictly concave
in p, and symmetric within X_S and within X_N: it is largest at one p, uniform within both. What is
left is to find p(X_S). There every variance is m(1 - m) / (n gain²) with an m affine in p(x)
(`decoders.Bernoulli`). Writing m_S and m_N for the two, the l1 loss is stationary where m_S = m_N;
if m_S > m_N at p(X_S) = 0 already, the worst case is the uniform distribution over X_N, and if
m_S < m_N at p(X_S) = 1 still, that over X_S.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp import _checks

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
    _checks.mechanism(mechanism, "mechanism")
    return mechanism.decoder.variances(_checks.distribution(p, "p", mechanism.domain.size))


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
        E|B - nm| = 2 (⌊nm⌋ + 1) (1 - m) Pr[B = ⌊nm⌋ + 1]; for a block design by a sum of such
        numbers over the other counts.

    Raises
    ------
    ValueError
        If p is not a distribution over the domain, n is not a whole number of at least 1, or a
        block design of several sizes and so many users would take too many terms.
    """
    _checks.mechanism(mechanism, "mechanism")
    n = _checks.whole(n, "n", least=1)
    if not _checks.flag(exact, "exact"):
        return float(np.sqrt(2 * variances(mechanism, p) / (np.pi * n)).sum())
    p = _checks.distribution(p, "p", mechanism.domain.size)
    return float(mechanism.decoder.absolute_deviations(p, n).sum())


def l2_loss(mechanism: Mechanism, p: ArrayLike, n: int, exact: bool = False) -> float:
    """Return the expected squared l2 loss E Σ(p̂(x) - p(x))², the paper's MSE.

    It is exact for every n, so that `exact` changes nothing (Propositions 15 and 18, eqs. 25 and
    27). Parameters and errors are those of `l1_loss`.
    """
    n = _checks.whole(n, "n", least=1)
    _checks.flag(exact, "exact")
    return float(variances(mechanism, p).sum() / n)


def worst_case(mechanism: Mechanism, norm: Norm) -> NDArray[np.float64]:
    """Return the distribution at which the expected loss of the empirical estimate is largest.

    The l1 loss is that of the central limit theorem; the maximizer does not depend on n.
    Propositions 5, 6 and 8 (l1) and 16, 17 and 19 (l2) are the cases of uRR and uRAP; that of the
    block design in l1 is "The l1 worst case of block designs", a theorem of the book's chapter on
    the fundamental limit.

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
    """Return p(X_S) at the worst case, 0 where that is uniform over X_N and 1 where over X_S.

    With o and g for `other` and `gain` of a class's `decoders.Bernoulli`,

    - l1: (g_N/|X_N| + o_N - o_S) / (g_S/|X_S| + g_N/|X_N|), where m_S = m_N;
    - l2: ((1 - 2 o_S)/g_S - (1 - 2 o_N)/g_N + 2/|X_N|) / (2/|X_S| + 2/|X_N|),

    or the nearer end of [0, 1]. o_N is 0 but for block designs of several sizes. Parameters and
    errors are those of `worst_case`.
    """
    _checks.mechanism(mechanism, "mechanism")
    _checks.choice(norm, "norm", ("l1", "l2"))
    S, N = mechanism.sensitive, mechanism.nonsensitive
    if not S.size or not N.size:
        return float(S.size > 0)
    in_S, in_N = (mechanism.decoder.as_bernoulli(members[0]) for members in (S, N))
    if norm == "l1":
        excess = in_N.other + in_N.gain / N.size - in_S.other
        mass = excess / (in_S.gain / S.size + in_N.gain / N.size)
    else:
        slope_S, slope_N = ((law.not_other - law.other) / law.gain for law in (in_S, in_N))
        mass = (slope_S - slope_N + 2 / N.size) / (2 / S.size + 2 / N.size)
    return float(np.clip(mass, 0, 1))
