"""The figure on other notions of privacy shows the levels that it is given."""

import numpy as np
import pytest

from uldp.paper.figures import related

LEVELS = np.array([[0, 1, 2.5], [0.25, 0, np.inf], [np.inf, 1, 0]])


def test_levels_stand_in_their_cells() -> None:
    axes = related.pair_levels({"one": LEVELS, "two": np.zeros((3, 3))}, "abc", [0])
    assert [ax.get_title("left") for ax in axes] == ["one", "two"]
    found = {text.get_position()[::-1]: text.get_text() for text in axes[0].texts}
    wanted = {(0, 1): "1", (0, 2): "2.5", (1, 0): "0.25", (1, 2): "∞", (2, 0): "∞", (2, 1): "1"}
    assert found == wanted
    (image,) = axes[0].images
    assert image.get_array().tolist() == [[0, 0.2, 0.5], [0.05, 0, 1], [1, 0.2, 0]]
    assert {text.get_text() for text in axes[1].texts} == {"0"}
    ticks = axes[0].get_yticklabels()
    assert [tick.get_text() for tick in ticks] == list("abc")
    assert ticks[0].get_color() != ticks[1].get_color() == ticks[2].get_color()


@pytest.mark.parametrize("wrong", [LEVELS[:2], -LEVELS, LEVELS * np.nan])
def test_what_cannot_be_drawn(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"levels|shape|finite"):
        related.pair_levels({"one": wrong}, "abc", [0])
    with pytest.raises(ValueError, match="at least one panel"):
        related.pair_levels({}, "abc", [0])
