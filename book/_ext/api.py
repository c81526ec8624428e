"""Docstrings in the book: a bar, as in |X_S|, is a bar and not the mark of a substitution."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def keep_bars(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape the bars of a docstring."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx, before numpydoc reads the docstrings."""
    app.connect("autodoc-process-docstring", keep_bars, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
