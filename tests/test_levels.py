from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from uldp import privacy

MANGAT = [[0.75, 0.25], [0, 1]]


def test_warner_and_mangat():
    warner = [[0.75, 0.25], [0.25, 0.75]]
    assert privacy.ldp_level(warner) == pytest.approx(np.log(3))
    assert privacy.ldp_level(MANGAT) == np.inf
    assert privacy.uldp_level(MANGAT, [1], [1]) == pytest.approx(np.log(4))
    assert privacy.uldp_level(MANGAT, [1], [False, True]) == pytest.approx(np.log(4))
    assert privacy.osldp_level(MANGAT, [1]) == pytest.approx(np.log(4))
    assert privacy.osldp_level(MANGAT, [0]) == np.inf


def test_conditions_of_uldp_that_fail():
    assert privacy.uldp_level(MANGAT, [1], [0]) == np.inf, "a sensitive value reaches Y_I"
    assert privacy.uldp_level(np.eye(2), [], [0]) == np.inf, "a protected output is not shared"
    shared = [[0.5, 0.5], [0.5, 0.5]]
    assert privacy.uldp_level(shared, [], [0]) == np.inf, "an output of Y_I has two origins"
    assert privacy.uldp_level(shared, [], [0, 1]) == 0


def test_unreachable_outputs_count_for_nothing():
    padded = np.insert(np.array(MANGAT), 1, 0, axis=1)
    for protected in ([2], [1, 2]):
        assert privacy.uldp_level(padded, [1], protected) == pytest.approx(np.log(4))
    assert privacy.osldp_level(padded, [1]) == pytest.approx(np.log(4))


def test_no_sensitive_or_no_protected():
    assert privacy.uldp_level(np.eye(3), [], []) == 0
    assert privacy.osldp_level(np.eye(3), []) == 0
    assert privacy.ldp_level([[1.0]]) == 0


matrices = arrays(
    float, st.tuples(st.integers(2, 4), st.integers(1, 5)), elements=st.floats(0.01, 1)
).map(lambda w: w / w.sum(axis=1, keepdims=True))


@given(matrices)
def test_levels_hold_by_definition_and_are_least(Q):
    def holds(epsilon, rows):
        return all(
            Q[x, y] <= np.exp(epsilon) * Q[other, y] * (1 + 1e-12)
            for x in rows
            for other in range(len(Q))
            for y in range(Q.shape[1])
        )

    everything = range(len(Q))
    level = privacy.ldp_level(Q)
    assert holds(level, everything)
    assert level < 1e-9 or not holds(level - 1e-9, everything)
    assert privacy.uldp_level(Q, [0], np.ones(Q.shape[1], dtype=bool)) == level
    one_sided = privacy.osldp_level(Q, [0])
    assert one_sided <= level
    assert holds(one_sided, [0])
    assert one_sided < 1e-9 or not holds(one_sided - 1e-9, [0])


@given(matrices, st.data())
def test_levels_of_pairs_hold_by_definition_and_make_up_the_others(Q, data):
    levels = privacy.pair_levels(Q)
    chosen = data.draw(st.lists(st.integers(0, Q.shape[1] - 1), unique=True))
    for found, outputs in ((levels, range(Q.shape[1])), (privacy.pair_levels(Q, chosen), chosen)):
        for x, other in np.ndindex(found.shape):
            ratios = [np.log(Q[x, y] / Q[other, y]) for y in outputs]
            assert found[x, other] == pytest.approx(max([0, *ratios]), abs=1e-12)
    assert levels.max() == pytest.approx(privacy.ldp_level(Q), abs=1e-12)
    assert levels[0].max() == pytest.approx(privacy.osldp_level(Q, [0]), abs=1e-12)


def test_levels_of_pairs_where_outputs_are_impossible():
    assert privacy.pair_levels(MANGAT).tolist() == [[0, np.inf], [pytest.approx(np.log(4)), 0]]
    protected = privacy.pair_levels(MANGAT, [1])
    assert protected.tolist() == [[0, 0], [pytest.approx(np.log(4)), 0]]
    assert privacy.pair_levels(MANGAT, [False, True]).tolist() == protected.tolist()
    assert privacy.pair_levels(MANGAT, []).tolist() == [[0, 0], [0, 0]]
    tiny = Fraction(1, 10**400)
    exact = privacy.pair_levels([[tiny, 1 - tiny], [Fraction(1, 2), Fraction(1, 2)]])
    assert exact[1, 0] == pytest.approx(400 * np.log(10) - np.log(2))
    padded = [[0.5, 0, 0.5], [0.5, 0, 0.5]]
    assert privacy.pair_levels(padded).tolist() == [[0, 0], [0, 0]]


def test_sensitive_inputs_are_counted_by_rows_and_protected_outputs_by_columns():
    tall, wide = np.full((3, 2), 1 / 2), np.full((2, 3), 1 / 3)
    assert privacy.uldp_level(tall, [2], [0, 1]) == privacy.osldp_level(tall, [2]) == 0
    assert privacy.uldp_level(wide, [1], [0, 1, 2]) == privacy.audit(wide, [1], [2]).ldp.epsilon
    for call in (privacy.osldp_level, privacy.audit, lambda Q, S: privacy.uldp_level(Q, S, [])):
        with pytest.raises(ValueError, match=r"sensitive must lie in 0\.\.1, got 2"):
            call(wide, [2])
    with pytest.raises(ValueError, match=r"protected must lie in 0\.\.1, got 2"):
        privacy.uldp_level(tall, [0], [2])
