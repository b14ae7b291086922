"""Products: narrow accumulators, int8 slices, DP4A; and torchao's speed-ups, counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl

multiply, error = rl.precision.multiply, rl.precision.error
RANDOM = np.random.default_rng(2)
A, B = RANDOM.standard_normal((12, 512)), RANDOM.standard_normal((512, 10))


def errors(formats: tuple[str, ...], **how) -> list[float]:
    return [error(multiply(A, B, name, **how), A @ B) for name in formats]


def test_fewer_bits_mean_more_error_and_blocks_help():
    by_width = ("fp64", "fp32", "tf32", "bf16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1")
    found = errors(by_width)
    assert found[1:] == sorted(found[1:]) and 1e-7 < found[1] < 1e-6
    assert errors(("fp16",))[0] == pytest.approx(found[2], rel=0.1)  # tf32's ten bits
    # an input is off by up to 2**-11, its root mean square √(1/3) of that times √2 for two
    assert 2.0**-13 < found[2] < 2.0**-11
    nvfp4, mxfp4, bare = errors(("nvfp4", "mxfp4", "fp4_e2m1"))
    assert nvfp4 < mxfp4 < bare


def test_accumulating_in_narrow_formats_and_chunks():
    ones = np.ones((1, 4096)), np.ones((4096, 1))
    sums = {"fp32": 4096, "fp16": 2048, "bf16": 256, "fp8_e4m3": 16, "fp8_e5m2": 8}
    for name, wanted in sums.items():
        assert multiply(*ones, "bf16", accumulate=name)[0, 0] == wanted, name
    assert multiply(*ones, "bf16", accumulate="bf16", chunk=128)[0, 0] == 4096
    (narrow,), (chunked,) = (errors(("fp8_e4m3",), accumulate="bf16", chunk=c) for c in (None, 32))
    assert errors(("fp8_e4m3",))[0] < chunked < narrow
    assert multiply(A, B, "fp64", accumulate="fp64") == pytest.approx(A @ B, rel=1e-12)
    assert multiply(A, B, "fp32").dtype == np.float32


def test_int8_in_int32_is_the_product_of_what_was_quantised():
    q, r = rl.precision.block_quantise(A, "int8"), rl.precision.block_quantise(B.T, "int8")
    wanted = (q.elements.astype(np.int32) @ r.elements.T.astype(np.int32)) * q.scales * r.scales.T
    assert multiply(A, B, "int8", accumulate="int32") == pytest.approx(wanted, rel=1e-6)
    assert error(multiply(A, B, "int8"), A @ B) < 0.02
    long = np.ones((1, 140_000))  # 127² · 140,000 is beyond 2**31
    assert multiply(long, long.T, "int8", accumulate="int32")[0, 0] < 0


def test_the_error_is_relative():
    assert error([3.0, 4.5], [3.0, 4.0]) == pytest.approx(0.1) and error([0.0], [0.0]) == 0
    assert error([1.0], [0.0]) == np.inf and np.isnan(error([np.nan], [1.0]))


def test_dp4a_by_hand_and_around():
    pack4, dp4a = rl.precision.pack4, rl.precision.dp4a
    assert pack4([[1, 2, 3, -1], [0, 0, 0, -128]]).tolist() == [[0xFF030201], [0x80000000]]
    assert dp4a(pack4([1, 2, 3, 4]), pack4([-1, 1, 1, -128]), 5) == [5 - 1 + 2 + 3 - 512]
    most = np.uint32(0x7F7F7F7F)
    assert dp4a(most, most, 2**31 - 1).tolist() == 4 * 127**2 - 2**31 - 1  # wraps around
    k = 2**31 // 127**2  # 133,144 products of 127 · 127 fit
    assert k == 133_144 and k * 127**2 < 2**31 <= (k + 1) * 127**2


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(-(2**31), 2**31 - 1))
def test_dp4a_is_its_definition(a, b, c):
    parts = [np.array([x], "<u4").view(np.int8).tolist() for x in (a, b)]
    total = c + sum(x * y for x, y in zip(*parts))
    assert rl.precision.dp4a(a, b, c) == (total + 2**31) % 2**32 - 2**31


def test_slices_leave_nothing_out():
    """Exactly, in fractions: what is left after n slices is below one unit of the last."""
    for axis, x in ((-1, A[:3, :8] * 2.0 ** np.arange(8)), (0, B[:8, :3] * 1e-200)):
        for count in (1, 3, 8):
            parts, exponents = rl.precision.slices(x, count, axis=axis)
            assert parts.dtype == np.int8 and np.abs(parts).max() <= 127
            powers = np.broadcast_to(exponents, x.shape)
            for index, value in np.ndenumerate(x):
                unit = Fraction(2) ** (int(powers[index]) - 7 * count)
                whole = sum(int(p[index]) * 128 ** (count - 1 - i) for i, p in enumerate(parts))
                assert abs(Fraction(value) - whole * unit) < unit
                assert count < 8 or axis or Fraction(value) == whole * unit or abs(value) < 1


def test_the_error_of_a_sliced_product_falls_slice_by_slice_to_that_of_fp64():
    exact = np.array([[float(sum(Fraction(x) * Fraction(y) for x, y in zip(row, column)))
                       for column in B.T[:4]] for row in A[:4]])  # fmt: skip
    found = [error(rl.precision.sliced_product(A[:4], B[:, :4], n), exact) for n in range(1, 10)]
    for before, after in zip(found[:6], found[1:7]):
        assert before / 400 < after < before / 40  # seven bits are 128
    assert found[-1] < error(A[:4] @ B[:, :4], exact) * 1.5 < 1e-15
    long = np.full((1, 2000), 127 / 128)  # beyond what fp32 adds exactly
    assert rl.precision.sliced_product(long, long.T, 1)[0, 0] == 2000 * (127 / 128) ** 2


def test_torchaos_expected_speed_ups_are_counted_and_seldom_reached():
    rows = rl.precision.published()
    off = {
        (r.format, r.static, r.mnk): r.counted()
        for r in rows
        if round(r.counted(), 2) != r.expected
    }
    assert len(rows) == 15 and off == {}
    assert all(row.observed < row.expected for row in rows)
    assert all(
        "BSD" in r.source and "commit" in r.source and "torchao" in r.conditions for r in rows
    )
    assert sum(row.observed < 1 for row in rows) == 5  # slower than bf16
    # with the bandwidth of a data sheet for all, a few of the larger ones are off by a hundredth
    assert max(abs(row.counted("b200") - row.expected) for row in rows) < 0.05


def test_limits_of_the_expected_speed_up():
    h100 = rl.machine("h100-sxm")
    large = rl.precision.expected((65536,) * 3, "fp8_e4m3", h100)
    assert 1.97 < large < h100.peak("fp8") / h100.peak("bf16")
    assert rl.precision.expected((16,) * 3, "nvfp4", "b200") == 1  # two launches each
    decode = rl.precision.expected((1, 16384, 16384), "mxfp8_e4m3", "b200")
    assert 1.8 < decode < 16 / 8.25  # bytes of the weights


def test_bad_input_is_named():
    p = rl.precision
    for message, call in (
        (r"a is \(12, 512\) and b \(12, 512\)", lambda: multiply(A, A, "bf16")),
        ("accumulate='int32' needs", lambda: multiply(A, B, "bf16", accumulate="int32")),
        ("accumulate='int8' is unknown", lambda: multiply(A, B, "int8", accumulate="int8")),
        ("chunk=0", lambda: multiply(A, B, "bf16", chunk=0)),
        ("must have one shape", lambda: error([1.0], [1.0, 2.0])),
        ("bytes=.* integers from -128", lambda: p.pack4([1, 2, 3, 128])),
        (r"bytes: shape \(3,\)", lambda: p.pack4([1, 2, 3])),
        ("a=-1 must be", lambda: p.dp4a(-1, 0, 0)),
        ("bits=8 must be", lambda: p.slices(A, 2, 8)),
        ("count=0", lambda: p.slices(A, 0)),
        ("x=.* finite", lambda: p.slices([[np.inf]], 2)),
        ("b has 512 rows; give a's 10", lambda: p.sliced_product(B, B, 2)),
        ("peak=1.5 must be a share", lambda: p.expected((8, 8, 8), "mxfp4", "b200", peak=1.5)),
        (r"mnk\[1\]=0", lambda: p.expected((8, 0, 8), "mxfp4", "b200")),
    ):
        with pytest.raises(ValueError, match=message):
            call()
