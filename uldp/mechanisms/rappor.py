"""RAPPOR: a report is a noisy set of sensitive values, and perhaps the true non-sensitive one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from uldp._numerics import checks
from uldp._numerics.bits import bernoulli, random_bytes
from uldp._numerics.fields import set_fields
from uldp.decoders import SupportDecoder
from uldp.mechanisms.set_reports import SetReports

__all__ = ["Rappor", "UtilityOptimizedRappor"]

LEAST_THETA = 1e-80
SMALLEST_NORMAL = np.finfo(float).tiny


@dataclass(frozen=True)
class UtilityOptimizedRappor(SetReports):
    """Utility-optimized RAPPOR, the (X_S, θ, ε)-uRAP of Definition 4 (eqs. 7-10).

    A user sends one bit per value. On X_S the bit of her own value is 1 with probability θ, each
    other bit with d1 = θ/((1-θ)e^ε + θ); on X_N only the bit of her own value can be 1, and is so
    with probability θ(1 - e^-ε). This is (X_S, Y_P, ε)-ULDP, where Y_P holds the outputs without
    a 1 on X_N (Proposition 3).

    A report is a row of bytes: first the s bits of the sensitive values in increasing order, the
    first of eight the least significant, the last byte filled up with zeros; then, since at most
    one of the bits on X_N is 1, the number of that value among the non-sensitive ones, counted
    from 1 and 0 if there is none, as a little-endian integer of 1, 2 or 4 bytes, the fewest that
    hold |X_N| (none if X_N is empty).

    Parameters
    ----------
    domain, epsilon : as of every `Mechanism`
    theta : float or None, optional
        θ in [1e-80, 1). None, the default, is the paper's e^(ε/2) / (e^(ε/2) + 1), the basic
        one-time RAPPOR, at every ε, also after `dataclasses.replace`. θ = 1/2 is optimized unary
        encoding (Wang et al. 2017), and `uldp.beyond.best_theta` gives that of the least loss.
    """

    wire_name: ClassVar[str] = "uRAP"

    theta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.theta is None:
            return
        theta = checks.open_unit(self.theta, "theta")
        if theta < LEAST_THETA:
            raise ValueError(f"theta must be at least {LEAST_THETA}, got {theta}")
        set_fields(self, theta=theta)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the paper's θ as such, for which versions before 2.0.0 kept its number, too."""
        is_papers = state.get("_chosen", 0) is None
        super().__setstate__(state | {"theta": None} if is_papers else state)

    @property
    def log_odds(self) -> float:
        """ln(θ/(1-θ)), which tells θ from 1 at every ε."""
        return self.epsilon / 2 if self.theta is None else float(logit(self.theta))

    def own_entries(self) -> dict[str, Any]:
        """Return θ, unless it is the paper's, which follows from ε."""
        return {} if self.theta is None else super().own_entries()

    @cached_property
    def decoder(self) -> SupportDecoder:
        """True and false support: θ and d1 on X_S, 1 - d2 = θ(1 - e^-ε) and 0 on X_N."""
        log_odds = self.log_odds
        theta = expit(log_odds)
        not_theta = expit(-log_odds)
        other = expit(log_odds - self.epsilon)
        not_other = expit(self.epsilon - log_odds)
        growth = -np.expm1(-self.epsilon)
        shrink = np.exp(-self.epsilon)
        shown = theta * growth
        return SupportDecoder(
            true_support=self._by_class(theta, shown),
            not_true_support=self._by_class(not_theta, not_theta + theta * shrink),
            false_support=self._by_class(other, 0),
            not_false_support=self._by_class(not_other, 1),
            gain=self._by_class(shown * not_other, shown),
            names_one=False,
        )

    @cached_property
    def outputs(self) -> NDArray[Any]:
        """All reports: each set of sensitive values, alone and with each non-sensitive value."""
        self._check_matrix_size(self.output_count)
        sets = self._sets.all()
        revealed = np.arange(self.nonsensitive.size + 1)
        reports = self._reports(
            np.repeat(sets, revealed.size, axis=0), np.tile(revealed, len(sets))
        )
        reports.setflags(write=False)
        return reports

    @property
    def output_count(self) -> int:
        """The number 2^s (|X_N| + 1) of sets of sensitive values, with or without another value."""
        return (self.nonsensitive.size + 1) << self.sensitive.size

    @property
    def revealed_share(self) -> float:
        """1 - d2, the probability that the bit of a user's own value on X_N is 1."""
        return (
            float(self.decoder.true_support[self.nonsensitive[0]])
            if self.nonsensitive.size
            else 0.0
        )

    def _best_report(self, weights: NDArray[np.float64]) -> Any:
        """Return the set of the positive w, with the largest on X_N (`Mechanism._best_report`)."""
        each = weights / self.decoder.gain
        revealed = np.append(0, each[self.nonsensitive]).argmax()
        return self._report(each[self.sensitive] > 0, int(revealed))

    def _matrix(self) -> NDArray[np.float64]:
        """Return Q(y|x) of eqs. (7)-(10)."""
        bits = self._sets.unpack(self._sets_of(self.outputs))
        revealed = self._revealed(self.outputs)
        decoder = self.decoder
        matrix = np.empty((self.domain.size, len(self.outputs)))
        others = np.where(
            bits, decoder.false_support[self.sensitive], decoder.not_false_support[self.sensitive]
        )
        for x, number in enumerate(self._number_in_class):
            each_bit = others.copy()
            if number > 0:
                own_bit = bits[:, number - 1]
                each_bit[:, number - 1] = np.where(
                    own_bit, decoder.true_support[x], decoder.not_true_support[x]
                )
                reveal = np.where(revealed == 0, 1, 0)
            else:
                reveal = np.select(
                    [revealed == 0, revealed == -number],
                    [decoder.not_true_support[x], decoder.true_support[x]],
                )
            matrix[x] = each_bit.prod(axis=1) * reveal
            if matrix[x, reveal > 0].min() < SMALLEST_NORMAL:
                raise ValueError(
                    f"epsilon must be smaller for the matrix of this domain and theta, whose "
                    f"entries are too small for floating point, got {self.epsilon}"
                )
        return matrix

    def _perturb(self, users: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        numbers = self._number_in_class.take(users)
        return self._reports(self._draw_sets(users, rng), self._draw_revealed(numbers, rng))

    def _draw_sets(self, users: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.uint8]:
        """Draw the bits on X_S, with the same work for every user, whatever her value."""
        width = self._sets.width
        decoder = self.decoder
        if not width:
            return np.empty((users.size, 0), dtype=np.uint8)
        any_sensitive = self.sensitive[0]
        noise = decoder.false_support[any_sensitive], decoder.not_false_support[any_sensitive]
        sets = random_bytes(rng, *noise, users.size * width).reshape(users.size, width)
        sets[:, -1] &= np.uint8(self._sets.last_byte)
        on = bernoulli(
            rng,
            decoder.true_support[any_sensitive],
            decoder.not_true_support[any_sensitive],
            users.size,
        )
        byte, bit = (own.take(users) for own in self._own_bit)
        flat = sets.reshape(-1)
        place = np.arange(0, sets.size, width) + byte
        # The own bit becomes `on`; a user without one has bit = 0, for whom nothing changes.
        flat[place] = flat.take(place) & ~bit | bit * on
        return sets

    @cached_property
    def _own_bit(self) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """For each value the byte of its bit on X_S and that bit, or no bit at all."""
        byte, bit = self._sets.place(np.maximum(self._number_in_class - 1, 0))
        return byte, bit * (self._number_in_class > 0)

    def _draw_revealed(
        self, numbers: NDArray[np.int32], rng: np.random.Generator
    ) -> NDArray[np.int32]:
        if not self.nonsensitive.size:
            return np.zeros_like(numbers)
        decoder = self.decoder
        any_nonsensitive = self.nonsensitive[0]
        shown = bernoulli(
            rng,
            decoder.true_support[any_nonsensitive],
            decoder.not_true_support[any_nonsensitive],
            numbers.size,
        )
        return np.maximum(-numbers, 0) * shown

    def _count(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        counts = np.empty(self.domain.size, dtype=np.int64)
        counts[self.sensitive] = self._sets.counts(self._sets_of(reports))
        counts[self.nonsensitive] = self._count_revealed(reports)
        return counts

    def _simulate_counts(
        self, true_counts: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        decoder = self.decoder
        dropped = rng.binomial(true_counts, decoder.not_true_support)
        added = rng.binomial(true_counts.sum() - true_counts, decoder.false_support)
        return true_counts - dropped + added


@dataclass(frozen=True)
class Rappor(UtilityOptimizedRappor):
    """Generalized RAPPOR: the uRAP in which every value is sensitive, which is ε-LDP.

    A report is a row of ⌈k/8⌉ bytes: the k bits of the values, the first of eight the least
    significant.

    Parameters
    ----------
    domain, epsilon : as of every `Mechanism`
    theta : float or None, optional
        θ in [1e-80, 1); None, the default, is the paper's e^(ε/2) / (e^(ε/2) + 1).
    """

    protects_every_value = True
    wire_name: ClassVar[str] = "RAPPOR"
