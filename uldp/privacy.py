"""The privacy levels that an explicit mechanism has (Definitions 1, 2 and 6).

A mechanism on a small domain is a matrix Q with Q[x, y] the probability of output y at input x.
Each function returns the least ε at which the definition holds, and infinity where none does.
Outputs that no input reaches count for nothing: in particular, they need not be invertible.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp import _checks

__all__ = ["ldp_level", "osldp_level", "uldp_level"]


def ldp_level(Q: ArrayLike) -> float:
    """Return the least ε for which the mechanism is ε-LDP (Definition 1).

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each row sums to 1.

    Raises
    ------
    ValueError
        If Q is not a stochastic matrix.
    """
    matrix = _checks.stochastic(Q, "Q")
    return _level(matrix, matrix)


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

    Raises
    ------
    ValueError
        If Q is not a stochastic matrix, or an index or the mask does not fit it.
    """
    matrix = _checks.stochastic(Q, "Q")
    secret = _checks.positions(sensitive, "sensitive", matrix.shape[0])
    shielded = _mask(protected, matrix.shape[1])
    open_columns = matrix[:, ~shielded] > 0
    if open_columns[secret].any() or (open_columns.sum(axis=0) > 1).any():
        return np.inf
    return _level(matrix[:, shielded], matrix[:, shielded])


def osldp_level(Q: ArrayLike, sensitive: ArrayLike) -> float:
    """Return the least ε for which the mechanism is (X_S, ε)-OSLDP (Definition 6).

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each row sums to 1.
    sensitive : array_like of int
        Indices of the sensitive inputs X_S.

    Raises
    ------
    ValueError
        If Q is not a stochastic matrix or an index does not fit it.
    """
    matrix = _checks.stochastic(Q, "Q")
    return _level(matrix[_checks.positions(sensitive, "sensitive", matrix.shape[0])], matrix)


def _level(numerators: NDArray[np.float64], denominators: NDArray[np.float64]) -> float:
    """Return the log of the largest ratio within a column, at least 0."""
    if 0 in numerators.shape:
        return 0.0
    largest, smallest = numerators.max(axis=0), denominators.min(axis=0)
    bounded = largest > 0
    if (smallest[bounded] == 0).any():
        return np.inf
    ratios = np.log(largest[bounded]) - np.log(smallest[bounded])
    return float(max(ratios.max(initial=0), 0))


def _mask(protected: ArrayLike, outputs: int) -> NDArray[np.bool_]:
    array = np.asarray(protected)
    if array.dtype != np.bool_:
        mask = np.zeros(outputs, dtype=np.bool_)
        mask[_checks.positions(array, "protected", outputs)] = True
        return mask
    if array.shape != (outputs,):
        raise ValueError(f"protected must have shape ({outputs},), got {array.shape}")
    return array
