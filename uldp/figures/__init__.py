"""The figures of the book: one function per figure, data in, Axes out; needs the extra "figures".

The figures of one chapter are a module; those of the quick start are here. A function makes a new
figure unless it is given the Axes to draw in. What they share is the module `style`.
"""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        'uldp.figures needs the package matplotlib: pip install "uldp[figures]"'
    ) from missing

from uldp.figures.estimates import estimate_maps, estimates_by_rank, losses_by_epsilon
from uldp.figures.style import DPI, STYLES, Curve, Style, curves

__all__ = [
    "DPI",
    "STYLES",
    "Curve",
    "Style",
    "curves",
    "estimate_maps",
    "estimates_by_rank",
    "losses_by_epsilon",
]
