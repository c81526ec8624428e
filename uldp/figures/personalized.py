"""Figures on the personalized mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp.datasets import GridHistogram
from uldp.figures import style
from uldp.figures.style import Panels
from uldp.mechanisms import UtilityOptimizedRR
from uldp.personalized import PersonalizedMechanism

__all__ = ["Measured", "losses_by_knowledge", "maps", "overview"]

SECRET, SAME, FADED = (
    style.Stroke(style.GREEN, 2.4, "-."),
    style.Stroke(style.GREY, 1.3, "-"),
    style.Stroke("0.6", 0, "-"),
)


class Measured(NamedTuple):
    """Measured losses over ε.

    Parameters
    ----------
    epsilons, losses : (m,) array_like
        ε and the mean losses.
    errors : (m,) array_like
        Standard errors of the means, 0 where there is none.
    """

    epsilons: ArrayLike
    losses: ArrayLike
    errors: ArrayLike


def overview(user: PersonalizedMechanism, ax: Axes | None = None) -> Axes:
    """Draw a user's pre-processor and the common mechanism that follows it (Figure 4).

    Reports that she never sends are grey.

    Parameters
    ----------
    user : PersonalizedMechanism
        Her mechanism, with a uRR in common; small enough to read, up to about ten values and bots.
    ax : Axes, optional
        Where to draw.

    Raises
    ------
    TypeError
        If the common mechanism is not a uRR, whose reports are values and bots.
    """
    common = user.common
    _checks.instance(common, "the common mechanism", UtilityOptimizedRR)
    labels = [str(label) for label in common.domain.labels]
    shielded = [labels[index] for index in common.sensitive]
    free = [labels[index] for index in common.nonsensitive]
    mapped = user.intermediate(np.arange(user.domain.size)).tolist()
    secret = {labels[x]: labels[z] for x, z in enumerate(mapped) if x != z}
    values = labels[: user.domain.size]
    common_to_all = {
        r"$\mathcal{X}_S$": (style.BLUE, [x for x in values if x in shielded and x not in secret]),
        r"$\mathcal{X}_S^{(i)}$": (style.GREEN, list(secret)),
        "others": (style.ORANGE, [x for x in values if x in free and x not in secret]),
    }
    middle, outer = (
        {
            rf"$\mathcal{{{of}}}_{p}$": (style.BLUE, shielded),
            rf"$\mathcal{{{of}}}_{i}$": (style.ORANGE, free),
        }
        for of, p, i in ("ZSN", "YPI")
    )
    columns = (
        style.Column(common_to_all, r"personal data $\mathcal{X}$"),
        style.Column(middle, r"intermediate $\mathcal{Z}$", secret),
        style.Column(outer, r"reports $\mathcal{Y}$", secret),
    )
    arrows = [style.Arrow(0, x, secret.get(x, x), SECRET if x in secret else SAME) for x in values]
    for row, column in np.argwhere(common.transition_matrix() > 0):
        if labels[row] not in secret:
            own = style.BOLD_BLUE if labels[row] in shielded else style.BOLD_ORANGE
            stroke = own if row == column else style.DOTTED
            arrows.append(style.Arrow(1, labels[row], labels[column], stroke))
    keys = {
        r"$f_{\mathrm{pre}}^{(i)}$, secret: to a bot": SECRET,
        r"$f_{\mathrm{pre}}^{(i)}$: unchanged": SAME,
        r"$\mathbf{Q}_{\mathrm{cmn}}$, known to all: kept, in $\mathcal{Z}_S$": style.BOLD_BLUE,
        r"$\mathbf{Q}_{\mathrm{cmn}}$: kept, in $\mathcal{Z}_N$": style.BOLD_ORANGE,
        r"$\mathbf{Q}_{\mathrm{cmn}}$: another report": style.DOTTED,
        "grey: never sent by her": FADED,
    }
    return style.arrow_diagram(columns, arrows, keys, ax)


def maps(
    panels: Mapping[str, ArrayLike],
    grid: GridHistogram,
    label: str,
    marked: int | None = None,
    axes: Panels = None,
) -> NDArray[Any]:
    """Draw distributions over the cells of a grid, two maps in a row (Figure 9).

    The maps of a row have one colour scale, which goes with the square root of the share, so that
    cells with small shares show. Cells of share 0 are white.

    Parameters
    ----------
    panels : mapping of str to (cells,) array_like
        Distributions by the title of their map, an even number of them.
    grid : GridHistogram
        The grid.
    label : str
        What the shares are of.
    marked : int, optional
        A cell that gets a cross in all maps.
    axes : (number of maps,) array_like of Axes, optional
        Where to draw.

    Returns
    -------
    (number of maps,) ndarray of Axes

    Raises
    ------
    ValueError
        If the number of maps is not even, or one is not a distribution over the cells.
    """
    axes = style.make_axes(
        _even(len(panels)), (style.WIDTH, 1.7 * len(panels)), 2, sharey=True, axes=axes
    )
    (south, north), (west, east) = grid.latitude, grid.longitude
    rows, columns = grid.shape
    shares = [
        100 * _checks.distribution(values, f"panels[{title!r}]", grid.domain.size)
        for title, values in panels.items()
    ]
    for place, (ax, title, values) in enumerate(zip(axes, panels, shares, strict=True)):
        pair = slice(place - place % 2, place - place % 2 + 2)
        norm = PowerNorm(0.5, vmin=0, vmax=np.max(shares[pair]))
        image = style.draw_map(ax, np.ma.masked_equal(values, 0), grid, "cividis_r", norm)
        ax.set_title(title)
        if marked is not None:
            row, column = np.add(divmod(marked, columns), 0.5) / (rows, columns)
            cross = west + column * (east - west), south + row * (north - south)
            ax.plot(*cross, "x", color=style.ORANGE, markersize=8, markeredgewidth=2)
        if place % 2:
            ax.figure.colorbar(image, ax=list(axes[pair]), label=label, shrink=0.9)
    axes[0].figure.supxlabel("longitude (degrees)", fontsize="medium")
    axes[0].figure.supylabel("latitude (degrees)", fontsize="medium")
    return axes


def losses_by_knowledge(
    panels: Mapping[str, Mapping[str, Measured]],
    no_privacy: float,
    ylabel: str,
    axes: Panels = None,
) -> NDArray[Any]:
    """Draw Figure 8 or 13: losses over ε by what the collector knows of the bots.

    Measured losses are markers, joined by lines, with bars of two standard errors.

    Parameters
    ----------
    panels : mapping of str to mapping of str to Measured
        By the title of their panel and the label of their line, at most four; an even number of
        panels, two in a row.
    no_privacy : float
        The loss of the users' own frequencies, a thick grey line.
    ylabel : str
        The name of the loss.
    axes : (number of panels,) array_like of Axes, optional
        Where to draw.

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If the number of panels is not even, or ε, losses and errors of a line differ in length.
    """
    inches = style.WIDTH, 0.8 + 1.4 * _even(len(panels))
    axes = style.make_axes(len(panels), inches, 2, sharey=True, axes=axes)
    looks = style.line_looks(style.labels_in(panels), marked=True)
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        for label, line in curves.items():
            across, heights = style.checked((line.epsilons, line.losses), f"losses of {label!r}")
            errors = _checks.numbers(line.errors, f"errors of {label!r}", heights.shape)
            ax.errorbar(across, heights, yerr=2 * errors, **looks[label])
        ax.axhline(_checks.positive(no_privacy, "no_privacy"), **style.LEVEL)
        ax.set_title(title)
        ax.grid(alpha=0.25)
    style.log_axes(axes)
    style.name_axes(axes, "ε", ylabel)
    style.legend_above(axes, looks | {style.NO_PRIVACY: style.LEVEL})
    return axes


def _even(number: int) -> int:
    if number % 2:
        raise ValueError(f"there must be an even number of panels, got {number}")
    return number
