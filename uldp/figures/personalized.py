"""Figures on the personalized mechanism: one function per figure, data in, Axes out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.datasets import GridHistogram
from uldp.figures.diagrams import BLUE, BOLD_BLUE, BOLD_ORANGE, DOTTED, GREY, ORANGE, PALE, Stroke
from uldp.figures.style import DPI, STROKES, Curve, checked, make_axes
from uldp.mechanisms import UtilityOptimizedRR
from uldp.personalized import PersonalizedMechanism

__all__ = ["Measured", "candidates_by_reports", "losses_by_knowledge", "maps", "overview", "terms"]

GREEN, PALE_GREEN, UNUSED = "#00785A", "#D9F0E8", "0.6"
SECRET, SAME = Stroke(GREEN, 2.4, "-."), Stroke(GREY, 1.3, "-")
SHADES = {**PALE, GREEN: PALE_GREEN}
INPUT, MIDDLE, OUTPUT = 0.0, 3.1, 6.2
GAP = 0.7
MARKERS = ("o", "s", "^", "D")

Place = tuple[float, float]


class Measured(NamedTuple):
    """Measured losses over ε.

    Parameters
    ----------
    epsilons, losses : (m,) array_like
        ε and the mean losses.
    errors : (m,) array_like
        Standard errors of the means, 0 where there is none.
    """

    epsilons: ArrayLike
    losses: ArrayLike
    errors: ArrayLike


def overview(user: PersonalizedMechanism, ax: Axes | None = None) -> Axes:
    """Draw a user's pre-processor and the common mechanism that follows it (Figure 4).

    Reports that she never sends are grey.

    Parameters
    ----------
    user : PersonalizedMechanism
        Her mechanism, with a uRR in common; small enough to read, up to about ten values and bots.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    TypeError
        If the common mechanism is not a uRR, whose reports are values and bots.
    """
    common = user.common
    _checks.instance(common, "the common mechanism", UtilityOptimizedRR)
    labels = [str(label) for label in common.domain.labels]
    shielded = [labels[index] for index in common.sensitive]
    free = [labels[index] for index in common.nonsensitive]
    mapped = user.intermediate(np.arange(user.domain.size)).tolist()
    secret = {labels[x]: labels[z] for x, z in enumerate(mapped) if x != z}
    values = labels[: user.domain.size]
    ax = ax or plt.subplots(figsize=(6.6, 6.2), dpi=DPI, layout="constrained")[1]
    ax.set_axis_off()
    classes = {
        r"$\mathcal{X}_S$": (BLUE, [x for x in values if x in shielded and x not in secret]),
        r"$\mathcal{X}_S^{(i)}$": (GREEN, list(secret)),
        "others": (ORANGE, [x for x in values if x in free and x not in secret]),
    }
    inputs = _column(ax, INPUT, r"personal data $\mathcal{X}$", classes, ())
    middle = _column(
        ax,
        MIDDLE,
        r"intermediate $\mathcal{Z}$",
        {r"$\mathcal{Z}_S$": (BLUE, shielded), r"$\mathcal{Z}_N$": (ORANGE, free)},
        secret,
    )
    outputs = _column(
        ax,
        OUTPUT,
        r"reports $\mathcal{Y}$",
        {r"$\mathcal{Y}_P$": (BLUE, shielded), r"$\mathcal{Y}_I$": (ORANGE, free)},
        secret,
    )
    for label, place in inputs.items():
        target = secret.get(label, label)
        _arrow(ax, place, middle[target], SAME if target == label else SECRET)
    for row, column in np.argwhere(common.transition_matrix() > 0):
        origin, report = labels[row], labels[column]
        if origin not in secret:
            own = BOLD_BLUE if origin in shielded else BOLD_ORANGE
            _arrow(ax, middle[origin], outputs[report], own if row == column else DOTTED)
    strokes = {
        r"$f_{\mathrm{pre}}^{(i)}$, secret: to a bot": SECRET,
        r"$f_{\mathrm{pre}}^{(i)}$: unchanged": SAME,
        r"$\mathbf{Q}_{\mathrm{cmn}}$, known to all: kept, in $\mathcal{Z}_S$": BOLD_BLUE,
        r"$\mathbf{Q}_{\mathrm{cmn}}$: kept, in $\mathcal{Z}_N$": BOLD_ORANGE,
        r"$\mathbf{Q}_{\mathrm{cmn}}$: another report": DOTTED,
        "grey: never sent by her": Stroke(UNUSED, 0, "-"),
    }
    ax.legend(
        handles=[_key(text, stroke._asdict()) for text, stroke in strokes.items()],
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=2,
        frameon=False,
        handlelength=2.6,
    )
    depth = min(y for _, y in outputs.values())
    ax.set(xlim=(INPUT - 1.3, OUTPUT + 1.3), ylim=(depth - 0.6, 1.4))
    return ax


def maps(
    panels: Mapping[str, ArrayLike],
    grid: GridHistogram,
    label: str,
    marked: int | None = None,
) -> NDArray[Any]:
    """Draw distributions over the cells of a grid, two maps in a row (Figure 9).

    The maps of a row have one colour scale, which goes with the square root of the share, so that
    cells with small shares show. Cells of share 0 are white.

    Parameters
    ----------
    panels : mapping of str to (cells,) array_like
        Distributions by the title of their map, an even number of them.
    grid : GridHistogram
        The grid.
    label : str
        What the shares are of.
    marked : int, optional
        A cell that gets a cross in all maps.

    Returns
    -------
    ndarray of Axes
        Shape (number of maps,).

    Raises
    ------
    ValueError
        If the number of maps is not even, or one is not a distribution over the cells.
    """
    axes = _pairs(len(panels), 1.7 * len(panels))
    (south, north), (west, east) = grid.latitude, grid.longitude
    rows, columns = grid.shape
    edges = np.linspace(west, east, columns + 1), np.linspace(south, north, rows + 1)
    shares = [
        100 * _checks.distribution(values, f"panels[{title!r}]", grid.domain.size)
        for title, values in panels.items()
    ]
    for row in range(0, len(panels), 2):
        pair = slice(row, row + 2)
        norm = PowerNorm(0.5, vmin=0, vmax=np.max(shares[pair]))
        for ax, title, values in zip(axes[pair], list(panels)[pair], shares[pair], strict=True):
            shown = np.ma.masked_equal(values.reshape(grid.shape), 0)
            mesh = ax.pcolormesh(*edges, shown, cmap="cividis_r", norm=norm)
            ax.set_title(title, fontsize="medium")
            ax.set_aspect(1 / np.cos(np.radians((south + north) / 2)))
            ax.locator_params(nbins=3)
            if marked is not None:
                row_of, column_of = divmod(marked, columns)
                place = [
                    (side[at] + side[at + 1]) / 2
                    for side, at in zip(edges, (column_of, row_of), strict=True)
                ]
                ax.plot(*place, "x", color="#D55E00", markersize=8, markeredgewidth=2)
        axes[row].figure.colorbar(mesh, ax=list(axes[pair]), label=label, shrink=0.9)
    axes[0].figure.supxlabel("longitude (degrees)")
    axes[0].figure.supylabel("latitude (degrees)")
    return axes


def losses_by_knowledge(
    panels: Mapping[str, Mapping[str, Measured]], no_privacy: float, ylabel: str
) -> NDArray[Any]:
    """Draw Figure 8 or 13: losses over ε by what the collector knows of the bots.

    Measured losses are markers, joined by lines, with bars of two standard errors.

    Parameters
    ----------
    panels : mapping of str to mapping of str to Measured
        By the title of their panel and the label of their line, at most four; an even number of
        panels, two in a row.
    no_privacy : float
        The loss of the users' own frequencies, a thick grey line.
    ylabel : str
        The name of the loss.

    Returns
    -------
    ndarray of Axes
        Shape (number of panels,).

    Raises
    ------
    ValueError
        If the number of panels is not even, or ε, losses and errors of a line differ in length.
    """
    axes = _pairs(len(panels), 0.6 + 1.5 * len(panels))

    def draw(ax: Axes, label: str, curve: Measured, **look: Any) -> None:
        across, heights = checked((curve.epsilons, curve.losses), f"losses of {label!r}")
        errors = _checks.numbers(curve.errors, f"errors of {label!r}", heights.shape)
        ax.errorbar(across, heights, yerr=2 * errors, markersize=4, **look)

    keys = _fill(axes, panels, draw)
    grey: dict[str, Any] = {"color": "0.5", "linewidth": 2.5}
    for ax in axes:
        ax.axhline(_checks.positive(no_privacy, "no_privacy"), **grey, zorder=0)
        _make_logarithmic(ax)
    keys.append(_key("no privacy", grey))
    _finish(axes, keys, "ε", ylabel)
    return axes


def terms(panels: Mapping[str, Mapping[str, Curve]]) -> NDArray[Any]:
    """Draw the terms of the bound of Theorem 1 over ε, on logarithmic axes.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (ε, l1 losses)
        By the title of their panel and the label of their line, at most four.

    Returns
    -------
    ndarray of Axes
        Shape (number of panels,).

    Raises
    ------
    ValueError
        If there are no panels, or ε and the losses of a line differ in length.
    """
    return _draw_logarithmic(panels, 3.7, "ε", "l1 loss")


def candidates_by_reports(panels: Mapping[str, Mapping[str, Curve]]) -> NDArray[Any]:
    """Draw how many places remain possible as a user's home, over her number of reports.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (t, candidates)
        By the title of their panel and the label of their line, at most four; t is above 0.

    Returns
    -------
    ndarray of Axes
        Shape (number of panels,).

    Raises
    ------
    ValueError
        If there are no panels, or t and the candidates of a line differ in length.
    """
    return _draw_logarithmic(panels, 3.9, "reports, t", "cells")


def _draw_logarithmic(
    panels: Mapping[str, Mapping[str, Curve]], height: float, xlabel: str, ylabel: str
) -> NDArray[Any]:
    """Draw lines in panels side by side, `height` inches high, on logarithmic axes."""
    axes = make_axes(len(panels), (6.8, height), sharey=True)
    keys = _fill(axes, panels, _plot)
    for ax in axes:
        _make_logarithmic(ax)
    _finish(axes, keys, xlabel, ylabel)
    return axes


def _pairs(number: int, height: float) -> NDArray[Any]:
    """Make panels, two in a row, of a height in inches altogether."""
    if number % 2:
        raise ValueError(f"there must be an even number of panels, got {number}")
    return make_axes(number, (6.8, height), columns=2, sharey=True)


def _column(
    ax: Axes,
    x: float,
    title: str,
    classes: Mapping[str, tuple[str, Sequence[str]]],
    unused: Collection[str],
) -> dict[str, Place]:
    """Draw a set as its classes, one below the other; return the places of its elements."""
    ax.text(x, 1.2, title, ha="center", va="center", size=12)
    places: dict[str, Place] = {}
    top = 0.0
    for name, (color, members) in classes.items():
        if not members:
            continue
        bottom = top - len(members) + 1
        corner, height = (x - 0.4, bottom - 0.25), top - bottom + 0.5
        frame = FancyBboxPatch(corner, 0.8, height, boxstyle="round,pad=0.15")
        frame.set(facecolor=SHADES[color], edgecolor=color)
        ax.add_patch(frame)
        beside = {INPUT: (x - 0.7, "right"), OUTPUT: (x + 0.7, "left")}
        across, side = beside.get(x, (x, "center"))
        middle = top + 0.65 if x == MIDDLE else (top + bottom) / 2
        ax.text(across, middle, name, color=color, size=13, ha=side, va="center")
        for row, label in enumerate(members):
            places[label] = (x, top - row)
            shade = UNUSED if label in unused else "black"
            ax.text(x, top - row, label, color=shade, size=12, ha="center", va="center")
        top = bottom - 1 - GAP
    return places


def _arrow(ax: Axes, start: Place, end: Place, stroke: Stroke) -> None:
    head = FancyArrowPatch(
        (start[0] + 0.58, start[1]),
        (end[0] - 0.58, end[1]),
        arrowstyle="-|>",
        mutation_scale=9,
        shrinkA=0,
        shrinkB=0,
        **stroke._asdict(),
    )
    ax.add_patch(head)


def _make_logarithmic(ax: Axes) -> None:
    """Make both axes logarithmic with plain numbers, more of them where the heights span less."""
    ax.set(xscale="log", yscale="log")
    ax.xaxis.set_major_formatter("{x:g}")
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1000 * low else (1,)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())


def _key(label: str, look: Mapping[str, Any]) -> Line2D:
    return Line2D([], [], label=label, **look)


def _plot(ax: Axes, label: str, curve: Curve, **look: Any) -> None:
    across, heights = checked(curve, f"heights of {label!r}")
    ax.plot(across, heights, markersize=4, markevery=max(1, across.size // 10), **look)


def _fill(
    axes: NDArray[Any],
    panels: Mapping[str, Mapping[str, Any]],
    draw: Callable[..., None],
) -> list[Line2D]:
    """Draw lines, each label in one style in all panels; return the keys of the legend."""
    labels = dict.fromkeys(label for lines in panels.values() for label in lines)
    looks = {
        label: {**stroke, "marker": marker}
        for label, stroke, marker in zip(labels, cycle(STROKES), cycle(MARKERS), strict=False)
    }
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for label, curve in lines.items():
            draw(ax, label, curve, **looks[label])
        ax.set_title(title, fontsize="medium")
        ax.grid(alpha=0.25)
    return [_key(label, look) for label, look in looks.items()]


def _finish(axes: NDArray[Any], keys: Sequence[Line2D], xlabel: str, ylabel: str) -> None:
    figure = axes[0].figure
    figure.supxlabel(xlabel, fontsize="medium")
    figure.supylabel(ylabel, fontsize="medium")
    columns = len(keys) if len(keys) < 4 else 2
    figure.legend(
        handles=list(keys), loc="outside upper center", ncols=columns, frameon=False, handlelength=3
    )
