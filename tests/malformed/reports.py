"""The mechanisms that get malformed input, and reports that they cannot have sent.

They are those of the registry, and block designs of one size and of two; so a mechanism that is
added to the registry is tested without further ado.
"""

from dataclasses import replace
from functools import cache

import numpy as np

import uldp
from malformed.wrong import DOMAIN, HUGE, NOT_ARRAYS, K

URAP = uldp.UtilityOptimizedRappor(DOMAIN, 1.0)
ONE_SIZE = uldp.UtilityOptimizedBlockDesign(DOMAIN, 1.0, sizes=2)
TWO_SIZES = replace(ONE_SIZE, sizes={1: 0.5, 2: 0.5})
ELSEWHERE = uldp.UtilityOptimizedRR(uldp.Domain(K, sensitive=[0]), 1.0)
MECHANISMS = [
    *(make(DOMAIN, 1.0) for make in uldp.mechanisms.MECHANISMS.values()),
    *(ONE_SIZE, TWO_SIZES),
]
SURVEY = uldp.Survey("survey", {"uRAP": URAP, "two sizes": TWO_SIZES, "RR": MECHANISMS[0]})


@cache
def reports_of(mechanism: uldp.Mechanism) -> np.ndarray:
    return mechanism.privatize(np.arange(20) % K, rng=1, indices=True)


def not_of_the_type(mechanism: uldp.Mechanism) -> list[object]:
    """What is no array of reports for its type or shape; reports of other mechanisms among it."""
    shape, limits = mechanism.report_dtype.shape, np.iinfo(mechanism.report_dtype.base)
    one = np.zeros([1, *shape], dtype=int)
    beyond = [one.astype(object) + limits.max + 1, one.astype(object) + limits.min - 1]
    of_other_widths = [np.zeros((1, shape[0] + more), dtype=int) for more in (-1, 1) if shape]
    return [
        *NOT_ARRAYS,
        *(None, 1.5, True, 1j, one.astype(str), one.astype(bool), one.astype(object) + HUGE),
        *(one + 0.0, one + 0.5, one * np.nan, one + 1j, one.astype(np.uint64) + 2**63, one[None]),
        *(np.array(array.tolist()) for array in beyond),
        *of_other_widths,
        *(reports_of(other) for other in MECHANISMS if other.report_dtype.shape != shape),
    ]


def not_reports(mechanism: uldp.Mechanism) -> list[object]:
    """What a mechanism cannot have sent."""
    wrong = impossible(mechanism)
    with_right_ones = np.concatenate([reports_of(mechanism), wrong[:1]])
    return [*not_of_the_type(mechanism), *wrong[:, None], with_right_ones]


@cache
def impossible(mechanism: uldp.Mechanism) -> np.ndarray:
    """Integers of a report's type that are none, though they differ from one in one place only.

    There it is 0, one more, one less, or another in one bit.
    """
    outputs = np.unique(mechanism.outputs.reshape(mechanism.output_count, -1), axis=0)
    last_bit = np.iinfo(outputs.dtype).bits - 1
    near = []
    for place in range(outputs.shape[1]):
        entry = outputs[:, place]
        flipped = [entry ^ entry.dtype.type(1) << bit for bit in (*range(9), last_bit)]
        for other in (0 * entry, entry - 1, entry + 1, *flipped):
            near.append(outputs.copy())
            near[-1][:, place] = other
    possible = {*map(tuple, outputs.tolist())}
    others = {*map(tuple, np.concatenate(near).tolist())} - possible
    wrong = np.array(sorted(others), dtype=outputs.dtype)
    return wrong.reshape(-1, *mechanism.report_dtype.shape)
