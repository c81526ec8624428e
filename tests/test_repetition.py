"""Surveys that ask again: laws and levels against definitions, bounds against enumeration."""

import itertools
import math

import numpy as np
import pytest
from cases import MECHANISMS, domains

import uldp
from uldp import privacy
from uldp.survey import plans_for_rounds, repetition
from uldp.survey.repetition import Device, two_layers

THREE = uldp.Domain(3, sensitive=[0, 1])
BINARY = uldp.Domain(2, sensitive=[0])
LAYERED = [
    uldp.UtilityOptimizedRR,
    uldp.RandomizedResponse,
    uldp.UtilityOptimizedRappor,
    uldp.Rappor,
]


def sequences(k, T, changes=None):
    for one in itertools.product(range(k), repeat=T):
        moved = sum(a != b for a, b in itertools.pairwise(one))
        if changes is None or moved <= changes:
            yield one


def sources(keeps, answers):
    """From which draw each report is made, written once more: a name for each draw."""
    if keeps == "nothing":
        return list(range(len(answers)))
    if keeps == "first":
        return [0] * len(answers)
    if keeps == "per value":
        return list(answers)
    return list(np.cumsum([0, *(a != b for a, b in itertools.pairwise(answers))]))


def law_by_listing(device, answers):
    """The law as a sum over everything that can be drawn."""
    names = sources(device.keeps, answers)
    values = dict(reversed(list(zip(names, answers, strict=True))))
    law = np.zeros((device.second.shape[1],) * len(answers))
    for drawn in itertools.product(range(device.first.shape[1]), repeat=len(values)):
        draw = dict(zip(values, drawn, strict=True))
        weight = math.prod(device.first[x, draw[name]] for name, x in values.items())
        if weight:
            rows = [device.second[draw[name]] for name in names]
            law += weight * np.array(
                [math.prod(ys) for ys in itertools.product(*rows)], dtype=float
            ).reshape(law.shape)
    return law


def level_by_listing(device, T, changes=None):
    k, outputs = device.first.shape[0], device.second.shape[1]
    laws = {one: law_by_listing(device, one) for one in sequences(k, T, changes)}
    one = device.first @ device.second
    worst = 0.0
    for sent in itertools.product(range(outputs), repeat=T):
        agree = []
        for answers, law in laws.items():
            shown = [y for y in range(T) if not device.protected[sent[y]]]
            if all(one[answers[t], sent[t]] > 0 for t in shown):
                agree.append(law[sent])
        if agree and max(agree) > 0:
            worst = max(worst, math.log(max(agree) / min(agree)) if min(agree) else math.inf)
    return worst


DEVICES = {
    **{
        f"uRR, {keeps}": Device.of(uldp.UtilityOptimizedRR(THREE, 1.0), keeps)
        for keeps in repetition.KEEPS
    },
    **{
        f"Mangat, {keeps}": Device.of(uldp.UtilityOptimizedRR(BINARY, 0.7), keeps)
        for keeps in repetition.KEEPS
    },
    **{
        f"the first value revealed, {keeps}": Device.of(
            uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[2]), 0.7), keeps
        )
        for keeps in repetition.KEEPS
    },
    "uRR, two layers": two_layers(uldp.UtilityOptimizedRR(THREE, 1.0), 0.5),
    "uRR, two layers, once": two_layers(uldp.UtilityOptimizedRR(THREE, 1.0), 0.5, "once"),
    "uRAP, two layers": two_layers(uldp.UtilityOptimizedRappor(BINARY, 1.0), 0.5),
    "RR, two layers": two_layers(uldp.RandomizedResponse(THREE, 2.0), 0.8),
}


@pytest.mark.parametrize("name", DEVICES)
def test_laws_and_levels_are_those_by_listing(name):
    device = DEVICES[name]
    k = len(device.first)
    T = 2 if device.second.shape[0] > 4 or device.first.shape[1] > 3 else 3
    for answers in sequences(k, T):
        law = device.law(answers)
        np.testing.assert_allclose(law, law_by_listing(device, answers), rtol=1e-12, atol=1e-15)
        assert law.sum() == pytest.approx(1, rel=1e-12)
    for changes in (*range(T), None):
        expected = level_by_listing(device, T, changes)
        assert device.level(T, changes) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", DEVICES)
def test_the_level_is_the_largest_of_all_pairs(name):
    device = DEVICES[name]
    answers = list(sequences(len(device.first), 2))
    pairs = [device.pair_level(a, b) for a in answers for b in answers]
    assert device.level(2) == pytest.approx(max(pairs), rel=1e-12)
    assert all(device.pair_level(a, a) == 0 for a in answers)


@pytest.mark.parametrize("name", MECHANISMS)
def test_one_report_has_the_level_of_the_mechanism(name):
    for domain in domains(3):
        for epsilon in (0.3, 2.0):
            mechanism = MECHANISMS[name](domain, epsilon)
            level = privacy.Channel.of(mechanism).uldp_level(mechanism.sensitive)
            for keeps in repetition.KEEPS:
                device = Device.of(mechanism, keeps)
                assert device.level(1) == pytest.approx(level, abs=1e-9)
                assert device.bound(1) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("name", MECHANISMS)
def test_fresh_reports_add_up_and_the_first_one_costs_once(name):
    for domain in (THREE, BINARY):
        mechanism = MECHANISMS[name](domain, 0.8)
        level = privacy.Channel.of(mechanism).uldp_level(mechanism.sensitive)
        fresh, first = Device.of(mechanism), Device.of(mechanism, "first")
        for T in (2, 3) if mechanism.output_count < 5 else (2,):
            for changes in (0, None):
                assert fresh.level(T, changes) == pytest.approx(T * level, rel=1e-9)
                assert first.level(T, changes) == pytest.approx(level, rel=1e-9)
                assert fresh.bound(T, changes) == pytest.approx(T * level, rel=1e-9)
                assert first.bound(T, changes) == pytest.approx(level, rel=1e-9)


@pytest.mark.parametrize("keeps", ["while same", "per value"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_kept_report_tells_that_the_answer_has_changed(name, keeps):
    """No level where two reports are possible of which one is protected; ε if nothing changes."""
    for domain in domains(3):
        mechanism = MECHANISMS[name](domain, 0.8)
        device = Device.of(mechanism, keeps)
        sent = mechanism.transition_matrix().any(axis=0)
        tells = domain.size > 1 and sent.sum() > 1 and (sent & mechanism.protected).any()
        assert math.isinf(device.level(2)) == tells
        assert device.bound(2) >= device.level(2)
        level = privacy.Channel.of(mechanism).uldp_level(mechanism.sensitive)
        assert device.level(2, changes=0) == pytest.approx(level, abs=1e-9)
        assert device.bound(2, changes=0) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("reveals", ["once", "anew"])
@pytest.mark.parametrize("make", LAYERED)
def test_two_layers(make, reveals):
    for domain in (THREE, BINARY, uldp.Domain(3, sensitive=[2]), uldp.Domain(2, sensitive=[0, 1])):
        mechanism = make(domain, 1.0)
        device = two_layers(mechanism, 0.6, reveals)
        once = two_layers(mechanism, 0.6, "once")
        np.testing.assert_allclose(
            device.one_report.matrix, once.one_report.matrix, rtol=1e-12, atol=1e-15
        )
        revealed = device.one_report.matrix[:, ~device.protected]
        straight = mechanism.transition_matrix()[:, ~mechanism.protected]
        np.testing.assert_allclose(revealed.sum(1), straight.sum(1), rtol=1e-12)
        leaks = reveals == "once" and mechanism.nonsensitive.size > 0
        for T in (1, 2) if device.second.size > 64 else (1, 2, 3):
            for changes in range(T):
                level, bound = device.level(T, changes), device.bound(T, changes)
                assert level <= bound * (1 + 1e-12)
                assert math.isinf(level) == (leaks and changes > 0)


def test_the_second_layer_of_rr_is_rr_and_that_of_sets_turns_bits():
    e = math.exp(0.6)
    urr = two_layers(uldp.UtilityOptimizedRR(THREE, 1.0), 0.6, "once").second
    expected = np.array([[e, 1, 0], [1, e, 0], [0, 0, e + 1]]) / (e + 1)
    np.testing.assert_allclose(urr, expected, rtol=1e-12)
    mechanism = uldp.UtilityOptimizedRappor(THREE, 1.0)
    device = two_layers(mechanism, 0.6, "once")
    bits = np.array([mechanism.tally(y[None]).counts for y in mechanism.outputs])
    for i, j in itertools.product(range(len(bits)), repeat=2):
        turned = int((bits[i][:2] != bits[j][:2]).sum())
        same = bits[i][2] == bits[j][2]
        assert device.second[i, j] == pytest.approx(same * e ** (2 - turned) / (e + 1) ** 2)


def test_the_bound_of_one_answer_is_reached():
    """A fixed answer: both parts of the bound, and that of what not revealing tells, at T = 4."""
    mechanism = uldp.UtilityOptimizedRR(THREE, 1.0)
    strong, weak = (two_layers(mechanism, level, "once") for level in (30.0, 0.01))
    assert strong.bound(4, 0) == pytest.approx(1.0, rel=1e-9) == strong.level(4, 0)
    hidden = -math.log(mechanism.decoder.not_true_support[2])
    noisy = two_layers(uldp.RandomizedResponse(THREE, 30.0), 0.01)
    assert noisy.bound(4, 0) == pytest.approx(4 * 0.01, rel=1e-9)
    assert noisy.level(4, 0) == pytest.approx(4 * 0.01, rel=1e-3)
    assert weak.bound(4, 0) == pytest.approx(1.0, rel=1e-9)
    anew = two_layers(mechanism, 30.0)
    own, other = mechanism.decoder.true_support[0], mechanism.decoder.false_support[0]
    assert anew.bound(4, 0) == pytest.approx(4 * hidden + math.log(own / 0.5), rel=1e-9)
    assert anew.level(4, 0) == pytest.approx(4 * hidden + math.log(own / 0.5), rel=1e-9)
    assert own / other == pytest.approx(math.e)


def test_a_change_of_one_answer_is_hidden_at_any_length():
    device = two_layers(uldp.UtilityOptimizedRR(THREE, 1.0), 0.5)
    step = device.bound(2) / 2
    hidden = -math.log(uldp.UtilityOptimizedRR(THREE, 1.0).decoder.not_true_support[2])
    assert step == pytest.approx(0.5 + hidden, rel=1e-9)
    for T in (2, 3, 4):
        for one in sequences(3, T):
            for t, value in itertools.product(range(T), range(3)):
                other = (*one[:t], value, *one[t + 1 :])
                assert device.pair_level(one, other) <= step * (1 + 1e-12)


@pytest.mark.parametrize("make", LAYERED[:2])
def test_two_layers_promise_less_than_fresh_reports_of_the_same_law(make):
    """A case of the book's proposition: with as many values as reports, in both classes."""
    for domain in (uldp.Domain(4, sensitive=[0, 1]), uldp.Domain(4)):
        if make is uldp.UtilityOptimizedRR and not domain.sensitive.size:
            continue
        device = two_layers(make(domain, 1.0), 0.7)
        assert device.level(2) >= 2 * device.level(1) * (1 - 1e-12)


def test_plans_are_all_of_one_total_level_and_the_best_is_first():
    domain, n, T, total = uldp.Domain(20, sensitive=range(6)), 1_000, 6, 2.5
    found = plans_for_rounds(domain, total, T, n)
    assert len(found) == T * len(uldp.mechanisms.MECHANISMS)
    assert [one.loss for one in found] == sorted(one.loss for one in found)
    for one in found:
        assert one.mechanism.epsilon * one.reports == pytest.approx(total)
        assert one.users == n * one.reports // T
        assert (one.rounds, one.keeps) == (T, "nothing")
        expected = one.mechanism.l2_loss(one.mechanism.worst_case("l2"), one.users)
        assert one.loss == pytest.approx(expected, rel=1e-12)
        hidden = (1 - one.mechanism.revealed_share) ** one.reports
        assert one.revealed == pytest.approx(1 - hidden, rel=1e-9)
        assert one.revealed <= -math.expm1(-total) * (1 + 1e-12)


def test_a_fixed_answer_is_reported_once_by_all():
    domain = uldp.Domain(20, sensitive=range(6))
    fixed = plans_for_rounds(domain, 1.0, 6, 1_000, fixed=True)
    assert [(one.reports, one.users, one.keeps) for one in fixed] == [(1, 1_000, "first")] * len(
        uldp.mechanisms.MECHANISMS
    )
    assert fixed[0].mechanism.epsilon == 1.0
    assert fixed[0].loss == pytest.approx(plans_for_rounds(domain, 1.0, 6, 6_000)[0].loss)
    assert "keep it" in fixed[0].advice
    assert "never look" in fixed[0].advice.lower()


def test_where_privacy_is_high_each_user_is_asked_once_and_otherwise_always():
    domain = uldp.Domain(20, sensitive=range(6))
    rota, always = (plans_for_rounds(domain, total, 4, 10_000)[0] for total in (0.1, 60.0))
    assert (rota.reports, rota.users) == (1, 2_500)
    assert (always.reports, always.users) == (4, 10_000)
    assert "the rounds drawn beforehand, 1 of 4" in rota.advice
    assert "every round, 4 of 4" in always.advice


@pytest.mark.parametrize(("total", "fixed"), [(0.1, False), (8.0, False), (1.0, True)])
def test_a_plan_goes_into_a_survey_file(total, fixed):
    """For every plan, and with the words of its advice; what a device spends is the total."""
    domain = uldp.Domain(["a", "b", "c", "d"], sensitive=["a", "b"])
    for one in plans_for_rounds(domain, total, 5, 1_000, fixed=fixed):
        survey = uldp.Survey("panel", {"q": one.mechanism}, one.repeat)
        assert survey.repeat == one.repeat
        assert survey.repeat["rounds"] == one.rounds
        assert survey.repeat["keep"] == one.keeps
        spent = survey.questions["q"].epsilon * survey.repeat.get("reports", 1)
        assert spent == pytest.approx(total, rel=1e-12)
        (line,) = (line for line in survey.to_json().splitlines() if "repeat" in line)
        assert one.advice.endswith(f" In the survey file: {line.strip().rstrip(',')}.")


def test_a_survey_of_fewer_users_than_groups_has_no_empty_group():
    found = plans_for_rounds(uldp.Domain(3, sensitive=[0]), 1.0, 5, 2)
    assert {one.reports for one in found} == {3, 4, 5}
    assert {one.users for one in found} == {1, 2}


def test_the_ends_of_the_ranges_are_planned():
    domain = uldp.Domain(3, sensitive=[0])
    one = plans_for_rounds(domain, 1.0, 1, 1)[0]
    assert (one.rounds, one.reports, one.users) == (1, 1, 1)
    assert plans_for_rounds(domain, 2e-6, 2, 10)[0].reports in (1, 2)
    assert plans_for_rounds(domain, 500.0, 2, 10)[0].reports == 2
    many = plans_for_rounds(domain, 1.0, 1_000, 10, fixed=True)[0]
    assert (many.rounds, many.reports) == (1_000, 1)
    with pytest.raises(ValueError, match="total must"):
        plans_for_rounds(domain, 1.5e-6, 2, 10)[0]


def test_as_much_is_listed_as_is_promised_and_no_more():
    device = Device.of(uldp.RandomizedResponse(uldp.Domain(2), 1.0))
    assert device.law([0] * 16).sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="rounds must be few enough"):
        device.level(13)
    two_layers(uldp.RandomizedResponse(uldp.Domain(256), 1.0), 0.5, "once")
    two_layers(uldp.Rappor(uldp.Domain(10), 1.0), 0.5, "once")
    for many in (
        uldp.RandomizedResponse(uldp.Domain(257), 1.0),
        uldp.Rappor(uldp.Domain(11), 1.0),
    ):
        with pytest.raises(ValueError, match="mechanism must have few values"):
            two_layers(many, 0.5, "once")
