"""The estimate that adds up to one: what the paper's estimate lacks goes to X_S in equal parts.

The shares of a distribution add up to 1, and p̂, the paper's estimate under RAPPOR, uRAP and uHR,
does not. With U = Σ_x D_yx, what a report adds to this sum, the *adjusted* estimate is

    p̃ = p̂ + κ (1 - Σ p̂),  κ = 1/s on X_S and 0 on X_N,  so that  D̃_y = D_y + κ (1 - U).

E U = 1, so it is unbiased, too, and κ is fixed before the data. Of weights w with the mean c over
X_S the total is c + Σ (w(x) - c) p̂(x): what X_S have in common is told by what X_N leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from uldp.decoders import ROUNDING, Bernoulli, ClassDecoder, Decoder

__all__ = ["AdjustedDecoder"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AdjustedDecoder(ClassDecoder):
    """The adjusted estimate of a law with sensitive values whose estimates need not sum to 1.

    Attributes
    ----------
    base : Decoder
        That of the estimate to adjust.
    """

    base: Decoder

    def estimate(self, counts: NDArray[np.int64], n: int) -> Array:
        """Return p̃, which sums to 1."""
        estimate = self.base.estimate(counts, n)
        S = self.sensitive
        left = 1 - estimate[self.nonsensitive].sum()
        # Noise can be 10^16 times the shares; what the values of X_S have in common cancels here.
        estimate[S] = estimate[S] - estimate[S].mean() + left / S.size
        return estimate

    def apply_second_moment(self, p: Array, weights: Array) -> Array:
        """Return E D̃ (c + D · (w - c)), where c is the mean of w over X_S."""
        w = weights.reshape(p.size, -1)
        c = w[self.sensitive].mean(axis=0)
        rest = w - c
        applied = self.base.apply_second_moment(p, rest)
        missing = c * (1 - p.sum()) + p @ rest - applied.sum(axis=0)
        applied += np.outer(p, c)
        applied[self.sensitive] += missing / self.sensitive.size
        shaped: Array = applied.reshape(weights.shape)
        return shaped

    def variances(self, p: Array) -> Array:
        """Return those of p̂ and, on X_S, 2 E D_x (1 - U)/s + E (1 - U)²/s² more."""
        variances = self.base.variances(p)
        with_sum = self.base.apply_second_moment(p, np.ones(p.size))
        square = 1 - 2 * p.sum() + with_sum.sum()
        s = self.sensitive.size
        variances[self.sensitive] += (2 * (p - with_sum)[self.sensitive] + square / s) / s
        return variances

    def moments_of_total(self, weights: Array) -> Array:
        """Return E[(c + D_y · (w - c))²] by the value behind the report y."""
        c, rest = self._parts(weights)
        return self.base.moments_of_total(rest) + 2 * c * rest + c**2

    def range_of_total(self, weights: Array) -> tuple[float, float]:
        """Return the least and the largest c + D_y · (w - c) over all reports y."""
        c, rest = self._parts(weights)
        low, high = self.base.range_of_total(rest)
        return c + low, c + high

    def jump_of_total(self, weights: Array) -> float:
        """Return how much a single random choice can change D_y · (w - c)."""
        return self.base.jump_of_total(self._parts(weights)[1])

    @property
    def sums_to_one(self) -> bool:
        """Whether every estimate sums to 1, for which it is made."""
        return True

    def as_bernoulli(self) -> Bernoulli:
        """Return the Bernoulli variables of the entries, if the values of X_S are alike."""
        if not self.is_alike:
            raise ValueError("loss must be 'l2' where sensitive values are not alike, got 'l1'")
        return super().as_bernoulli()

    @property
    def slopes(self) -> Array:
        """Those of p̂, and (2 - E[S² - N² | x])/s on X_S, without the 2 on X_N.

        Here S and N are what a report adds to the sums of p̂ over X_S and X_N.
        """
        inside = np.zeros(self.sensitive.size + self.nonsensitive.size)
        inside[self.sensitive] = 1
        in_S = self.base.moments_of_total(inside)
        in_N = self.base.moments_of_total(1 - inside)
        return self.base.slopes + (2 * inside - in_S + in_N) / self.sensitive.size

    @cached_property
    def is_alike(self) -> bool:
        """Whether the values of X_S are alike, so that estimates of all have one law.

        They are but for uHR with 4 values or more, unless their number is one less than a power of
        two: other rows of its matrix have products that are rows, too, or not.
        """
        moments = self.moments_of_total(self._entry(self.sensitive[-1]))
        by_fellow = moments[self.sensitive[:-1]]
        # By how much E[U² | x]/s² differs within X_S.
        ones = np.ones(moments.size)
        of_sum = self.base.moments_of_total(ones)[self.sensitive] / self.sensitive.size**2
        apart = np.ptp(of_sum) + (np.ptp(by_fellow) if by_fellow.size else 0.0)
        return bool(apart <= ROUNDING * moments.max())

    def alike(self) -> list[NDArray[np.intp]]:
        """Return the two classes, or each value of X_S alone where these are not alike."""
        classes = super().alike()
        return classes if self.is_alike else [*self.sensitive[:, None], *classes[1:]]

    def _parts(self, weights: Array) -> tuple[float, Array]:
        c = float(weights[self.sensitive].mean())
        return c, weights - c
