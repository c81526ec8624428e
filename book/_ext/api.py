"""Docstrings in the book: a bar, as in |X_S|, is no substitution; fields of tuples are left out."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def keep_bars(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape the bars of a docstring."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def skip_field(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out the fields of a named tuple, which Python describes by their numbers."""
    return (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") or None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx, before numpydoc reads the docstrings."""
    app.connect("autodoc-process-docstring", keep_bars, priority=400)
    app.connect("autodoc-skip-member", skip_field)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
