"""The paper's experiments."""

from pathlib import Path

from malformed.table import (
    GRID,
    NOT_FLAGS,
    NOT_PATHS,
    NOT_STRINGS,
    UNIFORM,
    Call,
    both_tests,
    call,
    whole,
)
from uldp.paper import datasets, experiments


def calls_of_experiments() -> list[Call]:
    quick = experiments.Settings(quick=True, realizations=1, methods=("empirical",))
    figure, nowhere = ("fig5", [*NOT_STRINGS, "fig1", ""]), Path("no such file")
    not_settings = [1, "quick", {"quick": True}, object()]
    people = GRID, [None, 1, UNIFORM, datasets.census(), object()]
    not_methods = [None, 1, (), "em", ("EM",), ("em", 1), ("em", None), (["em"],), object()]
    not_pairs = [1, "file", ("file",), ("a", "b", "c"), (1, 2), (None, None), object()]
    return [
        call(
            experiments.Settings,
            realizations=(..., whole(0, -1, optional=True)),
            likelihood_realizations=(..., whole(-1, optional=True)),
            methods=(..., not_methods),
            sampling=(..., [*NOT_STRINGS, "half"]),
            us_census_1990=(..., NOT_PATHS[1:]),
            foursquare=(..., not_pairs),
            quick=(..., NOT_FLAGS),
            seed=(..., whole(-1)),
        ),
        call(quick.command, figure=figure),
        call(experiments.plan, figure=figure, settings=(quick, [None, *not_settings])),
        call(
            experiments.reproduce,
            runs=False,
            figure=figure,
            settings=(quick, not_settings),
            folder=(nowhere, NOT_PATHS),
            jobs=(..., whole(0, -1)),
        ),
        call(
            experiments.run,
            points=([], [None, 1, "points", [None], [1], object()]),
            record=(nowhere, NOT_PATHS),
            seed=(1, whole(-1)),
            jobs=(..., whole(0, -1)),
        ),
        call(experiments.read_table, runs=False, path=(nowhere, NOT_PATHS)),
        call(experiments.checkin_law, people=people),
        call(experiments.place_distributions, people=people),
    ]


CALLS = calls_of_experiments()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
