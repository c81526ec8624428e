"""The mechanisms: how a user perturbs her answer, and what the collector keeps of the reports.

Each mechanism protects the sensitive values S of its domain and may reveal the others. The two of
the paper are `UtilityOptimizedRR` and `UtilityOptimizedRappor`; `RandomizedResponse` and `Rappor`
are the same two with every value sensitive, which is ordinary local differential privacy.
`UtilityOptimizedBlockDesign` is the one of the least worst-case l2 loss.

A report *supports* a value: the one it names, or each one whose bit is set. In the first four the
number of reports that support x is binomial, with the probability `own` from users who hold x and
`other` from everybody else. These two numbers per value (the p* and q* of Wang et al. 2017) are
all that the empirical estimate and its losses need to know; a block design has a decoder of its
own.
"""

from uldp.mechanisms.base import Mechanism
from uldp.mechanisms.block_design import UtilityOptimizedBlockDesign
from uldp.mechanisms.rappor import Rappor, UtilityOptimizedRappor
from uldp.mechanisms.response import RandomizedResponse, UtilityOptimizedRR

__all__ = [
    "Mechanism",
    "RandomizedResponse",
    "Rappor",
    "UtilityOptimizedBlockDesign",
    "UtilityOptimizedRR",
    "UtilityOptimizedRappor",
]
