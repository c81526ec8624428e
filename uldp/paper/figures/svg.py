"""A figure as text in SVG: the same text for the same figure, on every computer.

Matplotlib's own text has coordinates to the last digit, which differs with the processor, and
names that are made from them. Here coordinates have two decimals, and names are numbers.
"""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

__all__ = ["PLATE", "SVG", "written"]

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"
PLATE = "plate"
"""With what the names begin of all that a dark page turns as a whole, light to dark."""

COORDINATES = ("d", "height", "points", "transform", "width", "x", "y")
SIZE = re.compile(r"font-size: ([\d.]+)px")
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
NAME = re.compile(r"(?<=url\(#)[^)]+|(?<=^#)(?!.*;).+")

ElementTree.register_namespace("", SVG[1:-1])
ElementTree.register_namespace("xlink", XLINK[1 : XLINK.index("}")])


def written(figure: Figure) -> ElementTree.Element:
    """Return a figure in SVG, without a ground of its own, and with coordinates of two decimals."""
    file = io.StringIO()
    set_on_page(figure)
    figure.savefig(file, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    for parent in root.iter():
        for child in list(parent):
            if child.tag.endswith("metadata"):
                parent.remove(child)
    _number_names(root)
    # For images that stand alone; the book has this rule in its own style sheet.
    for style in root.iter(f"{SVG}style"):
        style.text = f"{style.text} text{{white-space: pre}}"
    for text in root.iter(f"{SVG}text"):
        _fit(text)
    for element in root.iter():
        for name in COORDINATES:
            if name in element.attrib:
                element.set(name, NUMBER.sub(_rounded, element.attrib[name]))
    return root


def set_on_page(figure: Figure) -> None:
    """Leave out grounds but those of images; name maps, and all that lies on them, plates."""
    figure.patch.set_visible(False)
    maps = [ax for ax in figure.axes if ax.images]
    for ax in figure.axes:
        ax.patch.set_visible(bool(ax.images))
    if maps:
        figure.draw_without_rendering()
    for ax in maps:
        inside = [text for text in ax.texts if ax.bbox.overlaps(text.get_window_extent())]
        on_it = [ax.patch, *ax.images, *ax.collections, *ax.lines, *ax.patches, *inside]
        for number, artist in enumerate(on_it):
            artist.set_gid(f"{PLATE}-{number}")


def _number_names(root: ElementTree.Element) -> None:
    """Give names that something uses numbers; take all others away but those of plates."""
    values = [value for element in root.iter() for value in element.attrib.values()]
    used = {name for value in values for name in NAME.findall(value)}
    numbers: dict[str, str] = {}
    for element in root.iter():
        name = element.get("id", "")
        if name in used:
            numbers[name] = f"n{len(numbers)}"
            element.set("id", numbers[name])
        elif name and not name.startswith(PLATE):
            del element.attrib["id"]
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == XLINK or "url(#" in value:
                renamed = NAME.sub(lambda found: numbers[found[0]], value)
                element.set(key, renamed)


def _fit(text: ElementTree.Element) -> None:
    """Let a text be as long as in the book's font where an editor has another one."""
    style = text.get("style", "").replace("'DejaVu Sans'", "sans-serif")
    text.set("style", style)
    weight = "bold" if "font-weight: 700" in style else "normal"
    font = get_font(findfont(FontProperties(family="uldp Sans", weight=weight)))
    letters = [ord(letter) for letter in text.text or ""]
    size = SIZE.search(style)
    if size and all(map(font.get_char_index, letters)):
        advances = [font.load_char(one, LoadFlags.NO_SCALE).horiAdvance for one in letters]
        text.set("textLength", f"{float(size[1]) * sum(advances) / font.units_per_EM:.2f}")
        text.set("lengthAdjust", "spacingAndGlyphs")


def _rounded(found: re.Match[str]) -> str:
    number = f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if number == "-0" else number
