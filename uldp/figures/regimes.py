"""Figures on worst cases and regimes: one function per figure, data in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.figures.style import STROKES, STYLES, Curve, make_axes

__all__ = ["changes_by_mass", "ratios_by_epsilon"]

MARKERS = ("o", "s", "^")


def changes_by_mass(
    mass: ArrayLike, changes: Mapping[str, Mapping[str, ArrayLike]]
) -> NDArray[Any]:
    """Draw how a loss changes with p(X_S), and dot the highest point of each line.

    Parameters
    ----------
    mass : (m,) array_like
        Values of p(X_S), increasing.
    changes : mapping of str to mapping of str to (m,) array_like
        By the title of their panel and the label of their line, at most three lines a panel: the
        loss less its value at the first mass.

    Returns
    -------
    ndarray of Axes
        Shape (number of panels,).

    Raises
    ------
    ValueError
        If there are no panels or an array is of the wrong length.
    """
    horizontal = _checks.numbers(mass, "mass", (-1,))
    axes = make_axes(len(changes), (3.8 * len(changes), 3.6))
    for ax, (title, lines) in zip(axes, changes.items(), strict=True):
        ax.axhline(0, color="0.6", linewidth=0.8)
        for (label, values), stroke in zip(lines.items(), STROKES, strict=False):
            vertical = _checks.numbers(values, f"changes[{title!r}]", horizontal.shape)
            ax.plot(horizontal, vertical, label=label, **stroke)
            top = vertical.argmax()
            dot = {"color": stroke["color"], "markersize": 7, "zorder": 3}
            ax.plot(horizontal[top], vertical[top], "o", **dot)
        ax.set(title=title, xlabel=r"$p(\mathcal{X}_S)$")
        ax.legend(loc="lower left")
        ax.grid(alpha=0.25)
    return axes


def ratios_by_epsilon(
    ratios: Mapping[str, Mapping[tuple[str, str], Curve]], reference: float, ylabel: str
) -> NDArray[Any]:
    """Draw ratios over ε, one panel for each loss, on a logarithmic axis for ε.

    Parameters
    ----------
    ratios : mapping of str to mapping of (str, str) to (ε, ratios)
        By the title of their panel, and by the mechanism's name in `figures.STYLES` and a label
        for the domain; each domain, of at most three, has its own marker.
    reference : float
        The ratio at which a grey line is drawn.
    ylabel : str
        What the ratio is.

    Returns
    -------
    ndarray of Axes
        Shape (number of panels,).

    Raises
    ------
    ValueError
        If there are no panels or ε and the ratios of a curve differ in length.
    """
    axes = make_axes(len(ratios), (3.8 * len(ratios), 3.6))
    domains = dict.fromkeys(domain for curves in ratios.values() for _, domain in curves)
    marker_of = dict(zip(domains, cycle(MARKERS), strict=False))
    for ax, (title, curves) in zip(axes, ratios.items(), strict=True):
        ax.axhline(reference, color="0.6", linewidth=2, zorder=0)
        for (name, domain), (epsilons, values) in curves.items():
            horizontal = _checks.numbers(epsilons, "ε", (-1,))
            vertical = _checks.numbers(values, f"ratios[{title!r}]", horizontal.shape)
            style = STYLES[name]
            ax.plot(
                horizontal,
                vertical,
                style.line,
                color=style.color,
                marker=marker_of[domain],
                markevery=max(1, horizontal.size // 6),
                markersize=5,
            )
        ax.set(title=title, xscale="log", xlabel="ε")
        ax.grid(alpha=0.25)
    axes[0].set_ylabel(ylabel)
    names = dict.fromkeys(name for curves in ratios.values() for name, _ in curves)
    keys = [Line2D([], [], color=STYLES[n].color, linestyle=STYLES[n].line, label=n) for n in names]
    keys += [
        Line2D([], [], color="0.3", marker=marker_of[d], linestyle="", label=d) for d in domains
    ]
    axes[0].figure.legend(handles=keys, loc="outside upper center", ncols=len(keys), frameon=False)
    return axes
