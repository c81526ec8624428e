"""The tables hold all that is public."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType

import malformed
import uldp

NOT_COVERED = {
    "decoders": "its functions take what laws, tallies and losses have checked",
    "figures": "its functions draw what others have checked",
    "commands": "its functions take the command line's parser",
    "survey_file": "its functions take what surveys have checked",
}
NOT_MADE_BY_USERS = [
    *("Comparison", "Forecast", "MaximumLikelihood", "Saddle", "Garbling", "Reading"),
    *("Audit", "Witness", "EmpiricalLevel", "Decomposition", "Entry", "LossTerms", "Reason"),
    *("Plan", "PersonalizedEstimate", "MessageError", "Point", "PersonalizedPoint"),
    *(
        "Record",
        "Record.losses",
        "Record.append",
        "Point.losses",
        "Point.rows",
        "PersonalizedPoint.rows",
    ),
    *("Point.estimate", "PersonalizedPoint.losses", "measure", "write_table"),
    "SystemChaCha",
    *("Bounds", "Change", "ChiSquare", "EstimateTable", "PersonalizedTotal", "Total"),
]
CALLED_WITH_WHAT_IS_CHECKED = ["count_conditions"]
CALLS = [
    one
    for file in pkgutil.iter_modules(malformed.__path__, "malformed.")
    if file.name != __name__
    for one in getattr(import_module(file.name), "CALLS", [])
]


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
