"""Errors, intervals, totals and tests: by enumeration, by exact coverage, by simulation."""

import itertools
import math
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import astuple
from functools import partial

import numpy as np
import pytest
from cases import (
    BY_SUPPORT,
    MECHANISMS,
    all_sizes,
    compositions,
    domains,
    one_size,
    random_distribution,
    rows_of,
)
from scipy import optimize, special, stats

import uldp
from uldp import inference, personalized
from uldp.decoders import SupportDecoder
from uldp.inference import chi_square
from uldp.law import LINEAR
from uldp.losses import total_variance

MOST_REPORTS = 250
CENSUS = uldp.Domain(40, sensitive=range(10))


def all_tallies(
    mechanism: uldp.Mechanism, p: np.ndarray, n: int
) -> Iterator[tuple[float, uldp.Tally]]:
    """The tally of every list of n reports, with its probability; none if they are too many."""
    m, outputs = p @ mechanism.transition_matrix(), mechanism.outputs
    if m.size**n > MOST_REPORTS:
        return
    for reports in itertools.product(np.flatnonzero(m), repeat=n):
        chosen = list(reports)
        yield float(np.prod(m[chosen])), mechanism.tally(outputs[chosen])


def true_covariance(
    mechanism: uldp.Mechanism, p: np.ndarray, method: str = "adjusted"
) -> np.ndarray:
    """Of the row of one report, from the matrix and from estimates of single reports."""
    m = p @ mechanism.transition_matrix()
    rows = rows_of(mechanism, method)
    return rows.T @ (m[:, None] * rows) - np.outer(m @ rows, m @ rows)


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("n", [2, 3])
def test_covariances_are_unbiased_by_enumeration_of_all_reports(make, n, method):
    rng = np.random.default_rng(n)
    checked = 0
    for domain in domains(3):
        mechanism, p = make(domain, 0.9), random_distribution(rng, domain.size)
        found = list(all_tallies(mechanism, p, n))
        if not found:
            continue
        expected = true_covariance(mechanism, p, method) / n
        scale = max(1.0, np.abs(expected).max())
        mean = sum(chance * inference.covariance(tally, method) for chance, tally in found)
        np.testing.assert_allclose(mean, expected, atol=1e-12 * scale)
        errors = np.nan_to_num([inference.standard_errors(tally, method) for _, tally in found])
        squares = errors**2
        assert (squares >= 0).all()
        diagonals = np.array([np.diag(inference.covariance(tally, method)) for _, tally in found])
        negative = diagonals < -1e-12 * scale
        np.testing.assert_allclose(squares[~negative], diagonals[~negative], atol=1e-12 * scale)
        assert not negative.any() or not isinstance(mechanism.decoder_of(method), SupportDecoder)
        checked += 1
    assert checked >= 5


def test_standard_errors_do_not_swing_with_the_sum_of_the_estimate():
    """Where each report is nearly noise: they went from 0.42 to 1.7 times the right ones."""
    rng = np.random.default_rng(16)
    mechanism = uldp.UtilityOptimizedHadamard(uldp.Domain(5, sensitive=range(3)), 0.1)
    p = np.full(5, 0.2)
    true = np.sqrt(mechanism.decoder.variances(p)[:3] / 1_000)
    group = np.array([1.0, 1, 0, 0, 0])
    true_of_group = math.sqrt(total_variance(mechanism, group, p) / 1_000)
    for _ in range(100):
        tally = mechanism.simulate(rng.multinomial(1_000, p), rng)
        errors = inference.standard_errors(tally, "empirical")[:3]
        np.testing.assert_allclose(errors, true, rtol=0.05)
        total = inference.total(tally, group, method="empirical")
        assert total.standard_error == pytest.approx(true_of_group, rel=0.1)


def test_covariances_have_the_closed_forms_that_are_printed():
    domain = uldp.Domain(4, sensitive=[0, 2])
    for make in (uldp.RandomizedResponse, uldp.UtilityOptimizedRR):
        tally = make(domain, 1.0).simulate([10, 20, 30, 40], rng=1)
        gain, m = tally.law.decoder.gain, tally.counts / 100
        expected = np.diag(m) - np.outer(m, m)
        expected /= 99 * np.outer(gain, gain)
        np.testing.assert_allclose(
            inference.covariance(tally, "empirical"), expected, rtol=1e-12, atol=1e-14
        )
    for theta in (None, 0.5, 0.8):
        tally = uldp.UtilityOptimizedRappor(domain, 1.0, theta).simulate([10, 20, 30, 40], rng=1)
        gain, m = tally.law.decoder.gain, tally.counts / 100
        p = tally.law.estimate(tally)
        expected = -np.outer(p, p) / 99
        np.fill_diagonal(expected, m * (1 - m) / (99 * gain**2))
        np.testing.assert_allclose(inference.covariance(tally, "empirical"), expected, rtol=1e-11)


def expected_ends(tally: uldp.Tally, weights: np.ndarray, level: float) -> tuple[float, float]:
    """The interval of a total, from what each single report says of it and the matrix."""
    said = rows_of(tally.law, "adjusted") @ weights
    value = weights @ tally.law.estimate(tally, "adjusted")
    a, b = said.min(), said.max()
    if b - a < 1e-9:
        return value, value
    if np.minimum(said - a, b - said).max() < 1e-9:
        count = round(tally.n * (value - a) / (b - a))
        exact = stats.binomtest(count, tally.n).proportion_ci(level, method="exact")
        return a + (b - a) * exact.low, a + (b - a) * exact.high
    return ends_of_strata([(tally, 1.0)], weights, 1 - level, "adjusted")


def ends_of_strata(
    strata: list[tuple[uldp.Tally, float]], weights: np.ndarray, missed: float, method: str
) -> tuple[float, float]:
    """The score interval of a mean of totals, from tallies and shares of their strata.

    With all reports in one list, each counts for its stratum's share of people over that of
    reports. The mean square is greatest where all but one have the least total that there can be.
    """
    n = sum(tally.n for tally, _ in strata)
    value = at_least = low = high = 0.0
    slopes, jumps = [], []
    for tally, share in strata:
        times = share / (tally.n / n)
        said = rows_of(tally.law, method) @ weights
        squares = tally.law.transition_matrix() @ said**2
        slope = np.polyfit(weights, squares, 1)[0] if np.ptp(weights) else 0.0
        rest = squares - slope * weights
        most = largest_mean(tally, rest, 0.1 * missed / len(strata), method)
        at_least += share * times * (most + slope * weights.min())
        slopes.append(times * slope)
        jumps.append(times * jump_of(tally.law, weights, method))
        value += share * (weights @ tally.law.estimate(tally, method))
        low += share * said.min()
        high += share * said.max()
    steepest = max(slopes)
    constant = at_least - steepest * weights.min()
    ends = score_ends(value, constant, steepest, max(jumps), n, 0.9 * missed)
    return max(low, ends[0]), min(high, ends[1])


def jump_of(mechanism: uldp.Mechanism, weights: np.ndarray, method: str = "adjusted") -> float:
    """The range of what a report says of a total, or under RAPPOR and uRAP of what a bit says."""
    if not isinstance(mechanism, uldp.Rappor | uldp.UtilityOptimizedRappor):
        return np.ptp(rows_of(mechanism, method) @ weights)
    S = mechanism.sensitive if method == "adjusted" else np.array([], dtype=int)
    rest = weights - weights[S].mean() if S.size else weights
    return np.ptp(np.append(0, rest / mechanism.decoder.gain))


def ends_of_share(share: float, n: int, missed: float) -> np.ndarray:
    """Clopper's and Pearson's, of a number of reports that need not be whole."""
    share = min(max(share, 1e-12), 1 - 1e-12)
    low = stats.beta.ppf(missed / 2, n * share, n * (1 - share) + 1)
    return np.array([low, stats.beta.isf(missed / 2, n * share + 1, n * (1 - share))])


def largest_mean(
    tally: uldp.Tally, rest: np.ndarray, missed: float, method: str = "adjusted"
) -> float:
    """The upper limit of Σ rest(x) p(x): the least of three."""
    S = tally.law.sensitive
    start = rest[S].max() if S.size else 0.0
    no_sensitive = np.where(np.isin(np.arange(rest.size), S), 0, rest - start)
    limits = [rest.max()]
    for part in (rest - start, no_sensitive):
        said = rows_of(tally.law, method) @ part
        length = np.ptp(said)
        limits.append(start + said.min())
        if length > 1e-12:
            mean = part @ tally.law.estimate(tally, method)
            limits[-1] += length * ends_of_share((mean - said.min()) / length, tally.n, missed)[1]
    return min(limits)


def score_ends(
    value: float, constant: float, slope: float, jump: float, n: int, missed: float
) -> tuple[float, float]:
    """The farthest t on both sides with a deviation of z √((c + b t - t²)/n) + correction."""
    z = stats.norm.ppf(1 - missed / 2)
    correction = max(1 / 2, (z**2 - 1) / 6) * jump / n
    ends = []
    for sign in (-1, 1):
        nearest = value + sign * correction
        roots = np.roots(
            [1 + z**2 / n, -2 * nearest - z**2 / n * slope, nearest**2 - z**2 / n * constant]
        )
        ends.append(max(sign * nearest, *(sign * roots.real)) * sign)
    return ends[0], ends[1]


def test_totals_are_quadratic_forms_of_the_covariance(make):
    rng = np.random.default_rng(3)
    for domain in domains(4):
        mechanism = make(domain, 1.2)
        tally = mechanism.simulate(rng.integers(50, 100, domain.size), rng)
        covariance, p = inference.covariance(tally), mechanism.estimate(tally, "adjusted")
        scale = np.abs(covariance).max()
        cases = [(rng.normal(size=domain.size), 0.95)]
        group = rng.integers(0, 2, domain.size) * 1.0
        cases += [(group, 0.5), (group, 0.95)]
        for weights, level in cases:
            total = inference.total(tally, weights, level)
            expected = weights @ covariance @ weights
            assert total.standard_error**2 == pytest.approx(expected, abs=1e-11 * scale + 1e-16)
            assert total.value == pytest.approx(weights @ p, abs=1e-12)
            low, high = expected_ends(tally, weights, level)
            assert (total.low, total.high) == pytest.approx((low, high), abs=1e-9)
        for x, error in enumerate(inference.standard_errors(tally)):
            alone = inference.total(tally, np.eye(domain.size)[x])
            assert alone.standard_error == pytest.approx(error, abs=1e-7 * math.sqrt(scale))


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("sizes", [(2, 3), (40, 300), (300, 40)], ids=str)
def test_totals_of_strata_are_those_of_one_list_of_reports(make, sizes, method):
    rng = np.random.default_rng(4)
    for domain in domains(3):
        strata = []
        for n, epsilon, share in zip(sizes, (1.2, 0.5), (0.3, 0.7), strict=True):
            counts = rng.multinomial(n, random_distribution(rng, domain.size))
            strata.append((make(domain, epsilon).simulate(counts, rng), share))
        tallies = dict(enumerate(tally for tally, _ in strata))
        both = inference.stratified(tallies, [share for _, share in strata])
        rows = np.concatenate([rows_of(tally.law, method) for tally, _ in strata])
        weights = rng.normal(size=domain.size)
        # Where all say 1 of everything, the least weight is everybody's.
        base = weights.min() if np.allclose(rows.sum(axis=1), 1) else 0.0
        expected = ends_of_strata(strata, weights - base, 0.05, method)
        found = inference.total(both, weights, method=method)
        assert (found.low - base, found.high - base) == pytest.approx(expected, abs=1e-9)


def test_a_sum_over_everything_has_no_error_where_estimates_sum_to_1():
    domain = uldp.Domain(5, sensitive=[0, 1, 2])
    for name, make in MECHANISMS.items():
        tally = make(domain, 0.1).simulate([5, 10, 15, 20, 25], rng=4)
        papers, ours = (
            inference.total(tally, np.ones(5), method=method)
            for method in ("empirical", "adjusted")
        )
        assert (papers.standard_error < 1e-12) == (not name.startswith(("RAPPOR", "uRAP", "uHR")))
        assert astuple(ours)[:4] == (1, 0, 1, 1)
        assert (papers.method, ours.method) == ("empirical", "adjusted")


def test_a_negative_variance_gives_way_to_that_of_a_distribution():
    """At n = 5 it is not rare; the errors stay real and positive."""
    domain = uldp.Domain(6, sensitive=range(4))
    rng = np.random.default_rng(5)
    weights = np.array([1.0, 1, 1, 1, 0, 0])
    method = "empirical"
    kinds = uldp.Rappor, uldp.UtilityOptimizedRappor
    for make, epsilon in itertools.product(kinds, (1.0, 6.0)):
        mechanism, negative = make(domain, epsilon), 0
        for _ in range(300):
            tally = mechanism.simulate(rng.multinomial(5, np.full(6, 1 / 6)), rng)
            raw = weights @ inference.covariance(tally, method) @ weights
            total = inference.total(tally, weights, method=method)
            q = mechanism.estimate(tally, "norm_sub")
            at_projection = math.sqrt(total_variance(mechanism, weights, q) / 5)
            expected = math.sqrt(raw) if raw >= 0 else at_projection
            assert total.standard_error == pytest.approx(expected)
            negative += raw < 0
        assert 0 < negative < 60


def test_a_negative_variance_of_an_entry_gives_way_too():
    domain = uldp.Domain(4, sensitive=range(4))
    mechanism, negative = all_sizes(domain, 1.0), 0
    for reports in itertools.product(range(mechanism.output_count), repeat=2):
        tally = mechanism.tally(mechanism.outputs[list(reports)])
        diagonal = np.diag(inference.covariance(tally))
        errors = inference.standard_errors(tally)
        q = mechanism.estimate(tally, "norm_sub")
        fallback = mechanism.decoder.variances(q) / 2
        expected = np.where(diagonal < 0, fallback, diagonal)
        np.testing.assert_allclose(errors**2, expected, atol=1e-9)
        negative += int((diagonal < -1e-9).sum())
    assert negative > 0


def test_intervals_are_those_of_clopper_and_pearson():
    """Which cover at least their level; with no support, and with all."""
    intervals = partial(inference.intervals, method="empirical")
    for make in BY_SUPPORT.values():
        mechanism = make(uldp.Domain(4, sensitive=[0, 1]), 1.0)
        decoder = mechanism.decoder
        for counts, level in itertools.product(([0, 7, 0, 13], [0, 20, 0, 0]), (0.8, 0.95)):
            ends = intervals(uldp.Tally(mechanism, 20, counts), level)
            for x, count in enumerate(counts):
                exact = stats.binomtest(count, 20).proportion_ci(level, method="exact")
                expected = np.array([exact.low, exact.high]) - decoder.false_support[x]
                np.testing.assert_allclose(ends[x], expected / decoder.gain[x], rtol=1e-9)
    tally = uldp.Tally(uldp.Rappor(uldp.Domain(4), 1.0), 20, [0, 7, 20, 12])
    ends = intervals(tally, 0.9)
    together = intervals(tally, 0.9, simultaneous=True)
    np.testing.assert_allclose(together, intervals(tally, 1 - 0.1 / 4), rtol=1e-12)
    clipped = intervals(tally, 0.9, clip=True)
    np.testing.assert_array_equal(clipped, np.clip(ends, 0, 1))
    assert ends[0, 1] < 0
    assert ends[2, 0] > 1


def entries_to_the_corners(domain: uldp.Domain, x: int, n: int) -> Iterator[np.ndarray]:
    """Distributions that are uniform but for x within both classes, with shares down to 1/(4n)."""
    own_class = domain.sensitive if x in domain.sensitive else domain.nonsensitive
    fellows = np.setdiff1d(own_class, x)
    foreign = np.setdiff1d(np.arange(domain.size), own_class)
    masses = {0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1, 1 / (4 * n), 1 / n, 1 - 1 / n}
    for mass, own in itertools.product(sorted(masses), repeat=2):
        if own > mass or (mass < 1 and not foreign.size) or (own < mass and not fellows.size):
            continue
        p = np.zeros(domain.size)
        p[x] = own
        p[fellows] = (mass - own) / max(fellows.size, 1)
        p[foreign] = (1 - mass) / max(foreign.size, 1)
        yield p


def coverages_of_entries(
    mechanism: uldp.Mechanism, n: int, method: str, level: float = 0.95
) -> dict[tuple[float, float], float]:
    """How often intervals hold p(x), by the law of all reports; x is the first of X_S or X_N.

    The keys are p(x) and the mass of its class.
    """
    domain, Q = mechanism.domain, mechanism.transition_matrix()
    found = compositions(n, len(mechanism.outputs))
    tallies = [mechanism.tally(np.repeat(mechanism.outputs, c, axis=0)) for c in found]
    ends = np.array([inference.intervals(tally, level, method=method) for tally in tallies])
    ways = special.gammaln(n + 1) - special.gammaln(found + 1).sum(axis=1)
    held = {}
    for members in filter(np.size, (domain.sensitive, domain.nonsensitive)):
        x = members[0]
        for p in entries_to_the_corners(domain, x, n):
            chances = np.exp(ways + special.xlogy(found, p @ Q).sum(axis=1))
            low, high = ends[:, x].T
            at = round(p[x], 9), round(p[members].sum(), 9)
            covered = chances @ ((low - 1e-9 <= p[x]) & (p[x] <= high + 1e-9))
            held[at] = min(covered, held.get(at, 1.0))
    return held


def block_design(d: int):
    return lambda domain, epsilon: uldp.UtilityOptimizedBlockDesign(domain, epsilon, d)


OF_SETS = {
    "uHR, 2 of 3": (uldp.UtilityOptimizedHadamard, 3, 2, (1, 2, 6)),
    "uHR, 3 of 4": (uldp.UtilityOptimizedHadamard, 4, 3, (1, 3)),
    "sets of 2, 3 of 4": (block_design(2), 4, 3, (1, 2, 6, 10)),
    "sets of 3, 4 of 5": (block_design(3), 5, 4, (1, 2, 5)),
    "sets of 1 and 2, of 2 of 3": (uldp.UtilityOptimizedBlockDesign, 3, 2, (1, 2, 6, 10)),
}


@pytest.mark.parametrize("name", OF_SETS)
def test_intervals_of_sets_and_columns_cover_what_is_stated(name):
    """Exact, by all tallies; 1.0.0 held 10% at n = 1, and 46% at n = 6, under uHR."""
    make, k, s, sizes = OF_SETS[name]
    for epsilon, n in itertools.product((0.1, 3, 8), sizes):
        held = coverages_of_entries(make(uldp.Domain(k, range(s)), epsilon), n, "empirical")
        assert min(held.values()) >= (0.948 if n == 1 else 0.95)
        if (name, epsilon, n) == ("uHR, 2 of 3", 3, 1):
            assert held[0.99, 1.0] == pytest.approx(0.94805, abs=5e-6)


def ends_of_all_counts(
    mechanism: uldp.Mechanism,
    n: int,
    weights: np.ndarray,
    level: float,
    method: str = "adjusted",
) -> tuple[np.ndarray, np.ndarray]:
    """How often each output comes in n reports, all possibilities, and the interval of a total."""
    found = compositions(n, len(mechanism.outputs))
    tallies = (mechanism.tally(np.repeat(mechanism.outputs, c, axis=0)) for c in found)
    totals = [inference.total(tally, weights, level, method) for tally in tallies]
    return found, np.array([(total.low, total.high) for total in totals])


def coverage_of_ends(
    mechanism: uldp.Mechanism,
    found: np.ndarray,
    ends: np.ndarray,
    weights: np.ndarray,
    p: np.ndarray,
) -> float:
    """The probability that the interval holds the total, by the multinomial law."""
    chances = stats.multinomial.pmf(found, found[0].sum(), p @ mechanism.transition_matrix())
    slack = 1e-9 * np.abs(ends).max()
    return chances @ ((ends[:, 0] <= weights @ p + slack) & (weights @ p - slack <= ends[:, 1]))


def test_other_totals_cover_their_level_from_few_reports(make):
    """Exact, over all tallies of 2 and 4 reports; 1.0.0 held 78% of the totals only."""
    rng = np.random.default_rng(31)
    distributions = [*np.eye(3), *rng.dirichlet(np.full(3, 0.3), 40)]
    for sensitive in ([0], [0, 1, 2]):
        mechanism = make(uldp.Domain(3, sensitive), 1.0)
        for n in (2, 4) if len(mechanism.outputs) < 8 else (2,):
            for weights in np.array([[0, 1, 2], [1e-9, 1, 0], [1, -1, 0]]):
                found, ends = ends_of_all_counts(mechanism, n, weights, 0.95)
                for p in distributions:
                    assert coverage_of_ends(mechanism, found, ends, weights, p) >= 0.95


def beside_every_end(ends: np.ndarray, weights: np.ndarray) -> Iterator[np.ndarray]:
    """Distributions between two values whose total lies just beside an end."""
    vertices = np.eye(weights.size)
    pairs = itertools.combinations(vertices, 2)
    for (one, other), end, side in itertools.product(pairs, np.unique(ends), (-1e-8, 1e-8)):
        share = (end + side - weights @ one) / (weights @ (other - one))
        if 0 <= share <= 1:
            yield one + share * (other - one)


@pytest.mark.parametrize("method", LINEAR)
def test_the_smallest_coverage_of_totals_is_where_it_is_stated(make, method):
    """Exact; 94.98% of two reports with one of three values sensitive, else 95% and more.

    Enumerated before: 2 to 4 values, ε from 0.1 to 8, 2 to 6 reports (4 values: 2 to 4), groups,
    scores, squares and contrasts, p at random, at the corners, and beside each end of an interval.
    """
    scores = np.array([0.0, 1, 2])
    for s, epsilon, n, least in ((1, 0.5, 2, 0.9498), (1, 0.5, 3, 0.9503), (2, 8.0, 2, 0.95)):
        mechanism = make(uldp.Domain(3, range(s)), epsilon)
        found, ends = ends_of_all_counts(mechanism, n, scores, 0.95, method)
        held = [
            coverage_of_ends(mechanism, found, ends, scores, p)
            for p in beside_every_end(ends.round(12), scores)
        ]
        assert min(held, default=1) >= least
        if make is uldp.UtilityOptimizedRR and n == 2 and s == 1:
            assert min(held) == pytest.approx(0.94984, abs=5e-6)


def test_the_smallest_coverage_of_adjusted_entries_is_where_it_is_stated():
    """Exact, beside every end: of one report under RAPPOR and uRAP, and more from two on.

    Enumerated before: 2 to 4 values, ε from 0.1 to 8, up to 6 reports (4 values: 4).
    """
    for name, n in itertools.product(("RAPPOR", "uRAP", "uHR"), (1, 2, 4)):
        mechanism = MECHANISMS[name](uldp.Domain(2, [0, 1]), 8.0)
        found = compositions(n, len(mechanism.outputs))
        tallies = (mechanism.tally(np.repeat(mechanism.outputs, c, axis=0)) for c in found)
        ends = np.array([inference.intervals(tally)[0] for tally in tallies])
        first = np.array([1.0, 0])
        held = [
            coverage_of_ends(mechanism, found, ends, first, p)
            for p in beside_every_end(ends.round(12), first)
        ]
        assert min(held, default=1) >= (0.957 if n == 1 else 0.965)
        if name != "uHR" and n == 1:
            assert min(held) == pytest.approx(0.95773, abs=5e-6)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_equal_reports_and_a_missed_total_come_with_at_most_the_promised_probability(make, level):
    """What is proved for every n and p; RAPPOR's bits and uHR's columns never lack noise."""
    rng = np.random.default_rng(32)
    for domain in domains(4):
        mechanism = make(domain, 1.5)
        noisy = isinstance(mechanism, uldp.UtilityOptimizedRappor | uldp.UtilityOptimizedHadamard)
        Q, rows, n = (
            mechanism.transition_matrix(),
            rows_of(mechanism, "adjusted"),
            int(rng.integers(2, 12)),
        )
        weights = rng.integers(-2, 4, domain.size) * 1.0
        weights[mechanism.sensitive] *= not noisy
        said = rows @ weights
        of_equal = [
            inference.total(mechanism.tally(np.stack([y] * n)), weights, level)
            for y in mechanism.outputs
        ]
        for p in [*np.eye(domain.size), *rng.dirichlet(np.full(domain.size, 0.3), 30)]:
            truth, missed = weights @ p, 0.0
            for z in np.unique(said.round(9)):
                where = np.abs(said - z) < 1e-8
                total = of_equal[np.flatnonzero(where)[0]]
                slack = 1e-9 * (1 + abs(truth))
                outside = not total.low - slack <= truth <= total.high + slack
                missed += outside * (p @ Q)[where].sum() ** n
            assert missed <= 1 - level + 1e-9


def entry_ends(tally: uldp.Tally, x: int, level: float) -> tuple[float, float]:
    """The score interval of an entry, with the largest mean square that the revealed leave open."""
    law, missed = tally.law, 1 - level
    rows = rows_of(law, "adjusted")
    squares = law.transition_matrix() @ rows[:, x] ** 2
    value = law.estimate(tally, "adjusted")
    in_N = np.isin(np.arange(value.size), law.nonsensitive)
    least, length = (rows @ in_N).min(), np.ptp(rows @ in_N)
    share = (value @ in_N - least) / length
    mass_N = np.clip(least + length * ends_of_share(share, tally.n, 0.2 * missed), 0, 1)
    of_S, of_N = (np.delete(squares, x)[np.delete(part, x)].max() for part in (~in_N, in_N))
    # What is in the class of x has the slope of p(x) taken off.
    most = ((1 - mass_N) * of_S + mass_N * of_N).max()
    slope = squares[x] - (of_N if in_N[x] else of_S)
    jump = jump_of(law, np.eye(value.size)[x])
    low, high = score_ends(value[x], most, slope, jump, tally.n, 0.9 * missed)
    return max(rows[:, x].min(), low), min(rows[:, x].max(), high)


def test_the_interval_of_an_entry_is_that_of_its_total_or_a_score(make):
    """Block designs of one size have two values for those of X_N, and for all if it is empty."""
    of_sets = 0
    for domain in domains(4):
        mechanism = make(domain, 1.0)
        many = mechanism.simulate(np.arange(domain.size) * 3 + 2, rng=33)
        two_reports = mechanism.tally(np.stack([mechanism.outputs[-1]] * 2))
        both_have_fellows = min(mechanism.sensitive.size, mechanism.nonsensitive.size) > 1
        for x, said in enumerate(rows_of(mechanism, "adjusted").T):
            two = np.unique(said.round(9)).size == 2
            for tally in (many, two_reports):
                ends = tuple(inference.intervals(tally, 0.9)[x])
                if two:
                    alone = inference.total(tally, np.eye(domain.size)[x], 0.9)
                    assert (alone.low, alone.high) == pytest.approx(ends, abs=1e-9)
                elif both_have_fellows:
                    assert entry_ends(tally, x, 0.9) == pytest.approx(ends, abs=1e-9)
            sets = isinstance(mechanism, uldp.UtilityOptimizedBlockDesign)
            one_size = sets and mechanism.tally_shape == (domain.size,)
            of_sets += sets and two
            if one_size and domain.size > 1:
                assert two or (x in domain.sensitive and domain.nonsensitive.size)
    assert of_sets or make in [*BY_SUPPORT.values(), uldp.UtilityOptimizedHadamard]


def test_what_nobody_has_revealed_may_still_be_there():
    """The defect that this mends: an interval from 0 to 0 for values that none of 30 revealed."""
    domain = uldp.Domain(5, sensitive=[0])
    for make in (
        uldp.UtilityOptimizedRR,
        uldp.UtilityOptimizedRappor,
        uldp.UtilityOptimizedBlockDesign,
    ):
        mechanism = make(domain, 0.1)
        tally = mechanism.tally(mechanism.outputs[mechanism.protected][:1].repeat(30, axis=0))
        shown = mechanism.revealed_share
        for weights in ([0, 0, 1, 1, 0], [0, 0, 1, 2, 0]):
            total = inference.total(tally, weights)
            assert total.value == 0
            assert math.isnan(total.standard_error)
            assert total.low == pytest.approx(0, abs=1e-12)
            equal = max(weights) * (1 - 0.025 ** (1 / 30)) / shown
            assert equal * (1 - 1e-9) <= total.high < 1.6 * equal
        none = inference.difference(tally, tally, [0, 0, 1, 1, 0])
        assert none.low == pytest.approx(-none.high)
        assert none.high == pytest.approx((1 - 0.025 ** (1 / 30)) / shown)


def test_two_reports_are_enough_for_a_change():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0]), 1.0)
    two = mechanism.tally([0, 1])
    assert inference.difference(two, two, [0, 0, 1]).value == 0
    assert inference.difference(two, two).high[2] > 0


def test_a_total_scales_with_its_weights(make):
    """However large or small they are; where estimates sum to 1, a constant is only added."""
    rng = np.random.default_rng(34)
    for domain in domains(4):
        tally = make(domain, 1.0).simulate(rng.integers(1, 9, domain.size) + 1, rng)
        weights = rng.normal(size=domain.size)
        total = np.array([*astuple(inference.total(tally, weights))[:4]])
        for factor in (1e-200, 3.0, 1e200):
            found = np.array([*astuple(inference.total(tally, factor * weights))[:4]])
            np.testing.assert_allclose(found / factor, total, rtol=1e-9, atol=1e-12)
        turned = inference.total(tally, -weights)
        assert (-turned.high, -turned.low) == pytest.approx(tuple(total[2:]), abs=1e-12)
        if tally.law.decoder.sums_to_one:
            moved = np.array([*astuple(inference.total(tally, weights + 1e6))[:4]])
            np.testing.assert_allclose(moved - [1e6, 0, 1e6, 1e6], total, atol=1e-7)
            same = inference.total(tally, np.full(domain.size, 0.3))
            assert astuple(same) == (0.3, 0, 0.3, 0.3, "adjusted")
        nothing = inference.total(tally, np.zeros(domain.size))
        assert astuple(nothing)[:4] == (0, 0, 0, 0)


@pytest.mark.parametrize("sizes", [(4, 4), (3, 12), (15, 15)])
def test_changes_of_groups_cover_nearly_their_level(sizes):
    """Exact, over the counts of both surveys; square and add has no guarantee, but loses little."""
    domain = uldp.Domain(3, sensitive=[0])
    laws = uldp.UtilityOptimizedRR(domain, 1.0), uldp.UtilityOptimizedRappor(domain, 2.0)
    weights = np.array([0.0, 0.0, 1.0])
    tallies = [
        [uldp.Tally(law, n, [n - c if law.decoder.names_one else 0, 0, c]) for c in range(n + 1)]
        for law, n in zip(laws, sizes, strict=True)
    ]
    pairs = [[inference.difference(t, u, weights) for u in tallies[1]] for t in tallies[0]]
    for p, q in itertools.product(np.linspace(0, 1, 21), repeat=2):
        chances = [
            stats.binom.pmf(np.arange(n + 1), n, law.decoder.gain[2] * share)
            for law, n, share in zip(laws, sizes, (p, q), strict=True)
        ]
        held = [[d.low - 1e-9 <= q - p <= d.high + 1e-9 for d in row] for row in pairs]
        assert chances[0] @ np.array(held) @ chances[1] >= 0.95


def test_a_change_of_two_true_counts_is_held_by_92_51_percent_or_more():
    """Exact, and attained; true counts are RR at a large ε; 1.0.0 held 91.8% from two reports."""
    domain, weights = uldp.Domain(2, [0, 1]), np.array([1.0, 0])
    mechanism, shares = uldp.RandomizedResponse(domain, 300.0), np.linspace(0, 1, 101)
    for n in (2, 3, 4):
        tallies = [uldp.Tally(mechanism, n, [c, n - c]) for c in range(n + 1)]
        changes = [[inference.difference(t, u, weights) for u in tallies] for t in tallies]
        low, high = (
            np.array([[getattr(d, end) for d in row] for row in changes]) for end in ("low", "high")
        )
        chances = stats.binom.pmf(np.arange(n + 1), n, shares[:, None])
        held = {
            (p, q): chances[i] @ ((low - 1e-9 <= q - p) & (q - p <= high + 1e-9)) @ chances[j]
            for (i, p), (j, q) in itertools.product(enumerate(shares), repeat=2)
        }
        assert min(held.values()) >= 0.9251
        if n == 3:
            assert held[shares[10], shares[90]] == pytest.approx(0.9251, abs=1e-4)


def test_the_smallest_coverage_of_changes_between_two_levels_is_attained():
    """Exact, over the counts of one of three values in both surveys.

    Enumerated before: pairs of binomial counts, shares in steps of 1%, scales from 1/20 to 20 times
    each other, and surveys of three values, ε from 0.1 to 8; 96% with two reports in one survey.
    """
    laws = [uldp.RandomizedResponse(uldp.Domain(3), epsilon) for epsilon in (5.0, 7.0)]
    shares, counts = (0.91, 0.105), np.arange(4)
    before, after = ([uldp.Tally(law, 3, [c, 3 - c, 0]) for c in counts] for law in laws)
    changes = [[inference.difference(t, u) for u in after] for t in before]
    held = [[c.low[0] <= shares[1] - shares[0] <= c.high[0] for c in row] for row in changes]
    chances = [
        stats.binom.pmf(counts, 3, law.decoder.false_support[0] + law.decoder.gain[0] * share)
        for law, share in zip(laws, shares, strict=True)
    ]
    assert chances[0] @ np.array(held) @ chances[1] == pytest.approx(0.92024, abs=1e-5)


def test_an_adjusted_change_of_two_bits_is_held_by_92_26_percent():
    """Exact, over all counts of both surveys; less is known of two levels of RR alone."""
    mechanism, n = uldp.Rappor(uldp.Domain(2), 12.0), 5
    pairs = [*itertools.product(range(n + 1), repeat=2)]
    tallies = [uldp.Tally(mechanism, n, pair) for pair in pairs]
    found = compositions(n, 4)
    each = [mechanism.tally(y[None]).counts for y in mechanism.outputs]
    counted = [pairs.index(tuple(counts)) for counts in (found @ each).tolist()]
    shares, chances = (0.075, 0.95), []
    for p in shares:
        law = stats.multinomial.pmf(found, n, [p, 1 - p] @ mechanism.transition_matrix())
        chances.append(np.bincount(counted, law, len(pairs)))
    held = np.empty((len(pairs), len(pairs)))
    for (i, before), (j, after) in itertools.product(enumerate(tallies), repeat=2):
        change = inference.difference(before, after, [1, 0])
        held[i, j] = change.low <= shares[1] - shares[0] <= change.high
    assert chances[0] @ held @ chances[1] == pytest.approx(0.92259, abs=1e-5)


@pytest.mark.parametrize("name", ["RR", "RAPPOR", "uRR", "uRAP", "uBD"])
def test_simulated_coverage_of_totals_bands_and_changes(name):
    """400 surveys: a right 95% would fall outside in 1 of 10^5 seeds (4.4 standard deviations)."""
    rng = np.random.default_rng(7)
    mechanism = uldp.mechanisms.MECHANISMS[name](CENSUS, 1.0)
    p = rng.dirichlet(np.ones(40))
    weights = (np.arange(40) % 3 == 0) * 1.0
    held = np.zeros(4, dtype=int)
    for _ in range(400):
        first, second = (mechanism.simulate(rng.multinomial(4_000, p), rng) for _ in range(2))
        total = inference.total(first, weights)
        change = inference.difference(first, second, weights)
        band = inference.intervals(first, simultaneous=True)
        changes = inference.difference(first, second, simultaneous=True)
        held += [
            total.low <= weights @ p <= total.high,
            change.low <= 0 <= change.high,
            ((band[:, 0] <= p) & (p <= band[:, 1])).all(),
            ((changes.low <= 0) & (changes.high >= 0)).all(),
        ]
    deviation = 4.4 * math.sqrt(400 * 0.05 * 0.95)
    assert (np.abs(held[:2] - 380) <= deviation).all()
    assert (held[2:] >= 380 - deviation).all()


def test_differences_add_variances_and_squares_of_reaches():
    domain = uldp.Domain(4, sensitive=[0, 1])
    before = uldp.UtilityOptimizedRR(domain, 1.0).simulate([20, 30, 0, 40], rng=8)
    after = uldp.Rappor(domain, 2.0).simulate([30, 30, 20, 40], rng=8)
    weights = np.array([1.0, 2, 0, -1])
    first, second = (inference.total(tally, weights) for tally in (before, after))
    change = inference.difference(before, after, weights)
    assert change.value == second.value - first.value
    both = math.hypot(first.standard_error, second.standard_error)
    assert change.standard_error == pytest.approx(both)
    each = inference.difference(before, after, confidence=0.9, simultaneous=True)
    p, q = (tally.estimate("adjusted") for tally in (before, after))
    (l1, u1), (l2, u2) = (
        inference.intervals(tally, 0.9, simultaneous=True).T for tally in (before, after)
    )
    np.testing.assert_allclose(each.estimate, q - p)
    np.testing.assert_allclose(each.low, q - p - np.sqrt((q - l2) ** 2 + (u1 - p) ** 2))
    np.testing.assert_allclose(each.high, q - p + np.sqrt((u2 - q) ** 2 + (p - l1) ** 2))
    squares = [inference.standard_errors(tally) ** 2 for tally in (before, after)]
    np.testing.assert_allclose(each.standard_error**2, np.nan_to_num(squares).sum(axis=0))
    assert before.counts[2] == 0
    assert each.low[2] < each.estimate[2] < each.high[2]


@pytest.mark.parametrize("n", [1, 2])
def test_the_mean_of_goodness_of_fit_is_its_degrees_of_freedom(make, n):
    """E n (p̂ - p)ᵀ Σ⁺ (p̂ - p) = tr Σ⁺Σ, by enumeration."""
    rng = np.random.default_rng(10)
    for domain in domains(3):
        mechanism, p = make(domain, 1.1), random_distribution(rng, domain.size)
        results = [(c, inference.goodness_of_fit(t, p)) for c, t in all_tallies(mechanism, p, n)]
        if not results:
            continue
        expected = true_covariance(mechanism, p, "empirical")
        scale = np.sqrt(np.maximum(np.diag(expected), 1e-300))
        correlation = expected / np.outer(scale, scale)
        rank = int((np.linalg.eigvalsh(correlation) > 1e-9).sum())
        assert {result.degrees_of_freedom for _, result in results} == {rank}
        mean = sum(chance * result.statistic for chance, result in results)
        assert mean == pytest.approx(rank, abs=1e-7)


def test_for_randomized_response_the_tests_are_pearsons():
    domain = uldp.Domain(5, sensitive=[0, 1])
    for make in (uldp.RandomizedResponse, uldp.UtilityOptimizedRR):
        mechanism = make(domain, 1.0)
        tallies = [mechanism.simulate([30, 20, 40, 10, 50], rng=seed) for seed in (1, 2, 3)]
        table = np.array([tally.counts for tally in tallies])
        pearson = stats.chi2_contingency(table, correction=False)
        found = inference.homogeneity(*tallies)
        assert found.statistic == pytest.approx(pearson.statistic)
        assert found.degrees_of_freedom == pearson.dof
        assert found.pvalue == pytest.approx(pearson.pvalue)
        p = np.array([0.2, 0.2, 0.2, 0.1, 0.3])
        expected = 150 * (p @ mechanism.transition_matrix())
        chi = stats.chisquare(table[0], expected)
        fit = inference.goodness_of_fit(tallies[0], p)
        assert fit.statistic == pytest.approx(chi.statistic)
        assert fit.pvalue == pytest.approx(chi.pvalue)
        assert fit.degrees_of_freedom == 4


def common(tallies: list[uldp.Tally]) -> np.ndarray:
    """The distribution at which mechanisms are compared if each value has an estimate."""
    k = tallies[0].law.domain.size
    whole = {tally.law: sum(t for t in tallies if t.law == tally.law) for tally in tallies}
    weighted, weight = np.zeros((2, k))
    for law, tally in whole.items():
        precision = tally.n / law.decoder.variances(np.full(k, 1 / k))
        weighted += precision * law.estimate(tally)
        weight += precision
    mean = weighted / weight
    shift = optimize.brentq(lambda c: np.maximum(mean - c, 0).sum() - 1, mean.min() - 1, mean.max())
    n = sum(tally.n for tally in tallies)
    return (n * np.maximum(mean - shift, 0) + 0.5) / (n + k / 2)


def stacked(tallies: list[uldp.Tally]) -> tuple[float, int]:
    """The statistic of homogeneity by the pseudoinverse of the covariance of all differences."""
    laws = [tally.law for tally in tallies]
    points = [common(tallies)]
    if len(set(laws)) == 1:
        points = [laws[0].estimate(sum(tallies), "adjusted"), *points]
    for p in points:
        each = [law.second_moment(p) - np.outer(p, p) for law in laws]
        if min(np.linalg.eigvalsh(one)[0] for one in each) > -1e-9:
            break
    each = [one / tally.n for one, tally in zip(each, tallies, strict=True)]
    k, others = len(each[0]), len(tallies) - 1
    covariance = np.zeros((others * k, others * k))
    for i, j in itertools.product(range(others), repeat=2):
        block = each[0] + (each[i + 1] if i == j else 0)
        covariance[i * k : (i + 1) * k, j * k : (j + 1) * k] = block
    estimates = [tally.law.estimate(tally) for tally in tallies]
    d = np.concatenate([p - estimates[0] for p in estimates[1:]])
    inverse = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
    return float(d @ inverse @ d), int(np.linalg.matrix_rank(covariance, tol=1e-12, hermitian=True))


def test_homogeneity_across_mechanisms_is_a_quadratic_form():
    rng = np.random.default_rng(11)
    domain = uldp.Domain(4, sensitive=[0, 2])
    for names in itertools.product(["RR", "RAPPOR", "uRR", "uRAP", "uBD"], repeat=3):
        tallies = [
            MECHANISMS[name](domain, 1.0 + (i == 2)).simulate([300, 200, 400, 100], rng)
            for i, name in enumerate(names)
        ]
        for some in (tallies[:2], tallies):
            statistic, rank = stacked(some)
            found = inference.homogeneity(*some)
            assert found.degrees_of_freedom == rank
            assert found.statistic == pytest.approx(statistic, rel=1e-6)
            assert found.pvalue == pytest.approx(stats.chi2.sf(statistic, rank), rel=1e-5)


@pytest.mark.parametrize(
    "names", [("uRR", "uRR"), ("uRAP", "uRAP"), ("uBD", "uRR"), ("RR", "uRAP")]
)
def test_false_alarms_and_power_of_the_tests(names):
    """500 surveys at 5%: right ones fall outside in 1 of 10^4 seeds; 10 points of change show."""
    rng = np.random.default_rng(12)
    domain = uldp.Domain(8, sensitive=range(3))
    first, second = (MECHANISMS[name](domain, 2.0) for name in names)
    p = np.array([0.2, 0.1, 0.1, 0.2, 0.1, 0.1, 0.1, 0.1])
    q = p + np.array([0.1, 0, 0, -0.1, 0, 0, 0, 0])
    alarms = np.zeros(3, dtype=int)
    for _ in range(500):
        before, same, other = (
            m.simulate(rng.multinomial(2_000, r), rng)
            for m, r in ((first, p), (second, p), (second, q))
        )
        alarms += [
            inference.homogeneity(before, same).pvalue < 0.05,
            inference.goodness_of_fit(before, p).pvalue < 0.05,
            inference.homogeneity(before, other).pvalue < 0.05,
        ]
    assert (np.abs(alarms[:2] - 25) <= 3.9 * math.sqrt(500 * 0.05 * 0.95)).all()
    assert alarms[2] > 350


def test_false_alarms_of_two_mechanisms_from_few_reports():
    """At 5%, 400 surveys, a seed in 10^4 above; 36% where each has its own estimate's covariance.

    Projected and widened by half a user, what all reports say together is a distribution.
    """
    rng = np.random.default_rng(13)
    domain = uldp.Domain(12, sensitive=[0])
    p = np.array([0.5, *np.full(11, 0.5 / 11)])
    laws = uldp.RandomizedResponse(domain, 1.5), uldp.UtilityOptimizedRappor(domain, 1.5)
    alarms = 0
    for _ in range(400):
        tallies = [
            law.simulate(rng.multinomial(n, p), rng) for law, n in zip(laws, (40, 60), strict=True)
        ]
        alarms += inference.homogeneity(*tallies).pvalue < 0.05
    assert alarms <= 20 + 3.9 * math.sqrt(400 * 0.05 * 0.95)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_false_alarms_where_estimates_do_not_sum_to_1(epsilon):
    """400 pairs at 5%, a seed in 10^4 outside; 63 at ε = 0.2 by the covariance at another sum."""
    rng = np.random.default_rng(15)
    mechanism = uldp.UtilityOptimizedHadamard(uldp.Domain(10, sensitive=range(7)), epsilon)
    alarms = 0
    for _ in range(400):
        users = rng.multinomial(500, np.full(10, 0.1), 2)
        first, second = (mechanism.simulate(counts, rng) for counts in users)
        alarms += inference.homogeneity(first, second).pvalue < 0.05
    assert abs(alarms - 20) <= 3.9 * math.sqrt(400 * 0.05 * 0.95)


def test_values_that_nobody_reports_add_no_degree_of_freedom():
    """None of 30 and 40 users has revealed the last two of five: three numbers are compared."""
    domain = uldp.Domain(5, sensitive=[0, 1])
    first, second = uldp.UtilityOptimizedRR(domain, 1.0), uldp.UtilityOptimizedRappor(domain, 1.0)
    tallies = [uldp.Tally(first, 30, [9, 15, 6, 0, 0]), uldp.Tally(second, 40, [20, 25, 5, 0, 0])]
    assert inference.homogeneity(*tallies).degrees_of_freedom == 3
    tallies = [uldp.Tally(first, 30, [9, 15, 6, 0, 0]), uldp.Tally(second, 40, [20, 25, 5, 1, 0])]
    assert inference.homogeneity(*tallies).degrees_of_freedom == 4


def test_values_that_nobody_holds_add_no_degree_of_freedom_to_block_designs():
    """400 pairs at 5%, a seed in 10^4 outside; five of the nine values of X_N are nobody's.

    With sizes mixed their estimates are not 0 but one number: eight that sum to 1 are compared.
    """
    rng = np.random.default_rng(14)
    domain = uldp.Domain(12, sensitive=range(3))
    p, q = np.zeros((2, 12))
    p[:7], q[:7] = [0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1], [0.1, 0.2, 0.1, 0.1, 0.2, 0.1, 0.2]
    mixed = uldp.UtilityOptimizedBlockDesign(domain, 1.0, {1: 0.5, 2: 0.5})
    others = (
        mixed,
        uldp.UtilityOptimizedBlockDesign(domain, 2.0),
        uldp.UtilityOptimizedRR(domain, 2),
    )
    for other in others:
        alarms = found = 0
        for _ in range(400):
            before, same, changed = (
                law.simulate(rng.multinomial(1_000, r), rng)
                for law, r in ((mixed, p), (other, p), (other, q))
            )
            result = inference.homogeneity(before, same)
            assert result.degrees_of_freedom == 7
            alarms += result.pvalue < 0.05
            found += inference.homogeneity(before, changed).pvalue < 0.05
        assert abs(alarms - 20) <= 3.9 * math.sqrt(400 * 0.05 * 0.95)
        assert found > 380


def test_homogeneity_of_few_reports_is_taken_at_a_covariance():
    """The first estimates have none here: three reports of four are the same."""
    domain = uldp.Domain(4, sensitive=range(4))
    for make in (uldp.Rappor, all_sizes, one_size):
        mechanism = make(domain, 2.0)
        tallies = [mechanism.tally(mechanism.outputs[chosen]) for chosen in ([0, 0], [0, 1])]
        whole = tallies[0] + tallies[1]
        p = mechanism.estimate(whole)
        assert np.linalg.eigvalsh(mechanism.second_moment(p) - np.outer(p, p))[0] < -1e-6
        statistic, rank = stacked(tallies)
        found = inference.homogeneity(*tallies)
        assert found.degrees_of_freedom == rank
        assert found.statistic == pytest.approx(statistic, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, math.log(3), 2.0])
def test_homogeneity_where_the_estimate_of_all_has_no_variance(epsilon):
    """Half of all reports name the first value, with the root of the chance 1/4 to name one.

    What names one moves the estimate by T, so that M - p² is T²/4 - (T/2)² = 0.
    """
    domain = uldp.Domain(2, sensitive=[0, 1])
    mechanism = uldp.UtilityOptimizedBlockDesign(domain, epsilon, {1: 0.25, 2: 0.75})
    tallies = [mechanism.tally([[1]] * first + [[3]] * (4 - first)) for first in (3, 1)]
    together = mechanism.estimate(tallies[0] + tallies[1])
    assert np.abs(mechanism.decoder.variances(together)).max() < 1e-12
    variance = mechanism.decoder.variances(common(tallies))[0] / 2
    first, second = (mechanism.estimate(tally)[0] for tally in tallies)
    found = inference.homogeneity(*tallies)
    assert found.statistic == pytest.approx((first - second) ** 2 / variance)
    assert found.degrees_of_freedom == 1


def test_homogeneity_of_few_reports_is_finite():
    """Two reports against one: every pair of tallies is possible under some common p."""
    for name, make in MECHANISMS.items():
        for domain in (uldp.Domain(1), uldp.Domain(3, [0]), uldp.Domain(3, [0, 1]), uldp.Domain(2)):
            mechanism = make(domain, 1.0)
            outputs = mechanism.outputs[:6]
            singles = [mechanism.tally(y[None]) for y in outputs]
            for one, two, three in itertools.product(singles, repeat=3):
                found = inference.homogeneity(one + two, three)
                assert 0 <= found.statistic < math.inf, name
                assert 0 <= found.pvalue <= 1


def test_homogeneity_passes_over_an_estimate_that_is_no_distribution():
    """There the form would be no covariance, and one degree of freedom would be missed."""
    mechanism = uldp.Rappor(uldp.Domain(4), 1.0)
    tallies = [uldp.Tally(mechanism, 3, counts) for counts in ([0, 1, 1, 1], [0, 1, 2, 1])]
    assert inference.homogeneity(*tallies).degrees_of_freedom == 4


def test_what_cannot_be_is_refused_with_certainty():
    domain = uldp.Domain(4, sensitive=[0, 1])
    p = np.array([0.5, 0.3, 0.2, 0.0])
    for make in (uldp.UtilityOptimizedRR, uldp.UtilityOptimizedRappor, one_size):
        mechanism = make(domain, 1.0)
        revealing = mechanism.outputs[~mechanism.protected][-1:]
        tally = mechanism.tally(revealing)
        assert mechanism.estimate(tally)[3] > 0
        found = inference.goodness_of_fit(tally, p)
        assert found.pvalue == 0
        assert found.statistic == math.inf
        covariance = true_covariance(mechanism, p, "empirical")
        rank = np.linalg.matrix_rank(covariance, tol=1e-9, hermitian=True)
        assert found.degrees_of_freedom == rank


@pytest.mark.parametrize("epsilon", [20, 28, 35, 42, 60, 120])
def test_fits_to_one_value_at_a_large_epsilon(epsilon):
    """All reports name it: that fits. A report in a thousand does not: that cannot be noise."""
    for make, k in itertools.product((uldp.RandomizedResponse, uldp.Rappor), (2, 3)):
        mechanism, p = make(uldp.Domain(k), float(epsilon)), np.eye(k)[0]
        counts = np.array([1_000, 0, 0])[:k]
        assert inference.goodness_of_fit(uldp.Tally(mechanism, 1_000, counts), p).pvalue > 0.9
        counts[:2] += [-1, mechanism.decoder.names_one]
        assert inference.goodness_of_fit(uldp.Tally(mechanism, 1_000, counts), p).pvalue < 0.01


def test_so_many_times_the_reports_say_so_much_more(make):
    """The same shares of 10^9 times as many reports: the statistics are 10^9 times as large."""
    domain = uldp.Domain(5, sensitive=[0, 1])
    mechanism, p = make(domain, 1.0), np.array([0.1, 0.2, 0.3, 0.3, 0.1])
    few = [mechanism.simulate([30, 20, 40, 10, 50], rng=seed) for seed in (1, 2)]
    many = [uldp.Tally(mechanism, 10**9 * one.n, 10**9 * one.counts) for one in few]
    pairs = [(inference.homogeneity(*few), inference.homogeneity(*many))]
    pairs += [tuple(inference.goodness_of_fit(one, p) for one in (few[0], many[0]))]
    for once, often in pairs:
        assert often.statistic == pytest.approx(1e9 * once.statistic, rel=1e-6)
        assert often.degrees_of_freedom == once.degrees_of_freedom >= 4


def test_block_designs_are_tested_up_to_so_many_values(monkeypatch):
    monkeypatch.setattr(chi_square, "LARGEST_COVARIANCE", 8)
    tallies = {
        k: one_size(uldp.Domain(k, sensitive=[0, 1]), 1.0).simulate(np.full(k, 9), rng=k)
        for k in (4, 5, 8, 9)
    }
    assert inference.goodness_of_fit(tallies[8], np.full(8, 1 / 8)).pvalue > 0
    with pytest.raises(ValueError, match=r"tally of UtilityOpt.*Design .* at most 8 .* got 9"):
        inference.goodness_of_fit(tallies[9], np.full(9, 1 / 9))
    assert inference.homogeneity(tallies[4], tallies[4], tallies[4]).pvalue == 1
    for values, times in ((5, 3), (4, 4), (9, 2)):
        with pytest.raises(ValueError, match=f"at most 8 .* got {values * (times - 1)}"):
            inference.homogeneity(*[tallies[values]] * times)


def test_personalized_totals():
    places = uldp.Domain(4, sensitive=[0])
    tagged = uldp.personalized.TaggedDomain(places, ["home", "work"])
    background = {"home": [0.1, 0.2, 0.3, 0.4], "work": [0.0, 0.0, 0.5, 0.5]}
    weights = np.array([1.0, 0.0, 2.0, 0.0])
    for make in MECHANISMS.values():
        mechanism = make(tagged, 1.0)
        tally = mechanism.simulate([100, 200, 300, 200, 50, 80], rng=13)
        found = personalized.total(tally, background, weights)
        estimate = uldp.personalized.estimate(mechanism, tally, background, "adjusted")
        assert found.value == pytest.approx(weights @ estimate.p)
        lifted = np.append(weights, [0.1 + 0.6, 1.0])
        expected = lifted @ inference.covariance(tally) @ lifted
        assert found.standard_error**2 == pytest.approx(expected, rel=1e-9)
        most = np.abs(estimate.bots) @ [2 - 0.7, 1.0]
        assert found.background_error == pytest.approx(most)
        wrong = {"home": [0, 0, 1, 0], "work": [0, 1, 0, 0]}
        by_wrong = uldp.personalized.estimate(mechanism, tally, wrong, "adjusted")
        moved = weights @ by_wrong.p - found.value
        assert abs(moved) <= most + 1e-12
        above = personalized.total(tally, background, weights + 1)
        assert above.background_error == pytest.approx(most)
    with pytest.raises(TypeError, match="tally must be of a mechanism over a TaggedDomain"):
        personalized.total(uldp.Rappor(places, 1.0).simulate([1, 1, 1, 1]), background, weights)


def test_a_summary_prints_renders_and_becomes_a_data_frame():
    domain = uldp.Domain(["yes", "<no>", "yes*"], sensitive=["yes"])
    tally = uldp.UtilityOptimizedRR(domain, 1.0).simulate([30, 60, 10], rng=19)
    table = inference.summary(tally, 0.9)
    lines = repr(table).splitlines()
    assert lines[0].split() == ["value", "estimate", "standard", "error", "90%", "from", "to"]
    assert [line.split()[0] for line in lines[1:4]] == ["yes*", "<no>", "'yes*'"]
    assert lines[4] == "100 reports; * sensitive"
    assert len({len(line) for line in lines[:4]}) == 1
    assert "100 reports; * sensitive" in table._repr_html_()
    frame = table.to_pandas()
    assert list(frame.index) == ["yes", "<no>", "yes*"]
    assert frame.index.name == "value"
    assert list(frame.columns) == ["sensitive", "estimate", "standard_error", "low", "high"]
    assert frame["sensitive"].tolist() == [True, False, False]
    np.testing.assert_array_equal(frame["estimate"], tally.law.estimate(tally))
    np.testing.assert_array_equal(frame["standard_error"], inference.standard_errors(tally))
    np.testing.assert_array_equal(frame[["low", "high"]], inference.intervals(tally, 0.9))
    assert lines[1].split()[1] == f"{frame['estimate'].iloc[0]:.2%}"


def test_a_change_is_a_table_of_the_later_less_the_earlier():
    """With the labels and stars of the later survey, and the number of the reports to both."""
    labels = ["yes", "<no>", "other-answer"]
    before = uldp.Rappor(uldp.Domain(labels), 1.0).simulate([30, 60, 10], rng=19)
    later = uldp.UtilityOptimizedRR(uldp.Domain(labels, sensitive=["<no>"]), 1.0)
    after = later.simulate([300, 500, 1200], rng=20)
    change = inference.difference(before, after, confidence=0.9, simultaneous=True)
    lines = repr(change).splitlines()
    assert lines[0].split() == ["value", "change", "standard", "error", "90%", "from", "to"]
    assert [line.split()[0] for line in lines[1:4]] == ["yes", "<no>*", "other-answer"]
    assert lines[4] == "2,100 reports; * sensitive"
    assert "<th>change</th>" in change._repr_html_()
    frame = change.to_pandas()
    assert list(frame.index) == labels
    assert list(frame.columns) == ["sensitive", "change", "standard_error", "low", "high"]
    np.testing.assert_array_equal(frame["change"], change.estimate)
    np.testing.assert_array_equal(change.estimate, after.estimate() - before.estimate("adjusted"))
    np.testing.assert_array_equal(frame[["low", "high"]].T, [change.low, change.high])
    for line, value in zip(lines[1:4], change.estimate, strict=True):
        assert line.split()[1] == f"{value:.2%}"


def test_a_long_summary_says_what_it_leaves_out():
    tally = uldp.UtilityOptimizedRR(uldp.Domain(100), 1.0).simulate(np.ones(100, dtype=int))
    table = inference.summary(tally)
    lines = repr(table).splitlines()
    assert len(lines) == 63
    assert lines[-2:] == ["... and 40 more values", "100 reports"]
    assert len(table.to_pandas()) == 100
    one_more = uldp.UtilityOptimizedRR(uldp.Domain(61), 1.0).simulate(np.ones(61, dtype=int))
    assert repr(inference.summary(one_more)).splitlines()[-2] == "... and 1 more values"


def test_a_summary_of_sixty_values_leaves_out_none_and_two_reports_have_errors():
    tally = uldp.UtilityOptimizedRR(uldp.Domain(60), 1.0).tally([0, 1])
    lines = repr(inference.summary(tally)).splitlines()
    assert len(lines) == 62
    assert lines[-1] == "2 reports"
    assert "–" not in lines[1]


@pytest.mark.parametrize("sensitive", [[], [0], [0, 1, 2]])
def test_degenerate_cases(make, sensitive):
    """One report, one value, nothing or everything sensitive, counts of 0 and n."""
    for domain in (uldp.Domain(3, sensitive), uldp.Domain(1, sensitive[:1])):
        mechanism = make(domain, 1.0)
        for y in mechanism.outputs:
            one = mechanism.tally(y[None])
            ends = inference.intervals(one)
            assert np.isfinite(ends).all()
            assert np.isnan(inference.summary(one).standard_error).all()
            assert "–" in repr(inference.summary(one))
            for call in (inference.covariance, inference.standard_errors):
                with pytest.raises(ValueError, match="tally must be of at least two reports"):
                    call(one)
            both = one + one
            everything = inference.total(both, np.ones(domain.size))
            assert np.isfinite([everything.value, everything.low, everything.high]).all()
            assert math.isnan(everything.standard_error) <= (everything.low < everything.high)
        if domain.size == 1 and not mechanism.decoder.sums_to_one:
            continue
        if domain.size == 1:
            np.testing.assert_allclose(inference.standard_errors(both), 0, atol=1e-8)
            fit = inference.goodness_of_fit(both, [1.0])
            assert (fit.statistic, fit.degrees_of_freedom, fit.pvalue) == (0, 0, 1)


def test_reports_that_are_all_alike_give_an_interval_and_no_error():
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0]), 1.0)
    tally = uldp.Tally(mechanism, 10, [0, 0, 10])
    assert np.isnan(inference.standard_errors(tally)).all()
    bits = uldp.Tally(uldp.Rappor(tally.law.domain, 1.0), 10, [0, 0, 10])
    for each, entry in itertools.product((tally, bits), [*np.eye(3), *-np.eye(3)]):
        assert math.isnan(inference.total(each, entry, method="empirical").standard_error)
    table = inference.summary(tally)
    told = [line.split()[1:5] for line in repr(table).splitlines()[1:4]]
    assert told[1] == ["at", "most", f"{table.high[1]:.2%}", "–"]
    assert told[2] == ["at", "least", f"{table.low[2]:.2%}", "–"]
    assert f"<td>at most {table.high[1]:.2%}</td>" in table._repr_html_()
    assert table.to_pandas()["standard_error"].isna().all()
    both = inference.stratified({"a": tally, "b": uldp.Tally(mechanism, 10, [0, 5, 5])}, [0.5, 0.5])
    assert np.isnan(both.standard_error).tolist() == [True, False, False]
    ends = inference.intervals(tally)
    assert ends[1, 0] == 0 < ends[1, 1]
    assert ends[0, 0] < ends[0, 1] < 0
    assert ends[2, 1] == pytest.approx(
        (1 - mechanism.decoder.false_support[2]) / mechanism.decoder.gain[2]
    )


@pytest.mark.parametrize("method", LINEAR)
def test_a_large_weight_of_what_nobody_reports_hides_no_error(make, method):
    mechanism = make(uldp.Domain(list("abcd"), sensitive=["a"]), 1.0)
    tally = mechanism.simulate([300, 400, 300, 0], rng=1)
    if mechanism.estimate(tally, method)[3] == 0:
        weights = [{"b": 1, "c": 2, "d": w} for w in (1, 1e14)]
        small, large = (inference.total(tally, w, method=method) for w in weights)
        assert large.standard_error == pytest.approx(small.standard_error)


@pytest.mark.parametrize("kind", uldp.mechanisms.PAPER.values())
def test_errors_at_the_least_epsilon_are_those_of_the_counts(kind):
    """Shares are some 10^9 there, of which nothing must cancel."""
    law = kind(uldp.Domain(3, range(3)), 1e-9)
    tally = uldp.Tally(law, 10, [0, 3, 7])
    supported = np.array([0, 0.3, 0.7])
    expected = np.sqrt(supported * (1 - supported) / 9) / law.decoder.gain
    expected[0] = np.nan
    found = inference.standard_errors(tally, "empirical")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_error_of_a_total_of_answers_is_that_of_a_sample():
    mechanism = uldp.RandomizedResponse(uldp.Domain(4), 1.0)
    tally = uldp.Tally(mechanism, 1_000, [300, 400, 300, 0])
    said = np.repeat([0, 1, 2], [300, 400, 300]) / mechanism.decoder.gain[0]
    expected = said.std(ddof=1) / math.sqrt(1_000)
    for weight in (1, 1e14):
        found = inference.total(tally, [0, 1, 2, weight]).standard_error
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("method", LINEAR)
def test_the_largest_variance_of_a_total_is_attained_between_two_values(make, method):
    rng = np.random.default_rng(21)
    for domain in domains(4):
        mechanism, weights = make(domain, 0.9), rng.normal(size=domain.size)
        largest = total_variance(mechanism, weights, method=method)
        found = [total_variance(mechanism, weights, p, method) for p in np.eye(domain.size)]
        pairs = itertools.combinations(np.eye(domain.size), 2)
        for one, other in pairs:
            shares = np.linspace(0, 1, 61)[:, None]
            found += [
                total_variance(mechanism, weights, p, method)
                for p in shares * one + (1 - shares) * other
            ]
        for p in rng.dirichlet(np.ones(domain.size), 20):
            variance = total_variance(mechanism, weights, p, method)
            expected = weights @ true_covariance(mechanism, p, method) @ weights
            assert variance == pytest.approx(expected, abs=1e-10 * max(largest, 1))
            found.append(variance)
        assert max(found) <= largest * (1 + 1e-9) + 1e-12
        assert max(found) >= largest * (1 - 1e-3) - 1e-12


def test_large_domains_need_milliseconds_and_no_matrix():
    """12,800 values: O(k) memory, where a matrix would take 1.3 GB, and seconds, too."""
    domain = uldp.Domain(12_800, sensitive=range(2_400))
    weights = np.arange(12_800) % 7.0
    for name in ("RR", "RAPPOR", "uRR", "uRAP", "uBD", "uHR"):
        mechanism = uldp.mechanisms.MECHANISMS[name](domain, 1.0)
        tally = mechanism.simulate(np.full(12_800, 5), rng=22)
        calls = [
            lambda tally=tally: inference.total(tally, weights),
            lambda mechanism=mechanism: total_variance(mechanism, weights),
            lambda tally=tally: inference.difference(tally, tally, weights),
        ]
        for call in calls:
            seconds = []
            for _ in range(4):
                start = time.process_time()
                call()
                seconds.append(time.process_time() - start)
            assert min(seconds) < 0.5
            tracemalloc.start()
            call()
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < 60 * 8 * 12_800
        assert np.nanmin(inference.standard_errors(tally)) > 0
        if name in ("uBD", "uHR"):
            kind = type(mechanism).__name__
            with pytest.raises(ValueError, match=f"tallies of {kind} .* 3000 .* got 12800"):
                inference.homogeneity(tally, tally)
            with pytest.raises(ValueError, match=f"tally of {kind} .* got 12800"):
                inference.goodness_of_fit(tally, np.full(12_800, 1 / 12_800))
        else:
            assert inference.homogeneity(tally, tally).pvalue == 1


def test_a_change_is_between_two_surveys():
    tally = uldp.UtilityOptimizedRR(uldp.Domain(3, [0]), 1.0).simulate([1, 2, 3], 1)
    with pytest.raises(TypeError, match="third tally: compare two, or all by `homogeneity`"):
        inference.difference(tally, tally, tally)


@pytest.mark.parametrize(
    "make", uldp.mechanisms.MECHANISMS.values(), ids=uldp.mechanisms.MECHANISMS
)
@pytest.mark.parametrize("users", [[5, 0, 0, 0], [0, 0, 0, 5], [1, 3, 4, 5], [1, 0, 0, 0]])
def test_intervals_of_as_many_reports_as_a_tally_takes(make, users):
    small = make(uldp.Domain(4, sensitive=[0, 1]), 1.0).simulate(users, rng=1)
    times = 2**53 // small.n
    tally = uldp.Tally(small.law, small.n * times, small.counts * times)
    assert tally.n > 2**53 - 20
    sure = inference.total(tally, [1, 0, 1, 0])
    table = inference.summary(tally)
    numbers = [table.low, table.high, sure.low, sure.high]
    assert np.isfinite(np.hstack(numbers)).all()
    assert (table.low <= table.high).all()
    with pytest.raises(ValueError, match="n must be at most 9007199254740992, got"):
        tally + small + small
    with pytest.raises(ValueError, match="true_counts must be of at most 9007199254740992 users"):
        small.law.simulate([2**53, 1, 0, 0])
