"""The figures on the best θ and on the limit show the numbers that they are given."""

import numpy as np
import pytest
from drawn import legend, lines

from uldp.figures import STYLES, beyond

GRID = [0.1, 1.0, 10.0]


def test_a_saddle_point_lies_where_best_and_worst_meet() -> None:
    theta, mass = np.linspace(0, 1, 11), np.linspace(0, 1, 21)
    losses = 2 + (theta - 0.4) ** 2 - (mass[:, None] - 0.25) ** 2
    (ax,) = beyond.saddle_points({"ε": beyond.Surface(theta, mass, losses, (0.4, 0.25))})
    best, worst, saddle = lines(ax)
    assert best == (pytest.approx([0.4] * 21), list(mass))
    assert worst == (list(theta), pytest.approx([0.25] * 11))
    assert saddle == ([0.4], [0.25])
    assert legend(ax) == ["best θ for this mass", "worst mass for this θ", "saddle point"]


def test_thetas_have_one_style_in_all_panels() -> None:
    given = {"paper's θ": (GRID, [0.5, 0.6, 0.9])}
    first, second = {"a": (GRID, [0.5] * 3), "b": (GRID, [0.6] * 3)}, {"b": (GRID, [0.7] * 3)}
    left, right = beyond.thetas_by_epsilon({"l2": first, "TV": second}, given)
    assert lines(left) == [(GRID, [0.5, 0.6, 0.9]), (GRID, [0.5] * 3), (GRID, [0.6] * 3)]
    assert lines(right) == [(GRID, [0.5, 0.6, 0.9]), (GRID, [0.7] * 3)]
    assert left.lines[2].get_linestyle() == right.lines[1].get_linestyle()
    assert left.lines[1].get_linestyle() != left.lines[2].get_linestyle()
    assert legend(left) == ["a", "b", "paper's θ"]


def test_a_map_has_its_contours_between_the_ratios() -> None:
    ratios = np.outer([1, 1, 1], [1, 4, 16])
    across = {"line": (GRID, [1, 10, 100])}
    levels = [1, 2, 8, 10]
    axes = beyond.ratio_maps(GRID, [1, 10, 100], {"a": ratios, "b": ratios.T}, levels, across)
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    assert axes[0].get_xscale() == axes[0].get_yscale() == "log"
    assert lines(axes[0]) == [(GRID, [1, 10, 100])]
    assert legend(axes[0]) == ["line"]
    filled, drawn = axes[0].collections[:2]
    assert list(filled.levels) == levels
    for level, path in zip(drawn.levels, drawn.get_paths(), strict=True):
        ends = np.interp(level, [1, 4, 10], GRID)  # 16 is drawn like 10, the last level
        np.testing.assert_allclose(path.vertices[:, 0], ends)
    bar = axes[0].figure.axes[-1]
    assert [text.get_text() for text in bar.get_yticklabels()] == ["1", "2", "8", "10"]


def test_maps_fill_rows_and_leave_the_rest_blank() -> None:
    ratios = {name: np.full((2, 3), 1.5) for name in "abcd"}
    axes = beyond.ratio_maps(GRID, [1, 2], ratios, [1, 2], columns=3)
    assert [ax.get_title() for ax in axes] == list("abcd")
    assert not axes[0].figure.axes[4].axison


def test_losses_over_the_limit_are_in_the_mechanisms_styles() -> None:
    (ax,) = beyond.losses_over_limit({"": {"uRR": (GRID, [4, 2, 1]), "uBD": (GRID, [1, 1, 1])}})
    limit, *curves = lines(ax)
    assert limit[1] == [1, 1]
    assert curves == [(GRID, [4, 2, 1]), (GRID, [1, 1, 1])]
    assert ax.lines[1].get_color() == STYLES["uRR"].color
    assert ax.get_yscale() == "log"
    assert legend(ax) == ["uRR", "uBD"]


def test_mechanisms_differ_in_colour_and_in_marker() -> None:
    styles = beyond.MECHANISMS.values()
    assert len({style.color for style in styles}) == len(beyond.MECHANISMS)
    assert len({style.marker for style in styles}) == len(beyond.MECHANISMS)


def test_sizes_without_weight_are_left_out() -> None:
    (ax,) = beyond.size_weights({"ε": {"mixture": [0.25, 0, 0.75], "one": [0, 1]}})
    assert lines(ax) == [([0, 2], [0.25, 0.75]), ([1], [1])]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mixture", "one"]


def test_what_cannot_be_drawn() -> None:
    for draw in (beyond.saddle_points, beyond.losses_over_limit, beyond.size_weights):
        with pytest.raises(ValueError, match="at least one panel"):
            draw({})
    with pytest.raises(ValueError, match="at least one panel"):
        beyond.thetas_by_epsilon({}, {})
    with pytest.raises(ValueError, match="at least one panel"):
        beyond.ratio_maps(GRID, [1, 2], {}, [1, 2])
    with pytest.raises(ValueError, match="losses must have shape"):
        beyond.saddle_points({"": beyond.Surface([0.2, 0.3], [0, 1], [[1, 2]], (0.2, 0))})
    with pytest.raises(ValueError, match="θ of 'a' must have shape"):
        beyond.thetas_by_epsilon({"": {"a": (GRID, [0.5])}}, {})
    with pytest.raises(ValueError, match=r"ratios\['a'\] must have shape"):
        beyond.ratio_maps(GRID, [1, 2], {"a": [[1, 2, 3]]}, [1, 2])
    with pytest.raises(ValueError, match="ratios of 'uRR' must have shape"):
        beyond.losses_over_limit({"": {"uRR": (GRID, [1])}})
