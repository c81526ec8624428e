"""What several notebooks share. They run in this folder and find it beside themselves."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from IPython.display import HTML, Math
from tabulate import tabulate

import uldp
from uldp.privacy import Channel

SIZES = {"Foursquare": (15, 625), "US census": (76, 400)}
"""Numbers of sensitive values and of all values, s and k, in the experiments of the paper."""

FROM_TALLIES = ("empirical", "threshold", "norm_sub")
"""The estimators that need a tally alone, whatever the mechanism."""


def show(
    rows: Iterable[Sequence[object]],
    headers: Sequence[object],
    tablefmt: str = "html",
    **options: Any,
) -> HTML:
    """Return a table in the style of the book.

    A column of texts is shown as it is, also where they read as numbers. Further options are those
    of `tabulate`: ``floatfmt`` formats the columns of numbers.
    """
    rows = list(rows)
    columns = enumerate(zip(*rows, strict=True))
    texts = [j for j, column in columns if all(isinstance(entry, str) for entry in column)]
    html = tabulate(rows, headers, tablefmt, **{"disable_numparse": texts} | options)
    html = html.replace("ε = ", "ε&nbsp;=&nbsp;").replace("ln k", "ln&nbsp;k")
    return HTML(html.replace("<table>", '<table class="table table-sm">', 1))


def typeset(results: Mapping[str, object]) -> Math:
    """Typeset expressions of SymPy by their names in LaTeX, one on each line."""
    lines = (rf"{name} &= {sp.latex(value)}" for name, value in results.items())
    return Math(r"\begin{aligned}" + r" \\[6pt] ".join(lines) + r"\end{aligned}")


def random_domain(
    rng: np.random.Generator,
    largest_k: int,
    largest_s: int | None = None,
    nonsensitive: int = 0,
) -> uldp.Domain:
    """Draw a domain of 2 to `largest_k` values, of which a random subset is sensitive.

    At least one value and at most `largest_s` are sensitive, and at least `nonsensitive` are not.
    """
    k = int(rng.integers(2, largest_k + 1))
    most = min(k - nonsensitive, largest_s or k)
    s = int(rng.integers(1, most + 1))
    return uldp.Domain(k, sensitive=rng.permutation(k)[:s])


def exact(rows: Iterable[Iterable[Any]]) -> np.ndarray[Any, Any]:
    """Return a matrix of fractions, from numbers or texts such as "11/20"."""
    return np.array([[Fraction(entry) for entry in row] for row in rows])


def urr_channel(k: int, s: int, E: int | Fraction) -> Channel:
    """Return the uRR on k values, the first s sensitive, with e^ε = E, in fractions."""
    c2 = Fraction(1, s + E - 1)
    rows = [[c2] * s + [Fraction(0)] * (k - s) for _ in range(k)]
    for x in range(k):
        rows[x][x] += (E - 1) * c2
    return Channel(exact(rows), range(s))
