"""Validation of arguments: each function returns the canonical value or says what is wrong."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from io import BufferedReader
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SUM_TOLERANCE = 1e-9
NEARLY = 0.01
LARGEST_INTEGER = 2**63 - 1
LEAST_EPSILON = 1e-9
WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def real(value: object, name: str) -> float:
    """Return a finite float; booleans, strings and arrays are of the wrong type."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} must fit a float, got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def positive(value: object, name: str) -> float:
    """Return a finite float above zero."""
    number = real(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be greater than 0, got {value!r}")
    return number


def budget(value: object, name: str) -> float:
    """Return an ε above 0, not so small that e^ε - 1 is lost in the rounding of what is added."""
    number = positive(value, name)
    if number < LEAST_EPSILON:
        raise ValueError(f"{name} must be at least {LEAST_EPSILON:g}, got {value!r}")
    return number


def nonnegative(value: object, name: str, most: float = math.inf) -> float:
    """Return a finite float of zero or more, and of ``most`` at most."""
    number = real(value, name)
    if number < 0:
        raise ValueError(f"{name} must be 0 or greater, got {value!r}")
    if number > most:
        raise ValueError(f"{name} must be at most {most:g}, got {value!r}")
    return number


def open_unit(value: object, name: str) -> float:
    """Return a float strictly between 0 and 1."""
    number = real(value, name)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def whole(value: object, name: str, least: int, most: int = LARGEST_INTEGER) -> int:
    """Return an integer between two; a float is accepted when it is whole."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if not isinstance(value, Integral) and not float(value).is_integer():
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    number = int(value) if isinstance(value, Integral) else int(float(value))
    if number < least:
        raise ValueError(f"{name} must be {least} or greater, got {value!r}")
    if number > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}")
    return number


def flag(value: object, name: str) -> bool:
    """Return a truth value; numbers and strings are of the wrong type."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def choice(value: object, name: str, allowed: Collection[str]) -> None:
    """Refuse any value but the allowed strings."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def items(values: object, name: str) -> list[Any]:
    """Return the items of a collection, in Python's types; strings and mappings are refused."""
    if isinstance(values, Mapping):
        raise TypeError(f"{name} must be a collection, got a mapping: pass the keys that are meant")
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a collection, got {values!r}")
    collected = list(values)
    types = {type(value) for value in collected}
    foreign = any(issubclass(one, np.generic) or hasattr(one, "as_py") for one in types)
    return [in_python(value) for value in collected] if foreign else collected


def path(value: object, name: str) -> Path:
    """Return the path of a file, which need not exist."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {value!r}")
    return Path(value)


def regular_file(value: object, name: str) -> BufferedReader:
    """Open a regular file to read it; a pipe or a device is refused, not waited for."""
    file = path(value, name)
    descriptor = os.open(file, os.O_RDONLY | WITHOUT_WAITING)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{name} must be a regular file, got {os.fspath(file)!r}")
    return os.fdopen(descriptor, "rb")


def generator(seed: Any, name: str) -> np.random.Generator:
    """Return what `numpy.random.default_rng` makes of a seed."""
    if isinstance(seed, bool | np.bool_):
        raise TypeError(f"{name} must not be a truth value, got {seed!r}")
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} must be what numpy.random.default_rng takes, got {seed!r}: {error}"
        ) from None


def instance(value: object, name: str, kind: type) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {value!r}")


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return the values as an array; refuse nested lists of unequal lengths and masked arrays."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: choose what its masked values mean")
    try:
        return np.asarray(values)
    except MemoryError:
        raise
    except Exception:
        pass  # its text, which the context of an error would keep, may show an answer
    raise ValueError(f"{name} must be an array, got rows of unequal lengths or what is none")


def has_labels(values: Any) -> bool:
    """Tell a mapping or a pandas object, which is known by its index; lists have a method `index`.

    pandas need not be installed, and is not imported.
    """
    index = getattr(values, "index", None)
    return isinstance(values, Mapping) or not (index is None or callable(index))


def by_position(values: Any, name: str) -> None:
    """Refuse numbers with labels, such as a Series, where nothing says in what order these go."""
    if has_labels(values):
        raise TypeError(
            f"{name} must be in order and without labels here, got a {type(values).__name__}: "
            "put it in order, as by .reindex(domain.labels), and pass .to_numpy() of that"
        )


def found(values: Any, array: NDArray[Any]) -> str:
    """Say what an array of values holds without showing any: how many are missing, or the type."""
    kind = str(array.dtype)
    lost = int(np.isnan(array).sum()) if array.dtype.kind in "fcmM" else 0
    if array.dtype.kind in "OUSTV":  # the type of fixed strings would tell their length
        flat = isinstance(values, list | tuple) and array.ndim == 1
        each = values if flat else array.ravel().tolist()
        types = {type(value) for value in each}
        kind = ", ".join(sorted(one.__name__ for one in types))
        types -= {str, int, bool}
        lost = sum(_is_missing(value) for value in each if type(value) in types)
    return f"{lost} missing of {array.size}" if lost else f"values of type {kind}"


def integers(values: Any, name: str) -> NDArray[Any]:
    """Return an array of integers of any type and shape, or an empty one."""
    array = as_array(values, name)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got {found(values, array)}")
    return array


def numbers(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of finite real numbers of the given shape (-1 stands for any length)."""
    by_position(values, name)
    array = as_array(values, name)
    if array.size and array.dtype.kind not in "iuf":
        if array.dtype.kind != "O":
            raise TypeError(f"{name} must hold real numbers, got {found(values, array)}")
        array = np.array([real(v, name) for v in array.flat]).reshape(array.shape)
    if array.ndim != len(shape) or any(
        wanted not in (-1, size) for wanted, size in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(f"{name} must have shape {_shown(shape)}, got {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


def distribution(values: ArrayLike, name: str, size: int) -> NDArray[np.float64]:
    """Return a (size,) probability vector: non-negative entries that sum to 1 (within 1e-9)."""
    array = numbers(values, name, (size,)).astype(float)
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative, got {array.min()} at {array.argmin()}")
    with np.errstate(over="ignore"):
        total = array.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise ValueError(f"{name} must sum to 1, got {total}{_if_rounded(total)}")
    return array


def counts(values: ArrayLike, name: str, *shape: int) -> NDArray[np.int64]:
    """Return an array of the given shape that holds whole numbers of zero or more."""
    array = numbers(values, name, shape)
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative, got {array.min()} at {array.argmin()}")
    if array.dtype.kind == "f" and (array % 1 != 0).any():
        raise ValueError(f"{name} must be whole numbers, got {array[array % 1 != 0][0]}")
    with np.errstate(over="ignore"):
        is_near = array.sum(dtype=float) > LARGEST_INTEGER / 2
    if is_near:
        total = sum(map(int, array.ravel().tolist()))
        if total > LARGEST_INTEGER:
            raise ValueError(f"{name} must sum to at most {LARGEST_INTEGER}, got {total}")
    return array.astype(np.int64)


def stochastic(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return a matrix whose rows are probability vectors, of floats or, if all are, of fractions.

    Rows of fractions must sum to 1 exactly.
    """
    by_position(values, name)
    array = as_array(values, name)
    exact = array.dtype == object and all(isinstance(v, Rational) for v in array.flat)
    matrix = _fractions(array) if exact else numbers(array, name, (-1, -1)).astype(float)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"{name} must have at least one row and one column, got {matrix.shape}")
    if (matrix < 0).any():
        raise ValueError(f"{name} must not be negative, got {matrix.min()}")
    with np.errstate(over="ignore"):
        sums = matrix.sum(axis=1)
    worst = np.abs(sums - 1).argmax()
    if abs(sums[worst] - 1) > (0 if exact else SUM_TOLERANCE):
        hint = _if_rounded(sums[worst])
        raise ValueError(
            f"each row of {name} must sum to 1, got {sums[worst]} in row {worst}{hint}"
        )
    return matrix


def mask(values: ArrayLike, name: str, size: int) -> NDArray[np.bool_]:
    """Return a (size,) mask, given as one or as positions."""
    array = as_array(values, name)
    if array.dtype != np.bool_:
        chosen = np.zeros(size, dtype=np.bool_)
        chosen[positions(array, name, size)] = True
        return chosen
    if array.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), got {array.shape}")
    return array.copy()


def positions(
    values: ArrayLike, name: str, size: int, labels: Sequence[Any] | None = None
) -> NDArray[np.intp]:
    """Return distinct positions in ``range(size)``, increasing; an error shows a label."""
    array = integers(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.min() < 0 or array.max() >= size:
        wrong = array[(array < 0) | (array >= size)][0]
        raise ValueError(f"{name} must lie in 0..{size - 1}, got {wrong}")
    unique, times = np.unique(array, return_counts=True)
    if unique.size < array.size:
        place = unique[times > 1][0]
        repeated = place if labels is None else repr(labels[place])
        raise ValueError(f"{name} must not repeat a value, got {repeated} more than once")
    return unique.astype(np.intp)


def in_python(value: Any) -> Any:
    """Return a scalar of NumPy or Arrow, or a list of these, as Python's, others as they are."""
    if isinstance(value, list | tuple) and value and hasattr(value[0], "as_py"):
        return [one.as_py() for one in value]
    if isinstance(value, np.str_):
        return "".join(value)  # as item() loses zeros at the end
    if isinstance(value, np.generic):
        return value.item()
    return value.as_py() if hasattr(value, "as_py") else value


def _is_missing(value: Any) -> bool:
    """Tell None, NaN and the missing values of pandas, which is not imported, also in a tuple."""
    if isinstance(value, tuple):
        return any(map(_is_missing, value))
    is_nan = isinstance(value, float | np.floating) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _if_rounded(total: Any) -> str:
    """Return what to do about a sum that is 1 but for rounding, as of 32-bit floats."""
    near = abs(total - 1) < NEARLY
    return "; if that is rounding, divide them, as 64-bit floats, by their sum" if near else ""


def _fractions(array: NDArray[Any]) -> NDArray[Any]:
    """Turn an array of nothing but rational numbers into one of `Fraction`."""
    exact = [Fraction(int(v.numerator), int(v.denominator)) for v in array.flat]
    return np.array(exact, dtype=object).reshape(array.shape)


def _shown(shape: tuple[int, ...]) -> str:
    return str(tuple("any" if size == -1 else size for size in shape)).replace("'", "")
