"""The audit finds the level and the entries that set it, exactly for fractions."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from random_channels import exact_levels, osldp_matrices, uldp_channels

import uldp
from uldp import privacy
from uldp.privacy import Channel

MANGAT = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(0), Fraction(1)]]


def test_audit_of_mangats_randomized_response():
    found = privacy.audit(MANGAT, [1])
    assert found.ldp.epsilon == np.inf
    assert (found.ldp.inputs, found.ldp.output) == ((0, 1), 0)
    assert found.uldp.ratio == found.osldp.ratio == 4
    assert isinstance(found.uldp.ratio, Fraction)
    assert found.uldp.epsilon == pytest.approx(np.log(4))
    assert (found.uldp.inputs, found.uldp.output) == ((1, 0), 1)


def test_sympy_rationals_are_audited_exactly():
    third = sympy.Rational(1, 3)
    found = privacy.audit([[third, 2 * third], [2 * third, third]], [0])
    assert found.ldp.ratio == Fraction(2)
    assert privacy.Channel([[third, 1 - third]], [0, 1]).matrix[0, 0] == Fraction(1, 3)


def test_fractions_must_sum_to_one_exactly():
    almost = Fraction(1, 3) + Fraction(1, 10**15)
    with pytest.raises(ValueError, match="each row of Q must sum to 1"):
        privacy.ldp_level([[almost, Fraction(2, 3)]])
    assert privacy.ldp_level([[float(almost), 2 / 3]]) == 0


@given(uldp_channels(inputs=3))
def test_uldp_audit_is_the_definition(drawn):
    found = privacy.audit(drawn.channel.matrix, drawn.sensitive_list, drawn.channel.protected)
    assert found.uldp.ratio == exact_levels(drawn.channel, drawn.sensitive)
    assert found.osldp.ratio <= found.uldp.ratio, "Proposition 13"
    if drawn.sensitive:
        hidden = drawn.channel.matrix[:, drawn.channel.protected].sum(axis=1)
        assert (hidden * found.uldp.ratio >= 1).all(), "how often a value is revealed"
    if found.uldp.output is not None:
        x, other = found.uldp.inputs
        column = drawn.channel.matrix[:, found.uldp.output]
        assert column[x] == found.uldp.ratio * column[other]


@given(osldp_matrices())
def test_osldp_audit_is_the_definition(drawn):
    matrix, sensitive = drawn
    ratio = privacy.audit(matrix, sorted(sensitive)).osldp.ratio
    pairs = [
        (matrix[x, y], matrix[other, y])
        for x in sensitive
        for other in range(len(matrix))
        for y in range(matrix.shape[1])
    ]
    assert all(a <= ratio * b for a, b in pairs)
    assert ratio == 1 or any(a == ratio * b for a, b in pairs)


def test_reasons_for_no_uldp():
    shown = privacy.audit(MANGAT, [1], protected=[0]).uldp
    assert shown.epsilon == np.inf
    assert shown.reason == "the sensitive input 1 reaches output 1, which is not protected"
    halves = [[0.5, 0.5], [0.5, 0.5]]
    merged = privacy.audit(halves, [], protected=[0]).uldp
    assert merged.reason == "output 1, not protected, is reached from inputs 0, 1"
    assert (merged.inputs, merged.output) == ((0, 1), 1)


def test_default_protected_outputs_are_those_that_reveal_nothing():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=[0, 3]), 1.0)
    Q = mechanism.transition_matrix()
    assert privacy.audit(Q, [0, 3]) == privacy.audit(Q, [0, 3], mechanism.protected)


def test_by_default_an_output_of_several_inputs_is_protected_though_nothing_is_sensitive():
    assert privacy.audit([[0.75, 0.25], [0.25, 0.75]], []).uldp.ratio == 3


def test_a_channel_of_a_mechanism():
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(3, sensitive=[1]), 0.7)
    channel = Channel.of(mechanism)
    assert channel.uldp_level([1]) == pytest.approx(0.7)
    assert channel.reachable.all()
    with pytest.raises(ValueError, match="protected must have shape"):
        Channel(mechanism.transition_matrix(), [True])
