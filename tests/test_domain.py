import re
import time
from contextlib import nullcontext
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import uldp
from uldp import Domain
from uldp.attributes import OneByOne
from uldp.domain import _labels, numbers_over, weights_of
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
    with pytest.raises(ValueError, match="sensitive must not repeat a value, got 'b' more than"):
        Domain(["a", "b", "c"], sensitive=["c", "b", "b"])
    with pytest.raises(ValueError, match="weights must not repeat a value, got 'b' more than once"):
        weights_of(Domain(["a", "b", "c"]), ["b", "b"])


def test_domains_cannot_be_changed():
    domain = Domain(3, sensitive=[0])
    with pytest.raises(AttributeError, match="cannot be changed"):
        domain.labels = ()
    with pytest.raises(ValueError, match="read-only"):
        domain.sensitive[0] = 1


def test_no_values_gives_no_indices():
    assert Domain(3).indices([]).shape == (0,)


# --- answers that are missing or of another kind ------------------------------------------------


CODES = Domain([1, 2, 0], sensitive=[1])
PAIR = Domain.product(past=["yes", "no"], now=["yes", "no"])


def ways_of(domain):
    """All that takes answers in the values of a domain; each is given what it calls them."""
    urr = uldp.UtilityOptimizedRR(domain, 1.0)
    tagged = TaggedDomain(domain, ["home"])
    common = uldp.UtilityOptimizedRR(tagged, 1.0)
    user, none = PersonalizedMechanism(common, {}), SecretMaps(tagged, [], [], [])
    pair = Domain.product(past=domain.labels, now=domain.labels)
    survey = uldp.Survey("answers", {"plain": urr, "tagged": common})
    yield from (
        lambda held: urr.privatize(held, 1),
        lambda held: OneByOne({"one": urr}).privatize(held, 1),
        lambda held: user.privatize(held, 1),
        lambda held: user.intermediate(held),
        lambda held: none.privatize(common, held, 1),
        lambda held: none.intermediate(held),
        lambda held: pair.cells(past=held, now=held),
        lambda held: JointLaw.of_users(tagged, held, np.zeros(np.size(held), dtype=int)),
        lambda held: JointLaw.of_users(tagged, [0] * np.size(held), held, indices=True),
        lambda held: SecretMaps(tagged, range(np.size(held)), held, [0] * np.size(held)),
        lambda held: survey.privatize("plain", held, rng=1),
        lambda held: survey.privatize("tagged", held, rng=1),
        lambda held: urr.tally(held),
        lambda held: urr.evidence(held),
        lambda held: urr.check(held),
        lambda held: survey.message("plain", held),
        lambda held: domain.indices(held),
    )


@pytest.mark.parametrize(
    ("held", "found"),
    [
        (["secret", float("nan")], "1 missing of 2"),
        (["secret", None, None], "2 missing of 3"),
        (["secret", pd.NA], "1 missing of 2"),
        (["secret", pd.NaT], "1 missing of 2"),
        (np.array(["secret", np.float32("nan")], dtype=object), "1 missing of 2"),
        (pd.Series(["secret", None]), "1 missing of 2"),
        (pd.Series(["secret", None], dtype="string"), "1 missing of 2"),
        (pd.Categorical(["secret", None]), "1 missing of 2"),
        (pa.array(["secret", None]), "1 missing of 2"),
        (pd.Series([5417, None]), "1 missing of 2"),
        (pd.Series([5417, None], dtype="Int64"), "1 missing of 2"),
        (pd.Series([True, None], dtype="boolean"), "1 missing of 2"),
        (pd.to_datetime(["2019-08-14", None]), "1 missing of 2"),
        (pd.cut([5417, 1, 99999], [5000, 6000, 7000]), "2 missing of 3"),
        (pd.cut([5417, 5418], 2), "values of type Interval"),
        (pd.Series([5417.0, 2]), "values of type float64"),
        ([True, False], "values of type bool"),
        (["secret", 5417], "values of type int, str"),
        ([b"secret"], "values of type bytes"),
        ([("secret", "no")], "values of type str"),
        ([("secret", None)], "1 missing of 2"),
        (pd.MultiIndex.from_tuples([("secret", "no"), ("yes", None)]), "1 missing of 2"),
        (None, "1 missing of 1"),
        (float("nan"), "1 missing of 1"),
    ],
    ids=str,
)
@pytest.mark.parametrize("domain", [Domain(["yes", "no"], sensitive=["yes"]), CODES, PAIR])
def test_what_is_no_answer_is_counted_or_its_type_said_and_never_shown(domain, held, found):
    for way in ways_of(domain):
        with pytest.raises((TypeError, ValueError)) as caught:
            way(held)
        message = str(caught.value)
        assert found in message
        assert not any(shown in message for shown in ("secret", "5417", "indices=True"))
        assert caught.value.__context__ is None


@pytest.mark.parametrize("error", [ValueError, RuntimeError, None])
def test_what_is_no_array_is_not_shown(error):
    """Neither rows of unequal lengths nor what an object says whose `__array__` fails."""

    class NoArray:
        def __array__(self, *args, **options):
            raise error("secret")

    held = NoArray() if error else [["secret"], ["secret", "no"]]
    urr = uldp.UtilityOptimizedRR(Domain(["yes", "no"], sensitive=["yes"]), 1.0)
    for way in (urr.privatize, OneByOne({"one": urr}).privatize, urr.domain.indices):
        with pytest.raises(ValueError, match=r"^\w+ must be an array, got rows of un.+") as caught:
            way(held)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None


def test_integers_are_offered_as_indices_only_where_they_can_be():
    answers = Domain(["yes", "no"], sensitive=["yes"])
    common = uldp.UtilityOptimizedRR(TaggedDomain(answers, ["home"]), 1.0)
    survey = uldp.Survey("answers", {"tagged": common})
    for way in (
        lambda: survey.privatize("tagged", 0, rng=1),
        lambda: PersonalizedMechanism(common, {0: "home"}),
        lambda: PAIR.weights(past=0),
    ):
        with pytest.raises(TypeError, match=r"must be labels, .* values of type int64$"):
            way()


def test_answers_that_are_no_labels_are_counted():
    urr = uldp.UtilityOptimizedRR(Domain(["yes", "no"], sensitive=["yes"]), 1.0)
    with pytest.raises(ValueError, match="but 2 of 3 are not; they are not shown") as caught:
        urr.privatize(["yes", "secret", "Yes"])
    assert "mean" not in str(caught.value), "a hint would tell what was given"


# --- labels as people have them -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "given", "meant"),
    [
        ([" Divorced", " Married"], "Divorced", " Divorced"),
        (["<=50K.", ">50K."], "<=50K", "<=50K."),
        (["yes", "no"], "Yes ", "yes"),
        ([10, 20], "10", 10),
    ],
)
def test_a_label_that_differs_in_trifles_is_named(labels, given, meant):
    domain = Domain(labels)
    message = re.escape(f"{given!r} is not a label; did you mean {meant!r}?")
    with pytest.raises(ValueError, match=message):
        numbers_over(domain, {**dict.fromkeys(labels[1:], 0.5), given: 0.5}, "vector")
    if isinstance(meant, str):
        for way in (lambda: Domain(labels, [given]), lambda: weights_of(domain, [given])):
            with pytest.raises(ValueError, match=message):
                way()


STRINGS = ["no", "yes", "maybe"]


@pytest.mark.parametrize(
    "given",
    [
        np.array(STRINGS),
        np.array(STRINGS, dtype=object),
        np.array(STRINGS, dtype=np.dtypes.StringDType()),
        pa.array(STRINGS),
        pa.chunked_array([STRINGS]),
        list(pa.array(STRINGS)),
        pd.Series(STRINGS),
        pd.Series(STRINGS, dtype="string"),
        pd.Series(STRINGS, dtype="category"),
        pd.Series(STRINGS, dtype=pd.ArrowDtype(pa.string())),
        pd.Index(STRINGS),
    ],
    ids=lambda given: f"{type(given).__name__} {getattr(given, 'dtype', '')}",
)
def test_labels_come_in_all_containers(given):
    domain = Domain(STRINGS, sensitive=["yes"])
    assert Domain(given, sensitive=given[1:2]) == domain
    assert domain.indices(given).tolist() == [0, 1, 2]
    assert domain.indices(given[1]) == 1
    assert weights_of(domain, given[1:2]).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Domain(["a"], {"a": False}),
            "sensitive must be a collection, got a mapping: pass",
        ),
        (lambda: Domain({"a": True}), "values must be a collection, got a mapping"),
        (lambda: Domain(["a"], [True]), "sensitive must be labels or indices, got a mask: pass"),
        (lambda: Domain(["a"], pd.Series({"a": True})), "got a mask: pass"),
        (lambda: Domain([False, True]), "got values of type bool: name the others, as by str"),
        (lambda: Domain(["a", None, np.nan]), "values must be all strings .*, got 2 missing of 3"),
        (lambda: Domain(pd.cut([1, 2], 2).categories), "got values of type Interval: name"),
        (lambda: Domain([1.0, 2.0]), "got values of type float"),
        (lambda: CODES.indices([1.0]), r"type float64; .astype\(int\) makes whole numbers"),
        (lambda: Domain.product(a=["x, y", "x"], b=["z", "y, z"]), "factors must give each cell"),
        (
            lambda: numbers_over(Domain(STRINGS), pd.Series({"no": 1, "yes": 1}), "vector"),
            r"got none for 'maybe'; if it is 0, say so, as by .reindex\(domain.labels, fill",
        ),
    ],
)
def test_the_sentence_has_the_remedy(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_the_remedies_work():
    domain = Domain(STRINGS, sensitive=["yes"])
    counted = pd.Series(["no", "yes"]).value_counts().reindex(domain.labels, fill_value=0)
    assert numbers_over(domain, counted, "vector").tolist() == [1, 1, 0]
    shares = np.float32([0.1, 0.2, 0.7])
    law = uldp.UtilityOptimizedRR(domain, 1.0)
    with pytest.raises(ValueError, match="if that is rounding, divide them, as 64-bit floats"):
        law.l2_loss(shares, 10)
    rescaled = shares.astype(float) / shares.astype(float).sum()
    assert law.l2_loss(rescaled, 10) == pytest.approx(law.l2_loss([0.1, 0.2, 0.7], 10))
    with pytest.raises(ValueError, match=r"sum to 1, got 0\.5$"):
        law.l2_loss([0.5, 0, 0], 10)
    with pytest.raises(TypeError, match="matrix must be in order and without labels here"):
        uldp.privacy.Channel(counted, [0])


# --- refusing takes no longer than accepting ----------------------------------------------------


def is_refused_as_fast(taken, refused):
    """Within twice the time that it takes the processor, the least of five."""
    times = []
    for action in (taken, refused) * 5:
        start = time.thread_time()
        with nullcontext() if action is taken else pytest.raises((TypeError, ValueError)):
            action()
        times.append(time.thread_time() - start)
    return min(times[1::2]) < 2 * min(times[::2])


MANY = [f"value {number}" for number in range(20_000)]
LARGE = Domain(MANY)


@pytest.mark.parametrize(
    "wrong",
    [
        [*MANY[:-1], MANY[-2]],
        [*MANY[:-1], MANY[0]],
        [*MANY[:-1], 0],
        [*MANY[:-1], None],
        [*MANY[:-1], 1.5],
    ],
    ids=["repeated at the end", "the first repeated", "a number", "missing", "a float"],
)
def test_wrong_labels_are_refused_as_fast_as_right_ones_are_taken(wrong):
    assert is_refused_as_fast(partial(Domain, MANY), partial(Domain, wrong))


@pytest.mark.parametrize("last", ["elsewhere", "Value 7", MANY[0], 5, None])
def test_wrong_choices_are_refused_as_fast_as_right_ones_are_taken(last):
    wrong = [*MANY[:-1], last]
    ways = [
        lambda chosen: Domain(MANY, chosen),
        lambda chosen: weights_of(LARGE, chosen),
        lambda chosen: numbers_over(LARGE, dict.fromkeys(chosen, 1.0), "vector"),
    ]
    for way in ways:
        assert is_refused_as_fast(partial(way, MANY), partial(way, wrong))


@pytest.mark.parametrize("last", ["elsewhere", None, 1.5, 0])
def test_unknown_answers_are_refused_as_fast_as_others_are_taken(last):
    many = MANY * 5
    way = partial(LARGE._indices, name="values", indices=False, secret=True)
    assert is_refused_as_fast(partial(way, many), partial(way, [*many[:-1], last]))
