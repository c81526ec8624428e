"""A collector's own files, of reports or messages, tallied by many processes; the extra "dask".

A Parquet file holds reports about one question of a survey. It has one column, ``report``, without
missing values: unsigned integers of 8, 16 or 32 bits where a report is a number (RR, uRR, uHR), and
else fixed-size binary, as in a message (see `uldp.survey.wire`). Nothing stands beside a report.
The metadata of the schema holds under ``uldp`` the number of this layout, 2, under ``uldp.survey``
the digest of the survey, and under ``uldp.question`` the number of the question, from 0.

Strangers send messages; a Parquet file is the collector's own. A file that is cut, damaged or of
another survey is left out. A file that somebody made to harm its reader may do so: take none from a
stranger.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from hashlib import file_digest, sha256
from os import PathLike
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.results import needed
from uldp.mechanisms import Mechanism
from uldp.survey.surveys import Survey, Tallies, empty_tally, tally_of_possible
from uldp.survey.wire import IS_CUT, Reason, digested, split, wire_dtype, wire_rows
from uldp.tallies import Tally

__all__ = ["tally_files", "write_reports"]

SUFFIX = ".parquet"
COLUMN = "report"
LAYOUT = "2"
BYTES_OF_GROUP = 1 << 22
BYTES_AT_ONCE = 1 << 20

pa = needed("pyarrow", "dask", "uldp.survey.parquet")
parquet = needed("pyarrow.parquet", "dask", "uldp.survey.parquet")
dask = needed("dask", "dask", "uldp.survey.parquet")

AnyPath = str | PathLike[str]
Counts = dict[str, tuple[int, NDArray[np.int64]]]
"""How many reports there are, and what they add up to, by the name of their question."""


def write_reports(survey: Survey, question: str, reports: ArrayLike, path: AnyPath) -> None:
    """Write reports about a question into a new Parquet file.

    Parameters
    ----------
    survey : Survey
        The survey.
    question : str
        The name of the question.
    reports : array_like
        What the question's mechanism made of answers, one report or many. The file has them sorted
        by their bytes, so that it does not tell in which order they came.
    path : path
        The file, whose name ends with ".parquet"; it must not exist yet.

    Raises
    ------
    OSError
        If the file exists or cannot be written. Nothing is left of a file that cannot be finished.
    """
    checks.instance(survey, "survey", Survey)
    checks.choice(question, "question", survey.questions)
    target = checks.path(path, "path")
    if target.suffix != SUFFIX:
        raise ValueError(f"path must end with {SUFFIX!r}, got {str(path)!r}")
    schema = _schema(survey, question)
    width = wire_dtype(survey.questions[question]).itemsize
    rows = np.ascontiguousarray(wire_rows(survey.questions[question], reports))
    rows.view(f"V{width}").sort(axis=0)
    column = pa.Array.from_buffers(schema.field(COLUMN).type, len(rows), [None, pa.py_buffer(rows)])
    table = pa.table([column], schema=schema)
    with target.open("xb") as file:
        try:
            parquet.write_table(
                table,
                file,
                row_group_size=max(1, BYTES_OF_GROUP // width),
                use_dictionary=rows.ndim == 1,
                compression="none",
                write_page_checksum=True,
            )
        except BaseException:
            target.unlink()
            raise


def tally_files(
    survey: Survey, paths: Iterable[AnyPath], client: Any = None, max_reports: int = 1
) -> tuple[Tallies, dict[str, Counter[str]]]:
    """Tally the reports of many files, on processes of this machine or on a cluster.

    A file whose name ends with ".parquet" holds reports, and any other one messages, one behind the
    other. A file that cannot be read is left out and named, and the rest is counted; but one that
    kills the process which reads it ends the count with an error. The processes of this machine
    open no port. A script that calls this must guard its start with ``if __name__ == "__main__"``,
    because they import it.

    Parameters
    ----------
    survey : Survey
        The collector's survey.
    paths : iterable of path
        Files that the workers can read, each once. A warning names a copy, which is counted, too.
    client : distributed.Client, optional
        Of a Dask cluster, which is whoever's can connect to it: between machines it takes TLS. By
        default one process for each core of this machine.
    max_reports : int, optional
        How many reports a message may hold (see `uldp.Survey.read`). A Parquet file holds any
        number.

    Returns
    -------
    Tallies
        The tally of each question.
    dict of str to Counter
        What was left out, by the path of its file: how many messages or reports for each `Reason`,
        or why the whole file, or that it has a message that is cut, so that nobody knows what it
        lacks.
    """
    checks.instance(survey, "survey", Survey)
    if client is not None and not hasattr(client, "scheduler_info"):
        raise TypeError(f"client must be a distributed.Client, got {client!r}")
    most = checks.whole(max_reports, "max_reports", least=1)
    files = [
        str(checks.path(path, "each of paths").resolve()) for path in checks.items(paths, "paths")
    ]
    read: dict[object, str] = {}
    for name in files:
        identity = _identity(name)
        if identity in read:
            raise ValueError(f"paths must not repeat a file, got {name!r} after {read[identity]!r}")
        read[identity] = name
    count = dask.delayed(_count, pure=False)
    shared = dask.delayed(survey)
    tasks = [count(shared, name, most, dask_key_name=f"{name} {uuid4()}") for name in files]
    found = dask.compute(*tasks, scheduler="processes" if client is None else client)
    tallies = dict(Tallies(survey))
    left_out = {}
    by_digest: dict[bytes, str] = {}
    for name, (counts, reasons, digest) in zip(files, found, strict=True):
        for question, (n, numbers) in counts.items():
            tallies[question] += Tally(survey.questions[question], n, numbers)
        if reasons:
            left_out[name] = reasons
        equal = by_digest.setdefault(digest, name)
        if equal != name and sum(n for n, _ in counts.values()) > 1:
            warnings.warn(f"{name!r} equals {equal!r}: both are counted", stacklevel=2)
    return Tallies(survey, tallies), left_out


def _identity(name: str) -> object:
    """Return what two names of a file have in common, or the name where none can be found."""
    try:
        status = Path(name).stat()
    except OSError:
        return name
    return status.st_dev, status.st_ino


def _count(survey: Survey, name: str, max_reports: int) -> tuple[Counts, Counter[Any], bytes]:
    """Return the counts of a file, what was left out, and its digest; it runs on a worker."""
    try:
        with checks.regular_file(name, "path") as file:
            if name.endswith(SUFFIX):
                return *_count_reports(survey, name), file_digest(file, "sha256").digest()
            digest = sha256()
            pieces = split(file, survey.longest_message(max_reports))
            reading = survey.read(digested(pieces, digest), max_reports)
    except (OSError, ValueError, pa.ArrowException) as error:
        return {}, Counter([f"cannot be read: {error}"]), b""
    counts = {asked: (tally.n, tally.counts) for asked, tally in reading.tallies.items() if tally.n}
    further = {Reason.IMPOSSIBLE: reading.impossible, IS_CUT: int(reading.is_cut)}
    return counts, reading.refused + Counter(further), digest.digest()


def _count_reports(survey: Survey, name: str) -> tuple[Counts, Counter[Any]]:
    file = parquet.ParquetFile(name, page_checksum_verification=True)
    found = file.schema_arrow
    asked = [
        question
        for question in survey.questions
        if found.equals(_schema(survey, question), check_metadata=True)
    ]
    if not asked:
        raise ValueError("its column and metadata must be those of a question of this survey")
    (question,) = asked
    mechanism = survey.questions[question]
    tally = empty_tally(mechanism)
    rows = max(1, BYTES_AT_ONCE // mechanism.report_dtype.itemsize)
    for batch in file.iter_batches(batch_size=rows, use_threads=False):
        counted, _ = tally_of_possible(mechanism, _as_reports(batch.column(COLUMN), mechanism))
        tally += counted
    left_out = Counter({Reason.IMPOSSIBLE: file.metadata.num_rows - tally.n})
    return {question: (tally.n, tally.counts)}, +left_out


def _schema(survey: Survey, question: str) -> Any:
    number = [*survey.questions].index(question)
    metadata = {"uldp": LAYOUT, "uldp.survey": survey.digest, "uldp.question": str(number)}
    layout = wire_dtype(survey.questions[question])
    kind = pa.binary(layout.itemsize) if layout.shape else pa.from_numpy_dtype(layout)
    return pa.schema([pa.field(COLUMN, kind, nullable=False)], metadata=metadata)


def _as_reports(column: Any, mechanism: Mechanism) -> NDArray[Any]:
    """Return a column as reports of the mechanism's type, without a copy where it can be."""
    layout = wire_dtype(mechanism)
    data = np.frombuffer(column.buffers()[1], dtype=layout.base)
    rows = data.reshape(-1, *layout.shape)[column.offset : column.offset + len(column)]
    return rows.astype(mechanism.report_dtype.base, copy=False)
