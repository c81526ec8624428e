"""Figures on other notions of privacy."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp.paper.figures import style

__all__ = ["pair_levels"]


def pair_levels(
    panels: Mapping[str, ArrayLike],
    labels: Sequence[str],
    sensitive: Sequence[int],
) -> NDArray[Any]:
    """Draw for each pair of values how well reports tell the first from the second.

    The darker a cell, the larger its level; black is unbounded.

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
    for ax, (title, given) in zip(axes, panels.items(), strict=True):
        levels = np.asarray(given, dtype=float)
        finite = np.where(np.isinf(levels), 0, levels)
        shade = np.where(np.isinf(levels), 1, 0.5 * finite / max(finite.max(), 1))
        ax.imshow(shade, style.RAMP, vmin=0, vmax=1)
        ax.grid(visible=False)
        for (row, column), level in np.ndenumerate(levels):
            if row != column:
                text = "∞" if np.isinf(level) else f"{level:.2g}"
                ink = "white" if shade[row, column] > 0.4 else style.INK
                style.write(ax, (column, row), text, ink, gid=f"plate-{row}-{column}")
        ax.set_title(textwrap.fill(title, 18))
        ax.set_xticks(range(k), labels, rotation=30, ha="right")
        ax.set_yticks(range(k), labels)
        ax.tick_params(length=0)
        for ticks in (ax.get_xticklabels(), ax.get_yticklabels()):
            for tick, color in zip(ticks, colors, strict=False):  # inner panels have none
                tick.set_color(color)
    style.name_axes(axes, "against", "for")
    return axes
