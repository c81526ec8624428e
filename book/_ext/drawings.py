"""Drawings in SVG become part of the page, so that they follow its colours and its width.

An image that is a file would follow the system's colours, not the page's switch. The colours of
`book/_static/tokens.css` become its variables, but in hatches and in a group whose id begins with
"plate": a map is turned as a whole in the dark, with what is written on it. A drawing for a phone
lies in the one for the desktop, as its child `<svg class="narrow" display="none">`, so that both
are one output of a cell; one of them is shown. Pictures in PNG stay as they are.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

TOKENS = Path(__file__).parents[1] / "_static" / "tokens.css"
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
COLOR = re.compile(r"#[0-9a-f]{6}\b", re.I)
HATCH = f"{{{SVG}}}pattern"
TARGET = re.compile(r"(?<=url\(#)|(?<=^#)")
PIXELS = 100 / 72
"""A drawing has 100 pixels to the inch, and its units are points."""

ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)


@cache
def variables() -> dict[str, str]:
    """Return the variables of the light colours."""
    light = TOKENS.read_text(encoding="utf-8").split('[data-theme="dark"]')[0]
    found = re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light)
    return {color: f"var(--{name})" for name, color in reversed(found)}


def of_the_page(element: ElementTree.Element, prefix: str, is_plate: bool = False) -> None:
    """Give an element and all in it the page's colours, and ids of its own."""
    if element.get("id", "").startswith("plate"):
        del element.attrib["id"]  # several share it
        element.set("class", "plate")
    is_plate = is_plate or element.get("class") == "plate" or element.tag == HATCH
    for name, value in element.items():
        if name == "id":
            value = prefix + value
        elif name.endswith("href") or "url(#" in value:
            value = TARGET.sub(prefix, value)
        if not is_plate and name in ("style", "fill", "stroke", "stop-color"):
            value = COLOR.sub(lambda c: variables().get(c[0].lower(), c[0]), value)
        element.set(name, value)
    for child in element:
        of_the_page(child, prefix, is_plate)


def inline(text: str, prefix: str, alt: str) -> str:
    """Return a drawing as parts of a page: the wide one, and the narrow one if there is one."""
    wide = ElementTree.fromstring(text)
    narrow = wide.find(f"{{{SVG}}}svg[@class='narrow']")
    if narrow is not None:
        wide.remove(narrow)
    drawings = {"wide": wide, "narrow": narrow} if narrow is not None else {"only": wide}
    html = []
    for name, drawing in drawings.items():
        for parent in drawing.iter():
            for child in list(parent):
                if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                    parent.remove(child)
        of_the_page(drawing, f"{prefix}-{name}-")
        width = float(drawing.get("viewBox", "0 0 0 0").split()[2])
        for attribute in ("width", "height", "display", "version"):
            drawing.attrib.pop(attribute, None)
        about = {"class": f"drawing {name}", "role": "img", "aria-label": alt}
        about |= {"width": f"{PIXELS * width:.0f}", "stroke-linejoin": "round"}
        drawing.attrib |= about
        html.append(ElementTree.tostring(drawing, encoding="unicode"))
    return "\n".join(html)


class Drawings(SphinxPostTransform):
    """Put drawings into the page."""

    default_priority = 5  # before images are collected
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Replace each image in SVG."""
        found = [one for one in self.document.findall(nodes.image) if one["uri"].endswith(".svg")]
        for number, image in enumerate(found):
            text = Path(self.env.srcdir, image["uri"]).read_text(encoding="utf-8")
            html = inline(text, f"drawing-{number}", image.get("alt", ""))
            image.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.add_post_transform(Drawings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
