"""Roles that screen readers know: an entry of the bibliography is an item of its list."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def mark_list_items(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Replace a role that is deprecated, and no item of a list, in the body of a page."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("html-page-context", mark_list_items)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
