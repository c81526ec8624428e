"""Which points make up each figure of the paper (Section 6.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from uldp._numerics import checks
from uldp.domain import Domain
from uldp.mechanisms import PAPER
from uldp.paper import datasets
from uldp.paper.datasets import GridHistogram, Histogram
from uldp.paper.experiments.personalized import PersonalizedPoint, checkin_law, place_distributions
from uldp.paper.experiments.points import NO_PRIVACY, Point
from uldp.paper.experiments.settings import FIGURES, Settings
from uldp.tallies import FROM_TALLIES

__all__ = ["checkins", "plan"]

EPSILONS = tuple(float(f"{10 ** (i / 10 - 1):.3g}") for i in range(21))
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 400, 500)
USERS = {"census": 1_229_143, "manhattan": 179_527}
USERS_BY_ATTRIBUTES = 240_000

REALIZATIONS = {"fig5": 100, "fig6": 100, "fig7": 10, "fig8": 100, "table1": 100}
QUICK_USERS = 1000


def plan(figure: str, settings: Settings) -> list[Point]:
    """Return the points of the table of a figure; Figure 9 shows the data and has none.

    Parameters
    ----------
    figure : str
        A name in `FIGURES`.
    settings : Settings
        What is chosen about it.
    """
    checks.choice(figure, "figure", FIGURES)
    checks.instance(settings, "settings", Settings)
    bases: dict[str, Callable[[Settings], Iterable[Point]]] = {
        "fig5": _by_epsilon,
        "fig6": _by_sensitive,
        "fig7": _by_attributes,
        "fig8": partial(_personalized, "fig8"),
        "fig9": lambda settings: (),
        "table1": partial(_personalized, "table1"),
    }
    points = bases[FIGURES[figure]](settings)
    return [part for point in points for part in _parts(point, settings)]


def checkins(settings: Settings) -> tuple[str, GridHistogram]:
    """Return the check-ins in Manhattan with the name of the data."""
    if settings.foursquare is None:
        return "manhattan", datasets.manhattan()
    return "Foursquare", datasets.load_foursquare(*settings.foursquare)


def _by_epsilon(settings: Settings) -> Iterator[Point]:
    for point in _bases("fig5", settings):
        k = point.histogram.domain.size
        yield from _at(point, sorted([*_grid(settings), math.log(k)]))


def _by_sensitive(settings: Settings) -> Iterator[Point]:
    for point in _bases("fig6", settings):
        k = point.histogram.domain.size
        grid = (1, 10, 100) if settings.quick else SIZES
        sizes = [*(s for s in grid if s < k), k]
        for private in _at(point, (0.1, math.log(k))):
            if private.mechanism in ("uRR", "uRAP"):
                yield from (replace(private, drawn=size) for size in sizes)
            else:
                yield private


def _by_attributes(settings: Settings) -> Iterator[Point]:
    for attributes in (4, 6) if settings.quick else range(4, 10):
        for point in _bases("fig7", settings, attributes):
            yield from _at(point, (0.1, 1.0, 6.0))


def _at(point: Point, epsilons: Iterable[float]) -> Iterator[Point]:
    """Yield a point without privacy, and then all mechanisms at each ε."""
    yield point
    for epsilon in epsilons:
        for mechanism in PAPER:
            yield replace(point, mechanism=mechanism, epsilon=epsilon)


def _grid(settings: Settings) -> tuple[float, ...]:
    return (0.1, 1.0, 10.0) if settings.quick else EPSILONS


def _personalized(figure: str, settings: Settings) -> Iterator[PersonalizedPoint]:
    """Yield points at ln k and, but for the table, over the grid."""
    name, people = checkins(settings)
    law = checkin_law(people)
    counts = np.rint(law.r * people.counts.sum())
    grid = () if figure == "table1" else _grid(settings)
    for epsilon in sorted([*grid, math.log(people.domain.size)]):
        for mechanism in ("uRR", "uRAP"):
            yield PersonalizedPoint(
                data=name,
                histogram=Histogram(law.domain, counts, people.source),
                mechanism=mechanism,
                epsilon=epsilon,
                n=_users("manhattan", people, settings),
                law=law,
                places=place_distributions(people),
                **_common(figure, settings),
            )


def _users(role: str, people: Histogram, settings: Settings) -> int:
    if settings.quick:
        return QUICK_USERS
    if settings.sampling == "halves":
        return -(-int(people.counts.sum()) // 2)
    return USERS[role]


def _common(figure: str, settings: Settings) -> dict[str, Any]:
    """Return what all points of a figure have in common."""
    times = settings.realizations or (5 if settings.quick else REALIZATIONS[figure])
    same = {"methods": settings.methods, "sampling": settings.sampling}
    return {"figure": figure, "realizations": times, **same}


def _bases(figure: str, settings: Settings, attributes: int = 4) -> Iterator[Point]:
    """Yield a point without privacy for each data set."""
    path = settings.us_census_1990
    data = {
        "census": ("census", datasets.census(attributes))
        if path is None
        else ("US Census 1990", datasets.load_us_census_1990(path, attributes))
    }
    if figure != "fig7":
        data["manhattan"] = checkins(settings)
    for role, (name, people) in data.items():
        # Without the names of many values, which every process would be sent.
        unlabelled = Domain(people.domain.size, people.domain.sensitive.tolist())
        users = _users(role, people, settings)
        yield Point(
            data=name,
            histogram=Histogram(unlabelled, people.counts, people.source),
            mechanism=NO_PRIVACY,
            epsilon=None,
            n=USERS_BY_ATTRIBUTES if figure == "fig7" and not settings.quick else users,
            **_common(figure, settings),
        )


def _parts(point: Point, settings: Settings) -> Iterator[Point]:
    """Split a point into what a tally tells and what takes the reports."""
    by_tally = point.methods
    by_reports = point.methods[:0]
    if point.mechanism == NO_PRIVACY:
        by_tally = ("empirical",)
    elif point.mechanism in ("RAPPOR", "uRAP"):
        by_reports = tuple(method for method in by_tally if method not in FROM_TALLIES)
        by_tally = tuple(method for method in by_tally if method in FROM_TALLIES)
    if by_tally:
        yield replace(point, methods=by_tally)
    times = settings.likelihood_realizations
    if times is None:
        times = 1 if settings.quick else point.realizations
    if by_reports and times:
        yield replace(point, methods=by_reports, realizations=times, reports=True)
