"""The paper's drawn figures, and other matrices, made from mechanisms.

Blue stands for X_S and Y_P, orange for X_N and Y_I; each class of arrow has its own line style.
Values carry the labels that they have in the domain.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from numpy.typing import ArrayLike, NDArray

from uldp.mechanisms import Mechanism, UtilityOptimizedRappor, UtilityOptimizedRR
from uldp.paper.figures import style
from uldp.personalized import PersonalizedMechanism
from uldp.privacy.osldp import Decomposition

__all__ = [
    "matrix_diagram",
    "overview",
    "pair_levels",
    "product_scheme",
    "rappor_diagram",
    "response_diagram",
    "uldp_diagram",
]

VALUES = "sensitive", "others"
REPORTS = "protected", "revealing"
BOLD_SENSITIVE: style.Look = {"color": style.SENSITIVE, "linewidth": 2.2, "linestyle": "-"}
BOLD_OTHER: style.Look = {"color": style.OTHER, "linewidth": 2.2, "linestyle": "-"}
THIN: style.Look = {"color": style.SENSITIVE, "linewidth": 1.3, "linestyle": "-"}
DASHED: style.Look = {"color": style.MUTED, "linewidth": 1.1, "linestyle": "--"}
SECRET: style.Look = {"color": style.ACCENT, "linewidth": 2.4, "linestyle": "-."}
_SPACING = 3.2
_GAP = 0.7


class Column(NamedTuple):
    """A set, drawn as its classes: their colours and labels by name. Faded labels are grey."""

    classes: Mapping[str, tuple[str, Sequence[str]]]
    title: str = ""
    faded: Collection[str] = ()


class Arrow(NamedTuple):
    """An arrow from a label in one column to a label in the next, with a text on it."""

    column: int
    start: str
    end: str
    stroke: style.Look
    text: str = ""


def uldp_diagram(Q: ArrayLike, sensitive: ArrayLike, protected: ArrayLike) -> Axes:
    """Draw which outputs each input can lead to: the overview of ULDP (Figure 1).

    Parameters
    ----------
    Q : (k, |Y|) array_like
        Transition probabilities; each positive one is an arrow from one of x_1, ..., x_k to one of
        y_1, ..., y_|Y|.
    sensitive, protected : array_like of int
        Indices of the sensitive inputs X_S and of the protected outputs Y_P.
    """
    matrix = np.asarray(Q)
    k, size = matrix.shape
    in_S = np.isin(np.arange(k), sensitive)
    in_P = np.isin(np.arange(size), protected)
    inputs = [f"$x_{{{i + 1}}}$" for i in range(k)]
    outputs = [f"$y_{{{j + 1}}}$" for j in range(size)]
    sensitive_to, other_to_P, other_to_I = THIN, DASHED, BOLD_OTHER
    arrows = (
        Arrow(
            0,
            inputs[x],
            outputs[y],
            sensitive_to if in_S[x] else other_to_P if in_P[y] else other_to_I,
        )
        for x, y in np.argwhere(matrix > 0)
    )
    columns = _column(VALUES, inputs, in_S), _column(REPORTS, outputs, in_P)
    words = "thin: from a sensitive value · dashed: from a non-sensitive one · thick: reveals it"
    return arrow_diagram(columns, arrows, words)


def response_diagram(mechanism: UtilityOptimizedRR) -> Axes:
    """Draw the transitions of a uRR with the symbols and values of eq. (6) (Figure 2).

    Parameters
    ----------
    mechanism : UtilityOptimizedRR
        On a domain small enough to read, up to about ten values.
    """
    Q = mechanism.transition_matrix()
    in_S = mechanism.protected
    labels = [str(label) for label in mechanism.domain.labels]
    order = [*mechanism.sensitive, *mechanism.nonsensitive]
    last = order[-1]
    # No other arrow passes just above the first and the last one, and below the last dotted one.
    named = [(order[0], order[0]), (last, last)]
    named += [(last, y) for y in mechanism.sensitive if y != last][-1:]
    arrows = []
    words = {}
    for x, y in np.argwhere(Q > 0):
        kept = ("c_1", BOLD_SENSITIVE) if in_S[x] else ("c_3", BOLD_OTHER)
        symbol, stroke = kept if x == y else ("c_2", style.DOTTED)
        text = f"${symbol}$" if (x, y) in named else ""
        arrows.append(Arrow(0, labels[x], labels[y], stroke, text))
        words[symbol] = f"${symbol}$ = {Q[x, y]:.3f}"
    columns = _column(VALUES, labels, in_S), _column(REPORTS, labels, in_S)
    return arrow_diagram(columns, arrows, " · ".join(words[symbol] for symbol in sorted(words)))


def rappor_diagram(mechanism: UtilityOptimizedRappor) -> Axes:
    """Draw the bits of a uRAP with the symbols and values of eqs. (9) and (10) (Figure 3).

    The first sensitive and the first non-sensitive value are drawn: its bits and, below them, the
    probability that the reported bit is 1, which is also the part of the cell that is filled.

    Parameters
    ----------
    mechanism : UtilityOptimizedRappor
        On a domain small enough to read, up to about a dozen values.
    """
    decoder = mechanism.decoder
    s = mechanism.sensitive.size
    k = mechanism.domain.size
    order = np.concatenate([mechanism.sensitive, mechanism.nonsensitive])
    drawn = [part[0] for part in (mechanism.sensitive, mechanism.nonsensitive) if part.size]
    ax = style.one_axes(0.6 + 2.2 * len(drawn))
    ax.set_axis_off()
    for panel, value in enumerate(drawn):
        top = -4.4 * panel
        own = order == value
        ones = np.where(own, decoder.true_support[order], decoder.false_support[order])
        label = str(mechanism.domain.labels[value])
        style.write(ax, (-0.2, top - 0.5), label, ha="right")
        style.write(ax, (-0.2, top - 2.2), "Pr[1]", ha="right")
        for place, (mine, probability) in enumerate(zip(own, ones, strict=True)):
            color = style.SENSITIVE if place < s else style.OTHER
            symbols = ("$d_1$", "θ") if place < s else ("", r"$1\!-\!d_2$")
            _draw_cell(ax, (place, top - 1), float(mine), color, str(int(mine)))
            draw_arrow(ax, (place + 0.5, top - 1), (place + 0.5, top - 1.7), style.DOTTED)
            written = f"{probability:.3f}".removeprefix("0") if probability else "0"
            _draw_cell(ax, (place, top - 2.7), probability, color, written)
            if probability:
                style.write(ax, (place + 0.5, top - 3.0), symbols[int(mine)])
    ends = (0, s, style.SENSITIVE), (s, k, style.OTHER)
    for (left, right, color), name in zip(ends, VALUES, strict=True):
        if left < right:
            style.write(ax, ((left + right) / 2, 0.4), name, color)
    ax.set(xlim=(-1.1, k + 0.1), ylim=(1.2 - 4.4 * len(drawn), 0.8))
    return ax


def overview(user: PersonalizedMechanism) -> Axes:
    """Draw a user's pre-processor and the common mechanism that follows it (Figure 4).

    Reports that she never sends are grey.

    Parameters
    ----------
    user : PersonalizedMechanism
        Her mechanism, with a uRR in common; small enough to read, up to about ten values and bots.
    """
    common = user.common
    labels = [str(label) for label in common.domain.labels]
    shielded = [labels[index] for index in common.sensitive]
    free = [labels[index] for index in common.nonsensitive]
    mapped = user.intermediate(np.arange(user.domain.size), indices=True).tolist()
    secret = {labels[x]: labels[z] for x, z in enumerate(mapped) if x != z}
    values = labels[: user.domain.size]
    common_to_all = {
        "sensitive": (
            style.SENSITIVE,
            [x for x in values if x in shielded and x not in secret],
        ),
        "secret": (style.ACCENT, list(secret)),
        "others": (style.OTHER, [x for x in values if x in free and x not in secret]),
    }
    middle, outer = (
        {of_shielded: (style.SENSITIVE, shielded), of_free: (style.OTHER, free)}
        for of_shielded, of_free in (("sensitive", "others"), ("protected", "revealing"))
    )
    columns = (
        Column(common_to_all, "personal data"),
        Column(middle, "intermediate", secret),
        Column(outer, "reports", secret),
    )
    own = {x: BOLD_SENSITIVE if x in shielded else BOLD_OTHER for x in labels}
    arrows = [Arrow(0, x, secret.get(x, x), SECRET if x in secret else own[x]) for x in values]
    for row, column in np.argwhere(common.transition_matrix() > 0):
        if labels[row] not in secret:
            dotted = style.DOTTED | {"color": own[labels[row]]["color"]}
            stroke = own[labels[row]] if row == column else dotted
            arrows.append(Arrow(1, labels[row], labels[column], stroke))
    words = (
        "dash-dotted: her secret, to a bot · solid: unchanged ·\n"
        "dotted: another report · grey names: never sent by her"
    )
    return arrow_diagram(columns, arrows, words)


def matrix_diagram(mechanisms: Mapping[str, Mechanism]) -> NDArray[Any]:
    """Draw the transition matrices of mechanisms with their entries; zeros are left blank.

    Sensitive values come first among the rows and protected outputs among the columns, with lines
    between the classes. A column is named by the values that its report supports.

    Parameters
    ----------
    mechanisms : mapping of str to Mechanism
        By the title of their panel; with small matrices, up to about ten rows and twenty columns.
    """
    axes = style.make_axes(len(mechanisms), 3.0 * len(mechanisms), 1)
    for ax, (title, mechanism) in zip(axes, mechanisms.items(), strict=True):
        _draw_mechanism(ax, mechanism)
        ax.set_title(title)
    style.name_axes(axes, "values that the report supports", "value held")
    return axes


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
    draw_matrix(above, parts.postprocessing, (parts.protected, in_P), (middle, outputs), top=True)
    draw_matrix(left, parts.uldp, (in_S, parts.protected), (inputs, middle), top=True)
    draw_matrix(product, matrix, (in_S, in_P), (inputs, outputs), top=True)
    names = "$Q_R$", "$Q_U$", "$Q_O = Q_U Q_R$"
    for ax, name in zip(panels[1:], names, strict=True):
        ax.set_title(name)
    return panels.reshape(2, 2)


def pair_levels(
    panels: Mapping[str, ArrayLike],
    labels: Sequence[str],
    sensitive: Sequence[int],
) -> NDArray[Any]:
    """Draw for each pair of values how well reports tell the first from the second.

    The darker a cell, the larger its level, on one scale; ∞ is unbounded.

    Parameters
    ----------
    panels : mapping of str to (k, k) array_like
        The levels of pairs, at least 0 and perhaps infinite, by the title of their panel, two in a
        row. Rows are the values that a report speaks for, columns those it speaks against.
    labels : sequence of str
        The values.
    sensitive : sequence of int
        The numbers of the sensitive ones, whose labels are blue; the others are orange.
    """
    k = len(labels)
    height = 0.6 + 2.6 * -(-len(panels) // 2)
    axes = style.make_axes(len(panels), height, 2, sharex=True, sharey=True, narrow=2)
    colors = [style.SENSITIVE if x in sensitive else style.OTHER for x in range(k)]
    slant: style.Look = {"rotation": 45, "ha": "right"} if len(max(labels, key=len)) > 3 else {}
    matrices = np.array(list(panels.values()), dtype=float)
    highest = matrices[np.isfinite(matrices)].max()
    for ax, title, levels in zip(axes, panels, matrices, strict=True):
        # No darker, so that the contrast of ink is 4.5 on a dark page too, which turns both.
        shade = np.minimum(0.3 * levels / highest, 1)
        ax.imshow(shade, style.RAMP, vmin=0, vmax=1)
        ax.grid(visible=False)
        for (row, column), level in np.ndenumerate(levels):
            if row != column:
                text = "∞" if np.isinf(level) else f"{level:.2g}"
                ink = "white" if np.isinf(level) else style.INK
                style.write(ax, (column, row), text, ink, gid=f"plate-{row}-{column}")
        ax.set_title(textwrap.fill(title, 18))
        ax.set_xticks(range(k), labels, **slant)
        ax.set_yticks(range(k), labels)
        ax.tick_params(length=0)
        for ticks in (ax.get_xticklabels(), ax.get_yticklabels()):
            for tick, color in zip(ticks, colors, strict=False):  # inner panels have none
                tick.set_color(color)
    style.name_axes(axes, "against", "for")
    return axes


def _draw_mechanism(ax: Axes, mechanism: Mechanism) -> None:
    rows = np.concatenate([mechanism.sensitive, mechanism.nonsensitive])
    columns = np.argsort(~mechanism.protected, kind="stable")
    names = np.array([str(label) for label in mechanism.domain.labels])
    reports = [mechanism.tally(report[np.newaxis]).counts for report in mechanism.outputs[columns]]
    supported = ["\n".join(names[held == 1]) or "∅" for held in reports]
    marked = np.arange(rows.size) < mechanism.sensitive.size, mechanism.protected[columns]
    Q = mechanism.transition_matrix()[np.ix_(rows, columns)]
    draw_matrix(ax, Q, marked, (names[rows].tolist(), supported))


def _column(parts: tuple[str, str], labels: Iterable[str], first: NDArray[np.bool_]) -> Column:
    """Return a set as its two classes, of which `first` marks the one drawn above."""
    names = np.array(list(labels))
    classes = zip(parts, (style.SENSITIVE, style.OTHER), (names[first], names[~first]), strict=True)
    return Column({part: (color, members.tolist()) for part, color, members in classes})


def _draw_cell(ax: Axes, corner: tuple[float, float], filled: float, color: str, text: str) -> None:
    """Draw a unit square, filled from below to the given height, with a text in it."""
    ax.add_patch(Rectangle(corner, 1, filled, facecolor=style.TINT[color], edgecolor="none"))
    ax.add_patch(Rectangle(corner, 1, 1, facecolor="none", edgecolor=color))
    style.write(ax, (corner[0] + 0.5, corner[1] + 0.5), text)


def draw_matrix(
    ax: Axes,
    matrix: NDArray[Any],
    marked: Sequence[NDArray[np.bool_]],
    names: Sequence[list[str]],
    *,
    top: bool = False,
) -> None:
    """Draw a matrix with its entries; marked columns are blue, the others orange, zeros blank.

    The larger an entry, the stronger its colour.

    Lines separate the marked rows and columns, which come first, from the others. The names of
    columns stand below, or at the top.
    """
    rows, columns = marked
    values = matrix.astype(float)
    ax.grid(visible=False)
    for (row, column), entry in np.ndenumerate(matrix):
        if entry > 0:
            color = style.SENSITIVE if columns[column] else style.OTHER
            look: style.Look = {"color": color, "alpha": 0.12 + 0.3 * values[row, column]}
            ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, linewidth=0, **look))
            text = f"{entry:.2f}".removeprefix("0") if isinstance(entry, float) else str(entry)
            ax.text(column, row, text, ha="center", va="center")
    ax.set(xlim=(-0.5, columns.size - 0.5), ylim=(rows.size - 0.5, -0.5))
    ax.axhline(rows.sum() - 0.5, color=style.INK, linewidth=1)
    ax.axvline(columns.sum() - 0.5, color=style.INK, linewidth=1)
    ax.set_yticks(range(rows.size), names[0])
    ax.set_xticks(range(columns.size), names[1])
    ax.tick_params(length=0, labeltop=top, labelbottom=not top)
    for labels, chosen in ((ax.get_yticklabels(), rows), (ax.get_xticklabels(), columns)):
        for label, is_marked in zip(labels, chosen, strict=True):
            label.set_color(style.SENSITIVE if is_marked else style.OTHER)


def arrow_diagram(
    columns: Sequence[Column],
    arrows: Iterable[Arrow],
    words: str,
) -> Axes:
    """Draw sets as columns of labels, arrows between neighbours, and a note above.

    The names of classes stand beside two columns, and above the classes of more.
    """
    rows = max(sum(len(names) for _, names in c.classes.values()) for c in columns)
    ax = style.one_axes(0.5 * rows + 1.6)
    ax.set_axis_off()
    half = 0.5 if len(columns) == 2 else 0.9
    places = []
    for index, column in enumerate(columns):
        side = (-1, 1)[index] if len(columns) == 2 else 0
        places.append(_draw_column(ax, _SPACING * index, column, side, half))
    for arrow in arrows:
        left, start = places[arrow.column][arrow.start]
        right, end = places[arrow.column + 1][arrow.end]
        draw_arrow(ax, (left + half + 0.05, start), (right - half - 0.05, end), arrow.stroke)
        if arrow.text:
            middle = (left + right) / 2, (start + end) / 2
            beside: style.Look = {"va": "bottom"} if start >= end else {"ha": "left", "va": "top"}
            style.write(ax, middle, arrow.text, arrow.stroke["color"], size=12, **beside)
    lowest = min(height for column in places for _, height in column.values())
    top = 1.3 if any(column.title for column in columns) else 0.5
    margin = 1.16 if len(columns) == 2 else half + 0.1
    ends = -margin, _SPACING * (len(columns) - 1) + margin
    ax.set(xlim=ends, ylim=(lowest - 0.5, top))
    style.note(ax, words)
    return ax


def draw_arrow(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], stroke: style.Look
) -> None:
    """Draw an arrow between two places; a dotted one, of which there are many, has no head."""
    tip = "-" if stroke is style.DOTTED else "-|>"
    head: style.Look = {"arrowstyle": tip, "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0}
    ax.add_patch(FancyArrowPatch(start, end, **head, **stroke))


def _draw_column(
    ax: Axes, x: float, column: Column, side: int, half: float
) -> dict[str, tuple[float, float]]:
    """Draw a set as its classes, one below the other; return the places of its labels."""
    if column.title:
        style.write(ax, (x, 1.1), column.title)
    places: dict[str, tuple[float, float]] = {}
    top = 0.0
    for name, (color, labels) in column.classes.items():
        if not labels:
            continue
        bottom = top - len(labels) + 1
        frame = FancyBboxPatch((x - half, bottom - 0.35), 2 * half, top - bottom + 0.7)
        frame.set(
            boxstyle="round,pad=0,rounding_size=0.15", facecolor=style.TINT[color], edgecolor=color
        )
        ax.add_patch(frame)
        beside = (x + (half + 0.15) * side, (top + bottom) / 2) if side else (x, top + 0.55)
        align = {-1: "right", 0: "center", 1: "left"}[side]
        style.write(ax, beside, name, color, ha=align)
        for row, label in enumerate(labels):
            places[label] = x, top - row
            style.write(
                ax, places[label], label, style.MUTED if label in column.faded else style.INK
            )
        top = bottom - 1 - _GAP
    return places
