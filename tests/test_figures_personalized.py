"""The figures on the personalized mechanism show what they are given and refuse other things."""

import itertools

import pytest
from drawn import arrows
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

import uldp
from uldp.paper.figures import personalized as pum_figures
from uldp.paper.figures.style import INK, MUTED
from uldp.personalized import PersonalizedMechanism, TaggedDomain

SIX = [f"$x_{i}$" for i in range(1, 7)]
DOMAIN = TaggedDomain(uldp.Domain(SIX, sensitive=SIX[:1]), tags=["home", "work"])
COMMON = uldp.UtilityOptimizedRR(DOMAIN, epsilon=1.0)


def shades(ax: Axes, label: str) -> list[str]:
    """The colours in which a label stands, from the left column to the right one."""
    found = [text for text in ax.texts if text.get_text() == label]
    return [t.get_color() for t in sorted(found, key=lambda text: text.get_position()[0])]


def test_the_overview_shows_the_map_and_what_the_common_mechanism_does() -> None:
    ax = pum_figures.overview(PersonalizedMechanism(COMMON, {SIX[1]: "home", SIX[2]: "work"}))
    # Two values go to bots. Six others of Z are left, each kept or sent to another of 3 in Y_P.
    kept, elsewhere = 6, 3 * 2 + 3 * 3
    assert sorted(arrows(ax)) == sorted(["-."] * 2 + ["-"] * (4 + kept) + [":"] * elsewhere)
    assert shades(ax, SIX[1]) == shades(ax, SIX[2]) == [INK, MUTED, MUTED]
    assert shades(ax, SIX[0]) == shades(ax, SIX[5]) == [INK] * 3
    assert shades(ax, "⊥home") == shades(ax, "⊥work") == [INK] * 2


def test_arrows_to_bots_start_at_the_values_that_are_sensitive_to_the_user() -> None:
    ax = pum_figures.overview(PersonalizedMechanism(COMMON, {SIX[4]: "work"}))
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    (secret,) = [
        p for p in ax.patches if isinstance(p, FancyArrowPatch) and p.get_linestyle() == "-."
    ]
    (_, start), (_, end) = secret._posA_posB
    left = [t.get_position()[1] for t in ax.texts if t.get_text() == SIX[4]]
    assert start in left
    assert end == heights["⊥work"]


def test_a_user_without_secrets_sends_everything() -> None:
    ax = pum_figures.overview(PersonalizedMechanism(COMMON, {}))
    assert "-." not in arrows(ax)
    assert r"$\mathcal{X}_S^{(i)}$" not in {text.get_text() for text in ax.texts}
    assert all(shades(ax, label) == [INK] * 3 for label in SIX)


def test_a_value_sensitive_to_all_may_have_a_tag_too() -> None:
    ax = pum_figures.overview(PersonalizedMechanism(COMMON, {SIX[0]: "home"}))
    assert arrows(ax).count("-.") == 1
    assert shades(ax, SIX[0])[0] == INK


def test_no_text_of_the_overview_overlaps_another() -> None:
    ax = pum_figures.overview(PersonalizedMechanism(COMMON, {SIX[1]: "home", SIX[2]: "work"}))
    figure = ax.figure
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert all(figure.bbox.contains(*corner) for box in boxes for corner in (box.min, box.max))
    assert not [a for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]


def test_only_a_urr_has_reports_that_are_values() -> None:
    user = PersonalizedMechanism(uldp.UtilityOptimizedRappor(DOMAIN, 1.0), {})
    with pytest.raises(TypeError, match="common mechanism must be a UtilityOptimizedRR"):
        pum_figures.overview(user)
