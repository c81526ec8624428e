"""Exact Bernoulli bits, a byte at a time.

A byte of bits that are 1 with probability q has one of 256 values, whose probabilities are whole
multiples of a power of 1/2, because q as a double is one. A random number of 16 bits picks most
bytes from a table that holds each value as often as its probability allows; the few numbers that
are left over stand for what was rounded away, and there 64 further bits or more decide. The law is
that of q to its last binary digit, at little more than two random bits for a bit.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.chunks import chunks

INDEX_BITS = 16
BYTES_AT_ONCE = 1 << 20


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
    law = byte_law(float(min(probability, complement)))
    drawn = np.empty(size, dtype=np.uint8)
    for chunk in chunks(size, BYTES_AT_ONCE):
        part = drawn[chunk]
        index = _words(rng, -(-part.size // 4)).view(np.uint16)[: part.size]
        np.take(law.common, index, out=part, mode="clip")
        rare = np.flatnonzero(index >= law.rare_from)
        part[rare] = law.draw_rare(rng, rare.size)
    if complement < probability:
        np.invert(drawn, out=drawn)
    return drawn


class ByteLaw:
    """The law of a byte whose bits are independently 1 with probability q.

    Attributes
    ----------
    common : (65536,) ndarray of uint8
        Each byte as often as 65536 times its probability, rounded down; then zeros.
    rare_from : int
        Where those zeros start.
    bounds : list of int
        The cumulative law of the byte where `common` gives none, as numerators over `total`.
    total : int
        The common denominator.
    """

    def __init__(self, q: float) -> None:
        ones, denominator = q.as_integer_ratio()
        weight = [ones**j * (denominator - ones) ** (8 - j) for j in range(9)]
        weights = [weight[byte.bit_count()] << INDEX_BITS for byte in range(256)]
        shares = [divmod(w, denominator**8) for w in weights]
        times = [whole for whole, _ in shares]
        self.rare_from = sum(times)
        self.common = np.zeros(1 << INDEX_BITS, dtype=np.uint8)
        self.common[: self.rare_from] = np.repeat(np.arange(256, dtype=np.uint8), times)
        self.bounds = list(accumulate(rest for _, rest in shares))
        self.total = self.bounds[-1]

    def draw_rare(self, rng: np.random.Generator, size: int) -> NDArray[np.uint8]:
        """Draw bytes from the law of those that `common` does not give."""
        if not size:
            return np.empty(0, dtype=np.uint8)
        words = _words(rng, size)
        drawn = np.searchsorted(self._leading_words, words, side="right")
        for tie in np.flatnonzero(np.isin(words, self._leading_words)):
            drawn[tie] = self._settle(int(words[tie]), rng)
        return drawn.astype(np.uint8)

    @property
    def _leading_words(self) -> NDArray[np.uint64]:
        """The first 64 binary digits of each cumulative probability below 1."""
        return np.array([(b << 64) // self.total for b in self.bounds[:-1]], dtype=np.uint64)

    def _settle(self, number: int, rng: np.random.Generator) -> int:
        """Draw further digits of a uniform number until it is told apart from all bounds."""
        digits = 64
        total = self.total
        while any(number * total < b << digits < (number + 1) * total for b in self.bounds):
            number = number << 64 | int(_words(rng, 1)[0])
            digits += 64
        return sum(b << digits <= number * total for b in self.bounds)


byte_law = lru_cache(maxsize=64)(ByteLaw)
"""The law of a byte of bits that are 1 with probability q, from a small cache."""


def _words(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    return rng.integers(1 << 64, size=size, dtype=np.uint64)
