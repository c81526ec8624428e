"""Shuffled reports: the level against histograms of reports, bounds against sums over kinds."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from cases import MECHANISMS, domains
from scipy import stats
from scipy.special import gammaln

import uldp
from uldp.beyond import shuffling
from uldp.beyond.shuffling import Shuffled
from uldp.mechanisms.index_reports import IndexReports

CENSUS = uldp.Domain(400, sensitive=range(76))
SIX = uldp.Domain(6, sensitive=[0, 1, 3, 5])
SHUFFLED = (
    uldp.UtilityOptimizedRR,
    uldp.UtilityOptimizedRappor,
    uldp.UtilityOptimizedBlockDesign,
    uldp.UtilityOptimizedHadamard,
)
LEVELS = [0.0, 0.05, 0.2, 0.5, 0.9]


def with_cover(largest):
    """Domains on which a swap of two sensitive answers is covered by non-sensitive ones."""
    return [d for d in domains(largest) if d.sensitive.size > 1 and d.nonsensitive.size]


def mechanisms(domain, epsilon):
    """Every mechanism of which `Shuffled` knows the kinds."""
    made = (make(domain, epsilon) for make in MECHANISMS.values())
    return [m for m in made if isinstance(m, SHUFFLED) and not m.protects_every_value]


def law_of_histograms(rows):
    """The law of how often each output comes, for users with these rows of the matrix."""
    law = {(0,) * len(rows[0]): 1.0}
    for row in rows:
        longer = {}
        for histogram, chance in law.items():
            for y in np.flatnonzero(row):
                one_more = (*histogram[:y], histogram[y] + 1, *histogram[y + 1 :])
                longer[one_more] = longer.get(one_more, 0.0) + chance * row[y]
        law = longer
    return law


def least_delta(law, other, level):
    """The largest Pr[A] - e^level Pr'[A] over all sets A of histograms."""
    factor = math.exp(level)
    return sum(max(chance - factor * other.get(h, 0.0), 0.0) for h, chance in law.items())


@pytest.mark.parametrize("domain", with_cover(4), ids=repr)
def test_the_level_is_the_worst_over_all_others_and_pairs_by_listing_histograms(domain):
    """It is attained wherever no other holds a sensitive value."""
    less = 0
    for mechanism in mechanisms(domain, 1.2):
        matrix = mechanism.transition_matrix()
        for n in (1, 2, 3):
            if matrix.shape[1] ** n > 4000:
                continue
            exact = [Shuffled(mechanism, n).exact_delta(level) for level in LEVELS]
            for others in itertools.combinations_with_replacement(range(domain.size), n - 1):
                laws = [
                    law_of_histograms([matrix[x], *matrix[list(others)]]) for x in domain.sensitive
                ]
                for pair in itertools.permutations(laws, 2):
                    found = [least_delta(*pair, level) for level in LEVELS]
                    if set(others) <= set(domain.nonsensitive):
                        np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-15)
                    else:
                        assert (np.array(found) <= np.array(exact) + 1e-12).all()
                        less += found[2] < 0.95 * exact[2]
    assert less > 0


@pytest.mark.parametrize("sensitive", [[0, 2], [1, 2, 4], [0, 1, 2, 3, 5]], ids=len)
def test_two_users_of_the_hadamard_response_by_all_pairs_of_reports(sensitive):
    """With rows of the Hadamard matrix to spare, and without; the kinds too, signs counted."""
    mechanism = uldp.UtilityOptimizedHadamard(uldp.Domain(7, sensitive=sensitive), 0.9)
    matrix, hidden = mechanism.transition_matrix(), 2 / (math.e**0.9 + 1)
    held = matrix[sensitive][:, mechanism.protected] > 1.5 * hidden / mechanism.order
    for first, second in itertools.permutations(held, 2):
        signs = np.bincount(2 * first + second, minlength=4)
        np.testing.assert_array_equal(signs, mechanism.order // 4)
    kinds = Shuffled(mechanism, 2)._kinds
    np.testing.assert_allclose(kinds, [1 - hidden, *[hidden / 4] * 3], rtol=1e-12)
    for level in LEVELS:
        worst = {
            other: max(
                least_delta(*pair, level)
                for pair in itertools.permutations(
                    [law_of_histograms(matrix[[x, other]]) for x in sensitive], 2
                )
            )
            for other in range(7)
        }
        exact = Shuffled(mechanism, 2).exact_delta(level)
        for other, found in worst.items():
            if other in sensitive:
                assert found <= exact + 1e-12
            else:
                assert found == pytest.approx(exact, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 3.0, 12.0])
def test_kinds_are_those_of_the_matrix(epsilon):
    for domain in [*with_cover(4), SIX]:
        for mechanism in mechanisms(domain, epsilon):
            known = Shuffled(mechanism, 1)._kinds
            matrix = mechanism.transition_matrix()
            b = matrix[mechanism.nonsensitive[0], mechanism.protected]
            lifts = matrix[:, mechanism.protected][mechanism.sensitive] / b
            held = lifts > math.exp(epsilon / 2)
            np.testing.assert_allclose(lifts, np.where(held, math.exp(epsilon), 1), rtol=1e-9)
            for x, other in itertools.permutations(held, 2):
                listed = 1 - b.sum(), b[~(x | other)].sum(), b[x & ~other].sum(), b[x & other].sum()
                np.testing.assert_allclose(known, listed, rtol=1e-7, atol=1e-15)


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 4.0, 30.0])
def test_bounds_hold_the_exact_level(epsilon):
    """On every kind of mechanism, for few users and for as many as can be summed up."""
    for domain in (uldp.Domain(3, sensitive=[0, 1]), SIX, uldp.Domain(40, sensitive=range(35))):
        for mechanism in mechanisms(domain, epsilon):
            for n in (1, 2, 3, 7, 20, 35):
                shuffled = Shuffled(mechanism, n)
                for level in (0.0, 0.01 * epsilon, 0.2 * epsilon, 0.7 * epsilon, 0.99 * epsilon):
                    lower, upper = shuffled.delta(level)
                    assert lower <= shuffled.exact_delta(level) <= upper
                for delta in (1e-9, 1e-4, 0.03, 0.4):
                    lower, upper = shuffled.level(delta)
                    assert lower <= shuffled.exact_level(delta) <= upper <= epsilon


def test_bounds_are_close_where_they_are_meant_to_be():
    """At δ = 10^-6, and from a hundred users on."""
    for epsilon in (0.5, 1.0, 2.0):
        for mechanism in (
            uldp.UtilityOptimizedRR(CENSUS, epsilon),
            uldp.UtilityOptimizedBlockDesign(CENSUS, epsilon),
            uldp.UtilityOptimizedRappor(CENSUS, epsilon),
        ):
            for n, ratio in [(100, 3), (10**3, 1.3), (10**4, 1.009), (10**5, 1.001)]:
                lower, upper = Shuffled(mechanism, n).level(1e-6)
                assert 1 < upper / lower < ratio


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_million_users(epsilon):
    """The bounds meet; more users, more cover: the level falls about as 1/√n, and faster."""
    for mechanism in (
        uldp.UtilityOptimizedRR(CENSUS, epsilon),
        uldp.UtilityOptimizedBlockDesign(CENSUS, epsilon),
        uldp.UtilityOptimizedRappor(CENSUS, epsilon),
    ):
        few, many = (Shuffled(mechanism, n).level(1e-6) for n in (10**5, 10**6))
        assert many.upper / many.lower < 1.0001
        assert 10 > few.lower / many.upper > math.sqrt(10)


def delta_by_fourier(one, both, neither, epsilon, n, level):
    """E[(Σ L)_+]/n from the joint law of three counts, by its characteristic function.

    They are of reports that hold x less those that hold x', of both together, and of all sets.
    """
    u, wide = math.expm1(epsilon), 2 * n + 1
    z = np.exp(-2j * np.pi * np.fft.fftfreq(wide))[:, None, None]
    t = np.exp(-2j * np.pi * np.arange(wide) / wide)[None, :, None]
    p = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1))
    revealed = 1 - neither - 2 * one - both
    joint = np.fft.ifftn((revealed + p * (neither + one * t * (z + 1 / z) + both * t**2)) ** n).real
    less = np.rint(np.fft.fftfreq(wide) * wide)[:, None, None]
    both_counts, sets = np.arange(wide)[None, :, None], np.arange(n + 1)
    first, second = ((both_counts + sign * less) / 2 for sign in (1, -1))
    excess = (sets + u * first) - math.exp(level) * (sets + u * second)
    return float((joint * np.maximum(excess, 0)).sum()) / n


@pytest.mark.parametrize("level", [0.02, 0.1, 0.2, 0.4])
def test_sets_by_fourier_sums(level):
    """uRAP and a block design with sets of six, their kinds written down once more."""
    epsilon, n, s, d, domain = 1.5, 45, 20, 6, uldp.Domain(30, sensitive=range(20))
    root, sets = math.exp(epsilon / 2), 1 / (d * math.expm1(epsilon) + s)
    kinds_of_bits = 1 / (root + 1) ** 2, 1 / (root * (root + 1) ** 2), root / (root + 1) ** 2
    pairs = d * (s - d), d * (d - 1), (s - d) * (s - d - 1)
    for mechanism, kinds in (
        (uldp.UtilityOptimizedRappor(domain, epsilon), kinds_of_bits),
        (
            uldp.UtilityOptimizedBlockDesign(domain, epsilon, d),
            [sets * number / (s - 1) for number in pairs],
        ),
    ):
        found, shuffled = delta_by_fourier(*kinds, epsilon, n, level), Shuffled(mechanism, n)
        assert shuffled.exact_delta(level) == pytest.approx(found, rel=1e-9, abs=1e-13)
        assert shuffled.delta(level).lower < found < shuffled.delta(level).upper


@pytest.mark.parametrize("name", ["uRR", "uRAP, θ = 0.8", "uBD, one size", "uBD, all sizes"])
def test_the_law_of_the_difference_and_what_the_rest_is_given_it(name):
    """Against the sums over kinds; for many users, against the law of a difference of binomials."""
    mechanism = MECHANISMS[name](SIX, 0.9)
    for n in (1, 2, 9, 40):
        shuffled = Shuffled(mechanism, n)
        chances, difference, of_second = shuffled._states
        rest, law = 2 * of_second + shuffled._u * difference, shuffled._differences
        assert law.values.tolist() == list(range(1, n + 1))
        for d, chance, mean, variance in zip(*law, strict=True):
            here = np.where(difference == d, chances, 0)
            assert chance == pytest.approx(here.sum(), rel=1e-10)
            true_mean = here @ rest / here.sum()
            assert mean == pytest.approx(true_mean, rel=1e-10)
            true_variance = here @ (rest - true_mean) ** 2 / here.sum()
            assert variance >= true_variance * (1 - 1e-10)
            assert variance == pytest.approx(true_variance, rel=1e-8, abs=1e-6)
    shuffled = Shuffled(mechanism, 30_000)
    one, law = shuffled._kinds.one, shuffled._differences
    d = np.array([1, 100, 400])
    counts = np.arange(n := shuffled.n)[:, None]
    first = stats.binom.pmf(counts + d, n, one)
    both = first * stats.binom.pmf(counts, np.maximum(n - counts - d, 0), one / (1 - one))
    found = law.chances[d - 1]
    np.testing.assert_allclose(found, both.sum(axis=0), rtol=1e-7)
    assert law.chances[-1] < 1e-17
    assert 1 - 2 * law.chances.sum() == pytest.approx(chance_of_none(one, n), rel=1e-6)


def chance_of_none(one, n):
    """The probability that D is 0, from its characteristic function."""
    angles = 2 * np.pi * np.arange(n) / n
    return float(np.mean((1 - 2 * one * (1 - np.cos(angles))) ** n))


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_what_the_rest_hardly_ever_falls_below(epsilon):
    """It is Bernstein's bound, with the variance by definition; and the tail obeys it."""
    for mechanism in mechanisms(SIX, epsilon):
        shuffled = Shuffled(mechanism, 40)
        matrix, S = mechanism.transition_matrix(), mechanism.sensitive
        b = matrix[mechanism.nonsensitive[0]]
        ratios = np.where(mechanism.protected, matrix[S[0]] + matrix[S[1]], 0) / np.where(b, b, 1)
        assert b @ ratios == pytest.approx(2)
        reach = 80 - shuffled._least_totals
        exponents = reach**2 / (2 * 40 * (b @ (ratios - 2) ** 2) + 4 * reach / 3)
        np.testing.assert_allclose(exponents, shuffling.EXPONENTS, rtol=1e-9)
        chances, difference, of_second = shuffled._states
        rest = 2 * of_second + shuffled._u * difference
        for least, exponent in zip(shuffled._least_totals, shuffling.EXPONENTS, strict=True):
            assert chances @ (rest < least) <= math.exp(-exponent)


def test_logarithms_of_factorials_are_as_right_as_the_rounding_of_bounds_supposes():
    numbers = np.unique(np.geomspace(2, shuffling.MOST_USERS, 400).astype(int))
    with mpmath.workdps(40):
        right = np.array([float(mpmath.loggamma(int(n) + 1)) for n in numbers])
    assert np.abs(gammaln(numbers + 1.0) / right - 1).max() < 4 * np.finfo(float).eps


def test_one_report_has_the_level_of_the_mechanism():
    for mechanism in mechanisms(SIX, 1.0):
        one = Shuffled(mechanism, 1)
        assert one.exact_level(1e-14) == pytest.approx(1.0, rel=1e-9)
        assert one.exact_delta(1.0) == pytest.approx(0, abs=1e-15)
        assert one.delta(1.0) == one.delta(7) == (0.0, 0.0)


def test_a_tiny_epsilon_keeps_its_digits_and_a_large_one_no_more_than_1():
    domain = uldp.Domain(3, sensitive=[0, 1])
    for kind in (uldp.UtilityOptimizedRR, uldp.UtilityOptimizedRappor):
        tiny = uldp.beyond.Shuffled(kind(domain, 1e-9), 1)
        lower, upper = tiny.delta(0.0)
        assert lower <= tiny.exact_delta(0.0) <= upper
        large = uldp.beyond.Shuffled(kind(domain, 30.0), 1)
        assert large.delta(0.0).upper <= 1


def test_swapped_answers_cannot_be_told_apart_at_a_large_delta():
    shuffled = Shuffled(uldp.UtilityOptimizedRR(SIX, 0.5), 100)
    variation = shuffled.exact_delta(0)
    assert 0 < variation < 0.1
    assert shuffled.level(variation * 1.1) == (0.0, 0.0)
    assert shuffled.exact_level(variation * 1.1) == 0
    assert shuffled.exact_level(variation) == 0
    level = shuffled.exact_level(variation * 0.9)
    assert shuffled.exact_delta(level) <= variation * 0.9 < shuffled.exact_delta(level * (1 - 1e-9))


def test_what_is_missed_is_never_left_out_of_an_upper_bound():
    """At a δ below what the sums cut off, the level is that of a single report."""
    shuffled = Shuffled(uldp.UtilityOptimizedRR(CENSUS, 1.0), 10**4)
    assert shuffled.level(1e-18).upper == 1
    assert shuffled.level(1e-15).upper < 0.03


class OfItsOwnKind(IndexReports):
    decoder = _matrix = _perturb = None


def test_what_is_not_covered_is_refused():
    for mechanism in (
        uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0]), 1.0),
        uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0, 1, 2]), 1.0),
        uldp.RandomizedResponse(SIX, 1.0),
        uldp.Rappor(SIX, 1.0),
    ):
        with pytest.raises(ValueError, match="two sensitive values and a non-sensitive one"):
            Shuffled(mechanism, 10)
    assert Shuffled(uldp.UtilityOptimizedRR(SIX, 30.0), 10**7).n == 10**7
    assert Shuffled(uldp.UtilityOptimizedRR(SIX, 1.0), 5).exact_delta(2000.0) == 0
    with pytest.raises(ValueError, match="ε of at most 30"):
        Shuffled(uldp.UtilityOptimizedRR(SIX, 30.5), 10)
    with pytest.raises(ValueError, match="n must be smaller to be summed up, got 300"):
        Shuffled(uldp.UtilityOptimizedRR(SIX, 1.0), 300).exact_delta(0.1)
    with pytest.raises(ValueError, match="of the kind uRR, uRAP, uBD or uHR, got OfItsOwnKind"):
        Shuffled(OfItsOwnKind(SIX, 1.0), 10)
