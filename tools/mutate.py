"""Change the package one number or operator at a time, and see whether a test goes red.

    python tools/mutate.py                            every mutant of every module, for hours
    python tools/mutate.py --module losses limits     those of two modules
    python tools/mutate.py --sample 100 --seed 1      a hundred of them at random

A mutant is a module with one change: a number is one larger, + is -, < is <= or >=, `and` is `or`,
a minus sign is gone, and so on (`mutants.REPLACED`). It survives if the tests pass even so; then a
test is missing, or the change does not matter. Survivors are printed with their place. Types,
docstrings, errors and assertions are not mutated.

The tests that a mutant is put to are those that run its statement. First come those that have
killed most mutants of its module so far, then the most specific: those that run the fewest lines in
all. Which run what is measured once for each state of the tree, in some minutes. A statement that
runs at import is put to the tests that run a line of its module.

Survivors that are right to live are listed in tools/harmless_mutants.toml, each with the reason,
and are not tried.

All runs in a copy of the tree. What was measured, and which test killed which mutant, is kept in
_build/mutants; a mutant is tried again when its module changes, a survivor always. A mutant that
takes three times the processor time of its tests is killed, too. The status is 1 if there are
survivors.

Of the known tools mutmut (3.8) mutates no property, nor what stands outside of functions, and
cosmic-ray starts Python anew for each mutant, which takes longer than most of these tests do.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.util import cache_from_source
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from mutants import ROOT, Mutant, Statement, harmless, modules, mutants, without_harmless

RECORD = ROOT / "_build" / "mutants"
COPIED = ("uldp", "tests", "tools", "client", "results", "benchmarks", "pyproject.toml")
LARGEST_MEMORY = 4 << 30
LEAST_SECONDS = 10
ROUNDS = (20, 120)

PRELOADED = (
    *("coverage", "hypothesis.extra.numpy", "matplotlib.pyplot", "sympy", "joblib"),
    *("scipy.optimize", "scipy.special", "scipy.stats"),
)

ENVIRONMENT = {
    "COVERAGE_CORE": "ctrace",
    "OMP_NUM_THREADS": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
PYTEST_OPTIONS = ("-q", "-p", "no:cacheprovider", "-W", "ignore:Module already imported")


@dataclass(frozen=True)
class Runs:
    """Which tests run which lines, and how long they take.

    Attributes
    ----------
    seconds : dict of str to float
        Of each test that passes, the most specific first.
    lines : dict of str to dict of str to list of int
        For each module and the number of each line the tests that run it, as places in `seconds`.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[int]]]

    def of(self, statement: Statement, most: float) -> list[str]:
        """Return the tests that run a statement, so many that they take `most` seconds."""
        lines = self.lines.get(statement.module, {})
        numbers = map(str, range(statement.first, statement.last + 1))
        places = {place for number in numbers for place in lines.get(number, [])}
        places = places or {place for tests in lines.values() for place in tests}
        tests, chosen = [*self.seconds], []
        for test in (tests[place] for place in sorted(places)):
            if self.seconds[test] <= most:
                chosen.append(test)
                most -= self.seconds[test]
        return chosen


class Recorder:
    """A plugin of pytest that measures which lines each test runs."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.coverage = importlib.import_module("coverage").Coverage(
            source=[str(package)], config_file=False, data_file=None
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test."""
        self.coverage.switch_context(item.nodeid)
        start = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - start
        self.coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the tests that fail."""
        if not report.passed:
            self.failed.add(report.nodeid)

    def runs(self) -> Runs:
        """Return what was measured."""
        data, by_test = self.coverage.get_data(), {}
        for file in data.measured_files():
            module = Path(file).relative_to(self.package).with_suffix("").as_posix()
            for line, tests in data.contexts_by_lineno(file).items():
                for test in {*tests} & {*self.seconds} - self.failed:
                    by_test.setdefault(test, []).append((module, str(line)))
        order = sorted(by_test, key=lambda test: len(by_test[test]))
        lines: dict[str, dict[str, list[int]]] = {}
        for place, test in enumerate(order):
            for module, line in by_test[test]:
                lines.setdefault(module, {}).setdefault(line, []).append(place)
        return Runs({test: self.seconds[test] for test in order}, lines)


class Chosen:
    """A plugin of pytest that runs some tests, in their order, and writes down which one fails."""

    def __init__(self, tests: list[str], failed: Path) -> None:
        self.place = {test: i for i, test in enumerate(tests)}
        self.failed = failed

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the other tests out."""
        chosen = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(chosen, key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the test that fails."""
        if report.failed:
            self.failed.write_text(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note the file whose tests cannot even be collected."""
        if report.failed:
            self.failed.write_text(report.nodeid)


def fork(task: Callable[[], int], seconds: float = math.inf) -> bool:
    """Run a task in a fork, for some processor time at most; tell whether its status is 0."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if seconds < math.inf:
                signal.setitimer(signal.ITIMER_PROF, seconds)
            resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            status = task()
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def run_pytest(copy: Path, arguments: list[str], plugin: object) -> int:
    """Run tests in a copy of the tree."""
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    status = pytest.main([*PYTEST_OPTIONS, *arguments], plugins=[plugin])
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)


def measured(copy: Path) -> Runs:
    """Return which tests run which lines, measured anew if anything in the tree has changed."""
    digest = sha256()
    for path in sorted(path for path in copy.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(copy)}\n".encode() + path.read_bytes())
    record = RECORD / f"runs-{digest.hexdigest()[:16]}.json"
    if not record.exists():
        print("measuring which tests run which lines", file=sys.stderr)
        for old in RECORD.glob("runs-*.json"):
            old.unlink()
        if not fork(lambda: measure(copy, record)):
            sys.exit("no test passes without any change")
    return Runs(**json.loads(record.read_text()))


def measure(copy: Path, record: Path) -> int:
    """Run all tests, and record which lines they run."""
    recorder = Recorder(copy / "uldp")
    with recorder.coverage.collect():
        run_pytest(copy, ["--continue-on-collection-errors", "tests"], recorder)
    runs = recorder.runs()
    if runs.seconds:
        record.write_text(json.dumps({"seconds": runs.seconds, "lines": runs.lines}))
    return 0 if runs.seconds else 1


@dataclass(frozen=True)
class Trial:
    """Mutants put to the tests, in a copy of the tree.

    Attributes
    ----------
    copy : Path
        The copy.
    runs : Runs
        Which tests run which lines.
    killed : Path
        The file of the mutants that were killed: of each its key, its module and what failed.
    seconds : float
        The time of the tests that a mutant is put to at most.
    checked : set of str
        The tests that pass without any change when they run alone.
    """

    copy: Path
    runs: Runs
    killed: Path
    seconds: float
    checked: set[str] = field(default_factory=set)

    def kills(self) -> dict[str, tuple[str, str]]:
        """Return the module of each mutant that was killed, and what failed."""
        lines = self.killed.read_text().splitlines() if self.killed.exists() else []
        fields = (line.split(" ", 2) for line in lines)
        return {key: (module, test) for key, module, test in fields}

    def survives(self, mutant: Mutant) -> bool:
        """Tell whether the tests pass with the mutant in place of its original."""
        module = mutant.statement.module
        kills = Counter(test for where, test in self.kills().values() if where == module)
        tests = sorted(self.runs.of(mutant.statement, self.seconds), key=lambda test: -kills[test])
        rounds = zip((0, *ROUNDS), (*ROUNDS, None), strict=True)
        path = self.copy / "uldp" / f"{module}.py"
        write(path, mutant.after)
        try:
            killers = (self.killer(tests[first:end]) for first, end in rounds)
            killer = next(filter(None, killers), "")
        finally:
            write(path, mutant.before)
        if killer:
            self.check(killer)
            with self.killed.open("a") as file:
                print(mutant.key, module, killer, file=file)
        return not killer

    def check(self, killer: str) -> None:
        """Stop if a test that has killed a mutant fails without any change, too."""
        if killer not in {"time", *self.checked} and self.killer([killer]):
            sys.exit(f"{killer} fails without any change when it runs alone")
        self.checked.add(killer)

    def killer(self, tests: list[str]) -> str:
        """Return the test or file that fails, or "time" if none ends; "" if all pass."""
        if not tests:
            return ""
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        seconds = (
            LEAST_SECONDS + len(files) + 3 * sum(self.runs.seconds.get(test, 0) for test in tests)
        )
        with tempfile.NamedTemporaryFile("r") as failed:
            chosen = Chosen(tests, Path(failed.name))
            passed = fork(lambda: run_pytest(self.copy, ["-x", *files], chosen), seconds)
            return "" if passed else failed.read() or "time"


def write(path: Path, text: str) -> None:
    """Write a module, and forget its compiled form: it may be as old and as long as the new one."""
    path.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


@contextmanager
def copy_of_tree() -> Iterator[Path]:
    """Copy what the tests need, for as long as it is used."""
    ignored = shutil.ignore_patterns("__pycache__")
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            source, target = ROOT / name, Path(folder) / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=ignored)
            else:
                shutil.copy(source, target)
        yield Path(folder)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    every: list[Any] = modules()
    command = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    command.add_argument(
        "--module", nargs="+", choices=every, default=every, metavar="M", help=", ".join(every)
    )
    command.add_argument("--sample", type=int, metavar="N", help="so many at random (all)")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample")
    command.add_argument(
        "--seconds", type=float, default=120, metavar="T", help="of the tests of a mutant (120)"
    )
    return command


def main() -> int:
    """Try mutants and print those that survive."""
    chosen = parser().parse_args()
    every = [mutant for module in modules() for mutant in mutants(module)]
    todo, _ = without_harmless(every, harmless())
    todo = [mutant for mutant in todo if mutant.statement.module in chosen.module]
    if chosen.sample is not None and chosen.sample < len(todo):
        places = sorted(random.Random(chosen.seed).sample(range(len(todo)), chosen.sample))
        todo = [todo[place] for place in places]
    RECORD.mkdir(parents=True, exist_ok=True)
    os.environ |= ENVIRONMENT
    for library in PRELOADED:
        importlib.import_module(library)
    with redirect_stdout(StringIO()):
        pytest.main(["--version"])
    survivors = 0
    with copy_of_tree() as copy:
        trial = Trial(copy, measured(copy), RECORD / "killed", chosen.seconds)
        killed = trial.kills()
        for number, mutant in enumerate(todo, 1):
            if mutant.key not in killed and trial.survives(mutant):
                survivors += 1
                print(mutant, flush=True)
            print(f"\r{number} of {len(todo)}, {survivors} survive", end="", file=sys.stderr)
    print(f"\n{survivors} of {len(todo)} survive")
    return min(survivors, 1)


if __name__ == "__main__":
    sys.exit(main())
