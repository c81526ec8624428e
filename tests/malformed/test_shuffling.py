"""Shuffled reports."""

import uldp
from malformed.table import NOT_MECHANISMS, Call, both_tests, call, real, whole
from uldp.beyond.shuffling import Shuffled

URR = uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=[0, 2]), 1.0)
FEW = Shuffled(URR, 4)
WITHOUT_COVER = [
    *(uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=range(s)), 1.0) for s in (0, 1, 3)),
    uldp.RandomizedResponse(uldp.Domain(4, sensitive=[0, 2]), 1.0),
    uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=[0, 2]), 31.0),
]


def calls_of_shuffling() -> list[Call]:
    level, delta = (0.3, real(-0.1)), (0.1, real(0, 1, -1))
    return [
        call(
            Shuffled,
            mechanism=(URR, [*NOT_MECHANISMS, *WITHOUT_COVER]),
            n=(4, whole(0, -1, 10**7 + 1)),
        ),
        call(FEW.delta, level=level),
        call(FEW.exact_delta, level=level),
        call(FEW.level, delta=delta),
        call(FEW.exact_level, delta=delta),
    ]


CALLS = calls_of_shuffling()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
