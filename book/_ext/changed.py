"""A page says when it was last changed: the date of the last commit of its source, from git.

Without git, or in a clone without its history, nothing is said. A page of the API says nothing,
either, because its text is the package's.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from typing import Any

from sphinx.application import Sphinx

COMMIT = re.compile(r"^commit (\d{4}-\d\d-\d\d)$")
OF_THE_PACKAGE = "book/api/"


@cache
def dates(folder: str) -> dict[str, str]:
    """Return the date of the last commit of each file, by its path in a folder."""
    git = ["git", "-C", folder]
    log = ["log", "--format=commit %cs", "--name-only", "--relative", "--no-renames"]
    asked = [["rev-parse", "--is-shallow-repository"], [*log, "--", "book", "notebooks"]]
    try:
        shallow, text = (
            subprocess.run([*git, *one], capture_output=True, check=True, encoding="utf-8").stdout
            for one in asked
        )
    except (OSError, subprocess.CalledProcessError):
        return {}
    if shallow.strip() != "false":
        return {}
    found: dict[str, str] = {}
    date = ""
    for line in text.splitlines():
        if commit := COMMIT.match(line):
            date = commit[1]
        elif line:
            found.setdefault(line, date)
    return found


def say(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the date to the foot of a page."""
    if doctree and app.builder.name == "html" and not page.startswith(OF_THE_PACKAGE):
        source = app.env.doc2path(page, base=False)
        context["last_updated"] = dates(str(app.srcdir)).get(source)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("html-page-context", say)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
