"""The moments of linear estimates, and the one that sums to 1: by enumeration, draws and search."""

import itertools
import math

import numpy as np
import pytest
from cases import MECHANISMS, domains, random_distribution, rows_of
from test_worst_cases import largest_found

import uldp
from uldp import inference, losses, personalized
from uldp.decoders import Decoder
from uldp.law import LINEAR

EPSILONS = (0.1, 1.0, 8.0)
CHANGED = ("RAPPOR", "uRAP", "uRAP, θ = 0.8", "uHR")


def adjusted_rows(mechanism: uldp.Mechanism) -> np.ndarray:
    """D̃_y of each report, from the empirical estimates and the definition, shape (|Y|, k)."""
    rows = rows_of(mechanism)
    S = mechanism.sensitive
    if S.size:
        rows[:, S] += (1 - rows.sum(axis=1, keepdims=True)) / S.size
    return rows


def test_the_estimate_is_that_of_the_definition_and_unbiased(make):
    for domain, epsilon in itertools.product(domains(4), EPSILONS):
        mechanism = make(domain, epsilon)
        rows = adjusted_rows(mechanism)
        scale = np.abs(rows).max()
        found = rows_of(mechanism, "adjusted")
        np.testing.assert_allclose(found, rows, atol=1e-12 * scale)
        mean = mechanism.transition_matrix() @ rows
        np.testing.assert_allclose(mean, np.eye(domain.size), atol=1e-12 * scale)
        if mechanism.sensitive.size:
            np.testing.assert_allclose(np.sum(found, axis=1), 1, atol=1e-14 * scale)
        else:
            assert mechanism.adjusted is mechanism.decoder


def test_a_sole_sensitive_share_is_what_the_others_leave_however_large_the_noise():
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(2, sensitive=[0]), 1.0, theta=1 - 2**-53)
    for report in mechanism.outputs:
        tally = mechanism.tally(np.stack([report, report]))
        first, second = mechanism.estimate(tally, "adjusted")
        assert first == 1 - second
        ends = inference.intervals(tally)
        np.testing.assert_allclose(ends[0], 1 - ends[1, ::-1], atol=1e-12)


def test_ranges_are_those_of_all_reports(make):
    """Also of uHR with 4 values and more, whose entries differ."""
    sizes = (1, 2, 3, 4, 5, 8)
    for domain in (uldp.Domain(s + extra, range(s)) for s in sizes for extra in (0, 1)):
        mechanism = make(domain, 3.0)
        rows = adjusted_rows(mechanism)
        expected = np.column_stack([rows.min(axis=0), rows.max(axis=0)])
        np.testing.assert_allclose(mechanism.adjusted.ranges(), expected, atol=1e-12)


@pytest.mark.parametrize("method", LINEAR)
def test_all_moments_are_those_of_the_matrix(make, method):
    rng = np.random.default_rng(46)
    for domain, epsilon in itertools.product(domains(4), EPSILONS):
        mechanism = make(domain, epsilon)
        decoder, rows = mechanism.decoder_of(method), rows_of(mechanism, method)
        p, w = random_distribution(rng, domain.size), rng.normal(size=(domain.size, 2))
        v = rng.normal(size=domain.size)
        Q = mechanism.transition_matrix()
        m, said = p @ Q, rows @ w
        expected = rows.T @ np.diag(m) @ rows
        variances = np.diag(expected) - p**2
        of_total, squares = Q @ said[:, 0] ** 2, Q @ rows**2
        scale = np.abs(rows).max() ** 2
        np.testing.assert_allclose(m @ rows, p, atol=1e-12 * scale)
        for found, right in (
            (mechanism.second_moment(p, method), expected),
            (decoder.apply_second_moment(p, w), expected @ w),
            (decoder.apply_second_moment(p, w[:, 0]), expected @ w[:, 0]),
            (
                mechanism.second_moment(2 * v - p, method) + expected,
                2 * mechanism.second_moment(v, method),
            ),
            (losses.variances(mechanism, p, method), variances),
            (decoder.variances(v) + v**2, np.diag(mechanism.second_moment(v, method))),
            (decoder.own_squares, squares.diagonal()),
            (decoder.moments_of_total(w[:, 0]), of_total),
            (Decoder.moments_of_total(decoder, w[:, 0]), of_total),
            (
                losses.total_variance(mechanism, w[:, 0], p, method),
                m @ (said[:, 0] - p @ w[:, 0]) ** 2,
            ),
            (mechanism.l2_loss(p, 7, method), variances.sum() / 7),
            (decoder.range_of_total(w[:, 1]), (said[:, 1].min(), said[:, 1].max())),
        ):
            np.testing.assert_allclose(found, right, atol=1e-11 * scale)
        l1 = np.sqrt(2 * np.maximum(variances, 0) / (7 * np.pi)).sum()
        assert mechanism.l1_loss(p, 7, method=method) == pytest.approx(l1, rel=1e-6, abs=1e-6)
        of_all = squares.sum(axis=1)
        slopes = decoder.slopes
        np.testing.assert_allclose(slopes - slopes[0], of_all - of_all[0], atol=1e-11 * scale)
        if domain.size > 1:
            of_others = np.where(np.eye(domain.size), 0, squares).max(axis=0)
            np.testing.assert_allclose(decoder.null_variances, of_others, atol=1e-11 * scale)
        assert decoder.sums_to_one == np.allclose(rows.sum(axis=1), 1) or domain.size == 1


@pytest.mark.parametrize("name", CHANGED)
def test_mean_squares_of_entries_are_the_largest_of_each_class(name):
    """E[D̃_x² | z] of all pairs, as strata and intervals take them."""
    alike = set()
    for s, nu in itertools.product(range(1, 15 if name == "uHR" else 5), (0, 2)):
        mechanism = MECHANISMS[name](uldp.Domain(s + nu, range(s)), 1.3)
        decoder = mechanism.adjusted
        squares = (mechanism.transition_matrix() @ adjusted_rows(mechanism) ** 2).T
        np.testing.assert_allclose(decoder.own_squares, squares.diagonal())
        of_others = np.where(np.eye(s + nu), 0, squares).max(axis=1)
        np.testing.assert_allclose(decoder.null_variances, of_others, atol=1e-12)
        is_sensitive = np.isin(np.arange(s + nu), mechanism.sensitive)
        for members, (own, fellow, foreign) in decoder._moments:
            for x in members:
                fellows = (is_sensitive == is_sensitive[x]) & (np.arange(s + nu) != x)
                foreigners = squares[x, is_sensitive != is_sensitive[x]]
                found = squares[x, x], foreigners.max(initial=0)
                np.testing.assert_allclose(found, (own, foreign), atol=1e-12)
                expected = squares[x, fellows].max() if fellows.any() else foreign
                np.testing.assert_allclose(fellow, expected, atol=1e-12)
                if decoder.is_alike:
                    np.testing.assert_allclose(squares[x, fellows], fellow, atol=1e-12)
        if decoder.is_alike:
            alike.add(s)
    assert alike == ({1, 2, 3, 7} if name == "uHR" else {1, 2, 3, 4})


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")
def test_no_search_finds_a_larger_loss(name, loss):
    refused = 0
    for domain, epsilon in itertools.product(domains(5), (0.3, 2.0)):
        mechanism = MECHANISMS[name](domain, epsilon)
        if domain.sensitive.size and domain.sensitive[-1] != domain.sensitive.size - 1:
            continue
        try:
            p = mechanism.worst_case(loss, "adjusted")
        except ValueError:
            refused += 1
            continue
        variances = losses.variances(mechanism, p, "adjusted")
        claimed = (np.sqrt(variances) if loss == "l1" else variances).sum()
        found = largest_found(mechanism, loss, np.random.default_rng(1), mechanism.adjusted)
        assert claimed * (1 - 1e-3) - 1e-7 <= found <= claimed * (1 + 1e-9) + 1e-7
    assert (refused > 0) == ((name, loss) == ("uHR", "l1"))


def test_the_closed_forms_of_groups():
    """n Var of the share T of a group that holds the part γ of X_S, with the paper's θ."""
    rng = np.random.default_rng(47)
    for k, s, epsilon in itertools.product((2, 5, 9), (1, 2, 5), EPSILONS):
        domain = uldp.Domain(k, range(min(s, k)))
        h = math.exp(epsilon / 2)
        V, b = h / (h - 1) ** 2, 1 / (h - 1)
        for make in (uldp.Rappor, uldp.UtilityOptimizedRappor):
            mechanism = make(domain, epsilon)
            S = mechanism.sensitive
            p, group = random_distribution(rng, k), rng.integers(0, 2, k) * 1.0
            part, T, sigma = group[S].mean(), p @ group, p[S].sum()
            T_N = T - p[S] @ group[S]
            expected = S.size * V * part * (1 - part) + T * (1 - T)
            expected += b * ((1 - part) ** 2 * T_N + part**2 * (1 - sigma - T_N))
            found = losses.total_variance(mechanism, group, p, "adjusted")
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_what_adding_up_costs_under_uHR():
    """The factors that are stated, where all people have one sensitive value; none up to ln 3."""
    largest = {2.0: 1.38, 4.0: 6.6, 8.0: 330.0}
    for epsilon in (0.5, math.log(3), *largest):
        ratios = []
        for s in range(1, 8):
            mechanism = uldp.UtilityOptimizedHadamard(uldp.Domain(s, range(s)), epsilon)
            for share in (0.9, 1.0):
                p = (
                    np.append(share, np.full(s - 1, (1 - share) / max(s - 1, 1)))[:s]
                    if s > 1
                    else [1.0]
                )
                one = np.eye(s)[0]
                before = losses.total_variance(mechanism, one, p)
                after = losses.total_variance(mechanism, one, p, "adjusted")
                ratios.append(after / before if before > 1e-9 else 1.0)
        assert max(ratios) <= max(1, largest.get(epsilon, 0) * 1.01) + 1e-9
        if epsilon in largest:
            assert max(ratios) >= largest[epsilon] * 0.99


@pytest.mark.parametrize("name", CHANGED)
def test_simulated_estimates_have_the_variances_that_are_stated(name):
    """2,000 surveys; a right variance is off by 5 of its deviations in 1 of 10^6 seeds."""
    domain, rng = uldp.Domain(7, range(4)), np.random.default_rng(48)
    mechanism, p = MECHANISMS[name](domain, 1.5), rng.dirichlet(np.ones(7))
    found = np.array(
        [
            mechanism.estimate(
                mechanism.privatize(rng.choice(7, 60, p=p), rng, indices=True), "adjusted"
            )
            for _ in range(2_000)
        ]
    )
    expected = losses.variances(mechanism, p, "adjusted") / 60
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(found.var(axis=0), expected, rtol=5 * math.sqrt(2 / 2_000))
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - p), 5 * np.sqrt(expected / 2_000))


def test_tags_take_their_part_of_what_is_missing():
    tagged = personalized.TaggedDomain(uldp.Domain(3, [0]), ["home", "work"])
    law = uldp.UtilityOptimizedRappor(tagged, 1.0)
    tally = law.simulate([50, 60, 70, 80, 90], rng=1)
    raw, found = (personalized.estimate(law, tally, method=m).r for m in ("empirical", "adjusted"))
    np.testing.assert_allclose(found - raw, (1 - raw.sum()) / 3 * np.array([1, 0, 0, 1, 1]))


def test_what_the_adjusted_estimate_has_no_law_for_is_refused():
    law = uldp.UtilityOptimizedHadamard(uldp.Domain(5, range(4)), 1.0)
    with pytest.raises(ValueError, match="exact must be False where an entry hangs"):
        law.l1_loss(np.full(5, 0.2), 10, exact=True, method="adjusted")
    with pytest.raises(ValueError, match="loss must be 'l2' where sensitive values are not alike"):
        law.worst_case("l1", "adjusted")
    with pytest.raises(ValueError, match="method must be one of empirical, adjusted"):
        law.l2_loss(np.full(5, 0.2), 10, method="threshold")
