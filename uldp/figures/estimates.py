"""Estimates next to the truth, and losses over ε."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import PowerNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.datasets import GridHistogram
from uldp.figures.style import DPI, STYLES, Curve, Style

__all__ = ["estimate_maps", "estimates_by_rank", "losses_by_epsilon"]


def estimates_by_rank(
    truth: ArrayLike, estimates: Mapping[str, ArrayLike], sensitive: ArrayLike
) -> NDArray[Any]:
    """Draw each estimate of a distribution over the truth, the most frequent value first.

    The vertical axis is linear and shared, so that negative entries show and panels compare.

    Parameters
    ----------
    truth : (k,) array_like
        The true distribution.
    estimates : mapping of str to (k,) array_like
        By the mechanism's name in `STYLES`; one panel each, two in a row.
    sensitive : (s,) array_like of int
        Indices of the sensitive values, which get a marker of their own.

    Returns
    -------
    ndarray of Axes
        Shape (⌈m/2⌉, 2) for m estimates.

    Raises
    ------
    ValueError
        If there are no estimates, an array is of the wrong length, the truth is not a distribution,
        or a name has no style.
    """
    size = np.size(truth)
    shares = 100 * _checks.distribution(truth, "truth", size)
    order = np.argsort(-shares, kind="stable")
    ranks = np.arange(1, size + 1)
    is_sensitive = np.isin(order, _checks.positions(sensitive, "sensitive", size))
    axes = _panels(len(_present(estimates)), height=2.6)
    for ax, (name, estimate) in zip(axes.flat, estimates.items(), strict=False):
        values = 100 * _checks.numbers(estimate, f"estimates[{name!r}]", (size,))[order]
        color = _style(name).color
        ax.plot(ranks[~is_sensitive], values[~is_sensitive], ".", color=color, markersize=4)
        ax.plot(
            ranks[is_sensitive],
            values[is_sensitive],
            "^",
            color="black",
            markerfacecolor="white",
            markeredgewidth=0.7,
            markersize=4.5,
        )
        ax.plot(ranks, shares[order], "-", color="black", linewidth=1.2)
        ax.set(title=name, xscale="log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.25)
    figure = axes.flat[0].figure
    figure.supxlabel("rank of the value, most frequent first")
    figure.supylabel("share of the users (%)")
    keys = [
        Line2D([], [], color="black", linewidth=1.2, label="truth"),
        Line2D([], [], color="gray", marker=".", linestyle="", label="estimate, not sensitive"),
        Line2D([], [], color="black", marker="^", linestyle="", label="estimate, sensitive"),
    ]
    keys[2].set(markerfacecolor="white", markeredgewidth=0.7)
    figure.legend(handles=keys, loc="outside upper center", ncols=3, frameon=False)
    return axes


def losses_by_epsilon(
    forecast: Mapping[str, Curve],
    empirical: Mapping[str, Curve],
    threshold: Mapping[str, Curve],
    no_privacy: float,
    loss: str,
    ax: Axes,
) -> Axes:
    """Draw forecast losses as lines and measured ones as markers, over ε on logarithmic axes.

    Parameters
    ----------
    forecast : mapping of str to (ε, losses)
        Expected losses of the empirical estimate, by the mechanism's name in `STYLES`.
    empirical, threshold : mapping of str to (ε, losses)
        Measured losses of the two estimates: filled markers and open ones.
    no_privacy : float
        The loss of the users' own frequencies, a grey line that does not depend on ε.
    loss : str
        The name of the loss, which labels the vertical axis.
    ax : Axes
        Where to draw.

    Returns
    -------
    Axes
        The same.

    Raises
    ------
    ValueError
        If ε or a loss is not above 0, they differ in length, or a name has no style.
    """
    for curves, fill in ((forecast, None), (empirical, "full"), (threshold, "none")):
        for name, (epsilons, losses) in curves.items():
            horizontal = _positive(epsilons, f"ε of {name!r}", (-1,))
            vertical = _positive(losses, f"losses of {name!r}", horizontal.shape)
            style = _style(name)
            if fill is None:
                ax.plot(horizontal, vertical, style.line, color=style.color)
            else:
                ax.plot(
                    horizontal,
                    vertical,
                    style.marker,
                    color=style.color,
                    fillstyle=fill,
                    markersize=5 if fill == "full" else 7,
                )
    ax.axhline(_checks.positive(no_privacy, "no_privacy"), color="gray", linewidth=2.5, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel="ε", ylabel=loss)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.grid(alpha=0.25)
    keys = [
        Line2D([], [], color=style.color, linestyle=style.line, marker=style.marker, label=name)
        for name, style in STYLES.items()
        if name in forecast
    ]
    keys.append(Line2D([], [], color="gray", linewidth=2.5, label="no privacy"))
    ax.legend(handles=keys, fontsize="small", handlelength=4)
    return ax


def estimate_maps(
    truth: ArrayLike, estimates: Mapping[str, ArrayLike], grid: GridHistogram
) -> NDArray[Any]:
    """Draw distributions over the cells of a grid as maps with one colour scale.

    The scale goes with the square root of the share, so that cells with few people show. Cells
    with a hospital are outlined.

    Parameters
    ----------
    truth : (cells,) array_like
        The true distribution, in the first panel; the second holds the key.
    estimates : mapping of str to (cells,) array_like
        Distributions by the title of their map, two in a row from the second row on.
    grid : GridHistogram
        The grid and its hospital cells.

    Returns
    -------
    ndarray of Axes
        Shape (1 + ⌈m/2⌉, 2) for m estimates.

    Raises
    ------
    ValueError
        If there are no estimates, or a map is not a distribution over the cells.
    """
    cells = grid.domain.size
    percent = {"truth": 100 * _checks.distribution(truth, "truth", cells)} | {
        title: 100 * _checks.distribution(values, f"estimates[{title!r}]", cells)
        for title, values in _present(estimates).items()
    }
    norm = PowerNorm(0.5, vmin=0, vmax=max(values.max() for values in percent.values()))
    axes = _panels(len(percent) + 1, height=3.2)
    _, key, *_ = axes.flat
    for ax, (title, values) in zip(np.delete(axes, 1), percent.items(), strict=False):
        _map(ax, values, grid, norm)
        ax.set_title(title)
    figure = axes.flat[0].figure
    figure.supxlabel("longitude (degrees)")
    figure.supylabel("latitude (degrees)")
    key.set_axis_off()
    figure.colorbar(
        axes.flat[0].images[0],
        cax=key.inset_axes((0.05, 0.4, 0.9, 0.08)),
        orientation="horizontal",
        label="share of the users (%)",
    )
    outlined = Patch(
        facecolor="#31446B", edgecolor="white", label="outlined: a hospital in the cell"
    )
    key.legend(handles=[outlined], loc="upper center", frameon=False, handlelength=0.7)
    return axes


def _map(ax: Axes, values: NDArray[Any], grid: GridHistogram, norm: PowerNorm) -> None:
    (south, north), (west, east) = grid.latitude, grid.longitude
    rows, columns = grid.shape
    height, width = (north - south) / rows, (east - west) / columns
    ax.imshow(
        values.reshape(grid.shape),
        origin="lower",
        extent=(west, east, south, north),
        aspect=1 / np.cos(np.radians((south + north) / 2)),
        cmap="cividis",
        norm=norm,
    )
    outlines = [
        Rectangle((west + width * column, south + height * row), width, height)
        for row, column in zip(*np.unravel_index(grid.hospital_cells, grid.shape), strict=True)
    ]
    ax.add_collection(PatchCollection(outlines, facecolor="none", edgecolor="white", linewidth=0.9))
    ax.locator_params(nbins=3)


def _present(estimates: Mapping[str, ArrayLike]) -> Mapping[str, ArrayLike]:
    if not estimates:
        raise ValueError("estimates must hold at least one estimate, got none")
    return estimates


def _panels(number: int, height: float) -> NDArray[Any]:
    """Make panels, two in a row, of a height in inches and with common axes; hide an unused one."""
    rows = -(-number // 2)
    figure = plt.figure(figsize=(6.6, rows * height), dpi=DPI, layout="constrained")
    axes: NDArray[Any] = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[number:]:
        ax.set_visible(False)
    return axes


def _positive(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    array = _checks.numbers(values, name, shape)
    if (array <= 0).any():
        raise ValueError(f"{name} must be greater than 0, got {array.min()}")
    return array


def _style(name: str) -> Style:
    if name not in STYLES:
        raise ValueError(f"a mechanism's name must be one of {', '.join(STYLES)}, got {name!r}")
    return STYLES[name]
