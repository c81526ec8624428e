"""Random subsets against their exact laws; false-alarm rate 1e-6 for each test function."""

import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest
from cases import chi_square
from scipy import stats

from uldp._numerics.packed import PackedSets
from uldp._numerics.subsets import column_counts, random_subsets

FALSE_ALARM = 1e-6


def subsets(own: np.ndarray, held: np.ndarray, universe: int, size: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return PackedSets(universe).unpack(random_subsets(rng, own, held, universe, size))


@pytest.mark.parametrize(
    ("universe", "size"), [(1, 1), (2, 1), (2, 2), (5, 1), (5, 2), (6, 3), (6, 4), (6, 6), (9, 8)]
)
def test_all_subsets_are_equally_likely(universe, size):
    nobody = np.full(40_000, -1)
    held = np.random.default_rng(1).random(nobody.size) < 0.5
    drawn = subsets(nobody, held | (size == universe), universe, size)
    assert (drawn.sum(axis=1) == size).all()
    seen = Counter(tuple(np.flatnonzero(row)) for row in drawn)
    every = list(itertools.combinations(range(universe), size))
    if len(every) > 1:
        assert stats.chisquare([seen[subset] for subset in every]).pvalue > FALSE_ALARM / 9


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("is_held", [True, False])
def test_subsets_with_and_without_an_element(is_held, size):
    own = np.arange(5).repeat(10_000)
    drawn = subsets(own, np.full(own.size, is_held), 5, size)
    for x in range(5):
        rows = drawn[own == x]
        assert (rows[:, x] == is_held).all()
        seen = Counter(tuple(np.flatnonzero(row)) for row in rows)
        every = [
            subset for subset in itertools.combinations(range(5), size) if (x in subset) == is_held
        ]
        assert set(seen) == set(every)
        if len(every) > 1:
            assert stats.chisquare([seen[subset] for subset in every]).pvalue > FALSE_ALARM / 40


def law_of_the_counts(included: list, excluded: list, others: int, size: int) -> dict:
    """The exact law, user by user over all sets that she can have."""
    s = len(included)
    subsets = list(itertools.combinations(range(s), size))
    users = [[x in subset for subset in subsets] for x in range(s) for _ in range(included[x])]
    users += [[x not in subset for subset in subsets] for x in range(s) for _ in range(excluded[x])]
    users += [[True] * len(subsets)] * others
    law = {(0,) * s: 1.0}
    for possible in users:
        longer: dict = defaultdict(float)
        for counts, weight in law.items():
            for subset, can_be in zip(subsets, possible, strict=True):
                if can_be:
                    total = tuple(c + (x in subset) for x, c in enumerate(counts))
                    longer[total] += weight / sum(possible)
        law = dict(longer)
    return law


@pytest.mark.parametrize(
    ("included", "excluded", "others", "size"),
    [
        ([1, 0, 1, 0], [0, 1, 0, 0], 1, 2),
        ([0, 2, 0, 1], [1, 0, 0, 0], 0, 3),
        ([0, 0, 0, 0], [1, 0, 0, 2], 1, 1),
        ([1, 1, 1], [0, 0, 0], 2, 3),
        ([0, 0, 2], [1, 1, 0], 1, 2),
        ([2], [0], 3, 1),
    ],
)
def test_counts_have_the_exact_law(included, excluded, others, size):
    law = law_of_the_counts(included, excluded, others, size)
    rng, draws = np.random.default_rng(2), 4000
    arguments = np.array(included), np.array(excluded), others, size
    seen = Counter(tuple(column_counts(rng, *arguments).tolist()) for _ in range(draws))
    assert set(seen) <= set(law)
    observed = np.array([seen[counts] for counts in law])
    assert chi_square(observed, np.array(list(law.values()))) > FALSE_ALARM / 6


def test_counts_of_nobody():
    nobody = np.zeros(3, dtype=np.int64)
    assert column_counts(np.random.default_rng(0), nobody, nobody, 0, 2).tolist() == [0, 0, 0]


def test_sets_fill_up_for_any_number_of_users():
    rng = np.random.default_rng(3)
    for s, size in [(1, 1), (2, 1), (40, 7), (40, 39), (300, 150)]:
        included = rng.integers(0, 10**5, size=s)
        excluded = rng.integers(0, 10**5, size=s) * (size < s)
        counts = column_counts(rng, included, excluded, 10**6, size)
        users = included.sum() + excluded.sum() + 10**6
        assert counts.sum() == users * size
        assert (included <= counts).all()
        assert (counts <= users - excluded).all()
