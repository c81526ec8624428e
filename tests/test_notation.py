"""The code on the page of the notation runs, and it lists what the paper does."""

import re
from pathlib import Path

import numpy as np
import pytest

import uldp
from uldp.personalized import JointLaw, PersonalizedMechanism, TaggedDomain, estimate

PAGE = (Path(__file__).parents[1] / "book" / "notation.md").read_text(encoding="utf-8")
SHARED = PAGE.split(":name: tab-notation-paper\n")[1].split("\n```\n")[0].strip().splitlines()[2:]
CODE = sorted(
    {
        code
        for row in re.findall(r"^\| .+ \| (.*) \|$", PAGE, re.M)
        for code in re.findall(r"`([^`]+)`", row)
        if re.match(r"(1 - )?\w+[.\[]|.* @ ", code)
    }
)
EPSILON = 1.3
OF_TABLE_2 = (
    *(r"$n$", r"$\X$", r"$\XS$", r"$\XN$", r"$\Y$", r"$\mathcal{X}_S^{(i)}$", r"$X^{(i)}$"),
    *(r"$Y^{(i)}$", r"$\mathbf{X}$", r"$\mathbf{Y}$", r"$\Q^{(i)}$", r"$\p$", r"$\phat$"),
    r"$\mathcal{C}$",
)


@pytest.fixture(params=[uldp.UtilityOptimizedRR, uldp.UtilityOptimizedRappor], ids=["uRR", "uRAP"])
def names(request: pytest.FixtureRequest) -> dict[str, object]:
    """What the names in the code column stand for."""
    dom = uldp.Domain(5, sensitive=[1, 3])
    mech = request.param(dom, EPSILON)
    values = [0, 1, 2, 3, 4, 4]
    reports = mech.privatize(values, rng=1)
    tagged = TaggedDomain(dom, ["home", "others"])
    common = request.param(tagged, EPSILON)
    user = PersonalizedMechanism(common, {2: "home"})
    background = {"home": [0, 0, 0.5, 0, 0.5]}
    of_users = common.tally(user.privatize(values, rng=1))
    return {
        "uldp": uldp,
        "dom": dom,
        "mech": mech,
        "rr": uldp.UtilityOptimizedRR(dom, EPSILON),
        "rap": uldp.UtilityOptimizedRappor(dom, EPSILON),
        "values": values,
        "reports": reports,
        "tally": mech.tally(reports),
        "p": np.full(5, 1 / 5),
        "n": 6,
        "epsilon": EPSILON,
        "Q": mech.transition_matrix(),
        "sensitive": dom.sensitive,
        "protected": mech.protected,
        "common": common,
        "user": user,
        "background": background,
        "law": JointLaw.of_users(tagged, values, user.intermediate(values)),
        "found": estimate(common, of_users, background),
        "x": 0,
        "y": 1,
    }


def test_there_is_code_to_run() -> None:
    assert len(CODE) > 50


@pytest.mark.parametrize("code", [code for code in CODE if code != "mech.order"])
def test_the_code_of_the_page_runs(code: str, names: dict[str, object]) -> None:
    assert eval(code, {}, names) is not None


def test_the_order_is_that_of_the_hadamard_response() -> None:
    assert uldp.UtilityOptimizedHadamard(uldp.Domain(5, sensitive=[1, 3]), EPSILON).order == 4


def test_shared_symbols_have_code_and_those_of_the_papers_list_are_among_them() -> None:
    for row in SHARED:
        assert len(row.split(" | ")) == 4, row
        assert "`" in row.split(" | ")[3] or row.startswith("| $u$, $u'$"), row
    columns = "\n".join(row.rsplit(" | ", 1)[0] for row in SHARED)
    assert not [symbol for symbol in OF_TABLE_2 if symbol not in columns]
