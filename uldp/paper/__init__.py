"""The paper's data, experiments and figures, and what only they need.

`datasets` has the data, and `regimes` Tables 3 and 4; `garbling` belongs to a chapter beyond the
paper. Three parts need an extra, and are imported when they are asked for:
`uldp.paper.experiments`, what Section 6 measures, `uldp.paper.figures`, the book's pictures, and
`uldp.paper.verify`, which tries what the chapters derive.
"""

from typing import Any as _Any

from uldp._names import found as _found
from uldp.paper import datasets, garbling, regimes

__all__ = ["datasets", "garbling", "regimes"]


def __getattr__(name: str) -> _Any:
    return _found("uldp.paper", name)
