"""The mechanisms and domains on which the tests enumerate."""

import itertools
from collections.abc import Iterator
from functools import partial

import numpy as np

import uldp

MECHANISMS = {
    "RR": uldp.RandomizedResponse,
    "RAPPOR": uldp.Rappor,
    "RAPPOR, θ = 1/2": partial(uldp.Rappor, theta=0.5),
    "uRR": uldp.UtilityOptimizedRR,
    "uRAP": uldp.UtilityOptimizedRappor,
    "uRAP, θ = 0.8": partial(uldp.UtilityOptimizedRappor, theta=0.8),
}


def domains(largest: int) -> Iterator[uldp.Domain]:
    """Every domain of at most that many values, with every subset of them sensitive."""
    for k in range(1, largest + 1):
        for size in range(k + 1):
            for sensitive in itertools.combinations(range(k), size):
                yield uldp.Domain(k, sensitive=sensitive)


def supports(mechanism: uldp.Mechanism) -> np.ndarray:
    """The 0/1 matrix of which output supports which value, by tallying each output alone."""
    return np.array([mechanism.tally(y[None]).counts for y in mechanism.outputs])


def random_distribution(rng: np.random.Generator, size: int) -> np.ndarray:
    """A distribution in which some values do not occur."""
    weights = rng.exponential(size=size) * (rng.random(size) < 0.8)
    weights[rng.integers(size)] += 0.1
    return weights / weights.sum()
