"""Ratios of losses and their errors are those of the tables' rows."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))

import verdicts as v  # noqa: E402

ROW = {"data": "census", "estimator": "em", "k": 400, "epsilon": 1.0, "realizations": 100}


def table(*tvs: float, error: float = 0.01, **entries: object) -> pd.DataFrame:
    rows = [ROW | {"tv": tv, "tv_error": error, "number": i} for i, tv in enumerate(tvs)]
    return pd.DataFrame([row | entries for row in rows])


def test_rows_are_selected_by_entries_and_by_several() -> None:
    both = pd.concat([table(1.0), table(2.0, data="manhattan", k=625, epsilon=6.2)])
    assert v.select(both, data="census")["tv"].tolist() == [1.0]
    assert v.select(both, data=("census", "manhattan"), k=625)["tv"].tolist() == [2.0]
    assert v.up_to_ln_k(both.assign(epsilon=[6.2, 6.2]))["tv"].tolist() == [2.0]


def test_ratios_have_the_error_of_their_logarithm() -> None:
    found = v.ratios(table(2.0, 3.0), table(1.0, 1.5, realizations=10), ["number"])
    assert found["ratio"].tolist() == [2.0, 2.0]
    errors = np.hypot([0.01 / 2, 0.01 / 3], [0.01, 0.01 / 1.5])
    np.testing.assert_allclose(found["error"], errors)
    rng = np.random.default_rng(1)  # against a simulation, to 2% of the error
    logs = np.log(rng.normal(2.0, 0.01, 100_000) / rng.normal(1.0, 0.01, 100_000))
    assert abs(logs.std() / found["error"][0] - 1) < 0.02


def test_one_realization_has_no_error() -> None:
    found = v.ratios(table(2.0), table(1.0, realizations=1), ["number"])
    assert np.isinf(found["error"]).all()


@pytest.mark.parametrize(("above", "below"), [((1.0, 2.0), (1.0,)), ((), ())])
def test_rows_without_a_partner_are_refused(above, below) -> None:
    with pytest.raises((ValueError, KeyError)):
        v.ratios(table(*above), table(*below), ["number"])


def test_quotients_add_the_errors_of_ratios() -> None:
    high = v.ratios(table(8.0), table(1.0), ["number"])
    low = v.ratios(table(2.0), table(1.0), ["number"])
    found = v.quotients(high, low, ["number"])
    assert found["ratio"].tolist() == [4.0]
    np.testing.assert_allclose(found["error"], np.hypot(high["error"], low["error"]))


def test_entries_are_written_with_their_error() -> None:
    found = v.ratios(table(3.0, 300.0), table(2.0, 2.0), ["number"])
    assert v.entry(found, number=0) == "1.50 ± 0.02"
    assert v.entry(found, number=1) == "150 ± 2"
    with pytest.raises(ValueError, match="one ratio must have"):
        v.entry(found, data="census")
