"""Verdicts on the paper's findings follow the tables, with their errors, and disagreements show."""

import sys
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from scipy import stats

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))

import verdicts as v  # noqa: E402

ROW = {"data": "census", "estimator": "em", "k": 400, "epsilon": 1.0, "realizations": 100}


def table(*tvs: float, error: float = 0.01, **entries: object) -> pd.DataFrame:
    rows = [ROW | {"tv": tv, "tv_error": error, "number": i} for i, tv in enumerate(tvs)]
    return pd.DataFrame([row | entries for row in rows])


def test_rows_are_selected_by_entries_and_by_several() -> None:
    both = pd.concat([table(1.0), table(2.0, data="manhattan", k=625, epsilon=6.2)])
    assert v.select(both, data="census")["tv"].tolist() == [1.0]
    assert v.select(both, data=("census", "manhattan"), k=625)["tv"].tolist() == [2.0]
    assert v.up_to_ln_k(both.assign(epsilon=[6.2, 6.2]))["tv"].tolist() == [2.0]


def test_ratios_have_the_error_of_their_logarithm() -> None:
    found = v.ratios(table(2.0, 3.0), table(1.0, 1.5, realizations=10), ["number"])
    assert found["ratio"].tolist() == [2.0, 2.0]
    errors = np.hypot([0.01 / 2, 0.01 / 3], [0.01, 0.01 / 1.5])
    np.testing.assert_allclose(found["error"], errors)
    assert found["realizations"].tolist() == [10, 10]
    rng = np.random.default_rng(1)  # against a simulation, to 2% of the error
    logs = np.log(rng.normal(2.0, 0.01, 100_000) / rng.normal(1.0, 0.01, 100_000))
    assert abs(logs.std() / found["error"][0] - 1) < 0.02


@pytest.mark.parametrize(("above", "below"), [((1.0, 2.0), (1.0,)), ((), ())])
def test_rows_without_a_partner_are_refused(above, below) -> None:
    with pytest.raises((ValueError, KeyError)):
        v.ratios(table(*above), table(*below), ["number"])


def test_quotients_add_the_errors_of_ratios() -> None:
    high = v.ratios(table(8.0), table(1.0), ["number"])
    low = v.ratios(table(2.0), table(1.0), ["number"])
    found = v.quotients(high, low, ["number"])
    assert found["ratio"].tolist() == [4.0]
    np.testing.assert_allclose(found["error"], np.hypot(high["error"], low["error"]))


def test_signs_are_those_that_chance_does_not_explain() -> None:
    limit = stats.t.isf(0.01 / 6, 99)
    distances = [1.01 * limit, 0.99 * limit, -1.01 * limit]
    assert v.signs(distances, 1.0, 100).tolist() == [1, 0, -1]
    assert v.signs([1e9, -1e9], [1.0, np.nan], [1, 100]).tolist() == [0, 0]
    assert v.signs([1.0, -1.0, 0.0], 0.0, 2).tolist() == [1, -1, 0]
    assert v.signs([], [], []).tolist() == []


def test_false_decisions_are_as_rare_as_said() -> None:
    """Two thousand families of 20 comparisons of 10 normal realizations each, none with an effect.

    The rate of families with a decision is at most 1%; more than 37 of 2000 would have a
    probability below 0.001 if it were 1%.
    """
    rng = np.random.default_rng(7)
    runs = rng.standard_normal((2000, 20, 10))
    errors = runs.std(axis=2, ddof=1) / np.sqrt(10)
    families = zip(runs.mean(axis=2), errors, strict=True)
    wrong = sum(bool(v.signs(mean, error, 10).any()) for mean, error in families)
    assert stats.binom.sf(37, 2000, 0.01) < 0.001
    assert 0 < wrong <= 37


def test_comparisons_are_counted_by_group() -> None:
    both = pd.concat([table(4.0, 1.0), table(1.001, estimator="mle")], ignore_index=True)
    ratio = both.assign(ratio=both["tv"], error=0.01)
    assert v.exceed(ratio) == {"em": v.Decided(1, 0, 1), "mle": v.Decided(0, 0, 1)}
    assert v.exceed(ratio, 2.0)["em"] == v.Decided(1, 1, 0)
    assert v.stay_below(ratio, 2.0)["em"] == v.Decided(1, 1, 0)
    assert v.stay_within(ratio, 1.1) == {"em": v.Decided(1, 1, 0), "mle": v.Decided(1, 0, 0)}
    assert v.exceed(ratio, by="data") == {"census": v.Decided(1, 0, 2)}
    assert v.total(v.exceed(ratio)) == v.Decided(1, 0, 2)


@pytest.mark.parametrize(
    ("groups", "within", "verdict"),
    [
        ([(3, 0, 3)], None, v.HOLDS),
        ([(9, 0, 0), (1, 0, 2)], None, v.OPEN),
        ([(0, 0, 0)], None, v.OPEN),
        ([(9, 1, 0)], None, v.DIFFERS),
        ([(9, 1, 0)], (3, 0, 0), v.CONDITION),
        ([(9, 0, 0), (0, 0, 2)], (3, 0, 3), v.CONDITION),
        ([(9, 1, 0)], (3, 1, 0), v.DIFFERS),
        ([(9, 1, 0)], (3, 0, 4), v.DIFFERS),
    ],
)
def test_verdicts(groups, within, verdict) -> None:
    counts = {str(i): v.Decided(*each) for i, each in enumerate(groups)}
    inside = within and {"": v.Decided(*within)}
    found = v.judge(1, "a claim", counts, "seen", "if so", inside)
    assert found.verdict == verdict
    assert ("if so" in found.evidence) == (verdict == v.CONDITION)


def test_disagreements_name_the_finding() -> None:
    findings = [
        v.judge(1, "one", {"": v.Decided(1, 0, 0)}, "a"),
        v.judge(2, "two", {"": v.Decided(1, 1, 0)}, "b"),
    ]
    assert v.disagreements(findings, {1: v.HOLDS, 2: v.DIFFERS}) == []
    lines = v.disagreements(findings, {1: v.HOLDS, 2: v.HOLDS, 3: v.HOLDS})
    assert len(lines) == 2
    assert lines[0].startswith("Finding 2 (two): the text says 'holds', the tables say 'differs'")
    assert lines[1] == "Finding 3 is not judged"
    assert "says 'nothing'" in v.disagreements(findings, {2: v.DIFFERS})[0]


def test_entries_are_written_with_their_error() -> None:
    found = v.ratios(table(3.0, 300.0), table(2.0, 2.0), ["number"])
    assert v.entry(found, number=0) == "1.50 ± 0.02"
    assert v.entry(found, number=1) == "150 ± 2"
    with pytest.raises(ValueError, match="one ratio must have"):
        v.entry(found, data="census")


@pytest.mark.parametrize(
    ("figure", "of", "factor", "finding"),
    [
        ("fig5", {"estimator": "norm_sub", "mechanism": "RR"}, 2, 5),
        ("fig6", {"mechanism": "uRAP", "epsilon": 0.1}, 10, 8),
        ("fig7", {"mechanism": "uRAP", "k": 12_800, "epsilon": 0.1}, 3, 16),
    ],
)
def test_the_chapter_fails_if_the_tables_say_otherwise(
    figure, of, factor, finding, monkeypatch
) -> None:
    monkeypatch.chdir(NOTEBOOKS)
    chapter = nbformat.read("experiments.ipynb", as_version=4)
    cells = {cell.id: cell.source for cell in chapter.cells if cell.cell_type == "code"}
    first, *others = [
        source
        for name, source in cells.items()
        if name.startswith(("experiments-", "headline-gains")) and "figure" not in name
    ]
    page: dict = {"display": print}
    exec(first, page)
    changed = page["TABLES"][figure]
    chosen = (changed[list(of)] == pd.Series(of)).all(axis=1)
    changed.loc[chosen, ["tv", "tv_error"]] *= factor
    with pytest.raises(AssertionError, match=rf"Finding {finding} \("):
        exec("\n".join(others), page)
