"""What a figure shows, for the tests of figures."""

from matplotlib.axes import Axes


def lines(ax: Axes) -> list[tuple[list[float], list[float]]]:
    """The coordinates of the lines of a panel."""
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines]


def legend(ax: Axes) -> list[str]:
    """The texts of the legend of a panel's figure."""
    return [text.get_text() for text in ax.figure.legends[0].get_texts()]
