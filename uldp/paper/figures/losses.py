"""Figures on the losses: how they change with p(X_S), and where they are largest, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp.paper.figures import style
from uldp.paper.figures.style import Curve, Panels

__all__ = ["WorstCases", "losses_by_mass", "support_levels", "worst_case_planes"]

HATCH = "///"
HOLDERS = ("holders, sensitive", "holders, non-sensitive")
CONTOURS = (0.05, 0.2, 0.4, 0.6, 0.8)
REGIONS: tuple[tuple[float, float, str, dict[str, Any]], ...] = (
    (0.03, 0.03, "uniform\nover $\\mathcal{X}_N$", {"ha": "left", "va": "bottom"}),
    (0.97, 0.97, "$p(\\mathcal{X}_S) > 0$", {"ha": "right", "va": "top"}),
)


@dataclass(frozen=True)
class WorstCases:
    """Where the loss of one mechanism is largest, over a grid of ε and |X_S|.

    Parameters
    ----------
    epsilons : (a,) array_like
        Values of ε, in nats, increasing.
    sizes : (b,) array_like
        Values of |X_S|, increasing.
    masses : (b, a) array_like
        p(X_S) at the worst case, 0 where that is the uniform distribution over X_N.
    stated : (b, a) array_like of bool
        Where the paper states the worst case.
    boundaries : mapping of str to (ε, |X_S|)
        Curves to draw, by their labels.
    """

    epsilons: ArrayLike
    sizes: ArrayLike
    masses: ArrayLike
    stated: ArrayLike
    boundaries: Mapping[str, Curve]


def losses_by_mass(
    panels: Mapping[str, Mapping[str, Curve]],
    ylabel: str,
    axes: Panels = None,
    *,
    points: Mapping[str, Curve] | None = None,
) -> NDArray[Any]:
    """Draw how a loss depends on p(X_S), and dot the highest point of each line.

    The lines of a panel whose title is the name of a mechanism have its colour.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (p(X_S), losses)
        By the title of their panel and the label of their line; line styles repeat after four, in
        other panels after five.
    ylabel : str
        What the loss is, or what it is relative to.
    axes : (number of panels,) array_like of Axes, optional
        Where to draw.
    points : mapping of str to (p(X_S), losses), optional
        Losses to be drawn as small grey points below the lines, by the title of their panel.

    Returns
    -------
    (number of panels,) ndarray of Axes
    """
    axes = style.make_axes(len(panels), (style.WIDTH, 3.6), sharey=True, axes=axes)
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        looks = style.line_looks(curves)
        if title in style.STYLES:
            shades = zip(curves, cycle(("-", "--", "-.", ":")), strict=False)
            color = style.STYLES[title]["color"]
            looks = {label: looks[label] | {"color": color, "linestyle": s} for label, s in shades}
        style.draw_curves({title: curves}, [ax], looks)
        for line in list(ax.lines):
            top = line.get_xydata()[line.get_ydata().argmax()]
            ax.plot(*top, "o", color=line.get_color(), markersize=7, clip_on=False)
        if points and title in points:
            scattered = style.checked(points[title], f"points of {title!r}")
            ax.plot(*scattered, ".", color=style.GREY, markersize=3, zorder=0)
        ax.set_xlim(0, 1)
        ax.legend(loc="lower left", fontsize=9)
    style.name_axes(axes, r"$p(\mathcal{X}_S)$", ylabel)
    return axes


def support_levels(
    panels: Mapping[str, tuple[ArrayLike, ArrayLike]],
    sensitive: ArrayLike,
    axes: Panels = None,
) -> NDArray[Any]:
    """Draw how often reports support each value: from those who hold another, and who hold it.

    Parameters
    ----------
    panels : mapping of str to ((k,), (k,)) array_like
        By the title of their panel, the probabilities that a report supports each value if nobody
        holds it, o(x), and what its holders add to them, g(x) p(x).
    sensitive : (k,) array_like of bool
        Which values are sensitive.
    axes : (number of panels,) array_like of Axes, optional
        Where to draw.

    Returns
    -------
    (number of panels,) ndarray of Axes
    """
    axes = style.make_axes(len(panels), (style.WIDTH, 2.8), sharey=True, axes=axes)
    marked = checks.numbers(np.multiply(sensitive, 1.0), "sensitive", (-1,)) > 0
    groups = ((marked, style.BLUE, "\\\\"), (~marked, style.ORANGE, ""))
    for ax, (title, (floor, added)) in zip(axes, panels.items(), strict=True):
        floors = checks.numbers(floor, f"floor of {title!r}", marked.shape)
        rises = checks.numbers(added, f"rise of {title!r}", marked.shape)
        values = np.arange(1, marked.size + 1)
        ax.bar(values, floors, color="0.8", edgecolor=style.GREY, hatch=HATCH, linewidth=0.5)
        for members, color, hatch in groups:
            parts: dict[str, Any] = {"color": style.PALE[color], "edgecolor": color, "hatch": hatch}
            ax.bar(values[members], rises[members], bottom=floors[members], **parts)
        ax.axhline((floors + rises).max(), color="black", linewidth=1, linestyle=":")
        ax.set_title(title)
        ax.set_xticks(values)
    style.name_axes(axes, "value $x$", "$m(x)$")
    kinds = (
        Patch(facecolor="0.8", edgecolor=style.GREY, hatch=HATCH, label="others"),
        *(
            Patch(facecolor=style.PALE[color], edgecolor=color, hatch=hatch, label=label)
            for (_, color, hatch), label in zip(groups, HOLDERS, strict=True)
        ),
    )
    style.legend_above(axes, kinds)
    return axes


def worst_case_planes(planes: Mapping[str, WorstCases], axes: Panels = None) -> NDArray[Any]:
    """Draw where in the (ε, |X_S|) plane each worst case is, one panel for each mechanism.

    White: uniform over X_N. Blue: p(X_S) > 0, with contour lines. Hatched: not in the paper.

    Parameters
    ----------
    planes : mapping of str to WorstCases
        By the title of the panel. A boundary with one label has one line style in all of them.
    axes : (number of panels,) array_like of Axes, optional
        Where to draw.

    Returns
    -------
    (number of panels,) ndarray of Axes
    """
    axes = style.make_axes(len(planes), (style.WIDTH, 4.2), sharey=True, axes=axes)
    looks = style.line_looks(label for plane in planes.values() for label in plane.boundaries)
    for ax, (title, plane) in zip(axes, planes.items(), strict=True):
        *grid, masses, stated = style.on_grid(
            title,
            epsilons=plane.epsilons,
            sizes=plane.sizes,
            masses=plane.masses,
            stated=np.multiply(plane.stated, 1.0),
        )
        ax.contourf(*grid, masses > 0, levels=[0.5, 1.5], colors=[style.PALE[style.BLUE]])
        style.draw_contours(ax, grid, masses, CONTOURS, "#08306B")
        hatched = ax.contourf(*grid, stated, levels=[-0.5, 0.5], colors="none", hatches=[HATCH])
        hatched.set(edgecolor=style.GREY, linewidth=0)
        for label, curve in plane.boundaries.items():
            ax.plot(*style.checked(curve, label), label=label, **looks[label])
        ax.set_title(title)
        for x, y, words, placed in REGIONS:
            ax.text(x, y, words, transform=ax.transAxes, bbox=style.WHITE, zorder=4, **placed)
    style.name_axes(axes, "ε", "$|\\mathcal{X}_S|$")
    unstated = Patch(facecolor="none", hatch=HATCH, edgecolor=style.GREY, label="not in the paper")
    style.legend_above(axes, [*style.keys_of(looks), unstated])
    return axes
