"""The Hadamard response: a report is a column of a Hadamard matrix, or a true value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics.bits import bernoulli
from uldp._numerics.chunks import chunks
from uldp._numerics.packed import PackedSets
from uldp.beyond.outcome_decoder import Masses, OutcomeDecoder, Outcomes
from uldp.likelihood import Evidence
from uldp.mechanisms.index_reports import IndexReports
from uldp.tallies import Tally

__all__ = ["UtilityOptimizedHadamard"]

MEMBERS_AT_ONCE = 1 << 22
MOST_BYTES_OF_SETS = 1 << 30


@dataclass(frozen=True)
class UtilityOptimizedHadamard(IndexReports):
    """Utility-optimized Hadamard response, (X_S, ε)-uHR (Yoon et al. 2025).

    Let H be Sylvester's Hadamard matrix of the least order V = 2^v above s = |X_S|: rows and
    columns are numbered from 0 to V - 1, and row r has -1 in column y if r and y have an odd number
    of binary digits 1 in common, and +1 otherwise. The sensitive values in their order have the
    rows 1 to s. With probability 2/(e^ε + 1) a user sends a uniformly random column, whatever her
    value. Otherwise, if her value is sensitive, she sends a uniformly random one of the columns in
    which its row has +1; if not, she sends her value. This is (X_S, Y_P, ε)-ULDP, where Y_P holds
    the columns: one with +1 in the row of a sensitive value is e^ε times as likely to come from it
    as one with -1, or as from any value of X_N. With no sensitive values every report is true.

    A report is an integer: the number of a column, or V plus the place of a value in X_N, from 0.
    A tally counts each of them, and is decoded by a fast Hadamard transform, in O(V log V).

    Parameters
    ----------
    domain, epsilon : as of every `Mechanism`
    """

    wire_name: ClassVar[str] = "uHR"

    @property
    def order(self) -> int:
        """The order V of the Hadamard matrix, or 0 if no value is sensitive."""
        return 1 << self.sensitive.size.bit_length() if self.sensitive.size else 0

    @property
    def _choices(self) -> tuple[float, float]:
        """The probabilities that a report tells of the value, and that it is any column."""
        if not self.order:
            return 1.0, 0.0
        shrink = float(np.exp(-self.epsilon))
        growth = float(-np.expm1(-self.epsilon))
        return growth / (1 + shrink), 2 * shrink / (1 + shrink)

    @cached_property
    def decoder(self) -> HadamardDecoder:
        """The published estimate."""
        return HadamardDecoder(self.sensitive, self.nonsensitive, self.order, *self._choices)

    @property
    def output_count(self) -> int:
        """The number V + |X_N| of the columns and the non-sensitive values."""
        return self.order + self.nonsensitive.size

    @property
    def revealed_share(self) -> float:
        """(e^ε - 1)/(e^ε + 1), the probability of sending no column."""
        return self._choices[0] if self.nonsensitive.size else 0.0

    @property
    def protected(self) -> NDArray[np.bool_]:
        """The columns."""
        return self.outputs < self.order

    def evidence(self, reports: ArrayLike | Tally) -> Evidence:
        """Return the sets of the columns that were sent: the values with +1 there.

        A tally keeps all that they depend on (see `Mechanism.evidence`).

        Raises
        ------
        ValueError
            If the sets of the reports would take more than 2^30 bytes.
        """
        counts = self._as_tally(reports).counts
        elements = PackedSets(self.sensitive.size)
        columns = np.flatnonzero(counts[: self.order])
        if columns.size * elements.width > MOST_BYTES_OF_SETS:
            raise ValueError(
                f"reports must name sets of at most {MOST_BYTES_OF_SETS} bytes together, got "
                f"{columns.size} of {elements.width} bytes each: estimate from their tally"
            )
        sets = np.empty((elements.width, columns.size), dtype=np.uint8)
        for chunk in chunks(columns.size, max(1, MEMBERS_AT_ONCE // max(elements.size, 1))):
            sets[:, chunk] = elements.pack(self._members(columns[chunk])).T
        return Evidence(self, sets, counts[columns], counts[self.order :])

    def _best_report(self, weights: NDArray[np.float64]) -> Any:
        """Return the report with the largest total (see `Mechanism._best_report`)."""
        return self.report_dtype.type(self.decoder.totals(weights).argmax())

    def _members(self, columns: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which sensitive values have +1 in these columns, shape (columns, s)."""
        rows = np.arange(1, self.sensitive.size + 1)
        return np.asarray(np.bitwise_count(columns[:, None] & rows) % 2 == 0, dtype=np.bool_)

    def _matrix(self) -> NDArray[np.float64]:
        told, hidden = self._choices
        each = hidden / max(self.order, 1)
        matrix = np.zeros((self.domain.size, self.output_count))
        matrix[:, : self.order] = each
        own = self._members(np.arange(self.order)).T
        matrix[self.sensitive, : self.order] *= np.where(own, np.exp(self.epsilon), 1)
        matrix[self.nonsensitive, self.order :] = told * np.eye(self.nonsensitive.size)
        return matrix

    def _perturb(self, users: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """Draw any column; where its sign tells, change a digit that the own row has, if it is -1.

        All of it is drawn for every user, so that the time does not tell who sends what.
        """
        numbers = self._number_in_class[users].astype(self.report_dtype)
        if not self.order:
            return -1 - numbers
        told = bernoulli(rng, *self._choices, users.size)
        columns = rng.integers(self.order, size=users.size)
        rows = np.maximum(numbers, 0)
        is_odd = np.bitwise_count(rows & columns) % 2
        # rows & -rows is the last digit 1 of the own row: changed in the column it turns the sign.
        columns ^= told * is_odd * (rows & -rows)
        return np.where(told & (numbers < 0), self.order - 1 - numbers, columns)

    def _simulate_counts(
        self, true_counts: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        told = rng.binomial(true_counts, self._choices[0])
        if not self.order:
            return true_counts
        rows = np.zeros(self.order, dtype=np.int64)
        rows[0] = (true_counts - told).sum()
        rows[1 : self.sensitive.size + 1] = told[self.sensitive]
        return np.concatenate([random_columns(rows, rng), told[self.nonsensitive]])


@dataclass(frozen=True, eq=False)
class HadamardDecoder(OutcomeDecoder):
    """The published estimate: c H counts/n on X_S and c counts/n on X_N, with c = 1/told.

    Attributes
    ----------
    sensitive, nonsensitive : ndarray of int
        The indices of the two classes.
    order : int
        V, or 0 if no value is sensitive.
    told, hidden : float
        (e^ε - 1)/(e^ε + 1), or 1 if no value is sensitive, and 1 - told.
    """

    order: int
    told: float
    hidden: float

    def estimate(self, counts: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Return the estimate from a tally's counts; it need not sum to 1."""
        return self._by_value(counts[: self.order], counts[self.order :]) / (n * self.told)

    def apply_second_moment(
        self, p: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return M(p) w = Dᵀ diag(q) D w, where q is the law of the reports at p."""
        w = weights.reshape(p.size, -1)
        S = p[self.sensitive]
        N = p[self.nonsensitive]
        sent = S.sum() + self.hidden * N.sum()
        of_columns = (sent + self.told * self._by_column(S)) / max(self.order, 1)
        decoded = self._by_column(w[self.sensitive]) * of_columns[:, None]
        revealed = w[self.nonsensitive] * self.told * N[:, None]
        return self._by_value(decoded, revealed).reshape(weights.shape) / self.told**2

    def moments_of_total(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E[(D_y · w)²] by the value behind the report y, in O(V log V)."""
        # A report that tells is one of the V/2 columns with +1 in the own row. Their mean square is
        # that of all columns and a V-th of the transform of the squares.
        squares = self._by_column(weights[self.sensitive]) ** 2
        mean = squares.mean() if self.order else 0.0
        telling = self._by_value(squares / max(self.order, 1), weights[self.nonsensitive] ** 2)
        moments = self.told * telling + self.hidden * mean
        moments[self.sensitive] += self.told * mean
        return moments / self.told**2

    def range_of_total(self, weights: NDArray[np.float64]) -> tuple[float, float]:
        """Return the least and the largest D_y · w over all reports y, in O(V log V)."""
        totals = self.totals(weights)
        return float(totals.min()), float(totals.max())

    def totals(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return D_y · w for each report y, in O(V log V)."""
        of_columns = self._by_column(weights[self.sensitive])
        return np.concatenate([of_columns, weights[self.nonsensitive]]) / self.told

    @property
    def sums_to_one(self) -> bool:
        """Whether every estimate sums to 1: only if no value is sensitive."""
        return not self.order

    def sensitive_outcomes(self, p_own: Masses, p_fellow: Masses, p_foreign: float) -> Outcomes:
        """Yield c and -c, for a column with +1 or -1, and 0 for a value that is revealed."""
        unlike = (self.hidden * (p_own + p_foreign) + p_fellow) / 2
        yield 1 / self.told, self.told * p_own + unlike
        yield -1 / self.told, unlike
        yield 0.0, self.told * p_foreign

    def nonsensitive_outcomes(self, p_own: Masses, p_fellow: Masses, p_foreign: float) -> Outcomes:
        """Yield c for the value itself, and 0 for all else."""
        yield 1 / self.told, self.told * p_own
        yield 0.0, self.hidden * p_own + p_fellow + p_foreign

    def _by_column(self, masses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each column the masses of the values with +1 there less those with -1."""
        rows = np.zeros((self.order, *masses.shape[1:]))
        rows[1 : len(masses) + 1] = masses
        return hadamard_transform(rows)

    def _by_value(self, columns: NDArray[Any], revealed: NDArray[Any]) -> NDArray[np.float64]:
        """Return for each value what columns hold with +1 less what those with -1, or its own."""
        S = self.sensitive
        N = self.nonsensitive
        found = np.empty((S.size + N.size, *columns.shape[1:]))
        found[S], found[N] = hadamard_transform(columns)[1 : S.size + 1], revealed
        return found


def hadamard_transform(values: NDArray[Any]) -> NDArray[Any]:
    """Return H times the values along the first axis, of a length 2^v or 0, in O(v 2^v)."""
    # Each step is for one binary digit: what differs in it is added up, and subtracted.
    result = values
    for _ in range(len(values).bit_length() - 1):
        even = result[::2]
        odd = result[1::2]
        result = np.concatenate([even + odd, even - odd])
    return result


def random_columns(rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw for each of some users, counted by rows of H, a uniform column with +1 in her row.

    The binary digits of the columns are drawn from the first to the last, for all users at once
    whose further digits have the same law: those with the same digits of the column so far, the
    same further digits of the row, and the same parity of the further digits in common.

    Parameters
    ----------
    rows : (V,) ndarray of int
        How many users have each row; V is a power of 2.
    rng : Generator
        What draws.

    Returns
    -------
    (V,) ndarray of int
        How many users drew each column.
    """
    users = np.stack([rows, np.zeros_like(rows)])[None]  # by column so far, parity, row from here
    while users.shape[2] > 1:
        split = users.reshape(len(users), 2, 2, -1)  # the third axis is the row's next digit
        ones = rng.binomial(split, 0.5)
        only_this_digit = split[:, :, 1, 0]  # of these rows it is the last 1: it sets the parity
        ones[:, :, 1, 0] = only_this_digit * [0, 1]
        zeros = split - ones
        drawn = [zeros[:, :, 0] + zeros[:, :, 1], ones[:, :, 0] + ones[:, ::-1, 1]]
        users = np.stack(drawn, axis=1).reshape(2 * len(users), 2, -1)
    return users[:, 0, 0]
