"""What the notebooks share stands in notebooks/helpers.py, once."""

import ast
import json
import re
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import sympy as sp
from cases import module_at

from uldp.paper import datasets

FOLDER = Path(__file__).parents[1] / "notebooks"
SHARED = (FOLDER / "helpers.py").read_text(encoding="utf-8")
CODE = {
    path.stem: "\n".join(
        re.sub(r"^%%writefile .*\n", "", "".join(cell["source"]))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    )
    for path in sorted(FOLDER.glob("*.ipynb"))
}


@pytest.fixture(scope="module")
def helpers() -> ModuleType:
    return module_at("notebooks/helpers.py")


def functions(code: str) -> set[str]:
    """The functions that a notebook or a module defines."""
    return {node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)}


def shared(code: str) -> set[str]:
    """The names that a notebook imports from here."""
    return {
        alias.name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and node.module == "helpers"
        for alias in node.names
    }


@pytest.mark.parametrize("name", CODE)
def test_no_notebook_defines_what_is_shared(name: str) -> None:
    assert functions(CODE[name]).isdisjoint(functions(SHARED))
    assert "tabulate" not in CODE[name]


def test_all_that_is_shared_is_used(helpers: ModuleType) -> None:
    used = set().union(*map(shared, CODE.values()))
    own = {name for name, value in vars(helpers).items() if name.isupper() and name != "HTML"}
    offered = {name for name in functions(SHARED) if not name.startswith("_")}
    assert used == own | offered


def test_a_table_shows_texts_as_they_are_and_formats_numbers(helpers: ModuleType) -> None:
    rows = [["ε = 1", "0.10", 0.25], ["ε = ln k", "2", 1.0]]
    html = helpers.show(rows, ["", "text", "number"], floatfmt=".3f").data
    entries = re.findall(r"<td[^>]*>(.*?) *</td>", html)
    assert [entry.strip() for entry in entries] == [
        *("ε&nbsp;=&nbsp;1", "0.10", "0.250"),
        *("ε&nbsp;=&nbsp;ln&nbsp;k", "2", "1.000"),
    ]
    assert html.startswith('<table class="table table-sm">')


def test_options_of_a_table_are_handed_on(helpers: ModuleType) -> None:
    html = helpers.show([["<b>"]], ["a"], tablefmt="unsafehtml", colalign=["right"]).data
    assert "<b>" in html
    assert "text-align: right" in html


def test_expressions_are_typeset_one_on_each_line(helpers: ModuleType) -> None:
    x = sp.Symbol("x")
    typeset = helpers.typeset({"a": x**2, r"\mu": x}).data
    assert typeset == r"\begin{aligned}a &= x^{2} \\[6pt] \mu &= x\end{aligned}"


def test_a_sum_is_written_with_what_is_positive_first(helpers: ModuleType) -> None:
    p, u, x = sp.symbols("p u x", positive=True)
    written = {
        "u - x": r"u - x",
        "-x**2 + p": r"p - x^{2}",
        "-p - 1": r"- p - 1",
        "x - 1": r"x - 1",
    }
    for text, latex in written.items():
        found = helpers.typeset({"a": sp.sympify(text, {"p": p, "u": u, "x": x})}).data
        assert found == rf"\begin{{aligned}}a &= {latex}\end{{aligned}}"


def test_factors_are_turned_to_the_positive_ones(helpers: ModuleType) -> None:
    """What is written is equal to what was found, and has no factor x - 1 of an odd power."""
    p, x = sp.symbols("p x", positive=True)
    written = {
        -p / (x * (x - 1)): r"\frac{p}{x \left(1 - x\right)}",
        1 / (p * (x - 1)): r"- \frac{1}{p \left(1 - x\right)}",
        p * (x - 1) ** 2: r"p \left(1 - x\right)^{2}",
        p * sp.sqrt(1 - x): r"p \sqrt{1 - x}",
        x - 1: r"x - 1",
    }
    for expression, latex in written.items():
        turned = helpers._turned(expression, [1 - x])
        assert sp.simplify(turned - expression) == 0
        assert helpers._PlainPrinter().doprint(turned) == latex
    both = helpers._turned(sp.Matrix([[-p / (x - 1), p]]), [1 - x])
    assert both == sp.Matrix([[p / (1 - x), p]])


def test_visits_fall_off_with_the_distance_from_home(helpers: ModuleType) -> None:
    grid, home, north, east = datasets.manhattan(), 311, 336, 312
    rest = grid.counts - grid.home - grid.office
    anywhere, near = helpers.visits(grid, np.inf), helpers.visits(grid, 1.0)
    np.testing.assert_allclose(anywhere, 0.3 * np.eye(625) + 0.7 * rest / rest.sum())
    np.testing.assert_allclose(near.sum(axis=1), 1)
    odds = near[home, north] * rest[east] / (near[home, east] * rest[north])
    assert odds == pytest.approx(np.exp(0.405 - 0.445))


def test_a_distribution_is_uniform_within_both_classes(helpers: ModuleType) -> None:
    assert helpers.uniform_within(4, 3, 0.4).tolist() == pytest.approx([0.1] * 4 + [0.2] * 3)


def test_exact_matrices_are_read_from_texts_and_numbers(helpers: ModuleType) -> None:
    third = Fraction(1, 3)
    assert helpers.exact([["1/3", third], [1, 0]]).tolist() == [[third, third], [1, 0]]
