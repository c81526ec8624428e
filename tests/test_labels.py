"""One number for each value goes by its labels, or is refused: all that is public is tried."""

import dataclasses
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from malformed.rows import CALLS, Call, only
from malformed.wrong import GRID
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import uldp
from uldp import inference
from uldp.domain import PER_VALUE, PerValue, numbers_over
from uldp.paper import figures
from uldp.paper.figures.losses import draw_supports

CELLS = uldp.Domain.product(age=["18-29", "30+"], drug=["no", "yes", "some"], sensitive=[1, 4])
SIZES = (5, 6, 3, 2, 7, 10, 625)
ANSWERS = uldp.Domain(["no", "yes", "maybe"], sensitive=["yes"])
TALLY = uldp.UtilityOptimizedRR(ANSWERS, 1.0).tally([0, 1, 1, 2, 2, 2, 2])
P = [0.1, 0.3, 0.6]
FIGURES = [
    only(figures.estimates_by_rank, {}, truth=P, estimates={"uRR": P}, sensitive=[1]),
    only(figures.estimates_with_errors, {}, tallies={"uRR": TALLY}, truth=P),
    only(figures.maps, {}, panels={"one": GRID.frequencies}, grid=GRID, label="share"),
    only(
        draw_supports,
        {},
        ax=Figure().subplots(),
        title="l1",
        floor=P,
        added=P,
        sensitive=[0, 1, 1],
    ),
]


class Found(NamedTuple):
    """An argument that takes one number for each value, and numbers that it takes."""

    one: Call
    argument: str
    put: Callable[[Any], Any]
    vector: np.ndarray

    @property
    def name(self) -> str:
        function = getattr(self.one.function, "__func__", self.one.function)
        return f"{function.__module__}.{function.__qualname__}.{self.argument}"

    @property
    def is_marked(self) -> bool:
        """Whether it has the annotation, or is an option that is handed on."""
        function = self.one.function
        of_init = inspect.isclass(function) and not dataclasses.is_dataclass(function)
        typed = function.__init__ if of_init else function
        hints = get_type_hints(typed, localns={"DataFrame": object}, include_extras=True)
        return says_per_value(hints.get(self.argument, PerValue))

    def result(self, values: Any) -> np.ndarray:
        """All numbers in what the call returns."""
        given = self.one.right | {self.argument: self.put(values)}
        if "rng" in inspect.signature(self.one.function).parameters:
            given["rng"] = 1
        return np.array([*numbers(self.one.function(**given))], dtype=float)


def numbers(result: Any) -> Iterator[float]:
    if isinstance(result, Axes):
        result.figure.set_dpi(40)
        result.figure.canvas.draw()
        yield from np.ravel(result.figure.canvas.buffer_rgba())
        plt.close("all")
    elif isinstance(result, int | float | np.number):
        yield float(result)
    elif isinstance(result, Mapping):
        yield from numbers([*result.values()])
    elif isinstance(result, np.ndarray) and result.dtype != object:
        yield from result.ravel().astype(float)
    elif isinstance(result, list | tuple | np.ndarray | pd.Series):
        for one in result:
            yield from numbers(one)
    elif dataclasses.is_dataclass(result):
        yield from numbers([getattr(result, field.name) for field in dataclasses.fields(result)])


def vectors(right: Any) -> Iterator[np.ndarray]:
    """Numbers of the size of a right value, or of any size, and the right value itself."""
    if isinstance(right, Mapping):
        return
    try:
        array = np.asarray(right)
    except ValueError:
        return
    is_vector = array.ndim == 1 and array.dtype.kind in "iuf" and array.size > 1
    if is_vector or array.dtype == object:
        for size in [array.size] if is_vector else SIZES:
            yield np.arange(1, size + 1) / np.arange(1, size + 1).sum()
            yield np.arange(1, size + 1)
    if is_vector:
        yield array


def places(right: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """Where numbers can stand: in the place of a right value, or within a mapping."""
    yield right, lambda vector: vector
    for key, inner in right.items() if isinstance(right, Mapping) else [("home", ...)]:
        others = right if isinstance(right, Mapping) else {}
        yield inner, lambda vector, key=key, others=others: {**others, key: vector}


def is_taken(one: Call, changed: dict[str, Any]) -> bool:
    try:
        one.function(**one.right | changed)
    except Exception:
        return False
    finally:
        plt.close("all")
    return True


def shorter(right: Any) -> Any:
    return right[:-1] if isinstance(right, list | np.ndarray) else right


def found(one: Call, argument: str) -> Found | None:
    """Numbers that can be fewer are not meant: rows, alone or with the other columns of a table."""
    columns = {name: shorter(value) for name, value in one.right.items()}
    for right, put in places(one.right.get(argument, ...)):
        for vector in vectors(right):
            if is_taken(one, {argument: put(vector)}):
                fewer = {argument: put(vector[:-1])}
                if not is_taken(one, fewer) and not is_taken(one, columns | fewer):
                    return Found(one, argument, put, vector)
    return None


@pytest.fixture(scope="module")
def all_found() -> list[Found]:
    """One for each argument and estimator, whatever the mechanism."""
    each: dict[tuple[str, object], Found] = {}
    for one in (*CALLS, *FIGURES):
        for argument in {**one.right, **one.wrong} if one.runs else ():
            key = f"{one.function.__module__}.{one.name}.{argument}", one.right.get("method")
            if key not in each and (first := found(one, argument)):
                each[key] = first
    return [*each.values()]


def domains_of(one: Call) -> Iterator[uldp.Domain]:
    """The domains that a call knows."""
    values = [getattr(one.function, "__self__", None), *one.right.values()]
    for value in [*values, *(v for m in values if isinstance(m, Mapping) for v in m.values())]:
        for holder in (value, getattr(value, "law", None), getattr(value, "common", None)):
            domain = holder if isinstance(holder, uldp.Domain) else getattr(holder, "domain", None)
            if isinstance(domain, uldp.Domain):
                yield from (domain, getattr(domain, "base", domain))


def known_domains(one: Found) -> Iterator[uldp.Domain]:
    return (domain for domain in domains_of(one.one) if domain.size == one.vector.size)


def with_labels(one: Found) -> Iterator[tuple[bool, Any]]:
    """The numbers out of order, with their positions and with the labels of known domains."""
    order = np.roll(np.arange(one.vector.size), 1)
    every = [range(one.vector.size)]
    known = [*known_domains(one)]
    every += [domain.labels for domain in known]
    every += [domain._index(pd, "value") for domain in known]
    for labels in every:
        series = pd.Series(one.vector, labels).iloc[order]
        is_known = any([*labels] == [*domain.labels] for domain in known)
        yield from (
            (is_known, given) for given in (series, series.astype(object), series.to_dict())
        )


def test_labels_decide_in_any_order_or_are_refused(all_found):
    """They decide wherever an annotation says so, and nowhere else where the order matters."""
    taken, in_order = set(), set()
    for one in all_found:
        expected = one.result(one.vector)
        if not np.array_equal(outcome(one, np.roll(one.vector, 1)), expected):
            in_order.add(one.name)
        for is_known, given in with_labels(one):
            result = outcome(one, given)
            if result is not None:
                np.testing.assert_array_equal(result, expected, err_msg=one.name)
                taken.add(one.name)
            assert result is not None or not (is_known and one.is_marked), one.name
    marked = {one.name for one in all_found if one.is_marked}
    assert taken & in_order <= marked <= taken
    assert len(marked & in_order) > 40


def test_a_label_that_is_missing_unknown_or_repeated_is_named(all_found):
    named = {
        (one.name, domain): one
        for one in all_found
        if one.is_marked
        for domain in known_domains(one)
    }
    for (name, domain), one in named.items():
        labels = [str(label) for label in domain.labels]
        least, last = labels[0], labels[-1]
        right = pd.Series(one.vector, labels)
        wrong = [
            (right.rename({last: "elsewhere"}), "'elsewhere' is not a label"),
            (right.rename({last: "elsewhere"}).to_dict(), "'elsewhere' is not a label"),
            (right.rename({last: least}), f"got {domain.labels[0]!r} 2 times"),
        ]
        if name.endswith(".weights"):
            alone = [domain.labels[0]]
            np.testing.assert_array_equal(one.result(alone), one.result(dict.fromkeys(alone, 1)))
        elif not name.endswith((".part", ".whole")):
            wrong.append((right.iloc[:-1], f"got none for {domain.labels[-1]!r}"))
        for given, message in wrong:
            if isinstance(domain.labels[0], int):
                message = "is not a label"
            with pytest.raises(ValueError, match=re.escape(message)):
                one.result(given)


def outcome(one: Found, values: Any) -> np.ndarray | None:
    try:
        return one.result(values)
    except (TypeError, ValueError):
        return None


def says_per_value(hint: Any) -> bool:
    marked = get_origin(hint) is Annotated and PER_VALUE in hint.__metadata__
    return marked or any(says_per_value(part) for part in get_args(hint))


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
    other = pd.Series(range(6), CELLS._index(pd, "value")).rename_axis(["age", "dose"])
    with pytest.raises(ValueError, match="vector must be indexed by age, drug, got"):
        CELLS.marginal(other, "age")


def test_factors_with_the_same_labels_go_by_their_names():
    pair = uldp.Domain.product(past=["no", "yes"], now=["no", "yes"])
    shares = pd.Series([0.1, 0.2, 0.3, 0.4], pair._index(pd, "value"))
    assert pair.marginal(shares.swaplevel().sort_index(), "past") == pytest.approx([0.3, 0.7])


def test_a_sorted_table_of_the_package_is_labelled_right():
    estimate = inference.summary(TALLY).to_pandas()["estimate"]
    again = numbers_over(ANSWERS, estimate.sort_values(ascending=False), "vector")
    np.testing.assert_array_equal(again, estimate)


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


def test_pandas_is_not_imported():
    code = (
        "import sys, uldp; urr = uldp.UtilityOptimizedRR(uldp.Domain(['a', 'b'], ['a']), 1.0); "
        "uldp.inference.total(urr.simulate({'b': 3, 'a': 4}, 1), {'a'}); "
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_figures_that_know_the_values_are_tried():
    """Those whose argument is documented as one number for each value or cell."""
    every = [
        value
        for file in pkgutil.iter_modules(figures.__path__)
        for value in vars(import_module(f"uldp.paper.figures.{file.name}")).values()
        if inspect.isfunction(value) and re.search(r": .*\((k|cells),\) array", value.__doc__ or "")
    ]
    assert {*every} == {one.function for one in FIGURES}


def test_an_unmarked_argument_is_found():
    def unmarked(law: Any, p: Any = None) -> float:
        if p is not None and np.shape(p) != (law.domain.size,):
            raise ValueError("p")
        return 0.0 if p is None else float(np.asarray(p)[0])

    one = found(only(unmarked, {"p": [1]}, law=TALLY.law), "p")
    wrong = [outcome(one, given) for _, given in with_labels(one)]
    assert any(result is not None and result != one.result(one.vector) for result in wrong)
