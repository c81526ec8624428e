"""The block design: a report is a random set of sensitive values, or the true non-sensitive one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.bits import bernoulli
from uldp._numerics.chunks import chunks
from uldp._numerics.fields import set_fields
from uldp._numerics.subsets import column_counts, random_subsets
from uldp.beyond import limits
from uldp.beyond.block_decoder import BlockDecoder, BlockLaw
from uldp.likelihood import Evidence
from uldp.mechanisms.set_reports import SetReports
from uldp.tallies import Tally

__all__ = ["UtilityOptimizedBlockDesign"]

Sizes = tuple[tuple[int, float], ...]

DIGITS = 12
MEMBERS_AT_ONCE = 1 << 22
USERS_OF_ONE_DRAW = 500_000_000
MOST_SIMULATED = 10**11


@dataclass(frozen=True)
class UtilityOptimizedBlockDesign(SetReports):
    """Utility-optimized block design with all subsets as blocks, (X_S, ε)-uBD (Yoon et al. 2025).

    A user first draws a size d with probability λ_d, whatever her value. If her value is sensitive
    she sends a set of d sensitive values, each with probability ∝ e^ε if it holds her value and
    ∝ 1 otherwise. If not, she sends a uniformly random set of d sensitive values with probability
    s/(d e^ε + s - d), where s = |X_S|, and her value otherwise. This is (X_S, Y_P, ε)-ULDP, where
    Y_P holds the sets.

    With size 1 alone it is the uRR. With every value sensitive it is subset selection (Ye and Barg
    2018), which is ε-LDP. For the right sizes no unbiased estimate by any ULDP mechanism has a
    smaller worst-case l2 loss, and none at all in the limit n → ∞; these are the default.

    Reports are rows of bytes as described under `UtilityOptimizedRappor`, with no bit set where a
    value is revealed. A tally has for each value the number of reports that support it, shape (k,),
    or, if there are several sizes, a row of these for each size, shape (number of sizes, k); since
    the size behind a revealed value is not sent, revealed values are counted in the first row.

    Parameters
    ----------
    domain, epsilon : as of every `Mechanism`
    sizes : int or mapping of int to float, optional
        The size of all sets, or the sizes with their probabilities λ_d, in 1..s, not all of them s
        if s > 1: the set of all sensitive values does not tell them apart. By default those of the
        least worst-case l2 loss (`limits.saddle`), the probabilities rounded to 12 digits so that
        they are the same on all machines. Sizes are kept, and can be given, as a tuple of pairs
        (size, probability) in increasing order; () if no value is sensitive.
    """

    wire_name: ClassVar[str] = "uBD"

    sizes: int | Mapping[int, float] | Iterable[tuple[int, float]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        s = self.sensitive.size
        if self.sizes is None:
            best = limits.saddle(s, self.nonsensitive.size, self.epsilon).weights if s else ()
            sizes = _as_sizes({d: round(float(w), DIGITS) for d, w in enumerate(best, 1)}, s)
        else:
            sizes = _as_sizes(self.sizes, s)
        set_fields(self, sizes=sizes)

    @cached_property
    def _law(self) -> BlockLaw:
        return BlockLaw(self.sensitive.size, self.nonsensitive.size, self.epsilon, self._sizes)

    @property
    def _sizes(self) -> Sizes:
        """The field `sizes`, which is of this type once the design is made."""
        return cast(Sizes, self.sizes)

    @cached_property
    def decoder(self) -> BlockDecoder:
        """The linear estimate whose largest l2 loss is the least for these sizes.

        It is built where f of `limits` is largest: there it has the loss f, slope included, and
        its own loss is concave in p(X_S), so that this is the largest.
        """
        law = self._law
        mass = limits.worst_mass(law.s, law.nu, self.epsilon, dict(self._sizes))
        return BlockDecoder(law, self.sensitive, self.nonsensitive, mass)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        """The shape of the counts: (k,) for at most one size, (number of sizes, k) for several."""
        rows = len(self._sizes)
        k = self.domain.size
        return (rows, k) if rows > 1 else (k,)

    @cached_property
    def outputs(self) -> NDArray[Any]:
        """All reports: the sets, size by size, then the non-sensitive values."""
        s = self.sensitive.size
        values = self.nonsensitive.size
        self._check_matrix_size(self.output_count)
        sets = np.zeros((self.output_count, s), dtype=np.bool_)
        members = (m for size, _ in self._sizes for m in combinations(range(s), size))
        for row, chosen in enumerate(members):
            sets[row, list(chosen)] = True
        unrevealed = np.zeros(self.output_count - values, dtype=np.int64)
        revealed = np.append(unrevealed, np.arange(1, values + 1))
        reports = self._reports(self._sets.pack(sets), revealed)
        reports.setflags(write=False)
        return reports

    @property
    def output_count(self) -> int:
        """The number Σ C(s, d) + |X_N| of the sets and the non-sensitive values."""
        sets = sum(comb(self.sensitive.size, size) for size, _ in self._sizes)
        return sets + self.nonsensitive.size

    @property
    def revealed_share(self) -> float:
        """Σ λ_d (1 - μ_d), the probability of sending no set."""
        return self._law.revealed if self.nonsensitive.size else 0.0

    def _best_report(self, weights: NDArray[np.float64]) -> Any:
        """Return the best of the best sets of each size and the best value to reveal."""
        descending = np.argsort(-weights[self.sensitive], kind="stable")
        places = np.arange(descending.size)
        best = [self._report(np.isin(places, descending[:size]), 0) for size, _ in self._sizes]
        if self.nonsensitive.size:
            revealed = 1 + int(weights[self.nonsensitive].argmax())
            best.append(self._report(places < 0, revealed))
        return self._best_of(np.array(best), weights)

    def _matrix(self) -> NDArray[np.float64]:
        law = self._law
        s = self.sensitive.size
        protected = self.protected
        sets = self._sets.unpack(self._sets_of(self.outputs[protected]))
        size = np.searchsorted(law.sizes, sets.sum(axis=1))
        each = law.weights / [float(comb(s, d)) for d in law.sizes.tolist()]
        with_own = each * law.own / law.held
        without_own = each * law.hidden
        matrix = np.zeros((self.domain.size, protected.size))
        matrix[:, protected] = without_own[size]
        matrix[np.ix_(self.sensitive, protected)] = np.where(
            sets.T, with_own[size], without_own[size]
        )
        matrix[np.ix_(self.nonsensitive, ~protected)] = law.revealed * np.eye(law.nu)
        return matrix

    def evidence(self, reports: ArrayLike | Tally) -> Evidence:
        """Return the sets of the protected reports (see `Mechanism.evidence`).

        A tally is enough if all sets are single values.
        """
        if any(size > 1 for size, _ in self._sizes):
            return super().evidence(reports)
        counts = self._as_tally(reports).counts
        return Evidence(self, None, counts[self.sensitive], counts[self.nonsensitive])

    def _perturb(self, users: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """Draw a set for every user, with the same steps whatever her value and whether it is sent.

        Otherwise the time would tell whose set it is.
        """
        numbers = self._number_in_class.take(users)
        sets = np.zeros((users.size, self._sets.width), dtype=np.uint8)
        revealed = np.maximum(-numbers, 0)
        if not self._sizes:
            return self._reports(sets, revealed)
        law = self._law
        drawn = rng.choice(law.sizes.size, users.size, p=law.weights)
        own = np.maximum(numbers, 0) - 1
        is_sent = numbers > 0
        s = self.sensitive.size
        for row, size in enumerate(law.sizes.tolist()):
            members = np.flatnonzero(drawn == row)
            held = bernoulli(rng, law.own[row], law.not_own[row], members.size)
            is_sent[members] |= bernoulli(rng, law.hidden[row], law.shown[row], members.size)
            for chunk in chunks(members.size, max(1, MEMBERS_AT_ONCE // s)):
                some = members[chunk]
                sets[some] = random_subsets(rng, own[some], held[chunk], s, size)
        sets *= is_sent[:, None]
        return self._reports(sets, revealed * ~is_sent)

    def _conditions(self, reports: NDArray[Any]) -> Iterator[tuple[NDArray[np.bool_], str]]:
        yield from super()._conditions(reports)
        allowed = [size for size, _ in self._sizes]
        sizes = self._sets.sizes(self._sets_of(reports))
        met = np.where(self._revealed(reports) > 0, sizes == 0, np.isin(sizes, allowed))
        yield met, f"reveal a value or hold a set of {allowed} sensitive ones"

    def _count_conditions(self, counts: NDArray[np.int64], n: int) -> Iterator[tuple[bool, str]]:
        """Yield that each report is a whole set, or reveals a value."""
        yield from super()._count_conditions(counts, n)
        table = counts.reshape(-1, self.domain.size)
        held = table[:, self.sensitive]
        revealed = int(table[0, self.nonsensitive].sum())
        sizes = self._law.sizes if self._sizes else np.ones(1, dtype=np.int64)
        sets, rest = np.divmod(held.sum(axis=1), sizes)
        total = int(sets.sum()) + revealed
        yield not rest.any() and total == n, f"be of n sets or values, got {total}"
        yield not table[1:, self.nonsensitive].any(), "hold revealed values in the first row alone"
        yield bool((held <= sets[:, None]).all()), "hold a value at most once in each set"

    def _count(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        table = np.zeros((max(len(self._sizes), 1), self.domain.size), dtype=np.int64)
        table[0, self.nonsensitive] = self._count_revealed(reports)
        sets = self._sets_of(reports)
        if len(self._sizes) == 1:
            table[0, self.sensitive] = self._sets.counts(sets)
        else:
            sizes = self._sets.sizes(sets)
            for row, (size, _) in enumerate(self._sizes):
                table[row, self.sensitive] = self._sets.counts(sets[sizes == size])
        return table.reshape(self.tally_shape)

    def _simulate_counts(
        self, true_counts: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        if not self._sizes:
            return true_counts
        n = int(true_counts.sum())
        if n > MOST_SIMULATED:
            raise ValueError(
                f"true_counts must be of at most {MOST_SIMULATED} users of a block design, "
                f"got {n}: simulate a share of them"
            )
        draws = -(-n // USERS_OF_ONE_DRAW)
        if draws > 1:
            # Fewer users at a time: (m + 0)//d, ..., (m + d - 1)//d add up to m.
            total = np.zeros(self.tally_shape, dtype=np.int64)
            for draw in range(draws):
                total += self._simulate_counts((true_counts + draw) // draws, rng)
            return total
        law = self._law
        sizes = rng.multinomial(true_counts[self.sensitive], law.weights)
        fates = rng.multinomial(
            true_counts[self.nonsensitive], np.append(law.weights * law.hidden, law.revealed)
        )
        table = np.zeros((len(self._sizes), self.domain.size), dtype=np.int64)
        table[0, self.nonsensitive] = fates[:, -1]
        for row, size in enumerate(law.sizes.tolist()):
            held = rng.binomial(sizes[:, row], law.own[row])
            table[row, self.sensitive] = column_counts(
                rng, held, sizes[:, row] - held, fates[:, row].sum(), size
            )
        return table.reshape(self.tally_shape)


def _as_sizes(sizes: Any, s: int) -> tuple[tuple[int, float], ...]:
    """Return the sizes of positive probability as pairs in increasing order."""
    try:
        law = {sizes: 1.0} if isinstance(sizes, Real) else dict(sizes)
    except (TypeError, ValueError):
        raise TypeError(
            f"sizes must be a size or sizes with their probabilities, got {sizes!r}"
        ) from None
    for size in law:
        if checks.whole(size, "sizes", least=1) > s:
            raise ValueError(f"sizes must lie in 1..{s}, as {s} values are sensitive, got {size}")
    if law or s:
        checks.distribution(list(law.values()), "probabilities of sizes", len(law))
    pairs = tuple((int(size), float(law[size])) for size in sorted(law) if law[size] > 0)
    if s > 1 and pairs[0][0] == s:
        raise ValueError(f"sizes must not all be {s}, the set of all sensitive values")
    return pairs
