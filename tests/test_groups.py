"""Shares within groups, marginals and strata: by hand, by exact coverage, by simulation."""

import contextlib
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from cases import MECHANISMS, compositions
from scipy import stats

import uldp
from uldp import inference, personalized
from uldp.law import LINEAR

CELLS = uldp.Domain.product(
    age=["18-29", "30+"], drug=["no", "yes", "often"], sensitive=lambda age, drug: drug != "no"
)


def tallies_of(law: uldp.Mechanism, n: int) -> tuple[np.ndarray, list[uldp.Tally]]:
    """How often each output comes in n reports, all possibilities, and their tallies."""
    found = compositions(n, len(law.outputs))
    return found, [law.tally(np.repeat(law.outputs, c, axis=0)) for c in found]


def chances_of(law: uldp.Mechanism, found: np.ndarray, p: np.ndarray) -> np.ndarray:
    return stats.multinomial.pmf(found, found[0].sum(), p @ law.transition_matrix())


def held(low: np.ndarray, high: np.ndarray, truth: float) -> np.ndarray:
    return (np.array(low) <= truth + 1e-9) & (truth - 1e-9 <= np.array(high))


def test_a_share_within_a_group_by_hand():
    """RR of 3 values: the delta method in full, with the covariance matrix."""
    law = uldp.RandomizedResponse(uldp.Domain(["a", "b", "c"], ["a"]), 1.0)
    tally = uldp.Tally(law, 100_000, [30_000, 45_000, 25_000])
    found = inference.ratio(tally, ["a"], ["a", "b"])
    p, cov = law.estimate(tally), inference.covariance(tally)
    assert found.value == pytest.approx(p[0] / (p[0] + p[1]))
    slope = np.array([p[1], -p[0], 0]) / (p[0] + p[1]) ** 2
    assert found.standard_error == pytest.approx(math.sqrt(slope @ cov @ slope))
    assert found.low < found.value < found.high
    z = stats.norm.ppf(1 - 0.9 * 0.05 / 2)  # a tenth of the chance goes to the variance
    assert (found.high - found.low) / 2 == pytest.approx(z * found.standard_error, rel=0.01)
    scores = inference.ratio(tally, {"a": 1.0, "b": 3.0}, {"a": 1, "b": 1})
    assert scores.value == pytest.approx((p[0] + 3 * p[1]) / (p[0] + p[1]))
    for end, other in ((scores.low, found.high), (scores.high, found.low)):
        assert end == pytest.approx(3 - 2 * other)


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_stands_beside_an_interval_lies_in_it(name):
    """To the last bit; and no error is 0 beside an interval that has a length."""
    rng = np.random.default_rng(12)
    for epsilon, n in itertools.product((0.001, 1.0, 20.0), (1, 2, 3, 30, 1000, 10**6)):
        law, tagged = (MECHANISMS[name](domain, epsilon) for domain in (CELLS, TAGGED))
        p = rng.dirichlet(np.full(6, rng.choice([0.1, 1])))
        tally, other, answers = (
            one.simulate(rng.multinomial(n, p), rng) for one in (law, law, tagged)
        )
        found = [
            inference.summary(tally, 0.5, simultaneous=together, clip=clip)
            for together, clip in itertools.product((True, False), repeat=2)
        ]
        if n > 1:
            found += [
                inference.difference(tally, other),
                inference.stratified({"a": tally, "b": other}, [0.3, 0.7]),
                *(inference.marginal(tally, factor) for factor in CELLS.factors),
                *(personalized.summary(answers, background=known) for known in (None, GUESS)),
                *(inference.total(tally, w) for w in (np.ones(6), rng.normal(size=6))),
                inference.difference(tally, other, rng.normal(size=6)),
            ]
        for answer in ("no", "often", {"no": 1, "yes": 2, "often": 4}):
            with contextlib.suppress(ValueError):
                part, whole = CELLS.weights(age="30+", drug=answer), CELLS.weights(age="30+")
                found.append(inference.ratio(tally, part, whole))
        for one in found:
            value = one.value if hasattr(one, "value") else one.estimate
            assert np.all((one.low <= value) & (value <= one.high))
            error = np.asarray(one.standard_error)
            assert not np.any((error == 0) & (one.low < one.high))


@pytest.mark.parametrize("name", ["RR", "RAPPOR", "uRR", "uRAP", "uBD", "uHR"])
def test_the_interval_is_what_the_totals_do_not_rule_out(name):
    """By a scan over 2,001 ratios."""
    law = MECHANISMS[name](CELLS, 1.5)
    young = CELLS.weights(age="18-29")
    users = CELLS.weights(age="18-29", drug={"yes": 1, "often": 2})
    tally = law.simulate([600, 100, 40, 900, 200, 60], 1)
    found = inference.ratio(tally, users, young, 0.9)
    ends = {}
    for r in np.linspace(0, 2, 2001):
        one = inference.total(tally, users - r * young, 0.9)
        ends[r] = one.low <= 0 <= one.high
    left = [r for r, is_left in ends.items() if is_left]
    assert found.low == pytest.approx(min(left), abs=1e-3)
    assert found.high == pytest.approx(max(left), abs=1e-3)
    assert found.low <= found.value <= found.high or not 0 <= found.value <= 2


def test_a_group_that_may_be_empty_is_refused():
    law = uldp.UtilityOptimizedRR(uldp.Domain(["a", "b", "c"], ["a"]), 1.0)
    tally = law.simulate([0, 3, 97], 1)
    assert inference.total(tally, ["a"]).low <= 0 < inference.total(tally, ["b"]).low
    with pytest.raises(
        ValueError, match="got a group which may be empty: of 100 reports the inter"
    ):
        inference.ratio(tally, [1, 0, 0], [1, 0, 0])
    assert inference.ratio(tally, ["b"], ["b"]).low == 1
    assert inference.ratio(tally, ["b"], ["b"]).high == 1
    for part, whole in (("a", "b"), ([1, 0, 0], [1, 0, -1]), ([0, 0, 0], [0, 0, 0])):
        with pytest.raises(ValueError, match="whole must be above 0 where part is not 0"):
            inference.ratio(tally, part, whole)


@pytest.mark.parametrize("name", ["RR", "uRR", "uRAP", "uHR", "uBD, one size"])
def test_shares_within_a_group_cover_their_level(name):
    """Exact, over all tallies; those that are refused say nothing."""
    part, whole = np.array([0.0, 1, 0]), np.array([0.0, 1, 1])
    grid = [np.array([1 - a, a * b, a * (1 - b)]) for a in (0.3, 1) for b in (0, 0.025, 0.3, 0.9)]
    for epsilon, n in itertools.product((1.0, 6.0), (2, 4)):
        law = MECHANISMS[name](uldp.Domain(3, [0]), epsilon)
        found, tallies = tallies_of(law, n)
        ends = []
        for tally in tallies:
            try:
                one = inference.ratio(tally, part, whole)
            except ValueError:
                ends.append((-math.inf, math.inf))
            else:
                ends.append((one.low, one.high))
        low, high = np.array(ends).T
        for p in grid:
            truth = part @ p / (whole @ p)
            covered = chances_of(law, found, p) @ held(low, high, truth)
            assert covered >= 0.9507
            if name == "uRR" and (epsilon, n) == (6.0, 2) and p[1] == 0.025:
                assert covered == pytest.approx(0.9507, abs=1e-4)


def test_marginals_are_totals_with_labels():
    tally = uldp.UtilityOptimizedRR(CELLS, 1.0).simulate([60, 10, 4, 90, 20, 6], 1)
    table = inference.marginal(tally, "drug", confidence=0.9)
    assert table.domain is CELLS.factors["drug"]
    for x, label in enumerate(CELLS.factors["drug"].labels):
        one = inference.total(tally, CELLS.weights(drug=label), 0.9)
        row = (table.estimate[x], table.standard_error[x], table.low[x], table.high[x])
        assert row == (one.value, one.standard_error, one.low, one.high)
    estimate = tally.law.estimate(tally)
    marginal = CELLS.marginal(estimate, "drug")
    np.testing.assert_allclose(table.estimate, marginal, atol=1e-12)
    frame = table.to_pandas()
    assert frame.index.name == "drug"
    assert frame.index.tolist() == ["no", "yes", "often"]
    assert frame.standard_error.tolist() == table.standard_error.tolist()
    assert repr(table).split()[:5] == ["drug", "estimate", "standard", "error", "90%"]
    sure = uldp.RandomizedResponse(uldp.Domain.product(asked=1, drug=3), 1.0).tally([0, 1, 2])
    assert inference.marginal(sure, "asked").estimate == pytest.approx([1])
    both = inference.marginal(tally, "drug", "age")
    assert both.to_pandas().index.names == ["drug", "age"]
    np.testing.assert_allclose(both.estimate, CELLS.marginal(estimate, "drug", "age").ravel())
    for wrong in (("sex",), (("age", "drug"),), ("age", 0.9), ("age", "age"), ()):
        with pytest.raises(ValueError, match="factors must be one "):
            inference.marginal(tally, *wrong)
    with pytest.raises(TypeError, match="tally must be of a product domain"):
        inference.marginal(uldp.RandomizedResponse(uldp.Domain(2), 1.0).tally([0, 1]), "age")


def test_tables_of_a_product_have_its_factors_as_levels():
    tally = uldp.UtilityOptimizedRR(CELLS, 1.0).simulate([60, 10, 4, 90, 20, 6], 1)
    for table in (
        inference.summary(tally),
        inference.difference(tally, tally),
        inference.stratified({"a": tally}, [1]),
    ):
        frame = table.to_pandas()
        assert frame.index.names == ["age", "drug"]
        assert frame.index.equals(CELLS._index(pd, "value"))
        assert frame.standard_error["30+", "yes"] == table.standard_error[4]


def test_the_name_of_a_factor_is_text_in_a_notebook():
    factor = "<img src=x>"
    cells = uldp.Domain.product(**{factor: ["a", "b"], "drug": ["no", "yes"]})
    tally = uldp.RandomizedResponse(cells, 1.0).simulate([9, 9, 9, 9], 1)
    shown = inference.marginal(tally, factor)._repr_html_()
    assert "<th>&lt;img src=x&gt;</th>" in shown


def test_strata_by_hand():
    """Two regions of noise-free answers: the score interval of the weighted share."""
    law = uldp.RandomizedResponse(uldp.Domain(["no", "yes"]), 300.0)
    tallies = {"north": uldp.Tally(law, 40, [36, 4]), "south": uldp.Tally(law, 10, [5, 5])}
    table = inference.stratified(tallies, {"south": 0.75, "north": 0.25})
    assert table.n == 50
    T = 0.25 * 0.1 + 0.75 * 0.5
    assert table.estimate[1] == pytest.approx(T)
    variance = 0.25**2 * 0.1 * 0.9 / 39 + 0.75**2 * 0.5**2 / 9
    assert table.standard_error[1] == pytest.approx(math.sqrt(variance))
    largest = 0.75 * 50 / 10
    for confidence in (0.95, 0.8):
        found = inference.stratified(tallies, {"south": 0.75, "north": 0.25}, confidence)
        z = stats.norm.ppf((1 + confidence) / 2)
        for end, sign in ((found.low[1], -1), (found.high[1], 1)):
            away = abs(T - end) - 0.5 * largest / 50
            assert away == pytest.approx(z * math.sqrt((largest * end - end**2) / 50))
            assert (end - T) * sign > 0
    series = pd.Series([0.25, 0.75], index=["north", "south"])[::-1]
    assert inference.stratified(tallies, series).to_pandas().equals(table.to_pandas())
    alone = inference.stratified({"north": tallies["north"], "south": tallies["south"]}, [1, 0])
    assert alone.estimate[1] == pytest.approx(0.1)


@pytest.mark.parametrize("sizes", [(2, 2), (5, 8), (3, 15)])
def test_two_strata_cover_their_level(sizes):
    """Exact, for true counts; the image of such counts is every entry of RR, RAPPOR, uRR, uRAP."""
    law = uldp.RandomizedResponse(uldp.Domain(2), 300.0)
    grid = np.append(np.linspace(0, 1, 41), [0.0104, 0.0175, 0.0263])  # beside lower ends
    for w in (0.02, 0.1, 0.4, 0.75):
        tables = [
            inference.stratified(
                {"a": uldp.Tally(law, n, [a, n - a]), "b": uldp.Tally(law, m, [b, m - b])},
                [w, 1 - w],
            )
            for n, m in [sizes]
            for a, b in itertools.product(range(n + 1), range(m + 1))
        ]
        low, high = (np.array([getattr(t, end)[0] for t in tables]) for end in ("low", "high"))
        chances = [stats.binom.pmf(np.arange(n + 1), n, grid[:, None]) for n in sizes]
        covered = [
            np.outer(chances[0][i], chances[1][j]).ravel() @ held(low, high, w * p + (1 - w) * q)
            for (i, p), (j, q) in itertools.product(enumerate(grid), repeat=2)
        ]
        assert min(covered) >= 0.9479
        if sizes == (2, 2):
            assert min(covered) < 0.9482


@pytest.mark.parametrize("method", LINEAR)
def test_a_stratified_result_is_a_result(method):
    """Totals of it are weighted means of totals; of one stratum they are those of its tally."""
    law = uldp.UtilityOptimizedRappor(CELLS, 1.0)
    regions = {"a": law.simulate([90, 30, 10, 80, 20, 5], 1), "b": law.simulate([400] * 6, 2)}
    both = inference.stratified(regions, [0.3, 0.7], method=method)
    alone = inference.stratified({"a": regions["a"]}, [1], method=method)
    by_itself = inference.summary(regions["a"], method=method)
    assert alone.to_pandas().equals(by_itself.to_pandas())
    young, users = CELLS.weights(age="18-29"), CELLS.weights(age="18-29", drug=["yes", "often"])
    for w in (young, users, np.arange(6) - 3.0):
        found = inference.total(both, w, method=method)
        each = [inference.total(regions[h], w, method=method) for h in regions]
        assert found.value == pytest.approx(0.3 * each[0].value + 0.7 * each[1].value)
        errors = 0.3 * each[0].standard_error, 0.7 * each[1].standard_error
        assert found.standard_error == pytest.approx(math.hypot(*errors))
        assert found.low < found.value < found.high
        assert inference.total(alone, w, method=method) == each[0]
        change = inference.difference(regions["a"], both, w, method=method)
        assert change.value == pytest.approx(found.value - each[0].value)
    for x in range(6):
        one = inference.total(both, np.eye(6)[x], method=method)
        assert both.estimate[x] == pytest.approx(one.value, abs=1e-12)
        assert both.standard_error[x] == pytest.approx(one.standard_error)
    assert repr(both).splitlines()[-1 - (method == "adjusted")] == "2,635 reports; * sensitive"
    share = inference.ratio(both, users, young, method=method)
    totals = [inference.total(both, w, method=method).value for w in (users, young)]
    assert share.value == pytest.approx(totals[0] / totals[1])
    assert share.low < share.value < share.high
    assert share.method == both.method == method
    ages = inference.marginal(both, "age", method=method)
    assert ages.estimate[0] == pytest.approx(totals[1])
    changes = inference.difference(both, regions["a"], method=method)
    np.testing.assert_allclose(changes.estimate, regions["a"].estimate(method) - both.estimate)
    low = inference.intervals(regions["a"], method=method)[:, 0]
    reach = np.hypot(both.high - both.estimate, regions["a"].estimate(method) - low)
    np.testing.assert_allclose(changes.low, changes.estimate - reach)
    changes = inference.difference(alone, regions["b"], method=method)
    same = inference.difference(regions["a"], regions["b"], method=method)
    assert changes.to_pandas().equals(same.to_pandas())


@pytest.mark.parametrize(("name", "method"), [("uRAP", "empirical"), ("uHR", "adjusted")])
def test_totals_of_two_strata_cover_their_level(name, method):
    """Exact, over all tallies of both, with scores of both signs, where strata differ most."""
    law = MECHANISMS[name](uldp.Domain(3, [0, 1]), 1.0)
    (first, tallies), (second, others) = (tallies_of(law, n) for n in (2, 2))
    corners = [*np.eye(3), np.array([0.05, 0, 0.95]), np.array([0.3, 0.6, 0.1])]
    for share, weights in ((0.1, [1, 1, 0]), (0.6, [1, -1, 0])):
        shares, w = [share, 1 - share], np.array(weights, dtype=float)
        ends = {}
        for i, j in itertools.product(range(len(tallies)), range(len(others))):
            key = tallies[i].counts.tobytes() + others[j].counts.tobytes()
            if key not in ends:
                both = inference.stratified({"a": tallies[i], "b": others[j]}, shares)
                found = inference.total(both, w, method=method)
                ends[key] = found.low, found.high
            ends[i, j] = ends[key]
        low, high = np.array(
            [[ends[i, j] for j in range(len(others))] for i in range(len(tallies))]
        ).transpose(2, 0, 1)
        for p, q in itertools.product(corners, repeat=2):
            inside = held(low, high, share * (w @ p) + (1 - share) * (w @ q))
            assert chances_of(law, first, p) @ inside @ chances_of(law, second, q) >= 0.95


def test_simulated_strata():
    """400 surveys, right 95% and more: below by chance in 1 of 10^5 seeds (4.4 deviations)."""
    rng = np.random.default_rng(5)
    laws = [MECHANISMS[name](CELLS, 1.0) for name in ("uRR", "uBD", "uRAP")]
    each = rng.dirichlet(np.ones(6), 3)
    shares, sizes = np.array([0.2, 0.5, 0.3]), (900, 400, 700)
    truth = shares @ each
    found = []
    for _ in range(400):
        parts = {
            number: law.simulate(rng.multinomial(n, p), rng)
            for number, (law, n, p) in enumerate(zip(laws, sizes, each, strict=True))
        }
        table = inference.stratified(parts, shares)
        found.append(
            [held(table.low, table.high, truth), table.estimate - truth, table.standard_error]
        )
    covered, errors, stated = np.array(found, dtype=float).transpose(1, 2, 0)
    assert (covered.mean(axis=1) >= 0.95 - 4.4 * math.sqrt(0.05 * 0.95 / 400)).all()
    assert (np.abs(errors.mean(axis=1)) <= 4.4 * errors.std(axis=1) / 20).all()
    spread = np.sqrt((errors**2).mean(axis=1) / (stated**2).mean(axis=1))
    assert (np.abs(spread - 1) <= 4.4 / math.sqrt(800)).all()


PLACES = uldp.Domain(["park", "clinic", "elm", "oak"], ["clinic"])
TAGGED = personalized.TaggedDomain(PLACES, ["home", "work"])
GUESS = {"home": [0, 0, 0.5, 0.5]}


@pytest.mark.parametrize(
    "background", [None, {}, GUESS, {**GUESS, "work": {"park": 1, "clinic": 0, "elm": 0, "oak": 0}}]
)
@pytest.mark.parametrize("name", ["uRR", "uRAP", "uBD", "uHR"])
def test_shares_of_answers_and_their_errors(name, background):
    """The estimate of Section 5, and its delta method with numerical derivatives."""
    law = MECHANISMS[name](TAGGED, 1.0)
    tally = law.simulate([3000, 500, 1000, 1500, 2000, 700], 1)
    table = personalized.summary(tally, background=background)
    for x, label in enumerate(PLACES.labels):
        one = personalized.total(tally, background, [label])
        assert (table.estimate[x], table.low[x], table.high[x]) == (one.value, one.low, one.high)
    r = law.estimate(tally, "adjusted")

    def p_of(r: np.ndarray) -> np.ndarray:
        return personalized.PersonalizedEstimate.of(TAGGED, r, background).p

    np.testing.assert_allclose(table.estimate, p_of(r), atol=1e-12)
    step = 1e-6
    slopes = np.array([(p_of(r + step * e) - p_of(r - step * e)) / (2 * step) for e in np.eye(6)])
    variances = np.diag(slopes.T @ inference.covariance(tally) @ slopes)
    np.testing.assert_allclose(table.standard_error, np.sqrt(variances), rtol=1e-5)
    assert (table.low < table.estimate).all()
    assert (table.estimate < table.high).all()
    bots = np.abs(r[TAGGED.bots])
    pi = personalized.PersonalizedEstimate.of(TAGGED, r, background).pi
    np.testing.assert_allclose(table.further["background_error"], bots @ np.maximum(pi, 1 - pi))
    frame = table.to_pandas()
    assert frame.index.tolist() == list(PLACES.labels)
    assert frame.background_error.tolist() == table.further["background_error"].tolist()
    assert "background\n" in repr(table)
    assert "the last column, not in the intervals" in repr(table)
    assert frame.sensitive.tolist() == [False, True, False, False]
    if not background:
        alone = inference.total(tally, ["clinic"])
        np.testing.assert_allclose([table.low[1], table.high[1]], [alone.low, alone.high])
    scores = personalized.total(tally, background, {"park": 2, "oak": 1})
    assert scores.value == pytest.approx(2 * table.estimate[0] + table.estimate[3])


def test_shares_of_answers_where_nothing_is_known_cover_their_level():
    """Exact, if the open answers are shared alike where they were hidden, also if most were."""
    base = uldp.Domain(2)
    for epsilon, n in ((1.0, 9), (4.0, 4)):
        law = uldp.UtilityOptimizedRR(personalized.TaggedDomain(base, ["t"]), epsilon)
        found, tallies = tallies_of(law, n)
        tables = [personalized.summary(tally) for tally in tallies]
        for hidden, share in itertools.product((0, 0.05, 0.5, 0.95), (0, 0.05, 0.3, 0.5)):
            r = np.array([(1 - hidden) * share, (1 - hidden) * (1 - share), hidden])
            low, high = ([getattr(t, end)[0] for t in tables] for end in ("low", "high"))
            covered = chances_of(law, found, r) @ held(low, high, share)
            assert covered >= 0.974
            if (n, hidden, share) == (9, 0, 0.05):
                assert covered == pytest.approx(0.9743, abs=1e-4)


def test_a_table_of_answers_is_of_its_mechanism():
    law = uldp.UtilityOptimizedRR(TAGGED, 1.0)
    tally = law.tally([0, 1])
    assert personalized.summary(law, tally).low.tolist() == personalized.summary(tally).low.tolist()
    with pytest.raises(ValueError, match="tally must be of UtilityOptimizedRR"):
        personalized.summary(law, uldp.UtilityOptimizedRR(TAGGED, 2.0).tally([0, 1]))
    with pytest.raises(TypeError, match="must be a mechanism over a TaggedDomain"):
        personalized.summary(uldp.UtilityOptimizedRR(PLACES, 1.0), tally)


def test_a_ratio_has_the_interval_of_its_scale():
    tally = uldp.UtilityOptimizedRR(uldp.Domain(list("abcd"), sensitive=["a", "b"]), 1.0).simulate(
        [100, 200, 300, 400], rng=1
    )
    plain = inference.ratio(tally, {"a": 1}, {"a": 1, "c": 1})
    small = inference.ratio(tally, {"a": 1}, {"a": 1e12, "c": 1e12})
    assert (small.low * 1e12, small.high * 1e12) == pytest.approx((plain.low, plain.high))


def test_a_stratum_that_nobody_lives_in_is_not_looked_at():
    question = uldp.UtilityOptimizedRappor(uldp.Domain(list("abc"), sensitive=["a", "b"]), 1.0)
    tallies = {
        "here": question.simulate([50, 30, 20], rng=1),
        "nowhere": uldp.Tally(question, 0, [0, 0, 0]),
    }
    found = inference.stratified(tallies, [1, 0])
    assert found.n == 100
    np.testing.assert_allclose(found.estimate, inference.summary(tallies["here"]).estimate)


def test_reports_that_are_all_alike_have_no_standard_error():
    mechanism = uldp.UtilityOptimizedRappor(uldp.Domain(["a", "b"], sensitive=["a"]), 1.0)
    alike = uldp.Tally(mechanism, 20, [0, 0])
    assert np.isnan(inference.summary(alike).standard_error).all()
    clipped = inference.summary(uldp.Tally(mechanism, 10, [9, 1]), clip=True)
    assert not clipped.remarks
