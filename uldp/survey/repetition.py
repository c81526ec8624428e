"""Asking the same people again: what a device may send, and what that promises.

In T rounds a user has T answers, which may change. Her device makes a report of each. What a rule
promises is about pairs of sequences of answers. Its *level* is the least L with

    Pr[y_1, ..., y_T | x_1, ..., x_T] ≤ e^L Pr[y_1, ..., y_T | x'_1, ..., x'_T]

for all sequences of reports and all pairs of sequences of answers that both hold what the reports
reveal. For one report it is that of Definition 2, whose revealed values set no bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, set_fields
from uldp.domain import Domain
from uldp.mechanisms import (
    Mechanism,
    RandomizedResponse,
    UtilityOptimizedRappor,
    UtilityOptimizedRR,
)
from uldp.privacy.levels import Channel

__all__ = ["KEEPS", "Device", "Keep", "two_layers"]

Keep = Literal["nothing", "while same", "per value", "first"]
KEEPS: tuple[Keep, ...] = ("nothing", "while same", "per value", "first")
"""What a device keeps: nothing, so that each report is drawn anew; its last draw while the answer
stays the same; a draw for each value that she has held; or its first draw, whatever comes."""

Array = NDArray[np.float64]

MOST_PAIRS = 1 << 24
MOST_LISTED = 25
DIGITS = 12


@dataclass(frozen=True, eq=False)
class Device(Frozen):
    """A rule for a user's reports in several rounds, on a domain small enough to enumerate.

    The device makes a draw from a value by the matrix `first` and keeps it as `keeps` says. Each
    report is made anew from the draw, by the matrix `second`.

    Parameters
    ----------
    first : (k, |Z|) array_like
        How a draw is made of a value; each row sums to 1.
    second : (|Z|, |Y|) array_like
        How a report is made of a draw; each row sums to 1.
    protected : (|Y|,) array_like of bool, or array_like of int
        The protected reports Y_P, as a mask or as indices; each of the others is sent by the
        holders of one value only.
    keeps : {"nothing", "while same", "per value", "first"}
        See `KEEPS`.
    """

    first: Array
    second: Array
    protected: NDArray[np.bool_]
    keeps: Keep

    def __post_init__(self) -> None:
        first = checks.stochastic(self.first, "first").astype(float)
        second = checks.stochastic(self.second, "second").astype(float)
        if first.shape[1] != len(second):
            raise ValueError(
                f"second must have a row for each of the {first.shape[1]} draws of the first, "
                f"got {len(second)}"
            )
        protected = checks.mask(self.protected, "protected", second.shape[1])
        checks.choice(self.keeps, "keeps", KEEPS)
        set_fields(self, first=first, second=second, protected=protected)
        senders = (self.one_report.matrix > 0).sum(axis=0)
        if (senders[~protected] > 1).any():
            raise ValueError("protected must hold each report that comes from more than one value")

    @classmethod
    def of(cls, mechanism: Mechanism, keeps: Keep = "nothing") -> Device:
        """Return the device that sends the reports of a mechanism as they were drawn.

        Parameters
        ----------
        mechanism : Mechanism
            On a domain small enough for its matrix.
        keeps : {"nothing", "while same", "per value", "first"}, optional
            See `KEEPS`.
        """
        checks.instance(mechanism, "mechanism", Mechanism)
        matrix = mechanism.transition_matrix()
        return cls(matrix, np.eye(matrix.shape[1]), mechanism.protected, keeps)

    @property
    def one_report(self) -> Channel:
        """The mechanism of a single report."""
        return Channel(self.first @ self.second, self.protected)

    def law(self, answers: Sequence[int]) -> Array:
        """Return the probabilities of all sequences of reports.

        Parameters
        ----------
        answers : sequence of int
            The index of the answer in each of T rounds.

        Returns
        -------
        (|Y|, ..., |Y|) ndarray
            With T axes, one for each report.
        """
        values = checks.numbers(checks.integers(answers, "answers"), "answers", (-1,))
        k = len(self.first)
        outputs = self.second.shape[1]
        if not values.size or values.min() < 0 or values.max() >= k:
            raise ValueError(f"answers must be one or more indices in 0..{k - 1}, got {answers!r}")
        self._check_size(outputs, values.size)
        probabilities = np.ones((outputs,) * values.size)
        for times in self._draws(values.tolist()):
            shape = np.ones(values.size, dtype=int)
            shape[times] = outputs
            part = self._of_one_draw(int(values[times[0]]), len(times))
            probabilities = probabilities * part.reshape(shape)
        return probabilities

    def level(self, rounds: int, changes: int | None = None) -> float:
        """Return the level over all pairs of sequences of answers, by enumeration.

        Parameters
        ----------
        rounds : int
            T, the number of reports.
        changes : int, optional
            How often an answer changes at most, from one round to the next; by default T - 1.

        Returns
        -------
        float
            Infinity if reports that one sequence leads to rule out another one, both of which hold
            what these reports reveal.

        Raises
        ------
        ValueError
            If there are more than 2^24 pairs of a sequence of answers and one of reports.
        """
        T = checks.whole(rounds, "rounds", least=1)
        most = T - 1 if changes is None else checks.whole(changes, "changes", least=0)
        k = len(self.first)
        outputs = self.second.shape[1]
        self._check_size(k * outputs, T)
        sequences = [one for one in product(range(k), repeat=T) if _changes(one) <= most]
        shown = np.array(list(product(self._reveals.tolist(), repeat=T)))
        largest = np.zeros(len(shown))
        least = np.full(len(shown), np.inf)
        for sequence in sequences:
            law = self.law(sequence).ravel()
            agrees = ((shown < 0) | (shown == sequence)).all(axis=1)
            largest = np.where(agrees, np.maximum(largest, law), largest)
            least = np.where(agrees, np.minimum(least, law), least)
        return _largest_log_ratio(np.stack([largest, np.minimum(largest, least)]))

    def pair_level(self, one: Sequence[int], other: Sequence[int]) -> float:
        """Return the level of one pair of sequences of answers, by enumeration.

        Parameters
        ----------
        one, other : sequence of int
            The indices of the answers in T rounds.
        """
        laws = [self.law(answers).ravel() for answers in (one, other)]
        if laws[0].size != laws[1].size:
            raise ValueError(f"other must have {len(one)} answers as well, got {len(other)}")
        shown = np.array(list(product(self._reveals.tolist(), repeat=len(one))))
        agree = [((shown < 0) | (shown == np.array(a))).all(axis=1) for a in (one, other)]
        return _largest_log_ratio(np.stack(laws)[:, agree[0] & agree[1]])

    def bound(self, rounds: int, changes: int | None = None) -> float:
        """Return an upper bound on the level, for any number of rounds.

        With nothing kept it is T times the level of one report, which is attained. Otherwise it is
        T ρ: whatever was drawn, a protected report is at most e^ρ times as likely after one draw as
        after another. This is infinite where a draw settles for good that a value is revealed, or
        what the report is. It is also how well the answer of a single round is hidden, if all
        others are known.

        Where a single draw makes all reports, because the answer is fixed (no changes) or the first
        draw is kept, they tell no more than the draw does, and that no value has been revealed in T
        reports: with c(z) the probability of a protected report after z, and Z' the draws after
        which the protected reports have the same law, at most the largest
        ln(Σ_Z' Q(z|x) c(z)^T / Σ_Z' Q(z|x') c(z)^T).

        Parameters
        ----------
        rounds : int
            T, the number of reports.
        changes : int, optional
            How often an answer changes at most; by default T - 1.
        """
        T = checks.whole(rounds, "rounds", least=1)
        most = T - 1 if changes is None else checks.whole(changes, "changes", least=0)
        if self.keeps == "nothing" or T == 1:
            shielded = self.one_report.matrix[:, self.protected]
            return T * _largest_log_ratio(shielded)
        drawn = self.first.any(axis=0)
        steps = T * _largest_log_ratio(self.second[drawn][:, self.protected])
        if most and self.keeps != "first":
            return steps
        return min(steps, self._level_of_one_draw(T))

    def _level_of_one_draw(self, T: int) -> float:
        shielded = self.second[:, self.protected]
        hiding = shielded.sum(axis=1)
        sends = self.first.any(axis=0) & (hiding > 0)
        # The rows that are equal up to rounding are draws of one class.
        laws = np.round(shielded[sends] / hiding[sends, None], DIGITS)
        _, alike = np.unique(laws, axis=0, return_inverse=True)
        classes = np.eye(alike.size)[alike.ravel()]
        weights = (self.first[:, sends] * hiding[sends] ** T) @ classes
        return _largest_log_ratio(np.asarray(weights, dtype=float))

    def _check_size(self, each: int, rounds: int) -> None:
        if max(each, 2) ** min(rounds, MOST_LISTED) > MOST_PAIRS:
            raise ValueError(
                f"rounds must be few enough for {MOST_PAIRS} probabilities, got {rounds}"
            )

    @cached_property
    def _reveals(self) -> NDArray[np.intp]:
        """The value that each report reveals, -1 if it is protected or never sent; shape (|Y|,)."""
        sent = self.one_report.matrix > 0
        return np.where(self.protected | ~sent.any(axis=0), -1, sent.argmax(axis=0))

    def _draws(self, answers: list[int]) -> list[list[int]]:
        """Return the rounds whose reports are made from each draw, the first of them its own."""
        times = range(len(answers))
        draws: dict[Keep, Sequence[int]] = {
            "nothing": times,
            "while same": [_changes(answers[: t + 1]) for t in times],
            "per value": answers,
            "first": [0] * len(answers),
        }
        draw = draws[self.keeps]
        return [[t for t in times if draw[t] == one] for one in dict.fromkeys(draw)]

    def _of_one_draw(self, value: int, reports: int) -> Array:
        """Return the law of reports that are made from one draw; shape (|Y|, ..., |Y|)."""
        outputs = self.second.shape[1]
        joint = self.first[value][:, None]
        for _ in range(reports):
            joint = (joint[:, :, None] * self.second[:, None, :]).reshape(len(self.second), -1)
        return np.asarray(joint.sum(axis=0)).reshape((outputs,) * reports)


def two_layers(
    mechanism: Mechanism, epsilon: float, reveals: Literal["once", "anew"] = "anew"
) -> Device:
    """Return the device that keeps a draw for each value and perturbs it anew for each report.

    The first layer is the mechanism. The second is randomized response among the sensitive values
    for RR and uRR; for RAPPOR and uRAP it turns each bit with probability 1/(e^ε₂ + 1). A revealed
    value is passed on as it is. A single report has the same law whether it is decided once or
    anew each time if a non-sensitive value is revealed.

    Parameters
    ----------
    mechanism : Mechanism
        RR, uRR, RAPPOR or uRAP, on a domain small enough for its matrix.
    epsilon : float
        The level ε₂ of the second layer: of a value, or of each bit.
    reveals : {"once", "anew"}, optional
        Whether the draw decides once and for all if the value is revealed, or each report anew.

    Raises
    ------
    ValueError
        If the matrices of the two layers would have more than 2^24 entries.
    """
    if not isinstance(mechanism, UtilityOptimizedRR | UtilityOptimizedRappor):
        raise TypeError(f"mechanism must be RR, uRR, RAPPOR or uRAP, got {mechanism!r}")
    level = checks.budget(epsilon, "epsilon")
    checks.choice(reveals, "reveals", ("once", "anew"))
    if not mechanism.sensitive.size:
        raise ValueError("mechanism must have sensitive values, without which nothing is perturbed")
    s = mechanism.sensitive.size
    k = mechanism.domain.size
    sets = isinstance(mechanism, UtilityOptimizedRappor)
    draws = 2 ** min(s, MOST_LISTED) if sets else s
    if k * draws * mechanism.output_count > MOST_PAIRS:
        raise ValueError(f"mechanism must have few values, for its two layers, got {k}")
    perturbed = _flips(s, level) if sets else _response(s, level)
    matrix = mechanism.transition_matrix()
    protected = mechanism.protected
    if reveals == "once":
        return Device(matrix, _decided_once(mechanism, perturbed), protected, "per value")
    # A draw is the user's value with a protected output; what she reveals is left to each report.
    first = np.zeros((k, k, len(perturbed)))
    for x, hidden in enumerate(matrix[:, protected]):
        first[x, x] = hidden / hidden.sum()
    second = np.concatenate([_decided_anew(mechanism, perturbed, x) for x in range(k)])
    return Device(first.reshape(k, -1), second, protected, "per value")


def _decided_once(mechanism: Mechanism, perturbed: Array) -> Array:
    """Return the law of a report after each output, which passes on what that reveals."""
    if isinstance(mechanism, UtilityOptimizedRappor):
        return _beside(perturbed, np.eye(mechanism.nonsensitive.size + 1))
    second = np.eye(mechanism.domain.size)
    second[np.ix_(mechanism.sensitive, mechanism.sensitive)] = perturbed
    return second


def _decided_anew(
    mechanism: UtilityOptimizedRR | UtilityOptimizedRappor, perturbed: Array, x: int
) -> Array:
    """Return the law of the report of a user with x after each protected output."""
    decoder = mechanism.decoder
    is_open = x in mechanism.nonsensitive
    hiding = decoder.not_true_support[x] if is_open else 1.0
    showing = decoder.true_support[x] if is_open else 0.0
    if isinstance(mechanism, UtilityOptimizedRappor):
        return _beside(perturbed, np.append(hiding, showing * (mechanism.nonsensitive == x)))
    rows = np.zeros((len(perturbed), mechanism.domain.size))
    rows[:, mechanism.sensitive] = hiding * perturbed
    rows[:, x] += showing
    return rows


def _changes(answers: Sequence[int]) -> int:
    return sum(a != b for a, b in pairwise(answers))


def _largest_log_ratio(matrix: Array) -> float:
    """Return the largest logarithm of the quotient of two entries of a column with any above 0."""
    if not matrix.size:
        return 0.0
    largest = matrix.max(axis=0)
    least = matrix.min(axis=0)
    sent = largest > 0
    with np.errstate(divide="ignore"):
        return float((np.log(largest[sent]) - np.log(least[sent])).max(initial=0.0))


def _response(s: int, epsilon: float) -> Array:
    """Return the matrix of randomized response among s values."""
    return RandomizedResponse(Domain(s), epsilon).transition_matrix()


def _flips(s: int, epsilon: float) -> Array:
    """Return how likely sets are to become one another if each bit turns with 1/(e^ε + 1)."""
    return reduce(_beside, [_response(2, epsilon)] * s)


def _beside(sets: Array, revealed: Array) -> Array:
    """Return the probabilities of pairs, the second part changing fastest."""
    return np.asarray(np.kron(sets, revealed), dtype=float)
