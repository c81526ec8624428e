"""How private a mechanism is: alone, composed, asked again, shuffled, or judged by its reports.

A mechanism on a small domain is a matrix Q with Q[x, y] the probability of output y at input x;
with its protected outputs it is a `Channel`. Matrices of fractions (`fractions.Fraction`, SymPy
rationals) are treated exactly, others in floating point. Outputs that no input reaches count for
nothing: in particular, they need not be invertible.

`Device` and `two_layers` ask the same people again, `Shuffled` mixes the reports of many, and
`empirical_level` judges code by its reports alone.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from uldp._names import found as _found
from uldp.privacy.composition import (
    compose,
    compose_repeatedly,
    parallel,
    postprocess,
    preserves_data_types,
)
from uldp.privacy.levels import (
    Audit,
    Channel,
    Witness,
    audit,
    ldp_level,
    osldp_level,
    pair_levels,
    uldp_level,
)
from uldp.privacy.osldp import Decomposition, decompose

if _TYPE_CHECKING:
    from uldp.beyond import Bounds, Shuffled
    from uldp.survey.empirical import EmpiricalLevel, empirical_level
    from uldp.survey.repetition import Device, two_layers

__all__ = [
    "Audit",
    "Bounds",
    "Channel",
    "Decomposition",
    "Device",
    "EmpiricalLevel",
    "Shuffled",
    "Witness",
    "audit",
    "compose",
    "compose_repeatedly",
    "decompose",
    "empirical_level",
    "ldp_level",
    "osldp_level",
    "pair_levels",
    "parallel",
    "postprocess",
    "preserves_data_types",
    "two_layers",
    "uldp_level",
]


def __getattr__(name: str) -> _Any:
    return _found("uldp.privacy", name)


def __dir__() -> list[str]:
    return __all__
