"""Whether an estimate differs from a distribution, or surveys from one another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from uldp._numerics import checks
from uldp._numerics.results import Result
from uldp.decoders import ROUNDING
from uldp.domain import PerValue
from uldp.law import Law, distribution_over
from uldp.tallies import Tally, adjusted, empirical, projected

__all__ = ["ChiSquare", "goodness_of_fit", "homogeneity"]

Array = NDArray[np.float64]

LARGEST_COVARIANCE = 3_000
SINGULAR = 1e-9


@dataclass(frozen=True)
class ChiSquare(Result):
    """The result of a test.

    It prints, and renders in a notebook; `to_pandas()` returns a data frame of one row.

    Attributes
    ----------
    statistic : float
        The squared length of the deviation in units of its covariance; infinite if it cannot be.
    degrees_of_freedom : int
        The rank of this covariance, the mean of the statistic.
    pvalue : float
        The probability that a chi-square number of so many degrees of freedom is as large.
    """

    statistic: float
    degrees_of_freedom: int
    pvalue: float


def goodness_of_fit(tally: Tally, p: PerValue) -> ChiSquare:
    """Test whether the users were drawn from a given distribution.

    The statistic is n (p̂ - p)ᵀ (M(p) - p pᵀ)⁺ (p̂ - p), for RR and uRR Pearson's Σ (c - nm)²/(nm) of
    the counts c. If p is true its mean is the rank of the covariance at every n, and its law tends
    to chi-square. Pearson's rule holds here as there: the p-value is not to be trusted where many
    supports are expected less than 5 times.

    Parameters
    ----------
    tally : Tally
        Of at least one report.
    p : (k,) array_like or mapping of label to float
        The distribution.

    Returns
    -------
    ChiSquare

    Raises
    ------
    ValueError
        If there are more than 3,000 values under uHR or a block design, for which the covariance is
        taken apart: at 3,000 this takes some ten seconds, and eight times less for half as many.
    """
    estimate = empirical(tally)
    p = distribution_over(tally.law.domain, p)
    _check_size(tally.law, p.size, "tally")
    form = _form(tally.law, p)
    size = np.array([tally.n])
    return _chi_square([form], size, np.eye(1), (estimate - p)[np.newaxis])


def homogeneity(*tallies: Tally) -> ChiSquare:
    """Test whether several surveys have one distribution.

    The mechanisms may differ. The deviations are the differences of the estimates from the first
    one. Where all tallies are of one mechanism at one ε, their covariance is taken at the adjusted
    estimate from all reports; for RR and uRR this, and no other case, is Pearson's test of the
    counts. Else, or where few reports give a matrix with a negative eigenvalue, the covariance is
    taken at one distribution for all: the mean of the estimates of the mechanisms, each entry
    weighted by the inverse of its variance, projected to the simplex, with half a user more for
    each value of which anything is reported.
    A value of which no survey reports anything has the probability 0 in both, also where the
    estimate of a block design is another number, and adds no degree of freedom.

    Parameters
    ----------
    *tallies : Tally
        Two or more, each of at least one report, over the same values, of different people.

    Returns
    -------
    ChiSquare

    Raises
    ------
    ValueError
        If, with uHR or block designs among them, the values times the tallies but one are more than
        3,000; see `goodness_of_fit` for the time.
    """
    if len(tallies) < 2:
        raise ValueError(f"tallies must be two or more, got {len(tallies)}")
    for tally in tallies:
        checks.instance(tally, "tallies", Tally)
        if tally.n == 0:
            raise ValueError("tallies must not be empty: there is nothing to compare")
        if tally.law.domain.labels != tallies[0].law.domain.labels:
            raise ValueError(
                f"tallies must be over the same values, got {tallies[0].law.domain!r} and "
                f"{tally.law.domain!r}"
            )
    pooled: dict[Law, Tally] = {}
    for tally in tallies:
        pooled[tally.law] = tally + pooled.get(tally.law, 0)
    estimates = np.array([empirical(tally) for tally in tallies])
    contrasts = np.eye(len(tallies))[1:]
    contrasts[:, 0] = -1
    sizes = np.array([tally.n for tally in tallies])
    for law in pooled:
        _check_size(law, contrasts.shape[0] * estimates.shape[1], "tallies")
    reported = [tally.law.decoder.reported(tally.counts, tally.n) for tally in pooled.values()]
    possible = np.any(reported, axis=0)
    if not possible.any():
        possible[:] = True
    points = [_common([*pooled.values()], possible)]
    if len(pooled) == 1:
        own = adjusted(*pooled.values())
        own[possible] += own[~possible].sum() / possible.sum()
        points.insert(0, own * possible)
    for p in points:
        forms = {law: _form(law, p) for law in pooled}
        found = _chi_square([forms[t.law] for t in tallies], sizes, contrasts, estimates)
        if found.statistic < math.inf and all(map(_is_positive, forms.values())):
            break
    return found


def _common(tallies: Sequence[Tally], possible: NDArray[np.bool_]) -> Array:
    """Return one distribution for all: the mean of the estimates, the surer the heavier.

    It is projected to the simplex, and half a user is added to each value that is possible; others
    have none.
    """
    estimates = np.array([empirical(tally) for tally in tallies])
    uniform = np.full(estimates.shape[1], 1 / estimates.shape[1])
    precision = np.array(
        [t.n / np.maximum(t.law.decoder.variances(uniform), ROUNDING) for t in tallies]
    )
    mean = (precision * estimates).sum(axis=0) / precision.sum(axis=0)
    n = sum(tally.n for tally in tallies)
    users = possible * (n * projected(mean) + 0.5)
    common: Array = users / users.sum()
    return common


class _Form(NamedTuple):
    """The covariance A - b bᵀ of one report's row, where A is a matrix or diagonal, shape (k,)."""

    a: Array
    b: Array

    def is_diagonal(self) -> bool:
        return self.a.ndim == 1

    def dense(self) -> Array:
        square = np.outer(self.b, self.b)
        matrix = (np.diag(self.a) if self.is_diagonal() else self.a) - square
        return np.where(np.abs(matrix) > ROUNDING * np.abs(square), matrix, 0)


def _form(law: Law, p: Array) -> _Form:
    """Return M(p) - p pᵀ."""
    diagonal = law.decoder.as_diagonal(p)
    if diagonal is None:
        return _Form(law.second_moment(p), p)
    a, b = diagonal
    return _Form(np.maximum(a, 0), b)


def _is_positive(form: _Form) -> bool:
    """Tell whether a form is positive semidefinite."""
    if form.is_diagonal():
        inverse = np.divide(1, form.a, out=np.zeros(form.a.size), where=form.a > 0)
        return bool(form.b**2 @ inverse < 1 + SINGULAR)
    matrix = form.dense()
    scale = _scale(np.diag(matrix))
    if np.abs(matrix[scale == 0]).max(initial=0) > SINGULAR:
        return False
    return bool(np.linalg.eigvalsh(matrix * np.outer(scale, scale))[0] > -SINGULAR)


def _chi_square(
    forms: Sequence[_Form], sizes: NDArray[np.int64], contrasts: Array, estimates: Array
) -> ChiSquare:
    """Test whether contrasts of independent estimates are 0, each of shape (k,).

    Parameters
    ----------
    forms : sequence of _Form
        n times the covariance of each estimate.
    sizes : (t,) ndarray
        The n of each.
    contrasts : (c, t) ndarray
        What is added up.
    estimates : (t, k) ndarray
        The estimates.
    """
    deviations = (contrasts @ estimates).T
    test = _diagonal if all(form.is_diagonal() for form in forms) else _dense
    statistic, rank = test(forms, sizes, contrasts, deviations)
    pvalue = float(chdtrc(max(rank, 1), statistic))
    return ChiSquare(statistic, rank, pvalue)


def _diagonal(
    forms: Sequence[_Form], sizes: NDArray[np.int64], contrasts: Array, deviations: Array
) -> tuple[float, int]:
    """Return the statistic and its rank by the formula of Woodbury, in O(k)."""
    a = np.array([form.a for form in forms]) / sizes[:, None]
    b = np.array([form.b for form in forms]) / np.sqrt(sizes)[:, None]
    a[a * sizes[:, None] < ROUNDING] = 0
    # The covariance of the contrasts is A - B Bᵀ, where A consists of one block for each value x.
    A = np.einsum("ij,lj,jx->xil", contrasts, contrasts, a)
    B = np.einsum("ij,jx->xij", contrasts, b)
    possible = (np.abs(deviations)[np.diagonal(A, axis1=1, axis2=2) == 0] <= ROUNDING).all()
    # Its inverse is A⁻¹ + A⁻¹ B (I - Bᵀ A⁻¹ B)⁻¹ Bᵀ A⁻¹; an inner eigenvalue of 0 is a direction
    # in which nothing varies, such as that of all sums being 1. What deviates there counts by the
    # largest variance that it can have.
    inverse = np.linalg.pinv(A, hermitian=True)
    shrunk = np.einsum("xil,xl->xi", inverse, deviations)
    inner = np.eye(len(forms)) - np.einsum("xij,xil,xlm->jm", B, inverse, B, optimize=True)
    values, vectors = np.linalg.eigh(inner)
    along = vectors.T @ np.einsum("xij,xi->j", B, shrunk)
    statistic = np.sum(deviations * shrunk) + np.sum(along**2 / np.maximum(values, SINGULAR))
    rank = int(np.linalg.matrix_rank(A, hermitian=True).sum()) - int((values <= SINGULAR).sum())
    return (float(max(statistic, 0)) if possible else math.inf), rank


def _dense(
    forms: Sequence[_Form], sizes: NDArray[np.int64], contrasts: Array, deviations: Array
) -> tuple[float, int]:
    """Return the statistic and its rank from the eigenvalues of the correlation matrix."""
    covariance = np.zeros((deviations.size, deviations.size))
    for form, size, contrast in zip(forms, sizes, contrasts.T, strict=True):
        covariance += np.kron(form.dense() / size, np.outer(contrast, contrast))
    scale = _scale(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance * np.outer(scale, scale))
    along = vectors.T @ (scale * deviations.ravel())
    regular = values > SINGULAR
    possible = np.abs(along[~regular]).max(initial=0) < SINGULAR * max(1, np.abs(along).max())
    if not possible or np.abs(deviations.ravel()[scale == 0]).max(initial=0) > ROUNDING:
        return math.inf, int(regular.sum())
    return float(np.sum(along[regular] ** 2 / values[regular])), int(regular.sum())


def _scale(variances: Array) -> Array:
    """Return what makes variances 1, and 0 for those that are 0 but for rounding."""
    positive = variances > ROUNDING * variances.max(initial=ROUNDING)
    root = np.sqrt(np.maximum(variances, 0))
    return np.divide(1, root, out=np.zeros(variances.size), where=positive)


def _check_size(law: Law, entries: int, name: str) -> None:
    is_dense = law.decoder.as_diagonal(np.zeros(law.domain.size)) is None
    if is_dense and entries > LARGEST_COVARIANCE:
        raise ValueError(
            f"{name} of {type(law).__name__} must have at most {LARGEST_COVARIANCE} values in all, "
            f"got {entries}"
        )
