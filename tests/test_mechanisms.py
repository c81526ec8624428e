"""Every mechanism against its dense matrix, by exact enumeration on small domains."""

import dataclasses
import pickle
from collections.abc import Iterator

import numpy as np
import pytest
from cases import BY_SUPPORT, MECHANISMS, domains, supports
from scipy.special import expit

import uldp

TRUTHFUL_IN_THE_LIMIT = ["RR", "RAPPOR", "uRR", "uRAP"]
EPSILONS = [1e-6, 0.1, 1.0, np.log(400), 30.0]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_matrix_has_level_epsilon_tightly_on_every_domain(make, epsilon):
    for domain in domains(6):
        mechanism = make(domain, epsilon)
        Q = mechanism.transition_matrix()
        assert Q.shape == (domain.size, len(mechanism.outputs))
        assert (Q >= 0).all()
        assert (Q > 0).any(axis=0).all(), "every listed output is reachable"
        np.testing.assert_allclose(Q.sum(axis=1), 1, rtol=0, atol=1e-14)
        level = uldp.privacy.uldp_level(Q, mechanism.sensitive, mechanism.protected)
        shielded = Q[:, mechanism.protected]
        rows_differ = (shielded != shielded[0]).any()
        if mechanism.sensitive.size and domain.size > 1:
            assert rows_differ
            assert level == pytest.approx(epsilon, abs=1e-14, rel=1e-13)
        else:
            assert not (rows_differ and mechanism.sensitive.size)
            assert level <= epsilon


def test_outputs_are_distinct_reports(make):
    for domain in domains(5):
        mechanism = make(domain, 1.0)
        assert mechanism.outputs.dtype == mechanism.report_dtype.base
        assert len(np.unique(mechanism.outputs, axis=0)) == len(mechanism.outputs)


@pytest.mark.parametrize("make", BY_SUPPORT.values(), ids=BY_SUPPORT.keys())
def test_support_law_is_that_of_the_matrix(make):
    for domain in domains(5):
        mechanism = make(domain, 0.4)
        law = mechanism.decoder
        expected = mechanism.transition_matrix() @ supports(mechanism)
        own = np.eye(domain.size, dtype=bool)
        np.testing.assert_allclose(
            expected, np.where(own, law.true_support, law.false_support), rtol=1e-13
        )
        np.testing.assert_allclose(law.true_support + law.not_true_support, 1, rtol=1e-14)
        np.testing.assert_allclose(law.false_support + law.not_false_support, 1, rtol=1e-14)
        np.testing.assert_allclose(law.true_support - law.false_support, law.gain, atol=1e-14)


def test_protecting_every_value_gives_the_ldp_mechanisms():
    domain, all_sensitive = uldp.Domain(4, sensitive=[1]), uldp.Domain(4, sensitive=range(4))
    for ldp, ulpd in [
        (uldp.RandomizedResponse, uldp.UtilityOptimizedRR),
        (uldp.Rappor, uldp.UtilityOptimizedRappor),
    ]:
        Q = ldp(domain, 1.3).transition_matrix()
        np.testing.assert_array_equal(Q, ulpd(all_sensitive, 1.3).transition_matrix())
        assert uldp.privacy.ldp_level(Q) == pytest.approx(1.3)


def test_definition_3_entries():
    epsilon, s = 1.7, 3
    E = np.exp(epsilon)
    c1, c2, c3 = E / (s + E - 1), 1 / (s + E - 1), (E - 1) / (s + E - 1)
    Q = uldp.UtilityOptimizedRR(uldp.Domain(5, sensitive=[0, 1, 2]), epsilon).transition_matrix()
    expected = [
        [c1, c2, c2, 0, 0],
        [c2, c1, c2, 0, 0],
        [c2, c2, c1, 0, 0],
        [c2, c2, c2, c3, 0],
        [c2, c2, c2, 0, c3],
    ]
    np.testing.assert_allclose(Q, expected, rtol=1e-14)


@pytest.mark.parametrize("theta", [None, 0.3, 0.5, 0.9])
def test_definition_4_bit_probabilities(theta):
    epsilon = 1.2
    E = np.exp(epsilon)
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(4, sensitive=[1, 2]), epsilon, theta)
    t = np.exp(epsilon / 2) / (np.exp(epsilon / 2) + 1) if theta is None else theta
    d1, d2 = t / ((1 - t) * E + t), ((1 - t) * E + t) / E
    marginals = mechanism.transition_matrix() @ supports(mechanism)
    expected = [[1 - d2, d1, d1, 0], [0, t, d1, 0], [0, d1, t, 0], [0, d1, d1, 1 - d2]]
    np.testing.assert_allclose(marginals, expected, rtol=1e-13)
    assert expit(mechanism.log_odds) == pytest.approx(t)


def test_mechanisms_are_values():
    domain = uldp.Domain(3, sensitive=[0])
    one = uldp.UtilityOptimizedRappor(domain, 1)
    assert one == uldp.UtilityOptimizedRappor(uldp.Domain([0, 1, 2], sensitive=[0]), 1.0)
    assert hash(one) == hash(uldp.UtilityOptimizedRappor(domain, 1.0))
    assert one != uldp.UtilityOptimizedRappor(domain, 1.0, theta=0.5)
    assert one != uldp.Rappor(domain, 1.0)
    assert "epsilon=1.0" in repr(one)
    with pytest.raises(AttributeError):
        one.epsilon = 2.0


def same_law(one: uldp.Mechanism, other: uldp.Mechanism) -> bool:
    """Whether the probabilities are the same, and so the values behind them, bit for bit."""
    if (type(one), one.domain, one.epsilon) != (type(other), other.domain, other.epsilon):
        return False
    if isinstance(one, uldp.UtilityOptimizedBlockDesign):
        return one.sizes == other.sizes
    if not isinstance(one, uldp.UtilityOptimizedRappor):
        return True
    parts = ("true_support", "not_true_support", "false_support", "not_false_support")
    return all(
        np.array_equal(getattr(one.decoder, part), getattr(other.decoder, part)) for part in parts
    )


def file_of(mechanism: uldp.Mechanism) -> str | None:
    """The survey file of a mechanism; none if it cannot hold it."""
    try:
        return uldp.Survey("s", {"q": mechanism}).to_json()
    except ValueError:
        return None


def similar_mechanisms(epsilon: float) -> Iterator[uldp.Mechanism]:
    default = float(expit(epsilon / 2))
    thetas = [None, 0.5, 0.6, np.nextafter(0.5, 1), 1e-80, np.nextafter(1e-80, 1)]
    thetas += [theta for theta in (default, np.nextafter(default, 0)) if theta < 1]
    plain = uldp.Domain(3, sensitive=[0])
    cells = uldp.Domain.product(x=3, sensitive=[0])
    domains = [
        *(plain, uldp.Domain([0, 1, 2], [0]), uldp.Domain(3, [0, 1]), uldp.Domain([0, 2, 1], [0])),
        *(uldp.Domain(["0", "1", "2"], ["0"]), cells, uldp.personalized.TaggedDomain(plain, ["t"])),
        *(uldp.personalized.TaggedDomain(cells, tags) for tags in (["t"], ["t", "u"])),
    ]
    for domain in domains:
        for kind in (uldp.RandomizedResponse, uldp.UtilityOptimizedRR):
            yield kind(domain, epsilon)
        yield uldp.UtilityOptimizedHadamard(domain, epsilon)
        for sizes in (None, 1, {1: 1.0}):
            yield uldp.UtilityOptimizedBlockDesign(domain, epsilon, sizes)
    for domain in domains[:3]:
        for theta in thetas:
            yield uldp.UtilityOptimizedRappor(domain, epsilon, theta)
            yield uldp.Rappor(domain, epsilon, theta)


@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 2.0, 60.0, 70.0, 80.0, 500.0])
def test_mechanisms_are_equal_if_their_laws_and_files_are(epsilon):
    every = [*similar_mechanisms(epsilon), uldp.UtilityOptimizedRR(uldp.Domain(3, [0]), 3.0)]
    files = [file_of(one) for one in every]
    tallies = [uldp.Tally(one, 0, np.zeros(one.tally_shape, dtype=int)) for one in every]
    equal = 0
    for place, one in enumerate(every):
        assert one == pickle.loads(pickle.dumps(one))
        if files[place] is not None:
            assert one == uldp.Survey.from_json(files[place]).questions["q"]
        for other_place, other in enumerate(every[:place]):
            is_same = same_law(one, other) and files[place] == files[other_place]
            assert (one == other) == is_same
            if is_same:
                equal += 1
                assert hash(one) == hash(other)
                assert (tallies[place] + tallies[other_place]).n == 0
            else:
                with pytest.raises(ValueError, match="of one mechanism"):
                    tallies[place] + tallies[other_place]
    assert equal > 10


def test_another_epsilon_keeps_what_was_given_as_theta():
    one = uldp.UtilityOptimizedRappor(uldp.Domain(3, [0]), 1.0)
    assert dataclasses.replace(one, epsilon=2.0) == uldp.UtilityOptimizedRappor(one.domain, 2.0)
    half = dataclasses.replace(one, theta=0.5)
    assert half.log_odds == 0
    assert dataclasses.replace(half, epsilon=2.0).own_entries() == {"theta": 0.5}


@pytest.mark.parametrize("nonsensitive", [1, 255, 256, 65_535, 65_536])
def test_uRAP_reports_carry_any_revealed_value(nonsensitive):
    domain = uldp.Domain(nonsensitive + 9, sensitive=range(9))
    mechanism = uldp.UtilityOptimizedRappor(domain, 30.0)
    values = np.unique([0, 8, 9, domain.size - 1])
    tally = mechanism.tally(mechanism.privatize(values, rng=1))
    np.testing.assert_array_equal(np.flatnonzero(tally.counts), values)


def test_one_report_at_a_time(make):
    domain = uldp.Domain(["a", "b", "c", "d"], sensitive=["c", "a"])
    mechanism = make(domain, 2.0)
    reports = [mechanism.privatize(answer, rng=seed) for seed, answer in enumerate("abcd")]
    assert all(np.shape(report) == mechanism.report_dtype.shape for report in reports)
    together = mechanism.tally(np.array(reports))
    assert together == sum(mechanism.tally(report) for report in reports)
    assert together.n == 4


@pytest.mark.parametrize("name", TRUTHFUL_IN_THE_LIMIT)
def test_privatize_spans_blocks_and_keeps_order(name):
    domain = uldp.Domain(9, sensitive=[8, 0])
    mechanism = MECHANISMS[name](domain, 40.0)
    values = np.random.default_rng(3).integers(9, size=150_000)
    reports = mechanism.privatize(values, rng=4)
    assert len(reports) == len(values)
    for part in (slice(0, 70_000), slice(70_000, None)):
        true_counts = np.bincount(values[part], minlength=9)
        assert np.abs(mechanism.tally(reports[part]).counts - true_counts).max() <= 2


def test_a_tally_may_be_drawn_report_by_report(make):
    """Where a mechanism knows no shorter way."""
    mechanism = make(uldp.Domain(6, sensitive=[0, 1, 4]), 1.0)
    true_counts = np.array([30_000, 5, 0, 40_000, 1, 700])
    drawn = uldp.Mechanism._simulate_counts(mechanism, true_counts, np.random.default_rng(1))
    reports = mechanism.privatize(np.repeat(np.arange(6), true_counts), np.random.default_rng(1))
    np.testing.assert_array_equal(drawn, mechanism.tally(reports).counts)


def test_same_seed_same_reports_and_none_is_fresh(make):
    mechanism = make(uldp.Domain(6, sensitive=[0, 1, 2]), 0.5)
    values = np.arange(6).repeat(50)
    np.testing.assert_array_equal(mechanism.privatize(values, 7), mechanism.privatize(values, 7))
    assert (mechanism.privatize(values) != mechanism.privatize(values)).any()


def test_nothing_sensitive_reveals_the_answers_of_uRR():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(4), 0.1)
    values = np.array([3, 1, 2, 0])
    np.testing.assert_array_equal(mechanism.privatize(values), values)
    np.testing.assert_array_equal(mechanism.transition_matrix(), np.eye(4))


@pytest.mark.parametrize("name", TRUTHFUL_IN_THE_LIMIT)
def test_very_large_epsilon_reports_the_truth(name):
    domain = uldp.Domain(5, sensitive=[0, 1])
    mechanism = MECHANISMS[name](domain, 500.0)
    values = np.arange(5).repeat(20)
    np.testing.assert_array_equal(mechanism.tally(mechanism.privatize(values)).counts, 20)


def test_simulation_takes_no_account_of_n():
    domain = uldp.Domain(400, sensitive=range(76))
    for mechanism in (uldp.Rappor(domain, 1.0), uldp.UtilityOptimizedRR(domain, 1.0)):
        tally = mechanism.simulate(np.full(400, 10**9), rng=0)
        assert tally.n == 400 * 10**9
        assert mechanism.estimate(tally) == pytest.approx(np.full(400, 1 / 400), abs=1e-4)


def test_matrix_of_a_large_domain_is_refused():
    one = uldp.RandomizedResponse(uldp.Domain(100_000), 1.0)
    tally = one.simulate(np.ones(100_000, dtype=int), 1)
    for call in (
        uldp.Rappor(uldp.Domain(30), 1.0).transition_matrix,
        uldp.Rappor(uldp.Domain(20_000), 1.0).transition_matrix,
        uldp.RandomizedResponse(uldp.Domain(5000), 1.0).transition_matrix,
        lambda: one.second_moment(np.full(100_000, 1e-5)),
        lambda: uldp.inference.covariance(tally),
    ):
        with pytest.raises(ValueError, match=r"too large for its matrix: .{,40} entries, at most"):
            call()


def test_impossible_bit_reports():
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(5, sensitive=[0, 1, 2]), 1.0)
    assert mechanism.tally([[7, 2]]).n == 1
    with pytest.raises(ValueError, match="no bit set beyond the 3 sensitive values"):
        mechanism.tally([[8, 0]])
    with pytest.raises(ValueError, match=r"one of the 2 non-sensitive values, got \[0, 3\]$"):
        mechanism.tally([[0, 3]])
    with pytest.raises(ValueError, match=r"reports must fit uint8, got 0\.\.256"):
        mechanism.tally([[0, 256]])


@pytest.mark.parametrize("size", [1, 2, 4, 9])
def test_possible_reports_are_the_outputs(make, size):
    """Of all integers around the domain, or all rows of bytes, which are two here at most."""
    for sensitive in {0, 1, size // 2, size - 1, size}:
        mechanism = make(uldp.Domain(size, sensitive=range(sensitive)), 1.0)
        width = mechanism.report_dtype.shape
        codes = np.arange(256 ** width[0]) if width else np.arange(-5, 20)
        reports = codes[:, None] // 256 ** np.arange(width[0]) % 256 if width else codes
        outputs = mechanism.outputs @ 256 ** np.arange(width[0]) if width else mechanism.outputs
        expected = np.isin(codes, outputs)
        possible = mechanism.possible(reports)
        np.testing.assert_array_equal(possible, expected)
        assert mechanism.tally(reports[possible]).n == len(outputs)
        for impossible in reports[~possible][:3]:
            with pytest.raises(ValueError, match="reports must"):
                mechanism.tally(impossible)


@pytest.mark.parametrize(
    ("values", "width"), [(0, 0), (1, 1), (255, 1), (256, 2), (65535, 2), (65536, 4)]
)
def test_a_revealed_value_has_as_many_bytes_as_it_needs(values, width):
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(9 + values, sensitive=range(9)), 30.0)
    reports = mechanism.privatize(np.full(20, 8 + values), rng=0)
    assert reports.shape == (20, 2 + width)
    revealed = [int.from_bytes(report[2:].tobytes(), "little") for report in reports]
    assert set(revealed) == {values}


def test_tallies_are_equal_if_all_of_them_is():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0]), 1.0)
    tally = mechanism.tally([0, 1, 1])
    assert tally == mechanism.tally([1, 0, 1])
    assert tally != mechanism.tally([0, 1, 2])
    assert tally != uldp.Tally(mechanism, 4, np.array([2, 2, 0]))
    assert tally != uldp.Tally(uldp.RandomizedResponse(mechanism.domain, 1.0), 3, tally.counts)
    assert tally != [1, 2, 0]


def test_the_certificate_of_maximum_likelihood_is_1e_6_unless_told_otherwise():
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(4, sensitive=[0, 1, 2]), 1.0)
    reports = mechanism.privatize([0, 0, 0, 1, 2, 3] * 20, rng=1)
    assert mechanism.maximum_likelihood(reports).certificate <= 1e-6
    assert mechanism.maximum_likelihood(reports, 0.1).certificate > 1e-6


def test_the_largest_matrix():
    assert uldp.UtilityOptimizedRR(uldp.Domain(4096), 1.0).transition_matrix().size == 2**24
    with pytest.raises(ValueError, match=r"too large for its matrix: 4097 x 4097 entries, at most"):
        uldp.UtilityOptimizedRR(uldp.Domain(4097), 1.0).transition_matrix()
