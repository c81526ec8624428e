"""Make the book readable without a network.

MathJax is copied into the book from the `sphinx-mathjax-offline` package, only the parts that the
pages load; a page that would fetch anything else from another host fails the build.
"""

import re
import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

MATHJAX_PARTS = (
    "tex-chtml.js",
    "a11y/assistive-mml.js",
    "input/tex/extensions",
    "output/chtml/fonts/woff-v2",
    "ui/safe.js",
)
FETCHED = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["'](?P<url>(?:https?:)?//[^"']+)"""
)


def fetched_urls(html: str) -> list[str]:
    """List what a browser would fetch from another host to show the page `html`."""
    return [match["url"] for match in FETCHED.finditer(html)]


def use_local_mathjax(app: Sphinx, config: Config) -> None:
    """Point the pages at the copy that `copy_mathjax` makes."""
    config.mathjax_path = "mathjax/tex-chtml.js"


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    """Copy the needed parts of MathJax into the built book."""
    if exception or app.builder.format != "html":
        return
    with as_file(files("sphinx-mathjax-offline") / "static" / "mathjax") as source:
        for part in MATHJAX_PARTS:
            target = Path(app.outdir, "_static", "mathjax", part)
            target.parent.mkdir(parents=True, exist_ok=True)
            if (source / part).is_dir():
                shutil.copytree(source / part, target, dirs_exist_ok=True)
            else:
                shutil.copyfile(source / part, target)
    license_text = Path(__file__).with_name("MATHJAX-LICENSE")
    shutil.copyfile(license_text, Path(app.outdir, "_static", "mathjax", "LICENSE"))


def forbid_fetching(app: Sphinx, exception: Exception | None) -> None:
    """Fail the build if a page needs another host."""
    if exception or app.builder.format != "html":
        return
    for page in sorted(Path(app.outdir).rglob("*.html")):
        if urls := fetched_urls(page.read_text(encoding="utf-8")):
            raise ExtensionError(f"{page.relative_to(app.outdir)} would fetch {', '.join(urls)}")


def drop_thebe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Leave out the scripts that would run cells on a server, which every page loads twice."""
    scripts = context.get("script_files", [])
    scripts[:] = [s for s in scripts if "thebe" not in f"{s.filename} {s.attributes}".lower()]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the steps to the build."""
    app.connect("config-inited", use_local_mathjax)
    app.connect("html-page-context", drop_thebe)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", forbid_fetching)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
