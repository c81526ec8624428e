"""Surveys that ask again."""

import uldp
from malformed.table import (
    DOMAIN,
    HUGE,
    NOT_ARRAYS,
    NOT_DOMAINS,
    NOT_FLAGS,
    NOT_MECHANISMS,
    NOT_STOCHASTIC,
    NOT_STRINGS,
    URR,
    Call,
    K,
    both_tests,
    call,
    mask,
    real,
    whole,
)
from uldp.survey import plans_for_rounds, repetition

RR_2 = [[0.75, 0.25], [0.25, 0.75]]
DEVICE = repetition.Device.of(URR)
NOT_KEEPS = [*NOT_STRINGS, "", "always", "per_value"]
NOT_ANSWERS = [
    *NOT_ARRAYS,
    *(None, 0, [], [0.0], [0.5], ["0"], [None], [[0]], [-1], [K], [HUGE], [True]),
    *([0] * 12, [0] * 10**5),
]


def calls_of_repeated() -> list[Call]:
    surveys = (2, [*whole(0, -1), 100, 2**62])
    changes = (1, whole(-1, optional=True))
    planned = {
        "domain": (DOMAIN, NOT_DOMAINS),
        "total": (1.0, real(0, -1, 1e-9, 501)),
        "surveys": (4, [*whole(0, -1), 1001]),
        "n": (1000, whole(0, -1)),
        "fixed": (False, NOT_FLAGS),
    }
    return [
        call(
            repetition.Device,
            first=(RR_2, NOT_STOCHASTIC),
            second=(RR_2, [*NOT_STOCHASTIC, [[1.0]]]),
            protected=([0, 1], [*mask(2), [0], []]),
            keeps=("per value", NOT_KEEPS),
        ),
        call(
            repetition.Device.of,
            mechanism=(URR, [*NOT_MECHANISMS, uldp.Rappor(uldp.Domain(40), 1.0)]),
            keeps=("first", NOT_KEEPS),
            called={"mechanism": "mechanism|domain"},
        ),
        call(
            DEVICE.law,
            answers=([0, 4], NOT_ANSWERS),
            called={"answers": "answers|surveys"},
        ),
        call(DEVICE.level, surveys=surveys, changes=changes),
        call(DEVICE.bound, surveys=(2, whole(0, -1)), changes=changes),
        call(
            DEVICE.pair_level,
            one=([0, 4], NOT_ANSWERS),
            other=([4, 4], [*NOT_ANSWERS, [0], [0, 0, 0]]),
            called={"one": "answers|one|other|surveys", "other": "answers|other|surveys"},
        ),
        call(
            repetition.two_layers,
            mechanism=(
                URR,
                [
                    *NOT_MECHANISMS,
                    uldp.UtilityOptimizedBlockDesign(DOMAIN, 1.0),
                    uldp.UtilityOptimizedRR(uldp.Domain(3), 1.0),
                    uldp.Rappor(uldp.Domain(16), 1.0),
                    uldp.UtilityOptimizedRappor(uldp.Domain(40, range(30)), 1.0),
                    uldp.RandomizedResponse(uldp.Domain(1000), 1.0),
                ],
            ),
            epsilon=(1.0, real(0, -1)),
            reveals=("anew", [*NOT_STRINGS, "", "never"]),
        ),
        call(plans_for_rounds, **planned),
    ]


CALLS = calls_of_repeated()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
