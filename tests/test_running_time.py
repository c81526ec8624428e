"""The benchmark of the running time computes what it says, and runs at small sizes."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from cases import domains

import uldp
from uldp.likelihood import em, log_likelihood, maximum_likelihood

pytest.importorskip("numba")  # whose threads the benchmark counts

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def running_time(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import running_time

    return running_time


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


def test_em_starts_from_the_threshold_and_ends_by_the_rule(running_time):
    """The steps are the fewest after which one changes the estimate by no more than the rule."""
    case = running_time.Case("EM", "uRR", (4, 2_000))
    rows = {(row[6], float(row[7])): float(row[8]) for row in case.em_from_threshold()}
    for rule in running_time.SMALLEST_CHANGES:
        p = case.mechanism.estimate(case.reports, "threshold")
        changes = []
        for _ in range(int(rows["steps of EM", rule])):
            after = em(case.evidence, p, 1)
            changes.append(np.abs(after - p).sum())
            p = after
        assert changes[-1] <= rule < min(changes[:-1])
        assert rows["TV", rule] == pytest.approx(np.abs(p - case.truth).sum() / 2, rel=1e-3)
        best = maximum_likelihood(case.evidence).p
        below = log_likelihood(case.evidence, best) - log_likelihood(case.evidence, p)
        assert rows["log-likelihood below the largest", rule] == pytest.approx(below, rel=1e-3)


@pytest.mark.parametrize(
    ("words", "table", "series"),
    [
        ([], "running_time.csv", {"table", "by k", "by n", "by epsilon", "passes"}),
        (["--em"], "running_time_em.csv", {"EM"}),
    ],
)
def test_quick_runs_leave_the_stored_tables_alone(words, table, series):
    path = BENCHMARKS / "results" / table
    before = path.read_bytes()
    call = [sys.executable, "running_time.py", "--quick", *words]
    run = subprocess.run(
        call, cwd=BENCHMARKS, env=os.environ, capture_output=True, text=True, check=True
    )
    assert path.read_bytes() == before
    assert {line.split("  ")[0] for line in run.stdout.splitlines()} == series
