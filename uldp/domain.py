"""The domain of personal data: its values, their labels, and which of them are sensitive."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from functools import cached_property, reduce
from itertools import islice, product, repeat
from math import prod
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uldp._numerics import checks
from uldp._numerics.fields import Frozen, set_fields

__all__ = ["Domain", "Label", "PerValue", "ProductDomain", "Weights"]

Label = str | int

PER_VALUE = "one number for each value"
PerValue = Annotated[ArrayLike | Mapping[Any, Any], PER_VALUE]
"""One number for each value of a domain. An array goes by position; a mapping or a pandas Series
goes by its labels, in any order, and must hold each of them once. The labels of a product domain
are those of its cells, or tuples of the labels of its factors, as in a pandas MultiIndex."""

Weights = PerValue | Collection[Label]
"""A weight for each value of a domain, or the values that count 1: see `inference.total`."""

MOST_VALUES = 2**26
BETWEEN_LABELS = ", "
MOST_LABELS_SHOWN = 12
MOST_COMPARED = 1 << 10
BLANKS_AND_STOPS = string.whitespace + ".,;:!?"


class Domain(Frozen):
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

    Examples
    --------
    >>> Domain(["married", "divorced", "single"], sensitive=["divorced"])
    Domain(['married', 'divorced', 'single'], sensitive=['divorced'])
    """

    labels: Sequence[Label]
    sensitive: NDArray[np.intp]
    nonsensitive: NDArray[np.intp]
    remark: ClassVar[str] = ""  # what a reader of shares of these values must know
    _instead: ClassVar[str] = ""  # what else takes answers

    def __init__(self, values: int | Iterable[Label], sensitive: Iterable[Label] = ()) -> None:
        set_fields(self, labels=_labels(values))
        indices = chosen_values(self, checks.items(sensitive, "sensitive"), "sensitive")
        chosen = checks.positions(indices, "sensitive", self.size, self.labels)
        others = np.delete(np.arange(self.size), chosen)
        set_fields(self, sensitive=chosen, nonsensitive=others)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Domain cannot be changed; make a new one to set {name}")

    @staticmethod
    def product(
        *, sensitive: Callable[..., bool] | Iterable[Label] = (), **factors: int | Iterable[Label]
    ) -> ProductDomain:
        """Return the domain of all combinations of several answers.

        Parameters
        ----------
        sensitive : callable or iterable, optional
            Which cells are sensitive: a function of one label of each factor, which are passed by
            name, that marks one cell at least; or the cells, as labels or indices. None by default.
        **factors : int or sequence of str or sequence of int
            The values of each factor by its name, as for a `Domain`.

        Returns
        -------
        ProductDomain

        Examples
        --------
        >>> used = lambda age, drug: drug == "yes"
        >>> Domain.product(age=["18-29", "30+"], drug=["no", "yes"], sensitive=used)
        ProductDomain(age=['18-29', '30+'], drug=['no', 'yes'], 2 of 4 sensitive)
        """
        return ProductDomain(factors, sensitive)

    @property
    def size(self) -> int:
        """The number k of values."""
        return len(self.labels)

    def _index(self, pandas: Any, name: str) -> Any:
        return pandas.Index(self.labels, name=name)

    def indices(self, values: Any, *, indices: bool = False) -> NDArray[np.intp]:
        """Return the indices of values given as labels or as indices.

        Parameters
        ----------
        values : label, int, or one-dimensional array of either
            Labels, which may be integers; with `indices` true the indices themselves. A pandas
            categorical holds labels, never indices.
        indices : bool, optional
            Whether the values are indices. By default integers are labels, and are refused where
            the labels are strings: codes such as 0 and 1 need not be in the order of the labels.

        Returns
        -------
        ndarray of int
            Of the shape of `values`, () or (n,).
        """
        return self._indices(values, "values", indices)

    def _indices(
        self, values: Any, name: str, indices: bool, secret: bool = False
    ) -> NDArray[np.intp]:
        """Return the indices of values that an error calls by this name.

        If they are secret, no error shows them, nor holds them in its context.
        """
        by_index = checks.flag(indices, "indices")
        offer = "; if they are indices, pass indices=True"
        return self._found(checks.in_python(values), name, by_index, secret, offer)

    def _of_labels(self, values: Any, name: str, secret: bool = False) -> NDArray[np.intp]:
        """Return the indices of labels where indices cannot be given, and no error offers it."""
        return self._found(checks.in_python(values), name, False, secret, offer="")

    def _found(
        self, values: Any, name: str, by_index: bool, secret: bool, offer: str
    ) -> NDArray[np.intp]:
        array = checks.as_array(values, name)
        if array.ndim > 1:
            found = checks.found(values, array)
            raise ValueError(
                f"{name} must be one value or one-dimensional{self._instead}, "
                f"got shape {array.shape}, {found}"
            )
        if array.size == 0:
            return np.empty(0, dtype=np.intp)
        integers = array.dtype.kind in "iu"
        takes_text = self._label_type is str and not by_index
        wanted = "labels, which are strings here" if takes_text else "integers, as the labels are"
        if by_index:
            wanted = "integers with indices=True"
        categories = getattr(getattr(values, "dtype", None), "categories", None)
        if categories is not None and integers and (takes_text or by_index):
            raise TypeError(f"{name} must be {wanted}, got categories that are integers")
        if integers and not takes_text:
            if by_index or isinstance(self.labels, range):
                return self._within(array, name, secret)
            return self._look_up(array.ravel().tolist(), name, secret).reshape(array.shape)
        given = [values] if isinstance(values, str) else values
        # An array of strings may have lost the zeros at their ends, which a list still has.
        each = given if isinstance(given, list | tuple) else array.ravel().tolist()
        if not takes_text or {type(value) for value in each} - {str, np.str_}:
            remedy = ""
            if takes_text and integers:
                remedy = offer
            elif not takes_text and array.dtype.kind == "f":
                remedy = "; .astype(int) makes whole numbers integers again"
            found = checks.found(given, array)
            raise TypeError(f"{name} must be {wanted}{self._instead}, got {found}{remedy}")
        return self._look_up(each, name, secret).reshape(array.shape)

    def _within(self, array: NDArray[Any], name: str, secret: bool) -> NDArray[np.intp]:
        outside = (array < 0) | (array >= self.size)
        if outside.any():
            if secret:
                raise ValueError(_not_shown(name, int(outside.sum()), array.size))
            raise ValueError(f"{name} must lie in 0..{self.size - 1}, got {array[outside][0]}")
        return array.astype(np.intp)

    def _look_up(self, values: Sequence[Label], name: str, secret: bool) -> NDArray[np.intp]:
        places = map(self._position.get, values, repeat(-1))
        indices = np.fromiter(places, dtype=np.intp, count=len(values))
        unknown = indices < 0
        if unknown.any():
            if secret:
                raise ValueError(_not_shown(name, int(unknown.sum()), len(values)))
            raise ValueError(self._unknown(values[int(unknown.argmax())], name))
        return indices

    def _unknown(self, label: object, name: str) -> str:
        """Say that this is not a label, and which label differs in case, blanks or stops only."""
        look = _without_trifles(str(label))
        near = (one for one in self.labels[:MOST_COMPARED] if _without_trifles(str(one)) == look)
        hint = "".join(f"; did you mean {one!r}?" for one in islice(near, 1))
        return f"{name}: {label!r} is not a label{hint}"

    def _index_of(self, label: object) -> int | None:
        """Return the index of a label, or None where it is not one."""
        if self._label_type is str:
            return self._position.get(label) if isinstance(label, str) else None
        if isinstance(label, bool) or not isinstance(label, int | np.integer):
            return None
        if isinstance(self.labels, range):
            return int(label) if 0 <= label < self.size else None
        return self._position.get(label)

    @property
    def _label_type(self) -> type:
        return type(self.labels[0])

    @property
    def _integers_are_labels(self) -> bool:
        return self._label_type is int

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def _content(self) -> tuple[Hashable, ...]:
        """Return what is equal if and only if two domains of a kind are."""
        return self.labels, self.sensitive.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        if self.size > MOST_LABELS_SHOWN:
            return f"Domain({self.size} values, {self.sensitive.size} sensitive)"
        values = self.size if isinstance(self.labels, range) else list(self.labels)
        return f"Domain({values}, sensitive={[self.labels[i] for i in self.sensitive]})"


class ProductDomain(Domain):
    """All combinations of several answers, such as age and drug; its values are called cells.

    The label of a cell is that of its factors, joined by a comma and a space; the last factor
    changes fastest. It is made by `Domain.product`.

    Parameters
    ----------
    factors : mapping of str to (int or sequence of str or sequence of int)
        The values of each factor by its name.
    sensitive : callable or iterable, optional
        Which cells are sensitive (see `Domain.product`).

    Attributes
    ----------
    factors : mapping of str to Domain
        The factors by their names, in order, as domains without sensitive values; read-only.
    """

    factors: Mapping[str, Domain]
    _instead: ClassVar[str] = " (its method cells takes the answers to each factor)"

    def __init__(
        self,
        factors: Mapping[str, int | Iterable[Label]],
        sensitive: Callable[..., bool] | Iterable[Label] = (),
    ) -> None:
        parts = _factors(factors)
        cells = [BETWEEN_LABELS.join(map(str, cell)) for cell in _cells(parts)]
        clash = _repeated(cells)
        if clash is not None:
            raise ValueError(f"factors must give each cell another label, got {clash!r} twice")
        if callable(sensitive):
            marked = (sensitive(**dict(zip(parts, cell, strict=True))) for cell in _cells(parts))
            sensitive = [i for i, mark in enumerate(marked) if checks.flag(mark, "sensitive(...)")]
            if not sensitive:
                raise ValueError(
                    f"sensitive must mark a cell, got a function that marks none of {len(cells)}: "
                    "compare the labels in it with those of the factors, or leave it out"
                )
        super().__init__(cells, sensitive)
        set_fields(self, factors=MappingProxyType(parts))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each factor; an array of this shape holds the cells in order."""
        return tuple(factor.size for factor in self.factors.values())

    def cells(self, /, *, indices: bool = False, **values: Any) -> NDArray[np.intp]:
        """Return the indices of cells from the answers to all factors.

        Parameters
        ----------
        indices : bool, optional
            Whether all values are indices (see `Domain.indices`).
        **values : label, int, or one-dimensional array of either
            The values of each factor by its name: of one user or of many.

        Returns
        -------
        ndarray of int
            Shape () or (n,).
        """
        if values.keys() != self.factors.keys():
            raise ValueError(f"values must be of {', '.join(self.factors)}, got {[*values]}")
        levels = [
            factor._indices(values[name], name, indices, secret=True)
            for name, factor in self.factors.items()
        ]
        if len({level.shape for level in levels} - {()}) > 1:
            lengths = ", ".join(str(level.shape) for level in levels)
            raise ValueError(f"values must hold one for each user, got shapes {lengths}")
        return np.asarray(np.ravel_multi_index(levels, self.shape), dtype=np.intp)

    def marginal(self, vector: PerValue, *names: str) -> NDArray[np.float64]:
        """Sum a vector over all factors except those named, as for a marginal distribution.

        Parameters
        ----------
        vector : (k,) array_like, or mapping or Series by label
            A number for each cell, such as an estimate.
        *names : str
            The factors that stay, in the order of the result's axes.

        Returns
        -------
        ndarray
            With an axis for each name, in the order of the values of the factor.
        """
        table = numbers_over(self, vector, "vector").reshape(self.shape)
        for name in names:
            checks.choice(name, "names", self.factors)
        if len(set(names)) < len(names):
            raise ValueError(f"names must not repeat, got {names!r}")
        every = [*self.factors]
        kept = [every.index(name) for name in names]
        others = [axis for axis in range(len(every)) if axis not in kept]
        rows = np.transpose(table, kept + others).reshape(*(self.shape[a] for a in kept), -1)
        sums: NDArray[np.float64] = rows.sum(axis=-1)
        return sums

    def weights(self, /, **levels: Any) -> NDArray[np.float64]:
        """Return the weight of each cell in a sum over cells, for `uldp.inference.total`.

        Weights 1 and 0 give the share of a group, as in ``weights(age="30+")``; scores as weights
        give the mean score, as in ``weights(age={"18-29": 24, "30+": 52})``.

        Parameters
        ----------
        **levels : label, collection of labels, or mapping or Series of label to float
            For each of some factors the values that count 1, or the weight of each value; others
            count 0. The weight of a cell is the product.

        Returns
        -------
        (k,) ndarray
        """
        unknown = levels.keys() - self.factors.keys()
        if unknown:
            raise ValueError(f"levels must be of {', '.join(self.factors)}, got {min(unknown)!r}")
        given = {name: _collected(weights) for name, weights in levels.items()}
        each = (
            _weights(factor, given[name], name) if name in given else np.ones(factor.size)
            for name, factor in self.factors.items()
        )
        return np.ravel(reduce(np.multiply.outer, each))

    def _index(self, pandas: Any, name: str) -> Any:
        levels = [factor.labels for factor in self.factors.values()]
        return pandas.MultiIndex.from_product(levels, names=[*self.factors])

    def _index_of(self, label: object) -> int | None:
        """Return the index of a cell by its label, or by a tuple of the labels of its factors."""
        if not isinstance(label, tuple):
            return super()._index_of(label)
        if len(label) != len(self.factors):
            return None
        cell = 0
        for factor, part in zip(self.factors.values(), label, strict=True):
            level = factor._index_of(part)
            if level is None:
                return None
            cell = cell * factor.size + level
        return cell

    def _content(self) -> tuple[Hashable, ...]:
        return *self.factors.items(), self.sensitive.tobytes()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it anew: a read-only mapping is not pickled."""
        labels = {name: factor.labels for name, factor in self.factors.items()}
        return ProductDomain, (labels, self.sensitive)

    def __repr__(self) -> str:
        factors = ", ".join(
            f"{name}={list(factor.labels) if factor.size <= MOST_LABELS_SHOWN else factor.size}"
            for name, factor in self.factors.items()
        )
        return f"ProductDomain({factors}, {self.sensitive.size} of {self.size} sensitive)"


def _factors(factors: Mapping[str, int | Iterable[Label]]) -> dict[str, Domain]:
    if not isinstance(factors, Mapping):
        raise TypeError(f"factors must be a mapping of names to values, got {factors!r}")
    if not factors:
        raise ValueError("factors must be one or more, got none")
    parts = {}
    for name, values in factors.items():
        checks.instance(name, "each name in factors", str)
        try:
            parts[name] = Domain(values)
        except (TypeError, ValueError) as error:
            raise type(error)(f"factors[{name!r}]: {error}") from None
    size = prod(factor.size for factor in parts.values())
    if size > MOST_VALUES:
        raise ValueError(f"factors must have at most {MOST_VALUES} cells, got {size}")
    return parts


def _cells(factors: Mapping[str, Domain]) -> Iterable[tuple[Label, ...]]:
    return product(*(factor.labels for factor in factors.values()))


def chosen_values(domain: Domain, values: Any, name: str = "values") -> NDArray[np.intp]:
    """Return the indices of chosen values, given as labels or, if labels are strings, as indices.

    Integers may be indices here because the argument selects values: it is not data, in which
    they could be codes.
    """
    kind = checks.as_array(values, name).dtype.kind
    if kind == "b":
        raise TypeError(f"{name} must be labels or indices, got a mask: pass what it marks")
    by_index = kind in "iu" and not domain._integers_are_labels
    return domain._indices(values, name, by_index)


def per_value(domain: Domain, values: Any, name: str, partial: bool = False) -> Any:
    """Return one number per value, in the order of the domain.

    A mapping or a pandas Series is matched by its labels; if it may be partial, missing labels
    count 0. Anything else is taken to be in order already and is returned as it is.
    """
    if not checks.has_labels(values):
        return values
    mapping = isinstance(values, Mapping)
    labels = list(values if mapping else _labels_of(domain, values, name))
    given = list(values.values()) if mapping else checks.as_array(values, name)
    numbers = checks.numbers(given, name, (-1,))
    places = []
    for label in labels:
        place = domain._index_of(label)
        if place is None:
            raise ValueError(domain._unknown(label, name))
        places.append(place)
    times = np.bincount(np.array(places, dtype=np.intp), minlength=domain.size)
    most = int(times.argmax())
    least = int(times.argmin())
    if times[most] > 1:
        repeated = domain.labels[most]
        raise ValueError(f"{name} must hold each label once, got {repeated!r} {times[most]} times")
    if times[least] == 0 and not partial:
        missing = domain.labels[least]
        raise ValueError(
            f"{name} must hold a number for each value, got none for {missing!r}; if it is 0, say "
            "so, as by .reindex(domain.labels, fill_value=0) of a Series"
        )
    ordered = np.zeros(domain.size, dtype=numbers.dtype)
    ordered[places] = numbers
    return ordered


def numbers_over(domain: Domain, values: PerValue, name: str) -> NDArray[np.float64]:
    """Return numbers, shape (k,), in the order of the domain's values."""
    return checks.numbers(per_value(domain, values, name), name, (domain.size,)).astype(float)


def _labels_of(domain: Domain, series: Any, name: str) -> Iterable[Any]:
    """Return the labels of a pandas Series; levels of its index that have names go by these."""
    names = list(getattr(series.index, "names", ()))
    if len(names) < 2 or not isinstance(domain, ProductDomain) or not any(names):
        return list(series.index)
    factors = [*domain.factors]
    if sorted(map(str, names)) != sorted(factors):
        raise ValueError(f"{name} must be indexed by {', '.join(factors)}, got {names}")
    order = [names.index(factor) for factor in factors]
    return [tuple(label[level] for level in order) for label in series.index]


def weights_of(domain: Domain, weights: Weights, name: str = "weights") -> NDArray[np.float64]:
    """Return one weight per value: as given, matched by label, or 1 for the members of a group."""
    given: Any = _collected(weights)
    if not _go_by_label(domain, weights, name):
        return checks.numbers(given, name, (domain.size,)).astype(float)
    if not len(given):
        raise ValueError(f"{name} must be of at least one value, got none")
    return _weights(domain, given, name)


def _go_by_label(domain: Domain, weights: Any, name: str) -> bool:
    """Tell a group, a mapping or a Series from weights in the order of the values.

    An array is a group if it holds strings or, where labels are integers, integers that are not k.
    """
    if checks.has_labels(weights) or isinstance(weights, str | Set | Iterator):
        return True
    array = checks.as_array(checks.in_python(weights), name)
    if array.ndim != 1 or array.size == 0:
        return False
    if array.dtype.kind in "iu":
        return domain._integers_are_labels and array.size != domain.size
    return isinstance(array[0], str)


def _weights(factor: Domain, levels: Any, name: str) -> NDArray[np.float64]:
    """Return the weight of each value of a factor, from what `_collected` returns."""
    if checks.has_labels(levels):
        return np.asarray(per_value(factor, levels, name, partial=True), dtype=float)
    weights = np.zeros(factor.size)
    labels = levels if isinstance(levels, list) else np.atleast_1d(levels)
    indices = factor._of_labels(labels, name)
    weights[checks.positions(indices, name, factor.size, factor.labels)] = 1
    return weights


def _collected(group: Any) -> Any:
    """Return a label, a set, a column of strings and what an iterator yields as a list."""
    if isinstance(group, str):
        return [group]
    is_column = checks.has_labels(group) and getattr(group, "ndim", 0) == 1
    strings = is_column and all(isinstance(value, str) for value in group)
    if strings or isinstance(group, Set | Iterator):
        return list(group)
    return checks.in_python(group) if isinstance(group, list | tuple) else group


def _labels(values: int | Iterable[Label]) -> Sequence[Label]:
    if isinstance(values, int | np.integer) and not isinstance(values, bool):
        if not 1 <= values <= MOST_VALUES:
            raise ValueError(f"values must be 1 to {MOST_VALUES} values, got {values}")
        return range(int(values))
    if isinstance(values, str | bytes | set | frozenset) or not isinstance(values, Iterable):
        raise TypeError(
            f"values must be a number of values or their labels in order, got {values!r}"
        )
    labels = tuple(checks.items(values, "values"))
    if not labels:
        raise ValueError("values must name at least one value, got none")
    if {type(label) for label in labels} not in ({str}, {int}):
        found = checks.found(labels, np.empty(len(labels), dtype=object))
        raise TypeError(
            f"values must be all strings or all integers, got {found}: name the others, as by str"
        )
    repeated = _repeated(labels)
    if repeated is not None:
        raise ValueError(f"values must not repeat a label, got {repeated!r} more than once")
    return range(len(labels)) if labels == tuple(range(len(labels))) else labels


def _repeated(labels: Sequence[Label]) -> Label | None:
    """Return a label that stands there twice, or None."""
    if len(set(labels)) == len(labels):
        return None
    return Counter(labels).most_common(1)[0][0]


def _without_trifles(label: str) -> str:
    return label.strip(BLANKS_AND_STOPS).casefold()


def _not_shown(name: str, wrong: int, size: int) -> str:
    return (
        f"{name} must be in the domain, but {wrong} of {size} are not; they are not shown "
        "here, as they may be answers"
    )
