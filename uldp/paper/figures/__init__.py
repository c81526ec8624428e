"""The figures of the book: data in, Axes out; needs the extra "figures".

`curves` draws most of them. A figure of another kind has a function in the module of its chapter;
those of the quick start are here. Each function makes a new figure and returns its Axes, an array
of them where it has panels. What they share is the module `style`.
"""

from uldp._numerics.results import needed as _needed

_needed("matplotlib", "figures", "uldp.paper.figures")

from uldp.paper.figures.estimates import estimates_by_rank, estimates_with_errors, maps  # noqa: E402
from uldp.paper.figures.style import STYLES, Curve, Look, curves  # noqa: E402

__all__ = [
    "STYLES",
    "Curve",
    "Look",
    "curves",
    "estimates_by_rank",
    "estimates_with_errors",
    "maps",
]
