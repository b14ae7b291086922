"""Rounding: to the nearest as ml_dtypes does, directed, at random; and sums that stall."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl

FORMATS = rl.precision.formats()
quantise = rl.precision.quantise
TYPES = {
    "fp16": "float16", "bf16": "bfloat16", "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2",
    "fp6_e2m3": "float6_e2m3fn", "fp6_e3m2": "float6_e3m2fn", "fp4_e2m1": "float4_e2m1fn",
    "e8m0": "float8_e8m0fnu",
}  # fmt: skip
ROUNDINGS = ("nearest", "zero", "up", "down", "stochastic")
EDGES = np.array(
    [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000FFF, 0x00001000, 0x00001001,
     0x00003000, 0x007FFFFF, 0x00800000, 0x3F800000, 0x3F801000, 0x3F803000, 0x3F800FFF,
     0x3F801001, 0x7F7FEFFF, 0x7F7FF000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
     0x7F800001, 0x7FC00000, 0xFFFFFFFF, 0x7FFFFFFF], np.uint32,
).view(np.float32)  # fmt: skip
names = st.sampled_from(sorted(FORMATS))
numbers = st.floats(allow_nan=False) | st.floats(-1000, 1000) | st.floats(width=32, allow_nan=False)


def patterns(count: int) -> np.ndarray:
    """Random bit patterns of fp32, NaN, infinities and subnormals among them, and all edges."""
    words = np.random.default_rng(7).integers(0, 2**32, count, dtype=np.uint32)
    return np.concatenate([words.view(np.float32), EDGES])


def tf32_oracle(x: np.ndarray) -> np.ndarray:
    """Round to nearest even on 13 dropped bits by comparing the remainder with its half."""
    words = x.view(np.uint32).astype(np.int64)
    top, rest = words >> 13, words & 0x1FFF
    top += (rest > 0x1000) | ((rest == 0x1000) & (top % 2 == 1))
    return np.where(np.isnan(x), words | 0x400000, top << 13).astype(np.uint32)  # NaN gets quiet


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a), np.signbit(b))


@np.errstate(over="ignore", invalid="ignore")
def test_nearest_is_the_cast_of_ml_dtypes_and_tf32_is_integer_arithmetic():
    x = patterns(100_000)
    assert np.array_equal(quantise(x, "tf32").view(np.uint32), tf32_oracle(x))
    assert same(quantise(x.astype(np.float64), "tf32"), quantise(x, "tf32").astype(np.float64))
    for name, type_ in TYPES.items():
        kind = getattr(np, type_, None) or getattr(ml_dtypes, type_)
        cast, result = x.astype(kind).astype(np.float32), quantise(x, name)
        if name == "e8m0":  # ml_dtypes rounds 1.2 · 2**-127, an fp32 subnormal, up to 2**-126
            cast = np.where((x > 2.0**-127) & (x < 2.0**-126), result, cast)
        assert np.array_equal(result, cast, equal_nan=True) and result.dtype == np.float32, name
        assert np.array_equal(np.signbit(result), np.signbit(cast)) or name == "e8m0", name
        # by float64, which is rounded another way
        assert np.array_equal(quantise(x.astype(np.float64), name), cast, equal_nan=True), name


def test_float64_is_rounded_once():
    """Just above the middle of two values: by way of fp32 it becomes the middle, and is lost."""
    for name in ("bf16", "fp16", "fp8_e4m3", "tf32", "fp32"):
        eps = FORMATS[name].eps
        assert quantise([1 + eps / 2 + 2.0**-50], name)[0] == 1 + eps, name


def test_too_large_is_infinite_or_nan_or_the_largest():
    x = np.float32([1e9, -1e9, np.inf, 464, 465])
    for name, wanted in (
        ("fp16", [np.inf, -np.inf, np.inf, 464, 465]), ("fp4_e2m1", [6, -6, 6, 6, 6]),
        ("fp8_e4m3", [np.nan, np.nan, np.nan, 448, np.nan]),
        ("fp8_e5m2", [np.inf, -np.inf, np.inf, 448, 448]),
    ):  # fmt: skip
        assert np.array_equal(quantise(x, name), wanted, equal_nan=True), name
    for name in TYPES:
        most = FORMATS[name].largest
        for rounding in ROUNDINGS:
            large = quantise([2 * most, np.inf], name, rounding=rounding, saturate=True)
            assert large.tolist() == [most, most], (name, rounding)
        assert quantise([2 * most], name, rounding="down")[0] == most
        assert name == "e8m0" or quantise([-2 * most], name, rounding="up")[0] == -most


def test_special_values_come_through_every_rounding():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    for name, f in FORMATS.items():
        for values in (x, x.astype(np.float32)):
            nearest = quantise(values, name)
            for rounding in ROUNDINGS[1:]:
                result = quantise(values, name, rounding=rounding)
                assert same(np.abs(result), np.abs(nearest)), (name, rounding)
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
    x, total = np.random.default_rng(0).random(10_000), ml_dtypes.bfloat16(0)
    sums = rl.precision.running_sum(x, "bf16")
    assert sums[-1] == 256 == sums.max() and FORMATS["bf16"].spacing(256.0) / 2 == 1
    for value in x[:300].astype(ml_dtypes.bfloat16):
        total = total + value
    assert rl.precision.running_sum(x[:300].astype(ml_dtypes.bfloat16), "bf16")[-1] == total
    drawn = rl.precision.running_sum(np.tile(x[:2000], (8, 1)), "bf16", "stochastic")
    assert abs(drawn[:, -1].mean() - x[:2000].sum()) < 0.05 * x[:2000].sum()
    assert np.array_equal(rl.precision.running_sum(x, "fp64"), np.cumsum(x))
