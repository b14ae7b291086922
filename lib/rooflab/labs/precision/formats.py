"""Floating-point formats bit by bit: fields, values, spacing.

IEEE 754 (fp64, fp32, fp16), NVIDIA's TF32, bfloat16, OCP's 8-bit formats (E4M3 without infinities,
E5M2) and the elements and scales of OCP's Microscaling formats (E2M3, E3M2, E2M1, E8M0). All but
tf32 are those of ml_dtypes and NumPy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from rooflab.count.dtypes import as_dtype
from rooflab.count.validation import size, unknown

TF32_DROPPED = 13  # mantissa bits of an fp32 that TF32 has not
_TYPES = {
    "fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16",
    "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2", "fp6_e2m3": "float6_e2m3fn",
    "fp6_e3m2": "float6_e3m2fn", "fp4_e2m1": "float4_e2m1fn", "e8m0": "float8_e8m0fnu",
}  # fmt: skip


@dataclass(frozen=True)
class Format:
    """A floating-point format, from :func:`formats`.

    ``exponent`` and ``mantissa`` are bits; ``bits`` are those that a value has: 19 of the 32 in
    which a tf32 is stored. ``eps`` is 2**-mantissa, the spacing at 1. e8m0, a scale, has neither
    sign nor zero nor subnormals.

    >>> rl.precision.formats()["fp8_e4m3"].largest
    448.0
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

    @property
    def signed(self) -> bool:
        """Whether there is a sign bit."""
        return self.bits > self.exponent + self.mantissa

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal value."""
        return math.frexp(self.smallest_normal)[1] - 1

    @property
    def highest(self) -> int:
        """The exponent of the largest value."""
        return math.frexp(self.largest)[1] - 1

    @property
    def array_type(self) -> Any:
        """NumPy's type that holds a value: its own, or float32 for tf32."""
        return _array_type(_TYPES.get(self.name, "float32"))

    def codes(self) -> np.ndarray:
        """Return the value of every bit pattern, 0 to 2**bits - 1, as float64.

        >>> rl.precision.formats()["fp4_e2m1"].codes()[:8]
        array([0. , 0.5, 1. , 1.5, 2. , 3. , 4. , 6. ])
        """
        if self.bits > 16:
            raise ValueError(f"{self.name} has 2**{self.bits} codes; list those of 16 bits or less")
        word = np.uint8 if self.bits <= 8 else np.uint16
        return np.arange(2**self.bits, dtype=word).view(self.array_type).astype(np.float64)

    def value(self, code: int) -> float:
        """Return the value of a bit pattern."""
        code = self._code(code)
        if self.name == "tf32":
            code <<= TF32_DROPPED
        kind = np.dtype(self.array_type)
        return float(np.array(code, f"u{kind.itemsize}").view(kind))

    def code(self, value: float) -> int:
        """Return the bit pattern of the value that is nearest, ties to even."""
        number = float(value)
        if math.isfinite(number):
            step = float(self.spacing(number))
            number = math.copysign(round(number / step) * step, number)  # -0 keeps its sign
            if not self.signed and 0 <= number < self.smallest_normal and value:
                number = self.smallest_normal  # there is no zero
        with np.errstate(over="ignore"):
            kind = np.dtype(self.array_type)
            code = int(np.array(number).astype(kind).view(f"u{kind.itemsize}"))
        return code >> TF32_DROPPED if self.name == "tf32" else code

    def spacing(self, x: Any) -> Any:
        """Return the distance from ``abs(x)`` to the next larger magnitude, for numbers or arrays.

        Beyond the largest value it is that of the largest.
        """
        finite = np.minimum(np.abs(np.asarray(x, np.float64)), self.largest)  # NaN stays NaN
        exponent = np.maximum(np.frexp(finite)[1] - 1, self.lowest)
        exponent = np.where(finite == 0, self.lowest, exponent)
        return np.where(np.isnan(finite), np.nan, np.ldexp(1.0, exponent - self.mantissa))[()]

    def bits_of(self, code: int) -> str:
        """Return a bit pattern as its sign, exponent and mantissa.

        >>> rl.precision.formats()["fp8_e4m3"].bits_of(0b00111100)
        '0 0111 100'
        """
        digits = f"{self._code(code):0{self.bits}b}"
        sign = self.bits - self.exponent - self.mantissa
        parts = (digits[:sign], digits[sign : sign + self.exponent], digits[sign + self.exponent :])
        return " ".join(part for part in parts if part)

    def _code(self, code: int) -> int:
        number = size("code", code, 0)
        if number >> self.bits:
            raise ValueError(f"code={number} must be below 2**{self.bits}, as {self.name} has bits")
        return number


#: What names a format: itself or its name.
FormatLike: TypeAlias = str | Format


@functools.cache
def formats() -> Mapping[str, Format]:
    """Return the formats by name, the widest first.

    Returns
    -------
    Mapping of str to Format
        fp64, fp32, tf32, fp16, bf16, fp8_e4m3, fp8_e5m2, fp6_e2m3, fp6_e3m2, fp4_e2m1 and e8m0.

    Examples
    --------
    >>> e5m2 = rl.precision.formats()["fp8_e5m2"]
    >>> e5m2.largest, e5m2.eps, e5m2.infinities
    (57344.0, 0.25, True)
    """
    rows = {name: _format(name) for name in _TYPES}
    fp32 = rows["fp32"]
    bits, mantissa = as_dtype("name", "tf32").precision_bits, fp32.mantissa - TF32_DROPPED
    tf32 = replace(
        fp32, name="tf32", bits=bits, mantissa=mantissa, eps=2.0**-mantissa,
        largest=math.ldexp(2 - 2.0**-mantissa, fp32.highest),
        smallest_subnormal=math.ldexp(1.0, fp32.lowest - mantissa),
    )  # fmt: skip
    order = ("fp64", "fp32", "tf32", *list(_TYPES)[2:])
    return MappingProxyType({name: {**rows, "tf32": tf32}[name] for name in order})


def as_format(argument: str, value: object) -> Format:
    """Return ``value`` as a Format; ``argument`` is what an error calls it."""
    if isinstance(value, Format):
        return value
    if not isinstance(value, str):
        raise TypeError(f"{argument}={value!r} must be the name of a format, such as 'bf16'")
    if value not in formats():
        raise unknown(argument, value, formats())
    return formats()[value]


@functools.cache
def _array_type(name: str) -> Any:
    import ml_dtypes  # of an extra, and needed only here

    return getattr(np, name, None) or getattr(ml_dtypes, name)


def _format(name: str) -> Format:
    from ml_dtypes import finfo

    kind = _array_type(_TYPES[name])
    info = finfo(kind)
    exponent, mantissa = int(info.nexp), int(info.nmant)
    subnormal = info.smallest_subnormal
    with np.errstate(all="ignore"):
        infinite, nan = (float(np.array(x).astype(kind)) for x in (np.inf, np.nan))
    return Format(
        name, int(info.bits), exponent, mantissa, 2 ** (exponent - 1) - 1, float(info.max),
        float(info.smallest_normal), float(subnormal), 2.0**-mantissa,
        math.isinf(infinite), math.isnan(nan),
    )  # fmt: skip
