"""Compare the speed of uldp with two other libraries; exit with 1 if a target is missed."""

import argparse
import csv
import json
import platform
import resource
import subprocess
import sys
import time
import venv
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np

from uldp import Domain, Mechanism, RandomizedResponse, Rappor, UtilityOptimizedRappor
from uldp.paper.datasets import census
from uldp.paper.experiments.runs import commit

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "others-requirements.txt"
FULL_SIZE = 1_000_000
ROUNDS = 3
RUNS_PER_ROUND = 5
WORDS_AT_ONCE = 1 << 14
TIMES_FASTER = {"RR": 8, "RAPPOR": 20, "RAPPOR theta=1/2": 20, "uRAP": 3}
COLUMNS = ("measurement", "by", "median", "lowest", "highest", "unit", "target", "met")

CENSUS = census()
K, S = CENSUS.domain.size, CENSUS.domain.sensitive.size
EPSILON = float(np.log(K))
MECHANISMS: dict[str, Mechanism] = {
    "RR": RandomizedResponse(CENSUS.domain, EPSILON),
    "RAPPOR": Rappor(CENSUS.domain, EPSILON),
    "RAPPOR theta=1/2": Rappor(CENSUS.domain, EPSILON, theta=0.5),
    "uRAP": UtilityOptimizedRappor(CENSUS.domain, EPSILON),
}
# The mean per user, at 2 for each bit of a report and log2(k) for a random value.
RANDOM_BITS = {"RR": 2 + K / (2 * K - 1) * np.log2(K), "uRAP": 2 * (S + 1)}


def python_of_others() -> str:
    """Return the interpreter of the other libraries' environment, made on the first call."""
    folder, wanted = HERE / ".venv-others", REQUIREMENTS.read_text()
    python, installed = str(folder / "bin" / "python"), folder / "installed.txt"
    if not installed.exists() or installed.read_text() != wanted:
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", REQUIREMENTS], check=True)
        installed.write_text(wanted)
    return python


def seconds(job: Callable[..., object], *arguments: object) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    job(*arguments)
    return time.perf_counter() - start


def answer(mechanism: Mechanism, values: np.ndarray, seed: int) -> np.ndarray:
    """Go all the way that is timed."""
    return mechanism.estimate(mechanism.tally(mechanism.privatize(values, seed, indices=True)))


def time_all(values: np.ndarray) -> dict[str, dict[str, list[float]]]:
    """Time each job by each library, in rounds, so that all meet the same load."""
    truth = np.bincount(values, minlength=K) / values.size
    error = {job: np.abs(answer(m, values, 0) - truth).sum() for job, m in MECHANISMS.items()}
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    call = [python_of_others(), str(HERE / "others.py"), str(K), str(EPSILON)]
    for _ in range(ROUNDS):
        for job, mechanism in MECHANISMS.items():
            runs = [seconds(answer, mechanism, values, i) for i in range(RUNS_PER_ROUND)]
            times[job]["uldp"].append(median(runs))
        for line in subprocess.check_output(call, input=values.tobytes()).splitlines():
            job, library, taken, estimate = json.loads(line)
            if np.abs(np.array(estimate) - truth).sum() > 2 * error[job]:
                raise RuntimeError(f"{library} does not estimate what {job} does")
            times[job][library].append(taken)
    return times


def draw(words: int) -> None:
    """Draw random words, in pieces that stay in cache."""
    rng = np.random.default_rng(1)
    for left in range(words, 0, -WORDS_AT_ONCE):
        rng.integers(2**64 - 1, None, min(left, WORDS_AT_ONCE), np.uint64, endpoint=True)


def row(what: str, by: str, runs: list[float], unit: str, target: str = "") -> list[str]:
    """Return a line of the table; a target is ">= x" or "<= x"."""
    value, limit = median(runs), float(target[2:] or 0)
    met = value >= limit if target.startswith(">") else value <= limit
    verdict = ("yes" if met else "NO") if target else ""
    return [what, by, *(f"{x:.3g}" for x in (value, min(runs), max(runs))), unit, target, verdict]


def speed_rows(times: dict[str, dict[str, list[float]]], users: int) -> list[list[str]]:
    """Return the lines on one job at a time: the seconds, the floor, and the ratios."""
    table = []
    for job, by_library in times.items():
        table += [row(job, library, runs, "s") for library, runs in by_library.items()]
        words = int(RANDOM_BITS.get(job, 2 * K) * users / 64)
        floor = [seconds(draw, words) for _ in range(RUNS_PER_ROUND)]
        table.append(row(job, f"only drawing {words * 8e-6:.3g} MB", floor, "s"))
        rivals = {name: runs for name, runs in by_library.items() if name != "uldp"}
        rivals = rivals or {"uldp RAPPOR": times["RAPPOR"]["uldp"]}
        fastest = min(rivals.keys() - {"multi-freq-ldpy-in-numba"}, key=lambda r: median(rivals[r]))
        for name, runs in rivals.items():
            ratios = [theirs / ours for theirs, ours in zip(runs, by_library["uldp"], strict=True)]
            target = f">= {TIMES_FASTER[job]}" if name == fastest else ""
            table.append(row(f"{job} faster than", name, ratios, "times", target))
    return table


def simulate_row(n: int) -> list[str]:
    """Return the line on `simulate`, by all mechanisms in turn."""
    counts = np.random.default_rng(1).multinomial(n, CENSUS.frequencies)
    runs = [1e3 * seconds(m.simulate, counts, i) for i in range(9) for m in MECHANISMS.values()]
    return row(f"simulate n={n:,}", "uldp", runs, "ms", "<= 10")


def peak_memory() -> float:
    """Return the peak of this process in GB after RAPPOR at k = 12,800 and n = 100,000."""
    mechanism, users = Rappor(Domain(12_800), EPSILON), np.arange(100_000) % 12_800
    mechanism.tally(mechanism.privatize(users, 1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e9 if sys.platform == "darwin" else 1e9 / 1024)


def circumstances() -> list[str]:
    """Return what the numbers depend on: the command and commit, processor, versions."""
    cpu = Path("/proc/cpuinfo")
    info = cpu.read_text() if cpu.exists() else f"model name: {platform.processor()}"
    models = [line.split(": ")[1] for line in info.splitlines() if line.startswith("model name")]
    pins = [line for line in REQUIREMENTS.read_text().splitlines() if "ldp" in line]
    return [
        f"python benchmarks/speed.py; {commit()}",
        f"{len(models)} x {models[0]}; Python {platform.python_version()}",
        ", ".join([f"uldp=={version('uldp')}", f"numpy=={np.__version__}", *pins]),
        f"k = {K}, s = {S}, n = {FULL_SIZE:,}, epsilon = ln {K}, values with census frequencies",
    ]


def main() -> int:
    """Measure, print the table and, at full size, store it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=FULL_SIZE, help="fewer are not stored")
    users = parser.parse_args().users
    # First, because on Linux the peak of a child begins with that of its parent.
    alone = [sys.executable, "-c", "import speed; print(speed.peak_memory())"]
    peak = float(subprocess.check_output(alone, cwd=HERE))
    values = np.random.default_rng(1).choice(K, size=users, p=CENSUS.frequencies)
    table = speed_rows(time_all(values), users)
    table += [simulate_row(n) for n in (10**3, 10**6, 10**9)]
    table.append(row("memory k=12,800 n=100,000", "uldp RAPPOR", [peak], "GB", "<= 0.5"))
    widths = [max(map(len, column)) for column in zip(COLUMNS, *table, strict=True)]
    for line in (COLUMNS, *table):
        print("  ".join(map(str.ljust, line, widths)))
    if users == FULL_SIZE:
        with (HERE / "results" / "speed.csv").open("w", newline="") as file:
            file.writelines(f"# {line}\n" for line in circumstances())
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *table])
    return int(any("NO" in line for line in table))


if __name__ == "__main__":
    sys.exit(main())
