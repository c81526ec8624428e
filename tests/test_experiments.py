"""The experiments: right means, the same table however they are run, nothing lost or done twice."""

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import uldp
from uldp import __main__ as command_line
from uldp import datasets, experiments
from uldp.experiments import MECHANISMS, NO_PRIVACY, Point, Record, Row, Settings, plan, read_table
from uldp.experiments import runs as runs_module

RESULTS = Path(__file__).resolve().parents[1] / "results"
TABLES = ("fig5", "fig6", "fig7")
MEANS = ("tv", "tv_error", "mse", "mse_error", "expected_tv", "expected_mse")
SEED = 5

SIX = datasets.Histogram(
    uldp.Domain(6, sensitive=[0, 3]), np.array([300, 90, 0, 10, 400, 200]), "six values"
)
BASE = Point(
    figure="a figure",
    data="six",
    histogram=SIX,
    mechanism=NO_PRIVACY,
    epsilon=None,
    n=50,
    methods=("expected", "empirical"),
    realizations=12,
)
RR = replace(BASE, mechanism="RR", epsilon=1.0, methods=("expected", *experiments.METHODS))
SMALL = [
    BASE,
    RR,
    replace(RR, mechanism="uRR", drawn=3),
    replace(RR, mechanism="uRAP", methods=("expected", "empirical", "threshold", "norm_sub")),
    replace(RR, mechanism="uRAP", methods=("em", "mle"), realizations=5, reports=True),
]
ALL_REALIZATIONS = 4 * 12 + 5


def table(folder: Path, points: list[Point] = SMALL, jobs: int = 1) -> bytes:
    """Run the points with a record in the folder; return the bytes of their table."""
    rows = experiments.run(points, folder / "record.jsonl", SEED, jobs)
    experiments.write_table(folder / "table.csv", rows, ["a table"])
    return (folder / "table.csv").read_bytes()


def assert_close(row: Row, other: Row) -> None:
    """Means and errors agree to the digits of a table, and all else exactly."""
    assert replace(row, **dict.fromkeys(MEANS)) == replace(other, **dict.fromkeys(MEANS))
    values = [[getattr(r, name) for name in MEANS] for r in (row, other)]
    np.testing.assert_allclose(*np.array(values, dtype=float), rtol=1e-5)


@pytest.fixture
def measured(monkeypatch) -> list[tuple[str, bool, int]]:
    """The realizations measured in this process: mechanism, whether by reports, and number."""
    calls = []

    def measure(point: Point, methods: tuple[str, ...], realization: int, seed: int):
        calls.append((point.mechanism, point.reports, realization))
        return experiments.measure(point, methods, realization, seed)

    monkeypatch.setattr(runs_module, "measure", measure)
    return calls


# --- the same table ------------------------------------------------------------------------------


def test_the_table_does_not_depend_on_the_number_of_jobs(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert table(tmp_path / "one") == table(tmp_path / "two", jobs=2)


def test_a_realization_depends_on_its_point_its_number_and_the_seed():
    losses = experiments.measure(RR, ("empirical",), 3, SEED)
    assert (
        experiments.measure(RR, ("mle", "empirical"), 3, SEED)["empirical"] == losses["empirical"]
    )
    others = [(RR, 4, SEED), (RR, 3, SEED + 1), (replace(RR, figure="another"), 3, SEED)]
    others += [(replace(RR, reports=True), 3, SEED), (replace(RR, n=51), 3, SEED)]
    for point, realization, seed in others:
        assert experiments.measure(point, ("empirical",), realization, seed) != losses


@pytest.mark.parametrize("share", [0.0, 0.2, 0.51, 0.98])
def test_a_killed_run_goes_on_where_it_was(tmp_path, measured, share):
    """What a kill leaves is a prefix of the record, which may end within a line."""
    complete = table(tmp_path)
    record = tmp_path / "record.jsonl"
    content = record.read_bytes()
    left = content[: int(share * len(content))]
    record.write_bytes(left)
    measured.clear()
    assert table(tmp_path) == complete
    assert len(measured) == len(set(measured)) == ALL_REALIZATIONS - left.count(b"\n")
    assert sorted(record.read_bytes().splitlines()) == sorted(content.splitlines())


def test_a_finished_run_does_nothing_again(tmp_path, measured):
    complete = table(tmp_path)
    assert len(measured) == ALL_REALIZATIONS
    assert table(tmp_path) == complete
    assert len(measured) == ALL_REALIZATIONS


def test_more_realizations_and_estimators_add_to_the_record(tmp_path, measured):
    few = replace(RR, realizations=4, methods=("expected", "empirical"))
    table(tmp_path, [few])
    measured.clear()
    table(tmp_path, [replace(few, realizations=7)])
    assert measured == [("RR", False, i) for i in (4, 5, 6)]
    in_parts = table(tmp_path, [RR])
    (tmp_path / "record.jsonl").unlink()
    assert table(tmp_path, [RR]) == in_parts


def test_a_record_of_another_seed_or_version_is_not_used(tmp_path, measured, monkeypatch):
    experiments.run([RR], tmp_path / "record.jsonl", SEED)
    experiments.run([RR], tmp_path / "record.jsonl", SEED + 1)
    monkeypatch.setattr(uldp, "__version__", "another")
    experiments.run([RR], tmp_path / "record.jsonl", SEED)
    assert len(measured) == 3 * RR.realizations


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"losses": {"mle": 1}}', '{"losses": [1]}'])
def test_a_file_that_is_no_record(tmp_path, line):
    path = tmp_path / "record.jsonl"
    path.write_text(f'{{"seed": 1, "losses": {{"mle": [1, 2]}}}}\n{line}\n')
    with pytest.raises(ValueError, match="line 2: expected a finished realization, got"):
        Record(path)


@pytest.mark.parametrize(("jobs", "error"), [(0, ValueError), (1.5, ValueError), ("2", TypeError)])
def test_a_wrong_number_of_jobs(tmp_path, jobs, error):
    with pytest.raises(error, match="jobs must be"):
        experiments.run(SMALL, tmp_path / "record.jsonl", SEED, jobs)


# --- right means ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "drawn", "reports"),
    [
        *((mechanism, None, False) for mechanism in (NO_PRIVACY, *MECHANISMS)),
        *((mechanism, 3, False) for mechanism in ("uRR", "uRAP")),
        *((mechanism, None, True) for mechanism in ("RAPPOR", "uRAP")),
    ],
)
def test_the_means_of_the_empirical_losses_are_the_expected_ones(
    tmp_path, mechanism, drawn, reports
):
    """By the central limit theorem a right mean fails with probability 2e-7 (18 of them: 4e-6)."""
    epsilon = None if mechanism == NO_PRIVACY else 1.0
    point = replace(BASE, mechanism=mechanism, epsilon=epsilon, drawn=drawn, reports=reports)
    (row,) = experiments.run([replace(point, realizations=1000)], tmp_path / "record.jsonl", SEED)
    assert abs(row.tv - row.expected_tv) < 5.2 * row.tv_error
    assert abs(row.mse - row.expected_mse) < 5.2 * row.mse_error


def test_half_of_the_people_without_replacement_halve_the_error_without_privacy(tmp_path):
    """The factor is (N - n)/(N - 1) for n of N people (false alarm 2e-7)."""
    people, n = int(SIX.counts.sum()), 500
    assert n == people / 2
    point = replace(BASE, n=n, realizations=2000, sampling="halves")
    (halves,) = experiments.run([point], tmp_path / "record.jsonl", SEED)
    factor = (people - n) / (people - 1)
    assert factor == pytest.approx(0.5, abs=0.001)
    assert abs(halves.mse - factor * halves.expected_mse) < 5.2 * halves.mse_error


def test_more_users_than_people():
    with pytest.raises(ValueError, match="n must be at most the 1000 people, got 1001"):
        experiments.measure(replace(BASE, n=1001, sampling="halves"), ("empirical",), 0, SEED)


def test_the_rows_hold_means_and_their_standard_errors(tmp_path):
    rows = {row.estimator: row for row in experiments.run([RR], tmp_path / "r.jsonl", SEED)}
    assert tuple(rows) == experiments.METHODS
    for estimator, row in rows.items():
        losses = [experiments.measure(RR, (estimator,), i, SEED)[estimator] for i in range(12)]
        assert (row.tv, row.mse) == pytest.approx(np.mean(losses, axis=0))
        assert (row.tv_error, row.mse_error) == pytest.approx(stats.sem(losses))
        assert (row.data, row.k, row.sensitive, row.n) == ("six", 6, 6, 50)
        assert (row.expected_tv is None) == (estimator != "empirical")
    (single,) = experiments.run([replace(BASE, realizations=1)], tmp_path / "r.jsonl", SEED)
    assert (single.tv_error, single.mse_error) == (None, None)


# --- plans and tables ----------------------------------------------------------------------------


@pytest.mark.parametrize(("figure", "same"), experiments.FIGURES.items())
def test_figures_of_both_losses_share_a_plan(figure, same):
    points, others = plan(figure, Settings()), plan(same, Settings())
    assert [point.key for point in points] == [point.key for point in others]


def test_figure_5_has_the_grid_of_the_paper():
    points = plan("fig5", Settings())
    for data, k, s, n in (("census", 400, 76, 1_229_143), ("manhattan", 625, 16, 179_527)):
        for mechanism, protected in {"RR": k, "RAPPOR": k, "uRR": s, "uRAP": s}.items():
            chosen = [p for p in points if (p.data, p.mechanism) == (data, mechanism)]
            assert {(p.n, p.protected, p.histogram.domain.size) for p in chosen} == {
                (n, protected, k)
            }
            by_tally = [p for p in chosen if not p.reports]
            assert {p.realizations for p in by_tally} == {100}
            budgets = [p.epsilon for p in by_tally]
            assert budgets == sorted(budgets)
            assert (budgets[0], budgets[-1]) == (0.1, 10)
            assert len(budgets) >= 21
            assert math.log(k) in budgets


def test_figure_6_draws_up_to_all_values():
    points = [p for p in plan("fig6", Settings()) if p.mechanism == "uRR"]
    for data, k in (("census", 400), ("manhattan", 625)):
        for epsilon in (0.1, math.log(k)):
            sizes = [p.drawn for p in points if (p.data, p.epsilon) == (data, epsilon)]
            assert (sizes[0], sizes[-1]) == (1, k)
            assert {20, 100} < set(sizes)


def test_figure_7_adds_attributes():
    points = [p for p in plan("fig7", Settings()) if not p.reports]
    settings = {
        (p.n, p.realizations, p.histogram.domain.size, p.protected, p.epsilon)
        for p in points
        if p.mechanism == "uRAP"
    }
    assert settings == {
        (240_000, 10, 400 * 2**i, 76 * 2**i, e) for i in range(6) for e in (0.1, 1.0, 6.0)
    }


def test_likelihood_takes_reports_where_a_report_is_a_set():
    settings = Settings(realizations=7, likelihood_realizations=2, methods=("empirical", "mle"))
    for point in plan("fig5", settings):
        sets = point.mechanism in ("RAPPOR", "uRAP")
        if point.reports:
            assert sets
            assert (point.methods, point.realizations) == (("mle",), 2)
        else:
            assert point.realizations == 7
            assert ("mle" in point.methods) == (not sets and point.mechanism != NO_PRIVACY)
    none = plan("fig5", replace(settings, likelihood_realizations=0))
    assert not any(point.reports for point in none)


def test_the_readers_own_files_take_the_place_of_the_shipped_tables(monkeypatch):
    read = []

    def load_census(path, attributes):
        read.append(path)
        return datasets.census(attributes)

    def load_checkins(*paths):
        read.extend(paths)
        return datasets.manhattan()

    monkeypatch.setattr(datasets, "load_us_census_1990", load_census)
    monkeypatch.setattr(datasets, "load_foursquare", load_checkins)
    settings = Settings(
        us_census_1990="a/c.txt", foursquare=("a/p.txt", "a/u.txt"), sampling="halves"
    )
    points = plan("fig5", settings)
    assert read == ["a/c.txt", "a/p.txt", "a/u.txt"]
    assert {(p.data, p.n, p.sampling) for p in points} == {
        ("US Census 1990", 149_643, "halves"),
        ("Foursquare", 14_014, "halves"),
    }
    assert settings.command("fig5") == (
        "python -m uldp reproduce fig5 --sampling halves --us-census-1990 c.txt "
        "--foursquare p.txt u.txt --seed 2019"
    )


def test_the_command_tells_all_that_is_not_as_usual():
    assert Settings().command("fig7") == "python -m uldp reproduce fig7 --seed 2019"
    chosen = Settings(3, 0, methods=("em", "mle"), quick=True, seed=1)
    assert chosen.command("fig7") == (
        "python -m uldp reproduce fig7 --realizations 3 --likelihood-realizations 0 "
        "--methods em mle --quick --seed 1"
    )


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        ({"realizations": 0}, ValueError, "realizations must be 1 or greater, got 0"),
        ({"likelihood_realizations": -1}, ValueError, "must be 0 or greater, got -1"),
        ({"seed": "a"}, TypeError, "seed must be a whole number, got 'a'"),
        ({"methods": ()}, ValueError, "methods must be among empirical, .* got none"),
        ({"methods": ("em", "map")}, ValueError, "methods must be one of .* got 'map'"),
        ({"sampling": "half"}, ValueError, "sampling must be one of iid, halves, got 'half'"),
    ],
)
def test_wrong_settings(chosen, error, message):
    with pytest.raises(error, match=message):
        Settings(**chosen)


def test_a_figure_that_is_not_there():
    with pytest.raises(ValueError, match=r"figure must be one of fig5, .* got 'fig1'"):
        plan("fig1", Settings())


def test_a_table_reads_back(tmp_path):
    rows = experiments.run(SMALL, tmp_path / "record.jsonl", SEED)
    path = tmp_path / "table.csv"
    experiments.write_table(path, rows, ["a header", "of two lines"])
    assert path.read_text().startswith("# a header\n# of two lines\ndata,k,")
    again = read_table(path)
    for row, copy in zip(rows, again, strict=True):
        assert_close(row, copy)
    experiments.write_table(tmp_path / "again.csv", again, ["a header", "of two lines"])
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


def test_a_file_that_is_no_table(tmp_path):
    (tmp_path / "table.csv").write_text("# data\nepsilon,tv\n1,2\n")
    with pytest.raises(ValueError, match=r"table\.csv: expected columns data,k,"):
        read_table(tmp_path / "table.csv")


# --- the command line ----------------------------------------------------------------------------


def test_quick_runs_of_all_figures(tmp_path):
    words = ["reproduce", "fig10", "fig6", "fig5", "fig12", "--quick", "--jobs", "2", "--out"]
    done = subprocess.run(
        [sys.executable, "-m", "uldp", *words, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        str(tmp_path / f"{name}.csv") for name in ("fig5", "fig6", "fig7")
    ]
    assert "fig5, tallies: 100%" in done.stderr
    for name in TABLES:
        header = (tmp_path / f"{name}.csv").read_text().splitlines()
        assert header[0] == f"# python -m uldp reproduce {name} --quick --seed 2019"
        assert header[1].startswith(f"# uldp {uldp.__version__}, NumPy {np.__version__}")
        assert header[2].startswith("# census: Census-Income (KDD), UCI")
        rows = read_table(tmp_path / f"{name}.csv")
        for mechanism in MECHANISMS:
            estimators = {row.estimator for row in rows if row.mechanism == mechanism}
            assert estimators == set(experiments.METHODS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--realizations", "0"], "realizations must be 1 or greater, got 0"),
        (["--jobs", "0", "--quick"], "jobs must be 1 or greater, got 0"),
        (["--us-census-1990", "absent.txt"], "No such file or directory: 'absent.txt'"),
    ],
)
def test_wrong_arguments(tmp_path, capsys, words, message):
    assert command_line.main(["reproduce", "fig5", "--out", str(tmp_path), *words]) == 2
    assert re.match(rf"python -m uldp: .*{re.escape(message)}\n", capsys.readouterr().err)


def test_an_interruption(monkeypatch, capsys):
    def interrupt(*_) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "reproduce", interrupt)
    assert command_line.main(["reproduce", "fig5"]) == 130
    assert "the same command goes on from here" in capsys.readouterr().err


# --- the tables in results/ ----------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_the_stored_tables_agree_with_the_expected_losses(name):
    """Were the means normal, right ones would fail with probability 1e-3 for each table."""
    rows = [row for row in read_table(RESULTS / f"{name}.csv") if row.expected_tv is not None]
    assert {row.mechanism for row in rows} == {NO_PRIVACY, *MECHANISMS}
    for row in rows:
        limit = stats.t.isf(1e-3 / (4 * len(rows)), row.realizations - 1)
        assert abs(row.tv - row.expected_tv) < limit * row.tv_error, row
        assert abs(row.mse - row.expected_mse) < limit * row.mse_error, row


@pytest.mark.parametrize("name", TABLES)
def test_the_stored_tables_come_out_again(tmp_path, name):
    stored = read_table(RESULTS / f"{name}.csv")
    points = [p for p in plan(name, Settings()) if not p.reports and p.epsilon in (None, 0.1)]
    few = [points[i] for i in np.random.default_rng(1).choice(len(points), 3, replace=False)]
    for row in experiments.run(few, tmp_path / "record.jsonl", Settings.seed):
        (match,) = (
            other
            for other in stored
            if (other.data, other.k, other.mechanism, other.epsilon, other.sensitive)
            == (row.data, row.k, row.mechanism, row.epsilon, row.sensitive)
            and other.estimator == row.estimator
        )
        assert_close(row, match)
