"""The figures show the numbers that they are given, and refuse those that they cannot show."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import lines
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_hex

from uldp import datasets, figures

TRUTH = np.array([0.1, 0.5, 0.0, 0.4])
ESTIMATE = np.array([0.2, 0.7, -0.3, 0.4])


@pytest.fixture
def ax() -> plt.Axes:
    return plt.figure().subplots()


def test_estimates_stand_at_the_rank_of_their_value_in_percent() -> None:
    axes = figures.estimates_by_rank(TRUTH, {"RR": ESTIMATE}, sensitive=[3])
    others, sensitive, truth = lines(axes[0, 0])
    assert others == ([1, 3, 4], pytest.approx([70, 20, -30]))
    assert sensitive == ([2], pytest.approx([40]))
    assert truth == ([1, 2, 3, 4], pytest.approx([50, 40, 10, 0]))


def test_each_mechanism_has_a_panel_and_the_panels_share_their_axes() -> None:
    estimates = {"RR": TRUTH, "uRR": ESTIMATE, "uRAP": 3 * ESTIMATE}
    axes = figures.estimates_by_rank(TRUTH, estimates, sensitive=[])
    assert axes.shape == (2, 2)
    assert [ax.get_title() for ax in axes.flat if ax.get_visible()] == list(estimates)
    assert len({ax.get_ylim() for ax in axes.flat}) == 1
    assert axes[0, 0].get_ylim()[0] < 300 * ESTIMATE.min()


@pytest.mark.parametrize(
    ("truth", "estimates", "sensitive", "message"),
    [
        (TRUTH, {}, [0], "estimates must hold at least one estimate"),
        (TRUTH, {"RR": ESTIMATE[:3]}, [0], r"estimates\['RR'\] must have shape"),
        (ESTIMATE, {"RR": TRUTH}, [0], "truth must not be negative"),
        (TRUTH, {"RR": TRUTH}, [4], "sensitive must lie in 0..3"),
        (TRUTH, {"Warner": TRUTH}, [0], "one of RR, RAPPOR, uRR, uRAP, got 'Warner'"),
    ],
)
def test_estimates_that_cannot_be_shown(truth, estimates, sensitive, message) -> None:
    with pytest.raises(ValueError, match=message):
        figures.estimates_by_rank(truth, estimates, sensitive)


def test_losses_are_drawn_as_given(ax: plt.Axes) -> None:
    forecast, empirical, threshold = ([0.1, 1, 10], [3, 2, 1]), ([1], [2.1]), ([1], [0.5])
    drawn = figures.losses_by_epsilon(
        {"uRR": forecast}, {"uRR": empirical}, {"uRR": threshold}, 0.25, "TV", ax
    )
    assert drawn is ax
    assert lines(ax)[:3] == [forecast, empirical, threshold]
    assert ax.lines[3].get_ydata() == [0.25, 0.25]
    assert {to_hex(line.get_color()) for line in ax.lines[:3]} == {
        figures.STYLES["uRR"].color.lower()
    }
    assert [line.get_fillstyle() for line in ax.lines[1:3]] == ["full", "none"]
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "log", "TV")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["uRR", "no privacy"]


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ({"RR": ([1, 2], [1])}, "losses of 'RR' must have shape"),
        ({"RR": ([1], [0])}, "losses of 'RR' must be greater than 0"),
        ({"RR": ([0], [1])}, "ε of 'RR' must be greater than 0"),
        ({"RR": ([1], [np.nan])}, "losses of 'RR' must be finite"),
        ({"Warner": ([1], [1])}, "got 'Warner'"),
    ],
)
def test_losses_that_cannot_be_shown(curves, message, ax: plt.Axes) -> None:
    with pytest.raises(ValueError, match=message):
        figures.losses_by_epsilon(curves, {}, {}, 1.0, "TV", ax)


def test_mechanisms_differ_in_colour_marker_and_line() -> None:
    styles = figures.STYLES.values()
    for field in ("color", "marker", "line"):
        assert len({getattr(style, field) for style in styles}) == len(styles)


def test_maps_share_one_scale_and_stand_in_their_place() -> None:
    grid = datasets.manhattan()
    corner = np.zeros(625)
    corner[24] = 1  # the south-eastern cell
    axes = figures.estimate_maps(grid.frequencies, {"corner": corner}, grid)
    assert [ax.get_title() for ax in axes.flat] == ["truth", "", "corner", ""]
    assert not axes[1, 1].get_visible()
    images = [ax.images[0] for ax in axes[:, 0]]
    assert images[0].norm is images[1].norm
    assert (images[0].norm.vmin, images[0].norm.vmax) == (0, 100)
    np.testing.assert_allclose(images[0].get_array(), 100 * grid.frequencies.reshape(25, 25))
    assert images[1].get_array()[0, 24] == 100
    assert images[1].origin == "lower"
    assert images[1].get_extent() == [-74.04, -73.92, 40.7, 40.8]


def test_the_outlines_on_a_map_surround_the_hospital_cells() -> None:
    grid = datasets.manhattan()
    axes = figures.estimate_maps(grid.frequencies, {"RR": grid.frequencies}, grid)
    (outlines,) = (c for c in axes[1, 0].collections if isinstance(c, PatchCollection))
    centres = [path.get_extents().get_points().mean(axis=0) for path in outlines.get_paths()]
    cells = [datasets.manhattan_cell(latitude, longitude) for longitude, latitude in centres]
    assert cells == grid.hospital_cells.tolist()


@pytest.mark.parametrize(
    ("truth", "estimates", "message"),
    [
        (np.full(625, 1 / 625), {}, "estimates must hold at least one estimate"),
        (np.full(624, 1 / 624), {"RR": np.full(625, 1 / 625)}, "truth must have shape"),
        (np.full(625, 1 / 625), {"RR": np.full(625, 1 / 624)}, r"estimates\['RR'\] must sum to 1"),
    ],
)
def test_maps_that_cannot_be_shown(truth, estimates, message) -> None:
    with pytest.raises(ValueError, match=message):
        figures.estimate_maps(truth, estimates, datasets.manhattan())
