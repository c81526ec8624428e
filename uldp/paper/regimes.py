"""The paper's Tables 3 and 4: worst-case losses as ε → 0 and at ε = ln k, printed and exact.

Losses are in units of √(2/(nπ)) for l1 (Table 3) and of 1/n for l2 (Table 4), so that no number of
users stands in them (in l1 in the limit of many users, which is uniform in p).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from uldp._numerics import checks
from uldp.domain import Domain
from uldp.losses import LOSSES, Loss, variances
from uldp.mechanisms import PAPER, Mechanism, UtilityOptimizedRR

__all__ = ["PRINTED", "Entry", "Regime", "compare", "rows", "worst_case_loss"]

Regime = Literal["small", "ln k"]

HALF = Fraction(1, 2)
THREE_QUARTERS = Fraction(3, 4)

PRINTED: dict[tuple[Loss, Regime], dict[str, Callable[[Any, Any, Any], Any]]] = {
    ("l1", "small"): {
        "RR": lambda s, k, ε: k * (k - 1) ** HALF / ε,
        "RAPPOR": lambda s, k, ε: 2 * k / ε,
        "uRR": lambda s, k, ε: s * (s - 1) ** HALF / ε,
        "uRAP": lambda s, k, ε: 2 * s / ε,
        "no privacy": lambda s, k, ε: (k - 1) ** HALF,
    },
    ("l1", "ln k"): {
        "RR": lambda s, k, ε: 2 * (k - 1) ** HALF,
        "RAPPOR": lambda s, k, ε: (k**HALF * (k - 1)) ** HALF,
        "uRR": lambda s, k, ε: (k - 1) ** HALF,
        "uRAP": lambda s, k, ε: (k - 1) ** HALF * (1 + s / k**THREE_QUARTERS),
        "no privacy": lambda s, k, ε: (k - 1) ** HALF,
    },
    ("l2", "small"): {
        "RR": lambda s, k, ε: k * (k - 1) / ε**2,
        "RAPPOR": lambda s, k, ε: 4 * k / ε**2 * (1 - 1 / k),
        "uRR": lambda s, k, ε: s * (s - 1) / ε**2,
        "uRAP": lambda s, k, ε: 4 * s / ε**2,
        "no privacy": lambda s, k, ε: 1 - 1 / k,
    },
    ("l2", "ln k"): {
        "RR": lambda s, k, ε: 4 * (1 - 1 / k),
        "RAPPOR": lambda s, k, ε: k**HALF * (1 - 1 / k),
        "uRR": lambda s, k, ε: 1,
        "uRAP": lambda s, k, ε: 1 + (s + 1) / k**HALF,
        "no privacy": lambda s, k, ε: 1 - 1 / k,
    },
}
"""What the tables print, by row: functions of s = |X_S|, k = |X| and ε, numbers or symbols."""


class Entry(NamedTuple):
    """An entry of a table as it is printed, and the worst-case loss that it stands for."""

    printed: float
    exact: float

    @property
    def share(self) -> float:
        """The printed value as a share of the exact one."""
        return self.printed / self.exact


def rows(s: int, k: int, epsilon: float) -> dict[str, Mechanism]:
    """Return the mechanisms in the rows of the tables by their names there.

    Parameters
    ----------
    s : int
        The number of sensitive values, 0 to k.
    k : int
        The number of values, at least 2.
    epsilon : float
        ε, in nats.
    """
    k = checks.whole(k, "k", least=2)
    s = checks.whole(s, "s", least=0, most=k)
    domain = Domain(k, sensitive=range(s))
    mechanisms = {name: kind(domain, epsilon) for name, kind in PAPER.items()}
    return {**mechanisms, "no privacy": UtilityOptimizedRR(Domain(k), epsilon)}


def worst_case_loss(mechanism: Mechanism, loss: Loss) -> float:
    """Return the largest expected loss of the empirical estimate over all p, in the tables' units.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism.
    loss : {"l1", "l2"}
        The loss; l1 is that of the central limit theorem, l2 is exact.
    """
    checks.instance(mechanism, "mechanism", Mechanism)
    largest = variances(mechanism, mechanism.worst_case(loss))
    return float((np.sqrt(largest) if loss == "l1" else largest).sum())


def compare(loss: Loss, s: int, k: int, epsilon: float | None = None) -> dict[str, Entry]:
    """Return the entries of one column of Table 3 (l1) or 4 (l2), printed and exact, by row.

    Parameters
    ----------
    loss : {"l1", "l2"}
        The loss.
    s, k : int
        The numbers of sensitive values, 0 to k, and of all values, at least 2.
    epsilon : float, optional
        The ε, in nats, at which to compare the column for ε → 0. By default it is the other column,
        for ε = ln k.
    """
    checks.choice(loss, "loss", LOSSES)
    k = checks.whole(k, "k", least=2)
    regime: Regime = "ln k" if epsilon is None else "small"
    budget = float(np.log(k)) if epsilon is None else epsilon
    exact = {name: worst_case_loss(row, loss) for name, row in rows(s, k, budget).items()}
    printed = PRINTED[loss, regime]
    return {name: Entry(float(printed[name](s, k, budget)), exact[name]) for name in exact}
