"""Utility-optimized local differential privacy (Murakami and Kawamoto, USENIX Security 2019).

Collect answers of which some are sensitive: protect those, and estimate the distribution of all
far better than a mechanism could that protects every answer alike.
"""

from importlib.metadata import version

from uldp import datasets, estimators, likelihood, losses, osldp, privacy
from uldp.domain import Domain
from uldp.mechanisms import (
    Mechanism,
    RandomizedResponse,
    Rappor,
    UtilityOptimizedRappor,
    UtilityOptimizedRR,
)
from uldp.tallies import Tally

__all__ = [
    "Domain",
    "Mechanism",
    "RandomizedResponse",
    "Rappor",
    "Tally",
    "UtilityOptimizedRR",
    "UtilityOptimizedRappor",
    "datasets",
    "estimators",
    "likelihood",
    "losses",
    "osldp",
    "privacy",
]

__version__ = version("uldp")
