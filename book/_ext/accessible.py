"""What screen readers and voice control know of a page: roles, and names as they are written."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

REPLACED = {
    # A deprecated role, and no item of the list in which an entry of the bibliography stands.
    'role="doc-biblioentry"': 'role="listitem"',
    # The name of folded code is what a reader sees: its first line.
    '<summary aria-label="Toggle hidden content">': "<summary>",
    # Identifiers that all exercises, solutions, statements and proofs of a page would share.
    '<section id="exercise-content">': "<section>",
    '<section id="solution-content">': "<section>",
    '-content" id="proof-content">': '-content">',
    '<div class="proof admonition" id="proof">': '<div class="proof admonition of-proof">',
}


def mend(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Replace attributes in the body of a page."""
    for old, new in REPLACED.items():
        if "body" in context:
            context["body"] = context["body"].replace(old, new)


def unfold(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Leave out what folds an index of modules: images named "-" that take a mouse."""
    plain = 0
    if template == "domainindex.html":
        context["content"] = [
            (letter, [(name, plain, *others) for name, _, *others in entries])
            for letter, entries in context["content"]
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("html-page-context", mend)
    app.connect("html-page-context", unfold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
