"""The notebooks as committed, the table of contents, the index and the book's extensions."""

import doctest
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import yaml
from nbformat import NotebookNode

import uldp

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MACHINE_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|Users)/|\b[A-Z]:\\Users\\")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")

RENDERED_DIRECTIVES = {
    "admonition",
    "exercise-end",
    "exercise-start",
    "literalinclude",
    "prf:algorithm",
    "prf:definition",
    "prf:example",
    "prf:lemma",
    "prf:proof",
    "prf:proposition",
    "prf:theorem",
    "solution-end",
    "solution-start",
    "table",
}
RENDERED_ROLES = {"cite", "cite:t", "eq", "numref", "prf:ref", "ref", "term"}


@cache
def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> NotebookNode:
    return read(request.param)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook: NotebookNode) -> list[NotebookNode]:
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def texts(notebook: NotebookNode) -> list[str]:
    """Everything in a notebook that a reader reads, but the marks of a drawing."""
    data = (item for output in outputs(notebook) for item in output.get("data", {}).items())
    return [
        *(cell.source for cell in notebook.cells),
        *(output.text for output in outputs(notebook) if output.output_type == "stream"),
        *(
            re.sub(r"<[^>]*>", " ", value) if "svg" in mime else str(value)
            for mime, value in data
            if mime != "image/png"
        ),
    ]


def chapters(toc: Any) -> list[str]:
    """The files that a table of contents names, depth first."""
    if isinstance(toc, list):
        return [name for item in toc for name in chapters(item)]
    if isinstance(toc, dict):
        return [
            name
            for key, value in toc.items()
            for name in ([value] if key in ("root", "file") else chapters(value))
        ]
    return []


def extension(name: str) -> Any:
    """One of the book's Sphinx extensions, which may need another."""
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    return importlib.import_module(name)


def test_a_page_says_when_its_source_was_committed(tmp_path: Path) -> None:
    """The last commit counts; without git, or its history, nothing is known."""
    dates = extension("changed").dates.__wrapped__
    assert dates(str(tmp_path)) == {}

    def git(*words: str, day: int = 1) -> None:
        when = f"2026-01-0{day}T12:00:00Z"
        who = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"]
        dated = os.environ | {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
        subprocess.run(["git", *who, "-C", tmp_path, *words], check=True, env=dated)

    (tmp_path / "book").mkdir()
    git("init", "--quiet")
    for day, name in enumerate(("one", "two", "one"), start=1):
        (tmp_path / "book" / f"{name}.md").write_text(str(day), encoding="utf-8")
        git("add", ".")
        git("commit", "--quiet", "-m", str(day), day=day)
    assert dates(str(tmp_path)) == {"book/one.md": "2026-01-03", "book/two.md": "2026-01-02"}
    subprocess.run(["git", "clone", "--quiet", "--depth=1", tmp_path.as_uri(), tmp_path / "new"])
    assert dates(str(tmp_path / "new")) == {}


API = sorted((ROOT / "book" / "api").glob("*.md"))


@pytest.mark.parametrize("page", API, ids=lambda page: page.stem)
def test_a_page_of_the_api_begins_with_a_sentence_and_an_example_that_runs(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    first, example = text.split("```{module}")[0].split("```pycon\n")
    assert first.rstrip().endswith(".")
    code = doctest.DocTestParser().get_doctest(example.split("```")[0], {}, page.name, None, None)
    assert code.examples[-1].want
    assert doctest.DocTestRunner().run(code).failed == 0


@pytest.mark.parametrize(
    "name",
    [
        one.name
        for one in walk_packages(uldp.__path__, "uldp.")
        if not one.name.endswith("__main__")
    ],
)
def test_examples_of_docstrings_run(name: str) -> None:
    public = {one: getattr(uldp, one) for one in uldp.__all__}
    assert doctest.testmod(import_module(name), extraglobs=public | {"uldp": uldp}).failed == 0


def test_the_index_names_every_statement_once() -> None:
    pages = "\n".join(
        cell.source
        for path in NOTEBOOKS
        for cell in read(path).cells
        if cell.cell_type == "markdown"
    )
    pages += "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md"))
    labels = re.findall(r"\{prf:(?!proof|ref)\w+\}.*\n:label: (\S+)", pages)
    index = (ROOT / "book" / "bibliography.md").read_text(encoding="utf-8")
    assert labels
    assert sorted(labels) == sorted(re.findall(r"\{prf:ref\}`([^`]+)`", index))


def test_the_table_of_contents_names_every_notebook_once() -> None:
    listed = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
    listed_notebooks = sorted(name for name in listed if name.startswith("notebooks/"))
    assert listed_notebooks == [f"notebooks/{path.stem}" for path in NOTEBOOKS]


def test_code_cells_were_run_once_from_top_to_bottom(notebook: NotebookNode) -> None:
    cells = code_cells(notebook)
    assert cells
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


def test_outputs_hold_no_errors_and_no_warnings(notebook: NotebookNode) -> None:
    assert not [output for output in outputs(notebook) if output.output_type == "error"]
    assert not [output for output in outputs(notebook) if output.get("name") == "stderr"]


def test_no_path_of_a_machine_is_stored(notebook: NotebookNode) -> None:
    assert not [text for text in texts(notebook) if MACHINE_PATH.search(text)]


def test_metadata_holds_no_time_and_no_version(notebook: NotebookNode) -> None:
    metadata = [notebook.metadata, *(cell.metadata for cell in notebook.cells)]
    assert not TIMESTAMP.search(json.dumps(metadata))
    assert "version" not in notebook.metadata.language_info


def test_every_image_is_described_in_words(notebook: NotebookNode) -> None:
    for cell in code_cells(notebook):
        mimes = {mime for output in cell.outputs for mime in output.get("data", {})}
        if any(mime.startswith("image/") for mime in mimes):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert alt.strip(), f"no alt text for the image drawn by:\n{cell.source}"


def test_a_drawing_is_stored_as_a_small_png_too(notebook: NotebookNode) -> None:
    """Editors show no SVG before a notebook is trusted."""
    drawings = [one.data for one in outputs(notebook) if "image/svg+xml" in one.get("data", {})]
    assert all(1_000 < len(data.get("image/png", "")) < 100_000 for data in drawings)


def test_markdown_is_read_in_editors(notebook: NotebookNode) -> None:
    """With jupyterlab-myst, in which each of these was seen; no other page is known there.

    So a page or a section is referred to by a link with a text of its own.
    """
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    directives = re.findall(r"^ *(?:`{3,}|:{3,})\{([\w:-]+)\}", text, re.M)
    assert {*directives} <= RENDERED_DIRECTIVES
    roles = re.findall(r"\{([\w:]+)\}`([^`]*)`", text)
    assert {role for role, _ in roles} <= RENDERED_ROLES
    assert [to for role, to in roles if role == "ref" and not re.search(r"(^|<)ex-", to)] == []


def test_formulas_are_read_without_the_macros_of_the_book(notebook: NotebookNode) -> None:
    """Editors do not know them."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    macros = settings["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]
    used = re.compile(rf"(?<!\\)\\(?:{'|'.join(macros)})(?![A-Za-z])")
    captions = [cell.metadata.get("mystnb", {}).get("figure", {}) for cell in notebook.cells]
    formulas = [cell.source for cell in notebook.cells] + [c.get("caption", "") for c in captions]
    formulas += [
        one.data["text/latex"] for one in outputs(notebook) if "text/latex" in one.get("data", {})
    ]
    assert [found for text in formulas for found in used.findall(text)] == []


@pytest.fixture(scope="module")
def offline() -> Any:
    return extension("offline")


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://host/a.js"></script>',
        '<link rel="stylesheet" href="http://host/a.css">',
        "<img alt='a' src='//host/a.png'>",
    ],
)
def test_a_page_that_fetches_from_another_host_is_found(offline: Any, html: str) -> None:
    assert len(offline.fetched_urls(html)) == 1


@pytest.mark.parametrize(
    "html",
    ['<a href="https://host/page">', '<script src="_static/a.js">', "<p>https://host/a.js</p>"],
)
def test_links_and_local_files_are_no_fetches(offline: Any, html: str) -> None:
    assert offline.fetched_urls(html) == []


def test_a_drawing_has_no_colour_that_a_dark_page_does_not_change(notebook: NotebookNode) -> None:
    """But for what lies on a map."""
    inline = extension("drawings").inline
    for output in outputs(notebook):
        if drawing := output.get("data", {}).get("image/svg+xml"):
            for form in inline(drawing, "drawing", "alt").split("\n<svg"):
                assert not colors(ElementTree.fromstring("<svg" + form.removeprefix("<svg")))


def colors(element: ElementTree.Element) -> set[str]:
    """The colours of an element and all in it but plates and hatches, which lie on them."""
    if element.get("class") == "plate" or element.tag.endswith("pattern"):
        return set()
    own = {
        color for value in element.attrib.values() for color in re.findall(r"#[0-9a-f]{6}", value)
    }
    return own.union(*map(colors, element))


def test_the_picture_of_the_readme_is_the_first_of_the_quick_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """README and shared links cannot show a drawing in SVG, which the page has."""
    cells = code_cells(read(ROOT / "notebooks" / "quickstart.ipynb"))
    first = next(number for number, cell in enumerate(cells) if cell.outputs)
    monkeypatch.syspath_prepend(ROOT / "notebooks")
    monkeypatch.setattr(plt, "show", lambda: None)
    exec("\n".join(cell.source for cell in cells[: first + 1]), {})
    drawn = io.BytesIO()
    plt.gcf().savefig(drawn, facecolor="white")
    plt.close("all")
    drawn.seek(0)
    pixels, stored = map(plt.imread, (drawn, ROOT / "book" / "images" / "quickstart.png"))
    assert pixels.shape == stored.shape
    assert np.abs(pixels - stored).mean() < 1e-3, "save the figure of the page here again"


TOOL = """#!/bin/sh
case "$1 $2" in
    "project execute") cd "$JUPYTERCACHE" && echo "cache in $PWD" ;;
    "-m venv") for folder; do :; done; mkdir -p "$folder/bin" && cp "$0" "$folder/bin/python" ;;
esac
"""
"""What stands for Python and Jupyter: it does nothing but say where it would write."""


@pytest.mark.parametrize(
    ("folder", "refused"),
    [
        *(
            (name, False)
            for name in ("My course", "é it's $x", "-n", "-rf a", 'q"`u`\\o', "#1 & (2);")
        ),
        *((name, True) for name in ("My what?", "50%41", "a [b]", "a *", "a:b")),
    ],
)
def test_make_writes_in_its_folder_alone(tmp_path: Path, folder: str, refused: bool) -> None:
    """Whatever the folder's name: cut at a blank, it would be the name of another folder."""
    clone, python = tmp_path / folder / "my uldp", tmp_path / "a python"
    for name in (".venv/bin", "book", "notebooks", "tests", "tools", "uldp"):
        (clone / name).mkdir(parents=True)
    for name in ("Makefile", "_config.yml", "requirements.txt", "constraints.txt"):
        shutil.copyfile(ROOT / name, clone / name)
    for name in ("pyproject.toml", "CITATION.cff", ".venv/installed", "notebooks/one.ipynb"):
        (clone / name).touch()
    for tool in (python, *(clone / ".venv" / "bin" / name for name in ("jcache", "jupyter-book"))):
        tool.write_text(TOOL, encoding="utf-8")
        tool.chmod(0o755)
    beside = tmp_path / f"{folder}/my uldp".split()[0]
    beside.mkdir(exist_ok=True)
    (beside / "kept").touch()

    there = sorted(tmp_path.rglob("*"))
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("M")}
    line = ["make", f"PYTHON={python}", "book", "dist", "clean"]
    run = subprocess.run(line, cwd=clone, env=environment, capture_output=True, text=True)
    assert sorted(tmp_path.rglob("*")) == there
    if refused:
        assert (run.stdout, run.returncode) == ("", 2)
        assert "This folder must have no " in run.stderr
    else:
        assert (run.stderr, run.returncode) == ("", 0)
        assert f"\ncache in {clone}/_build/.jupyter_cache\n" in run.stdout
        assert f"\n    {clone}/_build/html/index.html\n" in run.stdout


BUILT = ROOT / "_build" / "html"


@pytest.mark.skipif(not BUILT.exists(), reason="the book is not built")
def test_each_statement_of_the_paper_bears_its_verdict() -> None:
    """The one of the table, where the statement stands."""
    pages = "\n".join(
        path.read_text(encoding="utf-8") for path in (BUILT / "notebooks").glob("*.html")
    )
    verdicts = extension("stamps").verdicts()
    assert len(verdicts) > 30
    for label, words in verdicts.items():
        start = pages.index(f'admonition" id="{label}">')
        title = pages[start : pages.index("</p>", start)]
        assert re.findall(r'<span class="stamp \w+">([^<]*)</span>', title) == words, label


@pytest.mark.skipif(not BUILT.exists(), reason="the book is not built")
def test_a_shared_link_has_a_title_a_description_and_a_picture() -> None:
    for path in [BUILT / "book" / "welcome.html", *(BUILT / "notebooks").glob("*.html")]:
        html = path.read_text(encoding="utf-8")
        tags = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]*)"/>', html))
        assert "&lt;" not in tags["title"]
        assert len(tags["description"]) > 60, path.name
        assert (path.parent / tags["image"]).is_file()


DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 493.2 252">
<metadata>made</metadata><style>* {stroke-linecap: butt}</style>
<clipPath id="a"><path d="M0 0"/></clipPath>
<path clip-path="url(#a)" style="stroke: #1F5FA8; fill: #123456"/>
<g id="plate"><text fill="#1b2430">on a map</text></g>
<svg class="narrow" display="none" viewBox="0 0 252 360"><path fill="#a84d08"/></svg></svg>"""


def test_a_drawing_takes_the_colours_and_the_width_of_the_page() -> None:
    wide, narrow = extension("drawings").inline(DRAWING, "d", "Two lines").split("\n<svg")
    assert "stroke: var(--sensitive); fill: #123456" in wide
    assert 'id="d-wide-a"' in wide
    assert "url(#d-wide-a)" in wide
    assert '<g class="plate"><text fill="#1b2430"' in wide
    assert "metadata" not in wide + narrow
    assert "linecap" not in wide
    assert 'width="685"' in wide
    assert 'width="350"' in narrow
    assert 'fill="var(--other)"' in narrow
    assert 'class="drawing narrow"' in narrow
    assert "display" not in narrow
    assert (wide + narrow).count('aria-label="Two lines"') == 2
