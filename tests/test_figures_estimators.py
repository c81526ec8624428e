"""The figures on estimators show the numbers that they are given."""

import numpy as np
import pytest
from drawn import legend, lines, names
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer

from uldp.paper.figures.estimators import (
    ESTIMATORS,
    Climb,
    climbs,
    losses_by_estimator,
)

STEPS = [1, 10, 100]
CLIMB = Climb(STEPS, [0.1, 0.01, 1e-6], [1.0, 0.2, 1e-5], solver=([7, 20], [1e-3, 0.0]))


def test_climbs_show_distances_certificates_and_the_solver() -> None:
    (ax,) = climbs({"uRAP": {"ε = 1": CLIMB}}, lowest=1e-4)
    assert lines(ax) == [
        (STEPS, [0.1, 0.01, 1e-4]),
        (STEPS, [1.0, 0.2, 1e-4]),
        ([7, 20], [1e-3, 1e-4]),
    ]
    assert len({to_hex(line.get_color()) for line in ax.lines}) == 1
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_title("left")) == ("log", "log", "uRAP")
    assert names(ax) == ["ε = 1"]


def test_a_label_has_one_style_in_all_panels() -> None:
    alone = Climb(STEPS, [0.1, 0.01, 1e-6], [1.0, 0.2, 1e-5])
    first, second = climbs({"RR": {"a": alone, "b": alone}, "uRAP": {"b": CLIMB}}, lowest=1e-9)
    assert first.lines[3].get_color() == second.lines[0].get_color()
    assert first.lines[3].get_linestyle() == second.lines[0].get_linestyle()
    assert first.lines[0].get_linestyle() != second.lines[0].get_linestyle()


def test_losses_by_estimator_stand_over_their_mechanism() -> None:
    results = {"RR": {"mle": (0.2, 0.01), "empirical": (30.0, 2.0)}, "uRR": {"mle": (0.1, 0.02)}}
    (ax,) = losses_by_estimator({"ε = 1": results}, {"no privacy": 0.04}, "TV", highest=2)
    shown = [bar for bar in ax.containers if isinstance(bar, ErrorbarContainer)]
    points = [bar.lines[0].get_xydata()[0] for bar in shown]
    assert [round(x) for x, _ in points] == [0, 0, 1]
    assert [y for _, y in points] == [2, 0.2, 0.1]
    (segment,) = shown[1].lines[2][0].get_segments()
    np.testing.assert_allclose(segment[:, 1], [0.18, 0.22])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["RR", "uRR"]
    assert lines(ax)[0][1] == [0.04, 0.04]
    assert legend(ax) == [*ESTIMATORS, "no privacy"]


def test_estimators_differ_in_colour_and_in_marker() -> None:
    assert len({style["color"] for style in ESTIMATORS.values()}) == len(ESTIMATORS)
    assert len({style["marker"] for style in ESTIMATORS.values()}) == len(ESTIMATORS)


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="at least one panel"):
        climbs({}, lowest=1e-9)
    with pytest.raises(ValueError, match="lowest must be greater than 0"):
        climbs({"RR": {"a": CLIMB}}, lowest=0)
    with pytest.raises(ValueError, match=r"heights of \('a', 'EM, distance'\) must have shape"):
        climbs({"RR": {"a": Climb(STEPS, [0.1], STEPS)}}, lowest=1e-9)
    with pytest.raises(ValueError, match="at least one panel"):
        losses_by_estimator({}, {}, "TV", highest=1)
    two = {"ε = 1": {"RR": {"mle": (0.1, 0.0)}}, "ε = 2": {"uRR": {"mle": (0.1, 0.0)}}}
    with pytest.raises(ValueError, match=r"panel 'ε = 2' must hold \['RR'\]"):
        losses_by_estimator(two, {}, "TV", highest=1)
