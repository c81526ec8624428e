"""Maximum likelihood: the exact estimate on the simplex, and the EM iteration of the paper.

A report of any mechanism here either reveals a non-sensitive value j or is protected and names a
set A of sensitive values. Up to factors free of p, the likelihood of the first is p(j), and that of
the second

    L(A) = 1 + (e^ε - 1) Σ_{x in A} p(x) = Σ_x p(x) (1 + (e^ε - 1) [x in A]),

so that s + 1 unknowns are enough: the sensitive values and the mass of X_N, which splits in
proportion to how often each of its values was revealed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import xlogy

from uldp import _checks
from uldp._chunks import chunks
from uldp._fields import set_fields
from uldp._packed import PackedSets
from uldp.tallies import Summary

__all__ = [
    "Evidence",
    "MaximumLikelihood",
    "em",
    "log_likelihood",
    "maximum_likelihood",
    "water_filling",
]

SETS_AT_ONCE = 1 << 14
COPIES = 8
COPY = (np.arange(SETS_AT_ONCE) % COPIES * 256).astype(np.uint16)
RESTARTS = 20


@dataclass(frozen=True, eq=False)
class Evidence(Summary):
    """What reports say about p: all that their likelihood depends on.

    Evidence of one mechanism adds up; its sets may stand in any order, and more than once.

    Parameters
    ----------
    law : Law
        The mechanism that made the reports.
    sets : (⌈s/8⌉, m) ndarray of uint8, or None
        The sets of the protected reports, packed as in `UtilityOptimizedRappor`, a set per column;
        None if they are the s single values.
    times : (m,) array_like of int
        How many reports name each set.
    revealed : (k - s,) array_like of int
        How many reports reveal each non-sensitive value.

    Raises
    ------
    ValueError
        If an array is of another shape, or a number is negative or not whole.
    TypeError
        If an argument is of the wrong type.
    """

    sets: NDArray[np.uint8] | None
    times: NDArray[np.int64]
    revealed: NDArray[np.int64]

    def __post_init__(self) -> None:
        super().__post_init__()
        s = self.law.sensitive.size
        times = _checks.counts(self.times, "times", s if self.sets is None else -1)
        revealed = _checks.counts(self.revealed, "revealed", self.law.nonsensitive.size)
        if self.sets is not None:
            _checks.instance(self.sets, "sets", np.ndarray)
            wanted = np.dtype(np.uint8), (PackedSets(s).width, times.size)
            if (self.sets.dtype, self.sets.shape) != wanted:
                raise ValueError(
                    f"sets must be bytes of shape {wanted[1]}, got {self.sets.dtype} of shape "
                    f"{self.sets.shape}"
                )
        set_fields(self, sets=self.sets, times=times, revealed=revealed)

    @property
    def n(self) -> int:
        """The number of reports."""
        return int(self.times.sum() + self.revealed.sum())

    def _plus(self, other: Evidence) -> Evidence:
        revealed = self.revealed + other.revealed
        if self.sets is None or other.sets is None:
            return Evidence(self.law, None, self.times + other.times, revealed)
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
    """An estimate and how far from the largest likelihood it is.

    Attributes
    ----------
    p : (k,) ndarray
        The estimate, a probability vector.
    certificate : float
        An upper bound on (log-likelihood at the optimum - log-likelihood at p) / n.
    passes : int
        How often the likelihood of all reports was computed; 0 where no iteration is needed.
    """

    p: NDArray[np.float64]
    certificate: float
    passes: int


def water_filling(counts: ArrayLike, offsets: ArrayLike) -> NDArray[np.float64]:
    """Return the p on the simplex that maximizes Σ counts log(p + offsets), without iterating.

    At the optimum p = max(0, counts/λ - offsets) with λ such that p sums to 1: values are served in
    the order of counts/offsets until the next one would stay dry.

    Parameters
    ----------
    counts, offsets : (k,) array_like
        Non-negative, the counts not all 0.

    Returns
    -------
    (k,) ndarray

    Raises
    ------
    ValueError, TypeError
        If an argument is out of its range.
    """
    c = _checks.numbers(counts, "counts", (-1,)).astype(float)
    a = _checks.numbers(offsets, "offsets", (c.size,)).astype(float)
    for name, values in (("counts", c), ("offsets", a)):
        if (values < 0).any():
            raise ValueError(f"{name} must not be negative, got {values.min()}")
    if not c.any():
        raise ValueError("counts must not all be 0")
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(c > 0, c / a, 0)
    order = np.argsort(-price)
    level = np.cumsum(c[order]) / (1 + np.cumsum(a[order]))
    served = np.flatnonzero(price[order] > level)
    p: NDArray[np.float64] = np.maximum(c / level[served[-1]] - a, 0)
    return p


def maximum_likelihood(evidence: Evidence, tolerance: float = 1e-6) -> MaximumLikelihood:
    """Return the estimate of largest likelihood, with a certificate.

    For sets of single values (RR and uRR) by water-filling, exact up to rounding; for others with
    L-BFGS-B on the mean log-likelihood less Σp over p ≥ 0, whose optimum sums to 1 by itself:
    the likelihood is homogeneous in p. With g the gradient of the log-likelihood at a distribution
    p, no distribution has a mean log-likelihood above that of p by more than max g / n - 1.

    Parameters
    ----------
    evidence : Evidence
        Of at least one report.
    tolerance : float, optional
        What the certificate must reach.

    Raises
    ------
    ValueError
        If there are no reports or the tolerance is not above 0.
    ArithmeticError
        If the certificate stays above the tolerance.
    """
    _checks.instance(evidence, "evidence", Evidence)
    tolerance = _checks.positive(tolerance, "tolerance")
    if evidence.n == 0:
        raise ValueError("reports must not be empty: there is nothing to estimate from")
    if evidence.sets is None:
        q, passes = _fill(evidence), 0
        certificate = float(_log_likelihood(evidence, q)[1].max() / evidence.n - 1)
    else:
        q, certificate, passes = _climb(evidence, tolerance)
    if certificate > tolerance:
        raise ArithmeticError(f"the certificate is {certificate}, above {tolerance}")
    return MaximumLikelihood(_spread(evidence, q), max(certificate, 0.0), passes)


def _fill(evidence: Evidence) -> NDArray[np.float64]:
    """Return the masses of largest likelihood where each protected report names one value."""
    shown = np.array([evidence.revealed.sum()][: evidence.revealed.size])
    offsets = np.full(evidence.times.size, 1 / np.expm1(evidence.law.epsilon))
    counts = np.concatenate([evidence.times, shown])
    return water_filling(counts, np.append(offsets, np.zeros(shown.size)))


def _climb(evidence: Evidence, tolerance: float) -> tuple[NDArray[np.float64], float, int]:
    """Return the masses that L-BFGS-B reaches, their certificate, and the passes that it took."""
    s, nu, n = evidence.law.sensitive.size, evidence.revealed.size, evidence.n
    bounds = [(0.0, None)] * s + [(evidence.revealed.sum() / n, None)] * (nu > 0)
    passes = 0

    def objective(q: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal passes
        passes += 1
        value, gradient = _log_likelihood(evidence, q)
        return q.sum() - value / n, 1 - gradient / n

    q = np.append(np.full(s, 1 / (s + nu)), np.full(int(nu > 0), nu / (s + nu)))
    for _ in range(RESTARTS):
        options = {"maxcor": 30, "ftol": 0, "gtol": tolerance / 4, "maxiter": 10_000}
        q = minimize(objective, q, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
        q = q / q.sum()
        gradient = objective(q)[1]
        certificate = float(-gradient.min())
        if certificate <= tolerance:
            break
        q = q * (1 - gradient)
    return q, certificate, passes


def em(
    evidence: Evidence, start: ArrayLike, steps: int = 1000, tolerance: float = 0.0
) -> NDArray[np.float64]:
    """Return what expectation maximization reaches (the paper's EM reconstruction).

    From a start without zeros it climbs toward the largest likelihood, slowly where ε is small;
    where that is attained at several points, the start decides which it nears. What it returns
    before that depends on its start and its end.

    Parameters
    ----------
    evidence : Evidence
        Of at least one report.
    start : (k,) array_like
        The distribution to start from; entries of 0 stay 0 unless they are revealed.
    steps : int, optional
        The largest number of iterations.
    tolerance : float, optional
        Stop when an iteration changes p by no more than this in l1.

    Returns
    -------
    (k,) ndarray

    Raises
    ------
    ValueError
        If there are no reports or an argument is out of its range.
    """
    _checks.instance(evidence, "evidence", Evidence)
    law, n = evidence.law, evidence.n
    p = _checks.distribution(start, "start", law.domain.size)
    steps = _checks.whole(steps, "steps", least=0)
    tolerance = _checks.nonnegative(tolerance, "tolerance")
    if n == 0:
        raise ValueError("reports must not be empty: there is nothing to estimate from")
    S, N = law.sensitive, law.nonsensitive
    for _ in range(steps):
        protected = _protected_gradient(evidence, p[S], 1.0)[1]
        after = p.copy()
        after[S] *= protected[:-1] / n
        after[N] = (p[N] * protected[-1] + evidence.revealed) / n
        change = np.abs(after - p).sum()
        p = after / after.sum()
        if change <= tolerance:
            break
    return p


def log_likelihood(evidence: Evidence, p: ArrayLike) -> float:
    """Return the log-likelihood of all reports at p, up to a constant that does not depend on p.

    This is Σ log p(j) over the revealed values j plus Σ log(1 + (e^ε - 1) p(A)) over the sets A
    that protected reports name; differences of it are differences of the log-likelihood.

    Parameters
    ----------
    evidence : Evidence
        What the reports say.
    p : (k,) array_like
        A distribution of the values.

    Returns
    -------
    float
        In nats; -inf if p is 0 at a revealed value.

    Raises
    ------
    ValueError
        If p is not a probability vector over the k values.
    """
    _checks.instance(evidence, "evidence", Evidence)
    law = evidence.law
    p = _checks.distribution(p, "p", law.domain.size)
    protected = _protected_gradient(evidence, p[law.sensitive], 1.0)[0]
    protected += law.epsilon * evidence.times.sum()
    return float(protected + xlogy(evidence.revealed, p[law.nonsensitive]).sum())


def _log_likelihood(
    evidence: Evidence, q: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the log-likelihood and its gradient by the sensitive masses and, if any, X_N's."""
    s = evidence.law.sensitive.size
    value, gradient = _protected_gradient(evidence, q[:s], q.sum())
    if not evidence.revealed.size:
        return value, gradient[:-1]
    shown = evidence.revealed.sum()
    if shown:
        value += shown * np.log(q[s])
        gradient[s] += shown / q[s]
    return value, gradient


def _protected_gradient(
    evidence: Evidence, q: NDArray[np.float64], total: float
) -> tuple[float, NDArray[np.float64]]:
    """Return Σ log L and its derivatives by each sensitive mass and by the mass of all others.

    L is scaled by e^-ε.
    """
    epsilon = evidence.law.epsilon
    outside, inside = np.exp(-epsilon), -np.expm1(-epsilon)
    if evidence.sets is None:
        likelihood = outside * total + inside * q
        weights = evidence.times / likelihood
        value = float(evidence.times @ np.log(likelihood))
        return value, np.append(outside * weights.sum() + inside * weights, outside * weights.sum())
    value, everywhere, within = _over_sets(
        evidence.sets, evidence.times, q, outside * total, inside
    )
    gradient = np.full(q.size + 1, outside * everywhere)
    gradient[:-1] += inside * within
    return value, gradient


def _over_sets(
    sets: NDArray[np.uint8],
    times: NDArray[np.int64],
    q: NDArray[np.float64],
    base: float,
    slope: float,
) -> tuple[float, float, NDArray[np.float64]]:
    """Pass over all sets A with L = base + slope q(A): return Σ log L, Σ 1/L, and Σ [x in A]/L.

    A byte of a set is looked up among the sums of all 256 subsets of its bits, and its weight is
    added to one of 256 totals. Neighbouring reports add to different copies of these, since many
    bytes are alike and the processor waits before it adds to the same total again.
    """
    elements = PackedSets(q.size)
    sums = elements.masses_by_byte(q)
    value, everywhere = 0.0, 0.0
    per_byte = np.zeros((len(sets), 256 * COPIES))
    for chunk in chunks(times.size, SETS_AT_ONCE):
        mass, found = np.zeros((2, times[chunk].size))
        for table, column in zip(sums, sets, strict=True):
            mass += np.take(table, column[chunk], out=found, mode="clip")
        likelihood = base + slope * mass
        value += float(times[chunk] @ np.log(likelihood))
        weights = times[chunk] / likelihood
        everywhere += float(weights.sum())
        copy = COPY[: mass.size]
        for total, column in zip(per_byte, sets, strict=True):
            total += np.bincount(column[chunk] + copy, weights, minlength=total.size)
    per_byte = per_byte.reshape(len(sets), COPIES, 256).sum(axis=1)
    return value, everywhere, elements.totals_by_element(per_byte)


def _spread(evidence: Evidence, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p from the masses of X_S and of X_N."""
    law, shown = evidence.law, evidence.revealed.sum()
    p = np.empty(law.domain.size)
    p[law.sensitive] = q[: law.sensitive.size]
    if evidence.revealed.size:
        share = evidence.revealed / shown if shown else 1 / evidence.revealed.size
        p[law.nonsensitive] = q[-1] * share
    return p
