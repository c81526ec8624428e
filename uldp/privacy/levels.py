"""The least ε at which a definition of privacy holds, and the entries that set it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, set_fields

__all__ = [
    "Audit",
    "Channel",
    "Witness",
    "audit",
    "ldp_level",
    "osldp_level",
    "pair_levels",
    "uldp_level",
]


@dataclass(frozen=True)
class Witness:
    """A level and what sets it.

    Attributes
    ----------
    epsilon : float
        The least ε at which the definition holds; infinity where none does.
    ratio : float or Fraction
        e^ε, exact for a matrix of fractions.
    reason : str
        In words, which inputs and which output set the level.
    inputs : tuple of int
        Those inputs.
    output : int or None
        That output, or None if no output bounds the level.
    """

    epsilon: float
    ratio: float | Fraction
    reason: str
    inputs: tuple[int, ...] = ()
    output: int | None = None


@dataclass(frozen=True)
class Audit:
    """The levels of a mechanism by the three definitions, each with its witness.

    Attributes
    ----------
    ldp, uldp, osldp : Witness
        By Definitions 1, 2 and 6.
    """

    ldp: Witness
    uldp: Witness
    osldp: Witness


@dataclass(frozen=True, eq=False)
class Channel(Frozen):
    """An explicit mechanism: its matrix and its protected outputs.

    Parameters
    ----------
    matrix : (k, |Y|) array_like
        Transition probabilities; each row sums to 1, exactly so if all are fractions.
    protected : (|Y|,) array_like of bool, or array_like of int
        The protected outputs Y_P, as a mask or as indices.
    """

    matrix: NDArray[Any]
    protected: NDArray[np.bool_]

    def __post_init__(self) -> None:
        matrix = checks.stochastic(self.matrix, "matrix")
        protected = checks.mask(self.protected, "protected", matrix.shape[1])
        set_fields(self, matrix=matrix, protected=protected)

    @classmethod
    def of(cls, mechanism: Any) -> Channel:
        """Return the explicit form of a mechanism on a small domain.

        Parameters
        ----------
        mechanism : Mechanism or PersonalizedMechanism
            Whatever has a matrix and a mask of protected outputs.
        """
        matrix = getattr(mechanism, "transition_matrix", None)
        if isinstance(mechanism, type) or not callable(matrix):
            raise TypeError(f"mechanism must have a transition matrix, got {mechanism!r}")
        return cls(matrix(), mechanism.protected)

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """Which outputs some input reaches; shape (|Y|,)."""
        return np.asarray(_positive(self.matrix).any(axis=0))

    def uldp_level(self, sensitive: ArrayLike) -> float:
        """Return the least ε for which this is (X_S, Y_P, ε)-ULDP (see `uldp_level`)."""
        return uldp_level(self.matrix, sensitive, self.protected)


def ldp_level(Q: ArrayLike) -> float:
    """Return the least ε for which the mechanism is ε-LDP (Definition 1).

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each row sums to 1.
    """
    return _ldp(checks.stochastic(Q, "Q")).epsilon


def uldp_level(Q: ArrayLike, sensitive: ArrayLike, protected: ArrayLike) -> float:
    """Return the least ε for which the mechanism is (X_S, Y_P, ε)-ULDP (Definition 2).

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each row sums to 1.
    sensitive : array_like of int
        Indices of the sensitive inputs X_S.
    protected : (|Y|,) array_like of bool, or array_like of int
        The protected outputs Y_P, as a mask or as indices.

    Returns
    -------
    float
        Infinity if an output outside Y_P is reached from a sensitive value or from two values, or
        if a protected one is reached from some values and not from others.
    """
    matrix = checks.stochastic(Q, "Q")
    secret = checks.positions(sensitive, "sensitive", matrix.shape[0])
    return _uldp(matrix, secret, checks.mask(protected, "protected", matrix.shape[1])).epsilon


def osldp_level(Q: ArrayLike, sensitive: ArrayLike) -> float:
    """Return the least ε for which the mechanism is (X_S, ε)-OSLDP (Definition 6).

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each row sums to 1.
    sensitive : array_like of int
        Indices of the sensitive inputs X_S.
    """
    matrix = checks.stochastic(Q, "Q")
    return _osldp(matrix, checks.positions(sensitive, "sensitive", matrix.shape[0])).epsilon


def pair_levels(Q: ArrayLike, protected: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return how strongly a report can speak for one value against another, for each pair.

    Entry (x, x') is the least L ≥ 0 with Q(y|x) ≤ e^L Q(y|x') for all outputs y, or for the
    protected ones alone. ε-LDP bounds all entries by ε (Definition 1) and OSLDP the rows of X_S
    (Definition 6), over all outputs; ULDP bounds all, over the protected ones (Definition 2).

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each row sums to 1.
    protected : (|Y|,) array_like of bool, or array_like of int, optional
        The outputs that count, as a mask or as indices; by default all.

    Returns
    -------
    (k, k) ndarray
        In nats; infinite where an output of x is impossible for x', and 0 on the diagonal.
    """
    matrix = checks.stochastic(Q, "Q")
    if protected is not None:
        matrix = matrix[:, checks.mask(protected, "protected", matrix.shape[1])]
    logs = np.array([[_log(entry) for entry in row] for row in matrix])
    levels = np.zeros((len(logs), len(logs)))
    for level, row in zip(levels, logs, strict=True):
        reached = row > -math.inf
        level[:] = (row[reached] - logs[:, reached]).max(axis=1, initial=0.0)
    return levels


def audit(Q: ArrayLike, sensitive: ArrayLike, protected: ArrayLike | None = None) -> Audit:
    """Return the three levels of a mechanism, with the inputs and the output that set each.

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each row sums to 1.
    sensitive : array_like of int
        Indices of the sensitive inputs X_S.
    protected : array_like of bool or of int, optional
        The protected outputs Y_P, as a mask or as indices. By default all that Definition 2 does
        not allow to be invertible: those that are not reached from exactly one input, itself not
        sensitive.
    """
    matrix = checks.stochastic(Q, "Q")
    secret = checks.positions(sensitive, "sensitive", matrix.shape[0])
    if protected is None:
        reached = _positive(matrix)
        shielded = (reached.sum(axis=0) != 1) | reached[secret].any(axis=0)
    else:
        shielded = checks.mask(protected, "protected", matrix.shape[1])
    return Audit(_ldp(matrix), _uldp(matrix, secret, shielded), _osldp(matrix, secret))


def _ldp(matrix: NDArray[Any]) -> Witness:
    return _largest_ratio(matrix, np.arange(len(matrix)), np.arange(matrix.shape[1]))


def _osldp(matrix: NDArray[Any], sensitive: NDArray[np.intp]) -> Witness:
    return _largest_ratio(matrix, sensitive, np.arange(matrix.shape[1]))


def _uldp(
    matrix: NDArray[Any], sensitive: NDArray[np.intp], protected: NDArray[np.bool_]
) -> Witness:
    reached = _positive(matrix)
    for y in np.flatnonzero(~protected):
        inputs = np.flatnonzero(reached[:, y])
        secret = np.intersect1d(inputs, sensitive)
        if secret.size:
            reason = f"the sensitive input {secret[0]} reaches output {y}, which is not protected"
            return Witness(math.inf, math.inf, reason, (int(secret[0]),), int(y))
        if inputs.size > 1:
            reason = f"output {y}, not protected, is reached from inputs {inputs[0]}, {inputs[1]}"
            return Witness(math.inf, math.inf, reason, (int(inputs[0]), int(inputs[1])), int(y))
    return _largest_ratio(matrix, np.arange(len(matrix)), np.flatnonzero(protected))


def _largest_ratio(
    matrix: NDArray[Any], numerators: NDArray[np.intp], outputs: NDArray[np.intp]
) -> Witness:
    """Return the largest Q[x, y] / Q[x', y] over those x, all x' and those y that are reached."""
    largest = Witness(0.0, 1, "no two inputs differ in what bounds the level")
    if not numerators.size:
        return largest
    for y in outputs:
        column = matrix[:, y]
        x = int(numerators[column[numerators].argmax()])
        other = int(column.argmin())
        if not column[x] > 0:
            continue
        epsilon = _log(column[x]) - _log(column[other])
        if epsilon > largest.epsilon:
            ratio = column[x] / column[other] if column[other] else math.inf
            reason = (
                f"output {y} has probability {column[x]} at input {x}, {column[other]} at {other}"
            )
            largest = Witness(epsilon, ratio, reason, (x, other), int(y))
    return largest


def _log(probability: float | Fraction) -> float:
    if not probability:
        return -math.inf
    if isinstance(probability, Fraction):
        return math.log(probability.numerator) - math.log(probability.denominator)
    return math.log(probability)


def _positive(matrix: NDArray[Any]) -> NDArray[np.bool_]:
    return (matrix > 0).astype(np.bool_)
