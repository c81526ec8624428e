"""The drawn figures: what is drawn is what the mechanism does."""

import itertools

import numpy as np
import pytest
from drawn import arrows
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from uldp import (
    Domain,
    Mechanism,
    RandomizedResponse,
    Rappor,
    UtilityOptimizedRappor,
    UtilityOptimizedRR,
)
from uldp.paper.figures import diagrams

EPSILON = 0.7
MECHANISMS = (RandomizedResponse, UtilityOptimizedRR, Rappor, UtilityOptimizedRappor)
SUBSETS = [[], [2], [3, 0], [0, 1, 2, 3]]
Matrix = NDArray[np.float64]


def labelled(k: int, s: int) -> Domain:
    labels = [f"$x_{{{i}}}$" for i in range(1, k + 1)]
    return Domain(labels, sensitive=labels[:s])


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def uldp_matrix() -> Matrix:
    """Two sensitive inputs of five, three protected outputs of six."""
    matrix = np.full((5, 6), 0.0)
    matrix[:, :3] = np.random.default_rng(1).uniform(1, 2, (5, 3))
    matrix[[2, 3, 4], [3, 4, 5]] = 1
    return matrix / matrix.sum(axis=1, keepdims=True)


def test_every_positive_probability_of_a_matrix_is_an_arrow() -> None:
    matrix = uldp_matrix()
    ax = diagrams.uldp_diagram(matrix, [0, 1], [0, 1, 2])
    # 2 x 3 from X_S and the 3 own outputs are solid, 3 x 3 from X_N to Y_P are dashed
    assert sorted(arrows(ax)) == ["-"] * 9 + ["--"] * 9
    matrix[4, 5], matrix[4, 0] = 0, matrix[4, 0] + matrix[4, 5]
    assert len(arrows(diagrams.uldp_diagram(matrix, [0, 1], [0, 1, 2]))) == 17


def test_the_classes_of_a_matrix_are_named() -> None:
    names = {"sensitive", "others", "protected", "revealing"}
    assert names <= set(texts(diagrams.uldp_diagram(uldp_matrix(), [0, 1], [0, 1, 2])))
    private = texts(diagrams.uldp_diagram(np.full((3, 2), 0.5), [0, 1, 2], [0, 1]))
    assert names & set(private) == {"sensitive", "protected"}


@pytest.mark.parametrize(
    ("matrix", "sensitive", "protected", "message"),
    [
        ([[0.5, 0.6]], [0], [0], "row of Q must sum to 1"),
        ([[0.5, 0.5]], [1], [0], "sensitive must lie in 0..0, got 1"),
        ([[0.5, 0.5]], [0], [2], "protected must lie in 0..1, got 2"),
    ],
)
def test_what_does_not_fit_the_matrix_is_refused(
    matrix: list[list[float]], sensitive: list[int], protected: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        diagrams.uldp_diagram(matrix, sensitive, protected)


def test_the_transitions_of_a_urr_carry_the_symbols_of_eq_6() -> None:
    s, growth = 3, np.expm1(EPSILON)
    ax = diagrams.response_diagram(UtilityOptimizedRR(labelled(6, s), EPSILON))
    assert sorted(arrows(ax)) == ["-"] * 6 + [":"] * (3 * 2 + 3 * 3)
    assert texts(ax).count("$c_1$") == texts(ax).count("$c_3$") == 3
    c1, c2, c3 = (growth + 1) / (s + growth), 1 / (s + growth), growth / (s + growth)
    note = f"$c_1$ = {c1:.3f} · $c_2$ = {c2:.3f} (dotted) · $c_3$ = {c3:.3f}"
    assert ax.figure.get_suptitle() == note


def test_the_bits_of_a_urap_are_filled_up_to_their_probability() -> None:
    theta, k, s = 0.6, 10, 4
    denominator = (1 - theta) * np.exp(EPSILON) + theta
    d1, shown = theta / denominator, 1 - denominator / np.exp(EPSILON)
    ax = diagrams.rappor_diagram(UtilityOptimizedRappor(labelled(k, s), EPSILON, theta))
    filled = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_edgecolor()[3] == 0]
    heights = np.reshape([p.get_height() for p in filled], (2, k, 2))[:, :, 1]
    np.testing.assert_allclose(heights[0], [theta, d1, d1, d1, *[0] * 6])
    np.testing.assert_allclose(heights[1], [d1, d1, d1, d1, shown, *[0] * 5])
    for symbol, value, times in (
        ("θ", theta, 1),
        ("$d_1$", d1, 7),
        (r"$1\!-\!d_2$", shown, 1),
    ):
        assert texts(ax).count(symbol) == texts(ax).count(f"{value:.3f}".removeprefix("0")) == times


@pytest.mark.parametrize("kind", MECHANISMS)
def test_the_matrix_is_drawn_class_by_class(kind: type[Mechanism]) -> None:
    mechanism = kind(Domain(4, sensitive=[3, 1]), EPSILON)
    (ax,) = diagrams.matrix_diagram({"": mechanism})
    Q, s = mechanism.transition_matrix(), mechanism.sensitive.size
    assert sorted(texts(ax)) == sorted(f"{q:.2f}".removeprefix("0") for q in Q[Q > 0])
    order = [*mechanism.sensitive, *mechanism.nonsensitive]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [str(x) for x in order]
    shown = np.zeros(Q.shape)
    for patch in ax.patches:
        column, row = np.add(patch.get_xy(), 0.5).astype(int)
        shown[row, column] = (patch.get_alpha() - 0.12) / 0.3
    assert (shown[:s, mechanism.protected.sum() :] == 0).all()
    np.testing.assert_allclose(np.sort(shown, axis=None), np.sort(Q, axis=None), atol=1e-12)


def test_a_column_of_the_matrix_is_named_by_what_its_report_supports() -> None:
    domain = Domain(["a", "b", "c"], sensitive=["a", "c"])
    (ax,) = diagrams.matrix_diagram({"": UtilityOptimizedRappor(domain, EPSILON)})
    names = [tick.get_text().split() for tick in ax.get_xticklabels()]
    assert sorted(names[:4]) == [["a"], ["a", "c"], ["c"], ["∅"]]
    assert sorted(names[4:]) == [["a", "b"], ["a", "b", "c"], ["b"], ["b", "c"]]


@pytest.mark.parametrize("sensitive", SUBSETS)
def test_any_part_of_the_domain_may_be_sensitive(sensitive: list[int]) -> None:
    domain = Domain(4, sensitive)
    response = UtilityOptimizedRR(domain, EPSILON)
    rappor = UtilityOptimizedRappor(domain, EPSILON)
    drawn = len(arrows(diagrams.response_diagram(response)))
    assert drawn == (response.transition_matrix() > 0).sum()
    classes = bool(domain.sensitive.size) + bool(domain.nonsensitive.size)
    assert len(arrows(diagrams.rappor_diagram(rappor))) == classes * 4
    for mechanism in (response, rappor):
        assert diagrams.matrix_diagram({"": mechanism})[0].patches


@pytest.mark.parametrize("figure", ["1", "2", "3", "matrices"])
def test_no_text_overlaps_another_or_leaves_the_figure(figure: str) -> None:
    ax = {
        "1": lambda: diagrams.uldp_diagram(uldp_matrix(), [0, 1], [0, 1, 2]),
        "2": lambda: diagrams.response_diagram(UtilityOptimizedRR(labelled(6, 3), EPSILON)),
        "3": lambda: diagrams.rappor_diagram(UtilityOptimizedRappor(labelled(10, 4), EPSILON)),
        "matrices": lambda: diagrams.matrix_diagram(
            {"": UtilityOptimizedRappor(labelled(5, 2), EPSILON)}
        )[0],
    }[figure]()
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert all(ax.figure.bbox.contains(*corner) for box in boxes for corner in (box.min, box.max))
    assert not [a for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]
