"""Histograms, and the files that they are made from."""

import numpy as np

from malformed.table import (
    DOMAIN,
    GRID,
    HUGE,
    NOT_DOMAINS,
    NOT_PATHS,
    NOT_STRINGS,
    Call,
    K,
    both_tests,
    call,
    counts,
    real,
    whole,
)
from uldp.paper import datasets


def calls_of_datasets() -> list[Call]:
    ones = np.ones(625, dtype=int)
    places = [(0, "Office", 1)]
    not_places = [
        *(None, 1, "places", [], [1], [(0, "Office")], [(625, "Office", 1)], [(-1, "Office", 1)]),
        *([(0.5, "Office", 1)], [(0, "Office", -1)], [(0, "Office", 1.5)], [(None, "Office", 1)]),
        *([(0, "Office", "1")], [(0, 1, 1)], [(0, "Office", HUGE)], [("0", "Office", 1)], object()),
    ]
    not_cells = [None, 1, "1", [-1], [625], [0, 0], [0.5], ["0"], object()]
    attributes = [*datasets.CENSUS_ATTRIBUTES.values()]
    not_categories = [
        *(None, 1, "abc", [], [["a"]], [["a"]] * 4, [1, 2, 3], [[]] * 4, object()),
        *(attributes[:3], [*attributes, []], [*attributes, [1, 2]], [*attributes, "ab"]),
    ]
    nowhere, expected = "no such file", (..., whole(0, -1))
    return [
        call(
            datasets.Histogram,
            domain=(DOMAIN, NOT_DOMAINS),
            counts=([1] * K, [*counts(K), [0] * K]),
            source=("here", NOT_STRINGS),
        ),
        call(
            datasets.GridHistogram,
            {"domain": "domain|counts"},
            domain=(GRID.domain, [*NOT_DOMAINS, DOMAIN]),
            source=("here", NOT_STRINGS),
            **dict.fromkeys(
                ("counts", "home", "office", "home_places", "office_places"), (ones, counts(625))
            ),
        ),
        call(
            datasets.GridHistogram.from_places,
            {"places": "places|counts", "hospital_cells": "sensitive"},
            places=(places, not_places),
            hospital_cells=([1], not_cells),
            source=("here", NOT_STRINGS),
        ),
        call(datasets.census, attributes=(4, whole(3, 10, 0, -1))),
        call(datasets.census_domain, categories=(attributes, not_categories)),
        call(datasets.manhattan_cell, latitude=(40.7, real()), longitude=(-74.0, real())),
        call(
            datasets.load_us_census_1990,
            runs=False,
            path=(nowhere, NOT_PATHS),
            attributes=(4, whole(3, 10)),
            expected_rows=expected,
        ),
        call(
            datasets.load_foursquare,
            runs=False,
            pois_path=(nowhere, NOT_PATHS),
            checkins_path=(nowhere, NOT_PATHS),
            expected_venues=expected,
            expected_checkins=expected,
            expected_in_manhattan=expected,
        ),
    ]


CALLS = calls_of_datasets()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
