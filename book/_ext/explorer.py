"""Write explorer.html, the page on which a reader moves ε, |X|, |X_S| and n.

Bokeh draws it from results/explorer.csv. In the browser nothing runs but Bokeh and `explorer.js`,
which picks rows of that table and divides them by √n and n.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from string import Template
from typing import Any

from bokeh.document import Document
from bokeh.embed import json_item
from bokeh.events import DocumentReady
from bokeh.models import (
    BasicTickFormatter,
    CategoricalSlider,
    CDSView,
    Column,
    ColumnDataSource,
    CustomJS,
    Div,
    FixedTicker,
    IndexFilter,
    Legend,
    LegendItem,
    Span,
)
from bokeh.plotting import figure
from bokeh.resources import Resources
from sphinx.application import Sphinx

from uldp.figures import STYLES

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "results" / "explorer.csv"

NUMBERS_OF_USERS = [f"{digit * 10**power:,}" for power in range(2, 9) for digit in (1, 2, 5)]
START = {"epsilon": "1", "values": "400", "sensitive": "76", "users": "100,000"}
TITLES = {
    "epsilon": "ε",
    "values": "Possible answers, k",
    "sensitive": "Sensitive among them, s",
    "users": "People, n",
}

MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "D": "diamond",
    "v": "inverted_triangle",
    "*": "star",
    "p": "hex",
}
DASHES = {"-": "solid", "--": "dashed", "-.": "dashdot", ":": "dotted"}
REFERENCES: dict[str, dict[str, Any]] = {
    "limit": {"line_color": "#c4c4c4", "line_width": 7},
    "no privacy": {"line_color": "#767676", "line_width": 1.5},
}
"""The lines that are of no mechanism."""

HANDLE = ".noUi-handle { background: #0072b2; }"
NUMBERS = """
.bk-clearfix { width: 100%; }
table { border-collapse: collapse; width: 100%; max-width: 32rem; }
caption, th { text-align: left; }
td, thead th { text-align: right; font-variant-numeric: tabular-nums; }
td, th { padding: 0.15rem 0.25rem; border-bottom: 1px solid #ddd; font-weight: normal; }
tr { white-space: nowrap; }
caption { padding-bottom: 0.5rem; }
"""


def read_table(path: Path = TABLE) -> dict[str, list[float]]:
    """Return the columns of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def draw(loss: str, title: str, shown: ColumnDataSource, chosen: Span) -> figure:
    """Draw one loss over ε, all mechanisms, with a vertical line at the chosen ε."""
    plot = figure(
        title=title,
        x_axis_label="ε",
        x_axis_type="log",
        y_axis_type="log",
        height=370,
        sizing_mode="stretch_width",
        tools="",
        toolbar_location=None,
        html_attributes={
            "role": "img",
            "aria-label": f"{title}, over ε from 0.1 to 10, a line for each row of the table",
        },
    )
    some = CDSView(filter=IndexFilter(list(range(0, len(shown.data["epsilon"]), 5))))
    items = []
    for name, look in REFERENCES.items():
        if f"{loss} {name}" in shown.data:
            line = plot.line("epsilon", f"{loss} {name}", source=shown, **look)
            items.append(LegendItem(label=name, renderers=[line]))
    for name, style in STYLES.items():
        look = {"x": "epsilon", "y": f"{loss} {name}", "source": shown, "color": style["color"]}
        line = plot.line(line_dash=DASHES[style["linestyle"]], line_width=2, **look)
        marks = plot.scatter(marker=MARKERS[style["marker"]], size=8, view=some, **look)
        items.append(LegendItem(label=name, renderers=[line, marks]))
    plot.add_layout(chosen)
    plot.add_layout(Legend(items=items, ncols=2, location="left", border_line_color=None), "above")
    plot.xaxis.ticker = FixedTicker(ticks=[0.1, 0.2, 0.5, 1, 2, 5, 10])
    plot.xaxis.formatter = BasicTickFormatter()
    return plot


def explorer(table: dict[str, list[float]]) -> Document:
    """Return the sliders, the table of numbers and the two plots."""
    epsilons = sorted(set(table["epsilon"]))
    categories = {
        "epsilon": [f"{epsilon:g}" for epsilon in epsilons],
        "values": [f"{k:.0f}" for k in sorted(set(table["values"]))],
        "sensitive": [f"{s:.0f}" for s in sorted(set(table["sensitive"]))],
        "users": NUMBERS_OF_USERS,
    }
    sliders = {
        name: CategoricalSlider(
            title=title,
            categories=categories[name],
            value=START[name],
            sizing_mode="stretch_width",
            margin=(5, 20, 5, 20),
            stylesheets=[HANDLE],
        )
        for name, title in TITLES.items()
    }
    losses = [name for name in table if name.startswith(("TV", "MSE"))]
    shown = ColumnDataSource(
        {"epsilon": epsilons} | {name: [1.0] * len(epsilons) for name in losses}, name="shown"
    )
    numbers = Div(sizing_mode="stretch_width", margin=(15, 20, 15, 20), stylesheets=[NUMBERS])
    chosen = Span(dimension="height", line_color="black", line_dash="dotted")
    update = CustomJS(
        args={
            **sliders,
            "table": ColumnDataSource(table),
            "shown": shown,
            "numbers": numbers,
            "chosen": chosen,
            "rows": [*STYLES, "no privacy"],
        },
        code=(HERE / "explorer.js").read_text(encoding="utf-8"),
    )
    for slider in sliders.values():
        slider.js_on_change("value", update)
    plots = [
        draw("TV", "Expected total variation in the worst case", shown, chosen),
        draw("MSE", "Expected squared error in the worst case", shown, chosen),
    ]
    document = Document()
    document.add_root(Column(*sliders.values(), numbers, *plots, sizing_mode="stretch_width"))
    document.js_on_event(DocumentReady, update)
    return document


def page() -> str:
    """Return the page, the same bytes each time in a new process."""
    (root,) = explorer(read_table()).roots
    item = json.dumps(json_item(root, "explorer"), ensure_ascii=False)
    scripts = Resources(mode="inline", components=["bokeh", "bokeh-widgets"]).render_js()
    template = Template((HERE / "explorer.html").read_text(encoding="utf-8"))
    return template.substitute(scripts=scripts, item=item.replace("</", "<\\/"))


def write_page(app: Sphinx, exception: Exception | None) -> None:
    """Write the page beside the book's index."""
    if exception is None and app.builder.name == "html":
        Path(app.outdir, "explorer.html").write_text(page(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before the book is searched for what it would fetch."""
    app.connect("build-finished", write_page, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
