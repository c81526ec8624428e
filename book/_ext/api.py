"""The pages of the API: ``{module} NAME`` is a table of the public names, and then each of them.

``{mechanisms}`` is a table of the kinds of mechanism.

A bar in a docstring, as in |X_S|, is no substitution; fields of named tuples are left out.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from importlib import import_module
from typing import Any, get_origin

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

from uldp.kinds import KINDS

MODULE = re.compile(r"^```\{module\} ([\w.]+)\n```$", re.M)
MECHANISMS = "```{mechanisms}\n```\n"
OF_ALL = ("domain", "epsilon")
CODE = re.compile(r'(?<=<span class="pre">)[\w./]{10,}(?=</span>)')
BREAK = re.compile(r"(?<=[a-z]{2})(?=[A-Z])|(?<=\w[_./])(?=\w)")


def expand(app: Sphinx, page: str, source: list[str]) -> None:
    """Write what a module holds in the place of its name, and the table of mechanisms."""
    source[0] = MODULE.sub(lambda found: contents(found[1]), source[0])
    source[0] = source[0].replace(MECHANISMS, mechanisms())


def mechanisms() -> str:
    """Return a table of the kinds of mechanism with their parameters beside domain and ε."""
    rows = []
    for kind in KINDS:
        own = [f"`{field.name}`" for field in fields(kind) if field.name not in OF_ALL]
        about = described(kind.__module__, kind.__name__)
        rows.append(f"| {kind.wire_name} | `{kind.__name__}` | {', '.join(own)} | {about} |")
    table = "\n".join(rows)
    return (
        "```{table} The mechanisms, by their names in tables and figures\n"
        ":name: tab-notation-names\n\n"
        "| Name | Code | Parameters beside `dom` and `epsilon` | What it is |\n"
        f"|---|---|---|---|\n{table}\n```\n"
    )


def contents(name: str) -> str:
    """Return a heading, a table with a line for each public name, and all descriptions."""
    module = import_module(name)
    public = [one for one in module.__all__ if described(name, one)]
    # Autodoc sees what a module holds, but not what it finds when it is asked for.
    vars(module).update({one: getattr(module, one) for one in public})
    rows = [f"   * - :py:obj:`~{name}.{one}`\n     - {described(name, one)}" for one in public]
    table = "\n".join(rows)
    members = f".. automodule:: {name}\n   :members: {', '.join(public)}\n   :imported-members:"
    return (
        f"## `{name}`\n\n```{{eval-rst}}\n.. list-table::\n   :widths: 35 65\n\n{table}\n\n"
        f"{members}\n```\n"
    )


def described(module: str, name: str) -> str:
    """Return the first lines on a public name; none for a module or a type of arguments."""
    thing = getattr(import_module(module), name)
    if inspect.ismodule(thing) or get_origin(thing) is not None:
        return ""
    if inspect.isclass(thing) or inspect.isfunction(thing):
        text = inspect.getdoc(thing) or ""
    else:
        text = about(module, name)
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def about(module: str, name: str) -> str:
    """Return what stands below a constant in the module's source."""
    return "\n".join(ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name), []))


def keep_bars(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape the bars of a docstring."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def skip_field(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out the fields of a named tuple, which Python describes by their numbers."""
    return (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") or None


def break_names(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let a long name in code break at its capitals, dots and underscores."""
    if "body" in context:
        context["body"] = CODE.sub(lambda name: BREAK.sub("<wbr/>", name[0]), context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx, before numpydoc reads the docstrings."""
    app.connect("source-read", expand)
    app.connect("autodoc-process-docstring", keep_bars, priority=400)
    app.connect("autodoc-skip-member", skip_field)
    app.connect("html-page-context", break_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
