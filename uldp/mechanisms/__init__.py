"""The mechanisms: how a user perturbs her answer, and what the collector keeps of the reports.

Each mechanism protects the sensitive values X_S of its domain and may reveal the others. The two of
the paper are `UtilityOptimizedRR` and `UtilityOptimizedRappor`; `RandomizedResponse` and `Rappor`
are the same two with every value sensitive, which is ordinary local differential privacy.
`UtilityOptimizedBlockDesign` is the one of the least worst-case l2 loss of an unbiased estimate.

A mechanism is a file here that reads like its definition: a class on `IndexReports` or
`SetReports`, with a decoder of `uldp.decoders`. An entry in `KINDS` of `uldp.kinds` makes it known
to `MECHANISMS`, and so to `uldp.compare`, to surveys and to every test by enumeration.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from uldp._names import found as _found
from uldp.mechanisms.base import Mechanism
from uldp.mechanisms.rappor import Rappor, UtilityOptimizedRappor
from uldp.mechanisms.response import RandomizedResponse, UtilityOptimizedRR

if _TYPE_CHECKING:
    from uldp.beyond import UtilityOptimizedBlockDesign, UtilityOptimizedHadamard
    from uldp.kinds import KINDS, MECHANISMS

__all__ = [
    "KINDS",
    "MECHANISMS",
    "PAPER",
    "Mechanism",
    "RandomizedResponse",
    "Rappor",
    "UtilityOptimizedBlockDesign",
    "UtilityOptimizedHadamard",
    "UtilityOptimizedRR",
    "UtilityOptimizedRappor",
]

PAPER: dict[str, type[Mechanism]] = {
    kind.wire_name: kind
    for kind in (RandomizedResponse, Rappor, UtilityOptimizedRR, UtilityOptimizedRappor)
}
"""The four mechanisms of the paper by their names."""


def __getattr__(name: str) -> _Any:
    return _found("uldp.mechanisms", name)


def __dir__() -> list[str]:
    return __all__
