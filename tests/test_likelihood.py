"""Maximum likelihood and EM against the dense likelihood on small domains."""

import itertools
import re
import warnings

import numpy as np
import pytest
from cases import domains, random_distribution
from numpy.typing import ArrayLike
from scipy.special import rel_entr

import uldp
from uldp import likelihood
from uldp._numerics import ascent, passes
from uldp._numerics.packed import PackedSets
from uldp.law import LINEAR
from uldp.likelihood import Evidence, em, log_likelihood, maximum_likelihood
from uldp.paper.datasets import census
from uldp.tallies import METHODS

DOMAIN = uldp.Domain(5, sensitive=[1, 3, 4])
SHORT = pytest.mark.filterwarnings("ignore:EM stopped")


def report_counts(mechanism: uldp.Mechanism, reports: np.ndarray) -> np.ndarray:
    place = {y.tobytes(): column for column, y in enumerate(mechanism.outputs)}
    drawn = [place[report.tobytes()] for report in reports]
    return np.bincount(drawn, minlength=len(mechanism.outputs))


def dense_gradient(Q: np.ndarray, counts: np.ndarray, p: np.ndarray) -> np.ndarray:
    seen = counts > 0
    return Q[:, seen] @ (counts[seen] / (p @ Q[:, seen]))


@pytest.mark.parametrize("n", [1, 4, 200])
def test_the_likelihood_is_largest(make, n):
    """By the optimality condition of the dense problem, which bounds the mean log-likelihood."""
    rng = np.random.default_rng(n)
    for domain in domains(4):
        mechanism = make(domain, 10 ** rng.uniform(-1, 0.8))
        values = rng.choice(domain.size, p=random_distribution(rng, domain.size), size=n)
        reports = mechanism.privatize(values, rng)
        found = mechanism.maximum_likelihood(reports, tolerance=1e-9)
        assert found.p.sum() == pytest.approx(1)
        assert (found.p >= 0).all()
        counts = report_counts(mechanism, reports)
        gradient = dense_gradient(mechanism.transition_matrix(), counts, found.p)
        assert gradient.max() / n - 1 <= 1.1e-9
        assert gradient.max() / n - 1 == pytest.approx(found.certificate, abs=1e-12)
        assert found.certificate <= 1e-9


def test_a_pass_may_take_many_blocks(monkeypatch):
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(30, sensitive=range(20)), 1.0)
    evidence = mechanism.evidence(mechanism.privatize(np.arange(30).repeat(20), rng=4))
    p = np.random.default_rng(4).dirichlet(np.ones(30))
    value, after = log_likelihood(evidence, p), em(evidence, p, steps=1)
    monkeypatch.setattr(passes, "SETS_AT_ONCE", 7)
    assert log_likelihood(evidence, p) == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(em(evidence, p, steps=1), after, rtol=1e-13)


def test_log_likelihoods_differ_as_those_of_the_dense_matrix(make):
    rng = np.random.default_rng(11)
    for domain in domains(4):
        mechanism = make(domain, 10 ** rng.uniform(-1, 1))
        reports = mechanism.privatize(rng.integers(domain.size, size=50), rng)
        counts, Q = report_counts(mechanism, reports), mechanism.transition_matrix()
        seen = counts > 0
        evidence = mechanism.evidence(reports)
        p, q = rng.dirichlet(np.ones(domain.size), size=2)
        difference = counts[seen] @ np.log((p @ Q[:, seen]) / (q @ Q[:, seen]))
        found = log_likelihood(evidence, p) - log_likelihood(evidence, q)
        assert found == pytest.approx(difference, abs=1e-10)


def test_the_constant_of_the_log_likelihood_is_as_documented():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0, 1]), 2.0)
    evidence = mechanism.evidence([0, 0, 1, 2])
    p = np.array([0.5, 0.2, 0.3])
    expected = np.log([1 + np.expm1(2) * 0.5] * 2 + [1 + np.expm1(2) * 0.2, 0.3]).sum()
    assert log_likelihood(evidence, p) == pytest.approx(expected, rel=1e-12)
    assert log_likelihood(evidence, [0.5, 0.5, 0]) == -np.inf
    assert log_likelihood(mechanism.evidence([0, 0, 1]), [1, 0, 0]) > -np.inf
    with pytest.raises(ValueError, match="p must sum to 1"):
        log_likelihood(evidence, [1, 1, 1])
    of_sets = uldp.UtilityOptimizedRappor(mechanism.domain, 2.0)
    sets = of_sets.evidence([[0b01, 0], [0b11, 0], [0b10, 0], [0b00, 0], [0b10, 1]])
    expected = np.log([1 + np.expm1(2) * mass for mass in (0.5, 0.7, 0.2, 0)] + [0.3]).sum()
    assert log_likelihood(sets, p) == pytest.approx(expected, rel=1e-12)


@SHORT
def test_em_takes_the_steps_of_the_dense_iteration(make):
    rng = np.random.default_rng(6)
    for domain in domains(4):
        mechanism = make(domain, 0.9)
        reports = mechanism.privatize(rng.integers(domain.size, size=50), rng)
        counts, Q = report_counts(mechanism, reports), mechanism.transition_matrix()
        p = np.full(domain.size, 1 / domain.size)
        for _ in range(20):
            p = p * dense_gradient(Q, counts, p) / 50
        start = np.full(domain.size, 1 / domain.size)
        estimate = mechanism.estimate(reports, "em", start=start, steps=20)
        np.testing.assert_allclose(estimate, p, rtol=1e-10)
        evidence, best = mechanism.evidence(reports), mechanism.estimate(reports, "mle")
        path = [em(evidence, start, steps) for steps in range(20)]
        height = np.array([log_likelihood(evidence, q) for q in path])
        left = log_likelihood(evidence, best) - height
        assert (np.diff(height) >= 50 * rel_entr(path[1:], path[:-1]).sum(axis=1) - 1e-9).all()
        assert (left <= 50 * rel_entr(best, start).sum() / np.arange(1, 21) + 1e-9).all()


def test_em_starts_from_the_threshold_estimate_and_stops_as_told(make):
    mechanism = make(uldp.Domain(5, sensitive=[1, 3]), 1.0)
    reports = mechanism.privatize(np.arange(5).repeat(20), rng=1)
    start = mechanism.estimate(reports, "threshold")
    np.testing.assert_array_equal(mechanism.estimate(reports, "em", steps=0), start)
    one = mechanism.estimate(reports, "em", steps=1)
    np.testing.assert_array_equal(mechanism.estimate(reports, "em", tolerance=2.0), one)


@pytest.mark.parametrize("s", [3, 8, 9, 16, 17, 40])
def test_sets_that_are_counted_and_sets_that_are_listed(s):
    """Up to two bytes of a set are counted; the likelihood is the same either way."""
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(s + 2, sensitive=range(s)), 1.0)
    reports = mechanism.privatize(np.arange(s + 2).repeat(20), rng=5)
    evidence = mechanism.evidence(reports)
    assert evidence.n == len(reports)
    bits = np.unpackbits(reports[:, : -(-s // 8)], axis=1, count=s, bitorder="little")
    protected = reports[:, -1] == 0
    listed = np.unpackbits(evidence.sets.T, axis=1, count=s, bitorder="little")
    np.testing.assert_array_equal(evidence.times @ listed, bits[protected].sum(axis=0))
    found = maximum_likelihood(evidence)
    q = 1 + np.expm1(1.0) * bits[protected] @ found.p[:s]
    revealed = np.bincount(reports[:, -1], minlength=3)[1:]
    gradient = np.concatenate(
        [
            (1 / q).sum() + np.expm1(1.0) * (bits[protected] / q[:, None]).sum(axis=0),
            (1 / q).sum() + revealed / np.maximum(found.p[s:], 1e-300),
        ]
    )
    assert gradient.max() / len(reports) - 1 <= 1e-6 * 1.01


def water_filling(counts: ArrayLike, offsets: ArrayLike) -> np.ndarray:
    return likelihood._water_filling(np.array(counts, float), np.array(offsets, float))


def test_water_filling():
    np.testing.assert_allclose(water_filling([1, 1], [0, 0]), [0.5, 0.5])
    np.testing.assert_allclose(water_filling([3, 1], [1, 1]), [1, 0])
    np.testing.assert_allclose(water_filling([3, 1, 0], [0, 0, 5]), [0.75, 0.25, 0])
    for offset in (1e9, 1e300):
        np.testing.assert_allclose(water_filling([3, 1, 3], np.full(3, offset)), [0.5, 0, 0.5])
        found = water_filling([1, 3, 2], offset * np.array([1, 3, 2.5]))
        assert found.sum() == pytest.approx(1, abs=1e-12)
    rng = np.random.default_rng(3)
    for _ in range(100):
        c, a = rng.integers(1, 30, 7), rng.exponential(size=7) * rng.integers(0, 2, 7)
        p = water_filling(c, a)
        level = (c[p > 0] / (p + a)[p > 0]).max()
        np.testing.assert_allclose(p, np.maximum(0, c / level - a), atol=1e-12)
        assert p.sum() == pytest.approx(1)


@pytest.mark.parametrize("method", [method for method in METHODS if method not in LINEAR])
def test_estimates_are_distributions_at_the_smallest_and_largest_level(make, method):
    for domain, epsilon in itertools.product((uldp.Domain(1, [0]), DOMAIN), (1e-9, 1e-6, 300.0)):
        mechanism = make(domain, epsilon)
        for users in (np.full(domain.size, 7), np.arange(1, domain.size + 1)):
            reports = mechanism.privatize(np.arange(domain.size).repeat(users), rng=1)
            estimate = mechanism.estimate(reports, method)
            assert estimate.min() >= 0
            assert estimate.sum() == pytest.approx(1, abs=1e-12)


def test_all_revealed_and_all_protected():
    domain = uldp.Domain(4, sensitive=[0, 1])
    mechanism = uldp.UtilityOptimizedRappor(domain, 1.0)
    revealed = np.array([[0, 1], [3, 2], [1, 2]], dtype=np.uint8)
    np.testing.assert_allclose(mechanism.estimate(revealed, "mle"), [0, 0, 1 / 3, 2 / 3], atol=1e-6)
    protected = np.array([[1, 0], [1, 0], [2, 0]], dtype=np.uint8)
    estimate = mechanism.estimate(protected, "mle")
    assert estimate[2:].sum() == pytest.approx(0, abs=1e-5)
    empty = np.zeros((3, 2), dtype=np.uint8)
    assert mechanism.maximum_likelihood(empty).certificate <= 1e-6


def test_an_estimate_that_misses_its_tolerance_is_not_returned(monkeypatch):
    monkeypatch.setattr(ascent, "MOST_PASSES", 2)
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(5, sensitive=[0, 1, 2]), 0.1)
    reports = mechanism.privatize(np.arange(50) % 5, rng=1)
    with pytest.raises(ArithmeticError, match=r"the certificate is .*, above 1e-09"):
        mechanism.maximum_likelihood(reports, tolerance=1e-9)


def test_a_filling_that_misses_is_not_returned(monkeypatch):
    monkeypatch.setattr(likelihood, "_fill", lambda _: np.full(3, 1 / 3))
    mechanism = uldp.RandomizedResponse(uldp.Domain(3), 1.0)
    with pytest.raises(ArithmeticError, match=r"the certificate is .*, above 1e-06"):
        mechanism.maximum_likelihood([0, 0, 1])


def test_passes_over_the_reports_are_counted(monkeypatch):
    passes = []

    def counted(*arguments):
        passes.append(arguments)
        return over_sets(*arguments)

    over_sets = likelihood.over_sets
    monkeypatch.setattr(likelihood, "over_sets", counted)
    domain = uldp.Domain(5, sensitive=[0, 1, 2])
    mechanism = uldp.UtilityOptimizedRappor(domain, 1.0)
    reports = mechanism.privatize(np.arange(50) % 5, rng=1)
    assert mechanism.maximum_likelihood(reports).passes == len(passes) > 1
    assert uldp.UtilityOptimizedRR(domain, 1.0).maximum_likelihood([0, 4]).passes == 0


def random_evidence(seed: int) -> Evidence:
    """Few reports or many, of a mechanism or with sets that none would make so often."""
    rng = np.random.default_rng([14, seed])
    s, nu = int(rng.integers(1, 13)), int(rng.integers(0, 4))
    if rng.random() < 0.1:
        s = int(rng.integers(13, 60))
    listed = rng.choice([1e-6, 1e-3, 0.1, 1, 3, 6, 10, 30])
    epsilon = float(listed if rng.random() < 0.5 else 10 ** rng.uniform(-2, 1.3))
    theta = None if rng.random() < 0.5 else rng.uniform(0.05, 0.95)
    domain = uldp.Domain(s + nu, sensitive=range(s))
    mechanism = uldp.UtilityOptimizedRappor(domain, epsilon, theta)
    n = int(rng.choice([1, 2, 3, 5, 10, 50, 300]))
    if rng.random() < 1 / 3:
        p = rng.dirichlet(np.full(s + nu, rng.choice([0.1, 1, 10])))
        return mechanism.evidence(mechanism.privatize(rng.choice(s + nu, n, p=p), rng))
    protected = int(rng.integers(0, n + 1)) if nu else n
    density = rng.choice([0, 0.05, 0.3, 0.5, 0.9, 1]) if rng.random() < 0.5 else rng.random(s)
    sets = PackedSets(s).pack(rng.random((protected, s)) < density).T
    times = rng.integers(0, 4, protected) if rng.random() < 0.5 else np.ones(protected, int)
    revealed = rng.multinomial(n - protected, np.ones(nu) / nu) if nu else np.zeros(0, int)
    return Evidence(mechanism, sets, times, revealed)


def certified(evidence: Evidence, p: np.ndarray) -> float:
    """The certificate from the bits, one by one."""
    law = evidence.law
    members = np.zeros((evidence.times.size, law.domain.size))
    members[:, law.sensitive] = PackedSets(law.sensitive.size).unpack(evidence.sets.T)
    likelihoods = np.exp(-law.epsilon) - np.expm1(-law.epsilon) * members
    gradient = likelihoods.T @ (evidence.times / (likelihoods @ p))
    seen = evidence.revealed > 0
    gradient[law.nonsensitive[seen]] += evidence.revealed[seen] / p[law.nonsensitive[seen]]
    return float(gradient.max() / evidence.n - 1)


@pytest.mark.parametrize("block", range(4))
def test_no_small_problem_fails(block):
    for seed in range(500 * block, 500 * (block + 1)):
        evidence = random_evidence(seed)
        if evidence.n:
            found = maximum_likelihood(evidence, tolerance=1e-10)
            assert certified(evidence, found.p) <= 1.01e-10
            assert found.passes <= 100


@pytest.mark.parametrize("few", [False, True])
def test_both_quadratics_lead_to_the_optimum(monkeypatch, few):
    """And each goes on with the other where its own steps end."""
    monkeypatch.setattr(likelihood, "FEW_PRODUCTS", 1 << 40 if few else 0)
    for seed in range(200):
        evidence = random_evidence(seed)
        if evidence.n:
            found = maximum_likelihood(evidence, tolerance=1e-9)
            assert certified(evidence, found.p) <= 1.01e-9


def test_the_ascent_is_told_what_is_around_a_place():
    """From the bits: value, gradient, rows of the Hessian, and the curvature where sets differ."""
    looked = 0
    for seed in range(60):
        evidence = random_evidence(seed)
        s, shown, n = evidence.law.sensitive.size, evidence.revealed.sum(), evidence.n
        if not n:
            continue
        nu = int(evidence.revealed.size > 0)
        q = np.random.default_rng(seed).dirichlet(np.ones(s + nu))
        epsilon, share = evidence.law.epsilon, evidence.times / n
        members = np.zeros((share.size, s + nu))
        members[:, :s] = PackedSets(s).unpack(evidence.sets.T)
        sets = np.exp(-epsilon) - np.expm1(-epsilon) * members
        rows = sets / (sets @ q)[:, None]
        own = np.zeros(s + nu)
        if shown:
            own[s] = 1 / q[s]
        point = likelihood._evaluate(evidence, q)
        height = share @ np.log(sets @ q) + (shown / n * np.log(q[s]) if shown else 0)
        assert point.value == pytest.approx(height, abs=1e-12)
        np.testing.assert_allclose(point.gradient, share @ rows + shown / n * own - 1, atol=1e-9)
        told = np.expm1(-epsilon) ** 2 * (share / (sets @ q) ** 2) @ members
        told += shown / n * own**2
        np.testing.assert_allclose(point.diagonal + point.rank_one**2, told, rtol=1e-9, atol=1e-12)
        if share.any():
            weight = share / (sets @ q) ** 2
            rank_one = -np.expm1(-epsilon) * weight @ members / np.sqrt(weight.sum())
            np.testing.assert_allclose(point.rank_one, rank_one, rtol=1e-9, atol=1e-12)
        forms = likelihood._Rows(evidence, evidence.sets)(q)
        wanted = (rows * np.sqrt(share)[:, None])[share > 0]
        if shown:
            wanted = np.vstack([wanted, np.sqrt(shown / n) * own])
        np.testing.assert_allclose(forms, wanted, rtol=1e-9, atol=1e-12)
        looked += 1
    assert looked > 40


@pytest.mark.parametrize(
    ("most", "forms", "few"),
    [
        ((5 * 4, 5 * 4 * 4), True, True),
        ((5 * 4, 5 * 4 * 4 - 1), True, False),
        ((19, 80), False, True),
    ],
)
def test_the_exact_hessian_is_used_up_to_so_many_entries(monkeypatch, most, forms, few):
    """Of four sets that came and all that is revealed, with three values and the mass of X_N."""
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(5, sensitive=[0, 1, 2]), 1.0)
    sets = np.array([[1, 2, 3, 4, 5]], dtype=np.uint8)
    evidence = Evidence(mechanism, sets, [1, 2, 0, 1, 1], [1, 0])
    told = {}

    def maximize(evaluate, rows, exact, positive, start, tolerance):
        told.update(forms=rows is not None, few=exact, positive=start[positive], start=start)
        return maximize_by(evaluate, rows, exact, positive, start, tolerance)

    maximize_by = ascent.maximize
    monkeypatch.setattr(ascent, "maximize", maximize)
    monkeypatch.setattr(likelihood, "MOST_FORMS", most[0])
    monkeypatch.setattr(likelihood, "FEW_PRODUCTS", most[1])
    maximum_likelihood(evidence)
    assert (told["forms"], told["few"]) == (forms, few)
    np.testing.assert_allclose(told["start"], [0.2, 0.2, 0.2, 0.4])
    assert told["positive"].tolist() == told["start"][3:].tolist()
    maximum_likelihood(Evidence(mechanism, sets, [1, 2, 0, 1, 1], [0, 0]))
    assert told["positive"].size == 0


@pytest.mark.parametrize(
    ("kind", "epsilon", "most"),
    [
        (uldp.Rappor, 0.1, 8),
        (uldp.Rappor, 1.0, 10),
        (uldp.Rappor, np.log(400), 22),
        (uldp.UtilityOptimizedRappor, 0.1, 22),
        (uldp.UtilityOptimizedRappor, 1.0, 16),
        (uldp.UtilityOptimizedRappor, 3.0, 16),
        (uldp.UtilityOptimizedRappor, np.log(400), 20),
    ],
)
def test_the_census_takes_few_passes(kind, epsilon, most):
    people = census()
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        mechanism = kind(people.domain, epsilon)
        users = np.repeat(np.arange(400), rng.multinomial(60_000, people.frequencies))
        reports = mechanism.privatize(users, rng, indices=True)
        assert mechanism.maximum_likelihood(reports).passes <= most


def test_em_takes_a_thousand_steps_unless_told_otherwise():
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(3, sensitive=[0, 1]), 0.1)
    evidence = mechanism.evidence(mechanism.privatize([0, 0, 1, 2] * 5, rng=1))
    start = [0.2, 0.3, 0.5]
    assert em(evidence, start).tolist() == em(evidence, start, steps=1000).tolist()
    assert em(evidence, start).tolist() != em(evidence, start, steps=1001).tolist()


@SHORT
def test_em_stops_at_a_step_within_the_tolerance():
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(3, sensitive=[0, 1]), 0.5)
    evidence = mechanism.evidence(mechanism.privatize([0, 0, 1, 2] * 5, rng=1))
    start = [0.2, 0.3, 0.5]
    path = [em(evidence, start, steps=steps) for steps in range(12)]
    changes = np.abs(np.diff(path, axis=0)).sum(axis=1)
    assert (np.diff(changes) < 0).all()
    for step in (1, 4, 10):
        stopped = em(evidence, start, tolerance=1.0001 * changes[step])
        assert stopped.tolist() == path[step + 1].tolist()


def test_em_says_where_it_has_not_arrived(make):
    """After few steps, and from a start whose zeros it cannot leave; not where it has arrived."""
    mechanism = make(uldp.Domain(4, sensitive=[0, 1]), 1.0)
    evidence = mechanism.evidence(mechanism.privatize(np.arange(4).repeat([90, 40, 20, 50]), rng=1))
    uniform = np.full(4, 0.25)
    largest = log_likelihood(evidence, maximum_likelihood(evidence, 1e-10).p)
    for start, steps in ((uniform, 3), ([0, 0.2, 0.3, 0.5], 1000)):
        with pytest.warns(RuntimeWarning, match="EM stopped after .* may be") as told:
            found = em(evidence, start, steps)
        missing = (largest - log_likelihood(evidence, found)) / evidence.n
        assert missing <= float(re.search(r"may be (\S+) below", str(told[0].message))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        em(evidence, uniform, 5000)


def test_em_warns_at_the_line_that_asked_for_it():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=[0, 1]), 0.01)
    tally = mechanism.simulate([900, 400, 200, 500], rng=1)
    for ask in (
        lambda: em(mechanism.evidence(tally), np.full(4, 0.25), 3),
        lambda: mechanism.estimate(tally, "em"),
        lambda: uldp.inference.summary(tally, method="em"),
    ):
        with pytest.warns(RuntimeWarning, match="EM stopped") as told:
            ask()
        assert [one.filename for one in told] == [__file__]


def test_a_tally_of_bits_has_forgotten_the_sets():
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(3, sensitive=[0, 1]), 1.0)
    with pytest.raises(ValueError, match="does not know which bits came together"):
        mechanism.estimate(mechanism.tally(mechanism.privatize([0, 1])), "mle")
