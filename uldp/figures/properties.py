"""Figures on what ULDP guarantees: one function per figure, data in, Axes out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import distance_transform_edt, label as connected

from uldp import _checks
from uldp.figures.style import STYLES, Curve, make_axes

__all__ = ["Levels", "definition_regions", "losses_by_reports"]

REGIONS = {
    "OSLDP only": ("#F5EFA3", "...", "#9A9020"),
    "ULDP": ("#F2B48F", "\\\\\\", "#D55E00"),
    "LDP": ("#A9D3EC", "///", "#0072B2"),
}
"""From the weakest definition to the strongest: colour, hatch and the hatch's colour."""

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Levels:
    """Privacy levels of a family of mechanisms with parameters a and b in [0, 1].

    Parameters
    ----------
    ldp, uldp, osldp : (m, m) array_like
        The levels at b = row / (m - 1) and a = column / (m - 1), in nats; infinity where none.
    points : mapping of str to (a, b), optional
        Mechanisms of the family to mark, by their labels.
    """

    ldp: ArrayLike
    uldp: ArrayLike
    osldp: ArrayLike
    points: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def definition_regions(panels: Mapping[str, Levels], epsilon: float) -> NDArray[Any]:
    """Draw where LDP, ULDP and OSLDP hold at one ε, in the square of a and b.

    A mechanism that is ULDP and not LDP only where a is 0 or 1 shows as a thick line on that edge.

    Parameters
    ----------
    panels : mapping of str to Levels
        By the title of their panel; panels stand side by side.
    epsilon : float
        The level ε, at least 0.

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels, levels are not square arrays of one shape, or ε is below 0.
    """
    floor = math.exp(-_checks.nonnegative(epsilon, "epsilon")) - TOLERANCE
    axes = make_axes(len(panels), (3.6 * len(panels), 3.7), sharey=True)
    for ax, (title, levels) in zip(axes, panels.items(), strict=True):
        size = len(_checks.as_array(levels.ldp, "ldp"))
        given = zip(REGIONS, (levels.osldp, levels.uldp, levels.ldp), strict=True)
        ratios = {name: _least_ratios(array, name, size) for name, array in given}
        _mark_edges(ax, ratios["ULDP"], ratios["LDP"], floor)
        _fill(ax, ratios, floor)
        _name_regions(ax, np.sum([array >= floor for array in ratios.values()], axis=0))
        for label, place in levels.points.items():
            ax.plot(*place, "o", color="black", markerfacecolor="white", clip_on=False, zorder=5)
            ax.annotate(
                label, place, (6, -5), textcoords="offset points", va="top", annotation_clip=False
            )
        ax.set(title=title, xlabel="a", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("b")
    return axes


def losses_by_reports(panels: Mapping[str, Mapping[str, Curve]], ylabel: str) -> NDArray[Any]:
    """Draw losses over the number of reports of each user, on logarithmic axes.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (t, losses)
        By the title of their panel, and by the mechanism's name in `figures.STYLES`; any other
        name is drawn as a grey line.
    ylabel : str
        The name of the loss.

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels, or t and the losses of a curve differ in length.
    """
    axes = make_axes(len(panels), (3.6 * len(panels), 3.7), sharey=True)
    keys: dict[str, Line2D] = {}
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        for name, (reports, losses) in curves.items():
            t = _checks.numbers(reports, f"t of {name!r}", (-1,))
            heights = _checks.numbers(losses, f"losses of {name!r}", t.shape)
            if name in STYLES:
                style = STYLES[name]
                (line,) = ax.plot(t, heights, style.line, color=style.color, marker=style.marker)
            else:
                (line,) = ax.plot(t, heights, color="gray", linewidth=2.5, zorder=0)
            line.set(label=name, markersize=5)
            keys[name] = line
        ax.set(title=title, xscale="log", yscale="log", xlabel="reports per user, t")
        ax.set_xticks(t, [f"{value:g}" for value in t])
        ax.minorticks_off()
        ax.grid(alpha=0.25)
    axes[0].set_ylabel(ylabel)
    axes[0].figure.legend(
        handles=[*keys.values()], loc="outside upper center", ncols=3, frameon=False
    )
    return axes


def _least_ratios(levels: ArrayLike, name: str, size: int) -> NDArray[Any]:
    """Return e^-level, which is 0 where there is no level, so that contours can be drawn."""
    ratios = np.exp(-_checks.as_array(levels, name))
    return _checks.numbers(ratios, f"levels of {name}", (size, size))


def _mark_edges(ax: Axes, uldp: NDArray[Any], ldp: NDArray[Any], floor: float) -> None:
    """Draw where an edge is ULDP and its surroundings are not, and take it out of the region."""
    places = np.linspace(0, 1, len(uldp))
    for edge, inside in ((0, 1), (-1, -2)):
        alone = (uldp[:, edge] >= floor) & (ldp[:, edge] < floor)
        if alone.any():
            heights = places[uldp[:, edge] >= floor][[0, -1]]
            (line,) = ax.plot([places[edge]] * 2, heights, color=REGIONS["ULDP"][2], linewidth=6)
            line.set(solid_capstyle="butt", clip_on=False, zorder=4)
            if inside < 0:
                ax.text(1.03, heights.mean(), "ULDP", va="center", rotation=90)
        uldp[alone, edge] = ldp[alone, edge]


def _fill(ax: Axes, ratios: Mapping[str, NDArray[Any]], floor: float) -> None:
    for name, array in ratios.items():
        color, hatch, hatch_color = REGIONS[name]
        places = np.linspace(0, 1, len(array))
        region = ax.contourf(
            places, places, array, levels=[floor, 2], colors=[color], hatches=[hatch]
        )
        region.set(edgecolor=hatch_color, linewidth=0)
        ax.contour(places, places, array, levels=[floor], colors="black", linewidths=0.8)


def _name_regions(ax: Axes, strength: NDArray[np.int64]) -> None:
    """Write the name of each region into its largest inscribed circle, or beside a narrow one."""
    names = [name.replace(" ", "\n") for name in ("none", *REGIONS)]
    frame = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}
    middle: dict[str, Any] = {"ha": "center", "va": "center", "bbox": frame, "zorder": 5}
    for value in np.unique(strength):
        parts, number = connected(strength == value)
        for part in range(1, number + 1):
            depth = distance_transform_edt(np.pad(parts == part, 1))[1:-1, 1:-1] / len(strength)
            radius = depth.max()
            b, a = np.divide(np.unravel_index(depth.argmax(), depth.shape), len(strength) - 1)
            if radius > 0.09:
                ax.text(a, b, names[value], **middle)
            elif radius > 0.03:
                beside = (0.12, b + 0.24) if a < 0.5 else (0.88, b - 0.24)
                line = {"arrowstyle": "-", "linewidth": 0.8}
                ax.annotate(names[value], (a, b), beside, arrowprops=line, **middle)
