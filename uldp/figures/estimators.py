"""Figures on estimators: one function per figure, data in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Literal

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.figures.style import STROKES, Curve, checked, make_axes

__all__ = ["ESTIMATORS", "Climb", "Curve", "climbs", "losses_along_em", "losses_by_estimator"]

ESTIMATORS: dict[str, dict[str, Any]] = {
    "empirical": {"color": "#000000", "marker": "x"},
    "threshold": {"color": "#E69F00", "marker": "s"},
    "norm_sub": {"color": "#009E73", "marker": "^"},
    "em": {"color": "#CC79A7", "marker": "D"},
    "mle": {"color": "#0072B2", "marker": "o"},
}
"""Colours of Okabe and Ito and markers by the names that `Mechanism.estimate` takes."""

LEVELS: tuple[Literal["--", ":", "-."], ...] = ("--", ":", "-.")


@dataclass(frozen=True)
class Climb:
    """How EM climbs to the largest likelihood, and how a solver does.

    Parameters
    ----------
    passes : (m,) array_like
        Passes over the reports, above 0.
    gaps, certificates : (m,) array_like
        The mean log-likelihood's distance from the optimum after each of these, and the bound on
        it, in nats a report.
    solver : (passes, gaps), optional
        The same distance for the solver.
    """

    passes: ArrayLike
    gaps: ArrayLike
    certificates: ArrayLike
    solver: Curve = ((), ())


def climbs(panels: Mapping[str, Mapping[str, Climb]], lowest: float) -> NDArray[Any]:
    """Draw distances from the optimum over passes, on logarithmic axes.

    Thick lines are EM's distances, thin ones of the same colour their certificates, and open
    circles the solver's distances.

    Parameters
    ----------
    panels : mapping of str to mapping of str to Climb
        By the title of the panel and the label of the line, which has one style in all panels.
    lowest : float
        Where the vertical axis ends; smaller distances are drawn there.

    Returns
    -------
    (m,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels, `lowest` is not above 0 or arrays do not fit together.
    """
    lowest = _checks.positive(lowest, "lowest")
    axes = make_axes(len(panels), (3.6 * len(panels), 4.2), sharey=True)
    labels = dict.fromkeys(label for lines in panels.values() for label in lines)
    strokes = dict(zip(labels, cycle(STROKES), strict=False))
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for label, climb in lines.items():
            passes, gaps = checked((climb.passes, climb.gaps), f"gaps of {label!r}")
            bounds = checked((climb.passes, climb.certificates), f"certificates of {label!r}")[1]
            solved, left = checked(climb.solver, f"solver of {label!r}")
            stroke = strokes[label]
            ax.plot(passes, np.maximum(gaps, lowest), linewidth=2.2, **stroke)
            ax.plot(passes, np.maximum(bounds, lowest), linewidth=0.8, **stroke)
            ax.plot(solved, np.maximum(left, lowest), "o", color=stroke["color"], fillstyle="none")
        ax.set(title=title, xscale="log", yscale="log", xlabel="passes over the reports")
        ax.set_ylim(bottom=lowest / 2)
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("mean log-likelihood below the optimum (nats)")
    keys = [Line2D([], [], linewidth=2.2, label=label, **strokes[label]) for label in labels]
    keys += [
        Line2D([], [], color="0.3", linewidth=2.2, label="EM, distance"),
        Line2D([], [], color="0.3", linewidth=0.8, label="EM, certificate"),
        Line2D([], [], color="0.3", marker="o", fillstyle="none", linestyle="", label="L-BFGS-B"),
    ]
    axes[0].figure.legend(handles=keys, loc="outside upper center", ncols=3, frameon=False)
    return axes


def losses_along_em(
    panels: Mapping[str, tuple[Mapping[str, Curve], float]], loss: str
) -> NDArray[Any]:
    """Draw a loss over the steps of EM, from 0 on, next to that of maximum likelihood.

    Parameters
    ----------
    panels : mapping of str to (mapping of str to (steps, losses), loss)
        By the title of the panel: EM's curves by the label of their start, and the loss at the
        largest likelihood.
    loss : str
        The name of the loss, which labels the vertical axis.

    Returns
    -------
    (m,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or steps and losses differ in length.
    """
    axes = make_axes(len(panels), (2.5 * len(panels), 3.4), sharey=True)
    labels = dict.fromkeys(label for curves, _ in panels.values() for label in curves)
    strokes = dict(zip(labels, cycle(STROKES[1:]), strict=False))
    best: dict[str, Any] = {"color": "black", "linewidth": 1, "linestyle": ":"}
    for ax, (title, (curves, at_optimum)) in zip(axes, panels.items(), strict=True):
        ax.axhline(_checks.real(at_optimum, f"loss at the optimum of {title!r}"), **best)
        for label, curve in curves.items():
            ax.plot(*checked(curve, f"losses of {label!r}"), linewidth=2, **strokes[label])
        ax.set_xscale("symlog", linthresh=1, linscale=0.5)
        ax.set(title=title, xlabel="steps of EM", xlim=(0, None), ylim=(0, None))
        ax.grid(alpha=0.25)
    axes[0].set_ylabel(loss)
    keys = [Line2D([], [], linewidth=2, label=label, **strokes[label]) for label in labels]
    keys.append(Line2D([], [], label="largest likelihood", **best))
    axes[0].figure.legend(handles=keys, loc="outside upper center", ncols=3, frameon=False)
    return axes


def losses_by_estimator(
    panels: Mapping[str, Mapping[str, Mapping[str, tuple[float, float]]]],
    levels: Mapping[str, float],
    loss: str,
    highest: float,
) -> NDArray[Any]:
    """Draw mean losses of estimators, side by side for each mechanism, on a logarithmic axis.

    Parameters
    ----------
    panels : mapping of str to mapping of str to mapping of str to (mean, standard error)
        By the title of the panel, the mechanism and the estimator's name in `ESTIMATORS`; each
        panel has the mechanisms of the first. Bars reach two standard errors up and down.
    levels : mapping of str to float
        Losses that depend on neither, at most three, drawn as grey lines by their labels.
    loss : str
        The name of the loss, which labels the vertical axis.
    highest : float
        Where the vertical axis ends; larger means are drawn there, without a bar.

    Returns
    -------
    (m,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels, their mechanisms differ or `highest` is not above 0.
    """
    highest = _checks.positive(highest, "highest")
    axes = make_axes(len(panels), (6.6, 2.2 * len(panels) + 0.8), columns=1, sharey=True)
    mechanisms = list(next(iter(panels.values())))
    for ax, (title, results) in zip(axes, panels.items(), strict=True):
        if list(results) != mechanisms:
            raise ValueError(f"panel {title!r} must hold {mechanisms}, got {list(results)}")
        for level, line in zip(levels.values(), LEVELS, strict=False):
            ax.axhline(level, color="0.5", linewidth=1, linestyle=line, zorder=0)
        for place, by_estimator in enumerate(results.values()):
            shifts = np.linspace(-0.28, 0.28, len(ESTIMATORS))
            for shift, (name, style) in zip(shifts, ESTIMATORS.items(), strict=True):
                if name in by_estimator:
                    mean, error = by_estimator[name]
                    at = place + shift, min(mean, highest)
                    bar = 2 * error if mean <= highest else 0
                    ax.errorbar(*at, bar, linestyle="", markersize=5.5, clip_on=False, **style)
        ax.set(title=title, yscale="log", ylabel=loss)
        ax.set_ylim(top=highest)
        ax.yaxis.set_major_formatter("{x:g}")
        ax.set_xticks(range(len(mechanisms)), mechanisms)
        ax.grid(axis="y", alpha=0.25)
    keys = [Line2D([], [], linestyle="", label=name, **style) for name, style in ESTIMATORS.items()]
    keys += [
        Line2D([], [], color="0.5", linewidth=1, linestyle=line, label=label)
        for label, line in zip(levels, LEVELS, strict=False)
    ]
    axes[0].figure.legend(handles=keys, loc="outside upper center", ncols=4, frameon=False)
    return axes
