"""A chapter shows before it proves: what is shown, what is folded, where its first picture is.

Chapters with exercises are held to it.
"""

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
LONGEST_SHOWN, WIDEST_SHOWN = 25, 76
CHECK = re.compile(r"\b(assert|assert_allclose|assert_array_equal)\b")


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
