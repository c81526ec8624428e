"""Figures on estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp.paper.figures import style
from uldp.paper.figures.style import Curve, Look

__all__ = ["ESTIMATORS", "Climb", "climbs", "losses_by_estimator"]

ESTIMATORS: dict[str, Look] = {
    "empirical": {"label": "as counted", "color": style.INK, "linestyle": ":"},
    "threshold": {"label": "threshold", "color": style.ACCENT, "linestyle": "--"},
    "norm_sub": {"label": "Norm-Sub", "color": style.MUTED, "linestyle": "-"},
    "em": {"label": "EM", "color": style.ACCENT, "linestyle": "-", "linewidth": 2},
    "mle": {"label": "most likely", "color": style.INK, "linestyle": "-."},
}
"""Words and lines by the names that `Mechanism.estimate` takes."""


@dataclass(frozen=True)
class Climb:
    """How EM climbs to the largest likelihood, and how a solver does.

    Parameters
    ----------
    users : int
        The number of reports.
    passes : (m,) array_like
        Passes over the reports, above 0.
    gaps, certificates : (m,) array_like
        The mean log-likelihood's distance from the optimum after each of these, and the bound on
        it, in nats a report.
    solver : (passes, gaps), optional
        The same distance for the solver.
    """

    users: int
    passes: ArrayLike
    gaps: ArrayLike
    certificates: ArrayLike
    solver: Curve = ((), ())


def climbs(panels: Mapping[str, Climb], lowest: float, columns: int = 3) -> NDArray[Any]:
    """Draw distances from the optimum over passes, for all reports, on logarithmic axes.

    A band reaches from EM's distance up to its certificate; the solver goes down in steps.

    Parameters
    ----------
    panels : mapping of str to Climb
        By the title of the panel.
    lowest : float
        Where the vertical axis ends, in nats; smaller distances are drawn there.
    columns : int
        The number of panels in a row.

    Returns
    -------
    (number of panels,) ndarray of Axes
    """
    lowest = checks.positive(lowest, "lowest")
    height = 0.5 + (2.5 if len(panels) == 1 else 2.0) * -(-len(panels) // columns)
    axes = style.make_axes(len(panels), height, min(columns, len(panels)), sharey=True)
    for ax, (title, climb) in zip(axes, panels.items(), strict=True):
        _draw_climb(ax, climb, lowest)
        ax.set_title(title)
        ax.axhline(1, **style.LEVEL)
    style.number_axes(axes)
    style.name_axes(axes, "passes over the reports", "below the best (nats)")
    style.name_lines(axes)
    style.note(axes, "band: what EM can certify · grey line: 1 nat, too little to matter")
    for ax in axes:
        ax.set_ylim(bottom=lowest)
    return axes


def _draw_climb(ax: Axes, climb: Climb, lowest: float) -> None:
    passes, gaps = style.checked((climb.passes, climb.gaps), "EM")
    bound = style.checked((passes, climb.certificates), "certificates")[1]
    height, top = (np.maximum(climb.users * values, lowest) for values in (gaps, bound))
    ax.fill_between(passes, height, top, color=style.GRID, linewidth=0)
    ax.plot(passes, height, color=style.INK, label="EM")
    if np.size(climb.solver[0]):
        steps, left = style.checked(climb.solver, "solver")
        left = np.maximum(climb.users * left, lowest)
        look: Look = {"color": style.ACCENT, "linewidth": 2, "label": "solver"}
        ax.plot(steps.repeat(2)[1:], left.repeat(2)[:-1], **look)


def losses_by_estimator(
    panels: Mapping[str, Mapping[str, Curve]],
    levels: Mapping[str, float],
    highest: float,
) -> NDArray[Any]:
    """Draw mean losses of estimators over ε, a panel for each mechanism, on a logarithmic axis.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (ε, means, standard errors)
        By the mechanism and the estimator's name in `ESTIMATORS`. Bars reach two standard errors
        up and down.
    levels : mapping of str to float
        Losses that depend on neither, drawn as grey lines by their labels.
    highest : float
        Where the vertical axis ends. What is above is written below the title.

    Returns
    -------
    (number of panels,) ndarray of Axes
    """
    highest = checks.positive(highest, "highest")
    axes = style.make_axes(len(panels), 3.2, sharey=True)
    colors = style.mechanism_looks(panels)
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        looks = {name: style.LINE_AND_DOTS | ESTIMATORS[name] for name in curves}
        style.draw_curves({title: curves}, [ax], looks)
        above = [mean for curve in curves.values() for mean in np.ravel(curve[1]) if mean > highest]
        written = ", ".join(f"{100 * mean:,.0f}%" for mean in above)
        ax.set_title(f"{title}\n", color=colors[title]["color"])
        beyond = f"beyond: {written}" if above else ""
        look: Look = {"transform": ax.transAxes, "ha": "left", "va": "bottom"}
        style.write(ax, (0, 1.02), beyond, style.MUTED, **look)
        for label, level in levels.items():
            ax.axhline(level, **style.LEVEL)
            if ax is axes[0]:
                look = {"transform": ax.get_yaxis_transform(), "ha": "left", "va": "top"}
                style.write(ax, (0.04, level), label, style.MUTED, **look)
        (epsilons, *_), *_ = curves.values()
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(epsilons, [f"{epsilon:.2g}" for epsilon in np.ravel(epsilons)])
    axes[0].set_ylim(top=highest)
    style.number_axes(axes, "y", "y")
    style.name_axes(axes, "ε", "share estimated wrongly")
    style.name_lines(axes[-1:])
    return axes
