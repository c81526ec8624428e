"""The benchmark of the collector counts what it has written, and runs at small sizes."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from distributed import Client
from scipy import stats

from uldp.survey.parquet import tally_files

FALSE_ALARM = 1e-6
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def scale(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark with threads of this process as workers, which cannot be killed."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    import scale

    def threads(workers: int) -> Client:
        one = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        return Client(processes=False, n_workers=workers, **one)

    monkeypatch.setattr(scale, "local_client", threads)
    monkeypatch.setattr(scale.Files, "run_and_kill", lambda files, client, after: (1.0, 2.0, False))
    monkeypatch.setattr(scale.Stream, "run_and_kill", lambda stream, client, _: stream.run(client))
    return scale


def test_the_quick_run_leaves_the_stored_table_alone(scale, monkeypatch, capsys):
    table = BENCHMARKS / "results" / "scale.csv"
    before = table.read_bytes()
    monkeypatch.setattr(sys, "argv", ["scale.py", "--quick"])
    assert scale.main() == 1  # because of the run that was told to say that it lost reports
    assert table.read_bytes() == before
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    rows = [[cell.strip() for cell in line if cell] for line in lines]
    assert [row[-1] for row in rows] == [*9 * ["yes"], "NO", *4 * ["yes"]]
    assert [row[5:8] for row in rows[5:9]] == [
        [workers, files, str(1_000 * int(files))] for workers in "12" for files in ("1", "10")
    ]


def test_files_hold_the_census(scale, tmp_path):
    """As many reports reveal a value as the law of uRR says; false alarms: one in a million."""
    files = scale.Files.write("uRR", scale.QUICK, tmp_path)
    sizes = [path.stat().st_size for path in files.paths]
    assert files.sizes(3) == (3, 3_000, sum(sizes[:3]))
    assert [tally.n for tally in files.tallies] == list(range(1_000, 11_000, 1_000))
    assert len({path.read_bytes() for path in files.paths}) == 10
    mechanism, p = scale.MECHANISMS["uRR"], scale.CENSUS.frequencies
    revealing = mechanism.nonsensitive
    share = (p[revealing] * mechanism.decoder.true_support[revealing]).sum()
    revealed = files.tallies[-1].counts[revealing].sum()
    assert stats.binomtest(int(revealed), 10_000, share).pvalue > FALSE_ALARM


def test_a_stream_with_a_report_less_or_more_is_not_complete(scale, tmp_path):
    stream = scale.Stream.write(1_000, tmp_path)
    tallies, left_out = tally_files(scale.SURVEY, stream.paths)
    less, _ = tally_files(scale.SURVEY, stream.paths[1:2])
    assert 0 < stream.garbage < 50
    assert stream.is_complete(tallies, left_out)
    assert not stream.is_complete(less, left_out)
    assert not stream.is_complete(tallies + less, left_out)
    assert not stream.is_complete(tallies, {})


def test_a_row(scale):
    runs = [(3.0, 5.0, True), (1.0, scale.nan, True), (2.0, 7.0, False)]
    row = scale.as_row("files", "uRAP", 2, (1, 10, 120), runs[:1] + runs[2:], 123.456)
    start = ["files", "uRAP", "400", "76", "1", "2", "1", "10", "120"]
    assert row == [*start, "2.5", "2", "3", "6", "123.5", "NO"]
    assert scale.as_row("files", "uRAP", 2, (1, 10, 120), runs[1:2])[-6:] == [
        *("1", "1", "1", "", "", "yes"),
    ]
    assert len(row) == len(scale.COLUMNS) == len(scale.WIDTHS)
