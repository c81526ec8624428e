"""The drawn figures: what is drawn is what the mechanism does."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from drawn import arrows
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle
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
from uldp.paper.figures.style import INK, MUTED
from uldp.personalized import PersonalizedMechanism, TaggedDomain
from uldp.privacy.osldp import decompose

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


def test_the_transitions_of_a_urr_carry_the_symbols_of_eq_6() -> None:
    s, growth = 3, np.expm1(EPSILON)
    ax = diagrams.response_diagram(UtilityOptimizedRR(labelled(6, s), EPSILON))
    assert sorted(arrows(ax)) == ["-"] * 6 + [":"] * (3 * 2 + 3 * 3)
    assert [text for text in texts(ax) if "c_" in text] == ["$c_1$", "$c_2$", "$c_3$"]
    c1, c2, c3 = (growth + 1) / (s + growth), 1 / (s + growth), growth / (s + growth)
    note = f"$c_1$ = {c1:.3f} · $c_2$ = {c2:.3f} · $c_3$ = {c3:.3f}"
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


SIX = [f"$x_{i}$" for i in range(1, 7)]
TAGGED = TaggedDomain(Domain(SIX, sensitive=SIX[:1]), tags=["home", "work"])
COMMON = UtilityOptimizedRR(TAGGED, epsilon=1.0)


def shades(ax: Axes, label: str) -> list[str]:
    """The colours in which a label stands, from the left column to the right one."""
    found = [text for text in ax.texts if text.get_text() == label]
    return [t.get_color() for t in sorted(found, key=lambda text: text.get_position()[0])]


def test_the_overview_shows_the_map_and_what_the_common_mechanism_does() -> None:
    ax = diagrams.overview(PersonalizedMechanism(COMMON, {SIX[1]: "home", SIX[2]: "work"}))
    # Two values go to bots. Six others of Z are left, each kept or sent to another of 3 in Y_P.
    kept, elsewhere = 6, 3 * 2 + 3 * 3
    assert sorted(arrows(ax)) == sorted(["-."] * 2 + ["-"] * (4 + kept) + [":"] * elsewhere)
    assert shades(ax, SIX[1]) == shades(ax, SIX[2]) == [INK, MUTED, MUTED]
    assert shades(ax, SIX[0]) == shades(ax, SIX[5]) == [INK] * 3
    assert shades(ax, "⊥home") == shades(ax, "⊥work") == [INK] * 2


def test_arrows_to_bots_start_at_the_values_that_are_sensitive_to_the_user() -> None:
    ax = diagrams.overview(PersonalizedMechanism(COMMON, {SIX[4]: "work"}))
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    (secret,) = [
        p for p in ax.patches if isinstance(p, FancyArrowPatch) and p.get_linestyle() == "-."
    ]
    (_, start), (_, end) = secret._posA_posB
    left = [t.get_position()[1] for t in ax.texts if t.get_text() == SIX[4]]
    assert start in left
    assert end == heights["⊥work"]


OSLDP = np.array(
    [[Fraction(w, 8) for w in row] for row in [[4, 4, 0, 0], [2, 5, 1, 0], [4, 2, 1, 1]]]
)
PARTS = decompose(OSLDP, [0], np.log(2))


def entries(ax: Axes, shape: tuple[int, int]) -> list[list[str]]:
    """The texts in the cells of a matrix, row by row; blank where there are none."""
    table = np.full(shape, "", dtype=object)
    for text in ax.texts:
        column, row = text.get_position()
        table[int(row), int(column)] = text.get_text()
    return table.tolist()


def test_the_matrices_hold_their_entries_and_zeros_are_blank() -> None:
    ((_, processing), (uldp, whole)) = diagrams.product_scheme(OSLDP, PARTS, [0])
    assert entries(whole, (3, 4)) == [
        ["1/2", "1/2", "", ""],
        ["1/4", "5/8", "1/8", ""],
        ["1/2", "1/4", "1/8", "1/8"],
    ]
    assert entries(uldp, (3, 4)) == [
        ["1/2", "1/2", "", ""],
        ["1/4", "1/2", "1/4", ""],
        ["1/2", "1/4", "", "1/4"],
    ]
    assert entries(processing, (4, 4)) == [
        ["1", "", "", ""],
        ["", "1", "", ""],
        ["", "1/2", "1/2", ""],
        ["", "", "1/2", "1/2"],
    ]
    titles = [ax.get_title("left") for ax in (processing, uldp, whole)]
    assert titles == ["$Q_R$", "$Q_U$", "$Q_O = Q_U Q_R$"]


def test_floats_have_two_digits() -> None:
    floats = OSLDP.astype(float)
    whole = diagrams.product_scheme(floats, decompose(floats, [0], np.log(2)), [0])[1, 1]
    assert entries(whole, (3, 4))[1] == [".25", ".62", ".12", ""]


LEVELS = np.array([[0, 1, 2.5], [0.25, 0, np.inf], [np.inf, 1, 0]])


def test_levels_stand_in_their_cells() -> None:
    axes = diagrams.pair_levels({"one": LEVELS, "two": np.zeros((3, 3))}, "abc", [0])
    assert [ax.get_title("left") for ax in axes] == ["one", "two"]
    found = {text.get_position()[::-1]: text.get_text() for text in axes[0].texts}
    wanted = {(0, 1): "1", (0, 2): "2.5", (1, 0): "0.25", (1, 2): "∞", (2, 0): "∞", (2, 1): "1"}
    assert found == wanted
    (image,) = axes[0].images
    assert image.get_array().tolist() == [[0, 0.12, 0.3], [0.03, 0, 1], [1, 0.12, 0]]
    assert {text.get_text() for text in axes[1].texts} == {"0"}
    ticks = axes[0].get_yticklabels()
    assert [tick.get_text() for tick in ticks] == list("abc")
    assert ticks[0].get_color() != ticks[1].get_color() == ticks[2].get_color()


@pytest.mark.parametrize("figure", ["1", "2", "3", "4", "matrices"])
def test_no_text_overlaps_another_or_leaves_the_figure(figure: str) -> None:
    ax = {
        "1": lambda: diagrams.uldp_diagram(uldp_matrix(), [0, 1], [0, 1, 2]),
        "2": lambda: diagrams.response_diagram(UtilityOptimizedRR(labelled(6, 3), EPSILON)),
        "3": lambda: diagrams.rappor_diagram(UtilityOptimizedRappor(labelled(10, 4), EPSILON)),
        "4": lambda: diagrams.overview(
            PersonalizedMechanism(COMMON, {SIX[1]: "home", SIX[2]: "work"})
        ),
        "matrices": lambda: diagrams.matrix_diagram(
            {"": UtilityOptimizedRappor(labelled(5, 2), EPSILON)}
        )[0],
    }[figure]()
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert all(ax.figure.bbox.contains(*corner) for box in boxes for corner in (box.min, box.max))
    assert not [a for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]
