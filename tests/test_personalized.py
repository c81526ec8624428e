"""The personalized mechanism: its law on every small case, its secrets, and the estimate of p."""

import copy
import dataclasses
import itertools
import pickle
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import astuple
from functools import partial

import numpy as np
import pytest
from cases import MECHANISMS, domains, random_distribution

import uldp
from uldp.domain import per_value
from uldp.personalized import (
    JointLaw,
    PersonalizedEstimate,
    PersonalizedMechanism,
    SecretMaps,
    TaggedDomain,
    estimate,
    posterior,
    summary,
    total,
)

EPSILON = 1.3
TAGS = ("home", "work")
TOWN = uldp.Domain(["park", "clinic", "elm street", "oak street"], sensitive=["clinic"])
TAGGED = TaggedDomain(TOWN, ["home", "others"])
COMMON = uldp.UtilityOptimizedRR(TAGGED, EPSILON)
SECRET = {"elm street": "home", "park": "my bench"}
ALICE = PersonalizedMechanism(COMMON, user_sensitive=SECRET)
WORDS = ("elm", "park", "bench", "home'", "2")
"""What gives the map of ALICE away, with the index of her home."""


def all_maps(k: int) -> Iterator[dict[int, str]]:
    """Every map from some of k values to the two tags."""
    for choice in itertools.product([None, *TAGS], repeat=k):
        yield {x: tag for x, tag in enumerate(choice) if tag is not None}


def random_maps(
    rng: np.random.Generator, domain: TaggedDomain, n: int
) -> tuple[SecretMaps, list[dict[int, str]]]:
    """Maps of n users, as one table in random order and one by one."""
    k, choices = domain.base.size, 1 + len(domain.tags)
    tags = rng.integers(choices, size=(n, k))
    users, values = np.nonzero(tags)
    order = rng.permutation(users.size)
    users, values = users[order], values[order]
    table = SecretMaps(domain, users, values, tags[users, values] - 1, indices=True)
    return table, [
        {x: domain.tags[tag - 1] for x, tag in enumerate(row.tolist()) if tag} for row in tags
    ]


def random_law(rng: np.random.Generator, domain: TaggedDomain) -> JointLaw:
    """A joint law in which value and tag depend on each other."""
    shape = domain.base.size, 1 + len(domain.tags)
    return JointLaw(domain, random_distribution(rng, shape[0] * shape[1]).reshape(shape))


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that Python would print or keep with it."""
    while error is not None:
        yield error
        yield from chain(error.__cause__)
        error = error.__context__


# --- the domain ----------------------------------------------------------------------------------


def test_bots_follow_the_values_and_are_sensitive():
    assert (TAGGED.base, TAGGED.tags, TAGGED.size) == (TOWN, ("home", "others"), 6)
    assert TAGGED.labels == (*TOWN.labels, "⊥home", "⊥others")
    assert TAGGED.bots.tolist() == [4, 5]
    assert TAGGED.sensitive.tolist() == [1, 4, 5]
    assert TAGGED.nonsensitive.tolist() == TOWN.nonsensitive.tolist()
    assert TAGGED.indices("⊥home") == 4
    assert TAGGED.indices("oak street") == TOWN.indices("oak street")


def test_values_with_numbers_for_labels_keep_their_indices():
    tagged = TaggedDomain(uldp.Domain([30, 10, 20], sensitive=[10]), ["home"])
    assert tagged.labels == ("30", "10", "20", "⊥home")
    assert tagged.sensitive.tolist() == [1, 3]
    user = PersonalizedMechanism(uldp.UtilityOptimizedRR(tagged, 1.0), {10: "home"})
    assert user.intermediate([30, 10, 20]).tolist() == [0, 3, 2]


def test_integers_are_labels_where_those_of_the_values_are():
    base = uldp.Domain([1, 2, 0], sensitive=[1])
    tagged = TaggedDomain(base, ["t"])
    assert tagged.sensitive.tolist() == [0, 3]
    assert tagged.indices([1, 2, 0]).tolist() == base.indices([1, 2, 0]).tolist() == [0, 1, 2]
    assert tagged.indices(["1", "2", "0", "⊥t"]).tolist() == [0, 1, 2, 3]
    shares = {"⊥t": 0.4, 1: 0.1, 2: 0.2, "0": 0.3}
    assert per_value(tagged, shares, "r").tolist() == [0.1, 0.2, 0.3, 0.4]
    assert TaggedDomain(uldp.Domain(3), ["t"]).indices([0, 1, 2]).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="3 is not a label"):
        tagged.indices(3)
    maps = SecretMaps(tagged, [1], [2], ["t"])
    assert maps.intermediate([1, 2]).tolist() == [0, 3]
    law = JointLaw.of_users(tagged, [1, 2], maps.intermediate([1, 2]))
    assert law.r.tolist() == [0.5, 0, 0, 0.5]


def test_tagged_domains_are_values():
    same, others = TaggedDomain(TOWN, iter(["home", "others"])), TaggedDomain(TOWN, TAGS)
    assert same == TAGGED == pickle.loads(pickle.dumps(TAGGED)) == copy.deepcopy(TAGGED)
    assert hash(same) == hash(TAGGED)
    assert TAGGED not in (others, TaggedDomain(uldp.Domain(4), TAGGED.tags))
    plain = uldp.Domain(TAGGED.labels, TAGGED.sensitive.tolist())
    assert (plain == TAGGED, TAGGED.__eq__(plain)) == (False, False)
    assert repr(TAGGED) == f"TaggedDomain({TOWN!r}, tags=['home', 'others'])"
    with pytest.raises(AttributeError):
        TAGGED.tags = TAGS
    with pytest.raises(ValueError, match="read-only"):
        TAGGED.bots[0] = 0


# --- the law of a user's mechanism ---------------------------------------------------------------


def test_proposition_9_on_every_map_over_every_small_domain(make):
    """Reports that would reveal a value sensitive to the user are not among the reachable ones."""
    unreachable = 0
    for base in domains(3):
        common = make(TaggedDomain(base, TAGS), EPSILON)
        Q, bots = common.transition_matrix(), dict(zip(TAGS, common.domain.bots, strict=True))
        for secret in all_maps(base.size):
            user = PersonalizedMechanism(common, secret)
            defined = Q[[bots[secret[x]] if x in secret else x for x in range(base.size)]]
            reached = (defined > 0).any(axis=0)
            matrix = user.transition_matrix()
            np.testing.assert_array_equal(matrix, defined[:, reached])
            np.testing.assert_array_equal(user.outputs, common.outputs[reached])
            np.testing.assert_array_equal(user.protected, common.protected[reached])
            assert set(user.sensitive) == set(base.sensitive) | set(secret)
            level = uldp.privacy.uldp_level(matrix, user.sensitive, user.protected)
            assert level <= EPSILON * (1 + 1e-14)
            if make in (MECHANISMS["uRR"], MECHANISMS["uRAP"]):
                seen = user.intermediate(range(base.size))
                tells = np.unique(seen).size > 1 and np.isin(seen, common.sensitive).any()
                assert level == pytest.approx(EPSILON if tells else 0, abs=1e-12)
            assert reached[common.protected].all()
            unreachable += (~reached).sum()
    assert (unreachable > 0) == (make not in (MECHANISMS["RR"], *rappors()))


def rappors() -> list[object]:
    return [make for name, make in MECHANISMS.items() if name.startswith("RAPPOR")]


def test_proposition_10_between_any_two_maps(make):
    """No protected report is e^ε times as likely under one map and value as under another pair."""
    for base in domains(3):
        common = make(TaggedDomain(base, TAGS), EPSILON)
        Q = common.transition_matrix()[:, common.protected]
        of_user = np.array(
            [
                Q[PersonalizedMechanism(common, secret).intermediate(range(base.size))]
                for secret in all_maps(base.size)
            ]
        )
        most, least = of_user.max(axis=(0, 1)), of_user.min(axis=(0, 1))
        assert (most <= np.exp(EPSILON) * least * (1 + 1e-14)).all()


def test_reports_are_those_of_the_common_mechanism_on_the_intermediate_data(make):
    common = make(TAGGED, EPSILON)
    user = PersonalizedMechanism(common, SECRET)
    values = ["elm street", "oak street", "park", "clinic"] * 5
    intermediate = [4, 3, 5, 1] * 5
    assert user.intermediate(values).tolist() == intermediate
    assert user.intermediate("elm street") == 4
    reports = user.privatize(values, rng=3)
    np.testing.assert_array_equal(reports, common.privatize(intermediate, rng=3, indices=True))
    assert common.tally(reports).n == 20
    of_bot = common.privatize(5, rng=4, indices=True)
    np.testing.assert_array_equal(user.privatize("park", rng=4), of_bot)
    assert len(user.privatize([])) == 0


def test_tags_can_be_given_by_index_but_values_by_label_alone():
    """Codes of another list would hide the wrong value."""
    by_index = PersonalizedMechanism(COMMON, {TOWN.labels[2]: 0, TOWN.labels[0]: 1})
    same = ALICE.intermediate(TOWN.labels).tolist()
    assert by_index.intermediate(range(4), indices=True).tolist() == same
    with pytest.raises(TypeError, match=r"user_sensitive must be labels, .* int64$"):
        PersonalizedMechanism(COMMON, {2: 0})


# --- her secret ----------------------------------------------------------------------------------


def test_no_representation_shows_the_map():
    shown = f"PersonalizedMechanism(common={COMMON!r})"
    others = PersonalizedMechanism(COMMON, {})
    assert repr(ALICE) == str(ALICE) == f"{ALICE}" == f"{ALICE!r}" == shown == repr(others)
    assert f"{[ALICE]}" == f"[{shown}]"
    assert str(dataclasses.astuple(ALICE)) == str(dataclasses.astuple(others))


def test_the_common_part_knows_no_user(make):
    """What is left of it after it served one user is what is left after another, bit for bit."""
    pickles = set()
    for secret in (SECRET, {}, {"oak street": "home"}):
        user = PersonalizedMechanism(make(TaggedDomain(TOWN, TAGGED.tags), EPSILON), secret)
        user.privatize(["elm street", "park"], rng=1)
        user.transition_matrix()
        assert user.common == make(TAGGED, EPSILON)
        pickles.add(pickle.dumps(user.common))
    assert len(pickles) == 1


@pytest.mark.parametrize(
    "take", [copy.copy, copy.deepcopy, *(partial(pickle.dumps, protocol=p) for p in range(6))]
)
def test_a_users_mechanism_is_not_pickled_or_copied(take):
    with pytest.raises(TypeError, match="holds a user's secret") as caught:
        take(ALICE)
    assert not any(word in str(e) for e in chain(caught.value) for word in WORDS)


def test_the_attributes_of_a_users_mechanism_do_not_hold_the_map():
    """Nor anything else that differs between users: what it computed is not kept."""
    kept = []
    for secret in (SECRET, {}):
        user = PersonalizedMechanism(COMMON, secret)
        user.privatize("park")
        assert user.transition_matrix().shape[1] == len(user.outputs)
        kept.append({name: type(item).__name__ for name, item in vars(user).items()})
    assert kept[0] == kept[1] == {"common": "UtilityOptimizedRR", "_look_up": "function"}


def test_a_users_mechanism_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ALICE.common = COMMON
    secret = dict(SECRET)
    user = PersonalizedMechanism(COMMON, secret)
    secret.clear()
    assert user.intermediate("park") == 5
    with pytest.raises((ValueError, TypeError), match="InitVar 'user_sensitive' must be specified"):
        dataclasses.replace(ALICE, common=COMMON)


def test_equality_and_hash_tell_nothing():
    same = PersonalizedMechanism(COMMON, SECRET)
    assert same != ALICE
    assert hash(same) != hash(ALICE)
    assert len({ALICE, same, PersonalizedMechanism(COMMON, {})}) == 3


@pytest.mark.parametrize(
    ("secret", "error", "message"),
    [
        ({"elm": "home"}, ValueError, "must be in the domain"),
        ({"⊥home": "home"}, ValueError, "must be in the domain"),
        ({77: "home"}, TypeError, "got values of type int64$"),
        ({77.5: "home"}, TypeError, "got values of type float64$"),
        ({"elm street": "home", 77: "home"}, TypeError, "got values of type int, str$"),
        ({"elm street": 77}, ValueError, r"the indices of tags must lie in 0\.\.1"),
        ({"elm street": 77.5}, TypeError, "tags must all be strings or all be indices"),
        ({"elm street": None}, TypeError, "tags must all be strings or all be indices"),
        ({"elm street": "home", "park": 77}, TypeError, "must all be strings or all be indices"),
        ({"elm street": ["home"]}, TypeError, "tags must all be strings or all be indices"),
        ([("elm street", "home")], TypeError, "must be a mapping from values to tags, got a list"),
        ("elm", TypeError, "must be a mapping from values to tags, got a str"),
    ],
)
def test_errors_about_the_map_do_not_show_it(secret, error, message):
    with pytest.raises(error, match=message) as caught:
        PersonalizedMechanism(COMMON, user_sensitive=secret)
    assert str(caught.value).startswith("user_sensitive")
    for part in chain(caught.value):
        assert not any(word in str(part) for word in ("elm", "park", "77", "⊥"))


def test_a_tag_that_the_setting_lacks():
    without_others = uldp.UtilityOptimizedRR(TaggedDomain(TOWN, TAGS), EPSILON)
    with pytest.raises(ValueError, match="tags must be among home, work, for") as caught:
        PersonalizedMechanism(without_others, SECRET)
    assert not any(word in str(e) for e in chain(caught.value) for word in ("elm", "park", "bench"))


def test_the_arguments_in_the_wrong_order():
    with pytest.raises(TypeError, match=r"over a TaggedDomain, got a dict$"):
        PersonalizedMechanism(SECRET, COMMON)
    with pytest.raises(TypeError, match="over a TaggedDomain, got a UtilityOptimizedRR over a Dom"):
        PersonalizedMechanism(uldp.UtilityOptimizedRR(TOWN, 1.0), SECRET)


@pytest.mark.parametrize(
    "values", ["nowhere", 4, -1, 0, "⊥home", ["elm street", 2], ["park", "gone"], 1.5, [[0]], None]
)
def test_errors_about_a_value_do_not_depend_on_the_map(values):
    errors = set()
    for secret in ({}, SECRET, {"park": "home", "oak street": "home"}, {"clinic": "home"}):
        user = PersonalizedMechanism(COMMON, secret)
        for call in (user.privatize, user.intermediate):
            with pytest.raises((ValueError, TypeError)) as caught:
                call(values)
            errors.add(tuple((type(e), str(e)) for e in chain(caught.value)))
    assert len(errors) == 1


def test_a_wrong_generator_does_not_give_the_map_away():
    errors = set()
    for value in ("park", "oak street"):
        with pytest.raises(TypeError) as caught:
            ALICE.privatize(value, rng="seed")
        errors.add(str(caught.value))
    assert len(errors) == 1


# --- a population --------------------------------------------------------------------------------


def test_a_table_of_maps_is_every_users_own_map():
    rng = np.random.default_rng(11)
    for base in domains(4):
        domain = TaggedDomain(base, TAGS)
        common, n = uldp.UtilityOptimizedRappor(domain, EPSILON), 20
        maps, secrets = random_maps(rng, domain, n)
        users = [PersonalizedMechanism(common, secret) for secret in secrets]
        for values in rng.integers(base.size, size=(3, n)):
            one_by_one = [int(u.intermediate(x)) for u, x in zip(users, values, strict=True)]
            assert maps.intermediate(values).tolist() == one_by_one
            np.testing.assert_array_equal(
                maps.privatize(common, values, rng=5),
                common.privatize(one_by_one, rng=5, indices=True),
            )


def test_labels_and_tags_of_a_table():
    maps = SecretMaps(TAGGED, [0, 2, 2], ["park", "park", "elm street"], ["home", "gym", "home"])
    assert maps.intermediate(["park"] * 3).tolist() == [4, 0, 5]
    assert maps.intermediate(["elm street"] * 4).tolist() == [2, 2, 4, 2]
    none = SecretMaps(TAGGED, [], [], [])
    assert none.intermediate([1, 2], indices=True).tolist() == [1, 2]
    assert none.intermediate([]).tolist() == []


def test_a_table_does_not_show_its_maps():
    maps = SecretMaps(TAGGED, [77], ["elm street"], ["home"])
    assert repr(maps) == f"SecretMaps(domain={TAGGED!r})"
    with pytest.raises(ValueError, match="read-only"):
        maps.tags[0] = 1


def test_another_common_mechanism_than_the_populations():
    maps = SecretMaps(TAGGED, [0], ["park"], [0])
    other = uldp.UtilityOptimizedRR(TaggedDomain(TOWN, TAGS), EPSILON)
    with pytest.raises(ValueError, match="common must be a mechanism over TaggedDomain"):
        maps.privatize(other, [0])
    with pytest.raises(TypeError, match="common must be a mechanism over a TaggedDomain"):
        maps.privatize(uldp.UtilityOptimizedRR(TOWN, 1.0), [0])


# --- the joint law -------------------------------------------------------------------------------


def test_p_is_r_and_the_bots_shares_also_where_value_and_tag_depend_on_each_other():
    rng = np.random.default_rng(13)
    for base in domains(4):
        law = random_law(rng, TaggedDomain(base, TAGS))
        k = base.size
        assert law.r.sum() == pytest.approx(1)
        np.testing.assert_allclose(law.pi.sum(axis=1), 1)
        np.testing.assert_allclose(law.r[:k] + law.r[k:] @ law.pi, law.p, atol=1e-15)


def test_the_law_of_users_are_their_frequencies():
    maps, secrets = random_maps(np.random.default_rng(14), TAGGED, 200)
    values = np.random.default_rng(15).integers(4, size=200)
    intermediate = maps.intermediate(values, indices=True)
    law = JointLaw.of_users(TAGGED, values, intermediate, indices=True)
    counted = np.zeros((4, 3))
    for x, secret in zip(values.tolist(), secrets, strict=True):
        counted[x, 1 + TAGGED.tags.index(secret[x]) if x in secret else 0] += 1 / 200
    np.testing.assert_allclose(law.probabilities, counted)


def test_a_tag_that_does_not_occur_has_no_part():
    law = JointLaw(TAGGED, [[0.5, 0, 0], [0, 0, 0], [0, 0.25, 0], [0.25, 0, 0]])
    np.testing.assert_array_equal(law.r, [0.5, 0, 0, 0.25, 0.25, 0])
    np.testing.assert_array_equal(law.pi, [[0, 0, 1, 0], [0.25] * 4])
    np.testing.assert_array_equal(law.p, [0.5, 0, 0.25, 0.25])


# --- the estimate --------------------------------------------------------------------------------


def test_with_the_true_conditionals_the_empirical_estimate_is_unbiased(make):
    rng = np.random.default_rng(16)
    for base in domains(3):
        domain = TaggedDomain(base, TAGS)
        common, law = make(domain, EPSILON), random_law(rng, domain)
        background = dict(zip(TAGS, law.pi, strict=True))
        m = law.r @ common.transition_matrix()
        estimates = np.array([estimate(common, y[None], background).p for y in common.outputs])
        np.testing.assert_allclose(m @ estimates, law.p, atol=1e-12)


@pytest.mark.parametrize("method", ["empirical", "threshold", "norm_sub", "em", "mle"])
def test_estimates_follow_equation_21(method):
    tally = COMMON.simulate([400, 100, 50, 200, 150, 100], rng=2)
    known = np.array([0.25, 0.25, 0.5, 0])
    result = estimate(COMMON, tally, {"home": known, "others": None}, method)
    r = COMMON.estimate(tally, method)
    np.testing.assert_array_equal(result.r, r)
    np.testing.assert_array_equal(result.bots, r[4:])
    unknown = r[:4] * [1, 0, 1, 1] / r[[0, 2, 3]].sum()
    np.testing.assert_allclose(result.pi, [known, unknown])
    np.testing.assert_allclose(result.p, r[:4] + r[4] * known + r[5] * unknown)
    assert result.p.sum() == pytest.approx(1)
    assert result.second_term_bound == pytest.approx(2 * (abs(r[4]) + abs(r[5])))


def test_options_reach_the_estimator():
    reports = ALICE.privatize(["park"] * 20, rng=1)
    start = np.full(6, 1 / 6)
    result = estimate(COMMON, reports, None, "em", start=start, steps=1)
    np.testing.assert_array_equal(result.r, COMMON.estimate(reports, "em", start=start, steps=1))


def test_without_knowledge_the_bots_are_dropped_and_the_rest_rescaled():
    """To sum to 1 with the common sensitive values, which stay as they are."""
    r = np.array([0.3, 0.1, 0.0, 0.2, 0.25, 0.15])
    for background in (None, {}, {"home": None}):
        p = PersonalizedEstimate.of(TAGGED, r, background).p
        np.testing.assert_allclose(p, [0.54, 0.1, 0, 0.36])
    partly = PersonalizedEstimate.of(TAGGED, r, {"home": [0, 0.6, 0.4, 0]}).p
    np.testing.assert_allclose(partly, [0.3 * 1.3, 0.1 + 0.15, 0.1, 0.2 * 1.3])


@pytest.mark.parametrize(
    ("on_open_values", "expected"),
    [
        ([0.3, -0.2, 0.1], [0.75, 0, 0.25]),
        ([-0.1, -0.2, 0], [1 / 3, 1 / 3, 1 / 3]),
        ([0, 0, 0], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_without_knowledge_negative_entries_count_as_none(on_open_values, expected):
    r = np.array([on_open_values[0], 0.4, *on_open_values[1:], -0.1, 0.2])
    result = PersonalizedEstimate.of(TAGGED, r)
    np.testing.assert_allclose(result.pi[:, [0, 2, 3]], [expected, expected])
    assert not result.pi[:, 1].any()
    np.testing.assert_allclose(result.p, r[:4] + 0.1 * result.pi[0])
    assert result.second_term_bound == pytest.approx(0.6)


def test_theorem_1_on_random_laws_and_estimates():
    rng = np.random.default_rng(17)
    for base in domains(4):
        domain = TaggedDomain(base, TAGS)
        for signs in (0, -0.3):
            law = random_law(rng, domain)
            r = random_distribution(rng, domain.size) + rng.uniform(signs, -signs, domain.size)
            background = {tag: random_distribution(rng, base.size) for tag in TAGS}
            result = PersonalizedEstimate.of(domain, r, background)
            terms = result.loss_terms(law)
            distances = np.abs(result.pi - law.pi).sum(axis=1)
            assert terms.loss == pytest.approx(np.abs(result.p - law.p).sum())
            assert terms.first == pytest.approx(np.abs(r - law.r).sum())
            assert terms.second == pytest.approx(np.abs(r[base.size :]) @ distances)
            assert terms.loss <= terms.first + terms.second + 1e-14
            assert terms.loss <= terms.first + law.r[base.size :] @ distances + 1e-14
            assert terms.second <= result.second_term_bound
            assert result.p.sum() == pytest.approx(r.sum())
            assert signs or result.p.min() >= 0


def test_the_bounds_of_theorem_1_are_reached():
    truth = JointLaw(TAGGED, [[0.5, 0, 0], [0, 0, 0], [0, 0.5, 0], [0, 0, 0]])
    only_knowledge_wrong = PersonalizedEstimate.of(TAGGED, truth.r, {"home": [0, 0, 0, 1]})
    terms = only_knowledge_wrong.loss_terms(truth)
    assert (terms.loss, terms.first, terms.second) == (1, 0, 1)
    assert only_knowledge_wrong.second_term_bound == 1
    only_r_wrong = PersonalizedEstimate.of(
        TAGGED, [0, 0, 0, 0.5, 0.5, 0], {"home": [0, 0, 1, 0]}
    ).loss_terms(truth)
    assert (only_r_wrong.loss, only_r_wrong.first, only_r_wrong.second) == (1, 1, 0)


def test_no_background_where_every_value_is_sensitive():
    domain = TaggedDomain(uldp.Domain(2, sensitive=[0, 1]), ["home"])
    common = uldp.UtilityOptimizedRR(domain, EPSILON)
    with pytest.raises(ValueError, match="background must be given for each tag, for every value"):
        estimate(common, [0, 1])
    assert estimate(common, [0, 1], {"home": [0.5, 0.5]}).p.sum() == pytest.approx(1)


# --- what reports tell about her secret ----------------------------------------------------------


@pytest.mark.parametrize("visits_depend_on_the_secret", [False, True])
def test_posterior_is_bayes_rule_on_explicit_matrices(make, visits_depend_on_the_secret):
    rng = np.random.default_rng(18)
    for base in domains(3):
        common = make(TaggedDomain(base, TAGS), EPSILON)
        k = base.size
        prior = rng.dirichlet(np.ones(k))
        rows = rng.dirichlet(np.ones(k), size=k)
        visits = rows if visits_depend_on_the_secret else rows[0]
        laws = np.array(
            [
                (rows[h] if visits_depend_on_the_secret else rows[0])
                @ common.transition_matrix()[
                    PersonalizedMechanism(common, {h: "work"}).intermediate(range(k))
                ]
                for h in range(k)
            ]
        )
        drawn = rng.choice(len(common.outputs), p=laws[rng.choice(k, p=prior)], size=5)
        expected = np.array([prior * laws[:, drawn[:t]].prod(axis=1) for t in range(6)])
        expected /= expected.sum(axis=1, keepdims=True)
        result = posterior(common, common.outputs[drawn], "work", prior, visits)
        np.testing.assert_allclose(result, expected, atol=1e-15)


@pytest.mark.parametrize("background", [None, {"others": None}, {"home": [0.1, 0.2, 0.3, 0.4] * 3}])
def test_a_table_of_answers_holds_the_total_of_each(make, background):
    """Also where values with the same estimate share a row."""
    base = uldp.Domain(12, sensitive=[1, 4, 5, 9])
    guess = background and {
        tag: p if p is None else np.divide(p, np.sum(p)) for tag, p in background.items()
    }
    law = make(TaggedDomain(base, ["home", "others"]), EPSILON)
    for n in (4, 30):
        tally = law.tally(law.privatize(np.arange(n) % 14, 1, indices=True))
        table = summary(tally, background=guess)
        found = [table.estimate, table.standard_error, table.low, table.high]
        found.append(table.further["background_error"])
        rows = [total(tally, guess, x) for x in np.eye(12)]
        each = [[*astuple(row)[:4], row.background_error] for row in rows]
        np.testing.assert_allclose(np.transpose(found), each, rtol=1e-9, atol=1e-9)


def test_a_large_table_of_answers_takes_little_memory_and_time():
    """A survey file of some hundred bytes can have 131,071 values."""
    law = uldp.UtilityOptimizedRR(TaggedDomain(uldp.Domain(2**17 - 1, [0]), ["home"]), 1.0)
    tally = law.tally([5, 5])
    tracemalloc.start()
    start = time.process_time()
    table = summary(tally)
    assert time.process_time() - start < 30
    assert tracemalloc.get_traced_memory()[1] < 1 << 28
    tracemalloc.stop()
    assert table.estimate.size == 2**17 - 1


def test_a_posterior_of_what_nobody_of_the_prior_sent_is_refused():
    with pytest.raises(ValueError, match="reports must be possible for some value of the prior"):
        posterior(COMMON, [0, 3], "home", [0.5, 0, 0, 0.5], [0.25] * 4)
