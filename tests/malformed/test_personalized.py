"""Secret maps and the personalized mechanism."""

import math

import numpy as np

import uldp
from malformed.reports import URAP, reports_of
from malformed.table import (
    DOMAIN,
    HUGE,
    NOT_ARRAYS,
    NOT_LABELS,
    NOT_MECHANISMS,
    NOT_SEEDS,
    NOT_STRINGS,
    UNIFORM,
    URR,
    Call,
    K,
    both_tests,
    call,
    distribution,
    vector,
)
from uldp import personalized


def calls_of_personalized() -> list[Call]:
    tagged = personalized.TaggedDomain(DOMAIN, ["home", "work"])
    mechanism = uldp.UtilityOptimizedRR(tagged, 1.0)
    domain = tagged, [None, 5, "home", DOMAIN, mechanism, object()]
    common = mechanism, [*NOT_MECHANISMS, URR]
    not_maps = [
        *(None, 1, "home", ["a"], [("a", "home")], object(), {"z": "home"}, {"a": "school"}),
        *({K: "home"}, {-1: "home"}, {"a": 2}, {"a": -1}, {"a": None}, {None: "home"}),
        *({"a": 0.5}, {"a": math.nan}, {"a": ["home"]}, {("a",): "home"}, {1.5: "home"}),
        *({HUGE: "home"}, {"a": HUGE}, {"a": True}, {True: "home"}, {"a": "home", "b": 1}),
        {"a": "home", 1: "home"},
    ]
    person = personalized.PersonalizedMechanism(mechanism, {"a": "home"})
    population = personalized.SecretMaps(tagged, [0, 1], ["a", "b"], ["home", "work"])
    pair, rng = ["a", "b"], (..., NOT_SEEDS)
    values = pair, NOT_LABELS
    of_all = pair, [*NOT_LABELS, ["a"], "a", []]
    not_columns = [*NOT_ARRAYS, None, [0], [0, 1, 2], [-1, 0], [0.0, 1.0], [True, False], [HUGE, 0]]
    table = np.full((K, 3), 1 / (3 * K))
    not_tables = [
        *(*NOT_ARRAYS, None, 1.0, UNIFORM, table.T, table * 2, table * 0, table * np.nan, -table),
        *(np.full((K, 3), 1e308), np.full((K, 3), "a"), np.full((K, 3), 1j)),
    ]
    law = personalized.JointLaw(tagged, table)
    home_only = personalized.TaggedDomain(DOMAIN, ["home"])
    other_law = personalized.JointLaw(home_only, np.full((K, 2), 1 / (2 * K)))
    not_intermediate = [
        *(None, 1.5, "z", [K + 2, 0], [-1, 0], ["a", "z"], ["b", "a"], ["a"], [], {}),
        *([["a", "b"]], [0.0, 1.0], [True, False], [None, None], [[0], [0, 1]], object()),
    ]
    not_background = [
        *(1, "home", ["home"], [("home", UNIFORM)], {"school": UNIFORM}, {0: UNIFORM}, object()),
        *({"home": wrong} for wrong in distribution(K, optional=True)),
    ]
    background = ..., not_background
    r, estimate = np.full(K + 2, 1 / (K + 2)), personalized.PersonalizedEstimate
    reports = mechanism.privatize(pair, rng=1)
    other_tallies = [URR.tally([0]), URAP.evidence(reports_of(URAP))]
    not_common_reports = [*NOT_ARRAYS, None, [], [0.5], [K + 2], [-1], ["a"], [[0]], *other_tallies]
    not_visits = [*distribution(K), np.eye(K - 1), np.ones((K, K)), np.zeros((K, K))]
    return [
        call(
            personalized.PersonalizedMechanism,
            common=common,
            user_sensitive=({"a": "home"}, not_maps),
        ),
        call(person.privatize, values=values, rng=rng),
        call(person.intermediate, values=values),
        call(
            personalized.SecretMaps,
            domain=domain,
            users=([0, 1], [*not_columns, 0, [0, 2**31], ["0", "1"]]),
            values=(pair, [*not_columns, "a", ["a"], ["a", "z"], [0, K], ["a", 0]]),
            tags=(
                [0, 1],
                [*not_columns, "home", ["home"], ["home", "school"], [0, 2], ["home", 0]],
            ),
        ),
        call(
            personalized.SecretMaps,
            {"users": "the same user"},
            domain=(tagged, []),
            users=([0, 1], [[0, 0], [1, 1]]),
            values=(["a", "a"], []),
            tags=([0, 1], []),
        ),
        call(population.intermediate, values=of_all),
        call(population.privatize, common=common, values=of_all, rng=rng),
        call(population.simulate, common=common, values=of_all, rng=rng),
        call(personalized.JointLaw, domain=domain, probabilities=(table, not_tables)),
        call(
            personalized.JointLaw.of_users,
            domain=domain,
            values=of_all,
            intermediate=(["a", "⊥home"], not_intermediate),
        ),
        call(estimate.of, domain=domain, r=(r, vector(K + 2, 1 / (K + 2))), background=background),
        call(
            estimate.of(tagged, r).loss_terms,
            truth=(law, [None, UNIFORM, estimate.of(tagged, r), other_law]),
        ),
        call(
            personalized.estimate,
            common=common,
            reports=(reports, not_common_reports),
            background=background,
            method=(..., [*NOT_STRINGS, "EM"]),
            alpha=(..., [0.5]),
        ),
        call(
            personalized.posterior,
            common=common,
            reports=(reports, [*NOT_ARRAYS, None, 0, [0.5], [K + 2], [-1], ["a"], [[0]], [None]]),
            tag=("home", [*NOT_STRINGS, "school", ""]),
            prior=(UNIFORM, distribution(K)),
            visits=(UNIFORM, not_visits),
        ),
    ]


CALLS = calls_of_personalized()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
