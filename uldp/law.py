"""What a collector knows about a mechanism."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, set_fields
from uldp.adjusted import AdjustedDecoder
from uldp.decoders import Decoder
from uldp.domain import Domain, PerValue, numbers_over, per_value

__all__ = ["LINEAR", "Law"]

LINEAR = ("empirical", "adjusted")
"""The names of the estimates that are linear in the counts: the paper's, and `uldp.adjusted`."""

LARGEST_EPSILON = 500
MATRIX_ENTRIES = 1 << 24
MOST_WRITTEN = 10**9


@dataclass(frozen=True)
class Law(Frozen, ABC):
    """The domain, ε, what is protected, and how counts become an estimate.

    This is all that tallies, likelihood and losses need of a mechanism. `Mechanism`, the only kind
    of law, has short ways to them; so it imports them, and they cannot import it. A law is an
    immutable value: its fields are its parameters.

    Parameters
    ----------
    domain : Domain
        The values, and which of them are sensitive.
    epsilon : float
        The privacy budget ε, in nats.
    """

    domain: Domain
    epsilon: float

    protects_every_value: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checks.instance(self.domain, "domain", Domain)
        epsilon = checks.budget(self.epsilon, "epsilon")
        if epsilon > LARGEST_EPSILON:
            raise ValueError(
                f"epsilon must be at most {LARGEST_EPSILON}, beyond which probabilities are too "
                f"small for floating point, got {epsilon}"
            )
        set_fields(self, epsilon=epsilon)

    @cached_property
    def sensitive(self) -> NDArray[np.intp]:
        """Indices of the values that are protected, increasing."""
        if not self.protects_every_value:
            return self.domain.sensitive
        every = np.arange(self.domain.size)
        every.setflags(write=False)
        return every

    @cached_property
    def nonsensitive(self) -> NDArray[np.intp]:
        """Indices of the values that may be revealed, increasing."""
        return np.arange(0) if self.protects_every_value else self.domain.nonsensitive

    @property
    @abstractmethod
    def decoder(self) -> Decoder:
        """The empirical estimate, and the law of its errors."""

    @cached_property
    def adjusted(self) -> Decoder:
        """The decoder of the estimate that sums to 1 (see `uldp.adjusted`).

        It is `decoder` where that does so anyway, and also under a uRAP without sensitive values,
        where no value is uncertain that could take what is missing.
        """
        if self.decoder.sums_to_one or not self.sensitive.size:
            return self.decoder
        return AdjustedDecoder(self.sensitive, self.nonsensitive, self.decoder)

    def decoder_of(self, method: str) -> Decoder:
        """Return the decoder of a method in `LINEAR`."""
        checks.choice(method, "method", LINEAR)
        return self.decoder if method == "empirical" else self.adjusted

    @property
    def tally_shape(self) -> tuple[int, ...]:
        """The shape of a tally's counts, (k,) unless said otherwise."""
        return (self.domain.size,)

    def second_moment(self, p: PerValue, method: str = "empirical") -> NDArray[np.float64]:
        """Return M(p) = E_p[D_y D_yᵀ], where the row D_y is the estimate from a report y alone.

        The covariance of the estimate from n users drawn independently from p is (M(p) - p pᵀ)/n.
        Without the (k, k) matrix, ``decoder.apply_second_moment(p, w)`` is M(p) w.

        Parameters
        ----------
        p : (k,) array_like or mapping of label to float
            A distribution, or any vector: M is affine in p, so that an unbiased estimate of p gives
            one of M(p).
        method : {"empirical", "adjusted"}, optional
            The estimate.

        Returns
        -------
        (k, k) ndarray

        Raises
        ------
        ValueError
            If the matrix would have more than 2^24 entries.
        """
        self._check_matrix_size(self.domain.size)
        vector = numbers_over(self.domain, p, "p")
        return self.decoder_of(method).apply_second_moment(vector, np.eye(vector.size))

    def _count_conditions(self, counts: NDArray[np.int64], n: int) -> Iterator[tuple[bool, str]]:
        """Yield each condition on the counts of n reports, beyond ≤ n, and whether it holds."""
        yield from ()

    def _check_matrix_size(self, columns: int) -> None:
        if self.domain.size * columns > MATRIX_ENTRIES:
            shown = columns if columns < MOST_WRITTEN else f"over {MOST_WRITTEN}"
            raise ValueError(
                f"the domain is too large for its matrix: {self.domain.size} x {shown} entries, "
                f"at most {MATRIX_ENTRIES} are allowed"
            )


def distribution_over(domain: Domain, p: PerValue, name: str = "p") -> NDArray[np.float64]:
    """Return a distribution, shape (k,), in the order of the domain's values."""
    return checks.distribution(per_value(domain, p, name), name, domain.size)
