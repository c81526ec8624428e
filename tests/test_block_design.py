"""The block design: its law, its decoder and its losses, against enumeration and the limit."""

import dataclasses
import itertools
from math import comb

import mpmath
import numpy as np
import pytest
from cases import bernoulli_of, domains, random_distribution

import uldp
from uldp import UtilityOptimizedBlockDesign as BlockDesign
from uldp.beyond.limits import saddle
from uldp.paper.garbling import rappor_as_garbling

mpmath.mp.dps = 60

EPSILONS = [1e-6, 0.1, 1.0, 4.0, 30.0]
SHAPES = [(1, 0), (1, 1), (1, 5), (2, 0), (2, 3), (5, 0), (5, 1), (5, 7), (15, 610), (76, 324)]


def designs(domain: uldp.Domain, epsilon: float, rng: np.random.Generator):
    """The default, every single size that tells values apart, and mixtures of two and of all."""
    s = domain.sensitive.size
    yield BlockDesign(domain, epsilon)
    for size in range(1, max(s, 2) if s else 0):
        yield BlockDesign(domain, epsilon, size)
    if s > 1:
        yield BlockDesign(domain, epsilon, {1: 0.3, s: 0.7})
        yield BlockDesign(domain, epsilon, dict(enumerate(rng.dirichlet(np.ones(s)), 1)))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_law_level_mean_and_covariance_by_enumeration(epsilon):
    rng = np.random.default_rng(1)
    for domain in domains(5):
        for mechanism in designs(domain, epsilon, rng):
            Q = mechanism.transition_matrix()
            np.testing.assert_allclose(Q.sum(axis=1), 1, rtol=0, atol=1e-14)
            assert (Q >= 0).all()
            assert (Q > 0).any(axis=0).all()
            level = uldp.privacy.uldp_level(Q, mechanism.sensitive, mechanism.protected)
            if domain.sensitive.size and domain.size > 1:
                assert level == pytest.approx(epsilon, rel=1e-13, abs=1e-14)
            p = random_distribution(rng, domain.size)
            estimates = np.array([mechanism.estimate(y[None]) for y in mechanism.outputs])
            size = np.abs(estimates).max()
            np.testing.assert_allclose(p @ Q @ estimates, p, rtol=0, atol=1e-13 * size)
            np.testing.assert_allclose(estimates.sum(axis=1), 1, rtol=0, atol=1e-13 * size)
            variances = p @ Q @ estimates**2 - p**2
            np.testing.assert_allclose(
                uldp.losses.variances(mechanism, p), variances, rtol=1e-9, atol=1e-15 * size**2
            )


@pytest.mark.parametrize("size", [1, 2, 3])
def test_entries_are_those_of_the_definition(size):
    """Weight e^ε or 1 from a sensitive value; s/(C(s, d) D) from another, or the value itself."""
    epsilon, s, k = 0.7, 4, 6
    E = np.exp(epsilon)
    D = size * E + s - size
    mechanism = BlockDesign(uldp.Domain(k, sensitive=range(s)), epsilon, size)
    expected = np.zeros((k, comb(s, size) + k - s))
    for column, members in enumerate(itertools.combinations(range(s), size)):
        expected[:, column] = s / (comb(s, size) * D)
        expected[list(members), column] *= E
    expected[[4, 5], [-2, -1]] = size * (E - 1) / D
    np.testing.assert_allclose(mechanism.transition_matrix(), expected, rtol=1e-13)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_size_one_is_uRR(epsilon):
    rng = np.random.default_rng(0)
    for domain in domains(4):
        if not domain.sensitive.size:
            continue
        block, response = BlockDesign(domain, epsilon, 1), uldp.UtilityOptimizedRR(domain, epsilon)
        order = np.append(domain.sensitive, domain.nonsensitive)
        Q = response.transition_matrix()[:, order]
        np.testing.assert_allclose(block.transition_matrix(), Q, rtol=1e-13)
        estimates = [response.estimate(np.array([y])) for y in response.outputs[order]]
        found = [block.estimate(y[None]) for y in block.outputs]
        np.testing.assert_allclose(found, estimates, rtol=1e-9, atol=1e-12)
        p = random_distribution(rng, domain.size)
        for norm in ("l1", "l2"):
            np.testing.assert_allclose(
                block.worst_case(norm), response.worst_case(norm), rtol=1e-6, atol=1e-8
            )
        for loss in ("l1_loss", "l2_loss"):
            claimed = getattr(response, loss)(p, 5)
            assert getattr(block, loss)(p, 5) == pytest.approx(claimed, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("s", "size", "nu"), [(2, 1, 1), (5, 2, 3), (76, 36, 324), (5000, 2, 90)])
def test_l2_loss_of_one_size_in_60_digits(s, size, nu, epsilon):
    """n E l2 = G(σ) - Σp² with the affine G of the closed form."""
    E = mpmath.exp(epsilon)
    D = size * E + s - size
    u, d = (E - 1) ** 2, size
    in_S = mpmath.mpf(s - 1) ** 2 * D**2 / (s * u * d * (s - d)) + mpmath.mpf(1) / s
    in_N = mpmath.mpf(s - 1) ** 2 * D / (u * d * (s - d)) + (D + 1) / (d * (E - 1))
    mechanism = BlockDesign(uldp.Domain(s + nu, sensitive=range(s)), epsilon, size)
    rng = np.random.default_rng(3)
    for p in (random_distribution(rng, s + nu), np.eye(s + nu)[0], np.eye(s + nu)[-1]):
        total = mpmath.fsum(map(mpmath.mpf, p))
        exact = [mpmath.mpf(x) / total for x in p]
        mass = mpmath.fsum(exact[:s])
        expected = mass * in_S + (1 - mass) * in_N - mpmath.fsum(x**2 for x in exact)
        assert mechanism.l2_loss(p, 1) == pytest.approx(float(expected), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("epsilon", [*EPSILONS, 2.0, 6.0])
@pytest.mark.parametrize(("s", "nu"), [*SHAPES, (3, 997), (1000, 1000), (5000, 5000)])
def test_default_attains_the_limit(s, nu, epsilon):
    mechanism = BlockDesign(uldp.Domain(s + nu, sensitive=range(s)), epsilon)
    limit = saddle(s, nu, epsilon)
    worst = mechanism.l2_loss(mechanism.worst_case("l2"), 1)
    assert worst == pytest.approx(limit.value, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_no_unbiased_estimate_is_better_where_the_decoder_is_built(epsilon):
    """There the loss is the trace of the inverse Fisher information of the dense matrix."""
    rng = np.random.default_rng(8)
    for s, nu in [(2, 1), (3, 2), (4, 1), (4, 3)]:
        domain = uldp.Domain(s + nu, sensitive=range(s))
        for mechanism in designs(domain, epsilon, rng):
            p = mechanism.worst_case("l2")
            if not 0 < p[0] < 1 / s:
                continue
            Q = mechanism.transition_matrix()
            tangent = np.linalg.svd(np.ones((1, s + nu)))[2][1:]
            information = tangent @ (Q / (p @ Q)) @ Q.T @ tangent.T
            bound = np.trace(np.linalg.inv(information))
            assert mechanism.l2_loss(p, 1) == pytest.approx(bound, rel=1e-10)


def test_other_masses_give_decoders_with_a_larger_worst_case():
    domain, epsilon = uldp.Domain(625, sensitive=range(15)), 3.0
    mechanism = BlockDesign(domain, epsilon)
    best = mechanism.decoder
    assert len(mechanism.sizes) == 2
    least = mechanism.l2_loss(mechanism.worst_case("l2"), 1)
    for mass in (0.0, best.mass - 0.2, best.mass + 0.2, 1.0):
        other = BlockDesign(domain, epsilon)
        built = type(best)(best.law, domain.sensitive, domain.nonsensitive, mass)
        other.__dict__["decoder"] = built
        assert other.l2_loss(other.worst_case("l2"), 1) > least * 1.0001


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 3.0, 30.0])
def test_variances_are_bernoulli_where_p_is_uniform_within_the_classes(epsilon):
    rng = np.random.default_rng(2)
    for s, nu in [(1, 1), (1, 4), (3, 1), (4, 3), (15, 40)]:
        domain = uldp.Domain(s + nu, sensitive=range(s))
        for mechanism in designs(domain, epsilon, rng):
            for mass in (0, 1, rng.random()):
                p = np.where(np.arange(s + nu) < s, mass / s, (1 - mass) / nu)
                variances = uldp.losses.variances(mechanism, p)
                for x in (0, -1):
                    law = bernoulli_of(mechanism, domain.size - 1 if x else 0)
                    m = law.false_support + law.gain * p[x]
                    assert law.false_support + law.not_false_support == pytest.approx(1, rel=1e-14)
                    expected = m * (law.not_false_support - law.gain * p[x]) / law.gain**2
                    largest = max(1, 1 / law.gain**2)
                    assert variances[x] == pytest.approx(expected, rel=1e-8, abs=1e-14 * largest)


def test_the_decoder_of_larger_sets_is_that_of_the_sensitive_values_alone():
    """Sizes of 2 and more lose most where X_S holds all, and so does their best decoder."""
    mechanism = BlockDesign(uldp.Domain(8, sensitive=range(6)), 0.5, {2: 0.5, 3: 0.5})
    assert mechanism.decoder.mass == 1


def test_default_weights_have_twelve_digits():
    mechanism = BlockDesign(uldp.Domain(60, sensitive=range(12)), 2.3)
    weights = [weight for _, weight in mechanism.sizes]
    assert len(weights) == 2
    assert weights == [round(weight, 12) for weight in weights]


def test_threshold_uses_the_largest_variance_of_a_value_that_does_not_occur():
    rng = np.random.default_rng(5)
    for domain in domains(4):
        for mechanism in designs(domain, 0.8, rng):
            claimed = mechanism.decoder.null_variances
            found = np.zeros(domain.size)
            for p in [*np.eye(domain.size), *rng.dirichlet(np.ones(domain.size), size=20)]:
                for x in range(domain.size):
                    if (rest := np.delete(p, x).sum()) > 0:
                        absent = np.where(np.arange(domain.size) == x, 0, p / rest)
                        variance = uldp.losses.variances(mechanism, absent)[x]
                        found[x] = max(found[x], variance)
            np.testing.assert_allclose(claimed, found, rtol=1e-10, atol=1e-14)


def test_a_tally_is_enough_for_the_likelihood_of_single_values_only():
    domain = uldp.Domain(4, sensitive=[0, 3])
    single = BlockDesign(domain, 1.0, 1)
    reports = single.privatize(np.arange(4).repeat(20), rng=0)
    response = uldp.UtilityOptimizedRR(domain, 1.0)
    named = uldp.Tally(response, 80, single.tally(reports).counts)
    np.testing.assert_array_equal(
        single.estimate(single.tally(reports), "mle"), response.estimate(named, "mle")
    )
    several = BlockDesign(domain, 1.0, {1: 0.5, 2: 0.5})
    with pytest.raises(ValueError, match="got a tally"):
        several.estimate(several.simulate([5, 5, 5, 5], 0), "mle")


def test_tallies_of_several_sizes_keep_them_apart():
    domain = uldp.Domain(5, sensitive=[0, 2, 3])
    mechanism = BlockDesign(domain, 1.0, {1: 0.5, 3: 0.5})
    reports = np.array([[0b001, 0], [0b111, 0], [0b111, 0], [0, 2], [0, 1], [0, 2]], dtype=np.uint8)
    tally = mechanism.tally(reports)
    np.testing.assert_array_equal(tally.counts, [[1, 1, 0, 0, 2], [2, 0, 2, 2, 0]])
    assert tally == mechanism.tally(reports[:3]) + mechanism.tally(reports[3:])
    with pytest.raises(ValueError, match=r"counts must have shape \(2, 5\), got \(5,\)"):
        uldp.Tally(mechanism, 6, [1, 1, 0, 0, 2])
    assert BlockDesign(domain, 1.0, 2).tally_shape == (5,)


def test_simulation_takes_more_users_than_one_draw_can():
    mechanism = BlockDesign(uldp.Domain(4, sensitive=[0, 1, 2]), 1.0, {1: 0.1, 2: 0.9})
    true_counts = np.array([10**9, 3, 2 * 10**9, 1])
    tally = mechanism.simulate(true_counts, rng=0)
    assert tally.n == true_counts.sum()
    np.testing.assert_allclose(mechanism.estimate(tally), true_counts / tally.n, atol=1e-3)
    with pytest.raises(ValueError, match="at most 100000000000 users of a block design, got 100"):
        mechanism.simulate([10**11, 0, 0, 1])


def test_sizes_have_one_form():
    domain = uldp.Domain(5, sensitive=[0, 1, 4])
    one = BlockDesign(domain, 1.0, 2)
    assert one.sizes == ((2, 1.0),)
    assert one == BlockDesign(domain, 1.0, {2: 1.0}) == BlockDesign(domain, 1, {1: 0, 2: 1})
    two = BlockDesign(domain, 1.0, {2: 0.25, 1: 0.75})
    assert two.sizes == ((1, 0.75), (2, 0.25))
    assert "sizes=((1, 0.75), (2, 0.25))" in repr(two)
    assert two == dataclasses.replace(two) == BlockDesign(domain, 1.0, two.sizes)
    assert hash(two) == hash(BlockDesign(domain, 1.0, two.sizes))
    assert two != one
    assert two != BlockDesign(domain, 2.0, two.sizes)
    weights = saddle(3, 2, 1.0).weights
    assert dict(BlockDesign(domain, 1.0).sizes) == {
        d: round(weight, 12) for d, weight in enumerate(weights.tolist(), 1) if weight
    }


def test_nothing_sensitive_reveals_the_answers():
    mechanism = BlockDesign(uldp.Domain(4), 0.1)
    assert mechanism.sizes == ()
    values = np.array([3, 1, 2, 0, 0])
    np.testing.assert_array_equal(mechanism.privatize(values)[:, 0], values + 1)
    tally = mechanism.tally(mechanism.privatize(values))
    np.testing.assert_array_equal(mechanism.estimate(tally), [0.4, 0.2, 0.2, 0.2])


def test_the_set_of_all_tells_nothing_apart():
    with pytest.raises(ValueError, match="sizes must not all be 2, the set of all sensitive"):
        BlockDesign(uldp.Domain(4, sensitive=[0, 1]), 1.0, 2)
    with pytest.raises(ValueError, match="sizes must not all be 3, the set of all sensitive"):
        BlockDesign(uldp.Domain(5, sensitive=[0, 1, 2]), 1.0, 3)
    assert BlockDesign(uldp.Domain(5, sensitive=[2]), 1.0, 1).sizes == ((1, 1.0),)
    with pytest.raises(ValueError, match=r"sizes must lie in 1\.\.0, as 0 values are sensitive"):
        BlockDesign(uldp.Domain(5), 1.0, 1)


def test_probabilities_of_sizes_that_sum_to_1_by_rounding_only():
    domain = uldp.Domain(6, sensitive=range(4))
    mechanism = uldp.UtilityOptimizedBlockDesign(domain, 1.0, {1: 0.5, 2: 0.5 - 9e-10})
    np.testing.assert_allclose(mechanism.transition_matrix().sum(axis=1), 1, rtol=1e-14)


# --- every uRAP is a garbling of one -------------------------------------------------------------


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
