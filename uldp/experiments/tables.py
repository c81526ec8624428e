"""The tables of the experiments: a CSV file under lines that say how it was made."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from uldp.experiments.points import EXPECTED, Losses, Point

__all__ = ["Row", "read_table", "summarize", "write_table"]


@dataclass(frozen=True)
class Row:
    """Mean losses of one estimator at one point.

    Attributes
    ----------
    data, k, sensitive, n, mechanism, epsilon
        The point; `sensitive` is the number of values that the mechanism protects.
    estimator : str
        Its name in `uldp.experiments.METHODS`.
    realizations : int
        How many the means are of.
    tv, mse : float
        Mean total variation and mean squared l2 loss.
    tv_error, mse_error : float or None
        Their standard errors; None after a single realization.
    expected_tv, expected_mse : float or None
        For the empirical estimate what `uldp.losses` forecasts, the TV for this very n.
    """

    data: str
    k: int
    sensitive: int
    n: int
    mechanism: str
    epsilon: float | None
    estimator: str
    realizations: int
    tv: float
    tv_error: float | None
    mse: float
    mse_error: float | None
    expected_tv: float | None
    expected_mse: float | None


COLUMNS = tuple(column.name for column in fields(Row))
READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("data", "mechanism", "estimator"), str),
    **dict.fromkeys(("k", "sensitive", "n", "realizations"), int),
}


def summarize(point: Point, realizations: Sequence[Mapping[str, Losses]]) -> list[Row]:
    """Return a row for each estimator of a point, from its losses by estimator."""
    expected: Sequence[float | None] = (None, None)
    if EXPECTED in point.methods:
        expected = np.mean([losses[EXPECTED] for losses in realizations], axis=0).tolist()
    rows = []
    for method in point.methods:
        if method == EXPECTED:
            continue
        losses = np.array([losses[method] for losses in realizations])
        tv, mse = losses.mean(axis=0).tolist()
        tv_error, mse_error = (
            (losses.std(axis=0, ddof=1) / np.sqrt(len(losses))).tolist()
            if len(losses) > 1
            else (None, None)
        )
        row = Row(
            data=point.data,
            k=point.histogram.domain.size,
            sensitive=point.protected,
            n=point.n,
            mechanism=point.mechanism,
            epsilon=point.epsilon,
            estimator=method,
            realizations=len(losses),
            tv=tv,
            tv_error=tv_error,
            mse=mse,
            mse_error=mse_error,
            expected_tv=expected[0] if method == "empirical" else None,
            expected_mse=expected[1] if method == "empirical" else None,
        )
        rows.append(row)
    return rows


def write_table(path: Path, rows: Iterable[Row], header: Iterable[str]) -> None:
    """Write rows as CSV, losses to six digits, under header lines that begin with "#".

    The file is replaced as a whole.
    """
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"# {line}\n" for line in header)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_text(*cell) for cell in asdict(row).items()] for row in rows)
    unfinished.replace(path)


def read_table(path: str | os.PathLike[str]) -> list[Row]:
    """Read a table that `write_table` wrote.

    Raises
    ------
    ValueError
        If the columns are not those of a table of losses.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(line for line in file if not line.startswith("#"))
        if tuple(table.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path}: expected columns {','.join(COLUMNS)}")
        return [Row(**{name: _value(name, text) for name, text in row.items()}) for row in table]


def _text(column: str, value: object) -> str:
    if value is None:
        return ""
    return str(value) if column in READERS or column == "epsilon" else f"{value:.6g}"


def _value(column: str, text: str) -> Any:
    if column in READERS:
        return READERS[column](text)
    return float(text) if text else None
