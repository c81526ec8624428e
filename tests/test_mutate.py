"""The list of mutants that are right to survive names changes that the tool makes, no others."""

import runpy
from pathlib import Path

TOOL = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "mutate.py"))


def test_every_harmless_mutant_is_one():
    listed = TOOL["harmless"]()
    made = set()
    for module in {module for module, *_ in listed}:
        for mutant in TOOL["mutants"](module):
            made |= {(module, mutant.line), (module, mutant.line, mutant.change)}
    assert listed - made == set()


def test_every_module_with_formulas_is_mutated():
    root = Path(__file__).parents[1] / "uldp"
    written = {path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.py")}
    outside = {"collecting", "secure", "experiments", "figures", "__main__"}
    tested = {
        name
        for name in written
        if name.split("/")[0] not in outside and name.split("/")[-1] != "__init__"
    }
    assert tested == set(TOOL["TESTS"])
