"""What a survey says, as a labelled table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.results import Result, needed
from uldp.domain import Domain
from uldp.inference.covariances import standard_errors
from uldp.inference.entries import intervals
from uldp.law import LINEAR, Law
from uldp.mechanisms import Mechanism
from uldp.tallies import METHODS, Tally

__all__ = ["Change", "EstimateTable", "summary"]

MOST_ROWS = 60
OF_BIASED = (
    "by {}, which is biased: only adjusted and empirical estimates have errors and intervals"
)
OF_ADJUSTED = "adjusted: the estimates of all values sum to 1"
AT_END = 1e-9
WIDTH, NO_ROWS, ROW = 6.85, 0.9, 0.24
"""Inches of a drawing: its width, and its height without rows and of each row."""


@dataclass(frozen=True, eq=False)
class EstimateTable(Result):
    """Estimates with their errors, one row for each value; prints, and renders in a notebook.

    `to_pandas()` returns a data frame. Its index holds the labels, under the name "value", or those
    of each factor of a product; its columns are "sensitive" (bool), "estimate" or "change",
    "standard_error", "low" and "high", and those of `further`.

    Attributes
    ----------
    domain : Domain
        The values, in the order of the rows.
    n : int
        The number of reports.
    confidence : float
        The confidence of each interval, or, where they are simultaneous, of all together;
        the function that made the table says how often they hold their shares.
    estimate, standard_error, low, high : (k,) ndarray
        The estimate, its standard error, and the ends of its interval. There is no standard error
        (nan) from a single report, nor where its variance is estimated as 0: a value that none
        reveals has at most the share `high`, and so it is printed. A biased estimate has no ends,
        either.
    remarks : tuple of str
        What a reader must know about the rows.
    called : str
        What the labels of the rows are called.
    further : mapping of str to (k,) ndarray
        Further columns.
    method : str
        The estimator, by which the estimate and its errors are.
    """

    domain: Domain
    n: int
    confidence: float
    estimate: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    remarks: tuple[str, ...] = ()
    called: str = "value"
    further: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    method: str = "adjusted"

    _called: ClassVar[str] = "estimate"

    def plot(self) -> Any:
        """Draw the rows that are printed, with their intervals; blue ones are sensitive.

        Returns
        -------
        matplotlib.axes.Axes
            Of a figure of its own.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        """
        needed("matplotlib", "figures", "EstimateTable.plot")
        pyplot = import_module("matplotlib.pyplot")
        ticker = import_module("matplotlib.ticker")
        names = [label for label, *_ in self._rows()]
        shown = slice(len(names))
        heights = np.arange(len(names))
        size = (WIDTH, NO_ROWS + ROW * len(names))
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
        colors = np.where(self._is_sensitive, "C0", "C1")[shown]
        ax.hlines(heights, self.low[shown], self.high[shown], colors)
        ax.scatter(self.estimate[shown], heights, color=colors)
        ax.set_yticks(heights, names, parse_math=False)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.xaxis.set_major_formatter(ticker.PercentFormatter(1))
        about = f"{self._called}, with {100 * self.confidence:g}% intervals"
        ax.set_xlabel("\n".join([about, *self._notes()]), parse_math=False)
        return ax

    def __repr__(self) -> str:
        head, *rows = self._texts()
        width = max(len(row[0]) for row in [head, *rows])
        lines = [
            f"{label:<{width}}" + "".join(f"{cell:>16}" for cell in cells)
            for label, *cells in [head, *rows]
        ]
        return "\n".join([*lines, *self._notes()])

    @property
    def notes(self) -> list[str]:
        """What a reader must know about the rows: remarks, and that tags are not answers."""
        return [*self.remarks, *filter(None, [self.domain.remark])]

    def _texts(self) -> list[list[str]]:
        head = [
            self.called,
            self._called,
            "standard error",
            f"{100 * self.confidence:g}% from",
            "to",
            *(name.removesuffix("_error") for name in self.further),
        ]
        return [head, *self._rows()]

    @property
    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {"sensitive": self._is_sensitive, **self._numbers}

    @property
    def _numbers(self) -> dict[str, NDArray[np.float64]]:
        errors = {"standard_error": self.standard_error, "low": self.low, "high": self.high}
        return {self._called: self.estimate, **errors, **self.further}

    def _index(self, pandas: Any) -> Any:
        return self.domain._index(pandas, self.called)

    @property
    def _is_sensitive(self) -> NDArray[np.bool_]:
        return np.isin(np.arange(self.domain.size), self.domain.sensitive)

    def _rows(self) -> Iterator[list[str]]:
        """Yield the first rows as texts; a sensitive value has a star, a label with one quotes."""
        stars = np.where(self._is_sensitive, "*", "")[:MOST_ROWS]
        shown = zip(self.domain.labels, stars, *self._numbers.values(), strict=False)
        for label, star, *numbers in shown:
            cells = ["–" if np.isnan(number) else f"{number:.2%}" for number in numbers]
            estimate, error, low, high = numbers[:4]
            nearly = AT_END * (high - low)
            if np.isnan(error) and estimate - low <= nearly:
                cells[0] = f"at most {high:.2%}"
            elif np.isnan(error) and high - estimate <= nearly:
                cells[0] = f"at least {low:.2%}"
            name = repr(label) if str(label).endswith("*") else label
            yield [f"{name}{star}", *cells]

    def _notes(self) -> list[str]:
        reports = f"{self.n:,} reports" + ("; * sensitive" if self.domain.sensitive.size else "")
        more = self.domain.size - MOST_ROWS
        lines = [f"... and {more:,} more values"] if more > 0 else []
        return [*lines, reports, *self.notes]


class Change(EstimateTable):
    """The change of every share between two surveys; prints, and renders in a notebook.

    The fields are those of an `EstimateTable`, where `estimate` is the later estimate less the
    earlier, in a data frame the column "change"; n counts the reports to both surveys, and the
    domain is that of the later one.
    """

    _called: ClassVar[str] = "change"

    @property
    def value(self) -> NDArray[np.float64]:
        """The changes, by the name that they have in a `Total`."""
        return self.estimate


@dataclass(frozen=True, eq=False, repr=False)
class Stratified(EstimateTable):
    """The shares in a population of strata, and what they were made of.

    `total`, `ratio`, `marginal` and `difference` take it in the place of a tally.

    Attributes
    ----------
    strata : tuple of (Tally, float)
        The tally of each stratum, and its share of the population.
    """

    strata: tuple[tuple[Tally, float], ...] = ()


def remarks_on(*laws: Law, method: str) -> tuple[str, ...]:
    """Return what a reader must know of the estimate, if it is not the paper's."""
    decoders = [law.decoder_of(method) for law in laws]
    changed = any(decoder is not law.decoder for decoder, law in zip(decoders, laws, strict=True))
    add_up = all(decoder.sums_to_one for decoder in decoders)
    return (OF_ADJUSTED,) if changed and add_up else ()


def summary(
    tally: Tally,
    confidence: float = 0.95,
    method: str = "adjusted",
    simultaneous: bool = False,
    clip: bool = False,
) -> EstimateTable:
    """Return a labelled table of an estimate, its standard errors and intervals.

    `intervals` says how often the intervals hold their shares: at small n more often than the
    estimate ± z standard errors does. Estimates that are not linear in the counts are biased, and
    have neither: show the table of one that is, too.

    Parameters
    ----------
    tally : Tally
        Of at least one report.
    confidence : float, optional
        The confidence of each interval, in (0, 1).
    method : {"adjusted", "empirical", "threshold", "norm_sub", "em", "mle"}
        The estimator (see `Mechanism.estimate`).
    simultaneous, clip : bool, optional
        Whether the intervals hold all shares together, and whether they and the estimate are cut
        to [0, 1] (see `intervals`); the standard errors are those before the cut.

    Returns
    -------
    EstimateTable
        It prints, renders in a notebook, draws itself and gives a data frame.
    """
    checks.choice(method, "method", METHODS)
    is_linear = method in LINEAR
    ends = intervals(tally, confidence, simultaneous, clip, method if is_linear else "adjusted")
    law = tally.law
    assert isinstance(law, Mechanism)  # there is no other law
    estimate = law.estimate(tally, method)
    errors = np.full(estimate.size, np.nan)
    if not is_linear:
        ends = np.full(ends.shape, np.nan)
        remarks: tuple[str, ...] = (OF_BIASED.format(method),)
    else:
        remarks = () if clip else remarks_on(law, method=method)
        if tally.n > 1:
            errors = standard_errors(tally, method)
    low, high = ends.T
    if clip:
        estimate = np.clip(estimate, 0, 1)
    sure = float(confidence)
    return EstimateTable(
        law.domain, tally.n, sure, estimate, errors, low, high, remarks, method=method
    )
