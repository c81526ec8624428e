"""The figures on choosing a mechanism: what is drawn is what was handed over."""

import numpy as np
import pytest

from uldp.paper.figures.choosing import ExcessMap, better_of_two

EPSILONS = np.geomspace(0.1, 10, 21)
SIZES = np.array([1, 2, 5, 10])


def a_map(**changes) -> ExcessMap:
    """A first mechanism that is better from ε = 1 on."""
    first = np.tile(1 + 1 / EPSILONS, (SIZES.size, 1))
    fields = {
        "epsilons": EPSILONS,
        "sizes": SIZES,
        "ratios": {"uRR": first, "uRAP": np.full_like(first, 2.0)},
        "optimal": ([5, 6], [2, 10]),
    }
    return ExcessMap(**{**fields, **changes})


def test_the_better_mechanism_has_its_area_and_the_contours_are_its_own():
    first, second = better_of_two({"a": a_map(), "b": a_map()}, [1.1, 1.5])
    assert [first.get_title("left"), second.get_title("left")] == ["a", "b"]
    filled, contours = first.collections[:2]
    areas = [path.vertices for path in filled.get_paths()]
    assert len(areas) == 2
    assert areas[0][:, 0].min() == pytest.approx(1, rel=1e-6)
    assert areas[1][:, 0].max() == pytest.approx(1, rel=1e-6)
    for path, level in zip(contours.get_paths(), [1.1, 1.5], strict=True):
        np.testing.assert_allclose(path.vertices[:, 0], 1 / (level - 1), rtol=0.02)
    (line,) = first.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), [5, 6])
    assert first.get_xscale() == first.get_yscale() == "log"
    labels = [text.get_text() for text in first.figure.legends[0].get_texts()]
    assert labels == ["uRR is better", "uRAP is better", "uRR is optimal from here"]


def test_a_map_must_fit_together():
    with pytest.raises(ValueError, match="at least one panel"):
        better_of_two({}, [1.1])
    with pytest.raises(ValueError, match=r"uRR of .* must have shape \(2, 21\)"):
        better_of_two({"a": a_map(sizes=[1, 2])}, [1.1])
    with pytest.raises(ValueError, match=r"must be those of two mechanisms, got \['uRR'\]"):
        better_of_two({"a": a_map(ratios={"uRR": np.ones((4, 21))})}, [1.1])
