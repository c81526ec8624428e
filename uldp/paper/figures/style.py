"""The kit that the figures are made with: looks, panels, axes, legends and the arrow diagram.

Every figure takes data and, if it shall not make its own, the Axes to draw in; it returns the Axes.
Colours are of Okabe and Ito's palette, then of Tol's, which readers with any colour vision can tell
apart; no two things differ in colour alone. A figure is as wide as a column of the book.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from uldp._numerics import checks
from uldp.paper.datasets import GridHistogram

__all__ = ["DPI", "STROKES", "STYLES", "Curve", "Look", "checked", "curves", "make_axes"]

Curve = tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, ArrayLike]
"""Horizontal and vertical coordinates of one length, and standard errors of the vertical ones."""

Label = str | tuple[str, str]
"""What a curve is of, and of which kind it is if there are several of it."""

Look = dict[str, Any]
"""Properties of a `matplotlib.lines.Line2D`."""

Panels = NDArray[Any] | Sequence[Axes] | None
"""The Axes of a figure's panels, in their order, or None for new ones."""

WIDTH = 6.8
DPI = 160
BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
GREY = "#595959"
PALE = {BLUE: "#DCEBF5", ORANGE: "#FBE5D6", GREEN: "#D9F0E8"}
WHITE: Look = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}


def _mechanism(color: str, marker: str, line: str) -> Look:
    return {"color": color, "marker": marker, "linestyle": line, "markersize": 5}


STYLES: dict[str, Look] = {
    "RR": _mechanism("#E69F00", "o", ":"),
    "RAPPOR": _mechanism(GREEN, "s", "--"),
    "uRR": _mechanism(ORANGE, "^", "-"),
    "uRAP": _mechanism(BLUE, "D", "-."),
    "uRAP-best": _mechanism("#56B4E9", "v", "--"),
    "uBD": _mechanism("#000000", "*", "-"),
    "uHR": _mechanism("#999933", "p", "--"),
}
"""The looks of mechanisms by their names; others get one of `SPARE` in each figure."""

SPARE = (
    _mechanism("#CC79A7", "P", "-."),
    _mechanism("#882255", "X", "--"),
    _mechanism("#332288", "h", ":"),
)

STROKES: tuple[Look, ...] = (
    {"color": BLUE, "linestyle": "-"},
    {"color": ORANGE, "linestyle": "--"},
    {"color": GREEN, "linestyle": "-."},
    {"color": "#CC79A7", "linestyle": ":"},
    {"color": "#E69F00", "linestyle": (0, (7, 1, 1, 1, 1, 1))},
)
"""Lines that are not of a mechanism, in the order in which a figure takes them."""

MARKERS = "os^Dv"
NO_PRIVACY = "no privacy"
LEVEL: Look = {"color": "0.5", "linewidth": 2.5, "zorder": 0}


def mechanism_looks(names: Iterable[str]) -> dict[str, Look]:
    """Return how mechanisms look by their names, in the order of `STYLES`."""
    found = list(dict.fromkeys(names))
    spare = cycle(SPARE)
    looks = {name: look for name, look in STYLES.items() if name in found}
    looks |= {name: next(spare) for name in found if name not in {*STYLES, NO_PRIVACY}}
    return looks | ({NO_PRIVACY: LEVEL} if NO_PRIVACY in found else {})


def line_looks(labels: Iterable[str], *, first: int = 0, marked: bool = False) -> dict[str, Look]:
    """Return how other lines look by their labels, from a number of `STROKES` on."""
    looks = zip(dict.fromkeys(labels), cycle(STROKES[first:]), cycle(MARKERS), strict=False)
    return {
        label: {"linewidth": 1.8, **stroke, "marker": marker if marked else "", "markersize": 4}
        for label, stroke, marker in looks
    }


def make_axes(
    number: int,
    inches: tuple[float, float],
    columns: int | None = None,
    sharey: bool = False,
    *,
    sharex: bool = False,
    axes: Panels = None,
) -> NDArray[Any]:
    """Make panels, side by side or in rows of `columns`; return their Axes, shape (number,).

    If `axes` are given, they are the panels, and none are made.
    """
    if number < 1:
        raise ValueError("there must be at least one panel to draw, got none")
    if axes is None:
        columns = columns or number
        grid = -(-number // columns), columns
        figure = plt.figure(figsize=inches, dpi=DPI, layout="constrained")
        axes = figure.subplots(*grid, sharex=sharex, sharey=sharey, squeeze=False)
        for unused in axes.ravel()[number:]:
            unused.set_axis_off()
        axes = axes.ravel()[:number]
    panels: NDArray[Any] = np.ravel(np.asarray(axes))
    if panels.size != number:
        raise ValueError(f"axes must be one for each of the {number} panels, got {panels.size}")
    return panels


def one_axes(ax: Axes | None, height: float) -> Axes:
    """Return the Axes, or that of a new figure of a height in inches."""
    return ax or make_axes(1, (WIDTH, height))[0]


def checked(curve: Curve, label: object, log: str = "") -> tuple[NDArray[Any], ...]:
    """Return the arrays of a curve, its coordinates above 0 where an axis is logarithmic."""
    across = checks.numbers(curve[0], f"horizontal coordinates of {label!r}", (-1,))
    others = zip(("heights", "errors"), curve[1:], strict=False)
    upward = [checks.numbers(v, f"{name} of {label!r}", across.shape) for name, v in others]
    for values, axis in ((across, "x"), (upward[0], "y")):
        if axis in log and (values <= 0).any():
            raise ValueError(f"{axis} of {label!r} must be greater than 0, got {values.min()}")
    return across, *upward


def on_grid(title: str, /, **arrays: ArrayLike) -> list[NDArray[Any]]:
    """Return a panel's arrays: two of coordinates, and tables with a row for each second one."""
    named = [(f"{name} of {title!r}", values) for name, values in arrays.items()]
    across, upward = (checks.numbers(values, name, (-1,)) for name, values in named[:2])
    shape = upward.size, across.size
    return [across, upward, *(checks.numbers(values, name, shape) for name, values in named[2:])]


def curves(
    panels: Mapping[str, Mapping[Any, Curve]],
    xlabel: str,
    ylabel: str,
    axes: Panels = None,
    *,
    kinds: Mapping[str, Look] | None = None,
    log: str = "xy",
    level: float | Mapping[str, float] | None = None,
    level_label: str = "",
    columns: int | None = None,
    sharey: bool = True,
    height: float = 3.6,
) -> NDArray[Any]:
    """Draw curves in panels, with a legend above.

    A label has one look in all panels. If a label is the name of a mechanism in `STYLES`, all are
    those of mechanisms; a name without a style gets one that is free.

    Parameters
    ----------
    panels : mapping of str to mapping of str or (str, str) to Curve
        Horizontal and vertical coordinates, (m,) and (m,) array_like, by the title of their panel
        and the label of their curve, or the label and the kind of the curve. Looks repeat after
        five labels. A third (m,) array_like holds standard errors; bars reach two up and down.
    xlabel, ylabel : str
        What the axes show, with the unit.
    axes : (number of panels,) array_like of Axes, optional
        Where to draw.
    kinds : mapping of str to dict, optional
        How the curves of a kind differ from the look of their label: properties of a
        `matplotlib.lines.Line2D`.
    log : str
        Which axes are logarithmic, with plain numbers: "", "x", "y" or "xy".
    level : float or mapping of str to float, optional
        Where a grey line is drawn in each panel, or by the title of the panel.
    level_label : str
        Its label; none by default.
    columns : int, optional
        The number of panels in a row; by default all stand in one row.
    sharey : bool
        Whether panels have one vertical scale.
    height : float
        The height of a new figure, in inches.

    Returns
    -------
    (number of panels,) ndarray of Axes
    """
    axes = make_axes(len(panels), (WIDTH, height), columns, sharey, axes=axes)
    labels: list[Label] = [label for lines in panels.values() for label in lines]
    looks, keys = curve_looks(labels, kinds or {})
    draw_curves(panels, axes, looks, level, log)
    log_axes(axes, log)
    name_axes(axes, xlabel, ylabel)
    legend_above(axes, keys | ({level_label: LEVEL} if level_label else {}))
    return axes


def curve_looks(
    labels: Iterable[Label], kinds: Mapping[str, Look]
) -> tuple[dict[Label, Look], dict[str, Look]]:
    """Return the looks of curves, and those of the keys of their names and kinds.

    The key of a name has no marker if each of its curves is of a kind with a marker of its own.
    """
    pairs = {label: (label, "") if isinstance(label, str) else label for label in labels}
    names = [name for name, _ in pairs.values()]
    named = not STYLES.keys().isdisjoint(names)
    keys = mechanism_looks(names) if named else line_looks(names, marked=True)
    changes = {"": {}, **kinds}
    looks = {label: keys[name] | changes[kind] for label, (name, kind) in pairs.items()}
    marked = {name for name, kind in pairs.values() if "marker" not in changes[kind]}
    keys = {name: look if name in marked else look | {"marker": ""} for name, look in keys.items()}
    grey: Look = {"color": "0.3", "marker": "o", "markersize": 5}
    return looks, keys | {kind: grey | look for kind, look in kinds.items()}


def draw_curves(
    panels: Mapping[str, Mapping[Any, Curve]],
    axes: Iterable[Axes],
    looks: Mapping[Any, Look],
    level: float | Mapping[str, float] | None = None,
    log: str = "",
) -> None:
    """Draw curves and a level in panels, with a title and a grid, by their looks."""
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        if level is not None:
            height = level[title] if isinstance(level, Mapping) else level
            ax.axhline(checks.positive(height, "level") if "y" in log else height, **LEVEL)
        for label, curve in lines.items():
            across, upward, *errors = checked(curve, label, log)
            every = 1 if errors else max(1, across.size // 8)
            ax.plot(across, upward, label=str(label), markevery=every, **looks[label])
            for error in errors:
                ax.errorbar(across, upward, 2 * error, fmt="none", ecolor=looks[label]["color"])
        ax.set_title(title)
        ax.grid(alpha=0.25)


def log_axes(axes: Iterable[Axes], which: str = "xy") -> None:
    """Make axes logarithmic: plain numbers where none is long, more if they span little."""
    panels = list(axes)
    for ax in panels:
        ax.set(**{f"{name}scale": "log" for name in which})
    for ax in panels:
        for axis in (getattr(ax, f"{name}axis") for name in which):
            low, high = axis.get_view_interval()
            decades = math.floor(math.log10(high)) - math.ceil(math.log10(low)) + 1
            axis.set_major_locator(LogLocator(subs=(1,) if decades > 2 else (1, 2, 5)))
            plain = low >= 1e-4 and high <= 2e5
            axis.set_major_formatter("{x:g}" if plain else LogFormatterSciNotation())
            axis.set_minor_formatter(NullFormatter())


def name_axes(axes: Iterable[Axes], xlabel: str, ylabel: str) -> None:
    """Write the labels of the axes below the last row of panels and beside the first column."""
    for ax in axes:
        place = ax.get_subplotspec()
        if place is None or place.is_last_row():
            ax.set_xlabel(xlabel)
        if place is None or place.is_first_col():
            ax.set_ylabel(ylabel)


def legend_above(where: Axes | NDArray[Any], looks: Mapping[str, Look] | Sequence[Artist]) -> None:
    """Draw a legend above one Axes, or above the figure of several; as few rows as fit."""
    handles: Sequence[Artist] = looks if isinstance(looks, Sequence) else keys_of(looks)
    names = [re.sub(r"\\[a-z]+|[${}^_]", "", str(handle.get_label())) for handle in handles]
    if not names:
        return
    fitting = max(1, int(WIDTH / (0.6 + 0.07 * max(map(len, names)))))
    rows = -(-len(names) // fitting)
    options: dict[str, Any] = {
        "handles": handles,
        "ncols": -(-len(names) // rows),
        "frameon": False,
        "handlelength": 2.8,
    }
    if isinstance(where, Axes):
        where.legend(loc="lower center", bbox_to_anchor=(0.5, 1), **options)
    else:
        where[0].figure.legend(loc="outside upper center", **options)


def keys_of(looks: Mapping[str, Look]) -> list[Line2D]:
    """Return the keys of a legend."""
    return [Line2D([], [], label=label, **look) for label, look in looks.items()]


def draw_contours(ax: Axes, grid: Sequence[Any], values: Any, levels: Any, color: str) -> None:
    """Draw contour lines, each with its level where it is farthest from the others.

    The scales of the axes must be set, and their limits are those of the grid.
    """
    drawn = ax.contour(*grid, values, levels=levels, colors=color, linewidths=0.8)
    ax.set(xlim=(grid[0][0], grid[0][-1]), ylim=(grid[1][0], grid[1][-1]))
    paths = zip(drawn.levels, drawn.get_paths(), strict=True)
    lines = [(level, line) for level, path in paths for line in path.to_polygons(closed_only=False)]
    to_axes = ax.transData + ax.transAxes.inverted()
    places = [to_axes.transform(line) for _, line in lines]
    taken = [np.array([[0.5, 2.0]])]
    for index, ((level, _), place) in enumerate(zip(lines, places, strict=True)):
        inside = place[((place > (0.07, 0.04)) & (place < (0.93, 0.96))).all(axis=1)]
        if len(inside) and np.ptp(place, axis=0).max() > 0.1:
            others = np.concatenate([*places[:index], *places[index + 1 :], *taken])
            spot = inside[cdist(inside, others).min(axis=1).argmax()]
            taken.append(spot[np.newaxis])
            outlined = [withStroke(linewidth=3, foreground="white")]
            placed: dict[str, Any] = {"transform": ax.transAxes, "path_effects": outlined}
            write(ax, spot, f"{level:g}", color, size=9, **placed)


def draw_map(ax: Axes, values: NDArray[Any], grid: GridHistogram, colors: str, norm: Any) -> Any:
    """Draw values of the cells of a grid at their places; return the image."""
    (south, north) = grid.latitude
    (west, east) = grid.longitude
    aspect = 1 / math.cos(math.radians((south + north) / 2))
    ax.locator_params(nbins=3)
    sides = west, east, south, north
    shown = values.reshape(grid.shape)
    return ax.imshow(shown, colors, norm, origin="lower", extent=sides, aspect=aspect)


def draw_matrix(
    ax: Axes,
    matrix: NDArray[Any],
    marked: Sequence[NDArray[np.bool_]],
    names: Sequence[list[str]],
    *,
    top: bool = False,
) -> None:
    """Draw a matrix with its entries; marked columns are blue, the others orange, zeros blank.

    Lines separate the marked rows and columns, which come first, from the others. The names of
    columns stand below, or at the top.
    """
    rows, columns = marked
    values = matrix.astype(float)
    for chosen, colors in ((columns, "Blues"), (~columns, "Oranges")):
        shown = np.ma.masked_where(~chosen | (values <= 0), values)
        ax.imshow(shown, cmap=colors, vmin=0, vmax=1.4, aspect="auto")
    for (row, column), entry in np.ndenumerate(matrix):
        if entry > 0:
            text = f"{entry:.2f}" if isinstance(entry, float) else str(entry)
            ax.text(column, row, text, ha="center", va="center")
    ax.axhline(rows.sum() - 0.5, color="black", linewidth=1)
    ax.axvline(columns.sum() - 0.5, color="black", linewidth=1)
    ax.set_yticks(range(rows.size), names[0])
    ax.set_xticks(range(columns.size), names[1])
    ax.tick_params(length=0, labeltop=top, labelbottom=not top)
    for labels, chosen in ((ax.get_yticklabels(), rows), (ax.get_xticklabels(), columns)):
        for label, is_marked in zip(labels, chosen, strict=True):
            label.set_color(BLUE if is_marked else ORANGE)


BOLD_BLUE: Look = {"color": BLUE, "linewidth": 2.4, "linestyle": "-"}
BOLD_ORANGE: Look = {"color": ORANGE, "linewidth": 2.4, "linestyle": "-"}
DOTTED: Look = {"color": GREY, "linewidth": 1.0, "linestyle": ":"}


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
    stroke: Look
    text: str = ""


def arrow_diagram(
    columns: Sequence[Column],
    arrows: Iterable[Arrow],
    keys: Mapping[str, Look],
    ax: Axes | None = None,
) -> Axes:
    """Draw sets as columns of labels, arrows between neighbours, and a legend above.

    The names of classes stand beside the outer columns and above the classes of the others.
    """
    rows = max(sum(len(names) for _, names in c.classes.values()) for c in columns)
    ax = one_axes(ax, 0.55 * rows + 2.0)
    ax.set_axis_off()
    half = 0.175 * len(columns)
    places = []
    for index, column in enumerate(columns):
        side = -1 if index == 0 else int(index == len(columns) - 1)
        places.append(_draw_column(ax, _SPACING * index, column, side, half))
    for arrow in arrows:
        left, start = places[arrow.column][arrow.start]
        right, end = places[arrow.column + 1][arrow.end]
        draw_arrow(ax, (left + half + 0.05, start), (right - half - 0.05, end), arrow.stroke)
        if arrow.text:
            middle = (left + right) / 2, (start + end) / 2
            write(ax, middle, arrow.text, arrow.stroke["color"], size=14, bbox=WHITE | {"alpha": 1})
    lowest = min(height for column in places for _, height in column.values())
    top = 1.3 if any(column.title for column in columns) else 0.5
    ends = -0.5 * len(columns), _SPACING * (len(columns) - 1) + 0.5 * len(columns)
    ax.set(xlim=ends, ylim=(lowest - 0.5, top))
    legend_above(ax, keys)
    return ax


def draw_arrow(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], stroke: Look
) -> None:
    """Draw an arrow between two places."""
    head: Look = {"arrowstyle": "-|>", "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0}
    ax.add_patch(FancyArrowPatch(start, end, **head, **stroke))


def write(
    ax: Axes, place: tuple[float, float], text: str, color: str = "black", **options: Any
) -> None:
    """Write a text, by default centred at its place."""
    ax.text(*place, text, color=color, **{"ha": "center", "va": "center", "size": 12, **options})


_SPACING = 3.2
_GAP = 0.7


def _draw_column(
    ax: Axes, x: float, column: Column, side: int, half: float
) -> dict[str, tuple[float, float]]:
    """Draw a set as its classes, one below the other; return the places of its labels."""
    if column.title:
        write(ax, (x, 1.1), column.title)
    places: dict[str, tuple[float, float]] = {}
    top = 0.0
    for name, (color, labels) in column.classes.items():
        if not labels:
            continue
        bottom = top - len(labels) + 1
        frame = FancyBboxPatch((x - half, bottom - 0.35), 2 * half, top - bottom + 0.7)
        frame.set(boxstyle="round,pad=0,rounding_size=0.15", facecolor=PALE[color], edgecolor=color)
        ax.add_patch(frame)
        beside = (x + (half + 0.15) * side, (top + bottom) / 2) if side else (x, top + 0.55)
        align = {-1: "right", 0: "center", 1: "left"}[side]
        write(ax, beside, name, color, size=14, ha=align)
        for row, label in enumerate(labels):
            places[label] = x, top - row
            write(ax, places[label], label, "0.6" if label in column.faded else "black")
        top = bottom - 1 - _GAP
    return places
