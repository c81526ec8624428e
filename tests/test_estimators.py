import numpy as np
import pytest
from cases import MECHANISMS, domains
from scipy.stats import norm

import uldp
from uldp.tallies import empirical, threshold


def test_empirical_solves_the_linear_system_of_randomized_response():
    """pQ = m̂ as the paper states it; that is the most likely p, too, if no entry is negative."""
    equal = []
    for domain in domains(5):
        for make in (uldp.RandomizedResponse, uldp.UtilityOptimizedRR):
            mechanism = make(domain, 0.9)
            tally = mechanism.simulate(np.arange(1, domain.size + 1), rng=3)
            solved = np.linalg.solve(mechanism.transition_matrix().T, tally.counts / tally.n)
            np.testing.assert_allclose(empirical(tally), solved, atol=1e-12)
            assert empirical(tally).sum() == pytest.approx(1)
            same = np.allclose(mechanism.estimate(tally, "mle"), solved, atol=1e-12)
            assert same == (solved.min() >= 0)
            equal.append(same)
    assert 10 < sum(equal) < len(equal) - 10


def test_estimates_do_not_depend_on_where_the_sensitive_values_stand(make):
    """Reports of equal probabilities say the same of values that stand in another order."""
    order = np.array([2, 0, 3, 1])
    one = make(uldp.Domain(4, sensitive=[0, 3]), 1.0)
    sensitive = np.flatnonzero(np.isin(order, [0, 3]))
    other = make(uldp.Domain(4, sensitive=sensitive), 1.0)
    law, moved_law = one.transition_matrix()[order], other.transition_matrix()
    places, moved_places = (np.lexsort(matrix.round(12)) for matrix in (law, moved_law))
    np.testing.assert_allclose(law[:, places], moved_law[:, moved_places], rtol=1e-12)
    weights = law[:, places].T @ [0.01, 0.05, 0.9, 0.04]
    chosen = np.random.default_rng(0).choice(weights.size, 1000, p=weights)
    reports, moved = one.outputs[places[chosen]], other.outputs[moved_places[chosen]]
    for method in ("empirical", "threshold", "norm_sub"):
        np.testing.assert_allclose(
            one.estimate(reports, method)[order], other.estimate(moved, method), atol=1e-12
        )


def test_threshold_keeps_what_is_significant():
    domain, n = uldp.Domain(4), 10**9
    mechanism = uldp.RandomizedResponse(domain, 1.0)
    E = np.e
    sigma = np.sqrt((E + 2) / (E - 1) ** 2 / n)
    for sign in (+1, -1):
        height = (norm.isf(0.05 / 4) * sigma) * (1 + sign * 0.05)
        p = np.array([height, 1 - height * 2, height / 2, height / 2])
        counts = ((p * (E - 1) + 1) / (E + 3) * n).round().astype(int)
        counts[-1] += n - counts.sum()
        tally = uldp.Tally(mechanism, n, counts)
        kept = threshold(tally) == empirical(tally)
        assert kept[0] == (sign > 0)
        np.testing.assert_allclose(
            threshold(tally)[~kept], (1 - empirical(tally)[kept].sum()) / (~kept).sum()
        )


def test_threshold_scales_down_kept_entries_that_exceed_one():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0]), 1.0)
    tally = uldp.Tally(mechanism, 10, [0, 6, 4])
    assert empirical(tally)[1:].sum() > 1
    np.testing.assert_allclose(threshold(tally), [0, 0.6, 0.4])


def test_threshold_with_nothing_significant_is_uniform():
    mechanism = uldp.RandomizedResponse(uldp.Domain(4), 0.1)
    np.testing.assert_allclose(threshold(mechanism.tally([0, 1, 2, 3])), 0.25)


def test_norm_sub_is_the_nearest_distribution():
    """By the optimality condition: p̂ - p is constant where p > 0 and no more elsewhere."""
    for seed, make in enumerate(MECHANISMS.values()):
        mechanism = make(uldp.Domain(30, sensitive=range(10)), 0.5)
        tally = mechanism.simulate(np.arange(30), rng=seed)
        p = mechanism.estimate(tally, "norm_sub")
        gap = mechanism.estimate(tally) - p
        assert p.sum() == pytest.approx(1)
        assert np.ptp(gap[p > 0]) < 1e-12
        assert (gap[p == 0] <= gap[p > 0].min() + 1e-12).all()


def test_norm_sub_at_the_least_epsilon_of_all():
    """Where one report more or less is 10^9 in the estimate."""
    mechanism = uldp.RandomizedResponse(uldp.Domain(30), 1e-9)
    p = mechanism.estimate(mechanism.tally([3, 7, 7, 3, 20]), "norm_sub")
    np.testing.assert_array_equal(p, np.isin(np.arange(30), [3, 7]) / 2)
