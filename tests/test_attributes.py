"""Attributes one by one, against the dense Kronecker product on small domains."""

import copy
import itertools
from functools import reduce
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import chi2

import uldp
from uldp import likelihood, privacy
from uldp._numerics import ascent
from uldp.attributes import OneByOne

DRUG = uldp.UtilityOptimizedRR(uldp.Domain(["no", "yes"], sensitive=["yes"]), 1.2)
SPORT = uldp.UtilityOptimizedRR(uldp.Domain(["run", "swim", "row"]), 0.7)
STATUS = uldp.UtilityOptimizedRR(uldp.Domain(4, sensitive=[0, 2]), 0.4)
PLAIN = uldp.RandomizedResponse(uldp.Domain(3), 0.9)
PLACE = uldp.UtilityOptimizedHadamard(uldp.Domain(4, sensitive=[1, 2]), 0.8)
CASES = {
    "harmless": OneByOne({"drug": DRUG, "sport": SPORT}),
    "two": OneByOne({"status": STATUS, "drug": DRUG}),
    "plain": OneByOne({"drug": DRUG, "plain": PLAIN, "sport": SPORT}),
    "alone": OneByOne({"status": STATUS}),
    "columns": OneByOne({"place": PLACE, "drug": DRUG}),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def product(request):
    return request.param


def dense(product):
    """The matrix, and the decoded reports in the same order."""
    each = product.mechanisms.values()
    Q = reduce(np.kron, [m.transition_matrix() for m in each])
    D = reduce(np.kron, [np.array([m.estimate([y]) for y in m.outputs]) for m in each])
    return Q, D


def tables(product, codes):
    """Yield the table of each row of numbers of outputs."""
    shape = tuple(m.output_count for m in product.mechanisms.values())
    for row in codes:
        yield np.bincount(row, minlength=np.prod(shape)).reshape(shape)


def draw(product, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(product.domain.size))


def test_cells_are_sensitive_if_any_attribute_is():
    assert CASES["harmless"].domain.labels == tuple(
        f"{drug}, {sport}" for drug in ("no", "yes") for sport in ("run", "swim", "row")
    )
    assert CASES["harmless"].domain.sensitive.tolist() == [3, 4, 5]
    assert CASES["two"].domain.sensitive.tolist() == [0, 1, 3, 4, 5, 7]
    assert CASES["plain"].domain.sensitive.tolist() == [*range(18)]
    assert CASES["plain"].domain.shape == (2, 3, 3)
    with pytest.raises(TypeError):
        CASES["two"].mechanisms["drug"] = SPORT


def test_levels_of_pairs_add_up(product):
    each = product.mechanisms.values()
    levels = privacy.pair_levels(dense(product)[0])
    parts = [privacy.pair_levels(m.transition_matrix()) for m in each]
    cells = np.array([*itertools.product(*(range(m.domain.size) for m in each))])
    for x, other in np.ndindex(levels.shape):
        changes = zip(parts, cells[x], cells[other], strict=True)
        assert levels[x, other] == pytest.approx(sum(part[a, b] for part, a, b in changes))


def test_the_total_level_is_that_of_a_change_of_all_that_is_hidden():
    assert CASES["harmless"].epsilon == pytest.approx(1.2)
    assert CASES["two"].epsilon == pytest.approx(1.6)
    assert CASES["plain"].epsilon == pytest.approx(2.1)
    levels = privacy.pair_levels(dense(CASES["two"])[0])
    hidden = CASES["two"].domain.cells(status=[0, 2], drug="yes")
    assert levels[hidden].max() == pytest.approx(1.6)


def test_the_estimate_is_unbiased_and_its_loss_exact_by_enumeration(product):
    Q, D = dense(product)
    p, outputs = draw(product), Q.shape[1]
    for n in (1, 2) if outputs < 10 else (1,):
        codes = np.array([*itertools.product(range(outputs), repeat=n)])
        probabilities = (p @ Q)[codes].prod(axis=1)
        estimates = np.array([product.estimate(table) for table in tables(product, codes)])
        assert np.allclose(estimates, D[codes].mean(axis=1), atol=1e-12)
        assert np.allclose(probabilities @ estimates, p, atol=1e-12)
        loss = probabilities @ ((estimates - p) ** 2).sum(axis=1)
        assert product.l2_loss(p, n) == pytest.approx(loss)
        weights = np.random.default_rng(1).normal(size=p.size)
        variance = n * (probabilities @ ((estimates - p) @ weights) ** 2)
        assert product.total_variance(weights, p) == pytest.approx(variance)
        if n == 2:
            found = [product.total_variance(weights, estimate) for estimate in estimates]
            assert probabilities @ found / (n - 1) == pytest.approx(variance / n)


def test_reports_have_the_law_of_the_kronecker_product(product):
    """Fails by chance once in 10^6 for each of the cells of each product: 32 of them."""
    Q = dense(product)[0]
    for x in range(product.domain.size):
        table = product.count(product.privatize([x] * 4000, rng=100 + x, indices=True)).ravel()
        possible = Q[x] > 0
        assert not table[~possible].any()
        expected = 4000 * Q[x, possible]
        distance = ((table[possible] - expected) ** 2 / expected).sum()
        assert distance <= chi2.isf(1e-6, max(possible.sum() - 1, 1))


def test_counts_are_of_rows_and_tables_add_up():
    product = CASES["two"]
    cells = product.domain.cells(status=[0, 1, 2, 3, 1], drug="yes")
    reports = product.privatize(cells, rng=3, indices=True)
    assert reports.shape == (5, 2)
    table = product.count(reports)
    assert table.shape == (4, 2)
    for status, drug in np.ndindex(table.shape):
        assert table[status, drug] == (reports == [status, drug]).all(axis=1).sum()
    assert (product.count(reports[:2]) + product.count(reports[2:]) == table).all()
    single = product.privatize("0, yes", rng=5)
    assert single.tolist() == product.privatize(["0, yes"], rng=5)[0].tolist()
    assert single.shape == (2,)
    assert product.count(reports[:0]).sum() == 0


@pytest.mark.parametrize("exact", [True, False])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_the_certificate_is_that_of_the_kronecker_product(exact, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uldp.attributes.FEW_FORMS", 1 << 20 if exact else 0)
        product = CASES["two"]
        Q = dense(product)[0]
        counts = np.random.default_rng(seed).multinomial(200, draw(product, seed) @ Q)
        counts[seed % 8] = 0
        found = product.maximum_likelihood(counts.reshape(4, 2), 1e-4)
    assert found.p.min() >= 0
    assert found.p.sum() == pytest.approx(1)
    shares = counts / counts.sum()
    came = shares > 0
    slope = Q[:, came] @ (shares[came] / (found.p @ Q)[came])
    assert found.certificate == pytest.approx(max(slope.max() - 1, 0), abs=1e-9)
    assert found.certificate <= 1e-4


def test_the_ascent_is_told_what_is_around_a_place(monkeypatch):
    """The diagonal of the Hessian in directions that sum to 0, where reports are few the rest."""
    told = {}

    def maximize(evaluate, rows, few, positive, start, tolerance):
        told.update(evaluate=evaluate, rows=rows, few=few, start=start, positive=start[positive])
        return ascent.maximize(evaluate, rows, few, positive, start, tolerance)

    monkeypatch.setattr(
        "uldp.attributes.ascent", SimpleNamespace(maximize=maximize, Point=ascent.Point)
    )
    product, counts = CASES["two"], np.array([9, 1, 2, 0, 3, 3, 0, 1])
    Q, shares = dense(product)[0], counts / counts.sum()
    for most, fits in ((6 * 8, True), (6 * 8 - 1, False), (6, False)):
        monkeypatch.setattr("uldp.attributes.FEW_FORMS", most)
        product.maximum_likelihood(counts.reshape(4, 2), 1e-3)
        assert told["few"] is fits
        assert (told["rows"] is not None) is fits
        assert told["positive"].size == 0
        assert told["start"] == pytest.approx(np.full(8, 1 / 8))
        q = draw(product)
        rows = Q / (q @ Q)
        here = told["evaluate"](q)
        assert here.gradient == pytest.approx(rows @ shares - 1)
        assert here.diagonal == pytest.approx((rows - 1) ** 2 @ shares)
        assert here.diagonal.min() < 1
        assert not here.rank_one.any()
        assert here.value == pytest.approx(shares[counts > 0] @ np.log((q @ Q)[counts > 0]))
        if fits:
            scaled = (rows * np.sqrt(shares))[:, counts > 0].T
            assert told["rows"](q) == pytest.approx(scaled)


def test_without_noise_maximum_likelihood_is_the_shares():
    true = OneByOne({"sport": SPORT, "again": SPORT})
    table = np.array([[3, 0, 1], [2, 2, 0], [0, 0, 2]])
    assert true.estimate(table) == pytest.approx(table.ravel() / 10)
    found = true.maximum_likelihood(table)
    assert found.p == pytest.approx(table.ravel() / 10, abs=1e-3)
    assert found.passes > 0
    assert true.epsilon == 0
    assert isinstance(found, likelihood.MaximumLikelihood)


def test_it_is_refused_where_the_certificate_is_not_met(monkeypatch):
    table = [[9, 1], [2, 7], [3, 3], [0, 1]]
    met = CASES["two"].maximum_likelihood(table, 1e-3)
    assert 1 < met.passes < 1000
    assert met.certificate > 0
    assert CASES["two"].maximum_likelihood(table, met.certificate).passes == met.passes
    monkeypatch.setattr("uldp._numerics.ascent.MOST_PASSES", 1)
    with pytest.raises(ArithmeticError, match=r"the certificate is .*, above 0\.001"):
        CASES["two"].maximum_likelihood(table, 1e-3)


def test_an_attribute_may_be_called_sensitive():
    one = OneByOne({"sensitive": uldp.UtilityOptimizedRR(uldp.Domain(2, [0]), 1.0)})
    again = copy.deepcopy(one)
    assert again.domain == one.domain
    assert [*again.domain.factors] == ["sensitive"]
