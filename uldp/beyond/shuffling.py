"""Reports without senders: what can be learned of a secret once a server has shuffled n of them.

Each of n users makes her report by the same mechanism. A server takes off who sent which, and the
collector sees the multiset of the reports. Its *level* (ε', δ) for a swap of two sensitive answers
x and x' of one user bounds, for every set A of multisets and whatever the others hold,

    Pr[A | she holds x] ≤ e^ε' Pr[A | she holds x'] + δ.

An attacker may know the values of all others, but not what their devices draw. The mechanisms here
are of one kind: a protected report y has the probability b(y) from every non-sensitive value, and
from a sensitive one e^ε b(y) if y holds it and b(y) if not. So each user sends a report drawn from
b with probability γ = Σ b(y), whatever she holds, and a non-sensitive user no other protected one.
Two facts follow:

- The others cover her least where none of them holds a sensitive value, and then it does not matter
  what they hold. An attacker who knows the values can put in afterwards all else that they send.
- There the least δ at ε' is E[(Σ L_i)_+]/n, with n independent reports y_i of non-sensitive users
  and L_i = (Q(y_i|x) - e^ε' Q(y_i|x'))/b(y_i) for a protected one, 0 for a revealed value.

So the level depends on how often a report of b holds one of two values, and both. For small n all
is summed up. For large n let D be the number of reports that hold x but not x' less that of the
reverse, and R = Σ (Q(y_i|x) + Q(y_i|x'))/b(y_i), whose mean is 2n. Then, with u = e^ε - 1 and
w = e^ε' - 1,

    Σ L_i = (u (2 + w) D - w R)/2.

The law of D, and the mean and the variance of R at each D, are sums of positive terms. Given these,
E[X_+] lies between (E X)_+ and (E X + √((E X)² + Var X))/2 (Jensen; Scarf). Where D alone would not
make the sum positive but for an improbably small R, Bernstein's inequality takes the place of the
latter. Everything is rounded so that bounds stay bounds, given that NumPy's and SciPy's logarithms
are right to a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import comb, lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from uldp._numerics import checks
from uldp._numerics.fields import set_fields
from uldp.beyond.block_design import UtilityOptimizedBlockDesign
from uldp.beyond.hadamard import UtilityOptimizedHadamard
from uldp.mechanisms.base import Mechanism
from uldp.mechanisms.rappor import UtilityOptimizedRappor
from uldp.mechanisms.response import UtilityOptimizedRR

__all__ = ["Bounds", "Shuffled"]

Array = NDArray[np.float64]

MOST_USERS = 10**7
MOST_STATES = 1 << 20
LARGEST_SHUFFLED = 30.0
ROUNDINGS = 400
LEAST_LOGARITHM = 100.0
EXPONENT = 41.0
EXPONENTS = np.linspace(2, EXPONENT, 40)
HALVINGS = 50


class Bounds(NamedTuple):
    """Bounds on a number.

    Attributes
    ----------
    lower, upper : float
        The number is at least the first and at most the second.
    """

    lower: float
    upper: float


class _PairKinds(NamedTuple):
    """How probable the kinds of report from X_N are, by which of two sensitive values they hold.

    One kind reveals a value. Others hold neither; the first but not the second, which is as
    probable as the reverse; and both.
    """

    revealed: float
    neither: float
    one: float
    both: float


class _Differences(NamedTuple):
    """The values of D ≥ 1, their chances, and the mean and variance of R at each."""

    values: Array
    chances: Array
    means: Array
    variances: Array


@dataclass(frozen=True)
class Shuffled:
    """The shuffled reports of n users, and what they leave of a swap of two sensitive answers.

    The level is that of the module's docstring: for all pairs of sensitive values and all values of
    the n - 1 other users, all of whom send honest reports. Those who do not, or whose reports are
    known, cover nobody and do not count in n.

    Parameters
    ----------
    mechanism : Mechanism
        What all users perturb their answers with, of the kind uRR, uRAP, uBD or uHR and ε at most
        30, with two sensitive values and a non-sensitive one at least.
    n : int
        The number of users, 1 to 10^7.
    """

    mechanism: Mechanism
    n: int
    _kinds: _PairKinds = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        checks.instance(self.mechanism, "mechanism", Mechanism)
        mechanism = self.mechanism
        n = checks.whole(self.n, "n", least=1, most=MOST_USERS)
        if mechanism.sensitive.size < 2 or not mechanism.nonsensitive.size:
            raise ValueError(
                "mechanism must have two sensitive values and a non-sensitive one, "
                f"got {mechanism.sensitive.size} and {mechanism.nonsensitive.size}"
            )
        if mechanism.epsilon > LARGEST_SHUFFLED:
            raise ValueError(
                f"mechanism must have an ε of at most {LARGEST_SHUFFLED}, got {mechanism.epsilon}"
            )
        set_fields(self, n=n, _kinds=_pair_kinds(mechanism))

    def delta(self, level: float) -> Bounds:
        """Return bounds of the least δ with which the shuffled reports have the level (ε', δ).

        Parameters
        ----------
        level : float
            ε', 0 or greater.
        """
        checked = checks.nonnegative(level, "level")
        if checked >= self.mechanism.epsilon:
            return Bounds(0.0, 0.0)
        return Bounds(self._least_delta(checked), self._largest_delta(checked))

    def level(self, delta: float) -> Bounds:
        """Return bounds of the least ε' with which the shuffled reports have the level (ε', δ).

        Neither is above the ε of the mechanism, which a single report has at δ = 0.

        Parameters
        ----------
        delta : float
            δ, in (0, 1).
        """
        allowed = checks.open_unit(delta, "delta")
        lower, _ = self._bisect(lambda level: self._least_delta(level) > allowed)
        _, upper = self._bisect(lambda level: self._largest_delta(level) > allowed)
        return Bounds(lower, upper)

    def exact_delta(self, level: float) -> float:
        """Return the least δ at ε' itself, summed over all histograms of the kinds of n reports.

        There are C(n + v, v) of these, with v the number of kinds of protected reports: 3 for the
        uRR, which never names two values at once, else 4 as a rule.

        Parameters
        ----------
        level : float
            ε', 0 or greater.

        Raises
        ------
        ValueError
            If there are more than 2^20 histograms.
        """
        checked = checks.nonnegative(level, "level")
        if checked >= self.mechanism.epsilon:
            return 0.0
        chances, differences, of_second = self._states
        # In D, since ε may be so small that the sums for x and x' are nearly equal.
        excess = np.maximum(self._u * differences - np.expm1(checked) * of_second, 0)
        return float(chances @ excess) / self.n

    def exact_level(self, delta: float) -> float:
        """Return the least ε' at δ itself, from `exact_delta`.

        Parameters
        ----------
        delta : float
            δ, in (0, 1).

        Raises
        ------
        ValueError
            If there are more than 2^20 histograms.
        """
        allowed = checks.open_unit(delta, "delta")
        _, level = self._bisect(lambda level: self.exact_delta(level) > allowed)
        return level

    @property
    def _slack(self) -> float:
        """More than the relative error of a probability from logarithms of factorials."""
        largest = max(lgamma(self.n + 2) + self.n, LEAST_LOGARITHM)
        return ROUNDINGS * float(np.finfo(float).eps) * largest

    @property
    def _u(self) -> float:
        return float(np.expm1(self.mechanism.epsilon))

    def _least_delta(self, level: float) -> float:
        law = self._differences
        slack = self._slack
        w = np.expm1(level)
        push = 0.5 * self._u * (2 + w) * law.values * (1 - slack)
        least = push - 0.5 * w * law.means * (1 + slack)
        return float(law.chances @ np.maximum(least, 0)) / self.n * (1 - 2 * slack)

    def _largest_delta(self, level: float) -> float:
        law = self._differences
        slack = self._slack
        w = np.expm1(level)
        u = self._u
        # E X_+ is at most (E X + √((E X)² + Var X))/2 for every X (Scarf).
        push = 0.5 * u * (2 + w) * law.values * (1 + slack)
        most = push - 0.5 * w * law.means * (1 - slack)
        above = (most + np.hypot(most, 0.5 * w * np.sqrt(law.variances))) / 2
        # For each exponent: below the first D only an R below `_least_totals` makes Σ L_i positive.
        # That is missed, and three tails of J and D.
        from_here_on = np.append(np.cumsum((law.chances * above)[::-1])[::-1], 0.0)
        first = np.searchsorted(push, 0.5 * w * self._least_totals * (1 - slack))
        missed = u * (np.exp(-EXPONENTS) + 3 * np.exp(-EXPONENT))
        return min(float((from_here_on[first] / self.n + missed).min()) * (1 + 2 * slack), 1.0)

    @cached_property
    def _least_totals(self) -> Array:
        """What R falls below with probability e^-x at most, for the x of `EXPONENTS`."""
        kinds = self._kinds
        u = self._u
        spread = 4 * kinds.revealed + 2 * kinds.one * u**2 + 4 * kinds.both * u**2
        return 2 * self.n - _reach(self.n * spread, 2.0, EXPONENTS)

    @cached_property
    def _differences(self) -> _Differences:
        """The law of D, and the mean and variance of R at each D."""
        values, chances, J, variances_of_J = self._law_of_D()
        means, variances = self._moments_of_R_given_D(J, variances_of_J)
        return _Differences(values, chances, means, variances)

    def _law_of_D(self) -> Array:
        """Return rows: all D ≥ 1 that are not too improbable, Pr[D], E[J | D] and Var[J | D].

        J is the number of reports that hold one of the two values.
        """
        n = self.n
        kinds = self._kinds
        rest = kinds.revealed + kinds.neither + kinds.both
        centre = 2 * n * kinds.one
        # `_largest_delta` counts what lies beyond these J and D as missed.
        reach = float(_reach(centre * rest, 1.0, EXPONENT))
        fewest = max(int(centre - reach), 1)
        most = min(int(centre + reach) + 1, n)
        widest = min(int(_reach(centre, 1.0, EXPONENT)) + 1, most)
        factorials = gammaln(np.arange(most + 1) + 1.0)
        possible_J = np.arange(fewest, most + 1)
        # Pr[J, D] = n!/((n - J)! ((J + D)/2)! ((J - D)/2)!) one^J rest^(n - J): the logarithm of
        # what does not depend on D.
        logarithms = (
            gammaln(n + 1.0)
            - gammaln(n - possible_J + 1.0)
            + possible_J * np.log(kinds.one)
            + (n - possible_J) * np.log(rest)
        )
        law = []
        for D in range(1, widest + 1):
            # J and D are both even or both odd, and J is D at least.
            J = np.arange(max(D, fewest + (fewest - D) % 2), most + 1, 2)
            held = (J + D) // 2
            terms = np.exp(logarithms[J - fewest] - factorials[held] - factorials[J - held])
            chance = terms.sum()
            if chance > 0:
                mean = (terms * J).sum() / chance
                law.append((D, chance, mean, (terms * (J - mean) ** 2).sum() / chance))
        return np.array(law).T

    def _moments_of_R_given_D(self, J: Array, variances_of_J: Array) -> tuple[Array, Array]:
        """Return E[R | D], and Var[R | D] from above, from the mean and variance of J.

        R is (2 + u) J and a term T for each of the n - J other reports: 0 where a value is
        revealed, 2 where neither of the two is held, and 2 + 2u where both are.

            E[R | D] = (2 + u) E[J | D] + (n - E[J | D]) E T
            Var[R | D] = (n - E[J | D]) Var T + (2 + u - E T)² Var[J | D]
        """
        kinds = self._kinds
        u = self._u
        others = self.n - J
        rest = kinds.revealed + kinds.neither + kinds.both
        mean = 2 * (kinds.neither + (1 + u) * kinds.both) / rest
        variance = (
            kinds.revealed * mean**2
            + kinds.neither * (2 - mean) ** 2
            + kinds.both * (2 + 2 * u - mean) ** 2
        ) / rest
        # The error of n - J is that of J, which may be far above it.
        not_fewer = others + self._slack * J
        variances = not_fewer * variance + (2 + u - mean) ** 2 * variances_of_J
        return (2 + u) * J + others * mean, variances * (1 + self._slack)

    @cached_property
    def _states(self) -> tuple[Array, Array, Array]:
        """The chance of each histogram of kinds, its D, and its Σ Q(y_i|x')/b(y_i)."""
        n = self.n
        kinds = self._kinds
        u = self._u
        protected = [
            (chance, first, second)
            for chance, first, second in (
                (kinds.one, 1, 0),
                (kinds.one, 0, 1),
                (kinds.both, 1, 1),
                (kinds.neither, 0, 0),
            )
            if chance > 0
        ]
        states = comb(n + len(protected), len(protected))
        if states > MOST_STATES:
            raise ValueError(
                f"n must be smaller to be summed up, got {n}: there are {states} histograms of "
                f"kinds, at most {MOST_STATES} are allowed"
            )
        # Kind by kind, each state so far has a child for each number of reports of the kind, 0 to
        # `left`. In the end all that are left are revealed values.
        left = np.array([n])
        log = np.array([lgamma(n + 1)])
        differences = np.zeros(1)
        of_second = np.zeros(1)
        for chance, first, second in protected:
            parent = np.repeat(np.arange(left.size), left + 1)
            times = np.arange(parent.size) - np.repeat(np.cumsum(left + 1) - left - 1, left + 1)
            left = left[parent] - times
            log = log[parent] + times * np.log(chance) - gammaln(times + 1.0)
            differences = differences[parent] + times * (first - second)
            of_second = of_second[parent] + times * (1 + u * second)
        log = log + left * np.log(kinds.revealed) - gammaln(left + 1.0)
        return np.exp(log), differences, of_second

    def _bisect(self, too_small: Callable[[float], bool]) -> tuple[float, float]:
        """Return levels close together, of which the first is too small, or 0, the other not."""
        if not too_small(0.0):
            return 0.0, 0.0
        low = 0.0
        high = self.mechanism.epsilon
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if too_small(middle) else (low, middle)
        return low, high


def _pair_kinds(mechanism: Mechanism) -> _PairKinds:
    """Return the kinds, which are the same for all pairs of the two sensitive values or more."""
    s = mechanism.sensitive.size
    match mechanism:
        case UtilityOptimizedRR():  # a report holds one value
            one = float(mechanism.decoder.false_support[mechanism.sensitive[0]])
            neither, both = (s - 2) * one, 0.0
        case UtilityOptimizedRappor():  # bits are independent
            decoder = mechanism.decoder
            hidden = float(decoder.not_true_support[mechanism.nonsensitive[0]])
            on = float(decoder.false_support[mechanism.sensitive[0]])
            off = float(decoder.not_false_support[mechanism.sensitive[0]])
            neither, one, both = hidden * off**2, hidden * on * off, hidden * on**2
        case UtilityOptimizedBlockDesign():  # sets of a size are alike
            law = mechanism.decoder.law
            d = law.sizes
            each = law.weights * law.hidden / (s * (s - 1))
            neither = float(each @ ((s - d) * (s - d - 1)))
            one = float(each @ (d * (s - d)))
            both = float(each @ (d * (d - 1)))
        case UtilityOptimizedHadamard():  # two rows have each pair of signs equally often
            neither = one = both = mechanism.decoder.hidden / 4
        case _:
            raise ValueError(
                f"mechanism must be of the kind uRR, uRAP, uBD or uHR, got {mechanism}"
            )
    return _PairKinds(mechanism.revealed_share, neither, one, both)


def _reach(variance: float, most: float, exponent: float | Array) -> Array:
    """Return the t that a sum exceeds its mean by with probability e^-exponent at most (Bernstein).

    It is a sum of independent terms that exceed their means by at most `most`.
    """
    third = most * np.asarray(exponent) / 3
    return third + np.sqrt(third**2 + 2 * variance * exponent)
