"""The figures of the experiments show the rows that they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from uldp.paper.experiments.tables import COMMON, tabulate
from uldp.paper.figures import STYLES, experiments as experiment_figures
from uldp.paper.figures.style import LEVEL

ROW = {
    **{"data": "census", "k": 400, "sensitive": 76, "n": 1000, "mechanism": "uRR"},
    **{"epsilon": 0.1, "estimator": "empirical", "realizations": 10, "tv": 3.0, "tv_error": 0.1},
    **{"mse": 0.5, "mse_error": 0.01, "expected_tv": 2.9, "expected_mse": 0.49},
}
NO_PRIVACY = ROW | {
    **{"mechanism": "no privacy", "epsilon": None, "sensitive": 0, "tv": 0.2, "mse": 0.02},
    **{"expected_tv": 0.21},
}
NOT_EXPECTED = {"expected_tv": None, "expected_mse": None}
THRESHOLD = ROW | {"estimator": "threshold", "tv": 0.8} | NOT_EXPECTED
LATER = {"epsilon": 1.0, "tv": 0.4, "mse": 0.04}
BY_EPSILON = [NO_PRIVACY, ROW, THRESHOLD, ROW | LATER | {"expected_tv": 0.41}, THRESHOLD | LATER]


def frame(rows: list[dict]) -> pd.DataFrame:
    """A table of experiments with these rows."""
    return tabulate(rows, COMMON.columns)


def curves(ax: plt.Axes, name: str) -> list[tuple[list[float], list[float]]]:
    """The lines and markers in a mechanism's colour."""
    color = LEVEL["color"] if name == "no privacy" else STYLES[name]["color"]
    return [
        (list(line.get_xdata()), list(line.get_ydata()))
        for line in ax.lines
        if line.get_color() == color
    ]


def bars(ax: plt.Axes) -> list[list[float]]:
    """The lower and upper ends of all bars."""
    return [
        list(segment[:, 1])
        for container in ax.containers
        for segment in container[2][0].get_segments()
    ]


@pytest.mark.parametrize(("data", "k"), [("census", 400), ("manhattan", 625)])
def test_by_epsilon_shows_forecasts_as_lines_and_joins_other_estimates(data: str, k: int) -> None:
    table = [*BY_EPSILON, *(row | {"data": "manhattan", "k": 625} for row in BY_EPSILON)]
    estimators = ["empirical", "threshold"]
    empirical, threshold = experiment_figures.losses_by_epsilon(
        frame(table), "tv", [data], estimators
    )
    assert [ax.get_title("left") for ax in (empirical, threshold)] == estimators
    assert curves(empirical, "uRR") == [([0.1, 1.0], [2.9, 0.41]), ([0.1, 1.0], [3.0, 0.4])]
    assert curves(threshold, "uRR") == [([0.1, 1.0], [0.8, 0.4])]
    for ax in (empirical, threshold):
        assert curves(ax, "no privacy") == [([0.1, 1.0], [0.21, 0.21])]
        assert ax.lines[-1].get_xdata() == [np.log(k)] * 2
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    np.testing.assert_allclose(bars(empirical), [[2.8, 3.2], [0.2, 0.6]])


def test_the_empirical_estimate_has_its_own_scale_and_the_others_share_one() -> None:
    others = [THRESHOLD | {"estimator": name, "tv": 0.01} for name in ("em", "mle")]
    estimators = ["empirical", "threshold", "em", "mle"]
    table = [*BY_EPSILON, *others]
    axes = experiment_figures.losses_by_epsilon(frame(table), "tv", ["census"], estimators)
    titles = [ax.get_title("left") for ax in axes]
    assert titles == ["empirical", "threshold", "EM", "maximum likelihood"]
    empirical, *bounded = (ax.get_ylim() for ax in axes)
    assert len(set(bounded)) == 1
    assert bounded[0] != empirical
    assert bounded[0][0] < 0.01 < 0.8 < bounded[0][1]


def test_a_single_realization_has_no_bar() -> None:
    table = [row | {"realizations": 1, "mse_error": None} for row in BY_EPSILON]
    (ax,) = experiment_figures.losses_by_epsilon(frame(table), "mse", ["census"], ["empirical"])
    assert bars(ax) == []


def test_a_bar_that_includes_0_goes_upward_alone_and_all_of_it_is_shown() -> None:
    wide = [row | {"tv_error": 10 * row["tv"]} for row in BY_EPSILON]
    (ax,) = experiment_figures.losses_by_epsilon(frame(wide), "tv", ["census"], ["threshold"])
    assert ax.get_ylim()[0] > 0
    np.testing.assert_allclose(bars(ax), [[0.8, 16.8], [0.4, 8.4]])
    assert ax.get_ylim()[1] > 16.8


def test_panels_of_two_data_are_named_after_them() -> None:
    table = [*BY_EPSILON, *(row | {"data": "manhattan", "k": 625} for row in BY_EPSILON)]
    both = ["census", "manhattan"]
    axes = experiment_figures.losses_by_epsilon(frame(table), "tv", both, ["threshold"])
    assert [ax.get_title("left") for ax in axes] == ["census, threshold", "manhattan, threshold"]
    assert [ax.lines[-1].get_xdata()[0] for ax in axes] == [np.log(400), np.log(625)]


def test_by_sensitive_shows_a_mechanism_that_does_not_depend_on_it_as_a_level() -> None:
    table = [NO_PRIVACY]
    for epsilon in (0.1, np.log(400)):
        here = ROW | {"epsilon": epsilon}
        table.append(here | {"mechanism": "RR", "sensitive": 400, "expected_mse": 9.0})
        table += [here | {"sensitive": s, "mse": s / 100} for s in (10, 1, 400)]
    table += [row | {"data": "manhattan", "mse": 7.0} for row in table]
    axes = experiment_figures.losses_by_sensitive(frame(table), "mse", ["census"], ["empirical"])
    assert [ax.get_title("left") for ax in axes] == ["empirical, ε = 0.1", "empirical, ε = ln k"]
    for ax in axes:
        assert curves(ax, "RR") == [([1, 400], [9.0, 9.0])]
        assert curves(ax, "uRR")[1] == ([1, 10, 400], [0.01, 0.1, 4.0])


def test_by_attributes_counts_them() -> None:
    table = [
        row | {"k": 400 * 2**i, "epsilon": row["epsilon"] and epsilon}
        for row in (NO_PRIVACY, ROW, THRESHOLD)
        for i in (0, 1, 5)
        for epsilon in (0.1, 6.0)
    ]
    axes = experiment_figures.losses_by_attributes(frame(table), "tv", "threshold")
    assert [ax.get_title("left") for ax in axes] == ["threshold, ε = 0.1", "threshold, ε = 6"]
    assert [ax.get_xlabel() for ax in axes] == ["number of attributes"] * 2
    for ax in axes:
        assert {tuple(across) for across, _ in curves(ax, "uRR")} == {(4, 5, 9)}
        assert list(ax.get_xticks()) == [4, 5, 9]


GAINS = {"census": {("uRR", "empirical"): ([0.1, 1.0], [12.0, 10.0], [0.5, 1.0])}}


def test_gains_stand_beside_the_claimed_band() -> None:
    (ax,) = experiment_figures.gains(
        GAINS, (10, 100), "one or two orders", {"census": 6.0}, {"empirical": {}}
    )
    assert curves(ax, "uRR") == [([0.1, 1.0], [12.0, 10.0])]
    np.testing.assert_allclose(bars(ax), [[11, 13], [8, 12]])
    assert "one or two orders" in [text.get_text() for text in ax.texts]
    (band,) = ax.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == (10, 100)
    assert [6.0, 6.0] in [list(line.get_xdata()) for line in ax.lines]


@pytest.mark.parametrize(
    ("data", "estimators", "message"),
    [
        ("census", ["mle"], "rows of 'mle' on 'census', got none"),
        ("mars", ["empirical"], "rows of 'empirical' on 'mars', got none"),
        ("census", [], "at least one panel"),
    ],
)
def test_tables_that_cannot_be_shown(data: str, estimators: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        experiment_figures.losses_by_epsilon(frame(BY_EPSILON), "tv", [data], estimators)


def test_bars_of_joined_means_stand_beside_each_other() -> None:
    table = [*BY_EPSILON, *(row | {"mechanism": "RR"} for row in BY_EPSILON[1:])]
    axes = experiment_figures.losses_by_epsilon(
        frame(table), "tv", ["census"], ["empirical", "threshold"]
    )
    for ax, places in zip(axes, (1, 2), strict=True):
        at = {bars[2][0].get_transform().transform((1, 1))[0] for bars in ax.containers}
        assert len(at) == places
