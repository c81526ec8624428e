"""What several notebooks share. They run in this folder and find it beside themselves."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from IPython.display import HTML, Math
from numpy.typing import NDArray
from sympy.printing.latex import LatexPrinter
from tabulate import tabulate

FROM_TALLIES = ("empirical", "threshold", "norm_sub")
"""The estimates that chapters compare with a forecast: the paper's, and two from its tally."""

SIZES = {"Foursquare": (15, 625), "US census": (76, 400)}
"""Numbers of sensitive values and of all values, s and k, in the experiments of the paper."""


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
    for words in ("ε = ", "ln k", " ± "):
        html = html.replace(words, words.replace(" ", "&nbsp;"))
    return HTML(html.replace("<table>", '<table class="table table-sm">', 1))


class _PlainPrinter(LatexPrinter):  # type: ignore[misc]
    """Write a sum that starts with a minus the other way round: θ - ψ for -ψ + θ."""

    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> list[sp.Expr]:
        terms: list[sp.Expr] = super()._as_ordered_terms(expr, order=order)
        negative = [term.could_extract_minus_sign() for term in terms]
        if not negative[0]:
            return terms
        return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


def _turned(value: Any, positive: Sequence[Any]) -> Any:
    """Return an expression in which no factor is the negative of one of these.

    So k/(θ(1 - θ)) is written for -k/(θ(θ - 1)), if 1 - θ is `positive`.
    """
    opposite = {sp.expand(-base): base for base in positive}

    def _turn(product: Any) -> Any:
        sign, factors = 1, []
        for factor in sp.Mul.make_args(product):
            base, power = factor.as_base_exp()
            if sp.expand(base) in opposite and power.is_integer:
                sign *= (-1) ** power
                factor = opposite[sp.expand(base)] ** power
            factors.append(factor)
        return sp.Mul(sign, *factors)

    return sp.sympify(value).replace(lambda part: part.is_Mul or part.is_Pow, _turn)


def typeset(results: Mapping[str, object], positive: Sequence[Any] = ()) -> Math:
    """Typeset expressions of SymPy by their names in LaTeX, one on each line.

    Factors that are the negatives of `positive` ones are turned round.
    """
    printer = _PlainPrinter()
    written = ((name, printer.doprint(_turned(value, positive))) for name, value in results.items())
    lines = (rf"{name} &= {text}" for name, text in written)
    return Math(r"\begin{aligned}" + r" \\[6pt] ".join(lines) + r"\end{aligned}")


def uniform_within(s: int, nu: int, mass: float) -> NDArray[Any]:
    """Return the distribution of this mass on X_S that is uniform within X_S and within X_N."""
    return np.append(np.full(s, mass / s), np.full(nu, (1 - mass) / nu))


def visits(grid: Any, reach: float) -> NDArray[Any]:
    """Return where people with a home in each cell go, in its row, from the check-ins of Manhattan.

    They are at home 3 times of 10, and else where the check-ins without a tag are, weighted by
    exp(-distance/reach), in km.
    """
    k, side = grid.domain.size, grid.shape[0]
    north, east = 0.445 * (np.arange(k) // side), 0.405 * (np.arange(k) % side)
    distance = np.hypot(north[:, None] - north, east[:, None] - east)
    weights = (grid.counts - grid.home - grid.office) * np.exp(-distance / reach)
    elsewhere: NDArray[Any] = weights / weights.sum(axis=1, keepdims=True)
    return 0.3 * np.eye(k) + 0.7 * elsewhere


def exact(rows: Iterable[Iterable[Any]]) -> np.ndarray[Any, Any]:
    """Return a matrix of fractions, from numbers or texts such as "11/20"."""
    return np.array([[Fraction(entry) for entry in row] for row in rows])
