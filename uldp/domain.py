"""The domain of personal data: its values, their labels, and which of them are sensitive."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uldp import _checks
from uldp._fields import set_fields

__all__ = ["Domain"]

Label = str | int

MOST_VALUES = 2**26


class Domain:
    """The finite set X of personal data, with its sensitive subset X_S.

    Parameters
    ----------
    values : int or sequence of str or sequence of int
        The number k of values, at most 2^26, which are then called 0, ..., k - 1; or their labels,
        all strings or all integers, none twice.
    sensitive : iterable, optional
        The sensitive values, as labels or (where the labels are strings) as indices, in any order.
        None of the values by default.

    Attributes
    ----------
    labels : tuple or range
        The k labels in their order.
    sensitive, nonsensitive : ndarray of int
        Indices of X_S and of the others, X_N, increasing, read-only.

    Raises
    ------
    ValueError
        If there are no values, a label or a sensitive value stands twice, or a sensitive value is
        not in the domain.
    TypeError
        If the labels are neither all strings nor all integers, or a set, which has no order.

    Examples
    --------
    >>> Domain(["married", "divorced", "single"], sensitive=["divorced"])
    Domain(['married', 'divorced', 'single'], sensitive=['divorced'])
    """

    labels: Sequence[Label]
    sensitive: NDArray[np.intp]
    nonsensitive: NDArray[np.intp]

    def __init__(self, values: int | Iterable[Label], sensitive: Iterable[Label] = ()) -> None:
        set_fields(self, labels=_labels(values))
        if isinstance(sensitive, str | bytes) or not isinstance(sensitive, Iterable):
            raise TypeError(f"sensitive must be a collection of values, got {sensitive!r}")
        indices = self.indices(list(sensitive), name="sensitive")
        chosen = _checks.positions(indices, "sensitive", self.size)
        is_sensitive = np.zeros(self.size, dtype=np.bool_)
        is_sensitive[chosen] = True
        set_fields(self, sensitive=chosen, nonsensitive=np.flatnonzero(~is_sensitive))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Domain cannot be changed; make a new one to set {name}")

    @property
    def size(self) -> int:
        """The number k of values."""
        return len(self.labels)

    def indices(self, values: Any, name: str = "values", secret: bool = False) -> NDArray[np.intp]:
        """Return the indices of values given as labels or as indices.

        Parameters
        ----------
        values : label, int, or one-dimensional array of either
            Integers are indices, unless the labels themselves are integers.
        name : str, optional
            What an error message calls the values.
        secret : bool, optional
            Whether errors must not show the values, nor hold them in their context.

        Returns
        -------
        ndarray of int
            Of the shape of `values`, () or (n,).

        Raises
        ------
        ValueError
            If a value is not in the domain, or `values` has more than one dimension.
        TypeError
            If the values are neither strings nor integers.
        """
        kind: type[TypeError | ValueError]
        try:
            return self._indices(values, name)
        except TypeError:
            if not secret:
                raise
            kind, wanted = TypeError, "all be labels or all be indices"
        except ValueError:
            if not secret:
                raise
            kind, wanted = ValueError, "be in the domain, one of them or a one-dimensional array"
        raise kind(f"{name} must {wanted}; they are not shown here, as they may be answers")

    def _indices(self, values: Any, name: str) -> NDArray[np.intp]:
        array = _checks.as_array(values, name)
        if array.ndim > 1:
            raise ValueError(f"{name} must be one value or one-dimensional, got {array.shape}")
        if array.size == 0:
            return np.empty(0, dtype=np.intp)
        if array.dtype.kind in "OU":
            strings = values if isinstance(values, list | tuple) else array.ravel().tolist()
            return self._indices_of_strings(strings, name).reshape(array.shape)
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name} must be labels or indices, got values of type {array.dtype}")
        if self._label_type is int and not isinstance(self.labels, range):
            return self._look_up(array.ravel().tolist(), name).reshape(array.shape)
        outside = array[(array < 0) | (array >= self.size)]
        if outside.size:
            raise ValueError(f"{name} must lie in 0..{self.size - 1}, got {outside[0]}")
        return array.astype(np.intp)

    @property
    def _label_type(self) -> type:
        return type(self.labels[0])

    def _indices_of_strings(self, values: Sequence[Any], name: str) -> NDArray[np.intp]:
        foreign = {type(v) for v in values} - {str, np.str_}
        if foreign:
            kinds = ", ".join(sorted(kind.__name__ for kind in foreign))
            raise TypeError(f"{name} must be all strings or all integers, got {kinds} among them")
        if self._label_type is int:
            raise TypeError(f"{name} must be integers, as the labels are, got strings")
        return self._look_up(values, name)

    def _look_up(self, values: Sequence[Label], name: str) -> NDArray[np.intp]:
        try:
            indices = map(self._position.__getitem__, values)
            return np.fromiter(indices, dtype=np.intp, count=len(values))
        except KeyError as missing:
            raise ValueError(f"{name}: {missing} is not a label of the domain") from None

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Domain)
            and self.labels == other.labels
            and np.array_equal(self.sensitive, other.sensitive)
        )

    def __hash__(self) -> int:
        return hash((self.labels, self.sensitive.tobytes()))

    def __repr__(self) -> str:
        if self.size > 12:
            return f"Domain({self.size} values, {self.sensitive.size} sensitive)"
        values = self.size if isinstance(self.labels, range) else list(self.labels)
        return f"Domain({values}, sensitive={[self.labels[i] for i in self.sensitive]})"


def _labels(values: int | Iterable[Label]) -> Sequence[Label]:
    if isinstance(values, int | np.integer) and not isinstance(values, bool):
        if not 1 <= values <= MOST_VALUES:
            raise ValueError(f"values must be 1 to {MOST_VALUES} values, got {values}")
        return range(int(values))
    if isinstance(values, str | bytes | set | frozenset) or not isinstance(values, Iterable):
        raise TypeError(
            f"values must be a number of values or their labels in order, got {values!r}"
        )
    labels = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    if not labels:
        raise ValueError("values must name at least one value, got none")
    if {type(label) for label in labels} not in ({str}, {int}):
        raise TypeError(f"values must be all strings or all integers, got {labels[:5]!r}")
    if len(set(labels)) < len(labels):
        repeated = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(f"values must not repeat a label, got {repeated!r} more than once")
    return range(len(labels)) if labels == tuple(range(len(labels))) else labels
