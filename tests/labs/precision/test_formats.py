"""Formats against their published tables, bit pattern by bit pattern."""

from __future__ import annotations

import math

import numpy as np
import pytest

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
        if name == "e8m0":
            value = math.nan if top else 2.0 ** (e - bias)
        elif top and infinities:
            value = math.nan if m else math.inf
        elif top and nans and m == 2**mantissa - 1:  # E4M3: one NaN a sign, and no infinity
            value = math.nan
        elif e == 0:
            value = m * 2.0 ** (1 - bias - mantissa)
        else:
            value = (1 + m / 2**mantissa) * 2.0 ** (e - bias)
        values.append(math.copysign(value, -1 if sign else 1))
    return np.array(values)


def test_fields_are_those_of_the_standards():
    faults = {}
    for name, row in PUBLISHED.items():
        f = FORMATS[name]
        mine = (f.bits, f.exponent, f.mantissa, f.bias, f.largest, f.smallest_normal,
                f.smallest_subnormal, f.infinities, f.nans)  # fmt: skip
        if mine != row or f.eps != 2.0**-f.mantissa or f.name != name:
            faults[name] = mine
    assert faults == {} and list(FORMATS) == list(PUBLISHED)


def test_names_and_widths_are_those_of_the_counts():
    for name in ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"):
        assert FORMATS[name].bits == rl.dtype(name).precision_bits


def test_every_code_has_its_value_and_every_value_its_code():
    for name in SMALL:
        f, values = FORMATS[name], decoded(name)
        assert np.array_equal(f.codes(), values, equal_nan=True), name
        assert np.array_equal(np.signbit(f.codes())[values == 0], np.signbit(values)[values == 0])
        finite = values[np.isfinite(values)]
        smallest = finite[finite > 0].min()
        assert finite.max() == f.largest and smallest == f.smallest_subnormal
        assert np.isnan(values).any() == f.nans and np.isinf(values).any() == f.infinities
        codes = [
            code
            for code in range(0, 2**f.bits, 1 + f.bits // 16 * 36)
            if values[code] == values[code]
        ]
        assert [f.code(values[code]) for code in codes] == codes, name
        assert f.value(codes[-1]) == values[codes[-1]]


def test_fp4_e2m1_and_wide_formats_by_hand():
    assert FORMATS["fp4_e2m1"].codes().tolist()[:8] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    assert FORMATS["fp8_e4m3"].bits_of(0b00111100) == "0 0111 100"
    assert FORMATS["e8m0"].bits_of(127) == "01111111"
    assert FORMATS["tf32"].bits_of(FORMATS["tf32"].code(-1.5)) == "1 01111111 1000000000"
    for name in ("fp64", "fp32", "tf32"):
        f = FORMATS[name]
        assert f.value(f.code(1.5)) == 1.5 and f.value(1) == f.smallest_subnormal
        assert f.value(f.code(math.inf)) == math.inf and math.isnan(f.value(f.code(math.nan)))
    assert FORMATS["fp32"].code(1.0) == 0x3F800000


def test_spacing_is_the_distance_to_the_next_value():
    for name in SMALL:
        f = FORMATS[name]
        values = np.unique(f.codes()[np.isfinite(f.codes())])
        values = values[values >= 0]
        assert np.array_equal(f.spacing(values[:-1]), np.diff(values)), name
        middle = (values[:-1] + values[1:]) / 2
        assert np.array_equal(f.spacing(-middle), np.diff(values)), name
        assert f.spacing(1e300) == f.spacing(f.largest) and np.isnan(f.spacing(np.nan))
    assert FORMATS["bf16"].spacing(256.0) == 2  # where sums of numbers below 1 stall


def test_bad_input_is_named():
    e4m3 = FORMATS["fp8_e4m3"]
    for message, call in (
        ("code=256 must be", lambda: e4m3.value(256)),
        ("code=-1 must be", lambda: e4m3.bits_of(-1)),
        ("fp32 has 2\\*\\*32 codes", lambda: FORMATS["fp32"].codes()),
        ("format='bf15' is unknown", lambda: rl.precision.quantise([1.0], "bf15")),
        ("rounding='odd' is unknown", lambda: rl.precision.quantise([1.0], "bf16", rounding="odd")),
        ("seed=-1", lambda: rl.precision.quantise([1.0], "bf16", seed=-1)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    for x in (["a"], [1j], [True]):
        with pytest.raises(TypeError, match="x="):
            rl.precision.quantise(x, "bf16")
    with pytest.raises(TypeError, match="saturate=1"):
        rl.precision.quantise([1.0], "bf16", saturate=1)
