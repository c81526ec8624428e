"""Utility-optimized local differential privacy (Murakami and Kawamoto, USENIX Security 2019).

Collect answers of which some are sensitive: protect those, and estimate the distribution of all
far better than a mechanism could that protects every answer alike.
"""

from importlib.metadata import version as _version

from uldp import (
    attributes as attributes,
    choosing as choosing,
    decoders as decoders,
    estimators as estimators,
    inference as inference,
    likelihood as likelihood,
    limits as limits,
    losses as losses,
    mechanisms as mechanisms,
    personalized as personalized,
    privacy as privacy,
)
from uldp.choosing import compare as compare
from uldp.domain import Domain as Domain
from uldp.law import Law as Law
from uldp.limits import fundamental_limit as fundamental_limit
from uldp.mechanisms.base import Mechanism as Mechanism
from uldp.mechanisms.registry import *
from uldp.paper import (
    datasets as datasets,
    garbling as garbling,
    optimal_theta as optimal_theta,
    regimes as regimes,
)
from uldp.personalized import PersonalizedMechanism as PersonalizedMechanism
from uldp.privacy import osldp as osldp, repetition as repetition, shuffling as shuffling
from uldp.survey import attacks as attacks, surveys as surveys, wire as wire
from uldp.survey.surveys import Survey as Survey, Tallies as Tallies
from uldp.tallies import Tally as Tally

__version__ = _version("uldp")
