"""What the front page and the README claim: numbers computed, verdicts as in the errata."""

import json
import math
import re
from pathlib import Path

import pytest
from scipy.optimize import brentq

import uldp

ROOT = Path(__file__).parents[1]
FRONT = (ROOT / "book" / "welcome.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ERRATA = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")
VERDICTS = {"holds", "needs a reading", "repaired", "sharper", "mostly", "differs"}
NOTEBOOKS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["cells"]
    for path in (ROOT / "notebooks").glob("*.ipynb")
}


def statements() -> list[tuple[str, str, set[str], str]]:
    """Rows of the table: number in the paper, what it says, verdicts, label of the statement."""
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \| \{(?:prf:)?ref\}`([\w-]+)` \|$", FRONT, re.M)
    return [
        (number, says, set(verdict.split(", ")), label) for number, says, verdict, label in rows
    ]


def titles() -> dict[str, str]:
    """The titles of the book's statements by their labels."""
    pages = "\n".join(
        "".join(cell["source"])
        for cells in NOTEBOOKS.values()
        for cell in cells
        if cell["cell_type"] == "markdown"
    )
    found = re.findall(r"\{prf:(?!proof|ref)\w+\} (.*)\n:label: (\S+)", pages)
    return {label: title for title, label in found}


def numbers_of_the_paper(text: str, kind: str) -> set[int]:
    """The numbers of all that a text calls "Proposition 3" or "Propositions 5, 6 and 7"."""
    lists = re.findall(rf"{kind}s? (\d+(?:(?:, | and )\d+)*)", text)
    return {int(number) for numbers in lists for number in re.findall(r"\d+", numbers)}


def section(text: str, heading: str) -> str:
    return re.split(r"^## ", text.split(f"## {heading}\n")[1], flags=re.M)[0]


def test_the_table_has_each_statement_of_the_paper_once() -> None:
    numbered = [number for number, *_ in statements() if not number.startswith("Section")]
    counts = {"Definition": 6, "Proposition": 19, "Theorem": 1, "Table": 4}
    expected = [f"{kind} {i}" for kind, count in counts.items() for i in range(1, count + 1)]
    assert sorted(numbered) == sorted([*expected, "Equation 2"])


def test_the_table_leads_to_the_statement_of_that_number() -> None:
    known = titles()
    for number, _, _, label in statements():
        if number.startswith(("Definition", "Proposition", "Theorem")):
            kind, index = number.split()
            of_the_paper = known[label].split("arXiv")[0]
            assert int(index) in numbers_of_the_paper(of_the_paper, kind), (number, known[label])


def test_the_verdicts_are_those_of_the_errata() -> None:
    rows = statements()
    assert all(verdicts <= VERDICTS for _, _, verdicts, _ in rows)
    wrong_steps = section(ERRATA, "Proofs that take a wrong step")
    for kind in ("Proposition", "Theorem"):
        repaired = {
            int(number.split()[1])
            for number, _, verdicts, _ in rows
            if number.startswith(kind) and "repaired" in verdicts
        }
        assert repaired == numbers_of_the_paper(wrong_steps, kind)


def claimed() -> dict[str, str]:
    """The numbers that front page and README may name, by what they stand for."""
    census = uldp.paper.datasets.census()
    domain, n = census.domain, int(census.counts.sum())

    def of(name: str, epsilon: float) -> float:
        return uldp.mechanisms.PAPER[name](domain, epsilon).l2_loss(census.frequencies, n)

    ln_k = math.log(domain.size)
    papers, best = (
        uldp.UtilityOptimizedRappor(domain, ln_k, theta=theta) for theta in (None, "optimal")
    )
    gain = papers.l2_loss(papers.worst_case("l2"), n) / best.l2_loss(best.worst_case("l2"), n)
    return {
        "people": f"{n:,}",
        "values": str(domain.size),
        "sensitive": str(domain.sensitive.size),
        "times as many": f"{of('RR', 1.0) / of('uRR', 1.0):.0f}",
        "with RAPPOR": f"{of('RAPPOR', 1.0) / of('uRAP', 1.0):.1f}",
        "fewer up to": f"{brentq(lambda e: of('RAPPOR', e) - of('uRR', e), 0.5, 3):.2f}",
        "gain by theta": f"{gain:.2f}",
        "revealed at most": f"{-math.expm1(-0.1):.1%}",
        "its budget": "0.1",
        "budget": "1",
    }


LINKS_AND_TABLE = re.compile(r"^````\{(?:grid|dropdown)\}.*?^````$", re.M | re.S)
NO_CLAIM = re.compile(
    r"^:\w+:.*$|\{[\w:]+\}`[^`]*`|\]\([^)]*\)|arXiv:[\d.]+|USENIX Security \d+|\bl1\b|1 - e", re.M
)


@pytest.mark.parametrize(
    "prose",
    [FRONT.split("## Run it")[0], README.split("## Seven lines")[0]],
    ids=["front page", "README"],
)
def test_each_number_in_the_prose_is_computed(prose: str) -> None:
    prose = NO_CLAIM.sub("", LINKS_AND_TABLE.sub("", prose))
    found = set(re.findall(r"\d[\d,.]*\d%?|\d%?", prose))
    assert found
    assert not found - set(claimed().values())


def test_the_people_that_rr_has_to_ask_are_named() -> None:
    claims = claimed()
    assert f"{claims['people']} people" in FRONT
    assert f"**{claims['times as many']} times** as many people" in re.sub(r"\s+", " ", FRONT)
    assert f"**{claims['with RAPPOR']} times** as many people" in re.sub(r"\s+", " ", FRONT)
    assert f"{claims['values']} answers, {claims['sensitive']} of them" in FRONT


def test_both_show_the_picture_of_the_quick_start() -> None:
    """Its bytes are held to the notebook's by tests/test_book.py."""
    assert "```{figure} images/quickstart.png" in FRONT
    assert "](book/images/quickstart.png)" in README
    figure = next(c for c in NOTEBOOKS["quickstart"] if "figure" in c["metadata"].get("mystnb", {}))
    alt = figure["metadata"]["mystnb"]["image"]["alt"]
    assert f'\n:alt: "{alt}"\n' in FRONT


def test_the_five_lines_of_the_readme_run() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.S)
    assert code
    names: dict[str, object] = {}
    exec(code[1], names)
    assert isinstance(names["tally"], uldp.Tally)
    assert names["tally"].n == 1
