"""The figures of the book: one function per figure, data in, Axes out.

The figures of one chapter are a module; those of the quick start are here.
"""

from uldp.figures.estimates import estimate_maps, estimates_by_rank, losses_by_epsilon
from uldp.figures.style import DPI, STYLES, Curve, Style

__all__ = [
    "DPI",
    "STYLES",
    "Curve",
    "Style",
    "estimate_maps",
    "estimates_by_rank",
    "losses_by_epsilon",
]
