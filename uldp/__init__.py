"""Utility-optimized local differential privacy (Murakami and Kawamoto, USENIX Security 2019).

Collect answers of which some are sensitive: protect those, and estimate the distribution of all
far better than a mechanism could that protects every answer alike.
"""

from importlib.metadata import version as _version

from uldp import choosing as choosing
from uldp import datasets as datasets
from uldp import decoders as decoders
from uldp import estimators as estimators
from uldp import garbling as garbling
from uldp import likelihood as likelihood
from uldp import limits as limits
from uldp import losses as losses
from uldp import mechanisms as mechanisms
from uldp import optimal_theta as optimal_theta
from uldp import osldp as osldp
from uldp import personalized as personalized
from uldp import privacy as privacy
from uldp import regimes as regimes
from uldp import wire as wire
from uldp.choosing import compare as compare
from uldp.domain import Domain as Domain
from uldp.law import Law as Law
from uldp.limits import fundamental_limit as fundamental_limit
from uldp.mechanisms.base import Mechanism as Mechanism
from uldp.mechanisms.registry import *
from uldp.personalized import PersonalizedMechanism as PersonalizedMechanism
from uldp.tallies import Tally as Tally

__version__ = _version("uldp")
