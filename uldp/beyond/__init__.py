"""What the book has beyond the paper: further mechanisms, the limit of all, the best θ, shuffling.

`UtilityOptimizedBlockDesign` attains the `fundamental_limit`, the least worst-case l2 loss of an
unbiased estimate, and `UtilityOptimizedHadamard` sends few bits. `best_theta` answers what the
paper leaves open, and `Shuffled` mixes the reports of many. Nothing of the core needs these.
"""

from uldp.beyond import limits
from uldp.beyond.block_design import UtilityOptimizedBlockDesign
from uldp.beyond.hadamard import UtilityOptimizedHadamard
from uldp.beyond.limits import fundamental_limit
from uldp.beyond.shuffling import Bounds, Shuffled
from uldp.beyond.theta import best_theta

__all__ = [
    "Bounds",
    "Shuffled",
    "UtilityOptimizedBlockDesign",
    "UtilityOptimizedHadamard",
    "best_theta",
    "fundamental_limit",
    "limits",
]
