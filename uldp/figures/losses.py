"""Figures of the l1 losses: one function per figure, data in, Axes out.

Colours are from Okabe and Ito's palette; each curve also has a line style of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.figures.style import DPI, STROKES, Curve, checked

__all__ = [
    "Curve",
    "WorstCases",
    "losses_by_sensitive_mass",
    "ratios_to_limit",
    "worst_case_planes",
]

GREY, PALE_BLUE, DARK_BLUE = "#7F7F7F", "#C6DCEC", "#08306B"
HATCH = "///"
REGIONS: tuple[tuple[float, float, str, dict[str, Any]], ...] = (
    (0.03, 0.03, "uniform\nover $\\mathcal{X}_N$", {"ha": "left", "va": "bottom"}),
    (0.97, 0.97, "$p(\\mathcal{X}_S) > 0$", {"ha": "right", "va": "top"}),
)
WHITE = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}
CONTOURS, LABELS_AT = (0.05, 0.2, 0.4, 0.6, 0.8), 0.91  # the part of the ε axis


@dataclass(frozen=True)
class WorstCases:
    """Where the loss of one mechanism is largest, over a grid of ε and |X_S|.

    Parameters
    ----------
    epsilons : (a,) array_like
        Values of ε, in nats, increasing.
    sizes : (b,) array_like
        Values of |X_S|, increasing.
    masses : (b, a) array_like
        p(X_S) at the worst case, 0 where that is the uniform distribution over X_N.
    stated : (b, a) array_like of bool
        Where the paper states the worst case.
    boundaries : mapping of str to (ε, |X_S|)
        Curves to draw, by their labels.
    """

    epsilons: ArrayLike
    sizes: ArrayLike
    masses: ArrayLike
    stated: ArrayLike
    boundaries: Mapping[str, Curve]


def losses_by_sensitive_mass(
    curves: Mapping[str, Curve], peaks: Mapping[str, tuple[float, float]], ax: Axes
) -> Axes:
    """Draw losses over w = p(X_S), relative to the loss at w = 0, with their largest values.

    Parameters
    ----------
    curves : mapping of str to (w, relative losses)
        By their labels in the legend; line styles repeat after four.
    peaks : mapping of str to (w, relative loss)
        The largest value of each curve, which gets a marker.
    ax : Axes
        Where to draw.

    Returns
    -------
    Axes
        The same.

    Raises
    ------
    ValueError
        If w and losses of a curve differ in length, or the peaks are not those of the curves.
    """
    if curves.keys() != peaks.keys():
        raise ValueError(f"peaks must be those of {list(curves)}, got {list(peaks)}")
    for (label, horizontal, vertical), stroke in zip(_points(curves), cycle(STROKES), strict=False):
        ax.plot(horizontal, vertical, label=label, **stroke)
        ax.plot(*peaks[label], "o", color=stroke["color"], markersize=7, clip_on=False, zorder=3)
    ax.set(xlabel="w = p($\\mathcal{X}_S$)", ylabel="F(w) / F(0)", xlim=(0, 1))
    ax.grid(alpha=0.25)
    ax.legend(loc="lower left", fontsize="small")
    return ax


def worst_case_planes(planes: Mapping[str, WorstCases]) -> NDArray[Any]:
    """Draw where in the (ε, |X_S|) plane each worst case is, one panel for each mechanism.

    White: uniform over X_N. Blue: p(X_S) > 0, with contour lines. Hatched: not in the paper.

    Parameters
    ----------
    planes : mapping of str to WorstCases
        By the title of the panel; panels stand side by side. A boundary with one label has one
        line style in all of them.

    Returns
    -------
    (m,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels, or arrays do not fit together.
    """
    if not planes:
        raise ValueError("there must be at least one mechanism to draw, got none")
    figure = plt.figure(figsize=(3.1 * len(planes), 4.2), dpi=DPI, layout="constrained")
    axes: NDArray[Any] = figure.subplots(1, len(planes), sharex=True, sharey=True, squeeze=False)[0]
    labels = dict.fromkeys(label for plane in planes.values() for label in plane.boundaries)
    strokes = dict(zip(labels, cycle(STROKES), strict=False))
    for ax, (title, plane) in zip(axes, planes.items(), strict=True):
        _draw_worst_cases(ax, title, plane)
        for label, horizontal, vertical in _points(plane.boundaries):
            ax.plot(horizontal, vertical, linewidth=2, label=label, **strokes[label])
        ax.set(title=title, xlabel="ε", xlim=(0, None))
        for x, y, words, placed in REGIONS:
            ax.text(x, y, words, transform=ax.transAxes, bbox=WHITE, **placed)
    axes[0].set_ylabel("$|\\mathcal{X}_S|$")
    lines = {line.get_label(): line for ax in axes for line in ax.get_lines()}
    unstated = Patch(facecolor="none", hatch=HATCH, edgecolor=GREY, label="not in the paper")
    figure.legend(handles=[*lines.values(), unstated], loc="outside lower center", ncols=2)
    return axes


def ratios_to_limit(curves: Mapping[str, Curve], ax: Axes) -> Axes:
    """Draw exact losses relative to those of the central limit theorem, over n m.

    Parameters
    ----------
    curves : mapping of str to (n m, ratios)
        By their labels in the legend; line styles repeat after four.
    ax : Axes
        Where to draw.

    Returns
    -------
    Axes
        The same.

    Raises
    ------
    ValueError
        If n m and ratios of a curve differ in length.
    """
    for (label, horizontal, vertical), stroke in zip(_points(curves), cycle(STROKES), strict=False):
        ax.plot(horizontal, vertical, label=label, **stroke)
    ax.axhline(1, color="gray", linewidth=1, zorder=0)
    ax.set(xscale="log", xlabel="expected number of reports, n m", ylabel="exact / central limit")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.grid(alpha=0.25)
    ax.legend(loc="lower right")
    return ax


def _draw_worst_cases(ax: Axes, title: str, plane: WorstCases) -> None:
    epsilons = _checks.numbers(plane.epsilons, f"epsilons of {title!r}", (-1,))
    sizes = _checks.numbers(plane.sizes, f"sizes of {title!r}", (-1,))
    grid = epsilons, sizes
    masses = _checks.numbers(plane.masses, f"masses of {title!r}", (sizes.size, epsilons.size))
    stated = _checks.numbers(
        np.asarray(plane.stated, dtype=float), f"stated of {title!r}", masses.shape
    )
    interior = np.where(masses > 0, 1.0, 0.0)
    ax.contourf(*grid, interior, levels=[0.5, 1.5], colors=[PALE_BLUE])
    lines = ax.contour(*grid, masses, levels=CONTOURS, colors=DARK_BLUE, linewidths=0.7)
    column = np.searchsorted(epsilons, LABELS_AT * epsilons[-1])
    share = masses[:, column]
    levels = [level for level in CONTOURS if share.min() < level < share.max()]
    places = [(epsilons[column], np.interp(level, share, sizes)) for level in levels]
    ax.clabel(lines, fmt="{:g}".format, fontsize="small", manual=places)
    hatched = ax.contourf(*grid, stated, levels=[-0.5, 0.5], colors="none", hatches=[HATCH])
    hatched.set(edgecolor=GREY, linewidth=0)


def _points(
    curves: Mapping[str, Curve],
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    for label, curve in curves.items():
        yield label, *checked(curve, f"heights of {label!r}")
