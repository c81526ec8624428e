"""The claims of the paper are lists of comparisons: all that a sentence names, judged by a rule.

Ratios of losses and their errors are those of the tables' rows.
"""

import re
import sys
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from uldp.paper.experiments import read_table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "notebooks"))

import claims  # noqa: E402
import verdicts as v  # noqa: E402

LABELS = (
    *("figure", "data", "pair", "mechanism", "knowledge", "estimator", "epsilon"),
    *("sensitive", "k", "number", "loss", "quantity"),
)
LOSSES = ("tv", "mse", "first", "second")


def comparisons(*favours: float, error: float = 0.01) -> pd.DataFrame:
    return pd.DataFrame({"favour": favours, "ratio": favours, "error": error})


@pytest.mark.parametrize(
    ("favours", "counts", "word"),
    [
        ([2.0, 1.5, 1.01], (2, 0, 1, 0), v.HOLDS),
        ([2.0] * 19 + [0.97], (19, 1, 0, 0), v.HOLDS),
        ([2.0] * 18 + [0.97], (18, 1, 0, 0), v.MOSTLY),
        ([2.0] * 99 + [0.95], (99, 1, 0, 1), v.MOSTLY),
        ([2.0, 2.0, 0.5], (2, 1, 0, 1), v.MOSTLY),
        ([2.0, 0.5], (1, 1, 0, 1), v.TIE),
        ([2.0] * 8 + [0.97] * 8, (8, 8, 0, 0), v.TIE),
        ([2.0, 0.5, 0.5, 1.0], (1, 2, 1, 2), v.DIFFERS),
        ([1.0, 1.01, 0.99], (0, 0, 3, 0), v.UNDECIDED),
        ([], (0, 0, 0, 0), v.UNDECIDED),
    ],
)
def test_the_word_follows_from_the_counts(favours, counts, word) -> None:
    found = v.tally(comparisons(*favours))
    assert found == v.Counts(*counts)
    assert found.word == word
    apart = v.tally(comparisons(*favours), comparable=False)
    assert apart[:4] == counts
    assert (apart.word, apart.by_one) == (v.NOT_COMPARABLE, False)


@pytest.mark.parametrize(
    ("counts", "by_one"),
    [
        ((87, 86, 3, 73), True),
        ((3, 3, 0, 3), True),
        ((1, 0, 0, 0), True),
        ((8, 0, 0, 0), True),
        ((19, 1, 0, 0), True),
        ((189, 0, 11, 0), False),
        ((11, 1, 0, 1), False),
        ((3, 8, 5, 8), False),
    ],
)
def test_a_verdict_may_hang_on_one_comparison(counts, by_one) -> None:
    assert v.Counts(*counts).by_one is by_one


def test_no_error_decides_and_no_known_error_does_not() -> None:
    assert v.outcomes(comparisons(1.001, 0.999, 1.0, error=0.0)).tolist() == [1, -1, 0]
    assert v.outcomes(comparisons(9.0, 0.1, error=np.nan)).tolist() == [0, 0]
    assert v.outcomes(comparisons(9.0, 0.1, error=np.inf)).tolist() == [0, 0]


def test_bounds_turn_ratios_into_factors_in_favour() -> None:
    ratios = pd.DataFrame({"ratio": [0.5, 1.0, 2.0], "error": 0.1})
    assert v.at_least(ratios)["favour"].tolist() == [0.5, 1.0, 2.0]
    assert v.at_least(ratios, 2.0)["favour"].tolist() == [0.25, 0.5, 1.0]
    assert v.at_most(ratios, 2.0)["favour"].tolist() == [4.0, 2.0, 1.0]
    assert v.at_most(ratios, [0.5, 2.0, 2.0])["favour"].tolist() == [1.0, 2.0, 1.0]
    np.testing.assert_allclose(v.within(ratios, 1.1)["favour"], [0.55, 1.1, 0.55])


ROW = {"data": "census", "estimator": "em", "k": 400, "epsilon": 1.0, "realizations": 100}


def measured(*tvs: float, error: float = 0.01, **entries: object) -> pd.DataFrame:
    rows = [ROW | {"tv": tv, "tv_error": error, "number": i} for i, tv in enumerate(tvs)]
    return pd.DataFrame([row | entries for row in rows])


def test_rows_are_selected_by_entries_and_by_several() -> None:
    both = pd.concat([measured(1.0), measured(2.0, data="manhattan", k=625, epsilon=6.2)])
    assert v.select(both, data="census")["tv"].tolist() == [1.0]
    assert v.select(both, data=("census", "manhattan"), k=625)["tv"].tolist() == [2.0]
    assert v.up_to_ln_k(both.assign(epsilon=[6.2, 6.2]))["tv"].tolist() == [2.0]


def test_ratios_have_the_error_of_their_logarithm() -> None:
    found = v.ratios(measured(2.0, 3.0), measured(1.0, 1.5, realizations=10), ["number"])
    assert found["ratio"].tolist() == [2.0, 2.0]
    errors = np.hypot([0.01 / 2, 0.01 / 3], [0.01, 0.01 / 1.5])
    np.testing.assert_allclose(found["error"], errors)
    rng = np.random.default_rng(1)  # against a simulation, to 2% of the error
    logs = np.log(rng.normal(2.0, 0.01, 100_000) / rng.normal(1.0, 0.01, 100_000))
    assert abs(logs.std() / found["error"][0] - 1) < 0.02


def test_one_realization_has_no_error() -> None:
    found = v.ratios(measured(2.0), measured(1.0, realizations=1), ["number"])
    assert np.isinf(found["error"]).all()


@pytest.mark.parametrize(("above", "below"), [((1.0, 2.0), (1.0,)), ((), ())])
def test_rows_without_a_partner_are_refused(above, below) -> None:
    with pytest.raises((ValueError, KeyError)):
        v.ratios(measured(*above), measured(*below), ["number"])


def test_quotients_add_the_errors_of_ratios() -> None:
    high = v.ratios(measured(8.0), measured(1.0), ["number"])
    low = v.ratios(measured(2.0), measured(1.0), ["number"])
    found = v.quotients(high, low, ["number"])
    assert found["ratio"].tolist() == [4.0]
    np.testing.assert_allclose(found["error"], np.hypot(high["error"], low["error"]))


def test_entries_are_written_with_their_error() -> None:
    found = v.ratios(measured(3.0, 300.0), measured(2.0, 2.0), ["number"])
    assert v.entry(found, number=0) == "1.50 ± 0.02"
    assert v.entry(found, number=1) == "150 ± 2"
    with pytest.raises(ValueError, match="one ratio must have"):
        v.entry(found, data="census")


@pytest.fixture(scope="module")
def shuffled() -> dict[str, pd.DataFrame]:
    """The tables' points with losses of chance, for what does not hang on the losses."""
    rng = np.random.default_rng(3)
    tables = {
        name: read_table(ROOT / "results" / f"{name}.csv")
        for name in ("fig5", "fig6", "fig7", "fig8", "table1")
    }
    for table in tables.values():
        for loss in LOSSES:
            if loss in table:
                table[loss] = rng.uniform(0.5, 2.0, len(table))
                table[f"{loss}_error"] = 0.01 * table[loss]
    time = pd.read_csv(ROOT / "benchmarks/results/running_time.csv", comment="#")
    return tables | {"time": time.assign(lowest=0.5, highest=0.6)}


BUDGETS, ATTRIBUTES, PLACES = 22, 6, 22
SIZES = {"census": 16, "manhattan": 18}
EXPECTED = {
    "orders_of_magnitude": 4 * 2 * 3 * BUDGETS,
    "especially_on_checkins": 4 * 3 * (BUDGETS - 1),
    "as_good_as_no_privacy": 2 * 3,
    "outperform_empirical": 4 * 2 * 2 * BUDGETS,
    "because_not_negative": 4 * 2 * 2 * BUDGETS,
    "better_at_large_budgets": 2 * 2 * 12,
    "close_in_figure_5": 4 * 2 * BUDGETS,
    "close_in_figure_6": 2 * (2 * 2 + 2 * sum(SIZES.values())),
    "best_at_high_privacy": 2 * (3 * sum(SIZES.values()) - 2),
    "best_at_low_privacy": 2 * (3 * sum(SIZES.values()) - 2),
    "close_below_100": 2 * 2 * 11,
    "close_below_20": 2 * 2 * 7,
    "rises_rapidly": 2 * (8 + 10),
    "theory_holds": 2 * (4 * 2 * BUDGETS + 2 * (2 * 2 + 2 * sum(SIZES.values()))),
    "close_in_figure_7": 4 * 3 * ATTRIBUTES,
    "increases_with_attributes": 4 * 2 * 3 * (ATTRIBUTES - 1),
    "remain_effective": 4 * 2 * 3 * ATTRIBUTES - 2,
    "almost_one": 3,
    "much_smaller_than_one": 1,
    "robust_to_attributes": 2 * 3 * (ATTRIBUTES - 1),
    "linear_in_attributes": 2 * (ATTRIBUTES - 1),
    "less_than_a_second": 4 * 2,
    "good_alternative": 4 * 3,
    "in_between": 2 * 2 * 3 * PLACES,
    "alike_below_one": 3 * 2 * 3 * 10,
    "second_term_is_constant": 2 * 2 * 3 * (PLACES - 1),
    "smaller_than_the_sum": 6,
    "numbers_of_table_1": 16,
    "similar_in_mse": 6 * 2 * 3 * BUDGETS
    + 2 * (5 * 2 * sum(SIZES.values()) + 2 * 2 - 2 * 2 * 2)
    + 6 * 2 * 3 * ATTRIBUTES
    + (3 * 2 + 3) * 3 * PLACES,
}


def test_every_claim_is_listed_once_in_the_order_of_the_paper() -> None:
    assert [each.comparisons.__name__ for each in claims.CLAIMS] == list(EXPECTED)
    assert [each.number for each in claims.CLAIMS] == list(range(1, len(EXPECTED) + 1))


@pytest.mark.parametrize("each", claims.CLAIMS, ids=lambda each: each.comparisons.__name__)
def test_a_claim_is_all_comparisons_that_its_sentence_names(each, shuffled) -> None:
    """They are as many as the figure has, and none is counted twice."""
    table = each.comparisons(shuffled)
    assert len(table) == EXPECTED[each.comparisons.__name__]
    assert not table.duplicated([name for name in LABELS if name in table]).any()
    assert (table["favour"] > 0).all()
    assert np.isfinite(table["favour"]).all()
    if each.comparisons not in (claims.similar_in_mse, claims.because_not_negative):
        assert np.isfinite(table["error"]).all()


def test_comparisons_follow_the_losses(shuffled) -> None:
    """With uRR's TV a hundredth, RR and RAPPOR lose all of theirs with it and no other."""
    changed = dict(shuffled)
    changed["fig5"] = shuffled["fig5"].copy()
    urr = changed["fig5"]["mechanism"] == "uRR"
    changed["fig5"].loc[urr, ["tv", "tv_error"]] /= 100
    table = claims.orders_of_magnitude(changed)
    with_urr = table["pair"].str.endswith("uRR")
    assert v.tally(table[with_urr]).word == v.HOLDS
    assert v.tally(table[~with_urr]).word == v.DIFFERS


@pytest.fixture(scope="module")
def judged() -> dict[int, claims.Judged]:
    """The claims, judged from the tables in the repository."""
    return claims.judge(claims.read_tables(ROOT))


@pytest.mark.parametrize("close", [1.05, 1.5])
def test_another_meaning_of_close_moves_the_verdicts(judged, monkeypatch, close) -> None:
    """They are those of claims that are written with it."""
    monkeypatch.setattr(claims, "CLOSE", close)
    again = claims.judge(claims.read_tables(ROOT))
    monkeypatch.undo()
    found = claims.words_with(judged, close)
    assert found == {number: each.counts.word for number, each in again.items()}


def test_a_point_without_any_gain_is_not_for_its_reason(judged) -> None:
    """Claim 5 asks who makes the gain: with gains of nothing there is none to be made."""
    tables = claims.read_tables(ROOT)
    point = ["data", "mechanism", "epsilon"]
    of = tables["fig5"].set_index([*point, "estimator"])["tv"]
    table = next(each for each in judged.values() if comparisons_of(each) == "because_not_negative")
    table = table.comparisons
    gains = [
        of[*at, estimator] < of[*at, "empirical"]
        for *at, estimator in table[[*point, "estimator"]].itertuples(index=False)
    ]
    assert 0 < sum(gains) < len(gains)
    assert not v.outcomes(table)[~np.array(gains)].any()


def numbers(judged: dict[int, claims.Judged], word: str) -> list[int]:
    return [number for number, each in judged.items() if each.counts.word == word]


def test_tables_from_the_papers_own_files_are_judged_alike(judged, tmp_path) -> None:
    """Here ours, under the names that the others have."""
    names = {role: name for name, role in claims.ROLES.items()}
    for path in (ROOT / "results").glob("*.csv"):
        text = path.read_text(encoding="utf-8")
        renamed = re.sub(r"(?m)^(census|manhattan),", lambda m: f"{names[m[1]]},", text)
        (tmp_path / path.name).write_text(renamed, encoding="utf-8")
    found = claims.judge(claims.read_tables(ROOT, str(tmp_path)))
    assert [each.counts for each in found.values()] == [each.counts for each in judged.values()]


def comparisons_of(judged: claims.Judged) -> str:
    return judged.claim.comparisons.__name__


def test_exceptions_are_listed_of_what_holds_mostly(judged) -> None:
    """With the number of comparisons that are against the claim, each once."""
    for row in claims.rows(judged, list(judged)):
        counts = judged[row[0]].counts
        assert f"<b>{counts.word}</b>: {counts}" in row[2]
        listed = re.findall(r": (\d+) \(", row[2])
        assert sum(map(int, listed)) == (counts.no if counts.word == v.MOSTLY else 0)


def test_the_summary_has_each_claim_once(judged) -> None:
    written = claims.summary(judged).split("\n")
    lines = [re.fullmatch(r"([\w ]+) \((\d+)\): (.*)", line) for line in written]
    listed = {line[1]: [int(number) for number in line[3].split(", ")] for line in lines}
    assert listed == {word: numbers(judged, word) for word in listed}
    assert sorted(number for each in listed.values() for number in each) == sorted(judged)


def test_verdicts_follow_the_tables(judged) -> None:
    """If uRAP's TV were a tenth at ε = 0.1 in Figure 6, it would be best, with no exception."""
    tables = claims.read_tables(ROOT)
    small = (tables["fig6"]["mechanism"] == "uRAP") & (tables["fig6"]["epsilon"] == 0.1)
    tables["fig6"].loc[small, ["tv", "tv_error"]] /= 10
    (before,) = [each for each in judged.values() if comparisons_of(each) == "best_at_high_privacy"]
    assert before.counts.word == v.MOSTLY
    assert v.tally(before.claim.comparisons(tables)).word == v.HOLDS


def test_the_chapters_show_every_claim(judged) -> None:
    """In a table of the chapter on a common mechanism or of that on personalized ones."""
    shown = set()
    for name in ("experiments", "personalized_experiments"):
        chapter = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
        source = "\n".join(cell.source for cell in chapter.cells)
        for call in re.findall(r"^claims.report\(judged, (.*)\)$", source, re.M):
            shown |= set(eval(f"[{call}]"))
    assert shown == set(judged)
