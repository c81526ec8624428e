"""The samplers against the exact law.

Each chi-square test refuses at a p-value below FALSE_ALARM divided by the number of p-values it
looks at: were the seeds random, a right sampler would fail each test function with a probability of
at most 1e-6 per mechanism.
"""

import itertools
from collections import defaultdict

import numpy as np
import pytest
from cases import chi_square
from scipy import stats

import uldp

FALSE_ALARM = 1e-6


def columns(mechanism: uldp.Mechanism, reports: np.ndarray) -> np.ndarray:
    """The column of the matrix that each report stands for."""
    place = {y.tobytes(): column for column, y in enumerate(mechanism.outputs)}
    return np.array([place[report.tobytes()] for report in reports])


@pytest.mark.parametrize("sensitive", [[3, 1], [], [0, 1, 2, 3]])
def test_privatize_has_the_law_of_the_matrix(make, sensitive):
    mechanism = make(uldp.Domain(4, sensitive=sensitive), 0.8)
    Q = mechanism.transition_matrix()
    p_values = []
    for seed, x in itertools.product(range(2), range(4)):
        reports = mechanism.privatize(np.full(3000, x), rng=[seed, x])
        observed = np.bincount(columns(mechanism, reports), minlength=Q.shape[1])
        p_values.append(chi_square(observed, Q[x]))
    assert min(p_values) > FALSE_ALARM / len(p_values)


def test_neighbouring_reports_are_independent(make):
    mechanism = make(uldp.Domain(3, sensitive=[0, 2]), 0.8)
    Q = mechanism.transition_matrix()
    reports = columns(mechanism, mechanism.privatize(np.tile([0, 1], 20_000), rng=11))
    joint = np.zeros((Q.shape[1], Q.shape[1]))
    np.add.at(joint, (reports[::2], reports[1::2]), 1)
    assert chi_square(joint.ravel(), np.outer(Q[0], Q[1]).ravel()) > FALSE_ALARM


def law_of_the_tally(mechanism: uldp.Mechanism, values: list[int]) -> dict[tuple[int, ...], float]:
    """The exact law of the counts of these users, by convolving one user after the other."""
    Q = mechanism.transition_matrix()
    supports = [tuple(mechanism.tally(y[None]).counts.ravel()) for y in mechanism.outputs]
    law = {(0,) * len(supports[0]): 1.0}
    for x in values:
        longer: dict[tuple[int, ...], float] = defaultdict(float)
        for counts, weight in law.items():
            for column, support in enumerate(supports):
                if Q[x, column]:
                    total = tuple(a + b for a, b in zip(counts, support, strict=True))
                    longer[total] += weight * Q[x, column]
        law = dict(longer)
    return law


def frequencies(tallies: list[uldp.Tally], law: dict[tuple[int, ...], float]) -> np.ndarray:
    place = {counts: index for index, counts in enumerate(law)}
    drawn = [place[tuple(tally.counts.ravel().tolist())] for tally in tallies]
    return np.bincount(drawn, minlength=len(law))


@pytest.mark.parametrize("sensitive", [[2, 0], [1], []])
def test_simulate_and_privatize_have_the_exact_law_of_the_tally(make, sensitive):
    mechanism = make(uldp.Domain(3, sensitive=sensitive), 1.1)
    values = [0, 0, 1, 2]
    law = law_of_the_tally(mechanism, values)
    assert sum(law.values()) == pytest.approx(1)
    rng, populations = np.random.default_rng(2), 4000
    simulated = [mechanism.simulate([2, 1, 1], rng) for _ in range(populations)]
    reports = mechanism.privatize(np.tile(values, populations), rng)
    batches = np.split(reports, populations)
    privatized = [mechanism.tally(batch) for batch in batches]
    for tallies in (simulated, privatized):
        p_value = chi_square(frequencies(tallies, law), np.array(list(law.values())))
        assert p_value > FALSE_ALARM / 2


def test_simulate_has_the_mean_and_covariance_of_many_users(make):
    domain = uldp.Domain(4, sensitive=[1, 2])
    mechanism = make(domain, 0.6)
    true_counts = np.array([1000, 10, 500, 40])
    Q = mechanism.transition_matrix()
    supports = np.array([mechanism.tally(y[None]).counts.ravel() for y in mechanism.outputs])
    mean = true_counts @ Q @ supports
    covariance = sum(
        c * (supports.T @ np.diag(row) @ supports - np.outer(row @ supports, row @ supports))
        for c, row in zip(true_counts, Q, strict=True)
    )
    rng, draws = np.random.default_rng(8), 2000
    counts = np.array([mechanism.simulate(true_counts, rng).counts.ravel() for _ in range(draws)])
    varies = np.diag(covariance) > 0
    assert (counts[:, ~varies] == mean[~varies]).all()
    mean, covariance = mean[varies], covariance[np.ix_(varies, varies)]
    spread = np.sqrt(np.diag(covariance))
    standardized = (counts[:, varies] - mean) / spread
    limit = stats.norm.isf(FALSE_ALARM / (mean.size * (mean.size + 3)))
    assert np.abs(standardized.mean(axis=0)).max() < limit / np.sqrt(draws)
    products = (standardized[:, :, None] * standardized[:, None, :]).mean(axis=0)
    expected = covariance / np.outer(spread, spread)
    deviation = np.abs(products - expected) / np.sqrt((1 + expected**2) / draws)
    assert deviation.max() < limit


@pytest.mark.parametrize("name", ["RR", "RAPPOR", "uRR", "uRAP", "uHR"])
def test_what_is_drawn_does_not_depend_on_the_value(name):
    """Neither on her value nor on how the coins fall: both would show in the time that it takes."""
    mechanism = uldp.mechanisms.MECHANISMS[name](uldp.Domain(12, sensitive=[1, 2, 5, 11]), 0.7)
    for seed in range(30):
        states = set()
        for value in range(12):
            generator = np.random.default_rng(seed)
            mechanism.privatize(value, generator)
            states.add(str(generator.bit_generator.state))
        assert len(states) == 1
