"""Attributes one by one: each is reported by a mechanism of its own, apart from the others.

A value is a cell of a product domain, and a report is a tuple of reports, independent of each other
given the cell. So its matrix is the Kronecker product of the small ones. That product is never
built: tables are multiplied by the small matrices along each axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import khatri_rao

from uldp._numerics import ascent, checks
from uldp._numerics.fields import set_fields
from uldp.domain import PerValue, ProductDomain, Weights, numbers_over, weights_of
from uldp.law import distribution_over
from uldp.likelihood import MaximumLikelihood
from uldp.mechanisms.base import Seed
from uldp.mechanisms.index_reports import IndexReports
from uldp.tallies import Tally

__all__ = ["OneByOne"]

Array = NDArray[np.float64]

FEW_FORMS = 1 << 20


@dataclass(frozen=True, eq=False)
class OneByOne:
    """Several attributes, each reported by a mechanism of its own (Section 7 of the paper).

    Parameters
    ----------
    mechanisms : mapping of str to IndexReports
        For each attribute its mechanism, of which a report is an index: RR, uRR or uHR. The two
        last report the truth where no value of their domain is sensitive.

    Attributes
    ----------
    mechanisms : mapping of str to IndexReports
        The same, read-only.
    domain : ProductDomain
        All cells; those are sensitive in which some attribute has a value that is protected.
    """

    mechanisms: Mapping[str, IndexReports]
    domain: ProductDomain = field(init=False)

    def __post_init__(self) -> None:
        checks.instance(self.mechanisms, "mechanisms", Mapping)
        for name, mechanism in self.mechanisms.items():
            checks.instance(name, "each name in mechanisms", str)
            checks.instance(mechanism, f"mechanisms[{name!r}]", IndexReports)
        if not self.mechanisms:
            raise ValueError("mechanisms must be of one or more attributes, got none")
        set_fields(self, mechanisms=MappingProxyType(dict(self.mechanisms)))
        hidden = np.zeros((), dtype=np.bool_)
        for mechanism in self._each:
            protected = np.isin(np.arange(mechanism.domain.size), mechanism.sensitive)
            hidden = np.logical_or.outer(hidden, protected)
        labels = {name: m.domain.labels for name, m in self.mechanisms.items()}
        set_fields(self, domain=ProductDomain(labels, np.flatnonzero(hidden)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it anew: a read-only mapping is not pickled."""
        return OneByOne, (dict(self.mechanisms),)

    @property
    def epsilon(self) -> float:
        """The level, in nats, of a change of all attributes: the sum of those that hide anything.

        It holds for a cell whose values are all protected, against every other.
        """
        return sum(mechanism.epsilon for mechanism in self._each if mechanism.sensitive.size)

    def privatize(
        self, values: Any, rng: Seed = None, *, indices: bool = False
    ) -> NDArray[np.int64]:
        """Perturb each user's cell, attribute by attribute; this is what runs on the user's side.

        Parameters
        ----------
        values : label, int, or one-dimensional array of either
            The users' cells, as labels or, with `indices`, as indices (see `ProductDomain.cells`).
        rng : optional
            As for `Mechanism.privatize`.
        indices : bool, optional
            Whether the values are indices (see `Domain.indices`).

        Returns
        -------
        (n, a) or (a,) ndarray of int
            The report on each of the a attributes, a row for each user.
        """
        cells = self.domain._indices(values, "values", indices, secret=True)
        generator = checks.generator(rng, "rng")
        answers = np.unravel_index(cells, self.domain.shape)
        pairs = zip(self._each, answers, strict=True)
        return np.stack(
            [m.privatize(answer, generator, indices=True) for m, answer in pairs], axis=-1
        )

    def count(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return how often each combination of reports came; tables of parts add up.

        Parameters
        ----------
        reports : (n, a) array_like of int
            What `privatize` returned.

        Returns
        -------
        ndarray of int
            With an axis for each attribute, of its number of outputs.
        """
        array = checks.as_array(reports, "reports")
        if array.ndim != 2 or array.shape[1] != len(self.mechanisms):
            raise ValueError(
                f"reports must have shape (n, {len(self.mechanisms)}), got {array.shape}"
            )
        columns = [m.check(column) for m, column in zip(self._each, array.T, strict=True)]
        places = np.ravel_multi_index(columns, self._outputs)
        return np.bincount(places, minlength=prod(self._outputs)).reshape(self._outputs)

    def estimate(self, table: ArrayLike) -> Array:
        """Return the empirical estimate of the joint distribution: unbiased, and perhaps negative.

        Parameters
        ----------
        table : array_like of int
            What `count` returned, of at least one report.

        Returns
        -------
        (k,) ndarray
            For the cells of `domain`; `ProductDomain.marginal` sums it up.
        """
        return _along(self._shares(table), self._decoders).ravel()

    def maximum_likelihood(self, table: ArrayLike, tolerance: float = 1e-6) -> MaximumLikelihood:
        """Return the joint distribution of the largest likelihood, with its certificate.

        Parameters
        ----------
        table : array_like of int
            What `count` returned, of at least one report.
        tolerance : float, optional
            What the certificate must reach (see `likelihood.maximum_likelihood`).

        Raises
        ------
        ArithmeticError
            If the certificate stays above the tolerance.
        """
        shares = self._shares(table)
        tolerance = checks.positive(tolerance, "tolerance")
        matrices = [mechanism.transition_matrix() for mechanism in self._each]
        back = [Q.T for Q in matrices]
        squared = [(Q**2).T for Q in matrices]
        came = shares > 0

        def evaluate(q: Array) -> ascent.Point:
            likely = _along(q.reshape(self.domain.shape), matrices)
            with np.errstate(divide="ignore"):
                value = float(shares[came] @ np.log(likely[came]))
            inverse = np.divide(shares, likely, out=np.zeros_like(shares), where=likely > 0)
            gradient = _along(inverse, back).ravel()
            square = np.divide(inverse, likely, out=np.zeros_like(shares), where=likely > 0)
            curvature = _along(square, squared).ravel() - 2 * gradient + 1
            return ascent.Point(q, value, gradient - 1, np.maximum(curvature, 0), np.zeros(q.size))

        def rows(q: Array) -> Array:
            columns = zip(matrices, np.nonzero(came), strict=True)
            likelihoods = reduce(khatri_rao, (Q[:, column] for Q, column in columns)).T
            return likelihoods * (np.sqrt(shares[came]) / (likelihoods @ q))[:, np.newaxis]

        k = self.domain.size
        small = int(np.count_nonzero(came)) * k <= FEW_FORMS
        start = np.full(k, 1 / k)
        found, passes = ascent.maximize(
            evaluate, rows if small else None, small, slice(0), start, tolerance
        )
        return MaximumLikelihood(found.q, found.certified(tolerance), passes)

    def l2_loss(self, p: PerValue, n: int) -> float:
        """Return the expected squared l2 loss of the empirical estimate, exact for every n.

        It is (Σ_x p(x) Π_i A_i(x_i) - Σ p²)/n, with A_i(x) the mean square of the decoded report on
        attribute i of a user who holds x.

        Parameters
        ----------
        p : (k,) array_like or mapping of label to float
            The true distribution of the cells, from which n users are drawn independently.
        n : int
            The number of users, at least 1.
        """
        p = distribution_over(self.domain, p)
        n = checks.whole(n, "n", least=1)
        squares = [
            (mechanism.transition_matrix() @ (D**2).sum(axis=1))[:, np.newaxis]
            for mechanism, D in zip(self._each, self._decoders, strict=True)
        ]
        return float(_along(p.reshape(self.domain.shape), squares).item() - p @ p) / n

    def total_variance(self, weights: Weights, p: PerValue) -> float:
        """Return n times the variance of a linear combination Σ w(x) p̂(x) of the estimate.

        At an unbiased estimate in the place of p, and divided by n - 1, it is an unbiased estimate
        of the variance, as in `inference.covariance`.

        Parameters
        ----------
        weights : (k,) array_like, collection of labels, or mapping of label to float
            The w(x), as `ProductDomain.weights` makes them (see `inference.total`).
        p : (k,) array_like or mapping of label to float
            The distribution, or an estimate of it that sums to 1.
        """
        shape = self.domain.shape
        w = weights_of(self.domain, weights).reshape(shape)
        q = numbers_over(self.domain, p, "p").reshape(shape)
        likely = _along(q, [mechanism.transition_matrix() for mechanism in self._each])
        decoded = _along(w, [D.T for D in self._decoders])
        return float((likely * decoded**2).sum() - (w * q).sum() ** 2)

    @property
    def _each(self) -> list[IndexReports]:
        return list(self.mechanisms.values())

    @property
    def _outputs(self) -> tuple[int, ...]:
        return tuple(mechanism.output_count for mechanism in self._each)

    @cached_property
    def _decoders(self) -> list[Array]:
        """For each attribute the rows that are made of single reports, shape (|Y|, values)."""
        return [
            np.array([m.estimate(Tally(m, 1, one)) for one in np.eye(m.output_count, dtype=int)])
            for m in self._each
        ]

    def _shares(self, table: ArrayLike) -> Array:
        counts = checks.counts(table, "table", *self._outputs)
        if not counts.any():
            raise ValueError("table must be of one report or more, got none")
        shares: Array = counts / counts.sum()
        return shares


def _along(table: Array, matrices: Sequence[Array]) -> Array:
    """Multiply a table by a matrix along each axis: x_1 ... x_a becomes y_1 ... y_a."""
    for matrix in matrices:
        table = np.tensordot(table, matrix, axes=(0, 0))
    return np.asarray(table)
