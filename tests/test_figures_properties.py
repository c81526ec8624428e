"""The figures show the numbers that they are given, and refuse those that they cannot show."""

import numpy as np
import pytest

from uldp.paper.figures import properties as property_figures, style
from uldp.paper.figures.properties import Levels

GRID = np.linspace(0, 1, 31)
A, B = np.meshgrid(GRID, GRID)


def nested(**changed: np.ndarray) -> Levels:
    """LDP in a < 1/3, ULDP in a < 2/3 and on the edge a = 1 for b <= 1/2, OSLDP everywhere."""
    levels = {
        "ldp": np.where(A < 1 / 3, 0.5, 3.0),
        "uldp": np.where((A < 2 / 3) | ((A == 1) & (B <= 0.5)), 0.5, 3.0),
        "osldp": np.full_like(A, 0.5),
    }
    return Levels(**levels | changed, points={"M": (0.5, 0.25)})


def test_each_region_is_named_inside_itself_by_the_strongest_definition() -> None:
    (ax,) = property_figures.definition_regions({"c = 0": nested()}, epsilon=1.0)
    names = {text.get_text(): text.get_position() for text in ax.texts}
    assert names["LDP"][0] < 1 / 3
    assert names["OSLDP\nonly"][0] > 2 / 3
    assert names.keys() == {"LDP", "ULDP", "OSLDP\nonly", "M"}
    inside = [x for text in ax.texts if text.get_text() == "ULDP" for x, _ in [text.get_position()]]
    assert sorted(x > 1 for x in inside) == [False, True]
    assert 1 / 3 < min(inside) < 2 / 3


def test_the_edge_and_the_points_stand_where_they_are() -> None:
    (ax,) = property_figures.definition_regions({"c = 0": nested()}, epsilon=1.0)
    edge, point = ax.lines
    assert (list(edge.get_xdata()), list(edge.get_ydata())) == ([1, 1], [0, 0.5])
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (0.5, 0.25)


def test_mechanisms_without_a_level_are_in_no_region() -> None:
    never = np.full_like(A, np.inf)
    levels = nested(ldp=never, uldp=never, osldp=never)
    (ax,) = property_figures.definition_regions({"": levels}, epsilon=1.0)
    assert {text.get_text() for text in ax.texts} == {"none", "M"}


def test_data_that_cannot_be_shown() -> None:
    with pytest.raises(ValueError, match="at least one panel"):
        property_figures.definition_regions({}, 1.0)
    with pytest.raises(ValueError, match="levels of ULDP must have shape"):
        property_figures.definition_regions({"": nested(uldp=np.zeros((31, 2)))}, 1.0)
    with pytest.raises(ValueError, match="epsilon must be 0 or greater, got -1"):
        property_figures.definition_regions({"": nested()}, -1.0)


def test_promises_are_drawn_at_their_factors_and_what_is_broken_is_said() -> None:
    cases = {"kept": (3.0, 3.0), "below": (4.0, 2.0), "broken": (3.0, 5.5), "none": (3.0, np.inf)}
    ax = property_figures.promises(cases)
    words = [text.get_text() for text in ax.texts]
    assert words == ["broken", "no level at all"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(cases)
    promised = np.array(ax.collections[1].get_segments())[:, 0, 0]
    np.testing.assert_array_equal(promised, [3, 4, 3, 3])
    ends = [(*line.get_xdata(), *line.get_ydata()) for line in ax.lines]
    assert ends == [(3, 0), (2, 1), (5.5, 2), (ax.get_xlim()[1], 3)]
    assert [line.get_color() for line in ax.lines] == [style.INK] * 2 + [style.WARN] * 2


@pytest.mark.parametrize("cases", [{}, {"": (0.5, 1.0)}, {"": (np.inf, 2.0)}, {"": (2.0, np.nan)}])
def test_promises_refuse_what_is_no_factor(cases: dict[str, tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="case"):
        property_figures.promises(cases)
