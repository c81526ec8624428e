"""Files of reports and of messages: what is written is tallied, once, whatever happens."""

import errno
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pytest
from cases import MECHANISMS
from distributed import Client, LocalCluster
from pyarrow import parquet as pq

import uldp
from uldp import Survey, __main__ as command_line
from uldp.survey import parquet
from uldp.survey.parquet import tally_files, write_reports
from uldp.survey.wire import IS_CUT, Reason

DOMAIN = uldp.Domain(["no", "café", "yes", "?"], sensitive=["yes", "no"])
LARGE = uldp.Domain(300, sensitive=range(11))
SURVEY = Survey(
    "s", {"n": uldp.UtilityOptimizedRR(LARGE, 1.0), "q": uldp.UtilityOptimizedRappor(DOMAIN, 0.1)}
)
OTHER = Survey(
    "s", {"n": uldp.UtilityOptimizedRR(LARGE, 2.0), "q": uldp.UtilityOptimizedRappor(DOMAIN, 0.1)}
)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    one = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**one) as cluster, Client(cluster) as client:
        yield client


def reports_of(mechanism: uldp.Mechanism, users: int) -> np.ndarray:
    return mechanism.privatize(np.arange(users) % mechanism.domain.size, rng=0, indices=True)


def written(path: Path, users: int, question: str = "n", survey: Survey = SURVEY) -> Path:
    write_reports(survey, question, reports_of(survey.questions[question], users), path)
    return path


@pytest.mark.parametrize("domain", [DOMAIN, LARGE, uldp.Domain(3, sensitive=[1])])
def test_files_of_every_mechanism_add_up(tmp_path, client, domain):
    """Of every question three files, with no report, with one and with many, and no other."""
    laws = {name: make(domain, 1.5) for name, make in MECHANISMS.items()}
    survey = Survey("every mechanism", laws)
    sizes = (0, 1, 400)
    numbers = [(number, users) for number in range(len(laws)) for users in sizes]
    paths = [
        written(tmp_path / f"{number} {users}.parquet", users, [*laws][number], survey)
        for number, users in numbers
    ]
    tallies, left_out = tally_files(survey, paths, client)
    expected = {
        name: sum(law.tally(reports_of(law, users)) for users in sizes)
        for name, law in laws.items()
    }
    assert (dict(tallies), left_out) == (expected, {})
    tallies, left_out = tally_files(survey, [paths[-1]], client)
    assert [tally.n for tally in tallies.values()] == [0] * (len(laws) - 1) + [400]


@pytest.mark.parametrize(("size", "kind"), [(256, pa.uint8()), (257, pa.uint16()), (4, None)])
def test_the_documented_layout(tmp_path, size, kind):
    law = (
        uldp.UtilityOptimizedRR(uldp.Domain(size), 1.0)
        if kind
        else uldp.UtilityOptimizedRappor(DOMAIN, 1.0)
    )
    survey = Survey("s", {"before": law, "q": law})
    report, row = (size - 1, size - 1) if kind else ([1, 0], b"\1\0")
    write_reports(survey, "q", [report, report], tmp_path / "r.parquet")
    table = pq.read_table(tmp_path / "r.parquet")
    metadata = {"uldp": "2", "uldp.survey": survey.digest, "uldp.question": "1"}
    column = pa.field("report", kind or pa.binary(2), nullable=False)
    assert table.schema.equals(pa.schema([column], metadata=metadata), check_metadata=True)
    assert table["report"].to_pylist() == [row, row]


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_file_does_not_tell_in_which_order_its_reports_came(tmp_path, name):
    """By their bytes: the same reports make the same file."""
    survey = Survey("s", {"q": MECHANISMS[name](LARGE, 1.5)})
    reports = reports_of(survey.questions["q"], 500)
    for number, some in enumerate((reports, reports[::-1])):
        write_reports(survey, "q", some, tmp_path / f"{number}.parquet")
    assert (tmp_path / "0.parquet").read_bytes() == (tmp_path / "1.parquet").read_bytes()


def test_a_long_file_is_read_in_parts(tmp_path, monkeypatch):
    """In several groups of rows, each in several parts, of which one has impossible reports."""
    law = uldp.Rappor(uldp.Domain(100_000), 1.0)
    survey = Survey("s", {"q": law})
    reports = law.privatize(np.arange(700), 1, indices=True)
    write_reports(survey, "q", reports, tmp_path / "long.parquet")
    assert pq.read_metadata(tmp_path / "long.parquet").num_row_groups == 3
    counts, *_ = parquet._count(survey, str(tmp_path / "long.parquet"), 1)
    assert uldp.Tally(law, *counts["q"]) == law.tally(reports)
    path = written(tmp_path / "n.parquet", 1000)
    table = pq.read_table(path)
    rows = pa.array([*table["report"].to_pylist(), 300], pa.uint16())
    pq.write_table(pa.table([rows], schema=table.schema), path, row_group_size=300)
    monkeypatch.setattr(parquet, "BYTES_AT_ONCE", 100)
    counts, left_out, _ = parquet._count(SURVEY, str(path), 1)
    whole = SURVEY.questions["n"].tally(table["report"].to_numpy())
    assert (counts["n"][0], counts["n"][1].tolist()) == (1000, whole.counts.tolist())
    assert left_out == {Reason.IMPOSSIBLE: 1}


@pytest.mark.parametrize("default", [True, False])
def test_bad_files_are_named_and_good_ones_counted(tmp_path, client, monkeypatch, default):
    """By processes of this machine, which need nothing that opens a port, and by a cluster."""
    good = [written(tmp_path / "good.parquet", 300), written(tmp_path / "q.parquet", 7, "q")]
    content = good[0].read_bytes()
    bad = {
        "cut.parquet": (content[:-9], "Parquet"),
        "flipped.parquet": (content[:200] + bytes([content[200] ^ 1]) + content[201:], ""),
        "text.parquet": (b"Dear collector, my report is no.", "Parquet"),
        "empty.parquet": (b"", "Parquet"),
    }
    for name, (wrong, _) in bad.items():
        (tmp_path / name).write_bytes(wrong)
    table = pq.read_table(good[0])
    named = table.append_column("user", pa.array(["Alice"] * len(table)))
    pq.write_table(named, tmp_path / "named.parquet")
    written(tmp_path / "other.parquet", 3, "q", OTHER)
    pq.write_table(table.replace_schema_metadata(None), tmp_path / "bare.parquet")
    bad |= dict.fromkeys(
        ("named.parquet", "other.parquet", "bare.parquet"), (b"", "of this survey")
    )
    bad |= {"absent.parquet": (b"", "absent"), "absent": (b"", "absent")}
    bad |= {"n" * 300: (b"", "")}
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.parquet")
        bad["pipe.parquet"] = (b"", "regular file")
    messages = [SURVEY.message("q", [1, 0]), SURVEY.message("n", 5), SURVEY.message("n", [5, 6])]
    (tmp_path / "messages").write_bytes(b"".join([*messages, OTHER.message("n", 7), b"junk"]))
    if default:
        monkeypatch.setitem(sys.modules, "distributed", None)
    paths = [*good, tmp_path / "messages", *(tmp_path / name for name in bad)]
    tallies, left_out = tally_files(SURVEY, paths, None if default else client)
    expected = {
        name: reports_of(law, 300 if name == "n" else 7) for name, law in SURVEY.questions.items()
    }
    expected = {"n": [*expected["n"], 5], "q": [*expected["q"], [1, 0]]}
    assert dict(tallies) == {name: SURVEY.questions[name].tally(expected[name]) for name in "nq"}
    refused = left_out.pop(str(tmp_path / "messages"))
    assert refused == {Reason.TOO_MANY: 1, Reason.FOREIGN: 1, Reason.FORMAT: 1}
    assert left_out.keys() == {str(tmp_path / name) for name in bad}
    for name, (_, reason) in bad.items():
        ((said, times),) = left_out[str(tmp_path / name)].items()
        assert times == 1
        assert said.startswith("cannot be read: ")
        assert reason in said
    assert tally_files(SURVEY, [tmp_path / "messages"], client, 2)[0]["n"].n == 3
    for behind in (b"", messages[1]):
        (tmp_path / "messages").write_bytes(messages[1] + messages[0][:-1] + behind)
        _, left_out = tally_files(SURVEY, [tmp_path / "messages"], client)
        (cut,) = left_out.values()
        assert cut == {Reason.TRUNCATED: 1, IS_CUT: 1}


def test_a_file_is_counted_once_and_as_it_is_now(tmp_path, client, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path / "n.parquet", 9)
    (tmp_path / "link.parquet").symlink_to(path)
    (tmp_path / "same.parquet").hardlink_to(path)
    links = [tmp_path / "link.parquet", tmp_path / "same.parquet"]
    for again in (path, str(path), Path("n.parquet"), *links):
        with pytest.raises(ValueError, match=r"paths must not repeat a file, got .*n\.parquet"):
            tally_files(SURVEY, [path, again], client)
    copy = shutil.copy(path, tmp_path / "copy.parquet")
    with pytest.warns(UserWarning, match=r"copy\.parquet' equals .*n\.parquet': both are counted"):
        assert tally_files(SURVEY, [path, copy], client)[0]["n"].n == 18
    assert tally_files(SURVEY, ["n.parquet"], client)[0]["n"].n == 9
    path.unlink()
    written(path, 5)
    assert tally_files(SURVEY, [path], client)[0]["n"].n == 5


def test_a_file_is_new_and_whole_or_not_there(tmp_path, monkeypatch):
    path = written(tmp_path / "n.parquet", 9)
    with pytest.raises(FileExistsError, match=r"n\.parquet"):
        written(path, 5)
    assert tally_files(SURVEY, [path])[0]["n"].n == 9
    path.unlink()
    with pytest.raises(FileNotFoundError, match="absent"):
        written(tmp_path / "absent" / "n.parquet", 9)
    with pytest.raises(ValueError, match=r"path must end with '\.parquet'"):
        written(tmp_path / "reports", 9)
    with pytest.raises(ValueError, match="reveal at most one of"):
        write_reports(SURVEY, "q", [0, 3], tmp_path / "q.parquet")

    def write_half(table: pa.Table, file: BinaryIO, **options: object) -> None:
        file.write(b"PAR1")
        raise failure

    monkeypatch.setattr(pq, "write_table", write_half)
    for failure in (OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()):
        with pytest.raises(type(failure)):
            written(path, 9)
    assert not list(tmp_path.iterdir())


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
    paths = [written(tmp_path / f"{number}.parquet", 100 + number) for number in range(30)]
    workers = set(client.run(os.getpid).values())
    client.run(arm, str(tmp_path / "log"), 20)
    tallies, left_out = tally_files(SURVEY, paths, client)
    assert (tallies["n"].n, left_out) == (sum(range(100, 130)), {})
    assert (tmp_path / "log").stat().st_size > 20
    assert len(workers & set(client.run(os.getpid).values())) == 1
    client.run(disarm)


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
    assert capsys.readouterr().err == (
        'uldp: --dask needs the package distributed, of the extra "dask"\n'
    )
