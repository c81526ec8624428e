"""The figures show the numbers that they are given, and refuse those that they cannot show."""

from fractions import Fraction

import numpy as np
import pytest
from matplotlib.axes import Axes

from uldp.paper.figures.osldp import product_scheme
from uldp.privacy.osldp import decompose

Q = np.array([[Fraction(w, 8) for w in row] for row in [[4, 4, 0, 0], [2, 5, 1, 0], [4, 2, 1, 1]]])
PARTS = decompose(Q, [0], np.log(2))


def entries(ax: Axes, shape: tuple[int, int]) -> list[list[str]]:
    """The texts in the cells of a matrix, row by row; blank where there are none."""
    table = np.full(shape, "", dtype=object)
    for text in ax.texts:
        column, row = text.get_position()
        table[int(row), int(column)] = text.get_text()
    return table.tolist()


def test_the_matrices_hold_their_entries_and_zeros_are_blank() -> None:
    ((_, processing), (uldp, whole)) = product_scheme(Q, PARTS, [0])
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


def test_floats_have_two_digits() -> None:
    floats = Q.astype(float)
    whole = product_scheme(floats, decompose(floats, [0], np.log(2)), [0])[1, 1]
    assert entries(whole, (3, 4))[1] == [".25", ".62", ".12", ""]


@pytest.mark.parametrize(
    ("matrix", "sensitive", "message"),
    [
        (Q[:, :3], [0], "each row of Q must sum to 1"),
        (Q[:2], [0], r"parts must be those of a mechanism of shape \(2, 4\), got \(3, 4\)"),
        (Q[[1, 0, 2]], [1], "Q must have its sensitive inputs first"),
        (
            Q[:, [2, 0, 1, 3]],
            [0],
            "Q must have its sensitive inputs first, and first their outputs",
        ),
        (Q, [3], r"sensitive must lie in 0\.\.2"),
        (Q[[0, 2, 1]], [0], "parts must have Q as their product"),
    ],
)
def test_mechanisms_that_cannot_be_shown(matrix, sensitive, message) -> None:
    with pytest.raises(ValueError, match=message):
        product_scheme(matrix, PARTS, sensitive)
