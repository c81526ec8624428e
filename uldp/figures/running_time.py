"""Figures on the running time: one function per figure, data in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from uldp.figures.style import STYLES, Curve, checked, make_axes

__all__ = ["Growth", "growth", "steps_and_passes"]


@dataclass(frozen=True)
class Growth:
    """How times grow with one size.

    Parameters
    ----------
    label : str
        What the size is, for the horizontal axis.
    seconds : mapping of str to Curve
        Sizes, above 0, and times of maximum likelihood, by the mechanism's name in `STYLES`.
    floors : mapping of str to Curve, optional
        The time to read the sets once, likewise.
    """

    label: str
    seconds: Mapping[str, Curve]
    floors: Mapping[str, Curve] = field(default_factory=dict)


def growth(panels: Mapping[str, Growth]) -> NDArray[Any]:
    """Draw times over sizes, on logarithmic axes, with their floors as thin lines.

    Parameters
    ----------
    panels : mapping of str to Growth
        By the title of the panel.

    Returns
    -------
    (m,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or sizes and times differ in length.
    """
    axes = make_axes(len(panels), (6.4, 2.7 * len(panels) + 0.6), columns=1, sharey=True)
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        for name, curve in panel.seconds.items():
            ax.plot(*checked(curve, f"times of {name!r}"), linewidth=1.8, **_stroke(name))
        for name, curve in panel.floors.items():
            thin = _stroke(name) | {"marker": "", "linewidth": 1.0}
            ax.plot(*checked(curve, f"floors of {name!r}"), **thin)
        ax.set(title=title, xscale="log", yscale="log", xlabel=panel.label, ylabel="CPU seconds")
        ax.grid(alpha=0.25)
    names = dict.fromkeys(name for panel in panels.values() for name in panel.seconds)
    keys = [Line2D([], [], linewidth=1.8, label=name, **_stroke(name)) for name in names]
    keys.append(Line2D([], [], color="0.3", linewidth=1.0, label="reading the sets once"))
    axes[0].figure.legend(handles=keys, loc="outside upper center", ncols=5, frameon=False)
    return axes


def steps_and_passes(steps: Mapping[str, Curve], passes: Mapping[str, Curve]) -> Any:
    """Draw the passes over the reports that EM and a solver take, on logarithmic axes.

    Parameters
    ----------
    steps, passes : mapping of str to Curve
        Budgets ε, above 0, and how many steps EM takes and passes the solver, by the mechanism's
        name in `STYLES`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If budgets and numbers differ in length.
    """
    (ax,) = make_axes(1, (6.4, 4.4))
    for name, curve in steps.items():
        ax.plot(*checked(curve, f"steps of {name!r}"), linewidth=1.8, **_stroke(name))
    for name, curve in passes.items():
        open_marks = _stroke(name) | {"fillstyle": "none", "linewidth": 1.0}
        ax.plot(*checked(curve, f"passes of {name!r}"), **open_marks)
    ax.set(xscale="log", yscale="log", xlabel="ε", ylabel="passes over the reports")
    budgets = sorted({float(b) for curve in steps.values() for b in np.asarray(curve[0])})
    ax.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
    ax.minorticks_off()
    ax.grid(alpha=0.25)
    keys = [Line2D([], [], linewidth=1.8, label=f"{name}, EM", **_stroke(name)) for name in steps]
    keys += [
        Line2D([], [], label=f"{name}, L-BFGS-B", **_stroke(name) | {"fillstyle": "none"})
        for name in passes
    ]
    ax.figure.legend(handles=keys, loc="outside upper center", ncols=3, frameon=False)
    return ax


def _stroke(name: str) -> dict[str, Any]:
    """Return how Matplotlib draws a mechanism's line."""
    style = STYLES[name]
    return {"color": style.color, "marker": style.marker, "linestyle": style.line, "markersize": 5}
