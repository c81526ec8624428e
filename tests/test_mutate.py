"""The mutation tests find what no test notices, and know harmless mutants by more than a name."""

import ast
import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"

SOURCE = """
LARGEST = 64

class Sets:
    def counts(self, rows, width=8):
        if len(rows) > LARGEST and width > 0:
            return rows.reshape(-1, width)
        return rows[0]
"""


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    return importlib.import_module("mutants")


@pytest.fixture
def package(tool, monkeypatch, tmp_path):
    """A package in which modules can be written."""
    (tmp_path / "uldp").mkdir()
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    return tmp_path / "uldp"


def everything(tool) -> list:
    return [mutant for module in tool.modules() for mutant in tool.mutants(module)]


def test_every_harmless_mutant_is_one(tool):
    _, unknown = tool.without_harmless(everything(tool), tool.harmless())
    assert unknown == []


def test_every_mutant_is_a_module_with_one_change(tool):
    for mutant in tool.mutants("_packed"):
        before, after = (ast.unparse(ast.parse(text)) for text in (mutant.before, mutant.after))
        changed = [
            (old, new)
            for old, new in zip(before.splitlines(), after.splitlines(), strict=True)
            if old != new
        ]
        assert len(changed) == 1
        assert mutant.original != mutant.change


def test_no_module_with_formulas_is_left_out(tool):
    root = TOOLS.parent / "uldp"
    left_out = {path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.py")}
    left_out -= {*tool.modules()}
    assert all({*name.split("/")} & {*tool.OUTSIDE} for name in left_out)
    assert {"_packed", "law", "mechanisms/theta", "privacy/levels"} <= {*tool.modules()}


def test_the_changes_of_a_module(tool, package):
    (package / "sets.py").write_text(SOURCE)
    changes = {(m.statement.definition, m.change) for m in tool.mutants("sets")}
    assert changes == {
        ("", "LARGEST = 65"),
        ("Sets.counts", "self, rows, width=9"),
        ("Sets.counts", "len(rows) > LARGEST or width > 0"),
        ("Sets.counts", "len(rows) >= LARGEST"),
        ("Sets.counts", "len(rows) <= LARGEST"),
        ("Sets.counts", "width >= 0"),
        ("Sets.counts", "width <= 0"),
        ("Sets.counts", "width > 1"),
        ("Sets.counts", "--1"),
        ("Sets.counts", "-2"),
        ("Sets.counts", "rows[1]"),
    }


def left(tool, module: str, definition: str, text: str, change: str | None) -> tuple[set, int]:
    """The changes that are left if one is harmless, and how many were not found."""
    listed = [(tool.Statement(module, definition, text), change)]
    mutants, unknown = tool.without_harmless(everything(tool), listed)
    return {mutant.change for mutant in mutants}, len(unknown)


LISTED = "sets", "Sets.counts", "if len(rows) > LARGEST and width > 0:", "width >= 0"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows", "reports"),
        ("width", "bytes_of_each"),
        ("LARGEST", "MOST"),
        ("Sets", "PackedSets"),
        ("counts", "column_sums"),
        ("\n\nclass", "\n\nMORE = 3\n\nclass"),
    ],
)
@pytest.mark.parametrize("module", ["sets", "packed"])
def test_a_harmless_mutant_may_be_renamed_and_moved(tool, package, module, old, new):
    (package / f"{module}.py").write_text(SOURCE.replace(old, new))
    every = {mutant.change for mutant in everything(tool)}
    changes, unknown = left(tool, *LISTED)
    assert unknown == 0
    assert every - changes == {LISTED[-1].replace(old, new)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("width > 0", "width > 1"),
        ("> LARGEST", ">= LARGEST"),
        ("and", "or"),
        ("width > 0", "width"),
    ],
)
def test_a_harmless_mutant_is_none_when_its_statement_changes(tool, package, old, new):
    (package / "sets.py").write_text(SOURCE.replace(old, new))
    changes, unknown = left(tool, *LISTED)
    assert unknown == 1
    assert changes == {mutant.change for mutant in everything(tool)}


def test_a_harmless_mutant_exempts_no_other_of_the_same_shape(tool, package):
    (package / "sets.py").write_text(SOURCE + "\nLEAST = 64\n")
    (package / "other.py").write_text("LARGE = 64\n")
    changes, unknown = left(tool, "sets", "", "LARGEST = 64", None)
    assert unknown == 0
    assert {"LEAST = 65", "LARGE = 65"} <= changes
    assert "LARGEST = 65" not in changes
    changes, unknown = left(tool, "elsewhere", "", "FEW = 64", None)
    assert unknown == 1
    assert {"LARGEST = 65", "LEAST = 65", "LARGE = 65"} <= changes


def test_names_in_a_change_are_those_of_its_statement(tool, package):
    (package / "sets.py").write_text("def both(a, b):\n    return a > 0 and b > 0\n")
    changes, unknown = left(tool, "sets", "both", "return a > 0 and b > 0", "b >= 0")
    assert unknown == 0
    assert "a >= 0" in changes
    assert "b >= 0" not in changes


def test_a_mutant_is_put_to_the_tests_that_run_its_statement(tool):
    mutate = importlib.import_module("mutate")
    seconds = {"first": 1.0, "second": 2.0, "slow": 120.0, "third": 3.0}
    runs = mutate.Runs(seconds, {"sets": {"4": [1, 3], "5": [0, 1], "7": [2, 3], "9": [3]}})
    assert runs.of(tool.Statement("sets", "", "", 4, 4), 100) == ["second", "third"]
    assert runs.of(tool.Statement("sets", "", "", 4, 5), 100) == ["first", "second", "third"]
    assert runs.of(tool.Statement("sets", "", "", 7, 7), 100) == ["third"]
    assert runs.of(tool.Statement("sets", "", "", 7, 7), 200) == ["slow", "third"]
    assert runs.of(tool.Statement("sets", "", "", 1, 1), 5) == ["first", "second"]
    assert runs.of(tool.Statement("untested", "", "", 1, 1), 100) == []


def test_what_no_test_notices_survives(tmp_path):
    files = {
        "uldp/__init__.py": "",
        "uldp/sums.py": "def double(x):\n    return 2 * x\n\ndef next_one(x):\n    return x + 1\n",
        "tests/test_sums.py": (
            "import pytest\nfrom uldp import sums\n\n\n"
            "def test_double():\n    assert sums.double(3) == 6\n\n\n"
            "@pytest.mark.parametrize('x', [1, 2])\n"
            "def test_next_one(x):\n    assert sums.next_one(x) != x\n\n\n"
            "def test_that_fails():\n    assert sums.next_one(1) == 1\n"
        ),
        "pyproject.toml": "",
        "client/none": "",
        "results/none": "",
        "benchmarks/none": "",
        "tools/harmless_mutants.toml": (
            "[[harmless]]\nwhy = 'tested elsewhere'\nmodule = 'sums'\ndefinition = 'next_one'\n"
            "statements = ['return x + 1']\nchanges = ['x - 1']\n"
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("mutate.py", "mutants.py"):
        shutil.copy(TOOLS / name, tmp_path / "tools" / name)
    command = [sys.executable, str(tmp_path / "tools" / "mutate.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == (
        "uldp/sums.py:5 next_one: return x + 1\n    x + 1  ->  x + 2\n\n1 of 3 survive\n"
    )
    killed = (tmp_path / "_build/mutants/killed").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in killed] == 2 * [
        "sums tests/test_sums.py::test_double"
    ]
