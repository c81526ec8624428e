"""CRC-32 of many slices of the same bytes, in the time of reading these once.

The checksum of a slice follows from those of what comes before its beginning and before its end:
crc(B) = crc(A B) ^ crc(A 0...0) for as many zeros as B has bytes, but for constants that cancel. To
append zeros is a linear map over GF(2), of which the powers are composed by repeated squaring.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["crc_of_slices"]

Words = NDArray[np.uint32]


def crc_of_slices(data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Words:
    """Return the CRC-32, as of `zlib.crc32`, of each slice ``data[start:end]``."""
    places, where = np.unique(np.concatenate([starts, ends]), return_inverse=True)
    view = memoryview(data)
    sums = np.empty(places.size, dtype=np.uint32)
    crc = 0
    before = 0
    for number, place in enumerate(places.tolist()):
        crc = zlib.crc32(view[before:place], crc)
        sums[number] = crc
        before = place
    first, last = sums[where].reshape(2, -1)
    found: Words = last ^ _with_zeros(first, ends - starts)
    return found


def _with_zeros(crcs: Words, lengths: NDArray[np.int64]) -> Words:
    """Return what becomes of checksums by so many zero bytes behind them."""
    moved = crcs.copy()
    image = _by_one_zero(np.uint32(1) << np.arange(32, dtype=np.uint32))
    while lengths.any():
        odd = lengths % 2 == 1
        moved[odd] = _apply(image, moved[odd])
        image = _apply(image, image)
        lengths = lengths // 2
    return moved


def _by_one_zero(crcs: Words) -> Words:
    """Return what becomes of checksums, without their constants, by a zero byte behind them."""
    table = np.array([zlib.crc32(bytes([byte])) for byte in range(256)], dtype=np.uint32)
    moved: Words = (crcs >> np.uint32(8)) ^ table[crcs & np.uint32(255)] ^ table[0]
    return moved


def _apply(image: Words, words: Words) -> Words:
    """Apply a linear map, given by the images of the 32 bits, to words, a byte at a time."""
    result = np.zeros_like(words)
    for first in range(0, 32, 8):
        table = np.zeros(1, dtype=np.uint32)
        for bit in image[first : first + 8]:
            table = np.concatenate([table, table ^ bit])
        result ^= table[words >> np.uint32(first) & np.uint32(255)]
    return result
