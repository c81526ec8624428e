"""Results as notebooks show them, as data frames and as drawings."""

import re
import sys
from html import unescape

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import same_color

import uldp
from uldp import inference, personalized
from uldp._numerics.results import Result
from uldp.survey.choosing import Comparison

ANSWERS = uldp.Domain.product(
    ill=["<no>", "$x$ & $y$"], age=["a", "b"], sensitive=lambda ill, age: ill != "<no>"
)
LAW = uldp.UtilityOptimizedRR(ANSWERS, 1.0)
TALLY, LATER = (LAW.simulate([300, 200, 100, 400], rng=seed) for seed in (1, 2))
ALIKE = uldp.Tally(LAW, 9, [9, 0, 0, 0])
TAGGED = uldp.Rappor(personalized.TaggedDomain(uldp.Domain(["<no>", "b"]), ["t"]), 1.0)
RESULTS = {
    "table": inference.summary(TALLY),
    "of reports that are alike": inference.summary(ALIKE),
    "biased": inference.summary(TALLY, method="norm_sub"),
    "one answer": inference.marginal(TALLY, "ill"),
    "change": inference.difference(TALLY, LATER),
    "strata": inference.stratified({"<n>": TALLY, "s": LATER}, [0.4, 0.6]),
    "personalized": personalized.summary(TAGGED.simulate([30, 40, 20], rng=1)),
    "long": inference.summary(uldp.Rappor(uldp.Domain(61), 1.0).simulate([1] * 61)),
    "total": inference.total(TALLY, [1, 0, 0, 0]),
    "group": inference.ratio(TALLY, [1, 0, 0, 0], [1, 1, 0, 0]),
    "change of a total": inference.difference(TALLY, LATER, [1, 0, 0, 0]),
    "personalized total": personalized.total(TAGGED.simulate([9, 9, 9]), None, ["b"]),
    "test": inference.homogeneity(TALLY, LATER),
    "forecasts": uldp.compare(ANSWERS, 1.0, n=100),
}
TABLES = {name: one for name, one in RESULTS.items() if isinstance(one, inference.EstimateTable)}


@pytest.fixture(params=RESULTS.values(), ids=RESULTS.keys())
def result(request):
    return request.param


@pytest.fixture(params=TABLES.values(), ids=TABLES.keys())
def table(request):
    return request.param


def test_every_result_is_here():
    kinds = [kind for kind in vars(inference).values() if isinstance(kind, type)]
    made = {*map(type, RESULTS.values())}
    assert {*kinds, personalized.PersonalizedTotal, Comparison} == made
    assert all(isinstance(one, Result) for one in RESULTS.values())


def test_a_notebook_shows_the_numbers_of_the_data_frame(result):
    """In its order, up to how many digits are shown; no label becomes a tag."""
    html = result._repr_html_()
    assert {*re.findall("</?([a-z]+)", html)} <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    rows = [re.findall("<td>(.*?)</td>", line) for line in html.splitlines() if "<td>" in line]
    frame = result.to_pandas()
    assert len(rows) == min(len(frame), 60)
    for cells, label, numbers in zip(rows, frame.index, frame.to_numpy(), strict=False):
        if len(frame) > 1:
            cells = unescape(cells[0]), *cells[1:]
            name = label if isinstance(label, str | int) else ", ".join(label)
            assert cells[0].rstrip("*") == str(name)
        shown = dict(zip(frame.columns, numbers, strict=True))
        shown.pop("sensitive", None)
        for cell, number in zip(cells[len(frame) > 1 :], shown.values(), strict=True):
            assert cell == number or told(cell, number, shown)


def told(cell: str, number: float, row: dict[str, float]) -> bool:
    """Whether a cell says a number, or at most or at least the end of its interval."""
    if cell == "–":
        return bool(np.isnan(number))
    if cell.startswith(("at most", "at least")):
        assert np.isnan(row["standard_error"])
        number = row["high" if "most" in cell else "low"]
    said = float(cell.split()[-1].rstrip("%")) / (100 if cell.endswith("%") else 1)
    return said == pytest.approx(number, rel=6e-3, abs=6e-4 if "%" in cell else 0)


def test_without_pandas_the_extra_is_named(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match='package pandas, of the extra "tables"'):
        result.to_pandas()


def test_a_table_draws_itself_with_its_error_bars(table):
    """All that is printed, with labels as they are."""
    ax = table.plot()
    ax.figure.canvas.draw()
    frame = table.to_pandas()[:60]
    (bars,) = (c for c in ax.collections if isinstance(c, LineCollection))
    (dots,) = (c for c in ax.collections if isinstance(c, PathCollection))
    ends = [segment[:, 0] for segment in bars.get_segments() if segment.size]
    assert np.array_equal(np.reshape(ends, (-1, 2)), frame[["low", "high"]].dropna())
    np.testing.assert_array_equal(dots.get_offsets()[:, 0], table.estimate[:60])
    for color, is_sensitive in zip(dots.get_facecolors(), frame["sensitive"], strict=True):
        assert same_color(color, "C0" if is_sensitive else "C1")
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert [name.rstrip("*") for name in names] == [str(one) for one in table.domain.labels[:60]]
    assert not any(tick.get_parse_math() for tick in ax.get_yticklabels())
    assert f"{table.n:,} reports" in ax.get_xlabel()
    plt.close("all")


def test_without_matplotlib_the_extra_is_named(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match='package matplotlib, of the extra "figures"'):
        table.plot()
