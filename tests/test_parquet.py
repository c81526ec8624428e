"""Files of reports: what is written is tallied, once, whatever happens to files and workers."""

import contextlib
import errno
import os
import runpy
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pytest
from cases import MECHANISMS
from distributed import Client, LocalCluster
from pyarrow import parquet as pq

import uldp
from uldp import Survey, Tallies, __main__ as command_line
from uldp.survey import parquet
from uldp.survey._parquet_pages import pages
from uldp.survey.parquet import Collection, FileError, tally_file, tally_files, write_reports

DOMAIN = uldp.Domain(["no", "café", "yes", "?"], sensitive=["yes", "no"])
MECHANISM = uldp.UtilityOptimizedRappor(DOMAIN, 0.1)
LARGE = uldp.Domain(300, sensitive=range(11))


def survey_of(mechanism: uldp.Mechanism) -> Survey:
    """A survey with the mechanism's question, "q", between two others."""
    other = uldp.RandomizedResponse(uldp.Domain(2), 1.0)
    return Survey("survey", {"before": other, "q": mechanism, "after": other})


SURVEY = survey_of(MECHANISM)


def collection(survey: Survey, reports: object, files: int = 1, impossible: int = 0) -> Collection:
    """What comes of files with these reports."""
    tallies = Tallies(survey, {"q": survey.questions["q"].tally(reports)})
    return Collection(tallies, files, {}, impossible)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def reports_of(mechanism: uldp.Mechanism, users: int) -> np.ndarray:
    return mechanism.privatize(np.arange(users) % mechanism.domain.size, rng=0, indices=True)


def write_parts(survey: Survey, reports: np.ndarray, parts: int, folder: Path) -> list:
    """Split reports over files in the folder."""
    paths = [folder / f"{part}.parquet" for part in range(parts)]
    for path, part in zip(paths, np.array_split(reports, parts), strict=True):
        write_reports(survey, "q", part, path)
    return paths


def write_by_hand(path: Path, kind: pa.DataType, rows: list, **others: pa.Array) -> Path:
    """A file with the right metadata and whatever else."""
    metadata = {"uldp": "2", "uldp.survey": SURVEY.digest, "uldp.question": "1"}
    columns = {"report": pa.array(rows, kind), **others}
    fields = [pa.field(name, column.type, nullable=False) for name, column in columns.items()]
    table = pa.table(list(columns.values()), schema=pa.schema(fields, metadata=metadata))
    is_number = pa.types.is_integer(kind)
    pq.write_table(table, path, compression="none", use_dictionary=is_number)
    return path


def rejection(path: Path, survey: Survey = SURVEY) -> str:
    with pytest.raises(FileError) as caught:
        tally_file(survey, path)
    message = str(caught.value)
    assert message.isprintable()
    assert message.startswith(f"file {str(path)!r} ")
    return message.removeprefix(f"file {str(path)!r} ")


# --- one file ------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", [DOMAIN, LARGE, uldp.Domain(4), uldp.Domain(3, sensitive=[1])])
@pytest.mark.parametrize("users", [0, 1, 500])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_file_is_tallied(tmp_path, name, users, domain):
    if name == "uRAP-best" and not domain.sensitive.size:
        return  # its θ is 1, which a file does not hold
    survey = survey_of(MECHANISMS[name](domain, 1.5))
    reports = reports_of(survey.questions["q"], users)
    write_reports(survey, "q", reports, tmp_path / "reports")
    assert tally_file(survey, tmp_path / "reports") == collection(survey, reports)


def test_each_question_has_files_of_its_own(tmp_path):
    for number, name in enumerate(SURVEY.questions):
        write_reports(SURVEY, name, [1, 0] if name == "q" else 1, tmp_path / name)
        assert pq.read_schema(tmp_path / name).metadata[b"uldp.question"] == b"%d" % number
        found = tally_file(SURVEY, tmp_path / name).tallies
        assert {n: tally.n for n, tally in found.items() if tally.n} == {name: 1}
    with pytest.raises(ValueError, match="question must be one of before, q, after, got 'p'"):
        write_reports(SURVEY, "p", [1, 0], tmp_path / "p")


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_file_does_not_tell_in_which_order_its_reports_came(tmp_path, name):
    """By their bytes: the same reports make the same file."""
    survey = survey_of(MECHANISMS[name](LARGE, 1.5))
    reports = reports_of(survey.questions["q"], 500)
    for number, some in enumerate((reports, reports[::-1])):
        write_reports(survey, "q", some, tmp_path / f"{number}")
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_a_single_report(tmp_path):
    for number, make in enumerate(MECHANISMS.values()):
        survey = survey_of(make(DOMAIN, 1.0))
        report = survey.questions["q"].privatize("?", rng=0)
        write_reports(survey, "q", report, tmp_path / f"{number}")
        assert tally_file(survey, tmp_path / f"{number}") == collection(survey, report)


@pytest.mark.parametrize(
    ("size", "kind"),
    [(256, pa.uint8()), (257, pa.uint16()), (65536, pa.uint16()), (65537, pa.uint32())],
)
def test_the_documented_layout_of_indices(tmp_path, size, kind):
    survey = survey_of(uldp.UtilityOptimizedRR(uldp.Domain(size), 1.0))
    write_reports(survey, "q", [size - 1, 0], tmp_path / "reports")
    table = pq.read_table(tmp_path / "reports")
    metadata = {b"uldp": b"2", b"uldp.survey": survey.digest.encode(), b"uldp.question": b"1"}
    column = pa.field("report", kind, nullable=False)
    assert table.schema.equals(pa.schema([column], metadata=metadata), check_metadata=True)
    assert sorted(table["report"].to_pylist()) == [0, size - 1]


def test_the_documented_layout_of_rows(tmp_path):
    write_reports(SURVEY, "q", [[1, 0], [2, 2]], tmp_path / "reports")
    table = pq.read_table(tmp_path / "reports")
    column = pa.field("report", pa.binary(2), nullable=False)
    assert table.schema.equals(pa.schema([column]))
    assert table["report"].to_pylist() == [b"\1\0", b"\2\2"]


def test_other_writers_are_read(tmp_path):
    """Small pages and several groups make no difference."""
    reports = reports_of(MECHANISM, 10_000)
    rows = [bytes(row) for row in reports]
    path = write_by_hand(tmp_path / "plain", pa.binary(2), rows)
    table = pq.read_table(path)
    options = {"row_group_size": 1777, "data_page_size": 64, "compression": "none"}
    pq.write_table(table, tmp_path / "other", use_dictionary=False, **options)
    for file in (path, tmp_path / "other"):
        assert tally_file(SURVEY, file) == collection(SURVEY, reports)


def test_a_file_is_not_overwritten(tmp_path):
    path = tmp_path / "reports"
    write_reports(SURVEY, "q", [1, 0], path)
    with pytest.raises(FileExistsError, match="reports"):
        write_reports(SURVEY, "q", [[2, 0]], path)
    assert tally_file(SURVEY, path) == collection(SURVEY, [1, 0])


def disk_full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def half_written(monkeypatch) -> Callable[[Callable[[], None]], None]:
    """Let a function run when half of a file has been written."""

    def interrupt(meanwhile: Callable[[], None]) -> None:
        def write_half(table: pa.Table, file: BinaryIO, **options: object) -> None:
            whole = BytesIO()
            write_table(table, whole, **options)
            half = len(whole.getvalue()) // 2
            file.write(whole.getvalue()[:half])
            file.flush()
            meanwhile()
            file.write(whole.getvalue()[half:])

        write_table = pq.write_table
        monkeypatch.setattr(pq, "write_table", write_half)

    return interrupt


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("failure", [disk_full, interrupted])
def test_nothing_is_left_of_a_file_that_cannot_be_written(
    tmp_path, monkeypatch, half_written, failure
):
    half_written(failure)
    with pytest.raises((OSError, KeyboardInterrupt)):
        write_reports(SURVEY, "q", [1, 0], tmp_path / "reports")
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    write_reports(SURVEY, "q", [1, 0], tmp_path / "reports")
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit")
def test_nothing_is_left_on_a_disk_that_is_full(tmp_path):
    """The system refuses to let any file grow beyond 10 kB."""
    import resource

    reports = reports_of(MECHANISM, 10_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_reports(SURVEY, "q", reports, tmp_path / "reports")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())
    write_reports(SURVEY, "q", reports, tmp_path / "reports")
    assert tally_file(SURVEY, tmp_path / "reports") == collection(SURVEY, reports)


def no_links(*_: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("links", [True, False])
def test_a_file_has_its_name_only_when_it_is_whole(tmp_path, monkeypatch, half_written, links):
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    seen = []
    half_written(lambda: seen.extend(path.name for path in tmp_path.iterdir()))
    write_reports(SURVEY, "q", [1, 0], tmp_path / "reports")
    (name,) = seen
    assert name.startswith(".")
    assert name.endswith(".part")
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]
    assert tally_file(SURVEY, tmp_path / "reports") == collection(SURVEY, [1, 0])
    (tmp_path / "other").touch()
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_came_meanwhile_is_not_overwritten(tmp_path, monkeypatch, half_written, links):
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    half_written(lambda: (tmp_path / "reports").write_text("of another process"))
    with pytest.raises(FileExistsError, match="reports"):
        write_reports(SURVEY, "q", [1, 0], tmp_path / "reports")
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]
    assert (tmp_path / "reports").read_text() == "of another process"


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        write_reports(SURVEY, "q", [1, 0], tmp_path / "absent" / "reports")


def test_impossible_reports_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="reveal at most one of the 2 non-sensitive values"):
        write_reports(SURVEY, "q", [0, 3], tmp_path / "reports")
    assert not (tmp_path / "reports").exists()


def test_impossible_reports_are_left_out_and_counted(tmp_path):
    """They are spread over more than one of the parts that are read at a time."""
    reports = reports_of(MECHANISM, parquet.BYTES_AT_ONCE)
    places = np.array([0, 1, 2, 777_777, len(reports)])
    mixed = np.insert(reports, places, [[4, 0], [128, 1], [1, 3], [0, 255], [4, 3]], axis=0)
    path = write_by_hand(tmp_path / "mixed", pa.binary(2), mixed.view("V2").ravel().tolist())
    found = tally_file(SURVEY, path, max_reports=len(mixed))
    assert found == collection(SURVEY, reports, impossible=5)


@pytest.fixture
def arrow_memory() -> Iterator[pa.MemoryPool]:
    """The pool that Arrow takes its memory from during a test."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    yield pool
    pa.set_memory_pool(before)


def test_the_memory_does_not_grow_with_the_file(tmp_path, arrow_memory):
    """Of 12 MB and of 48 MB, in groups of rows of 4 MB at most."""
    survey = survey_of(uldp.Rappor(uldp.Domain(800), 1.0))
    reports = reports_of(survey.questions["q"], 60_000)
    peaks = []
    for times in (2, 8):
        path = tmp_path / f"{times} times"
        write_reports(survey, "q", np.tile(reports, (times, 1)), path)
        group = pq.read_metadata(path).row_group(0)
        assert group.num_rows == 2**22 // 100
        start = arrow_memory.bytes_allocated()
        tracemalloc.start()
        found = tally_file(survey, path)
        peaks.append(tracemalloc.get_traced_memory()[1] + arrow_memory.max_memory() - start)
        tracemalloc.stop()
        assert found.tallies["q"].n == times * 60_000
    assert peaks[1] < 1.1 * peaks[0] < 1.3e7


# --- files that are rejected ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["uRR", "uRAP"])
def test_cut_at_every_byte(tmp_path, name):
    survey = survey_of(MECHANISMS[name](DOMAIN, 1.0))
    write_reports(survey, "q", reports_of(survey.questions["q"], 7), tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    path = tmp_path / "cut"
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        assert rejection(path, survey).startswith("is not Parquet or damaged: ")


@pytest.mark.parametrize("name", ["uRR", "uRAP"])
def test_a_flipped_bit_is_found_or_changes_nothing(tmp_path, name):
    """One bit of every third byte; some, such as those of the writer's name, do not matter."""
    survey = survey_of(MECHANISMS[name](DOMAIN, 1.0))
    reports = reports_of(survey.questions["q"], 500)
    write_reports(survey, "q", reports, tmp_path / "whole")
    whole, path = (tmp_path / "whole").read_bytes(), tmp_path / "damaged"
    places = range(0, len(whole), 3)
    found = 0
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            assert tally_file(survey, path) == collection(survey, reports)
        except FileError:
            found += 1
    assert found > len(places) / 2


@pytest.mark.parametrize(
    "other",
    [
        survey_of(uldp.UtilityOptimizedRappor(DOMAIN, 0.2)),
        survey_of(uldp.UtilityOptimizedRR(DOMAIN, 0.1)),
        Survey("Survey", SURVEY.questions),
        Survey.from_json(SURVEY.to_json() + " "),
    ],
)
def test_foreign_files(tmp_path, other):
    write_reports(other, "q", reports_of(other.questions["q"], 5), tmp_path / "foreign")
    message = rejection(tmp_path / "foreign")
    assert message == (
        f"is of another survey: its digest is {other.digest.encode()}, that of this collector "
        f"{SURVEY.digest.encode()}"
    )


@pytest.mark.parametrize("question", [b"3", b"-1", b"01", b"", b"\n\x1b[2J" * 200])
def test_a_question_that_there_is_not(tmp_path, question):
    table = pq.read_table(write_by_hand(tmp_path / "right", pa.binary(2), [b"\1\0"]))
    metadata = table.schema.metadata | {b"uldp.question": question}
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "wrong")
    message = rejection(tmp_path / "wrong")
    assert message.startswith("is of no question of the survey: it is of b'")
    assert message.endswith(", there are 3")
    assert len(message) < 300


def test_files_of_others(tmp_path):
    pq.write_table(pa.table({"report": pa.array([b"\1\0"], pa.binary(2))}), tmp_path / "bare")
    assert rejection(tmp_path / "bare") == "is not of reports: its metadata has no 'uldp'"
    earlier = pq.read_table(write_by_hand(tmp_path / "now", pa.binary(2), []))
    pq.write_table(earlier.replace_schema_metadata({"uldp": "1\n"}), tmp_path / "earlier")
    version = "is of another version: it is b'1\\n', this collector reads b'2'"
    assert rejection(tmp_path / "earlier") == version


def test_files_of_another_shape(tmp_path):
    one_column = "must have the column 'report: fixed_size_binary[2] not null' alone, got "
    wide = write_by_hand(tmp_path / "wide", pa.binary(3), [b"\1\0\0"])
    assert rejection(wide) == one_column + "b'report: fixed_size_binary[3] not null'"
    user = pa.array(["alice"])
    beside = write_by_hand(tmp_path / "beside", pa.binary(2), [b"\1\0"], user=user)
    columns = "report: fixed_size_binary[2] not null, user: string not null"
    assert rejection(beside) == one_column + repr(columns.encode())
    nullable = pa.table({"report": pa.array([None], pa.binary(2))})
    metadata = pq.read_schema(wide).metadata
    pq.write_table(nullable.replace_schema_metadata(metadata), tmp_path / "nullable")
    assert rejection(tmp_path / "nullable") == one_column + "b'report: fixed_size_binary[2]'"


def test_a_file_holds_no_more_reports_than_are_allowed(tmp_path):
    write_reports(SURVEY, "q", reports_of(MECHANISM, 10), tmp_path / "ten")
    assert tally_file(SURVEY, tmp_path / "ten", max_reports=10).tallies["q"].n == 10
    with pytest.raises(FileError) as caught:
        tally_file(SURVEY, tmp_path / "ten", max_reports=9)
    problem = "holds too many reports: 10, but max_reports is 9"
    assert str(caught.value) == f"file {str(tmp_path / 'ten')!r} {problem}"
    with pytest.raises(ValueError, match="max_reports must be 1 or greater, got 0"):
        tally_file(SURVEY, tmp_path / "ten", max_reports=0)


def test_a_small_file_does_not_outvote_the_others(tmp_path):
    """A million equal reports take three kilobytes."""
    survey = survey_of(uldp.UtilityOptimizedRR(LARGE, 1.0))
    for more in (0, 1):
        write_reports(survey, "q", np.full(2**20 + more, 7), tmp_path / f"{more} more")
        assert (tmp_path / f"{more} more").stat().st_size < 4_000
    assert tally_file(survey, tmp_path / "0 more").tallies["q"].n == 2**20
    assert "1048577, but max_reports is 1048576" in rejection(tmp_path / "1 more", survey)


@pytest.mark.parametrize(("at_once", "read"), [(80, 240), (100, 300)])
def test_reading_ends_when_more_reports_come_than_are_promised(
    tmp_path, monkeypatch, at_once, read
):
    """The footer speaks of 200 reports, the group of rows has 500, every other one impossible."""
    path = write_by_hand(tmp_path / "reports", pa.binary(2), [b"\1\0", b"\4\0"] * 250)
    many, few = b"\x16\xe8\x07\x19", b"\x16\x90\x03\x19"  # in Thrift: the number, then a list
    assert path.read_bytes().count(many) == 1
    path.write_bytes(path.read_bytes().replace(many, few))
    assert pq.read_metadata(path).num_rows == 200
    monkeypatch.setattr(parquet, "BYTES_AT_ONCE", at_once * MECHANISM.report_dtype.itemsize)
    assert rejection(path) == f"is not Parquet or damaged: {read} reports instead of 200"


def test_a_failing_disk_is_not_a_bad_file(tmp_path, monkeypatch):
    (path,) = write_parts(SURVEY, reports_of(MECHANISM, 9), 1, tmp_path)

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(pq, "ParquetFile", fail)
    with pytest.raises(OSError, match="Input/output error"):
        tally_file(SURVEY, path)


def peak_of_tallying(path: Path, survey: Survey) -> float:
    """By how many megabytes a process grows that is given this file."""
    code = (
        "import resource, sys, uldp; from uldp.survey import parquet; from pathlib import Path;"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024;"
        "survey = uldp.Survey.from_json(Path(sys.argv[1]).read_bytes()); before = peak()\n"
        "try: parquet.tally_file(survey, sys.argv[2])\n"
        "except parquet.FileError as error: print(error, file=sys.stderr)\n"
        "print(peak() - before)"
    )
    (path.parent / "survey.json").write_bytes(survey.to_json().encode())
    words = [sys.executable, "-c", code, str(path.parent / "survey.json"), str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stdout)


def varint(number: int) -> bytes:
    """A number of Thrift's compact protocol, zigzag."""
    digits = [2 * number >> 7 * place & 127 for place in range(5)]
    while digits[-1] == 0:
        digits.pop()
    return bytes([digit | 128 for digit in digits[:-1]] + digits[-1:])


@pytest.mark.skipif(sys.platform != "linux", reason="megabytes are counted as Linux does")
def test_the_size_that_a_page_names_takes_no_memory(tmp_path):
    """Two gigabytes, in a file of less than two thousand bytes."""
    write_reports(SURVEY, "q", [[1, 0]] * 200, tmp_path / "reports")
    content = (tmp_path / "reports").read_bytes()
    honest, forged = (b"\x15" + 2 * (varint(n) + b"\x15") for n in (400, 2**31 - 39))
    assert content.count(honest) == 1
    (tmp_path / "forged").write_bytes(content.replace(honest, forged))
    assert rejection(tmp_path / "forged") == "is not as reports are written: a page is cut"
    assert peak_of_tallying(tmp_path / "forged", SURVEY) < 64


@pytest.mark.skipif(sys.platform != "linux", reason="megabytes are counted as Linux does")
@pytest.mark.parametrize(
    "packed", [{"compression": "zstd"}, {"column_encoding": "DELTA_BYTE_ARRAY"}]
)
def test_what_is_packed_is_not_unpacked(tmp_path, packed):
    """A million equal reports of two kilobytes, in 62 KB."""
    survey = survey_of(uldp.Rappor(uldp.Domain(16_000), 1.0))
    report = bytes(2_000)
    metadata = {"uldp": "2", "uldp.survey": survey.digest, "uldp.question": "1"}
    field = pa.field("report", pa.binary(2_000), nullable=False)
    users = 2**18 if "compression" in packed else 2**10
    column = pa.array([report], pa.binary(2_000)).take(pa.array(np.zeros(users, dtype=int)))
    table = pa.table([column], schema=pa.schema([field], metadata=metadata))
    pq.write_table(table, tmp_path / "packed", **{"use_dictionary": False} | packed)
    del column, table
    assert rejection(tmp_path / "packed", survey).startswith("must be neither compressed nor")
    assert peak_of_tallying(tmp_path / "packed", survey) < 64


def test_a_page_that_is_encoded_unlike_the_footer_says_is_refused(tmp_path):
    """Its header could name any number of values: gigabytes, in less than a thousand bytes."""
    path = tmp_path / "forged"
    rows = pa.array([b"\1\0", b"\2\0"], pa.binary(2))
    metadata = {"uldp": "2", "uldp.survey": SURVEY.digest, "uldp.question": "1"}
    field = pa.field("report", rows.type, nullable=False)
    table = pa.table([rows], schema=pa.schema([field], metadata=metadata))
    options = {"use_dictionary": False, "compression": "none"}
    pq.write_table(table, path, column_encoding={"report": "DELTA_BYTE_ARRAY"}, **options)
    said, footer = b"\x19\x25\x06\x0e", b"\x19\x25\x06\x00"  # RLE and the other, a list of two
    assert path.read_bytes().count(said) == 1
    path.write_bytes(path.read_bytes().replace(said, footer))
    assert pq.read_metadata(path).row_group(0).column(0).encodings == ("RLE", "PLAIN")
    assert rejection(path) == "is not as reports are written: a page has the encoding 7"


def test_only_integers_have_a_dictionary(tmp_path):
    """Otherwise a few bytes stand for many long reports."""
    path = write_by_hand(tmp_path / "plain", pa.binary(2), [b"\1\0"] * 9)
    pq.write_table(pq.read_table(path), tmp_path / "listed", compression="none")
    expected = "is not as reports are written: a dictionary of what are no integers"
    assert rejection(tmp_path / "listed") == expected


def test_long_reports_of_several_groups_are_read(tmp_path):
    """Each group of rows holds fewer than a thousand of them."""
    law = uldp.Rappor(uldp.Domain(100_000), 1.0)
    survey = survey_of(law)
    reports = law.privatize(np.zeros(700, dtype=int), 1)
    write_reports(survey, "q", reports, tmp_path / "reports")
    assert pq.read_metadata(tmp_path / "reports").num_row_groups == 3
    assert tally_file(survey, tmp_path / "reports").tallies["q"] == law.tally(reports)


PLAIN_PAGE = bytes.fromhex("15 00 15 08 15 08 2c 15 04 15 00 15 06 15 06 00 00") + b"\1\0\2\0"
"""A page of data: 4 bytes, of 2 plain values."""


def test_the_headers_of_pages_are_read():
    assert [*pages(2 * PLAIN_PAGE)] == 2 * [(False, 0, 2, 4)]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (PLAIN_PAGE[:5], "the header of a page is cut"),
        (PLAIN_PAGE[:-1], "a page is cut"),
        (PLAIN_PAGE.replace(b"\x15\x08\x15\x08", b"\x15\x08\x15\x06"), "a page is compressed"),
        (b"\x15\x00\x05\x02\x00" + PLAIN_PAGE[2:], "field 1 comes twice"),
        (b"\x15" + b"\xff" * 10 + PLAIN_PAGE[2:], "a number is too long"),
        (b"\x19" + PLAIN_PAGE, "a field is of type 9"),
        (b"\x1c" * 9, "it is too deep"),
        (PLAIN_PAGE.replace(b"\x2c\x15\x04", b"\x2c\x15\x03"), "does not say what is in it"),
        (b"\x15\x06" + PLAIN_PAGE[2:], "neither of data nor a dictionary"),
    ],
)
def test_headers_that_are_none_are_refused(found, message):
    with pytest.raises(ValueError, match=message):
        [*pages(found)]


def test_no_bytes_harm_the_reader_of_headers():
    rng = np.random.default_rng(1)
    for _ in range(20_000):
        found = bytearray(3 * PLAIN_PAGE)
        for place in rng.integers(len(found), size=rng.integers(1, 5)):
            found[place] = rng.integers(256)
        with contextlib.suppress(ValueError):
            assert sum(page.size for page in pages(bytes(found))) <= len(found)


def test_groups_of_few_or_of_too_many_rows(tmp_path):
    path = write_by_hand(tmp_path / "reports", pa.binary(2), [b"\1\0"] * 4_000)
    pq.write_table(pq.read_table(path), path, row_group_size=100, compression="none")
    assert rejection(path) == "has too many row groups: 40 for 4000 reports"
    survey = survey_of(uldp.Rappor(uldp.Domain(80_000), 1.0))
    rows = [bytes(10_000)] * 3_500
    metadata = {"uldp": "2", "uldp.survey": survey.digest, "uldp.question": "1"}
    field = pa.field("report", pa.binary(10_000), nullable=False)
    table = pa.table([pa.array(rows, field.type)], schema=pa.schema([field], metadata=metadata))
    pq.write_table(table, path, compression="none", use_dictionary=False)
    assert rejection(path, survey).startswith("must have row groups of at most 33554432 bytes")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_what_is_no_regular_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert rejection(tmp_path / "pipe") == "is no regular file"
    assert rejection(Path(os.devnull)) == "is no regular file"


# --- many files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["uRR", "uRAP", "uBD, all sizes"])
def test_files_add_up(tmp_path, client, name):
    """Thirty-three of them, so that sums are summed, and one is by itself."""
    survey = survey_of(MECHANISMS[name](LARGE, 1.0))
    reports = reports_of(survey.questions["q"], 4_000)
    found = tally_files(survey, write_parts(survey, reports, 33, tmp_path), client)
    assert found == collection(survey, reports, files=33)


def test_files_with_too_many_reports_are_left_out_and_named(tmp_path, client):
    reports = reports_of(MECHANISM, 300)
    paths = write_parts(SURVEY, reports, 3, tmp_path)
    write_reports(SURVEY, "q", reports[:101], tmp_path / "too many")
    found = tally_files(SURVEY, [*paths, tmp_path / "too many"], client, max_reports=100)
    assert (found.tallies, found.files) == (collection(SURVEY, reports).tallies, 3)
    ((path, reason),) = found.rejected.items()
    assert path == str(tmp_path / "too many")
    assert reason.endswith("holds too many reports: 101, but max_reports is 100")


def test_bad_files_are_left_out_and_named(tmp_path, client):
    reports = reports_of(MECHANISM, 300)
    paths = write_parts(SURVEY, reports, 3, tmp_path)
    foreign = tmp_path / "foreign"
    other = survey_of(uldp.UtilityOptimizedRappor(DOMAIN, 0.2))
    write_reports(other, "q", [[1, 0]], foreign)
    cut = tmp_path / "cut"
    cut.write_bytes(paths[0].read_bytes()[:-1])
    forged = write_by_hand(tmp_path / "forged", pa.binary(2), [b"\4\0", b"\1\0"])
    found = tally_files(SURVEY, [paths[0], foreign, *paths[1:], str(cut), forged], client)
    assert found.tallies == collection(SURVEY, [*reports, [1, 0]]).tallies
    assert (found.files, found.impossible) == (4, 1)
    for path in (foreign, cut):
        assert found.rejected.pop(str(path)) == f"file {str(path)!r} {rejection(path)}"
    assert not found.rejected


def test_by_default_processes_of_this_machine_tally(tmp_path):
    reports = reports_of(MECHANISM, 90)
    paths = write_parts(SURVEY, reports, 30, tmp_path)
    (tmp_path / "empty").touch()
    found = tally_files(SURVEY, [*paths, tmp_path / "empty"])
    assert (found.tallies, found.files) == (collection(SURVEY, reports).tallies, 30)
    assert list(found.rejected) == [str(tmp_path / "empty")]


LISTEN = """
import os, sys, threading, time
from pathlib import Path
import psutil, uldp
from uldp.survey import parquet

def watch(seen, stop):
    me = psutil.Process()
    while not stop.is_set():
        for process in [me, *me.children(recursive=True)]:
            try:
                sockets = process.net_connections("inet")
            except psutil.Error:
                continue
            seen |= {str(s.laddr) for s in sockets if s.status == psutil.CONN_LISTEN}
        time.sleep(0.01)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    survey = uldp.Survey.from_json((folder / "survey.json").read_bytes())
    seen, stop = set(), threading.Event()
    thread = threading.Thread(target=watch, args=(seen, stop))
    thread.start()
    found = parquet.tally_files(survey, sorted(folder.glob("*.parquet")))
    stop.set()
    thread.join()
    print(found.files, sorted(seen))
"""


def test_no_port_is_open_while_files_are_tallied(tmp_path):
    """Whoever connects to a port of a scheduler can run what she likes as the collector."""
    write_parts(SURVEY, reports_of(MECHANISM, 90), 3, tmp_path)
    (tmp_path / "survey.json").write_bytes(SURVEY.to_json().encode())
    (tmp_path / "listen.py").write_text(LISTEN)
    words = [sys.executable, "listen.py", str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "3 []\n"


def test_no_files(client):
    for make in MECHANISMS.values():
        survey = survey_of(make(DOMAIN, 1.0))
        assert tally_files(survey, [], client) == Collection(Tallies(survey), 0, {}, 0)


def test_a_file_is_not_counted_twice(tmp_path, client):
    (path,) = write_parts(SURVEY, reports_of(MECHANISM, 9), 1, tmp_path)
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "hard").hardlink_to(path)
    for again in (path, str(path), tmp_path / "link", os.path.relpath(path), tmp_path / "hard"):
        with pytest.raises(ValueError, match=r"paths must not repeat a file, got .* after '"):
            tally_files(SURVEY, [path, again], client)


def test_a_file_that_has_changed_is_read_again(tmp_path, client):
    (path,) = write_parts(SURVEY, reports_of(MECHANISM, 9), 1, tmp_path)
    first = tally_files(SURVEY, [path], client)
    path.unlink()
    write_reports(SURVEY, "q", reports_of(MECHANISM, 5), path)
    second = tally_files(SURVEY, [path], client)
    assert (first.tallies["q"].n, second.tallies["q"].n) == (9, 5)


def test_a_missing_file_stops_the_collection(tmp_path, client):
    with pytest.raises(FileNotFoundError, match="absent"):
        tally_files(SURVEY, [tmp_path / "absent"], client)


# --- experiments on the workers of a cluster -----------------------------------------------------


def test_the_table_of_an_experiment_is_the_same(tmp_path, client, capsys):
    words = ["reproduce", "fig5", "--quick", "--realizations", "2", "--methods", "empirical", "mle"]
    words += ["--likelihood-realizations", "1"]
    here = ["--out", str(tmp_path / "here"), "--jobs", "1"]
    there = ["--out", str(tmp_path / "there"), "--dask", client.scheduler.address]
    for where in (here, there):
        assert command_line.main([*words, *where]) == 0
    tables = [Path(line) for line in capsys.readouterr().out.split()]
    assert [table.parent.name for table in tables] == ["here", "there"]
    assert len({table.read_bytes() for table in tables}) == 1


def test_experiments_without_the_extra(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ["reproduce", "fig5", "--quick", "--out", str(tmp_path), "--dask", "127.0.0.1:8786"]
    assert command_line.main(words) == 2
    assert capsys.readouterr().err == ('uldp: --dask needs Dask, of the extra "dask"\n')


# --- workers that die ----------------------------------------------------------------------------


def arm(log: str, fatal: int) -> None:
    """Let this process count its tallies in a file, which others share, and die at one of them."""

    def count_or_die(self: uldp.UtilityOptimizedRR, reports: np.ndarray) -> np.ndarray:
        with Path(log).open("ab", buffering=0) as file:
            file.write(b".")
            tallies = file.tell()
        if tallies == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return count(self, reports)

    count = uldp.UtilityOptimizedRR._count
    uldp.UtilityOptimizedRR._count = count_or_die


def disarm() -> None:
    uldp.UtilityOptimizedRR.__dict__.get("_count") and delattr(uldp.UtilityOptimizedRR, "_count")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_worker_loses_and_repeats_nothing(tmp_path, client):
    """It dies in the middle, with finished tallies in its memory."""
    survey = survey_of(uldp.UtilityOptimizedRR(LARGE, 1.0))
    reports = reports_of(survey.questions["q"], 3_000)
    paths = write_parts(survey, reports, 30, tmp_path)
    workers = set(client.run(os.getpid).values())
    client.run(arm, str(tmp_path / "log"), 20)
    assert tally_files(survey, paths, client) == collection(survey, reports, files=30)
    assert (tmp_path / "log").stat().st_size > 20
    assert len(workers & set(client.run(os.getpid).values())) == 1
    client.run(disarm)


# --- arguments -----------------------------------------------------------------------------------


def test_collections_add_up_only_with_collections():
    one = collection(SURVEY, [1, 0], impossible=2)
    assert one + one == collection(SURVEY, [[1, 0], [1, 0]], files=2, impossible=4)
    with pytest.raises(TypeError):
        one + 1


FATAL = """
import os, sys
from pathlib import Path
import uldp
from uldp.survey import parquet

if "parquet_that_kills" in os.environ:
    def kill_or_count(self, reports, count=uldp.UtilityOptimizedRappor._count):
        if len(reports) == 13:
            os.kill(os.getpid(), 9)
        return count(self, reports)
    uldp.UtilityOptimizedRappor._count = kill_or_count

if __name__ == "__main__":
    os.environ["parquet_that_kills"] = "yes"
    folder = Path(sys.argv[1])
    survey = uldp.Survey.from_json((folder / "survey.json").read_bytes())
    found = parquet.tally_files(survey, sorted(folder.glob("*.parquet")))
    print(found.files, found.tallies["q"].n, [Path(path).name for path in found.rejected])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_file_that_kills_its_reader_costs_no_other(tmp_path):
    """Files of 10 reports, and one of 13 at which a worker dies, as if it took all memory."""
    write_parts(SURVEY, reports_of(MECHANISM, 60), 6, tmp_path)
    write_reports(SURVEY, "q", reports_of(MECHANISM, 13), tmp_path / "2b.parquet")
    (tmp_path / "survey.json").write_bytes(SURVEY.to_json().encode())
    (tmp_path / "fatal.py").write_text(FATAL)
    words = [sys.executable, "fatal.py", str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "6 60 ['2b.parquet']\n"


def test_a_file_that_kills_the_workers_of_a_cluster_costs_no_other(tmp_path):
    class Killed:
        def exception(self) -> Exception:
            return type("KilledWorker", (Exception,), {})()

    class Done:
        def __init__(self, found: object) -> None:
            self.found = found

        def exception(self) -> None:
            return None

        def result(self) -> object:
            return self.found

    class Cluster:
        def map(self, work: Callable, files: list, pure: bool) -> list:
            return [Killed() if "fatal" in file else Done(work(file)) for file in files]

    reports = reports_of(MECHANISM, 60)
    paths = write_parts(SURVEY, reports, 3, tmp_path)
    found = tally_files(SURVEY, [paths[0], tmp_path / "fatal", *paths[1:]], Cluster())
    assert (found.tallies, found.files) == (collection(SURVEY, reports).tallies, 3)
    assert [*found.rejected.values()] == [
        f"file {str(tmp_path / 'fatal')!r} killed the process that read it"
    ]


def test_wrong_arguments(tmp_path):
    for wrong in (None, "uRR", MECHANISM):
        with pytest.raises(TypeError, match="survey must be a Survey"):
            write_reports(wrong, "q", [0], tmp_path / "reports")
        with pytest.raises(TypeError, match="survey must be a Survey"):
            tally_file(wrong, tmp_path / "reports")
        with pytest.raises(TypeError, match="survey must be a Survey"):
            tally_files(wrong, [])
    for wrong in (None, 7, b"reports"):
        with pytest.raises(TypeError, match="path must be a path"):
            write_reports(SURVEY, "q", [1, 0], wrong)
        with pytest.raises(TypeError, match="path must be a path"):
            tally_file(SURVEY, wrong)
        with pytest.raises(TypeError, match="paths must "):
            tally_files(SURVEY, [wrong])
    for wrong in (None, 7, "reports", tmp_path):
        with pytest.raises(TypeError, match="paths must be a collection, got "):
            tally_files(SURVEY, wrong)
    with pytest.raises(ValueError, match="max_reports must be 1 or greater, got 0"):
        tally_files(SURVEY, [], max_reports=0)
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client"):
        tally_files(SURVEY, [], "127.0.0.1:8786")


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r'needs .*pyarrow, of the extra "dask"'):
        runpy.run_path(parquet.__file__)
