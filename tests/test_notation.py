"""The code on the page of the notation runs, and the parameters that it lists are the decoder's."""

import re
from pathlib import Path

import numpy as np
import pytest

import uldp

PAGE = (Path(__file__).parents[1] / "book" / "notation.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| .+ \| .+ \| (.*) \|$", PAGE.split("## The personalized")[0], re.M)
CALLS = sorted(
    {code for row in ROWS for code in re.findall(r"`([^`]+)`", row) if re.match(r"\w+\.", code)}
)
EPSILON = 1.3


@pytest.fixture(params=[uldp.UtilityOptimizedRR, uldp.UtilityOptimizedRappor], ids=["uRR", "uRAP"])
def names(request: pytest.FixtureRequest) -> dict[str, object]:
    """What the names in the code column stand for."""
    dom = uldp.Domain(5, sensitive=[1, 3])
    mech = request.param(dom, EPSILON)
    reports = mech.privatize([0, 1, 2, 3, 4, 4], rng=1)
    return {
        "uldp": uldp,
        "dom": dom,
        "mech": mech,
        "reports": reports,
        "tally": mech.tally(reports),
        "p": np.full(5, 1 / 5),
        "n": 6,
        "epsilon": EPSILON,
        "Q": mech.transition_matrix(),
        "sensitive": dom.sensitive,
        "protected": mech.protected,
    }


def test_there_is_code_to_run() -> None:
    assert len(CALLS) > 25


@pytest.mark.parametrize("code", CALLS)
def test_the_code_of_the_page_runs(code: str, names: dict[str, object]) -> None:
    assert eval(code, {}, names) is not None


def test_levels_and_parameters_are_those_of_the_page() -> None:
    s, e = 2, np.exp(EPSILON)
    dom = uldp.Domain(5, sensitive=range(s))
    c1, c2 = e / (s + e - 1), 1 / (s + e - 1)
    theta = np.exp(EPSILON / 2) / (np.exp(EPSILON / 2) + 1)
    d1 = theta / ((1 - theta) * e + theta)
    d2 = ((1 - theta) * e + theta) / e
    expected = {
        uldp.UtilityOptimizedRR: [(c1, c2), (c1 - c2, 0)],
        uldp.UtilityOptimizedRappor: [(theta, d1), (1 - d2, 0)],
        uldp.Rappor: [(theta, d1), (theta, d1)],
    }
    for make, pairs in expected.items():
        decoder = make(dom, EPSILON).decoder
        for part, (own, other) in zip((dom.sensitive, dom.nonsensitive), pairs, strict=True):
            np.testing.assert_allclose(decoder.true_support[part], own, rtol=1e-12)
            np.testing.assert_allclose(decoder.false_support[part], other, rtol=1e-12)
            np.testing.assert_allclose(decoder.gain[part], own - other, rtol=1e-12)
    assert np.isclose(1 - s * c2, c1 - c2)
