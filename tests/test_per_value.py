"""Arguments with one number for each value go by labels where they have any, else by position."""

import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from malformed.table import Call, call
from malformed.test_public import CALLS, public
from matplotlib.collections import LineCollection

import uldp
from uldp import inference, likelihood, losses, personalized
from uldp.attributes import OneByOne
from uldp.choosing import compare, epsilon_needed, users_needed
from uldp.domain import PER_VALUE, PerValue
from uldp.law import Law
from uldp.paper import datasets, figures
from uldp.paper.optimal_theta import best_theta
from uldp.personalized import PersonalizedEstimate, PersonalizedMechanism, TaggedDomain
from uldp.survey import attacks, plans_for_rounds

ANSWERS = uldp.Domain(["no", "yes", "maybe"], sensitive=["yes"])
CELLS = uldp.Domain.product(age=["18-29", "30+"], drug=["no", "yes", "some"], sensitive=[1, 4])
TAGGED = TaggedDomain(ANSWERS, ["home"])
GRID = datasets.manhattan().domain
URR = uldp.UtilityOptimizedRR(ANSWERS, 1.0)
RAPPOR = uldp.UtilityOptimizedRappor(ANSWERS, 1.0)
COMMON = uldp.UtilityOptimizedRR(TAGGED, 1.0)
USER = PersonalizedMechanism(COMMON, {"yes": "home"})
SET_USER = PersonalizedMechanism(uldp.UtilityOptimizedRappor(TAGGED, 1.0), {})
SINGLE = uldp.UtilityOptimizedRR(uldp.Domain(["18-29", "30+"]), 1.0)
DRUG = uldp.UtilityOptimizedRR(uldp.Domain(["no", "yes", "some"], ["yes"]), 1.0)
PRODUCT = OneByOne({"age": SINGLE, "drug": DRUG})
MANY = URR.simulate([3000, 4000, 5000], 1)
TALLY = URR.tally([0, 1, 1, 2, 2, 2, 2])
OF_COMMON = COMMON.tally([0, 1, 1, 2, 2, 3, 3])
EVIDENCE = RAPPOR.evidence(RAPPOR.privatize(["no", "yes", "maybe", "maybe"] * 5, rng=1))
R = [0.1, 0.2, 0.3, 0.4]
ZEROS = np.zeros(625, dtype=int)
FAIR = np.full(625, 1 / 625)


class Example(NamedTuple):
    """A call that returns numbers, and the numbers for the values of a domain that it takes."""

    call: Callable[[Any], Any]
    domain: uldp.Domain = ANSWERS
    vector: Any = (0.1, 0.3, 0.6)


def drawn(axes: Any) -> Any:
    """The numbers that a figure shows."""
    shown = []
    for ax in np.ravel(axes):
        shown += [image.get_array().filled(0).ravel() for image in ax.images]
        shown += [line.get_xdata() for line in ax.lines]
        strokes = [each for each in ax.collections if isinstance(each, LineCollection)]
        shown += [np.ravel(each.get_segments()) for each in strokes]
    plt.close("all")
    return np.concatenate(shown)


def histogram(name: str) -> Example:
    def counts(given: Any) -> Any:
        tables = dict.fromkeys(["home", "office", "home_places", "office_places"], ZEROS)
        tables = {"counts": ZEROS + 1, **tables, name: given}
        return getattr(datasets.GridHistogram(GRID, source="here", **tables), name)

    return Example(counts, GRID, np.arange(625))


OF_TRUTH = {
    "law.Law.second_moment.p": lambda p: URR.second_moment(p),
    "losses.variances.p": lambda p: losses.variances(URR, p),
    "losses.total_variance.p": lambda p: losses.total_variance(URR, ["yes"], p),
    "losses.total_variance.weights": lambda w: losses.total_variance(URR, w, [0.1, 0.3, 0.6]),
    "losses.l1_loss.p": lambda p: losses.l1_loss(URR, p, 10),
    "losses.l2_loss.p": lambda p: losses.l2_loss(URR, p, 10),
    "mechanisms.base.Mechanism.l1_loss.p": lambda p: URR.l1_loss(p, 10, exact=True),
    "mechanisms.base.Mechanism.l2_loss.p": lambda p: RAPPOR.l2_loss(p, 10),
    "choosing.compare.p": lambda p: [one.mse for one in compare(ANSWERS, 1.0, 10, p).values()],
    "choosing.users_needed.p": lambda p: users_needed(URR, "l2", 1e-9, p),
    "choosing.users_needed.weights": lambda w: users_needed(
        URR, "standard_error", 1e-9, [0.1, 0.3, 0.6], w
    ),
    "choosing.epsilon_needed.p": lambda p: epsilon_needed(
        uldp.UtilityOptimizedRR, ANSWERS, 1000, "l2", 0.01, p
    ),
    "choosing.epsilon_needed.weights": lambda w: epsilon_needed(
        uldp.UtilityOptimizedRR, ANSWERS, 1000, "standard_error", 0.02, [0.1, 0.3, 0.6], w
    ),
    "survey.attacks.gain.p": lambda p: attacks.gain(URR, p, ["yes"], 0.1),
    "survey.attacks.users_for_margin.p": lambda p: attacks.users_for_margin(
        URR, p, ["yes"], 1e-6, 0.0
    ),
    "paper.optimal_theta.best_theta.p": lambda p: best_theta(RAPPOR, "l2", p),
    "survey.plans.plans_for_rounds.p": lambda p: [
        one.loss for one in plans_for_rounds(ANSWERS, 2.0, 2, 100, p=p)
    ],
    "likelihood.em.start": lambda p: likelihood.em(EVIDENCE, p, steps=1),
    "likelihood.log_likelihood.p": lambda p: likelihood.log_likelihood(EVIDENCE, p),
    "inference.chi_square.goodness_of_fit.p": lambda p: (
        inference.goodness_of_fit(TALLY, p).statistic
    ),
    "inference.totals.total.weights": lambda w: inference.total(TALLY, w).value,
    "inference.totals.difference.weights": lambda w: (
        inference.difference(TALLY, URR.tally([0, 0, 1, 2]), w).value
    ),
    "personalized.answers.total.weights": lambda w: (
        personalized.total(OF_COMMON, {"home": [0.2, 0.3, 0.5]}, w).value
    ),
    "personalized.answers.summary.background": lambda p: (
        personalized.summary(COMMON, OF_COMMON, {"home": p}).estimate
    ),
    "inference.groups.ratio.part": lambda w: inference.ratio(MANY, w, [1, 1, 1]).value,
    "inference.groups.ratio.whole": lambda w: inference.ratio(MANY, ["yes"], w).value,
    "personalized.answers.total.background": lambda p: (
        personalized.total(OF_COMMON, {"home": p}, ["yes"]).value
    ),
    "personalized.collector.estimate.background": lambda p: (
        personalized.estimate(COMMON, OF_COMMON, {"home": p}).p
    ),
    "personalized.collector.PersonalizedEstimate.of.background": lambda p: (
        PersonalizedEstimate.of(TAGGED, R, {"home": p}).p
    ),
    "personalized.secrecy.posterior.prior": lambda p: personalized.posterior(
        COMMON, [0, 3], "home", p, [0.2, 0.3, 0.5]
    ),
    "personalized.secrecy.posterior.visits": lambda p: personalized.posterior(
        COMMON, [0, 3], "home", [0.2, 0.3, 0.5], p
    ),
    "domain.Domain.labelled.vector": lambda p: ANSWERS.labelled(p).to_numpy(),
    "paper.figures.estimates.estimates_with_errors.truth": lambda p: drawn(
        figures.estimates.estimates_with_errors({"uRR": TALLY}, truth=p)
    ),
}
EXAMPLES = {name: Example(function) for name, function in OF_TRUTH.items()} | {
    "mechanisms.base.Mechanism.simulate.true_counts": Example(
        lambda c: URR.simulate(c, rng=1).counts, vector=(100, 20, 3)
    ),
    "tallies.Tally.counts": Example(lambda c: uldp.Tally(URR, 9, c).counts, vector=(1, 2, 6)),
    "personalized.collector.PersonalizedEstimate.of.r": Example(
        lambda r: PersonalizedEstimate.of(TAGGED, r).p, TAGGED, R
    ),
    "domain.ProductDomain.marginal.vector": Example(
        lambda v: CELLS.marginal(v, "drug"), CELLS, range(6)
    ),
    "attributes.OneByOne.l2_loss.p": Example(
        lambda p: PRODUCT.l2_loss(p, 10), PRODUCT.domain, np.arange(6) / 15
    ),
    "attributes.OneByOne.total_variance.p": Example(
        lambda p: PRODUCT.total_variance(range(6), p), PRODUCT.domain, np.arange(6) / 15
    ),
    "attributes.OneByOne.total_variance.weights": Example(
        lambda w: PRODUCT.total_variance(w, np.full(6, 1 / 6)), PRODUCT.domain, np.arange(6) ** 2
    ),
    "paper.datasets.histograms.Histogram.counts": Example(
        lambda c: datasets.Histogram(ANSWERS, c, "here").counts, vector=(4, 5, 0)
    ),
    "paper.datasets.histograms.GridHistogram.counts": histogram("counts"),
    "paper.datasets.histograms.GridHistogram.home": histogram("home"),
    "paper.datasets.histograms.GridHistogram.office": histogram("office"),
    "paper.datasets.histograms.GridHistogram.home_places": histogram("home_places"),
    "paper.datasets.histograms.GridHistogram.office_places": histogram("office_places"),
    "paper.figures.estimates.maps.panels": Example(
        lambda p: drawn(figures.maps({"one": p}, datasets.manhattan(), "share")),
        GRID,
        np.arange(625) / np.arange(625).sum(),
    ),
}

NOT_OF_A_DOMAIN = {
    "survey.attacks.unforged.interval": "the two ends of an interval",
    "mechanisms.base.Mechanism.estimate.start": "an option, handed on to likelihood.em",
    "privacy.osldp.decompose.sensitive": "positions of rows",
    "inference.groups.stratified.shares": "one for each stratum",
    "privacy.repetition.Device.protected": "positions of reports",
    "personalized.population.SecretMaps.users": "one for each row of a table",
    "personalized.population.SecretMaps.tags": "one for each row of a table",
    "privacy.repetition.Device.pair_level.one": "one for each survey",
    "privacy.repetition.Device.pair_level.other": "one for each survey",
    "likelihood.Evidence.revealed": "one for each value of X_N",
    "likelihood.Evidence.times": "one for each set",
    "likelihood.water_filling.counts": "no domain is given",
    "likelihood.water_filling.offsets": "no domain is given",
}
"""Arguments with as many numbers as something else says, which are not one for each value."""


def name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__.removeprefix('uldp.')}.{function.__qualname__}"


def of_figures() -> Iterator[Callable[..., Any]]:
    for file in pkgutil.iter_modules(figures.__path__):
        module = import_module(f"uldp.paper.figures.{file.name}")
        for value in (getattr(module, name) for name in module.__all__):
            if inspect.isfunction(value):
                yield value


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of all arguments, resolved."""
    of_init = inspect.isclass(function) and not is_dataclass(function)
    typed = function.__init__ if of_init else function
    hints = get_type_hints(typed, localns={"DataFrame": object}, include_extras=True)
    return {name: hints[name] for name in inspect.signature(typed).parameters if name in hints}


def is_marked(hint: Any) -> bool:
    marked = get_origin(hint) is Annotated and PER_VALUE in hint.__metadata__
    return marked or any(is_marked(part) for part in get_args(hint))


MARKED = {
    f"{name_of(function)}.{argument}"
    for function in (*public(), *of_figures())
    if not function.__name__.startswith("_")
    for argument, hint in hints_of(function).items()
    if is_marked(hint)
}


def test_each_marked_argument_has_an_example():
    assert EXAMPLES.keys() == MARKED


def ways(domain: uldp.Domain, vector: np.ndarray) -> Iterator[Any]:
    """The numbers with their labels, out of order."""
    rolled = dict(zip(np.roll(domain.labels, 1).tolist(), np.roll(vector, 1), strict=True))
    yield rolled
    yield pd.Series(rolled)
    yield pd.Series(rolled).astype(object)
    yield pd.Series(rolled).rename_axis("value")
    yield pd.Series(rolled.values(), index=pd.CategoricalIndex(rolled))
    if isinstance(domain, uldp.domain.ProductDomain):
        in_order = domain.labelled(vector)
        rolled = in_order.iloc[np.roll(range(domain.size), 1)]
        yield rolled
        yield rolled.to_dict()
        yield rolled.swaplevel()
        yield rolled.rename_axis([None, None])


@pytest.mark.parametrize("name", EXAMPLES)
def test_labels_decide_in_any_order(name):
    example = EXAMPLES[name]
    vector = np.array(example.vector)
    expected = example.call(vector)
    assert not np.array_equal(expected, example.call(np.roll(vector, 1)))
    for given in ways(example.domain, vector):
        np.testing.assert_array_equal(example.call(given), expected)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_label_that_is_missing_unknown_or_repeated_is_named(name):
    example = EXAMPLES[name]
    labels = [str(label) for label in example.domain.labels]
    vector = np.array(example.vector)
    by_label = pd.Series(vector, labels)
    last = labels[-1]
    moved = pd.Series(vector, [*labels[:-1], "elsewhere"])
    wrong = [
        (moved, "'elsewhere' is not a label"),
        (moved.to_dict(), "'elsewhere' is not a label"),
        (pd.Series(vector, [*labels[:-1], labels[0]]), f"got {labels[0]!r} 2 times"),
        (pd.Series([*vector, 0], [*labels, last]), f"got {last!r} 2 times"),
        (pd.Series(vector), "0 is not a label"),
    ]
    if not name.endswith((".weights", ".part", ".whole")):
        wrong += [
            (by_label.iloc[:-1], f"got none for {last!r}"),
            (by_label.iloc[:-1].to_dict(), f"got none for {last!r}"),
            ({}, f"got none for {labels[0]!r}"),
        ]
    for given, message in wrong:
        with pytest.raises(ValueError, match=r"label|got none for") as caught:
            example.call(given)
        assert message in str(caught.value)


def test_weights_that_are_left_out_are_0():
    share = inference.total(TALLY, [0, 1, 0])
    for weights in ({"yes": 1}, pd.Series({"yes": 1}), "yes", ["yes"], {"yes"}, iter(["yes"])):
        assert inference.total(TALLY, weights) == share
    for weights in ({}, set(), pd.Series(dtype=float)):
        with pytest.raises(ValueError, match="weights must be of at least one value, got none"):
            inference.total(TALLY, weights)
    for weights in ("elsewhere", {"elsewhere"}, ["yes", "elsewhere"]):
        with pytest.raises(ValueError, match="weights: 'elsewhere' is not a label"):
            inference.total(TALLY, weights)


def test_weights_where_labels_are_integers():
    """As many integers as values are weights, any other number of them labels; a set is labels."""
    tally = uldp.UtilityOptimizedRR(uldp.Domain([10, 20, 0], [10]), 1.0).tally([0, 0, 1, 2, 2, 2])
    for weights in ([10], {10}, {10: 1}, pd.Series({10: 1})):
        assert inference.total(tally, weights) == inference.total(tally, [1.0, 0, 0])
    assert inference.total(tally, {10, 20, 0}).value == pytest.approx(1)
    assert inference.total(tally, [10, 20, 0]) == inference.total(tally, [10.0, 20, 0])
    for weights in ([1], {1}, {1: 1}, pd.Series([1.0, 0, 0])):
        with pytest.raises(ValueError, match="weights: 1 is not a label"):
            inference.total(tally, weights)
    for weights in ({True: 1}, {10.0: 1}, {"10": 1}):
        with pytest.raises(ValueError, match="is not a label"):
            inference.total(tally, weights)


def test_weights_by_factor_go_by_labels():
    scores = pd.Series({"some": 0.5, "yes": 1})
    assert CELLS.weights(drug=scores).tolist() == [0, 1, 0.5] * 2
    assert CELLS.weights(drug={"some", "yes"}).tolist() == [0, 1, 1] * 2
    with pytest.raises(ValueError, match="drug: 'much' is not a label"):
        CELLS.weights(drug=scores.rename({"some": "much"}))


def test_an_index_of_other_factors_is_refused():
    other = CELLS.labelled(range(6)).rename_axis(["age", "dose"])
    with pytest.raises(ValueError, match="vector must be indexed by age, drug, got"):
        CELLS.marginal(other, "age")


def test_factors_with_the_same_labels_go_by_their_names():
    pair = uldp.Domain.product(past=["no", "yes"], now=["no", "yes"])
    shares = pair.labelled([0.1, 0.2, 0.3, 0.4])
    assert pair.marginal(shares.swaplevel().sort_index(), "past") == pytest.approx([0.3, 0.7])


def test_a_sorted_table_of_the_package_is_labelled_right():
    estimate = inference.summary(TALLY).to_pandas()["estimate"]
    again = ANSWERS.labelled(estimate.sort_values(ascending=False))
    pd.testing.assert_series_equal(again, estimate, check_names=False)


def test_counts_of_answers_as_pandas_gives_them():
    answers = pd.Series(["maybe"] * 60 + ["yes"] * 30 + ["no"] * 10)
    assert URR.simulate(answers.value_counts(), 1) == URR.simulate([10, 30, 60], 1)


def test_the_start_of_em_is_an_option_of_the_estimate():
    start = {"maybe": 0.6, "no": 0.1, "yes": 0.3}
    by_label, by_position = (
        RAPPOR.estimate(EVIDENCE, "em", start=given, steps=1) for given in (start, [0.1, 0.3, 0.6])
    )
    np.testing.assert_array_equal(by_label, by_position)


def test_counts_that_are_not_by_value_have_no_labels():
    uhr = uldp.UtilityOptimizedHadamard(ANSWERS, 1.0)
    assert uhr.tally_shape != (3,)
    with pytest.raises(TypeError, match="counts must be an array of shape"):
        uldp.Tally(uhr, 3, pd.Series({"no": 1, "yes": 1, "maybe": 1}))


def test_arrays_of_other_libraries_have_no_labels():
    weights = pa.array([0.0, 1, 0])
    assert inference.total(TALLY, weights) == inference.total(TALLY, ["yes"])
    chunked = pa.chunked_array([weights])
    assert inference.total(TALLY, chunked) == inference.total(TALLY, ["yes"])


def test_arrays_of_millions_stay_arrays():
    """No element is touched in Python, and pandas is not looked for."""
    vector = np.arange(1 << 22)
    domain = uldp.Domain(vector.size)
    assert uldp.domain.per_value(domain, vector, "vector") is vector


# --- arguments that nobody marked ----------------------------------------------------------------

SIZES = (2, 3, 5, 6, 7, 10, 625)
MOST_OUTPUTS = 6


def vectors(right: Any) -> Iterator[np.ndarray]:
    """One-dimensional arrays of numbers that an argument may take, its right value first."""
    try:
        array = np.asarray(right)
    except ValueError:
        return
    if array.ndim == 1 and array.dtype.kind in "iuf" and array.size:
        yield array
        return
    if right is ... or right is None or array.dtype == object:
        for size in SIZES:
            yield np.arange(1, size + 1) / np.arange(1, size + 1).sum()


def variants(right: Any) -> Iterator[Callable[[Any], Any]]:
    """How a vector can stand in the place of a right value: as it is, or within a mapping."""
    yield lambda vector: vector
    for key in right if isinstance(right, Mapping) else ("home",):
        others = right if isinstance(right, Mapping) else {}
        yield lambda vector, key=key, others=others: {**others, key: vector}


def is_taken(one: Call, argument: str, value: Any) -> bool:
    try:
        one.function(**one.right | {argument: value})
    except Exception:
        return False
    return True


def takes_a_number_per_value(one: Call, argument: str) -> bool:
    """Whether an argument takes a vector, but no longer one."""
    right = one.right.get(argument, ...)
    inner = next(iter(right.values()), ...) if isinstance(right, Mapping) and right else right
    for put in variants(right):
        for vector in vectors(inner):
            if is_taken(one, argument, put(vector)):
                longer = (np.append(vector, end) for end in (vector[-1], *range(MOST_OUTPUTS)))
                if not any(is_taken(one, argument, put(more)) for more in longer):
                    return True
    return False


def found(calls: list[Call]) -> set[str]:
    names = set()
    for one in calls:
        function = getattr(one.function, "__func__", one.function)
        for argument in one.right.keys() | one.wrong.keys() if one.runs else ():
            name = f"{name_of(function)}.{argument}"
            if name not in names and takes_a_number_per_value(one, argument):
                names.add(name)
    return names


def test_no_argument_of_the_kind_is_unmarked():
    """The tables hold all that is public; each argument is tried, whatever its annotation says."""
    public_names = {name_of(function) for function in public()}
    of_kind = {name for name in found(CALLS) if name.rpartition(".")[0] in public_names}
    assert of_kind - MARKED == NOT_OF_A_DOMAIN.keys()
    assert {name for name in MARKED if not name.startswith("paper.figures.")} - of_kind == set()


def test_an_unmarked_argument_is_found():
    def unmarked(law: Law, p: Any = None, known: Any = None) -> None:
        for one in (p, (known or {}).get("home")):
            if one is not None and np.shape(one) != (law.domain.size,):
                raise ValueError("p")

    def marked(law: Law, p: PerValue) -> None: ...

    right = {"law": (URR, []), "p": (..., [1]), "known": (..., [1])}
    names = {name.rpartition(".")[2] for name in found([call(unmarked, **right)])}
    assert names == {"p", "known"}
    assert [is_marked(hint) for hint in hints_of(marked).values()] == [False, True, False][:2]


def test_figures_that_know_a_domain_take_labels():
    unmarked = {
        f"{name_of(function)}.{argument}"
        for function in of_figures()
        if any(
            word in str(function.__annotations__.values())
            for word in ("Domain", "Tally", "Histogram", "Mechanism", "Law")
        )
        for argument, kind in function.__annotations__.items()
        if "ArrayLike" in str(kind)
    }
    assert unmarked == {"paper.figures.estimates.estimates_with_errors.values"}


def test_pandas_is_not_imported():
    code = (
        "import sys, uldp; urr = uldp.UtilityOptimizedRR(uldp.Domain(['a', 'b'], ['a']), 1.0); "
        "uldp.inference.total(urr.simulate({'b': 3, 'a': 4}, 1), {'a'}); "
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
