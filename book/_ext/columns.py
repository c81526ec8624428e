"""Columns of numbers in the tables that code prints: at the right, point below point.

Which columns are of numbers is seen from their cells, because many are written by code as texts. A
cell that ends before the others of its column is filled up with spaces of the width of digits.
"""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

NUMBER = re.compile(r"[<>≤≥−+-]?\d[\d,]*(?P<tail>(\.\d+)?(\(\d+\))?(e[−+-]?\d+)?%?( ± [\d.]+)?)")
NO_NUMBER = ("", "–", "inf", "never", "none")
WIDTHS = {".": 0.5, "(": 0.6, ")": 0.6, "-": 0.6, "%": 1.7, " ": 0.4}
"""Widths of characters in Source Sans 3, in digits; those of others are about 1."""

DIGIT, POINT = "\u2007", "\u2008"
"""Spaces as wide as a digit and as a point, which is half as wide."""


def width(tail: str) -> float:
    """Return how wide the end of a number is, in digits."""
    return sum(WIDTHS.get(character, 1) for character in tail)


def align(head: Tag, *cells: Tag) -> None:
    """Set a column to the right if it is of numbers."""
    texts = [cell.get_text().replace("\xa0", " ").strip() for cell in cells]
    numbers = [number for text in texts if (number := NUMBER.fullmatch(text))]
    if not numbers or len(numbers) + sum(text in NO_NUMBER for text in texts) < len(texts):
        return
    longest = max(width(number["tail"]) for number in numbers)
    head["style"] = "text-align: right;"
    for cell, text in zip(cells, texts, strict=True):
        cell["style"] = "text-align: right;"
        if number := NUMBER.fullmatch(text):
            halves = round(2 * (longest - width(number["tail"])))
            room = halves // 2 * DIGIT + halves % 2 * POINT
            cell.string = text.replace(" ", "\xa0") + room


class Columns(SphinxPostTransform):
    """Align the columns of tables."""

    default_priority = 210  # the outputs of cells are there
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Change each table that code has printed."""
        for output in self.document.findall(nodes.raw):
            if "<table" not in output.astext():
                continue
            soup = BeautifulSoup(output.astext(), "html.parser")
            for table in soup.find_all("table"):
                rows = [row.find_all(["td", "th"]) for row in table.find_all("tr")]
                if len({len(row) for row in rows}) == 1:
                    for column in zip(*rows, strict=True):
                        align(*column)
            output.replace_self(nodes.raw("", str(soup), format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.add_post_transform(Columns)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
