"""Figures on choosing a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import ArrayLike, NDArray

from uldp.paper.figures import style
from uldp.paper.figures.style import Curve, Look
from uldp.paper.figures.svg import PLATE

__all__ = ["ExcessMap", "better_of_two"]

HATCHES = ("", "..")
HATCHING = style.MUTED
OPTIMAL: Look = {"color": style.INK, "linestyle": "-.", "linewidth": 2}


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
        filled.set_edgecolor(HATCHING)
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
