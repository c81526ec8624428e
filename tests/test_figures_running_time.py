"""The figures on the running time show the numbers that they are given."""

import pytest
from drawn import legend, lines
from matplotlib.colors import to_hex

from uldp.figures.running_time import Growth, growth, steps_and_passes
from uldp.figures.style import STYLES

SECONDS = {"uRR": ([1, 10], [1e-4, 2e-4]), "RAPPOR": ([1, 10], [0.5, 5.0])}


def test_growth_shows_times_and_floors() -> None:
    floors = {"RAPPOR": ([1, 10], [0.01, 0.1])}
    panel = Growth("values k", SECONDS, floors)
    first, second = growth({"by k": panel, "by n": Growth("users n", SECONDS)})
    assert lines(first) == [*SECONDS.values(), floors["RAPPOR"]]
    assert lines(second) == list(SECONDS.values())
    assert (first.get_xscale(), first.get_yscale()) == ("log", "log")
    assert (first.get_title(), first.get_xlabel()) == ("by k", "values k")
    assert (second.get_title(), second.get_xlabel()) == ("by n", "users n")
    assert legend(first) == ["uRR", "RAPPOR", "reading the sets once"]


def test_a_floor_looks_like_its_mechanism_but_has_no_markers() -> None:
    (ax,) = growth({"": Growth("k", SECONDS, {"RAPPOR": SECONDS["RAPPOR"]})})
    _, times, floor = ax.lines
    assert to_hex(times.get_color()) == to_hex(floor.get_color()) == STYLES["RAPPOR"].color.lower()
    assert (times.get_marker(), floor.get_marker()) == (STYLES["RAPPOR"].marker, "")
    assert floor.get_linewidth() < times.get_linewidth()


def test_steps_are_filled_and_passes_are_open() -> None:
    steps = {"RR": ([1, 6], [1000, 50]), "uRAP": ([1, 6], [900, 200])}
    passes = {"uRAP": ([1, 6], [60, 30])}
    ax = steps_and_passes(steps, passes)
    assert lines(ax) == [*steps.values(), *passes.values()]
    assert [line.get_fillstyle() for line in ax.lines] == ["full", "full", "none"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "6"]
    assert legend(ax) == ["RR, EM", "uRAP, EM", "uRAP, L-BFGS-B"]


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="at least one panel"):
        growth({})
    with pytest.raises(ValueError, match="times of 'RR' must have shape"):
        growth({"": Growth("k", {"RR": ([1, 2], [1.0])})})
    with pytest.raises(ValueError, match="floors of 'RR' must have shape"):
        growth({"": Growth("k", {}, {"RR": ([1, 2], [1.0])})})
    with pytest.raises(ValueError, match="steps of 'RR' must have shape"):
        steps_and_passes({"RR": ([1, 2], [1.0])}, {})
    with pytest.raises(ValueError, match="passes of 'uRAP' must have shape"):
        steps_and_passes({}, {"uRAP": ([1, 2], [1.0])})
