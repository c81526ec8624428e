"""The first screen of a page, and code that does not stand in the way of reading.

A chapter begins with its question and its picture. The code that draws the picture, and all that
stands before it, goes below its caption, into a fold of one word. A check is a fold, too, with
its output; what is computed to be read stays in the open.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

READ = ("Computed", "Derivation", "Stored", "Table", "Template")
"""Code with such a name makes what a reader reads."""

SENTENCE = re.compile(r"(?<!\beq)(?<!\be\.g)[.?!](?=\s|$)")


SWITCH = {
    "type": "javascript",
    "javascript": "switchCode(this)",
    "tooltip": "Show or hide all code",
    "text": "code",
    "label": "code-switch",
}
SOURCE = re.compile(r"(?<=[.?!]\s)(?:Data:|Again:|Formulas only|Simulated)")
"""How the last sentence of a caption begins that says what its figure is drawn from."""


def is_cell(node: nodes.Node) -> bool:
    """Return whether a node is a cell of code."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def fold_of(cell: nodes.Element) -> HideCodeCellNode | None:
    """Return the fold with a cell's code, None if the code is shown."""
    return next((one for one in cell.children if isinstance(one, HideCodeCellNode)), None)


def is_small(node: nodes.Node) -> bool:
    """Return whether a node is a cell of which nothing but a fold is seen."""
    return is_cell(node) and len(node.children) == 1 and fold_of(node) is not None


def close(cell: nodes.Element) -> None:
    """Put the outputs of a cell into its fold, and give a check its name."""
    fold = fold_of(cell)
    if fold is None or fold["prompt_show"].startswith(READ) or cell.next_node(nodes.figure):
        return
    name = fold["prompt_show"]
    if name.startswith("Check"):
        name = name.replace("Check", "checked", 1)
        fold["classes"].append("check")
    fold["prompt_show"] = fold["prompt_hide"] = name
    for output in [one for one in cell.children if one is not fold]:
        cell.remove(output)
        fold += output


def drawn_first(cell: nodes.Element, before: list[nodes.Element]) -> None:
    """Put a figure before the code that draws it, with other code that has no output."""
    fold = fold_of(cell)
    if fold is None:
        return
    fold["prompt_show"] = fold["prompt_hide"] = "code"
    fold["classes"].append("unnamed")
    cell.remove(fold)
    place = cell.parent.index(cell) + 1
    for one in before:
        cell.parent.remove(one)
    place -= len(before)
    silent = [one for one in before if not is_noted(one)]
    fold[:0] = [part for one in silent for part in named(one)]
    fold += printed(cell)
    small = nodes.container(nb_element="cell_code", classes=["cell"])
    small += fold
    cell.parent[place:place] = [small, *(one for one in before if is_noted(one))]


def code_last(cell: nodes.Element) -> None:
    """Put a figure that is folded away with its code before the code."""
    fold = fold_of(cell)
    assert fold is not None
    fold["prompt_hide"] = fold["prompt_show"]
    fold.append(fold.pop(0))


def printed(cell: nodes.Element) -> list[nodes.Node]:
    """Return what a cell prints beside its figure, which then stands alone."""
    (shown,) = (one for one in cell.children if one.get("nb_element") == "cell_code_output")
    texts = [one for one in shown.children if not isinstance(one, nodes.figure)]
    for one in texts:
        shown.remove(one)
    return texts


def is_noted(cell: nodes.Element) -> bool:
    """Return whether a cell has an output."""
    return any(one.get("nb_element") == "cell_code_output" for one in cell.findall(nodes.container))


def named(cell: nodes.Element) -> list[nodes.Node]:
    """Return the code of a fold with its name above it."""
    fold = fold_of(cell)
    assert fold is not None
    return [nodes.paragraph("", fold["prompt_show"], classes=["name"]), *fold.children]


def gather(parent: nodes.Element) -> None:
    """Put neighbouring folds side by side."""
    for first in list(parent.children):
        if first.parent is parent and is_small(first):
            run = list(takewhile(is_small, parent.children[parent.index(first) :]))
            row = nodes.container(classes=["folds"])
            parent[parent.index(first)] = row
            for one in run[1:]:
                parent.remove(one)
            row += run


def lead(caption: nodes.Element) -> None:
    """Set the first sentence of a caption in bold, unless its author has."""
    written = (child for child in caption.children if child.astext())
    if isinstance(next(written, None), nodes.strong):
        return
    for i, child in enumerate(caption.children):
        if isinstance(child, nodes.Text) and (end := SENTENCE.search(child)):
            first = [*caption.children[:i], nodes.Text(child[: end.end()])]
            rest = [nodes.Text(child[end.end() :]), *caption.children[i + 1 :]]
            caption.children = []
            caption += nodes.strong("", "", *first)
            caption += rest
            return


def source(caption: nodes.Element) -> None:
    """Set the end of a caption that says what it is drawn from as a line of its own."""
    for i, child in enumerate(caption.children):
        if isinstance(child, nodes.Text) and (start := SOURCE.search(child)):
            rest = [nodes.Text(child[start.start() :]), *caption.children[i + 1 :]]
            first = [*caption.children[:i], nodes.Text(child[: start.start()])]
            caption.children = []
            caption += first
            caption += nodes.inline("", "", *rest, classes=["src"])
            return


def gather_rest(caption: nodes.Element) -> None:
    """Make one part of what follows the finding: on a phone the picture stands between them."""
    if caption.children and isinstance(caption[0], nodes.strong):
        rest = nodes.inline("", "", *caption[1:], classes=["rest"])
        caption.children = [caption[0]]
        caption += rest


class Screen(SphinxPostTransform):
    """Order what a page shows."""

    default_priority = 210  # folds are made at 199
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Change the page, or each page of the book as one."""
        cells = [one for one in self.document.findall(nodes.container) if is_cell(one)]
        for cell in cells:
            close(cell)
        for page in self.document.findall(nodes.section):
            if isinstance(page.parent, nodes.document | addnodes.start_of_file):
                self.begin(page)
        for cell in cells:
            if is_small(cell) and cell.next_node(nodes.figure):
                code_last(cell)
            elif cell.next_node(nodes.figure):
                drawn_first(cell, [])
        for parent in {id(cell.parent): cell.parent for cell in cells if cell.parent}.values():
            gather(parent)
        for figure in self.document.findall(nodes.figure):
            for caption in figure.findall(nodes.caption):
                lead(caption)
                source(caption)
                gather_rest(caption)

    def begin(self, page: nodes.Element) -> None:
        """Let a page begin with its question and its first picture."""
        above = list(takewhile(lambda one: not isinstance(one, nodes.section), page.children))
        drawn = [one for one in above if one.next_node(nodes.figure)]
        if not drawn:
            return
        above = above[: above.index(drawn[0])]
        for one in above:
            if isinstance(one, nodes.paragraph):
                is_note = len(one) == 1 and isinstance(one[0], nodes.emphasis)
                one["classes"].append("follows" if is_note else "question")
        if is_cell(drawn[0]):
            drawn_first(drawn[0], [one for one in above if is_cell(one) and fold_of(one)])


def add_switch(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give a page with folds one button for all of them."""
    if '<details class="admonition hide' in context.get("body", ""):
        context["header_buttons"].insert(0, SWITCH)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.add_post_transform(Screen)
    app.connect("html-page-context", add_switch, priority=502)  # the theme's list is made
    return {"parallel_read_safe": True, "parallel_write_safe": True}
