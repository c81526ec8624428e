"""The figures on estimators show the numbers that they are given."""

import numpy as np
import pytest
from drawn import lines, names

from uldp.paper.figures.estimators import (
    Climb,
    climbs,
    losses_by_estimator,
)

STEPS = [1, 10, 100]
CLIMB = Climb(100, STEPS, [0.1, 0.01, 1e-6], [1.0, 0.2, 1e-5], solver=([7, 20], [1e-3, 0.0]))
BY_EPSILON = {
    "RR": {"empirical": ([0.1, 1], [30.0, 2.0], [2, 0.1]), "em": ([0.1, 1], [0.5, 0.2], [0, 0])},
    "uRR": {"em": ([0.1, 1], [0.3, 0.1], [0.02, 0.01])},
}


def test_climbs_show_distances_of_all_reports_certificates_and_the_solver() -> None:
    (ax,) = climbs({"uRAP": CLIMB}, lowest=1e-2)
    em, solver, nat = lines(ax)
    assert em == (STEPS, pytest.approx([10, 1, 1e-2]))
    assert solver == ([7, 20, 20], pytest.approx([0.1, 0.1, 1e-2]))
    assert nat[1] == [1, 1]
    (band,) = ax.collections
    assert band.get_paths()[0].get_extents().get_points().tolist() == [[1, 1e-2], [100, 100]]
    assert names(ax) == ["EM", "solver"]
    alone = Climb(1, STEPS, [0.1, 0.01, 1e-6], [1.0, 0.2, 1e-5])
    assert [names(ax) for ax in climbs({"a": alone, "b": CLIMB}, 1e-9)] == [
        ["EM"],
        ["EM", "solver"],
    ]


def test_losses_by_estimator_stand_in_rows_and_what_is_beyond_is_written() -> None:
    levels = {"no privacy": 0.04}
    first, last = losses_by_estimator(BY_EPSILON, levels, highest=1.5)
    assert [text.get_text() for text in first.texts] == ["3,000%, 200%", " no privacy "]
    joined, within, least, beyond = lines(first)[:4]
    assert joined == ([1.5, 0.5], [0, 1])
    assert (within, least, beyond) == (([0.5], [1]), ([0.5], [1]), ([1.5], [0]))
    assert first.get_xlim() == last.get_xlim()
    assert first.get_xlim()[1] == 1.5
    rows = [[tick.get_text() for tick in ax.get_yticklabels()] for ax in (first, last)]
    assert rows == [["as counted", "EM"], ["EM"]]
    segments = np.concatenate([bars.get_segments() for bars in last.collections])
    np.testing.assert_allclose(segments[:, :, 0], [[0.26, 0.34], [0.08, 0.12]])


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="at least one panel"):
        climbs({}, lowest=1e-9)
    with pytest.raises(ValueError, match="lowest must be greater than 0"):
        climbs({"RR": CLIMB}, lowest=0)
    with pytest.raises(ValueError, match="heights of 'EM' must have shape"):
        climbs({"RR": Climb(1, STEPS, [0.1], STEPS)}, lowest=1e-9)
    with pytest.raises(ValueError, match="at least one panel"):
        losses_by_estimator({}, {}, highest=1)
