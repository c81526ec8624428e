"""Estimates next to the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LogNorm, PowerNorm
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from uldp import inference
from uldp._numerics import checks
from uldp.domain import PerValue, chosen_values
from uldp.law import distribution_over
from uldp.paper.datasets import GridHistogram
from uldp.paper.figures import style
from uldp.paper.figures.style import Look
from uldp.tallies import Tally

__all__ = ["estimates_by_rank", "estimates_with_errors", "maps"]


def estimates_by_rank(
    truth: ArrayLike,
    estimates: Mapping[str, ArrayLike],
    sensitive: ArrayLike,
) -> NDArray[Any]:
    """Draw each estimate of a distribution over the truth, the most frequent value first.

    The vertical axis is linear and shared, so that negative entries show and panels compare.

    Parameters
    ----------
    truth : (k,) array_like
        The true distribution.
    estimates : mapping of str to (k,) array_like
        By the mechanism's name; one panel each, two in a row.
    sensitive : (s,) array_like of int
        Indices of the sensitive values, whose dots are blue.
    """
    size = np.size(truth)
    shares = checks.distribution(truth, "truth", size)
    order = np.argsort(-shares, kind="stable")
    ranks = np.arange(1, size + 1)
    is_sensitive = np.isin(order, checks.positions(sensitive, "sensitive", size))
    height = 0.6 + 2.4 * -(-len(estimates) // 2)
    axes = style.make_axes(len(estimates), height, 2, sharey=True, sharex=True)
    for ax, (name, estimate) in zip(axes, estimates.items(), strict=True):
        values = checks.numbers(estimate, f"estimates[{name!r}]", (size,))[order]
        for chosen, color in ((~is_sensitive, style.OTHER), (is_sensitive, style.SENSITIVE)):
            ax.plot(ranks[chosen], values[chosen], color=color, **style.DOTS)
        ax.plot(ranks, shares[order], color=style.INK)
        ax.set_title(name)
    style.number_axes(axes, "x", "y")
    style.name_axes(axes, "answers, most frequent first", "share of the users")
    style.note(axes, "dots: estimates, blue of sensitive answers, orange of others · line: truth")
    return axes


def estimates_with_errors(
    tallies: Mapping[str, Tally],
    values: ArrayLike | None = None,
    truth: PerValue | None = None,
    confidence: float = 0.95,
) -> Axes:
    """Draw the estimates of tallies, adjusted to sum to 1, with their intervals, by value.

    Parameters
    ----------
    tallies : mapping of str to Tally
        By the mechanism's name, or another one for each; all over the same values.
    values : array_like of labels or indices, optional
        The values to draw, from the top, as labels or (where they are strings) as indices; by
        default all, in the order of the domain. Blue ones are sensitive, orange ones are not.
    truth : (k,) array_like or mapping of label to float, optional
        The true distribution, drawn as upright strokes.
    confidence : float, optional
        The probability that an interval holds its share (see `inference.intervals`).
    """
    if not tallies:
        raise ValueError("tallies must not be empty: there is nothing to draw")
    domains = [tally.law.domain for tally in tallies.values()]
    domain = domains[0]
    if any(other.labels != domain.labels for other in domains):
        raise ValueError("tallies must be over the same values")
    shown = np.arange(domain.size) if values is None else chosen_values(domain, values)
    rows = np.arange(shown.size)
    ax = style.one_axes(0.7 + shown.size * (0.25 + 0.15 * len(tallies)))
    named = not style.STYLES.keys().isdisjoint(tallies)
    looks = style.mechanism_looks(tallies) if named else style.line_looks(tallies)
    step = 0.7 / len(looks)
    places = step * (np.arange(len(looks)) - (len(looks) - 1) / 2)
    truths = None if truth is None else distribution_over(domain, truth, "truth")[shown]
    ax.axvline(0, color=style.FAINT)
    if truths is not None:
        ax.vlines(truths, rows - 0.4, rows + 0.4, color=style.MUTED, linewidth=1)
    for (name, look), place in zip(looks.items(), places, strict=True):
        heights = rows + place
        low, high = inference.intervals(tallies[name], confidence)[shown].T
        estimate = tallies[name].estimate("adjusted")[shown]
        ax.hlines(heights, low, high, color=look["color"], linewidth=1.6)
        # Intervals can be short, so that the marks are slim, and the truth stands behind.
        ax.plot(estimate, heights, "d", color=look["color"], markersize=5, markeredgewidth=0)
        ax.annotate(
            name,
            (high[0], heights[0]),
            (4, 0),
            textcoords="offset points",
            va="center",
            color=look["color"],
            weight="bold",
        )
    sensitive = np.isin(shown, domain.sensitive)
    colors = [style.SENSITIVE if of_them else style.OTHER for of_them in sensitive]
    style.name_rows(ax, [str(domain.labels[x]) for x in shown], colors)
    ax.set_xlabel("share of the users")
    style.number_axes([ax], "", "x")
    if truths is not None:
        style.note(ax, "upright strokes: the truth")
    return ax


def maps(
    panels: Mapping[str, PerValue],
    grid: GridHistogram,
    label: str,
    columns: int = 3,
    *,
    lowest: float | None = None,
    words: Mapping[str, str] | None = None,
    outlined: bool = False,
    ringed: int | None = None,
    struck: bool = False,
) -> NDArray[Any]:
    """Draw distributions over the cells of a grid as maps with one scale from light to dark.

    Parameters
    ----------
    panels : mapping of str to (cells,) array_like or mapping of label to float
        Distributions by the title of their map.
    grid : GridHistogram
        The grid.
    label : str
        What the shares are of.
    columns : int
        The number of maps in a row; on a phone two, or one if there are up to three maps.
    lowest : float, optional
        Where the scale begins, which then is logarithmic. By default it begins at 0 and goes with
        the square root of the share, so that cells with few people show.
    words : mapping of str to str, optional
        What stands below a map, by its title.
    outlined : bool
        Whether cells with a hospital, which are sensitive, have an outline.
    ringed : int, optional
        A cell with a ring.
    struck : bool
        Whether cells of share 0 are struck through: they are impossible.
    """
    shares = {
        title: distribution_over(grid.domain, values, f"panels[{title!r}]")
        for title, values in panels.items()
    }
    height = 0.7 + 2.7 * -(-len(panels) // columns)
    narrow = 1 if len(panels) < 4 else 2
    axes = style.make_axes(len(panels), height, columns, narrow=narrow)
    highest = max(values.max() for values in shares.values())
    norm = LogNorm(lowest, highest) if lowest else PowerNorm(0.5, vmin=0, vmax=highest)
    (south, north), (west, east) = grid.latitude, grid.longitude
    aspect = 1 / math.cos(math.radians((south + north) / 2))
    placed: Look = {"origin": "lower", "extent": (west, east, south, north), "aspect": aspect}
    for ax, (title, values) in zip(axes, shares.items(), strict=True):
        shown = values.clip(lowest or 0).reshape(grid.shape)
        image = ax.imshow(shown, style.RAMP, norm, interpolation="none", **placed)
        ax.grid(visible=False)
        ax.set(xticks=(), yticks=())
        if outlined:
            marks: Look = {"facecolor": "none", "edgecolor": style.SENSITIVE, "linewidth": 1}
            ax.add_collection(PatchCollection(_cells(grid, grid.hospital_cells), **marks))
        if struck:
            strokes: Look = {"facecolor": "white", "edgecolor": style.MUTED, "linewidth": 0}
            ax.add_collection(
                PatchCollection(
                    _cells(grid, np.flatnonzero(values == 0)), hatch="//////", **strokes
                )
            )
        if ringed is not None:
            middle = _cells(grid, ringed)[0].get_center()
            ring: Look = {"markersize": 15, "markerfacecolor": "none", "markeredgewidth": 1.2}
            ax.plot(*middle, "o", color=style.SENSITIVE, **ring)
        ax.set_title(title)
        below: Look = {"transform": ax.transAxes, "va": "top", "weight": "bold"}
        style.write(ax, (0.5, -0.03), (words or {}).get(title, ""), style.SENSITIVE, **below)
    bar = image.figure.colorbar(
        image,
        ax=list(axes),
        location="bottom",
        anchor=(0, 1),  # at the left, as the maps
        panchor="W",
        shrink=0.7,
        aspect=45,
        format=style.in_percent,
    )
    bar.set_label(label)
    bar.outline.set_visible(False)
    bar.minorticks_off()
    return axes


def _cells(grid: GridHistogram, chosen: ArrayLike) -> list[Rectangle]:
    """Return the outlines of cells."""
    (south, north) = grid.latitude
    (west, east) = grid.longitude
    rows, columns = grid.shape
    height = (north - south) / rows
    width = (east - west) / columns
    return [
        Rectangle((west + width * column, south + height * row), width, height)
        for row, column in (divmod(int(cell), columns) for cell in np.ravel(chosen))
    ]
