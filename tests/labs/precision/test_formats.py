"""Formats against their published tables, bit pattern by bit pattern."""

from __future__ import annotations

import math

import numpy as np

import rooflab as rl

FORMATS = rl.precision.formats()
#: bits, exponent, mantissa, bias, largest, smallest normal, smallest subnormal, infinities, NaN.
#: IEEE 754; NVIDIA's TF32; OCP "8-bit Floating Point" (OFP8) and "Microscaling Formats" (MX) v1.0.
PUBLISHED = {
    "fp64": (64, 11, 52, 1023, 1.7976931348623157e308, 2.0**-1022, 2.0**-1074, True, True),
    "fp32": (32, 8, 23, 127, (2 - 2**-23) * 2.0**127, 2.0**-126, 2.0**-149, True, True),
    "tf32": (19, 8, 10, 127, (2 - 2**-10) * 2.0**127, 2.0**-126, 2.0**-136, True, True),
    "fp16": (16, 5, 10, 15, 65504.0, 2.0**-14, 2.0**-24, True, True),
    "bf16": (16, 8, 7, 127, (2 - 2**-7) * 2.0**127, 2.0**-126, 2.0**-133, True, True),
    "fp8_e4m3": (8, 4, 3, 7, 448.0, 2.0**-6, 2.0**-9, False, True),
    "fp8_e5m2": (8, 5, 2, 15, 57344.0, 2.0**-14, 2.0**-16, True, True),
    "fp6_e2m3": (6, 2, 3, 1, 7.5, 1.0, 0.125, False, False),
    "fp6_e3m2": (6, 3, 2, 3, 28.0, 0.25, 0.0625, False, False),
    "fp4_e2m1": (4, 2, 1, 1, 6.0, 1.0, 0.5, False, False),
    "e8m0": (8, 8, 0, 127, 2.0**127, 2.0**-127, 2.0**-127, False, True),
}
SMALL = [name for name, row in PUBLISHED.items() if row[0] <= 16]


def decoded(name: str) -> np.ndarray:
    """Every bit pattern as the standards read it, in integers and powers of two."""
    bits, exponent, mantissa, bias, _, _, _, infinities, nans = PUBLISHED[name]
    values = []
    for code in range(2**bits):
        sign, e = code >> (exponent + mantissa), (code >> mantissa) % 2**exponent
        m, top = code % 2**mantissa, e == 2**exponent - 1
        if top and nans and (infinities or m == 2**mantissa - 1):  # E4M3: one NaN a sign
            value = math.inf if infinities and not m else math.nan
        elif e == 0 and name != "e8m0":
            value = m * 2.0 ** (1 - bias - mantissa)
        else:
            value = (1 + m / 2**mantissa) * 2.0 ** (e - bias)
        values.append(math.copysign(value, -1 if sign else 1))
    return np.array(values)


def test_fields_are_those_of_the_standards():
    faults = {}
    for name, row in PUBLISHED.items():
        f = FORMATS[name]
        fields = (f.bits, f.exponent, f.mantissa, f.bias, f.largest, f.smallest_normal,
                  f.smallest_subnormal, f.infinities, f.nans)  # fmt: skip
        if fields != row or f.eps != 2.0**-f.mantissa or f.name != name:
            faults[name] = fields
    assert faults == {} and list(FORMATS) == list(PUBLISHED)


def test_every_code_has_its_value_and_every_value_its_code():
    for name in SMALL:
        f, values = FORMATS[name], decoded(name)
        assert np.array_equal(f.codes(), values, equal_nan=True), name
        assert np.array_equal(np.signbit(f.codes())[values == 0], np.signbit(values)[values == 0])
        codes = [
            code for code in range(0, 2**f.bits, 2 ** max(0, f.bits - 8)) if values[code] < 9e9
        ]
        assert [f.code(values[code]) for code in codes] == codes, name
        assert f.value(codes[-1]) == values[codes[-1]]
        positive = np.unique(values[np.isfinite(values) & (values >= 0)])
        gaps = np.diff(positive)
        middle = (positive[:-1] + positive[1:]) / 2
        assert np.array_equal(f.spacing(positive[:-1]), gaps), name
        assert np.array_equal(f.spacing(-middle), gaps), name
        assert f.spacing(1e300) == f.spacing(f.largest) and np.isnan(f.spacing(np.nan))


def test_patterns_by_hand():
    assert FORMATS["fp8_e4m3"].bits_of(0b00111100) == "0 0111 100"
    assert FORMATS["e8m0"].bits_of(127) == "01111111"
    assert FORMATS["tf32"].bits_of(FORMATS["tf32"].code(-1.5)) == "1 01111111 1000000000"
    for name in ("fp64", "fp32", "tf32"):
        f = FORMATS[name]
        assert f.value(f.code(1.5)) == 1.5 and f.value(1) == f.smallest_subnormal
        assert f.value(f.code(math.inf)) == math.inf and math.isnan(f.value(f.code(math.nan)))
    assert FORMATS["fp32"].code(1.0) == 0x3F800000
