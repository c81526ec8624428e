"""Figures of the common-mechanism experiments, from the tables of `uldp.experiments`.

Measured losses are markers with bars of two standard errors, where there are some. In panels of
the empirical estimate the lines are its forecasts; in the others they join the markers. A mechanism
with a single row in a panel does not depend on what the horizontal axis shows, and is a level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from uldp.experiments import NO_PRIVACY
from uldp.figures.style import STYLES, Style, make_axes

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Loss", "losses_by_attributes", "losses_by_epsilon", "losses_by_sensitive"]

Loss = Literal["tv", "mse"]

LABELS: dict[Loss, str] = {"tv": "TV", "mse": "MSE"}
ALL_STYLES = {**STYLES, NO_PRIVACY: Style("#7F7F7F", "", "-")}
INCHES = 4.8
FOUR_ATTRIBUTES = 400


def losses_by_epsilon(
    table: DataFrame, loss: Loss, data: str, estimators: Sequence[str]
) -> NDArray[Any]:
    """Draw half of Figure 5 (TV) or 10 (MSE): losses over ε, with a line at ε = ln k.

    Parameters
    ----------
    table : pandas.DataFrame
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
    panels = {("", name): _select(table, name, data) for name in estimators}
    columns = 1 if len(panels) % 2 else 2
    axes = _draw_panels(panels, columns, loss, "epsilon", "ε (thick line: ε = ln k)")
    for ax, rows in zip(axes, panels.values(), strict=True):
        ax.axvline(np.log(rows["k"].iloc[0]), color="0.75", linewidth=3, zorder=0)
        _scale_logarithmically(ax)
    return axes


def losses_by_sensitive(
    table: DataFrame, loss: Loss, data: str, estimators: Sequence[str]
) -> NDArray[Any]:
    """Draw half of Figure 6 (TV) or 11 (MSE): losses over the number of sensitive values.

    Parameters
    ----------
    table : pandas.DataFrame
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
    axes = _draw_panels(panels, columns, loss, "sensitive", label)
    for ax in axes:
        _scale_logarithmically(ax)
    return axes


def losses_by_attributes(table: DataFrame, loss: Loss, estimators: Sequence[str]) -> NDArray[Any]:
    """Draw Figure 7 (TV) or 12 (MSE): losses over the number of attributes.

    Parameters
    ----------
    table : pandas.DataFrame
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
    # Beyond four attributes, each has two categories.
    table = table.assign(attributes=4 + np.log2(table["k"] / FOUR_ATTRIBUTES))
    panels = _by_budget(table, estimators)
    columns = len(panels) // max(len(estimators), 1)
    axes = _draw_panels(panels, columns, loss, "attributes", "number of attributes")
    for ax in axes:
        ax.set_xticks(sorted(table["attributes"].unique()))
    return axes


def _by_budget(
    table: DataFrame, estimators: Sequence[str], data: str | None = None
) -> dict[tuple[str, str], DataFrame]:
    """Return the rows of a panel for each estimator and ε, by its titles."""
    panels = {}
    for name in estimators:
        rows = _select(table, name, data)
        for epsilon in np.unique(rows["epsilon"].dropna()):
            at_ln_k = np.isclose(epsilon, np.log(rows["k"])).all()
            budget = "ε = ln k" if at_ln_k else f"ε = {epsilon:g}"
            panels[name, budget] = rows[rows["epsilon"].isin([epsilon, np.nan])]
    return panels


def _select(table: DataFrame, estimator: str, data: str | None = None) -> DataFrame:
    """Return the rows on an estimator, those without privacy among them; None selects all data."""
    if data is not None:
        table = table[table["data"] == data]
    private = (table["estimator"] == estimator) & (table["mechanism"] != NO_PRIVACY)
    if not private.any():
        where = "" if data is None else f" on {data!r}"
        raise ValueError(f"the table must have rows of {estimator!r}{where}, got none")
    return table[private | (table["mechanism"] == NO_PRIVACY)]


def _draw_panels(
    panels: Mapping[tuple[str, str], DataFrame], columns: int, loss: Loss, x: str, label: str
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
        for name, style in ALL_STYLES.items():
            members = rows[rows["mechanism"] == name].sort_values(x)
            if len(members):
                _draw(ax, members, style, x, loss)
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
    names = {name for rows in panels.values() for name in rows["mechanism"]}
    keys = [
        Line2D([], [], color=style.color, linestyle=style.line, marker=style.marker, label=name)
        for name, style in ALL_STYLES.items()
        if name in names
    ]
    figure.legend(handles=keys, loc="outside upper center", ncols=3, frameon=False, handlelength=3)
    return axes


def _words(name: str) -> str:
    return name.replace("_", " ")


def _draw(ax: Axes, rows: DataFrame, style: Style, x: str, loss: Loss) -> None:
    """Draw one mechanism's rows, in the order of x."""
    measured, expected = rows[loss], rows[f"expected_{loss}"]
    line = measured if expected.hasnans else expected
    look: dict[str, Any] = {"color": style.color, "linestyle": style.line}
    if style.marker == "":
        look |= {"linewidth": 2.5, "zorder": 0.5}
    if len(rows) == 1:
        ax.axhline(line.iloc[0], **look)
        return
    ax.plot(rows[x], line, **look)
    errors = 2 * rows[f"{loss}_error"].fillna(0)
    points: dict[str, Any] = {"marker": style.marker, "markersize": 4, "linestyle": ""}
    ax.errorbar(rows[x], measured, yerr=errors, color=style.color, **points)


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
