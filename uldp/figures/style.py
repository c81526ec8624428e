"""How a mechanism looks in every figure.

Its colour is of Okabe and Ito's palette, which readers with any colour vision can tell apart; its
marker and its line are its own too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

__all__ = ["DPI", "STYLES", "Curve", "Style"]

Curve = tuple[ArrayLike, ArrayLike]
"""Values of ε, in nats, and the loss at each."""

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
