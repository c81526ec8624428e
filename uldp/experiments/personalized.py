"""The personalized-mechanism experiments of Section 6.2: users at home and at work in Manhattan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uldp import _checks
from uldp.datasets import GridHistogram
from uldp.domain import Domain
from uldp.experiments.points import EXPECTED, Losses, Point, distances
from uldp.experiments.rows import CellRow
from uldp.mechanisms import Mechanism
from uldp.personalized import JointLaw, PersonalizedEstimate, TaggedDomain
from uldp.tallies import Tally

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
    _checks.instance(people, "people", GridHistogram)
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
    _checks.instance(people, "people", GridHistogram)
    places = {"home": people.home_places, "office": people.office_places}
    return {tag: number / number.sum() for tag, number in places.items()}


def cells(people: GridHistogram) -> list[CellRow]:
    """Return the maps of Figure 9: for each tag where its users are, and where its places."""
    users = dict(zip(TAGS, checkin_law(people).pi, strict=True))
    places = place_distributions(people)
    return [
        CellRow(tag, row, column, float(users[tag][cell]), float(places[tag][cell]))
        for tag in TAGS
        for cell, (row, column) in enumerate(np.ndindex(people.shape))
    ]


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

    epsilon: float
    law: JointLaw
    places: Mapping[str, NDArray[np.float64]]

    @property
    def background(self) -> dict[str, Mapping[str, NDArray[np.float64]]]:
        """What the collector knows, by name in `KNOWLEDGE`."""
        true = dict(zip(self.law.domain.tags, self.law.pi, strict=True))
        return dict(zip(KNOWLEDGE, ({}, self.places, true), strict=True))

    def losses(
        self, mechanism: Mechanism, reports: Tally | NDArray[Any], methods: tuple[str, ...]
    ) -> dict[str, Losses]:
        """Return the losses of each estimator.

        These are the first term of Theorem 1, the bound on the second, and then for each of
        `KNOWLEDGE` the total variation and squared l2 loss of p̂ and the second term. "expected" has
        the first term only, for the empirical estimate.
        """
        domain = self.law.domain
        losses: dict[str, Losses] = {}
        for method in methods:
            if method == EXPECTED:
                losses[method] = (mechanism.l1_loss(self.law.r, self.n, exact=True),)
                continue
            r = self.estimate(mechanism, reports, method)
            estimates = [
                PersonalizedEstimate.of(domain, r, knowledge)
                for knowledge in self.background.values()
            ]
            numbers = [float(np.abs(r - self.law.r).sum()), estimates[0].second_term_bound]
            for estimate in estimates:
                second = estimate.loss_terms(self.law).second
                numbers += [*distances(estimate.p, self.law.p), second]
            losses[method] = tuple(numbers)
        return losses
