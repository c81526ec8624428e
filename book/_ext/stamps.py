"""Each statement says where the paper has it, and what became of it there.

Both come from what stands elsewhere: the place from the title, where it is in brackets, and the
verdict from the table of the paper's statements.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

TABLE = Path(__file__).parents[1] / "statements.md"
ROW = re.compile(r"^\| (.+) \| .+ \| (.+) \| \{prf:ref\}`([\w-]+)` \|$", re.M)
NUMBERED = ("Definition ", "Proposition ", "Theorem ")
IN_BRACKETS = re.compile(r"\s*\(([^()]*\b(?:paper|this book)\b[^()]*)\)$")


@cache
def verdicts() -> dict[str, list[str]]:
    """Return the verdicts on each statement that the table leads to, by its label.

    Where the paper has a number for it, they are those on that number.
    """
    found: dict[str, list[str]] = {}
    rows = ROW.findall(TABLE.read_text(encoding="utf-8"))
    numbered = {label for paper, _, label in rows if paper.startswith(NUMBERED)}
    for paper, words, label in rows:
        if label in numbered and not paper.startswith(NUMBERED):
            continue
        of_label = found.setdefault(label, [])
        of_label += [word for word in words.split(", ") if word not in of_label]
    return found


class Stamps(SphinxPostTransform):
    """Write the place in the paper and the verdict at the right of a statement's title."""

    default_priority = 210
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Take the place out of the title, which then is the statement's own."""
        for title in list(self.document.findall(nodes.title)):
            label = title.parent.get("label")
            if label is None or "proof" not in title.parent["classes"] or not title.children:
                continue
            place = nodes.inline(classes=["in-paper"])
            last = title.children[-1]
            if isinstance(last, nodes.Text) and (brackets := IN_BRACKETS.search(last)):
                title.replace(last, nodes.Text(last[: brackets.start()]))
                place += nodes.Text(brackets[1])
            for verdict in verdicts().get(label, []):
                place += nodes.inline("", verdict, classes=["stamp", verdict.split()[0]])
            own = nodes.inline("", "", *title.children)
            title.children = []
            title += own
            if place.children:
                title += place


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.add_post_transform(Stamps)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
