"""Utility-optimized local differential privacy (Murakami and Kawamoto, USENIX Security 2019).

Collect answers of which some are sensitive: protect those, and estimate the distribution of all
far better than a mechanism could that protects every answer alike.
"""

from importlib.metadata import version

from uldp import (
    choosing,
    datasets,
    estimators,
    likelihood,
    limits,
    losses,
    optimal_theta,
    osldp,
    personalized,
    privacy,
)
from uldp.choosing import compare
from uldp.domain import Domain
from uldp.limits import fundamental_limit
from uldp.mechanisms import (
    Mechanism,
    RandomizedResponse,
    Rappor,
    UtilityOptimizedBlockDesign,
    UtilityOptimizedRappor,
    UtilityOptimizedRR,
)
from uldp.personalized import PersonalizedMechanism
from uldp.tallies import Tally

__all__ = [
    "Domain",
    "Mechanism",
    "PersonalizedMechanism",
    "RandomizedResponse",
    "Rappor",
    "Tally",
    "UtilityOptimizedBlockDesign",
    "UtilityOptimizedRR",
    "UtilityOptimizedRappor",
    "choosing",
    "compare",
    "datasets",
    "estimators",
    "fundamental_limit",
    "likelihood",
    "limits",
    "losses",
    "optimal_theta",
    "osldp",
    "personalized",
    "privacy",
]

__version__ = version("uldp")
