"""The mechanisms and domains on which the tests enumerate, and a test of what is drawn."""

import importlib.util
import itertools
import runpy
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

import uldp
from uldp.decoders import Bernoulli, SupportDecoder
from uldp.survey.wire import Reason

ROOT = Path(__file__).parents[1]
EXECUTABLE = runpy.run_path(str(ROOT / "tools" / "browsers.py"))["EXECUTABLE"]


def module_at(path: str) -> ModuleType:
    """A file that belongs to no package, as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DRAWN_AS_STORED = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) >= "2.5.0",
    reason="since NumPy 2.5 corrected them, some binomial numbers are others",
)
"""For what repeats the draws of a stored table, to its last digit."""


def one_size(domain: uldp.Domain, epsilon: float) -> uldp.UtilityOptimizedBlockDesign:
    """The block design with sets of half of the sensitive values, one of them if they are few."""
    s = domain.sensitive.size if isinstance(domain, uldp.Domain) else 0
    return uldp.UtilityOptimizedBlockDesign(domain, epsilon, (s + 1) // 2 if s else None)


def all_sizes(domain: uldp.Domain, epsilon: float) -> uldp.UtilityOptimizedBlockDesign:
    """The block design with sets of 1 to s values, larger ones more often."""
    s = domain.sensitive.size if isinstance(domain, uldp.Domain) else 0
    weights = {d: 2 * d / (s * (s + 1)) for d in range(1, s + 1)}
    return uldp.UtilityOptimizedBlockDesign(domain, epsilon, weights)


MECHANISMS = {
    **uldp.mechanisms.MECHANISMS,
    "RAPPOR, θ = 1/2": partial(uldp.Rappor, theta=0.5),
    "uRAP, θ = 0.8": partial(uldp.UtilityOptimizedRappor, theta=0.8),
    "uBD, one size": one_size,
    "uBD, all sizes": all_sizes,
}

BY_SUPPORT = {
    name: make
    for name, make in MECHANISMS.items()
    if isinstance(make(uldp.Domain(2), 1.0).decoder, SupportDecoder)
}
"""Those whose estimate of each value hangs on one count."""


def domains(largest: int) -> Iterator[uldp.Domain]:
    """Every domain of at most that many values, with every subset of them sensitive."""
    for k in range(1, largest + 1):
        for size in range(k + 1):
            for sensitive in itertools.combinations(range(k), size):
                yield uldp.Domain(k, sensitive=sensitive)


def supports(mechanism: uldp.Mechanism) -> np.ndarray:
    """The 0/1 matrix of which output supports which value, by tallying each output alone."""
    return np.array([mechanism.tally(y[None]).counts for y in mechanism.outputs])


def rows_of(mechanism: uldp.Mechanism, method: str = "empirical") -> np.ndarray:
    """The estimates from single reports, shape (|Y|, k)."""
    return np.array([mechanism.estimate(y[None], method) for y in mechanism.outputs])


def compositions(n: int, parts: int) -> np.ndarray:
    """All ways to write n as a sum of so many numbers."""
    bars = itertools.combinations(range(n + parts - 1), parts - 1)
    return np.array([np.diff([-1, *chosen, n + parts - 1]) - 1 for chosen in bars])


def bernoulli_of(mechanism: uldp.Mechanism, x: int) -> Bernoulli:
    """The Bernoulli number of one entry."""
    return Bernoulli(*(float(of_all[x]) for of_all in mechanism.decoder.as_bernoulli()))


def random_distribution(rng: np.random.Generator, size: int) -> np.ndarray:
    """A distribution in which some values do not occur."""
    weights = rng.exponential(size=size) * (rng.random(size) < 0.8)
    weights[rng.integers(size)] += 0.1
    return weights / weights.sum()


def chi_square(observed: np.ndarray, probabilities: np.ndarray) -> float:
    """The p-value of counts under a law; rare outcomes are pooled, if few with a common one."""
    expected = probabilities * observed.sum()
    common = expected >= 5
    assert observed[probabilities == 0].sum() == 0
    pooled = [np.append(x[common], x[~common].sum()) for x in (observed, expected)]
    if pooled[1][-1] < 5:
        pooled = [np.append(x[:-2], x[-2:].sum()) for x in pooled]
    if len(pooled[0]) == 1:
        return 1.0
    return stats.chisquare(*pooled, sum_check=False).pvalue


def reasons_of(reading: uldp.survey.surveys.Reading) -> dict[str, int]:
    """Why messages were refused, and how many reports were left out, as one mapping."""
    left_out = {Reason.IMPOSSIBLE: reading.impossible} if reading.impossible else {}
    return {**reading.refused, **left_out}
