"""Measure whether the time of `privatize` tells the class of a value, and fail if it does.

    python tests/timing.py

Each value is privatized alone with a fresh secure generator, sensitive and non-sensitive ones in
random order. They are compared all together, for who sees the time alone, and among those with a
protected report, for who sees that, too; where a value is revealed nothing is left to be told. The
AUC is the chance that a call for a sensitive value takes longer than one for another.
"""

import gc
import sys
import time

import numpy as np
from scipy.stats import rankdata

import uldp
from uldp.personalized import PersonalizedMechanism, TaggedDomain
from uldp.survey import secure

MOST_AUC = 0.60
EPSILON = 1.0
SIZES = {20: 2000, 20_000: 300}
"""The numbers of values, each with the number of protected reports to be timed of each class."""
WARM_UP = 20
MAKERS = {
    "RR": uldp.RandomizedResponse,
    "RAPPOR": uldp.Rappor,
    "uRR": uldp.UtilityOptimizedRR,
    "uRAP": uldp.UtilityOptimizedRappor,
    "uBD": uldp.UtilityOptimizedBlockDesign,
    "uHR": uldp.UtilityOptimizedHadamard,
}


def auc(slow: np.ndarray, fast: np.ndarray) -> float:
    """Return the chance that one of `slow` exceeds one of `fast`, ties counted by half."""
    ranks = rankdata(np.concatenate([slow, fast]))[: slow.size]
    return float((ranks.sum() - slow.size * (slow.size + 1) / 2) / (slow.size * fast.size))


def is_protected(mechanism: uldp.Mechanism, report: np.ndarray) -> bool:
    """Tell whether a report reveals no value, without listing all reports."""
    return not mechanism.evidence(np.asarray(report)[None]).revealed.any()


def compared(device, mechanism, classes, wanted: int) -> list[float]:
    """Return the AUC of all calls for values of two classes, and of the protected reports."""
    rng = np.random.default_rng(1)
    every: list[list[float]] = [[], []]
    times: list[list[float]] = [[], []]
    for values in classes:
        for value in values[:WARM_UP]:
            device.privatize(int(value), rng=secure.generator())
    while min(map(len, times)) < wanted:
        number = int(rng.integers(2))
        value = int(rng.choice(classes[number]))
        generator = secure.generator()
        start = time.perf_counter()
        report = device.privatize(value, rng=generator)
        end = time.perf_counter()
        every[number].append(end - start)
        if is_protected(mechanism, report):
            times[number].append(end - start)
    return [auc(*map(np.array, each)) for each in (every, times)]


def measure(name: str, k: int, wanted: int) -> list[float]:
    """Return both AUC of a mechanism of k values, half of them sensitive."""
    domain = uldp.Domain(k, sensitive=range(k // 2))
    mechanism = MAKERS[name](domain, EPSILON)
    classes = [domain.sensitive, domain.nonsensitive]
    return compared(mechanism, mechanism, classes, wanted)


def measure_secret(name: str, k: int, wanted: int) -> list[float]:
    """Return both AUC of a user's own mechanism: her own sensitive values against the others."""
    domain = uldp.Domain(k, sensitive=range(k // 4))
    common = MAKERS[name](TaggedDomain(domain, ["home"]), EPSILON)
    own = np.arange(k // 4, k // 2)
    user = PersonalizedMechanism(common, dict.fromkeys(own.tolist(), "home"))
    return compared(user, common, [own, np.arange(k // 2, k)], wanted)


def main() -> int:
    """Print the table; return 1 if a class is told from the other."""
    gc.disable()
    worst = 0.5
    names = ("AUC", "protected", "secret: AUC", "protected")
    print(f"{'mechanism':<12}{'values':>8}" + "".join(f"{name:>13}" for name in names))
    for k, wanted in SIZES.items():
        for name in MAKERS:
            found = [*measure(name, k, wanted), *measure_secret(name, k, wanted)]
            worst = max(worst, *(max(each, 1 - each) for each in found))
            cells = "".join(f"{each:>13.3f}" for each in found)
            print(f"{name:<12}{k:>8}{cells}", flush=True)
    print(f"at most {worst:.3f}; allowed is {MOST_AUC:.2f}")
    return int(worst > MOST_AUC)


if __name__ == "__main__":
    sys.exit(main())
