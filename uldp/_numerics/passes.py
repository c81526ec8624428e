"""Passes over many sets A: sums of log L, 1/L, [x in A]/L and of 1/L² alike, L = base + slope q(A).

A byte of a set is looked up among the sums of all 256 subsets of its bits, and its weight is added
to one of 256 totals. Neighbouring sets add to different copies of these, since many bytes are alike
and the processor waits before it adds to the same total again. Sums are taken over chunks of sets
that do not depend on the number of threads, and added up in the order of the chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.chunks import chunks
from uldp._numerics.packed import PackedSets

Array = NDArray[np.float64]

SETS_AT_ONCE = 1 << 14
COPIES = 8
COPY = (np.arange(SETS_AT_ONCE) % COPIES * 256).astype(np.uint16)

COMPILED_FROM = 1 << 18
SETS_IN_CACHE = 1 << 13


class Sums(NamedTuple):
    """Sums over sets; those that hold an element are added up for each element.

    Attributes
    ----------
    log, inverse, square : float
        Of log L, 1/L and 1/L².
    inverse_within, square_within : (size,) ndarray
        Of 1/L and 1/L² over the sets that hold each element.
    """

    log: float
    inverse: float
    square: float
    inverse_within: Array
    square_within: Array


def over_sets(
    sets: NDArray[np.uint8],
    times: NDArray[np.int64],
    q: Array,
    base: float,
    slope: float,
    all_sums: bool = False,
) -> Sums:
    """Pass over all sets once.

    Parameters
    ----------
    sets : (⌈size/8⌉, m) ndarray of uint8
        A set per column.
    times : (m,) ndarray of int64
        How often each set counts.
    q : (size,) ndarray
        The mass of each element.
    base, slope : float
        What makes L of the mass of a set.
    all_sums : bool, optional
        Whether to sum log L and 1/L², too; else their sums are 0.
    """
    elements = PackedSets(q.size)
    tables = elements.masses_by_byte(q)
    compiled = _compiled() if sets.size >= COMPILED_FROM else None
    if compiled is None:
        scalars, by_byte = _in_numpy(sets, times, tables, base, slope, all_sums)
        within = [elements.totals_by_element(totals) for totals in by_byte]
    else:
        scalars, by_bit = _in_threads(compiled, sets, times, tables, base, slope, all_sums)
        within = [totals.ravel()[: q.size] for totals in by_bit]
    log, inverse, square = scalars.tolist()
    return Sums(log, inverse, square, *within)


def _in_numpy(
    sets: NDArray[np.uint8],
    times: NDArray[np.int64],
    tables: Array,
    base: float,
    slope: float,
    all_sums: bool,
) -> tuple[Array, Array]:
    """Return the sums over all sets, and those of 1/L and 1/L² over each value of each byte."""
    scalars = np.zeros(3)
    by_byte = np.zeros((2, len(sets), 256 * COPIES))
    for chunk in chunks(times.size, SETS_AT_ONCE):
        mass, found = np.zeros((2, times[chunk].size))
        for table, column in zip(tables, sets, strict=True):
            mass += np.take(table, column[chunk], out=found, mode="clip")
        likelihood = base + slope * mass
        inverse = times[chunk] / likelihood
        weights = inverse, inverse / likelihood
        scalars[1] += weights[0].sum()
        if all_sums:
            scalars[[0, 2]] += times[chunk] @ np.log(likelihood), weights[1].sum()
        copy = COPY[: mass.size]
        for totals, weight in zip(by_byte[: 1 + all_sums], weights, strict=False):
            for total, column in zip(totals, sets, strict=True):
                total += np.bincount(column[chunk] + copy, weight, minlength=total.size)
    return scalars, by_byte.reshape(2, len(sets), COPIES, 256).sum(axis=2)


@cache
def _compiled() -> Callable[..., None] | None:
    """Compile `_over_chunks` if there is a Numba that takes this NumPy."""
    try:
        import numba
    except ImportError:
        return None
    return numba.njit(nogil=True, cache=True)(_over_chunks)


def _in_threads(
    compiled: Callable[..., None],
    sets: NDArray[np.uint8],
    times: NDArray[np.int64],
    tables: Array,
    base: float,
    slope: float,
    all_sums: bool,
) -> tuple[Array, Array]:
    """Return the sums over all sets, and those of 1/L and 1/L² over each bit."""
    count = -(-times.size // SETS_IN_CACHE)
    scalars = np.zeros((count, 3))
    by_bit = np.zeros((count, 2, len(sets), 8))
    workers = min(_threads(), count)
    edges = [count * worker // workers for worker in range(workers + 1)]
    common = np.ascontiguousarray(sets), times, tables, base, slope, all_sums

    def work(first: int, last: int) -> None:
        compiled(*common, first, SETS_IN_CACHE, scalars[first:last], by_bit[first:last])

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, edges, edges[1:]))
    return scalars.sum(axis=0), by_bit.sum(axis=0)


def _threads() -> int:
    """Return the number of threads that Numba is told to use, by default one for each core."""
    import numba

    return int(numba.get_num_threads())


def _over_chunks(
    sets: Any,
    times: Any,
    tables: Any,
    base: float,
    slope: float,
    all_sums: bool,
    first: int,
    size: int,
    scalars: Any,
    by_bit: Any,
) -> None:
    """Write the sums over each chunk of `size` sets, from number `first`, for Numba to compile."""
    # The inner loops run along the sets of a chunk, whose masses and weights stay in the cache.
    mass = np.empty(size)
    weights = np.empty((2, size))
    totals = np.empty((COPIES, 256))
    for chunk in range(len(scalars)):
        start = (first + chunk) * size
        m = min(size, times.size - start)
        mass[:m] = 0.0
        # Two bytes at a time: a mass is then read and written half as often.
        for byte in range(0, len(sets) - 1, 2):
            table = tables[byte]
            column = sets[byte, start : start + m]
            next_table = tables[byte + 1]
            next_column = sets[byte + 1, start : start + m]
            for i in range(m):
                mass[i] += table[column[i]] + next_table[next_column[i]]
        if len(sets) % 2:
            table = tables[-1]
            column = sets[-1, start : start + m]
            for i in range(m):
                mass[i] += table[column[i]]
        for i in range(m):
            mass[i] = base + slope * mass[i]
            weights[0, i] = times[start + i] / mass[i]
            scalars[chunk, 1] += weights[0, i]
        if all_sums:
            for i in range(m):
                weights[1, i] = weights[0, i] / mass[i]
                scalars[chunk, 0] += times[start + i] * np.log(mass[i])
                scalars[chunk, 2] += weights[1, i]
        for power in range(2 if all_sums else 1):
            weight = weights[power]
            for byte in range(len(sets)):
                column = sets[byte, start : start + m]
                totals[:] = 0.0
                # Total v of a byte is the weight of the sets that have the value v there.
                for i in range(m):
                    totals[i % COPIES, column[i]] += weight[i]
                total = totals[0]
                for copy in range(1, COPIES):
                    total += totals[copy]
                # The values from 128 on have bit 7. Their sum is that bit's; added to the first 128
                # totals, they leave what the lower 7 bits decide, and so on for each bit.
                half = 128
                for bit in range(7, -1, -1):
                    upper = 0.0
                    for value in range(half):
                        upper += total[half + value]
                        total[value] += total[half + value]
                    by_bit[chunk, power, byte, bit] = upper
                    half //= 2
