"""Figures on estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from uldp.paper.figures import style
from uldp.paper.figures.style import Curve, Look

__all__ = ["ESTIMATORS", "Climb", "climbs", "losses_by_estimator"]

ESTIMATORS = {
    "empirical": "as counted",
    "threshold": "threshold",
    "norm_sub": "Norm-Sub",
    "em": "EM",
    "mle": "most likely",
}
"""Words by the names that `Mechanism.estimate` takes."""


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


def climbs(panels: Mapping[str, Climb], lowest: float) -> NDArray[Any]:
    """Draw distances from the optimum over passes, for all reports, on logarithmic axes.

    A band reaches from EM's distance up to its certificate; the solver goes down in steps.

    Parameters
    ----------
    panels : mapping of str to Climb
        By the title of the panel.
    lowest : float
        Where the vertical axis ends, in nats; smaller distances are drawn there.
    """
    columns = max(1, min(3, len(panels)))
    height = 0.5 + (2.5 if len(panels) == 1 else 2.0) * -(-len(panels) // columns)
    axes = style.make_axes(len(panels), height, columns, sharey=True)
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
    curves = climb.gaps, climb.certificates, climb.solver[1]
    height, top, left = (np.maximum(climb.users * np.asarray(c), lowest) for c in curves)
    ax.fill_between(climb.passes, height, top, color=style.GRID, linewidth=0)
    ax.plot(climb.passes, height, color=style.INK, label="EM")
    if left.size:
        steps = np.asarray(climb.solver[0])
        look: Look = {"color": style.ACCENT, "linewidth": 2, "label": "solver"}
        ax.plot(steps.repeat(2)[1:], left.repeat(2)[:-1], **look)


def losses_by_estimator(
    panels: Mapping[str, Mapping[str, Curve]],
    levels: Mapping[str, float],
    highest: float,
) -> NDArray[Any]:
    """Draw mean losses of estimators in rows, a panel for each mechanism, on a logarithmic axis.

    Losses at one ε, of up to three, have one shade, from light to dark; the least has a large dot.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (ε, means, standard errors)
        By the mechanism and the estimator's name in `ESTIMATORS`. Bars reach two standard errors
        to both sides.
    levels : mapping of str to float
        Losses that depend on neither, drawn as grey lines by their labels.
    highest : float
        Where the horizontal axis ends. A number beyond is written at its end.
    """
    axes = style.make_axes(len(panels), 0.6 + 2.1 * -(-len(panels) // 2), 2, sharex=True)
    colors = style.mechanism_looks(panels)
    for ax, (title, given) in zip(axes, panels.items(), strict=True):
        # The means and their errors have a row for each estimator and a column for each ε.
        epsilons, means, errors = (np.array(part) for part in zip(*given.values(), strict=True))
        shades = style.SHADES[-means.shape[1] :]
        for shade, column, error in zip(shades, means.T, errors.T, strict=True):
            _draw_rows(ax, column, error, highest, shade)
        for row, beyond in enumerate(means):
            if words := ", ".join(f"{100 * mean:,.0f}%" for mean in beyond if mean > highest):
                place: Look = {
                    "ha": "right",
                    "va": "bottom",
                    "in_layout": False,
                    "bbox": style.WHITE,
                }
                style.write(ax, (highest, row - 0.15), words, style.MUTED, **place)
        for label, level in levels.items():
            ax.axvline(level, **style.LEVEL)
            if ax is axes[0]:
                look: Look = {"ha": "left" if level < highest / 10 else "right"}
                beside = level, len(given) - 0.4
                style.write(ax, beside, f" {label} ", style.MUTED, in_layout=False, **look)
        ax.set(xscale="log")
        ax.set_title(title, color=colors[title]["color"])
        style.name_rows(ax, [ESTIMATORS[name] for name in given], [style.INK] * len(given))
        ax.set_ylim(len(given) - 0.1, -0.8)
    axes[0].set_xlim(right=highest)
    style.number_axes(axes, "x", "x")
    style.name_axes(axes, "share estimated wrongly", "")
    words = ", ".join(f"{epsilon:.2g}" for epsilon in epsilons[0])
    style.note(axes, f"light to dark: ε = {words} · large dot: the least")
    return axes


def _draw_rows(
    ax: Axes, means: NDArray[Any], errors: NDArray[Any], highest: float, shade: str
) -> None:
    """Draw the losses of estimators at one ε, in rows; an arrow is beyond the axis."""
    rows = np.arange(means.size)
    within = means < highest
    ax.hlines(rows[within], *(means + 2 * np.outer((-1, 1), errors))[:, within], color=shade)
    ax.plot(means[within], rows[within], **style.DOTS, color=shade)
    ax.plot(means.min(), means.argmin(), "o", color=shade, markersize=9)
    for row in rows[~within]:
        ax.plot(highest, row, ">", color=shade, clip_on=False)
