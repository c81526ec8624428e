"""Privacy levels, audits, channels and their composition."""

import numpy as np

from malformed.reports import URAP, reports_of
from malformed.table import (
    HUGE,
    NOT_ARRAYS,
    NOT_MECHANISMS,
    NOT_STOCHASTIC,
    URR,
    Call,
    both_tests,
    call,
    mask,
    positions,
    real,
    whole,
)
from uldp import privacy
from uldp.privacy import osldp

MATRIX = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])


def calls_of_privacy() -> list[Call]:
    Q, sensitive, protected = (MATRIX, NOT_STOCHASTIC), ([0], positions(2)), ([0, 1], mask(3))
    optional = ..., [wrong for wrong in mask(3) if wrong is not None]
    explicit = privacy.Channel(MATRIX, [0, 1])
    not_channels = [None, 1.0, MATRIX, URR, "channel", object()]
    channel = explicit, not_channels
    not_second = [
        *(*not_channels, [], [explicit], [explicit] * 2 + [None], [explicit] * 2 + [MATRIX]),
        *(privacy.Channel(np.eye(3), [0]), [explicit] * 2 + [privacy.Channel(MATRIX, [0])]),
    ]
    R = np.eye(3), [*NOT_STOCHASTIC, np.eye(2)]
    not_lists = [*NOT_ARRAYS, 1, [0.5] * 4, ["a"] * 4, [None] * 4, [True] * 4, [HUGE] * 4, [1j] * 4]
    not_samples = [*not_lists, None, [], [1, 1, 1], [[]] * 4, reports_of(URAP)]
    reports = reports_of(URR)
    return [
        call(privacy.ldp_level, Q=Q),
        call(privacy.uldp_level, Q=Q, sensitive=sensitive, protected=protected),
        call(privacy.osldp_level, Q=Q, sensitive=sensitive),
        call(privacy.pair_levels, Q=Q, protected=optional),
        call(privacy.audit, Q=Q, sensitive=sensitive, protected=optional),
        call(privacy.Channel, matrix=Q, protected=protected),
        call(privacy.Channel.of, mechanism=(URR, NOT_MECHANISMS)),
        call(explicit.uldp_level, sensitive=sensitive),
        call(privacy.compose, first=channel, second=(explicit, not_second)),
        call(privacy.compose_repeatedly, channel=channel, times=(2, whole(0, -1, 25))),
        call(privacy.parallel, channel=channel, Q=(MATRIX, [*NOT_STOCHASTIC, np.eye(3)])),
        call(privacy.postprocess, channel=channel, R=R, protected=protected),
        call(privacy.preserves_data_types, channel=channel, R=R, protected=protected),
        call(
            privacy.empirical_level,
            first=(reports, not_samples),
            second=(reports, not_samples),
            confidence=(..., real(0, 1, -1, 2)),
            outputs=(..., [*not_lists, [[0, 0]], np.uint64([2**63])]),
        ),
        call(osldp.decompose, Q=Q, sensitive=sensitive, epsilon=(1.0, real(-1))),
        call(osldp.decompose, Q=(MATRIX, [np.eye(2)]), sensitive=([0], []), epsilon=(1.0, [])),
    ]


CALLS = calls_of_privacy()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
