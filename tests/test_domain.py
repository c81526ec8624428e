import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import uldp
from uldp import Domain
from uldp.attributes import OneByOne
from uldp.domain import _labels, weights_of
from uldp.personalized import JointLaw, PersonalizedMechanism, SecretMaps, TaggedDomain


def test_size_and_classes():
    domain = Domain(6, sensitive=[4, 0])
    assert domain.size == 6
    np.testing.assert_array_equal(domain.sensitive, [0, 4])
    np.testing.assert_array_equal(domain.nonsensitive, [1, 2, 3, 5])


def test_labels():
    domain = Domain(["yes", "no"], sensitive=["yes"])
    assert domain.labels == ("yes", "no")
    np.testing.assert_array_equal(domain.indices(["no", "yes", "no"]), [1, 0, 1])
    np.testing.assert_array_equal(domain.indices([1, 0], indices=True), [1, 0])
    assert domain.indices("no").shape == ()
    assert domain.indices(np.array(["no"], dtype=object)) == [1]
    assert Domain(["yes", "no"], sensitive=[0]) == domain


def test_integers_are_indices_of_text_labels_by_wish_only():
    domain = Domain(["yes", "no"], sensitive=["yes"])
    for codes in (0, [0, 1], np.array([0, 1], dtype=np.uint8)):
        with pytest.raises(TypeError, match="if they are indices, pass indices=True"):
            domain.indices(codes)
        np.testing.assert_array_equal(domain.indices(codes, indices=True), codes)
    for wrong in ("yes", ["yes"], [0, "yes"], [0.0], [True, False], pd.Categorical([0, 1])):
        with pytest.raises(TypeError, match="values must be"):
            domain.indices(wrong, indices=True)
    with pytest.raises(ValueError, match=r"values must lie in 0\.\.1, got 2"):
        domain.indices([0, 2], indices=True)


def test_integers_are_indices_of_integer_labels_by_wish():
    domain = Domain([1, 2, 0])
    np.testing.assert_array_equal(domain.indices([1, 0]), [0, 2])
    np.testing.assert_array_equal(domain.indices([1, 0], indices=True), [1, 0])


def test_every_way_to_hand_over_answers_wants_it_said_that_integers_are_indices():
    """A column of codes, 1 for yes, on labels in another order."""
    answers = Domain(["yes", "no"], sensitive=["yes"])
    pair = Domain.product(past=["yes", "no"], now=["yes", "no"])
    urr = uldp.UtilityOptimizedRR(answers, 1.0)
    tagged = TaggedDomain(answers, ["home"])
    common = uldp.UtilityOptimizedRR(tagged, 1.0)
    user, none = PersonalizedMechanism(common, {}), SecretMaps(tagged, [], [], [])
    codes, labels = [1, 0, 0], ["no", "yes", "yes"]
    ways = [
        lambda held, **wish: urr.privatize(held, 1, **wish),
        lambda held, **wish: OneByOne({"one": urr}).privatize(held, 1, **wish),
        lambda held, **wish: user.privatize(held, 1, **wish),
        lambda held, **wish: user.intermediate(held, **wish),
        lambda held, **wish: none.privatize(common, held, 1, **wish),
        lambda held, **wish: none.simulate(common, held, 1, **wish).counts,
        lambda held, **wish: none.intermediate(held, **wish),
        lambda held, **wish: pair.cells(past=held, now=np.flip(held), **wish),
        lambda held, **wish: JointLaw.of_users(tagged, held, [1, 0, 0], **wish).p,
        lambda held, **wish: SecretMaps(tagged, range(3), held, [0] * 3, **wish).values,
    ]
    for way in ways:
        with pytest.raises(TypeError, match="indices=True"):
            way(codes)
        np.testing.assert_array_equal(way(codes, indices=True), way(labels))


def test_integer_labels_are_never_indices():
    domain = Domain([10, 20, 0], sensitive=[0])
    np.testing.assert_array_equal(domain.indices([0, 10]), [2, 0])
    np.testing.assert_array_equal(domain.sensitive, [2])
    with pytest.raises(ValueError, match="1 is not a label"):
        domain.indices([1])


@given(st.integers(1, 60).flatmap(lambda k: st.tuples(st.just(k), st.sets(st.integers(0, k - 1)))))
def test_classes_partition_the_domain(drawn):
    k, sensitive = drawn
    domain = Domain(k, sensitive=sensitive)
    assert set(domain.sensitive) == sensitive
    together = np.concatenate([domain.sensitive, domain.nonsensitive])
    np.testing.assert_array_equal(np.sort(together), np.arange(k))


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=20, unique=True), st.data())
def test_labels_and_indices_say_the_same(labels, data):
    domain = Domain(labels)
    chosen = data.draw(st.lists(st.integers(0, len(labels) - 1)))
    np.testing.assert_array_equal(domain.indices([labels[i] for i in chosen]), chosen)


def test_a_label_keeps_the_zeros_at_its_end():
    """NumPy's strings lose them."""
    domain = Domain(["a\0", "a"])
    assert domain.indices("a\0") == 0
    assert domain.indices("a") == 1
    assert domain.indices(np.str_("a\0")) == 0
    np.testing.assert_array_equal(weights_of(domain, ["a\0"]), [1, 0])
    np.testing.assert_array_equal(weights_of(domain, "a\0"), [1, 0])


def test_domains_are_values():
    assert Domain([0, 1, 2], sensitive=[2, 1]) == Domain(3, sensitive=(1, 2))
    assert hash(Domain([0, 1, 2])) == hash(Domain(3))
    assert Domain(3) != Domain(3, sensitive=[0])
    assert Domain(2) != Domain(["a", "b"])
    assert repr(Domain(["a", "b"], sensitive=["b"])) == "Domain(['a', 'b'], sensitive=['b'])"
    assert repr(Domain(3, sensitive=[1])) == "Domain(3, sensitive=[1])"
    assert repr(Domain(400, sensitive=[1])) == "Domain(400 values, 1 sensitive)"


def test_a_long_domain_is_shown_by_its_size():
    assert repr(Domain(12)) == "Domain(12, sensitive=[])"
    assert repr(Domain(13, sensitive=[0])) == "Domain(13 values, 1 sensitive)"


def test_the_largest_domain():
    assert _labels(2**26) == range(2**26)
    with pytest.raises(ValueError, match="values must be 1 to 67108864 values, got 67108865"):
        Domain(2**26 + 1)


def test_the_repeated_label_is_named():
    with pytest.raises(ValueError, match="values must not repeat a label, got 'b' more than once"):
        Domain(["a", "b", "c", "b"])


def test_domains_cannot_be_changed():
    domain = Domain(3, sensitive=[0])
    with pytest.raises(AttributeError, match="cannot be changed"):
        domain.labels = ()
    with pytest.raises(ValueError, match="read-only"):
        domain.sensitive[0] = 1


def test_no_values_gives_no_indices():
    assert Domain(3).indices([]).shape == (0,)


def test_a_million_values():
    domain = Domain(10**6, sensitive=range(0, 10**6, 2))
    assert domain.nonsensitive.size == 500_000


@pytest.mark.parametrize("values", [0, -3, 2**31, 2**70, [], ["a", "a"], [1, 2, 1]])
def test_impossible_values(values):
    with pytest.raises(ValueError, match="values must"):
        Domain(values)


@pytest.mark.parametrize("values", [2.5, True, None, "abc", ["a", 1], [1.0, 2.0], [True, False]])
def test_values_of_the_wrong_type(values):
    with pytest.raises(TypeError, match="values must be"):
        Domain(values)


@pytest.mark.parametrize(
    ("values", "sensitive", "message"),
    [
        (3, [3], r"sensitive must lie in 0\.\.2, got 3"),
        (3, [-1], r"sensitive must lie in 0\.\.2, got -1"),
        (3, [1, 1], "sensitive must not repeat a value"),
        (["a", "b"], ["c"], "sensitive: 'c' is not a label"),
        (3, [[0, 1]], "sensitive must be one value or one-dimensional"),
    ],
)
def test_impossible_sensitive_values(values, sensitive, message):
    with pytest.raises(ValueError, match=message):
        Domain(values, sensitive=sensitive)


@pytest.mark.parametrize(
    ("values", "sensitive"),
    [(3, 1), (3, "a"), (3, ["0"]), (3, [0.0]), (3, [True, False, False]), (["a", "b"], ["a", 1])],
)
def test_sensitive_values_of_the_wrong_type(values, sensitive):
    with pytest.raises(TypeError, match="sensitive must be"):
        Domain(values, sensitive=sensitive)


@pytest.mark.parametrize("values", [[0.0], [None], [True], [0, None], [["a"], "b"]])
def test_indices_of_the_wrong_type(values):
    with pytest.raises((TypeError, ValueError), match="values must be"):
        Domain(3).indices(values)
