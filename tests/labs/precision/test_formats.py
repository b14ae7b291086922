"""Formats by their published tables; rounding as ml_dtypes does, directed, at random; sums."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.precision.formats import ROUNDINGS, TYPES

FORMATS, quantise = rl.precision.formats(), rl.precision.quantise
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
#: Signs and exponents, and mantissas about the middle of two tf32
TOPS = np.array([0, 1, 127, 253, 254, 255, 256, 257, 383, 510, 511], np.uint32) << 23
EDGES = TOPS[:, None] | np.uint32(
    [0, 1, 0xFFF, 0x1000, 0x1001, 0x3000, 0x7FEFFF, 0x7FF000, 0x7FFFFF]
)
names = st.sampled_from(sorted(FORMATS))
numbers = st.floats(allow_nan=False) | st.floats(-1000, 1000) | st.floats(width=32, allow_nan=False)


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
        codes = np.flatnonzero(values == values)[:: 2 ** max(0, f.bits - 8)].tolist()
        assert [f.code(values[code]) for code in codes] == codes, name
        positive = np.unique(values[np.isfinite(values) & (values >= 0)])
        gaps, middle = np.diff(positive), (positive[:-1] + positive[1:]) / 2
        for x in (positive[:-1], -middle):
            assert np.array_equal(f.spacing(x), gaps), name
        assert f.spacing(1e300) == f.spacing(f.largest) and np.isnan(f.spacing(np.nan))


def test_patterns_by_hand():
    assert FORMATS["fp8_e4m3"].bits_of(0b00111100) == "0 0111 100"
    assert FORMATS["e8m0"].bits_of(127) == "01111111"
    assert FORMATS["tf32"].bits_of(FORMATS["tf32"].code(-1.5)) == "1 01111111 1000000000"
    for f in (FORMATS["fp64"], FORMATS["fp32"], FORMATS["tf32"]):
        assert f.value(f.code(1.5)) == 1.5 and f.value(1) == f.smallest_subnormal
        assert f.value(f.code(math.inf)) == math.inf and math.isnan(f.value(f.code(math.nan)))


def patterns(count: int) -> np.ndarray:
    """Random bit patterns of fp32, NaN, infinities and subnormals among them, and all edges."""
    words = np.random.default_rng(7).integers(0, 2**32, count, dtype=np.uint32)
    return np.concatenate([words, EDGES.ravel()]).view(np.float32)


def tf32_oracle(x: np.ndarray) -> np.ndarray:
    """Round to nearest even on 13 dropped bits by comparing the remainder with its half."""
    words = x.view(np.uint32).astype(np.int64)
    top, rest = words >> 13, words & 0x1FFF
    top += (rest > 0x1000) | ((rest == 0x1000) & (top % 2 == 1))
    return np.where(np.isnan(x), words | 0x400000, top << 13).astype(np.uint32)  # NaN gets quiet


@np.errstate(over="ignore", invalid="ignore")
def test_nearest_is_the_cast_of_ml_dtypes_and_tf32_is_integer_arithmetic():
    x = patterns(100_000)
    assert np.array_equal(quantise(x, "tf32").view(np.uint32), tf32_oracle(x))
    for name in SMALL:
        cast, result = x.astype(TYPES[name]).astype(np.float32), quantise(x, name)
        if name == "e8m0":  # ml_dtypes rounds 1.2 · 2**-127, an fp32 subnormal, up to 2**-126
            cast = np.where((x > 2.0**-127) & (x < 2.0**-126), result, cast)
        assert np.array_equal(result, cast, equal_nan=True) and result.dtype == np.float32, name
        assert np.array_equal(np.signbit(result), np.signbit(cast)) or name == "e8m0", name
        # float64 is rounded another way, once: just above the middle, by way of fp32, all is lost
        assert np.array_equal(quantise(x.astype(np.float64), name), cast, equal_nan=True), name
        eps = FORMATS[name].eps
        assert quantise([1 + eps / 2 + 2.0**-50], name)[0] == 1 + eps, name


def test_too_large_is_infinite_or_nan_or_the_largest():
    x, inf, nan = np.float32([1e9, -1e9, np.inf, 464, 465]), np.inf, np.nan
    for name, wanted in (
        ("fp16", [inf, -inf, inf, 464, 465]), ("fp4_e2m1", [6, -6, 6, 6, 6]),
        ("fp8_e4m3", [nan, nan, nan, 448, nan]), ("fp8_e5m2", [inf, -inf, inf, 448, 448]),
    ):  # fmt: skip
        assert np.array_equal(quantise(x, name), wanted, equal_nan=True), name
    for name in SMALL:
        most = FORMATS[name].largest
        for rounding in ROUNDINGS:
            large = quantise([2 * most, np.inf], name, rounding=rounding, saturate=True)
            assert large.tolist() == [most, most], (name, rounding)
        assert quantise([2 * most], name, rounding="down")[0] == most


def test_special_values_come_through_every_rounding():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    for name, f in FORMATS.items():
        for values in (x, x.astype(np.float32)):
            nearest = quantise(values, name)
            for rounding in ROUNDINGS[1:]:
                result = quantise(values, name, rounding=rounding)
                assert np.array_equal(abs(result), abs(nearest), equal_nan=True), (name, rounding)
            if f.nans and name != "e8m0":
                assert np.isnan(nearest[0]) and np.signbit(nearest[4]) and not nearest[3:].any()
                assert f.infinities == np.isinf(nearest[1]) == np.isinf(nearest[2])
    assert np.isnan(quantise([0.0, -1.0, np.inf], "e8m0")).all()  # a scale has no sign and no zero


@given(names, numbers, numbers, st.sampled_from(ROUNDINGS))
def test_rounding_again_changes_nothing_and_order_is_kept(name, x, y, rounding):
    once = quantise(sorted((x, y)), name, rounding=rounding)
    assert np.array_equal(quantise(once, name, rounding=rounding, seed=1), once, equal_nan=True)
    assert once[0] <= once[1] or np.isnan(once).any() or rounding == "stochastic"


@given(names, numbers)
def test_nearest_is_within_half_a_spacing_and_directed_on_its_side(name, x):
    f = FORMATS[name]
    if abs(x) > f.largest or (name == "e8m0" and x < f.smallest_normal):
        return
    nearest, zero, up, down = (float(quantise([x], name, rounding=r)[0]) for r in ROUNDINGS[:4])
    gap = Fraction(float(f.spacing(x)))
    assert abs(Fraction(nearest) - Fraction(x)) <= gap / 2
    assert down <= x <= up and abs(zero) <= abs(x) and {nearest, zero} <= {up, down}
    assert Fraction(up) - Fraction(down) in (0, gap)


def test_stochastic_rounding_is_unbiased():
    """Of n draws, the share that goes up has the standard deviation √(p(1 − p)/n)."""
    count = 40_000
    for name, x in (("fp8_e4m3", 1.03), ("bf16", -1.0021), ("fp4_e2m1", 0.1), ("fp16", 3e-8)):
        down, up = (float(quantise([x], name, rounding=r)[0]) for r in ("down", "up"))
        drawn = quantise(np.full(count, x), name, rounding="stochastic", seed=3)
        assert set(drawn) == {down, up} and up - down == FORMATS[name].spacing(x)
        share = (x - down) / (up - down)
        assert abs(np.mean(drawn == up) - share) < 4 * math.sqrt(share * (1 - share) / count), name


def test_sums_in_bf16_stall_at_a_power_of_two():
    """README of ml_dtypes: 10,000 uniforms add up to 256 in bfloat16, though 5,000 is near."""
    x = np.random.default_rng(0).random(10_000)
    sums = rl.precision.running_sum(x.astype(ml_dtypes.bfloat16), "bf16")
    assert sums[-1] == 256 == sums.max() and FORMATS["bf16"].spacing(256.0) / 2 == 1
    drawn = rl.precision.running_sum(np.tile(x[:2000], (8, 1)), "bf16", "stochastic")
    assert abs(drawn[:, -1].mean() - x[:2000].sum()) < 0.05 * x[:2000].sum()
    assert np.array_equal(rl.precision.running_sum(x, "fp64"), np.cumsum(x))
