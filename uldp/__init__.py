"""Utility-optimized local differential privacy (Murakami and Kawamoto, USENIX Security 2019).

Collect answers of which some are sensitive: protect those, and estimate the distribution of all
far better than a mechanism could that protects every answer alike.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from uldp import (
    attributes,
    beyond,
    decoders,
    inference,
    likelihood,
    losses,
    mechanisms,
    personalized,
    privacy,
    tallies,
)
from uldp._names import found as _found
from uldp._numerics import VERSION as _VERSION
from uldp.beyond import (
    UtilityOptimizedBlockDesign,
    UtilityOptimizedHadamard,
    fundamental_limit,
)
from uldp.domain import Domain
from uldp.mechanisms import (
    Mechanism,
    RandomizedResponse,
    Rappor,
    UtilityOptimizedRappor,
    UtilityOptimizedRR,
)
from uldp.personalized import PersonalizedMechanism
from uldp.tallies import Tally

if _TYPE_CHECKING:
    from uldp import paper, survey
    from uldp.paper import datasets
    from uldp.survey import Survey, Tallies
    from uldp.survey.choosing import compare

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
    "compare",
    "datasets",
    "decoders",
    "fundamental_limit",
    "inference",
    "likelihood",
    "losses",
    "mechanisms",
    "paper",
    "personalized",
    "privacy",
    "survey",
    "tallies",
]


__version__ = _VERSION


def __getattr__(name: str) -> _Any:
    return _found("uldp", name)


def __dir__() -> list[str]:
    return __all__
