"""Expected losses of the estimates that are linear in the counts, and where they are largest.

For RR, RAPPOR, uRR and uRAP each entry of the estimate is affine in one binomial count: with m(x)
the probability that a report supports x, its variance is m(1 - m) / (n gain²). All losses and worst
cases here come from that one law, so that they hold at any θ and with any number of sensitive
values. For others, such as the block design, whose entries are affine in several counts, the
`Decoder`'s variances take the place of the binomial law. So it is for the adjusted estimate
(`uldp.adjusted`). The exact l1 loss of these is not had.

For all of them but the adjusted estimate under uHR (see `worst_case`), n Var p̂(x) + p(x)² is affine
in p(x) and p(X_S). So every loss (in l1, its limit for many users) is strictly concave in p, and
symmetric within X_S and within X_N: it is largest at one p, uniform within both. Only p(X_S) is
left to find. There every variance is m(1 - m) / (n gain²) with an m affine in p(x)
(`decoders.Bernoulli`). Writing m_S and m_N for the two, the l1 loss is stationary where m_S = m_N;
if m_S > m_N at p(X_S) = 0 already, the worst case is the uniform distribution over X_N, and if
m_S < m_N at p(X_S) = 1 still, that over X_S.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.ascent import nearest
from uldp.domain import PerValue, Weights, weights_of
from uldp.law import Law, distribution_over

__all__ = [
    "LOSSES",
    "Loss",
    "l1_loss",
    "l2_loss",
    "total_variance",
    "variances",
    "worst_case",
]

Loss = Literal["l1", "l2"]
LOSSES: tuple[Loss, ...] = ("l1", "l2")
"""The losses wherever one is an argument: E Σ|p̂(x) - p(x)|, which is twice the total variation
(TV), and E Σ(p̂(x) - p(x))², the paper's MSE."""


PRECISION_OF_MASS = 1e-12


def variances(law: Law, p: PerValue, method: str = "empirical") -> NDArray[np.float64]:
    """Return n times the variance of each entry of an estimate.

    Parameters
    ----------
    law : Law
        Any law.
    p : (k,) array_like or mapping of label to float
        The true distribution, from which n users are drawn independently.
    method : {"empirical", "adjusted"}, optional
        The estimate.

    Returns
    -------
    (k,) ndarray
    """
    checks.instance(law, "law", Law)
    found = law.decoder_of(method).variances(distribution_over(law.domain, p))
    return np.maximum(found, 0)


def total_variance(
    law: Law, weights: Weights, p: PerValue | None = None, method: str = "empirical"
) -> float:
    """Return n times the variance of a linear combination Σ w(x) p̂(x) of an estimate.

    Parameters
    ----------
    law : Law
        Any law.
    weights : (k,) array_like, collection of labels, or mapping of label to float
        The w(x); for a group the labels of its values, or the weight of each label.
    p : (k,) array_like or mapping of label to float, optional
        The true distribution, from which n users are drawn independently. By default the largest
        variance over all distributions, which by the minimax theorem is
        min_c max_x E[(D_y · w - c)² | x].
    method : {"empirical", "adjusted"}, optional
        The estimate.
    """
    checks.instance(law, "law", Law)
    w = weights_of(law.domain, weights)
    decoder = law.decoder_of(method)
    w -= decoder.sums_to_one * w.mean()
    moments = decoder.moments_of_total(w)
    if p is not None:
        p = distribution_over(law.domain, p)
        return max(float(p @ moments - (p @ w) ** 2), 0.0)
    low = float(w.min())
    high = float(w.max())

    def largest_square(c: float) -> float:
        return float((moments - 2 * c * w + c**2).max())

    if low == high:
        return max(largest_square(low), 0.0)
    options = {"xatol": PRECISION_OF_MASS * (high - low)}
    found = scipy.optimize.minimize_scalar(
        largest_square, bounds=(low, high), method="bounded", options=options
    )
    return float(min(found.fun, largest_square(low), largest_square(high)))


def l1_loss(law: Law, p: PerValue, n: int, exact: bool = False, method: str = "empirical") -> float:
    """Return the expected l1 loss E Σ|p̂(x) - p(x)|; the total variation is half of it.

    Parameters
    ----------
    law : Law
        Any law.
    p : (k,) array_like or mapping of label to float
        The true distribution, from which n users are drawn independently.
    n : int
        The number of users, at least 1.
    exact : bool, optional
        By default the value of the central limit theorem, Σ √(2 Var / π), whose ratio to the exact
        one tends to 1 (Propositions 4 and 7, eqs. 11 and 16). If true, the exact value for this n,
        from de Moivre's mean absolute deviation of a binomial number B with mean nm,
        E|B - nm| = 2 (⌊nm⌋ + 1) (1 - m) Pr[B = ⌊nm⌋ + 1].
    method : {"empirical", "adjusted"}, optional
        The estimate.

    Raises
    ------
    ValueError
        For the exact loss where entries hang on several counts: under block designs and uHR, and of
        an adjusted estimate.
    """
    checks.instance(law, "law", Law)
    n = checks.whole(n, "n", least=1)
    if not checks.flag(exact, "exact"):
        return float(np.sqrt(2 * variances(law, p, method) / (np.pi * n)).sum())
    p = distribution_over(law.domain, p)
    return float(law.decoder_of(method).absolute_deviations(p, n).sum())


def l2_loss(law: Law, p: PerValue, n: int, method: str = "empirical") -> float:
    """Return the expected squared l2 loss E Σ(p̂(x) - p(x))², the paper's MSE.

    It is exact for every n (Propositions 15 and 18, eqs. 25 and 27).

    Parameters
    ----------
    law : Law
        Any law.
    p : (k,) array_like or mapping of label to float
        The true distribution, from which n users are drawn independently.
    n : int
        The number of users, at least 1.
    method : {"empirical", "adjusted"}, optional
        The estimate.
    """
    n = checks.whole(n, "n", least=1)
    return float(variances(law, p, method).sum() / n)


def worst_case(law: Law, loss: Loss, method: str = "empirical") -> NDArray[np.float64]:
    """Return the distribution at which the expected loss of an estimate is largest.

    The l1 loss is that of the central limit theorem; the maximizer does not depend on n. Both are
    found by filling up: with the `false_support` o and the `gain` g of the entries' Bernoulli
    numbers, l1 is largest where o + g p is the same number for all p(x) > 0 and not below o
    elsewhere, and l2 where p is nearest to (1 - 2 o)/(2 g). Under uHR the values of X_S are not
    always alike for the adjusted estimate. Its n E l2 is Σ a(x) p(x) - Σ p(x)², with a(x) what
    E[|D_y|² | x] is, largest where p is nearest to a/2; its worst case in l1 is not had then.

    Propositions 5, 6 and 8 (l1) and 16, 17 and 19 (l2) are the cases of uRR and uRAP; that of the
    block design in l1 is "The l1 worst case of block designs", a theorem of the book's chapter on
    the fundamental limit.

    Parameters
    ----------
    law : Law
        Any law.
    loss : {"l1", "l2"}
        The loss.
    method : {"empirical", "adjusted"}, optional
        The estimate.

    Returns
    -------
    (k,) ndarray

    Raises
    ------
    ValueError
        For the l1 loss of an adjusted estimate under which the sensitive values are not alike.
    """
    checks.instance(law, "law", Law)
    checks.choice(loss, "loss", LOSSES)
    decoder = law.decoder_of(method)
    if loss == "l1":
        one = decoder.as_bernoulli()
        p = nearest(-one.false_support / one.gain, one.gain)
    else:
        p = nearest(decoder.slopes / 2, np.ones(decoder.slopes.size))
    worst: NDArray[np.float64] = p / math.fsum(p)
    return worst
