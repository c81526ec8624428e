"""Figures on choosing a mechanism: one function per figure, data in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.figures.beyond import MECHANISMS
from uldp.figures.style import Curve, checked, make_axes

__all__ = ["ExcessMap", "better_of_two", "users_by_epsilon"]

HATCHES, HATCHING = ("", ".."), "0.55"
OPTIMAL: dict[str, Any] = {"color": "black", "linestyle": "-.", "linewidth": 2}


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
        The ratios of the two, by the name of the mechanism in `figures.beyond.MECHANISMS`.
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

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels, the arrays of one do not fit together, or it is not of two
        mechanisms.
    """
    axes = make_axes(len(panels), (3.8 * len(panels), 4.2))
    names: list[str] = []
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        across = _checks.numbers(panel.epsilons, "epsilons", (-1,))
        upward = _checks.numbers(panel.sizes, "sizes", (-1,))
        names = list(panel.ratios)
        if len(names) != 2:
            raise ValueError(f"ratios must be those of two mechanisms, got {names}")
        first, second = (
            _checks.numbers(ratios, f"ratios of {name!r}", (upward.size, across.size))
            for name, ratios in panel.ratios.items()
        )
        filled = ax.contourf(
            across,
            upward,
            np.log(first / second),
            levels=[-np.inf, 0, np.inf],
            colors=[_tint(name) for name in names],
            hatches=HATCHES,
        )
        filled.set_edgecolor(HATCHING)
        drawn = ax.contour(
            across, upward, np.minimum(first, second), levels, colors="0.2", linewidths=0.8
        )
        for label in ax.clabel(drawn, fmt="%g", fontsize=8):
            label.set_path_effects([withStroke(linewidth=3, foreground="white")])
        ax.plot(*checked(panel.optimal, "optimal"), **OPTIMAL)
        ax.set(title=title, xscale="log", yscale="log", xlabel="ε")
        ax.set(xlim=(across[0], across[-1]), ylim=(upward[0], upward[-1]))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:g}")
    axes[0].set_ylabel(r"$|\mathcal{X}_S|$")
    keys = [
        Patch(facecolor=_tint(name), edgecolor=HATCHING, hatch=hatch, label=f"{name} is better")
        for name, hatch in zip(names, HATCHES, strict=True)
    ]
    line = Line2D([], [], label=f"{names[0]} is optimal from here", **OPTIMAL)
    axes[0].figure.legend(
        handles=[*keys, line], loc="outside upper center", ncols=3, frameon=False, handlelength=3
    )
    return axes


def users_by_epsilon(
    panels: Mapping[str, Mapping[str, Curve]], without_privacy: Mapping[str, float]
) -> NDArray[Any]:
    """Draw the number of users that a target takes, over ε, on logarithmic axes.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (ε, users)
        By the title of their panel and the mechanism's name in `figures.beyond.MECHANISMS`.
    without_privacy : mapping of str to float
        The number that it takes without privacy, by title; drawn as a grey line.

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or ε and the users of a curve differ in length.
    """
    axes = make_axes(len(panels), (3.8 * len(panels), 4.2))
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        ax.axhline(without_privacy[title], color="0.6", linewidth=2, zorder=0)
        for name, curve in curves.items():
            style = MECHANISMS[name]
            epsilons, users = checked(curve, f"users of {name!r}")
            every = max(1, epsilons.size // 7)
            marks = {"marker": style.marker, "markersize": 5, "markevery": every}
            ax.plot(epsilons, users, style.line, color=style.color, **marks)
        ax.set(title=title, xscale="log", yscale="log", xlabel="ε")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("users needed")
    names = dict.fromkeys(name for curves in panels.values() for name in curves)
    keys = [
        Line2D([], [], color=style.color, linestyle=style.line, marker=style.marker, label=name)
        for name, style in MECHANISMS.items()
        if name in names
    ]
    keys.append(Line2D([], [], color="0.6", linewidth=2, label="no privacy"))
    axes[0].figure.legend(
        handles=keys, loc="outside upper center", ncols=4, frameon=False, handlelength=3
    )
    return axes


def _tint(name: str) -> str:
    """Return a light shade of a mechanism's colour."""
    red, green, blue = (1 - 0.35 * (1 - part) for part in to_rgb(MECHANISMS[name].color))
    return to_hex((red, green, blue))
