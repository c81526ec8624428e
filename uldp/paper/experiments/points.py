"""One setting of an experiment, and how one realization of it is measured."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from uldp.domain import Domain
from uldp.mechanisms import PAPER, Mechanism, UtilityOptimizedRR
from uldp.paper.datasets import Histogram
from uldp.paper.experiments.tables import COMMON, Kind, Row, means
from uldp.tallies import Tally

__all__ = ["NO_PRIVACY", "Losses", "Point", "Sampling", "distances", "measure"]

Sampling = Literal["iid", "halves"]
Losses = Mapping[str, Any]
"""The losses of one estimator in one realization, by the names that `Point.losses` gives them."""

NO_PRIVACY = "no privacy"
EM_STEPS = 100


@dataclass(frozen=True, eq=False)
class Point:
    """One setting, to be measured in a number of realizations.

    Parameters
    ----------
    figure, data : str
        The names of the figure and of the data.
    histogram : Histogram
        The people, whose frequencies are the true distribution.
    mechanism : str
        A name in `uldp.mechanisms.PAPER`, or `NO_PRIVACY`: each user reports her value.
    epsilon : float or None
        ε; None without privacy.
    n : int
        The number of users.
    methods : tuple of str
        The estimators (see `Mechanism.estimate`).
    realizations : int
        How often to measure.
    sampling : {"iid", "halves"}, optional
        How the users are drawn from the people: independently, or without replacement.
    drawn : int, optional
        If given, each realization draws that many sensitive values at random in place of the
        histogram's.
    reports : bool, optional
        Whether each user's report is drawn, as the likelihood needs where a report is a set, or
        only the tally, in O(k).
    """

    kind: ClassVar[Kind] = COMMON

    figure: str
    data: str
    histogram: Histogram = field(repr=False)
    mechanism: str
    epsilon: float | None
    n: int
    methods: tuple[str, ...]
    realizations: int
    sampling: Sampling = "iid"
    drawn: int | None = None
    reports: bool = False

    @property
    def sensitive_count(self) -> int:
        """The number of values that the mechanism protects."""
        if self.mechanism == NO_PRIVACY:
            return 0
        if PAPER[self.mechanism].protects_every_value:
            return self.histogram.domain.size
        return self.histogram.domain.sensitive.size if self.drawn is None else self.drawn

    @property
    def key(self) -> dict[str, Any]:
        """What, with the seed and the realization's number, determines what is measured."""
        return {
            "figure": self.figure,
            "data": self.data,
            "k": self.histogram.domain.size,
            "sensitive": self.sensitive_count,
            "n": self.n,
            "sampling": self.sampling,
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "from": "reports" if self.reports else "tally",
        }

    @property
    def labels(self) -> Row:
        """What a row of the table says about the point."""
        names = ("data", "k", "sensitive", "n", "mechanism", "epsilon")
        return {name: self.key[name] for name in names}

    def losses(self, mechanism: Mechanism, reports: Tally | NDArray[Any], method: str) -> Losses:
        """Return the losses of an estimator in one realization, by name.

        They are "tv", the total variation, and "mse", the squared l2 loss. With the empirical
        estimate come "expected_tv" and "expected_mse", which `uldp.losses` forecasts for users
        drawn independently.
        """
        truth = self.histogram.frequencies
        losses = distances(self.estimate(mechanism, reports, method), truth)
        if method == "empirical":
            losses["expected_tv"] = mechanism.l1_loss(truth, self.n, exact=True) / 2
            losses["expected_mse"] = mechanism.l2_loss(truth, self.n)
        return losses

    def rows(self, method: str, losses: Sequence[Losses]) -> list[Row]:
        """Return the rows of the table on an estimator, from its losses in each realization."""
        return [self.labels | {"estimator": method} | means(losses)]

    def estimate(
        self, mechanism: Mechanism, reports: Tally | NDArray[Any], method: str
    ) -> NDArray[np.float64]:
        """Return the estimate by the experiment's options, over the mechanism's domain."""
        options = {"steps": EM_STEPS} if method == "em" else {}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "EM stopped", RuntimeWarning)
            return mechanism.estimate(reports, method, **options)


def distances(estimate: NDArray[np.float64], truth: NDArray[np.float64]) -> dict[str, float]:
    """Return the total variation and the squared l2 distance."""
    error = estimate - truth
    return {"tv": float(np.abs(error).sum() / 2), "mse": float(np.square(error).sum())}


def measure(
    point: Point, methods: tuple[str, ...], realization: int, seed: int
) -> dict[str, Losses]:
    """Draw users and their reports, and return what `Point.losses` does, by estimator.

    The randomness depends on the point's key, the realization and the seed alone, so that any
    realization can be measured again apart from the others.

    Parameters
    ----------
    point : Point
        The setting.
    methods : tuple of str
        Which of the point's estimators.
    realization : int
        The number of the realization, 0 or more.
    seed : int
        The seed of the experiment.
    """
    digest = sha256(json.dumps(point.key, sort_keys=True).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    stream = np.random.SeedSequence(seed, spawn_key=(*words, realization))
    rng = np.random.default_rng(stream)
    mechanism = _mechanism(point, rng)
    counts = _users(point, rng)
    reports = (
        mechanism.privatize(np.repeat(np.arange(counts.size), counts), rng, indices=True)
        if point.reports
        else mechanism.simulate(counts, rng)
    )
    return {method: point.losses(mechanism, reports, method) for method in methods}


def _mechanism(point: Point, rng: np.random.Generator) -> Mechanism:
    domain = point.histogram.domain
    if point.epsilon is None:
        return UtilityOptimizedRR(Domain(domain.size), epsilon=1.0)
    if point.drawn is not None:
        sensitive = rng.choice(domain.size, size=point.drawn, replace=False)
        domain = Domain(domain.size, sensitive.tolist())
    return PAPER[point.mechanism](domain, point.epsilon)


def _users(point: Point, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw how many users hold each value."""
    people = point.histogram
    if point.sampling == "iid":
        return rng.multinomial(point.n, people.frequencies)
    if point.n > people.counts.sum():
        raise ValueError(f"n must be at most the {people.counts.sum()} people, got {point.n}")
    return rng.multivariate_hypergeometric(people.counts, point.n, method="marginals")
