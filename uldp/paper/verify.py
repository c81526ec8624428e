"""Numbers for a derivation: formulas in symbols against the package, at random cases.

A chapter derives a formula, and `agree` tries it: against what the package computes, and against
the formula as the paper prints it. Formulas are evaluated in 60 digits. What both sides share it
cannot see: tests/test_finite_n.py holds the limit behind the l1 loss, and the losses by listing all
reports. The largest loss of a case is searched for, without the package's `worst_case`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from uldp._numerics import checks
from uldp._numerics.results import needed
from uldp.domain import Domain
from uldp.mechanisms import PAPER, Mechanism, UtilityOptimizedRappor

__all__ = ["Agreement", "agree", "l2_given_data", "worst_l1", "worst_l2"]

CASES, DRAWS = 100, 10_000
TURNS = {"uRR": 4, "uRAP": 4}  # RR and RAPPOR, which are these with s = k, take one turn
DIGITS, ZERO = 60, 1e-20
EQUAL_DIGITS = 12
BOUND = 10.0**-EQUAL_DIGITS
STEPS_TO_THE_TOP = (0.0, 0.9, 0.99)

sp = needed("sympy", "book", "uldp.paper.verify")
mpmath = needed("mpmath", "book", "uldp.paper.verify")

_compiled = lru_cache(sp.lambdify)
_Case = tuple[Mechanism, NDArray[np.float64], int]


@dataclass(frozen=True, repr=False)
class Agreement:
    """What was tried, and held: a sentence with a bound, the same on all machines."""

    sentence: str

    def __repr__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return f'<p class="agreement">{escape(self.sentence)}</p>'


def agree(
    *sides: Any,
    of: Sequence[str],
    only: Any = sp.true,
    papers_theta: bool = False,
    largest_k: int = 40,
) -> Agreement:
    """Try at 100 random cases whether formulas and the package agree.

    A case is a mechanism, p and n: ε is between 0.03 and 10, k at least 2, each value of X_S or of
    X_N by chance, n up to a million, about one p(x) in five 0, and θ, unless it is the paper's,
    between 0.05 and 0.95. With uRR or uRAP, s is 1 or k often, and more often between them. The
    sentence counts the cases with s = 1 and with s = k.

    Parameters
    ----------
    *sides : expression of SymPy, pair of them, or function
        What shall be equal. A pair is for a value x of X_S and of X_N; in a matrix each of the two
        is a pair, the entries of column x in the row of x and in others. A function takes a
        mechanism, p and n. Where one side is a number, those with a number for each value are
        summed. Symbols go by their names: s, nu, k, n, epsilon or varepsilon, E = e^ε, u = E - 1,
        r = e^(ε/2), u' = r - 1, theta, sigma = p(X_S), q for the sum of p(x)², and in pairs p for
        p(x).
    of : sequence of str
        The mechanisms by their names: RR, RAPPOR, uRR, uRAP.
    only : condition of SymPy, optional
        Which cases are tried. By default all: s = 1 and s = k are among them.
    papers_theta : bool, optional
        Whether RAPPOR and uRAP have the paper's θ. By default θ is random.
    largest_k : int, optional
        The most values in a domain, at least 2.

    Raises
    ------
    ArithmeticError
        If a case differs, if one cannot be computed, or if there are not enough cases to try.
    ValueError
        If a symbol is not known, or if there is nothing to compare.
    """
    if len(sides) < 2 or not of:
        raise ValueError("agree needs two sides or more, and a mechanism")
    rng = np.random.default_rng(2019)
    turns = [name for name in of for _ in range(TURNS.get(name, 1))]
    sizes: list[tuple[int, int]] = []
    draws = 0
    with mpmath.workdps(DIGITS):
        while len(sizes) < CASES and draws < DRAWS:
            draws += 1
            case = _draw(rng, turns[len(sizes) % len(turns)], papers_theta, largest_k)
            letters = _letters(*case)
            if _compute(only, letters):
                _compare([_values(side, case, letters) for side in sides], case)
                sizes.append((case[0].sensitive.size, case[0].domain.size))
    names = " and ".join(of)
    if len(sizes) < CASES:
        raise ArithmeticError(f"{DRAWS} draws of {names} have {len(sizes)} cases with {only}")
    one = sum(s == 1 for s, _ in sizes)
    all_k = sum(s == k for s, k in sizes)
    if all_k == CASES and any(isinstance(side, Sequence) for side in sides):
        raise ArithmeticError(f"{names}: no value of X_N to try a formula for")
    where = "" if only == sp.true else f" with {sp.pretty(only, use_unicode=True)}"
    theta = " at the paper's θ" if papers_theta else ""
    return Agreement(
        f"{CASES} random cases of {names}{theta}{where}, k ≤ {largest_k} "
        f"({one} with s = 1, {all_k} with s = k): equal to {EQUAL_DIGITS} digits"
    )


def l2_given_data(mechanism: Mechanism, p: NDArray[np.float64], n: int) -> float:
    """Return the expected squared distance of the estimate from p, the shares among the n users.

    It lists the reports of one user: the estimate is the mean of those from each report alone.
    """
    alone = [mechanism.estimate(mechanism.tally(report[None])) for report in mechanism.outputs]
    errors = np.array(alone) - np.eye(p.size)[:, None]
    given = (mechanism.transition_matrix() * (errors**2).sum(axis=2)).sum(axis=1)
    return float(p @ given / n)


def worst_l1(mechanism: Mechanism, p: NDArray[np.float64], n: int) -> float:
    """Return the largest l1 loss, in the limit of many users, that a search finds."""
    return _largest(mechanism, p, lambda shares: mechanism.l1_loss(shares, n))


def worst_l2(mechanism: Mechanism, p: NDArray[np.float64], n: int) -> float:
    """Return the largest l2 loss that a search finds."""
    return _largest(mechanism, p, lambda shares: mechanism.l2_loss(shares, n))


def _largest(
    mechanism: Mechanism, p: NDArray[np.float64], loss: Callable[[NDArray[np.float64]], float]
) -> float:
    """Return the largest loss of all tried, without the package's own worst case.

    The search is for the best mass on X_S, with p uniform within X_S and within X_N. It tries, too,
    whether a random p, or a step from there toward it, is worse.
    """
    S = mechanism.sensitive
    N = mechanism.nonsensitive

    def within(mass: float) -> NDArray[np.float64]:
        shares = np.empty(p.size)
        shares[S] = mass / S.size
        shares[N] = (1 - mass) / max(N.size, 1)
        return shares

    masses = [1.0]
    if N.size:
        found = minimize_scalar(
            lambda mass: -loss(within(mass)), bounds=(0, 1), options={"xatol": BOUND}
        )
        masses += [0.0, float(found.x)]
    top = max(map(within, masses), key=loss)
    return max(loss(top), *(loss(near * top + (1 - near) * p) for near in STEPS_TO_THE_TOP))


def _draw(rng: np.random.Generator, name: str, papers_theta: bool, largest_k: int) -> _Case:
    checks.choice(name, "of", PAPER)
    kind = PAPER[name]
    k = int(rng.integers(2, largest_k + 1))
    s = int(rng.choice(np.array([1, 1, k, *rng.integers(min(2, k - 1), k, size=10)])))
    domain = Domain(k, sensitive=rng.permutation(k)[:s])
    has_theta = issubclass(kind, UtilityOptimizedRappor) and not papers_theta
    chosen = {"theta": rng.uniform(0.05, 0.95)} if has_theta else {}
    weights = rng.exponential(size=k) * (rng.random(k) < 0.8)
    weights[rng.integers(k)] += 0.1
    mechanism = kind(domain, 10 ** rng.uniform(-1.5, 1), **chosen)
    return mechanism, weights / weights.sum(), int(rng.integers(1, 10**6))


def _letters(mechanism: Mechanism, p: NDArray[np.float64], n: int) -> dict[str, Any]:
    """Return what the letters stand for."""
    epsilon = mpmath.mpf(mechanism.epsilon)
    letters = {
        "s": mpmath.mpf(mechanism.sensitive.size),
        "nu": mpmath.mpf(mechanism.nonsensitive.size),
        "k": mpmath.mpf(p.size),
        "n": mpmath.mpf(n),
        "epsilon": epsilon,
        "varepsilon": epsilon,
        "E": mpmath.exp(epsilon),
        "u": mpmath.expm1(epsilon),
        "r": mpmath.exp(epsilon / 2),
        "u'": mpmath.expm1(epsilon / 2),
        "sigma": mpmath.fsum(p[mechanism.sensitive]),
        "q": mpmath.fsum(p, squared=True),
    }
    if isinstance(mechanism, UtilityOptimizedRappor):
        letters["theta"] = 1 / (1 + mpmath.exp(-mechanism.log_odds))
    return letters


def _values(side: Any, case: _Case, letters: dict[str, Any]) -> NDArray[np.float64]:
    """Return the numbers of a side: one, one for each value, or the entries of a matrix."""
    if callable(side):
        return np.asarray(side(*case), dtype=float)
    if not isinstance(side, Sequence):
        return np.array(_number(side, letters, case))
    mechanism, p, _ = case
    columns = []
    for x, share in enumerate(p):
        entries = side[0] if x in mechanism.sensitive else side[1]
        formulas = entries if isinstance(entries, Sequence) else [entries]
        here = letters | {"p": mpmath.mpf(share)}
        columns.append([_number(formula, here, case) for formula in formulas])
    own, *others = np.array(columns, dtype=float).T
    return np.where(np.eye(p.size), own, others[0]) if others else np.array(own)


def _number(formula: Any, letters: dict[str, Any], case: _Case) -> float:
    """Return the real number that a formula stands for."""
    try:
        value = mpmath.mpmathify(_compute(formula, letters))
    except ZeroDivisionError:
        value = mpmath.nan
    if not mpmath.isfinite(value) or abs(value.imag) > ZERO:
        raise ArithmeticError(f"{formula} is no number for {case[0]}: which cases are meant?")
    return float(value.real)


def _compute(formula: Any, letters: dict[str, Any]) -> Any:
    """Return the value of a formula, or whether a condition holds."""
    formula = sp.sympify(formula)
    symbols = tuple(formula.free_symbols)
    unknown = [str(symbol) for symbol in symbols if str(symbol) not in letters]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: not among the letters {', '.join(letters)}")
    return _compiled(symbols, formula, "mpmath")(*(letters[str(symbol)] for symbol in symbols))


def _compare(sides: list[NDArray[np.float64]], case: _Case) -> None:
    """Refuse sides that are not the same numbers."""
    if any(side.ndim == 0 for side in sides):
        sides = [side.sum() for side in sides]
    for other in sides[1:]:
        try:
            np.testing.assert_allclose(sides[0], other, BOUND, ZERO, equal_nan=False)
        except AssertionError as differ:
            raise ArithmeticError(f"{case[0]}, n = {case[2]}: {differ}") from None
