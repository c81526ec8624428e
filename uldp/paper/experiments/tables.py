"""The tables of the experiments: a CSV file under lines that say how it was made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uldp._numerics import checks
from uldp._numerics.results import needed

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "CELLS",
    "COMMON",
    "PERSONALIZED",
    "Kind",
    "Row",
    "extra",
    "means",
    "read_table",
    "tabulate",
    "write_table",
]

Row = dict[str, Any]
"""Entries by column."""


class Kind(NamedTuple):
    """A kind of table: the types of its columns, in order, and lines on what they hold."""

    columns: Mapping[str, type]
    about: tuple[str, ...]


POINT = {"data": str, "k": int, "sensitive": int, "n": int, "mechanism": str, "epsilon": float}
COMMON = Kind(
    POINT
    | {"estimator": str, "realizations": int}
    | dict.fromkeys(("tv", "tv_error", "mse", "mse_error", "expected_tv", "expected_mse"), float),
    (
        "tv, mse: mean over the realizations; tv_error, mse_error: standard error of the mean",
        "expected_tv, expected_mse: forecast for the empirical estimate, users independent",
        "sensitive: the values that the mechanism protects",
    ),
)
PERSONALIZED = Kind(
    POINT
    | {"knowledge": str, "estimator": str, "realizations": int}
    | dict.fromkeys(("tv", "tv_error", "mse", "mse_error"), float)
    | dict.fromkeys(("first", "first_error", "second", "second_error"), float)
    | dict.fromkeys(("second_bound", "expected_first"), float),
    (
        "tv, mse: of the estimate of p; first, second: the l1 losses on the right of Theorem 1",
        "each is a mean over the realizations; its _error is the standard error of the mean",
        "second_bound: what the collector knows the second term not to exceed",
        "expected_first: forecast for the empirical estimate, users independent",
        "k, sensitive: of the cells; the mechanism has two sensitive bots more, for home and "
        "office",
        "knowledge of where each tag occurs: none (I), where its places are (II), where its users "
        "are (III)",
    ),
)
CELLS = Kind(
    {"tag": str, "row": int, "column": int, "users": float, "places": float},
    (
        "row, column: of the 25 x 25 grid, from the south and from the west",
        "users: share of the tag's check-ins; places: share of its places, each counted once",
    ),
)


def extra(package: str) -> ModuleType:
    """Import a package of the extra "experiments"; if it is missing, the error names the extra."""
    return needed(package, "experiments", "uldp.paper.experiments")


def tabulate(rows: Iterable[Row], columns: Mapping[str, type]) -> DataFrame:
    """Return the rows with these columns; numbers missing from a row are NaN."""
    return extra("pandas").DataFrame(rows, columns=list(columns)).astype(columns)


def means(losses: Sequence[Mapping[str, float]]) -> Row:
    """Return the mean of each loss over the realizations, and its standard error."""
    names = list(losses[0])
    n = len(losses)
    values = np.array([[each[name] for name in names] for each in losses])
    spread = values.std(axis=0, ddof=1) if n > 1 else np.full(len(names), np.nan)
    errors = zip((f"{name}_error" for name in names), spread / np.sqrt(n), strict=True)
    return {"realizations": n, **dict(zip(names, values.mean(axis=0), strict=True)), **dict(errors)}


def read_table(path: str | os.PathLike[str]) -> DataFrame:
    """Read a table that `reproduce` or `write_table` wrote.

    Each row of Figures 5 to 8 and of Table 1 holds the mean losses of one estimator at one point:

    data, k, sensitive, n, mechanism, epsilon
        The point. `sensitive` is the number of values that the mechanism protects, and with the
        personalized mechanism the number of those sensitive to everybody. `epsilon` is NaN without
        privacy.
    knowledge
        With the personalized mechanism, what the collector knows of where each tag occurs, in
        `KNOWLEDGE`.
    estimator
        Its name in `METHODS`.
    realizations
        How many the means are of.
    tv, mse
        Mean total variation (half of the l1 loss) and mean squared l2 loss.
    first, second
        With the personalized mechanism, means of the terms of Theorem 1, which are l1 losses.
    tv_error, mse_error, first_error, second_error
        Their standard errors; NaN after a single realization.
    second_bound
        Mean of what the collector knows the second term not to exceed.
    expected_tv, expected_mse, expected_first
        What `uldp.losses` forecasts for the empirical estimate, the TV and the first term for this
        very n; NaN for the others.

    Each row of Figure 9 is of one cell of the map of a tag, "home" or "office":

    tag, row, column
        The tag and the cell: from the south and from the west, counted from 0.
    users, places
        Share of the tag's check-ins and of its places, each place counted once.

    Parameters
    ----------
    path : path
        The CSV file.

    Returns
    -------
    pandas.DataFrame
        A row for each of the file.

    Raises
    ------
    ModuleNotFoundError
        If pandas is not installed.
    """
    table = extra("pandas").read_csv(
        checks.path(path, "path"),
        comment="#",
        dtype=str,
        keep_default_na=False,
        na_values=[""],
    )
    for columns, _ in (COMMON, PERSONALIZED, CELLS):
        if list(table) == list(columns):
            return table.astype(columns)
    expected = ", or ".join(",".join(kind.columns) for kind in (COMMON, PERSONALIZED, CELLS))
    raise ValueError(f"{path}: expected columns {expected}")


def write_table(path: Path, table: DataFrame, header: Iterable[str]) -> None:
    """Write a table as CSV under header lines with "#".

    Fractions have six digits, but ε all of them. The file is replaced as a whole.
    """
    unfinished = path.with_suffix(".unfinished")
    exact = table.astype({name: object for name in table if name == "epsilon"})
    with unfinished.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"# {line}\n" for line in header)
        exact.to_csv(file, index=False, float_format="%.6g", lineterminator="\n")
    unfinished.replace(path)
