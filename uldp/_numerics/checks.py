"""Validation of arguments: each function returns the canonical value or says what is wrong."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Collection, Iterable
from fractions import Fraction
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

SUM_TOLERANCE = 1e-9
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
    if number > LARGEST_INTEGER:
        raise ValueError(f"{name} must fit a 64-bit integer, got {value!r}")
    if number > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}")
    return number


def flag(value: object, name: str) -> bool:
    """Return a truth value; numbers and strings are of the wrong type."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def choice(value: object, name: str, allowed: Collection[str]) -> None:
    """Refuse what is not one of the allowed strings."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def items(values: object, name: str) -> list[Any]:
    """Return the items of a collection; strings and bytes do not count as collections."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a collection, got {values!r}")
    return list(values)


def path(value: object, name: str) -> Path:
    """Return the path of a file, which need not exist."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {value!r}")
    return Path(value)


def regular_file(value: object, name: str) -> BinaryIO:
    """Open a file to read it; what is none, such as a pipe or a device, is not waited for."""
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
    """Return the values as an array; nested lists of unequal lengths and masked arrays are none."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: choose what its masked values mean")
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array, got rows of unequal lengths") from None


def integers(values: Any, name: str) -> NDArray[Any]:
    """Return an array of integers of any type and shape, or an empty one."""
    array = as_array(values, name)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got an array of type {array.dtype}")
    return array


def numbers(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of finite real numbers of the given shape (-1 stands for any length)."""
    array = as_array(values, name)
    if array.size and array.dtype.kind not in "iuf":
        if array.dtype.kind != "O":
            raise TypeError(f"{name} must hold real numbers, got an array of type {array.dtype}")
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
        raise ValueError(f"{name} must sum to 1, got {total}")
    return array


def counts(values: ArrayLike, name: str, *shape: int) -> NDArray[np.int64]:
    """Return an array of the given shape that holds whole numbers of zero or more."""
    array = numbers(values, name, shape)
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative, got {array.min()} at {array.argmin()}")
    if array.dtype.kind == "f" and (array % 1 != 0).any():
        raise ValueError(f"{name} must be whole numbers, got {array[array % 1 != 0][0]}")
    if (array > np.iinfo(np.int64).max // max(array.size, 1)).any():
        raise ValueError(f"{name} must fit 64-bit integers, got {array.max()}")
    return array.astype(np.int64)


def stochastic(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return a matrix whose rows are probability vectors, of floats or, if all are, of fractions.

    Rows of fractions must sum to 1 exactly.
    """
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
        raise ValueError(f"each row of {name} must sum to 1, got {sums[worst]} in row {worst}")
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
    return array


def positions(values: ArrayLike, name: str, size: int) -> NDArray[np.intp]:
    """Return distinct positions in ``range(size)``, in increasing order."""
    array = integers(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.min() < 0 or array.max() >= size:
        wrong = array[(array < 0) | (array >= size)][0]
        raise ValueError(f"{name} must lie in 0..{size - 1}, got {wrong}")
    unique = np.unique(array).astype(np.intp)
    if unique.size < array.size:
        raise ValueError(f"{name} must not repeat a value, got {array.tolist()}")
    return unique


def _fractions(array: NDArray[Any]) -> NDArray[Any]:
    """Turn an array of nothing but rational numbers into one of `Fraction`."""
    exact = [Fraction(int(v.numerator), int(v.denominator)) for v in array.flat]
    return np.array(exact, dtype=object).reshape(array.shape)


def _shown(shape: tuple[int, ...]) -> str:
    return str(tuple("any" if size == -1 else size for size in shape)).replace("'", "")
