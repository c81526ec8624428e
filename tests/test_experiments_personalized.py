"""The experiments of the personalized mechanism: the data's law, right means, the stored tables."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy import stats

import uldp
from uldp.paper import datasets, experiments
from uldp.paper.experiments import KNOWLEDGE, METHODS, PersonalizedPoint, Settings, plan, read_table
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
    methods=METHODS,
    realizations=6,
    law=LAW,
    places={"home": np.array([0.5, 0.5, 0]), "office": np.array([0, 0, 1])},
)


def run(folder: Path, *points: PersonalizedPoint, jobs: int = 1) -> pd.DataFrame:
    return experiments.run(points, folder / "record.jsonl", SEED, jobs)


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
    assert_frame_equal(read_table(path), pd.DataFrame(rows).astype(read_table(path).dtypes))
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
    assert {(p.data, p.n, p.sensitive_count) for p in points} == {("manhattan", 179_527, 18)}
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
    measured = experiments.measure(SMALL, ("norm_sub",), 3, SEED)["norm_sub"]
    (tally,) = tallies
    assert tally.n == 80
    true = dict(zip(("home", "office"), LAW.pi, strict=True))
    backgrounds = {"none": None, "places": SMALL.places, "true": true}
    assert tuple(measured) == KNOWLEDGE == tuple(backgrounds)
    for knowledge, losses in measured.items():
        result = estimate(tally.law, tally, backgrounds[knowledge], "norm_sub")
        terms = result.loss_terms(LAW)
        error = result.p - LAW.p
        assert losses["first"] == terms.first == measured["none"]["first"]
        bound = measured["none"]["second_bound"]
        assert losses["second_bound"] == result.second_term_bound == bound
        expected = {"tv": terms.loss / 2, "mse": error @ error, "second": terms.second}
        assert {name: losses[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mechanism", "reports"), [("uRR", False), ("uRAP", False), ("uRAP", True)]
)
def test_the_mean_of_the_first_term_is_the_expected_loss(tmp_path, mechanism, reports):
    """By the central limit theorem a right mean fails with probability 2e-7 (3 of them: 6e-7)."""
    point = replace(SMALL, mechanism=mechanism, reports=reports, realizations=400)
    for row in run(tmp_path, replace(point, methods=("empirical",))).itertuples():
        assert abs(row.first - row.expected_first) < 5.2 * row.first_error


@pytest.mark.parametrize("mechanism", ["uRR", "uRAP"])
def test_the_mean_error_with_the_true_knowledge_is_that_of_a_linear_estimate(tmp_path, mechanism):
    """The estimate is r̂ times a matrix; false alarm 2e-7 each, by the central limit theorem."""
    point = replace(SMALL, mechanism=mechanism, realizations=400, methods=("empirical",))
    rows = run(tmp_path, point).set_index("knowledge")
    common = uldp.mechanisms.PAPER[mechanism](DOMAIN, SMALL.epsilon)
    A = np.vstack([np.eye(3), LAW.pi])
    m = LAW.r @ common.transition_matrix()
    estimates = np.array([common.estimate(y[None]) for y in common.outputs]) @ A
    variance = m @ np.square(estimates - LAW.p).sum(axis=1)
    row = rows.loc["true"]
    assert abs(row.mse - variance / SMALL.n) < 5.2 * row.mse_error


def test_rows_hold_means_and_their_standard_errors(tmp_path):
    rows = run(tmp_path, SMALL)
    assert [(row.estimator, row.knowledge) for row in rows.itertuples()] == [
        (estimator, knowledge) for estimator in METHODS for knowledge in KNOWLEDGE
    ]
    names = ["first", "tv", "mse", "second"]
    for row in rows.itertuples():
        drawn = [experiments.measure(SMALL, (row.estimator,), i, SEED) for i in range(6)]
        losses = pd.DataFrame([losses[row.estimator][row.knowledge] for losses in drawn])
        means = (row.first, row.tv, row.mse, row.second)
        errors = (row.first_error, row.tv_error, row.mse_error, row.second_error)
        assert means == pytest.approx(losses[names].mean())
        assert errors == pytest.approx(stats.sem(losses[names]), abs=1e-15)
        assert row.second_bound == pytest.approx(losses["second_bound"].mean())
        assert (row.data, row.k, row.sensitive, row.n) == ("three values", 3, 1, 80)
        assert math.isnan(row.expected_first) == (row.estimator != "empirical")
    single = run(tmp_path, replace(SMALL, realizations=1))
    assert single[[f"{name}_error" for name in names]].isna().all(axis=None)


def test_quick_runs(tmp_path):
    settings = Settings(quick=True)
    for figure in ("fig13", "table1"):
        path = experiments.reproduce(figure, settings, tmp_path)
        name = experiments.FIGURES[figure]
        assert path == tmp_path / f"{name}.csv"
        header = path.read_text().splitlines()
        assert header[0] == f"# python -m uldp reproduce {name} --quick --seed 2019"
        assert any(line.startswith("# knowledge of where each tag occurs") for line in header)
        found = read_table(path)[["mechanism", "knowledge", "estimator"]].drop_duplicates()
        assert len(found) == 2 * len(KNOWLEDGE) * len(METHODS)


# --- the tables in results/ ----------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_the_stored_tables_agree_with_the_expected_first_terms(name):
    """Were the means normal, right ones would fail with probability 1e-3 for each table."""
    table = read_table(RESULTS / f"{name}.csv").query("knowledge == 'none'")
    expected = table[table["expected_first"].notna()]
    others = table[table["expected_first"].isna()]
    assert set(others["estimator"]) == {*METHODS} - {"empirical"}
    limit = stats.t.isf(1e-3 / (2 * len(expected)), expected["realizations"] - 1)
    deviation = (expected["first"] - expected["expected_first"]).abs()
    assert (deviation < limit * expected["first_error"]).all()


@pytest.mark.parametrize("name", TABLES)
def test_theorem_1_holds_in_the_stored_tables(name):
    table = read_table(RESULTS / f"{name}.csv")
    assert (2 * table["tv"] <= (table["first"] + table["second"]) * (1 + 1e-5)).all()
    assert (table["second"] <= table["second_bound"] * (1 + 1e-5)).all()
    assert ((table["second"] == 0) == (table["knowledge"] == "true")).all()
