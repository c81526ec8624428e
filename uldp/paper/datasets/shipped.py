"""The two tables of counts that ship with the package."""

from __future__ import annotations

import csv
import math
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from uldp.paper.datasets.histograms import (
    AGES,
    MARITAL,
    SEXES,
    GridHistogram,
    Histogram,
    census_domain,
    first_attributes,
    grid_domain,
)

__all__ = ["CENSUS_ATTRIBUTES", "census", "manhattan"]

CENSUS_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "age": AGES,
    "weeks": ("0 weeks", "1-13 weeks", "14-39 weeks", "40-51 weeks", "52 weeks"),
    "marital": MARITAL,
    "sex": SEXES,
    "veterans_benefits": ("no veterans' benefits", "veterans' benefits"),
    "capital_gain": ("no capital gain", "capital gain"),
    "capital_loss": ("no capital loss", "capital loss"),
    "dividends": ("no dividends", "dividends"),
    "asked_own_business": ("not asked about own business", "asked about own business"),
}
"""The nine attributes of `census`, each with its categories in the order of their codes."""

_CENSUS_SOURCE = (
    "Census-Income (KDD), UCI Machine Learning Repository, from the US Current Population Surveys "
    "of 1994 and 1995; CC BY 4.0. Unweighted counts of respondents."
)
_MANHATTAN_SOURCE = (
    "Foursquare check-ins in Manhattan, April 2012 to February 2013, from the sample in mat-data "
    "0.1rc6 (GPL-3.0-or-later); only counts per cell are kept."
)


def census(attributes: int = 4) -> Histogram:
    """Return 299,285 respondents by age, weeks worked, marital status and sex.

    A stand-in for the paper's census data: weeks worked in the year take the place of income, and
    five further yes/no attributes that of military service. Values are numbered by
    ``((age * 5 + weeks) * 5 + marital) * 2 + sex``, and so on, in the order of `CENSUS_ATTRIBUTES`.
    Sensitive are the divorced aged 13 or more, and those in their thirties and forties who worked
    no week: 76 of the 400 values, whatever the other attributes.

    Parameters
    ----------
    attributes : int, optional
        How many of the nine attributes make up a value, 4 to 9.

    Returns
    -------
    Histogram
        Over k = 400, 800, ..., 12,800 values.

    Examples
    --------
    >>> census().domain.labels[353]
    '65+, 0 weeks, widowed, female'
    """
    domain = census_domain(first_attributes(CENSUS_ATTRIBUTES, attributes).values())
    cells, counts = _columns("census_attributes.csv", "cell", "count")
    fine = np.zeros(math.prod(map(len, CENSUS_ATTRIBUTES.values())), dtype=np.int64)
    fine[cells] = counts
    return Histogram(domain, fine.reshape(domain.size, -1).sum(axis=1), _CENSUS_SOURCE)


def manhattan() -> GridHistogram:
    """Return 28,028 Foursquare check-ins in Manhattan by cell of a 25 x 25 grid.

    A smaller stand-in for the paper's check-ins. Sensitive are the 16 cells with a check-in at a
    hospital.

    Returns
    -------
    GridHistogram
        Over k = 625 cells.
    """
    names = ("count", "home", "office", "home_places", "office_places", "sensitive")
    counts, home, office, home_places, office_places, sensitive = _columns("manhattan.csv", *names)
    domain = grid_domain(np.flatnonzero(sensitive).tolist())
    return GridHistogram(
        domain, counts, _MANHATTAN_SOURCE, home, office, home_places, office_places
    )


def _columns(table: str, *names: str) -> list[NDArray[np.int64]]:
    file = resources.files("uldp.paper.datasets") / "data" / table
    text = file.read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return [np.array([int(row[name]) for row in rows]) for name in names]
