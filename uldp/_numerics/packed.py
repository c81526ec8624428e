"""Sets as rows of bytes, a bit for each element, and integers of few bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.chunks import chunks

ROWS_PER_BYTE_SUM = 255
LEAST_RUN = 64
UNPACKED_IN_CACHE = 1 << 17


def integer_dtype(largest: int) -> np.dtype[np.unsignedinteger]:
    """Return the type of little-endian integers of 1, 2 or 4 bytes, the fewest that hold one."""
    return next(np.dtype(t) for t in ("<u1", "<u2", "<u4") if largest <= np.iinfo(t).max)


@dataclass(frozen=True)
class PackedSets:
    """Subsets of 0, ..., size - 1 as rows of bytes.

    The first of eight elements is the least significant bit; the last byte is filled up with zeros.

    Attributes
    ----------
    size : int
        The number of elements.
    """

    size: int

    @property
    def width(self) -> int:
        """The number of bytes of a set."""
        return -(-self.size // 8)

    @property
    def last_byte(self) -> int:
        """The largest last byte of a set, whose bits are those of elements."""
        return 255 >> -self.size % 8

    def pack(self, members: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """Return the sets of the elements that are marked in each row, shape (n, width)."""
        return np.packbits(members, axis=1, bitorder="little")

    def unpack(self, sets: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return which elements each set holds, shape (n, size)."""
        bits = np.unpackbits(sets, axis=1, count=self.size, bitorder="little")
        return bits.view(np.bool_)

    def all(self) -> NDArray[np.uint8]:
        """Return all sets, the first element the most significant digit of their number."""
        numbers = np.arange(1 << self.size)[:, None]
        return self.pack((numbers >> np.arange(self.size)[::-1] & 1).astype(np.bool_))

    def place(self, elements: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Return the byte of each element, and that byte with its bit alone."""
        byte, bit = np.divmod(elements, 8)
        return byte.astype(np.intp), np.left_shift(1, bit).astype(np.uint8)

    def sizes(self, sets: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the number of elements of each set."""
        sizes: NDArray[np.int64] = np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
        return sizes

    def counts(self, sets: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return how many of the sets hold each element, shape (size,).

        Sums of 255 bits fit a byte; short rows are laid side by side, so that bytes add in long
        runs.
        """
        totals = np.zeros(8 * self.width, dtype=np.int64)
        beside = -(-LEAST_RUN // max(self.width, 1))
        together = ROWS_PER_BYTE_SUM * beside
        step = together * max(1, UNPACKED_IN_CACHE // (together * max(self.width, 1)))
        for chunk in chunks(len(sets) if self.size else 0, step):
            rows = np.ascontiguousarray(sets[chunk])
            whole = len(rows) - len(rows) % together
            bits = np.unpackbits(rows, bitorder="little").reshape(len(rows), totals.size)
            runs = bits[:whole].reshape(-1, ROWS_PER_BYTE_SUM, beside, totals.size)
            totals += runs.sum(axis=1, dtype=np.uint8).sum(axis=(0, 1), dtype=np.int64)
            totals += bits[whole:].sum(axis=0, dtype=np.int64)
        return totals[: self.size]

    def masses_by_byte(self, masses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mass of the elements in each of the 256 values of each byte.

        Parameters
        ----------
        masses : (size,) ndarray
            The mass of each element.

        Returns
        -------
        (width, 256) ndarray
        """
        padded = np.pad(masses, (0, 8 * self.width - self.size))
        masses_of_bytes: NDArray[np.float64] = padded.reshape(-1, 8) @ _BITS_OF_BYTES.T
        return masses_of_bytes

    def totals_by_element(self, by_byte: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each element the sum over the bytes that hold it, undoing `masses_by_byte`.

        Parameters
        ----------
        by_byte : (width, 256) ndarray
            A number for each value of each byte.

        Returns
        -------
        (size,) ndarray
        """
        totals: NDArray[np.float64] = (by_byte @ _BITS_OF_BYTES).ravel()
        return totals[: self.size]


_BITS_OF_BYTES = PackedSets(8).unpack(np.arange(256, dtype=np.uint8)[:, None]).astype(float)
