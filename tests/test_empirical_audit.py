"""Reports alone never prove more than ε of a right sampler, and convict a broken one.

Each bound has a confidence of 1 - 1e-6, and each distance from ε is missed by a right sampler with
a probability of at most 1e-6, were the seeds random.
"""

from functools import partial

import numpy as np
import pytest
from scipy import stats

import uldp
from uldp.survey.empirical import EmpiricalLevel, _bound, _parts, empirical_level

REPORTS = 400_000
FALSE_ALARM = 1e-6
CONFIDENCE = 1 - FALSE_ALARM
EPSILON = 1.0
DOMAIN = uldp.Domain(6, sensitive=range(4))
AUDITED = {
    "RR": uldp.RandomizedResponse,
    "uRR": uldp.UtilityOptimizedRR,
    "RAPPOR": uldp.Rappor,
    "uRAP": uldp.UtilityOptimizedRappor,
    "uRAP, θ = 1/2": partial(uldp.UtilityOptimizedRappor, theta=0.5),
    "uBD": uldp.UtilityOptimizedBlockDesign,
}


def of_two_values(sampler, first: int, second: int, seed: int, **options) -> EmpiricalLevel:
    rng = np.random.default_rng(seed)
    reports = (sampler(np.full(REPORTS, value), rng) for value in (first, second))
    return empirical_level(*reports, confidence=CONFIDENCE, **options)


def level_and_distance(mechanism, first: int, second: int) -> tuple[float, float]:
    """What the protected outputs of two values allow to prove, and by how much a bound may miss it.

    The distance is that of the normal approximation, for the event of the largest ratio: from the
    truth to the frequencies with the rate FALSE_ALARM, and from these to their confidence bounds.
    """
    p, q = mechanism.transition_matrix()[[first, second]][:, mechanism.protected]
    largest = (p / q).max()
    event = p / q > largest * (1 - 1e-9)
    spread = sum(np.sqrt((1 - m) / (m * REPORTS / 2)) for m in (p[event].sum(), q[event].sum()))
    return np.log(largest), 2 * stats.norm.isf(FALSE_ALARM / 2) * spread


@pytest.mark.parametrize("values", [(0, 1), (4, 5), (5, 4)])
@pytest.mark.parametrize("name", AUDITED)
def test_a_right_sampler(name, values):
    mechanism = AUDITED[name](DOMAIN, EPSILON)
    protected = mechanism.outputs[mechanism.protected]
    found = of_two_values(mechanism.privatize, *values, seed=1, outputs=protected)
    level, distance = level_and_distance(mechanism, *values)
    assert level < EPSILON * (1 + 1e-12)
    assert distance < 0.1
    assert level - distance < found.epsilon <= EPSILON
    assert found.tested == (REPORTS // 2, REPORTS // 2)


@pytest.mark.parametrize("name", ["uRR", "uRAP"])
def test_what_is_not_protected_is_revealed(name):
    mechanism = AUDITED[name](DOMAIN, EPSILON)
    found = of_two_values(mechanism.privatize, 5, 4, seed=2)
    assert found.epsilon > 8
    assert found.hits[1] == 0


def with_more_epsilon(mechanism, values, rng):
    return type(mechanism)(mechanism.domain, mechanism.epsilon + 0.1).privatize(values, rng)


def truth_in_one_of_twenty(mechanism, values, rng):
    reports = mechanism.privatize(values, rng)
    leaking = rng.integers(20, size=values.size) == 0
    if reports.ndim == 1:
        reports[leaking] = values[leaking]
    else:
        reports[leaking] = 0
        reports[leaking, 0] = 1 << values[leaking]
    return reports


@pytest.mark.parametrize("broken", [with_more_epsilon, truth_in_one_of_twenty])
@pytest.mark.parametrize("name", ["RR", "uRR", "RAPPOR", "uRAP"])
def test_a_broken_sampler(name, broken):
    mechanism = AUDITED[name](DOMAIN, EPSILON)
    assert of_two_values(partial(broken, mechanism), 0, 1, seed=3).epsilon > EPSILON


class BitFromTheOtherEnd(uldp.UtilityOptimizedRappor):
    """The own bit is counted from the most significant one, all others from the least."""

    @property
    def _number_in_class(self):
        number = super()._number_in_class
        return np.where(number > 0, ((number - 1) ^ 7) + 1, number)


class FourRandomBits(uldp.UtilityOptimizedRR):
    """Whether to keep the value is decided by four bits, so that 1/16 is the finest share."""

    def _perturb(self, users, rng):
        replaced = rng.integers(16, size=users.size) < int(16 * self._choices[1])
        return np.where(replaced, self.sensitive[rng.integers(4, size=users.size)], users)


@pytest.mark.parametrize(("sampler", "epsilon"), [(BitFromTheOtherEnd, 1.0), (FourRandomBits, 3.0)])
def test_a_sampler_that_is_wrong_in_its_bits(sampler, epsilon):
    right, broken = sampler.__base__(DOMAIN, epsilon), sampler(DOMAIN, epsilon)
    assert of_two_values(right.privatize, 0, 1, seed=4).epsilon <= epsilon
    assert of_two_values(broken.privatize, 0, 1, seed=4).epsilon > epsilon


@pytest.mark.parametrize("confidence", [0.9, 0.999])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.2), (0.9, 0.9), (0.1, 0.01), (1.0, 0.6), (0.3, 1.0)])
def test_the_bound_holds_as_often_as_promised(p, q, confidence):
    """By enumeration of all outcomes of 40 and 60 reports."""
    n = np.array([40, 60])
    hits = np.meshgrid(*(np.arange(m + 1) for m in n), indexing="ij")
    law = np.outer(stats.binom.pmf(np.arange(41), 40, p), stats.binom.pmf(np.arange(61), 60, q))
    bounds = _bound(np.array(hits), n[:, None, None], confidence)
    assert law[bounds > np.log(p / q) + 1e-12].sum() <= 1 - confidence


@pytest.mark.parametrize(
    "hits", [(7, 3), (40, 0), (1, 3), (2, 1), (40, 60), (39, 59), (38, 58), (40, 59)]
)
def test_the_bound_is_that_of_the_exact_intervals(hits):
    tested = 40, 60
    intervals = [
        stats.binomtest(*counts).proportion_ci(0.99, method="exact")
        for counts in zip(hits, tested, strict=True)
    ]
    expected = np.log(intervals[0].low / intervals[1].high)
    assert _bound(np.array(hits), np.array(tested), 0.99) == pytest.approx(expected, rel=1e-9)


def test_an_event_that_did_not_happen_shows_nothing():
    assert _bound(np.array([0, 3]), np.array([40, 60]), 0.99) == -np.inf


def test_each_report_is_in_one_of_the_parts():
    parts = [*_parts(np.arange(28), 12)]
    assert [[values.size for values in part] for part in parts] == [[3, 4], [3, 4], [6, 8]]
    for both, reports in zip(zip(*parts, strict=True), (range(12), range(12, 28)), strict=True):
        np.testing.assert_array_equal(np.sort(np.concatenate(both)), reports)


def test_large_reports_are_not_rounded():
    first = np.full(40, 2**60 + 1, dtype=np.uint64)
    with pytest.raises(ValueError, match="must be of one type, got uint64 and int64"):
        empirical_level(first, np.full(40, 2**60))
    assert empirical_level(first, np.full(40, 2**60, dtype=np.uint64)).epsilon > 0.5


def test_the_values_may_have_different_numbers_of_reports():
    rng = np.random.default_rng(0)
    mechanism = uldp.UtilityOptimizedRR(DOMAIN, EPSILON)
    first, second = (mechanism.privatize(np.full(n, n % 3), rng) for n in (40_000, 20_000))
    level = empirical_level(first, second)
    assert level.tested == (20_000, 10_000)
    assert level.hits == tuple(np.isin(part[1::2], level.event).sum() for part in (first, second))
    assert empirical_level(second, first).tested == (10_000, 20_000)


def test_the_event_is_not_judged_by_the_reports_that_chose_it():
    """Reports that hardly ever come twice: a choice fits those that it has seen, and no others."""
    first, second = np.random.default_rng(5).integers(100_000, size=(2, 4000))
    assert empirical_level(first, second).epsilon == 0


def test_the_event_is_what_tells_the_values_apart():
    first, second = np.tile([3, 3, 3, 5], 1000), np.tile([3, 5, 5, 5], 1000)
    rng = np.random.default_rng(0)
    found = empirical_level(rng.permuted(first), rng.permuted(second))
    assert found.event.tolist() == [3]
    assert 0.8 < found.epsilon < np.log(3)
    assert empirical_level(first, first).epsilon == 0
    assert empirical_level(first, second, outputs=[5]).epsilon == 0
    nothing = empirical_level(first, second, outputs=[4])
    assert (nothing.epsilon, nothing.event.size, nothing.hits) == (0, 0, (0, 0))
