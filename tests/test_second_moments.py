"""The second moment of a decoded report, by enumeration of all reports."""

import numpy as np
import pytest
from cases import MECHANISMS, domains, random_distribution

import uldp


@pytest.fixture(params=MECHANISMS.values(), ids=MECHANISMS.keys())
def make(request):
    return request.param


def decoded(mechanism: uldp.Mechanism) -> np.ndarray:
    """The rows D_y, shape (|Y|, k), by estimating from each report alone."""
    return np.array([mechanism.estimate(y[None]) for y in mechanism.outputs])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_second_moment_is_that_of_the_matrix(make, epsilon):
    rng = np.random.default_rng(12)
    for domain in domains(5):
        mechanism = make(domain, epsilon)
        p, rows = random_distribution(rng, domain.size), decoded(mechanism)
        expected = rows.T @ np.diag(p @ mechanism.transition_matrix()) @ rows
        moment = mechanism.second_moment(p)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(moment, expected, atol=1e-12 * scale)
        variances = mechanism.decoder.variances(p)
        np.testing.assert_allclose(np.diag(moment) - p**2, variances, atol=1e-12 * scale)


def test_second_moment_is_affine_in_p(make):
    rng = np.random.default_rng(13)
    for domain in domains(4):
        mechanism = make(domain, 0.8)
        p, q = rng.normal(size=(2, domain.size))
        between = mechanism.second_moment(0.3 * p + 0.7 * q)
        expected = 0.3 * mechanism.second_moment(p) + 0.7 * mechanism.second_moment(q)
        np.testing.assert_allclose(between, expected, atol=1e-10)


def test_second_moment_times_weights_needs_no_matrix(make):
    rng = np.random.default_rng(14)
    for domain in domains(5):
        mechanism, p = make(domain, 1.3), random_distribution(rng, domain.size)
        moment, weights = mechanism.second_moment(p), rng.normal(size=(domain.size, 3))
        np.testing.assert_allclose(moment, moment.T, atol=1e-12)
        for w in (weights, weights[:, 0]):
            applied = mechanism.decoder.apply_second_moment(p, w)
            assert applied.shape == w.shape
            np.testing.assert_allclose(applied, moment @ w, atol=1e-11)
