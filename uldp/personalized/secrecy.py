"""What the collector learns about one user's secret."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.packed import PackedSets
from uldp.domain import PerValue, per_value
from uldp.law import distribution_over
from uldp.mechanisms.base import Mechanism
from uldp.personalized.tagged import tagged_domain

__all__ = ["posterior"]


def posterior(
    common: Mechanism, reports: ArrayLike, tag: str, prior: PerValue, visits: PerValue
) -> NDArray[np.float64]:
    """Return what the collector believes about a user's secret value after each of her reports.

    The user calls exactly one value h sensitive, under a tag that the collector knows (say her home
    under "home"), and reports values that she draws independently from `visits`. A report that
    reveals x rules out h = x; a protected one says almost nothing (Section 5.2). The values that
    are still possible are those with a positive entry.

    Parameters
    ----------
    common : Mechanism
        The common mechanism, over a `TaggedDomain`.
    reports : array_like
        The t reports of the user, along the first axis.
    tag : str
        The tag, one of the domain's.
    prior : (k,) array_like or mapping of label to float
        The distribution of h before the first report.
    visits : (k,) or (k, k) array_like, or mapping of label to float
        The distribution of her values: the same whatever h is, or in row h that of a user with
        this h.

    Returns
    -------
    (t + 1, k) ndarray
        The prior, then the posterior after 1, ..., t reports.
    """
    domain = tagged_domain(common)
    k = domain.base.size
    checks.choice(tag, "tag", domain.tags)
    belief = distribution_over(domain.base, prior, "prior")
    visited = checks.as_array(per_value(domain.base, visits, "visits"), "visits")
    if visited.ndim == 1:
        visited = checks.distribution(visited, "visits", k)
        own = visited
    else:
        visited = checks.stochastic(visited, "visits").astype(float)
        if visited.shape != (k, k):
            raise ValueError(f"visits must have shape ({k},) or ({k}, {k}), got {visited.shape}")
        own = np.diag(visited)
    likelihood = _likelihoods(common, reports)
    of_values = likelihood[:, :k]
    of_bot = likelihood[:, [domain.bots[domain.tags.index(tag)]]]
    without_secret = of_values @ visited.T
    if visited.ndim == 1:
        without_secret = without_secret[:, None]
    of_secrets = without_secret + own * (of_bot - of_values)
    beliefs = [belief]
    for of_secret in of_secrets:
        belief = belief * of_secret
        total = belief.sum()
        if not total > 0:
            raise ValueError("reports must be possible for some value of the prior and visits")
        belief = belief / total
        beliefs.append(belief)
    return np.array(beliefs)


def _likelihoods(common: Mechanism, reports: ArrayLike) -> NDArray[np.float64]:
    """Return for each report Q_cmn(y|z) over Z up to a factor, shape (t, k + κ).

    A report that reveals a value can come from that one only; a protected one is e^ε times as
    likely from each value that it names as from any other.
    """
    array = checks.as_array(reports, "reports")
    if array.ndim == 0:
        raise ValueError(f"reports must be along the first axis, got a single one, {array}")
    different, which = np.unique(array, axis=0, return_inverse=True)
    likelihoods = np.empty((len(different), common.domain.size))
    for i, likelihood in enumerate(likelihoods):
        evidence = common.evidence(different[i : i + 1])
        if evidence.revealed.any():
            likelihood[:] = 0
            likelihood[common.nonsensitive] = evidence.revealed
        else:
            sets = evidence.sets
            elements = PackedSets(common.sensitive.size)
            named = evidence.times > 0 if sets is None else elements.unpack(sets.T)[0]
            likelihood[:] = np.exp(-common.epsilon)
            likelihood[common.sensitive[named]] = 1
    return likelihoods[which]
