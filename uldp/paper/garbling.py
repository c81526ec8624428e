"""The uRAP as a block design whose reports are partly lost and partly mixed with noise.

Given how many bits a uRAP report has, and that it reveals nothing, its set of bits has the law of
the block design of that size. So the uRAP at any θ is what comes out of a block design of random
sizes when its reports are garbled without a look at the users' values; and whatever can be
estimated from the uRAP can be estimated as well from that block design, or better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uldp._numerics import checks
from uldp._numerics.binomial import probability
from uldp.beyond import UtilityOptimizedBlockDesign
from uldp.mechanisms import UtilityOptimizedRappor

__all__ = ["Garbling", "rappor_as_garbling"]


@dataclass(frozen=True, eq=False)
class Garbling:
    """How a uRAP comes out of a block design.

    Each report is replaced by the empty set with probability `lost`. Of the others sets stay as
    they are, and revealed values get bits that are independently 1 with the probability that the
    uRAP gives to any sensitive value not held.

    Attributes
    ----------
    rappor : UtilityOptimizedRappor
        The uRAP.
    design : UtilityOptimizedBlockDesign
        The block design, with probability λ_d ∝ Pr[d bits] of size d = 1, ..., s, for the number of
        bits that a user with a sensitive value sets: her own with probability θ, and each of the
        s - 1 others with d1.
    lost : float
        The probability (1 - θ)(1 - d1)^(s-1) that she sets none.
    """

    rappor: UtilityOptimizedRappor
    design: UtilityOptimizedBlockDesign
    lost: float


def rappor_as_garbling(rappor: UtilityOptimizedRappor) -> Garbling:
    """Return the block design of which the uRAP is a garbling.

    Parameters
    ----------
    rappor : UtilityOptimizedRappor
        Any θ, with at least one sensitive value.
    """
    checks.instance(rappor, "rappor", UtilityOptimizedRappor)
    s = rappor.sensitive.size
    decoder = rappor.decoder
    if not s:
        raise ValueError(f"rappor must have a sensitive value, got {rappor!r}")
    x = rappor.sensitive[0]
    own = decoder.true_support[x]
    not_own = decoder.not_true_support[x]
    other = decoder.false_support[x]
    others = np.full(s, s - 1.0)
    of_others = probability(np.arange(s) + 0.0, others, others * other)
    chance = own * np.append(0, of_others) + not_own * np.append(of_others, 0)
    sizes = dict(enumerate(chance[1:] / chance[1:].sum(), start=1))
    design = UtilityOptimizedBlockDesign(rappor.domain, rappor.epsilon, sizes)
    return Garbling(rappor, design, float(chance[0]))
