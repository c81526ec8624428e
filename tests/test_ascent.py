"""The two quadratics of the ascent against general optimizers, and passes against plain sums."""

import sys

import numpy as np
import pytest
from scipy.optimize import minimize

from uldp._numerics import ascent, passes
from uldp._numerics.ascent import Point
from uldp._numerics.packed import PackedSets

SEEDS = range(20)


def top_by_scipy(rise: np.ndarray, hessian: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The q' on the simplex of largest rise·(q' - q) - (q' - q)ᵀ hessian (q' - q)/2."""
    found = minimize(
        lambda x: (x - q) @ hessian @ (x - q) / 2 - rise @ (x - q),
        q,
        jac=lambda x: hessian @ (x - q) - rise,
        method="SLSQP",
        bounds=[(0, 1)] * q.size,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x


@pytest.mark.parametrize("seed", SEEDS)
def test_nearest(seed):
    rng = np.random.default_rng(seed)
    center, weights = rng.normal(0.3, 0.5, size=6), rng.uniform(0.1, 10, size=6)
    q = np.full(6, 1 / 6)
    wanted = top_by_scipy(weights * (center - q), np.diag(weights), q)
    found = ascent.nearest(center, weights)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert found.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_top_of_the_quadratic_with_a_rank_one_part(seed):
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(6))
    diagonal, rank_one, gradient = rng.uniform(0.5, 5, 6), rng.uniform(0, 3, 6), rng.normal(size=6)
    wanted = top_by_scipy(gradient, np.diag(diagonal) + np.outer(rank_one, rank_one), q)
    found = ascent.scaled_target(Point(q, 0.0, gradient, diagonal, rank_one))
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_the_way_along_the_rank_one_part_is_found_in_few_steps(monkeypatch):
    """What it is the root of consists of few straight pieces, and secants end on such a one."""
    calls = []
    nearest = ascent.nearest
    monkeypatch.setattr(ascent, "nearest", lambda *given: calls.append(0) or nearest(*given))
    for seed in range(100):
        rng = np.random.default_rng(seed)
        q, diagonal = rng.dirichlet(np.ones(6)), rng.uniform(0.5, 5, 6)
        rank_one, gradient = rng.uniform(0, 3, 6), rng.normal(size=6)
        ascent.scaled_target(Point(q, 0.0, gradient, diagonal, rank_one))
    assert len(calls) / 100 < 9


def test_a_level_rank_one_part_changes_nothing():
    q, gradient, diagonal = np.array([0.2, 0.3, 0.5]), np.array([1.0, -1.0, 0.2]), np.ones(3)
    plain = ascent.scaled_target(Point(q, 0.0, gradient, diagonal, np.zeros(3)))
    level = ascent.scaled_target(Point(q, 0.0, gradient, diagonal, np.full(3, 7.0)))
    np.testing.assert_allclose(level, plain, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rows", [3, 30])
def test_the_top_of_the_exact_quadratic(seed, rows):
    rng = np.random.default_rng(seed)
    linear, q = rng.uniform(0.1, 5, size=(rows, 4)), rng.dirichlet(np.ones(4))
    forms = linear / (linear @ q)[:, None] / np.sqrt(rows)
    rise, hessian = forms.sum(axis=0) / np.sqrt(rows), forms.T @ forms
    wanted = top_by_scipy(rise, hessian, q)
    found = ascent.newton_target(q, forms)
    value = [rise @ (x - q) - (x - q) @ hessian @ (x - q) / 2 for x in (found, wanted)]
    assert value[0] == pytest.approx(value[1], abs=1e-9)
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()


def test_masses_that_must_not_vanish_keep_a_tenth():
    q, target = np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.0, 0.0])
    assert ascent._largest_share(q, target, slice(0)) == 1
    assert ascent._largest_share(q, target, slice(2, None)) == pytest.approx(0.9)
    assert ascent._largest_share(q, np.array([0.6, 0.3, 0.1]), slice(2, None)) == 1
    assert ascent._largest_share(q, np.array([0.85, 0.15, 0]), slice(1, None)) == pytest.approx(0.9)


def mean_of_logarithms(forms: np.ndarray, caution: float):
    """What is known around q of mean log(forms q), with the diagonal too large; and the looks."""
    looks = []

    def evaluate(q: np.ndarray) -> Point:
        looks.append(q)
        likely = forms @ q
        scaled = forms / likely[:, None] / np.sqrt(len(forms))
        gradient = (forms / likely[:, None]).mean(axis=0) - 1
        return Point(
            q, np.log(likely).mean(), gradient, caution * (scaled**2).sum(axis=0), np.zeros_like(q)
        )

    return evaluate, looks


def climbed_from(forms: np.ndarray, caution: float, few: bool, with_forms: bool = True):
    """Where an ascent ends, after how many looks, and how many there were before each quadratic."""
    evaluate, looks = mean_of_logarithms(forms, caution)
    exact = []

    def rows(q: np.ndarray) -> np.ndarray:
        exact.append(len(looks))
        return forms / (forms @ q)[:, None] / np.sqrt(len(forms))

    start = np.full(forms.shape[1], 1 / forms.shape[1])
    here, passes = ascent.maximize(
        evaluate, rows if with_forms else None, few, slice(0), start, 1e-10
    )
    assert passes == len(looks)
    return here, exact, looks


FORMS = np.random.default_rng(5).uniform(0.1, 1, size=(12, 4))


def test_the_exact_quadratic_is_used_from_the_start_or_when_patience_ends(monkeypatch):
    monkeypatch.setattr(ascent, "PATIENCE", 7)
    for few, first in ((True, 1), (False, 8)):
        here, exact, looks = climbed_from(FORMS, 2.0, few)
        assert exact[0] == first
        assert len(looks) <= first + 8
        assert here.certificate <= 1e-10
    here, exact, looks = climbed_from(FORMS, 2.0, False, with_forms=False)
    assert exact == []
    assert len(looks) > 100
    assert here.certificate <= 1e-10
    monkeypatch.setattr(ascent, "PATIENCE", 1000)
    here, exact, looks = climbed_from(FORMS, 2.0, False)
    assert exact == []
    assert here.certificate <= 1e-10


def test_an_ascent_takes_so_many_passes_at_most(monkeypatch):
    monkeypatch.setattr(ascent, "MOST_PASSES", 5)
    here, _, looks = climbed_from(FORMS, 30.0, False)
    assert len(looks) == 5
    assert here.certificate > 1e-10
    np.testing.assert_array_equal(here.q, looks[-1])


def still(gradient: float, looks: list) -> Point:
    """A place that no step leaves: the gradient is lost in rounding."""
    looks.append(0)
    assert len(looks) < 10
    return Point(
        np.array([0.5, 0.5]), -1.0, np.array([gradient, -gradient]), np.ones(2), np.zeros(2)
    )


def test_an_ascent_ends_where_its_certificate_is_met():
    for tolerance, ends in ((0.25, True), (0.2499, False)):
        looks = []
        tried = []
        _, passes = ascent.maximize(
            lambda q, looks=looks: still(0.25, looks) if not looks else still(0.0, looks),
            lambda q, tried=tried: tried.append(q) or np.eye(2),
            True,
            slice(0),
            np.array([0.5, 0.5]),
            tolerance,
        )
        assert (passes == 1) == ends
        assert bool(tried) != ends


@pytest.mark.parametrize("exact", [False, True])
def test_an_ascent_ends_where_neither_quadratic_rises(monkeypatch, exact):
    """Both are tried, the first one and the other, and then no more."""
    looks, tried = [], []

    def forms(q: np.ndarray) -> np.ndarray:
        tried.append(q)
        assert len(tried) < 10
        return np.eye(2)

    monkeypatch.setattr(ascent, "newton_target", lambda q, _: q)
    start = np.array([0.5, 0.5])
    here, passes = ascent.maximize(
        lambda _: still(1e-18, looks), forms, exact, slice(0), start, 1e-30
    )
    assert passes == 1
    assert len(tried) == 1
    assert here.certificate == 1e-18
    here, passes = ascent.maximize(
        lambda _: still(1e-18, looks), None, False, slice(0), start, 1e-30
    )
    assert passes == 1


def test_no_step_lowers_the_value(monkeypatch):
    """Where the slope falls soon after the start, by less than half, the whole step would."""
    values, places = [], []

    def evaluate(q: np.ndarray) -> Point:
        t = q[1]
        slope = 1.0 if t < 0.55 else -0.4
        value = min(t, 0.55) - 0.4 * max(t - 0.55, 0)
        return Point(q, value, slope * np.array([-t, 1 - t]), np.full(2, 1e-3), np.zeros(2))

    def target(here: Point) -> np.ndarray:
        values.append(here.value)
        places.append(here.q[1])
        return scaled_target(here)

    scaled_target = ascent.scaled_target
    monkeypatch.setattr(ascent, "scaled_target", target)
    monkeypatch.setattr(ascent, "MOST_PASSES", 12)
    start = np.array([0.5, 0.5])
    ascent.maximize(evaluate, None, False, slice(0), start, 1e-9)
    assert places[:2] == [0.5, 0.625]
    assert (np.diff(values) >= -1e-12).all()
    monkeypatch.setattr(ascent, "MOST_PASSES", 3)
    assert ascent.maximize(evaluate, None, False, slice(0), start, 1e-9)[1] == 3


def random_sets(m: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m)
    members = rng.random((m, size)) < rng.random(size)
    return members, rng.integers(0, 4, m), rng.dirichlet(np.ones(size))


def plain_sums(members, times, q, base, slope):
    likelihood = base + slope * members @ q
    weights = times / likelihood, times / likelihood**2
    within = [weight @ members for weight in weights]
    return times @ np.log(likelihood), *(weight.sum() for weight in weights), *within


@pytest.fixture(params=["NumPy", "compiled", "as written"])
def engine(request, monkeypatch):
    """Passes in NumPy, in the function that Numba compiles, and in the same function as it is."""
    monkeypatch.setattr(passes, "COMPILED_FROM", 1 if request.param != "NumPy" else 1 << 60)
    if request.param == "as written":
        monkeypatch.setattr(passes, "_compiled", lambda: passes._over_chunks)
    elif request.param == "compiled" and passes._compiled() is None:
        pytest.skip("Numba is not installed")
    return request.param


@pytest.mark.parametrize(("m", "size"), [(1, 1), (5, 8), (40, 9), (300, 30), (0, 5)])
@pytest.mark.parametrize("all_sums", [False, True])
def test_a_pass_is_the_plain_sums(engine, monkeypatch, m, size, all_sums):
    monkeypatch.setattr(passes, "SETS_IN_CACHE", 64)
    members, times, q = random_sets(m, size)
    sets = PackedSets(size).pack(members).T
    wanted = plain_sums(members, times, q, 0.3, 0.7)
    for threads in (1, 2):
        monkeypatch.setattr(passes, "_threads", lambda threads=threads: threads)
        found = passes.over_sets(sets, times, q, 0.3, 0.7, all_sums)
        summed = (all_sums, True, all_sums, True, all_sums)
        for ours, theirs, is_summed in zip(found, wanted, summed, strict=True):
            np.testing.assert_allclose(ours, theirs * is_summed, rtol=1e-12, atol=1e-12)


def test_large_passes_are_compiled(monkeypatch):
    """From so many bytes on, which here are those of 40 sets of two."""
    members, times, q = random_sets(40, 9)
    sets, compiled = PackedSets(9).pack(members).T, []
    monkeypatch.setattr(passes, "_compiled", lambda: compiled.append(0))
    monkeypatch.setattr(passes, "COMPILED_FROM", sets.size + 1)
    passes.over_sets(sets, times, q, 0.3, 0.7)
    assert compiled == []
    monkeypatch.setattr(passes, "COMPILED_FROM", sets.size)
    passes.over_sets(sets, times, q, 0.3, 0.7)
    assert compiled == [0]


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    if passes._compiled() is None:
        pytest.skip("Numba is not installed")
    monkeypatch.setattr(passes, "COMPILED_FROM", 0)
    members, times, q = random_sets(70_000, 20)
    sets = np.ascontiguousarray(PackedSets(20).pack(members).T)
    alone = None
    for threads in (1, 2, 3, 16, 100):
        monkeypatch.setattr(passes, "_threads", lambda threads=threads: threads)
        found = passes.over_sets(sets, times, q, 0.3, 0.7, all_sums=True)
        bits = [np.asarray(part).tobytes() for part in found]
        alone = alone or bits
        assert bits == alone


def test_numba_says_how_many_threads():
    numba = pytest.importorskip("numba")
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        assert passes._threads() == 1
    finally:
        numba.set_num_threads(before)


def test_without_numba_passes_are_those_of_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    passes._compiled.cache_clear()
    try:
        assert passes._compiled() is None
        monkeypatch.setattr(passes, "COMPILED_FROM", 0)
        members, times, q = random_sets(50, 9)
        found = passes.over_sets(PackedSets(9).pack(members).T, times, q, 0.3, 0.7, True)
        wanted = plain_sums(members, times, q, 0.3, 0.7)
        np.testing.assert_allclose(found.inverse_within, wanted[3], rtol=1e-12)
    finally:
        passes._compiled.cache_clear()
