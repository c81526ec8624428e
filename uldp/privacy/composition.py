"""Explicit mechanisms used twice, together, or processed (Propositions 1, 11 and 12)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from uldp._numerics import checks
from uldp.law import MATRIX_ENTRIES
from uldp.privacy.levels import Channel

__all__ = ["compose", "compose_repeatedly", "parallel", "postprocess", "preserves_data_types"]

MOST_USES = 24


def compose(first: Channel, second: Channel | Sequence[Channel]) -> Channel:
    """Apply two mechanisms to the same value, the second after the first (Proposition 1).

    If the first is (X_S, Y0_P, ε0)-ULDP and the second (X_S, Y1_P, ε1)-ULDP, the composition is
    (X_S, (Y0 × Y1)_P, ε0 + ε1)-ULDP, where a pair is protected if both its parts are.

    Parameters
    ----------
    first : Channel
        From X to Y0.
    second : Channel or sequence of Channel
        From X to Y1; a sequence gives one for each output of the first (adaptive composition), all
        with the same protected outputs.

    Returns
    -------
    Channel
        From X to Y0 × Y1; the output (y0, y1) has the index y0 |Y1| + y1.

    Raises
    ------
    ValueError
        If the matrix would have more than 2^24 entries.
    """
    checks.instance(first, "first", Channel)
    if isinstance(second, Channel):
        seconds = [second] * first.matrix.shape[1]
    else:
        seconds = checks.items(second, "second")
    if len(seconds) != first.matrix.shape[1]:
        raise ValueError(
            f"second must hold a mechanism for each of {first.matrix.shape[1]} outputs of the "
            f"first, got {len(seconds)}"
        )
    for channel in seconds:
        checks.instance(channel, "second", Channel)
        if len(channel.matrix) != len(first.matrix):
            raise ValueError(
                f"second must have {len(first.matrix)} inputs, as the first has, "
                f"got {len(channel.matrix)}"
            )
        if not np.array_equal(channel.protected, seconds[0].protected):
            raise ValueError("second must hold mechanisms with the same protected outputs")
    _check_entries(first.matrix.size * seconds[0].matrix.shape[1])
    pairs = [first.matrix[:, [y]] * channel.matrix for y, channel in enumerate(seconds)]
    protected = np.logical_and.outer(first.protected, seconds[0].protected)
    return Channel(np.hstack(pairs), protected.ravel())


def compose_repeatedly(channel: Channel, times: int) -> Channel:
    """Apply a mechanism several times to the same value: (X_S, Y_P^t, tε)-ULDP.

    Parameters
    ----------
    channel : Channel
        From X to Y.
    times : int
        The number t of uses; the matrix has |Y|^t columns.

    Returns
    -------
    Channel
        From X to Y^t, the first use the most significant digit of the output's index.

    Raises
    ------
    ValueError
        If the matrix would have more than 2^24 entries.
    """
    checks.instance(channel, "channel", Channel)
    times = checks.whole(times, "times", least=1, most=MOST_USES)
    _check_entries(len(channel.matrix) * channel.matrix.shape[1] ** times)
    return reduce(compose, [channel] * times)


def _check_entries(number: int) -> None:
    if number > MATRIX_ENTRIES:
        raise ValueError(
            f"the mechanisms must be small enough for a matrix of {MATRIX_ENTRIES} entries when "
            f"composed, got {number}"
        )


def parallel(channel: Channel, Q: ArrayLike) -> Channel:
    """Send a value to two collectors, one of them by an LDP mechanism (Proposition 12).

    With an (X_S, Y_P, ε_A)-ULDP mechanism and an ε_B-LDP one, the pairs whose first part is
    protected satisfy the inequality of LDP with ε_A + ε_B.

    Parameters
    ----------
    channel : Channel
        From X to Y_A.
    Q : (k, |Y_B|) array_like
        The LDP mechanism; all its outputs are protected.

    Returns
    -------
    Channel
        From X to Y_A × Y_B, ordered as by `compose`.

    Raises
    ------
    ValueError
        If the matrix would have more than 2^24 entries.
    """
    checks.instance(channel, "channel", Channel)
    matrix = checks.stochastic(Q, "Q")
    if len(matrix) != len(channel.matrix):
        raise ValueError(
            f"Q must have a row for each of {len(channel.matrix)} inputs, got {len(matrix)}"
        )
    return compose(channel, Channel(matrix, np.ones(matrix.shape[1], dtype=np.bool_)))


def postprocess(channel: Channel, R: ArrayLike, protected: ArrayLike) -> Channel:
    """Pass the outputs of a mechanism through a randomized algorithm (Proposition 11).

    The level does not rise if the algorithm preserves data types (see `preserves_data_types`); it
    is applied, and can be audited, whether or not it does.

    Parameters
    ----------
    channel : Channel
        From X to Y.
    R : (|Y|, |Z|) array_like
        The algorithm; each row sums to 1.
    protected : array_like of bool or of int
        Its protected outputs Z_P, as a mask or as indices.

    Returns
    -------
    Channel
        From X to Z.
    """
    matrix = _processing(R, channel)
    return Channel(channel.matrix @ matrix, checks.as_array(protected, "protected"))


def preserves_data_types(channel: Channel, R: ArrayLike, protected: ArrayLike) -> bool:
    """Tell whether a post-processing preserves data types (Definition 5).

    It does if no invertible output of the channel leads to a protected one of the algorithm, and
    each invertible one of the algorithm is reached from exactly one output of the channel, itself
    invertible. Outputs that nothing reaches count for nothing on either side.

    Parameters
    ----------
    channel : Channel
        From X to Y.
    R : (|Y|, |Z|) array_like
        The algorithm; each row sums to 1.
    protected : array_like of bool or of int
        Its protected outputs Z_P, as a mask or as indices.
    """
    matrix = _processing(R, channel)
    shielded = checks.mask(protected, "protected", matrix.shape[1])
    steps = (matrix > 0).astype(np.bool_) & channel.reachable[:, None]
    from_invertible = steps[~channel.protected]
    from_protected = steps[channel.protected]
    return not (
        from_invertible[:, shielded].any()
        or from_protected[:, ~shielded].any()
        or (from_invertible[:, ~shielded].sum(axis=0) > 1).any()
    )


def _processing(R: ArrayLike, channel: Channel) -> np.ndarray:
    checks.instance(channel, "channel", Channel)
    matrix = checks.stochastic(R, "R")
    if len(matrix) != channel.matrix.shape[1]:
        raise ValueError(
            f"R must have a row for each of {channel.matrix.shape[1]} outputs, got {len(matrix)}"
        )
    return matrix
