"""The figures on the best θ and on the limit show the numbers that they are given."""

import numpy as np
import pytest
from drawn import legend, lines, names

from uldp.paper.figures import beyond

GRID = [0.1, 1.0, 10.0]


def test_a_saddle_point_lies_where_best_and_worst_meet() -> None:
    theta, mass = np.linspace(0, 1, 11), np.linspace(0, 1, 21)
    losses = 2 + (theta - 0.4) ** 2 - (mass[:, None] - 0.25) ** 2
    (ax,) = beyond.saddle_points({"ε": beyond.Surface(theta, mass, losses, (0.4, 0.25))})
    best, worst, saddle = lines(ax)
    assert best == (pytest.approx([0.4] * 21), list(mass))
    assert worst == (list(theta), pytest.approx([0.25] * 11))
    assert saddle == ([0.4], [0.25])
    assert names(ax) == ["best θ for a mass", "worst mass for a θ"]


def test_a_map_has_its_contours_between_the_ratios() -> None:
    ratios = np.outer([1, 1, 1], [1, 4, 16])
    across = {"line": (GRID, [1, 10, 100])}
    levels = [1, 2, 8, 10]
    axes = beyond.ratio_maps(GRID, [1, 10, 100], {"a": ratios, "b": ratios.T}, levels, across)
    assert [ax.get_title("left") for ax in axes] == ["a", "b"]
    assert axes[0].get_xscale() == axes[0].get_yscale() == "log"
    assert lines(axes[0]) == [(GRID, [1, 10, 100])]
    assert legend(axes[0]) == ["line"]
    filled, drawn = axes[0].collections[:2]
    assert list(filled.levels) == levels
    for level, path in zip(drawn.levels, drawn.get_paths(), strict=True):
        ends = np.interp(level, [1, 4, 10], GRID)  # 16 is drawn like 10, the last level
        np.testing.assert_allclose(path.vertices[:, 0], ends)
    bar = axes[0].figure.axes[-1]
    assert [text.get_text() for text in bar.get_xticklabels()] == ["1", "2", "8", "10"]


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="at least one panel"):
        beyond.saddle_points({})
    with pytest.raises(ValueError, match="at least one panel"):
        beyond.ratio_maps(GRID, [1, 2], {}, [1, 2])
    with pytest.raises(ValueError, match="losses of '' must have shape"):
        beyond.saddle_points({"": beyond.Surface([0.2, 0.3], [0, 1], [[1, 2]], (0.2, 0))})
    with pytest.raises(ValueError, match="ratios of 'a' must have shape"):
        beyond.ratio_maps(GRID, [1, 2], {"a": [[1, 2, 3]]}, [1, 2])
