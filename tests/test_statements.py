"""The index of the paper: each item of it once, with a verdict and a place that exists."""

import json
import re
import sys
from pathlib import Path

import pytest
from cases import module_at
from docutils.nodes import make_id

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "notebooks"))

import claims  # noqa: E402

VERDICTS = {"holds", "needs a reading", "fails in a case", "repaired", "sharper"}
INDEX, ERRATA, WELCOME = (
    (ROOT / "book" / name).read_text(encoding="utf-8")
    for name in ("statements.md", "errata.md", "welcome.md")
)
CELLS = [
    cell
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
]
MARKDOWN = "\n".join(
    [
        *(path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")),
        *("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown"),
    ]
)
PLACES = re.findall(r"^```\{claims\}\n(.*?)^```$", INDEX, re.M | re.S)[0].splitlines()
ROW = re.compile(r"^\| (.+?) \| (.+) \| ([^|]+) \| \{([\w:]+)\}`([\w-]+)` \|$", re.M)


def numbers(text: str) -> list[int]:
    """The numbers of a list: "4, 5" or "7 to 10"."""
    first, *last = map(int, re.findall(r"\d+", text))
    return list(range(first, last[0] + 1)) if " to " in text else [first, *last]


def items() -> list[tuple[str, set[str], str, str]]:
    """Rows of the index: what of the paper, with which verdicts, where; all but Section 6."""
    found = [
        (paper.replace("&nbsp;", " "), set(verdict.split(", ")), role, label)
        for paper, _, verdict, role, label in ROW.findall(INDEX)
    ]
    table_rows = [line for line in INDEX.splitlines() if line.count(" | ") == 3]
    assert len(found) == len([row for row in table_rows if "`" in row])
    return found


@pytest.fixture(scope="module")
def experiments() -> list[tuple[str, ...]]:
    """Rows of the table of the experiments."""
    return module_at("book/_ext/judged.py").rows(PLACES)


@pytest.fixture(scope="module")
def judged() -> dict[int, claims.Judged]:
    """The claims, judged from the tables in the repository."""
    return claims.judge(claims.read_tables(ROOT))


def labels() -> dict[str, set[str]]:
    """The labels of the book by the roles that lead to them."""
    figures = {
        cell["metadata"].get("mystnb", {}).get("figure", {}).get("name")
        for cell in CELLS
        if cell["cell_type"] == "code"
    }
    return {
        "prf:ref": set(re.findall(r"^:label: (\S+)$", MARKDOWN, re.M)),
        "ref": set(re.findall(r"^\(([\w-]+)\)=$", MARKDOWN, re.M)),
        "eq": set(re.findall(r"^ *\$\$ \((\S+)\)$", MARKDOWN, re.M)),
        "numref": figures,
    }


def titles() -> dict[str, str]:
    """The titles of the book's statements by their labels."""
    found = re.findall(r"\{prf:(?!proof|ref)\w+\} (.*)\n:label: (\S+)", MARKDOWN)
    return {label: title for title, label in found}


def numbers_of_the_paper(text: str, kind: str) -> set[int]:
    """The numbers of all that a text calls "Proposition 3" or "Propositions 5, 6 and 7"."""
    lists = re.findall(rf"{kind}s? (\d+(?:(?:, | and )\d+)*)", text)
    return {int(number) for found in lists for number in re.findall(r"\d+", found)}


def test_each_numbered_item_of_the_paper_is_there_once(experiments) -> None:
    papers = [paper for paper, *_ in items()]
    papers += {where.strip("*") for where, *_ in experiments if "Figures" not in where}
    counts = {
        "Definition": 6,
        "Proposition": 19,
        "Theorem": 1,
        "Lemma": 4,
        "Table": 4,
        "Figure": 13,
    }
    for kind, count in counts.items():
        found = [int(p.split()[1]) for p in papers if p.startswith(f"{kind} ")]
        assert sorted(found) == list(range(1, count + 1)), kind
    equations = [
        n for p in papers for eqs in re.findall(r"\(eqs?\. (.*)\)", p) for n in numbers(eqs)
    ]
    assert equations == list(range(1, 30))
    for other in ("Example", "Remark", "Section 4.3", "Section 5.4", "Section 7"):
        assert any(paper.startswith(other) for paper in papers), other


def test_each_item_has_a_verdict_and_a_place_that_exists() -> None:
    known = labels()
    for paper, verdicts, role, label in items():
        assert verdicts <= VERDICTS, paper
        assert label in known[role], (paper, label)


def test_numbers_lead_to_the_statement_of_that_number() -> None:
    known = titles()
    for paper, _, role, label in items():
        if paper.startswith(("Definition", "Proposition", "Theorem")):
            kind, index = paper.split()[:2]
            assert role == "prf:ref"
            assert int(index) in numbers_of_the_paper(known[label], kind), (paper, known[label])


def test_numbers_of_arxiv_are_in_one_table() -> None:
    """Each statement that arXiv v1 numbers otherwise is there once, as is its number there."""
    assert not [title for title in titles().values() if "arXiv" in title]
    rows = re.findall(r"^\| (\w+s) ([\d, to]+) \| ([\d, to]+) \|$", INDEX, re.M)
    there = {"Definitions": {}, "Propositions": {}}
    for kind, here, other in rows:
        there[kind] |= dict(zip(numbers(here), numbers(other), strict=True))
    kept = {1: 1} | there["Propositions"]
    assert set(kept) == set(range(1, 20)) - {10}
    assert sorted(kept.values()) == list(range(1, 19))
    assert set(there["Definitions"]) == set(there["Definitions"].values())
    assert all(here != other for each in there.values() for here, other in each.items())


def test_repaired_are_those_of_the_errata() -> None:
    wrong_steps = ERRATA.split("## Proofs with a wrong step or a gap\n")[1].split("\n## ")[0]
    for kind in ("Proposition", "Theorem", "Lemma"):
        repaired = {
            int(paper.split()[1])
            for paper, verdicts, *_ in items()
            if paper.startswith(kind) and "repaired" in verdicts
        }
        assert repaired == numbers_of_the_paper(wrong_steps, kind)


def test_what_fails_has_its_case_beside_it() -> None:
    """And only that: a reading, or a repaired proof, has none."""
    cases = {paper for paper, says, *_ in ROW.findall(INDEX) if re.search(r" \(case: .+\)$", says)}
    assert cases == {
        paper for paper, _, word, *_ in ROW.findall(INDEX) if "fails in a case" in word
    }
    fails = ERRATA.split("## Statements that fail in a case\n")[1].split("\n## ")[0]
    for kind in ("Theorem", "Table"):
        numbered = {int(paper.split()[1]) for paper in cases if paper.startswith(kind)}
        assert numbered == numbers_of_the_paper(fails, kind)


def test_a_statement_of_a_number_bears_the_verdict_on_it_alone() -> None:
    """Not also that on a sentence elsewhere in the paper, which leads to it in the table."""
    badges = module_at("book/_ext/stamps.py").verdicts()
    for paper, verdicts, role, label in items():
        if role == "prf:ref" and paper.startswith(("Definition", "Proposition", "Theorem")):
            assert set(badges[label]) == verdicts, paper


def test_each_claim_has_its_counts_and_a_place_that_exists(experiments, judged) -> None:
    known = labels()
    written = {}
    for where, says, verdict, counts, place in experiments:
        for role, label in re.findall(r"\{(\w+)\}`(?:[^`<]*<)?([\w-]+)>?`", place):
            assert label in known[role], (where, label)
        if counts:
            number = int(re.findall(r"Claim (\d+) ", place)[0])
            written[number] = where, says, verdict, counts
    assert written == {
        number: (
            each.claim.where,
            each.claim.says + (f" ({each.claim.remark})" if each.claim.remark else ""),
            each.counts.word,
            f"{each.counts.yes}, {each.counts.no}, {each.counts.undecided}"
            + ("; one decides" if each.counts.by_one else ""),
        )
        for number, each in judged.items()
    }


def test_a_figure_counts_the_verdicts_of_its_claims(experiments) -> None:
    for where, _, verdict, counts, _ in experiments:
        if not counts:
            words = [row[2] for row in experiments if row[0] == where.strip("*")]
            found = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z ]+)", verdict)}
            assert found == {word: words.count(word) for word in words}


def test_the_pages_count_the_verdicts(judged) -> None:
    words = [each.counts.word for each in judged.values()]
    known = ("holds", "mostly", "tie", "differs", "not comparable")
    holds, mostly, ties, differs, apart = map(words.count, known)
    assert holds + mostly + ties + differs + apart == len(words)
    counted = f"of {len(words)} claims, {holds} hold, {mostly} hold mostly, {ties} are ties, "
    counted += f"{differs} differs and {apart} are not comparable"
    for page in (INDEX, ERRATA, WELCOME):
        assert counted in re.sub(r"\s+", " ", page), f"a page must say: {counted}"


def test_the_printed_book_and_the_style_find_the_index() -> None:
    title = re.findall(r"^# (.*)$", INDEX, re.M)[0]
    for path in ("tools/print_book.py", "book/_static/book.css"):
        assert f"#{make_id(title)}" in (ROOT / path).read_text(encoding="utf-8")


def test_evaluators_see_every_statement() -> None:
    """`make evaluate` finds the chapter of each row with a label; the notation is no chapter."""
    evaluate = module_at("tools/evaluate.py")
    found = evaluate.ROW.findall(INDEX)
    assert len(found) == len([row for row in INDEX.splitlines() if "`" in row and row[0] == "|"])
    assert [label for _, label in found if not evaluate.home(label)] == ["ch-notation"]
