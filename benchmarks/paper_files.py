"""Run every figure on files of the format of the paper's, with made-up people; time and memory.

The files have 10^5 and 10^6 lines each and lie in a temporary folder (0.3 GB) that is deleted. Each
measurement is a process of its own. It exits with 1 if a count differs from what was written, or if
ten times the lines take more than 5 MB more. Figures are run with `--quick`, 1,000 users.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from datetime import date
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from speed import circumstances

from uldp.__main__ import main as uldp
from uldp.paper import datasets
from uldp.paper.datasets import GridHistogram, Histogram, paper_files
from uldp.paper.experiments import FIGURES
from uldp.paper.experiments.runs import commit

HERE = Path(__file__).parent
FULL, QUICK = (10**5, 10**6), (3_000,)
MOST_GROWTH = 5.0  # MB
VENUES = 20_000  # in Manhattan, whatever the number of lines
CENSUS, POIS, CHECKINS = (
    "USCensus1990.data.txt",
    "dataset_TIST2015_POIs.txt",
    "dataset_TIST2015_Checkins.txt",
)
OTHER_ATTRIBUTES = 59
COLUMNS = ("what", "lines", "bytes", "cpu_seconds", "peak_mb")
WIDTHS = (20, 8, 10, 8, 6)
READERS = ("census, 4 attributes", "census, 9 attributes", "check-ins")
TABLES = tuple(dict.fromkeys(FIGURES.values()))


def write_census(path: Path, lines: int, rng: np.random.Generator) -> np.ndarray:
    """Write people drawn from the shipped census, and return how many hold each value."""
    shipped = datasets.census(9)
    values = rng.choice(shipped.counts.size, size=lines, p=shipped.frequencies)
    names = list(datasets.US_CENSUS_1990_ATTRIBUTES)
    sizes = [len(categories) for categories in datasets.US_CENSUS_1990_ATTRIBUTES.values()]
    codes = np.stack(np.unravel_index(np.arange(shipped.counts.size), sizes), axis=1)
    rest = ",0" * OTHER_ATTRIBUTES
    endings = [",".join(map(str, row)) + rest for row in codes.tolist()]
    with path.open("w") as file:
        others = (f"x{i}" for i in range(OTHER_ATTRIBUTES))
        file.write(",".join(["caseid", *names, *others]) + "\n")
        file.writelines(f"{case},{endings[value]}\n" for case, value in enumerate(values.tolist()))
    return np.bincount(values, minlength=shipped.counts.size)


def write_foursquare(folder: Path, lines: int, rng: np.random.Generator) -> np.ndarray:
    """Write venues and check-ins, half of these in Manhattan, and return how many in each cell.

    The hospitals are those of the shipped check-ins, with twelve users each, and a last one with
    nine who come twice.
    """
    grid = datasets.manhattan()
    inside = min(VENUES, lines // 2)
    hospitals = np.append(grid.hospital_cells, grid.domain.nonsensitive[0])
    others = rng.choice(grid.counts.size, size=inside - hospitals.size, p=grid.frequencies)
    cells = np.concatenate([hospitals, others])
    categories = ["Hospital"] * hospitals.size
    categories += rng.choice(["Home (private)", "Office", "Bar"], size=others.size).tolist()
    rows, columns = np.divmod(cells, grid.shape[1])
    latitudes = (40.702 + 0.004 * rows).tolist()
    longitudes = (-74.0376 + 0.0048 * columns).tolist()
    with (folder / POIS).open("w") as file:
        for venue, place in enumerate(zip(latitudes, longitudes, categories, strict=True)):
            latitude, longitude, category = place
            file.write(f"v{venue}\t{latitude:.6f}\t{longitude:.6f}\t{category}\tUS\n")
        file.writelines(f"v{venue}\t35.7\t139.7\tBar\tJP\n" for venue in range(inside, lines))
    visited = rng.integers(hospitals.size, inside, size=lines)
    visited[rng.random(lines) < 0.5] = inside  # elsewhere
    users = rng.integers(100_000, size=lines)
    patients = [np.arange(12)] * grid.hospital_cells.size + [np.arange(18) % 9]
    times = [len(each) for each in patients]
    visited[: sum(times)] = np.repeat(np.arange(hospitals.size), times)
    users[: sum(times)] = np.concatenate(patients)
    with (folder / CHECKINS).open("w") as file:
        for user, venue in zip(users.tolist(), visited.tolist(), strict=True):
            file.write(f"{user}\tv{venue}\tTue Apr 03 18:00:06 +0000 2012\t-240\n")
    return np.bincount(cells[visited[visited < inside]], minlength=grid.counts.size)


def write(folder: Path, lines: int) -> dict[str, list[int]]:
    """Write all files, and return the counts of the people and of the check-ins in Manhattan."""
    rng = np.random.default_rng(1)
    return {
        "census": write_census(folder / CENSUS, lines, rng).tolist(),
        "cells": write_foursquare(folder, lines, rng).tolist(),
    }


def expect(lines: int, in_manhattan: int) -> None:
    """Let the loaders expect so many lines in place of the whole files'."""
    paper_files.TOTALS |= dict.fromkeys(("rows", "venues", "check-ins"), lines)
    paper_files.TOTALS["check-ins in Manhattan"] = in_manhattan


def read(what: str, folder: Path) -> Histogram | GridHistogram:
    """Read one of the data sets."""
    if what == "check-ins":
        return datasets.load_foursquare(folder / POIS, folder / CHECKINS)
    return datasets.load_us_census_1990(folder / CENSUS, int(what.split()[1]))


def measure(what: str, folder: Path, written: dict[str, list[int]]) -> dict[str, float]:
    """Read a data set, or make the table of a figure, and return what it took in this process."""
    lines = sum(written["census"])
    expect(lines, sum(written["cells"]))
    start = process_time()
    if what in READERS:
        found = read(what, folder)
        counts = np.array(written["cells" if what == "check-ins" else "census"])
        right = (counts.reshape(found.counts.size, -1).sum(axis=1) == found.counts).all()
    else:
        files = ["--us-census-1990", CENSUS, "--foursquare", POIS, CHECKINS]
        files = [str(folder / word) if word[0] != "-" else word for word in files]
        out = folder / f"{what}-{lines}"
        words = [what, "--quick", "--sampling", "halves", *files, "--jobs", "1", "--out", str(out)]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            right = uldp(["reproduce", *words]) == 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (1e6 if sys.platform == "darwin" else 1e3)
    return {"seconds": process_time() - start, "peak": megabytes, "right": bool(right)}


def in_a_process(*words: str, given: object = None) -> Any:
    """Return what this program prints; on Linux its peak begins with that of this process."""
    call = [sys.executable, __file__, *words]
    return json.loads(subprocess.check_output(call, input=json.dumps(given), text=True))


def everything(sizes: tuple[int, ...]) -> Iterator[tuple[list[str], bool]]:
    """Yield the lines of the table, each with whether it is as it should be."""
    smaller: dict[str, float] = {}
    for lines in sizes:
        with TemporaryDirectory() as name:
            written = in_a_process("--write", str(lines), name)
            paths = [Path(name) / file for file in (CENSUS, POIS, CHECKINS)]
            bytes_of = {path.name: path.stat().st_size for path in paths}
            for what in (*READERS, *TABLES):
                found = in_a_process("--measure", what, name, given=written)
                size = bytes_of[CENSUS] if what in READERS[:2] else sum(bytes_of.values())
                if what == "check-ins":
                    size -= bytes_of[CENSUS]
                grown = found["peak"] - smaller.setdefault(what, found["peak"])
                cells = [what, str(lines), str(size)]
                cells += [f"{found['seconds']:.3g}", f"{found['peak']:.1f}"]
                yield cells, found["right"] and grown <= MOST_GROWTH


def main() -> int:
    """Measure, print and, at full size, store the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small files, not stored")
    parser.add_argument("--write", nargs=2, metavar=("LINES", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "FOLDER"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.write:
        lines, folder = chosen.write
        print(json.dumps(write(Path(folder), int(lines))))
        return 0
    if chosen.measure:
        what, folder = chosen.measure
        print(json.dumps(measure(what, Path(folder), json.load(sys.stdin))))
        return 0
    loads, rows, failures = [os.getloadavg()[0]], [], 0
    for cells, fine in everything(QUICK if chosen.quick else FULL):
        print("  ".join(map(str.ljust, cells, WIDTHS)), "" if fine else "NO", flush=True)
        rows.append(cells)
        failures += not fine
        loads.append(os.getloadavg()[0])
    if not chosen.quick:
        _, machine, versions, _ = circumstances()
        load = f"CPU seconds; load average {min(loads):.1f} to {max(loads):.1f}"
        command = f"python benchmarks/paper_files.py, {date.today()}; {commit()}"
        header = [command, machine, versions, load]
        with (HERE / "results" / "paper_files.csv").open("w", newline="") as file:
            file.writelines(f"# {line}\n" for line in header)
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
