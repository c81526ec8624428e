"""Running experiments: in parallel, with progress and a record, resuming where they stopped."""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from uldp._numerics import VERSION, checks
from uldp.paper.experiments.personalized import cells
from uldp.paper.experiments.plans import checkins, plan
from uldp.paper.experiments.points import EM_STEPS, Losses, Point, measure
from uldp.paper.experiments.settings import FIGURES, Settings
from uldp.paper.experiments.tables import CELLS, extra, tabulate, write_table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Record", "reproduce", "run"]

REALIZATIONS_AT_ONCE = 10

DRAWN = {
    "iid": "users are drawn independently from the frequencies of the data",
    "halves": "users are drawn from the people of the data without replacement",
}
ABOUT_LIKELIHOOD = (
    f"em: {EM_STEPS} steps from the estimate with threshold; mle: certificate of 1e-6"
)


Todo = list[tuple[int, tuple[str, ...]]]
"""Realizations with the estimators that are missing of each."""

Entry = tuple[Mapping[str, Any], Mapping[str, Losses]]
"""What determines a realization, and its losses by estimator."""


def reproduce(
    figure: str, settings: Settings | None = None, folder: Path = Path("results"), jobs: int = 1
) -> Path:
    """Measure what a figure shows and write its table.

    Next to the table, FOLDER/figN.csv, stands its record, FOLDER/figN.jsonl. A run that was killed
    goes on from there, and one with more realizations or estimators adds to it.

    Parameters
    ----------
    figure : str
        A name in `FIGURES`.
    settings : Settings, optional
        What is chosen about it; by default the paper's experiment.
    folder : path, optional
        Where to write; it is made if need be.
    jobs : int, optional
        The number of processes, which does not change the result.

    Returns
    -------
    Path
        The table.

    Raises
    ------
    ModuleNotFoundError
        If a package of the extra "experiments" is not installed.
    """
    checks.choice(figure, "figure", FIGURES)
    settings = Settings() if settings is None else settings
    checks.instance(settings, "settings", Settings)
    folder = checks.path(folder, "folder")
    jobs = checks.whole(jobs, "jobs", least=1)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{FIGURES[figure]}.csv"
    if figure == "fig9":
        name, people = checkins(settings)
        table = cells(people)
        sources = {name: people.source}
        about = CELLS.about
    else:
        points = plan(figure, settings)
        table = run(points, path.with_suffix(".jsonl"), settings.seed, jobs)
        sources = {point.data: point.histogram.source for point in points}
        about = DRAWN[settings.sampling], *points[0].kind.about, ABOUT_LIKELIHOOD
    header = (
        settings.command(FIGURES[figure]),
        f"uldp {VERSION}, NumPy {np.__version__}, SciPy {scipy.__version__}; {commit()}",
        *(f"{name}: {source}" for name, source in sources.items()),
        *about,
    )
    write_table(path, table, header)
    return path


def commit() -> str:
    """Return the commit of this code and whether it was changed since, or that it is no clone."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        return "not a clone"
    head, changed = (
        subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
        for words in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "uldp"))
    )
    return f"commit {head.stdout.strip() or 'unknown'}{', changed' if changed.stdout else ''}"


def run(points: Sequence[Point], record: Path, seed: int, jobs: int = 1) -> DataFrame:
    """Measure points, all but what the record holds, and return their mean losses.

    Parameters
    ----------
    points : sequence of Point
        What to measure.
    record : path
        The file that every finished realization is appended to.
    seed : int
        What determines the result, together with the points.
    jobs : int, optional
        The number of processes.

    Returns
    -------
    pandas.DataFrame
        Rows as in `read_table`, in the order of the points and their methods.

    Raises
    ------
    ModuleNotFoundError
        If a package of the extra "experiments" is not installed.
    """
    points = checks.items(points, "points")
    for point in points:
        checks.instance(point, "points", Point)
    record = checks.path(record, "record")
    seed = checks.whole(seed, "seed", least=0)
    jobs = checks.whole(jobs, "jobs", least=1)
    joblib, tqdm, *_ = map(extra, ("joblib", "tqdm", "threadpoolctl", "pandas"))
    finished = Record(record)
    for reports, stage in ((False, "tallies"), (True, "reports")):
        members = [point for point in points if point.reports is reports]
        blocks = list(_unfinished(members, finished, seed, 1 if reports else REALIZATIONS_AT_ONCE))
        batch = 1 if reports else "auto"
        done = joblib.Parallel(n_jobs=jobs, batch_size=batch, return_as="generator_unordered")(
            joblib.delayed(_measure_block)(point, todo, seed) for point, todo in blocks
        )
        total = sum(len(todo) for _, todo in blocks)
        label = f"{record.stem}, {stage}"
        with tqdm.tqdm(total=total, desc=label, unit="realization", disable=not total) as bar:
            for entries in done:
                finished.append(entries)
                bar.update(len(entries))
    columns = {name: entry for point in points for name, entry in point.kind.columns.items()}
    return tabulate((row for point in points for row in _rows(point, finished, seed)), columns)


def _unfinished(
    points: Sequence[Point], record: Record, seed: int, at_once: int
) -> Iterator[tuple[Point, Todo]]:
    """Yield what is left to do in blocks, the first realizations of all points first."""
    most = max((point.realizations for point in points), default=0)
    for first in range(0, most, at_once):
        for point in points:
            todo = []
            for realization in range(first, min(first + at_once, point.realizations)):
                have = record.losses(_key(point, realization, seed))
                missing = tuple(method for method in point.methods if method not in have)
                if missing:
                    todo.append((realization, missing))
            if todo:
                yield point, todo


def _measure_block(point: Point, todo: Todo, seed: int) -> list[Entry]:
    # One thread: sums that are split over threads depend on their number in the last digits.
    with extra("threadpoolctl").threadpool_limits(1):
        return [
            (_key(point, realization, seed), measure(point, methods, realization, seed))
            for realization, methods in todo
        ]


def _rows(point: Point, record: Record, seed: int) -> Iterator[dict[str, Any]]:
    realizations = [record.losses(_key(point, i, seed)) for i in range(point.realizations)]
    for method in point.methods:
        yield from point.rows(method, [losses[method] for losses in realizations])


def _key(point: Point, realization: int, seed: int) -> dict[str, Any]:
    return {"uldp": VERSION, "seed": seed, **point.key, "realization": realization}


class Record:
    """Losses of finished realizations, a line of JSON each.

    A kill can only tear the last line, which is then cut off when the file is opened again. One
    process at a time may append.

    Parameters
    ----------
    path : Path
        The file, which need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._losses: defaultdict[str, dict[str, Losses]] = defaultdict(dict)
        if not path.exists():
            return
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                entry = json.loads(line)
                losses = entry.pop("losses")
                self._losses[_name(entry)].update(losses)
            except (ValueError, KeyError, AttributeError, TypeError):
                raise ValueError(
                    f"{path}, line {number}: expected a finished realization, got {line[:40]!r}"
                ) from None

    def losses(self, key: Mapping[str, Any]) -> Mapping[str, Losses]:
        """Return the losses by estimator of a realization, none if it is not recorded."""
        return self._losses.get(_name(key), {})

    def append(self, entries: Iterable[Entry]) -> None:
        """Add realizations; on return they are on the disk."""
        entries = list(entries)
        text = "".join(json.dumps({**key, "losses": losses}) + "\n" for key, losses in entries)
        with self.path.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        for key, losses in entries:
            self._losses[_name(key)].update(losses)


def _name(key: Mapping[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)
