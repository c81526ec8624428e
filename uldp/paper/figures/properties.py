"""Figures on what ULDP guarantees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from uldp.paper.figures import style

__all__ = ["Levels", "definition_regions", "promises"]

REGIONS: dict[str, style.Look] = {
    "OSLDP only": {"colors": style.GRID},
    "ULDP": {"colors": style.ACCENT, "alpha": 0.25},
    "LDP": {"colors": style.FAINT},
}
"""From the weakest definition to the strongest."""

TOLERANCE = 1e-9
MIDDLE: style.Look = {"ha": "center", "va": "center", "zorder": 5}


@dataclass(frozen=True, eq=False)
class Levels:
    """Privacy levels of a family of mechanisms with parameters a and b in [0, 1].

    Parameters
    ----------
    ldp, uldp, osldp : (m, m) array_like
        The levels at b = row / (m - 1) and a = column / (m - 1), in nats; infinity where none.
    points : mapping of str to (a, b), optional
        Mechanisms of the family to mark, by their labels.
    names : sequence of (str, (a, b), (a, b)), optional
        Names of regions, where they stand, and to where a line leads from there.
    """

    ldp: ArrayLike
    uldp: ArrayLike
    osldp: ArrayLike
    points: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    names: Sequence[tuple[str, tuple[float, float], tuple[float, float]]] = ()


def definition_regions(panels: Mapping[str, Levels], epsilon: float) -> NDArray[Any]:
    """Draw where LDP, ULDP and OSLDP hold at one ε, in the square of a and b.

    A mechanism that is ULDP and not LDP only where a is 0 or 1 shows as a thick line on that edge.

    Parameters
    ----------
    panels : mapping of str to Levels
        By the title of their panel.
    epsilon : float
        The level ε, at least 0.
    """
    floor = math.exp(-epsilon) - TOLERANCE
    axes = style.make_axes(len(panels), 3.7, sharey=True)
    for ax, (title, levels) in zip(axes, panels.items(), strict=True):
        given = zip(REGIONS, (levels.osldp, levels.uldp, levels.ldp), strict=True)
        # e^-level is 0 where there is no level, so that contours can be drawn.
        ratios = {name: np.exp(-np.asarray(array)) for name, array in given}
        _mark_edges(ax, ratios["ULDP"], ratios["LDP"], floor)
        _fill(ax, ratios, floor)
        for name, at, of in levels.names:
            line = {"arrowstyle": "-", "linewidth": 0.8, "color": style.INK} if at != of else None
            ax.annotate(name, of, at, annotation_clip=False, arrowprops=line, **MIDDLE)
        for label, place in levels.points.items():
            ax.plot(*place, "o", color=style.INK, markerfacecolor="white", clip_on=False, zorder=5)
            ax.annotate(
                label, place, (6, -5), textcoords="offset points", va="top", annotation_clip=False
            )
        ax.set(title=title, aspect="equal", xlim=(0, 1), ylim=(0, 1))
    style.name_axes(axes, "a: how often 1 reports 1", "b: how often 0 does, if not revealed")
    return axes


def promises(cases: Mapping[str, tuple[float, float]]) -> Axes:
    """Draw the promised and the found e^level of cases, one in a row, on a logarithmic axis.

    A text beside the found level says it, and if the promise is broken. A mark without a level is
    an arrow at the right edge.

    Parameters
    ----------
    cases : mapping of str to (promised, found)
        Factors e^ε, at least 1, by the name of their row, from above; found is infinite where there
        is no level.
    """
    promised, found = np.array([[float(x) for x in pair] for pair in cases.values()]).T
    ax = style.one_axes(0.9 + 0.56 * len(cases))
    finite = np.isfinite(found)
    right = 2 * max(promised.max(), found[finite].max(initial=1))
    ends = np.where(finite, found, right)
    broken = found > promised * (1 + TOLERANCE)
    # Half a row lies free between what is kept and what is broken.
    rows = np.arange(len(cases)) + 0.5 * np.cumsum(np.diff(broken, prepend=broken[:1]))
    colors = [style.WARN if is_broken else style.INK for is_broken in broken]
    ax.set(xscale="log", xlim=(1, right))
    ax.hlines(rows, promised, ends, colors=colors, linewidth=1.4)
    ax.vlines(promised, rows - 0.22, rows + 0.22, color=style.INK, linewidth=2)
    for case, (end, row, color) in enumerate(zip(ends, rows, colors, strict=True)):
        marker = "o" if finite[case] else ">"
        ax.plot(end, row, marker, color=color, markersize=6, clip_on=False, zorder=3)
        verdict, weight = (", broken", "bold") if broken[case] else ("", "normal")
        words = f"{end:.3g}{verdict}" if finite[case] else "no level at all"
        look: style.Look = {"textcoords": "offset points", "va": "center", "color": color}
        place, side = (6, 0), "left"
        if end < promised[case] * (1 - TOLERANCE):
            place, side = (-6, 0), "right"
        elif not finite[case]:
            place, side = (-4, 8), "right"
        ax.annotate(words, (end, row), place, ha=side, weight=weight, **look)
    style.name_rows(ax, list(cases), [style.INK] * len(cases))
    ax.set_yticks(rows, [name.get_text() for name in ax.get_yticklabels()])
    ax.set_ylim(rows[-1] + 0.5, -0.5)
    style.number_axes([ax], "x")
    ax.set_xlabel("level, as a factor $e^{ε}$ (logarithmic)")
    style.note(ax, "strokes: what is promised · dots: what is found")
    return ax


def _mark_edges(ax: Axes, uldp: NDArray[Any], ldp: NDArray[Any], floor: float) -> None:
    """Draw where an edge is ULDP and its surroundings are not, and take it out of the region."""
    places = np.linspace(0, 1, len(uldp))
    for edge in (0, -1):
        alone = (uldp[:, edge] >= floor) & (ldp[:, edge] < floor)
        if alone.any():
            heights = places[uldp[:, edge] >= floor][[0, -1]]
            (line,) = ax.plot([places[edge]] * 2, heights, color=style.ACCENT, linewidth=4)
            line.set(solid_capstyle="butt", clip_on=False, zorder=4)
        uldp[alone, edge] = ldp[alone, edge]


def _fill(ax: Axes, ratios: Mapping[str, NDArray[Any]], floor: float) -> None:
    ax.grid(visible=False)
    for name, array in ratios.items():
        places = np.linspace(0, 1, len(array))
        ax.contourf(places, places, array, levels=[floor, 2], **REGIONS[name])
        ax.contour(places, places, array, levels=[floor], colors=style.INK, linewidths=0.7)
