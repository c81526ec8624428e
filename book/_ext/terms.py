"""The first use of a glossary word on a page leads to the glossary.

Only in running text, and only if no {term} of the page leads there already. Words that are everyday
English as well stay as they are, because their next use may mean something else.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

GLOSSARY = "book/glossary"
WITHOUT = ("book/api/", "book/notation", "book/bibliography", GLOSSARY)
EVERYDAY = (
    *("bot", "budget", "cell", "certificate", "common part", "counts for", "digest", "domain"),
    *("evidence", "forecast", "gain", "interval", "level", "message", "no privacy", "pass"),
    *("realization", "report", "rule", "support", "tag", "target", "threshold", "witness"),
    "worst case",
)
OUTSIDE = (
    nodes.title,
    nodes.caption,
    nodes.table,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.rubric,
    nodes.citation,
    HideCodeCellNode,
)
OPENING = {"question", "follows"}
IN_BRACKETS = re.compile(r"^(.+) \((\w+)\)$")


def names(term: str) -> list[str]:
    """Return what a term is called: "block design (uBD)" has two names."""
    both = IN_BRACKETS.match(term)
    return [both[1], both[2]] if both else [term]


def pattern(word: str) -> str:
    """Return how a word is written at the beginning of a sentence, and of several."""
    first = f"[{word[0].upper()}{word[0]}]" if word.islower() else re.escape(word[0])
    return first + re.escape(word[1:]).replace(r"\ ", r"\s") + "s?"


def is_running(text: nodes.Node) -> bool:
    """Return whether a text is part of a sentence that may hold a link."""
    parent = text.parent
    while parent is not None:
        if isinstance(parent, OUTSIDE) or OPENING & set(parent.get("classes", ())):
            return False
        parent = parent.parent
    return True


class Terms(SphinxPostTransform):
    """Link first uses."""

    default_priority = 800
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Look for all words in the texts of a page, in their order."""
        page = self.env.docname
        if self.app.builder.name != "html" or page.startswith(WITHOUT):
            return
        objects = self.env.domaindata["std"]["objects"]
        anchors = {
            name: anchor
            for (kind, term), (_, anchor) in objects.items()
            if kind == "term" and term not in EVERYDAY
            for name in names(term)
        }
        glossary = self.app.builder.get_relative_uri(page, GLOSSARY)
        linked = {
            one["refuri"].split("#")[1]
            for one in self.document.findall(nodes.reference)
            if one.get("refuri", "").startswith(f"{glossary}#")
        }
        by_pattern = {pattern(name): anchor for name, anchor in anchors.items()}
        longest_first = sorted(by_pattern, key=len, reverse=True)
        # The empty group says which word it is. One around the word makes the search slow.
        word = re.compile(
            rf"(?<![\w-])(?:{'|'.join(f'{one}()' for one in longest_first)})(?![\w-])"
        )
        for text in [one for one in self.document.findall(nodes.Text) if is_running(one)]:
            parts: list[nodes.Node] = []
            end = 0
            for found in word.finditer(text):
                anchor = by_pattern[longest_first[found.lastindex - 1]]
                if anchor in linked:
                    continue
                linked.add(anchor)
                uri = f"{glossary}#{anchor}"
                link = nodes.reference("", found[0], internal=True, refuri=uri, classes=["term"])
                parts += [nodes.Text(text[end : found.start()]), link]
                end = found.end()
            if parts:
                text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_post_transform(Terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
