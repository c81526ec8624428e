"""How the paper's claims on its experiments are judged: by measured ratios, with errors, by a rule.

It lies beside the notebooks, which run in this folder. A comparison is a ratio of two mean losses
and a bound. It is decided where the two are more than two standard errors apart, and undecided
otherwise. So is each that rests on a single realization, which has no standard error.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame, concat

SHARE = 0.95
"""A claim holds if at least this share of its decided comparisons is in its favour."""

FAR = 1.05
"""... and if none is against it by more than this factor."""

ERRORS = 2
"""A comparison is decided where the bound is more than so many standard errors away."""

HOLDS, MOSTLY, TIE, DIFFERS = "holds", "mostly", "tie", "differs"
UNDECIDED, NOT_COMPARABLE = "undecided", "not comparable"
WORDS = (HOLDS, MOSTLY, TIE, DIFFERS, UNDECIDED, NOT_COMPARABLE)


class Counts(NamedTuple):
    """How many comparisons are for a claim, against it, undecided; and how many far against it.

    What was measured may be something else than what the claim is about: then it is not comparable.
    """

    yes: int
    no: int
    undecided: int
    far: int
    comparable: bool = True

    def __str__(self) -> str:
        """Write the first three."""
        return f"{self.yes} for, {self.no} against, {self.undecided} undecided"

    @property
    def word(self) -> str:
        """The verdict: the rule, and nothing else."""
        decided = self.yes + self.no
        if not self.comparable:
            return NOT_COMPARABLE
        if not decided:
            return UNDECIDED
        if not self.far and self.yes >= SHARE * decided:
            return HOLDS
        if self.yes == self.no:
            return TIE
        return MOSTLY if self.yes > self.no else DIFFERS

    @property
    def by_one(self) -> bool:
        """Whether it would be another if one decided comparison had gone, barely, the other way."""
        others = []
        if self.yes:
            others.append(self._replace(yes=self.yes - 1, no=self.no + 1))
        if self.no:
            others.append(self._replace(yes=self.yes + 1, no=self.no - 1))
        return any(other.word != self.word for other in others)


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


def tally(table: DataFrame, comparable: bool = True) -> Counts:
    """Count the comparisons of a claim, and say whether they are of what it is about."""
    found = outcomes(table)
    far = (found < 0) & (table["favour"].to_numpy() < 1 / FAR)
    yes, no, undecided, against = (
        int(each.sum()) for each in (found > 0, found < 0, found == 0, far)
    )
    return Counts(yes, no, undecided, against, comparable)


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

    The columns are those of `above`, with "ratio" and "error", which is the standard error of its
    logarithm as if the two means were independent; a mean of one realization has none.
    """
    mean, error = loss, f"{loss}_error"
    other = below[[*on, mean, error, "realizations"]]
    pairs = above.merge(other, on=list(on), suffixes=("", "_below"))
    if len(pairs) != len(above) or not len(pairs):
        raise ValueError(f"{len(above)} rows to compare, {len(pairs)} pairs")
    relative = [pairs[error + side] / pairs[mean + side] for side in ("", "_below")]
    fewer = pairs[["realizations", "realizations_below"]].min(axis=1)
    return pairs[list(above.columns.drop("realizations"))].assign(
        ratio=pairs[mean] / pairs[f"{mean}_below"],
        error=np.where(fewer > 1, np.hypot(*relative), math.inf),
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
    other = below[[*on, "ratio", "error"]]
    pairs = above.merge(other, on=list(on), suffixes=("", "_below"))
    return pairs[list(above.columns)].assign(
        ratio=pairs["ratio"] / pairs["ratio_below"],
        error=np.hypot(pairs["error"], pairs["error_below"]),
    )


def stacked(parts: Iterable[DataFrame]) -> DataFrame:
    """Return one table of several."""
    return concat(parts, ignore_index=True)
