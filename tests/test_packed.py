"""Sets as rows of bytes against sets as rows of booleans."""

import numpy as np
import pytest

from uldp._numerics.packed import PackedSets


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16])
def test_all_sets_are_all_sets(size):
    sets = PackedSets(size)
    bits = sets.unpack(sets.all())
    assert bits.shape == (2**size, size)
    assert bits.dtype == bool
    numbers = bits @ (1 << np.arange(size)[::-1])
    np.testing.assert_array_equal(numbers, np.arange(2**size))
    np.testing.assert_array_equal(sets.sizes(sets.all()), bits.sum(axis=1))
    if size:
        assert sets.all()[:, -1].max() == sets.last_byte


@pytest.mark.parametrize("size", [1, 8, 13, 24])
def test_the_place_of_an_element(size):
    sets = PackedSets(size)
    byte, bit = sets.place(np.arange(size))
    packed = sets.pack(np.eye(size, dtype=bool))
    np.testing.assert_array_equal(packed[np.arange(size), byte], bit)
    assert packed.sum() == bit.sum()


@pytest.mark.parametrize("size", [0, 1, 8, 13, 76])
def test_masses_by_byte_and_their_transpose(size):
    rng = np.random.default_rng(size)
    sets, masses = PackedSets(size), rng.random(size)
    bits = rng.random((50, size)) < 0.5
    packed = sets.pack(bits)
    by_byte = sets.masses_by_byte(masses)
    assert by_byte.shape == (sets.width, 256)
    columns = np.arange(sets.width)
    np.testing.assert_allclose(by_byte[columns, packed].sum(axis=1), bits @ masses)
    weights, totals = rng.random(50), np.zeros((sets.width, 256))
    np.add.at(totals, (columns, packed), weights[:, None])
    np.testing.assert_allclose(sets.totals_by_element(totals), weights @ bits)


@pytest.mark.parametrize("rows", [0, 1, 254, 255, 256, 1000, 40_000])
@pytest.mark.parametrize("columns", [1, 8, 13, 76, 600])
def test_packing_and_counting(rows, columns):
    bits = np.random.default_rng(rows + columns).random((rows, columns)) < 0.7
    sets = PackedSets(columns)
    packed = sets.pack(bits)
    np.testing.assert_array_equal(sets.counts(packed), bits.sum(axis=0))
    np.testing.assert_array_equal(sets.unpack(packed), bits)


@pytest.mark.parametrize("columns", [1, 76, 600])
def test_counts_of_ones_do_not_overflow_a_byte(columns):
    sets = PackedSets(columns)
    packed = sets.pack(np.ones((20_000, columns), dtype=bool))
    np.testing.assert_array_equal(sets.counts(packed), 20_000)


def test_counts_of_a_strided_array():
    rows = np.random.default_rng(2).integers(0, 256, (3000, 12), dtype=np.uint8)
    expected = np.unpackbits(rows[:, :10], axis=1, bitorder="little").sum(axis=0)
    np.testing.assert_array_equal(PackedSets(80).counts(rows[:, :10]), expected)
