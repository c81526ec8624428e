"""One-sided LDP is ULDP followed by a random post-processing (Proposition 14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp.decoders import ROUNDING
from uldp.privacy.levels import audit

__all__ = ["Decomposition", "decompose"]


@dataclass(frozen=True, eq=False)
class Decomposition:
    """An OSLDP mechanism taken apart: its matrix is ``uldp @ postprocessing``.

    Attributes
    ----------
    uldp : (k, |Z|) ndarray
        A ULDP mechanism; each row sums to 1.
    postprocessing : (|Z|, |Y|) ndarray
        What is done to its outputs; each row sums to 1.
    protected : (|Z|,) ndarray of bool
        The protected outputs Z_P of the ULDP mechanism. The others reveal one value each.
    """

    uldp: NDArray[Any]
    postprocessing: NDArray[Any]
    protected: NDArray[np.bool_]


def decompose(Q: ArrayLike, sensitive: ArrayLike, epsilon: float) -> Decomposition:
    """Decompose an OSLDP mechanism into a ULDP one and a post-processing (Proposition 14).

    Z_P are the outputs that sensitive values reach. On each of them w, a value keeps no more than
    the largest probability Qmax(w) of a sensitive value; what exceeds it, and what a value sends
    elsewhere, becomes an output of its own that reveals the value. The post-processing keeps Z_P
    and spreads each revealed value as the excess was spread.

    The paper's proof divides by what a non-sensitive value sends outside Z_P, which may be 0; here
    the divisor is the mass that the value's own output receives, and there is no such output if
    it is 0.

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each row sums to 1. With fractions the result is exact.
    sensitive : array_like of int
        Indices of the sensitive inputs X_S.
    epsilon : float
        A level, at least 0, at which Q is (X_S, ε)-OSLDP (up to 1e-12).

    Returns
    -------
    Decomposition
        Whose `uldp` is (X_S, Z_P, ε)-ULDP.
    """
    matrix = checks.stochastic(Q, "Q")
    secret = checks.positions(sensitive, "sensitive", len(matrix))
    bound = checks.nonnegative(epsilon, "epsilon")
    worst = audit(matrix, secret).osldp
    if worst.epsilon > bound + ROUNDING * max(1.0, bound):
        raise ValueError(
            f"Q must be OSLDP with epsilon = {bound}, got {worst.epsilon}: {worst.reason}"
        )
    zero = matrix[0, 0] * 0
    largest = matrix[secret].max(axis=0, initial=zero)
    image = np.flatnonzero(largest > 0)
    kept = np.minimum(matrix, largest)
    excess = matrix - kept
    revealed_mass = excess.sum(axis=1)
    revealed = np.flatnonzero(revealed_mass > 0)
    identity = np.eye(len(matrix), dtype=int) + zero
    keep = np.eye(matrix.shape[1], dtype=int) + zero
    return Decomposition(
        uldp=np.hstack([kept[:, image], (identity * revealed_mass)[:, revealed]]),
        postprocessing=np.vstack([keep[image], excess[revealed] / revealed_mass[revealed, None]]),
        protected=np.arange(image.size + revealed.size) < image.size,
    )
