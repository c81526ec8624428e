"""Counts of people over a domain, and the domains that all the data sets use."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, set_fields
from uldp.domain import PER_VALUE, Domain, per_value

__all__ = [
    "AGES",
    "MARITAL",
    "SEXES",
    "GridHistogram",
    "Histogram",
    "census_domain",
    "first_attributes",
    "grid_domain",
    "manhattan_cell",
]

AGES = ("under 1", "1-12", "13-19", "20-29", "30-39", "40-49", "50-64", "65+")
MARITAL = ("married", "widowed", "divorced", "separated", "never married")
SEXES = ("male", "female")

Counts = Annotated[NDArray[np.int64], PER_VALUE]

_TAGS = {"Home (private)": "home", "Office": "office"}
_ROW_EDGES = [round(40.7 + 0.004 * i, 3) for i in range(26)]
_COLUMN_EDGES = [round(-74.04 + 0.0048 * i, 4) for i in range(26)]


@dataclass(frozen=True, eq=False)
class Histogram(Frozen):
    """How many people hold each value of a domain.

    Parameters
    ----------
    domain : Domain
        The k values and which of them are sensitive.
    counts : (k,) array_like of int, or mapping of label to int
        The number of people at each value; kept as a read-only copy.
    source : str
        Where the counts come from, and under which license.
    """

    domain: Domain
    counts: Counts = field(repr=False)
    source: str

    def __post_init__(self) -> None:
        checks.instance(self.domain, "domain", Domain)
        checks.instance(self.source, "source", str)
        tables = [f.name for f in fields(self) if f.name not in ("domain", "source")]
        for name in tables:
            given = per_value(self.domain, getattr(self, name), name)
            table = checks.counts(given, name, self.domain.size).copy()
            set_fields(self, **{name: table})
        if not self.counts.any():
            raise ValueError("counts must include at least one person, got only zeros")

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """The distribution p: (k,) fractions of people, which sum to 1."""
        people: np.int64 = self.counts.sum()
        return self.counts / people


@dataclass(frozen=True, eq=False)
class GridHistogram(Histogram):
    """Check-ins per cell of the 25 x 25 grid over Manhattan, each counted as one person.

    Cell ``25 * row + column`` is some 445 m high and 405 m wide. Row 0 is the southernmost, column
    0 the westernmost; ``counts.reshape(grid.shape)`` is the map. Sensitive cells hold a hospital.

    Parameters
    ----------
    domain, counts, source
        As of a `Histogram`, over the 625 cells.
    home, office : (625,) array of int
        Check-ins at places of the categories ``Home (private)`` and ``Office``, part of `counts`.
    home_places, office_places : (625,) array of int
        The number of distinct such places.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    latitude, longitude : (float, float)
        The edges of the grid in degrees.
    """

    home: Counts = field(repr=False)
    office: Counts = field(repr=False)
    home_places: Counts = field(repr=False)
    office_places: Counts = field(repr=False)

    shape: ClassVar[tuple[int, int]] = (25, 25)
    latitude: ClassVar[tuple[float, float]] = (_ROW_EDGES[0], _ROW_EDGES[-1])
    longitude: ClassVar[tuple[float, float]] = (_COLUMN_EDGES[0], _COLUMN_EDGES[-1])

    @classmethod
    def from_places(
        cls, places: Iterable[tuple[int, str, int]], hospital_cells: Iterable[int], source: str
    ) -> GridHistogram:
        """Add up check-ins at places.

        Parameters
        ----------
        places : iterable of (int, str, int)
            The cell, the category and the number of check-ins of each place.
        hospital_cells : iterable of int
            The cells that are sensitive, in any order.
        source : str
            Where the check-ins come from.
        """
        rows, columns = cls.shape
        names = ("counts", "home", "office", "home_places", "office_places")
        tables = {name: np.zeros(rows * columns, dtype=np.int64) for name in names}
        for cell, category, checkins in places:
            tables["counts"][cell] += checkins
            if category in _TAGS:
                tables[_TAGS[category]][cell] += checkins
                tables[f"{_TAGS[category]}_places"][cell] += 1
        return cls(domain=grid_domain(hospital_cells), source=source, **tables)

    @property
    def hospital_cells(self) -> NDArray[np.intp]:
        """The cells with a hospital, increasing: the sensitive ones."""
        return self.domain.sensitive


def manhattan_cell(latitude: float, longitude: float) -> int | None:
    """Return the cell of the Manhattan grid that holds a point.

    A cell holds its southern and western edge; the grid's northern and eastern edges belong to
    the last row and column.

    Parameters
    ----------
    latitude, longitude : float
        In degrees, north and east positive.

    Returns
    -------
    int or None
        ``25 * row + column``, or None outside the grid.

    Examples
    --------
    >>> manhattan_cell(40.7484, -73.9857)  # the Empire State Building
    311
    """
    latitude = checks.real(latitude, "latitude")
    longitude = checks.real(longitude, "longitude")
    row = bisect_right(_ROW_EDGES, latitude) - 1 - (latitude == _ROW_EDGES[-1])
    column = bisect_right(_COLUMN_EDGES, longitude) - 1 - (longitude == _COLUMN_EDGES[-1])
    rows, columns = GridHistogram.shape
    return columns * row + column if 0 <= row < rows and 0 <= column < columns else None


def census_domain(categories: Iterable[Sequence[str]]) -> Domain:
    """Return the domain of census answers, with the paper's rule for what is sensitive (Sec. 6.1).

    Parameters
    ----------
    categories : iterable of sequence of str
        The categories of each attribute: age (8), income or weeks worked (5, the first being
        none), marital status (5), sex (2), and any further attributes.

    Returns
    -------
    Domain
        One value for each combination, the last attribute running fastest.
    """
    parts = [tuple(names) for names in categories]
    sizes = [len(names) for names in parts]
    age, earned, marital, *_ = np.indices(sizes, sparse=True)
    divorced = (marital == MARITAL.index("divorced")) & (age >= AGES.index("13-19"))
    unemployed = (earned == 0) & (age >= AGES.index("30-39")) & (age <= AGES.index("40-49"))
    sensitive = np.broadcast_to(divorced | unemployed, sizes)
    labels = map(", ".join, itertools.product(*parts))
    return Domain(list(labels), sensitive=np.flatnonzero(sensitive).tolist())


def first_attributes(
    attributes: dict[str, tuple[str, ...]], number: int
) -> dict[str, tuple[str, ...]]:
    """Return the first attributes of a table, 4 or more."""
    number = checks.whole(number, "attributes", least=4, most=len(attributes))
    return dict(itertools.islice(attributes.items(), number))


def grid_domain(sensitive: Iterable[int]) -> Domain:
    """Return the cells of the Manhattan grid as a domain, with the given ones sensitive."""
    rows, columns = GridHistogram.shape
    labels = [f"row {r}, column {c}" for r in range(rows) for c in range(columns)]
    return Domain(labels, sensitive=sensitive)
