"""The random bits: exact on every digit that can be enumerated, and in frequency."""

import numpy as np
import pytest
from scipy import stats

from uldp import _bits


class Digits:
    """Gives, at the i-th call, the i-th binary digit of l/64 in lane l of the word."""

    def __init__(self) -> None:
        self.calls = 0

    def integers(self, high: int, *, size: int, dtype: type, endpoint: bool) -> np.ndarray:
        shift = 5 - self.calls
        self.calls += 1
        word = sum((lane >> shift & 1) << lane for lane in range(64)) if shift >= 0 else 0
        return np.full(size, word, dtype=dtype)


@pytest.mark.parametrize("numerator", range(33))
def test_bits_are_comparisons_of_uniform_numbers_with_the_probability(numerator):
    p = numerator / 64
    bits = np.unpackbits(_bits.random_bytes(Digits(), p, 1 - p, 8), bitorder="little")
    np.testing.assert_array_equal(bits, np.arange(64) < numerator)


def test_one_half_takes_one_random_bit():
    generator = Digits()
    _bits.random_bytes(generator, 0.5, 0.5, 1000)
    assert generator.calls == 1


@pytest.mark.parametrize("p", [1 / 3, 1e-3, 2**-9, 1 / 401, 0.5, 0.75, 1 - 1e-4])
def test_frequency(p):
    """Two-sided binomial test, false-alarm rate 1e-6 each; positions within a byte included."""
    packed = _bits.random_bytes(np.random.default_rng(0), p, 1 - p, 400_000)
    bits = np.unpackbits(packed.reshape(-1, 1), axis=1)
    assert stats.binomtest(int(bits.sum()), bits.size, p).pvalue > 1e-6
    for column in bits.T:
        assert stats.binomtest(int(column.sum()), column.size, p).pvalue > 1e-6 / 8


@pytest.mark.parametrize(("p", "q"), [(0.0, 1.0), (1.0, 0.0), (1e-300, 1.0), (1.0, 1e-300)])
def test_certain_bits(p, q):
    bits = _bits.bernoulli(np.random.default_rng(0), p, q, 1000)
    assert bits.all() if p == 1 else not bits.any()


def test_a_probability_near_one_keeps_the_precision_of_its_complement():
    p, q, users = 1.0, 1e-5, 8_000_000
    off = users - int(_bits.bernoulli(np.random.default_rng(1), p, q, users).sum())
    assert stats.binomtest(off, users, q).pvalue > 1e-6


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 65, 1000])
def test_sizes(size):
    rng = np.random.default_rng(0)
    assert _bits.random_bytes(rng, 0.3, 0.7, size).shape == (size,)
    assert _bits.bernoulli(rng, 0.3, 0.7, size).shape == (size,)


@pytest.mark.parametrize("rows", [0, 1, 254, 255, 256, 1000, 40_000])
@pytest.mark.parametrize("columns", [1, 8, 13, 76, 600])
def test_column_sums(rows, columns):
    bits = np.random.default_rng(rows + columns).random((rows, columns)) < 0.7
    packed = _bits.pack(bits)
    np.testing.assert_array_equal(_bits.column_sums(packed, columns), bits.sum(axis=0))
    np.testing.assert_array_equal(_bits.unpack(packed, columns), bits)


def test_column_sums_of_a_strided_array():
    rows = np.random.default_rng(2).integers(0, 256, (3000, 12), dtype=np.uint8)
    expected = np.unpackbits(rows[:, :10], axis=1, bitorder="little").sum(axis=0)
    np.testing.assert_array_equal(_bits.column_sums(rows[:, :10], 80), expected)
