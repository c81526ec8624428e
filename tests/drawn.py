"""What a figure shows, for the tests of figures."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch


def lines(ax: Axes) -> list[tuple[list[float], list[float]]]:
    """The coordinates of the lines of a panel."""
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines]


def names(ax: Axes) -> list[str]:
    """The names of the lines of a panel."""
    return [name.get_text() for name, _, _ in ax.figure.names if name.axes is ax]


def looks(ax: Axes) -> list[tuple[Any, ...]]:
    """The colours, line styles and markers of the lines of a panel."""
    return [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in ax.lines]


def arrows(ax: Axes) -> list[str]:
    """The line styles of the arrows of a panel."""
    return [p.get_linestyle() for p in ax.patches if isinstance(p, FancyArrowPatch)]
