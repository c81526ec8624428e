"""Hypothesis strategies for random mechanisms with rational entries."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from uldp.privacy import Channel


@dataclass(frozen=True)
class Drawn:
    channel: Channel
    sensitive: set[int]

    @property
    def sensitive_list(self) -> list[int]:
        return sorted(self.sensitive)


@st.composite
def uldp_channels(draw: st.DrawFn, inputs: int) -> Drawn:
    """Any ULDP mechanism: shared outputs without zeros, and own ones of non-sensitive inputs."""
    protected = draw(st.integers(1, 3))
    sensitive = draw(st.sets(st.integers(0, inputs - 1), max_size=inputs))
    rows = st.lists(st.integers(1, 6), min_size=protected, max_size=protected)
    matrix = np.full((inputs, protected + inputs), Fraction(0))
    for x in range(inputs):
        weights = draw(rows)
        shown = Fraction(0) if x in sensitive else Fraction(draw(st.integers(0, 3)), 4)
        matrix[x, :protected] = [(1 - shown) * Fraction(w, sum(weights)) for w in weights]
        matrix[x, protected + x] = shown
    return Drawn(Channel(matrix, np.arange(protected + inputs) < protected), sensitive)


@st.composite
def osldp_matrices(draw: st.DrawFn) -> tuple[np.ndarray, set[int]]:
    """Any OSLDP mechanism, its corners among them.

    Each output is reached by all sensitive inputs and then by all inputs, or by non-sensitive ones
    alone. Drawn are also: no output of the second kind, or some input that does not use them; one
    sensitive input, all, or none; equal rows; and outputs that nothing reaches.
    """
    inputs = draw(st.integers(1, 4))
    sensitive = draw(st.sets(st.integers(0, inputs - 1)))
    shared, own = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    matrix = np.full((inputs, shared + own), Fraction(0))
    equal_rows = draw(st.booleans())
    common = draw(st.lists(st.integers(1, 6), min_size=shared, max_size=shared))
    for x in range(inputs):
        on_shared = (
            common
            if equal_rows
            else draw(st.lists(st.integers(1, 6), min_size=shared, max_size=shared))
        )
        on_own = (
            [0] * own
            if x in sensitive
            else draw(st.lists(st.integers(0, 6), min_size=own, max_size=own))
        )
        weights = [*on_shared, *on_own]
        matrix[x] = [Fraction(w, sum(weights)) for w in weights]
    return matrix[:, draw(st.permutations(range(shared + own)))], sensitive


def exact_levels(channel: Channel, sensitive: set[int]) -> Fraction | float:
    """e^ε of a channel, from the definition and in fractions: infinity where it is no ULDP."""
    largest = Fraction(1)
    for y, column in enumerate(channel.matrix.T):
        reached = {int(x) for x in np.flatnonzero(column > 0)}
        if not reached:
            continue
        if not channel.protected[y]:
            if len(reached) > 1 or reached & sensitive:
                return np.inf
        elif len(reached) < len(column):
            return np.inf
        else:
            largest = max(largest, max(column) / min(column))
    return largest
