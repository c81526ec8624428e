"""Run the quick form of what the book claims of the paper, and print a table: `make evaluate`.

Each statement of the table in `book/statements.md` is reproduced if all cells of its chapter print
again what is stored. Of each table in `results/` some points are measured again, whose rows have to
be the same. The claims on the experiments are judged from these tables, by the rule of the book.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from uldp.paper.experiments import Settings, plan, run, write_table

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))

import claims  # noqa: E402

STATEMENTS = ROOT / "book" / "statements.md"
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \| \{[\w:]+\}`([\w-]+)`", re.M)
FROM_TALLIES = ("empirical", "threshold", "norm_sub")
POINTS = 6  # of each table
REPRODUCED = "reproduced"


def chapters(names: list[str]) -> dict[str, str]:
    """Run chapters, and say of each whether it prints what is stored."""
    options = ["-q", "-n", "2", "--dist", "loadscope", "--nbval", "--nbval-current-env"]
    files = [str(NOTEBOOKS / f"{name}.ipynb") for name in names]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", *files]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        cells = list(ElementTree.parse(report).iter("testcase"))
    found = {}
    for name in names:
        mine = [cell for cell in cells if f"{name}.ipynb" in "".join(cell.attrib.values())]
        differ = sum(len(cell) > 0 for cell in mine)
        found[name] = f"{differ} of {len(mine)} cells differ" if differ or not mine else REPRODUCED
    return found


def tables() -> list[tuple[str, str]]:
    """Measure some points of each stored table again: their rows are lines of it, byte for byte."""
    found = []
    for path in sorted((ROOT / "results").glob("*.csv")):
        points = plan(path.stem, Settings(methods=FROM_TALLIES))
        some = points[:: max(1, len(points) // POINTS)]
        with tempfile.TemporaryDirectory() as folder:
            again = Path(folder, path.name)
            write_table(again, run(some, Path(folder, "record.jsonl"), Settings.seed), [])
            rows = set(again.read_text(encoding="utf-8").splitlines())
        differ = len(rows.difference(path.read_text(encoding="utf-8").splitlines()))
        outcome = f"{differ} of {len(rows)} lines differ" if differ else REPRODUCED
        found.append((f"{len(rows) - 1} rows of results/{path.name}", outcome))
    return found


def home(label: str) -> str:
    """Return the chapter in which a label stands, or nothing."""
    marks = (f":label: {label}\\n", f"({label})", f'"name": "{label}"')
    texts = ((path.stem, path.read_text(encoding="utf-8")) for path in NOTEBOOKS.glob("*.ipynb"))
    return next((name for name, text in texts if any(mark in text for mark in marks)), "")


def main() -> int:
    """Print the table, and return whether a claim did not come out."""
    statements = ROW.findall(STATEMENTS.read_text(encoding="utf-8"))
    homes = {label: home(label) for _, label in statements}
    outcomes = chapters(sorted(set(homes.values()) - {""}))
    rows = []
    for paper, label in statements:
        if chapter := homes[label]:
            place = f"notebooks/{chapter}.ipynb"
            rows.append((paper.replace("&nbsp;", " "), place, outcomes[chapter]))
    rows += [("Experiments", *one) for one in tables()]
    differ = sum(outcome != REPRODUCED for *_, outcome in rows)
    for (number, where, *_), _, counts in claims.judge(claims.read_tables(ROOT)).values():
        rows.append((f"{where}, claim {number}", "results/*.csv", f"the claim: {counts.word}"))
    first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
    for paper, where, outcome in rows:
        print(f"{paper:{first}}  {where:{second}}  {outcome}")
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in usage)
    memory = max(one.ru_maxrss for one in usage) / 1024
    print(f"\n{len(rows)} rows, {differ} not reproduced; {cpu:.0f} s of CPU, {memory:.0f} MB")
    return min(differ, 1)


if __name__ == "__main__":
    sys.exit(main())
