"""Subsets of a random size as reports: their law, and the best linear decoder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uldp._numerics.fields import Frozen, lock_arrays
from uldp.beyond.outcome_decoder import Masses, OutcomeDecoder, Outcomes

__all__ = ["BlockDecoder", "BlockLaw"]


class BlockLaw(Frozen):
    """The probabilities that a report holds a value or reveals it, as arrays over the sizes.

    All are computed without cancellation, complements and differences too.

    Parameters
    ----------
    s, nu : int
        |X_S| and |X_N|.
    epsilon : float
        ε.
    sizes : sequence of (int, float)
        The sizes d and their probabilities λ_d.

    Attributes
    ----------
    own, not_own : ndarray
        Probability dE/D, with D = dE + s - d and E = e^ε, that the set of a user with a sensitive
        value holds it, and that it does not.
    fellow, not_fellow : ndarray
        The same for another given sensitive value.
    gain : ndarray
        own - fellow.
    hidden, shown : ndarray
        μ_d = s/D, the probability that a user with a non-sensitive value sends a set; 1 - μ_d.
    held, not_held : ndarray
        d/s, the probability that such a set holds a given value, and its complement.
    revealed : float
        Σ λ_d (1 - μ_d), or 1 if no value is sensitive.
    """

    def __init__(
        self, s: int, nu: int, epsilon: float, sizes: tuple[tuple[int, float], ...]
    ) -> None:
        self.s = s
        self.nu = nu
        self.sizes = d = np.array([size for size, _ in sizes], dtype=np.int64)
        self.weights = np.array([weight for _, weight in sizes], dtype=np.float64)
        self.weights /= self.weights.sum()
        shrink = np.exp(-epsilon)
        growth = -np.expm1(-epsilon)
        members = max(s, 1)
        others = max(s - 1, 1)
        scale = d + (s - d) * shrink
        # scale is D/E. A set that holds the user's own value holds (d - 1)/(s - 1) of the others,
        # and a set that does not d/(s - 1).
        self.own = d / scale
        self.not_own = (s - d) * shrink / scale
        self.fellow = (self.own * (d - 1) + self.not_own * d) / others
        self.not_fellow = (s - d) * (d + (s - 1 - d) * shrink) / (others * scale)
        self.gain = d * (s - d) * growth / (others * scale)
        self.hidden = s * shrink / scale
        self.shown = d * growth / scale
        self.held = d / members
        self.not_held = (s - d) / members
        self.revealed = float(self.weights @ self.shown) if s else 1.0
        lock_arrays(self)

    def pairs(self, size: int) -> tuple[float, float, float]:
        """Return the probabilities that a set of one of the sizes holds two given values.

        They are for a user who holds one of the two, a third sensitive value, or a value of X_N;
        the last includes the probability that she sends a set at all.
        """
        d = self.sizes[size]
        others = max(self.s - 1, 1)
        thirds = max(self.s - 2, 1)
        with_own = self.own[size] * (d - 1) / others
        with_neither = (with_own * (d - 2) + self.not_own[size] * d * (d - 1) / others) / thirds
        return with_own, with_neither, self.hidden[size] * self.held[size] * (d - 1) / others

    def apply_pairs(
        self, size: int, p: NDArray[np.float64], foreign: float, w: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return P w, where P(x, z) is the chance that a set holds both x and z, and P(x, x) is 0.

        The set has one of the sizes, p is the distribution on X_S, and `foreign` is p(X_N).
        """
        with_own, with_neither, of_foreign = self.pairs(size)
        # P(x, z) is with_own (p(x) + p(z)) + with_neither (p(X_S) - p(x) - p(z)), and
        # of_foreign p(X_N) for the values of the other class.
        of_all = with_neither * p.sum() + of_foreign * foreign
        lean = with_own - with_neither
        rest = w.sum(axis=0) - w
        rest_p = p @ w - p[:, None] * w
        applied: NDArray[np.float64] = of_all * rest + lean * (p[:, None] * rest + rest_p)
        return applied


class BlockDecoder(OutcomeDecoder):
    """The linear estimate from sets of random sizes that is best where p(X_S) is σ0.

    With m_d = σ0 + μ_d (1 - σ0), the probability that a report of size d is a set,

    - differences within X_S are estimated from the sets, those of size d with a weight ∝ μ_d/m_d;
    - differences within X_N from the revealed values;
    - p(X_S) from the mean of 1/m_d over the reports, 0 for a revealed value.

    Each is scaled to be unbiased. At the p that is uniform within X_S and within X_N with
    p(X_S) = σ0 no unbiased estimate has a smaller l2 loss. For a single size σ0 has no effect:
    there is only one unbiased estimate that is linear and treats the values of a class alike.

    Parameters
    ----------
    law : BlockLaw
        The law of the reports.
    sensitive, nonsensitive : ndarray of int
        The indices of the two classes.
    mass : float
        σ0, in [0, 1].

    Attributes
    ----------
    outside, contrast : ndarray
        What a set of each size adds to n times the estimate of p(x) for the x in X_S that it does
        not hold, and how much more for those that it holds.
    absent : float
        What a revealed value adds for each x in X_S.
    unrevealed : ndarray
        What a set of each size adds for each x in X_N.
    unnamed : float
        What a revealed value adds for the others in X_N; for itself it is 1/revealed more.
    """

    def __init__(
        self,
        law: BlockLaw,
        sensitive: NDArray[np.intp],
        nonsensitive: NDArray[np.intp],
        mass: float,
    ) -> None:
        super().__init__(sensitive, nonsensitive)
        self.law = law
        self.mass = mass
        s = max(law.s, 1)
        nu = max(law.nu, 1)
        # With m_d = reached, 1/m_d is 1 + excess. The mean of 1/m_d over the reports is affine in
        # p(X_S), with the slope `scale`; a report adds for p(X_N) what it lacks to add up to 1.
        reached = mass + law.hidden * (1 - mass)
        excess = law.shown * (1 - mass) / reached
        scale = float(law.weights @ (law.shown * (1 + excess))) if law.s else 1.0
        foreign_mass = (law.weights @ excess - excess) / scale
        if law.s > 1:
            # own/d is in proportion to μ_d, but does not vanish where ε is large.
            weight = law.own / law.sizes / reached
            self.contrast = weight / (law.weights @ (weight * law.gain))
        else:
            self.contrast = np.zeros(law.sizes.size)
        # The entries add up to what the set says of p(X_S).
        self.outside = (1 - foreign_mass - self.contrast * law.sizes) / s
        self.absent = -float(law.weights @ (law.hidden * (1 + excess))) / scale / s
        self.unrevealed = foreign_mass / nu
        self.unnamed = float(law.weights @ (law.shown * foreign_mass)) / law.revealed / nu
        lock_arrays(self)

    def estimate(self, counts: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Return the estimate from a tally's counts; it sums to 1."""
        law = self.law
        table = counts.reshape(-1, law.s + law.nu)
        held = table[: law.sizes.size, self.sensitive]
        revealed = table[0, self.nonsensitive]
        sets = held.sum(axis=1) / law.sizes
        total = np.empty(law.s + law.nu)
        total[self.sensitive] = self.contrast @ held + (
            self.outside @ sets + self.absent * revealed.sum()
        )
        total[self.nonsensitive] = revealed / law.revealed + (
            self.unrevealed @ sets + self.unnamed * revealed.sum()
        )
        return total / n

    def apply_second_moment(
        self, p: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return M(p) w.

        The row of a set A is the row of the empty set plus the contrast for each value of A, so M
        follows from how often A holds a value, and how often it holds two.
        """
        law = self.law
        S = self.sensitive
        N = self.nonsensitive
        w = weights.reshape(p.size, -1)
        mass_S = p[S].sum()
        mass_N = p[N].sum()
        applied = np.zeros_like(w)
        for i, weight in enumerate(law.weights):
            sent = law.hidden[i] * mass_N
            held = law.own[i] * p[S] + law.fellow[i] * (mass_S - p[S]) + law.held[i] * sent
            row = np.empty(p.size)
            row[S] = self.outside[i]
            row[N] = self.unrevealed[i]
            products = row @ w
            from_held = self.contrast[i] * (held @ w[S])
            applied += weight * np.outer(row, (mass_S + sent) * products + from_held)
            applied[S] += weight * self.contrast[i] * np.outer(held, products)
            pairs = law.apply_pairs(i, p[S], mass_N, w[S])
            applied[S] += weight * self.contrast[i] ** 2 * (held[:, None] * w[S] + pairs)
        shown = law.revealed * p[N][:, None]
        products = (
            self.absent * w[S].sum(axis=0) + self.unnamed * w[N].sum(axis=0) + w[N] / law.revealed
        )
        from_revealed = (shown * products).sum(axis=0)
        applied[S] += self.absent * from_revealed
        applied[N] += self.unnamed * from_revealed + shown * products / law.revealed
        return applied.reshape(weights.shape)

    def moments_of_total(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E[(D_y · w)²] by the value behind the report y, in O(k) for each size."""
        law = self.law
        S = self.sensitive
        N = self.nonsensitive
        of_S = weights[S]
        of_N = weights[N].sum()
        sum_S = of_S.sum()
        squares_S = of_S @ of_S
        rest = sum_S - of_S
        rest_squares = squares_S - of_S**2
        moments = np.zeros(weights.size)
        for i, weight in enumerate(law.weights):
            # A set A adds start + contrast Σ_A w. The expected square of Σ_A w is that of its
            # terms, and twice that of each pair.
            with_own, with_neither, of_foreign = law.pairs(i)
            start = self.outside[i] * sum_S + self.unrevealed[i] * of_N
            contrast = self.contrast[i]
            mean = law.own[i] * of_S + law.fellow[i] * rest
            square = law.own[i] * of_S**2 + law.fellow[i] * rest_squares
            square += 2 * with_own * of_S * rest + with_neither * (rest**2 - rest_squares)
            moments[S] += weight * (start**2 + 2 * start * contrast * mean + contrast**2 * square)
            held = law.hidden[i] * law.held[i]
            mean = held * sum_S
            square = held * squares_S + of_foreign * (sum_S**2 - squares_S)
            sent = law.hidden[i] * start**2 + 2 * start * contrast * mean + contrast**2 * square
            moments[N] += weight * sent
        revealed = self.absent * sum_S + self.unnamed * of_N + weights[N] / law.revealed
        moments[N] += law.revealed * revealed**2
        return moments

    def range_of_total(self, weights: NDArray[np.float64]) -> tuple[float, float]:
        """Return the least and the largest D_y · w over all reports y, in O(k log k)."""
        law = self.law
        of_S = np.sort(weights[self.sensitive])
        of_N = weights[self.nonsensitive]
        # The least Σ_A w of a size is that of the smallest w, the largest that of the others.
        sums = np.append(0, np.cumsum(of_S))
        start = self.outside * of_S.sum() + self.unrevealed * of_N.sum()
        values = np.concatenate(
            [
                start + self.contrast * sums[law.sizes],
                start + self.contrast * (of_S.sum() - sums[law.s - law.sizes]),
                self.absent * of_S.sum() + self.unnamed * of_N.sum() + of_N / law.revealed,
            ]
        )
        return float(values.min()), float(values.max())

    @property
    def sums_to_one(self) -> bool:
        """Whether every estimate sums to 1, as it always does here."""
        return True

    def reported(self, counts: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
        """Return which values the reports say anything about: those of X_N must be revealed."""
        reported = super().reported(counts, n)
        revealed = counts.reshape(-1, reported.size)[0, self.nonsensitive] > 0
        reported[self.nonsensitive] = revealed
        return reported

    def sensitive_outcomes(self, p_own: Masses, p_fellow: Masses, p_foreign: float) -> Outcomes:
        """Yield each amount that a report can add to an entry of X_S, with its probability."""
        law = self.law
        for i, weight in enumerate(law.weights):
            sent = law.hidden[i] * p_foreign
            held = law.own[i] * p_own + law.fellow[i] * p_fellow + law.held[i] * sent
            not_held = law.not_own[i] * p_own + law.not_fellow[i] * p_fellow
            not_held += law.not_held[i] * sent
            yield self.outside[i] + self.contrast[i], weight * held
            yield self.outside[i], weight * not_held
        yield self.absent, law.revealed * p_foreign

    def nonsensitive_outcomes(self, p_own: Masses, p_fellow: Masses, p_foreign: float) -> Outcomes:
        """Yield each amount that a report can add to an entry of X_N, with its probability."""
        law = self.law
        for i, weight in enumerate(law.weights):
            yield self.unrevealed[i], weight * (p_foreign + law.hidden[i] * (p_own + p_fellow))
        yield self.unnamed, law.revealed * p_fellow
        yield self.unnamed + 1 / law.revealed, law.revealed * p_own
