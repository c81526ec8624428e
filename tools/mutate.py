"""Change the package one number or operator at a time, and see whether a test goes red.

    python tools/mutate.py                            every mutant of every module, for two hours
    python tools/mutate.py --module losses limits     those of two modules
    python tools/mutate.py --sample 100 --seed 1      a hundred of them at random

A mutant is a module with one change: a number is one larger, + is -, < is <= or >=, `and` is `or`,
a minus sign is gone, and so on (`REPLACED`). It survives if the module's tests (`TESTS`) pass even
so; then a test is missing, or the change does not matter. Survivors are printed with their place.
Types, docstrings, errors and assertions are not mutated.

Survivors that are right to live are listed in tools/harmless_mutants.toml, each with the reason,
and are not tried.

All runs in a copy of the tree. The mutants that were killed are remembered in a file until their
module changes (remove it, _build/mutants, to begin anew); the others are tried again. A mutant that
takes three times the processor time of the tests is killed, too. The status is 1 if there are
survivors.

Of the known tools mutmut leaves out whatever is decorated, here every mechanism and property, and
cosmic-ray starts Python anew for each mutant, which takes longer than most of these tests do.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import math
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).parents[1]
HARMLESS = Path(__file__).with_name("harmless_mutants.toml")
COPIED = ("uldp", "tests", "tools", "results", "pyproject.toml")
LARGEST_MEMORY = 4 << 30
LEAST_SECONDS = 10

TESTS = {
    "_binomial": "binomial finite_n",
    "_bits": "bits realized",
    "_checks": "checks domain malformed",
    "_multinomial": "multinomial",
    "_subsets": "subsets block_design",
    "choosing": "choosing",
    "datasets/histograms": "datasets malformed",
    "datasets/paper_files": "datasets malformed",
    "datasets/shipped": "datasets",
    "decoders": "losses estimators finite_n",
    "domain": "domain malformed",
    "estimators": "estimators likelihood",
    "garbling": "garbling",
    "likelihood": "likelihood",
    "limits": "limits",
    "losses": "losses finite_n worst_cases",
    "mechanisms/base": "mechanisms estimators malformed",
    "mechanisms/block_design": "block_design mechanisms choosing",
    "mechanisms/blocks": "block_design",
    "mechanisms/rappor": "mechanisms realized optimal_theta sampling losses choosing",
    "mechanisms/response": "mechanisms realized sampling losses choosing",
    "mechanisms/sets": "mechanisms likelihood block_design",
    "optimal_theta": "optimal_theta",
    "osldp": "osldp",
    "personalized/collector": "personalized",
    "personalized/population": "personalized",
    "personalized/secrecy": "personalized",
    "personalized/tagged": "personalized",
    "personalized/users": "personalized",
    "privacy/composition": "composition",
    "privacy/empirical": "empirical_audit malformed",
    "privacy/levels": "levels audit malformed",
    "regimes": "regimes",
    "tallies": "mechanisms malformed",
    "wire": "wire",
}
"""The modules, and of each the tests that are to notice."""

PRELOADED = (
    *("pytest", "hypothesis.extra.numpy", "matplotlib.pyplot", "sympy", "joblib"),
    *("scipy.optimize", "scipy.special", "scipy.stats"),
)

PYTEST_OPTIONS = ("-x", "-q", "--ff", "-W", "ignore:Module already imported")

REPLACED: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
LEFT_OUT = (ast.Raise, ast.Assert, ast.JoinedStr)
LEFT_OUT_FIELDS = ("annotation", "returns", "decorator_list")


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes
    ----------
    module, number, line : str, int, str
        Where: the module, and the number and the text of the line.
    original, change : str
        What: the expression before and after, of a number the one that it stands in.
    before, after : str
        The module before and after.
    """

    module: str
    number: int
    line: str
    original: str
    change: str
    before: str
    after: str

    def __str__(self) -> str:
        place = f"uldp/{self.module}.py:{self.number}: {self.line}"
        return f"{place}\n    {self.original}  ->  {self.change}"

    @property
    def key(self) -> str:
        """What identifies the mutant as long as its module stays the same."""
        return sha256(f"{self.module}\n{self.before}\n{self.after}".encode()).hexdigest()


def mutants(module: str) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    before = (ROOT / "uldp" / f"{module}.py").read_text(encoding="utf-8")
    lines, tree = before.splitlines(), ast.parse(before)
    for node, parent in nodes(tree):
        shown = parent if isinstance(node, ast.Constant) else node
        for field, value in changes(node):
            kept, original = getattr(node, field), ast.unparse(shown)
            setattr(node, field, value)
            place = module, node.lineno, lines[node.lineno - 1].strip()
            yield Mutant(*place, original, ast.unparse(shown), before, ast.unparse(tree))
            setattr(node, field, kept)


def nodes(parent: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield all nodes that may be changed, each with its parent."""
    for name, value in ast.iter_fields(parent):
        for child in value if isinstance(value, list) else [value]:
            left_out = name in LEFT_OUT_FIELDS or isinstance(child, LEFT_OUT)
            if isinstance(child, ast.AST) and not left_out:
                yield child, parent
                yield from nodes(child)


def changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield the ways to change a node: a field of it, and the value to give it."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            yield "value", node.value + 1
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            yield from (("op", new()) for new in REPLACED.get(type(node.op), ()))
        case ast.UnaryOp():
            yield "operand", ast.UnaryOp(node.op, node.operand)
        case ast.Compare():
            for i, op in enumerate(node.ops):
                for new in REPLACED[type(op)]:
                    yield "ops", [*node.ops[:i], new(), *node.ops[i + 1 :]]


def harmless() -> set[tuple[str, ...]]:
    """Read which mutants are right to survive: module and line, and the change unless it is any."""
    entries = tomllib.loads(HARMLESS.read_text(encoding="utf-8"))["harmless"]
    return {
        (entry["module"], line, *change)
        for entry in entries
        for line in entry["lines"]
        for change in ([[each] for each in entry["changes"]] if "changes" in entry else [[]])
    }


def run_tests(copy: Path, module: str, seconds: float = math.inf) -> tuple[bool, float]:
    """Run a module's tests in a copy of the tree; return if they pass and the processor time.

    They run in a fork, which has the libraries loaded.
    """
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
            os.chdir(copy)
            sys.path.insert(0, str(copy))
            files = [f"tests/test_{name}.py" for name in TESTS[module].split()]
            status = importlib.import_module("pytest").main([*PYTEST_OPTIONS, *files])
        finally:
            os._exit(status)
    _, status, used = os.wait4(child, 0)
    return status == 0, used.ru_utime + used.ru_stime


def survives(copy: Path, mutant: Mutant, seconds: float) -> bool:
    """Tell whether the tests pass with the mutant in place of its original."""
    path = copy / "uldp" / f"{mutant.module}.py"
    write(path, mutant.after)
    try:
        return run_tests(copy, mutant.module, seconds)[0]
    finally:
        write(path, mutant.before)


def write(path: Path, text: str) -> None:
    """Write a module, and forget its compiled form: it may be as old and as long as the new one."""
    path.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    command.add_argument(
        "--module", nargs="+", choices=TESTS, default=[*TESTS], metavar="M", help=", ".join(TESTS)
    )
    command.add_argument("--sample", type=int, metavar="N", help="so many at random (all)")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample")
    command.add_argument("--record", type=Path, default=ROOT / "_build/mutants", metavar="FILE")
    return command


def main() -> int:
    """Try mutants and print those that survive."""
    chosen = parser().parse_args()
    allowed = harmless()
    todo = [
        mutant
        for module in chosen.module
        for mutant in mutants(module)
        if not allowed & {(module, mutant.line), (module, mutant.line, mutant.change)}
    ]
    if chosen.sample is not None and chosen.sample < len(todo):
        places = sorted(random.Random(chosen.seed).sample(range(len(todo)), chosen.sample))
        todo = [todo[place] for place in places]
    chosen.record.parent.mkdir(parents=True, exist_ok=True)
    chosen.record.touch()
    killed = {*chosen.record.read_text().split()}
    os.environ["OMP_NUM_THREADS"] = "1"
    for library in PRELOADED:
        importlib.import_module(library)
    survivors, limits = 0, {}
    with tempfile.TemporaryDirectory() as folder, chosen.record.open("a") as record:
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(
                ROOT / name, Path(folder) / name
            )
        for number, mutant in enumerate(todo, 1):
            if mutant.key in killed:
                continue
            if mutant.module not in limits:
                passed, seconds = run_tests(Path(folder), mutant.module)
                if not passed:
                    sys.exit(f"the tests of {mutant.module} fail without any change")
                limits[mutant.module] = LEAST_SECONDS + 3 * seconds
            if survives(Path(folder), mutant, limits[mutant.module]):
                survivors += 1
                print(mutant, flush=True)
            else:
                print(mutant.key, file=record, flush=True)
            print(f"\r{number} of {len(todo)}, {survivors} survive", end="", file=sys.stderr)
    print(f"\n{survivors} of {len(todo)} survive")
    return min(survivors, 1)


if __name__ == "__main__":
    sys.exit(main())
