"""A population of users, each with her own secret map, for simulations."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, set_fields
from uldp.mechanisms.base import Mechanism, Seed
from uldp.personalized.tagged import TaggedDomain, tagged_domain
from uldp.personalized.users import secret_tags

__all__ = ["SecretMaps"]

MOST_NUMBERED = 2**31


@dataclass(frozen=True, eq=False)
class SecretMaps(Frozen):
    """The secret maps of a whole population, for simulations of n users without n objects.

    They are one table: row j says that the value ``values[j]`` is sensitive to the user
    ``users[j]`` under the tag ``tags[j]``. Users are numbered 0, ..., n - 1; one without a row has
    nothing sensitive of her own. The table is not shown by repr.

    Parameters
    ----------
    domain : TaggedDomain
        The domain of the common mechanism.
    users : (m,) array_like of int
        The user of each row.
    values : (m,) array_like of labels or indices
        The value of each row, in X.
    tags : (m,) array_like of str or int
        The tag of each row or its index in ``domain.tags``; other tags count as "others".
    indices : bool, optional
        Whether the values are indices (see `Domain.indices`).
    """

    domain: TaggedDomain
    users: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.intp] = field(repr=False)
    tags: NDArray[np.intp] = field(repr=False)
    indices: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, indices: bool) -> None:
        checks.instance(self.domain, "domain", TaggedDomain)
        users = _users(self.users)
        values = self.domain.base._indices(self.values, "values", indices, secret=True)
        shapes = users.shape, values.shape, checks.as_array(self.tags, "tags").shape
        if users.ndim != 1 or len(set(shapes)) > 1:
            raise ValueError(
                "users, values and tags must be one-dimensional and of one length, got shapes "
                f"{', '.join(map(str, shapes))}"
            )
        tags = secret_tags(self.domain, self.tags, "tags")
        rows = np.sort(users * self.domain.base.size + values)
        if (rows[1:] == rows[:-1]).any():
            raise ValueError("values must not hold a value twice for the same user")
        set_fields(self, users=users, values=values, tags=tags)

    def intermediate(self, values: ArrayLike, *, indices: bool = False) -> NDArray[np.intp]:
        """Apply each user's pre-processor to her value.

        Parameters
        ----------
        values : (n,) array_like of labels or indices
            The value in X of each user 0, ..., n - 1.
        indices : bool, optional
            Whether the values are indices (see `Domain.indices`).

        Returns
        -------
        (n,) ndarray of int
            Indices in Z.
        """
        result = self.domain.base._indices(values, "values", indices, secret=True)
        least = self.users.max(initial=-1) + 1
        if result.ndim != 1 or result.size < least:
            raise ValueError(
                f"values must be one for each user, at least {least}, got shape {result.shape}"
            )
        held = result[self.users] == self.values
        result[self.users[held]] = self.domain.bots[self.tags[held]]
        return result

    def privatize(
        self, common: Mechanism, values: ArrayLike, rng: Seed = None, *, indices: bool = False
    ) -> Any:
        """Return the report of each user, as her own `PersonalizedMechanism` would draw it.

        Parameters
        ----------
        common : Mechanism
            The common mechanism, over the domain of these maps.
        values : (n,) array_like of labels or indices
            The value in X of each user.
        rng : optional
            What `numpy.random.default_rng` takes.
        indices : bool, optional
            Whether the values are indices (see `Domain.indices`).
        """
        if tagged_domain(common) != self.domain:
            raise ValueError(f"common must be a mechanism over {self.domain!r}, got {common!r}")
        intermediate = self.intermediate(values, indices=indices)
        return common.privatize(intermediate, rng, indices=True)


def _users(users: ArrayLike) -> NDArray[np.int64]:
    array = checks.integers(users, "users")
    if array.min(initial=0) < 0 or array.max(initial=0) >= MOST_NUMBERED:
        raise ValueError(f"users must lie in 0..{MOST_NUMBERED - 1}")
    return array.astype(np.int64)
