"""The kinds of mechanism, those of the paper and those beyond it.

An entry in `KINDS` makes a mechanism known to `MECHANISMS`, and so to `uldp.compare`, to surveys
and to every test by enumeration.
"""

from __future__ import annotations

from collections.abc import Callable

from uldp.beyond.block_design import UtilityOptimizedBlockDesign
from uldp.beyond.hadamard import UtilityOptimizedHadamard
from uldp.domain import Domain
from uldp.mechanisms import PAPER, Mechanism

__all__ = ["KINDS", "MECHANISMS", "Make"]

Make = Callable[[Domain, float], Mechanism]
"""A mechanism's class, or a function of the domain and ε that returns a mechanism."""

KINDS: tuple[type[Mechanism], ...] = (
    *PAPER.values(),
    UtilityOptimizedBlockDesign,
    UtilityOptimizedHadamard,
)
"""The classes of mechanisms, in the order in which tables show them."""

MECHANISMS: dict[str, type[Mechanism]] = {kind.wire_name: kind for kind in KINDS}
"""The classes by their names in survey files, tables and figures."""
