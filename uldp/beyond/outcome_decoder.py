"""Estimates whose entries take few values, each with a known probability."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.multinomial import mean_absolute_value
from uldp.decoders import ClassDecoder, Moments

__all__ = ["Masses", "OutcomeDecoder", "Outcomes"]

Masses = float | NDArray[np.float64]
Outcomes = Iterator[tuple[float, Masses]]


@dataclass(frozen=True, eq=False)
class OutcomeDecoder(ClassDecoder):
    """An estimate whose entries D_yx take few values, each with a known probability."""

    @abstractmethod
    def sensitive_outcomes(self, p_own: Masses, p_fellow: Masses, p_foreign: float) -> Outcomes:
        """Yield the values of an entry D_yx with x in X_S, each with its probability.

        The arguments are p at the value, at the rest of its class, and at the other class.
        """

    @abstractmethod
    def nonsensitive_outcomes(self, p_own: Masses, p_fellow: Masses, p_foreign: float) -> Outcomes:
        """Yield the same for an entry with x in X_N."""

    def variances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return n times the variance of each entry, M(p)(x, x) - p(x)² for any vector p."""
        variances: NDArray[np.float64] = p**2 * (1 - p.sum())
        for members, outcomes in self._classes(p):
            entries = p[members]
            variances[members] += sum(
                probability * (value - entries) ** 2 for value, probability in outcomes
            )
        return variances

    def absolute_deviations(self, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return E|p̂(x) - p(x)|, by enumeration of all counts but two."""
        deviations = np.empty(p.size)
        for members, outcomes in self._classes(p):
            values, probabilities = zip(*outcomes, strict=True)
            table = np.array([np.broadcast_to(q, members.size) for q in probabilities])
            # Values of a class with the same p have the same deviation, which is computed once.
            entries, first, place = np.unique(p[members], return_index=True, return_inverse=True)
            each = [
                mean_absolute_value(n, np.array(values) - entry, table[:, column]) / n
                for entry, column in zip(entries, first, strict=True)
            ]
            deviations[members] = np.array(each)[place]
        return deviations

    def _classes(self, p: NDArray[np.float64]) -> list[tuple[NDArray[np.intp], Outcomes]]:
        """Return, for each class, the values of its entries, and how likely they are at p."""
        S = self.sensitive
        N = self.nonsensitive
        mass_S = p[S].sum()
        mass_N = p[N].sum()
        classes = [
            (S, self.sensitive_outcomes(p[S], mass_S - p[S], mass_N)),
            (N, self.nonsensitive_outcomes(p[N], mass_N - p[N], mass_S)),
        ]
        return [one for one in classes if one[0].size]

    def _moments(self, sensitive: bool) -> Moments:
        outcomes = self.sensitive_outcomes if sensitive else self.nonsensitive_outcomes
        holders = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        return Moments(
            *(
                float(sum(probability * value**2 for value, probability in outcomes(*holder)))
                for holder in holders
            )
        )
