"""The figure on counting with several processes shows the numbers that it is given."""

import pytest

from uldp.figures.scale import seconds_by_reports

CURVES = {"one": ([1e6, 1e7], [0.5, 5.0]), "two": ([1e6, 1e7], [0.3, 2.5])}
OTHERS = {"one": ([1e6, 3e6], [0.7, 2.0]), "two": ([1e6], [0.4])}


def test_the_lines_are_the_data() -> None:
    panels = {"uRR": CURVES, "uRAP": OTHERS}
    axes = seconds_by_reports(panels)
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        shown = [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines]
        assert shown == list(curves.values())
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert (ax.get_title(), ax.get_xlabel()) == (title, "reports")
    assert axes[0].get_ylabel() == "seconds"
    (legend,) = axes[0].figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]


def test_lines_differ_in_more_than_colour() -> None:
    first, second = (seconds_by_reports({"": CURVES})[0].lines[line] for line in (0, 1))
    assert first.get_marker() != second.get_marker()
    assert first.get_linestyle() != second.get_linestyle()


def test_a_name_looks_the_same_in_every_panel() -> None:
    axes = seconds_by_reports({"a": CURVES, "b": OTHERS})
    for one, other in zip(*(ax.lines for ax in axes), strict=True):
        assert (one.get_color(), one.get_marker()) == (other.get_color(), other.get_marker())


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="at least one panel"):
        seconds_by_reports({})
    with pytest.raises(ValueError, match="seconds of 'one' must have shape"):
        seconds_by_reports({"": {"one": ([1, 2], [1.0])}})
