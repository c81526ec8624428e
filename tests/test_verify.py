"""The kit that tries what chapters derive: what is right reads as a sentence, all else fails."""

import re

import numpy as np
import pytest
import sympy as sp

from uldp import losses
from uldp.domain import Domain
from uldp.mechanisms import Mechanism, UtilityOptimizedRR
from uldp.paper import verify
from uldp.privacy import uldp_level

E, epsilon, k, n, nu, p, q, r, s, sigma, theta, u = sp.symbols(
    "E epsilon k n nu p q r s sigma theta u"
)
RESPONSE, RAPPOR = ["RR", "uRR"], ["RAPPOR", "uRAP"]
URR = [(E / (s + u), 1 / (s + u)), (u / (s + u), 0)]
URAP = [(theta, theta / ((1 - theta) * E + theta)), (theta * u / E, 0)]
L2 = ((2 * u * (s - sigma) + s * (s - 1)) / u**2 + 1 - q) / n
SENTENCE = r"100 random cases of {}, k ≤ {} \((\d+) with s = 1, (\d+) with s = k\): equal to 12 d"


def variances(entries, users=n):
    """The variance of each entry of the estimate, from the support by holders and by others."""
    return [
        sp.sympify((own * p + other * (1 - p)) * (1 - own * p - other * (1 - p)))
        / (own - other) ** 2
        / users
        for own, other in entries
    ]


def found(mechanism: Mechanism, p: np.ndarray, n: int) -> np.ndarray:
    return mechanism.decoder.variances(p) / n


def supports(mechanism: Mechanism, p: np.ndarray, n: int) -> np.ndarray:
    each = [mechanism.tally(report[None]).counts for report in mechanism.outputs]
    return mechanism.transition_matrix() @ each


def level(mechanism: Mechanism, p: np.ndarray, n: int) -> float:
    matrix = mechanism.transition_matrix()
    return uldp_level(matrix, mechanism.sensitive, mechanism.protected)


def worst(mechanism: Mechanism, p: np.ndarray, n: int) -> np.ndarray:
    return mechanism.worst_case("l2")


@pytest.mark.parametrize(
    ("derived", "package", "of", "options"),
    [
        (variances(URR), found, RESPONSE, {}),
        (variances(URAP), found, RAPPOR, {}),
        ([sp.sqrt(2 * V / sp.pi) for V in variances(URAP)], losses.l1_loss, RAPPOR, {}),
        (L2, losses.l2_loss, RESPONSE, {}),
        (variances(URR), losses.l2_loss, RESPONSE, {}),
        (L2 - (1 - q) / n, verify.l2_given_data, RESPONSE, {"largest_k": 6}),
        (URR, supports, RESPONSE, {}),
        (URAP, supports, RAPPOR, {"largest_k": 6}),
        (epsilon, level, RESPONSE, {"largest_k": 6}),
        ([(1 - nu / u) / k, (1 + s / u) / k], worst, RESPONSE, {"only": u >= nu}),
        ((s + u) ** 2 / (n * u**2) * (1 - 1 / k), verify.worst_l2, RESPONSE, {"only": u >= nu}),
        (sp.sqrt(2 * (k - 1) / (n * sp.pi)) * (s + u) / u, verify.worst_l1, ["RR"], {}),
    ],
)
def test_what_is_right_agrees(derived, package, of, options):
    printed = str(verify.agree(derived, package, of=of, **options))
    condition = " with u ≥ ν" if "only" in options else ""
    largest = options.get("largest_k", 40)
    found = re.match(SENTENCE.format(" and ".join(of) + condition, largest), printed)
    assert found
    assert of == ["RR"] or sum(map(int, found.groups())) <= 50


def test_about_one_share_in_five_is_zero():
    shares = []
    verify.agree(lambda _, p, n: shares.extend(p) or n, lambda *case: case[2], of=["RR"])
    assert np.mean(np.equal(shares, 0)) == pytest.approx(0.2, abs=0.05)


def test_a_formula_as_printed_is_a_side_of_its_own():
    as_printed = 2 * (s - sigma) / (n * u) + s * (s - 1) / (n * u**2) + (1 - q) / n
    verify.agree(L2, as_printed, losses.l2_loss, of=RESPONSE)
    with pytest.raises(ArithmeticError, match=r"RandomizedResponse\(.*, epsilon=.*, n = \d+: "):
        verify.agree(L2, as_printed + 1 / n, losses.l2_loss, of=RESPONSE)


@pytest.mark.parametrize(
    ("wrong", "package", "of"),
    [
        pytest.param(L2.subs(sigma, -sigma), losses.l2_loss, RESPONSE, id="a sign"),
        pytest.param(2 * L2, losses.l2_loss, RESPONSE, id="a factor"),
        pytest.param(L2.subs(s, k), losses.l2_loss, RESPONSE, id="k for s"),
        pytest.param(L2 + (s - 1) / n, losses.l2_loss, RESPONSE, id="right for s = 1 only"),
        pytest.param(L2 + nu / n, losses.l2_loss, RESPONSE, id="right for s = k only"),
        pytest.param(L2 + (s - 1) * nu / n, losses.l2_loss, RESPONSE, id="right for both only"),
        pytest.param(L2.subs(n, n - 1), losses.l2_loss, RESPONSE, id="n - 1 for n"),
        pytest.param(L2 * (1 + s / 10**10), losses.l2_loss, RESPONSE, id="1e-10 of it"),
        pytest.param([V.subs(p, 1 - p) for V in variances(URR)], found, RESPONSE, id="1 - p for p"),
        pytest.param(variances(URR)[::-1], found, RESPONSE, id="X_N for X_S"),
        pytest.param(
            [V.subs(theta, r / (r + 1)) for V in variances(URAP)],
            found,
            RAPPOR,
            id="the paper's theta for any",
        ),
    ],
)
def test_what_is_wrong_is_caught(wrong, package, of):
    with pytest.raises(ArithmeticError, match="Not equal to tolerance rtol=1e-12"):
        verify.agree(wrong, package, of=of)


def test_both_ends_of_s_are_tried_and_every_theta_but_the_papers():
    seen = set()

    def note(mechanism, p, n):
        size = mechanism.sensitive.size
        ends = {"one": size == 1, "all": size == mechanism.domain.size}
        papers = type(mechanism)(mechanism.domain, mechanism.epsilon)
        seen.update(name for name, holds in ends.items() if holds)
        seen.add("the paper's" if mechanism == papers else "another")
        return 1.0

    verify.agree(sp.Integer(1), note, of=["uRAP"])
    assert seen == {"one", "all", "another"}
    verify.agree(sp.Integer(1), note, of=["uRAP"], papers_theta=True)
    assert "the paper's" in seen


def test_the_largest_loss_is_searched_for_and_not_the_packages(monkeypatch):
    monkeypatch.setattr(losses, "worst_case", None)
    nobody = s * (s + 2 * E - 3) / u**2 + 1 - 1 / nu
    verify.agree(nobody / n, verify.worst_l2, of=["uRR"], only=u <= nu)
    with pytest.raises(ArithmeticError, match="Not equal to tolerance rtol=1e-12"):
        verify.agree(nobody / n, verify.worst_l2, of=["uRR"], only=nu > 0)


def test_a_loss_is_caught_that_is_larger_at_a_random_p_or_a_step_toward_it():
    mechanism = UtilityOptimizedRR(Domain(4, sensitive=[0, 1]), 1.0)
    p = np.array([0.7, 0.1, 0.1, 0.1])
    assert verify._largest(mechanism, p, np.max) == 0.7
    stepped = verify._largest(mechanism, p, lambda q: q[0] / 100 - ((q - 0.25) ** 2).sum())
    assert stepped > 0.002507  # where p is uniform within X_S and X_N it is 0.00250625 at most


@pytest.mark.parametrize(
    ("sides", "of", "only", "error", "message"),
    [
        ([L2 * sp.Symbol("x"), losses.l2_loss], ["uRR"], sp.true, ValueError, "x: not among the"),
        ([L2 * theta, losses.l2_loss], ["uRR"], sp.true, ValueError, "theta: not among the"),
        ([L2 * p, losses.l2_loss], ["uRR"], sp.true, ValueError, "p: not among the"),
        ([L2 + 1 / nu, losses.l2_loss], ["RR"], sp.true, ArithmeticError, "is no number"),
        ([sp.sqrt(-L2), losses.l2_loss], ["uRR"], sp.true, ArithmeticError, "is no number"),
        ([L2, losses.l2_loss], ["RR"], nu > 0, ArithmeticError, "have 0 cases with nu > 0"),
        ([L2, losses.l2_loss], ["uRR"], sp.Eq(nu, 7), ArithmeticError, r"have [1-9]\d? cases with"),
        ([variances(URR), found], ["RR"], sp.true, ArithmeticError, "no value of X_N to try"),
        ([L2], ["RR"], sp.true, ValueError, "two sides"),
        ([L2, losses.l2_loss], [], sp.true, ValueError, "a mechanism"),
        ([L2, losses.l2_loss], ["uBD"], sp.true, ValueError, "of must be one of RR, RAPPOR"),
        ([URR, found], ["uRR"], sp.true, ArithmeticError, "shapes"),
        ([L2, lambda *_: np.nan], ["RR"], sp.true, ArithmeticError, "DESIRED: array\\(nan"),
        ([lambda *_: np.nan] * 2, ["RR"], sp.true, ArithmeticError, "array\\(nan"),
    ],
)
def test_what_cannot_be_tried_is_an_error(monkeypatch, sides, of, only, error, message):
    monkeypatch.setattr(verify, "DRAWS", 300)
    with pytest.raises(error, match=message):
        verify.agree(*sides, of=of, only=only)


def test_the_sentence_is_a_paragraph_on_a_page():
    shown = verify.Agreement("u < ν")
    assert repr(shown) == "u < ν"
    assert shown._repr_html_() == '<p class="agreement">u &lt; ν</p>'
