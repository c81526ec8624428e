"""Offer every notebook on Binder and Colab when the book's repository is on GitHub.

The repository is the clone's remote `origin`, so that a fork's book launches the fork's notebooks.
Elsewhere there is nothing to launch from, and no button.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

GITHUB = re.compile(
    r"(?:https://|git://|(?:ssh://)?git@)github\.com[/:](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)
LAUNCH_BUTTONS = {
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
    "notebook_interface": "jupyterlab",
}


def page_of(remote: str) -> str | None:
    """Return the web page of a repository on GitHub, and None for any other."""
    match = GITHUB.fullmatch(remote.strip())
    return match and f"https://github.com/{match['name']}"


def origin(folder: Path) -> str:
    """Return the address of a clone's remote `origin`, empty if there is none."""
    git = shutil.which("git")
    if git is None:
        return ""
    command = [git, "-C", str(folder), "remote", "get-url", "origin"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def add_buttons(app: Sphinx, config: Config) -> None:
    """Tell the theme the repository, which adds the buttons to the pages of notebooks."""
    options = config.html_theme_options
    if page := options.get("repository_url") or page_of(origin(Path(app.confdir))):
        options["repository_url"] = page
        options["launch_buttons"] = LAUNCH_BUTTONS


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("config-inited", add_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
