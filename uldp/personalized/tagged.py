"""The domain of the common mechanism: the values, and a bot for each tag."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from uldp._numerics import checks
from uldp._numerics.fields import set_fields
from uldp.domain import Domain
from uldp.mechanisms.base import Mechanism

__all__ = ["OTHERS", "TaggedDomain", "tagged_domain"]

OTHERS = "others"
"""The tag that takes in what is sensitive to a user under none of the other tags."""


class TaggedDomain(Domain):
    """The intermediate data Z = X ∪ {⊥_1, ..., ⊥_κ} of Section 5.1, a `Domain` for any mechanism.

    The values of X keep their indices 0, ..., k - 1; the bots follow them in the order of the tags.
    Sensitive are the sensitive values of X and all bots. Labels are the values' own as text, and
    "⊥home" for the bot of the tag "home". Where the values of X have integers for labels, an
    integer is such a label here, too, and never a bot; otherwise integers are as in a `Domain`.

    Parameters
    ----------
    base : Domain
        The values X and which of them are sensitive to everybody.
    tags : iterable of str
        The tags, one or more, not empty, none twice. With "others" among them, it takes in what
        users tag otherwise.

    Attributes
    ----------
    base : Domain
        X.
    tags : tuple of str
        The κ tags in their order.
    bots : (κ,) ndarray of int
        The indices of the bots, k, ..., k + κ - 1, read-only.
    size : int
        k + κ.

    Examples
    --------
    >>> TaggedDomain(Domain(3, sensitive=[0]), ["home", "others"])
    TaggedDomain(Domain(3, sensitive=[0]), tags=['home', 'others'])
    """

    base: Domain
    tags: tuple[str, ...]
    bots: NDArray[np.intp]
    remark: ClassVar[str] = (
        "shares of what devices processed, not of answers; "
        "a row with ⊥ is what users hid under that tag"
    )

    def __init__(self, base: Domain, tags: Iterable[str]) -> None:
        checks.instance(base, "base", Domain)
        checked = _tags(tags)
        values = [str(label) for label in base.labels]
        bots = [f"⊥{tag}" for tag in checked]
        clashes = set(values) & set(bots)
        if clashes:
            raise ValueError(
                f"tags must not give a bot the label of a value, got {min(clashes)[1:]!r}"
            )
        indices = np.arange(base.size, base.size + len(bots))
        set_fields(self, base=base, tags=checked, bots=indices)
        super().__init__(values + bots, [values[x] for x in base.sensitive] + bots)

    def _found(
        self, values: Any, name: str, by_index: bool, secret: bool, offer: str
    ) -> NDArray[np.intp]:
        are_labels = not by_index and self._integers_are_labels
        if are_labels and checks.as_array(values, name).dtype.kind in "iu":
            return self.base._found(values, name, by_index, secret, offer)
        return super()._found(values, name, by_index, secret, offer)

    @property
    def _integers_are_labels(self) -> bool:
        return self.base._integers_are_labels

    def _index_of(self, label: object) -> int | None:
        """Return the index of a bot or of a value of X, by its own label or by that as text."""
        index = self.base._index_of(label)
        return super()._index_of(label) if index is None else index

    def _content(self) -> tuple[Hashable, ...]:
        return self.base, self.tags

    def __repr__(self) -> str:
        return f"TaggedDomain({self.base!r}, tags={list(self.tags)})"


def tagged_domain(common: object) -> TaggedDomain:
    """Return the domain of a common mechanism."""
    domain = common.domain if isinstance(common, Mechanism) else None
    if not isinstance(domain, TaggedDomain):
        over = "" if domain is None else f" over a {type(domain).__name__}"
        raise TypeError(
            f"common must be a mechanism over a TaggedDomain, got a {type(common).__name__}{over}"
        )
    return domain


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(checks.items(tags, "tags"))
    if not all(isinstance(tag, str) for tag in checked):
        raise TypeError(f"tags must be strings, got {checked!r}")
    if not checked or not all(checked):
        raise ValueError(f"tags must be one or more, none empty, got {checked!r}")
    if len(set(checked)) < len(checked):
        raise ValueError(f"tags must not repeat, got {checked!r}")
    return checked
