"""What every mechanism has: its parameters, its law, and the way from answers to an estimate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp import likelihood, losses
from uldp._numerics import checks
from uldp._numerics.chunks import chunks
from uldp.domain import PerValue, per_value
from uldp.law import Law
from uldp.likelihood import Evidence, MaximumLikelihood
from uldp.tallies import FROM_TALLIES, METHODS, MOST_REPORTS, Tally

__all__ = ["Mechanism", "Seed"]

Seed = None | int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator

USERS_AT_ONCE = 1 << 16
MOST_NUMBERS_SHOWN = 20


@dataclass(frozen=True)
class Mechanism(Law):
    """A mechanism is an immutable value: its fields are its parameters.

    It is a `Law`, to which it adds the device's side, and short ways to estimators and losses.

    Parameters
    ----------
    domain : Domain
        The values, and which of them are sensitive.
    epsilon : float
        The privacy budget ε, in nats.
    """

    wire_name: ClassVar[str] = ""
    """The name of the kind in survey files, tables and figures, if it is one of `uldp.kinds`."""

    def own_entries(self) -> dict[str, Any]:
        """Return what a survey file says of it beside domain and ε: its other fields."""
        own = sorted({f.name for f in fields(self) if f.init} - {"domain", "epsilon"})
        return {name: getattr(self, name) for name in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Keep what it is made of; what an earlier version has computed may look different."""
        own = {
            name: value
            for name, value in state.items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }
        super().__setstate__(own)

    def privatize(self, values: Any, rng: Seed = None, *, indices: bool = False) -> Any:
        """Perturb each user's value; this is what runs on the user's side.

        Parameters
        ----------
        values : label, int, or one-dimensional array of either
            The users' true values, as labels or, with `indices`, as indices.
        rng : optional
            What `numpy.random.default_rng` takes. None is NumPy's default generator, seeded in each
            call with 128 bits of entropy from the operating system; it is a statistical generator,
            not made to withstand an attacker. For real answers use
            `uldp.survey.secure.generator()`.
        indices : bool, optional
            Whether the values are indices, for which integers are not taken where the labels are
            strings (see `Domain.indices`).

        Returns
        -------
        ndarray
            The reports, one per user along the first axis; a single report for a single value.

        Raises
        ------
        ValueError, TypeError
            If a value is not in the domain. What was given is neither in the message nor in the
            context of the exception: it may be an answer.
        """
        held = self.domain._indices(values, "values", indices, secret=True)
        generator = checks.generator(rng, "rng")
        users = np.atleast_1d(held)
        reports = np.empty(users.size, dtype=self.report_dtype)
        for chunk in chunks(users.size, USERS_AT_ONCE):
            reports[chunk] = self._perturb(users[chunk], generator)
        return reports if held.ndim else reports[0]

    def tally(self, reports: ArrayLike) -> Tally:
        """Count, for each value, the reports that support it; the collector keeps nothing else.

        Parameters
        ----------
        reports : array_like
            What `privatize` returned, for any number of users. Tallies of parts add up.
        """
        checked = self.check(reports)
        return Tally(self, len(checked), self._count(checked))

    def check(self, reports: ArrayLike) -> NDArray[Any]:
        """Return reports as an array of their type, or refuse them.

        Parameters
        ----------
        reports : array_like
            What a collector received, one report or many.

        Returns
        -------
        (n, ...) ndarray
            Of `report_dtype`, one report along the first axis.
        """
        array = self._as_reports(reports)
        for met, condition in self._conditions(array):
            if not met.all():
                raise ValueError(f"reports must {condition}, got {_shown(array[~met][0])}")
        return array

    def possible(self, reports: ArrayLike) -> NDArray[np.bool_]:
        """Return which reports this mechanism can produce; `tally` and `evidence` take only those.

        Parameters
        ----------
        reports : array_like
            What a collector received, of the type and shape of this mechanism's reports.

        Returns
        -------
        (n,) ndarray of bool
        """
        array = self._as_reports(reports)
        possible = np.ones(len(array), dtype=np.bool_)
        for met, _ in self._conditions(array):
            possible &= met
        return possible

    def _as_reports(self, reports: ArrayLike) -> NDArray[Any]:
        """Return reports of the mechanism's type, one along the first axis."""
        array = checks.integers(reports, "reports")
        dtype = self.report_dtype
        if array.shape == (0,):
            array = array.reshape(0, *dtype.shape)
        lead = array.ndim - dtype.ndim
        if lead not in (0, 1) or array.shape[lead:] != dtype.shape:
            expected = ", ".join(["n", *map(str, dtype.shape)])
            raise ValueError(f"reports must have shape ({expected}), got {array.shape}")
        array = array.reshape(-1, *dtype.shape)
        limits = np.iinfo(dtype.base)
        if array.dtype != dtype.base:
            if array.size and (array.min() < limits.min or array.max() > limits.max):
                raise ValueError(f"reports must fit {dtype.base}, got {array.min()}..{array.max()}")
            array = array.astype(dtype.base)
        return array

    def simulate(self, true_counts: PerValue, rng: Seed = None) -> Tally:
        """Draw a tally with the law of `tally(privatize(...))` on a population.

        For the mechanisms of the paper this takes O(k), for block designs of sizes d O(k + s Σ d)
        and for uHR O(k + s log s), however many users there are.

        Parameters
        ----------
        true_counts : (k,) array_like of int, or mapping of label to int
            How many users hold each value.
        rng : optional
            What `numpy.random.default_rng` takes.
        """
        given = per_value(self.domain, true_counts, "true_counts")
        counts = checks.counts(given, "true_counts", self.domain.size)
        n = int(counts.sum())
        if n > MOST_REPORTS:
            raise ValueError(f"true_counts must be of at most {MOST_REPORTS} users, got {n}")
        generator = checks.generator(rng, "rng")
        return Tally(self, n, self._simulate_counts(counts, generator))

    def estimate(
        self, reports: ArrayLike | Tally | Evidence, method: str = "empirical", **options: Any
    ) -> NDArray[np.float64]:
        """Estimate the distribution of the true values.

        Parameters
        ----------
        reports : Tally, Evidence or array_like
            The collector's tally or evidence, or the reports themselves.
        method : {"empirical", "adjusted", "threshold", "norm_sub", "em", "mle"}
            The first four are those of `Tally.estimate`, by default the paper's; `uldp.inference`
            has the adjusted one by default, which is the same under RR and uRR. "em" is
            `likelihood.em`, by default from the estimate "threshold" as in the paper, and "mle"
            `likelihood.maximum_likelihood`, which need reports or evidence where a report is a set.
        **options
            Passed on to the estimator.

        Returns
        -------
        (k,) ndarray
        """
        checks.choice(method, "method", METHODS)
        if method in FROM_TALLIES:
            return self._as_tally(reports).estimate(method, **options)
        if method == "mle":
            return self.maximum_likelihood(reports, **options).p
        if "start" not in options:
            options["start"] = self._as_tally(reports).estimate("threshold")
        return likelihood.em(self._as_evidence(reports), **options)

    def evidence(self, reports: ArrayLike | Tally) -> Evidence:
        """Return what the reports' likelihood depends on; evidence of parts adds up.

        Only mechanisms that say it have maximum likelihood, EM and a posterior (see `likelihood`).

        Parameters
        ----------
        reports : array_like or Tally
            The reports; a tally only where it keeps all of this: where a report is an index, as
            under RR, uRR and uHR, or a set of one value.

        Raises
        ------
        ValueError, TypeError
            If the likelihood needs the reports themselves, and a tally is given; and for a
            mechanism that has no evidence.
        """
        raise TypeError(f"reports must be of a mechanism that has evidence, got {self!r}")

    def maximum_likelihood(
        self, reports: ArrayLike | Tally | Evidence, tolerance: float = 1e-6
    ) -> MaximumLikelihood:
        """Return the estimate of largest likelihood and its certificate.

        Parameters
        ----------
        reports : array_like, Tally or Evidence
            The collector's evidence, the reports, or a tally where it keeps all of this.
        tolerance : float, optional
            What the certificate must reach (see `likelihood.maximum_likelihood`).

        Raises
        ------
        ArithmeticError
            If the certificate stays above the tolerance.
        """
        return likelihood.maximum_likelihood(self._as_evidence(reports), tolerance)

    def l1_loss(self, p: PerValue, n: int, exact: bool = False, method: str = "empirical") -> float:
        """Return the expected l1 loss of an estimate (see `losses.l1_loss`)."""
        return losses.l1_loss(self, p, n, exact, method)

    def l2_loss(self, p: PerValue, n: int, method: str = "empirical") -> float:
        """Return the expected squared l2 loss of an estimate (see `losses.l2_loss`)."""
        return losses.l2_loss(self, p, n, method)

    def worst_case(self, loss: losses.Loss, method: str = "empirical") -> NDArray[np.float64]:
        """Return the distribution, shape (k,), of the largest loss (see `losses.worst_case`)."""
        return losses.worst_case(self, loss, method)

    @property
    @abstractmethod
    def report_dtype(self) -> np.dtype[Any]:
        """The type of one report; a vector of bytes is a dtype with a shape."""

    @property
    @abstractmethod
    def outputs(self) -> NDArray[Any]:
        """All reports that some value can lead to, in the order of the matrix's columns."""

    @property
    @abstractmethod
    def output_count(self) -> int:
        """The number |Y| of `outputs`, known without listing them."""

    @property
    def revealed_share(self) -> float:
        """The least probability with which a non-sensitive value is revealed, 0 if there is none.

        It is read off the matrix unless the mechanism has a formula for it.
        """
        revealing = self._matrix()[self.nonsensitive][:, ~self.protected].sum(axis=1)
        return float(revealing.min(initial=1.0)) if revealing.size else 0.0

    @property
    @abstractmethod
    def protected(self) -> NDArray[np.bool_]:
        """Which of `outputs` lie in Y_P, so that they reveal no value; shape (|Y|,)."""

    def transition_matrix(self) -> NDArray[np.float64]:
        """Return Q(y|x) over the reachable `outputs`, shape (k, |Y|).

        Raises
        ------
        ValueError
            If the matrix would have more than 2^24 entries, or some would be too small for floating
            point.
        """
        self._check_matrix_size(self.output_count)
        return self._matrix()

    def _best_report(self, weights: NDArray[np.float64]) -> Any:
        """Return the report y with the largest D_y · w; by default all reports are tried.

        Parameters
        ----------
        weights : (k,) ndarray
            w.
        """
        return self._best_of(self.outputs, weights)

    def _best_of(self, reports: NDArray[Any], weights: NDArray[np.float64]) -> Any:
        """Return the first of these reports y with the largest D_y · w."""
        totals = [self.decoder.estimate(self.tally(y[None]).counts, 1) @ weights for y in reports]
        return reports[np.argmax(totals)]

    @abstractmethod
    def _matrix(self) -> NDArray[np.float64]:
        """Return the matrix of a domain that is small enough for it."""

    @abstractmethod
    def _perturb(self, users: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """Perturb the values (indices) of some users."""

    @abstractmethod
    def _conditions(self, reports: NDArray[Any]) -> Iterator[tuple[NDArray[np.bool_], str]]:
        """Yield what possible reports must do, and which reports do it."""

    @abstractmethod
    def _count(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the supports in possible reports."""

    def _simulate_counts(
        self, true_counts: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw the counts of a tally: unless there is a shorter way, report by report."""
        counts = np.zeros(self.tally_shape, dtype=np.int64)
        last = np.cumsum(true_counts)
        for chunk in chunks(int(last[-1]), USERS_AT_ONCE):
            users = np.searchsorted(last, np.arange(chunk.start, chunk.stop), side="right")
            counts += self._count(self._perturb(users, rng))
        return counts

    def _as_tally(self, reports: ArrayLike | Tally | Evidence) -> Tally:
        """Return the tally of reports, or the tally given after a check that it fits."""
        if isinstance(reports, Evidence):
            raise ValueError("reports must be reports or a tally here, got evidence")
        if not isinstance(reports, Tally):
            return self.tally(reports)
        if reports.law != self:
            raise ValueError(f"reports must be of {self!r}, got a tally of {reports.law!r}")
        return reports

    def _as_evidence(self, reports: ArrayLike | Tally | Evidence) -> Evidence:
        """Return the evidence of reports, or the evidence given after a check that it fits."""
        if not isinstance(reports, Evidence):
            return self.evidence(reports)
        if reports.law != self:
            raise ValueError(f"reports must be of {self!r}, got evidence of {reports.law!r}")
        return reports

    def _by_class(self, sensitive: float, nonsensitive: float) -> NDArray[np.float64]:
        """Return a (k,) array with one value on S and another on N."""
        values = np.full(self.domain.size, float(nonsensitive))
        values[self.sensitive] = sensitive
        return values

    @cached_property
    def _number_in_class(self) -> NDArray[np.int32]:
        """The number of each value in its class: 1, 2, ... on X_S and -1, -2, ... on X_N."""
        numbers = np.empty(self.domain.size, dtype=np.int32)
        numbers[self.sensitive] = np.arange(1, self.sensitive.size + 1)
        numbers[self.nonsensitive] = -np.arange(1, self.nonsensitive.size + 1)
        return numbers


def _shown(report: NDArray[Any]) -> str:
    """Return a report for an error message, and the beginning of a long one."""
    if report.size <= MOST_NUMBERS_SHOWN:
        return str(report.tolist())
    return f"{str(report[:MOST_NUMBERS_SHOWN].tolist())[:-1]}, ...]"
