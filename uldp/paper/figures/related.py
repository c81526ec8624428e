"""Figures on other notions of privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp.paper.figures import style

__all__ = ["pair_levels"]

COLORS = ListedColormap([style.TINT[style.SENSITIVE], "white", style.TINT[style.OTHER]])


def pair_levels(
    panels: Mapping[str, ArrayLike],
    labels: Sequence[str],
    sensitive: Sequence[int],
) -> NDArray[Any]:
    """Draw for each pair of values how well reports tell the first from the second.

    Bounded levels are on blue, unbounded ones on orange.

    Parameters
    ----------
    panels : mapping of str to (k, k) array_like
        The levels of pairs, at least 0 and perhaps infinite, by the title of their panel, two in a
        row. Rows are the values that a report speaks for, columns those it speaks against.
    labels : sequence of str
        The values.
    sensitive : sequence of int
        The numbers of the sensitive ones, whose labels are blue.

    Returns
    -------
    (number of panels,) ndarray of Axes
    """
    k = len(labels)
    height = 0.6 + 2.6 * -(-len(panels) // 2)
    axes = style.make_axes(len(panels), height, 2)
    colors = [style.SENSITIVE if x in sensitive else style.OTHER for x in range(k)]
    for ax, (title, given) in zip(axes, panels.items(), strict=True):
        levels = np.asarray(given, dtype=float)
        finite = np.where(np.isposinf(levels), 0, levels)
        finite = checks.numbers(finite, f"panels[{title!r}]", (k, k))
        if (finite < 0).any():
            raise ValueError(f"levels must be at least 0, got {finite.min()}")
        shade = np.where(np.isposinf(levels), 1.0, np.where(levels > 1e-9, -1.0, 0.0))
        np.fill_diagonal(shade, 0)
        ax.imshow(shade, COLORS, vmin=-1, vmax=1)
        for (row, column), level in np.ndenumerate(levels):
            if row != column:
                text = "∞" if np.isinf(level) else f"{level:.2g}"
                ax.text(column, row, text, ha="center", va="center", size=11)
        ax.set_title(title)
        ax.set_xticks(range(k), labels, rotation=30, ha="right")
        ax.set_yticks(range(k), labels)
        ax.tick_params(length=0)
        for ticks in (ax.get_xticklabels(), ax.get_yticklabels()):
            for tick, color in zip(ticks, colors, strict=True):
                tick.set_color(color)
    style.name_axes(axes, "against", "for")
    return axes
