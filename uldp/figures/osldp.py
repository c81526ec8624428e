"""Figures of the decomposition of OSLDP mechanisms: one function per figure, data in, Axes out.

Colours are from Okabe and Ito's palette; each curve also has a line style of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.figures.style import DPI, STROKES
from uldp.osldp import Decomposition

__all__ = ["product_scheme", "stacked_curves"]

BLUE, ORANGE = "#0072B2", "#D55E00"
COLOR_MAPS = {BLUE: "Blues", ORANGE: "Oranges"}


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
        The upper left one is empty but for the equation.

    Raises
    ------
    ValueError
        If Q is not a stochastic matrix, the parts do not fit it, or its order is another one.
    """
    matrix = _checks.stochastic(Q, "Q")
    k, size = matrix.shape
    shape = len(parts.uldp), parts.postprocessing.shape[1]
    if shape != matrix.shape:
        raise ValueError(f"parts must be those of a mechanism of shape {(k, size)}, got {shape}")
    in_S = _checks.mask(sensitive, "sensitive", k)
    in_P = np.asarray((matrix[in_S] > 0).any(axis=0))
    if not (_comes_first(in_S) and _comes_first(in_P)):
        raise ValueError("Q must have its sensitive inputs first, and first their outputs")
    if not np.allclose((parts.uldp @ parts.postprocessing).astype(float), matrix.astype(float)):
        raise ValueError("parts must have Q as their product, got those of another mechanism")
    revealed = [int((column > 0).argmax()) for column in parts.uldp[:, ~parts.protected].T]
    inputs = [f"$x_{{{x}}}$" for x in range(k)]
    outputs = [f"$y_{{{y}}}$" for y in range(size)]
    middle = [*outputs[: int(in_P.sum())], *(inputs[x] for x in revealed)]
    _, axes = plt.subplots(
        2,
        2,
        figsize=(0.55 * (len(middle) + size) + 0.8, 0.5 * (len(middle) + k) + 1.0),
        dpi=DPI,
        layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08),
        width_ratios=(len(middle), size),
        height_ratios=(len(middle), k),
    )
    axes[0, 0].set_axis_off()
    equation = "$\\mathbf{Q}_O = \\mathbf{Q}_U\\,\\mathbf{Q}_R$"
    axes[0, 0].text(0.4, 0.5, equation, ha="center", va="center", size=17)
    _heat_map(axes[0, 1], parts.postprocessing, (parts.protected, in_P), (middle, outputs))
    _heat_map(axes[1, 0], parts.uldp, (in_S, parts.protected), (inputs, middle))
    _heat_map(axes[1, 1], matrix, (in_S, in_P), (inputs, outputs))
    names = (axes[0, 1], "R"), (axes[1, 0], "U"), (axes[1, 1], "O")
    for ax, name in names:
        ax.set_xlabel(f"$\\mathbf{{Q}}_{name}$", size=15)
    return np.asarray(axes)


def stacked_curves(
    horizontal: ArrayLike,
    panels: Mapping[str, Mapping[str, ArrayLike]],
    xlabel: str,
    mark: float | None = None,
) -> NDArray[Any]:
    """Draw curves over one common axis, in panels one below the other.

    Parameters
    ----------
    horizontal : (a,) array_like
        Where the curves are evaluated, increasing.
    panels : mapping of str to mapping of str to (a,) array_like
        The curves of each panel by their labels, the panels by that of their vertical axis. Line
        styles follow the order in a panel and repeat after three; a panel whose curves have the
        labels of the one above has no legend.
    xlabel : str
        What the horizontal axis shows.
    mark : float, optional
        Where to draw a vertical line through all panels; none by default.

    Returns
    -------
    (m,) ndarray of Axes
        For m panels.

    Raises
    ------
    ValueError
        If there are no panels, or a curve has another length than `horizontal`.
    """
    if not panels:
        raise ValueError("panels must hold at least one panel, got none")
    across = _checks.numbers(horizontal, "horizontal", (-1,))
    figure = plt.figure(figsize=(5.2, 0.6 + 2.2 * len(panels)), dpi=DPI, layout="constrained")
    axes: NDArray[Any] = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    explained: list[str] = []
    for ax, (ylabel, curves) in zip(axes, panels.items(), strict=True):
        for (label, values), stroke in zip(curves.items(), cycle(STROKES), strict=False):
            heights = _checks.numbers(values, f"curve {label!r} of {ylabel!r}", across.shape)
            ax.plot(across, heights, label=label, linewidth=1.8, **stroke)
        if mark is not None:
            ax.axvline(mark, color="gray", linewidth=1, linestyle=":")
        ax.set(ylabel=ylabel, xlim=(across[0], across[-1]))
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.25)
        if list(curves) != explained:
            explained = list(curves)
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(curves), frameon=False)
    axes[-1].set_xlabel(xlabel)
    return axes


def _heat_map(
    ax: Axes,
    matrix: NDArray[Any],
    shielded: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    names: tuple[list[str], list[str]],
) -> None:
    """Draw a matrix whose first rows and columns are the sensitive or protected ones."""
    rows, columns = shielded
    values = matrix.astype(float)
    for chosen, color in ((columns, BLUE), (~columns, ORANGE)):
        shown = np.ma.masked_where(~chosen | (values <= 0), values)
        ax.imshow(shown, cmap=COLOR_MAPS[color], vmin=0, vmax=1.4, aspect="auto")
    for (row, column), entry in np.ndenumerate(matrix):
        if entry > 0:
            text = f"{entry:.2f}" if isinstance(entry, float) else str(entry)
            ax.text(column, row, text, ha="center", va="center", size=13)
    ax.axhline(rows.sum() - 0.5, color="black", linewidth=1)
    ax.axvline(columns.sum() - 0.5, color="black", linewidth=1)
    ax.set_yticks(range(rows.size), names[0], size=14)
    ax.set_xticks(range(columns.size), names[1], size=14)
    ax.tick_params(length=0, labeltop=True, labelbottom=False)
    for labels, chosen in ((ax.get_yticklabels(), rows), (ax.get_xticklabels(), columns)):
        for label, is_shielded in zip(labels, chosen, strict=True):
            label.set_color(BLUE if is_shielded else ORANGE)


def _comes_first(chosen: NDArray[np.bool_]) -> bool:
    return bool((chosen[:-1] >= chosen[1:]).all())
