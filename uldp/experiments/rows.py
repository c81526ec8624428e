"""The rows of the experiments' tables."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CellRow", "PersonalizedRow", "Row"]


@dataclass(frozen=True)
class Row:
    """Mean losses of one estimator at one point.

    Attributes
    ----------
    data, k, sensitive, n, mechanism, epsilon
        The point; `sensitive` is the number of values that the mechanism protects.
    estimator : str
        Its name in `uldp.experiments.METHODS`.
    realizations : int
        How many the means are of.
    tv, mse : float
        Mean total variation and mean squared l2 loss.
    tv_error, mse_error : float or None
        Their standard errors; None after a single realization.
    expected_tv, expected_mse : float or None
        For the empirical estimate what `uldp.losses` forecasts, the TV for this very n.
    """

    data: str
    k: int
    sensitive: int
    n: int
    mechanism: str
    epsilon: float | None
    estimator: str
    realizations: int
    tv: float
    tv_error: float | None
    mse: float
    mse_error: float | None
    expected_tv: float | None
    expected_mse: float | None


@dataclass(frozen=True)
class PersonalizedRow:
    """Mean losses of one estimator with one kind of knowledge, and the terms of Theorem 1.

    Attributes
    ----------
    data, k, sensitive, n, mechanism, epsilon
        The point; k values, of which so many are sensitive to everybody.
    knowledge : str
        What the collector knows of where each tag occurs, in `uldp.experiments.KNOWLEDGE`.
    estimator : str
        Its name in `uldp.experiments.METHODS`.
    realizations : int
        How many the means are of.
    tv, mse : float
        Mean total variation (half of the l1 loss) and mean squared l2 loss of the estimate of p.
    first, second : float
        Means of the terms of Theorem 1, which are l1 losses.
    tv_error, mse_error, first_error, second_error : float or None
        Their standard errors; None after a single realization.
    second_bound : float
        Mean of what the collector knows the second term not to exceed.
    expected_first : float or None
        For the empirical estimate the first term that `uldp.losses` forecasts for this n.
    """

    data: str
    k: int
    sensitive: int
    n: int
    mechanism: str
    epsilon: float
    knowledge: str
    estimator: str
    realizations: int
    tv: float
    tv_error: float | None
    mse: float
    mse_error: float | None
    first: float
    first_error: float | None
    second: float
    second_error: float | None
    second_bound: float
    expected_first: float | None


@dataclass(frozen=True)
class CellRow:
    """One cell of Figure 9.

    Attributes
    ----------
    tag : str
        "home" or "office".
    row, column : int
        The cell: from the south and from the west, counted from 0.
    users, places : float
        Share of the tag's check-ins and of its places, each place counted once.
    """

    tag: str
    row: int
    column: int
    users: float
    places: float
