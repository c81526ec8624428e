"""How a mechanism looks in every figure.

Its colour is of Okabe and Ito's palette, which readers with any colour vision can tell apart; its
marker and its line are its own too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import matplotlib.pyplot as plt
from numpy.typing import ArrayLike, NDArray

from uldp import _checks

__all__ = ["DPI", "STROKES", "STYLES", "Curve", "Style", "checked", "make_axes"]

Curve = tuple[ArrayLike, ArrayLike]
"""Horizontal and vertical coordinates, of one length."""

DPI = 160


@dataclass(frozen=True)
class Style:
    """How a mechanism is drawn: a Matplotlib colour, marker and line style."""

    color: str
    marker: str
    line: Literal["-", "--", "-.", ":"]


STYLES: dict[str, Style] = {
    "RR": Style("#E69F00", "o", ":"),
    "RAPPOR": Style("#009E73", "s", "--"),
    "uRR": Style("#D55E00", "^", "-"),
    "uRAP": Style("#0072B2", "D", "-."),
}
"""The styles by the short names that the paper gives the mechanisms."""

STROKES: tuple[dict[str, Any], ...] = (
    {"color": "#0072B2", "linestyle": "-"},
    {"color": "#D55E00", "linestyle": "--"},
    {"color": "#009E73", "linestyle": "-."},
    {"color": "#CC79A7", "linestyle": ":"},
)
"""Lines that are not of a mechanism, in the order in which a figure takes them."""


def make_axes(
    number: int, inches: tuple[float, float], columns: int | None = None, sharey: bool = False
) -> NDArray[Any]:
    """Make panels, side by side or in rows of `columns`; return their Axes, shape (number,).

    Raises
    ------
    ValueError
        If there are none.
    """
    if number < 1:
        raise ValueError("there must be at least one panel to draw, got none")
    columns = columns or number
    figure = plt.figure(figsize=inches, dpi=DPI, layout="constrained")
    axes: NDArray[Any] = figure.subplots(number // columns, columns, sharey=sharey, squeeze=False)
    return axes.ravel()


def checked(curve: Curve, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the coordinates of a curve; its heights are called `name` if they do not fit."""
    horizontal = _checks.numbers(curve[0], f"horizontal coordinates of {name}", (-1,))
    return horizontal, _checks.numbers(curve[1], name, horizontal.shape)
