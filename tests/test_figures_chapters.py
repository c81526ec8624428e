"""The figures of chapters on losses, estimators and definitions show what is handed over."""

import numpy as np
import pytest
from drawn import lines, names
from matplotlib.colors import to_hex
from test_figures import plates

from uldp.paper.figures import properties, style
from uldp.paper.figures.losses import (
    draw_supports,
    error_parts,
    losses_by_estimator,
    losses_by_mass,
)
from uldp.paper.figures.properties import Levels
from uldp.paper.figures.style import OTHER, SENSITIVE, one_axes


def test_each_loss_is_a_line_with_a_dot_at_its_peak() -> None:
    w = np.linspace(0, 1, 5)
    panels = {"uRR": {"above": (w, 1 + w * (1 - w)), "below": (w, 1 - w)}, "uRAP": {"b": (w, w)}}
    first, second = losses_by_mass(panels, "loss")
    above, below, peak, start = lines(first)
    assert [above, below] == [tuple(map(list, curve)) for curve in panels["uRR"].values()]
    assert [peak, start] == [([0.5], [1.25]), ([0], [1])]
    assert lines(second)[1] == ([1], [1])
    assert [names(first), names(second)] == [["above", "below"], ["b"]]
    assert [ax.get_title("left") for ax in (first, second)] == ["uRR", "uRAP"]
    with pytest.raises(ValueError, match=r"heights of 'a' must have shape \(3,\), got \(2,\)"):
        losses_by_mass({"": {"a": ([0.1, 0.2, 0.3], [1, 1])}}, "loss")


def test_supports_are_bars_on_their_floors() -> None:
    floor, added = [0.3, 0.3, 0.0], [0.1, 0.0, 0.4]
    ax = one_axes(2)
    draw_supports(ax, "at", floor, added, [True, True, False])
    floors, sensitive, others = ax.containers
    assert [bar.get_height() for bar in floors] == floor
    heights = [bar.get_height() for bar in [*sensitive, *others]]
    assert heights == pytest.approx(added)
    assert [bar.get_y() for bar in [*sensitive, *others]] == floor
    assert ax.get_lines()[0].get_ydata()[0] == max(np.add(floor, added))
    assert [to_hex(bars[0].get_facecolor()) for bars in (sensitive, others)] == [
        SENSITIVE.lower(),
        OTHER.lower(),
    ]
    with pytest.raises(ValueError, match=r"rise of 'a' must have shape \(2,\), got \(1,\)"):
        draw_supports(ax, "a", [0.1, 0.2], [0.1], [True, False])


def test_the_parts_of_an_error_are_shares_with_half_marked_and_the_totals_above() -> None:
    grid = np.geomspace(0.1, 10, 21)
    (ax,) = error_parts({"uRR": (grid, 3 / grid, np.full(21, 2.0))})
    (across, share), (half, height) = lines(ax)
    assert across == pytest.approx(grid)
    assert share == pytest.approx(3 / (3 + 2 * grid))
    assert (half, height) == ([pytest.approx(1.5, rel=0.01)], [0.5])
    texts = [text.get_text().strip() for text in ax.texts]
    assert texts[:4] == ["half at ε = 1.5", "total 32", "5", "2.3"]


def test_losses_of_estimators_are_written_and_those_near_the_least_are_bold() -> None:
    losses = {"empirical": [30.0, 0.08], "em": [0.5, 0.1]}
    ax, _ = losses_by_estimator({"RR": losses, "uRR": losses}, ["0.1", "1"])
    written = [(text.get_text(), text.get_weight()) for text in ax.texts]
    assert written == [("3,000", "normal"), ("8.0", "bold"), ("50", "bold"), ("10", "normal")]
    np.testing.assert_allclose(ax.images[0].get_array(), np.log10([[10, 1], [1, 1.25]]))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["as counted", "EM"]


A, B = np.meshgrid(np.linspace(0, 1, 31), np.linspace(0, 1, 31))


NAMES = [("LDP", (0.1, 0.5), (0.2, 0.5))]


def nested(**changed: np.ndarray) -> Levels:
    """LDP in a < 1/3, ULDP in a < 2/3 and on the edge a = 1 for b <= 1/2, OSLDP everywhere."""
    levels = {
        "ldp": np.where(A < 1 / 3, 0.5, 3.0),
        "uldp": np.where((A < 2 / 3) | ((A == 1) & (B <= 0.5)), 0.5, 3.0),
        "osldp": np.full_like(A, 0.5),
    }
    return Levels(**levels | changed, points={"M": (0.5, 0.25)}, names=NAMES)


def test_the_edge_and_the_points_stand_where_they_are() -> None:
    (ax,) = properties.definition_regions({"c = 0": nested()}, epsilon=1.0)
    edge, point = ax.lines
    assert [text.get_text() for text in ax.texts] == ["LDP", "M"]
    assert ax.texts[0].get_position() == (0.1, 0.5)
    assert (list(edge.get_xdata()), list(edge.get_ydata())) == ([1, 1], [0, 0.5])
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (0.5, 0.25)


def test_a_region_ends_where_its_level_does() -> None:
    (ax,) = properties.definition_regions({"": nested()}, epsilon=1.0)
    weakest, _, strongest = [c for c in ax.collections if c.filled]
    assert weakest.get_paths()[0].get_extents().x1 == 1
    assert 0.3 < strongest.get_paths()[0].get_extents().x1 < 1 / 3


def test_regions_follow_the_colours_of_the_page() -> None:
    (ax,) = properties.definition_regions({"": nested()}, epsilon=1.0)
    assert plates(ax) == []
    assert not ax.patch.get_visible()
    tokens = {style.GRID, style.ACCENT, style.FAINT, style.INK}
    found = {to_hex(color) for drawn in ax.collections for color in drawn.get_facecolor()}
    assert found <= {token.lower() for token in tokens}


def test_promises_are_drawn_at_their_factors_and_what_is_broken_is_said() -> None:
    cases = {"kept": (3.0, 3.0), "below": (4.0, 2.0), "broken": (3.0, 5.5), "none": (3.0, np.inf)}
    ax = properties.promises(cases)
    words = [text.get_text() for text in ax.texts]
    assert words == ["3", "2", "5.5, broken", "no level at all"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(cases)
    promised = np.array(ax.collections[1].get_segments())[:, 0, 0]
    np.testing.assert_array_equal(promised, [3, 4, 3, 3])
    ends = [(*line.get_xdata(), *line.get_ydata()) for line in ax.lines]
    assert ends == [(3, 0), (2, 1), (5.5, 2.5), (ax.get_xlim()[1], 3.5)]
    assert ax.get_yticks().tolist() == [0, 1, 2.5, 3.5]
    assert [line.get_color() for line in ax.lines] == [style.INK] * 2 + [style.WARN] * 2
