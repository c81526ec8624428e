"""Time the collector on files and on messages; exit with 1 if a report is lost or repeated.

Up to 10^8 reports lie in files of a million each, in a temporary folder (0.5 GB) that is deleted;
of 10^6 messages one in a hundred is garbage. Seconds are those on the clock with a cluster that has
started and files that have just been written; CPU seconds are those of all its processes. Once
among files and once among messages, one of two workers is killed halfway.
"""

import argparse
import csv
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from math import isnan, nan
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Timer
from time import perf_counter, process_time

import dask
import numpy as np
from distributed import Client
from speed import circumstances

from uldp import Mechanism, Survey, Tallies, Tally, UtilityOptimizedRappor, UtilityOptimizedRR
from uldp.paper.datasets import census
from uldp.paper.experiments.runs import commit
from uldp.survey.parquet import tally_files, write_reports
from uldp.survey.wire import IS_CUT

HERE = Path(__file__).parent
CENSUS = census()
EPSILON = 1.0
MECHANISMS: dict[str, Mechanism] = {
    "uRR": UtilityOptimizedRR(CENSUS.domain, EPSILON),
    "uRAP": UtilityOptimizedRappor(CENSUS.domain, EPSILON),
}
SURVEY, FOREIGN = (Survey(name, MECHANISMS) for name in ("scale", "another survey"))
RUNS = 3
COLUMNS = (
    *("series", "mechanism", "k", "s", "epsilon", "workers", "parts", "reports", "bytes"),
    *("seconds", "fastest", "slowest", "cpu_seconds", "peak_mb", "complete"),
)
WIDTHS = (18, 5, 3, 3, 3, 2, 7, 10, 11, 8, 8, 8, 8, 6, 3)
Row = list[str]
Run = tuple[float, float, bool]
"""Seconds, CPU seconds, and whether every report was counted once."""


@dataclass(frozen=True)
class Sizes:
    """How large the cases are.

    Attributes
    ----------
    per_file
        Reports in a file.
    files
        Numbers of files, increasing, by mechanism.
    messages
        How many messages of one report are read, of each mechanism.
    mixed
        How many messages of both are read, the garbage among them.
    """

    per_file: int
    files: dict[str, tuple[int, ...]]
    messages: int
    mixed: int


FULL = Sizes(10**6, {"uRR": (1, 10, 100), "uRAP": (1, 10, 30)}, 10**5, 10**6)
QUICK = Sizes(10**3, {"uRR": (1, 10), "uRAP": (1, 3)}, 10**3, 10**4)


@dataclass(frozen=True)
class Files:
    """Files of one mechanism, and for each number of first files what is in them."""

    name: str
    paths: list[Path]
    tallies: list[Tally]

    @classmethod
    def write(cls, name: str, sizes: Sizes, folder: Path) -> "Files":
        """Write reports of users drawn from the census frequencies."""
        mechanism, rng = MECHANISMS[name], np.random.default_rng(1)
        paths, tallies = [], []
        for number in range(sizes.files[name][-1]):
            users = rng.multinomial(sizes.per_file, CENSUS.frequencies)
            values = rng.permutation(np.repeat(np.arange(mechanism.domain.size), users))
            reports = mechanism.privatize(values, rng, indices=True)
            paths.append(folder / f"{name}-{number}.parquet")
            write_reports(SURVEY, name, reports, paths[-1])
            tallies.append(sum(tallies[-1:], mechanism.tally(reports)))
        return cls(name, paths, tallies)

    def run(self, first: int, client: Client) -> Run:
        """Tally the first files."""
        start, cpu = perf_counter(), cpu_seconds(client)
        found, left_out = tally_files(SURVEY, self.paths[:first], client)
        seconds = perf_counter() - start
        complete = found[self.name] == self.tallies[first - 1] and not left_out
        return seconds, cpu_seconds(client) - cpu, complete

    def run_and_kill(self, client: Client, after: float) -> Run:
        """Tally all files while a worker is killed after so many seconds, and its CPU time lost."""
        with one_killed(client, after) as death:
            start = perf_counter()
            found, _ = tally_files(SURVEY, self.paths, client)
            seconds, in_time = perf_counter() - start, not death.is_alive()
        return seconds, nan, in_time and found[self.name] == self.tallies[-1]

    def sizes(self, first: int) -> tuple[int, int, int]:
        """Return how many the first files are, their reports and their bytes."""
        return first, self.tallies[first - 1].n, sum(p.stat().st_size for p in self.paths[:first])


def as_row(
    series: str,
    name: str,
    workers: int,
    sizes: tuple[int, int, int],
    runs: list[Run],
    peak: float = nan,
) -> Row:
    """Return a line of the table; what was not measured is left empty."""
    seconds, cpu, complete = zip(*runs, strict=True)
    numbers = [median(seconds), min(seconds), max(seconds), median(cpu), peak]
    return [
        *(series, name, str(CENSUS.domain.size), str(CENSUS.domain.sensitive.size), f"{EPSILON:g}"),
        *map(str, (workers, *sizes)),
        *("" if isnan(number) else f"{number:.4g}" for number in numbers),
        "yes" if all(complete) else "NO",
    ]


@contextmanager
def one_killed(client: Client, after: float) -> Iterator[Timer]:
    """Kill a worker after so many seconds, and wait for that at the end."""
    worker = min(client.run(os.getpid).values())
    death = Timer(after, os.kill, (worker, signal.SIGKILL))
    death.start()
    yield death
    death.join()


def local_client(workers: int) -> Client:
    """Start a cluster on this machine, to which whoever has an account here can connect.

    By default Dask lets the C library return every freed megabyte to the system at once, and
    fetching it again for each part of a file would take longer than counting.
    """
    environment = "distributed.nanny.pre-spawn-environ"
    keep = {"MALLOC_MMAP_THRESHOLD_": 1 << 22, "MALLOC_TRIM_THRESHOLD_": 1 << 24}
    with dask.config.set({f"{environment}.{name}": size for name, size in keep.items()}):
        one = {"threads_per_worker": 1, "processes": True, "host": "127.0.0.1"}
        return Client(n_workers=workers, dashboard_address="127.0.0.1:0", **one)


def cpu_seconds(client: Client) -> float:
    """Return the CPU seconds so far of the workers and of this process, which has the scheduler."""
    return sum(client.run(process_time).values()) + process_time()


def peak_memory() -> float:
    """Return this process's peak in MB from Linux (`resource` begins with the parent's)."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((float(line.split()[1]) / 1e3 for line in lines if "VmHWM" in line), nan)


def files_rows(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Yield the lines on files: by mechanism, workers and reports, and with a worker killed."""
    for name in MECHANISMS:
        files = Files.write(name, sizes, folder)
        for workers in (1, 2):
            with local_client(workers) as client:
                tally_files(SURVEY, files.paths[:2], client)
                for first in sizes.files[name]:
                    runs = [files.run(first, client) for _ in range(RUNS)]
                    peak = max(client.run(peak_memory).values())
                    yield as_row("files", name, workers, files.sizes(first), runs, peak)
                if (name, workers) == ("uRR", 2):
                    runs = [files.run_and_kill(client, median(run[0] for run in runs) / 2)]
                    yield as_row("one worker killed", name, workers, files.sizes(first), runs)


def message_rows(messages: int) -> Iterator[Row]:
    """Yield the lines on messages of one report each, read and tallied by this process."""
    for name, mechanism in MECHANISMS.items():
        values = np.random.default_rng(1).choice(400, size=messages, p=CENSUS.frequencies)
        reports = mechanism.privatize(values, 2, indices=True)
        sent = [SURVEY.message(name, report) for report in reports]
        runs: list[Run] = []
        for _ in range(RUNS):
            start, cpu = perf_counter(), process_time()
            tally = SURVEY.read(sent).tallies[name]
            times = perf_counter() - start, process_time() - cpu
            runs.append((*times, tally == mechanism.tally(reports)))
        yield as_row("messages", name, 1, (messages, messages, sum(map(len, sent))), runs)


@dataclass(frozen=True)
class Stream:
    """Files of messages in a row, and the tallies of those that are not garbage."""

    paths: list[Path]
    tallies: Tallies
    garbage: int

    @classmethod
    def write(cls, messages: int, folder: Path) -> "Stream":
        """Write a hundred files of messages, of both questions and one in a hundred spoiled."""
        rng = np.random.default_rng(3)
        values = rng.choice(CENSUS.domain.size, size=messages, p=CENSUS.frequencies)
        asked, spoiled = rng.random(messages) < 0.5, rng.random(messages) < 0.01
        reports = {
            name: one.privatize(values, rng, indices=True) for name, one in MECHANISMS.items()
        }
        tallies = {
            name: one.tally(reports[name][(asked == first) & ~spoiled])
            for (name, one), first in zip(MECHANISMS.items(), (True, False), strict=True)
        }
        paths = []
        for number, part in enumerate(np.array_split(np.arange(messages), 100)):
            paths.append(folder / f"messages-{number}")
            with paths[-1].open("wb") as file:
                for place in part:
                    name = "uRR" if asked[place] else "uRAP"
                    message = SURVEY.message(name, reports[name][place])
                    if spoiled[place]:
                        others = reports[name][[place, place - 1]]
                        message = spoil(message, FOREIGN.message(name, others[0]), rng)
                    file.write(message)
        return cls(paths, Tallies(SURVEY, tallies), int(spoiled.sum()))

    def run(self, client: Client) -> Run:
        """Read all files, each on a worker."""
        start, cpu = perf_counter(), cpu_seconds(client)
        found = tally_files(SURVEY, self.paths, client)
        seconds = perf_counter() - start
        return seconds, cpu_seconds(client) - cpu, self.is_complete(*found)

    def run_and_kill(self, client: Client, after: float) -> Run:
        """Read all files while a worker is killed after so many seconds, and its CPU time lost."""
        with one_killed(client, after) as death:
            start = perf_counter()
            found = tally_files(SURVEY, self.paths, client)
            seconds, in_time = perf_counter() - start, not death.is_alive()
        return seconds, nan, in_time and self.is_complete(*found)

    def is_complete(self, tallies: Tallies, left_out: dict[str, Counter[str]]) -> bool:
        """Tell whether each report was counted once; garbage in a row may be one piece."""
        refused = sum(reasons.total() - reasons[IS_CUT] for reasons in left_out.values())
        return tallies == self.tallies and 0 < refused <= self.garbage


def spoil(message: bytes, foreign: bytes, rng: np.random.Generator) -> bytes:
    """Return what is no message of the survey: cut off, damaged, noise, or of another survey."""
    match rng.integers(4):
        case 0:
            return message[: rng.integers(10, len(message))]
        case 1:
            damaged = bytearray(message)
            damaged[rng.integers(len(message))] ^= 1 << rng.integers(8)
            return bytes(damaged)
        case 2:
            return rng.bytes(len(message))
        case _:
            return foreign


def mixed_rows(messages: int, folder: Path) -> Iterator[Row]:
    """Yield the lines on messages with garbage among them, at last with a worker killed."""
    stream = Stream.write(messages, folder)
    reports = sum(tally.n for tally in stream.tallies.values())
    sizes = messages, reports, sum(path.stat().st_size for path in stream.paths)
    for workers in (1, 2):
        with local_client(workers) as client:
            tally_files(SURVEY, stream.paths[:2], client)
            runs = [stream.run(client) for _ in range(RUNS)]
            peak = max(client.run(peak_memory).values())
            yield as_row("mixed messages", "both", workers, sizes, runs, peak)
            if workers == 2:
                runs = [stream.run_and_kill(client, median(run[0] for run in runs) / 2)]
                yield as_row("mixed, one killed", "both", workers, sizes, runs)


def main() -> int:
    """Measure, print and, at full size, store the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, not stored")
    sizes = QUICK if parser.parse_args().quick else FULL
    loads, rows = [os.getloadavg()[0]], []
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for lines in (
            message_rows(sizes.messages),
            mixed_rows(sizes.mixed, home),
            files_rows(sizes, home),
        ):
            for row in lines:
                print("  ".join(map(str.ljust, row, WIDTHS)), flush=True)
                rows.append(row)
                loads.append(os.getloadavg()[0])
    if sizes is FULL:
        machine = circumstances()[1]
        packages = ("uldp", "numpy", "distributed", "pyarrow")
        versions = ", ".join(f"{package}=={version(package)}" for package in packages)
        load = f"load average {min(loads):.1f} to {max(loads):.1f}, other work included"
        about = f"medians of {RUNS} runs; files read from the system's cache"
        header = [f"python benchmarks/scale.py; {commit()}", machine, versions, load, about]
        with (HERE / "results" / "scale.csv").open("w", newline="") as file:
            file.writelines(f"# {line}\n" for line in header)
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return int(any("NO" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
