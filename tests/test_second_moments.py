"""The second moment of a decoded report, by enumeration of all reports."""

import itertools

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


def test_the_covariance_that_follows_from_reports_is_unbiased(make):
    """E (M(p̂) - p̂ p̂ᵀ)/(n - 1) = Cov p̂, over all reports of two users."""
    rng = np.random.default_rng(15)
    for domain in domains(3):
        mechanism, p = make(domain, 0.9), random_distribution(rng, domain.size)
        m, rows = p @ mechanism.transition_matrix(), decoded(mechanism)
        covariance = (mechanism.second_moment(p) - np.outer(p, p)) / 2
        mean = np.zeros_like(covariance)
        for y, z in itertools.product(range(m.size), repeat=2):
            estimate = (rows[y] + rows[z]) / 2
            mean += m[y] * m[z] * (mechanism.second_moment(estimate) - np.outer(estimate, estimate))
        scale = max(1.0, np.abs(covariance).max())
        np.testing.assert_allclose(mean, covariance, atol=1e-12 * scale)


def test_large_domains_need_no_matrix():
    domain = uldp.Domain(100_000, sensitive=range(50_000))
    p = np.full(domain.size, 1 / domain.size)
    for name in ("uRR", "uRAP", "uBD"):
        mechanism = uldp.mechanisms.MECHANISMS[name](domain, 1.0)
        whole = np.ones(domain.size)
        square = whole @ mechanism.decoder.apply_second_moment(p, whole)
        variance = mechanism.decoder.variances(p).sum()
        of_sum = variance + p @ p if name == "uRAP" else 1
        assert square == pytest.approx(of_sum, rel=1e-4, abs=1e-10 * variance)
