import numpy as np
import pytest
from hypothesis import given, strategies as st

from uldp import Domain
from uldp.domain import _labels


def test_size_and_classes():
    domain = Domain(6, sensitive=[4, 0])
    assert domain.size == 6
    np.testing.assert_array_equal(domain.sensitive, [0, 4])
    np.testing.assert_array_equal(domain.nonsensitive, [1, 2, 3, 5])


def test_labels():
    domain = Domain(["yes", "no"], sensitive=["yes"])
    assert domain.labels == ("yes", "no")
    np.testing.assert_array_equal(domain.indices(["no", "yes", "no"]), [1, 0, 1])
    np.testing.assert_array_equal(domain.indices([1, 0]), [1, 0])
    assert domain.indices("no").shape == ()
    assert domain.indices(np.array(["no"], dtype=object)) == [1]
    assert Domain(["yes", "no"], sensitive=[0]) == domain


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
