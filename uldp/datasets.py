"""Real distributions to experiment on: who answered what, and who was where.

`census` and `manhattan` ship with the package as tables of counts. `load_us_census_1990` and
`load_foursquare` make the same objects of the data files that the paper used (Sec. 6.1), for
readers who have them.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import math
import zipfile
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from importlib import resources
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from uldp import _checks
from uldp.domain import Domain

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

_AGES = ("under 1", "1-12", "13-19", "20-29", "30-39", "40-49", "50-64", "65+")
_MARITAL = ("married", "widowed", "divorced", "separated", "never married")
_SEXES = ("male", "female")

CENSUS_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "age": _AGES,
    "weeks": ("0 weeks", "1-13 weeks", "14-39 weeks", "40-51 weeks", "52 weeks"),
    "marital": _MARITAL,
    "sex": _SEXES,
    "veterans_benefits": ("no veterans' benefits", "veterans' benefits"),
    "capital_gain": ("no capital gain", "capital gain"),
    "capital_loss": ("no capital loss", "capital loss"),
    "dividends": ("no dividends", "dividends"),
    "asked_own_business": ("not asked about own business", "asked about own business"),
}
"""The nine attributes of `census`, each with its categories in the order of their codes."""

US_CENSUS_1990_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "dAge": _AGES,
    "dIncome1": ("no income", "under 15k", "15k-30k", "30k-60k", "60k or more"),
    "iMarital": _MARITAL,
    "iSex": _SEXES,
    "iSept80": ("not served since Sept 1980", "served since Sept 1980"),
    "iMay75880": ("not served May 1975-Aug 1980", "served May 1975-Aug 1980"),
    "iVietnam": ("not served in Vietnam era", "served in Vietnam era"),
    "iFeb55": ("not served Feb 1955-July 1964", "served Feb 1955-July 1964"),
    "iKorean": ("not served in Korean conflict", "served in Korean conflict"),
}
"""The columns that `load_us_census_1990` reads, likewise; income is in US dollars a year."""

_TAGS = {"Home (private)": "home", "Office": "office"}
_ROW_EDGES = [round(40.7 + 0.004 * i, 3) for i in range(26)]
_COLUMN_EDGES = [round(-74.04 + 0.0048 * i, 4) for i in range(26)]

_CENSUS_SOURCE = (
    "Census-Income (KDD), UCI Machine Learning Repository, from the US Current Population Surveys "
    "of 1994 and 1995; CC BY 4.0. Unweighted counts of respondents."
)
_MANHATTAN_SOURCE = (
    "Foursquare check-ins in Manhattan, April 2012 to February 2013, from the sample in mat-data "
    "0.1rc6 (GPL-3.0-or-later); only counts per cell are kept."
)
_US_CENSUS_1990_SOURCE = "US Census Data (1990), UCI Machine Learning Repository; CC BY 4.0."
_FOURSQUARE_SOURCE = (
    "Global-scale Check-in Dataset of D. Yang et al. (Foursquare, April 2012 to September 2013), "
    "Manhattan; for use under its authors' terms."
)


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many people hold each value of a domain.

    Parameters
    ----------
    domain : Domain
        The k values and which of them are sensitive.
    counts : (k,) array of int
        The number of people at each value; kept as a read-only copy.
    source : str
        Where the counts come from, and under which license.

    Raises
    ------
    ValueError
        If a table of counts does not have shape (k,), a count is negative or not whole, or nobody
        is counted.
    """

    domain: Domain
    counts: NDArray[np.int64] = field(repr=False)
    source: str

    def __post_init__(self) -> None:
        tables = [f.name for f in fields(self) if f.name not in ("domain", "source")]
        for name in tables:
            table = _checks.counts(getattr(self, name), name, self.domain.size).copy()
            table.setflags(write=False)
            object.__setattr__(self, name, table)
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
        As in `Histogram`, with k = 625.
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

    home: NDArray[np.int64] = field(repr=False)
    office: NDArray[np.int64] = field(repr=False)
    home_places: NDArray[np.int64] = field(repr=False)
    office_places: NDArray[np.int64] = field(repr=False)

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
        return cls(domain=_grid_domain(hospital_cells), source=source, **tables)

    @property
    def hospital_cells(self) -> NDArray[np.intp]:
        """The cells with a hospital, increasing: the sensitive ones."""
        return self.domain.sensitive


def census(attributes: int = 4) -> Histogram:
    """Return 299,285 respondents by age, weeks worked, marital status and sex.

    A stand-in for the paper's census data: weeks worked in the year take the place of income, and
    five further yes/no attributes that of military service. Value ids count as
    ``((age * 5 + weeks) * 5 + marital) * 2 + sex`` and on, in the order of `CENSUS_ATTRIBUTES`.
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

    Raises
    ------
    TypeError, ValueError
        If `attributes` is not a whole number from 4 to 9.

    Examples
    --------
    >>> census().domain.labels[353]
    '65+, 0 weeks, widowed, female'
    """
    domain = census_domain(_first(CENSUS_ATTRIBUTES, attributes).values())
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
    domain = _grid_domain(np.flatnonzero(sensitive).tolist())
    return GridHistogram(
        domain, counts, _MANHATTAN_SOURCE, home, office, home_places, office_places
    )


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
    categories = list(categories)
    age, earned, marital, *_ = np.indices([len(c) for c in categories], sparse=True)
    divorced = (marital == _MARITAL.index("divorced")) & (age >= _AGES.index("13-19"))
    unemployed = (earned == 0) & (age >= _AGES.index("30-39")) & (age <= _AGES.index("40-49"))
    sensitive = np.broadcast_to(divorced | unemployed, [len(c) for c in categories])
    labels = map(", ".join, itertools.product(*categories))
    return Domain(list(labels), sensitive=np.flatnonzero(sensitive).tolist())


def load_us_census_1990(
    path: str | PathLike[str], attributes: int = 4, *, expected_rows: int = 2_458_285
) -> Histogram:
    """Read the paper's census data, ``USCensus1990.data.txt``, in one pass.

    Values are the combinations of `US_CENSUS_1990_ATTRIBUTES`, numbered as in `census`, with
    income in place of weeks worked.

    Parameters
    ----------
    path : path
        The file, plain or compressed (.gz, or .zip with a file of that name or a single one).
    attributes : int, optional
        How many of the nine attributes make up a value, 4 to 9.
    expected_rows : int, optional
        The number of people; the whole file's by default.

    Returns
    -------
    Histogram
        Over k = 400, 800, ..., 12,800 values.

    Raises
    ------
    ValueError
        If the file departs from the format, naming the line, or has another number of rows.
    TypeError
        If `attributes` is not a whole number.
    """
    chosen = _first(US_CENSUS_1990_ATTRIBUTES, attributes)
    lines = _lines(path, "USCensus1990.data.txt")
    header = next(lines, (1, b""))[1].split(b",")
    absent = [name for name in chosen if name.encode() not in header]
    if absent:
        raise _unexpected(path, 1, f"a header with {', '.join(chosen)}", f"no {', '.join(absent)}")
    pick = itemgetter(*(header.index(name.encode()) for name in chosen))
    codes = [{str(code).encode() for code in range(len(c))} for c in chosen.values()]

    people: Counter[tuple[bytes, ...]] = Counter()
    for number, line in lines:
        answers = line.split(b",")
        if len(answers) != len(header):
            raise _unexpected(path, number, f"{len(header)} fields", f"{len(answers)}")
        answer = pick(answers)
        if answer not in people:
            for name, code, allowed in zip(chosen, answer, codes, strict=True):
                if code not in allowed:
                    raise _unexpected(
                        path, number, f"{name} in 0..{len(allowed) - 1}", _shown(code)
                    )
        people[answer] += 1
    _check_total(path, people.total(), expected_rows, "rows")

    counts = np.zeros([len(c) for c in chosen.values()], dtype=np.int64)
    for answer, count in people.items():
        counts[tuple(map(int, answer))] = count
    return Histogram(census_domain(chosen.values()), counts.ravel(), _US_CENSUS_1990_SOURCE)


def load_foursquare(
    pois_path: str | PathLike[str],
    checkins_path: str | PathLike[str],
    *,
    expected_venues: int = 3_680_126,
    expected_checkins: int = 33_278_683,
    expected_in_manhattan: int = 359_054,
) -> GridHistogram:
    """Read the paper's check-ins and keep those in Manhattan.

    Each file is read in one pass; only the venues in Manhattan are kept in memory. Sensitive are
    the cells with a hospital at which ten users or more checked in (Sec. 6.1).

    Parameters
    ----------
    pois_path, checkins_path : path
        ``dataset_TIST2015_POIs.txt`` and ``dataset_TIST2015_Checkins.txt``, plain or compressed
        (.gz, or .zip with a file of that name or a single one; one archive may hold both).
    expected_venues, expected_checkins, expected_in_manhattan : int, optional
        The numbers of venues, of check-ins, and of check-ins in the grid; those of the whole files
        by default.

    Returns
    -------
    GridHistogram
        Over k = 625 cells.

    Raises
    ------
    ValueError
        If a file departs from the format, naming the line, or a number is not as expected.
    """
    places: dict[bytes, tuple[int, str]] = {}
    number = 0
    for number, line in _lines(pois_path, "dataset_TIST2015_POIs.txt"):
        cell, venue, category = _venue(pois_path, number, line)
        if cell is not None:
            places[venue] = cell, category
    _check_total(pois_path, number, expected_venues, "venues")

    visits: Counter[bytes] = Counter()
    patients: defaultdict[bytes, set[bytes]] = defaultdict(set)
    number = 0
    for number, line in _lines(checkins_path, "dataset_TIST2015_Checkins.txt"):
        checkin = line.split(b"\t")
        if len(checkin) != 4:
            raise _unexpected(checkins_path, number, "4 tab-separated fields", f"{len(checkin)}")
        user, venue = checkin[:2]
        if venue in places:
            visits[venue] += 1
            if places[venue][1] == "Hospital":
                patients[venue].add(user)
    _check_total(checkins_path, number, expected_checkins, "check-ins")
    _check_total(checkins_path, visits.total(), expected_in_manhattan, "check-ins in Manhattan")

    hospital_cells = {places[venue][0] for venue, users in patients.items() if len(users) >= 10}
    return GridHistogram.from_places(
        ((cell, category, visits[venue]) for venue, (cell, category) in places.items()),
        hospital_cells,
        _FOURSQUARE_SOURCE,
    )


def _venue(path: str | PathLike[str], number: int, line: bytes) -> tuple[int | None, bytes, str]:
    venue = line.split(b"\t")
    if len(venue) != 5:
        raise _unexpected(path, number, "5 tab-separated fields", f"{len(venue)}")
    try:
        latitude, longitude = float(venue[1]), float(venue[2])
    except ValueError:
        latitude = longitude = math.nan
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        expected = "a latitude in -90..90 and a longitude in -180..180"
        raise _unexpected(path, number, expected, f"{_shown(venue[1])}, {_shown(venue[2])}")
    return manhattan_cell(latitude, longitude), venue[0], venue[3].decode("latin-1")


def _first(attributes: dict[str, tuple[str, ...]], number: int) -> dict[str, tuple[str, ...]]:
    if _checks.whole(number, "attributes", 4) > len(attributes):
        raise ValueError(f"attributes must be {len(attributes)} or less, got {number}")
    return dict(itertools.islice(attributes.items(), int(number)))


def _grid_domain(sensitive: Iterable[int]) -> Domain:
    rows, columns = GridHistogram.shape
    labels = [f"row {r}, column {c}" for r in range(rows) for c in range(columns)]
    return Domain(labels, sensitive=sensitive)


def _columns(table: str, *names: str) -> list[NDArray[np.int64]]:
    text = resources.files("uldp").joinpath("data", table).read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return [np.array([int(row[name]) for row in rows]) for name in names]


def _lines(path: str | PathLike[str], member: str) -> Iterator[tuple[int, bytes]]:
    with ExitStack() as stack:
        for number, line in enumerate(_open(Path(path), member, stack), start=1):
            yield number, line.rstrip(b"\r\n")


def _open(path: Path, member: str, stack: ExitStack) -> Iterable[bytes]:
    if path.suffix == ".gz":
        return stack.enter_context(gzip.open(path))
    if path.suffix != ".zip":
        return stack.enter_context(path.open("rb"))
    archive = stack.enter_context(zipfile.ZipFile(path))
    files = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    wanted = [name for name in files if Path(name).name == member] or files
    if len(wanted) != 1:
        raise ValueError(f"{path}: expected a file {member} or a single file, got {files}")
    return stack.enter_context(archive.open(wanted[0]))


def _check_total(path: str | PathLike[str], total: int, expected: int, what: str) -> None:
    if total != expected:
        raise ValueError(f"{path}: expected {expected:,} {what}, got {total:,}")


def _unexpected(path: str | PathLike[str], line: int, expected: str, got: str) -> ValueError:
    return ValueError(f"{path}, line {line:,}: expected {expected}, got {got}")


def _shown(field: bytes) -> str:
    return repr(field.decode("latin-1"))
