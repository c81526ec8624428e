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
from uldp.domain import Domain
from uldp.mechanisms import PAPER, Mechanism, UtilityOptimizedRappor

try:
    import mpmath
    import sympy as sp
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        'uldp.paper.verify needs the package sympy, of the extra "book"'
    ) from missing

__all__ = ["Agreement", "agree", "l2_given_data", "worst_l1", "worst_l2"]

CASES, DRAWS = 100, 10_000
DIGITS, ZERO = 60, 1e-20
BOUND = 1e-12
STEPS_TO_THE_TOP = (0.0, 0.9, 0.99)


@dataclass(frozen=True, repr=False)
class Agreement:
    """What was tried, and held: a sentence to be read.

    Attributes
    ----------
    sentence : str
        The sentence. It has a bound and no rounding errors, and is the same on all machines.
    """

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
    X_N by chance, s often 1 or k, n up to a million, about one p(x) in five 0, and θ, unless it is
    the paper's, between 0.05 and 0.95. The sentence counts the cases with s = 1 and with s = k.

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
    sizes: list[tuple[int, int]] = []
    with mpmath.workdps(DIGITS):
        for _ in range(DRAWS):
            case = _Case(rng, of[len(sizes) % len(of)], papers_theta, largest_k)
            if not case.compute(only, case.letters):
                continue
            _compare(case, [case.values(side) for side in sides])
            sizes.append((len(case.sensitive), case.p.size))
            if len(sizes) == CASES:
                break
    if len(sizes) < CASES:
        tried = f"{len(sizes)} cases with {only}"
        raise ArithmeticError(f"{DRAWS} draws of {', '.join(of)} have {tried}")
    one = sum(s == 1 for s, _ in sizes)
    all_k = sum(s == k for s, k in sizes)
    if all_k == CASES and any(isinstance(side, Sequence) for side in sides):
        raise ArithmeticError(f"{', '.join(of)}: no value of X_N to try a formula for")
    where = "" if only == sp.true else f" with {sp.pretty(only, use_unicode=True)}"
    theta = " at the paper's θ" if papers_theta else ""
    return Agreement(
        f"{CASES} random cases of {' and '.join(of)}{theta}{where}, k ≤ {largest_k} "
        f"({one} with s = 1, {all_k} with s = k): relative difference below {BOUND:.0e}"
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
    """Return the largest l2 loss that a search finds.

    It looks for the best mass on X_S, with p uniform within X_S and within X_N, and tries whether
    a random p, or a step from there toward it, is worse.
    """
    return _largest(mechanism, p, lambda shares: mechanism.l2_loss(shares, n))


def _largest(
    mechanism: Mechanism, p: NDArray[np.float64], loss: Callable[[NDArray[np.float64]], float]
) -> float:
    """Return the largest loss of all tried, without the package's own worst case."""
    inside = np.zeros(p.size)
    inside[mechanism.sensitive] = 1
    size_S, size_N = inside.sum(), (1 - inside).sum()

    def within(mass: float) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = inside * mass / size_S
        return shares if not size_N else shares + (1 - inside) * (1 - mass) / size_N

    masses = [1.0]
    if mechanism.nonsensitive.size:
        options = {"xatol": BOUND}
        found = minimize_scalar(
            lambda mass: -loss(within(mass)), bounds=(0, 1), method="bounded", options=options
        )
        masses += [0.0, float(found.x)]
    top = max(map(within, masses), key=loss)
    return max(loss(top), *(loss(near * top + (1 - near) * p) for near in STEPS_TO_THE_TOP))


class _Case:
    """A mechanism, a distribution and a number of users, and what the letters stand for there."""

    def __init__(
        self, rng: np.random.Generator, name: str, papers_theta: bool, largest_k: int
    ) -> None:
        checks.choice(name, "of", PAPER)
        kind = PAPER[name]
        k = int(rng.integers(2, largest_k + 1))
        between = rng.integers(1, k + 1, size=4)
        s = int(rng.choice(np.array([1, k, *between])))
        domain = Domain(k, sensitive=rng.permutation(k)[:s])
        has_theta = issubclass(kind, UtilityOptimizedRappor)
        chosen = {"theta": rng.uniform(0.05, 0.95)} if has_theta and not papers_theta else {}
        weights = rng.exponential(size=k) * (rng.random(k) < 0.8)
        weights[rng.integers(k)] += 0.1
        self.name = name
        self.mechanism = kind(domain, 10 ** rng.uniform(-1.5, 1), **chosen)
        self.p = weights / weights.sum()
        self.n = int(rng.integers(1, 10**6))
        self.sensitive = set(self.mechanism.sensitive.tolist())
        self.letters = self._letters()
        if has_theta:
            r = self.letters["r"]
            self.letters["theta"] = mpmath.mpf(chosen["theta"]) if chosen else r / (r + 1)

    def _letters(self) -> dict[str, Any]:
        epsilon = mpmath.mpf(self.mechanism.epsilon)
        shares = [mpmath.mpf(share) for share in self.p]
        s, k = mpmath.mpf(len(self.sensitive)), mpmath.mpf(len(shares))
        return {
            "s": s,
            "nu": k - s,
            "k": k,
            "n": mpmath.mpf(self.n),
            "epsilon": epsilon,
            "varepsilon": epsilon,
            "E": mpmath.exp(epsilon),
            "u": mpmath.expm1(epsilon),
            "r": mpmath.exp(epsilon / 2),
            "u'": mpmath.expm1(epsilon / 2),
            "sigma": mpmath.fsum(shares[x] for x in self.sensitive),
            "q": mpmath.fsum(share**2 for share in shares),
        }

    def __str__(self) -> str:
        shown = [name for name in ("s", "k", "n", "epsilon", "theta") if name in self.letters]
        return f"{self.name} with " + ", ".join(
            f"{name} = {float(self.letters[name]):.6g}" for name in shown
        )

    def values(self, side: Any) -> NDArray[np.float64]:
        """Return the numbers of a side: one, one for each value, or the entries of a matrix."""
        if callable(side):
            return np.asarray(side(self.mechanism, self.p, self.n), dtype=float)
        if not isinstance(side, Sequence):
            return np.array(self.number(side, self.letters))
        columns = []
        for x, share in enumerate(self.p):
            letters = self.letters | {"p": mpmath.mpf(share)}
            entries = side[0] if x in self.sensitive else side[1]
            if isinstance(entries, Sequence):
                own, other = (self.number(entry, letters) for entry in entries)
                columns.append(np.where(np.arange(self.p.size) == x, own, other))
            else:
                columns.append(np.array(self.number(entries, letters)))
        return np.array(columns).T

    def number(self, formula: Any, letters: dict[str, Any]) -> float:
        """Return the real number that a formula stands for."""
        try:
            value = mpmath.mpmathify(self.compute(formula, letters))
        except ZeroDivisionError:
            value = mpmath.nan
        if not mpmath.isfinite(value) or abs(value.imag) > ZERO:
            raise ArithmeticError(f"{formula} is no number for {self}: which cases are meant?")
        return float(value.real)

    def compute(self, formula: Any, letters: dict[str, Any]) -> Any:
        """Return the value of a formula, or whether a condition holds."""
        names, function = _compiled(sp.sympify(formula))
        unknown = [name for name in names if name not in letters]
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: not among the letters of {self.name} here")
        return function(*(letters[name] for name in names))


@lru_cache
def _compiled(formula: Any) -> tuple[list[str], Any]:
    """Return the names of a formula's symbols, and the formula as a function of them."""
    symbols = sorted(formula.free_symbols, key=str)
    return [str(symbol) for symbol in symbols], sp.lambdify(symbols, formula, "mpmath")


def _compare(case: _Case, sides: list[NDArray[np.float64]]) -> None:
    """Refuse sides that are not the same numbers."""
    if any(side.ndim == 0 for side in sides):
        sides = [side.sum() for side in sides]
    if len({side.shape for side in sides}) > 1:
        raise ValueError(f"sides must be alike, got shapes {[side.shape for side in sides]}")
    for other in sides[1:]:
        difference = np.abs(sides[0] - other)
        allowed = ZERO + BOUND * np.maximum(np.abs(sides[0]), np.abs(other))
        if not (difference <= allowed).all():
            place = np.unravel_index((difference / allowed).argmax(), difference.shape)
            at = f" at {tuple(map(int, place))}" if place else ""
            raise ArithmeticError(f"{case}: {sides[0][place]} is not {other[place]}{at}")
