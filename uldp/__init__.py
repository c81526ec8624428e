"""Utility-optimized local differential privacy (Murakami and Kawamoto, USENIX Security 2019).

Collect answers of which some are sensitive: protect those, and estimate the distribution of all
far better than a mechanism could that protects every answer alike.
"""

import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from uldp import (
    attributes,
    beyond,
    choosing,
    decoders,
    inference,
    likelihood,
    limits,
    losses,
    mechanisms,
    personalized,
    privacy,
    tallies,
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
    "beyond",
    "choosing",
    "compare",
    "datasets",
    "decoders",
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
    "tallies",
]


__version__ = _VERSION

# The library does not wait for its two other parts: they are imported when they are asked for.
_ELSEWHERE = {"Survey": "uldp.survey", "Tallies": "uldp.survey", "datasets": "uldp.paper"}

# Who asks for a name that was there before is told the new one, for one version.
_MOVED = {
    "uldp.Law": "uldp.law.Law",
    "uldp.attacks": "uldp.survey.attacks",
    "uldp.collecting": "uldp.survey.parquet",
    "uldp.datasets": "uldp.paper.datasets",
    "uldp.experiments": "uldp.paper.experiments",
    "uldp.figures": "uldp.paper.figures",
    "uldp.garbling": "uldp.paper.garbling",
    "uldp.mechanisms.registry": "uldp.mechanisms",
    "uldp.optimal_theta": "uldp.paper.optimal_theta",
    "uldp.osldp": "uldp.privacy",
    "uldp.regimes": "uldp.paper.regimes",
    "uldp.repeated": "uldp.survey, with plans_for_rounds and Plan, or uldp.privacy",
    "uldp.secure": "uldp.survey.secure",
    "uldp.shuffling": "uldp.privacy",
    "uldp.surveys": "uldp.survey",
    "uldp.wire": "uldp.survey.wire",
}


class _Moved:
    """Answers imports of names that have moved, also those that a pickle asks for."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in _MOVED:
            raise ModuleNotFoundError(f"{name} has moved: it is {_MOVED[name]} now")


_sys.meta_path.append(_Moved)


def __getattr__(name: str) -> _Any:
    if name in _ELSEWHERE:
        return getattr(_import_module(_ELSEWHERE[name]), name)
    if name in ("paper", "survey"):
        return _import_module(f"uldp.{name}")
    if f"uldp.{name}" in _MOVED:
        raise AttributeError(f"uldp.{name} has moved: it is {_MOVED[f'uldp.{name}']} now")
    raise AttributeError(f"module 'uldp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
