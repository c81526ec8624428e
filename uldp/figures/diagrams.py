"""The paper's drawn figures, made from mechanisms: one function per figure, Axes out.

Blue stands for X_S and Y_P, orange for X_N and Y_I; each class of arrow has its own line style.
Values carry the labels that they have in the domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.mechanisms import Mechanism, UtilityOptimizedRappor, UtilityOptimizedRR

__all__ = ["matrix_diagram", "rappor_diagram", "response_diagram", "uldp_diagram"]

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#595959"
PALE = {BLUE: "#DCEBF5", ORANGE: "#FBE5D6"}
WIDTH, GAP = 3.6, 0.6  # from inputs to outputs, and between two classes, in node distances


WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}

Place = tuple[float, float]


class Stroke(NamedTuple):
    """How one class of arrows is drawn."""

    color: str
    linewidth: float
    linestyle: str


BOLD_BLUE = Stroke(BLUE, 2.4, "-")
BOLD_ORANGE = Stroke(ORANGE, 2.4, "-")
THIN_BLUE = Stroke(BLUE, 1.3, "-")
DASHED = Stroke(GREY, 1.1, "--")
DOTTED = Stroke(GREY, 1.0, ":")


def uldp_diagram(
    Q: ArrayLike, sensitive: ArrayLike, protected: ArrayLike, ax: Axes | None = None
) -> Axes:
    """Draw which outputs each input can lead to: the overview of ULDP (Figure 1).

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each positive one is an arrow from one of x_1, ..., x_k to one of
        y_1, ..., y_|Y|.
    sensitive : array_like of int
        Indices of the sensitive inputs X_S.
    protected : array_like of int
        Indices of the protected outputs Y_P.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ValueError
        If Q is not a stochastic matrix or an index does not fit it.
    """
    matrix = _checks.stochastic(Q, "Q")
    k, size = matrix.shape
    in_S = np.isin(np.arange(k), _checks.positions(sensitive, "sensitive", k))
    in_P = np.isin(np.arange(size), _checks.positions(protected, "protected", size))
    ax = _canvas(ax, (5.0, 4.6))
    inputs = _column(ax, 0, "X", "SN", [f"$x_{{{i + 1}}}$" for i in range(k)], in_S)
    outputs = _column(ax, WIDTH, "Y", "PI", [f"$y_{{{j + 1}}}$" for j in range(size)], in_P)
    for x, y in np.argwhere(matrix > 0):
        stroke = THIN_BLUE if in_S[x] else DASHED if in_P[y] else BOLD_ORANGE
        _arrow(ax, inputs[x], outputs[y], stroke, shrink=0.4)
    _legend(
        ax,
        {
            "from a sensitive value": THIN_BLUE,
            r"from a non-sensitive value to $\mathcal{Y}_P$": DASHED,
            r"from a non-sensitive value to $\mathcal{Y}_I$": BOLD_ORANGE,
        },
        columns=1,
    )
    return ax


def response_diagram(mechanism: UtilityOptimizedRR, ax: Axes | None = None) -> Axes:
    """Draw the transitions of a uRR with the symbols and values of eq. (6) (Figure 2).

    Parameters
    ----------
    mechanism : UtilityOptimizedRR
        On a domain small enough to read, up to about ten values.
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    Q = mechanism.transition_matrix()
    labels = [str(label) for label in mechanism.domain.labels]
    in_S = mechanism.protected
    ax = _canvas(ax, (5.0, 4.8))
    inputs = _column(ax, 0, "X", "SN", labels, in_S)
    outputs = _column(ax, WIDTH, "Y", "PI", labels, in_S)
    legend = {}
    for x, y in np.argwhere(Q > 0):
        if x != y:
            symbol, stroke = "c_2", DOTTED
        else:
            symbol, stroke = ("c_1", BOLD_BLUE) if in_S[x] else ("c_3", BOLD_ORANGE)
            middle = (WIDTH / 2, inputs[x][1])
            _text(ax, middle, f"${symbol}$", stroke.color, size=14, bbox=WHITE)
        _arrow(ax, inputs[x], outputs[y], stroke, shrink=0.4)
        legend[f"${symbol} = {Q[x, y]:.3f}$"] = stroke
    _legend(ax, dict(sorted(legend.items())), columns=3)
    return ax


def rappor_diagram(mechanism: UtilityOptimizedRappor, ax: Axes | None = None) -> Axes:
    """Draw the bits of a uRAP with the symbols and values of eqs. (9) and (10) (Figure 3).

    The first sensitive and the first non-sensitive value are drawn: its bits and, below them, the
    probability that the reported bit is 1, which is also the part of the cell that is filled.

    Parameters
    ----------
    mechanism : UtilityOptimizedRappor
        On a domain small enough to read, up to about a dozen values.
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    law, s, k = mechanism.decoder, mechanism.sensitive.size, mechanism.domain.size
    order = np.concatenate([mechanism.sensitive, mechanism.nonsensitive])
    drawn = [part[0] for part in (mechanism.sensitive, mechanism.nonsensitive) if part.size]
    ax = _canvas(ax, (6.2, 0.6 + 2.2 * len(drawn)))
    colors = [BLUE] * s + [ORANGE] * (k - s)
    for panel, value in enumerate(drawn):
        top = -4.4 * panel
        own = order == value
        ones = np.where(own, law.own[order], law.other[order])
        _text(ax, (-0.2, top - 0.5), f"{mechanism.domain.labels[value]}", ha="right", size=13)
        _text(ax, (-0.2, top - 2.2), "Pr[bit = 1]", ha="right")
        for place, (mine, probability, color) in enumerate(zip(own, ones, colors, strict=True)):
            symbol = _bit_symbol(mine, place < s)
            _cell(ax, (place, top - 1), float(mine), color, str(int(mine)))
            _arrow(ax, (place + 0.5, top - 1), (place + 0.5, top - 1.7), DOTTED)
            _cell(ax, (place, top - 2.7), probability, color, symbol)
            if symbol != "0":
                _text(ax, (place + 0.5, top - 3.0), f"{probability:.3f}")
    for left, right, color in ((0, s, BLUE), (s, k, ORANGE)):
        if left < right:
            name = r"$\mathcal{X}_S$" if color == BLUE else r"$\mathcal{X}_N$"
            _text(ax, ((left + right) / 2, 0.4), name, color, size=13)
    ax.set(xlim=(-2, k + 0.1), ylim=(1.2 - 4.4 * len(drawn), 0.8))
    return ax


def matrix_diagram(mechanism: Mechanism, ax: Axes | None = None) -> Axes:
    """Draw the transition matrix of a mechanism with its entries; zeros are left blank.

    Sensitive values come first among the rows and protected outputs among the columns, with lines
    between the classes. A column is named by the values that its report supports.

    Parameters
    ----------
    mechanism : Mechanism
        With a small matrix, up to about ten rows and twenty columns.
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    rows = np.concatenate([mechanism.sensitive, mechanism.nonsensitive])
    columns = np.argsort(~mechanism.protected, kind="stable")
    Q = mechanism.transition_matrix()[np.ix_(rows, columns)]
    names = np.array([str(label) for label in mechanism.domain.labels])
    reports = [mechanism.tally(report[np.newaxis]).counts for report in mechanism.outputs[columns]]
    ax = ax or plt.subplots(figsize=(6.6, 3.0), layout="constrained")[1]
    ax.imshow(np.where(Q > 0, Q, np.nan), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), probability in np.ndenumerate(Q):
        if probability > 0:
            color = "white" if probability > 0.6 else "black"
            _text(ax, (column, row), f"{probability:.2f}", color, size=9)
    ax.axhline(mechanism.sensitive.size - 0.5, color=ORANGE)
    ax.axvline(mechanism.protected.sum() - 0.5, color=ORANGE)
    ax.set_yticks(range(rows.size), names[rows])
    ax.set_xticks(range(columns.size), ["\n".join(names[held == 1]) or "none" for held in reports])
    ax.set(xlabel="values that the report supports", ylabel="true value")
    return ax


def _canvas(ax: Axes | None, size: tuple[float, float]) -> Axes:
    ax = ax or plt.subplots(figsize=size, layout="constrained")[1]
    ax.set_axis_off()
    return ax


def _column(
    ax: Axes, x: float, name: str, parts: str, labels: Sequence[str], first: NDArray[np.bool_]
) -> list[Place]:
    """Draw a set as its two classes, one above the other; return the places of its elements."""
    places = [(x, 0.0)] * first.size
    outward = -0.65 if x == 0 else 0.65
    top = 0.0
    for part, members, color in zip(parts, (first, ~first), (BLUE, ORANGE), strict=True):
        indices = np.flatnonzero(members).tolist()
        if not indices:
            continue
        bottom = top - len(indices) + 1
        frame = FancyBboxPatch(
            (x - 0.2, bottom - 0.2),
            0.4,
            top - bottom + 0.4,
            boxstyle="round,pad=0.15",
            facecolor=PALE[color],
            edgecolor=color,
        )
        ax.add_patch(frame)
        middle = (x + outward, (top + bottom) / 2)
        _text(ax, middle, rf"$\mathcal{{{name}}}_{part}$", color, size=15)
        for row, index in enumerate(indices):
            places[index] = (x, top - row)
            _text(ax, places[index], labels[index], size=12)
        top = bottom - 1 - GAP
    ax.set(xlim=(-1, WIDTH + 1), ylim=(min(top + GAP + 0.5, ax.get_ylim()[0]), 0.5))
    return places


def _arrow(ax: Axes, start: Place, end: Place, stroke: Stroke, shrink: float = 0) -> None:
    """Draw an arrow that keeps a distance from both its ends, in data units along x."""
    head = FancyArrowPatch(
        (start[0] + shrink, start[1]),
        (end[0] - shrink, end[1]),
        arrowstyle="-|>",
        mutation_scale=10,
        shrinkA=0,
        shrinkB=0,
        **stroke._asdict(),
    )
    ax.add_patch(head)


def _cell(ax: Axes, corner: Place, filled: float, color: str, text: str) -> None:
    """Draw a unit square, filled from below to the given height, with a text in it."""
    ax.add_patch(Rectangle(corner, 1, filled, facecolor=PALE[color], edgecolor="none"))
    ax.add_patch(Rectangle(corner, 1, 1, facecolor="none", edgecolor=color))
    _text(ax, (corner[0] + 0.5, corner[1] + 0.5), text, size=11)


def _bit_symbol(own: bool, sensitive: bool) -> str:
    """Name the probability that a bit is 1: eq. (9) on X_S, eq. (10) on X_N."""
    if sensitive:
        return r"$\theta$" if own else "$d_1$"
    return "$1-d_2$" if own else "0"


def _text(
    ax: Axes, place: Place, text: str, color: str = "black", size: float = 10, **options: Any
) -> None:
    ax.text(*place, text, color=color, size=size, **{"ha": "center", "va": "center", **options})


def _legend(ax: Axes, strokes: Mapping[str, Stroke], columns: int) -> None:
    lines = [Line2D([], [], label=text, **stroke._asdict()) for text, stroke in strokes.items()]
    ax.legend(
        handles=lines,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=columns,
        frameon=False,
        fontsize=11,
        handlelength=2.8,
    )
