"""Time the Hadamard response (uHR) up to a million sensitive values, and measure its memory.

A million users with values of which half are sensitive, all values of a class equally frequent:
from the values to the reports, their tally and the estimate; the tally of a billion users is
simulated. Times are those on the clock, medians of five runs. Memory is the most that NumPy and
Python held at once during a run, beyond the values or reports that it was given (tracemalloc).
"""

import argparse
import csv
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from speed import circumstances

from uldp import Domain, UtilityOptimizedHadamard
from uldp.paper.experiments.runs import commit
from uldp.survey.wire import wire_dtype

RESULTS = Path(__file__).parent / "results" / "hadamard.csv"
SIZES, NONSENSITIVE, USERS, SIMULATED = (10**3, 10**4, 10**5, 10**6), 1000, 10**6, 10**9
EPSILON, RUNS = 1.0, 5
COLUMNS = ("s", "columns", "bits", "bytes", "quantity", "users", "median_ms", "lowest_ms")
COLUMNS += ("highest_ms", "peak_mb")


def measured(action: Callable[[], Any]) -> tuple[list[str], Any]:
    """Return median, least and largest milliseconds and memory, as texts, and the result."""
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        action()
        times.append(1e3 * (perf_counter() - start))
    tracemalloc.start()
    result = action()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    found = (median(times), min(times), max(times))
    return [*(f"{one:.3g}" for one in found), f"{peak / 1e6:.1f}"], result


def rows_of(s: int) -> list[list[str]]:
    """Return the rows of a number of sensitive values."""
    mechanism = UtilityOptimizedHadamard(Domain(s + NONSENSITIVE, range(s)), EPSILON)
    rng = np.random.default_rng(s)
    truth = np.append(np.full(s, 0.5 / s), np.full(NONSENSITIVE, 0.5 / NONSENSITIVE))
    values = rng.choice(truth.size, size=USERS, p=truth)
    many = rng.multinomial(SIMULATED, truth)
    reporting, reports = measured(lambda: mechanism.privatize(values, rng))
    tallying, tally = measured(lambda: mechanism.tally(reports))
    estimating, estimate = measured(lambda: mechanism.estimate(tally))
    simulating, _ = measured(lambda: mechanism.simulate(many, rng))
    error = ((estimate - truth) ** 2).sum() / mechanism.l2_loss(truth, USERS)
    if abs(error - 1) > 0.2:
        raise ValueError(f"the error must be as forecast, got {error} times that")
    bits = (mechanism.output_count - 1).bit_length()
    facts = [str(s), str(mechanism.order), str(bits), str(wire_dtype(mechanism).itemsize)]
    timed = {"privatize": reporting, "tally": tallying, "estimate": estimating}
    rows = [[*facts, name, str(USERS), *found] for name, found in timed.items()]
    return [*rows, [*facts, "simulate", str(SIMULATED), *simulating]]


def main() -> int:
    """Write the table, or with --quick print that of the two smallest sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sizes, nothing is stored")
    quick = parser.parse_args().quick
    rows = [row for s in (SIZES[:2] if quick else SIZES) for row in rows_of(s)]
    _, machine, versions, _ = circumstances()
    lines = [
        f"# python benchmarks/hadamard.py; {commit()}",
        f"# {machine}",
        f"# {', '.join(versions.split(', ')[:2])}",
        f"# load average {os.getloadavg()[0]:.1f}; epsilon = {EPSILON}; medians of {RUNS} runs",
    ]
    with sys.stdout if quick else RESULTS.open("w", encoding="utf-8") as file:
        print(*lines, sep="\n", file=file)
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
