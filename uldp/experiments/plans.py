"""Which points make up each figure of the paper (Section 6.1)."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from uldp import _checks, datasets
from uldp.datasets import GridHistogram, Histogram
from uldp.domain import Domain
from uldp.experiments.personalized import PersonalizedPoint, checkin_law, place_distributions
from uldp.experiments.points import EXPECTED, MECHANISMS, METHODS, NO_PRIVACY, Point, Sampling

__all__ = ["FIGURES", "Settings", "checkins", "plan"]

EPSILONS = tuple(float(f"{10 ** (i / 10 - 1):.3g}") for i in range(21))
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 400, 500)
USERS = {"census": 1_229_143, "manhattan": 179_527}
USERS_BY_ATTRIBUTES = 240_000

LIKELIHOOD = ("em", "mle")

FIGURES = {name: name for name in ("fig5", "fig6", "fig7", "fig8", "fig9", "table1")} | {
    "fig10": "fig5",
    "fig11": "fig6",
    "fig12": "fig7",
    "fig13": "fig8",
}
"""The table of each figure: those of the MSE, 10 to 13, share theirs with those of the TV."""

PERSONALIZED = ("uRR", "uRAP")
REALIZATIONS = {"fig5": 100, "fig6": 100, "fig7": 10, "fig8": 100, "table1": 100}
# Up to an hour on two cores for each figure, nearly all of it for RAPPOR; 9 attributes would take
# as long again as 4 to 8 together.
LIKELIHOOD_REALIZATIONS = {"fig5": 1, "fig6": 1, "fig7": 1, "fig8": 20, "table1": 100}
LIKELIHOOD_VALUES = 6400
QUICK_USERS = 1000


@dataclass(frozen=True)
class Settings:
    """What can be chosen about an experiment.

    Parameters
    ----------
    realizations : int, optional
        How often each point is measured; by default as often as in the paper.
    likelihood_realizations : int, optional
        The same for "em" and "mle" with RAPPOR and uRAP, which need each user's report; may be 0.
        By default what two cores do in about an hour, none for more than 6400 values.
    methods : tuple of str, optional
        The estimators, of `METHODS`.
    sampling : {"iid", "halves"}, optional
        "iid" draws users independently from the frequencies of the people, as many as the paper
        has; "halves" draws half of the people without replacement, which is the paper's way (for
        Figures 7 and 12, 240,000 of them).
    us_census_1990 : str, optional
        The paper's census file, in place of `datasets.census` (see
        `datasets.load_us_census_1990`).
    foursquare : (str, str), optional
        The paper's files of places and of check-ins, in place of `datasets.manhattan` (see
        `datasets.load_foursquare`).
    quick : bool, optional
        A look in seconds: few values on the horizontal axis, 1000 users, few realizations.
    seed : int, optional
        0 or more; it determines all results.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of its range.
    """

    realizations: int | None = None
    likelihood_realizations: int | None = None
    methods: tuple[str, ...] = METHODS
    sampling: Sampling = "iid"
    us_census_1990: str | None = None
    foursquare: tuple[str, str] | None = None
    quick: bool = False
    seed: int = 2019

    def __post_init__(self) -> None:
        if self.realizations is not None:
            _checks.whole(self.realizations, "realizations", least=1)
        if self.likelihood_realizations is not None:
            _checks.whole(self.likelihood_realizations, "likelihood_realizations", least=0)
        _checks.whole(self.seed, "seed", least=0)
        _checks.instance(self.methods, "methods", tuple)
        if not self.methods:
            raise ValueError(f"methods must be among {', '.join(METHODS)}, got none")
        for method in self.methods:
            _checks.choice(method, "methods", METHODS)
        _checks.choice(self.sampling, "sampling", ("iid", "halves"))
        if self.us_census_1990 is not None:
            _checks.path(self.us_census_1990, "us_census_1990")
        if self.foursquare is not None:
            files = [
                _checks.path(f, "foursquare") for f in _checks.items(self.foursquare, "foursquare")
            ]
            if len(files) != 2:
                raise ValueError(f"foursquare must be two files, got {len(files)}")
        _checks.flag(self.quick, "quick")

    def command(self, figure: str) -> str:
        """Return the command that reproduces a figure's table, whatever the number of jobs."""
        _checks.choice(figure, "figure", FIGURES)
        words = ["python", "-m", "uldp", "reproduce", figure]
        if self.realizations is not None:
            words += ["--realizations", str(self.realizations)]
        if self.likelihood_realizations is not None:
            words += ["--likelihood-realizations", str(self.likelihood_realizations)]
        if self.methods != METHODS:
            words += ["--methods", *self.methods]
        if self.sampling != "iid":
            words += ["--sampling", self.sampling]
        if self.us_census_1990 is not None:
            words += ["--us-census-1990", Path(self.us_census_1990).name]
        if self.foursquare is not None:
            words += ["--foursquare", *(Path(path).name for path in self.foursquare)]
        if self.quick:
            words.append("--quick")
        return shlex.join([*words, "--seed", str(self.seed)])


def plan(figure: str, settings: Settings) -> list[Point]:
    """Return the points of the table of a figure; Figure 9 shows the data and has none.

    Parameters
    ----------
    figure : str
        A name in `FIGURES`.
    settings : Settings
        What is chosen about it.

    Raises
    ------
    ValueError
        If there is no such figure, or a data file is not as expected.
    """
    _checks.choice(figure, "figure", FIGURES)
    _checks.instance(settings, "settings", Settings)
    points = {
        "fig5": _by_epsilon,
        "fig6": _by_sensitive,
        "fig7": _by_attributes,
        "fig8": _by_knowledge,
        "table1": _terms_of_theorem_1,
    }
    if FIGURES[figure] not in points:
        return []
    bases = points[FIGURES[figure]](settings)
    return [part for point in bases for part in _parts(point, settings)]


def checkins(settings: Settings) -> tuple[str, GridHistogram]:
    """Return the check-ins in Manhattan with the name of the data.

    Raises
    ------
    ValueError
        If a data file is not as expected.
    """
    if settings.foursquare is None:
        return "manhattan", datasets.manhattan()
    return "Foursquare", datasets.load_foursquare(*settings.foursquare)


def _by_epsilon(settings: Settings) -> Iterator[Point]:
    for point in _bases("fig5", settings):
        yield point
        grid = (0.1, 1.0, 10.0) if settings.quick else EPSILONS
        for epsilon in sorted([*grid, math.log(point.histogram.domain.size)]):
            for mechanism in MECHANISMS:
                yield replace(point, mechanism=mechanism, epsilon=epsilon)


def _by_sensitive(settings: Settings) -> Iterator[Point]:
    for point in _bases("fig6", settings):
        yield point
        k = point.histogram.domain.size
        grid = (1, 10, 100) if settings.quick else SIZES
        for epsilon in (0.1, math.log(k)):
            for mechanism, kind in MECHANISMS.items():
                sizes = [None] if kind.protects_every_value else [*(s for s in grid if s < k), k]
                for size in sizes:
                    yield replace(point, mechanism=mechanism, epsilon=epsilon, drawn=size)


def _by_attributes(settings: Settings) -> Iterator[Point]:
    for attributes in (4, 6) if settings.quick else range(4, 10):
        for point in _bases("fig7", settings, attributes):
            yield point
            for epsilon in (0.1, 1.0, 6.0):
                for mechanism in MECHANISMS:
                    yield replace(point, mechanism=mechanism, epsilon=epsilon)


def _by_knowledge(settings: Settings) -> Iterator[Point]:
    grid = (0.1, 1.0, 10.0) if settings.quick else EPSILONS
    return _personalized("fig8", settings, grid)


def _terms_of_theorem_1(settings: Settings) -> Iterator[Point]:
    return _personalized("table1", settings, ())


def _personalized(
    figure: str, settings: Settings, epsilons: Sequence[float]
) -> Iterator[PersonalizedPoint]:
    """Yield points at these ε and at ln k."""
    name, people = checkins(settings)
    law = checkin_law(people)
    counts = np.rint(law.r * people.counts.sum())
    intermediate = Histogram(law.domain, counts, people.source)
    for epsilon in sorted([*epsilons, math.log(people.domain.size)]):
        for mechanism in PERSONALIZED:
            yield PersonalizedPoint(
                figure=figure,
                data=name,
                histogram=intermediate,
                mechanism=mechanism,
                epsilon=epsilon,
                n=_users("fig8", "manhattan", people, settings),
                methods=settings.methods,
                realizations=_realizations(figure, settings),
                sampling=settings.sampling,
                law=law,
                places=place_distributions(people),
            )


def _users(figure: str, role: str, people: Histogram, settings: Settings) -> int:
    if settings.quick:
        return QUICK_USERS
    if figure == "fig7":
        return USERS_BY_ATTRIBUTES
    if settings.sampling == "halves":
        return -(-int(people.counts.sum()) // 2)
    return USERS[role]


def _realizations(figure: str, settings: Settings) -> int:
    return settings.realizations or (5 if settings.quick else REALIZATIONS[figure])


def _bases(figure: str, settings: Settings, attributes: int = 4) -> Iterator[Point]:
    """Return a point without privacy for each data set."""
    for role, (name, people) in _people(figure, settings, attributes).items():
        unlabelled = Domain(people.domain.size, people.domain.sensitive.tolist())
        yield Point(
            figure=figure,
            data=name,
            histogram=Histogram(unlabelled, people.counts, people.source),
            mechanism=NO_PRIVACY,
            epsilon=None,
            n=_users(figure, role, people, settings),
            methods=settings.methods,
            realizations=_realizations(figure, settings),
            sampling=settings.sampling,
        )


def _people(figure: str, settings: Settings, attributes: int) -> dict[str, tuple[str, Histogram]]:
    """Return the data sets of a figure with their names, by the part that they play."""
    path = settings.us_census_1990
    census = (
        ("census", datasets.census(attributes))
        if path is None
        else ("US Census 1990", datasets.load_us_census_1990(path, attributes))
    )
    if figure == "fig7":
        return {"census": census}
    return {"census": census, "manhattan": checkins(settings)}


def _parts(point: Point, settings: Settings) -> Iterator[Point]:
    """Split a point into what a tally tells and what takes the reports."""
    by_tally = tuple(method for method in METHODS if method in point.methods)
    by_reports: tuple[str, ...] = ()
    if point.mechanism == NO_PRIVACY:
        by_tally = ("empirical",)
    elif point.mechanism in ("RAPPOR", "uRAP"):
        by_reports = tuple(method for method in by_tally if method in LIKELIHOOD)
        by_tally = tuple(method for method in by_tally if method not in LIKELIHOOD)
    if "empirical" in by_tally:
        by_tally = (EXPECTED, *by_tally)
    if by_tally:
        yield replace(point, methods=by_tally)
    times = settings.likelihood_realizations
    if times is None:
        times = 1 if settings.quick else LIKELIHOOD_REALIZATIONS[point.figure]
        if point.histogram.domain.size > LIKELIHOOD_VALUES:
            times = 0
    if by_reports and times:
        yield replace(point, methods=by_reports, realizations=times, reports=True)
