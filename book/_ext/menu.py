"""The menu: parts that fold, each with the number of its chapters; the current one is open."""

from __future__ import annotations

from functools import wraps
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

SECTIONS = {
    "notebooks/preliminaries": "§2 Local privacy",
    "notebooks/uldp": "§3 Utility-optimized LDP",
    "notebooks/mechanisms": "§4 Mechanisms and losses",
    "notebooks/personalized": "§5 Secrets of one’s own",
    "notebooks/experiments": "§6 Experiments",
    "notebooks/attributes": "§7 Discussion",
    "notebooks/osldp": "Appendices",
}
"""Where a section of the paper begins."""


def fold(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Fold the parts of the menu."""
    make = context.get("generate_toctree_html")
    if make is None or app.builder.name != "html":
        return
    begins = {"#" if page == name else context["pathto"](name): SECTIONS[name] for name in SECTIONS}

    @wraps(make)
    def folded(*args: Any, **options: Any) -> str:
        menu = BeautifulSoup(str(make(*args, **options)), "html.parser")
        for caption in menu.select("p.caption"):
            chapters = caption.find_next_sibling("ul")
            entries = chapters.find_all("li", recursive=False)
            is_open = "current" in chapters["class"]
            is_first = page == app.config.root_doc and not caption.find_previous_sibling("details")
            for entry in entries:
                if section := begins.get(entry.a["href"]):
                    line = menu.new_tag("li", attrs={"class": "menu-section"})
                    line.string = section
                    entry.insert_before(line)
            part = menu.new_tag("details", attrs={"class": "menu-part"})
            if is_open or is_first:
                part["open"] = ""
            summary = menu.new_tag("summary")
            count = menu.new_tag("span", attrs={"class": "menu-count"})
            count.string = str(len(entries))
            summary.extend([caption.span.extract(), count])
            caption.replace_with(part)
            part.extend([summary, chapters.extract()])
        for arrow in menu.select("li.has-children > details > summary"):
            arrow["aria-label"] = f"Pages of {arrow.find_parent('li').a.get_text()}"
        return str(menu)

    context["generate_toctree_html"] = folded


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx, after the theme, which makes the menu."""
    app.connect("html-page-context", fold, priority=900)
    app.add_js_file("page.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
