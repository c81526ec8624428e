"""Reports in Parquet files, tallied by the processes of a Dask cluster; needs the extra "dask".

A file holds reports about one question of a survey. It has one column, ``report``, without missing
values: unsigned integers of 8, 16 or 32 bits for RR and uRR, and for the other mechanisms
fixed-size binary, as in a message (see `uldp.wire`). There is no other column, because nothing
should stand beside a report. The metadata of the schema holds under ``uldp`` the version of this
layout, 2, under ``uldp.survey`` the digest of the survey, in hexadecimal digits, and under
``uldp.question`` the number of the question, from 0. The pages have checksums.

A file is counted whole or not at all, and not if it holds more reports than the collector allows:
how small a file is says nothing, since equal reports take next to no room. What is made of it, a
`Collection`, depends on nothing but the file, so that a process that dies takes nothing with it
that another cannot make again; collections add up in any order, and each goes into one sum. A
worker reads about a megabyte of a file at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp import _checks
from uldp._survey_file import excerpt
from uldp.mechanisms import Mechanism
from uldp.surveys import Survey, Tallies, empty_tally, tally_of_possible
from uldp.wire import wire_dtype, wire_rows

try:
    import dask
    import pyarrow as pa
    from distributed import Client
    from pyarrow import parquet
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f'uldp.collecting needs the package {missing.name}: pip install "uldp[dask]"'
    ) from missing

__all__ = ["Collection", "FileError", "local_client", "tally_file", "tally_files", "write_reports"]

VERSION = b"2"
VERSION_KEY, SURVEY_KEY, QUESTION_KEY = b"uldp", b"uldp.survey", b"uldp.question"
COLUMN = "report"
ROWS_OF_GROUP = 1 << 20
REPORTS_OF_FILE = 1 << 20
BYTES_AT_ONCE = 1 << 20
COLLECTIONS_PER_SUM = 16
# By default Dask lets the C library return every freed megabyte to the system at once. Fetching it
# again for each part of a file would take longer than counting.
KEEP_MEMORY = {
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 22,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 24,
}

AnyPath = str | os.PathLike[str]


class FileError(ValueError):
    """A file that the collector rejects."""


@dataclass(frozen=True)
class Collection:
    """What a collector makes of files; collections of one survey add up.

    Attributes
    ----------
    tallies : Tallies
        The tally of each question, of the accepted reports.
    files : int
        How many files were accepted.
    rejected : dict of str to str
        Why a file was left out, by its path.
    impossible : int
        How many reports of accepted files were left out because the mechanism cannot produce them.
    """

    tallies: Tallies
    files: int
    rejected: dict[str, str]
    impossible: int

    def __add__(self, other: Collection) -> Collection:
        if not isinstance(other, Collection):
            return NotImplemented
        return Collection(
            self.tallies + other.tallies,
            self.files + other.files,
            self.rejected | other.rejected,
            self.impossible + other.impossible,
        )


def write_reports(survey: Survey, question: str, reports: ArrayLike, path: AnyPath) -> None:
    """Write reports about a question into a new Parquet file.

    The file gets its name when it is whole. Until then it has another one in the same folder, which
    begins with a dot and ends with ".part"; if it cannot be finished, it is removed.

    Parameters
    ----------
    survey : Survey
        The survey.
    question : str
        The name of the question.
    reports : array_like
        What the question's mechanism made of answers, one report or many.
    path : path
        The file; it must not exist yet. Many small files are better than one: of a file with more
        than 2^20 reports the collector must know (see `tally_file`).

    Raises
    ------
    ValueError
        If there is no such question, or a report is one that the mechanism cannot produce.
    TypeError
        If an argument is of the wrong type.
    OSError
        If the file exists or cannot be written.
    """
    _checks.instance(survey, "survey", Survey)
    _checks.choice(question, "question", survey.questions)
    schema = _schema(survey, question)
    rows = wire_rows(survey.questions[question], reports)
    buffers = [None, pa.py_buffer(np.ascontiguousarray(rows))]
    column = pa.Array.from_buffers(schema.field(COLUMN).type, len(rows), buffers)
    target = _checks.path(path, "path")
    part = target.parent / f".{uuid4().hex}.part"
    try:
        with part.open("xb") as file:
            parquet.write_table(
                pa.table([column], schema=schema),
                file,
                row_group_size=ROWS_OF_GROUP,
                use_dictionary=rows.ndim == 1,
                compression="none",
                write_page_checksum=True,
            )
        _name(part, target)
    finally:
        part.unlink(missing_ok=True)


def tally_file(survey: Survey, path: AnyPath, max_reports: int = REPORTS_OF_FILE) -> Collection:
    """Tally the reports of one file, a part at a time; this is what runs on a worker.

    Reports that the mechanism cannot produce are left out and counted.

    Parameters
    ----------
    survey : Survey
        The collector's survey.
    path : path
        What `write_reports` wrote.
    max_reports : int, optional
        How many reports the file may hold, by default 2^20. Allow no more than are expected, for a
        file of any size can hold a billion.

    Raises
    ------
    FileError
        A ValueError, if the file is not one of this layout and version, was cut short or damaged,
        is of another survey, or holds more reports than are allowed.
    ValueError
        If `max_reports` is not a whole number of at least 1.
    TypeError
        If an argument is of the wrong type.
    OSError
        If the file cannot be read.
    """
    _checks.instance(survey, "survey", Survey)
    most = _checks.whole(max_reports, "max_reports", least=1)
    with _checks.path(path, "path").open("rb") as source:
        try:
            file = parquet.ParquetFile(
                source,
                buffer_size=BYTES_AT_ONCE,
                pre_buffer=False,
                page_checksum_verification=True,
            )
            name = _question(path, file.schema_arrow, survey)
            mechanism = survey.questions[name]
            tally, impossible = empty_tally(mechanism), 0
            promised = file.metadata.num_rows
            if promised > most:
                raise FileError(
                    f"file {str(path)!r} holds too many reports: {promised}, but max_reports is "
                    f"{most}"
                )
            rows = max(1, BYTES_AT_ONCE // mechanism.report_dtype.itemsize)
            for batch in file.iter_batches(batch_size=rows, use_threads=False):
                reports = _as_rows(batch.column(COLUMN), mechanism)
                counted, possible = tally_of_possible(mechanism, reports)
                tally += counted
                impossible += len(reports) - len(possible)
                if tally.n + impossible > promised:
                    break
            if tally.n + impossible != promised:
                raise pa.ArrowInvalid(f"{tally.n + impossible} reports instead of {promised}")
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if getattr(error, "errno", None) is not None:
                raise
            raise FileError(f"file {str(path)!r} is not Parquet or damaged: {error}") from None
    return Collection(Tallies(survey, {name: tally}), 1, {}, impossible)


def tally_files(
    survey: Survey,
    paths: Iterable[AnyPath],
    client: Client | None = None,
    max_reports: int = REPORTS_OF_FILE,
) -> Collection:
    """Tally the reports of many files on the workers of a cluster.

    Files that `tally_file` rejects are left out and named. A worker may die; what it had and what
    it was at is done again by another.

    Parameters
    ----------
    survey : Survey
        The collector's survey.
    paths : iterable of path
        Files that the workers can read, each once.
    client : distributed.Client, optional
        Of the cluster; by default `local_client`, for this call.
    max_reports : int, optional
        How many reports each file may hold, by default 2^20 (see `tally_file`).

    Raises
    ------
    ValueError
        If a path is repeated, or `max_reports` is not a whole number of at least 1.
    TypeError
        If an argument is of the wrong type.
    OSError
        If a file cannot be read.
    distributed.KilledWorker
        If four workers died at one file, which is named.
    """
    _checks.instance(survey, "survey", Survey)
    if client is not None:
        _checks.instance(client, "client", Client)
    most = _checks.whole(max_reports, "max_reports", least=1)
    files, call = _distinct(paths), uuid4().hex
    if not files:
        return Collection(Tallies(survey), 0, {}, 0)
    with nullcontext(client) if client is not None else local_client() as cluster:
        names = [("tally_file", file, call) for file in files]
        parts = cluster.map(_tally_or_reject, files, key=names, survey=survey, max_reports=most)
        whole = _combined(parts, lambda some: cluster.submit(_total, some, pure=False))
        collection: Collection = whole.result()
    return collection


def local_client(workers: int | None = None) -> Client:
    """Start processes of one thread each on this machine; leaving ``with`` ends them.

    They listen on 127.0.0.1 alone. A script that calls this must guard its start with
    ``if __name__ == "__main__"``, because the processes import it.

    Parameters
    ----------
    workers : int, optional
        How many, by default one for each core.

    Raises
    ------
    ValueError, TypeError
        If `workers` is not a whole number of at least 1.
    """
    if workers is not None:
        workers = _checks.whole(workers, "workers", least=1)
    with dask.config.set(KEEP_MEMORY):
        return Client(  # type: ignore[no-untyped-call]
            n_workers=workers or os.cpu_count(),
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        )


def _name(part: Path, target: Path) -> None:
    """Give a finished file its name, which nothing else may have."""
    try:
        os.link(part, target)
    except OSError:  # the name is taken, or the file system has no links
        target.open("xb").close()
        part.replace(target)


def _tally_or_reject(path: str, survey: Survey, max_reports: int) -> Collection:
    try:
        return tally_file(survey, path, max_reports)
    except FileError as error:
        return Collection(Tallies(survey), 0, {path: str(error)}, 0)


def _combined(parts: list[Any], combine: Callable[[list[Any]], Any]) -> Any:
    """Combine all parts into one, a few at a time."""
    while len(parts) > 1:
        firsts = range(0, len(parts), COLLECTIONS_PER_SUM)
        parts = [combine(parts[first : first + COLLECTIONS_PER_SUM]) for first in firsts]
    return parts[0]


def _total(parts: Sequence[Collection]) -> Collection:
    return sum(parts[1:], start=parts[0])


def _distinct(paths: Iterable[AnyPath]) -> list[str]:
    """Return paths that do not hang on the working directory, in the order given."""
    files: dict[str, None] = {}
    for path in _checks.items(paths, "paths"):
        name = str(_checks.path(path, "each of paths").resolve())
        if name in files:
            raise ValueError(f"paths must not repeat a file, got {name!r} twice")
        files[name] = None
    return list(files)


def _schema(survey: Survey, question: str) -> pa.Schema:
    number = [*survey.questions].index(question)
    metadata = {
        VERSION_KEY: VERSION,
        SURVEY_KEY: survey.digest.encode(),
        QUESTION_KEY: str(number).encode(),
    }
    layout = wire_dtype(survey.questions[question])
    kind = pa.binary(layout.itemsize) if layout.shape else pa.from_numpy_dtype(layout)
    return pa.schema([pa.field(COLUMN, kind, nullable=False)], metadata=metadata)


def _question(path: AnyPath, found: pa.Schema, survey: Survey) -> str:
    """Return the name of a file's question; refuse one of another version, survey or type."""
    sent = {key: (found.metadata or {}).get(key, b"") for key in (VERSION_KEY, SURVEY_KEY)}
    if not sent[VERSION_KEY]:
        raise FileError(f"file {str(path)!r} is not of reports: its metadata has no 'uldp'")
    if sent[VERSION_KEY] != VERSION:
        raise FileError(
            f"file {str(path)!r} is of another version: it is {excerpt(sent[VERSION_KEY])}, this "
            f"collector reads {VERSION!r}"
        )
    if sent[SURVEY_KEY] != survey.digest.encode():
        raise FileError(
            f"file {str(path)!r} is of another survey: its digest is {excerpt(sent[SURVEY_KEY])}, "
            f"that of this collector {survey.digest.encode()!r}"
        )
    number = found.metadata.get(QUESTION_KEY, b"")
    names = {str(i).encode(): name for i, name in enumerate(survey.questions)}
    if number not in names:
        raise FileError(
            f"file {str(path)!r} is of no question of the survey: it is of {excerpt(number)}, "
            f"there are {len(names)}"
        )
    expected = _schema(survey, names[number])
    if not found.equals(expected):
        raise FileError(
            f"file {str(path)!r} must have the column {_columns(expected)!r} alone, got "
            f"{excerpt(_columns(found).encode())}"
        )
    return names[number]


def _columns(schema: pa.Schema) -> str:
    text: str = schema.to_string(show_field_metadata=False, show_schema_metadata=False)
    return text.replace("\n", ", ")


def _as_rows(column: pa.Array, mechanism: Mechanism) -> NDArray[Any]:
    """Return a column as reports of the mechanism's type, without a copy where it can be."""
    layout = wire_dtype(mechanism)
    data = np.frombuffer(column.buffers()[1], dtype=layout.base)
    rows = data.reshape(-1, *layout.shape)[column.offset : column.offset + len(column)]
    return rows.astype(mechanism.report_dtype.base, copy=False)
