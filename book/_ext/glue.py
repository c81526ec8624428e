"""A line does not begin with the "-LDP" or the full stop that belongs to a short formula.

A browser may break a line beside every formula, whatever character stands there; a span forbids it.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

BELONGS = re.compile(r"(?=\S)(?:-\w{1,8}\b)?[.,;:?!)\]’”]*")
SHORT = 50
"""Longer formulas, in letters of TeX, may fill a line of a phone alone."""


class Glue(SphinxPostTransform):
    """Put a formula and what belongs to it into one span that is not broken."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Move the first letters of a text to the formula before it."""
        for formula in list(self.document.findall(nodes.math)):
            parent, place = formula.parent, formula.parent.index(formula)
            rest = parent[place + 1] if place + 1 < len(parent) else None
            if not isinstance(rest, nodes.Text) or len(formula.astext()) > SHORT:
                continue
            if not (found := BELONGS.match(rest)) or not found[0]:
                continue
            parent[place : place + 2] = [
                nodes.inline("", "", formula, nodes.Text(found[0]), classes=["glued"]),
                nodes.Text(rest[found.end() :]),
            ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.add_post_transform(Glue)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
