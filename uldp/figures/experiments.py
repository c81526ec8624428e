"""Figures of the common-mechanism experiments, from the tables of `uldp.experiments`.

Measured losses are markers with bars of two standard errors, where there are some. In panels of
the empirical estimate the lines are its forecasts; in the others they join the markers. A mechanism
with a single row in a panel does not depend on what the horizontal axis shows, and is a level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from uldp.experiments import NO_PRIVACY, Row
from uldp.figures.style import STYLES, Style, make_axes

__all__ = ["Loss", "losses_by_attributes", "losses_by_epsilon", "losses_by_sensitive"]

Loss = Literal["tv", "mse"]

LABELS: dict[Loss, str] = {"tv": "TV", "mse": "MSE"}
ALL_STYLES = {**STYLES, NO_PRIVACY: Style("#7F7F7F", "", "-")}
INCHES = 4.8
FOUR_ATTRIBUTES = 400


def losses_by_epsilon(
    table: Sequence[Row], loss: Loss, data: str, estimators: Sequence[str]
) -> NDArray[Any]:
    """Draw half of Figure 5 (TV) or 10 (MSE): losses over ε, with a line at ε = ln k.

    Parameters
    ----------
    table : sequence of Row
        The table of fig5.
    loss : {"tv", "mse"}
        The loss.
    data : str
        The name of the data.
    estimators : sequence of str
        One panel for each, in two columns if their number is even.

    Returns
    -------
    (m,) ndarray of Axes
        In the order of the estimators.

    Raises
    ------
    ValueError
        If the loss is neither of the two, there are no estimators, or the table has no row of one.
    """
    panels = {("", name): _select(table, name, data=data) for name in estimators}
    columns = 1 if len(panels) % 2 else 2
    axes = _draw_panels(panels, columns, loss, lambda row: row.epsilon, "ε (thick line: ε = ln k)")
    for ax, rows in zip(axes, panels.values(), strict=True):
        ax.axvline(np.log(rows[0].k), color="0.75", linewidth=3, zorder=0)
        _scale_logarithmically(ax)
    return axes


def losses_by_sensitive(
    table: Sequence[Row], loss: Loss, data: str, estimators: Sequence[str]
) -> NDArray[Any]:
    """Draw half of Figure 6 (TV) or 11 (MSE): losses over the number of sensitive values.

    Parameters
    ----------
    table : sequence of Row
        The table of fig6.
    loss : {"tv", "mse"}
        The loss.
    data : str
        The name of the data.
    estimators : sequence of str
        One row of panels for each; the columns are ε = 0.1 and ε = ln k.

    Returns
    -------
    (m,) ndarray of Axes
        Row by row.

    Raises
    ------
    ValueError
        If the loss is neither of the two, there are no estimators, or the table has no row of one.
    """
    panels = _by_budget(table, estimators, data)
    label = r"number of sensitive values, $|\mathcal{X}_S|$"
    columns = len(panels) // max(len(estimators), 1)
    axes = _draw_panels(panels, columns, loss, lambda row: row.sensitive, label)
    for ax in axes:
        _scale_logarithmically(ax)
    return axes


def losses_by_attributes(
    table: Sequence[Row], loss: Loss, estimators: Sequence[str]
) -> NDArray[Any]:
    """Draw Figure 7 (TV) or 12 (MSE): losses over the number of attributes.

    Parameters
    ----------
    table : sequence of Row
        The table of fig7.
    loss : {"tv", "mse"}
        The loss.
    estimators : sequence of str
        One row of panels for each; the columns are the values of ε.

    Returns
    -------
    (m,) ndarray of Axes
        Row by row.

    Raises
    ------
    ValueError
        If the loss is neither of the two, there are no estimators, or the table has no row of one.
    """
    panels = _by_budget(table, estimators)
    columns = len(panels) // max(len(estimators), 1)
    axes = _draw_panels(panels, columns, loss, _attributes, "number of attributes")
    for ax in axes:
        ax.set_xticks(sorted({_attributes(row) for row in table}))
    return axes


def _attributes(row: Row) -> float:
    """Return how many attributes there are; beyond four, each has two categories."""
    return 4 + float(np.log2(row.k / FOUR_ATTRIBUTES))


def _by_budget(
    table: Sequence[Row], estimators: Sequence[str], data: str | None = None
) -> dict[tuple[str, str], list[Row]]:
    """Return the rows of a panel for each estimator and ε, by its titles."""
    panels = {}
    for name in estimators:
        rows = _select(table, name, data=data)
        for epsilon in sorted({row.epsilon for row in rows if row.epsilon is not None}):
            at_ln_k = all(np.isclose(epsilon, np.log(row.k)) for row in rows)
            budget = "ε = ln k" if at_ln_k else f"ε = {epsilon:g}"
            panels[name, budget] = _select(table, name, data=data, epsilon=epsilon)
    return panels


def _select(
    table: Sequence[Row], estimator: str, data: str | None = None, epsilon: float | None = None
) -> list[Row]:
    """Return the rows of a panel, those without privacy among them; None selects all."""
    rows = [
        row
        for row in table
        if data in (None, row.data)
        and (row.mechanism == NO_PRIVACY or row.estimator == estimator)
        and (row.epsilon is None or epsilon in (None, row.epsilon))
    ]
    if all(row.mechanism == NO_PRIVACY for row in rows):
        where = "" if data is None else f" on {data!r}"
        raise ValueError(f"the table must have rows of {estimator!r}{where}, got none")
    return rows


def _draw_panels(
    panels: Mapping[tuple[str, str], Sequence[Row]],
    columns: int,
    loss: Loss,
    x: Callable[[Row], Any],
    label: str,
) -> NDArray[Any]:
    """Draw panels, by the titles of their row and column.

    The vertical axis is one for the empirical estimate, whose losses have no bound, and one for
    the others.
    """
    if loss not in LABELS:
        raise ValueError(f"loss must be one of {', '.join(LABELS)}, got {loss!r}")
    inches = INCHES, 1 + 1.6 * len(panels) / max(columns, 1)
    axes = make_axes(len(panels), inches, columns)
    _share_scales(axes, ["empirical" in titles for titles in panels], columns)
    tops = [top for _, top in panels]
    for place, (ax, ((side, top), rows)) in enumerate(zip(axes, panels.items(), strict=True)):
        for name in ALL_STYLES:
            members = sorted((row for row in rows if row.mechanism == name), key=x)
            if members:
                _draw(ax, members, x, loss)
        ax.set(yscale="log")
        ax.yaxis.set_minor_formatter("")
        ax.grid(alpha=0.25)
        if place < columns or top != tops[place - columns]:
            ax.set_title(_words(top), fontsize="medium")
        if place % columns == 0:
            ax.set_ylabel(", ".join(filter(None, (LABELS[loss], _words(side)))))
        ax.tick_params(labelbottom=place >= len(panels) - columns)
    figure = axes[0].figure
    figure.supxlabel(label, fontsize="medium")
    names = {row.mechanism for rows in panels.values() for row in rows}
    keys = [
        Line2D([], [], color=style.color, linestyle=style.line, marker=style.marker, label=name)
        for name, style in ALL_STYLES.items()
        if name in names
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=3, frameon=False, handlelength=3)
    return axes


def _words(name: str) -> str:
    return name.replace("_", " ")


def _draw(ax: Axes, rows: Sequence[Row], x: Callable[[Row], Any], loss: Loss) -> None:
    """Draw one mechanism's rows, in the order of x."""
    style = ALL_STYLES[rows[0].mechanism]
    measured = [getattr(row, loss) for row in rows]
    expected = [getattr(row, f"expected_{loss}") for row in rows]
    line = measured if None in expected else expected
    look: dict[str, Any] = {"color": style.color, "linestyle": style.line}
    if style.marker == "":
        look |= {"linewidth": 2.5, "zorder": 0.5}
    if len(rows) == 1:
        ax.axhline(line[0], **look)
        return
    across = [x(row) for row in rows]
    ax.plot(across, line, **look)
    errors = [2 * (getattr(row, f"{loss}_error") or 0) for row in rows]
    points: dict[str, Any] = {"marker": style.marker, "markersize": 4, "linestyle": ""}
    ax.errorbar(across, measured, yerr=errors, color=style.color, **points)


def _share_scales(axes: NDArray[Any], unbounded: Sequence[bool], columns: int) -> None:
    """Give each of the two kinds one scale, and its numbers to the first panel in a row."""
    first: dict[bool, Axes] = {}
    for place, (ax, kind) in enumerate(zip(axes, unbounded, strict=True)):
        if kind in first:
            ax.sharey(first[kind])
        first.setdefault(kind, ax)
        ax.tick_params(labelleft=place % columns == 0 or kind != unbounded[place - 1])


def _scale_logarithmically(ax: Axes) -> None:
    ax.set(xscale="log")
    ax.xaxis.set_major_formatter("{x:g}")
