"""Figures on privacy in practice: one function per figure, data in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from uldp import _checks
from uldp.figures.style import STROKES, Curve, checked, make_axes

__all__ = ["bounds_by_reports"]

MARKERS = "os^D"


def bounds_by_reports(curves: Mapping[str, Curve], epsilon: float) -> Axes:
    """Draw what reports prove about ε over their number, on a logarithmic axis.

    Parameters
    ----------
    curves : mapping of str to (n, bounds)
        By the name of the sampler, at most four: numbers of reports, and lower bounds on ε.
    epsilon : float
        The level that the samplers promise, above 0.

    Raises
    ------
    ValueError
        If there are no curves or more than four, or the numbers and bounds of one differ in length.
    """
    if not 1 <= len(curves) <= len(STROKES):
        raise ValueError(f"curves must be 1 to {len(STROKES)}, got {len(curves)}")
    promised = _checks.positive(epsilon, "epsilon")
    ax: Axes = make_axes(1, (6.4, 4))[0]
    ax.axhline(promised, color="black", linewidth=1)
    ax.annotate("promised ε", (0.01, promised), xycoords=("axes fraction", "data"), va="bottom")
    strokes = zip(STROKES, MARKERS, strict=True)
    for (name, curve), (stroke, marker) in zip(curves.items(), strokes, strict=False):
        n, bounds = checked(curve, f"bounds of {name!r}")
        ax.plot(n, bounds, marker=marker, markersize=5, label=name, **stroke)
    ax.set(xscale="log", xlabel="reports of each value", ylabel="proven lower bound on ε")
    ax.grid(alpha=0.25)
    ax.legend(loc="lower right")
    return ax
