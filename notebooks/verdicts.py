"""How the chapter on experiments judges what the paper says: by measured ratios, with errors.

It lies beside the notebooks, which run in this folder. A comparison is a ratio of two mean losses
and a bound. It is decided where their distance is more than chance explains, and open otherwise. So
is each that rests on a single realization, which has no standard error.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame, concat
from scipy import stats

RATE = 0.01
"""Probability that chance decides any of a claim's comparisons wrongly, were the means normal."""

HOLDS, CONDITION, DIFFERS, OPEN = "holds", "with a condition", "differs", "open"


class Decided(NamedTuple):
    """How many comparisons speak for a claim, how many against it, and how many are open."""

    yes: int = 0
    no: int = 0
    open: int = 0

    def __str__(self) -> str:
        """Write the three numbers."""
        return f"{self.yes} for, {self.no} against, {self.open} open"

    @property
    def supported(self) -> bool:
        """Whether none speaks against the claim, and not fewer for it than are open."""
        return not self.no and self.yes >= max(self.open, 1)


class Finding(NamedTuple):
    """A claim of the paper with its verdict here."""

    number: int
    claim: str
    verdict: str
    decided: Decided
    evidence: str


Groups = Mapping[str, Decided]

SHARE = 0.95
"""A claim holds if at least this share of its decided comparisons is in its favour."""

FAR = 1.05
"""... and if none is against it by more than this factor."""

ERRORS = 2
"""A comparison is decided where the bound is more than so many standard errors away."""

MOSTLY, UNDECIDED = "mostly", "undecided"


class Counts(NamedTuple):
    """How many comparisons are for a claim, against it, undecided; and how many far against it."""

    yes: int
    no: int
    undecided: int
    far: int

    @property
    def word(self) -> str:
        """The verdict: the rule, and nothing else."""
        decided = self.yes + self.no
        if not decided:
            return UNDECIDED
        if not self.far and self.yes >= SHARE * decided:
            return HOLDS
        return MOSTLY if 2 * self.yes > decided else DIFFERS


def at_least(table: DataFrame, bound: float = 1.0) -> DataFrame:
    """Return ratios with the factor by which each favours a claim that it is above a bound."""
    return table.assign(favour=table["ratio"] / bound)


def at_most(table: DataFrame, bound: float | ArrayLike) -> DataFrame:
    """Return ratios with the factor by which each favours a claim that it is below a bound."""
    return table.assign(favour=np.asarray(bound) / table["ratio"])


def within(table: DataFrame, bound: float) -> DataFrame:
    """Return ratios with the factor by which each favours a claim that it is near 1."""
    return table.assign(favour=bound / np.maximum(table["ratio"], 1 / table["ratio"]))


def outcomes(table: DataFrame) -> NDArray[np.int_]:
    """Return 1 for each comparison that favours its claim, -1 if it is against, 0 if undecided."""
    margin = np.log(table["favour"].to_numpy())
    decided = np.abs(margin) > ERRORS * table["error"].to_numpy()  # no number is never decided
    return np.where(decided, np.sign(margin), 0).astype(int)


def tally(table: DataFrame) -> Counts:
    """Count the comparisons of a claim."""
    found = outcomes(table)
    far = (found < 0) & (table["favour"].to_numpy() < 1 / FAR)
    return Counts(*(int(each.sum()) for each in (found > 0, found < 0, found == 0, far)))


def select(table: DataFrame, **wanted: object) -> DataFrame:
    """Return the rows with these entries; a tuple allows several."""
    for column, entries in wanted.items():
        table = table[table[column].isin(entries if isinstance(entries, tuple) else (entries,))]
    return table


def up_to_ln_k(table: DataFrame) -> DataFrame:
    """Return the rows with ε of at most ln k."""
    return table[table["epsilon"] <= np.log(table["k"]) + 1e-9]


def ratios(above: DataFrame, below: DataFrame, on: Sequence[str], loss: str = "tv") -> DataFrame:
    """Return the mean losses of some rows divided by those of others that agree in some columns.

    The columns are those of `above`, with "ratio", "error", which is the standard error of its
    logarithm as if the two means were independent, and "realizations", the fewer of the two.
    """
    mean, error = loss, f"{loss}_error"
    other = below[[*on, mean, error, "realizations"]]
    pairs = above.merge(other, on=list(on), suffixes=("", "_below"))
    if len(pairs) != len(above) or not len(pairs):
        raise ValueError(f"{len(above)} rows to compare, {len(pairs)} pairs")
    relative = [pairs[error + side] / pairs[mean + side] for side in ("", "_below")]
    return pairs[list(above.columns.drop("realizations"))].assign(
        ratio=pairs[mean] / pairs[f"{mean}_below"],
        error=np.hypot(*relative),
        realizations=pairs[["realizations", "realizations_below"]].min(axis=1),
    )


def entry(table: DataFrame, **wanted: object) -> str:
    """Write the only ratio with these entries, and two standard errors."""
    chosen = select(table, **wanted)
    if len(chosen) != 1:
        raise ValueError(f"one ratio must have {wanted}, got {len(chosen)}")
    ratio, error = chosen[["ratio", "error"]].iloc[0]
    digits = max(0, 2 - math.floor(math.log10(ratio)))
    return f"{ratio:.{digits}f} ± {2 * error * ratio:.{digits}f}"


def quotients(above: DataFrame, below: DataFrame, on: Sequence[str]) -> DataFrame:
    """Return ratios divided by others that agree in some columns, in the form of `ratios`."""
    other = below[[*on, "ratio", "error", "realizations"]]
    pairs = above.merge(other, on=list(on), suffixes=("", "_below"))
    return pairs[list(above.columns)].assign(
        ratio=pairs["ratio"] / pairs["ratio_below"],
        error=np.hypot(pairs["error"], pairs["error_below"]),
        realizations=pairs[["realizations", "realizations_below"]].min(axis=1),
    )


def signs(distance: ArrayLike, error: ArrayLike, realizations: ArrayLike) -> NDArray[np.int_]:
    """Return the sign of each distance from 0 that chance does not explain, else 0.

    With a probability of at least 1 - `RATE` none of them is wrong, by Student's t.
    """
    far, wide, times = np.broadcast_arrays(distance, error, np.asarray(realizations))
    limit = stats.t.isf(RATE / (2 * max(far.size, 1)), np.maximum(times - 1, 1))
    known = (times > 1) & np.isfinite(wide)
    return np.where(known & (np.abs(far) > limit * wide), np.sign(far), 0).astype(int)


def count(found: ArrayLike) -> Decided:
    """Count the signs of comparisons: 1 speaks for a claim, -1 against it."""
    of = np.asarray(found)
    return Decided(int((of > 0).sum()), int((of < 0).sum()), int((of == 0).sum()))


def exceed(table: DataFrame, bound: float = 1.0, by: str = "estimator") -> dict[str, Decided]:
    """Count the ratios that are above a bound, by the entries of a column."""
    return _by(table, _beside(table, bound), by)


def stay_below(table: DataFrame, bound: float, by: str = "estimator") -> dict[str, Decided]:
    """Count the ratios that are below a bound, by the entries of a column."""
    return _by(table, -_beside(table, bound), by)


def stay_within(table: DataFrame, bound: float, by: str = "estimator") -> dict[str, Decided]:
    """Count the ratios that are between a bound and its inverse, by the entries of a column."""
    inside = np.minimum(-_beside(table, bound), _beside(table, 1 / bound))
    return _by(table, inside, by)


def total(groups: Groups) -> Decided:
    """Add up the counts."""
    return Decided(*(sum(each) for each in zip(*groups.values(), strict=True)))


def judge(
    number: int,
    claim: str,
    groups: Groups,
    evidence: str,
    condition: str = "",
    within: Groups | None = None,
) -> Finding:
    """Return a finding with its verdict.

    A claim holds if its comparisons support it in each group; with a condition, if those `within`
    it do together. It is open if nothing speaks against it, and differs otherwise.
    """
    decided = total(groups)
    verdict = DIFFERS if decided.no else OPEN
    told = f"{evidence}; {decided}"
    if all(each.supported for each in groups.values()):
        verdict = HOLDS
    elif within is not None and total(within).supported:
        verdict = CONDITION
        told = f"{condition}: {total(within)}; {evidence}"
    return Finding(number, claim, verdict, decided, told)


def disagreements(findings: Iterable[Finding], said: Mapping[int, str]) -> list[str]:
    """Return a line for each finding whose verdict is not what the text says."""
    found = {each.number: each for each in findings}
    lines = [
        f"Finding {number} ({each.claim}): the text says {said.get(number, 'nothing')!r}, the "
        f"tables say {each.verdict!r}: {each.decided}; {each.evidence}"
        for number, each in found.items()
        if each.verdict != said.get(number)
    ]
    missing = sorted(said.keys() - found.keys())
    return lines + [f"Finding {number} is not judged" for number in missing]


def stacked(parts: Iterable[DataFrame]) -> DataFrame:
    """Return one table of several."""
    return concat(parts, ignore_index=True)


def _beside(table: DataFrame, bound: float) -> NDArray[np.int_]:
    """Return the signs of logarithms of ratios over a bound, all of them one family."""
    return signs(np.log(table["ratio"] / bound), table["error"], table["realizations"])


def _by(table: DataFrame, found: NDArray[np.int_], column: str) -> dict[str, Decided]:
    names = table[column].to_numpy()
    return {str(name): count(found[names == name]) for name in dict.fromkeys(names)}
