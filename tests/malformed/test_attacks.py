"""Forged reports."""

import numpy as np

import uldp
from malformed.table import (
    NOT_ARRAYS,
    NOT_MECHANISMS,
    UNIFORM,
    URR,
    Call,
    K,
    both_tests,
    call,
    distribution,
    positions,
    real,
)
from uldp.personalized import PersonalizedMechanism, TaggedDomain
from uldp.survey import attacks

TAGGED = TaggedDomain(uldp.Domain(3, sensitive=[0]), ["home", "work"])
PUM = PersonalizedMechanism(uldp.UtilityOptimizedRR(TAGGED, 1.0), {1: "home"})


def calls_of_attacks() -> list[Call]:
    mechanism, targets = (
        (URR, [*NOT_MECHANISMS, PUM]),
        ([1, 3], [*positions(K), [], ["a", "z"], ["a", "a"], "a", {"a"}]),
    )
    p, share = (UNIFORM, distribution(K)), (0.1, real(-0.1, 1.1))
    ends = [*NOT_ARRAYS, None, 0.5, [0.5], [0.6, 0.5], [0, np.nan], [None, 1], ["0", "1"], [[0, 1]]]
    below_1 = (0.1, real(-0.1, 1.1, 1))
    return [
        call(attacks.influence, mechanism=mechanism),
        call(attacks.worst_report, mechanism=mechanism, targets=targets),
        call(
            attacks.gain,
            mechanism=mechanism,
            p=p,
            targets=targets,
            share=share,
        ),
        call(
            attacks.unforged,
            mechanism=mechanism,
            targets=targets,
            interval=((0.1, 0.2), ends),
            share=below_1,
        ),
        call(
            attacks.users_for_margin,
            mechanism=mechanism,
            p=p,
            targets=targets,
            margin=(5.0, real(0, -1, 0.1)),
            share=(0.1, [*real(-0.1, 1.1), 1.0]),
            confidence=(0.9, real(0, 1, -1)),
        ),
        call(
            attacks.users_for_margin,
            mechanism=(URR, []),
            p=p,
            targets=targets,
            margin=(0.1, [5e-324, 1e-300, 1e-160]),
            share=(0.0, []),
            confidence=(1 - 2**-53, []),
        ),
    ]


CALLS = calls_of_attacks()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
