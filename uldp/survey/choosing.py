"""Which mechanism to use: what each will lose, send and reveal, before anybody is asked.

All losses are those of the empirical estimate, and the standard errors of totals those of the
adjusted one, as `inference.total` has it. An estimate need not be a distribution: a forecast TV
above 1, which no two distributions have, says that at so small an n the estimate is mostly noise.
One that is forced to be a distribution loses less there; how much less depends on the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.results import Result
from uldp.beyond.limits import fundamental_limit
from uldp.decoders import ROUNDING
from uldp.domain import Domain, PerValue, Weights, weights_of
from uldp.kinds import MECHANISMS, Make
from uldp.losses import LOSSES, Loss, total_variance
from uldp.mechanisms import Mechanism

__all__ = [
    "Comparison",
    "Forecast",
    "compare",
    "epsilon_needed",
    "excess",
    "excess_map",
    "users_needed",
]

Aim = Loss | Literal["tv", "mse", "standard_error"]
AIMS: tuple[Aim, ...] = (*LOSSES, "tv", "mse", "standard_error")

LEAST_SOUGHT = 1e-6
LARGEST_SOUGHT = 30.0
PRECISION = 1e-9


@dataclass(frozen=True)
class Forecast:
    """What to expect of one mechanism.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    tv, mse : float
        The expected total variation, by the central limit theorem, and squared l2 loss.
    excess : float
        The worst-case MSE over the least that any ULDP mechanism can have with an unbiased
        estimate (see `excess`).
    report_bits : int
        The bits that tell all its reports apart, ⌈log2 |Y|⌉.
    revealed_share : float
        The probability that a user with a non-sensitive value reveals it.
    """

    mechanism: Mechanism
    tv: float
    mse: float
    excess: float
    report_bits: int
    revealed_share: float


class Comparison(Result, dict[str, Forecast]):
    """Forecasts by the names of the mechanisms.

    It prints, and renders in a notebook; `to_pandas()` returns a data frame, a row for each name.
    """

    def __repr__(self) -> str:
        return "\n".join(
            f"{name:<13}{tv:>9}{mse:>11}{excess:>11}{bits:>8}{revealed:>10}"
            for name, tv, mse, excess, bits, revealed in self._texts()
        )

    @property
    def _columns(self) -> Mapping[str, Any]:
        names = [one.name for one in fields(Forecast) if one.name != "mechanism"]
        return {name: [getattr(one, name) for one in self.values()] for name in names}

    def _index(self, pandas: Any) -> Any:
        return pandas.Index(self, name="mechanism")

    def _texts(self) -> list[list[str]]:
        rows = [
            [
                name,
                f"{f.tv:.3g}",
                f"{f.mse:.3g}",
                f"{f.excess:.4g}",
                f"{f.report_bits}",
                f"{f.revealed_share:.1%}",
            ]
            for name, f in self.items()
        ]
        return [["", "TV", "MSE", "MSE/limit", "bits", "revealed"], *rows]


def compare(domain: Domain, epsilon: float, n: int, p: PerValue | None = None) -> Comparison:
    """Forecast what each mechanism will lose, send and reveal.

    Parameters
    ----------
    domain : Domain
        The possible answers, and which of them are sensitive.
    epsilon : float
        The privacy budget ε, in nats.
    n : int
        The number of users.
    p : (k,) array_like or mapping of label to float, optional
        The distribution at which to forecast TV and MSE; by default the worst case of each.
    """
    checks.instance(domain, "domain", Domain)
    comparison = Comparison()
    for name, make in MECHANISMS.items():
        mechanism = make(domain, epsilon)
        comparison[name] = Forecast(
            mechanism=mechanism,
            tv=_expected(mechanism, "l1", n, p) / 2,
            mse=_expected(mechanism, "l2", n, p),
            excess=excess(mechanism),
            report_bits=(mechanism.output_count - 1).bit_length(),
            revealed_share=mechanism.revealed_share,
        )
    return comparison


def users_needed(
    mechanism: Mechanism,
    loss: Aim,
    target: float,
    p: PerValue | None = None,
    weights: Weights | None = None,
) -> int:
    """Return the least number of users whose expected loss is at most the target.

    The loss can be the standard error of a total (see `inference.total`), too.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    loss : {"l1", "l2", "tv", "mse", "standard_error"}
        The l1 loss, or half of it, the TV, by the central limit theorem; the squared l2 loss, which
        is the MSE, exact for every n; or the standard error of Σ weights(x) p(x), exact too.
    target : float
        Above 0, and below what a guess without any data keeps to: a TV of 1, and a standard error
        of half the range of the weights. A percentage point is 0.01.
    p : (k,) array_like or mapping of label to float, optional
        The distribution; by default the worst case.
    weights : (k,) array_like, collection of labels, or mapping of label to float, optional
        Those of the total (see `losses.total_variance`), if the loss is "standard_error" and only
        then.
    """
    checks.instance(mechanism, "mechanism", Mechanism)
    target, weights = _aim(mechanism.domain, loss, target, weights)
    one_user = _expected(mechanism, loss, 1, p, weights)
    power = 1 if loss in ("l2", "mse") else 2
    try:
        return max(1, math.ceil((one_user / target) ** power * (1 - ROUNDING)))
    except OverflowError:
        raise ValueError(f"target must be within reach of users, got {target!r}") from None


def epsilon_needed(
    make: Make | str,
    domain: Domain,
    n: int,
    loss: Aim,
    target: float,
    p: PerValue | None = None,
    weights: Weights | None = None,
) -> float:
    """Return an ε that meets the target loss while a slightly smaller one does not.

    Where the loss falls with ε this is the least such ε. It always does but for uBD, whose sizes
    are those of the least worst-case MSE: where they change, its l1 loss and its losses at a given
    p can rise.

    Parameters
    ----------
    make : callable or str
        A mechanism's class, a function of the domain and ε that returns a mechanism, or a name in
        `uldp.mechanisms.MECHANISMS`.
    domain : Domain
        The possible answers.
    n : int
        The number of users.
    loss, target, p, weights
        See `users_needed`.

    Returns
    -------
    float
        In nats, 1e-6 to 30, to a relative precision of 1e-9; 1e-6 if that is enough already.
    """
    made = MECHANISMS.get(make) if isinstance(make, str) else make
    if not callable(made):
        names = ", ".join(MECHANISMS)
        raise TypeError(f"make must be callable, or one of {names}, got {make!r}")
    checks.instance(domain, "domain", Domain)
    target, weights = _aim(domain, loss, target, weights)

    def expected(epsilon: float) -> float:
        mechanism = made(domain, epsilon)
        checks.instance(mechanism, "what make returns", Mechanism)
        return _expected(mechanism, loss, n, p, weights)

    low = LEAST_SOUGHT
    high = LARGEST_SOUGHT
    if expected(low) <= target:
        return low
    if expected(high) > target:
        raise ValueError(
            f"target must be at least {expected(high):.3g}, the loss of {n} users at ε = {high:g}, "
            f"got {target}"
        )
    while high > low * (1 + PRECISION):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if expected(middle) <= target else (middle, high)
    return high


def excess(mechanism: Mechanism) -> float:
    """Return a mechanism's worst-case MSE over the least that any ULDP mechanism can have.

    The least is that of unbiased estimates and, in the limit of many users, of all. An LDP
    mechanism is compared with what ULDP allows on its domain, too.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism.

    Returns
    -------
    float
        At least 1, up to rounding; nan on a domain of one value, where nothing is to be learnt.
    """
    checks.instance(mechanism, "mechanism", Mechanism)
    limit = fundamental_limit(mechanism.domain, mechanism.epsilon)
    return _expected(mechanism, "l2", 1, None) / limit if limit else math.nan


def excess_map(k: int, sizes: ArrayLike, epsilons: ArrayLike) -> dict[str, NDArray[np.float64]]:
    """Return the `excess` of each mechanism over the number of sensitive values and ε.

    Parameters
    ----------
    k : int
        The number of values.
    sizes : (a,) array_like of int
        Numbers of sensitive values, each 0 to k.
    epsilons : (b,) array_like
        Values of ε, in nats.

    Returns
    -------
    dict of str to (a, b) ndarray
        By the names of `uldp.mechanisms.MECHANISMS`.
    """
    k = checks.whole(k, "k", least=1)
    counts = checks.counts(sizes, "sizes", -1)
    if (counts > k).any():
        raise ValueError(f"sizes must be at most k = {k}, got {counts.max()}")
    budgets = [
        checks.budget(e, "epsilons") for e in checks.numbers(epsilons, "epsilons", (-1,)).tolist()
    ]
    ratios = {name: np.empty((counts.size, len(budgets))) for name in MECHANISMS}
    for row, s in enumerate(counts):
        domain = Domain(k, sensitive=range(s))
        for column, epsilon in enumerate(budgets):
            for name, make in MECHANISMS.items():
                ratios[name][row, column] = excess(make(domain, epsilon))
    return ratios


def _aim(
    domain: Domain, loss: Aim, target: float, weights: Weights | None
) -> tuple[float, Weights | None]:
    """Return the target and the weights; refuse a target that needs no data."""
    checks.choice(loss, "loss", AIMS)
    target = checks.positive(target, "target")
    if (loss == "standard_error") == (weights is None):
        raise ValueError("weights must be given for the standard error of a total, and only then")
    most = 1.0 if loss == "tv" else math.inf
    if weights is not None:
        weights = weights_of(domain, weights)
        most = float(np.ptp(weights)) / 2
    if 0 < most <= target:
        raise ValueError(
            f"target must be below {most:g}, which a guess without any data keeps to, got "
            f"{target:g}; a percentage point is 0.01"
        )
    return target, weights


def _expected(
    mechanism: Mechanism,
    loss: Aim,
    n: int,
    p: PerValue | None,
    weights: Weights | None = None,
) -> float:
    if weights is not None:
        n = checks.whole(n, "n", least=1)
        return math.sqrt(total_variance(mechanism, weights, p, "adjusted") / n)
    if loss in ("l2", "mse"):
        return mechanism.l2_loss(mechanism.worst_case("l2") if p is None else p, n)
    distance = mechanism.l1_loss(mechanism.worst_case("l1") if p is None else p, n)
    return distance / 2 if loss == "tv" else distance
