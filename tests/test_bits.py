"""The random bits: exact on every digit that can be enumerated, and in frequency."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from uldp._numerics import bits


class Words:
    """A generator that gives the words that it is told to give."""

    def __init__(self, *words: int) -> None:
        self.words = list(words)

    def integers(self, high: int, *, size: int, dtype: type) -> np.ndarray:
        assert high == 1 << 64
        return np.array([self.words.pop(0) for _ in range(size)], dtype=dtype)


PROBABILITIES = [0.0, 0.5, 0.25, 1 / 3, 1 / 21, 1 / 401, 0.1, 2**-9, 1e-12, 5e-324, 1e-300]


@pytest.mark.parametrize("q", PROBABILITIES)
def test_a_byte_has_the_product_law_to_the_last_digit(q):
    """The table and the law of what it leaves out add up to q^j (1 - q)^(8 - j), in fractions."""
    law = bits.byte_law(q)
    listed = np.bincount(law.common[: law.rare_from], minlength=256).tolist()
    left_out = 65536 - law.rare_from
    rare = np.diff([0, *law.bounds]).tolist() if left_out else [0] * 256
    for byte in range(256):
        ones = byte.bit_count()
        exact = Fraction(q) ** ones * (1 - Fraction(q)) ** (8 - ones)
        by_rare = Fraction(rare[byte] * left_out, law.total) if left_out else 0
        assert (listed[byte] + by_rare) / 65536 == exact


@pytest.mark.parametrize("q", [1 / 3, 1 / 21, 0.1, 1e-12])
def test_rare_bytes_are_told_apart_at_the_exact_bounds(q):
    law = bits.byte_law(q)
    inner = sorted({b for b in law.bounds if 0 < b < law.total})
    for bound in inner[:: max(1, len(inner) // 40)]:
        word, rest = divmod(bound << 64, law.total)
        next_word = (rest << 64) // law.total
        for step, next_step in [(-1, 0), (0, -1), (0, 1), (1, 0)]:
            number = ((word + step) << 64) + next_word + next_step
            number = min(max(number, 0), 2**128 - 1)
            expected = sum(b << 128 <= number * law.total for b in law.bounds)
            words = Words(number >> 64, number & (2**64 - 1), 0, 0)
            assert law.draw_rare(words, 1)[0] == expected


def test_common_bytes_come_from_the_table_and_rare_ones_from_the_rest():
    law = bits.byte_law(1 / 21)
    index = law.common.searchsorted(5), law.rare_from, 0, 65535
    word = sum(int(i) << 16 * place for place, i in enumerate(index))
    drawn = bits.random_bytes(Words(word, 0, 2**64 - 1), 1 / 21, 20 / 21, 4)
    assert drawn.tolist() == [5, 0, 0, 255]


@pytest.mark.parametrize("p", [1 / 3, 1e-3, 2**-9, 1 / 401, 0.5, 0.75, 1 - 1e-4])
def test_frequency(p):
    """Two-sided binomial test, false-alarm rate 1e-6 each; positions within a byte included."""
    packed = bits.random_bytes(np.random.default_rng(0), p, 1 - p, 400_000)
    drawn = np.unpackbits(packed.reshape(-1, 1), axis=1)
    assert stats.binomtest(int(drawn.sum()), drawn.size, p).pvalue > 1e-6
    for column in drawn.T:
        assert stats.binomtest(int(column.sum()), column.size, p).pvalue > 1e-6 / 8


@pytest.mark.parametrize(("p", "q"), [(0.0, 1.0), (1.0, 0.0), (1e-300, 1.0), (1.0, 1e-300)])
def test_certain_bits(p, q):
    drawn = bits.bernoulli(np.random.default_rng(0), p, q, 1000)
    assert drawn.all() if p == 1 else not drawn.any()


def test_a_probability_near_one_keeps_the_precision_of_its_complement():
    p, q, users = 1.0, 1e-5, 8_000_000
    off = users - int(bits.bernoulli(np.random.default_rng(1), p, q, users).sum())
    assert stats.binomtest(off, users, q).pvalue > 1e-6


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 65, 1000])
def test_sizes(size):
    rng = np.random.default_rng(0)
    assert bits.random_bytes(rng, 0.3, 0.7, size).shape == (size,)
    assert bits.bernoulli(rng, 0.3, 0.7, size).shape == (size,)


def test_no_more_random_words_than_needed():
    """A word of 64 bits picks four bytes, that is 32 bits."""
    assert bits.bernoulli(Words(0), 0.5, 0.5, 32).shape == (32,)
    assert bits.bernoulli(Words(0, 0), 0.5, 0.5, 33).shape == (33,)
    assert bits.byte_law(1 / 3).draw_rare(Words(), 0).shape == (0,)
