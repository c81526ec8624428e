"""The experiments: right means, the same table however they are run, nothing lost or done twice."""

import math
import re
import shlex
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import DRAWN_AS_STORED
from hypothesis import given, strategies as st
from pandas.testing import assert_frame_equal
from scipy import stats

import uldp
from uldp import __main__ as command_line
from uldp.mechanisms import PAPER
from uldp.paper import datasets, experiments
from uldp.paper.experiments import (
    METHODS,
    NO_PRIVACY,
    Point,
    Record,
    Settings,
    plan,
    read_table,
    runs as runs_module,
)

RESULTS = Path(__file__).resolve().parents[1] / "results"
TABLES = ("fig5", "fig6", "fig7")
MEANS = ["tv", "tv_error", "mse", "mse_error", "expected_tv", "expected_mse"]
EXTRA = ("joblib", "pandas", "threadpoolctl", "tqdm")
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
    methods=("empirical",),
    realizations=12,
)
RR = replace(BASE, mechanism="RR", epsilon=1.0, methods=METHODS)
SMALL = [
    BASE,
    RR,
    replace(RR, mechanism="uRR", drawn=3),
    replace(RR, mechanism="uRAP", methods=("empirical", "threshold", "norm_sub")),
    replace(RR, mechanism="uRAP", methods=("em", "mle"), realizations=5, reports=True),
]
ALL_REALIZATIONS = 4 * 12 + 5


def table(folder: Path, points: list[Point] = SMALL, jobs: int = 1) -> bytes:
    """Run the points with a record in the folder; return the bytes of their table."""
    measured = experiments.run(points, folder / "record.jsonl", SEED, jobs)
    experiments.write_table(folder / "table.csv", measured, ["a table"])
    return (folder / "table.csv").read_bytes()


def assert_close(table: pd.DataFrame, other: pd.DataFrame) -> None:
    """Means and errors agree to the digits of a table, and all else exactly."""
    assert_frame_equal(table.drop(columns=MEANS), other.drop(columns=MEANS), check_exact=True)
    assert_frame_equal(table[MEANS], other[MEANS], rtol=1e-5, atol=0)


def assert_stored(name: str, points: list[Point], folder: Path) -> None:
    """The rows of the points are lines of the table in results/, byte for byte."""
    again = folder / "again.csv"
    rows = experiments.run(points, folder / "record.jsonl", Settings.seed)
    experiments.write_table(again, rows, [])
    stored = (RESULTS / f"{name}.csv").read_bytes().splitlines()
    assert [line for line in again.read_bytes().splitlines() if line not in stored] == []


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


@pytest.mark.parametrize("share", [0.0, 0.2, 0.51, 0.98, 1.0])
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


def test_more_realizations_and_estimators_add_to_the_record(tmp_path, measured):
    few = replace(RR, realizations=4, methods=("empirical",))
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
    monkeypatch.setattr(experiments.runs, "VERSION", "another")
    experiments.run([RR], tmp_path / "record.jsonl", SEED)
    assert len(measured) == 3 * RR.realizations


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"losses": [1]}'])
def test_a_file_that_is_no_record(tmp_path, line):
    path = tmp_path / "record.jsonl"
    right = '{"seed": 1, "losses": {"mle": {"tv": 1, "mse": 2}, "em": {"none": {"tv": 1}}}}'
    path.write_text(f"{right}\n")
    assert Record(path).losses({"seed": 1}) == {
        "mle": {"tv": 1, "mse": 2},
        "em": {"none": {"tv": 1}},
    }
    path.write_text(f"{right}\n{line}\n")
    with pytest.raises(ValueError, match="line 2: expected a finished realization, got"):
        Record(path)


# --- right means ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "drawn", "reports"),
    [
        *((mechanism, None, False) for mechanism in (NO_PRIVACY, *PAPER)),
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
    row = experiments.run(
        [replace(point, realizations=400)], tmp_path / "record.jsonl", SEED
    ).squeeze()
    assert abs(row.tv - row.expected_tv) < 5.2 * row.tv_error
    assert abs(row.mse - row.expected_mse) < 5.2 * row.mse_error


def test_half_of_the_people_without_replacement_halve_the_error_without_privacy(tmp_path):
    """The factor is (N - n)/(N - 1) for n of N people (false alarm 2e-7)."""
    people, n = int(SIX.counts.sum()), 500
    assert n == people / 2
    point = replace(BASE, n=n, realizations=2000, sampling="halves")
    halves = experiments.run([point], tmp_path / "record.jsonl", SEED).squeeze()
    factor = (people - n) / (people - 1)
    assert factor == pytest.approx(0.5, abs=0.001)
    assert abs(halves.mse - factor * halves.expected_mse) < 5.2 * halves.mse_error


def test_more_users_than_people():
    with pytest.raises(ValueError, match="n must be at most the 1000 people, got 1001"):
        experiments.measure(replace(BASE, n=1001, sampling="halves"), ("empirical",), 0, SEED)


def test_the_rows_hold_means_and_their_standard_errors(tmp_path):
    rows = experiments.run([RR], tmp_path / "r.jsonl", SEED)
    assert tuple(rows["estimator"]) == METHODS
    for row in rows.itertuples():
        drawn = [experiments.measure(RR, (row.estimator,), i, SEED) for i in range(12)]
        losses = pd.DataFrame([losses[row.estimator] for losses in drawn])
        assert (row.tv, row.mse) == pytest.approx(losses[["tv", "mse"]].mean())
        assert (row.tv_error, row.mse_error) == pytest.approx(stats.sem(losses[["tv", "mse"]]))
        assert (row.data, row.k, row.sensitive, row.n) == ("six", 6, 6, 50)
        assert (row.mechanism, row.epsilon, row.realizations) == ("RR", 1, 12)
        assert math.isnan(row.expected_tv) == (row.estimator != "empirical")
    single = experiments.run([replace(BASE, realizations=1)], tmp_path / "r.jsonl", SEED)
    assert single[["epsilon", "tv_error", "mse_error"]].isna().all(axis=None)


# --- plans and tables ----------------------------------------------------------------------------


def test_figure_5_has_the_grid_of_the_paper():
    points = plan("fig5", Settings())
    for data, k, s, n in (("census", 400, 76, 1_229_143), ("manhattan", 625, 16, 179_527)):
        for mechanism, count in {"RR": k, "RAPPOR": k, "uRR": s, "uRAP": s}.items():
            own = [p for p in points if (p.data, p.mechanism) == (data, mechanism)]
            assert {(p.n, p.sensitive_count, p.histogram.domain.size) for p in own} == {
                (n, count, k)
            }
            by_tally = [p for p in own if not p.reports]
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
    """Figure 12 shows another loss of the same table."""
    assert experiments.FIGURES["fig12"] == "fig7"
    points = [p for p in plan("fig7", Settings()) if not p.reports]
    settings = {
        (p.n, p.realizations, p.histogram.domain.size, p.sensitive_count, p.epsilon)
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


FILES = st.text(st.characters(codec="utf-8"), min_size=1).filter(
    lambda name: Path(name).name == name and not name.startswith("-")
)


@given(
    st.builds(
        Settings,
        realizations=st.none() | st.integers(1, 1000),
        likelihood_realizations=st.none() | st.integers(0, 1000),
        methods=st.lists(st.sampled_from(METHODS), min_size=1).map(tuple),
        sampling=st.sampled_from(["iid", "halves"]),
        us_census_1990=st.none() | FILES,
        foursquare=st.none() | st.tuples(FILES, FILES),
        quick=st.booleans(),
        seed=st.integers(0, 2**63 - 1),
    ),
    st.sampled_from(list(experiments.FIGURES)),
)
def test_the_command_says_all_settings(settings, figure):
    """Names of files that begin with "-" are no arguments of a command line."""
    python, m, package, *words = shlex.split(settings.command(figure))
    assert (python, m, package) == ("python", "-m", "uldp")
    given = vars(command_line.parser().parse_args(words))
    assert given["figures"] == [figure]
    assert Settings(**{option.name: given[option.name] for option in fields(Settings)}) == settings


def test_a_table_reads_back(tmp_path):
    rows = experiments.run(SMALL, tmp_path / "record.jsonl", SEED)
    path = tmp_path / "table.csv"
    experiments.write_table(path, rows, ["a header", "of two lines"])
    assert path.read_text().startswith("# a header\n# of two lines\ndata,k,")
    again = read_table(path)
    assert_close(rows, again)
    experiments.write_table(tmp_path / "again.csv", again, ["a header", "of two lines"])
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("content", ["# data\nepsilon,tv\n1,2\n", "n,k\nmany,few\n", "k\n"])
def test_a_file_that_is_no_table(tmp_path, content):
    (tmp_path / "table.csv").write_text(content)
    with pytest.raises(ValueError, match=r"table\.csv: expected columns data,k,"):
        read_table(tmp_path / "table.csv")


@pytest.mark.parametrize("content", ["", "# data\n"])
def test_an_empty_file_is_no_table(tmp_path, content):
    (tmp_path / "table.csv").write_text(content)
    with pytest.raises(ValueError, match="No columns"):
        read_table(tmp_path / "table.csv")


@pytest.mark.parametrize("name", [*TABLES, "fig8", "table1"])
def test_the_stored_tables_are_written_as_they_were_read(tmp_path, name):
    stored = (RESULTS / f"{name}.csv").read_text(encoding="utf-8")
    header = [line[2:] for line in stored.splitlines() if line.startswith("#")]
    experiments.write_table(tmp_path / "again.csv", read_table(RESULTS / f"{name}.csv"), header)
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == stored


@pytest.mark.parametrize("folder", [RESULTS, RESULTS.parent / "benchmarks" / "results"])
def test_the_heads_of_stored_tables_name_version_and_commit(folder):
    for path in folder.glob("*.csv"):
        lines = path.read_text(encoding="utf-8").splitlines()
        head = "\n".join(line for line in lines if line.startswith("#"))
        assert re.search(r"uldp(==| )\d+\.\d+\.\d", head), path
        assert re.search(r"commits? [0-9a-f]{7,}\b", head), path


def test_a_head_says_of_which_commit_the_code_is_and_whether_it_was_changed(tmp_path, monkeypatch):
    code = tmp_path / "uldp" / "paper" / "experiments" / "runs.py"
    code.parent.mkdir(parents=True)
    code.touch()
    monkeypatch.setattr(runs_module, "__file__", str(code))
    assert runs_module.commit() == "not a clone"
    who = ["-c", "user.name=a", "-c", "user.email=a"]
    for words in (["init"], ["add", "."], [*who, "commit", "-m", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, capture_output=True, check=True)
    assert re.fullmatch("commit [0-9a-f]{7,}", runs_module.commit())
    code.write_text("1", encoding="utf-8")
    assert re.fullmatch("commit [0-9a-f]{7,}, changed", runs_module.commit())


def test_columns_have_their_types_whatever_they_hold(tmp_path):
    """Text may look like a number or like a missing one, and ε = ln k keeps all its digits."""
    for data in ("007", "None"):
        point = replace(BASE, data=data, mechanism="RR", epsilon=math.log(400), realizations=1)
        rows = experiments.run([point], tmp_path / "record.jsonl", SEED)
        experiments.write_table(tmp_path / "table.csv", rows, [])
        again = read_table(tmp_path / "table.csv")
        assert list(again["data"]) == [data]
        assert list(again["epsilon"]) == [math.log(400)]
        assert again["tv_error"].isna().all()
        assert (again.dtypes == rows.dtypes).all()


# --- the command line ----------------------------------------------------------------------------


def test_quick_runs(tmp_path, capsys):
    """Each table once, whatever the names; tests/test_paper_files.py makes all of them."""
    words = ["reproduce", "fig10", "fig6", "fig5", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    assert command_line.main(words) == 0
    said = capsys.readouterr()
    assert said.out.split() == [str(tmp_path / f"{name}.csv") for name in ("fig5", "fig6")]
    assert "fig5, tallies: 100%" in said.err
    for name in ("fig5", "fig6"):
        header = (tmp_path / f"{name}.csv").read_text().splitlines()
        assert header[0] == f"# python -m uldp reproduce {name} --quick --seed 2019"
        assert header[1].startswith(f"# uldp {uldp.__version__}, NumPy {np.__version__}")
        assert header[1].endswith(f"; {runs_module.commit()}")
        assert header[2].startswith("# census: Census-Income (KDD), UCI")
        rows = read_table(tmp_path / f"{name}.csv")
        for mechanism in PAPER:
            assert set(rows[rows["mechanism"] == mechanism]["estimator"]) == set(METHODS)


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
    assert re.match(rf"uldp: .*{re.escape(message)}\n", capsys.readouterr().err)


def test_an_interruption(monkeypatch, capsys):
    def interrupt(*_) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("uldp.paper.experiments.command.reproduce", interrupt)
    assert command_line.main(["reproduce", "fig5"]) == 130
    assert capsys.readouterr().err == "Stopped; the same command goes on from here.\n"
    monkeypatch.setattr("uldp.survey.commands.Survey.load", interrupt)
    assert command_line.main(["describe", "survey.json"]) == 130
    assert capsys.readouterr().err == "Stopped.\n"


# --- without the extra ---------------------------------------------------------------------------


def python(code: str, *words: str) -> str:
    """What a new interpreter prints."""
    call = [sys.executable, "-c", f"import sys\n{code}", *words]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout


def test_a_table_is_read_without_what_runs_need():
    without = "sys.modules.update(dict.fromkeys(['joblib', 'threadpoolctl', 'tqdm']))"
    read = "from uldp.paper.experiments import read_table; print(len(read_table(sys.argv[1])))"
    assert python(f"{without}; {read}", str(RESULTS / "table1.csv")) == "30\n"


@pytest.mark.parametrize("words", [["--help"], ["reproduce", "--help"]])
def test_the_command_line_explains_itself_without_the_extra(words):
    without = f"sys.modules.update(dict.fromkeys({EXTRA}))"
    run = "import runpy; runpy.run_module('uldp', run_name='__main__')"
    assert "reproduce" in python(f"{without}; {run}", *words)


@pytest.mark.parametrize("package", EXTRA)
def test_a_missing_package_is_named_before_anything_is_measured(
    monkeypatch, tmp_path, capsys, package
):
    monkeypatch.setitem(sys.modules, package, None)
    needed = f'uldp.paper.experiments needs the package {package}, of the extra "experiments"'
    with pytest.raises(ModuleNotFoundError, match=re.escape(needed)):
        experiments.run([BASE], tmp_path / "record.jsonl", SEED)
    words = ["reproduce", "fig5", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    assert command_line.main(words) == 2
    assert capsys.readouterr().err == f"uldp: {needed}\n"
    assert list(tmp_path.iterdir()) == []


# --- the tables in results/ ----------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_the_stored_tables_agree_with_the_expected_losses(name):
    """Were the means normal, right ones would fail with probability 1e-3 for each table."""
    table = read_table(RESULTS / f"{name}.csv")
    table = table[table["expected_tv"].notna()]
    assert set(table["mechanism"]) == {NO_PRIVACY, *PAPER}
    limit = stats.t.isf(1e-3 / (4 * len(table)), table["realizations"] - 1)
    for loss in ("tv", "mse"):
        deviation = (table[loss] - table[f"expected_{loss}"]).abs()
        assert (deviation < limit * table[f"{loss}_error"]).all()


@DRAWN_AS_STORED
@pytest.mark.parametrize("name", [*TABLES, "fig8", "table1"])
def test_estimates_of_a_tally_come_out_again_at_many_points(tmp_path, name):
    points = plan(name, Settings(methods=("empirical", "threshold", "norm_sub")))
    assert_stored(name, points[::9], tmp_path)
