"""Every uRAP is a garbling of a block design of random sizes."""

import numpy as np
import pytest
from cases import domains

import uldp
from uldp.paper.garbling import rappor_as_garbling


@pytest.mark.parametrize("theta", [None, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 3.0, 30.0])
def test_uRAP_is_the_garbled_block_design(theta, epsilon):
    for domain in domains(5):
        if not domain.sensitive.size:
            continue
        rappor = uldp.UtilityOptimizedRappor(domain, epsilon, theta)
        garbling = rappor_as_garbling(rappor)
        R = garbling.postprocessing()
        assert (R >= 0).all()
        np.testing.assert_allclose(R.sum(axis=1), 1, rtol=1e-12)
        Q = garbling.design.transition_matrix() @ R
        np.testing.assert_allclose(Q, rappor.transition_matrix(), rtol=1e-11, atol=1e-15)


def test_sets_of_more_than_a_byte():
    rappor = uldp.UtilityOptimizedRappor(uldp.Domain(11, sensitive=range(9)), 1.0)
    garbling = rappor_as_garbling(rappor)
    Q = garbling.design.transition_matrix() @ garbling.postprocessing()
    np.testing.assert_allclose(Q, rappor.transition_matrix(), rtol=1e-11, atol=1e-15)


def test_the_design_is_never_worse():
    rng = np.random.default_rng(0)
    for domain in domains(5):
        if not domain.sensitive.size:
            continue
        for theta in (None, 0.5, 0.9):
            rappor = uldp.UtilityOptimizedRappor(domain, 10 ** rng.uniform(-1, 1), theta)
            design = rappor_as_garbling(rappor).design
            largest = [m.l2_loss(m.worst_case("l2"), 1) for m in (design, rappor)]
            assert largest[0] <= largest[1] * (1 + 1e-12)


def test_sizes_are_those_of_the_sets_that_holders_send():
    rappor = uldp.UtilityOptimizedRappor(uldp.Domain(7, sensitive=range(5)), 1.2, theta=0.7)
    garbling = rappor_as_garbling(rappor)
    sets = rappor.outputs[:, 0]
    law = np.bincount(np.bitwise_count(sets), rappor.transition_matrix()[0], minlength=6)
    assert garbling.lost == pytest.approx(law[0])
    expected = {d: pytest.approx(law[d] / (1 - law[0])) for d in range(1, 6)}
    assert dict(garbling.design.sizes) == expected


def test_a_matrix_of_just_the_size_is_allowed(monkeypatch):
    garbling = rappor_as_garbling(uldp.UtilityOptimizedRappor(uldp.Domain(2, sensitive=[0]), 1.0))
    entries = garbling.postprocessing().size
    monkeypatch.setattr(uldp.paper.garbling, "MATRIX_ENTRIES", entries)
    assert garbling.postprocessing().size == entries
    monkeypatch.setattr(uldp.paper.garbling, "MATRIX_ENTRIES", entries - 1)
    with pytest.raises(ValueError, match="too large for the matrix"):
        garbling.postprocessing()


def test_matrix_of_a_large_domain_is_refused():
    rappor = uldp.UtilityOptimizedRappor(uldp.Domain(14, sensitive=range(12)), 1.0)
    with pytest.raises(ValueError, match="too large for the matrix"):
        rappor_as_garbling(rappor).postprocessing()
