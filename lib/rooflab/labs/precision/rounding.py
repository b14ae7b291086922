"""Rounding to a format, five ways, and sums that round after each addition."""

from __future__ import annotations

import functools
from reprlib import repr as short

import numpy as np
from numpy.typing import ArrayLike

from rooflab.count.validation import flag, size, unknown
from rooflab.labs.precision.formats import TF32_DROPPED, Format, FormatLike, as_format

ROUNDINGS = ("nearest", "zero", "up", "down", "stochastic")


def quantise(
    x: ArrayLike,
    format: FormatLike,
    *,
    rounding: str = "nearest",
    seed: int = 0,
    saturate: bool = False,
) -> np.ndarray:
    """Round every value of ``x`` to one that the format has.

    Parameters
    ----------
    x : array_like
        Values of any shape. Those of float64 are rounded once, not by way of fp32.
    format : str or Format
        Such as "bf16", see :func:`formats`.
    rounding : {"nearest", "zero", "up", "down", "stochastic"}, default "nearest"
        Nearest with ties to even; toward zero, infinity or minus infinity; or one of the two
        neighbours at random, the nearer one the likelier, so that the expectation is ``x``.
    seed : int, default 0
        Of the random numbers.
    saturate : bool, default False
        Whether what is too large becomes the largest value. By default it becomes infinite, or NaN
        in e4m3 and e8m0, which have no infinity; fp6 and fp4, which have neither, always saturate,
        and make a zero of NaN, as ml_dtypes does.

    Returns
    -------
    ndarray
        Of the shape of ``x``, as float32, or float64 if ``x`` is float64.

    Examples
    --------
    >>> rl.precision.quantise([0.3, 460.0, 500.0], "fp8_e4m3")
    array([3.125e-01, 4.480e+02,       nan])
    >>> rl.precision.quantise([0.3, 500.0], "fp8_e4m3", rounding="zero", saturate=True)
    array([2.8125e-01, 4.4800e+02])
    """
    kind, values = as_format("format", format), floats("x", x)
    generator = np.random.default_rng(size("seed", seed, 0))
    if flag("saturate", saturate) and kind.name != "fp64":
        values = np.clip(values, -kind.largest, kind.largest, dtype=values.dtype)
    return rounded(values, kind, as_rounding(rounding), generator)


def running_sum(
    values: ArrayLike, format: FormatLike, rounding: str = "nearest", seed: int = 0
) -> np.ndarray:
    """Add values one after the other along the last axis, rounding the sum each time.

    Parameters
    ----------
    values : array_like
        What is added, as it is: only the sum is rounded.
    format : str or Format
        The format of the sum.
    rounding : {"nearest", "zero", "up", "down", "stochastic"}, default "nearest"
        As in :func:`quantise`.
    seed : int, default 0
        Of the random numbers.

    Returns
    -------
    ndarray
        The sum after each addition, of the shape of ``values``.

    Examples
    --------
    >>> rl.precision.running_sum([0.75] * 1000, "bf16")[-1]  # 256 + 0.75 is 256 again
    np.float64(256.0)
    """
    kind, rounding = as_format("format", format), as_rounding(rounding)
    terms = floats("values", values)
    if not terms.ndim:
        raise ValueError(f"values={short(values)} must be a sequence of numbers")
    generator = np.random.default_rng(size("seed", seed, 0))
    sums = np.empty(terms.shape)
    total = np.zeros(terms.shape[:-1])
    for i in range(terms.shape[-1]):
        total = rounded(total + terms[..., i], kind, rounding, generator)
        sums[..., i] = total
    return sums if kind.name == "fp64" else sums.astype(terms.dtype)


def floats(argument: str, value: ArrayLike) -> np.ndarray:
    """Return ``value`` as an array of float32, or of float64 if it has more bits than that."""
    array = np.asarray(value)
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind not in "fiuV":  # ml_dtypes' own are V
        raise TypeError(f"{argument}={short(value)} must be an array of real numbers")
    return array.astype(np.float32 if array.dtype.itemsize <= 2 else np.float64)


def as_rounding(value: object) -> str:
    """Return ``value`` if it is the name of a rounding."""
    if value not in ROUNDINGS:
        raise unknown("rounding", value, ROUNDINGS)
    return str(value)


def rounded(
    values: np.ndarray, kind: Format, rounding: str, generator: np.random.Generator
) -> np.ndarray:
    """Return float32 or float64 ``values`` in the format, in their own type; nothing is checked."""
    values = np.asarray(values)
    if kind.name == "fp64" or (kind.name == "fp32" and values.dtype == np.float32):
        return values.copy()
    if rounding != "nearest":
        return _by_steps(values, kind, rounding, generator)
    if kind.name == "tf32" and values.dtype == np.float32:
        return np.where(np.isnan(values), values, _without_bits(values, TF32_DROPPED))
    if values.dtype == np.float32 or kind.name in ("fp32", "fp16"):
        with np.errstate(over="ignore"):
            return _widened(values.astype(kind.array_type), kind).astype(values.dtype, copy=False)
    if not kind.signed:
        return _by_steps(values, kind, rounding, generator)
    # ml_dtypes would round float64 twice, by way of fp32
    result = np.array(_without_bits(values, 52 - kind.mantissa))
    magnitude = np.abs(result)
    irregular = ~((magnitude >= kind.smallest_normal) & (magnitude <= kind.largest))
    irregular &= values != 0
    if irregular.any():
        result[irregular] = _by_steps(values[irregular], kind, rounding, generator)
    return result


def _without_bits(values: np.ndarray, dropped: int) -> np.ndarray:
    """Round the last ``dropped`` bits of the mantissa away, ties to even, by integer arithmetic."""
    words = values.view(f"u{values.dtype.itemsize}")
    last = (words >> dropped) & 1
    up = words + (last + ((1 << (dropped - 1)) - 1))
    return (up >> dropped << dropped).view(values.dtype)


def _widened(values: np.ndarray, kind: Format) -> np.ndarray:
    """Return the format's own array as float32, faster than by astype."""
    if kind.name == "bf16":  # the upper half of an fp32
        return np.left_shift(values.view(np.uint16), 16, dtype=np.uint32).view(np.float32)
    if kind.bits <= 8:
        return _table(kind).take(values.view(np.uint8))
    return values.astype(np.float32)


@functools.cache
def _table(kind: Format) -> np.ndarray:
    return kind.codes().astype(np.float32)


def _beyond(kind: Format) -> float:
    """Return what a value becomes that is too large."""
    if kind.infinities:
        return np.inf
    return np.nan if kind.nans else kind.largest


def _by_steps(
    values: np.ndarray, kind: Format, rounding: str, generator: np.random.Generator
) -> np.ndarray:
    """Round in units of the last place, in float64; infinities and NaN as the cast has them."""
    wide = values.astype(np.float64)
    fraction, exponent = np.frexp(np.abs(wide))
    place = np.maximum(exponent - 1, kind.lowest) - kind.mantissa
    steps = np.ldexp(fraction, exponent - place)
    below, negative = np.floor(steps), np.signbit(wide)
    away = np.full(wide.shape, rounding in ("nearest", "stochastic"))  # from zero, on overflow
    if rounding == "nearest":
        whole = np.rint(steps)
    elif rounding == "stochastic":
        whole = below + (generator.random(wide.shape) < steps - below)
    else:
        away = {"zero": away, "up": ~negative, "down": negative}[rounding]
        whole = np.where(away, np.ceil(steps), below)
    result = np.ldexp(whole, place)
    if not kind.signed:
        result = np.where(negative | (wide == 0), np.nan, np.maximum(result, kind.smallest_normal))
    beyond = np.where(away, _beyond(kind), kind.largest)
    result = np.where((result > kind.largest) & np.isfinite(wide), beyond, result)
    result = np.copysign(result, wide) if kind.signed else result
    finite = np.isfinite(wide)
    if not finite.all() and kind.name != "tf32":
        cast = np.where(finite, 1, wide).astype(kind.array_type)
        result = np.where(finite, result, cast.astype(np.float64))
    return result.astype(values.dtype)
