"""Readers of the data files that the paper used, for those who have them."""

from __future__ import annotations

import csv
import gzip
import math
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from io import BufferedReader, TextIOWrapper
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np

from uldp._numerics import checks
from uldp.paper.datasets.histograms import (
    AGES,
    MARITAL,
    SEXES,
    GridHistogram,
    Histogram,
    census_domain,
    first_attributes,
    manhattan_cell,
)

__all__ = ["US_CENSUS_1990_ATTRIBUTES", "load_foursquare", "load_us_census_1990"]

US_CENSUS_1990_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "dAge": AGES,
    "dIncome1": ("no income", "under 15k", "15k-30k", "30k-60k", "60k or more"),
    "iMarital": MARITAL,
    "iSex": SEXES,
    "iSept80": ("not served since Sept 1980", "served since Sept 1980"),
    "iMay75880": ("not served May 1975-Aug 1980", "served May 1975-Aug 1980"),
    "iVietnam": ("not served in Vietnam era", "served in Vietnam era"),
    "iFeb55": ("not served Feb 1955-July 1964", "served Feb 1955-July 1964"),
    "iKorean": ("not served in Korean conflict", "served in Korean conflict"),
}
"""The columns that `load_us_census_1990` reads, each with its categories in the order of their
codes; income is in US dollars a year."""

TOTALS = {
    "rows": 2_458_285,
    "venues": 3_680_126,
    "check-ins": 33_278_683,
    "check-ins in Manhattan": 359_054,
}
"""What the whole files have."""

ENOUGH_PATIENTS = 10

_GZIPPED = b"\x1f\x8b"
_ZIPPED = b"PK\x03\x04", b"PK\x05\x06"

_US_CENSUS_1990_SOURCE = "US Census Data (1990), UCI Machine Learning Repository; CC BY 4.0."
_FOURSQUARE_SOURCE = (
    "Global-scale Check-in Dataset of D. Yang et al. (Foursquare, April 2012 to September 2013), "
    "Manhattan; for use under its authors' terms."
)


def load_us_census_1990(path: str | PathLike[str], attributes: int = 4) -> Histogram:
    """Read the paper's census data, ``USCensus1990.data.txt``, in one pass.

    Values are the combinations of `US_CENSUS_1990_ATTRIBUTES`, numbered as in `census`, with
    income in place of weeks worked.

    Parameters
    ----------
    path : path
        The file, plain or compressed (gzip, or zip with a file of that name or a single one),
        whatever the path ends in.
    attributes : int, optional
        How many of the nine attributes make up a value, 4 to 9.

    Returns
    -------
    Histogram
        Over k = 400, 800, ..., 12,800 values.
    """
    path = checks.path(path, "path")
    chosen = first_attributes(US_CENSUS_1990_ATTRIBUTES, attributes)
    lines = _lines(path, "USCensus1990.data.txt", ",")
    _, header = next(lines, (1, []))
    absent = [name for name in chosen if name not in header]
    if absent:
        expected = f"a header with {', '.join(chosen)}"
        raise _unexpected(path, 1, expected, f"no {', '.join(absent)} in {_shown(header, ',')}")
    pick = itemgetter(*(header.index(name) for name in chosen))

    people: Counter[tuple[str, ...]] = Counter()
    for number, fields in lines:
        answer = pick(fields)
        if answer not in people:
            for (name, categories), code in zip(chosen.items(), answer, strict=True):
                if code not in map(str, range(len(categories))):
                    expected = f"{name} in 0..{len(categories) - 1}"
                    raise _unexpected(path, number, expected, repr(code[:80]))
        people[answer] += 1
    _check_total(path, people.total(), "rows")

    counts = np.zeros([len(c) for c in chosen.values()], dtype=np.int64)
    for answer, count in people.items():
        counts[tuple(map(int, answer))] = count
    return Histogram(census_domain(chosen.values()), counts.ravel(), _US_CENSUS_1990_SOURCE)


def load_foursquare(
    pois_path: str | PathLike[str], checkins_path: str | PathLike[str]
) -> GridHistogram:
    """Read the paper's check-ins and keep those in Manhattan.

    Each file is read in one pass; only the venues in Manhattan are kept in memory. Sensitive are
    the cells with a hospital at which ten users or more checked in (Sec. 6.1).

    Parameters
    ----------
    pois_path, checkins_path : path
        ``dataset_TIST2015_POIs.txt`` and ``dataset_TIST2015_Checkins.txt``, plain or compressed
        (gzip, or zip with a file of that name or a single one; one archive may hold both), whatever
        the paths end in.

    Returns
    -------
    GridHistogram
        Over k = 625 cells.
    """
    pois_path = checks.path(pois_path, "pois_path")
    checkins_path = checks.path(checkins_path, "checkins_path")
    places: dict[str, tuple[int, str]] = {}
    venues = 0
    for number, fields in _lines(pois_path, "dataset_TIST2015_POIs.txt", "\t", 5):
        venues += 1
        venue, latitude, longitude, category, _ = fields
        cell = _cell(pois_path, number, latitude, longitude)
        if cell is not None:
            places[venue] = cell, category
    _check_total(pois_path, venues, "venues")

    visits: Counter[str] = Counter()
    patients: defaultdict[str, set[str]] = defaultdict(set)
    checkins = 0
    for _, (user, venue, *_) in _lines(checkins_path, "dataset_TIST2015_Checkins.txt", "\t", 4):
        checkins += 1
        if venue in places:
            visits[venue] += 1
            if places[venue][1] == "Hospital":
                patients[venue].add(user)
    _check_total(checkins_path, checkins, "check-ins")
    _check_total(checkins_path, visits.total(), "check-ins in Manhattan")

    return GridHistogram.from_places(
        ((cell, category, visits[venue]) for venue, (cell, category) in places.items()),
        {places[venue][0] for venue, users in patients.items() if len(users) >= ENOUGH_PATIENTS},
        _FOURSQUARE_SOURCE,
    )


def _cell(path: Path, number: int, latitude: str, longitude: str) -> int | None:
    try:
        point = float(latitude), float(longitude)
    except ValueError:
        point = math.nan, math.nan
    if not (-90 <= point[0] <= 90 and -180 <= point[1] <= 180):
        expected = "a latitude in -90..90 and a longitude in -180..180"
        raise _unexpected(path, number, expected, f"{latitude[:80]!r}, {longitude[:80]!r}")
    return manhattan_cell(*point)


def _lines(
    path: Path, member: str, delimiter: str, width: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line, by default as many as in the first."""
    with path.open("rb") as file:
        try:
            text = TextIOWrapper(_unpacked(file, path, member), "latin-1", newline="")
            rows = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
            for number, fields in enumerate(rows, start=1):
                width = width or len(fields)
                if len(fields) != width:
                    got = f"{len(fields)} in {_shown(fields, delimiter)}"
                    raise _unexpected(path, number, f"{width} fields", got)
                yield number, fields
        except ValueError:
            raise
        except Exception as why:  # each kind of archive has errors of its own
            raise ValueError(f"{path}: it cannot be read: {why}") from None


def _unpacked(file: BufferedReader, path: Path, member: str) -> IO[bytes] | gzip.GzipFile:
    start = file.peek(4)
    if start.startswith(_GZIPPED):
        return gzip.open(file)
    if not start.startswith(_ZIPPED):
        return file
    archive = zipfile.ZipFile(file)
    files = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    wanted = [name for name in files if Path(name).name == member] or files
    if len(wanted) != 1:
        raise ValueError(f"{path}: expected a file {member} or a single file, got {files}")
    return archive.open(wanted[0])


def _check_total(path: Path, total: int, what: str) -> None:
    if total != TOTALS[what]:
        raise ValueError(f"{path}: expected {TOTALS[what]:,} {what}, got {total:,}")


def _unexpected(path: Path, line: int, expected: str, got: str) -> ValueError:
    return ValueError(f"{path}, line {line:,}: expected {expected}, got {got}")


def _shown(fields: list[str], delimiter: str) -> str:
    return repr(delimiter.join(fields)[:80])
