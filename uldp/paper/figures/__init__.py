"""The figures of the book: data in, Axes out; needs the extra "figures".

`curves` draws most of them. A figure of another kind has a function in the module of its chapter;
those of the quick start are here. Each function makes a new figure and returns its Axes, an array
of them where it has panels. What they share is the module `style`.
"""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        'uldp.paper.figures needs the package matplotlib, of the extra "figures"'
    ) from missing

from uldp.paper.figures.estimates import estimates_by_rank, estimates_with_errors, maps
from uldp.paper.figures.style import STYLES, Curve, Look, curves

__all__ = [
    "STYLES",
    "Curve",
    "Look",
    "curves",
    "estimates_by_rank",
    "estimates_with_errors",
    "maps",
]
