"""The tables of the experiments: a CSV file under lines that say how it was made."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from uldp import _checks
from uldp.experiments.personalized import KNOWLEDGE, PersonalizedPoint
from uldp.experiments.points import EXPECTED, Losses, Point
from uldp.experiments.rows import CellRow, PersonalizedRow, Row

__all__ = [
    "AnyRow",
    "read_personalized_table",
    "read_table",
    "summarize",
    "write_table",
]

AnyRow = Row | PersonalizedRow | CellRow
Kind = TypeVar("Kind", Row, PersonalizedRow)

READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("data", "mechanism", "estimator", "knowledge", "tag"), str),
    **dict.fromkeys(("k", "sensitive", "n", "realizations", "row", "column"), int),
}


def summarize(
    point: Point, realizations: Sequence[Mapping[str, Losses]]
) -> Sequence[Row | PersonalizedRow]:
    """Return the rows of a point, from its losses by estimator.

    There is one for each estimator and, with a `PersonalizedPoint`, each kind of knowledge.
    """
    expected: Sequence[float | None] = (None, None)
    if EXPECTED in point.methods:
        expected = np.mean([losses[EXPECTED] for losses in realizations], axis=0).tolist()
    by_method = {
        method: np.array([losses[method] for losses in realizations])
        for method in point.methods
        if method != EXPECTED
    }
    if isinstance(point, PersonalizedPoint):
        return [
            _personalized_row(point, method, knowledge, losses, expected[0])
            for method, losses in by_method.items()
            for knowledge in KNOWLEDGE
        ]
    return [_row(point, method, losses, expected) for method, losses in by_method.items()]


def _row(
    point: Point, method: str, losses: NDArray[np.float64], expected: Sequence[float | None]
) -> Row:
    (tv, mse), (tv_error, mse_error) = _means(losses)
    return Row(
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


def _personalized_row(
    point: PersonalizedPoint,
    method: str,
    knowledge: str,
    losses: NDArray[np.float64],
    expected_first: float | None,
) -> PersonalizedRow:
    own = 2 + 3 * KNOWLEDGE.index(knowledge)
    (tv, mse, second), (tv_error, mse_error, second_error) = _means(losses[:, own : own + 3])
    (first, second_bound), (first_error, _) = _means(losses[:, :2])
    base = point.law.domain.base
    return PersonalizedRow(
        data=point.data,
        k=base.size,
        sensitive=base.sensitive.size,
        n=point.n,
        mechanism=point.mechanism,
        epsilon=point.epsilon,
        knowledge=knowledge,
        estimator=method,
        realizations=len(losses),
        tv=tv,
        tv_error=tv_error,
        mse=mse,
        mse_error=mse_error,
        first=first,
        first_error=first_error,
        second=second,
        second_error=second_error,
        second_bound=second_bound,
        expected_first=expected_first if method == "empirical" else None,
    )


def _means(losses: NDArray[np.float64]) -> tuple[list[float], list[float | None]]:
    """Return the means over the realizations and their standard errors."""
    n, columns = losses.shape
    means: list[float] = losses.mean(axis=0).tolist()
    if n == 1:
        return means, [None] * columns
    return means, (losses.std(axis=0, ddof=1) / np.sqrt(n)).tolist()


def write_table(path: Path, rows: Sequence[AnyRow], header: Iterable[str]) -> None:
    """Write rows of one kind as CSV, fractions to six digits, under header lines with "#".

    The file is replaced as a whole.
    """
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"# {line}\n" for line in header)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_columns(type(rows[0])))
        writer.writerows([_text(*cell) for cell in asdict(row).items()] for row in rows)
    unfinished.replace(path)


def read_table(path: str | os.PathLike[str]) -> list[Row]:
    """Read a table of Figures 5 to 7 that `write_table` wrote.

    Raises
    ------
    ValueError
        If the columns are not those of a `Row`.
    """
    return _read(path, Row)


def read_personalized_table(path: str | os.PathLike[str]) -> list[PersonalizedRow]:
    """Read the table of Figure 8 or Table 1 that `write_table` wrote.

    Raises
    ------
    ValueError
        If the columns are not those of a `PersonalizedRow`.
    """
    return _read(path, PersonalizedRow)


def _read(path: str | os.PathLike[str], kind: type[Kind]) -> list[Kind]:
    columns = _columns(kind)
    with _checks.path(path, "path").open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(line for line in file if not line.startswith("#"))
        if tuple(table.fieldnames or ()) != columns:
            raise ValueError(f"{path}: expected columns {','.join(columns)}")
        return [kind(**{name: _value(name, text) for name, text in row.items()}) for row in table]


def _columns(kind: type[AnyRow]) -> tuple[str, ...]:
    return tuple(column.name for column in fields(kind))


def _text(column: str, value: object) -> str:
    if value is None:
        return ""
    return str(value) if column in READERS or column == "epsilon" else f"{value:.6g}"


def _value(column: str, text: str) -> Any:
    if column in READERS:
        return READERS[column](text)
    return float(text) if text else None
