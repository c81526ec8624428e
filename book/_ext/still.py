"""Nothing moves while a page loads.

Letters come first, formulas have their room at once, and cells of long rows have their names: on a
phone they stand below each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

FONTS = (
    "fonts/source-serif-4-latin-wght-normal.woff2",
    "fonts/source-serif-4-latin-wght-italic.woff2",
    "fonts/source-sans-3-latin-wght-normal.woff2",
)
OF_FORMULAS = tuple(
    f"mathjax/output/chtml/fonts/woff-v2/MathJax_{name}.woff"
    for name in ("Main-Regular", "Math-Italic", "Size1-Regular")
)

FORMULA = re.compile(r'(<span class="math notranslate nohighlight")>\\\((.*?)\\\)</span>', re.S)
PIECE = re.compile(r"\\[a-zA-Z]+|\\.|\S")
PIECES = {
    0.0: r"\hat \tilde \bar \left \right \bigl \bigr \mathcal \mathbb \mathrm \operatorname \!",
    0.1: r"\mathbf \boldsymbol",
    0.17: r"\,",
    0.28: r"l | . ; ! ' [ ] \lvert \rvert \ell \cdot",
    0.38: r"i j t ( ) \langle \rangle",
    0.45: r"b c q r z , I \delta \tau \zeta \xi \varepsilon",
    0.6: r"h k n J S V Y \alpha \mu \lambda \varphi \chi \omega",
    0.68: r"F L P T U Z \psi",
    0.78: r"w A B C E G K N O Q R X \top \bot \circ + - \pm \times = < > \le \ge \ne \ll \approx",
    0.85: r"\ln \sqrt",
    0.95: r"m D H M W \infty \to \mapsto",
    1.22: r"\sum \prod \dots \ldots \cdots",
    1.9: r"\log \max \min \exp",
}
WIDTHS = {piece: width for width, pieces in PIECES.items() for piece in pieces.split()}
OTHER = 0.5
BESIDE = {
    0.44: r"+ - \cdot \times \pm \otimes",
    0.56: r"= < > \le \ge \ne \in \ll \approx \to \mapsto \mid \sim",
}
SPACES = {sign: width for width, signs in BESIDE.items() for sign in signs.split()}
OPENING = "([,|"
FRACTIONS = {r"\frac": 0.71, r"\binom": 0.71, r"\dfrac": 1.0}
SCRIPT = 0.71
OF_TEXT = 1.1
"""The letters of a formula are so much larger than those of the text that it stands in."""

LONG_ROW = 4
OF_SYMBOLS = "book/notation"
"""Its cells are named in shorter rows, too."""


def row(pieces: Iterator[str], is_script: bool = False) -> float:
    """Return the width of what stands up to the end of a group, in em of its letters."""
    total = script = 0.0
    begins = True
    for piece in pieces:
        if piece == "}":
            break
        if piece in ("_", "^"):
            other, script = script, SCRIPT * one(next(pieces), pieces, True)
            total += max(script - other, 0)
            continue
        total += one(piece, pieces, is_script)
        if not (begins or is_script):
            total += SPACES.get(piece, 0)
        begins = piece in SPACES or piece in OPENING
        script = 0.0
    return total


def one(piece: str, pieces: Iterator[str], is_script: bool) -> float:
    """Return the width of a piece with what belongs to it."""
    if piece == "{":
        return row(pieces, is_script)
    if size := FRACTIONS.get(piece):
        above, below = (one(next(pieces), pieces, size < 1) for _ in range(2))
        return size * max(above, below) + 0.24
    return WIDTHS.get(piece, OTHER)


def width(tex: str, macros: dict[str, str]) -> float:
    """Return about how wide a formula in a line is, in em of the text, as TeX would set it."""
    pieces = PIECE.findall(unescape(tex))
    written_out = PIECE.findall(" ".join(macros.get(piece[1:], piece) for piece in pieces))
    return OF_TEXT * row(iter(written_out))


def keep_still(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Ask for the fonts before the style sheets do, and give each formula in a line its width."""
    body = context.get("body", "")
    for font in FONTS + OF_FORMULAS * ('class="math' in body):
        url = context["pathto"](f"_static/{font}", 1)
        tag = f'<link rel="preload" href="{url}" as="font" crossorigin/>'
        context["metatags"] = context.get("metatags", "") + "\n" + tag
    macros = app.config.mathjax3_config["tex"]["macros"]
    context["body"] = FORMULA.sub(
        lambda f: rf'{f[1]} style="--w:{width(f[2], macros):.2f}em">\({f[2]}\)</span>', body
    )


class Names(SphinxPostTransform):
    """Put the name of its column into each cell of a long row but the first."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Copy the names from the heads of tables."""
        for head in self.document.findall(nodes.thead):
            columns = [entry.next_node(nodes.paragraph) for entry in head[0]]
            if len(columns) < LONG_ROW and self.env.docname != OF_SYMBOLS:
                continue
            for row in head.next_node(nodes.tbody, descend=False, siblings=True):
                for column, cell in list(zip(columns, row, strict=True))[1:]:
                    if column and cell.astext():
                        name = [one.deepcopy() for one in column]
                        label = nodes.inline("", "", *name, nodes.Text(": "), classes=["label"])
                        cell.next_node(nodes.paragraph).insert(0, label)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("html-page-context", keep_still)
    app.add_post_transform(Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
