"""The fundamental limit: the least worst-case l2 loss of any ULDP mechanism, for many users.

Every ULDP mechanism is a post-processing of one whose protected reports are subsets of X_S. The
mean of that one over all permutations of X_S is a block design: it draws a size d with probability
λ_d and then reports a subset of X_S of that size or reveals a value of X_N (Yoon, Park, Nam and Lee
2025). Where p is uniform within X_S and within X_N, with p(X_S) = σ, no unbiased estimate by the
first has a smaller n times l2 loss than the trace of the inverse Fisher information of the block
design: with ν = |X_N|, and each J linear in λ,

    f(σ, λ) = (s - 1)/J_S + (ν - 1)/J_N + 1/J_T,

for contrasts within X_S, contrasts within X_N, and the mass σ. f is concave in σ and convex in λ.
Its value at the saddle point, over n, is the least worst-case loss of the unbiased estimates, for
every number n of users; and n times the worst-case loss of any estimate, biased or not, cannot stay
below that value as n → ∞. Two numbers describe the saddle point:

- One size is in use, or two adjacent ones: what weight on d gains is a quadratic in d over a
  positive number, and negative at d = 0.
- Where subset selection over X_S alone (Ye and Barg 2018) takes a size d of at least 2, that size
  is optimal and σ = 1 the worst mass. Elsewhere the sizes in use are 1 and perhaps 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, lock_arrays
from uldp.beyond.block_decoder import BlockLaw
from uldp.domain import Domain

__all__ = [
    "Saddle",
    "epsilon_from_which_uRR_is_optimal",
    "fundamental_limit",
    "saddle",
    "single_size_losses",
]

NEGLIGIBLE = 1e-12
NOTHING_CHANGES_ABOVE = 300.0


@dataclass(frozen=True, eq=False)
class Saddle(Frozen):
    """The saddle point of the limit, with a certificate of its value.

    Attributes
    ----------
    value : float
        n times the least worst-case l2 loss: of unbiased estimates, or of any as n → ∞.
    lower, upper : float
        Bounds of it, up to rounding. n times the l2 loss of an unbiased estimate, by whichever ULDP
        mechanism, is at least `lower` at the worst p; that of the block design with `weights`, by
        its best linear estimate, is at most `upper` at every p.
    mass : float
        The worst p(X_S), σ. The worst p is uniform within X_S and within X_N.
    weights : (s,) ndarray
        The optimal weights λ of the sizes d = 1, ..., s, of which one or two are not 0.
    """

    value: float
    lower: float
    upper: float
    mass: float
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        lock_arrays(self)


def fundamental_limit(domain: Domain, epsilon: float) -> float:
    """Return n times the least worst-case l2 loss of any ULDP mechanism and estimator, as n → ∞.

    For unbiased estimates it is the least at every n. For few users a biased one can be better.

    Parameters
    ----------
    domain : Domain
        The values, and which of them are sensitive.
    epsilon : float
        ε, in nats.

    Returns
    -------
    float
    """
    checks.instance(domain, "domain", Domain)
    return saddle(domain.sensitive.size, domain.nonsensitive.size, epsilon).value


def saddle(s: int, nu: int, epsilon: float) -> Saddle:
    """Return the saddle point of f(σ, λ), largest over σ and least over λ.

    Without non-sensitive values (ν = 0) it is that of plain LDP, and without sensitive ones (s = 0)
    the loss is that of no privacy, 1 - 1/k.

    Parameters
    ----------
    s, nu : int
        The numbers of sensitive and of non-sensitive values, not both 0.
    epsilon : float
        ε, in nats.

    Returns
    -------
    Saddle
    """
    s, nu, epsilon = _checked(s, nu, epsilon)
    if s == 0 or s + nu == 1:
        value = 1 - 1 / (s + nu)
        return Saddle(value, value, value, float(s > 0), np.ones(s))
    mass, weights = _strategies(s, nu, epsilon)
    game = _Game(s, nu, epsilon, range(1, s + 1))
    play = game.play(mass, weights)
    lower = play.value * min(1.0, play.value / play.gains.max())
    upper = game.guarantee(mass, play)
    return Saddle(play.value, lower, upper, mass, weights)


def single_size_losses(s: int, nu: int, epsilon: float) -> NDArray[np.float64]:
    """Return n times the worst-case l2 loss of the block design of each single size.

    The loss is that of the unbiased estimate, exact for every n. For ν = 0 this is subset
    selection; d = 1 is RR or uRR.

    Parameters
    ----------
    s, nu : int
        The numbers of sensitive and of non-sensitive values, not both 0.
    epsilon : float
        ε, in nats.

    Returns
    -------
    (s,) ndarray
        For the sizes d = 1, ..., s; infinite for d = s > 1, which tells nothing within X_S. Empty
        for s = 0.
    """
    s, nu, epsilon = _checked(s, nu, epsilon)
    if s == 0 or s + nu == 1:
        return np.zeros(s)
    losses = np.full(s, np.inf)
    for d in range(1, max(s, 2)):
        game = _Game(s, nu, epsilon, [d])
        losses[d - 1] = game.guarantee(1.0, game.play(1.0, np.ones(1)))
    return losses


def epsilon_from_which_uRR_is_optimal(s: int, nu: int) -> float:
    """Return the ε from which on uRR attains the limit, ln(ν + √((k-1)(k-2)/2)) with k = s + ν.

    It is 0 where uRR is optimal at every ε: for s ≤ 1, where subsets of one value are all there
    are, and for s = 2 with ν ≤ 1. For s = 2 uRR is optimal for e^ε ≤ 1 + √(2ν/(ν+1)), too.

    Parameters
    ----------
    s, nu : int
        The numbers of sensitive and of non-sensitive values, not both 0.

    Returns
    -------
    float
        In nats.
    """
    s, nu, _ = _checked(s, nu, 1.0)
    if s <= 1 or (s == 2 and nu <= 1):
        return 0.0
    k = s + nu
    return math.log(nu + math.sqrt((k - 1) * (k - 2) / 2))


def worst_mass(s: int, nu: int, epsilon: float, weights: Mapping[int, float]) -> float:
    """Return the σ at which f is largest for these weights, or 1 where it does not matter."""
    if not nu or len(weights) < 2:
        return 1.0
    return _Game(s, nu, epsilon, weights).worst_mass(np.array(list(weights.values())))


class _Play(NamedTuple):
    """f(σ, λ), its derivative by σ, and how fast it falls with the weight of each size."""

    value: float
    slope: float
    gains: NDArray[np.float64]


class _Game:
    """The function f(σ, λ) for λ on some sizes, not for s = 0 or k = 1.

    With m_d = σ + μ_d (1 - σ), the probability that a report is a subset,

        J_S = Σ λ_d (1 - μ_d) gain_d s/(d m_d),
        J_N ∝ Σ λ_d (1 - μ_d) / (1 - σ),  J_T ∝ Σ λ_d (1 - μ_d)/m_d / (1 - σ).
    """

    def __init__(self, s: int, nu: int, epsilon: float, sizes: Iterable[int]) -> None:
        epsilon = min(epsilon, NOTHING_CHANGES_ABOVE)
        self.law = BlockLaw(s, nu, epsilon, tuple((size, 1.0) for size in sizes))
        self._present = np.array([s > 1, nu > 1, nu > 0])
        self._costs = np.array([s - 1, 1 - 1 / max(nu, 1), 1 / s + 1 / max(nu, 1)])

    def play(self, mass: float, weights: NDArray[np.float64]) -> _Play:
        """Return f and its derivatives at a mass and weights on the sizes."""
        law = self.law
        present = self._present
        tells = law.shown / (mass + law.hidden * (1 - mass))
        costs = (self._costs * [1, 1 - mass, 1 - mass])[present]
        cost_slopes = (self._costs * [0, -1, -1])[present]
        informations = np.array([tells * law.gain / law.held, law.shown, tells])[present]
        decays = np.array([tells, 0 * tells, tells])[present]

        sums = informations @ weights
        losses = costs / sums
        slopes = (cost_slopes + losses * ((informations * decays) @ weights)) / sums
        return _Play(float(losses.sum()), float(slopes.sum()), (losses / sums) @ informations)

    def worst_mass(self, weights: NDArray[np.float64]) -> float:
        """Return the σ at which f is largest for these weights."""
        return clipped_root(lambda mass: self.play(mass, weights).slope, 1.0)

    def guarantee(self, mass: float, play: _Play) -> float:
        """Return the largest loss over all σ of the linear estimate that is best at this mass.

        Its loss is -(1/s + 1/ν)·σ² and something linear in σ, and touches f at the mass.
        """
        if not self.law.nu:
            return play.value
        curvature = self._costs[2]
        step = min(max(mass + play.slope / (2 * curvature), 0.0), 1.0) - mass
        return float(play.value + step * (play.slope - curvature * step))


def _strategies(s: int, nu: int, epsilon: float) -> tuple[float, NDArray[np.float64]]:
    """Return the worst mass and the optimal weights."""
    law = BlockLaw(s, nu, epsilon, tuple((size, 1.0) for size in range(1, s + 1)))
    weights = np.zeros(s)
    of_subset_selection = int((law.shown * law.gain / law.held).argmax())
    if of_subset_selection > 0 or not nu:
        weights[of_subset_selection] = 1
        return 1.0, weights
    game = _Game(s, nu, epsilon, range(1, min(s, 2) + 1))

    def advantage_of_two(weight: float) -> float:
        mixture = np.array([1 - weight, weight])
        one, two = game.play(game.worst_mass(mixture), mixture).gains
        return float(two - one)

    of_two = clipped_root(advantage_of_two, 1 - np.finfo(float).eps) if s > 1 else 0.0
    weights[:2] = [1 - of_two, of_two][:s]
    weights[weights < NEGLIGIBLE] = 0
    weights /= weights.sum()
    return game.worst_mass(weights[:2]), weights


def clipped_root(decreasing: Callable[[float], float], high: float) -> float:
    """Return where a decreasing function passes 0 on [0, high], or the end next to that."""
    if decreasing(0.0) <= 0:
        return 0.0
    if decreasing(high) >= 0:
        return high
    return float(scipy.optimize.brentq(decreasing, 0.0, high, xtol=1e-16, rtol=1e-15))


def _checked(s: int, nu: int, epsilon: float) -> tuple[int, int, float]:
    s = checks.whole(s, "s", least=0)
    nu = checks.whole(nu, "nu", least=0)
    if s + nu == 0:
        raise ValueError("s and nu must not both be 0, got 0 and 0")
    return s, nu, checks.budget(epsilon, "epsilon")
