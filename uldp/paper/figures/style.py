"""The kit that the figures are made with: colours, type, panels, axes and names.

Importing it sets Matplotlib's defaults to the book's look, with the font that lies beside it, so
that a text is as long on every computer. Blue is what is sensitive and orange what is not, and
nothing else; a mechanism has its own colour and line; what is ordered goes from light to dark. A
line carries its name at an end. Every figure takes data and returns its Axes.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Literal, cast
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from uldp._numerics import checks
from uldp.paper.figures import svg

__all__ = ["DOTS", "STROKES", "STYLES", "Curve", "Look", "checked", "curves", "make_axes"]

Curve = tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, ArrayLike]
"""Horizontal and vertical coordinates of one length, and standard errors of the vertical ones."""

Label = str | tuple[str, str]
"""What a curve is of, and of which kind it is if there are several of it."""

Look = dict[str, Any]
"""Properties of a `matplotlib.lines.Line2D`."""

End = Literal["start", "end"]
"""At which end of a line its name stands."""

INK = "#1B2430"
MUTED = "#5B6675"
ACCENT = "#0F5C5C"
SENSITIVE = "#1F5FA8"
OTHER = "#A84D08"
GRID = "#E3E7ED"
FAINT = "#C3CAD4"
WASH = "#F5F7F9"
WARN = "#8A5A00"
TINT = {SENSITIVE: "#D6E4F5", OTHER: "#FCEFE2", ACCENT: WASH}
RAMP = LinearSegmentedColormap.from_list(
    "ink", ["#EEF1F5", "#B9C4D2", "#71839A", "#36485F", "#101A28"]
)
"""Colours of what is ordered; light is little."""

SHADES = "#64748B", "#43526A", INK
"""Colours of up to three lines that are ordered, from light to dark."""

WIDE = 6.85
NARROW = 3.5
SIZE = 9.6
SPACING = 1.15 * SIZE
BESIDE, LED = 4, 16
"""Points between the end of a line and its name, without and with a leader."""

UNLED = 0.4 * SIZE
"""How far up or down a name may stand without a leader."""

for _cut in ("Regular", "Italic", "Bold"):
    _file = Path(__file__).parent / "fonts" / f"uldpSans-{_cut}.ttf"
    font_manager.fontManager.addfont(_file)
plt.rcParams.update(
    {
        "axes.axisbelow": True,
        "axes.edgecolor": FAINT,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.labelcolor": MUTED,
        "axes.labelsize": SIZE,
        "axes.linewidth": 0.7,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": SIZE,
        "axes.titleweight": "bold",
        "figure.dpi": 160,
        "font.family": ["uldp Sans", "DejaVu Sans"],
        "font.size": SIZE,
        "grid.color": GRID,
        "grid.linewidth": 0.7,
        "hatch.linewidth": 0.6,
        "lines.linewidth": 1.4,
        "lines.markersize": 4,
        "mathtext.cal": "cmsy10",
        "mathtext.fontset": "custom",
        "mathtext.it": "uldp Sans:italic",
        "mathtext.rm": "uldp Sans",
        "svg.fonttype": "none",
        "svg.hashsalt": "uldp",
        "text.color": INK,
        "text.hinting": "none",
        "xtick.color": FAINT,
        "xtick.labelcolor": MUTED,
        "xtick.labelsize": SIZE,
        "ytick.alignment": "center",
        "ytick.color": FAINT,
        "ytick.labelcolor": MUTED,
        "ytick.labelsize": SIZE,
        "ytick.major.size": 0,
        "ytick.minor.size": 0,
    }
)

STYLES: dict[str, Look] = {
    "RR": {"color": "#9F5E88", "linestyle": "--"},
    "RAPPOR": {"color": "#4E8248", "linestyle": "--"},
    "uRR": {"color": "#6E0F56", "linestyle": "-"},
    "uRAP": {"color": "#0B5327", "linestyle": "-"},
    "uBD": {"color": INK, "linestyle": "-", "linewidth": 2},
    "uHR": {"color": "#434B57", "linestyle": "-."},
}
"""The looks of mechanisms by their names; others get one of `SPARE` in each figure."""

SPARE: tuple[Look, ...] = (
    {"color": MUTED, "linestyle": "--"},
    {"color": MUTED, "linestyle": ":"},
    {"color": MUTED, "linestyle": "-."},
)

STROKES: tuple[Look, ...] = (
    {"color": INK, "linestyle": "-"},
    {"color": MUTED, "linestyle": "--"},
    {"color": ACCENT, "linestyle": "-"},
    {"color": MUTED, "linestyle": ":"},
    {"color": INK, "linestyle": "-."},
)
"""Lines that are not of a mechanism, in the order in which a figure takes them."""

LINE_AND_DOTS: Look = {"marker": "o", "markeredgecolor": "white", "markeredgewidth": 0.5}
"""How data look that a line joins."""

DOTS: Look = LINE_AND_DOTS | {"linestyle": ""}
"""How data look, for the `kinds` of `curves`."""

NO_PRIVACY = "no privacy"
DOTTED: Look = {"color": MUTED, "linewidth": 1.0, "linestyle": ":"}
LEVEL: Look = {"color": MUTED, "linewidth": 0.9, "zorder": 1}


class Picture(Figure):
    """A figure with panels of one size, that keeps names of lines apart and can be made narrow."""

    panels: Sequence[Axes] = ()
    names: Sequence[tuple[Annotation, Line2D, End]] = ()
    columns = 1
    narrow_columns = 1

    def arrange(self, width: float, height: float, columns: int) -> None:
        """Set the panels into rows of so many columns, with labels at the outer ones alone."""
        grid = GridSpec(-(-len(self.panels) // columns), columns, figure=self)
        self.set_size_inches(width, height)
        for number, ax in enumerate(self.panels):
            if columns != self.columns or ax.get_subplotspec() is None:
                ax.set_subplotspec(grid[number])
            left = number % columns == 0
            last = number + columns >= len(self.panels)
            ax.xaxis.label.set_visible(last or ax.get_xlabel() != self.panels[-1].get_xlabel())
            ax.yaxis.label.set_visible(left or ax.get_ylabel() != self.panels[0].get_ylabel())
            if len(ax.get_shared_y_axes().get_siblings(ax)) > 1:
                ax.tick_params(labelleft=left)
            if len(ax.get_shared_x_axes().get_siblings(ax)) > 1:
                ax.tick_params(labelbottom=last)

    def narrow(self) -> None:
        """Make the figure as wide as a phone, its panels one below the other."""
        number = len(self.panels)
        rows = -(-number // self.narrow_columns)
        highest = 2.6 if number < 3 else 2.0  # inches of a panel
        if self.narrow_columns == 1 and any(ax.images for ax in self.panels):
            highest = 3.0  # maps, which are about as high as wide
        elif len(self.axes) > number:
            highest = 2.4  # with room for a scale below all
        if rows > 4:
            highest = 1.6  # so that a long column is not scrolled for ever
        of_row = self.get_figheight() / -(-number // self.columns)
        if number > 1:
            of_row = min(of_row, highest)
        note(self.panels, textwrap.fill(self.get_suptitle(), 54))  # letters, in this width
        self.arrange(NARROW, of_row * rows, self.narrow_columns)

    def svg(self) -> str:
        """Return the figure in SVG with its narrow form inside, and leave it narrow.

        Pages show one of the two, by their width.
        """
        self.arrange(WIDE, self.get_figheight(), self.columns)  # for labels that came later
        wide = svg.written(self)
        self.narrow()
        narrow = svg.written(self)
        narrow.attrib |= {"class": "narrow", "display": "none"}
        wide.append(narrow)
        return ElementTree.tostring(wide, encoding="unicode") + "\n"

    def _ipython_display_(self) -> None:
        """Show the figure in a notebook."""
        from IPython.display import publish_display_data

        publish_display_data({"image/svg+xml": self.svg()})

    def draw(self, renderer: RendererBase) -> None:
        """Lay the panels out, move the names apart, and draw.

        To be saved, a figure is drawn twice: first to be laid out, then without an engine. It is
        laid out again unless its names, which take room, stay beside the ends of their lines:
        diagrams, which have none, settle at the second time.
        """
        engine = self.get_layout_engine()
        before = self._push_names_apart()
        if engine is not None:
            engine.execute(self)
            after = self._push_names_apart()
            if not before or not np.allclose(before, after, rtol=0, atol=0.5):
                engine.execute(self)
                self._push_names_apart()
        if not (self.canvas.is_saving() and isinstance(engine, ConstrainedLayoutEngine)):
            super().draw(renderer)

    def _push_names_apart(self) -> list[tuple[float, float]]:
        """Set the names beside their lines, and return how far from the ends, in points."""
        for ax in self.panels:
            _push_apart(ax, [one for one in self.names if one[0].axes is ax])
        return [name.get_position() for name, *_ in self.names]


def picture(where: Axes | Sequence[Axes] | NDArray[Any]) -> Picture:
    """Return the figure of panels."""
    return cast(Picture, np.ravel(np.asarray(where))[0].figure)


def _push_apart(ax: Axes, names: Iterable[tuple[Annotation, Line2D, End]]) -> None:
    """Set names beside the ends of their lines, as near as they can be without overlapping.

    If one stands farther off, all have leaders.
    """
    for end in ("start", "end"):
        placed = []
        for name, line, at in names:
            points = ax.transData.transform(line.get_xydata())
            # Inside the axes, 0 to 1 on both, with a hair of room: 0.5² is 0.25.
            within = points[((ax.transAxes.inverted().transform(points) - 0.5) ** 2 < 0.251).all(1)]
            if at == end and len(within):
                placed.append((within[-1 if end == "end" else 0], name))
        placed.sort(key=lambda one: round(float(one[0][1]), 2))  # ties stay in order
        pixel = 72 / ax.figure.dpi
        tall = np.array([SPACING * (1 + one.get_text().count("\n")) for _, one in placed])
        # `room` is where the middles stand if the names touch, from 0 on. The nearest heights that
        # are at least so far apart are the nearest increasing ones once it is taken off.
        room = np.cumsum(tall) - tall / 2
        heights = np.array([point[1] * pixel for point, _ in placed])
        apart = isotonic_regression(heights - room).x + room if placed else heights
        # No name stands below the axes.
        apart = np.maximum(apart, ax.bbox.y0 * pixel + room)
        is_led = bool((np.abs(apart - heights) > UNLED).any())
        beside = LED if is_led else BESIDE
        for (point, name), moved, height in zip(placed, apart, heights, strict=True):
            name.xy = tuple(ax.transData.inverted().transform(point))
            name.set_position((beside if end == "end" else -beside, moved - height))
            assert name.arrow_patch
            name.arrow_patch.set_visible(is_led)


def readable(color: Any) -> Any:
    """Return a colour for letters: ink if the contrast of its own to the page is below 4.5."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    # The contrast to white is 1.05 over the luminance plus 0.05 (WCAG).
    return INK if np.dot(linear, (0.2126, 0.7152, 0.0722)) > 1.05 / 4.5 - 0.05 else color


def name_lines(axes: Iterable[Axes], at: End = "end") -> None:
    """Write the labels of lines at their ends or starts, in their colours."""
    for ax in axes:
        figure = picture(ax)
        own = []
        for line in ax.lines:
            label = str(line.get_label())
            if label and not label.startswith("_"):
                name = ax.annotate(
                    textwrap.fill(label, 18),
                    tuple(np.asarray(line.get_xydata())[-1 if at == "end" else 0]),
                    (0, 0),
                    textcoords="offset points",
                    color=readable(line.get_color()),
                    weight="bold",
                    linespacing=0.95,
                    ha="left" if at == "end" else "right",
                    va="center",
                    annotation_clip=False,
                    arrowprops={
                        "arrowstyle": "-",
                        "color": line.get_color(),
                        "linewidth": 0.7,
                        "patchA": None,  # it begins at the edge: clipped there, or not, by rounding
                        "relpos": (0 if at == "end" else 1, 0.5),
                        "shrinkA": 1,
                        "shrinkB": 1,
                    },
                )
                own.append((name, line, at))
        figure.names = [*figure.names, *own]
        if at == "start" and own:
            _make_room(ax, own)


def _make_room(ax: Axes, names: Sequence[tuple[Annotation, Line2D, End]]) -> None:
    """Begin the horizontal axis farther left, with room for names even where it is narrow."""
    inches = max(Text.get_window_extent(name).width for name, *_ in names) / ax.figure.dpi
    start = min(np.asarray(line.get_xdata()).min() for _, line, _ in names)
    ticks = ax.get_xticks()
    scale = ax.xaxis.get_transform()
    low, high = scale.transform([start, ax.get_xlim()[1]])
    share = (inches + 0.25) / (NARROW - 0.8)
    # The names take this share of the whole axis, of which low to high are the rest.
    left = scale.inverted().transform([low - share / (1 - share) * (high - low)])[0]
    ax.set_xlim(left=left)
    ax.set_xticks([tick for tick in ticks if start * (1 - 1e-9) <= tick <= ax.get_xlim()[1]])


def note(where: Axes | Sequence[Axes] | NDArray[Any], text: str) -> None:
    """Write above the panels, in grey, what their lines and dots are."""
    picture(where).suptitle(text, x=0.01, ha="left", size=SIZE, color=MUTED)


def name_rows(ax: Axes, names: Sequence[str], colors: Sequence[str]) -> None:
    """Write the names of rows 0, 1, ... beside them, in the left margin."""
    ax.set_yticks(range(len(names)), [textwrap.fill(name, 22) for name in names])
    for label, color in zip(ax.get_yticklabels(), colors, strict=True):
        label.set_color(color)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")
    ax.grid(visible=False, axis="y")


def mechanism_looks(names: Iterable[str]) -> dict[str, Look]:
    """Return how mechanisms look by their names, in the order of `STYLES`."""
    found = list(dict.fromkeys(names))
    spare = cycle(SPARE)
    looks = {name: look for name, look in STYLES.items() if name in found}
    looks |= {name: next(spare) for name in found if name not in {*STYLES, NO_PRIVACY}}
    return looks | ({NO_PRIVACY: LEVEL} if NO_PRIVACY in found else {})


def line_looks(labels: Iterable[str], *, ordered: bool = False) -> dict[str, Look]:
    """Return how other lines look by their labels; up to three can go from light to dark."""
    names = list(dict.fromkeys(labels))
    if ordered:
        shades = SHADES[-len(names) :]
        return {name: {"color": shade} for name, shade in zip(names, shades, strict=True)}
    return dict(zip(names, cycle(STROKES), strict=False))


def make_axes(
    number: int,
    height: float,
    columns: int | None = None,
    sharey: bool = False,
    *,
    sharex: bool = False,
    narrow: int = 1,
) -> NDArray[Any]:
    """Make panels, side by side or in rows of `columns`; return their Axes, shape (number,).

    The height is that of the figure, in inches. A narrow one has `narrow` panels in a row.
    """
    if number < 1:
        raise ValueError("there must be at least one panel to draw, got none")
    figure = cast(Picture, plt.figure(FigureClass=Picture, layout="constrained"))
    figure.columns = columns or number
    figure.narrow_columns = narrow
    grid = GridSpec(-(-number // figure.columns), figure.columns, figure=figure)
    panels: list[Axes] = []
    for place in range(number):
        first = panels[0] if panels else None
        shared = {"sharex": first if sharex else None, "sharey": first if sharey else None}
        panels.append(figure.add_subplot(grid[place], **shared))
    figure.panels = panels
    figure.arrange(WIDE, height, figure.columns)
    return np.array(panels)


def one_axes(height: float) -> Axes:
    """Return the Axes of a new figure of one panel, of a height in inches."""
    return cast(Axes, make_axes(1, height)[0])


def checked(curve: Curve, label: object, log: str = "") -> tuple[NDArray[Any], ...]:
    """Return the arrays of a curve, its coordinates above 0 where an axis is logarithmic.

    They may be columns of a table, whose labels number the rows.
    """
    columns = [checks.as_array(values, f"{label!r}") for values in curve]
    across = checks.numbers(columns[0], f"horizontal coordinates of {label!r}", (-1,))
    others = zip(("heights", "errors"), columns[1:], strict=False)
    upward = [checks.numbers(v, f"{name} of {label!r}", across.shape) for name, v in others]
    for values, axis in ((across, "x"), (upward[0], "y")):
        if axis in log and (values <= 0).any():
            raise ValueError(f"{axis} of {label!r} must be greater than 0, got {values.min()}")
    return across, *upward


def curves(
    panels: Mapping[str, Mapping[Any, Curve]],
    xlabel: str,
    ylabel: str,
    *,
    kinds: Mapping[str, Look] | None = None,
    log: str = "xy",
    percent: str = "",
    ordered: bool = False,
    names: End | None = "end",
    level: float | Mapping[str, float] | None = None,
    level_label: str = "",
    columns: int | None = None,
    sharey: bool = True,
    height: float = 3.0,
) -> NDArray[Any]:
    """Draw curves in panels, each with its name at an end.

    A label has one look in all panels. If a label is the name of a mechanism in `STYLES`, all are
    those of mechanisms; a name without a style gets one that is free.

    Parameters
    ----------
    panels : mapping of str to mapping of str or (str, str) to Curve
        Horizontal and vertical coordinates, (m,) and (m,) array_like, by the title of their panel
        and the label of their curve, or the label and the kind of the curve. Looks repeat after
        five labels. A third (m,) array_like holds standard errors; such a curve has dots, and bars
        that reach two of them up and down.
    xlabel, ylabel : str
        What the axes show, with the unit. An axis of "ε" says which end is private.
    kinds : mapping of str to dict, optional
        How the curves of a kind differ from the look of their label: properties of a
        `matplotlib.lines.Line2D`. A grey line of text says which is which.
    log : str
        Which axes are logarithmic, with plain numbers: "", "x", "y" or "xy".
    percent : str
        Which axes show shares in percent.
    ordered : bool
        Whether the labels, at most three, are steps of one thing, which go from light to dark.
    names : {"end", "start"}, optional
        Where the names stand: at the ends, or at the starts, of lines; None for no names.
    level : float or mapping of str to float, optional
        Where a grey line is drawn in each panel, or by the title of the panel.
    level_label : str
        Its label; none by default.
    columns : int, optional
        The number of panels in a row; by default all stand in one row.
    sharey : bool
        Whether panels have one vertical scale.
    height : float
        The height of the figure, in inches.
    """
    axes = make_axes(len(panels), height, columns, sharey)
    labels: list[Label] = [label for lines in panels.values() for label in lines]
    for ax, title in zip(axes, panels, strict=True):
        if level is not None:
            at = level[title] if isinstance(level, Mapping) else level
            ax.axhline(checks.positive(at, "level") if "y" in log else at, **LEVEL)
            if level_label and ax is axes[0]:
                above: Look = {"color": MUTED, "ha": "left", "va": "bottom", "size": SIZE}
                write(ax, (0.01, at), level_label, transform=ax.get_yaxis_transform(), **above)
    draw_curves(panels, axes, curve_looks(labels, kinds or {}, ordered=ordered), log)
    number_axes(axes, log, percent)
    name_axes(axes, xlabel, ylabel)
    if names:
        name_lines(axes, names)
    if kinds:
        note(axes, " · ".join(f"{_words(look)}: {kind}" for kind, look in kinds.items()))
    return axes


def curve_looks(
    labels: Iterable[Label], kinds: Mapping[str, Look], *, ordered: bool = False
) -> dict[Label, Look]:
    """Return the looks of curves; a kind without a line has dots."""
    pairs = {label: (label, "") if isinstance(label, str) else label for label in labels}
    names = [name for name, _ in pairs.values()]
    of_mechanisms = not STYLES.keys().isdisjoint(names)
    looks = mechanism_looks(names) if of_mechanisms else line_looks(names, ordered=ordered)
    changes = {kind: _kind(look) for kind, look in kinds.items()}
    return {label: looks[name] | changes.get(kind, {}) for label, (name, kind) in pairs.items()}


def _kind(look: Look) -> Look:
    """Return how a kind looks; without a line it has dots, or rings."""
    if look.get("linestyle") != "":
        return look
    return ({"marker": "o"} if look.get("markerfacecolor") == "white" else DOTS) | look


def _words(look: Look) -> str:
    """Say what a kind looks like."""
    look = _kind(look)
    if look.get("marker"):
        hollow = look.get("markerfacecolor") == "white"
        return {"*": "stars"}.get(look["marker"], "rings" if hollow else "dots")
    return {"--": "dashed", ":": "dotted", "-.": "dash-dotted"}.get(
        look.get("linestyle", "-"), "lines"
    )


def draw_curves(
    panels: Mapping[str, Mapping[Any, Curve]],
    axes: Iterable[Axes],
    looks: Mapping[Any, Look],
    log: str = "",
) -> None:
    """Draw curves in panels, with a title, by their looks; the first of a name carries it."""
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        named = set()
        for label, curve in lines.items():
            across, upward, *errors = checked(curve, label, log)
            name = label if isinstance(label, str) else label[0]
            look = {"label": "_" if name in named else name, **looks[label]}
            named.add(name)
            for error in errors:
                look = LINE_AND_DOTS | look
                bars = {"fmt": "none", "ecolor": look["color"], "elinewidth": 1}
                ax.errorbar(across, upward, 2 * error, **bars)
            ax.plot(across, upward, **look)
        ax.set_title(title)


def number_axes(axes: Iterable[Axes], log: str = "xy", percent: str = "") -> None:
    """Make axes logarithmic, and write plain numbers where none is long, or percent."""
    panels = list(axes)
    for ax in panels:
        ax.set(**{f"{name}scale": "log" for name in log})
    for ax in panels:
        for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
            low, high = sorted(axis.get_view_interval())
            if name in log:
                decades = math.floor(math.log10(high)) - math.ceil(math.log10(low)) + 1
                long = name == "x" and high >= 2000
                axis.set_major_locator(LogLocator(subs=(1,) if decades > 2 or long else (1, 2, 5)))
                axis.set_minor_locator(NullLocator())
            plain = name not in log or (low >= 1e-4 and high <= 2e6)
            own_texts = not isinstance(axis.get_major_formatter(), ScalarFormatter)
            if name in log + percent or not own_texts:
                formatter = in_percent if name in percent else _plain if plain else _power
                axis.set_major_formatter(formatter)


def _plain(value: float, _: float = 0) -> str:
    return f"{value:,.10g}".replace("-", "−")


def in_percent(value: float, _: float = 0) -> str:
    """Write a share in percent."""
    return f"{_plain(100 * value)}%"


def _power(value: float, _: float = 0) -> str:
    if 1e-3 <= value < 2e4:
        return _plain(value)
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    digit, exponent = f"{value:.0e}".split("e")
    power = "10" + str(int(exponent)).translate(raised)
    return power if digit == "1" else f"{digit}·{power}"


def name_axes(axes: Sequence[Axes] | NDArray[Any], xlabel: str, ylabel: str) -> None:
    """Write the labels of the axes below the last row of panels and beside the first column."""
    figure = picture(axes)
    if xlabel == "ε":
        more = "more " if figure.columns < 3 else ""
        xlabel = f"← {more}private     ε     {more}exact →"
    for ax in axes:
        ax.set(xlabel=xlabel, ylabel=ylabel)
    figure.arrange(WIDE, figure.get_figheight(), figure.columns)


def write(
    ax: Axes, place: tuple[float, float], text: str, color: str = INK, **options: Any
) -> None:
    """Write a text, by default centred at its place."""
    ax.text(*place, text, color=color, **{"ha": "center", "va": "center", **options})
