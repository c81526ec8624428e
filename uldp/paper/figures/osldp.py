"""Figures of the decomposition of OSLDP mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp.paper.figures import style
from uldp.privacy.osldp import Decomposition

__all__ = ["product_scheme"]

NAMES = "who mixes reports up", "ULDP mechanism", "one-sided mechanism"


def product_scheme(Q: ArrayLike, parts: Decomposition, sensitive: ArrayLike) -> NDArray[Any]:
    """Draw Q = Q_U Q_R so that the entries that belong together stand in line.

    Q_U is on the left of Q and has its rows; Q_R is above Q and has its columns. Protected outputs
    are blue and the others orange, with a line between them and between sensitive values and the
    others; zeros are blank. Rows and columns keep their order and are numbered from 0; an output of
    Q_U that reveals x is called x too.

    Parameters
    ----------
    Q : (k, |Y|) array_like
        The OSLDP mechanism, its sensitive inputs first, and first the outputs that these reach.
    parts : Decomposition
        Of that mechanism.
    sensitive : array_like of int
        Its sensitive inputs.

    Returns
    -------
    (2, 2) ndarray of Axes
        The upper left one is empty.
    """
    matrix = np.asarray(Q)
    k, size = matrix.shape
    in_S = np.isin(np.arange(k), sensitive)
    in_P = np.asarray((matrix[in_S] > 0).any(axis=0))
    revealed = [int((column > 0).argmax()) for column in parts.uldp[:, ~parts.protected].T]
    inputs = [f"$x_{{{x}}}$" for x in range(k)]
    outputs = [f"$y_{{{y}}}$" for y in range(size)]
    middle = [*outputs[: int(in_P.sum())], *(inputs[x] for x in revealed)]
    rows = len(middle) + k
    columns = len(middle) + size
    height = style.WIDE * (0.5 * rows + 1) / (0.55 * columns + 0.8)
    panels = style.make_axes(4, height, 2, narrow=2)
    grid = panels[0].get_subplotspec().get_gridspec()
    grid.set_width_ratios((len(middle), size))
    grid.set_height_ratios((len(middle), k))
    panels[0].set_axis_off()
    above, left, product = panels[1:]
    style.draw_matrix(
        above, parts.postprocessing, (parts.protected, in_P), (middle, outputs), top=True
    )
    style.draw_matrix(left, parts.uldp, (in_S, parts.protected), (inputs, middle), top=True)
    style.draw_matrix(product, matrix, (in_S, in_P), (inputs, outputs), top=True)
    for ax, name in zip(panels[1:], NAMES, strict=True):
        ax.set_title(name)
    return panels.reshape(2, 2)
