"""The figures show the numbers that they are given, and refuse those that they cannot show."""

import pytest

from uldp.figures import practice

CURVES = {"right": ([100, 1000], [0.2, 0.8]), "broken": ([100, 1000], [0.3, 1.2])}


def test_bounds_are_drawn_as_given_beside_the_promise() -> None:
    ax = practice.bounds_by_reports(CURVES, epsilon=1.0)
    promise, *lines = ax.lines
    assert list(promise.get_ydata()) == [1.0, 1.0]
    drawn = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in lines}
    assert drawn == CURVES
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["right", "broken"]
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}
    assert len(looks) == 2


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ({}, "curves must be 1 to 4, got 0"),
        ({str(i): ([1], [1]) for i in range(5)}, "curves must be 1 to 4, got 5"),
        ({"one": ([1, 2], [1])}, "bounds of 'one' must have shape"),
    ],
)
def test_malformed_curves(curves, message) -> None:
    with pytest.raises(ValueError, match=message):
        practice.bounds_by_reports(curves, epsilon=1.0)
    with pytest.raises(ValueError, match="epsilon must be greater than 0"):
        practice.bounds_by_reports(CURVES, epsilon=0)
