"""The Hadamard response: its transform, its draws for many users at once, and its decoder."""

import itertools
from collections import Counter

import numpy as np
import pytest
from cases import chi_square, domains
from scipy.linalg import hadamard

import uldp
from uldp import UtilityOptimizedHadamard
from uldp.beyond.hadamard import hadamard_transform, random_columns

FALSE_ALARM = 1e-6
"""Of each statistical test here, were its seed random."""


@pytest.mark.parametrize("v", range(8))
def test_the_transform_is_the_matrix(v):
    values = np.random.default_rng(v).integers(-100, 100, size=(1 << v, 3))
    expected = hadamard(1 << v) @ values
    np.testing.assert_array_equal(hadamard_transform(values), expected)
    np.testing.assert_array_equal(hadamard_transform(values[:, 0]), expected[:, 0])
    assert hadamard_transform(values).dtype == values.dtype


def test_the_matrix_is_the_definition():
    """Rows of SciPy's matrix, and the order as the literature has it."""
    for domain in domains(5):
        mechanism = UtilityOptimizedHadamard(domain, 1.1)
        s, V, E = domain.sensitive.size, mechanism.order, np.exp(1.1)
        if not s:
            assert V == 0
            np.testing.assert_array_equal(mechanism.transition_matrix(), np.eye(domain.size))
            continue
        assert 2 ** int(np.ceil(np.log2(s + 1))) == V
        expected = np.full((domain.size, V + domain.size - s), 0.0)
        expected[:, :V] = 2 / (E + 1) / V
        signs = hadamard(V)[1 : s + 1]
        expected[domain.sensitive, :V] = np.where(signs > 0, E, 1) * 2 / (E + 1) / V
        for place, x in enumerate(domain.nonsensitive):
            expected[x, V + place] = (E - 1) / (E + 1)
        np.testing.assert_allclose(mechanism.transition_matrix(), expected, rtol=1e-13)


def test_the_estimate_is_the_published_one():
    """c = (E + 1)/(E - 1), n_x the columns with +1 in the row of x, n_P all columns."""
    rng = np.random.default_rng(1)
    for domain in domains(4):
        if not domain.sensitive.size:
            continue
        mechanism = UtilityOptimizedHadamard(domain, 0.7)
        counts = rng.integers(20, size=mechanism.output_count)
        n, V, E = counts.sum(), mechanism.order, np.exp(0.7)
        c, sent = (E + 1) / (E - 1), counts[:V].sum()
        supported = (hadamard(V)[1 : domain.sensitive.size + 1] > 0) @ counts[:V]
        expected = np.empty(domain.size)
        expected[domain.sensitive] = 2 * c * (supported / n - 1 / (E + 1))
        expected[domain.sensitive] -= c * (sent / n - 2 / (E + 1))
        expected[domain.nonsensitive] = c * counts[V:] / n
        found = mechanism.estimate(uldp.Tally(mechanism, int(n), counts))
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_variances_of_any_vector_are_those_of_the_second_moment():
    rng = np.random.default_rng(3)
    for domain in domains(4):
        for make in (UtilityOptimizedHadamard, uldp.UtilityOptimizedBlockDesign):
            mechanism, p = make(domain, 0.9), rng.normal(size=domain.size)
            if make is uldp.UtilityOptimizedBlockDesign:
                p /= p.sum()
            expected = np.diag(mechanism.second_moment(p)) - p**2
            np.testing.assert_allclose(mechanism.decoder.variances(p), expected, atol=1e-9)


def law_of_columns(rows: list[int]) -> dict[tuple[int, ...], float]:
    """The law of how often each column is drawn, by enumeration user by user."""
    H, law = hadamard(len(rows)), {(0,) * len(rows): 1.0}
    for row in np.repeat(np.arange(len(rows)), rows):
        allowed, longer = np.flatnonzero(H[row] > 0), Counter()
        for counts, chance in law.items():
            for y in allowed:
                after = list(counts)
                after[y] += 1
                longer[tuple(after)] += chance / allowed.size
        law = dict(longer)
    return law


@pytest.mark.parametrize(
    "rows", [[3], [2, 0], [0, 2], [1, 2], [1, 1, 1, 1], [0, 0, 0, 3], [0, 2, 0, 1, 0, 1, 0, 0]]
)
def test_columns_of_many_users_have_the_joint_law_of_one_after_the_other(rows):
    law, rng = law_of_columns(rows), np.random.default_rng(4)
    places = {counts: place for place, counts in enumerate(law)}
    observed = np.zeros(len(law))
    for _ in range(5_000):
        observed[places[tuple(random_columns(np.array(rows), rng).tolist())]] += 1
    assert chi_square(observed, np.array([*law.values()])) > FALSE_ALARM / 7


def test_many_users_are_simulated_at_once():
    """The mean of the columns of 10^12 users, whose variance is at most that of a binomial."""
    rows, rng = np.array([10**12, 0, 2 * 10**12, 5, 0, 0, 0, 10**11]), np.random.default_rng(5)
    drawn = random_columns(rows, rng)
    assert drawn.sum() == rows.sum()
    share = np.where(hadamard(8) > 0, 1 + (np.arange(8)[:, None] > 0), 0) / 8
    assert (np.abs(drawn - rows @ share) < 6 * np.sqrt(rows @ share)).all()


def test_too_large_evidence_is_refused_and_the_tally_suffices():
    mechanism = UtilityOptimizedHadamard(uldp.Domain(1 << 17, range((1 << 17) - 1)), 1.0)
    counts = np.ones(mechanism.output_count, dtype=np.int64)
    tally = uldp.Tally(mechanism, counts.size, counts)
    with pytest.raises(ValueError, match=r"sets of at most 1073741824 bytes together, got 131072"):
        mechanism.evidence(tally)
    assert mechanism.estimate(tally).shape == (1 << 17,)


def test_a_million_sensitive_values():
    """All entries' errors: their mean square to within six standard errors of it (FALSE_ALARM)."""
    s, nu, n = 1_000_000, 1_000, 1_000_000
    mechanism = UtilityOptimizedHadamard(uldp.Domain(s + nu, range(s)), 1.0)
    assert mechanism.output_count == (1 << 20) + nu
    truth = np.full(s + nu, 0.5 / s)
    truth[s:] = 0.5 / nu
    rng = np.random.default_rng(9)
    values = rng.choice(s + nu, size=n, p=truth)
    estimate = mechanism.estimate(mechanism.tally(mechanism.privatize(values, rng)))
    squares = (estimate - truth)[:s] ** 2 * n / mechanism.decoder.variances(truth)[:s]
    assert abs(squares.mean() - 1) < 6 * np.sqrt(2 / s)


def test_columns_with_the_digits_of_a_row_are_even():
    """What a device does: one changed digit makes the column one of its row."""
    for V in (2, 4, 8, 16):
        for row, column in itertools.product(range(1, V), range(V)):
            parity = (row & column).bit_count() % 2
            changed = column ^ parity * (row & -row)
            assert hadamard(V)[row, changed] == 1
