"""Write the table behind the page on which a reader moves ε, |X|, |X_S| and n.

    python tools/explorer_table.py        # writes results/explorer.csv, in a minute

A row holds the worst-case losses of one domain and ε for n = 1: the TV falls as 1/√n, the MSE as
1/n. "no privacy" is a domain without sensitive values.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import uldp
from uldp.mechanisms import MECHANISMS

TABLE = Path(__file__).parents[1] / "results" / "explorer.csv"
COMMAND = "# python tools/explorer_table.py\n"

VALUES = (2, 5, 10, 25, 50, 100, 400, 625, 1600, 4096)
SENSITIVE = sorted({1, 15, 76, *VALUES})
EPSILONS = tuple(float(f"{x:.3g}") for x in np.geomspace(0.1, 10, 31))

MSE_OF = (*MECHANISMS, "no privacy", "limit")
TV_OF = MSE_OF[:-1]
HEADER = (
    "values",
    "sensitive",
    "epsilon",
    *(f"TV {x}" for x in TV_OF),
    *(f"MSE {x}" for x in MSE_OF),
)


def row(k: int, s: int, epsilon: float) -> list[str]:
    """Return one line of the table, losses to six significant digits."""
    domain = uldp.Domain(k, sensitive=range(s))
    forecasts = dict(uldp.compare(domain, epsilon, 1))
    forecasts["no privacy"] = uldp.compare(uldp.Domain(k), epsilon, 1)["uRR"]
    losses = [forecasts[name].tv for name in TV_OF] + [forecasts[name].mse for name in TV_OF]
    losses.append(uldp.fundamental_limit(domain, epsilon))
    return [str(k), str(s), f"{epsilon:g}", *(f"{loss:.6g}" for loss in losses)]


def rows() -> Iterator[list[str]]:
    """Yield all lines."""
    for k in VALUES:
        for s in (s for s in SENSITIVE if s <= k):
            for epsilon in EPSILONS:
                yield row(k, s, epsilon)


if __name__ == "__main__":
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        file.write(COMMAND)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows())
