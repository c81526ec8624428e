"""Randomized response: a report is one value, the user's own or a random sensitive one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics.bits import bernoulli
from uldp.decoders import SupportDecoder
from uldp.likelihood import Evidence
from uldp.mechanisms.index_reports import IndexReports
from uldp.tallies import Tally

__all__ = ["RandomizedResponse", "UtilityOptimizedRR"]


@dataclass(frozen=True)
class UtilityOptimizedRR(IndexReports):
    """Utility-optimized randomized response, the (X_S, ε)-uRR of Definition 3 (eq. 6).

    A user reports her own value with probability (e^ε - 1)/(s + e^ε - 1), where s = |X_S|, and
    otherwise one of the s sensitive values, each as likely as the others; so a non-sensitive value
    in a report is true. This is (X_S, X_S, ε)-ULDP (Proposition 2). With no sensitive values every
    report is true; with one sensitive value of two it is Mangat's randomized response.

    A report is an integer, the index of a value.

    Parameters
    ----------
    domain, epsilon : as of every `Mechanism`
    """

    wire_name: ClassVar[str] = "uRR"

    @cached_property
    def decoder(self) -> SupportDecoder:
        """c1, c2 and c3 of eq. (6): true support is c1 and c3, false support c2 and 0."""
        s = self.sensitive.size
        kept, replaced, each = self._choices
        return SupportDecoder(
            true_support=self._by_class(kept + each, kept),
            not_true_support=self._by_class((s - 1) * each, replaced),
            false_support=self._by_class(each, 0),
            not_false_support=self._by_class(kept + (s - 1) * each, 1),
            gain=self._by_class(kept, kept),
            names_one=True,
        )

    @property
    def _choices(self) -> tuple[float, float, float]:
        """Probabilities to keep the value, to replace it, and to replace it by a given one."""
        shrink = np.exp(-self.epsilon)
        growth = -np.expm1(-self.epsilon)
        total = growth + self.sensitive.size * shrink
        return growth / total, self.sensitive.size * shrink / total, shrink / total

    @property
    def revealed_share(self) -> float:
        """c3, the probability of keeping the value."""
        return float(self._choices[0]) if self.nonsensitive.size else 0.0

    def _best_report(self, weights: NDArray[np.float64]) -> Any:
        """Return the value with the largest w/gain (see `Mechanism._best_report`)."""
        return self.report_dtype.type((weights / self.decoder.gain).argmax())

    def _matrix(self) -> NDArray[np.float64]:
        """Return Q(y|x) of eq. (6)."""
        matrix = np.diag(self.decoder.gain)
        matrix[:, self.sensitive] += self._choices[2]
        return matrix

    def _perturb(self, users: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """Draw a sensitive value for every user, so that the time does not tell who sends it."""
        if not self.sensitive.size:
            return users.astype(self.report_dtype)
        kept, replaced, _ = self._choices
        drawn = self.sensitive.take(rng.integers(self.sensitive.size, size=users.size))
        return users + bernoulli(rng, replaced, kept, users.size) * (drawn - users)

    def evidence(self, reports: ArrayLike | Tally) -> Evidence:
        """Return what the likelihood depends on: all of a tally (see `Mechanism.evidence`)."""
        counts = self._as_tally(reports).counts
        return Evidence(self, None, counts[self.sensitive], counts[self.nonsensitive])

    def _simulate_counts(
        self, true_counts: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        moved = rng.binomial(true_counts, self._choices[1])
        counts = true_counts - moved
        s = self.sensitive.size
        if s:
            counts[self.sensitive] += rng.multinomial(moved.sum(), np.full(s, 1 / s))
        return counts


@dataclass(frozen=True)
class RandomizedResponse(UtilityOptimizedRR):
    """k-ary randomized response (RR, eq. 2): the uRR in which every value is sensitive.

    It is ε-LDP, and a report is an integer, the index of a value.

    Parameters
    ----------
    domain, epsilon : as of every `Mechanism`
    """

    protects_every_value = True
    wire_name: ClassVar[str] = "RR"
