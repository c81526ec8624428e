"""What a search finds: pages by their readers' words and by the paper's numbers, and no code.

`book/words.yml` says what readers call the matter of a page. The paper's propositions, figures and
equations are found by their numbers, at the place that the table in `book/statements.md` names.
Neither code, TeX nor letters of drawings are words of a page. Sphinx has no setting for these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import wraps
from pathlib import Path

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search import IndexBuilder

WORDS = Path(__file__).parents[1] / "words.yml"
NO_WORDS = (nodes.literal_block, nodes.math, nodes.math_block)
INDEX = "book/statements"
NUMBERED = re.compile(
    r"(Proposition|Theorem|Definition|Table|Figure|eq)s?\.?\s((?:\d+(?:, | to )?)+)"
)


def numbers(text: str) -> Iterator[str]:
    """Yield the names of what a text such as "Definition 4 (eqs. 7 to 10)" speaks of."""
    for kind, listed in NUMBERED.findall(text.replace("\xa0", " ")):
        ends = [int(number) for number in re.findall(r"\d+", listed)]
        for number in range(ends[0], ends[-1] + 1):
            yield f"{kind.lower()} {number}"
            if kind == "eq":
                yield f"equation {number}"


def place(env: BuildEnvironment, label: str) -> tuple[str, str]:
    """Return the page and the id of a label."""
    if proof := env.proof_list.get(label):
        return proof["docname"], label
    domains = env.domaindata
    if label in domains["math"]["objects"]:
        return domains["math"]["objects"][label][0], f"equation-{label}"
    page, anchor, *_ = domains["std"]["anonlabels"][label]
    return page, anchor


def entries(env: BuildEnvironment) -> dict[str, set[tuple[str, str, str]]]:
    """Return the phrases under which each page is found, with the place on the page."""
    by_page = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
    found = {page: {(words, "", "main") for words in phrases} for page, phrases in by_page.items()}
    for row in env.get_doctree(INDEX).findall(nodes.row):
        for reference in row[-1].findall(addnodes.pending_xref):
            if reference.astext().startswith("Claim"):
                continue  # the figure that it speaks of has a row of its own
            page, anchor = place(env, reference["reftarget"])
            names = {(name, anchor, "main") for name in numbers(row[0].astext())}
            found.setdefault(page, set()).update(names)
    return found


def without_code(doctree: nodes.document) -> nodes.document:
    """Return a page without what is no word of its text; tables of cells stay."""
    words = doctree.deepcopy()
    for node in list(words.findall(nodes.Element)):
        is_drawing = isinstance(node, nodes.raw) and "<svg" in node.astext()
        is_label = "label" in node.get("classes", ())
        if isinstance(node, NO_WORDS) or is_drawing or is_label:
            node.parent.remove(node)
    return words


def find_words(app: Sphinx) -> None:
    """Let the index of this build be made of words."""
    feed = IndexBuilder.feed

    @wraps(feed)
    def feed_words(
        self: IndexBuilder, page: str, filename: str, title: str, doctree: nodes.document
    ) -> None:
        feed(self, page, filename, title, without_code(doctree))
        if not hasattr(self, "phrases"):
            self.phrases = entries(self.env)
        self._index_entries[page] += sorted(self.phrases.get(page, ()))

    IndexBuilder.feed = feed_words


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("builder-inited", find_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
