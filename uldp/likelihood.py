"""Maximum likelihood: the exact estimate on the simplex, and the EM iteration of the paper.

A report of any mechanism here either reveals a non-sensitive value j or is protected and names a
set A of sensitive values. Up to factors free of p, the likelihood of the first is p(j), and that of
the second

    L(A) = 1 + (e^ε - 1) Σ_{x in A} p(x) = Σ_x p(x) (1 + (e^ε - 1) [x in A]),

so that s + 1 unknowns are enough: the sensitive values and the mass of X_N, which splits in
proportion to how often each of its values was revealed.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from uldp._numerics import ascent, checks
from uldp._numerics.fields import set_fields
from uldp._numerics.frames import stacklevel
from uldp._numerics.packed import PackedSets
from uldp._numerics.passes import Sums, over_sets
from uldp.domain import PerValue
from uldp.law import distribution_over
from uldp.tallies import MOST_REPORTS, Summary

__all__ = [
    "Evidence",
    "MaximumLikelihood",
    "em",
    "log_likelihood",
    "maximum_likelihood",
]

FEW_PRODUCTS = 1 << 22
MOST_FORMS = 1 << 24
CONVERGED = 1e-6


@dataclass(frozen=True, eq=False)
class Evidence(Summary):
    """What reports say about p: all that their likelihood depends on.

    Evidence of one mechanism adds up; its sets may stand in any order, and more than once. What
    lists its sets equals none that does not, and does not add up with it.

    Parameters
    ----------
    law : Law
        The mechanism that made the reports.
    sets : (⌈s/8⌉, m) ndarray of uint8, or None
        The sets of the protected reports, packed as in `UtilityOptimizedRappor`, a set per column;
        None if they are the s single values. They may be large: they are not copied.
    times : (m,) array_like of int
        How many reports name each set.
    revealed : (k - s,) array_like of int
        How many reports reveal each non-sensitive value.
    """

    sets: NDArray[np.uint8] | None
    times: NDArray[np.int64]
    revealed: NDArray[np.int64]

    def __post_init__(self) -> None:
        super().__post_init__()
        s = self.law.sensitive.size
        times = checks.counts(self.times, "times", s if self.sets is None else -1)
        revealed = checks.counts(self.revealed, "revealed", self.law.nonsensitive.size)
        if self.sets is not None:
            checks.instance(self.sets, "sets", np.ndarray)
            wanted = np.dtype(np.uint8), (PackedSets(s).width, times.size)
            if (self.sets.dtype, self.sets.shape) != wanted:
                raise ValueError(
                    f"sets must be bytes of shape {wanted[1]}, got {self.sets.dtype} of shape "
                    f"{self.sets.shape}"
                )
        n = int(times.sum()) + int(revealed.sum())
        if n > MOST_REPORTS:
            raise ValueError(
                f"times and revealed must be of at most {MOST_REPORTS} reports, got {n}"
            )
        set_fields(self, sets=self.sets, times=times, revealed=revealed)

    @property
    def n(self) -> int:
        """The number of reports."""
        return int(self.times.sum() + self.revealed.sum())

    def _plus(self, other: Evidence) -> Evidence:
        revealed = self.revealed + other.revealed
        if self.sets is None and other.sets is None:
            return Evidence(self.law, None, self.times + other.times, revealed)
        if self.sets is None or other.sets is None:
            raise ValueError("each evidence must list its sets, or none of them")
        sets = np.hstack([self.sets, other.sets])
        return Evidence(self.law, sets, np.concatenate([self.times, other.times]), revealed)

    def _content(self) -> tuple[ArrayLike, ...]:
        if self.sets is None:
            return self.times, self.revealed
        occurring = self.times > 0
        sets, place = np.unique(self.sets[:, occurring], axis=1, return_inverse=True)
        times = np.zeros(sets.shape[1], dtype=np.int64)
        np.add.at(times, place.ravel(), self.times[occurring])
        return sets, times, self.revealed


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """An estimate, and a bound on how far it is from the largest likelihood.

    Attributes
    ----------
    p : (k,) ndarray
        The estimate, a probability vector.
    certificate : float
        An upper bound on (log-likelihood at the optimum - log-likelihood at p) / n.
    passes : int
        How often all sets were read; 0 where no iteration is needed.
    """

    p: NDArray[np.float64]
    certificate: float
    passes: int


def _water_filling(c: NDArray[np.float64], a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p on the simplex that maximizes Σ c log(p + a), for c and a that are not negative.

    At the optimum p = max(0, c/λ - a) with λ such that p sums to 1: values are served in the order
    of c/a until the next one would stay dry.
    """
    # Large offsets that differ little must not cancel: they are measured by the largest of them.
    largest = float(a.max()) or 1.0
    relative = a / largest
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(c > 0, c / relative, 0)
    order = np.argsort(-price, kind="stable")
    all_c = np.cumsum(c[order])
    all_a = np.cumsum(relative[order])
    share = c[order] + largest * (c[order] * all_a - relative[order] * all_c)
    last = np.flatnonzero(share > 0)[-1]
    p = np.maximum(c + largest * (c * all_a[last] - relative * all_c[last]), 0)
    found: NDArray[np.float64] = p / p.sum()
    return found


def maximum_likelihood(evidence: Evidence, tolerance: float = CONVERGED) -> MaximumLikelihood:
    """Return the estimate of largest likelihood, with a certificate.

    For sets of single values (RR and uRR) by water-filling, exact up to rounding; for others by
    steps to the top of a quadratic over the simplex, whose Hessian is a diagonal matrix plus one of
    rank one, or the exact one where the sets are few. With g the gradient of the log-likelihood,
    homogeneous in p, at a distribution p, no distribution has a mean log-likelihood above that of p
    by more than max g / n - 1, whatever led to p.

    Parameters
    ----------
    evidence : Evidence
        Of at least one report.
    tolerance : float, optional
        What the certificate must reach.

    Raises
    ------
    ArithmeticError
        If the certificate stays above the tolerance.
    """
    checks.instance(evidence, "evidence", Evidence)
    tolerance = checks.positive(tolerance, "tolerance")
    if evidence.n == 0:
        raise ValueError("reports must not be empty: there is nothing to estimate from")
    if evidence.sets is None:
        found = _evaluate(evidence, _fill(evidence))
        passes = 0
    else:
        found, passes = _ascend(evidence, evidence.sets, tolerance)
    return MaximumLikelihood(_spread(evidence, found.q), found.certified(tolerance), passes)


def _fill(evidence: Evidence) -> NDArray[np.float64]:
    """Return the masses of largest likelihood where each protected report names one value."""
    counts = evidence.times.astype(float)
    offsets = np.full(counts.size, 1 / np.expm1(evidence.law.epsilon))
    if evidence.revealed.size:
        counts = np.append(counts, evidence.revealed.sum())
        offsets = np.append(offsets, 0)
    return _water_filling(counts, offsets)


def _ascend(
    evidence: Evidence, sets: NDArray[np.uint8], tolerance: float
) -> tuple[ascent.Point, int]:
    """Ascend from the uniform distribution."""
    k = evidence.law.domain.size
    s = evidence.law.sensitive.size
    start = np.append(np.full(s, 1 / k), np.full(int(k > s), 1 - s / k))
    number = int(np.count_nonzero(evidence.times)) + 1
    entries = number * start.size
    use_exact_hessian = entries * min(number, start.size) <= FEW_PRODUCTS
    positive = slice(s, None) if evidence.revealed.any() else slice(0)
    evaluate = partial(_evaluate, evidence)
    rows = _Rows(evidence, sets) if entries <= MOST_FORMS else None
    return ascent.maximize(evaluate, rows, use_exact_hessian, positive, start, tolerance)


def em(
    evidence: Evidence, start: PerValue, steps: int = 1000, tolerance: float = 0.0
) -> NDArray[np.float64]:
    """Return the estimate that expectation maximization reaches (the paper's EM reconstruction).

    From a start without zeros it climbs toward the largest likelihood, slowly where ε is small;
    where that is attained at several points, the start decides which it nears. An estimate
    before that depends on its start and its end. `maximum_likelihood` arrives.

    Parameters
    ----------
    evidence : Evidence
        Of at least one report.
    start : (k,) array_like or mapping of label to float
        The distribution to start from; entries of 0 stay 0 unless they are revealed.
    steps : int, optional
        The largest number of iterations.
    tolerance : float, optional
        Stop when an iteration changes p by no more than this in l1.

    Returns
    -------
    (k,) ndarray

    Warns
    -----
    RuntimeWarning
        If, after more than one iteration, the certificate of `maximum_likelihood` is above 1e-6.
    """
    checks.instance(evidence, "evidence", Evidence)
    law = evidence.law
    n = evidence.n
    p = distribution_over(law.domain, start, "start")
    steps = checks.whole(steps, "steps", least=0)
    tolerance = checks.nonnegative(tolerance, "tolerance")
    if n == 0:
        raise ValueError("reports must not be empty: there is nothing to estimate from")
    S = law.sensitive
    N = law.nonsensitive
    outside, inside = _weights(evidence)
    certificate = 0.0
    for step in range(steps):
        sums = _sums(evidence, p[S])
        everywhere = outside * sums.inverse
        factors = (everywhere + inside * sums.inverse_within) / n
        after = p.copy()
        after[S] *= factors
        after[N] = (p[N] * everywhere + evidence.revealed) / n
        if step:
            held = N[p[N] > 0]
            largest = factors.max(initial=everywhere / n)
            certificate = float((after[held] / p[held]).max(initial=largest)) - 1
        change = np.abs(after - p).sum()
        p = after / after.sum()
        if change <= tolerance:
            break
    if certificate > CONVERGED:
        warnings.warn(
            f"EM stopped after {step + 1} steps, where the mean log-likelihood may be "
            f"{certificate:.2g} below the largest, which it nears slowly, or not from a start with "
            "zeros; 'mle' reaches it",
            RuntimeWarning,
            stacklevel=stacklevel(),
        )
    return p


def log_likelihood(evidence: Evidence, p: PerValue) -> float:
    """Return the log-likelihood of all reports at p, up to a constant that does not depend on p.

    This is Σ log p(j) over the revealed values j plus Σ log(1 + (e^ε - 1) p(A)) over the sets A
    that protected reports name; differences of it are differences of the log-likelihood.

    Parameters
    ----------
    evidence : Evidence
        What the reports say.
    p : (k,) array_like or mapping of label to float
        A distribution of the values.

    Returns
    -------
    float
        In nats; -inf if p is 0 at a revealed value.
    """
    checks.instance(evidence, "evidence", Evidence)
    law = evidence.law
    p = distribution_over(law.domain, p)
    sums = _sums(evidence, p[law.sensitive], all_sums=True)
    protected = sums.log + evidence.law.epsilon * evidence.times.sum()
    return float(protected + xlogy(evidence.revealed, p[law.nonsensitive]).sum())


def _weights(evidence: Evidence) -> tuple[float, float]:
    """Return e^-ε L of a set that does not hold the value, and what is added if it does."""
    epsilon = evidence.law.epsilon
    return math.exp(-epsilon), -math.expm1(-epsilon)


def _sums(evidence: Evidence, q: NDArray[np.float64], all_sums: bool = False) -> Sums:
    """Return the sums over protected reports, with the masses q of the sensitive values."""
    outside, inside = _weights(evidence)
    if evidence.sets is not None:
        return over_sets(evidence.sets, evidence.times, q, outside, inside, all_sums)
    likelihood = outside + inside * q
    inverse = evidence.times / likelihood
    square = inverse / likelihood
    log = float(evidence.times @ np.log(likelihood))
    return Sums(log, inverse.sum(), square.sum(), inverse, square)


def _evaluate(evidence: Evidence, q: NDArray[np.float64]) -> ascent.Point:
    """Return the point of the sensitive masses and, if any, that of X_N."""
    n = evidence.n
    s = evidence.law.sensitive.size
    shown = evidence.revealed.sum()
    outside, inside = _weights(evidence)
    sums = _sums(evidence, q[:s], all_sums=True)
    # Entry x is the mean of l(x)/L less 1: `outside` of each set, and `inside` more if it holds x.
    gradient = np.full(q.size, outside * sums.inverse / n - 1)
    gradient[:s] += inside * sums.inverse_within / n
    diagonal, rank_one = np.zeros((2, q.size))
    if sums.square > 0:
        # Off the diagonal the negative Hessian is taken to be what it is if sets hold x and z
        # independently: a(x) a(z)/(n Σ 1/L²), with a(x) = inside times Σ 1/L² over those with x.
        rank_one[:s] = inside * sums.square_within / np.sqrt(n * sums.square)
        diagonal[:s] = inside**2 * sums.square_within / n - rank_one[:s] ** 2
    value = sums.log / n
    if shown:  # then X_N is not empty, and its mass is q[s]
        value += shown / n * np.log(q[s])
        gradient[s] += shown / n / q[s]
        diagonal[s] = shown / n / q[s] ** 2
    return ascent.Point(q, float(value), gradient, diagonal, rank_one)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows l/(l·q) at a q, of sets and of X_N, whose squares add up to the Hessian.

    The forms l take memory, and are listed when the rows are first asked for.
    """

    evidence: Evidence
    sets: NDArray[np.uint8]

    def __call__(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        forms, weights = self._forms
        return forms * (weights / (forms @ q))[:, np.newaxis]

    @cached_property
    def _forms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The forms that occur, and the root of the share of reports that have each."""
        s = self.evidence.law.sensitive.size
        nu = self.evidence.revealed.size
        outside, inside = _weights(self.evidence)
        times = np.append(self.evidence.times, self.evidence.revealed.sum())
        forms = np.zeros((times.size, s + (nu > 0)))
        forms[:-1] = outside
        forms[:-1, :s] += inside * PackedSets(s).unpack(self.sets.T)
        forms[-1, s:] = 1
        return forms[times > 0], np.sqrt(times[times > 0] / self.evidence.n)


def _spread(evidence: Evidence, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p from the masses of X_S and of X_N."""
    law = evidence.law
    shown = evidence.revealed.sum()
    p = np.empty(law.domain.size)
    p[law.sensitive] = q[: law.sensitive.size]
    if evidence.revealed.size:
        share = evidence.revealed / shown if shown else 1 / evidence.revealed.size
        p[law.nonsensitive] = q[-1] * share
    return p
