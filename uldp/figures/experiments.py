"""Figures of the common-mechanism experiments, from the tables of `uldp.experiments`.

Measured losses are markers with bars of two standard errors. In panels of the empirical estimate
the lines are its forecasts; in the others they join the markers. A mechanism with a single row in
a panel does not depend on what the horizontal axis shows, and is a horizontal line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from uldp.experiments import NO_PRIVACY, Row
from uldp.figures.style import DPI, STYLES, Style

__all__ = ["Loss", "losses_by_attributes", "losses_by_epsilon", "losses_by_sensitive"]

Loss = Literal["tv", "mse"]

LABELS: dict[Loss, str] = {"tv": "TV", "mse": "MSE"}
ALL_STYLES = {**STYLES, NO_PRIVACY: Style("#7F7F7F", "", "-")}
FOUR_ATTRIBUTES = 400


def losses_by_epsilon(table: Sequence[Row], loss: Loss, estimators: Sequence[str]) -> NDArray[Any]:
    """Draw Figure 5 (TV) or 10 (MSE): losses over ε, with a line at ε = ln k.

    Parameters
    ----------
    table : sequence of Row
        The table of fig5.
    loss : {"tv", "mse"}
        The loss.
    estimators : sequence of str
        One row of panels for each; one column for each data set.

    Returns
    -------
    ndarray of Axes
        Shape (number of estimators, number of data sets).

    Raises
    ------
    ValueError
        If the loss is neither of the two or the table has no row of an estimator.
    """
    names = dict.fromkeys(row.data for row in table)
    panels = {
        (_title(estimator), data): _select(table, estimator, data=data)
        for estimator in estimators
        for data in names
    }
    axes = _draw_panels(panels, lambda row: row.epsilon, loss)
    for ax, rows in zip(axes.flat, panels.values(), strict=True):
        ax.axvline(np.log(rows[0].k), color="0.75", linewidth=3, zorder=0)
        ax.set(xscale="log")
        ax.xaxis.set_major_formatter("{x:g}")
    axes[0, 0].figure.supxlabel("ε (thick line: ε = ln k)")
    return axes


def losses_by_sensitive(table: Sequence[Row], loss: Loss, estimator: str) -> NDArray[Any]:
    """Draw Figure 6 (TV) or 11 (MSE): losses over the number of sensitive values.

    Parameters
    ----------
    table : sequence of Row
        The table of fig6.
    loss : {"tv", "mse"}
        The loss.
    estimator : str
        The estimator.

    Returns
    -------
    ndarray of Axes
        Shape (number of data sets, 2): ε = 0.1 and ε = ln k.

    Raises
    ------
    ValueError
        If the loss is neither of the two or the table has no row of the estimator.
    """
    panels = {}
    for data in dict.fromkeys(row.data for row in table):
        rows = _select(table, estimator, data=data)
        for epsilon in sorted({row.epsilon for row in rows if row.epsilon is not None}):
            budget = "ε = ln k" if np.isclose(epsilon, np.log(rows[0].k)) else f"ε = {epsilon:g}"
            panels[data, budget] = _select(table, estimator, data=data, epsilon=epsilon)
    axes = _draw_panels(panels, lambda row: row.sensitive, loss)
    for ax in axes.flat:
        ax.set(xscale="log")
        ax.xaxis.set_major_formatter("{x:g}")
    axes[0, 0].figure.supxlabel(r"number of sensitive values, $|\mathcal{X}_S|$")
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
        One row of panels for each; one column for each ε.

    Returns
    -------
    ndarray of Axes
        Shape (number of estimators, number of values of ε).

    Raises
    ------
    ValueError
        If the loss is neither of the two or the table has no row of an estimator.
    """
    budgets = sorted({row.epsilon for row in table if row.epsilon is not None})
    panels = {
        (_title(estimator), f"ε = {epsilon:g}"): _select(table, estimator, epsilon=epsilon)
        for estimator in estimators
        for epsilon in budgets
    }
    axes = _draw_panels(panels, lambda row: 4 + np.log2(row.k / FOUR_ATTRIBUTES), loss)
    axes[0, 0].figure.supxlabel("number of attributes")
    return axes


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
        raise ValueError(f"the table must have rows of the estimator, got none of {estimator!r}")
    return rows


def _title(estimator: str) -> str:
    return estimator.replace("_", " ")


def _draw_panels(
    panels: Mapping[tuple[str, str], Sequence[Row]], x: Callable[[Row], Any], loss: Loss
) -> NDArray[Any]:
    """Draw panels, by the titles of their row and column, with common axes in each row."""
    if loss not in LABELS:
        raise ValueError(f"loss must be one of {', '.join(LABELS)}, got {loss!r}")
    if not panels:
        raise ValueError("there must be at least one panel to draw, got none")
    sides, tops = (list(dict.fromkeys(titles)) for titles in zip(*panels, strict=True))
    figure = plt.figure(figsize=(7, 0.6 + 2.5 * len(sides)), dpi=DPI, layout="constrained")
    axes: NDArray[Any] = figure.subplots(len(sides), len(tops), sharey="row", squeeze=False)
    for ax, rows in zip(axes.flat, panels.values(), strict=True):
        for name in ALL_STYLES:
            members = sorted((row for row in rows if row.mechanism == name), key=x)
            if members:
                _draw(ax, members, x, loss)
        ax.set(yscale="log")
        ax.grid(alpha=0.25)
    for ax, top in zip(axes[0], tops, strict=True):
        ax.set_title(top)
    for ax, side in zip(axes[:, 0], sides, strict=True):
        ax.set_ylabel(f"{LABELS[loss]}, {side}")
    names = {row.mechanism for rows in panels.values() for row in rows}
    keys = [
        Line2D([], [], color=style.color, linestyle=style.line, marker=style.marker, label=name)
        for name, style in ALL_STYLES.items()
        if name in names
    ]
    figure.legend(
        handles=keys, loc="outside upper center", ncols=len(keys), frameon=False, handlelength=3
    )
    return axes


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
