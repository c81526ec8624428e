"""Figures of the common-mechanism experiments, from the tables of `uldp.paper.experiments`.

Measured losses are markers with bars of two standard errors, where there are some. A bar that would
leave a logarithmic axis below is cut there, and one that includes 0 is drawn upward alone. In
panels of the empirical estimate the lines are its forecasts; in the others they join the markers. A
mechanism with a single row in a panel does not depend on what the horizontal axis shows, and is a
level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy
from numpy.typing import ArrayLike, NDArray

from uldp.paper.experiments import NO_PRIVACY
from uldp.paper.figures import style
from uldp.paper.figures.style import Curve, Label, Look

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Loss", "gains", "losses_by_attributes", "losses_by_epsilon", "losses_by_sensitive"]

Loss = Literal["tv", "mse"]

LABELS: dict[Loss, str] = {"tv": "half the sum of errors (TV)", "mse": "squared error (MSE)"}
TITLES = {"em": "EM", "mle": "maximum likelihood", "norm_sub": "Norm-Sub"}
LOOKS_OF_KINDS: dict[str, Look] = {"forecast": {}, "measured": style.DOTS}
MIXED = (
    "empirical (on its own scale): lines forecast, dots measured · others: measured ·\n"
    "no privacy: forecast · bars: two standard errors"
)
MEASURED = "no privacy: line forecast, dots measured · others: measured · bars: two standard errors"
FOUR_ATTRIBUTES = 400
AT_LN_K = "ε (thick line: ε = ln k)"


def gains(
    panels: Mapping[str, Mapping[str, Curve]],
    claimed: tuple[float, float],
    claimed_label: str,
    ends: Mapping[str, float],
    kinds: Mapping[str, Look],
) -> NDArray[Any]:
    """Draw by what factors mechanisms beat others over ε, beside the factors that were claimed.

    Parameters
    ----------
    panels : mapping of str to mapping of (str, str) to Curve
        By the title of the panel and by mechanism and kind: (m,) values of ε, (m,) factors and, if
        they are known, (m,) standard errors of these. Bars reach two of them up and down.
    claimed : (float, float)
        The least and the largest factor of the claim, drawn as a band.
    claimed_label : str
        The label of the band.
    ends : mapping of str to float
        Where a panel has a thick line, by its title: ε = ln k.
    kinds : mapping of str to dict
        How the curves of a kind differ from the look of their mechanism.
    """
    axes = style.curves(
        panels,
        AT_LN_K,
        "factor by which the TV is smaller",
        kinds=kinds,
        height=3.9,
    )
    for ax, name in zip(axes, panels, strict=True):
        ax.axhspan(*claimed, facecolor=style.GRID, edgecolor=style.FAINT, zorder=0)
        ax.axvline(ends[name], color=style.FAINT, linewidth=3, zorder=0)
        ax.axhline(1, color=style.MUTED, linewidth=1)
        corner = ax.get_xlim()[0] * 1.1, claimed[1] * 0.93
        style.write(ax, corner, claimed_label, ha="left", va="top", size=10)
    return axes


def losses_by_epsilon(
    table: DataFrame,
    loss: Loss,
    data: Sequence[str],
    estimators: Sequence[str],
) -> NDArray[Any]:
    """Draw panels of Figure 5 (TV) or 10 (MSE): losses over ε, with a line at ε = ln k.

    Bars reach two standard errors up and down, and no further down than the axis.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of fig5.
    loss : {"tv", "mse"}
        The loss.
    data : sequence of str
        The names of the data.
    estimators : sequence of str
        One panel for each on each of the data, two in a row.
    """
    panels = _by_estimator(table, data, estimators)
    axes = _draw(panels, loss, "epsilon", AT_LN_K, columns=2, names="start")
    for ax, rows in zip(axes, panels.values(), strict=True):
        ax.axvline(np.log(rows["k"].iloc[0]), color=style.FAINT, linewidth=3, zorder=0)
    return axes


def losses_by_sensitive(
    table: DataFrame,
    loss: Loss,
    data: Sequence[str],
    estimators: Sequence[str],
) -> NDArray[Any]:
    """Draw panels of Figure 6 (TV) or 11 (MSE): losses over the number of sensitive values.

    All is as in `losses_by_epsilon`, of the table of fig6, but for two panels of each estimator on
    each of the data: the columns are ε = 0.1 and ε = ln k.
    """
    panels: dict[str, DataFrame] = {}
    for name, rows in _by_estimator(table, data, estimators).items():
        panels |= _by_budget(rows, name)
    return _draw(panels, loss, "sensitive", "number of sensitive values", columns=2)


def losses_by_attributes(table: DataFrame, loss: Loss, estimator: str) -> NDArray[Any]:
    """Draw a row of Figure 7 (TV) or 12 (MSE): losses over the number of attributes.

    All is as in `losses_by_epsilon`, of the table of fig7, but that there is a panel for each ε.
    With the empirical estimate a mechanism's name is followed by the factor of its loss.
    """
    # Beyond four attributes, each has two categories.
    table = table.assign(attributes=4 + np.log2(table["k"] / FOUR_ATTRIBUTES))
    panels = _by_budget(_select(table, estimator), _title(estimator))
    axes = _draw(panels, loss, "attributes", "number of attributes", "y")
    for ax in axes:
        ax.set_xticks(sorted(table["attributes"].unique()))
    for name, line, _ in style.picture(axes).names:
        mechanism = name.get_text()
        if estimator == "empirical" and mechanism != NO_PRIVACY:
            losses = np.asarray(line.get_ydata())
            name.set_text(f"{mechanism} ×{losses[-1] / losses[0]:,.0f}")
    return axes


def _title(estimator: str) -> str:
    """Return the name of an estimator as a text has it."""
    return TITLES.get(estimator, estimator)


def _by_estimator(
    table: DataFrame, data: Sequence[str], estimators: Sequence[str]
) -> dict[str, DataFrame]:
    """Return the rows of a panel for each estimator on each of the data, by its title."""
    return {
        _title(name) if len(data) == 1 else f"{where}, {_title(name)}": _select(table, name, where)
        for name in estimators
        for where in data
    }


def _by_budget(rows: DataFrame, name: str) -> dict[str, DataFrame]:
    """Return the rows of a panel for each ε, by its title."""
    panels = {}
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
    panels: Mapping[str, DataFrame],
    loss: Loss,
    x: str,
    label: str,
    log: str = "xy",
    *,
    columns: int | None = None,
    names: style.End = "end",
) -> NDArray[Any]:
    """Draw panels by their titles, in rows of `columns`.

    The vertical axis is one for the empirical estimate, whose losses have no bound, and one for
    the others.
    """
    drawn = {name: dict(_curves(of, x, loss)) for name, of in panels.items()}
    rows = -(-len(panels) // columns) if columns else 1
    axes = style.curves(
        drawn,
        label,
        LABELS[loss],
        kinds=LOOKS_OF_KINDS,
        log=log,
        columns=columns,
        names=names,
        sharey=False,
        height=0.9 + 2.3 * rows,
    )
    of_empirical = ["empirical" in name for name in drawn]
    if not all(of_empirical):
        style.note(axes, MIXED if any(of_empirical) else MEASURED)
    for empirical in (True, False):
        alike = [
            (ax, of)
            for ax, (title, of) in zip(axes, panels.items(), strict=True)
            if ("empirical" in title) == empirical
        ]
        limits = [end for ax, _ in alike for end in ax.get_ylim()]
        # The upper ends of all bars stand below the end of the axis, where errors are known.
        limits += [1.5 * float((of[loss] + 2 * of[f"{loss}_error"]).max()) for _, of in alike]
        for ax, _ in alike:
            ax.set_ylim(np.nanmin(limits), np.nanmax(limits))
    style.number_axes(axes, "y")
    for ax, of in zip(axes, panels.values(), strict=True):
        for place, (name, look) in enumerate(style.mechanism_looks(of["mechanism"]).items()):
            members = of[of["mechanism"] == name]
            if len(members) > 1:
                across, means, errors = members[[x, loss, f"{loss}_error"]].dropna().to_numpy().T
                # Bars on lines through the means stand beside each other, those on dots do not.
                aside = place - 1.5 if members[f"expected_{loss}"].hasnans else 0
                _draw_bars(ax, across, means, errors, look["color"], aside)
    return axes


def _draw_bars(
    ax: Axes,
    x: ArrayLike,
    means: NDArray[Any],
    errors: NDArray[Any],
    color: str,
    aside: float,
) -> None:
    """Draw bars of two standard errors, cut below; those that include 0 upward alone.

    They stand so many points to the right.
    """
    reach = 2 * errors
    below = np.where(reach < means, np.minimum(reach, means - ax.get_ylim()[0]), 0)
    beside = offset_copy(ax.transData, style.picture(ax), aside, units="points")
    ax.errorbar(x, means, (below, reach), fmt="none", ecolor=color, transform=beside)


def _curves(rows: DataFrame, x: str, loss: Loss) -> Iterator[tuple[Label, Curve]]:
    """Yield the curves of a panel by the mechanism, and kind in the empirical estimate's."""
    ends = rows.loc[rows["mechanism"] != NO_PRIVACY, x].agg(["min", "max"])
    for key, members in rows.sort_values(x, kind="stable").groupby("mechanism"):
        name = str(key)
        losses = members[loss]
        forecasts = members[f"expected_{loss}"]
        lines = losses if forecasts.hasnans else forecasts
        if len(members) == 1:
            yield (name, "forecast"), (ends, lines.repeat(2))
        elif forecasts.hasnans:
            yield name, (members[x], losses)
        else:
            yield (name, "forecast"), (members[x], lines)
            yield (name, "measured"), (members[x], losses)
