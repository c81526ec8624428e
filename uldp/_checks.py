"""Validation of arguments: each function returns the canonical value or says what is wrong."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SUM_TOLERANCE = 1e-9


def real(value: object, name: str) -> float:
    """Return a finite float; booleans, strings and arrays are of the wrong type."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def positive(value: object, name: str) -> float:
    """Return a finite float above zero."""
    number = real(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be greater than 0, got {value!r}")
    return number


def nonnegative(value: object, name: str) -> float:
    """Return a finite float of zero or more."""
    number = real(value, name)
    if number < 0:
        raise ValueError(f"{name} must be 0 or greater, got {value!r}")
    return number


def open_unit(value: object, name: str) -> float:
    """Return a float strictly between 0 and 1."""
    number = real(value, name)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def whole(value: object, name: str, least: int) -> int:
    """Return an integer of at least ``least``; a float is accepted when it is whole."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if not isinstance(value, Integral) and not float(value).is_integer():
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    number = int(value) if isinstance(value, Integral) else int(float(value))
    if number < least:
        raise ValueError(f"{name} must be {least} or greater, got {value!r}")
    return number


def instance(value: object, name: str, kind: type) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {value!r}")


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return the values as an array; nested lists of unequal lengths are none."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array, got rows of unequal lengths") from None


def numbers(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of finite real numbers of the given shape (-1 stands for any length)."""
    array = as_array(values, name)
    if array.size and array.dtype.kind not in "iuf":
        if array.dtype.kind != "O" or not all(isinstance(v, Real) for v in array.flat):
            raise TypeError(f"{name} must hold real numbers, got an array of type {array.dtype}")
        array = array.astype(float)
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
    if abs(array.sum() - 1) > SUM_TOLERANCE:
        raise ValueError(f"{name} must sum to 1, got {array.sum()}")
    return array


def counts(values: ArrayLike, name: str, size: int) -> NDArray[np.int64]:
    """Return a (size,) vector of whole numbers of zero or more."""
    array = numbers(values, name, (size,))
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative, got {array.min()} at {array.argmin()}")
    if array.dtype.kind == "f" and (array % 1 != 0).any():
        raise ValueError(f"{name} must be whole numbers, got {array[array % 1 != 0][0]}")
    if (array > np.iinfo(np.int64).max // max(size, 1)).any():
        raise ValueError(f"{name} must fit 64-bit integers, got {array.max()}")
    return array.astype(np.int64)


def stochastic(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return a matrix whose rows are probability vectors, of floats or, if all are, of fractions.

    Rows of fractions must sum to 1 exactly.
    """
    matrix = _fractions(as_array(values, name))
    if matrix.dtype != object:
        matrix = numbers(matrix, name, (-1, -1)).astype(float)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"{name} must have at least one row and one column, got {matrix.shape}")
    if (matrix < 0).any():
        raise ValueError(f"{name} must not be negative, got {matrix.min()}")
    sums = matrix.sum(axis=1)
    worst = np.abs(sums - 1).argmax()
    if abs(sums[worst] - 1) > (0 if matrix.dtype == object else SUM_TOLERANCE):
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
    array = as_array(values, name)
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got an array of type {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.min() < 0 or array.max() >= size:
        wrong = array[(array < 0) | (array >= size)][0]
        raise ValueError(f"{name} must lie in 0..{size - 1}, got {wrong}")
    unique = np.unique(array).astype(np.intp)
    if unique.size < array.size:
        raise ValueError(f"{name} must not repeat a value, got {array.tolist()}")
    return unique


def _fractions(array: NDArray[Any]) -> NDArray[Any]:
    """Turn an array of nothing but rational numbers into one of `Fraction`."""
    if array.dtype != object or not all(isinstance(v, Rational) for v in array.flat):
        return array
    exact = [Fraction(int(v.numerator), int(v.denominator)) for v in array.flat]
    return np.array(exact, dtype=object).reshape(array.shape)


def _shown(shape: tuple[int, ...]) -> str:
    return str(tuple("any" if size == -1 else size for size in shape)).replace("'", "")
