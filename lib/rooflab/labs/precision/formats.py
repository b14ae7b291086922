"""Floating-point formats bit by bit, and rounding to them.

IEEE 754 (fp64, fp32, fp16), NVIDIA's TF32, bfloat16, OCP's 8-bit formats (E4M3 without infinities,
E5M2) and Microscaling formats (E2M3, E3M2, E2M1, E8M0). All but tf32 are NumPy's or ml_dtypes'.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from reprlib import repr as short
from types import MappingProxyType
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike

from rooflab.count.validation import flag, size, unknown

TYPES = {
    "fp64": np.float64, "fp32": np.float32, "tf32": np.float32, "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16, "fp8_e4m3": ml_dtypes.float8_e4m3fn,
    "fp8_e5m2": ml_dtypes.float8_e5m2, "fp6_e2m3": ml_dtypes.float6_e2m3fn,
    "fp6_e3m2": ml_dtypes.float6_e3m2fn, "fp4_e2m1": ml_dtypes.float4_e2m1fn,
    "e8m0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
TF32_DROPPED = 13  # bits of the float32 in which a tf32 lies
ROUNDINGS = ("nearest", "zero", "up", "down", "stochastic")


@dataclass(frozen=True)
class Format:
    """A floating-point format, from :func:`formats`.

    ``exponent`` and ``mantissa`` are bits; ``bits`` are those of a value: 19 of the 32 in which a
    tf32 is stored. ``eps`` is 2**-mantissa. e8m0, a scale, has no sign, zero or subnormals.

    >>> e4m3 = rl.precision.formats()["fp8_e4m3"]
    >>> e4m3.largest, e4m3.bits_of(e4m3.code(1.5))
    (448.0, '0 0111 100')
    """

    name: str
    bits: int
    exponent: int
    mantissa: int
    bias: int
    largest: float
    smallest_normal: float
    smallest_subnormal: float
    eps: float
    infinities: bool
    nans: bool

    def codes(self) -> np.ndarray:
        """Return the value of every bit pattern, 0 to 2**bits - 1, as float64."""
        if self.bits > 16:
            raise ValueError(f"{self.name} has 2**{self.bits} codes; list those of 16 bits or less")
        return np.array(self.value(np.arange(2**self.bits)))

    @np.errstate(invalid="ignore")
    def value(self, code: Any) -> Any:
        """Return the value of a bit pattern, or of an array of them."""
        patterns, kind = np.asarray(code), np.dtype(TYPES[self.name])
        if patterns.dtype.kind not in "iu" or np.any((patterns < 0) | (patterns >> self.bits > 0)):
            raise ValueError(f"code={short(code)} must be an integer from 0 to 2**{self.bits} - 1")
        words = patterns.astype(f"u{kind.itemsize}") << (TF32_DROPPED * (self.name == "tf32"))
        return words.astype(f"u{kind.itemsize}").view(kind).astype(np.float64)[()]

    def code(self, value: float) -> int:
        """Return the bit pattern of the value that is nearest, ties to even."""
        narrow = quantise(np.float64(value), self).astype(TYPES[self.name])
        word = int(narrow.view(f"u{narrow.itemsize}"))
        return word >> TF32_DROPPED if self.name == "tf32" else word

    def spacing(self, x: Any) -> Any:
        """Return the distance from abs(x), a number or an array, to the next larger magnitude."""
        finite = np.clip(np.abs(np.asarray(x, np.float64)), self.smallest_normal, self.largest)
        exponent = np.frexp(finite)[1] - 1 - self.mantissa
        return np.where(np.isnan(finite), np.nan, np.ldexp(1.0, exponent))[()]

    def bits_of(self, code: int) -> str:
        """Return a bit pattern as its sign, exponent and mantissa."""
        self.value(code)  # refuses what is none
        digits, end = f"{code:0{self.bits}b}", self.bits - self.mantissa
        parts = (digits[: end - self.exponent], digits[end - self.exponent : end], digits[end:])
        return " ".join(filter(None, parts))


Kind: TypeAlias = str | Format  #: What names a format: itself or its name.


@functools.cache
def formats() -> Mapping[str, Format]:
    """Return the formats by name, fp64 to fp4_e2m1, and e8m0.

    Returns
    -------
    Mapping of str to Format

    Examples
    --------
    >>> rl.precision.formats()["fp4_e2m1"].codes()[:8]
    array([0. , 0.5, 1. , 1.5, 2. , 3. , 4. , 6. ])
    """
    rows = {}
    for name, kind in TYPES.items():
        info: Any = ml_dtypes.finfo(kind)  # type: ignore[no-untyped-call]
        bits, exponent, mantissa = int(info.bits), int(info.nexp), int(info.nmant)
        infinity, nan = np.array([np.inf, np.nan]).astype(kind).astype(float)
        rows[name] = Format(
            name, bits, exponent, mantissa, 2 ** (exponent - 1) - 1, float(info.max),
            float(info.smallest_normal), float(info.smallest_subnormal), float(info.eps),
            bool(np.isinf(infinity)), bool(np.isnan(nan)),
        )  # fmt: skip
    fp32, eps = rows["fp32"], rows["fp32"].eps * 2**TF32_DROPPED
    rows["tf32"] = replace(
        fp32, name="tf32", bits=fp32.bits - TF32_DROPPED, mantissa=fp32.mantissa - TF32_DROPPED,
        eps=eps, largest=2.0**127 * (2 - eps), smallest_subnormal=fp32.smallest_normal * eps,
    )  # fmt: skip
    return MappingProxyType(rows)


def quantise(
    x: ArrayLike, format: Kind, *, rounding: str = "nearest", seed: int = 0, saturate: bool = False
) -> np.ndarray:
    """Round every value of ``x`` to one that the format has.

    Parameters
    ----------
    x, format : array_like, str or Format
        Values of any shape, and one of :func:`formats`.
    rounding, seed : {"nearest", "zero", "up", "down", "stochastic"}, int
        Ties to even; toward zero or an infinity; or to a neighbour at random, with mean ``x``.
    saturate : bool
        Whether what is too large becomes the largest value, not infinite or, in e4m3 and e8m0, NaN.
        fp6 and fp4 always saturate, and make a zero of NaN, as ml_dtypes does.

    Returns
    -------
    ndarray of float32, or of float64 if ``x`` is, which is rounded once, not by way of fp32

    Examples
    --------
    >>> rl.precision.quantise([0.3, 460.0, 500.0], "fp8_e4m3")
    array([3.125e-01, 4.480e+02,       nan])
    """
    kind, values = as_format("format", format), floats("x", x)
    if flag("saturate", saturate):
        most = min(kind.largest, float(np.finfo(values.dtype).max))
        values = np.clip(values, -most, most)
    return rounded(values, kind, rounding, _chances(seed))


def running_sum(
    values: ArrayLike, format: Kind, rounding: str = "nearest", seed: int = 0
) -> np.ndarray:
    """Add values one after the other along the last axis, rounding the sum each time.

    Parameters
    ----------
    values, format, rounding, seed : array_like, str or Format, str, int
        As in :func:`quantise`; only the sum is rounded, after it was added in fp64.

    Returns
    -------
    ndarray of the sums after each addition

    Examples
    --------
    >>> rl.precision.running_sum([0.75] * 1000, "bf16")[-1]  # 256 + 0.75 is 256 again
    np.float64(256.0)
    """
    kind, terms = as_format("format", format), np.atleast_1d(floats("values", values))
    generator = _chances(seed)
    sums, total = np.empty(terms.shape), np.zeros(terms.shape[:-1])
    for i in range(terms.shape[-1]):
        total = sums[..., i] = rounded(total + terms[..., i], kind, rounding, generator)
    return sums if kind.name == "fp64" else sums.astype(terms.dtype)


def as_format(argument: str, value: object) -> Format:
    """Return ``value`` as a Format; ``argument`` is what an error calls it."""
    if isinstance(value, Format):
        return value
    if not isinstance(value, str) or value not in formats():
        raise unknown(argument, value, formats())
    return formats()[value]


def raised(exponent: int) -> str:
    """Write an exponent as it stands above the line: ``"⁻⁴"``."""
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _chances(seed: int) -> np.random.Generator:
    """Random numbers that are not those of ``default_rng(seed)``: values may come from there."""
    return np.random.default_rng([size("seed", seed, 0), 1])


def floats(argument: str, value: ArrayLike) -> np.ndarray:
    """Return ``value`` as an array of float32, or of float64 if it has more bits than that."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiuV":  # ml_dtypes' own are V
        raise TypeError(f"{argument}={short(value)} must be an array of real numbers")
    narrow = array.dtype == np.float32 or array.dtype.itemsize <= 2
    return array.astype(np.float32 if narrow else np.float64, copy=False)


@np.errstate(over="ignore", invalid="ignore")  # a signalling NaN is none of ours to report
def rounded(
    values: np.ndarray, kind: Format, rounding: str, generator: np.random.Generator
) -> np.ndarray:
    """Return float32 or float64 ``values`` in the format, in an array of their own type."""
    values = np.asarray(values)
    if rounding not in ROUNDINGS:
        raise unknown("rounding", rounding, ROUNDINGS)
    single = values.dtype == np.float32
    if kind.name == "fp64" or (kind.name == "fp32" and single):
        return values.copy()
    if rounding != "nearest" or kind.name == "e8m0":
        return _by_steps(values, kind, rounding, generator)
    if kind.name in ("fp32", "fp16") or (single and kind.name != "tf32"):
        narrow = np.asarray(values.astype(TYPES[kind.name]))
        if kind.bits <= 8:  # a table is faster than astype
            return kind.codes().astype(np.float32)[narrow.view(np.uint8)]
        return narrow.astype(values.dtype)
    # What is left would be rounded twice by ml_dtypes: integers round it, ties to even.
    dropped = (23 if single else 52) - kind.mantissa
    words = values.view(f"u{values.dtype.itemsize}")
    words = words + (((words >> dropped) & 1) + ((1 << (dropped - 1)) - 1))
    result = np.array(words >> dropped << dropped).view(values.dtype)
    regular = (np.abs(result) >= kind.smallest_normal) & (np.abs(result) <= kind.largest)
    odd = ~(regular | (values == 0))
    if odd.any():
        result[odd] = _by_steps(values[odd], kind, rounding, generator)
    return result


def _by_steps(
    values: np.ndarray, kind: Format, rounding: str, generator: np.random.Generator
) -> np.ndarray:
    """Round in units of the last place, in float64; infinities and NaN as the cast has them."""
    wide = values.astype(np.float64)
    fraction, exponent = np.frexp(np.abs(wide))
    place = np.frexp(kind.spacing(wide))[1] - 1
    steps = np.ldexp(fraction, exponent - place)
    below, up, finite = np.floor(steps), ~np.signbit(wide), np.isfinite(wide)
    away = {"zero": up & False, "up": up, "down": ~up}.get(rounding, finite)  # from zero
    whole = np.where(away, np.ceil(steps), below)
    if rounding == "nearest":
        whole = np.rint(steps)
    elif rounding == "stochastic":
        whole = below + (generator.random(wide.shape) < steps - below)
    result, most = np.ldexp(whole, place), kind.largest
    beyond = np.inf if kind.infinities else np.nan if kind.nans else most
    result = np.where(result > most, np.where(away, beyond, most), result)
    result = np.copysign(result, wide)
    if kind.name == "e8m0":
        result = np.where(wide > 0, np.maximum(result, kind.smallest_normal), np.nan)
    special = np.where(finite, 1, wide).astype(TYPES[kind.name]).astype(np.float64)
    return np.where(finite, result, special).astype(values.dtype)
