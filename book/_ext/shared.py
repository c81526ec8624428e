"""What is shown where a link to a page is shared: its title, its question, a picture."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from markupsafe import Markup
from sphinx.application import Sphinx

OF_THE_BOOK = (
    "Protect the answers that need it, allow the others to be revealed, and learn the "
    "distribution of all of them from far fewer people: the paper on utility-optimized local "
    "differential privacy, proved, checked and rerun."
)
PICTURE = "_images/quickstart.png"


def question(doctree: nodes.document | None) -> str:
    """Return the first paragraph below the title that is words alone, not what the page follows."""
    below = (nodes.section, nodes.paragraph)
    for one in doctree.findall(lambda n: isinstance(n, below)) if doctree else ():
        if isinstance(one, nodes.section) and not isinstance(one.parent, nodes.document):
            break
        if isinstance(one, nodes.paragraph) and isinstance(one.parent, nodes.section):
            is_set_off = isinstance(one[0], nodes.emphasis) or one.next_node(nodes.strong)
            if not is_set_off and not one.next_node(nodes.math):
                return " ".join(one.astext().split())
    return OF_THE_BOOK


def describe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the tags that services read; without the address of a site, the picture's is relative."""
    is_front = page == app.config.root_doc
    text = OF_THE_BOOK if is_front else question(doctree)
    tags = {
        "og:type": "website" if is_front else "article",
        "og:site_name": "uldp",
        "og:title": Markup(context.get("title", "")).striptags(),
        "og:description": text,
        "og:image": context["pathto"](PICTURE, 1),
        "og:image:alt": "Estimated shares with every answer blurred, and with only what needs it",
    }
    if base := app.config.html_baseurl:
        tags["og:image"] = f"{base.rstrip('/')}/{PICTURE}"
        tags["og:url"] = context.get("pageurl", "")
    lines = [f'<meta name="description" content="{escape(text)}"/>']
    for name, value in tags.items():
        lines.append(f'<meta property="{name}" content="{escape(value)}"/>')
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
