"""Real distributions to experiment on: who answered what, and who was where.

`census` and `manhattan` ship with the package as tables of counts. `load_us_census_1990` and
`load_foursquare` make the same objects of the data files that the paper used (Sec. 6.1), for
readers who have them.
"""

from uldp.paper.datasets.histograms import GridHistogram, Histogram, census_domain, manhattan_cell
from uldp.paper.datasets.paper_files import (
    US_CENSUS_1990_ATTRIBUTES,
    load_foursquare,
    load_us_census_1990,
)
from uldp.paper.datasets.shipped import CENSUS_ATTRIBUTES, census, manhattan

__all__ = [
    "CENSUS_ATTRIBUTES",
    "US_CENSUS_1990_ATTRIBUTES",
    "GridHistogram",
    "Histogram",
    "census",
    "census_domain",
    "load_foursquare",
    "load_us_census_1990",
    "manhattan",
    "manhattan_cell",
]
