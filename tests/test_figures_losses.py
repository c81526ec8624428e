"""The figures of the l1 losses: what is drawn is what was handed over."""

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from uldp.figures.losses import (
    WorstCases,
    losses_by_sensitive_mass,
    ratios_to_limit,
    worst_case_planes,
)

EPSILONS = np.linspace(1, 4, 31)
SIZES = np.arange(1, 10)


@pytest.fixture(autouse=True)
def _no_figure_is_left() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture
def ax() -> Axes:
    return plt.subplots()[1]


def a_plane(**changes: Any) -> WorstCases:
    """The worst case is interior beyond ε = 2 and in the paper for |X_S| <= 5."""
    fields = {
        "epsilons": EPSILONS,
        "sizes": SIZES,
        "masses": np.maximum(0, EPSILONS - 2) * np.ones((SIZES.size, 1)) / 2,
        "stated": np.ones_like(EPSILONS) * SIZES[:, np.newaxis] <= 5,
        "boundaries": {"exact threshold": ([2, 2], [1, 9])},
    }
    return WorstCases(**{**fields, **changes})


def legend(owner: Axes | Figure) -> list[str]:
    found = owner.get_legend() if isinstance(owner, Axes) else owner.legends[0]
    assert found
    return [text.get_text() for text in found.get_texts()]


def strokes(ax: Axes) -> dict[str, tuple[Any, Any]]:
    lines = (line for line in ax.get_lines() if not str(line.get_label()).startswith("_"))
    return {str(line.get_label()): (line.get_color(), line.get_linestyle()) for line in lines}


def test_each_loss_is_a_line_with_its_peak(ax: Axes) -> None:
    w = np.linspace(0, 1, 11)
    curves = {"above": (w, 1 + w * (0.5 - w)), "below": (w, 1 - w)}
    peaks = {"above": (0.25, 1.0625), "below": (0.0, 1.0)}
    assert losses_by_sensitive_mass(curves, peaks, ax) is ax
    drawn = {str(line.get_label()): line.get_xydata() for line in ax.get_lines()}
    for label, points in curves.items():
        np.testing.assert_array_equal(drawn[label], np.transpose(points))
    dots = [tuple(line.get_xydata()[0]) for line in ax.get_lines() if line.get_marker() == "o"]
    assert dots == list(peaks.values())
    assert legend(ax) == ["above", "below"]


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"]])
def test_peaks_must_be_those_of_the_curves(ax: Axes, labels: list[str]) -> None:
    curve = [0, 1], [1, 0]
    with pytest.raises(ValueError, match=r"peaks must be those of \['a', 'b'\]"):
        losses_by_sensitive_mass({"a": curve, "b": curve}, dict.fromkeys(labels, (0, 1)), ax)


def test_curves_differ_in_colour_and_in_line_style(ax: Axes) -> None:
    curves = {str(users): ([0.1, 1], [0.5, 1]) for users in range(4)}
    ratios_to_limit(curves, ax)
    colors, styles = zip(*strokes(ax).values(), strict=True)
    assert len(set(colors)) == len(set(styles)) == 4


def test_ratios_are_drawn_over_a_logarithmic_axis(ax: Axes) -> None:
    expected, ratios = [0.01, 1, 100], [0.25, 0.92, 1]
    assert ratios_to_limit({"n = 1000": (expected, ratios)}, ax) is ax
    np.testing.assert_array_equal(ax.get_lines()[0].get_xydata(), np.transpose([expected, ratios]))
    assert ax.get_xscale() == "log"
    assert ax.get_ylim()[0] == 0
    assert legend(ax) == ["n = 1000"]


@pytest.mark.parametrize("draw", [ratios_to_limit, losses_by_sensitive_mass])
def test_coordinates_of_unequal_lengths_are_refused(ax: Axes, draw: Any) -> None:
    more = [{"curve": (0, 1)}] if draw is losses_by_sensitive_mass else []
    with pytest.raises(ValueError, match=r"heights of 'curve' must have shape \(3,\), got \(2,\)"):
        draw({"curve": ([0.1, 0.2, 0.3], [1, 1])}, *more, ax)


def test_a_region_is_filled_where_the_sensitive_values_get_a_share() -> None:
    axes = worst_case_planes({"uRR": a_plane()})
    assert [ax.get_title() for ax in axes] == ["uRR"]
    fill = axes[0].collections[0]
    corners = np.concatenate([path.vertices for path in fill.get_paths()])
    step = EPSILONS[1] - EPSILONS[0]
    assert corners[:, 0].min() == pytest.approx(2, abs=step)
    assert corners[:, 0].max() == pytest.approx(EPSILONS[-1])


def test_what_the_paper_leaves_out_is_hatched() -> None:
    ax = worst_case_planes({"uRR": a_plane()})[0]
    hatched = ax.collections[-1]
    assert hatched.hatches == ["///"]
    corners = np.concatenate([path.vertices for path in hatched.get_paths()])
    assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx((5.5, 9))
    assert "not in the paper" in legend(ax.figure)


def test_a_boundary_looks_the_same_in_every_panel() -> None:
    more = {"limit": ([1, 3], [1, 9]), "exact threshold": ([2, 2], [1, 9])}
    left, right = worst_case_planes({"uRR": a_plane(), "uRAP": a_plane(boundaries=more)})
    assert strokes(left)["exact threshold"] == strokes(right)["exact threshold"]
    assert strokes(right)["limit"] != strokes(right)["exact threshold"]
    assert legend(left.figure) == ["exact threshold", "limit", "not in the paper"]


def test_the_words_on_the_regions_stay_inside_their_panels() -> None:
    axes = worst_case_planes({"uRR": a_plane(), "uRAP": a_plane()})
    axes[0].figure.canvas.draw()
    for ax in axes:
        box = ax.get_window_extent()
        words = [text.get_window_extent() for text in ax.texts if len(text.get_text()) > 4]
        assert len(words) == 2
        assert all(box.contains(*corner) for word in words for corner in (word.min, word.max))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"masses": np.zeros((2, 2))}, r"masses of 'uRR' must have shape \(9, 31\), got \(2, 2\)"),
        ({"stated": np.ones(3)}, r"stated of 'uRR' must have shape \(9, 31\), got \(3,\)"),
        ({"sizes": [[1]]}, "sizes of 'uRR' must have shape"),
        ({"boundaries": {"b": ([1], [1, 2])}}, "heights of 'b' must have shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        worst_case_planes({"uRR": a_plane(**changes)})


def test_no_panels_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one mechanism to draw, got none"):
        worst_case_planes({})
