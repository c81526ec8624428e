"""Nothing moves while a page loads: letters come first, and formulas have their room at once."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

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
SCRIPT = re.compile(r"[_^](?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\\[a-zA-Z]+|\S))")
SILENT = re.compile(
    r"\\(?:mathcal|mathbf|mathrm|mathbb|operatorname|text|hat|tilde|bar|d?frac|left|right"
    r"|[bB]igl?r?|displaystyle)\b|\\[,;!]|[{}\s]"
)
WIDE = re.compile(
    r"\\(?:leq?|geq?|in|to|ll|gg|neq?|approx|propto|subset(?:eq)?|mid|sim|mapsto|cdot|times|cup"
    r"|ln|max|min|sum|sqrt|[lc]?dots|E|Var|Cov|MSE|TV)\b|&[lg]t;|[=+-]"
)
THIN = re.compile(r"[(),.|\[\]!;:/']|\\[lr]vert\b")
LETTER = re.compile(r"\\[a-zA-Z]+|\S")


def width(tex: str) -> float:
    """Return about how wide a formula in a line is, in em: a fit to a thousand of this book."""
    scripts = " ".join(braced or single for braced, single in SCRIPT.findall(tex))
    line = SILENT.sub(" ", SCRIPT.sub(" ", tex))
    line, wide = WIDE.subn(" ", line)
    line, thin = THIN.subn(" ", line)
    small = len(LETTER.findall(SILENT.sub(" ", scripts)))
    return 0.57 * len(LETTER.findall(line)) + 1.34 * wide + 0.45 * thin + 0.44 * small


def keep_still(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Ask for the fonts before the style sheets do, and give each formula in a line its width."""
    body = context.get("body", "")
    for font in FONTS + OF_FORMULAS * ('class="math' in body):
        url = context["pathto"](f"_static/{font}", 1)
        tag = f'<link rel="preload" href="{url}" as="font" crossorigin/>'
        context["metatags"] = context.get("metatags", "") + "\n" + tag
    context["body"] = FORMULA.sub(
        lambda found: rf'{found[1]} style="--w:{width(found[2]):.1f}em">\({found[2]}\)</span>', body
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("html-page-context", keep_still)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
