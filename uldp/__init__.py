"""Utility-optimized local differential privacy (Murakami and Kawamoto, USENIX Security 2019).

Collect answers of which some are sensitive: protect those, and estimate the distribution of all
far better than a mechanism could that protects every answer alike.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from uldp import (
    attributes,
    choosing,
    decoders,
    estimators,
    inference,
    likelihood,
    limits,
    losses,
    mechanisms,
    personalized,
    privacy,
)
from uldp._numerics import VERSION as _VERSION
from uldp.choosing import compare
from uldp.domain import Domain
from uldp.limits import fundamental_limit
from uldp.mechanisms import (
    Mechanism,
    RandomizedResponse,
    Rappor,
    UtilityOptimizedBlockDesign,
    UtilityOptimizedHadamard,
    UtilityOptimizedRappor,
    UtilityOptimizedRR,
)
from uldp.personalized import PersonalizedMechanism
from uldp.tallies import Tally

if _TYPE_CHECKING:
    from uldp import paper, survey
    from uldp.paper import datasets
    from uldp.survey import Survey, Tallies

__all__ = [
    "Domain",
    "Mechanism",
    "PersonalizedMechanism",
    "RandomizedResponse",
    "Rappor",
    "Survey",
    "Tallies",
    "Tally",
    "UtilityOptimizedBlockDesign",
    "UtilityOptimizedHadamard",
    "UtilityOptimizedRR",
    "UtilityOptimizedRappor",
    "attributes",
    "choosing",
    "compare",
    "datasets",
    "decoders",
    "estimators",
    "fundamental_limit",
    "inference",
    "likelihood",
    "limits",
    "losses",
    "mechanisms",
    "paper",
    "personalized",
    "privacy",
    "survey",
]


__version__ = _VERSION

# The library does not wait for its two other parts: they are imported when they are asked for.
_ELSEWHERE = {"Survey": "uldp.survey", "Tallies": "uldp.survey", "datasets": "uldp.paper"}


def __getattr__(name: str) -> _Any:
    if name in _ELSEWHERE:
        return getattr(_import_module(_ELSEWHERE[name]), name)
    if name in ("paper", "survey"):
        return _import_module(f"uldp.{name}")
    raise AttributeError(f"module 'uldp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
