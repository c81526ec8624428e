"""Readers of the data files that the paper used, for those who have them."""

from __future__ import annotations

import gzip
import math
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from operator import itemgetter
from os import PathLike
from pathlib import Path

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

ENOUGH_PATIENTS = 10
"""So many users of a hospital make its cell sensitive; then they need not be kept."""

_GZIPPED = b"\x1f\x8b"
_ZIPPED = b"PK\x03\x04", b"PK\x05\x06"

_US_CENSUS_1990_SOURCE = "US Census Data (1990), UCI Machine Learning Repository; CC BY 4.0."
_FOURSQUARE_SOURCE = (
    "Global-scale Check-in Dataset of D. Yang et al. (Foursquare, April 2012 to September 2013), "
    "Manhattan; for use under its authors' terms."
)


def load_us_census_1990(
    path: str | PathLike[str], attributes: int = 4, *, expected_rows: int = 2_458_285
) -> Histogram:
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
    expected_rows : int, optional
        The number of people; the whole file's by default.

    Returns
    -------
    Histogram
        Over k = 400, 800, ..., 12,800 values.
    """
    path = checks.path(path, "path")
    expected_rows = checks.whole(expected_rows, "expected_rows", least=1)
    chosen = first_attributes(US_CENSUS_1990_ATTRIBUTES, attributes)
    lines = _lines(path, "USCensus1990.data.txt")
    first = next(lines, (1, b""))[1]
    header = first.split(b",")
    absent = [name for name in chosen if name.encode() not in header]
    if absent:
        expected = f"a header with {', '.join(chosen)}"
        raise _unexpected(path, 1, expected, f"no {', '.join(absent)} in {_shown(first)}")
    pick = itemgetter(*(header.index(name.encode()) for name in chosen))
    codes = [{str(code).encode() for code in range(len(c))} for c in chosen.values()]

    people: Counter[tuple[bytes, ...]] = Counter()
    for number, line in lines:
        answers = line.split(b",")
        if len(answers) != len(header):
            got = f"{len(answers)} in {_shown(line)}"
            raise _unexpected(path, number, f"{len(header)} fields", got)
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
        (gzip, or zip with a file of that name or a single one; one archive may hold both), whatever
        the paths end in.
    expected_venues, expected_checkins, expected_in_manhattan : int, optional
        The numbers of venues, of check-ins, and of check-ins in the grid; those of the whole files
        by default.

    Returns
    -------
    GridHistogram
        Over k = 625 cells.
    """
    pois_path = checks.path(pois_path, "pois_path")
    checkins_path = checks.path(checkins_path, "checkins_path")
    venues = checks.whole(expected_venues, "expected_venues", least=1)
    checkins = checks.whole(expected_checkins, "expected_checkins", least=1)
    in_manhattan = checks.whole(expected_in_manhattan, "expected_in_manhattan", least=1)
    places: dict[bytes, tuple[int, str]] = {}
    number = 0
    for number, line in _lines(pois_path, "dataset_TIST2015_POIs.txt"):
        cell, venue, category = _venue(pois_path, number, line)
        if cell is not None:
            places[venue] = cell, category
    _check_total(pois_path, number, venues, "venues")

    visits: Counter[bytes] = Counter()
    patients: defaultdict[int, dict[bytes, set[bytes]]] = defaultdict(dict)  # by cell and venue
    hospital_cells: set[int] = set()
    number = 0
    for number, line in _lines(checkins_path, "dataset_TIST2015_Checkins.txt"):
        checkin = line.split(b"\t")
        if len(checkin) != 4:
            got = f"{len(checkin)} in {_shown(line)}"
            raise _unexpected(checkins_path, number, "4 tab-separated fields", got)
        user, venue = checkin[:2]
        if venue in places:
            visits[venue] += 1
            cell, category = places[venue]
            if category == "Hospital" and cell not in hospital_cells:
                users = patients[cell].setdefault(venue, set())
                users.add(user)
                if len(users) == ENOUGH_PATIENTS:
                    hospital_cells.add(cell)
                    del patients[cell]
    _check_total(checkins_path, number, checkins, "check-ins")
    _check_total(checkins_path, visits.total(), in_manhattan, "check-ins in Manhattan")

    return GridHistogram.from_places(
        ((cell, category, visits[venue]) for venue, (cell, category) in places.items()),
        hospital_cells,
        _FOURSQUARE_SOURCE,
    )


def _venue(path: str | PathLike[str], number: int, line: bytes) -> tuple[int | None, bytes, str]:
    venue = line.split(b"\t")
    if len(venue) != 5:
        got = f"{len(venue)} in {_shown(line)}"
        raise _unexpected(path, number, "5 tab-separated fields", got)
    try:
        latitude = float(venue[1])
        longitude = float(venue[2])
    except ValueError:
        latitude = longitude = math.nan
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        expected = "a latitude in -90..90 and a longitude in -180..180"
        raise _unexpected(path, number, expected, f"{_shown(venue[1])}, {_shown(venue[2])}")
    return manhattan_cell(latitude, longitude), venue[0], venue[3].decode("latin-1")


def _lines(path: str | PathLike[str], member: str) -> Iterator[tuple[int, bytes]]:
    with ExitStack() as stack:
        try:
            for number, line in enumerate(_open(Path(path), member, stack), start=1):
                yield number, line.rstrip(b"\r\n")
        except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as why:
            raise ValueError(f"{path}: it cannot be unpacked: {why}") from None


def _open(path: Path, member: str, stack: ExitStack) -> Iterator[bytes]:
    file = stack.enter_context(path.open("rb"))
    start = file.peek(4)
    if start.startswith(_GZIPPED):
        return stack.enter_context(gzip.open(file))
    if not start.startswith(_ZIPPED):
        return file
    archive = stack.enter_context(zipfile.ZipFile(file))
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


def _shown(text: bytes) -> str:
    return repr(text[:80].decode("latin-1"))
