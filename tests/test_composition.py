"""Propositions 1, 11 and 12 on explicit matrices, in rational arithmetic where it matters."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from random_channels import exact_levels, uldp_channels

import uldp
from uldp import privacy
from uldp.privacy import Channel


@given(uldp_channels(inputs=3), uldp_channels(inputs=3))
def test_sequential_composition_adds_levels(one, two):
    """Both are ULDP for the same sensitive values; the product is for their pairs."""
    channel = privacy.compose(one.channel, two.channel)
    assert (channel.matrix.sum(axis=1) == 1).all()
    level = exact_levels(channel, one.sensitive & two.sensitive)
    assert level <= exact_levels(one.channel, one.sensitive) * exact_levels(
        two.channel, two.sensitive
    )


def test_composition_of_the_mechanisms_is_tight(make):
    domain = uldp.Domain(3, sensitive=[0, 2])
    one, two = (Channel.of(make(domain, epsilon)) for epsilon in (0.4, 1.1))
    together = privacy.compose(one, two)
    sensitive = make(domain, 1.0).sensitive
    assert together.uldp_level(sensitive) == pytest.approx(1.5)
    assert privacy.compose_repeatedly(one, 3).uldp_level(sensitive) == pytest.approx(1.2)


def test_adaptive_composition():
    domain = uldp.Domain(3, sensitive=[0])
    first = Channel.of(uldp.UtilityOptimizedRR(domain, 0.5))
    seconds = [Channel.of(uldp.UtilityOptimizedRR(domain, e)) for e in (0.1, 0.7, 0.3)]
    together = privacy.compose(first, seconds)
    for x in range(3):
        for y0 in range(3):
            for y1 in range(3):
                expected = first.matrix[x, y0] * seconds[y0].matrix[x, y1]
                assert together.matrix[x, 3 * y0 + y1] == expected
    assert together.uldp_level([0]) <= 0.5 + 0.7
    truth = Channel(np.eye(3), [0])
    told = privacy.compose(first, [seconds[0], truth, truth])
    assert told.uldp_level([0]) == pytest.approx(0.6), "who is revealed may answer anything"


def test_pairs_that_reveal_two_values_are_unreachable():
    channel = Channel.of(uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0]), 1.0))
    twice = privacy.compose(channel, channel)
    np.testing.assert_array_equal(np.flatnonzero(~twice.reachable), [1 * 3 + 2, 2 * 3 + 1])
    assert twice.uldp_level([0]) == pytest.approx(2.0)


def test_a_mechanism_after_one_that_says_nothing():
    nothing, second = privacy.Channel([[1.0], [1.0]], [0]), privacy.Channel(np.eye(2), [1])
    for after in (second, [second]):
        both = privacy.compose(nothing, after)
        np.testing.assert_array_equal(both.matrix, np.eye(2))
        np.testing.assert_array_equal(both.protected, [False, True])


def test_compatibility_with_ldp():
    domain = uldp.Domain(4, sensitive=[1, 2])
    one = Channel.of(uldp.UtilityOptimizedRappor(domain, 0.6))
    Q = uldp.RandomizedResponse(domain, 0.9).transition_matrix()
    both = privacy.parallel(one, Q)
    assert both.uldp_level([1, 2]) == pytest.approx(1.5)
    np.testing.assert_allclose(both.matrix.sum(axis=1), 1)


def test_merging_protected_outputs_preserves_data_types_and_the_level():
    channel = Channel.of(uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=[0, 1]), 1.0))
    R = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert privacy.preserves_data_types(channel, R, [0])
    assert privacy.postprocess(channel, R, [0]).uldp_level([0, 1]) <= 1.0


@pytest.mark.parametrize(
    ("R", "protected"),
    [
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 1]),
        ([[1, 0], [1, 0], [1, 0]], []),
        ([[1, 0], [0, 1], [0, 1]], [0]),
    ],
    ids=["invertible made protected", "protected made invertible", "two invertible merged"],
)
def test_processing_that_does_not_preserve_data_types(R, protected):
    channel = Channel.of(uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0]), 1.0))
    assert not privacy.preserves_data_types(channel, R, protected)
    assert privacy.postprocess(channel, R, protected).uldp_level([0]) == np.inf


@given(uldp_channels(inputs=4), st.data())
def test_processing_that_preserves_data_types_keeps_the_level(drawn, data):
    """Proposition 11, with a random matrix among the protected outputs and splits of the others."""
    channel = drawn.channel
    shielded = np.flatnonzero(channel.protected)
    opened = np.flatnonzero(~channel.protected)
    targets = data.draw(st.integers(1, 3)) if shielded.size else 0
    R = np.full((len(channel.protected), targets + 2 * opened.size), Fraction(0))
    for y in shielded:
        weights = data.draw(st.lists(st.integers(1, 5), min_size=targets, max_size=targets))
        R[y, :targets] = [Fraction(w, sum(weights)) for w in weights]
    for place, y in enumerate(opened):
        share = Fraction(data.draw(st.integers(1, 4)), 5)
        R[y, targets + 2 * place : targets + 2 * place + 2] = [share, 1 - share]
    protected = np.arange(R.shape[1]) < targets
    assert privacy.preserves_data_types(channel, R, protected)
    processed = privacy.postprocess(channel, R, protected)
    assert exact_levels(processed, drawn.sensitive) <= exact_levels(channel, drawn.sensitive)


def test_the_most_times_that_a_mechanism_is_repeated():
    nothing = Channel(np.ones((2, 1)), [0])
    assert privacy.compose_repeatedly(nothing, 24).matrix.shape == (2, 1)
    with pytest.raises(ValueError, match="times must be at most 24, got 25"):
        privacy.compose_repeatedly(nothing, 25)
    one_bit = Channel(np.full((2, 2), 0.5), [0])
    assert privacy.compose_repeatedly(one_bit, 16).matrix.shape == (2, 2**16)
    many = Channel(np.full((2, 4096), 1 / 4096), [0])
    for too_large in (
        lambda: privacy.compose(many, many),
        lambda: privacy.compose_repeatedly(one_bit, 24),
    ):
        with pytest.raises(ValueError, match=f"for a matrix of {2**24} entries when composed"):
            too_large()
