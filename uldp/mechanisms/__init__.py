"""The mechanisms: how a user perturbs her answer, and what the collector keeps of the reports.

Each mechanism protects the sensitive values X_S of its domain and may reveal the others. The two of
the paper are `UtilityOptimizedRR` and `UtilityOptimizedRappor`; `RandomizedResponse` and `Rappor`
are the same two with every value sensitive, which is ordinary local differential privacy.
`UtilityOptimizedBlockDesign` is the one of the least worst-case l2 loss of an unbiased estimate.

A mechanism is a file here that reads like its definition: a class on `IndexReports` or
`SetReports`, with a decoder of `uldp.decoders`. An entry in `KINDS` makes it known to `MECHANISMS`,
and so to `uldp.compare`, to surveys and to every test by enumeration.
"""

from collections.abc import Callable
from functools import partial
from typing import Any as _Any

from uldp._names import found as _found
from uldp.beyond.block_design import UtilityOptimizedBlockDesign
from uldp.beyond.hadamard import UtilityOptimizedHadamard
from uldp.domain import Domain
from uldp.mechanisms.base import Mechanism
from uldp.mechanisms.rappor import Rappor, UtilityOptimizedRappor
from uldp.mechanisms.response import RandomizedResponse, UtilityOptimizedRR

__all__ = [
    "KINDS",
    "MECHANISMS",
    "PAPER",
    "Make",
    "Mechanism",
    "RandomizedResponse",
    "Rappor",
    "UtilityOptimizedBlockDesign",
    "UtilityOptimizedHadamard",
    "UtilityOptimizedRR",
    "UtilityOptimizedRappor",
]

Make = Callable[[Domain, float], Mechanism]
"""A mechanism's class, or a function of the domain and ε that returns a mechanism."""

KINDS: tuple[type[Mechanism], ...] = (
    RandomizedResponse,
    Rappor,
    UtilityOptimizedRR,
    UtilityOptimizedRappor,
    UtilityOptimizedBlockDesign,
    UtilityOptimizedHadamard,
)
"""The classes of mechanisms, in the order in which tables show them."""

MECHANISMS: dict[str, Make] = {
    name: partial(kind, **fields) if fields else kind
    for kind in KINDS
    for name, fields in kind.names.items()
}
"""How each mechanism is made from a domain and ε, by its name in tables and figures."""

PAPER: dict[str, type[Mechanism]] = {
    "RR": RandomizedResponse,
    "RAPPOR": Rappor,
    "uRR": UtilityOptimizedRR,
    "uRAP": UtilityOptimizedRappor,
}
"""The four mechanisms of the paper."""


def __getattr__(name: str) -> _Any:
    return _found("uldp.mechanisms", name)
