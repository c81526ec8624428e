"""The book as one page, for printing, draws what its pages draw.

Extensions that know their nodes for HTML alone are otherwise at a loss as soon as another one names
the builder of the single page.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def share_handlers(app: Sphinx) -> None:
    """Let the single page's translator handle every node that the pages' can."""
    handlers = app.registry.translation_handlers
    handlers["singlehtml"] = handlers.get("html", {}) | handlers.get("singlehtml", {})


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("builder-inited", share_handlers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
