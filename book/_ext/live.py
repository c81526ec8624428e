"""Parts of pages that a reader moves, each in the place of a picture.

An empty `<div class="live">`, which editors do not show, names a part and the figure in whose place
it stands. The client that devices run, the model, the kit and all parts of `book/_live` are joined
into one classic script, `_static/live.js`, which a page opened from a file can run; only pages with
a part load it.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from drawings import variables
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform

from uldp.paper import datasets
from uldp.paper.figures import STYLES

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "book" / "_live"
SHARED = (ROOT / "client" / "uldp.mjs", PARTS / "model.mjs", PARTS / "kit.mjs")
COMMENT = re.compile(r"^ *//[^\n]*\n|^ */\*\*.*?\*/\n", re.M | re.S)
IMPORT = re.compile(r"^import\b[^;]*;\n", re.M)
EXPORT = re.compile(r"^export ", re.M)

PLACE = re.compile(r'<div class="live" data-part="[\w-]+" data-figure="(?P<figure>[\w-]+)">')

LINES = {"-": "solid", "--": "dashed", "-.": "dashdot", ":": "dotted"}


def files() -> list[Path]:
    """Return the files of parts."""
    return sorted(path for path in PARTS.glob("*.mjs") if path not in SHARED)


def own_text(path: Path) -> str:
    """Return a module as a piece of a script, without its comments."""
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    return EXPORT.sub("", IMPORT.sub("", text))


def data() -> str:
    """Return what comes from Python: the looks of mechanisms and the census table."""
    looks = {
        name: {"color": variables()[look["color"].lower()], "line": LINES[look["linestyle"]]}
        for name, look in STYLES.items()
    }
    census = datasets.census()
    labels = [label.split(", ") for label in census.domain.labels]
    people = {
        "counts": census.counts.tolist(),
        "sensitive": census.domain.sensitive.tolist(),
        "factors": [list(dict.fromkeys(level)) for level in zip(*labels, strict=True)],
    }
    constants = {"LOOKS": looks, "CENSUS": people}
    return "".join(
        f"const {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"
        for name, value in constants.items()
    )


def script() -> str:
    """Return the one script; in it each file of parts has a block for its names."""
    shared = "\n".join(own_text(path) for path in SHARED)
    parts = "\n".join(f"{{\n{own_text(path)}}}" for path in files())
    return f'"use strict";\n(() => {{\n{data()}\n{shared}\n{parts}\nstart();\n}})();\n'


class Places(SphinxPostTransform):
    """Put each part into its figure: there is its room before it is alive."""

    default_priority = 950
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Move the places that the pages name."""
        figures = {name: one for one in self.document.findall(nodes.figure) for name in one["ids"]}
        for part in list(self.document.findall(nodes.raw)):
            if found := PLACE.match(part.astext()):
                figure = figures[found["figure"]]
                figure["classes"].append("live-figure")
                part.parent.remove(part)
                figure.insert(0, part)


def write_files(app: Sphinx, config: Config) -> None:
    """Put script and style where Sphinx finds static files."""
    folder = Path(app.doctreedir, "live")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "live.js").write_text(script(), encoding="utf-8")
    shutil.copy(PARTS / "live.css", folder)
    config.html_static_path.append(str(folder))


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Load both in pages with a part; the book as one page is for paper."""
    if app.builder.name == "html" and '<div class="live"' in context.get("body", ""):
        app.add_js_file("live.js", loading_method="defer")
        app.add_css_file("live.css")


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the steps of the build."""
    app.add_post_transform(Places)
    app.connect("config-inited", write_files)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
