"""The figure on counting with several processes: data in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from numpy.typing import NDArray

from uldp.figures.style import STROKES, Curve, checked, make_axes

__all__ = ["seconds_by_reports"]


def seconds_by_reports(panels: Mapping[str, Mapping[str, Curve]]) -> NDArray[Any]:
    """Draw times over numbers of reports, on logarithmic axes.

    Parameters
    ----------
    panels : mapping of str to mapping of str to Curve
        Numbers of reports, above 0, and seconds, by the title of the panel and the name of the
        line, in all panels the same.

    Returns
    -------
    (m,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or numbers and times differ in length.
    """
    axes = make_axes(len(panels), (3.6 * len(panels), 4.0), sharey=True)
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        looks = zip(curves.items(), cycle(STROKES), cycle("osD^"), strict=False)
        for (name, curve), stroke, marker in looks:
            points = checked(curve, f"seconds of {name!r}")
            ax.plot(*points, label=name, marker=marker, markersize=5, linewidth=1.8, **stroke)
        ax.set(title=title, xscale="log", yscale="log", xlabel="reports")
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("seconds")
    keys = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(*keys, loc="outside upper center", ncols=4, frameon=False)
    return axes
