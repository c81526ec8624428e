"""The figures of the l1 losses: what is drawn is what was handed over."""

from typing import Any

import numpy as np
import pytest
from drawn import lines, names
from matplotlib.colors import to_hex

from uldp.paper.figures.losses import (
    WorstCases,
    draw_supports,
    error_parts,
    losses_by_mass,
    worst_case_planes,
)
from uldp.paper.figures.style import OTHER, SENSITIVE, one_axes

EPSILONS = np.linspace(1, 4, 31)
SIZES = np.arange(1, 10)


def a_plane(**changes: Any) -> WorstCases:
    """The worst case is interior beyond ε = 2 and in the paper for |X_S| <= 5."""
    fields = {
        "epsilons": EPSILONS,
        "sizes": SIZES,
        "stated": np.ones_like(EPSILONS) * SIZES[:, np.newaxis] <= 5,
        "boundaries": {"exact threshold": ([2, 2], [1, 9])},
    }
    return WorstCases(**{**fields, **changes})


def test_each_loss_is_a_line_with_a_dot_at_its_peak() -> None:
    w = np.linspace(0, 1, 5)
    panels = {"uRR": {"above": (w, 1 + w * (1 - w)), "below": (w, 1 - w)}, "uRAP": {"b": (w, w)}}
    first, second = losses_by_mass(panels, "loss")
    above, below, peak, start = lines(first)
    assert [above, below] == [tuple(map(list, curve)) for curve in panels["uRR"].values()]
    assert [peak, start] == [([0.5], [1.25]), ([0], [1])]
    assert lines(second)[1] == ([1], [1])
    assert [names(first), names(second)] == [["above", "below"], []]
    assert [ax.get_title("left") for ax in (first, second)] == ["uRR", "uRAP"]
    with pytest.raises(ValueError, match=r"heights of 'a' must have shape \(3,\), got \(2,\)"):
        losses_by_mass({"": {"a": ([0.1, 0.2, 0.3], [1, 1])}}, "loss")


def test_points_lie_below_the_lines() -> None:
    points = {"uRR": ([0.2, 0.4], [0.5, 0.7])}
    panels = {"uRR": {"a": ([0, 1], [1, 1])}, "uRAP": {"a": ([0, 1], [1, 1])}}
    first, second = losses_by_mass(panels, "loss", points=points)
    assert lines(first)[-1] == ([0.2, 0.4], [0.5, 0.7])
    assert first.get_lines()[-1].get_zorder() < first.get_lines()[0].get_zorder()
    assert len(first.get_lines()) == len(second.get_lines()) + 1
    with pytest.raises(ValueError, match="heights of \"points of 'uRR'\" must have shape"):
        losses_by_mass(panels, "loss", points={"uRR": ([1, 2], [1])})


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


def test_what_the_paper_leaves_out_is_filled_and_named() -> None:
    (ax,) = worst_case_planes({"uRR": a_plane()})
    assert ax.get_title("left") == "uRR"
    corners = np.concatenate([patch.get_path().vertices for patch in ax.patches])
    assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx((5.5, 9))
    assert "only in\nthis book" in {text.get_text() for text in ax.texts}
    everything = np.ones((SIZES.size, EPSILONS.size))
    (ax,) = worst_case_planes({"uRR": a_plane(stated=everything)})
    assert "only in\nthis book" not in {text.get_text() for text in ax.texts}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stated": np.ones(3)}, r"stated of 'uRR' must have shape \(9, 31\), got \(3,\)"),
        ({"sizes": [[1]]}, "sizes of 'uRR' must have shape"),
        ({"boundaries": {"b": ([1], [1, 2])}}, "heights of 'b' must have shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        worst_case_planes({"uRR": a_plane(**changes)})


def test_no_panels_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one panel to draw, got none"):
        worst_case_planes({})


def test_the_parts_of_an_error_are_shares_with_half_marked_and_the_totals_above() -> None:
    grid = np.geomspace(0.1, 10, 21)
    (ax,) = error_parts({"uRR": (grid, 3 / grid, np.full(21, 2.0))})
    (across, share), (half, height) = lines(ax)
    assert across == pytest.approx(grid)
    assert share == pytest.approx(3 / (3 + 2 * grid))
    assert (half, height) == ([pytest.approx(1.5, rel=0.01)], [0.5])
    texts = [text.get_text().strip() for text in ax.texts]
    assert texts[:4] == ["half at ε = 1.5", "total 32", "5", "2.3"]
    with pytest.raises(ValueError, match="at least one panel"):
        error_parts({})
