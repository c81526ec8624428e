"""A chapter shows before it proves: what is shown, what is folded, where its first picture is.

Chapters with exercises are held to it; those that derive in sight, to more.
"""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from uldp.paper import verify

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
LONGEST_SHOWN, WIDEST_SHOWN = 25, 76
LONGEST_DERIVATION, LONGEST_COINS, WORDS_OF_A_CAPTION = 12, 20, 40
CHECK = re.compile(r"\b(assert|assert_allclose|assert_array_equal)\b")


@cache
def cells(notebook: Path) -> list[dict]:
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def source(cell: dict) -> str:
    return "".join(cell["source"])


def folded(cell: dict) -> bool:
    return any(tag.startswith(("hide-", "remove-")) for tag in cell["metadata"].get("tags", []))


def exercises(notebook: Path) -> list[str]:
    return re.findall(r"{exercise-start}", "".join(map(source, cells(notebook))))


CHAPTERS = [notebook for notebook in sorted(NOTEBOOKS.glob("*.ipynb")) if exercises(notebook)]


@pytest.fixture(params=CHAPTERS, ids=lambda notebook: notebook.stem)
def chapter(request):
    return request.param


def test_shown_cells_are_short_narrow_and_no_checks(chapter):
    for cell in cells(chapter):
        if cell["cell_type"] == "code" and not folded(cell):
            text, lines = source(cell), source(cell).splitlines()
            assert len(lines) <= LONGEST_SHOWN, text
            assert max(map(len, lines)) <= WIDEST_SHOWN, text
            assert not CHECK.search(text), text


def test_folded_cells_say_what_they_are(chapter):
    """In their line or, if they draw, in the caption; and what a check found is in its output."""
    for cell in cells(chapter):
        if cell["cell_type"] == "code" and folded(cell):
            about = cell["metadata"].get("mystnb", {})
            assert "figure" in about or "code_prompt_show" in about, source(cell)
            if about.get("code_prompt_show", "").startswith("Check"):
                assert cell["outputs"], source(cell)


def test_a_picture_comes_before_the_second_section(chapter):
    """Its place in pixels is measured on the built page, where there is a browser."""
    before = []
    for cell in cells(chapter):
        before.append(cell)
        if "figure" in cell["metadata"].get("mystnb", {}):
            break
    text = "\n".join(source(cell) for cell in before if cell["cell_type"] == "markdown")
    assert len(re.findall(r"^## ", text, re.MULTILINE)) <= 1


DERIVED = [
    "asked_again",
    "attributes",
    "block_design",
    "estimators",
    "experiment_figures",
    "experiments",
    "fundamental_limit",
    "l1_losses",
    "l1_proofs",
    "l1_worst_case",
    "l2_losses",
    "ldp_price",
    "limit_distance",
    "mechanisms",
    "mixing",
    "optimal_theta",
    "order_optimal",
    "osldp",
    "personalized",
    "personalized_experiments",
    "personalized_secrets",
    "preliminaries",
    "properties",
    "regimes",
    "related_work",
    "revealing",
    "running_time",
    "several_data",
    "several_levels",
    "shuffled",
    "totals",
    "uldp",
]
"""Chapters of three beats, derive, verify, draw; a chapter is added here when it is one."""

SHORT = ["as_people_run_them"]
"""Pages that derive nothing, with cells and captions as short."""

COINS = ["mechanisms"]
"""Chapters whose first shown cell is a mechanism as code that throws coins: a function."""

ALONE = [
    "audit",
    "choosing",
    "explorer",
    "finite_populations",
    "half_hour",
    "inference",
    "lied_to",
    "privacy_in_practice",
    "published_mechanisms",
    "quickstart",
    "respondent",
    "scale",
    "which_estimator",
]
"""Further chapters whose shown cells run without the folded ones."""


def code(name: str) -> tuple[list[dict], list[dict], list[dict]]:
    """The cells of a chapter that are shown, in solutions, and folded."""
    shown, solutions, folds = [], [], []
    in_solution = False
    for cell in cells(NOTEBOOKS / f"{name}.ipynb"):
        if cell["cell_type"] == "markdown":
            last = re.findall("{solution-(start|end)}", source(cell))[-1:]
            in_solution = last == ["start"] if last else in_solution
        else:
            (folds if folded(cell) else solutions if in_solution else shown).append(cell)
    return shown, solutions, folds


def names(some: list[dict], context: type[ast.expr_context]) -> set[str]:
    trees = [ast.walk(ast.parse(source(cell))) for cell in some]
    nodes = [node for tree in trees for node in tree if isinstance(node, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, context)}


@pytest.mark.parametrize("name", [*DERIVED, *SHORT, *ALONE])
def test_shown_cells_run_by_themselves(name, monkeypatch):
    """In order and in one namespace, without the folded ones, which take none of their names.

    Formulas are tried at a few cases: at all of them when the notebooks' outputs are compared.
    """
    monkeypatch.setattr(verify, "CASES", 10)
    shown, solutions, folds = code(name)
    monkeypatch.chdir(NOTEBOOKS)
    monkeypatch.syspath_prepend(NOTEBOOKS)
    namespace = {}
    for cell in shown + solutions:
        exec(source(cell), namespace)
    assert names(folds, ast.Store).isdisjoint(names(shown, ast.Load))


@pytest.mark.parametrize("name", [*DERIVED, *SHORT])
def test_a_derivation_is_short_and_plain(name):
    """No function of its own, but for coins, and no name put together from parts."""
    for number, cell in enumerate(code(name)[0]):
        throws = name in COINS and number == 0
        assert len(source(cell).splitlines()) <= (LONGEST_COINS if throws else LONGEST_DERIVATION)
        nodes = list(ast.walk(ast.parse(source(cell))))
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        assert len(functions) == throws
        keys = [key for node in nodes if isinstance(node, ast.Dict) for key in node.keys]
        assert not [key for key in keys if isinstance(key, ast.JoinedStr)]


@pytest.mark.parametrize("name", [*DERIVED, *SHORT])
def test_captions_are_short(name):
    for cell in code(name)[2]:
        caption = cell["metadata"]["mystnb"].get("figure", {}).get("caption", "")
        assert len(caption.split()) <= WORDS_OF_A_CAPTION, caption


def test_the_tests_that_chapters_name_exist():
    named = set()
    for path in NOTEBOOKS.glob("*.ipynb"):
        named |= set(re.findall(r"`(test_\w+)`", "".join(map(source, cells(path)))))
    tests = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")]
    assert named <= set(re.findall(r"^def (test_\w+)", "".join(tests), re.M))
    assert len(named) > 50


@pytest.mark.parametrize("name", sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")))
def test_editors_fold_what_the_book_folds(name):
    shown, solutions, folds = code(name)
    hidden = [cell["metadata"].get("jupyter", {}) for cell in solutions + folds]
    assert hidden == [{"source_hidden": True}] * len(hidden)
    assert not [cell for cell in shown if "jupyter" in cell["metadata"]]
