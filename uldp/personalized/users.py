"""A user's side: what is sensitive to her, which stays on her device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.fields import set_fields
from uldp.domain import Domain
from uldp.mechanisms.base import Mechanism, Seed
from uldp.personalized.tagged import OTHERS, TaggedDomain, tagged_domain

__all__ = ["PersonalizedMechanism", "secret_tags"]

SecretMap = Mapping[str | int, str | int]
"""The labels of values, each with its tag or the index of this."""


@dataclass(frozen=True, eq=False)
class PersonalizedMechanism:
    """A user's mechanism Q^(i), the common one after her secret pre-processor (eq. 19).

    The pre-processor takes a value that is sensitive to her to the bot of its tag and any other
    value to itself. The whole is (X_S ∪ X_S^(i), Y_P, ε)-ULDP (Proposition 9), and a protected
    report hides which user's map was applied (Proposition 10).

    Her map appears in no representation of the object, in no stored attribute and in no error
    message; two objects are equal only if they are the same one, and neither pickle nor copy
    accepts one.
    Code on her device that looks for the map still finds it. What leaves the device is the report;
    the common mechanism may be pickled, shared and compared, because it knows no user.

    Parameters
    ----------
    common : Mechanism
        The mechanism that all users share; its domain is a `TaggedDomain`.
    user_sensitive : mapping of label to str or int
        The labels of the values that are sensitive to this user, each with its tag (or the tag's
        index in ``common.domain.tags``). Several values may have the same tag; a tag that the
        domain does not have counts as "others" if it has that one.

    Attributes
    ----------
    common : Mechanism
        The common mechanism Q_cmn.
    """

    # A function, and not a field: what shows the attributes of objects must not show the map.
    _look_up: ClassVar[Any]

    common: Mechanism
    user_sensitive: InitVar[SecretMap]

    def __post_init__(self, user_sensitive: SecretMap) -> None:
        domain = tagged_domain(self.common)
        if not isinstance(user_sensitive, Mapping):
            raise TypeError(
                "user_sensitive must be a mapping from values to tags, got a "
                f"{type(user_sensitive).__name__}"
            )
        values = domain.base._of_labels(list(user_sensitive), "user_sensitive", secret=True)
        tags = secret_tags(domain, list(user_sensitive.values()), "user_sensitive")
        intermediate = np.arange(domain.base.size)
        intermediate[values] = domain.bots[tags]
        set_fields(self, _look_up=lambda indices: intermediate[indices])

    @property
    def domain(self) -> Domain:
        """The values X that the user may have."""
        return tagged_domain(self.common).base

    @property
    def sensitive(self) -> NDArray[np.intp]:
        """Indices of X_S ∪ X_S^(i), what is sensitive to all or to this user, increasing."""
        own = np.flatnonzero(self._of_all_values >= self.domain.size)
        return np.union1d(self.domain.sensitive, own)

    def intermediate(self, values: Any, *, indices: bool = False) -> NDArray[np.intp]:
        """Apply the pre-processor f_pre^(i): indices in Z, of the shape of `values`, () or (n,).

        Parameters
        ----------
        values : label, int, or one-dimensional array of either
            Values of X.
        indices : bool, optional
            Whether the values are indices (see `Domain.indices`).
        """
        found: NDArray[np.intp] = self._look_up(
            self.domain._indices(values, "values", indices, secret=True)
        )
        return found

    @property
    def _of_all_values(self) -> NDArray[np.intp]:
        found: NDArray[np.intp] = self._look_up(np.arange(self.domain.size))
        return found

    def privatize(self, values: Any, rng: Seed = None, *, indices: bool = False) -> Any:
        """Return reports of the user's values (see `Mechanism.privatize`).

        Parameters
        ----------
        values : label, int, or one-dimensional array of either
            Values of X.
        rng : optional
            What `numpy.random.default_rng` takes; for real answers
            `uldp.survey.secure.generator()`.
        indices : bool, optional
            Whether the values are indices (see `Domain.indices`).
        """
        intermediate = self.intermediate(values, indices=indices)
        return self.common.privatize(intermediate, rng, indices=True)

    @property
    def outputs(self) -> NDArray[Any]:
        """The reports that some value of X leads to, in the order of the matrix's columns.

        Among those of the common mechanism: not the ones that would reveal a value that is
        sensitive to this user.
        """
        return self.common.outputs[self._reached]

    @property
    def protected(self) -> NDArray[np.bool_]:
        """Which of `outputs` are in the common mechanism's Y_P; shape (|Y|,)."""
        return self.common.protected[self._reached]

    def transition_matrix(self) -> NDArray[np.float64]:
        """Return Q^(i)(y|x) over the reachable outputs, shape (k, |Y|).

        Over all outputs of the common mechanism it is
        ``common.transition_matrix()[self.intermediate(np.arange(k), indices=True)]``.

        Raises
        ------
        ValueError
            If the common mechanism's matrix would have more than 2^24 entries.
        """
        return self._over_all_outputs[:, self._reached]

    @property
    def _over_all_outputs(self) -> NDArray[np.float64]:
        return self.common.transition_matrix()[self._of_all_values]

    @property
    def _reached(self) -> NDArray[np.bool_]:
        return self.common.protected | self._over_all_outputs.any(axis=0)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise TypeError(
            "a PersonalizedMechanism holds a user's secret and is not pickled or copied; its "
            "common mechanism can be"
        )


def secret_tags(domain: TaggedDomain, tags: Any, name: str) -> NDArray[np.intp]:
    """Return the indices of tags given by name or by index; unknown names count as "others"."""
    array = checks.as_array(tags, name)
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.dtype.kind in "iu":
        if array.min() < 0 or array.max() >= len(domain.tags):
            raise ValueError(f"{name}: the indices of tags must lie in 0..{len(domain.tags) - 1}")
        return array.astype(np.intp)
    names = tags if isinstance(tags, list | tuple) else array.tolist()
    if not all(isinstance(tag, str) for tag in names):
        raise TypeError(f"{name}: the tags must all be strings or all be indices")
    position = {tag: index for index, tag in enumerate(domain.tags)}
    indices = np.array([position.get(tag, position.get(OTHERS, -1)) for tag in names])
    if indices.min() < 0:
        known = ", ".join(domain.tags)
        raise ValueError(f"{name}: the tags must be among {known}, for there is no {OTHERS!r}")
    return indices
