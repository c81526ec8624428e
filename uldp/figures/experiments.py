"""Figures of the common-mechanism experiments, from the tables of `uldp.experiments`.

Measured losses are markers with bars of two standard errors, where there are some. In panels of
the empirical estimate the lines are its forecasts; in the others they join the markers. A mechanism
with a single row in a panel does not depend on what the horizontal axis shows, and is a level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from uldp import _checks
from uldp.experiments import NO_PRIVACY
from uldp.figures import style
from uldp.figures.style import Curve, Label, Look

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Loss", "losses_by_attributes", "losses_by_epsilon", "losses_by_sensitive"]

Loss = Literal["tv", "mse"]

LABELS: dict[Loss, str] = {"tv": "TV", "mse": "MSE"}
KINDS: dict[str, Look] = {"forecast": {"marker": ""}, "measured": {"linestyle": ""}}
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
        One panel for each, two in a row.

    Returns
    -------
    (m,) ndarray of Axes
        In the order of the estimators.

    Raises
    ------
    ValueError
        If the loss is neither of the two, there are no estimators, or the table has no row of one.
    """
    panels = {name: _select(table, name, data) for name in estimators}
    axes = _draw(panels, -(-len(panels) // 2), loss, "epsilon", "ε (thick line: ε = ln k)")
    for ax, rows in zip(axes, panels.values(), strict=True):
        ax.axvline(np.log(rows["k"].iloc[0]), color="0.75", linewidth=3, zorder=0)
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
    return _draw(panels, len(estimators), loss, "sensitive", label)


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
    label = "number of attributes"
    axes = _draw(panels, len(estimators), loss, "attributes", label, log="y")
    for ax in axes:
        ax.set_xticks(sorted(table["attributes"].unique()))
    return axes


def _by_budget(
    table: DataFrame, estimators: Sequence[str], data: str | None = None
) -> dict[str, DataFrame]:
    """Return the rows of a panel for each estimator and ε, by its title."""
    panels = {}
    for name in estimators:
        rows = _select(table, name, data)
        for epsilon in np.unique(rows["epsilon"].dropna()):
            at_ln_k = np.isclose(epsilon, np.log(rows["k"])).all()
            budget = "ε = ln k" if at_ln_k else f"ε = {epsilon:g}"
            panels[f"{name}, {budget}"] = rows[rows["epsilon"].isin([epsilon, np.nan])]
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


def _draw(
    panels: Mapping[str, DataFrame], rows: int, loss: Loss, x: str, label: str, log: str = "xy"
) -> NDArray[Any]:
    """Draw panels by their titles.

    The vertical axis is one for the empirical estimate, whose losses have no bound, and one for
    the others.
    """
    _checks.choice(loss, "loss", LABELS)
    drawn = {title.replace("_", " "): _curves(of, x, loss) for title, of in panels.items()}
    axes = style.curves(
        drawn,
        label,
        LABELS[loss],
        kinds=KINDS,
        log=log,
        columns=-(-len(panels) // max(rows, 1)),
        sharey=False,
        height=0.8 + 2.3 * rows,
    )
    for empirical in (True, False):
        alike = [ax for ax in axes if ax.get_title().startswith("empirical") == empirical]
        limits = [ax.get_ylim() for ax in alike]
        for ax in alike:
            ax.set_ylim(np.min(limits), np.max(limits))
    style.log_axes(axes, "y")
    return axes


def _curves(rows: DataFrame, x: str, loss: Loss) -> dict[Label, Curve]:
    """Return the curves of a panel by the mechanism, and kind in the empirical estimate's."""
    curves: dict[Label, Curve] = {}
    ends = rows.loc[rows["mechanism"] != NO_PRIVACY, x].agg(["min", "max"])
    for key, members in rows.sort_values(x).groupby("mechanism"):
        name, losses, forecasts = str(key), members[loss], members[f"expected_{loss}"]
        measured = members[x], losses, members[f"{loss}_error"].fillna(0)
        lines = losses if forecasts.hasnans else forecasts
        if len(members) == 1:
            curves[name, "forecast"] = ends, lines.repeat(2)
        elif forecasts.hasnans:
            curves[name] = measured
        else:
            curves |= {(name, "forecast"): (members[x], lines), (name, "measured"): measured}
    return curves
