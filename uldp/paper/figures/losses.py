"""Figures on losses: over p(X_S), where they are largest, and why, and by estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp.paper.figures import style
from uldp.paper.figures.style import Curve, Look

__all__ = [
    "draw_masses",
    "draw_supports",
    "error_parts",
    "losses_by_estimator",
    "losses_by_mass",
]

SHARE = "share holding a sensitive answer"
ESTIMATORS = {
    "empirical": "as counted",
    "threshold": "threshold",
    "norm_sub": "Norm-Sub",
    "em": "EM",
    "mle": "most likely",
}
"""Words by the names that `Mechanism.estimate` takes."""


def losses_by_mass(
    panels: Mapping[str, Mapping[str, Curve]],
    ylabel: str,
) -> NDArray[Any]:
    """Draw how a loss depends on p(X_S), and dot the highest point of each line.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (p(X_S), losses)
        By the title of their panel and the label of their line, which go from light to dark.
    ylabel : str
        What the loss is, or what it is relative to.
    """
    axes = style.make_axes(len(panels), 3.0, sharey=True)
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        draw_masses(ax, title, curves)
    style.name_axes(axes, SHARE, ylabel)
    style.name_lines(axes)
    return axes


def draw_masses(ax: Axes, title: str, curves: Mapping[str, Curve]) -> None:
    """Draw losses over p(X_S) in a panel, from light to dark, and dot the top of each."""
    style.draw_curves({title: curves}, [ax], style.line_looks(curves, ordered=True))
    for line in list(ax.lines):
        across, upward = np.asarray(line.get_data())
        top = upward.argmax()
        ax.plot(across[top], upward[top], "o", color=line.get_color(), markersize=6, clip_on=False)
    ax.set_xlim(left=-0.02)  # room for a dot
    style.number_axes([ax], "", "x")


def draw_supports(
    ax: Axes, title: str, floor: ArrayLike, added: ArrayLike, sensitive: ArrayLike
) -> None:
    """Draw how often reports support each value: from those who hold another, and who hold it.

    Parameters
    ----------
    ax : Axes
        The panel.
    title : str
        Its title.
    floor, added : (k,) array_like
        The probabilities that a report supports each value if nobody holds it, o(x), and what its
        holders add to them, g(x) p(x).
    sensitive : (k,) array_like of bool
        Which values are sensitive.
    """
    marked = checks.numbers(np.multiply(sensitive, 1.0), "sensitive", (-1,)) > 0
    floors = checks.numbers(floor, f"floor of {title!r}", marked.shape)
    rises = checks.numbers(added, f"rise of {title!r}", marked.shape)
    values = np.arange(1, marked.size + 1)
    ax.bar(values, floors, color=style.FAINT)
    for members, color in ((marked, style.SENSITIVE), (~marked, style.OTHER)):
        ax.bar(values[members], rises[members], bottom=floors[members], color=color)
    ax.axhline((floors + rises).max(), **style.LEVEL)
    ax.set_title(title)
    ax.set_xticks(values)
    style.number_axes([ax], "", "y")


def error_parts(panels: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]]) -> NDArray[Any]:
    """Draw which share of an error sensitive and other values make over ε, with the total above.

    The share of the sensitive values falls in ε, from above one half to below it.

    Parameters
    ----------
    panels : mapping of str to ((m,), (m,), (m,)) array_like
        Values of ε, increasing, and the two parts, above 0, by the title of their panel, two in a
        row.
    """
    axes = style.make_axes(len(panels), 0.4 + 1.9 * -(-len(panels) // 2), 2, sharey=True)
    for ax, (title, parts) in zip(axes, panels.items(), strict=True):
        epsilons, sensitive, others = map(np.asarray, parts)
        total = sensitive + others
        share = sensitive / total
        ax.fill_between(epsilons, share, color=style.TINT[style.SENSITIVE], linewidth=0)
        ax.fill_between(epsilons, share, 1, color=style.TINT[style.OTHER], linewidth=0)
        ax.plot(epsilons, share, color=style.SENSITIVE, linewidth=2)
        half = np.exp(np.interp(-0.5, -share, np.log(epsilons)))
        ax.plot(half, 0.5, "o", color=style.SENSITIVE, markersize=5)
        style.write(ax, (half, 0.46), f"half at ε = {half:.1f}  ", ha="right", va="top")
        for place, index in ((0, 0), (0.5, total.size // 2), (1, -1)):
            look = {
                "transform": ax.transAxes,
                "va": "bottom",
                "ha": "left" if not place else "right",
            }
            words = f"{'total ' if not place else ''}{total[index]:.2g}"
            style.write(ax, (place, 1.01), words, style.MUTED, **look)
        ax.set_title(title, pad=17)
        ax.set(ylim=(0, 1), xlim=epsilons[[0, -1]], yticks=(0, 0.5, 1))
    named: Look = {"transform": axes[0].transAxes}
    style.write(axes[0], (0.25, 0.3), "sensitive answers", style.SENSITIVE, **named)
    style.write(axes[0], (0.87, 0.85), "all others", style.OTHER, **named)
    style.number_axes(axes, "x", "y")
    style.name_axes(axes, "ε", "share of the error")
    return axes


def losses_by_estimator(
    panels: Mapping[str, Mapping[str, ArrayLike]], budgets: Sequence[str]
) -> NDArray[Any]:
    """Draw losses of estimators as matrices of percent, a panel for each mechanism.

    The stronger the shade of a cell, the more times the least of its column it is, up to ten. Those
    within 5% of the least are bold.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (m,) array_like
        Losses above 0 by the mechanism and the estimator's name in `ESTIMATORS`.
    budgets : sequence of str
        The m values of ε, as they are written below the columns.
    """
    axes = style.make_axes(len(panels), 2.1, sharey=True, narrow=2)
    colors = style.mechanism_looks(panels)
    for ax, (title, given) in zip(axes, panels.items(), strict=True):
        losses = np.array(list(given.values()))
        times = losses / losses.min(axis=0)
        shades = np.log10(times).clip(max=1)
        # No darker, so that the contrast of ink is 4.5 on a dark page too, which turns both.
        ax.imshow(shades, style.RAMP, vmin=0, vmax=1 / 0.3, aspect="auto")
        ax.grid(visible=False)
        for (row, column), loss in np.ndenumerate(losses):
            weight = "bold" if times[row, column] <= 1.05 else "normal"
            percent = f"{100 * loss:,.{1 if loss < 0.1 else 0}f}"
            style.write(ax, (column, row), percent, weight=weight)
        ax.set_title(title, color=colors[title]["color"])
        ax.set_xticks(range(len(budgets)), budgets)
        ax.set_yticks(range(len(given)), [ESTIMATORS[name] for name in given])
        ax.tick_params(length=0)
    style.name_axes(axes, "ε", "")
    bold = "bold: within 5% of the column's least"
    style.note(axes, f"half of all errors in % · {bold} · stronger shade: farther from it")
    return axes
