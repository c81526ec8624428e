"""Estimates whose entries take few values, each with a known probability."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uldp.decoders import ClassDecoder

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
        for members, others, outcomes in (
            (self.sensitive, self.nonsensitive, self.sensitive_outcomes),
            (self.nonsensitive, self.sensitive, self.nonsensitive_outcomes),
        ):
            entries = p[members]
            rest = entries.sum() - entries
            for value, probability in outcomes(entries, rest, p[others].sum()):
                variances[members] += probability * (value - entries) ** 2
        return variances
