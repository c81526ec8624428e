"""All that is public refuses wrong arguments by name, and takes right ones."""

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

import uldp
from malformed.reports import MECHANISMS, ONE_SIZE, TWO_SIZES, impossible, reports_of
from malformed.rows import CALLS, Call
from malformed.wrong import DOMAIN, UNIFORM, K
from uldp.survey import choosing, wire

NOT_COVERED = {
    "adjusted": "its functions take what laws, tallies and losses have checked",
    "decoders": "its functions take what laws, tallies and losses have checked",
    "figures": "its functions draw what others have checked",
    "commands": "its functions take the command line's parser",
    "survey_file": "its functions take what surveys have checked",
    "verify": "its functions try what chapters derive",
}
NOT_MADE_BY_USERS = [
    "Mechanism.evidence",  # it refuses all, for kinds that have none
    *("Comparison", "Forecast", "MaximumLikelihood", "Garbling", "Reading"),
    *("Audit", "Witness", "EmpiricalLevel", "Decomposition", "Entry", "LossTerms", "Reason"),
    *("Plan", "PersonalizedEstimate", "MessageError", "Point", "PersonalizedPoint"),
    *("Record", "Record.losses", "Record.append", "Point.losses", "Point.rows"),
    *("PersonalizedPoint.rows", "Point.estimate", "PersonalizedPoint.losses", "measure"),
    *("write_table", "SystemChaCha", "SystemChaCha.spawn"),  # NumPy calls it
    *("census_domain", "GridHistogram.from_places"),
    *("Bounds", "Change", "ChiSquare", "EstimateTable", "PersonalizedTotal", "Stratified", "Total"),
]
CALLED_WITH_WHAT_IS_CHECKED = ["count_conditions"]


def modules() -> Iterator[ModuleType]:
    for part in (uldp, uldp.survey, uldp.paper):
        for file in pkgutil.iter_modules(part.__path__):
            if not file.name.startswith("_") and file.name not in NOT_COVERED:
                yield import_module(f"{part.__name__}.{file.name}")


def public() -> Iterator[Callable[..., object]]:
    """All functions, classes and methods with arguments in the public modules."""
    for module in (uldp, *modules()):
        names = getattr(module, "__all__", vars(module))
        for value in (getattr(module, name) for name in names if not name.startswith("_")):
            if inspect.isclass(value) and value.__module__.startswith("uldp."):
                methods = (getattr(method, "__func__", method) for method in vars(value).values())
                yield from [] if inspect.isabstract(value) else [value]
                yield from (m for m in methods if inspect.isfunction(m) and takes(m) > 1)
            elif inspect.isfunction(value) and takes(value):
                yield value


def takes(function: Callable[..., object]) -> int:
    return len(inspect.signature(function).parameters)


def test_the_tables_hold_all_that_is_public():
    concrete = [value for value in public() if not getattr(value, "__isabstractmethod__", False)]
    names = {
        value.__qualname__
        for value in concrete
        if not value.__name__.startswith("_") and value.__name__ not in CALLED_WITH_WHAT_IS_CHECKED
    }
    assert names - {one.name for one in CALLS} - {*NOT_MADE_BY_USERS} == set()


def test_what_is_not_made_by_users_is_public():
    made = {value.__qualname__ for value in public()}
    assert {*NOT_MADE_BY_USERS} - made == set()


def test_there_are_thousands_of_them():
    assert sum(len(values) for one in CALLS for values in one.wrong.values()) >= 15_000


ARGUMENTS = [
    pytest.param(one, argument, id=f"{i}-{one.name}-{argument}")
    for i, one in enumerate(CALLS)
    for argument in one.wrong
]


@pytest.mark.parametrize(("one", "argument"), ARGUMENTS)
def test_wrong_arguments_are_refused(one, argument):
    answers = [answer(one, argument, wrong) for wrong in one.wrong[argument]]
    assert answers, "give wrong values in its row, or a rule for its annotation in wrong.py"
    assert [text for text in answers if text] == []


@pytest.mark.parametrize("one", [one for one in CALLS if one.runs], ids=lambda one: one.name)
def test_right_arguments_are_not(one):
    one.function(**one.right)


def answer(one: Call, argument: str, wrong: object) -> str:
    """What comes of a wrong argument, "" if it is refused as it should be."""
    try:
        result = one.function(**one.right | {argument: wrong})
    except Exception as error:
        named = re.search(rf"\b({one.called.get(argument, argument)})\b", str(error))
        refused = type(error) in (ValueError, TypeError, wire.MessageError)
        return "" if named and refused else f"{wrong!r}: {type(error).__name__}, {error}"
    return f"{wrong!r}: {result!r}"


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_reports_are_possible_or_not(mechanism):
    wrong = impossible(mechanism)
    assert len(wrong) >= 5
    assert mechanism.possible(mechanism.outputs).all()
    assert not mechanism.possible(wrong).any()


@pytest.mark.parametrize("epsilon", [1e-9, 500.0])
def test_the_ends_of_the_range_of_epsilon(epsilon):
    """What is only just allowed gives no warning, infinity or NaN either."""
    registered = uldp.mechanisms.MECHANISMS
    blocks = [replace(mechanism, epsilon=epsilon) for mechanism in (ONE_SIZE, TWO_SIZES)]
    for mechanism in (*(make(DOMAIN, epsilon) for make in registered.values()), *blocks):
        reports = reports_of(mechanism)
        results = [
            mechanism.l1_loss(UNIFORM, 9),
            *(mechanism.l2_loss(mechanism.worst_case(loss), 9) for loss in ("l1", "l2")),
            *mechanism.estimate(mechanism.simulate([4] * K, rng=1)),
            choosing.excess(mechanism),
        ]
        assert np.isfinite(results).all()
        for method in ("threshold", "norm_sub", "em", "mle"):
            estimate = mechanism.estimate(reports, method)
            assert (estimate >= 0).all()
            assert estimate.sum() == pytest.approx(1, abs=1e-6)
