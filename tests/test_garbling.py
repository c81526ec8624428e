"""Every uRAP is a garbling of a block design of random sizes."""

import numpy as np
import pytest
from cases import domains

import uldp
from uldp.paper.garbling import rappor_as_garbling


def garbled(garbling):
    """R with Q_uRAP = Q_uBD R: reports are lost, sets stay, and revealed values get noisy bits."""
    before, after = garbling.design.outputs, garbling.rappor.outputs
    decoder, x = garbling.rappor.decoder, garbling.rappor.sensitive[0]
    s = garbling.rappor.sensitive.size
    width = -(-s // 8)
    bits = np.unpackbits(after[:, :width], axis=1, count=s, bitorder="little") > 0
    chances = decoder.false_support[x], decoder.not_false_support[x]
    noise = np.where(bits, *chances).prod(axis=1)
    same = before[:, None] == after
    kept = np.where(garbling.design.protected[:, None], same[:, :, :width].all(axis=2), noise)
    lost = garbling.lost * ~after.any(axis=1)
    return (1 - garbling.lost) * same[:, :, width:].all(axis=2) * kept + lost


@pytest.mark.parametrize("theta", [None, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 3.0, 30.0])
def test_uRAP_is_the_garbled_block_design(theta, epsilon):
    for domain in domains(5):
        if not domain.sensitive.size:
            continue
        rappor = uldp.UtilityOptimizedRappor(domain, epsilon, theta)
        garbling = rappor_as_garbling(rappor)
        R = garbled(garbling)
        assert (R >= 0).all()
        np.testing.assert_allclose(R.sum(axis=1), 1, rtol=1e-12)
        Q = garbling.design.transition_matrix() @ R
        np.testing.assert_allclose(Q, rappor.transition_matrix(), rtol=1e-11, atol=1e-15)


def test_sets_of_more_than_a_byte():
    rappor = uldp.UtilityOptimizedRappor(uldp.Domain(11, sensitive=range(9)), 1.0)
    garbling = rappor_as_garbling(rappor)
    Q = garbling.design.transition_matrix() @ garbled(garbling)
    np.testing.assert_allclose(Q, rappor.transition_matrix(), rtol=1e-11, atol=1e-15)


def test_sizes_are_those_of_the_sets_that_holders_send():
    rappor = uldp.UtilityOptimizedRappor(uldp.Domain(7, sensitive=range(5)), 1.2, theta=0.7)
    garbling = rappor_as_garbling(rappor)
    sets = rappor.outputs[:, 0]
    law = np.bincount(np.bitwise_count(sets), rappor.transition_matrix()[0], minlength=6)
    assert garbling.lost == pytest.approx(law[0])
    expected = {d: pytest.approx(law[d] / (1 - law[0])) for d in range(1, 6)}
    assert dict(garbling.design.sizes) == expected
