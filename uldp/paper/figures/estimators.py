"""Figures on estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp.paper.figures import style
from uldp.paper.figures.style import Curve, Look

__all__ = ["ESTIMATORS", "Climb", "climbs", "losses_by_estimator"]

ESTIMATORS: dict[str, Look] = {
    "empirical": {"color": "#000000", "marker": "x"},
    "threshold": {"color": "#E69F00", "marker": "s"},
    "norm_sub": {"color": style.ACCENT, "marker": "^"},
    "em": {"color": "#CC79A7", "marker": "D"},
    "mle": {"color": style.SENSITIVE, "marker": "o"},
}
"""Colours and markers by the names that `Mechanism.estimate` takes."""

KINDS: dict[str, Look] = {
    "EM, distance": {"linewidth": 2.2, "marker": ""},
    "EM, certificate": {"linewidth": 0.8, "marker": ""},
    "solver": {"linestyle": "", "marker": "o", "fillstyle": "none", "markersize": 6},
}


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

    def curves(self) -> dict[str, Curve]:
        """Return the curves by their names in `KINDS`."""
        of_em = (self.passes, self.gaps), (self.passes, self.certificates)
        return dict(zip(KINDS, (*of_em, self.solver), strict=True))


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
    (number of panels,) ndarray of Axes
    """
    lowest = checks.positive(lowest, "lowest")
    drawn = {
        title: {
            (label, kind): (curve[0], np.maximum(curve[1], lowest))
            for label, climb in lines.items()
            for kind, curve in climb.curves().items()
        }
        for title, lines in panels.items()
    }
    labels = "passes over the reports", "log-likelihood below the optimum (nats)"
    axes = style.curves(drawn, *labels, kinds=KINDS, height=4.2)
    for ax in axes:
        ax.set_ylim(bottom=lowest / 2)
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
    (number of panels,) ndarray of Axes
    """
    highest = checks.positive(highest, "highest")
    axes = style.make_axes(len(panels), 2.2 * len(panels) + 0.8, 1, sharey=True)
    mechanisms = list(next(iter(panels.values())))
    greys: dict[str, Look] = {
        label: {"color": "0.5", "linewidth": 1, "linestyle": line}
        for label, line in zip(levels, ("--", ":", "-."), strict=False)
    }
    points: dict[str, Look] = {
        name: {"linestyle": "", "markersize": 5.5, **look} for name, look in ESTIMATORS.items()
    }
    for ax, (title, results) in zip(axes, panels.items(), strict=True):
        if list(results) != mechanisms:
            raise ValueError(f"panel {title!r} must hold {mechanisms}, got {list(results)}")
        for label, level in levels.items():
            ax.axhline(level, zorder=0, **greys[label])
        for place, by_estimator in enumerate(results.values()):
            for shift, (name, look) in zip(
                np.linspace(-0.28, 0.28, 5), points.items(), strict=True
            ):
                if name in by_estimator:
                    mean, error = by_estimator[name]
                    bar = 2 * error if mean <= highest else 0
                    ax.errorbar(place + shift, min(mean, highest), bar, clip_on=False, **look)
        ax.set_title(title)
        ax.set_xticks(range(len(mechanisms)), mechanisms)
        ax.grid(axis="y", alpha=0.25)
    style.number_axes(axes, "y")
    for ax in axes:
        ax.set_ylim(top=highest)
    style.name_axes(axes, "", loss)
    style.key_above(axes, points | greys)
    return axes
