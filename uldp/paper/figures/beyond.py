"""Figures on the best θ, on the fundamental limit, and on choosing a mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import BoundaryNorm, to_rgb
from numpy.typing import ArrayLike, NDArray

from uldp.paper.figures import style
from uldp.paper.figures.style import Curve, Look
from uldp.paper.figures.svg import PLATE

__all__ = ["ExcessMap", "Surface", "better_of_two", "ratio_maps", "saddle_points"]

SADDLE: Look = style.DOTS | {"color": style.INK, "markersize": 8}
HATCHES = ("", "..")
OPTIMAL: Look = {"color": style.INK, "linestyle": "-.", "linewidth": 2}


@dataclass(frozen=True, eq=False)
class Surface:
    """A loss over θ and over the mass of the sensitive values, and its saddle point.

    Parameters
    ----------
    theta : (a,) array_like
        Values of θ, increasing.
    mass : (b,) array_like
        Values of p(X_S), increasing.
    losses : (b, a) array_like
        The losses, above 0.
    saddle : (θ, mass)
        The saddle point.
    """

    theta: ArrayLike
    mass: ArrayLike
    losses: ArrayLike
    saddle: tuple[float, float]


def saddle_points(panels: Mapping[str, Surface]) -> NDArray[Any]:
    """Draw losses by contour lines, the best θ for each mass, and the worst mass for each θ.

    Parameters
    ----------
    panels : mapping of str to Surface
        By the title of their panel.
    """
    axes = style.make_axes(len(panels), 3.4, sharey=True)
    looks = style.line_looks(("best θ for a mass", "worst mass for a θ"))
    for ax, (title, surface) in zip(axes, panels.items(), strict=True):
        theta, mass, losses = map(np.asarray, (surface.theta, surface.mass, surface.losses))
        levels = losses.min() * np.geomspace(1.001, losses.max() / losses.min(), 22)
        ax.contour(theta, mass, losses, levels=levels, colors=style.FAINT, linewidths=0.8)
        ax.grid(visible=False)
        lines = (theta[losses.argmin(axis=1)], mass), (theta, mass[losses.argmax(axis=0)])
        for line, (label, look) in zip(lines, looks.items(), strict=True):
            ax.plot(*line, label=label, **look)
        ax.plot(*surface.saddle, **SADDLE, clip_on=False, zorder=5)
        ax.set_title(title)
    style.name_axes(axes, "θ", "mass of the sensitive values")
    style.name_lines(axes)
    style.note(axes, "dot: the saddle point")
    return axes


def ratio_maps(
    epsilons: ArrayLike,
    sizes: ArrayLike,
    ratios: Mapping[str, ArrayLike],
    levels: Sequence[float],
    lines: Mapping[str, Curve] | None = None,
) -> NDArray[Any]:
    """Map ratios of losses over ε and the number of sensitive values, on logarithmic axes.

    Parameters
    ----------
    epsilons : (a,) array_like
        Values of ε, increasing.
    sizes : (b,) array_like
        Numbers of sensitive values, increasing.
    ratios : mapping of str to (b, a) array_like
        The ratios by the title of their panel, two in a row; all share one scale of colours.
    levels : sequence of float
        Where one colour ends and the next begins, increasing and above 0; the contour lines there
        carry their ratio. Ratios beyond the ends are drawn like the ends.
    lines : mapping of str to (ε, size), optional
        Lines drawn across every panel, at most three, by their labels.
    """
    height = 0.6 + 2.7 * -(-len(ratios) // 2)
    axes = style.make_axes(len(ratios), height, 2)
    looks = style.line_looks(lines or {})
    norm = BoundaryNorm(levels, style.RAMP.N)
    for ax, (title, values) in zip(axes, ratios.items(), strict=True):
        shown = np.clip(values, levels[0], levels[-1])
        ax.set(xscale="log", yscale="log")
        filled = ax.contourf(epsilons, sizes, shown, levels=levels, cmap=style.RAMP, norm=norm)
        style.draw_contours(ax, (epsilons, sizes), shown, levels[1:-1], style.INK)
        for label, line in (lines or {}).items():
            ax.plot(*line, **looks[label], linewidth=2.2)
        ax.set_title(title)
    style.number_axes(axes)
    style.name_axes(axes, "ε", "sensitive values")
    placed: Look = {"location": "bottom", "shrink": 0.8, "aspect": 45, "spacing": "uniform"}
    axes[0].figure.colorbar(filled, ax=list(axes), ticks=levels, format="%g", **placed)
    style.key_above(axes, looks)
    return axes


@dataclass(frozen=True, eq=False)
class ExcessMap:
    """Losses of two mechanisms over the limit, by the number of sensitive values and ε.

    Parameters
    ----------
    epsilons : (a,) array_like
        Values of ε, increasing.
    sizes : (b,) array_like
        Numbers of sensitive values, increasing.
    ratios : mapping of str to (b, a) array_like
        The ratios of the two, by the name of the mechanism.
    optimal : (ε, size)
        Where the first of the two begins to attain the limit.
    """

    epsilons: ArrayLike
    sizes: ArrayLike
    ratios: Mapping[str, ArrayLike]
    optimal: Curve


def better_of_two(panels: Mapping[str, ExcessMap], levels: ArrayLike) -> NDArray[Any]:
    """Map which of two mechanisms has the smaller loss, and how far it is from the limit.

    Parameters
    ----------
    panels : mapping of str to ExcessMap
        By the title of their panel; all of the same two mechanisms.
    levels : (m,) array_like
        Ratios at which contour lines are drawn for the better of the two.
    """
    axes = style.make_axes(len(panels), 4.2)
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        names = list(panel.ratios)
        grid = panel.epsilons, panel.sizes
        first, second = map(np.asarray, panel.ratios.values())
        looks = style.mechanism_looks(names)
        tints = [0.65 + 0.35 * np.array(to_rgb(looks[name]["color"])) for name in names]
        ax.set(xscale="log", yscale="log")
        filled = ax.contourf(
            *grid,
            np.log(first / second),
            levels=[-np.inf, 0, np.inf],
            colors=tints,
            hatches=HATCHES,
        )
        filled.set_edgecolor(style.MUTED)
        style.draw_contours(ax, grid, np.minimum(first, second), levels, "0.2")
        ax.plot(*panel.optimal, **OPTIMAL)
        ax.set_title(title)
    style.number_axes(axes)
    style.name_axes(axes, "ε", "sensitive values")
    square: Look = {"linestyle": "", "marker": "s", "markersize": 8}
    keys = {
        f"{name} is better": square | {"color": tint}
        for name, tint in zip(names, tints, strict=True)
    }
    style.key_above(axes, keys | {f"{names[0]} is optimal from here": OPTIMAL})
    for number, key in enumerate(axes[0].figure.legends[0].get_lines()[: len(keys)]):
        key.set_gid(f"{PLATE}-key-{number}")
    return axes
