"""Reports in Parquet files, tallied by processes here or of a Dask cluster; the extra "dask".

A file holds reports about one question of a survey. It has one column, ``report``, without missing
values: unsigned integers of 8, 16 or 32 bits where a report is a number (RR, uRR, uHR), and else
fixed-size binary, as in a message (see `uldp.survey.wire`). There is no other column, because
nothing should stand beside a report. The metadata of the schema holds under ``uldp`` the version of
this layout, 2, under ``uldp.survey`` the digest of the survey, in hexadecimal digits, and under
``uldp.question`` the number of the question, from 0. The pages have checksums.

A file is counted whole or not at all, and not if it holds more reports than the collector allows:
how small a file is says nothing, since equal reports take next to no room. What is made of it, a
`Collection`, depends on nothing but the file, so that a process that dies takes nothing with it
that another cannot make again; collections add up in any order, and each goes into one sum.

A file is read a row group at a time, and `write_reports` makes these of 4 MB at most. What could
take more memory than the file is long is refused before it is read: compression, encodings that
`write_reports` does not use, in the footer or in the headers of pages, and row groups of more than
32 MB or beyond the end of the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.chunks import chunks
from uldp.mechanisms import Mechanism
from uldp.survey._parquet_pages import pages
from uldp.survey.survey_file import excerpt
from uldp.survey.surveys import Survey, Tallies, empty_tally, tally_of_possible
from uldp.survey.wire import wire_dtype, wire_rows
from uldp.tallies import Tally

try:
    import pyarrow as pa
    from pyarrow import parquet
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f'uldp.survey.parquet needs the package {missing.name}, of the extra "dask"'
    ) from missing

__all__ = ["Collection", "FileError", "tally_file", "tally_files", "write_reports"]

VERSION = b"2"
VERSION_KEY = b"uldp"
SURVEY_KEY = b"uldp.survey"
QUESTION_KEY = b"uldp.question"
COLUMN = "report"
BYTES_OF_GROUP = 1 << 22
MOST_BYTES_OF_GROUP = 1 << 25
LEAST_ROWS_OF_GROUP = 1 << 10
ENCODINGS = {"PLAIN", "RLE", "BIT_PACKED", "RLE_DICTIONARY", "PLAIN_DICTIONARY"}
PLAIN, DICTIONARY = 0, (2, 8)  # encodings of pages
BYTES_OF_INTEGER = 4
REPORTS_OF_FILE = 1 << 20
BYTES_AT_ONCE = 1 << 20
FILES_AT_ONCE = 256

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
        What the question's mechanism made of answers, one report or many. The file has them sorted
        by their bytes, so that it does not tell in which order they came.
    path : path
        The file; it must not exist yet. Many small files are better than one: of a file with more
        than 2^20 reports the collector must know (see `tally_file`).

    Raises
    ------
    OSError
        If the file exists or cannot be written.
    """
    checks.instance(survey, "survey", Survey)
    checks.choice(question, "question", survey.questions)
    schema = _schema(survey, question)
    rows = wire_rows(survey.questions[question], reports)
    rows.view(f"V{wire_dtype(survey.questions[question]).itemsize}").sort(axis=0)
    buffers = [None, pa.py_buffer(np.ascontiguousarray(rows))]
    column = pa.Array.from_buffers(schema.field(COLUMN).type, len(rows), buffers)
    target = checks.path(path, "path")
    part = target.parent / f".{uuid4().hex}.part"
    try:
        with part.open("xb") as file:
            parquet.write_table(
                pa.table([column], schema=schema),
                file,
                row_group_size=_rows_of_group(wire_dtype(survey.questions[question])),
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
    OSError
        If the file cannot be read.
    """
    checks.instance(survey, "survey", Survey)
    most = checks.whole(max_reports, "max_reports", least=1)
    with _opened(path) as source:
        try:
            # Without a buffer a row group is read as a whole, and a page is a part of it: what the
            # header of a page says allocates nothing.
            file = parquet.ParquetFile(
                source, buffer_size=0, pre_buffer=False, page_checksum_verification=True
            )
            name = _question(path, file.schema_arrow, survey)
            mechanism = survey.questions[name]
            layout = wire_dtype(mechanism)
            size = os.fstat(source.fileno()).st_size
            _check_groups(path, file.metadata, size, _rows_of_group(layout))
            tally = empty_tally(mechanism)
            impossible = 0
            promised = file.metadata.num_rows
            if promised > most:
                raise FileError(
                    f"file {str(path)!r} holds too many reports: {promised}, but max_reports is "
                    f"{most}"
                )
            for group in range(file.metadata.num_row_groups):
                _check_pages(path, source, file.metadata.row_group(group), layout)
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
    client: Any = None,
    max_reports: int = REPORTS_OF_FILE,
) -> Collection:
    """Tally the reports of many files on processes of this machine, or on a cluster.

    Files that `tally_file` rejects, and files at which a worker dies, are left out and named; what
    else the worker had is done again. The processes of this machine open no port. A script that
    calls this must guard its start with ``if __name__ == "__main__"``, because they import it.

    Parameters
    ----------
    survey : Survey
        The collector's survey.
    paths : iterable of path
        Files that the workers can read, each once.
    client : distributed.Client, optional
        Of a Dask cluster, which is whoever's can connect to it: between machines it takes TLS. By
        default one process for each core of this machine.
    max_reports : int, optional
        How many reports each file may hold, by default 2^20 (see `tally_file`).

    Raises
    ------
    OSError
        If a file cannot be read.
    """
    checks.instance(survey, "survey", Survey)
    if client is not None and not hasattr(client, "map"):
        raise TypeError(f"client must be a distributed.Client, got {client!r}")
    most = checks.whole(max_reports, "max_reports", least=1)
    files = _distinct(paths)
    work = partial(_count_or_reject, text=survey.to_json(), max_reports=most)
    if client is None:
        counted = _on_this_machine(files, work)
    else:
        counted = _on_a_cluster(client, files, work)
    tallies = {name: empty_tally(mechanism) for name, mechanism in survey.questions.items()}
    rejected: dict[str, str] = {}
    impossible = 0
    for path, found in zip(files, counted, strict=True):
        if isinstance(found, str):
            rejected[path] = found
            continue
        mechanism = survey.questions[found.question]
        tallies[found.question] += Tally(mechanism, found.n, found.counts)
        impossible += found.impossible
    accepted = len(files) - len(rejected)
    return Collection(Tallies(survey, tallies), accepted, rejected, impossible)


class _Counted(NamedTuple):
    """What a worker sends of a file: its question, and what `Collection` and `Tally` hold."""

    question: str
    n: int
    counts: NDArray[np.int64]
    impossible: int


def _count_or_reject(path: str, text: str, max_reports: int) -> _Counted | str:
    """Return what is in a file, or why it is rejected; this is what runs on a worker."""
    try:
        collection = tally_file(_survey(text), path, max_reports)
    except FileError as error:
        return str(error)
    except MemoryError:
        return f"file {path!r} takes more memory than there is"
    tallies = collection.tallies
    name = next((name for name in tallies if tallies[name].n), next(iter(tallies)))
    return _Counted(name, tallies[name].n, tallies[name].counts, collection.impossible)


@lru_cache(maxsize=1)
def _survey(text: str) -> Survey:
    """Return the survey of a text, which is read once in a process."""
    return Survey.from_json(text)


def _on_this_machine(
    files: Sequence[str], work: Callable[[str], _Counted | str]
) -> Iterator[_Counted | str]:
    """Yield what becomes of each file; when a worker dies, the first in doubt is tried alone."""
    left = files
    while left:
        done = 0
        try:
            with _processes(min(os.cpu_count() or 1, len(left))) as pool:
                for found in pool.map(work, left):
                    yield found
                    done += 1
        except BrokenProcessPool:
            yield _alone(left[done], work)
            done += 1
        left = left[done:]


def _alone(file: str, work: Callable[[str], _Counted | str]) -> _Counted | str:
    try:
        with _processes(1) as pool:
            return pool.submit(work, file).result()
    except BrokenProcessPool:
        return _killed(file)


def _processes(workers: int) -> ProcessPoolExecutor:
    """Return processes that share nothing with this one but pipes."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def _on_a_cluster(
    client: Any, files: Sequence[str], work: Callable[[str], _Counted | str]
) -> Iterator[_Counted | str]:
    """Yield what becomes of each file, of so many at once that their counts take little room."""
    for some in chunks(len(files), FILES_AT_ONCE):
        futures = client.map(work, files[some], pure=False)
        for file, future in zip(files[some], futures, strict=True):
            killed = type(future.exception()).__name__ == "KilledWorker"
            yield _killed(file) if killed else future.result()


def _killed(file: str) -> str:
    return f"file {file!r} killed the process that read it"


def _name(part: Path, target: Path) -> None:
    """Give a finished file its name, which nothing else may have."""
    try:
        os.link(part, target)
    except OSError:  # the name is taken, or the file system has no links
        target.open("xb").close()
        part.replace(target)


def _distinct(paths: Iterable[AnyPath]) -> list[str]:
    """Return paths that do not hang on the working directory, in the order given."""
    files: dict[Hashable, str] = {}
    for path in checks.items(paths, "paths"):
        name = str(checks.path(path, "each of paths").resolve())
        identity = _identity(name)
        if identity in files:
            before = files[identity]
            raise ValueError(f"paths must not repeat a file, got {name!r} after {before!r}")
        files[identity] = name
    return list(files.values())


def _identity(name: str) -> Hashable:
    """Return what a file has in common with its other names; its name where only workers see it."""
    try:
        status = Path(name).stat()
    except OSError:
        return name
    return status.st_dev, status.st_ino


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


def _opened(path: AnyPath) -> BinaryIO:
    try:
        return checks.regular_file(path, "path")
    except ValueError:
        raise FileError(f"file {str(path)!r} is no regular file") from None


def _rows_of_group(layout: np.dtype[Any]) -> int:
    """Return how many reports `write_reports` puts into a group of rows."""
    return BYTES_OF_GROUP // max(1, layout.itemsize) or 1


def _check_groups(path: AnyPath, metadata: Any, size: int, rows: int) -> None:
    """Refuse what can take more memory or time than the file is long."""
    if metadata.num_row_groups > 1 + metadata.num_rows // min(rows, LEAST_ROWS_OF_GROUP):
        raise FileError(
            f"file {str(path)!r} has too many row groups: {metadata.num_row_groups} for "
            f"{metadata.num_rows} reports"
        )
    for number in range(metadata.num_row_groups):
        column = metadata.row_group(number).column(0)
        if column.compression != "UNCOMPRESSED" or not set(column.encodings) <= ENCODINGS:
            raise FileError(
                f"file {str(path)!r} must be neither compressed nor encoded but as PLAIN or "
                f"DICTIONARY, got {excerpt((column.compression, *column.encodings))}"
            )
        if not 0 <= column.total_compressed_size <= min(size, MOST_BYTES_OF_GROUP):
            raise FileError(
                f"file {str(path)!r} must have row groups of at most {MOST_BYTES_OF_GROUP} bytes, "
                f"which are in it, got {column.total_compressed_size}"
            )


def _check_pages(path: AnyPath, source: BinaryIO, group: Any, layout: np.dtype[Any]) -> None:
    """Refuse pages that are not as the footer says, and those that could stand for more bytes.

    A page of plain values is as long as these; only integers, which are few, have a dictionary.
    """
    column = group.column(0)
    if not column.num_values:
        return
    starts = [column.data_page_offset]
    if column.has_dictionary_page:
        starts.append(column.dictionary_page_offset)
    source.seek(max(min(starts), 0))
    width = layout.itemsize if layout.shape else BYTES_OF_INTEGER
    values = 0
    try:
        for page in pages(source.read(column.total_compressed_size)):
            is_plain = page.encoding == PLAIN or page.is_dictionary
            if page.encoding != PLAIN and (layout.shape or page.encoding not in DICTIONARY):
                raise ValueError(f"a page has the encoding {page.encoding}")
            if page.is_dictionary and layout.shape:
                raise ValueError("a dictionary of what are no integers")
            if is_plain and page.size != page.values * width:
                raise ValueError(f"{page.values} plain values have {page.size} bytes")
            values += 0 if page.is_dictionary else page.values
        if values != column.num_values:
            raise ValueError(f"pages of {values} values instead of {column.num_values}")
    except ValueError as error:
        raise FileError(f"file {str(path)!r} is not as reports are written: {error}") from None


def _columns(schema: pa.Schema) -> str:
    text: str = schema.to_string(show_field_metadata=False, show_schema_metadata=False)
    return text.replace("\n", ", ")


def _as_rows(column: pa.Array, mechanism: Mechanism) -> NDArray[Any]:
    """Return a column as reports of the mechanism's type, without a copy where it can be."""
    layout = wire_dtype(mechanism)
    data = np.frombuffer(column.buffers()[1], dtype=layout.base)
    rows = data.reshape(-1, *layout.shape)[column.offset : column.offset + len(column)]
    return rows.astype(mechanism.report_dtype.base, copy=False)
