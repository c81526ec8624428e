"""Forged reports, against all reports and against what simulated forgers do."""

import math

import numpy as np
import pytest
from cases import MECHANISMS, domains, random_distribution, rows_of
from scipy import stats

import uldp
from uldp.personalized import TaggedDomain
from uldp.survey import attacks

BUDGETS = (0.2, 1.0, 4.0)
CENSUS = uldp.Domain(400, sensitive=range(76))


def row(mechanism, report):
    return mechanism.estimate(np.asarray(report)[None])


def random_targets(rng, size):
    return np.sort(rng.permutation(size)[: rng.integers(1, size + 1)])


@pytest.mark.parametrize("name", MECHANISMS)
def test_influence_and_the_worst_report_are_those_of_all_reports(name):
    rng = np.random.default_rng(1)
    for domain in domains(4):
        for epsilon in BUDGETS:
            mechanism = MECHANISMS[name](domain, epsilon)
            rows = rows_of(mechanism)
            least_and_largest = np.stack([rows.min(axis=0), rows.max(axis=0)], axis=1)
            close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(rows).max()}
            np.testing.assert_allclose(attacks.influence(mechanism), least_and_largest, **close)
            for targets in (random_targets(rng, domain.size), [domain.size - 1]):
                report = attacks.worst_report(mechanism, targets)
                honest = mechanism.privatize(0, rng)
                assert (type(report), report.shape) == (type(honest), honest.shape)
                assert report.dtype == honest.dtype
                lifted = row(mechanism, report)[targets].sum()
                np.testing.assert_allclose(lifted, rows[:, targets].sum(axis=1).max(), **close)


class Listed(uldp.UtilityOptimizedBlockDesign):
    """A mechanism that does not know a shorter way to its best report."""

    _best_report = uldp.Mechanism._best_report


@pytest.mark.parametrize(
    ("domain", "epsilon", "sizes", "targets"),
    [
        (uldp.Domain(5, sensitive=[0, 2, 3]), 1.0, {1: 0.4, 2: 0.6}, [1, 2, 3]),
        (uldp.Domain(6, sensitive=[0, 1, 2]), 0.1, {1: 0.8, 3: 0.2}, [0, 1, 2, 3, 4]),
    ],
)
def test_reports_are_listed_where_there_is_no_shorter_way(domain, epsilon, sizes, targets):
    known, listed = (kind(domain, epsilon, sizes) for kind in (Listed.__base__, Listed))
    worst = (attacks.worst_report(kind, targets) for kind in (known, listed))
    np.testing.assert_array_equal(*worst)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_influence_at_large_sizes_is_the_formula(epsilon):
    u, kept = math.expm1(epsilon), -math.expm1(-epsilon / 2)
    s, k = 76, 400
    expected = {
        "RR": ((-1 / u, (k + u - 1) / u),) * 2,
        "uRR": ((-1 / u, (s + u - 1) / u), (0, (s + u) / u)),
        "RAPPOR": ((1 - 1 / kept, 1 / kept),) * 2,
        "uRAP": ((1 - 1 / kept, 1 / kept), (0, 1 / kept)),
    }
    for name, ranges in expected.items():
        found = attacks.influence(uldp.mechanisms.MECHANISMS[name](CENSUS, epsilon))
        np.testing.assert_allclose(found[[0, -1]], ranges, rtol=1e-10)
        assert len(np.unique(found, axis=0)) <= 2
    for d in (1, 5, 20, 75):
        block = uldp.UtilityOptimizedBlockDesign(CENSUS, epsilon, d)
        largest = attacks.influence(block)[0, 1]
        assert largest == pytest.approx(1 + (s - 1) / (d * u), rel=1e-9)


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_report_counts_for_less_than_the_bound(name):
    """With two sensitive values, max D_yx is at least 1/(1 - e^-ε) on X_S and 1 on X_N."""
    for domain in domains(4):
        for epsilon in BUDGETS:
            mechanism = MECHANISMS[name](domain, epsilon)
            largest = attacks.influence(mechanism)[:, 1]
            if mechanism.sensitive.size > 1:
                least = 1 / -math.expm1(-epsilon)
                assert (largest >= least * (1 - 1e-12)).all()
            assert (largest >= 1 - 1e-12).all()


def test_the_worst_report_of_a_large_domain_is_made_without_a_list(monkeypatch):
    domain = uldp.Domain(12_800, sensitive=range(2_432))
    for name, make in uldp.mechanisms.MECHANISMS.items():
        mechanism = make(domain, 1.0)
        monkeypatch.setattr(type(mechanism), "outputs", None)
        targets = [3, 2_000, 5_000, 12_799]
        report = attacks.worst_report(mechanism, targets)
        lifted = row(mechanism, report)[targets].sum()
        p = np.full(domain.size, 1 / domain.size)
        gained = attacks.gain(mechanism, p, targets, 0.5)
        assert gained == pytest.approx((lifted - 4 / domain.size) / 2, rel=1e-9), name


@pytest.mark.parametrize("name", uldp.mechanisms.MECHANISMS)
def test_simulated_forgers_gain_what_is_said(name):
    """The sum is normal; |z| > 4.5 in one of 6 runs with a probability of 4e-5."""
    rng = np.random.default_rng(3)
    domain = uldp.Domain(12, sensitive=range(5))
    mechanism = uldp.mechanisms.MECHANISMS[name](domain, 1.0)
    p, targets, n, forged = random_distribution(rng, 12), [1, 2, 8], 40_000, 2_000
    honest = mechanism.simulate(rng.multinomial(n - forged, p), rng)
    report = attacks.worst_report(mechanism, targets)
    both = honest + mechanism.tally(np.repeat(np.asarray(report)[None], forged, axis=0))
    moved = mechanism.estimate(both)[targets].sum() - p[targets].sum()
    w = np.zeros(12)
    w[targets] = 1
    variance = w @ mechanism.second_moment(p) @ w - (w @ p) ** 2
    error = math.sqrt(variance * (n - forged)) / n
    expected = attacks.gain(mechanism, p, targets, forged / n)
    assert abs(moved - expected) < 4.5 * error < expected
    low, high = attacks.unforged(mechanism, targets, (moved + w @ p,) * 2, forged / n)
    honestly = mechanism.estimate(honest)[targets].sum()
    assert low == pytest.approx(honestly, rel=1e-9)
    assert high > honestly


def test_unforged_is_sharp_at_both_ends_and_does_nothing_without_forgers():
    rng = np.random.default_rng(4)
    for domain in domains(3):
        for make in MECHANISMS.values():
            mechanism = make(domain, 1.0)
            rows = rows_of(mechanism)
            targets = random_targets(rng, domain.size)
            sums = rows[:, targets].sum(axis=1)
            honest, beta = rng.random(), rng.random()
            total = [(1 - beta) * honest + beta * sums[y] for y in (sums.argmin(), sums.argmax())]
            low, _ = attacks.unforged(mechanism, targets, (total[1], total[1]), beta)
            _, high = attacks.unforged(mechanism, targets, (total[0], total[0]), beta)
            assert (low, high) == pytest.approx((honest, honest), rel=1e-6, abs=1e-6)
            assert attacks.unforged(mechanism, targets, (0.1, 0.3), 0) == (0.1, 0.3)


def test_users_needed_are_enough_and_one_less_is_not():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(10, sensitive=range(4)), 1.0)
    p, targets = np.full(10, 0.1), [0, 1]
    w = np.zeros(10)
    w[targets] = 1
    variance = w @ mechanism.second_moment(p) @ w - 0.2**2
    largest = row(mechanism, attacks.worst_report(mechanism, targets))[targets].sum()
    least = -(2 / math.expm1(1))
    for beta in (0.0, 0.01):
        moved = beta * max(largest - 0.2, 0.2 - least)

        def chance(n, beta=beta, moved=moved):
            return stats.norm.isf(0.05) * math.sqrt((1 - beta) * variance / n) + moved

        n = attacks.users_for_margin(mechanism, p, targets, 0.05, beta, 0.9)
        assert chance(n) <= 0.05 < chance(n - 1)
    with pytest.raises(ValueError, match=r"margin must exceed .* 0\.0\d+, got 0\.05"):
        attacks.users_for_margin(mechanism, p, targets, 0.05, 0.03)
    assert attacks.users_for_margin(mechanism, p, range(10), 0.05, 0.01) == 1
    moved = attacks.gain(mechanism, p, targets, 0.25)
    with pytest.raises(ValueError, match="margin must exceed"):
        attacks.users_for_margin(mechanism, p, targets, moved, 0.25)


def test_forgers_of_the_lower_side_count():
    """Where almost all hold the targets, lowering the sum is what moves it most."""
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=range(2)), 1.0)
    p = np.array([0.5, 0.5, 0, 0])
    lowest = rows_of(mechanism)[:, :2].sum(axis=1).min()
    with pytest.raises(ValueError, match=f"{0.1 * (1 - lowest):.6g}"):
        attacks.users_for_margin(mechanism, p, [0, 1], 0.01, 0.1)


def test_whole_number_labels_behind_tags_are_labels():
    """Never indices: of the value 1 the index is 0."""
    tagged = TaggedDomain(uldp.Domain([1, 2, 3], sensitive=[1]), ["home"])
    common = uldp.UtilityOptimizedRR(tagged, 1.0)
    fair = np.full(4, 0.25)
    for target in (1, 2, 3):
        assert tagged.labels[attacks.worst_report(common, [target])] == str(target)
        gains = [attacks.gain(common, fair, [one], 0.1) for one in (target, str(target))]
        assert gains[0] == gains[1]
    with pytest.raises(ValueError, match="0 is not a label"):
        attacks.worst_report(common, [0])
    tally = common.simulate([40, 30, 20, 10], 1)
    assert uldp.inference.total(tally, [1, 3]) == uldp.inference.total(tally, ["1", "3"])


def test_a_set_holds_its_targets_alone():
    domain = uldp.Domain(6, sensitive=[0, 2, 3, 5])
    urap = uldp.UtilityOptimizedRappor(domain, 1.0)
    for targets in ([0], [0, 5], [2, 3, 4]):
        report = attacks.worst_report(urap, targets)
        assert np.flatnonzero(urap.tally(report[None]).counts).tolist() == targets
    blocks = uldp.UtilityOptimizedBlockDesign(domain, 1.0, 3)
    report = attacks.worst_report(blocks, [3])
    assert np.flatnonzero(blocks.tally(report[None]).counts).tolist() == [0, 2, 3]


def test_a_value_is_revealed_where_that_is_all_that_it_is_worth():
    """At ε = 500 the gain is 1 to the last digit."""
    urap = uldp.UtilityOptimizedRappor(uldp.Domain(3, sensitive=[0]), 500.0)
    assert urap.decoder.gain[2] == 1
    report = attacks.worst_report(urap, [2])
    assert urap.tally(report[None]).counts.tolist() == [0, 0, 1]
