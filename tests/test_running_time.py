"""The benchmark of the running time computes what it says, and runs at small sizes."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from cases import MECHANISMS, domains

import uldp
from uldp.likelihood import em, maximum_likelihood

pytest.importorskip("numba")  # whose threads the benchmark counts

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def running_time(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import running_time

    return running_time


@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS.keys())
def test_a_step_of_dense_em_is_a_step_of_em(running_time, make):
    rng = np.random.default_rng(1)
    for domain in domains(5):
        mechanism = make(domain, rng.uniform(0.5, 3))
        reports = mechanism.privatize(rng.integers(domain.size, size=40), rng)
        p = rng.dirichlet(np.ones(domain.size))
        dense = running_time.dense_em(mechanism, reports)(p)
        np.testing.assert_allclose(dense, em(mechanism.evidence(reports), p, 1), rtol=1e-12)


def test_a_value_may_be_revealed_by_two_bytes(running_time):
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(400, sensitive=range(9)), 8.0)
    reports = mechanism.privatize(np.arange(400))
    p = np.full(400, 1 / 400)
    dense = running_time.dense_em(mechanism, reports)(p)
    np.testing.assert_allclose(dense, em(mechanism.evidence(reports), p, 1), rtol=1e-12)


def test_the_steps_of_em_are_the_fewest(running_time):
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(6, sensitive=[0, 1, 2]), 2.0)
    evidence = mechanism.evidence(mechanism.privatize(np.arange(6).repeat([50, 9, 3, 2, 2, 1]), 1))
    best = maximum_likelihood(evidence).p
    steps = running_time.em_steps(evidence, (1e-2, 1e-4), 1000)
    assert 0 < steps[1e-2] < steps[1e-4]
    for tolerance, number in steps.items():
        for more in (-1, 0):
            p = em(evidence, np.full(6, 1 / 6), number + more)
            certificate = (em(evidence, p, 1) / p).max() - 1
            assert (certificate <= tolerance) == (more == 0)
    assert np.abs(p - best).max() < 0.05
    assert running_time.em_steps(evidence, (1e-4,), steps[1e-4] - 1) == {}


def test_the_quick_run_leaves_the_stored_table_alone():
    table = BENCHMARKS / "results" / "running_time.csv"
    before = table.read_bytes()
    call = [sys.executable, "running_time.py", "--quick"]
    run = subprocess.run(
        call, cwd=BENCHMARKS, env=os.environ, capture_output=True, text=True, check=True
    )
    assert table.read_bytes() == before
    assert {line.split("  ")[0] for line in run.stdout.splitlines()} == {
        *("table", "steps", "by k", "by n", "by epsilon", "passes"),
    }
