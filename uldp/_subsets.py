"""Random subsets of a given size, many at a time, and how often they hold each element."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def random_subsets(
    rng: np.random.Generator, rows: int, universe: int, size: int
) -> NDArray[np.bool_]:
    """Return `rows` independent subsets of range(universe), each of that size equally likely.

    Floyd's algorithm on all rows at once, on the complements where these are smaller: the i-th of
    `size` steps adds one of the first universe - size + i elements, and the last of these if the
    one drawn is there already.

    Returns
    -------
    (rows, universe) ndarray of bool
    """
    if 2 * size > universe:
        return ~random_subsets(rng, rows, universe, universe - size)
    chosen = np.zeros((rows, universe), dtype=np.bool_)
    flat, start = chosen.reshape(-1), np.arange(rows) * universe
    for last in range(universe - size, universe):
        drawn = start + rng.integers(last + 1, size=rows)
        flat[np.where(flat[drawn], start + last, drawn)] = True
    return chosen


def random_subsets_around(
    rng: np.random.Generator, own: NDArray[np.int32], universe: int, size: int, included: bool
) -> NDArray[np.bool_]:
    """Return a subset of range(universe) for each of the given elements, with it or without it.

    The others in it, `size` in number, are uniformly random.

    Returns
    -------
    (rows, universe) ndarray of bool
    """
    rows = np.arange(own.size)
    chosen = np.zeros((own.size, universe), dtype=np.bool_)
    chosen[:, :-1] = random_subsets(rng, own.size, universe - 1, size)
    chosen[:, -1] = chosen[rows, own]
    chosen[rows, own] = included
    return chosen


def column_counts(
    rng: np.random.Generator,
    included: NDArray[np.int64],
    excluded: NDArray[np.int64],
    others: int,
    size: int,
) -> NDArray[np.int64]:
    """Draw how many of many users' random sets hold each of s elements, without drawing the sets.

    A user's set is uniform among those of the given size that include or exclude her own element,
    or, for the others, among all. Element after element, users are kept apart by the places that
    are still left in their sets only: three histograms, for those whose own element is still to
    come and included, still to come and excluded, or past. Before her own element comes, a user's
    set does not depend on which one it is, so those whose element comes next are drawn from their
    histogram without replacement. This takes s steps, each on the few numbers of places that occur:
    at most `size` + 1, and about √size times log n; it takes no more time for more users.

    Parameters
    ----------
    rng : Generator
        The source of randomness.
    included, excluded : (s,) ndarray of int
        How many users include and exclude each element as their own; fewer than 10^9 in all.
    others : int
        How many users have none of their own.
    size : int
        The size of every set, 1 to s.

    Returns
    -------
    (s,) ndarray of int
    """
    counts = included.copy()
    users = np.zeros((3, size + 2), dtype=np.int64)  # column j: those with j - 1 places left
    users[[0, 1, 2], [size, size + 1, size + 1]] = included.sum(), excluded.sum(), others
    if not users.any():
        return counts
    places = np.arange(-1.0, size + 1)
    for x, left in enumerate(range(included.size, 0, -1)):
        (occupied,) = users.sum(axis=0).nonzero()
        first, end = occupied[0], occupied[-1] + 1
        waiting = users[:, first:end]
        arrived = np.zeros(end - first, dtype=np.int64)
        for row, own in enumerate((included[x], excluded[x])):
            if own:
                drawn = rng.multivariate_hypergeometric(waiting[row], own, method="marginals")
                waiting[row] -= drawn
                arrived += drawn
        free = np.maximum([[left - 1], [left - 1], [left]], 1)
        taking = rng.binomial(waiting, np.minimum(places[first:end] / free, 1))
        counts[x] += taking.sum()
        waiting -= taking
        waiting[2] += arrived
        users[:, first - 1 : end - 1] += taking
    return counts
