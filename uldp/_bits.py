"""Exact Bernoulli bits by the word, and sums over packed bits by the column.

A bit that is 1 with probability q is the comparison U < q of a uniform number with q, made one
binary digit at a time: the first digit in which the two differ decides, so that two random bits
settle a comparison on average. Here 64 comparisons advance together in a word; after a few digits
only the words with an open comparison go on. The law is that of q to its last binary digit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

ALL_ONES = np.uint64(2**64 - 1)
WORDS_IN_CACHE = 1 << 14
DIGITS_FOR_ALL = 8
ROWS_PER_BYTE_SUM = 255
LEAST_RUN = 64


def bernoulli(
    rng: np.random.Generator, probability: float, complement: float, size: int
) -> NDArray[np.bool_]:
    """Return `size` independent booleans, true with the given probability (see `random_bytes`)."""
    packed = random_bytes(rng, probability, complement, -(-size // 8))
    return np.unpackbits(packed, count=size).view(np.bool_)


def random_bytes(
    rng: np.random.Generator, probability: float, complement: float, size: int
) -> NDArray[np.uint8]:
    """Return `size` bytes whose bits are independently 1 with the given probability.

    The probability and its complement are both given because the smaller of them carries the
    precision: 1 - 1e-12 as a double knows its distance from 1 to four digits only.
    """
    words = np.empty(-(-size // 8), dtype=np.uint64)
    for block in blocks(words.size, WORDS_IN_CACHE):
        words[block] = _random_words(rng, min(probability, complement), words[block].size)
    if complement < probability:
        np.invert(words, out=words)
    return words.view(np.uint8)[:size]


def _random_words(rng: np.random.Generator, probability: float, size: int) -> NDArray[np.uint64]:
    ones = np.zeros(size, dtype=np.uint64)
    undecided = np.full(size, ALL_ONES)
    remaining = probability
    for _ in range(DIGITS_FOR_ALL):
        if remaining == 0:
            return ones
        remaining, digit = _next_digit(remaining)
        tied = _uniform_words(rng, size)
        if digit:
            tied &= undecided
            undecided ^= tied
            ones |= undecided
            undecided = tied
        else:
            undecided &= np.invert(tied, out=tied)
    active = np.flatnonzero(undecided != 0)
    while remaining > 0 and active.size:
        remaining, digit = _next_digit(remaining)
        still = undecided[active]
        heads = _uniform_words(rng, active.size) & still
        if digit:
            ones[active] |= still ^ heads
            still = heads
        else:
            still ^= heads
        undecided[active] = still
        active = active[still != 0]
    return ones


def _next_digit(fraction: float) -> tuple[float, bool]:
    doubled = 2 * fraction
    return (doubled - 1, True) if doubled >= 1 else (doubled, False)


def _uniform_words(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    return rng.integers(ALL_ONES, size=size, dtype=np.uint64, endpoint=True)


def column_sums(packed: NDArray[np.uint8], columns: int) -> NDArray[np.int64]:
    """Return how often each of the first `columns` bits is 1 over the rows of packed bits.

    Sums of 255 bits fit a byte; short rows are laid side by side, so that bytes add in long runs.
    """
    width = packed.shape[1]
    beside = -(-LEAST_RUN // max(width, 1))
    together = ROWS_PER_BYTE_SUM * beside
    totals = np.zeros(8 * width, dtype=np.int64)
    for block in blocks(len(packed), together * max(1, 8 * WORDS_IN_CACHE // (together * width))):
        rows = np.ascontiguousarray(packed[block])
        whole = len(rows) - len(rows) % together
        runs = np.unpackbits(rows[:whole], bitorder="little").reshape(
            whole // together, ROWS_PER_BYTE_SUM, beside, 8 * width
        )
        totals += runs.sum(axis=1, dtype=np.uint8).sum(axis=(0, 1), dtype=np.int64)
        totals += unpack(rows[whole:], 8 * width).sum(axis=0, dtype=np.int64)
    return totals[:columns]


def pack(bits: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Pack rows of bits into bytes, the first bit of eight the least significant."""
    return np.packbits(bits, axis=1, bitorder="little")


def unpack(packed: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    """Return the first `columns` bits of each row, undoing `pack`."""
    return np.unpackbits(packed, axis=1, count=columns, bitorder="little")


def blocks(size: int, step: int) -> Iterator[slice]:
    """Cut range(size) into consecutive slices of `step`, the last one shorter."""
    return (slice(start, min(start + step, size)) for start in range(0, size, step))
