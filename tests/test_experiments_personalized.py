"""The experiments of the personalized mechanism: the data's law, right means, the stored tables."""

import csv
import math
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import uldp
from uldp import datasets, experiments
from uldp.experiments import KNOWLEDGE, METHODS, PersonalizedPoint, PersonalizedRow, Settings, plan
from uldp.experiments import read_personalized_table as read_table
from uldp.personalized import JointLaw, TaggedDomain, estimate

RESULTS = Path(__file__).resolve().parents[1] / "results"
TABLES = ("fig8", "table1")
MANHATTAN = datasets.manhattan()
SEED = 8

DOMAIN = TaggedDomain(uldp.Domain(3, sensitive=[1]), ["home", "office"])
LAW = JointLaw(DOMAIN, np.array([[30, 10, 5], [10, 5, 0], [20, 0, 20]]) / 100)
SMALL = PersonalizedPoint(
    figure="a figure",
    data="three values",
    histogram=datasets.Histogram(DOMAIN, np.rint(LAW.r * 100), "three values"),
    mechanism="uRR",
    epsilon=1.0,
    n=80,
    methods=("expected", *METHODS),
    realizations=6,
    law=LAW,
    places={"home": np.array([0.5, 0.5, 0]), "office": np.array([0, 0, 1])},
)


def run(folder: Path, *points: PersonalizedPoint, jobs: int = 1) -> list[PersonalizedRow]:
    return experiments.run(points, folder / "record.jsonl", SEED, jobs)


def assert_close(row: PersonalizedRow, other: PersonalizedRow) -> None:
    """Fractions agree to the digits of a table, and all else exactly."""
    for value, stored in zip(astuple(row), astuple(other), strict=True):
        assert value == (pytest.approx(stored, rel=1e-5) if type(stored) is float else stored)


# --- the data ------------------------------------------------------------------------------------


def test_the_law_of_the_checkins():
    law = experiments.checkin_law(MANHATTAN)
    n = MANHATTAN.counts.sum()
    assert law.domain.tags == ("home", "office")
    assert law.domain.base.size == 625
    np.testing.assert_array_equal(law.domain.base.sensitive, MANHATTAN.hospital_cells)
    np.testing.assert_allclose(law.p, MANHATTAN.frequencies, atol=1e-15)
    np.testing.assert_allclose(law.pi[0], MANHATTAN.home / MANHATTAN.home.sum(), atol=1e-15)
    np.testing.assert_allclose(law.pi[1], MANHATTAN.office / MANHATTAN.office.sum(), atol=1e-15)
    np.testing.assert_allclose(law.r[625:], [956 / n, 1528 / n])


def test_the_knowledge_of_places_counts_each_place_once():
    places = experiments.place_distributions(MANHATTAN)
    assert set(places) == {"home", "office"}
    np.testing.assert_allclose(places["home"] * 60, MANHATTAN.home_places)
    np.testing.assert_allclose(places["office"] * 278, MANHATTAN.office_places)


def test_figure_9_maps_the_distributions(tmp_path):
    path = experiments.reproduce("fig9", folder=tmp_path)
    lines = path.read_text().splitlines()
    assert lines[0] == "# python -m uldp reproduce fig9 --seed 2019"
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    for tag, people, places in (
        ("home", MANHATTAN.home, MANHATTAN.home_places),
        ("office", MANHATTAN.office, MANHATTAN.office_places),
    ):
        chosen = [row for row in rows if row["tag"] == tag]
        assert [25 * int(r["row"]) + int(r["column"]) for r in chosen] == list(range(625))
        for name, counts in (("users", people), ("places", places)):
            shares = [float(row[name]) for row in chosen]
            np.testing.assert_allclose(shares, counts / counts.sum(), rtol=1e-5)


# --- plans ---------------------------------------------------------------------------------------


def test_figure_8_has_the_grid_of_the_paper():
    points = plan("fig8", Settings())
    assert [p.key for p in plan("fig13", Settings())] == [p.key for p in points]
    assert {p.mechanism for p in points} == {"uRR", "uRAP"}
    assert {(p.data, p.n, p.protected) for p in points} == {("manhattan", 179_527, 18)}
    by_tally = [p for p in points if not p.reports]
    assert {p.realizations for p in by_tally} == {100}
    for mechanism in ("uRR", "uRAP"):
        budgets = [p.epsilon for p in by_tally if p.mechanism == mechanism]
        assert budgets == sorted(budgets)
        assert (budgets[0], budgets[-1]) == (0.1, 10)
        assert len(budgets) == 22
        assert math.log(625) in budgets


def test_table_1_is_at_one_epsilon_with_all_realizations():
    points = plan("table1", Settings())
    assert {(p.epsilon, p.n, p.realizations) for p in points} == {(math.log(625), 179_527, 100)}
    assert [(p.mechanism, p.reports) for p in points] == [
        ("uRR", False),
        ("uRAP", False),
        ("uRAP", True),
    ]


def test_the_readers_own_file_takes_the_place_of_the_shipped_table(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets, "load_foursquare", lambda *_: MANHATTAN)
    settings = Settings(foursquare=("p.txt", "c.txt"), sampling="halves")
    assert {(p.data, p.n) for p in plan("table1", settings)} == {("Foursquare", 14_014)}
    assert "# Foursquare: " in experiments.reproduce("fig9", settings, tmp_path).read_text()


# --- right means ---------------------------------------------------------------------------------


def test_a_realization_is_measured_with_every_knowledge_on_the_same_reports(monkeypatch):
    tallies = []

    def estimate_and_keep(self, mechanism, reports, method):
        tallies.append(reports)
        return mechanism.estimate(reports, method)

    monkeypatch.setattr(PersonalizedPoint, "estimate", estimate_and_keep)
    first, bound, *rest = experiments.measure(SMALL, ("norm_sub",), 3, SEED)["norm_sub"]
    (tally,) = tallies
    assert tally.n == 80
    true = dict(zip(("home", "office"), LAW.pi, strict=True))
    for background, numbers in zip(
        (None, SMALL.places, true), np.reshape(rest, (3, 3)), strict=True
    ):
        result = estimate(tally.law, tally, background, "norm_sub")
        terms = result.loss_terms(LAW)
        error = result.p - LAW.p
        assert (first, bound) == (terms.first, result.second_term_bound)
        assert numbers == pytest.approx([terms.loss / 2, error @ error, terms.second])


@pytest.mark.parametrize(
    ("mechanism", "reports"), [("uRR", False), ("uRAP", False), ("uRAP", True)]
)
def test_the_mean_of_the_first_term_is_the_expected_loss(tmp_path, mechanism, reports):
    """By the central limit theorem a right mean fails with probability 2e-7 (3 of them: 6e-7)."""
    point = replace(SMALL, mechanism=mechanism, reports=reports, realizations=400)
    for row in run(tmp_path, replace(point, methods=("expected", "empirical"))):
        assert abs(row.first - row.expected_first) < 5.2 * row.first_error


@pytest.mark.parametrize("mechanism", ["uRR", "uRAP"])
def test_the_mean_error_with_the_true_knowledge_is_that_of_a_linear_estimate(tmp_path, mechanism):
    """The estimate is r̂ times a matrix; false alarm 2e-7 each, by the central limit theorem."""
    point = replace(SMALL, mechanism=mechanism, realizations=400, methods=("empirical",))
    rows = {row.knowledge: row for row in run(tmp_path, point)}
    common = experiments.MECHANISMS[mechanism](DOMAIN, SMALL.epsilon)
    A = np.vstack([np.eye(3), LAW.pi])
    m = LAW.r @ common.transition_matrix()
    estimates = np.array([common.estimate(y[None]) for y in common.outputs]) @ A
    variance = m @ np.square(estimates - LAW.p).sum(axis=1)
    row = rows["true"]
    assert abs(row.mse - variance / SMALL.n) < 5.2 * row.mse_error


def test_rows_hold_means_and_their_standard_errors(tmp_path):
    rows = run(tmp_path, SMALL)
    assert [(row.estimator, row.knowledge) for row in rows] == [
        (estimator, knowledge) for estimator in METHODS for knowledge in KNOWLEDGE
    ]
    for row in rows:
        losses = [
            experiments.measure(SMALL, (row.estimator,), i, SEED)[row.estimator] for i in range(6)
        ]
        place = 2 + 3 * KNOWLEDGE.index(row.knowledge)
        columns = [0, *range(place, place + 3)]
        means = (row.first, row.tv, row.mse, row.second)
        errors = (row.first_error, row.tv_error, row.mse_error, row.second_error)
        assert means == pytest.approx(np.mean(losses, axis=0)[columns])
        assert errors == pytest.approx(stats.sem(losses)[columns], abs=1e-15)
        assert row.second_bound == pytest.approx(np.mean(losses, axis=0)[1])
        assert (row.data, row.k, row.sensitive, row.n) == ("three values", 3, 1, 80)
        assert (row.expected_first is None) == (row.estimator != "empirical")
    single = run(tmp_path, replace(SMALL, realizations=1))[0]
    assert (single.tv_error, single.second_error) == (None, None)


def test_the_table_does_not_depend_on_the_number_of_jobs_and_reads_back(tmp_path):
    points = [
        replace(SMALL, mechanism="uRAP", methods=("em",), reports=True),
        replace(SMALL, mechanism="uRAP", methods=("expected", "empirical", "threshold")),
        SMALL,
    ]
    tables = []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        rows = run(folder, *points, jobs=jobs)
        experiments.write_table(folder / "table.csv", rows, ["a table"])
        tables.append((folder / "table.csv").read_bytes())
    assert tables[0] == tables[1]
    for row, stored in zip(rows, read_table(folder / "table.csv"), strict=True):
        assert_close(row, stored)
    with pytest.raises(ValueError, match=r"table\.csv: expected columns data,k,sensitive,n,"):
        experiments.read_table(folder / "table.csv")
    with pytest.raises(
        ValueError, match=r"expected columns data,k,sensitive,n,mechanism,epsilon,k"
    ):
        read_table(RESULTS / "fig5.csv")


def test_quick_runs(tmp_path):
    settings = Settings(quick=True)
    for figure in ("fig13", "table1"):
        path = experiments.reproduce(figure, settings, tmp_path)
        name = experiments.FIGURES[figure]
        assert path == tmp_path / f"{name}.csv"
        header = path.read_text().splitlines()
        assert header[0] == f"# python -m uldp reproduce {name} --quick --seed 2019"
        assert any(line.startswith("# knowledge of where each tag occurs") for line in header)
        found = {(r.mechanism, r.knowledge, r.estimator) for r in read_table(path)}
        assert len(found) == 2 * len(KNOWLEDGE) * len(METHODS)


# --- the tables in results/ ----------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_the_stored_tables_agree_with_the_expected_first_terms(name):
    """Were the means normal, right ones would fail with probability 1e-3 for each table."""
    rows = [row for row in read_table(RESULTS / f"{name}.csv") if row.knowledge == "none"]
    expected = [row for row in rows if row.expected_first is not None]
    assert {row.estimator for row in rows if row not in expected} == {*METHODS} - {"empirical"}
    for row in expected:
        limit = stats.t.isf(1e-3 / (2 * len(expected)), row.realizations - 1)
        assert abs(row.first - row.expected_first) < limit * row.first_error, row


@pytest.mark.parametrize("name", TABLES)
def test_theorem_1_holds_in_the_stored_tables(name):
    for row in read_table(RESULTS / f"{name}.csv"):
        assert 2 * row.tv <= (row.first + row.second) * (1 + 1e-5)
        assert row.second <= row.second_bound * (1 + 1e-5)
        assert (row.second == 0) == (row.knowledge == "true")


def test_the_first_term_does_not_depend_on_the_knowledge():
    first = {}
    for row in read_table(RESULTS / "fig8.csv"):
        key = row.mechanism, row.epsilon, row.estimator
        assert first.setdefault(key, (row.first, row.second_bound)) == (row.first, row.second_bound)


@pytest.mark.parametrize("name", TABLES)
def test_the_stored_tables_come_out_again(tmp_path, name):
    stored = read_table(RESULTS / f"{name}.csv")
    points = [p for p in plan(name, Settings()) if not p.reports]
    few = [points[i] for i in np.random.default_rng(1).choice(len(points), 1)]
    for row in experiments.run(few, tmp_path / "record.jsonl", Settings.seed):
        (match,) = (
            other
            for other in stored
            if (other.mechanism, other.epsilon) == (row.mechanism, row.epsilon)
            and (other.knowledge, other.estimator) == (row.knowledge, row.estimator)
        )
        assert_close(row, match)
