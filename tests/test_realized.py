"""The probabilities that the samplers realize keep the promise: ratios of at most e^ε (1 + 1e-12).

All is computed in fractions, from the thresholds by which the bits are drawn, not from formulas.
"""

import math
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from cases import MECHANISMS, domains
from hypothesis import given, strategies as st
from randomgen import UserBitGenerator

import uldp
from uldp._numerics import bits

TOLERANCE = Fraction(1, 10**12)
EPSILONS = [1e-6, 1e-3, 0.1, 1.0, float(np.log(3)), 5.0, 10.0, 30.0]
THETAS = [None, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-9]
SIZES = [(2, 1), (2, 2), (3, 1), (10, 4), (400, 76), (400, 400), (12_800, 2432)]
USERS = 64
SAMPLERS = ("uldp.mechanisms.", "uldp.beyond.")


class Draws(np.random.Generator):
    """A generator that notes what is drawn with it, and gives nothing but integers and choices."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))
        self.bits: list[Fraction] = []
        self.ranges: set[int] = set()
        self.choices: list[tuple[float, ...]] = []

    def __getattribute__(self, name):
        if name.startswith("_") or name in {"integers", "choice", "bits", "ranges", "choices"}:
            return super().__getattribute__(name)
        raise AttributeError(f"the law of rng.{name} is not known to be exact")

    def choice(self, number, size, p):
        self.choices.append(tuple(p))
        return np.random.default_rng(0).choice(number, size, p=p)

    def integers(self, high, **options):
        self.ranges.add(int(high))
        return super().integers(high, **options)


@cache
def realized(probability: float, complement: float) -> Fraction:
    """The probability that a bit of `bits.random_bytes` is 1, by the thresholds it draws with."""
    law = bits.byte_law(float(min(probability, complement)))
    listed = int((law.common[: law.rare_from] & 1).sum())
    left_out = len(law.common) - law.rare_from
    rare = sum(b - a for a, b in zip(law.bounds[::2], law.bounds[1::2], strict=True))
    one = Fraction(listed, len(law.common))
    if left_out:
        one += Fraction(left_out * rare, len(law.common) * law.total)
    return 1 - one if complement < probability else one


def draws(mechanism: uldp.Mechanism, value: int) -> Draws:
    """Note the realized probabilities and ranges with which reports of a value are drawn."""
    noted = Draws()

    def noting(draw):
        def wrapper(rng, probability, complement, size):
            noted.bits.append(realized(probability, complement))
            return draw(rng, probability, complement, size)

        return wrapper

    with pytest.MonkeyPatch.context() as patched:
        for path in [path for path in sys.modules if path.startswith(SAMPLERS)]:
            for name in ("bernoulli", "random_bytes"):
                if hasattr(sys.modules[path], name):
                    patched.setattr(sys.modules[path], name, noting(getattr(bits, name)))
        mechanism.privatize(np.full(USERS, value), rng=noted)
    return noted


def largest_ratio(mechanism: uldp.Mechanism) -> Fraction:
    """The largest ratio, over two values, of the realized probabilities of a protected report."""
    s, revealing = mechanism.sensitive.size, mechanism.nonsensitive.size > 0
    noted = draws(mechanism, int(mechanism.sensitive[0]))
    if isinstance(mechanism, uldp.UtilityOptimizedRR):
        (replaced,) = noted.bits
        assert noted.ranges <= {1 << 64, s}
        return (1 - replaced + replaced / s) / (replaced / s)
    if isinstance(mechanism, uldp.UtilityOptimizedBlockDesign):
        own, hidden = noted.bits[::2], noted.bits[1::2]
        sets = [
            (q / d, (1 - q) / (s - d), h / s if revealing else None)
            for (d, _), q, h in zip(mechanism.sizes, own, hidden, strict=True)
            if d < s
        ]
    else:
        noise, own, *shown = noted.bits
        assert noted.ranges == {1 << 64}
        sets = [(own / noise, (1 - own) / (1 - noise), 1 - shown[0] if shown else None)]
    return max(ratio for each in sets for ratio in ratios_of_sets(*each, several=s > 1))


def ratios_of_sets(with_own, without_own, hidden, several: bool) -> list[Fraction]:
    """Ratios of what is proportional to the probabilities of sets.

    The sets are one that holds a user's value, one that does not, and any from a user of a
    non-sensitive value, if there are such.
    """
    ratios = [with_own / without_own, without_own / with_own] if several else []
    if hidden is not None:
        for each in (with_own, without_own):
            ratios += [each / hidden, hidden / each]
    return ratios


def exceeds(ratio: Fraction, epsilon: float) -> Fraction:
    """By which part of e^ε the ratio exceeds e^ε."""
    with localcontext(prec=60):
        return ratio / Fraction(Decimal(epsilon).exp()) - 1


def mechanisms(size: int, sensitive: int, epsilon: float, *thetas: float | None):
    domain = uldp.Domain(size, sensitive=range(sensitive))
    yield uldp.UtilityOptimizedRR(domain, epsilon)
    for theta in thetas:
        yield uldp.UtilityOptimizedRappor(domain, epsilon, theta)
    if sensitive > 1:
        yield uldp.UtilityOptimizedBlockDesign(domain, epsilon, (sensitive + 1) // 2)
    if sensitive > 2:
        yield uldp.UtilityOptimizedBlockDesign(domain, epsilon, {1: 0.5, sensitive - 1: 0.5})
    if sensitive == size:
        yield uldp.RandomizedResponse(domain, epsilon)
        for theta in thetas:
            yield uldp.Rappor(domain, epsilon, theta)


@pytest.mark.parametrize(("size", "sensitive"), SIZES)
def test_realized_ratios_on_a_grid(size, sensitive):
    for epsilon in EPSILONS:
        for mechanism in mechanisms(size, sensitive, epsilon, *THETAS):
            assert abs(exceeds(largest_ratio(mechanism), epsilon)) <= TOLERANCE


@given(
    st.integers(1, 3000),
    st.integers(0, 300),
    st.floats(np.log(1e-6), np.log(30.0)).map(np.exp),
    st.none() | st.floats(1e-6, 1 - 1e-9),
)
def test_realized_ratios_anywhere(sensitive, nonsensitive, epsilon, theta):
    size = sensitive + nonsensitive
    if size > 1:
        for mechanism in mechanisms(size, sensitive, epsilon, theta):
            assert abs(exceeds(largest_ratio(mechanism), epsilon)) <= TOLERANCE


@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 100.0, 500.0])
def test_realized_ratios_at_the_extremes(epsilon):
    for size, sensitive in SIZES[:-1]:
        for mechanism in mechanisms(size, sensitive, epsilon, None, 1e-80, 0.5, 1 - 2**-53):
            assert abs(exceeds(largest_ratio(mechanism), epsilon)) <= TOLERANCE


@pytest.mark.parametrize("probability", ["false_support", "not_true_support"])
def test_a_rounded_probability_is_seen(probability):
    """Single precision for one probability of the sampler breaks the promise visibly."""
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(4, sensitive=[0, 1]), 1.0, theta=0.7)
    rounded = getattr(mechanism.decoder, probability).astype(np.float32)
    object.__setattr__(mechanism.decoder, probability, rounded)
    assert abs(exceeds(largest_ratio(mechanism), 1.0)) > 1000 * TOLERANCE


@pytest.mark.parametrize("name", MECHANISMS)
def test_ratios_of_matrices(name):
    for domain in domains(4):
        for epsilon in EPSILONS:
            mechanism = MECHANISMS[name](domain, epsilon)
            matrix, protected = mechanism.transition_matrix(), mechanism.protected
            assert ((matrix[:, ~protected] > 0).sum(axis=0) == 1).all()
            for column in matrix[:, protected].T:
                ratio = Fraction(column.max()) / Fraction(column.min())
                assert exceeds(ratio, epsilon) <= TOLERANCE


class Script(np.random.Generator):
    """A generator that goes through all that can be drawn with it, a path at a time.

    `path` holds for each drawn number its place among those that can be, and these with their
    probabilities.
    """

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))
        self.path: list[tuple[int, list[tuple[int, Fraction]]]] = []
        self.drawn = 0

    def __getattribute__(self, name):
        if name in {"path", "drawn"} or name in SCRIPTED or name.startswith("_"):
            return super().__getattribute__(name)
        raise AttributeError(f"the law of rng.{name} is not known to be exact")

    def numbers(self, law, size) -> np.ndarray:
        drawn = []
        for _ in range(int(np.prod(size))):
            if self.drawn == len(self.path):
                self.path.append((0, [(number, p) for number, p in enumerate(law) if p]))
            place, options = self.path[self.drawn]
            drawn.append(options[place][0])
            self.drawn += 1
        return np.array(drawn, dtype=np.int64).reshape(size)

    def integers(self, high, size, dtype=np.int64):
        return self.numbers([Fraction(1, int(high))] * int(high), size).astype(dtype)

    def choice(self, number, size, p):
        return self.numbers([Fraction(each) / sum(map(Fraction, p)) for each in p], size)

    def probability(self) -> Fraction:
        return math.prod(options[place][1] for place, options in self.path)

    def go_on(self) -> bool:
        """Begin the next path; whether there is one."""
        self.drawn = 0
        while self.path and self.path[-1][0] == len(self.path[-1][1]) - 1:
            self.path.pop()
        if self.path:
            place, options = self.path.pop()
            self.path.append((place + 1, options))
        return bool(self.path)


SCRIPTED = frozenset(vars(Script))


def scripted_bernoulli(rng, probability, complement, size):
    one = realized(probability, complement)
    return rng.numbers([1 - one, one], size).astype(bool)


def scripted_bytes(rng, probability, complement, size):
    return rng.numbers(law_of_bytes(realized(probability, complement)), size).astype(np.uint8)


USED_BITS = 4


@cache
def law_of_bytes(one: Fraction) -> list[Fraction]:
    """All bits that a set can use; those above, which must make no difference, all on or off."""
    law = [Fraction(0)] * 256
    for used in range(1 << USED_BITS):
        ones = used.bit_count()
        for above in (0, 0xFF >> USED_BITS << USED_BITS):
            law[used | above] = one**ones * (1 - one) ** (USED_BITS - ones) / 2
    return law


def realized_law(mechanism: uldp.Mechanism, value: int) -> list[Fraction]:
    """The probability of each output, by all that can be drawn."""
    script, law = Script(), dict.fromkeys((y.tobytes() for y in mechanism.outputs), Fraction(0))
    with pytest.MonkeyPatch.context() as patched:
        for path in [path for path in sys.modules if path.startswith(SAMPLERS)]:
            for name, draw in (("bernoulli", scripted_bernoulli), ("random_bytes", scripted_bytes)):
                if hasattr(sys.modules[path], name):
                    patched.setattr(sys.modules[path], name, draw)
        more = True
        while more:
            law[mechanism.privatize([value], rng=script)[0].tobytes()] += script.probability()
            more = script.go_on()
    return list(law.values())


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 10.0])
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_realized_law_is_the_matrix(name, epsilon):
    for domain in domains(3):
        mechanism = MECHANISMS[name](domain, epsilon)
        assert mechanism.sensitive.size <= USED_BITS
        law = [realized_law(mechanism, value) for value in range(domain.size)]
        assert all(sum(row) == 1 for row in law)
        np.testing.assert_allclose(
            np.array(law, dtype=float), mechanism.transition_matrix(), rtol=1e-12
        )
        for column in np.array(law)[:, mechanism.protected].T:
            assert exceeds(max(column) / min(column), epsilon) <= TOLERANCE


@pytest.mark.parametrize("sizes", [1, 2, 3, {2: 0.25, 4: 0.75}])
def test_the_realized_law_of_larger_block_designs(sizes):
    domain = uldp.Domain(5, sensitive=[0, 1, 3, 4])
    mechanism = uldp.UtilityOptimizedBlockDesign(domain, 1.0, sizes)
    law = np.array([realized_law(mechanism, value) for value in range(domain.size)])
    assert (law.sum(axis=1) == 1).all()
    np.testing.assert_allclose(law.astype(float), mechanism.transition_matrix(), rtol=1e-12)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("sensitive", [[], [0], [1, 3], [0, 1, 2, 3]])
def test_what_depends_on_the_value_is_drawn_by_integers(name, sensitive):
    """And so does not hang on the 53 binary digits that a random double has."""
    mechanism = MECHANISMS[name](uldp.Domain(4, sensitive=sensitive), 0.5)
    noted = [draws(mechanism, value) for value in range(4)]
    for one in noted:
        assert one.ranges <= {1 << 64, *range(1, mechanism.output_count + 1)}
        assert one.choices == noted[0].choices


@pytest.mark.parametrize("size", [2, 3, 7, 10, 76, 400, 2432, 2**31 - 1])
def test_integers_of_numpy_are_uniform(size):
    """Of 2^32 numbers NumPy takes as many for each integer and refuses the rest.

    The numbers for one integer follow each other, so that their first and last tell how many they
    are; the one before the first is refused.
    """
    script = []
    rng = np.random.Generator(UserBitGenerator(lambda _: script.pop(0), 32))

    def integer(*numbers):
        script[:] = numbers
        return rng.integers(size, size=1)[0], len(script)

    each, refused = divmod(2**32, size)
    for chosen in {0, 1, size // 2, size - 1}:
        first = -(-(chosen * 2**32 + refused) // size)
        last = first + each - 1
        assert integer(first) == integer(last) == (chosen, 0)
        if first > -(-chosen * 2**32 // size):
            assert integer(first - 1, last) == (chosen, 0)
        if chosen < size - 1:
            assert integer(last + 1, first) in [(chosen, 0), (chosen + 1, 1)]
