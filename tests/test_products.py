"""Domains that are products, and labels in and out."""

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import uldp
from uldp import inference

AGES, DRUGS, DOSES = ["18-29", "30-49", "50+"], ["none", "some"], [0, 1, 5, 10]
CELLS = uldp.Domain.product(
    age=AGES, drug=DRUGS, doses=DOSES, sensitive=lambda age, drug, doses: drug == "some"
)


def test_cells_are_numbered_row_by_row_and_labelled():
    every = [*itertools.product(AGES, DRUGS, DOSES)]
    assert CELLS.labels == tuple(f"{age}, {drug}, {doses}" for age, drug, doses in every)
    assert CELLS.sensitive.tolist() == [i for i, cell in enumerate(every) if cell[1] == "some"]
    assert CELLS.shape == (3, 2, 4)
    assert CELLS.size == 24
    ages, drugs, doses = (list(column) for column in zip(*every, strict=True))
    assert CELLS.cells(age=ages, drug=drugs, doses=doses).tolist() == [*range(24)]
    assert CELLS.cells(doses=5, age="30-49", drug="some") == CELLS.indices("30-49, some, 5")
    assert CELLS.cells(age="50+", drug=["none", "some"], doses=10).tolist() == [19, 23]
    assert CELLS.cells(age=[], drug=[], doses=[]).shape == (0,)


def test_a_product_is_a_domain():
    assert repr(CELLS) == (
        "ProductDomain(age=['18-29', '30-49', '50+'], drug=['none', 'some'], doses=[0, 1, 5, 10], "
        "12 of 24 sensitive)"
    )
    again = pickle.loads(pickle.dumps(CELLS))
    assert again == CELLS
    assert hash(again) == hash(CELLS)
    plain = uldp.Domain(CELLS.labels, CELLS.sensitive)
    assert plain != CELLS
    assert plain != uldp.Domain.product(age=AGES)
    assert not CELLS.__eq__(plain)
    assert uldp.Domain.product(age=AGES) != uldp.Domain.product(ages=AGES)
    by_label = uldp.Domain.product(age=AGES, drug=DRUGS, sensitive=["50+, some", "18-29, none"])
    assert by_label.sensitive.tolist() == [0, 5]
    assert uldp.Domain.product(age=AGES, drug=DRUGS, sensitive=[5, 0]) == by_label
    assert by_label != uldp.Domain.product(age=AGES, drug=DRUGS)
    reordered = uldp.Domain.product(drug=DRUGS, age=AGES)
    assert reordered != uldp.Domain.product(age=AGES, drug=DRUGS)
    report = uldp.UtilityOptimizedRR(CELLS, 1.0).privatize("50+, some, 10", rng=0)
    assert report in range(24)
    with pytest.raises(TypeError):
        CELLS.factors["age"] = uldp.Domain(3)


def test_a_number_of_values():
    grid = uldp.Domain.product(x=2, y=3, sensitive=lambda x, y: x == y)
    assert grid.labels == ("0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2")
    assert grid.sensitive.tolist() == [0, 4]
    assert grid.cells(x=[1, 0], y=[2, 1]).tolist() == [5, 1]
    assert repr(uldp.Domain.product(x=13)) == "ProductDomain(x=13, 0 of 13 sensitive)"


@pytest.mark.parametrize("size", range(4))
def test_marginals_are_sums(size):
    vector = np.random.default_rng(size).normal(size=24)
    sizes = {"age": AGES, "drug": DRUGS, "doses": DOSES}
    for names in itertools.permutations(sizes, size):
        found = CELLS.marginal(vector, *names)
        assert found.shape == tuple(len(sizes[name]) for name in names)
        for levels in itertools.product(*(range(len(sizes[name])) for name in names)):
            chosen = {n: sizes[n][i] for n, i in zip(names, levels, strict=True)}
            expected = sum(
                vector[i]
                for i, cell in enumerate(itertools.product(AGES, DRUGS, DOSES))
                if all(dict(zip(sizes, cell, strict=True))[n] == v for n, v in chosen.items())
            )
            assert found[levels] == pytest.approx(expected, abs=1e-12)
            assert CELLS.weights(**chosen) @ vector == pytest.approx(expected, abs=1e-12)


def test_weights_of_groups_and_of_scores():
    p = np.random.default_rng(0).dirichlet(np.ones(24))
    of_age, of_doses = CELLS.marginal(p, "age"), CELLS.marginal(p, "doses")
    assert CELLS.weights(age=["50+", "18-29"]) @ p == pytest.approx(of_age[0] + of_age[2])
    scores = dict(zip(DOSES, [0.0, 1.0, Fraction(5), -10], strict=True))
    mean = of_doses @ [0, 1, 5, -10]
    assert CELLS.weights(doses=scores) @ p == pytest.approx(mean)
    joint = CELLS.marginal(p, "drug", "doses")[1] @ [0, 1, 5, -10]
    assert CELLS.weights(drug="some", doses=scores) @ p == pytest.approx(joint)
    assert CELLS.weights().tolist() == [1] * 24
    assert CELLS.weights(age=[]).tolist() == [0] * 24
    any_name = uldp.Domain.product(self=["x", "y"], o=["u", "v"])
    assert any_name.weights(self="y").tolist() == [0, 0, 1, 1]
    assert any_name.cells(self="y", o="u") == 2


def test_weights_without_a_mapping_are_of_labels():
    with pytest.raises(TypeError, match=r"age must be labels, .* int64$"):
        CELLS.weights(age=1)
    assert (CELLS.weights(age={"30-49"}) == CELLS.weights(age="30-49")).all()
    assert (CELLS.weights(doses=[1, 5]) == CELLS.weights(doses=[5, 1])).all()


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"sex": "f"}, "levels must be of age, drug, doses, got 'sex'"),
        ({"age": "60+"}, "age: '60\\+' is not a label"),
        ({"age": ["50+", "50+"]}, "age must not repeat"),
        ({"age": {"50+": "much"}}, "age must hold real numbers"),
        ({"age": {"60+": 1}}, "age: '60\\+' is not a label"),
    ],
)
def test_weights_that_are_none(levels, message):
    with pytest.raises((TypeError, ValueError), match=message):
        CELLS.weights(**levels)


def test_as_many_cells_as_promised_are_taken(monkeypatch):
    monkeypatch.setattr("uldp.domain.MOST_VALUES", 6)
    assert uldp.Domain.product(a=2, b=3).size == 6
    with pytest.raises(ValueError, match="factors must have at most 6 cells, got 8"):
        uldp.Domain.product(a=2, b=4)


def test_products_that_are_none():
    with pytest.raises(ValueError, match="factors must be one or more, got none"):
        uldp.Domain.product()
    with pytest.raises(ValueError, match=r"factors\['age'\]: values must not repeat a label"):
        uldp.Domain.product(age=["a", "a"])
    with pytest.raises(ValueError, match="factors must have at most 67108864 cells, got 10"):
        uldp.Domain.product(a=2**20, b=2**10)
    with pytest.raises(TypeError, match=r"sensitive\(\.\.\.\) must be True or False, got None"):
        uldp.Domain.product(a=2, sensitive=lambda a: None)
    marks_none = "sensitive must mark a cell, got a function that marks none of 4: compare"
    with pytest.raises(ValueError, match=marks_none):
        uldp.Domain.product(a=2, b=["15+", "less"], sensitive=lambda a, b: b == "15 +")
    assert not uldp.Domain.product(a=2, sensitive=[]).sensitive.size
    with pytest.raises(ValueError, match=r"factors must give .* label, got 'a, b, c'"):
        uldp.Domain.product(x=["a, b", "a"], y=["c", "b, c"])


def test_answers_are_not_shown():
    with pytest.raises(ValueError, match="drug must be in the domain") as caught:
        CELLS.cells(age="50+", drug="heroin", doses=1)
    assert "heroin" not in str(caught.value)
    assert caught.value.__context__ is caught.value.__cause__ is None
    with pytest.raises(ValueError, match="values must hold one for each user, got shapes"):
        CELLS.cells(age=["50+", "50+"], drug=["some"] * 3, doses=1)
    with pytest.raises(ValueError, match="values must be of age, drug, doses, got"):
        CELLS.cells(age="50+", drug="some")


# --- pandas --------------------------------------------------------------------------------------

DOMAIN = uldp.Domain(["a", "b", "c"], sensitive=["b"])


@given(st.permutations(["a", "b", "c"]), st.lists(st.sampled_from("abc"), min_size=1, max_size=9))
def test_a_categorical_is_taken_by_label(categories, values):
    """Its codes count in the order of its own categories."""
    expected = ["abc".index(value) for value in values]
    categorical = pd.Categorical(values, categories=categories)
    column = pd.Series(categorical, index=range(100, 100 + len(values)))
    for given_values in (categorical, column, pd.CategoricalIndex(categorical), pd.Series(values)):
        assert DOMAIN.indices(given_values).tolist() == expected


def test_a_categorical_of_integers_holds_labels():
    """Which no domain of strings has."""
    numbers = pd.Categorical([2, 0, 1])
    with pytest.raises(TypeError, match="strings here, got categories that are integers"):
        DOMAIN.indices(numbers)
    assert uldp.Domain(3).indices(numbers).tolist() == [2, 0, 1]
    assert uldp.Domain([1, 2, 0]).indices(pd.Series(numbers)).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="9 is not a label"):
        uldp.Domain([7, 8]).indices(pd.Categorical([9]))
    with pytest.raises(TypeError, match=r"values must be labels, .* got categories"):
        uldp.UtilityOptimizedRR(DOMAIN, 1.0).privatize(numbers)


def test_a_missing_value_is_no_label():
    for missing in (pd.Categorical(["a", None]), pd.Series(["a", None])):
        with pytest.raises(TypeError, match=r"values must be labels, .* got 1 missing of 2"):
            DOMAIN.indices(missing)


def test_a_data_frame_holds_the_answers_to_a_product():
    answers = pd.DataFrame(
        {
            "doses": [5, 0],
            "drug": pd.Categorical(["some", "none"], categories=["some", "none"]),
            "age": ["50+", "18-29"],
        }
    )
    assert CELLS.cells(**answers).tolist() == [22, 0]


# --- errors of sums ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [uldp.UtilityOptimizedRR, uldp.UtilityOptimizedRappor])
def test_a_marginal_and_its_error_come_from_the_weights(kind):
    mechanism = kind(CELLS, 2.0)
    tally = mechanism.simulate(np.arange(24) * 10, rng=0)
    estimate, covariance = tally.estimate("adjusted"), inference.covariance(tally)
    for age, share in zip(AGES, CELLS.marginal(estimate, "age"), strict=True):
        weights = CELLS.weights(age=age)
        total = inference.total(tally, weights)
        assert total.value == pytest.approx(share, abs=1e-12)
        assert total.standard_error**2 == pytest.approx(weights @ covariance @ weights)
