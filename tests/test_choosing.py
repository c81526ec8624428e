"""Forecasts, the inverse questions and the excess over the limit, against printed formulas."""

import math

import numpy as np
import pytest
from cases import domains, random_distribution

import uldp
from uldp.losses import total_variance
from uldp.mechanisms import MECHANISMS
from uldp.survey.choosing import Forecast, compare, epsilon_needed, excess, excess_map, users_needed

CENSUS = uldp.Domain(400, sensitive=range(76))
K = 30
SIZES = [0, 1, 2, 3, 10, 29, 30]
EPSILONS = [1e-6, 0.1, 1.0, 2.0, 3.4, 10.0, 30.0]


def forecast_loss(forecast: Forecast, loss: str) -> float:
    return {"l1": 2 * forecast.tv, "l2": forecast.mse}[loss]


def printed_mse(name, s, k, epsilon):
    """n times the worst case in Propositions 16 and 17 and, for s = k, of RR and RAPPOR."""
    E, u, nu = math.exp(epsilon), math.expm1(epsilon), k - s
    if name == "RR":
        return (k + E - 1) ** 2 / u**2 * (1 - 1 / k)
    if name == "RAPPOR":
        return k * math.exp(epsilon / 2) / math.expm1(epsilon / 2) ** 2 + 1 - 1 / k
    if u < nu:
        return s * (s + 2 * E - 3) / u**2 + 1 - 1 / nu
    return (s + E - 1) ** 2 / u**2 * (1 - 1 / k)


def printed_tv(name, s, k, epsilon):
    """√n times the worst-case TV in Propositions 5, 6 and 8."""
    E, u, nu = math.exp(epsilon), math.expm1(epsilon), k - s
    half, root = math.exp(epsilon / 2), math.expm1(epsilon / 2)
    if name == "uRAP":
        l1 = math.sqrt(half) * s / root + math.sqrt(half * nu / root - 1)
    elif u < nu:
        l1 = (s * math.sqrt(s + E - 2) + math.sqrt(s * nu * u + (nu - 1) * u**2)) / u
    else:
        l1 = math.sqrt(k - 1) * (s + E - 1) / u
    return l1 * math.sqrt(2 / math.pi) / 2


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_outputs_and_revealing_ones_counted_by_enumeration(make, epsilon):
    for domain in domains(5):
        mechanism = make(domain, epsilon)
        assert mechanism.output_count == len(mechanism.outputs)
        revealing = mechanism.transition_matrix()[:, ~mechanism.protected].sum(axis=1)
        of_nonsensitive = revealing[mechanism.nonsensitive]
        np.testing.assert_allclose(of_nonsensitive, mechanism.revealed_share, rtol=1e-13)
        assert of_nonsensitive.size or mechanism.revealed_share == 0


def test_outputs_of_large_domains_are_counted_exactly():
    domain = uldp.Domain(10_000, sensitive=range(5_000))
    uBD = uldp.UtilityOptimizedBlockDesign(domain, 1.0, 2_000)
    assert uBD.output_count == math.comb(5_000, 2_000) + 5_000
    assert uldp.UtilityOptimizedRappor(domain, 1.0).output_count == 2**5_000 * 5_001
    assert uldp.UtilityOptimizedRR(domain, 1.0).output_count == 10_000


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 5.99, 8.0])
def test_worst_cases_are_those_of_the_paper(epsilon):
    comparison = compare(CENSUS, epsilon, 1000)
    assert list(comparison) == list(MECHANISMS)
    for name in ("RR", "RAPPOR", "uRR"):
        expected = printed_mse(name, 76, 400, epsilon) / 1000
        assert comparison[name].mse == pytest.approx(expected, rel=1e-12)
    for name in ("uRR", "uRAP"):
        expected = printed_tv(name, 76, 400, epsilon) / math.sqrt(1000)
        assert comparison[name].tv == pytest.approx(expected, rel=1e-12)
    limit = uldp.fundamental_limit(CENSUS, epsilon) / 1000
    for forecast in comparison.values():
        assert forecast.excess == pytest.approx(forecast.mse / limit, rel=1e-12)


def test_what_is_sent_and_revealed():
    comparison = compare(CENSUS, 1.0, 1)
    assert [f.report_bits for f in comparison.values()][:4] == [9, 400, 9, 85]
    uBD = comparison["uBD"]
    assert uBD.mechanism.sizes == ((20, 1.0),)
    assert uBD.report_bits == math.ceil(math.log2(math.comb(76, 20) + 324))
    assert comparison["uRR"].revealed_share == pytest.approx((math.e - 1) / (75 + math.e))
    assert comparison["uRAP"].revealed_share == pytest.approx(1 - math.exp(-0.5))
    assert uBD.revealed_share == pytest.approx(1 - 76 / (20 * math.e + 56))
    assert comparison["RR"].revealed_share == comparison["RAPPOR"].revealed_share == 0


def test_at_a_given_distribution_losses_change_and_nothing_else():
    p = random_distribution(np.random.default_rng(4), 400)
    worst, given = compare(CENSUS, 1.0, 500), compare(CENSUS, 1.0, 500, p)
    mass, u = p[:76].sum(), math.e - 1
    of_uRR = (2 * u * (76 - mass) + 76 * 75) / u**2 + 1 - (p**2).sum()
    assert given["uRR"].mse == pytest.approx(of_uRR / 500, rel=1e-12)
    for name, forecast in given.items():
        assert forecast.tv == pytest.approx(forecast.mechanism.l1_loss(p, 500) / 2, rel=1e-12)
        assert forecast.tv < worst[name].tv
        assert forecast.mse < worst[name].mse
        for field in ("mechanism", "excess", "report_bits", "revealed_share"):
            assert getattr(forecast, field) == getattr(worst[name], field)


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 30.0])
@pytest.mark.parametrize(("k", "s"), [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (500, 0), (500, 500)])
def test_extremes(k, s, epsilon):
    comparison = compare(uldp.Domain(k, sensitive=range(s)), epsilon, 10)
    for forecast in comparison.values():
        assert 0 <= forecast.tv < math.inf
        assert 0 <= forecast.mse < math.inf
        assert math.isnan(forecast.excess) if k == 1 else forecast.excess >= 1 - 1e-12
        assert 0 <= forecast.revealed_share <= 1
        assert s < k or forecast.revealed_share == 0
    assert comparison["RR"].report_bits == (k - 1).bit_length()
    if s == 0:
        of_no_privacy = pytest.approx((1 - 1 / k) / 10, rel=1e-12)
        assert comparison["uRR"].mse == comparison["uBD"].mse == of_no_privacy


def test_a_comparison_prints_as_a_table():
    lines = str(compare(CENSUS, 1.0, 1000)).splitlines()
    assert len(lines) == 1 + len(MECHANISMS)
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == ["TV", "MSE", "MSE/limit", "bits", "revealed"]
    assert lines[3].split() == ["uRR", "6.41", "2.02", "7.409", "9", "2.2%"]


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_users_needed_are_enough_and_one_less_is_not(name, loss):
    rng = np.random.default_rng(8)
    for _ in range(20):
        k = int(rng.integers(2, 60))
        domain = uldp.Domain(k, sensitive=range(rng.integers(k + 1)))
        epsilon, n = 10 ** rng.uniform(-2, 1), int(10 ** rng.uniform(0, 9))
        p = random_distribution(rng, k) if rng.random() < 0.5 else None
        mechanism = MECHANISMS[name](domain, epsilon)

        def expected(n, domain=domain, epsilon=epsilon, p=p):
            return forecast_loss(compare(domain, epsilon, n, p)[name], loss)

        assert users_needed(mechanism, loss, expected(n), p) == n
        target = expected(n) * rng.uniform(0.5, 1)
        enough = users_needed(mechanism, loss, target, p)
        assert expected(enough) <= target
        assert enough == 1 or expected(enough - 1) > target


@pytest.mark.parametrize("name", MECHANISMS)
def test_users_and_epsilon_needed_for_the_standard_error_of_a_total(name):
    rng = np.random.default_rng(10)
    for _ in range(5):
        domain = uldp.Domain(12, sensitive=range(rng.integers(1, 12)))
        weights, p = rng.normal(size=12), random_distribution(rng, 12)
        mechanism, target = MECHANISMS[name](domain, 0.8), 10 ** rng.uniform(-3, -1)
        for at in (None, p):
            moment = mechanism.second_moment(p, "adjusted") - np.outer(p, p)
            worst = total_variance(mechanism, weights, method="adjusted")
            one_user = math.sqrt(worst if at is None else weights @ moment @ weights)
            n = users_needed(mechanism, "standard_error", target, at, weights)
            assert one_user / math.sqrt(n) <= target * (1 + 1e-12)
            assert n == 1 or one_user / math.sqrt(n - 1) > target * (1 - 1e-12)
    least = one_user / math.sqrt(10_000)
    found = epsilon_needed(MECHANISMS[name], domain, 10_000, "standard_error", least, p, weights)
    assert found == pytest.approx(0.8, rel=1e-6)


def test_tv_is_half_of_l1_and_mse_is_l2():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=[0]), 1.0)
    for p in (None, [0.1, 0.2, 0.3, 0.4]):
        assert users_needed(mechanism, "tv", 0.01, p) == users_needed(mechanism, "l1", 0.02, p)
        assert users_needed(mechanism, "mse", 1e-4, p) == users_needed(mechanism, "l2", 1e-4, p)
    needed = [
        epsilon_needed(MECHANISMS["uRR"], mechanism.domain, 1000, loss, target)
        for loss, target in (("tv", 0.1), ("l1", 0.2), ("mse", 1e-3), ("l2", 1e-3))
    ]
    assert needed[0] == needed[1] != needed[2] == needed[3]


def test_weights_are_those_of_a_standard_error():
    mechanism = uldp.RandomizedResponse(uldp.Domain(2), 1.0)
    message = "weights must be given for the standard error of a total, and only then"
    for loss, weights in (("standard_error", None), ("l1", [1, 0]), ("l2", [1, 0])):
        with pytest.raises(ValueError, match=message):
            users_needed(mechanism, loss, 0.1, weights=weights)


def test_a_target_that_needs_no_data_is_refused():
    """Such as points instead of shares; the middle of the weights is off by half their range."""
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=[0]), 1.0)
    ages = [20, 30, 40, 60]
    for loss, weights, most in (
        ("standard_error", [0], 0.5),
        ("standard_error", ages, 20),
        ("tv", None, 1),
    ):
        message = f"target must be below {most:g}, .* point is 0.01"
        for target in (most, 6 * most):
            with pytest.raises(ValueError, match=message):
                users_needed(mechanism, loss, target, weights=weights)
            with pytest.raises(ValueError, match=message):
                epsilon_needed("uRR", mechanism.domain, 9, loss, target, weights=weights)
        assert users_needed(mechanism, loss, 0.99 * most, weights=weights) >= 1
    assert users_needed(mechanism, "standard_error", 3, weights=[1] * 4) == 1  # which is known


def test_one_user_is_enough_where_nothing_is_to_be_learnt():
    assert users_needed(uldp.RandomizedResponse(uldp.Domain(1), 1.0), "l1", 1e-9) == 1


def test_epsilon_needed_by_randomized_response_has_a_formula():
    n, target = 10_000, 0.01
    root = math.sqrt(n * target / (1 - 1 / 400))  # (k + u) / u
    expected = math.log1p(400 / (root - 1))
    found = epsilon_needed(uldp.RandomizedResponse, CENSUS, n, "l2", target)
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_epsilon_needed_is_enough_and_a_little_less_is_not(name, loss):
    rng = np.random.default_rng(9)
    domain = uldp.Domain(40, sensitive=range(9))
    for p in (None, random_distribution(rng, 40)):
        for epsilon in (0.01, 0.7, 3.0):
            target = forecast_loss(compare(domain, epsilon, 5_000, p)[name], loss) * 0.99
            enough = epsilon_needed(MECHANISMS[name], domain, 5_000, loss, target, p)
            at, below = (
                forecast_loss(compare(domain, x, 5_000, p)[name], loss)
                for x in (enough, enough * (1 - 2e-9))
            )
            assert at <= target < below


def test_the_tv_of_a_block_design_can_rise_with_epsilon():
    domain = uldp.Domain(140, sensitive=range(46))
    low, high = (compare(domain, epsilon, 1)["uBD"] for epsilon in (3.35, 3.5))
    assert high.tv > low.tv
    assert high.mse < low.mse


def test_epsilon_needed_has_a_least_and_a_largest():
    assert epsilon_needed(uldp.UtilityOptimizedRR, uldp.Domain(5), 100, "l1", 1.0) == 1e-6
    message = r"target must be at least 0.0999, the loss of 10 users at ε = 30, got 0.05"
    with pytest.raises(ValueError, match=message):
        epsilon_needed(uldp.UtilityOptimizedRR, uldp.Domain(1000), 10, "l2", 0.05)


@pytest.fixture(scope="module")
def ratios():
    return excess_map(K, SIZES, EPSILONS)


def test_printed_worst_cases_over_the_limit(ratios):
    for row, s in enumerate(SIZES):
        for column, epsilon in enumerate(EPSILONS):
            limit = uldp.fundamental_limit(uldp.Domain(K, sensitive=range(s)), epsilon)
            for name in ("RR", "RAPPOR", "uRR"):
                expected = printed_mse(name, s, K, epsilon) / limit
                assert ratios[name][row, column] == pytest.approx(expected, rel=1e-9), name


def test_nothing_is_below_the_limit_and_block_designs_attain_it(ratios):
    for name, values in ratios.items():
        assert values.shape == (len(SIZES), len(EPSILONS))
        assert values.min() >= 1 - 1e-12, name
    assert ratios["uBD"].max() <= 1 + 1e-12


def test_one_mechanism_is_one_entry_of_the_map(ratios):
    for name, make in MECHANISMS.items():
        mechanism = make(uldp.Domain(K, sensitive=range(10, 20)), 2.0)
        assert excess(mechanism) == pytest.approx(ratios[name][4, 3], rel=1e-12)
    assert math.isnan(excess(uldp.RandomizedResponse(uldp.Domain(1), 1.0)))


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_can_be_named_as_in_tables(name):
    wanted = (uldp.Domain(5, sensitive=[0, 1]), 1000, "l2", 0.01)
    by_name = epsilon_needed(name, *wanted)
    assert by_name == epsilon_needed(MECHANISMS[name], *wanted)
    with pytest.raises(TypeError, match="make must be callable, or one of RR, RAPPOR, uRR, uRAP"):
        epsilon_needed(name.lower() + "s", *wanted)
