"""Where the losses are largest, against printed propositions and a global search."""

import numpy as np
import pytest
from cases import bernoulli_of
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

import uldp
from uldp.decoders import Decoder


def random_mechanism(rng: np.random.Generator) -> uldp.Mechanism:
    k = int(rng.integers(2, 9))
    domain = uldp.Domain(k, sensitive=rng.permutation(k)[: rng.integers(0, k + 1)])
    epsilon = 10 ** rng.uniform(-2, 1.2)
    if rng.random() < 0.3:
        return uldp.UtilityOptimizedRR(domain, epsilon)
    if rng.random() < 0.4:
        return random_block_design(rng, domain, epsilon)
    theta = None if rng.random() < 0.4 else rng.uniform(0.02, 0.98)
    return uldp.UtilityOptimizedRappor(domain, epsilon, theta)


def random_block_design(
    rng: np.random.Generator, domain: uldp.Domain, epsilon: float
) -> uldp.UtilityOptimizedBlockDesign:
    s = domain.sensitive.size
    if not s or rng.random() < 0.3:
        return uldp.UtilityOptimizedBlockDesign(domain, epsilon)
    if rng.random() < 0.5:
        return uldp.UtilityOptimizedBlockDesign(domain, epsilon, int(rng.integers(1, max(s, 2))))
    weights = dict(enumerate(rng.dirichlet(np.ones(s)), 1))
    return uldp.UtilityOptimizedBlockDesign(domain, epsilon, weights)


def largest_found(
    mechanism: uldp.Mechanism,
    norm: str,
    rng: np.random.Generator,
    decoder: Decoder | None = None,
) -> float:
    """A global search that knows nothing of the theory: restarts of SLSQP over the simplex."""
    k = mechanism.domain.size

    def negative_loss(p: np.ndarray) -> float:
        variance = np.clip((decoder or mechanism.decoder).variances(p), 0, None)
        return -(np.sqrt(variance) if norm == "l1" else variance).sum()

    simplex = {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = 0.0
    for start in rng.dirichlet(np.full(k, 0.7), size=4):
        found = minimize(
            negative_loss, start, bounds=[(0, 1)] * k, constraints=[simplex], method="SLSQP"
        ).x.clip(0)
        for p in (start, found / found.sum()):
            best = max(best, -negative_loss(p))
    return best


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")
def test_no_search_finds_a_larger_loss(norm):
    for seed in range(220):
        rng = np.random.default_rng(seed)
        mechanism = random_mechanism(rng)
        p = mechanism.worst_case(norm)
        assert p.sum() == pytest.approx(1)
        variance = uldp.losses.variances(mechanism, p)
        claimed = (np.sqrt(variance) if norm == "l1" else variance).sum()
        found = largest_found(mechanism, norm, rng)
        assert found <= claimed * (1 + 1e-9), (seed, mechanism)
        assert found >= claimed * (1 - 1e-3), "a search that stays far below proves nothing"


@pytest.mark.parametrize("nu", [1, 2, 5, 324, 610])
@pytest.mark.parametrize("s", [1, 3, 700])
def test_thresholds_are_sharp(nu, s):
    """ln(|X_N| + 1) for uRR; 2 arsinh(|X_N|/2) in l1 and 2 ln(|X_N|/2 + 1) in l2 for uRAP."""
    domain = uldp.Domain(nu + s, sensitive=range(s))
    thresholds = {
        (uldp.UtilityOptimizedRR, "l1"): np.log(nu + 1),
        (uldp.UtilityOptimizedRR, "l2"): np.log(nu + 1),
        (uldp.UtilityOptimizedRappor, "l1"): 2 * np.arcsinh(nu / 2),
        (uldp.UtilityOptimizedRappor, "l2"): 2 * np.log(nu / 2 + 1),
    }
    for (make, norm), threshold in thresholds.items():
        below, above = (make(domain, threshold * (1 + d)).worst_case(norm) for d in (-1e-9, 1e-6))
        assert below[domain.sensitive].max() == 0
        assert above[domain.sensitive].min() > 0


@given(
    k=st.integers(2, 1000),
    data=st.data(),
    epsilon=st.floats(1e-6, 30),
    theta=st.floats(1e-3, 1 - 1e-3),
)
def test_at_an_inner_worst_case_in_l1_all_values_are_supported_equally(k, data, epsilon, theta):
    s = data.draw(st.integers(1, k - 1))
    domain = uldp.Domain(k, sensitive=range(s))
    for mechanism in (
        uldp.UtilityOptimizedRR(domain, epsilon),
        uldp.UtilityOptimizedRappor(domain, epsilon, theta),
    ):
        p = mechanism.worst_case("l1")
        supported = mechanism.decoder.false_support + mechanism.decoder.gain * p
        if p[0] > 0:
            assert supported[0] == pytest.approx(supported[-1])
        else:
            assert supported[0] >= supported[-1] * (1 - 1e-12)


@settings(max_examples=50)
@given(st.integers(1, 60), st.integers(1, 60), st.floats(0.01, 12), st.data())
def test_so_are_the_levels_of_a_block_design(s, nu, epsilon, data):
    seed = data.draw(st.integers(0, 1000))
    domain = uldp.Domain(s + nu, sensitive=range(s))
    mechanism = random_block_design(np.random.default_rng(seed), domain, epsilon)
    p = mechanism.worst_case("l1")
    levels = [bernoulli_of(mechanism, x) for x in (0, s + nu - 1)]
    in_S, in_N = (
        level.false_support + level.gain * q for level, q in zip(levels, p[[0, -1]], strict=True)
    )
    if 0 < p[0] < 1 / s:
        assert in_S == pytest.approx(in_N)
    else:
        assert (in_S - in_N) * (0.5 - p[0] * s) >= -1e-12


@pytest.mark.parametrize(("k", "s"), [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (6, 0), (6, 6)])
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 30.0])
def test_extremes_have_a_worst_case(make, k, s, epsilon):
    mechanism = make(uldp.Domain(k, sensitive=range(s)), epsilon)
    for norm in ("l1", "l2"):
        p = mechanism.worst_case(norm)
        assert (p >= 0).all()
        assert p.sum() == pytest.approx(1)
    if mechanism.sensitive.size in (0, k):
        np.testing.assert_allclose(p, 1 / k)


@settings(max_examples=30)
@given(st.floats(0.05, 8), st.integers(1, 40), st.integers(1, 40))
def test_worst_cases_do_not_depend_on_the_order_of_values(epsilon, s, nu):
    rng = np.random.default_rng(s * 41 + nu)
    order = rng.permutation(s + nu)
    plain = uldp.UtilityOptimizedRappor(uldp.Domain(s + nu, sensitive=range(s)), epsilon)
    mixed = uldp.UtilityOptimizedRappor(uldp.Domain(s + nu, sensitive=order[:s]), epsilon)
    for norm in ("l1", "l2"):
        np.testing.assert_array_equal(mixed.worst_case(norm)[order], plain.worst_case(norm))
