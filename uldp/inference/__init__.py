"""The precision of estimates: errors, intervals, sums over groups, changes and tests.

Everything is computed from tallies alone, for every mechanism. Users are taken to be drawn
independently from p, so the errors include both sampling and the noise of the mechanism.

The estimate is the one that adds up to 1, `method="adjusted"`, or the paper's, "empirical" (see
`uldp.tallies`), which `Mechanism.estimate` gives by default and `uldp.compare` forecasts. Value,
error and interval of a result are of one of them, which it names. Tests of
`goodness_of_fit` and `homogeneity` are of the paper's.

>>> domain = Domain(["yes", "no"], sensitive=["yes"])
>>> tally = UtilityOptimizedRR(domain, 1.0).simulate([300, 700], rng=1)
>>> round(total(tally, [1, 0]).standard_error, 4)  # of the share of "yes"
0.025
"""

from uldp.inference.chi_square import ChiSquare, goodness_of_fit, homogeneity
from uldp.inference.covariances import covariance, standard_errors
from uldp.inference.entries import intervals
from uldp.inference.groups import marginal, ratio, stratified
from uldp.inference.tables import Change, EstimateTable, Stratified, summary
from uldp.inference.totals import Total, difference, total

__all__ = [
    "Change",
    "ChiSquare",
    "EstimateTable",
    "Stratified",
    "Total",
    "covariance",
    "difference",
    "goodness_of_fit",
    "homogeneity",
    "intervals",
    "marginal",
    "ratio",
    "standard_errors",
    "stratified",
    "summary",
    "total",
]
