"""Random subsets of a given size, many at a time, and how often they hold each element."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.packed import PackedSets


def random_subsets(
    rng: np.random.Generator,
    own: NDArray[np.intp],
    held: NDArray[np.bool_],
    universe: int,
    size: int,
) -> NDArray[np.uint8]:
    """Return a random subset of range(universe) for each user, with or without her own element.

    Each subset of that size which holds the own element, or does not, is equally likely. It takes
    the same steps for all users, whether they have an own element or not and whatever it is.

    Floyd's algorithm on all rows at once draws one element more than wanted: in each of size + 1
    steps it adds one of the first universe - size, then one more, ... elements, and the last of
    these if the one drawn is there already. A random one of those is the spare and leaves. Then the
    own element changes places with the spare if it must stay out, and with a random element of the
    subset if it must be in. Where subsets are larger than their complements, these are drawn.

    Parameters
    ----------
    rng : Generator
        The source of randomness.
    own : (n,) ndarray of int
        The own elements; negative for a user without, whose subset is any of that size.
    held : (n,) ndarray of bool
        Whether a subset must hold the own element; without one it may be anything that was drawn
        independently. True for all if `size` is `universe`.
    universe : int
        The number of elements, 1 or more.
    size : int
        The size of the subsets, 1 to `universe`.

    Returns
    -------
    (n, ⌈universe/8⌉) ndarray of uint8
        Rows of bytes (see `PackedSets`).
    """
    drawn_size = min(size, universe - size)
    is_complement = drawn_size < size
    width = PackedSets(universe).width
    chosen = np.zeros((own.size, 8 * width), dtype=np.bool_)
    _mark(chosen, rng, own, held ^ is_complement, universe, drawn_size)
    if is_complement:
        chosen[:, :universe] ^= True
    return np.packbits(chosen, bitorder="little").reshape(own.size, width)


def _mark(
    chosen: NDArray[np.bool_],
    rng: np.random.Generator,
    own: NDArray[np.intp],
    held: NDArray[np.bool_],
    universe: int,
    size: int,
) -> None:
    """Mark the subsets of `random_subsets`, of a size from 0 to universe - 1, in rows of False."""
    # Each step of Floyd's algorithm draws one of the elements up to `last`, and adds `last` itself
    # where that is there already; then `last` grows by 1. All rows are one flat array.
    rows, width = chosen.shape
    flat = chosen.reshape(-1)
    start = np.arange(rows) * width
    last = start + universe - size - 1
    added = np.empty((size + 1, rows), dtype=np.intp)
    for step, place in enumerate(added):
        np.add(start, rng.integers(universe - size + step, size=rows), out=place)
        np.copyto(place, last, where=flat.take(place))
        flat[place] = True
        last += 1
    spare = rng.integers(size + 1, size=rows)
    # A random one of the added that is not the spare: from there on the numbers are one higher.
    member = rng.integers(max(size, 1), size=rows)
    member += member >= spare
    users = np.arange(rows)
    flat[added[spare, users]] = False
    # The partner has the mark that the own element must get, and the two swap. Where both have that
    # mark nothing changes; without an own element the partner swaps with itself.
    partner = added[np.where(held, member, spare), users]
    place = np.where(own < 0, partner, start + own)
    flat[partner] = flat.take(place)
    flat[place] = held


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
        first = occupied[0]
        end = occupied[-1] + 1
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
