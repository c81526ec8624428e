"""Figures on the best θ and on the fundamental limit; one function each, data in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.figures.style import STROKES, STYLES, Curve, Style, checked, make_axes

__all__ = [
    "MECHANISMS",
    "Surface",
    "losses_over_limit",
    "ratio_maps",
    "saddle_points",
    "size_weights",
    "thetas_by_epsilon",
]

MECHANISMS: dict[str, Style] = {
    **STYLES,
    "uRAP, best θ": Style("#56B4E9", "v", "--"),
    "uBD": Style("#000000", "*", "-"),
}
"""The styles of `figures.STYLES` and those of the mechanisms beyond the paper."""

GIVEN: dict[str, dict[str, Any]] = {
    "paper's θ": {"color": "0.7", "linewidth": 4, "zorder": 0},
    "θ = 1/2": {"color": "0.45", "linewidth": 1, "linestyle": (0, (1, 1))},
}
"""How the choices of θ that depend on ε alone are drawn."""


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

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or the arrays of one do not fit together.
    """
    axes = make_axes(len(panels), (3.8 * len(panels), 4.0))
    best, worst = STROKES[:2]
    for ax, (title, surface) in zip(axes, panels.items(), strict=True):
        theta = _checks.numbers(surface.theta, "theta", (-1,))
        mass = _checks.numbers(surface.mass, "mass", (-1,))
        losses = _checks.numbers(surface.losses, "losses", (mass.size, theta.size))
        least = losses.min()
        levels = least * np.geomspace(1.001, losses.max() / least, 22)
        ax.contour(theta, mass, losses, levels=levels, colors="0.75", linewidths=0.8)
        ax.plot(theta[losses.argmin(axis=1)], mass, linewidth=2, **best)
        ax.plot(theta, mass[losses.argmax(axis=0)], linewidth=2, **worst)
        ax.plot(*surface.saddle, "o", color="black", markersize=8, clip_on=False, zorder=5)
        ax.set(title=title, xlabel="θ")
    axes[0].set_ylabel(r"$p(\mathcal{X}_S)$")
    keys = [
        Line2D([], [], linewidth=2, label="best θ for this mass", **best),
        Line2D([], [], linewidth=2, label="worst mass for this θ", **worst),
        Line2D([], [], color="black", marker="o", linestyle="", label="saddle point"),
    ]
    axes[0].figure.legend(handles=keys, loc="outside upper center", ncols=3, frameon=False)
    return axes


def thetas_by_epsilon(
    panels: Mapping[str, Mapping[str, Curve]], given: Mapping[str, Curve]
) -> NDArray[Any]:
    """Draw choices of θ over ε, on a logarithmic axis for ε.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (ε, θ)
        By the title of their panel and the label of their curve, of which there are at most four;
        a label has one style in all panels.
    given : mapping of str to (ε, θ)
        The curves by a label of `GIVEN` that are drawn in each panel.

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or ε and θ of a curve differ in length.
    """
    axes = make_axes(len(panels), (3.8 * len(panels), 3.8), sharey=True)
    labels = dict.fromkeys(label for curves in panels.values() for label in curves)
    looks = {
        label: {"linewidth": 2, **stroke} for label, stroke in zip(labels, STROKES, strict=False)
    }
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        for label, curve in [*given.items(), *curves.items()]:
            ax.plot(*checked(curve, f"θ of {label!r}"), **(looks | GIVEN)[label])
        ax.set(title=title, xscale="log", xlabel="ε")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("θ")
    keys = [Line2D([], [], label=label, **(looks | GIVEN)[label]) for label in [*labels, *given]]
    axes[0].figure.legend(handles=keys, loc="outside upper center", ncols=len(keys), frameon=False)
    return axes


def ratio_maps(
    epsilons: ArrayLike,
    sizes: ArrayLike,
    ratios: Mapping[str, ArrayLike],
    levels: Sequence[float],
    lines: Mapping[str, Curve] | None = None,
    columns: int | None = None,
) -> NDArray[Any]:
    """Map ratios of losses over ε and the number of sensitive values, on logarithmic axes.

    Parameters
    ----------
    epsilons : (a,) array_like
        Values of ε, increasing.
    sizes : (b,) array_like
        Numbers of sensitive values, increasing.
    ratios : mapping of str to (b, a) array_like
        The ratios by the title of their panel, which all share one scale of colours.
    levels : sequence of float
        Where one colour ends and the next begins, increasing and above 0; the contour lines there
        carry their ratio. Ratios beyond the ends are drawn like the ends.
    lines : mapping of str to (ε, size), optional
        Lines drawn across every panel, at most four, by their labels.
    columns : int, optional
        The number of panels in a row; by default all stand in one row.

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or the arrays do not fit together.
    """
    across = _checks.numbers(epsilons, "epsilons", (-1,))
    upward = _checks.numbers(sizes, "sizes", (-1,))
    columns = columns or max(1, len(ratios))
    rows = -(-len(ratios) // columns)
    width = 3.4 * columns + 0.7
    axes = make_axes(rows * columns if ratios else 0, (width, 3.3 * rows), columns=columns)
    for ax in axes[len(ratios) :]:
        ax.set_axis_off()
    axes = axes[: len(ratios)]
    colours = colormaps["cividis_r"]
    norm = BoundaryNorm(levels, colours.N)
    inks = ["black" if 2 * i < len(levels) else "white" for i in range(1, len(levels) - 1)]
    for ax, (title, values) in zip(axes, ratios.items(), strict=True):
        shown = _checks.numbers(values, f"ratios[{title!r}]", (upward.size, across.size))
        shown = shown.clip(levels[0], levels[-1])
        filled = ax.contourf(across, upward, shown, levels=levels, cmap=colours, norm=norm)
        drawn = ax.contour(across, upward, shown, levels=levels[1:-1], colors=inks, linewidths=0.6)
        ax.clabel(drawn, fmt="%g", fontsize=8, colors=inks)
        for (_, line), stroke in zip((lines or {}).items(), STROKES[1:], strict=False):
            ax.plot(*checked(line, "lines"), linewidth=2, **stroke)
        ax.set(title=title, xscale="log", yscale="log", xlabel="ε")
        ax.set(xlim=(across[0], across[-1]), ylim=(upward[0], upward[-1]))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:g}")
    for ax in axes[::columns]:
        ax.set_ylabel(r"$|\mathcal{X}_S|$")
    figure = axes[0].figure
    figure.colorbar(filled, ax=list(axes), ticks=levels, format="%g", spacing="uniform")
    keys = [
        Line2D([], [], linewidth=2, label=label, **stroke)
        for label, stroke in zip(lines or {}, STROKES[1:], strict=False)
    ]
    if keys:
        figure.legend(handles=keys, loc="outside upper center", ncols=len(keys), frameon=False)
    return axes


def losses_over_limit(panels: Mapping[str, Mapping[str, Curve]]) -> NDArray[Any]:
    """Draw worst-case losses over the fundamental limit, over ε, on logarithmic axes.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (ε, ratios)
        By the title of their panel and the mechanism's name in `MECHANISMS`.

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or ε and the ratios of a curve differ in length.
    """
    axes = make_axes(len(panels), (3.8 * len(panels), 4.0), sharey=True)
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        ax.axhline(1, color="0.6", linewidth=2, zorder=0)
        for name, curve in curves.items():
            style = MECHANISMS[name]
            epsilons, ratios = checked(curve, f"ratios of {name!r}")
            marks = {"marker": style.marker, "markersize": 5}
            every = max(1, epsilons.size // 7)
            ax.plot(epsilons, ratios, style.line, color=style.color, markevery=every, **marks)
        ax.set(title=title, xscale="log", yscale="log", xlabel="ε")
        ax.set_ylim(bottom=0.9)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("worst-case l2 loss / limit")
    names = dict.fromkeys(name for curves in panels.values() for name in curves)
    keys = [
        Line2D([], [], color=style.color, linestyle=style.line, marker=style.marker, label=name)
        for name, style in MECHANISMS.items()
        if name in names
    ]
    axes[0].figure.legend(
        handles=keys, loc="outside upper center", ncols=3, frameon=False, handlelength=3
    )
    return axes


def size_weights(panels: Mapping[str, Mapping[str, ArrayLike]]) -> NDArray[Any]:
    """Draw how often mixtures send a subset of each size.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (m,) array_like
        By the title of their panel and the label of their mixture, at most four a panel: the
        weights of the sizes 0, ..., m - 1. Sizes of weight 0 are left out.

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels.
    """
    axes = make_axes(len(panels), (3.8 * len(panels), 3.4))
    for ax, (title, mixtures) in zip(axes, panels.items(), strict=True):
        for (label, weights), stroke, marker in zip(
            mixtures.items(), STROKES, "os^D", strict=False
        ):
            values = _checks.numbers(weights, f"weights of {label!r}", (-1,))
            sizes = np.flatnonzero(values)
            ax.plot(sizes, values[sizes], marker=marker, markersize=4, label=label, **stroke)
            if sizes.size == 1:
                ax.vlines(sizes, 0, values[sizes], color=stroke["color"], linewidth=2)
        ax.set(title=title, xlabel="size d of the subset", ylim=(0, None))
        ax.grid(alpha=0.25)
        ax.legend()
    axes[0].set_ylabel("weight")
    return axes
