"""The two tables of counts that ship with the package."""

from __future__ import annotations

import math
from importlib import resources
from typing import Any

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
    table = _table("census_attributes.csv")
    fine = np.zeros(math.prod(map(len, CENSUS_ATTRIBUTES.values())), dtype=np.int64)
    fine[table["cell"]] = table["count"]
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
    table = _table("manhattan.csv")
    return GridHistogram(
        domain=grid_domain(np.flatnonzero(table["sensitive"]).tolist()),
        counts=table["count"],
        source=_MANHATTAN_SOURCE,
        home=table["home"],
        office=table["office"],
        home_places=table["home_places"],
        office_places=table["office_places"],
    )


def _table(name: str) -> NDArray[Any]:
    """Return a table of whole numbers; its columns go by their names."""
    file = resources.files("uldp.paper.datasets") / "data" / name
    with file.open(encoding="utf-8") as lines:
        return np.genfromtxt(lines, dtype=np.int64, delimiter=",", names=True)
