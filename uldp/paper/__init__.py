"""The paper's data, experiments and figures, and what only they need.

`datasets` has the data, and `regimes` Tables 3 and 4; `garbling` and `optimal_theta` belong to
chapters beyond the paper. Two parts are imported by their names, since each needs an extra:
`uldp.paper.experiments`, what Section 6 measures, and `uldp.paper.figures`, the book's pictures.
"""

from uldp.paper import datasets, garbling, optimal_theta, regimes

__all__ = ["datasets", "garbling", "optimal_theta", "regimes"]
