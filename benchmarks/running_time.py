"""Time maximum likelihood at the paper's largest size; exit with 1 if a target is missed.

Times are CPU seconds with one thread, on an idle machine seconds; those "on the clock" are seconds
with all cores.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numba
import numpy as np
from speed import circumstances, python_of_others
from threadpoolctl import threadpool_limits

from uldp import Mechanism, RandomizedResponse, Rappor, UtilityOptimizedRappor, UtilityOptimizedRR
from uldp._numerics import passes
from uldp._numerics.chunks import chunks
from uldp._numerics.packed import PackedSets
from uldp.likelihood import em, log_likelihood, maximum_likelihood
from uldp.paper.datasets import census
from uldp.paper.experiments.runs import commit

HERE = Path(__file__).parent
FAMILIES: dict[str, type[Mechanism]] = {
    "RR": RandomizedResponse,
    "uRR": UtilityOptimizedRR,
    "uRAP": UtilityOptimizedRappor,
    "RAPPOR": Rappor,
}
EPSILON = 6.0
AT_CERTIFICATE = 1e-4
TOLERANCES = (AT_CERTIFICATE, 1e-6)
FINEST = TOLERANCES[-1]
TARGETS = {"RR": "<= 0.1", "uRR": "<= 0.1", "uRAP": "<= 1", "RAPPOR": "<= 10"}
FASTER_TARGET = ">= 5"
PASSES_TARGETS = {1.0: "<= 10", 6.0: "<= 20"}
MEMORY_TARGET = "<= 4"
RUNS, SECONDS_FOR_RUNS = 5, 10
FEW_STEPS = 100
ENTRIES_AT_ONCE = 1 << 20
SMALLEST_CHANGES = (1e-3, 1e-4)
"""The rules by which EM is ended: after a step that changes p by no more than this in l1."""

COLUMNS = (
    *("series", "mechanism", "k", "s", "n", "epsilon", "quantity", "tolerance"),
    *("value", "lowest", "highest", "unit", "target", "met"),
)
WIDTHS = (13, 6, 5, 4, 6, 3, 45, 6, 10, 10, 10, 15, 6, 3)
Runs = list[float]
Row = list[str]


@dataclass(frozen=True)
class Sizes:
    """How large the cases are: pairs are of attributes and users.

    Attributes
    ----------
    table
        The case of the paper's table.
    by_k, by_n, by_epsilon
        The cases and budgets at which growth is shown; `by_epsilon` is of the case `at_epsilons`.
    passes
        The case of RAPPOR at which passes have a target, by ε.
    others
        The cases, with the most steps, at which the other library's EM runs.
    """

    table: tuple[int, int]
    by_k: tuple[tuple[int, int], ...]
    by_n: tuple[tuple[int, int], ...]
    by_epsilon: tuple[float, ...]
    at_epsilons: tuple[int, int]
    passes: tuple[int, int]
    others: tuple[tuple[tuple[int, int], int], ...]


FULL = Sizes(
    table=(9, 240_000),
    by_k=tuple((attributes, 20_000) for attributes in range(4, 10)),
    by_n=((4, 10_000), (4, 40_000), (4, 160_000), (4, 640_000)),
    by_epsilon=(0.1, 0.5, 1, 2, 4, 6, 8, 10),
    at_epsilons=(4, 50_000),
    passes=(9, 60_000),
    others=(((4, 240_000), 10_000), ((9, 240_000), FEW_STEPS)),
)
QUICK = Sizes(
    table=(4, 2_000),
    by_k=((4, 500), (5, 500)),
    by_n=((4, 500), (4, 1_000)),
    by_epsilon=(1, 6),
    at_epsilons=(4, 500),
    passes=(4, 2_000),
    others=(),
)


class Case:
    """Reports of users drawn from the census frequencies, and the lines of the table on them."""

    def __init__(self, series: str, name: str, size: tuple[int, int], epsilon: float = EPSILON):
        attributes, n = size
        histogram = census(attributes)
        self.series, self.name, self.n = series, name, n
        self.mechanism = FAMILIES[name](histogram.domain, epsilon)
        self.truth = histogram.frequencies
        values = np.random.default_rng(1).choice(self.truth.size, size=n, p=self.truth)
        self.reports = self.mechanism.privatize(values, 2, indices=True)
        self.to_evidence, self.evidence = timed(self.mechanism.evidence, self.reports)

    def row(
        self,
        quantity: str,
        runs: Runs,
        unit: str,
        tolerance: float | None = None,
        target: str = "",
    ) -> Row:
        """Return a line of the table, with the median of the runs; a target is "<= x" or ">= x"."""
        domain, value, met = self.mechanism.domain, median(runs), ""
        if target:
            sign = 1 if target.startswith("<=") else -1
            met = "yes" if sign * value <= sign * float(target[3:]) else "NO"
        sizes = domain.size, domain.sensitive.size, self.n
        return [
            *(self.series, self.name, *map(str, sizes), f"{self.mechanism.epsilon:g}", quantity),
            "" if tolerance is None else f"{tolerance:g}",
            *(f"{x:.4g}" for x in (value, min(runs), max(runs))),
            *(unit, target, met),
        ]

    def climb(self, tolerance: float, most_passes: str = "") -> Iterator[Row]:
        """Yield the lines on maximum likelihood from the evidence."""
        runs, found = timed(maximum_likelihood, self.evidence, tolerance)
        yield self.row("maximum likelihood", runs, "s", tolerance)
        yield self.row("passes", [found.passes], "passes", tolerance, most_passes)
        yield self.row("certificate", [found.certificate], "nats per report", tolerance)
        yield self.row("certificate times n", [self.n * found.certificate], "nats", tolerance)

    def on_the_clock(self, target: str) -> Iterator[Row]:
        """Yield the line on maximum likelihood from the evidence, on all cores."""
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
        runs, _ = timed(maximum_likelihood, self.evidence, FINEST, clock=perf_counter)
        numba.set_num_threads(1)
        yield self.row("maximum likelihood, on the clock", runs, "s", FINEST, target)

    def without_likelihood(self) -> Iterator[Row]:
        """Yield the lines on the estimates that need only counts, from the reports."""
        for method in ("empirical", "threshold"):
            runs, _ = timed(self.mechanism.estimate, self.reports, method)
            yield self.row(f"{method} from the reports", runs, "s")

    def one_pass(self) -> Iterator[Row]:
        """Yield the lines on one pass over the sets, which is a step of EM, and on its floor."""
        if self.evidence.sets is None:
            return
        k = self.mechanism.domain.size
        uniform = np.full(k, 1 / k)
        yield self.row("one pass", timed(em, self.evidence, uniform, 1)[0], "s")
        climbing, _ = timed(log_likelihood, self.evidence, uniform)
        yield self.row("one pass with curvature", climbing, "s")
        with patch.object(passes, "_compiled", lambda: None):
            in_numpy, _ = timed(em, self.evidence, uniform, 1)
        yield self.row("one pass in NumPy", in_numpy, "s")
        yield self.row("reading the sets once", timed(read, self.evidence.sets)[0], "s")
        yield self.row("size of the sets", [self.evidence.sets.nbytes / 1e6], "MB")

    def dense(self) -> Iterator[Row]:
        """Yield the line on one step of dense EM."""
        k = self.mechanism.domain.size
        step = dense_em(self.mechanism, self.reports)
        runs, after = timed(step, np.full(k, 1 / k))
        np.testing.assert_allclose(after, em(self.evidence, np.full(k, 1 / k), 1), rtol=1e-9)
        yield self.row("one step of dense EM", runs, "s")

    def em_from_threshold(self) -> Iterator[Row]:
        """Yield the lines on EM from the estimate with threshold, as the paper starts it."""
        best = maximum_likelihood(self.evidence, FINEST).p
        largest = log_likelihood(self.evidence, best)
        p = self.mechanism.estimate(self.reports, "threshold")
        steps, seconds, change = 0, 0.0, np.inf
        for rule in SMALLEST_CHANGES:
            while change > rule:
                runs, after = timed(em, self.evidence, p, 1, most=1)
                change = np.abs(after - p).sum()
                p = after
                steps += 1
                seconds += runs[0]
            below = largest - log_likelihood(self.evidence, p)
            yield self.row("steps of EM", [steps], "steps", rule)
            yield self.row("EM", [seconds], "s", rule)
            yield self.row("log-likelihood below the largest", [below], "nats", rule)
            yield self.row("TV", [np.abs(p - self.truth).sum() / 2], "", rule)

    def other_library(self, most_steps: int) -> Iterator[Row]:
        """Yield the lines on the EM of multi-freq-ldpy and on uldp, both from the reports."""
        runs, found = timed(self.mechanism.maximum_likelihood, self.reports, AT_CERTIFICATE)
        yield self.row("uldp from the reports", runs, "s", AT_CERTIFICATE)
        options = self.mechanism.domain.size, self.mechanism.epsilon, most_steps
        call = [python_of_others(), str(HERE / "ibu.py"), self.name, *map(str, options)]
        one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
        answer = subprocess.check_output(call, input=self.reports.tobytes(), env=one_thread)
        taken, estimate = json.loads(answer)
        yield self.row(f"multi-freq-ldpy, at most {most_steps:,} steps", [taken], "s")
        faster = [taken / median(runs)]
        target = FASTER_TARGET if most_steps > FEW_STEPS else ""
        yield self.row("multi-freq-ldpy's time over uldp's", faster, "", target=target)
        theirs = np.array(estimate) / np.sum(estimate)
        below = log_likelihood(self.evidence, found.p) - log_likelihood(self.evidence, theirs)
        yield self.row("multi-freq-ldpy's log-likelihood below uldp's", [below], "nats")
        for library, p in (("uldp", found.p), ("multi-freq-ldpy", theirs)):
            yield self.row(f"TV of {library}", [np.abs(p - self.truth).sum() / 2], "")


def em_as_in_the_paper(sizes: Sizes) -> Iterator[Row]:
    """Yield the lines on EM at the size of the paper's table."""
    for name in FAMILIES:
        yield from Case("EM", name, sizes.table).em_from_threshold()


def timed(
    job: Callable[..., Any],
    *arguments: Any,
    clock: Callable[[], float] = process_time,
    most: int = RUNS,
) -> tuple[Runs, Any]:
    """Return the times of up to 5 calls, fewer if they take long, and the last result."""
    runs: Runs = []
    while len(runs) < most and sum(runs) < SECONDS_FOR_RUNS:
        start = clock()
        result = job(*arguments)
        runs.append(clock() - start)
    return runs, result


def read(sets: np.ndarray) -> int:
    """Read every byte once, in words of eight."""
    return int(np.bitwise_or.reduce(sets.ravel()[: sets.size // 8 * 8].view(np.uint64)))


def dense_em(mechanism: Mechanism, reports: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a step of EM as one writes it down, with the matrix of all likelihoods.

    For RR and uRR these are the columns of Q; for RAPPOR and uRAP the rows are the users', made
    block by block, because all of them would fill 25 GB at the size of the table.
    """
    n, order = len(reports), np.concatenate([mechanism.sensitive, mechanism.nonsensitive])
    if reports.ndim == 1:
        counts, matrix = mechanism.tally(reports).counts, mechanism._matrix()
        return lambda p: p * (matrix @ (counts / (p @ matrix))) / n

    def step(p: np.ndarray) -> np.ndarray:
        gradient = np.zeros(order.size)
        for block in chunks(n, max(1, ENTRIES_AT_ONCE // order.size)):
            rows = likelihoods(mechanism, reports[block])
            gradient += (1 / (rows @ p[order])) @ rows
        after = np.empty_like(p)
        after[order] = p[order] * gradient / n
        return after

    return step


def likelihoods(mechanism: Mechanism, reports: np.ndarray) -> np.ndarray:
    """Return each report's likelihood by value, up to a factor, the sensitive values first."""
    s, k = mechanism.sensitive.size, mechanism.domain.size
    width = -(-s // 8)
    rows = np.ones((len(reports), k))
    rows[:, :s] += np.expm1(mechanism.epsilon) * PackedSets(s).unpack(reports[:, :width])
    revealed = reports[:, width:] @ 256 ** np.arange(reports.shape[1] - width)
    users = np.flatnonzero(revealed)
    rows[users] = 0
    rows[users, s + revealed[users] - 1] = 1
    return rows


def table(sizes: Sizes) -> Iterator[Row]:
    """Yield the lines at the size of the paper's table: ours first, for the peak of memory."""
    cases = [Case("table", name, sizes.table) for name in FAMILIES]
    for case in cases:
        yield from case.without_likelihood()
        yield case.row("evidence from the reports", case.to_evidence, "s")
        for tolerance in TOLERANCES:
            yield from case.climb(tolerance)
        yield from case.on_the_clock(TARGETS[case.name])
        yield from case.one_pass()
    yield cases[-1].row("peak of memory", [peak_memory()], "GB", target=MEMORY_TARGET)
    for case in cases:
        yield from case.dense()


def growth(sizes: Sizes) -> Iterator[Row]:
    """Yield the lines on how the time grows with k, n and ε."""
    by_size = [("by k", size, EPSILON) for size in sizes.by_k]
    by_size += [("by n", size, EPSILON) for size in sizes.by_n]
    by_size += [("by epsilon", sizes.at_epsilons, epsilon) for epsilon in sizes.by_epsilon]
    for series, size, epsilon in by_size:
        for name in FAMILIES:
            case = Case(series, name, size, epsilon)
            yield from case.climb(AT_CERTIFICATE)
            yield from case.one_pass()


def everything(sizes: Sizes) -> Iterator[Row]:
    """Yield all lines."""
    yield from table(sizes)
    yield from growth(sizes)
    for epsilon, target in PASSES_TARGETS.items():
        full = target if sizes is FULL else ""
        yield from Case("passes", "RAPPOR", sizes.passes, epsilon).climb(FINEST, full)
    for size, most_steps in sizes.others:
        for name in ("RR", "RAPPOR"):
            yield from Case("other library", name, size).other_library(most_steps)


def peak_memory() -> float:
    """Return the peak of this process so far in GB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e9 if sys.platform == "darwin" else 1e9 / 1024)


def main() -> int:
    """Measure, print and, at full size, store the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, not stored")
    parser.add_argument(
        "--em", action="store_true", help="EM as the paper ran it, and nothing else"
    )
    chosen = parser.parse_args()
    sizes = QUICK if chosen.quick else FULL
    lines = em_as_in_the_paper if chosen.em else everything
    loads, rows = [os.getloadavg()[0]], []
    numba.set_num_threads(1)
    with threadpool_limits(1):
        for row in lines(sizes):
            print("  ".join(map(str.ljust, row, WIDTHS)), flush=True)
            rows.append(row)
            loads.append(os.getloadavg()[0])
    if sizes is FULL:
        _, machine, versions, _ = circumstances()
        cores = numba.config.NUMBA_NUM_THREADS
        load = f"load average {min(loads):.1f} to {max(loads):.1f}"
        load = f"CPU seconds with one thread, {cores} on the clock; {load}"
        command = " ".join(["python benchmarks/running_time.py", *sys.argv[1:]])
        header = [f"{command}, {date.today()}; {commit()}", machine, versions, load]
        name = "running_time_em.csv" if chosen.em else "running_time.csv"
        with (HERE / "results" / name).open("w", newline="") as file:
            file.writelines(f"# {line}\n" for line in header)
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return int(any("NO" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
