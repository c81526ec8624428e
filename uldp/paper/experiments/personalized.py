"""The personalized-mechanism experiments of Section 6.2: users at home and at work in Manhattan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp.domain import Domain
from uldp.mechanisms import Mechanism
from uldp.paper.datasets import GridHistogram
from uldp.paper.experiments.points import Losses, Point, distances
from uldp.paper.experiments.tables import CELLS, PERSONALIZED, Kind, Row, means, tabulate
from uldp.personalized import JointLaw, PersonalizedEstimate, TaggedDomain
from uldp.tallies import Tally

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["KNOWLEDGE", "PersonalizedPoint", "cells", "checkin_law", "place_distributions"]

TAGS = ("home", "office")
KNOWLEDGE = ("none", "places", "true")
"""What the collector knows of where each tag occurs, in the paper (I), (II) and (III)."""


def checkin_law(people: GridHistogram) -> JointLaw:
    """Return the joint law of a check-in's cell and tag.

    A check-in at somebody's home or at an office is at a place sensitive to that user.

    Parameters
    ----------
    people : GridHistogram
        The check-ins, each taken for one user.
    """
    checks.instance(people, "people", GridHistogram)
    tagged = np.stack([people.home, people.office], axis=1)
    untagged = people.counts - tagged.sum(axis=1)
    table = np.column_stack([untagged, tagged])
    # Without the names of 625 cells, which every process would be sent.
    base = Domain(people.domain.size, people.domain.sensitive.tolist())
    return JointLaw(TaggedDomain(base, TAGS), table / table.sum())


def place_distributions(people: GridHistogram) -> dict[str, NDArray[np.float64]]:
    """Return by tag the distribution over the cells of the places with that tag, shape (625,).

    Each place counts once, however many check-ins it has: this is what a collector can look up.
    """
    checks.instance(people, "people", GridHistogram)
    places = {"home": people.home_places, "office": people.office_places}
    return {tag: number / number.sum() for tag, number in places.items()}


def cells(people: GridHistogram) -> DataFrame:
    """Return the maps of Figure 9: for each tag where its users are, and where its places."""
    users = dict(zip(TAGS, checkin_law(people).pi, strict=True))
    places = place_distributions(people)
    rows = (
        {"tag": tag, "row": row, "column": column, "users": used, "places": found}
        for tag in TAGS
        for (row, column), used, found in zip(
            np.ndindex(people.shape), users[tag], places[tag], strict=True
        )
    )
    return tabulate(rows, CELLS.columns)


@dataclass(frozen=True, eq=False, kw_only=True)
class PersonalizedPoint(Point):
    """One setting of the personalized mechanism, measured with every knowledge at once.

    The histogram is of the intermediate data, r, and its domain a `TaggedDomain`.

    Parameters
    ----------
    epsilon : float
        ε; there is no point without privacy.
    law : JointLaw
        The truth.
    places : mapping of str to (k,) array
        The knowledge "places".
    """

    kind: ClassVar[Kind] = PERSONALIZED

    epsilon: float
    law: JointLaw = field(repr=False)
    places: Mapping[str, NDArray[np.float64]] = field(repr=False)

    @property
    def background(self) -> dict[str, Mapping[str, NDArray[np.float64]]]:
        """What the collector knows, by name in `KNOWLEDGE`."""
        true = dict(zip(self.law.domain.tags, self.law.pi, strict=True))
        return dict(zip(KNOWLEDGE, ({}, self.places, true), strict=True))

    @property
    def labels(self) -> Row:
        """What a row of the table says of the point: without bots."""
        base = self.law.domain.base
        return super().labels | {"k": base.size, "sensitive": base.sensitive.size}

    def losses(self, mechanism: Mechanism, reports: Tally | NDArray[Any], method: str) -> Losses:
        """Return for each of `KNOWLEDGE` the losses of an estimator in one realization, by name.

        They are "tv" and "mse", the total variation and the squared l2 loss of p̂; "first" and
        "second", the terms of Theorem 1; and "second_bound", the bound on the latter. With the
        empirical estimate comes "expected_first", forecast for users drawn independently.
        """
        r = self.estimate(mechanism, reports, method)
        forecast = {}
        if method == "empirical":
            forecast["expected_first"] = mechanism.l1_loss(self.law.r, self.n, exact=True)
        losses = {}
        for knowledge, background in self.background.items():
            estimate = PersonalizedEstimate.of(self.law.domain, r, background)
            terms = estimate.loss_terms(self.law)
            losses[knowledge] = distances(estimate.p, self.law.p) | forecast
            losses[knowledge] |= {"first": terms.first, "second": terms.second}
            losses[knowledge]["second_bound"] = estimate.second_term_bound
        return losses

    def rows(self, method: str, losses: Sequence[Losses]) -> list[Row]:
        """Return a row of the table for each of `KNOWLEDGE` (see `Point.rows`)."""
        return [
            self.labels
            | {"knowledge": knowledge, "estimator": method}
            | means([each[knowledge] for each in losses])
            for knowledge in KNOWLEDGE
        ]
