"""What the front page and the README claim: each number is computed."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import uldp

ROOT = Path(__file__).parents[1]
FRONT = (ROOT / "book" / "welcome.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
STATEMENTS = (ROOT / "book" / "statements.md").read_text(encoding="utf-8")
NOTEBOOKS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["cells"]
    for path in (ROOT / "notebooks").glob("*.ipynb")
}


def claimed() -> dict[str, str]:
    """The numbers that front page and README may name, by what they stand for."""
    census = uldp.paper.datasets.census()
    domain, n = census.domain, int(census.counts.sum())

    def of(name: str, epsilon: float) -> float:
        return uldp.mechanisms.PAPER[name](domain, epsilon).l2_loss(census.frequencies, n)

    ln_k = math.log(domain.size)
    papers = uldp.UtilityOptimizedRappor(domain, ln_k)
    best = replace(papers, theta=uldp.beyond.best_theta(papers))
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


LINKS = re.compile(r"^````\{grid\}.*?^````$|^```(?:python|console|text)$.*?^```$", re.M | re.S)
COUNTED = r"of \d+ claims, [\w, ]*comparable|Of its \d+ propositions [^.]*\."
"""Claims are counted by tests/test_statements.py, propositions below."""
NO_CLAIM = re.compile(
    r"^:\w+:.*$|\{[\w:]+\}`[^`]*`|\]\([^)]*\)|arXiv:[\d.]+|USENIX Security \d+|\bl1\b|1 - e|"
    r"Python 3\.\d+|6,000 reports|Sections 6 and 7|CC BY 4\.0|" + COUNTED,
    re.M,
)


@pytest.mark.parametrize(
    "prose",
    [FRONT, README.split("## Seven lines")[0]],
    ids=["front page", "README"],
)
def test_each_number_in_the_prose_is_computed(prose: str) -> None:
    prose = NO_CLAIM.sub("", LINKS.sub("", prose))
    found = set(re.findall(r"\d[\d,.]*\d%?|\d%?", prose))
    assert found
    assert not found - set(claimed().values())


def test_the_people_that_rr_has_to_ask_are_named() -> None:
    claims = claimed()
    assert f"{claims['people']} people" in FRONT
    assert f"**{claims['times as many']} times** as many people" in re.sub(r"\s+", " ", FRONT)
    assert f"**{claims['with RAPPOR']} times** as many people" in re.sub(r"\s+", " ", FRONT)
    assert f"{claims['values']} answers, {claims['sensitive']} of them" in FRONT
    urap = uldp.UtilityOptimizedRappor(uldp.paper.datasets.census().domain, 1.0)
    assert "of the phones with any other answer two of five then show it" in FRONT
    assert 5 * urap.revealed_share == pytest.approx(2, abs=0.05)
    sensitive = urap.sensitive
    assert "the sensitive ones stay as uncertain as with RAPPOR" in FRONT
    for bits in ("true_support", "false_support"):
        of_urap, of_rappor = (
            getattr(mechanism.decoder, bits)[sensitive]
            for mechanism in (urap, uldp.Rappor(urap.domain, 1.0))
        )
        assert np.array_equal(of_urap, of_rappor)


def test_the_verdicts_on_the_paper_are_counted() -> None:
    """What is sharper, and neither repaired nor in need of a reading, holds as printed."""
    rows = re.findall(r"^\| (.+?) \| .+ \| (.+) \| \{", STATEMENTS, re.M)
    fails = [paper.split()[0] for paper, verdicts in rows if "fails in a case" in verdicts]
    words = [set(v.split(", ")) for paper, v in rows if paper.startswith("Proposition")]
    reading, repaired, sharper = (
        sum(word in each for each in words) for word in ("needs a reading", "repaired", "sharper")
    )
    holds = sum(each in ({"holds"}, {"sharper"}) for each in words)
    assert holds + reading + repaired == len(words)
    assert sharper == 5
    assert [fails.count(kind) for kind in ("Theorem", "Table")] == [1, 2]
    assert len(fails) == 1 + 2 + 9
    assert (
        f"Of its {len(words)} propositions {holds} hold as printed, {reading} need a reading, "
        f"and {repaired} a repair in their proof. In all, five are made sharper here. Theorem 1, "
        "two tables and nine sentences fail in a case." in re.sub(r"\s+", " ", FRONT)
    )


def test_the_card_shows_the_belief_that_a_report_leaves() -> None:
    picture = (ROOT / "book" / "images" / "way_ideas.svg").read_text(encoding="utf-8")
    before, married, after, married_after = map(int, re.findall(r"(\d+)%", picture))
    grown = math.e * before / 100 + 1 - before / 100
    assert after == round(math.e * before / grown)
    assert abs(married_after - married / grown) < 1


def test_the_five_lines_of_the_front_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", FRONT, re.S)
    assert code
    names: dict[str, Any] = {}
    exec(code[1], names)
    assert len([line for line in code[1].splitlines() if line]) == 5
    assert len(names["reports"]) == 6000
    shares = [float(number) for number in re.findall(r"-?\d\.\d+", capsys.readouterr().out)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.1)


def test_both_show_the_picture_of_the_quick_start() -> None:
    """It is held to the notebook's by tests/test_book.py."""
    assert "```{figure} images/quickstart.png" in FRONT
    assert "](book/images/quickstart.png)" in README
    figure = next(c for c in NOTEBOOKS["quickstart"] if "figure" in c["metadata"].get("mystnb", {}))
    alt = figure["metadata"]["mystnb"]["image"]["alt"]
    assert f'\n:alt: "{alt}"\n' in FRONT


def test_the_seven_lines_of_the_readme_do_what_is_said_beside_them() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.S)
    assert code
    names: dict[str, object] = {}
    exec(code[1], names)
    assert isinstance(names["tally"], uldp.Tally)
    shown = uldp.inference.summary(names["tally"])
    assert (shown.standard_error > 0).all()
    assert (shown.low < shown.high).all()
