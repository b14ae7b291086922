"""Products: narrow accumulators, int8 slices; torchao's speed-ups, counted; bad input."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rooflab as rl

multiply, error = rl.precision.multiply, rl.precision.error
RANDOM = np.random.default_rng(2)
A, B = RANDOM.standard_normal((12, 512)), RANDOM.standard_normal((512, 10))


def off(name: str, **how) -> float:
    return error(multiply(A, B, name, **how), A @ B)


def test_fewer_bits_mean_more_error_and_blocks_help():
    errors = [off(name) for name in ("fp32", "tf32", "bf16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1")]
    assert errors == sorted(errors) and 1e-7 < errors[0] < 1e-6
    assert 2.0**-13 < errors[1] < 2.0**-11  # an input is off by up to 2**-11
    assert off("fp16") == pytest.approx(errors[1], rel=0.1)  # ten bits, as tf32 has
    assert off("nvfp4") < off("mxfp4") < off("fp4_e2m1") and off("int8") < 0.02
    assert error([3.0, 4.5], [3.0, 4.0]) == 0.1 and error([0.0], [0.0]) == 0
    assert error([1.0], [0.0]) == np.inf and np.isnan(error([np.nan], [1.0]))


def test_accumulating_in_narrow_formats_and_chunks():
    ones = np.ones((1, 4096)), np.ones((4096, 1))
    sums = {"fp32": 4096, "fp16": 2048, "bf16": 256, "fp8_e4m3": 16, "fp8_e5m2": 8}
    for name, wanted in sums.items():
        assert multiply(*ones, "bf16", accumulate=name)[0, 0] == wanted, name
    assert multiply(*ones, "bf16", accumulate="bf16", chunk=128)[0, 0] == 4096
    narrow, chunked = (off("fp8_e4m3", accumulate="bf16", chunk=c) for c in (None, 32))
    assert off("fp8_e4m3") < chunked < narrow
    assert multiply(A, B, "fp64", accumulate="fp64") == pytest.approx(A @ B, rel=1e-12)
    q, r = rl.precision.block_quantise(A, "int8"), rl.precision.block_quantise(B.T, "int8")
    wanted = (q.elements.astype(np.int32) @ r.elements.T.astype(np.int32)) * q.scales * r.scales.T
    assert multiply(A, B, "int8", accumulate="int32") == pytest.approx(wanted, rel=1e-6)
    long = np.ones((1, 140_000))  # 127² · 140,000 is beyond 2**31
    assert multiply(long, long.T, "int8", accumulate="int32")[0, 0] < 0


def test_slices_leave_nothing_out():
    """Exactly, in fractions: what is left after n slices is below one unit of the last."""
    for axis, x in ((-1, A[:3, :8] * 2.0 ** np.arange(8)), (0, B[:8, :3] * 1e-200)):
        for count in (1, 3, 10):
            parts, exponents = rl.precision.slices(x, count, axis=axis)
            powers = np.broadcast_to(exponents, x.shape)
            for index, value in np.ndenumerate(x):
                unit = Fraction(2) ** (int(powers[index]) - 7 * count)
                whole = sum(int(p[index]) * 128 ** (count - 1 - i) for i, p in enumerate(parts))
                rest = Fraction(value) - whole * unit
                assert abs(rest) < unit and (count < 10 or rest == 0)


def test_the_error_of_a_sliced_product_falls_slice_by_slice_to_that_of_fp64():
    a, b = A[:4], B[:, :4]
    exact = [[float(sum(map(Fraction.__mul__, map(Fraction, row), map(Fraction, column))))
              for column in b.T] for row in a]  # fmt: skip
    errors = [error(rl.precision.sliced_product(a, b, n), exact) for n in range(1, 10)]
    for before, after in zip(errors[:6], errors[1:7]):
        assert before / 400 < after < before / 40  # seven bits are 128
    assert errors[-1] < 1.5 * error(a @ b, exact) < 1e-15
    long = np.full((1, 2000), 127 / 128)  # beyond what fp32 adds exactly
    assert rl.precision.sliced_product(long, long.T, 1)[0, 0] == 2000 * (127 / 128) ** 2


def test_torchaos_expected_speed_ups_are_counted_and_never_reached():
    rows = rl.precision.published()
    assert [round(row.counted(), 2) for row in rows] == [row.expected for row in rows]
    assert len(rows) == 15 and all(row.observed < row.expected for row in rows)
    assert sum(row.observed < 1 for row in rows) == 5  # slower than bf16
    assert all("commit" in row.source and "BSD" in row.source for row in rows)
    h100 = rl.machine("h100-sxm")
    large = rl.precision.expected((65536,) * 3, "fp8_e4m3", h100)
    assert 1.97 < large < h100.peak("fp8") / h100.peak("bf16")
    assert rl.precision.expected((16,) * 3, "nvfp4", "b200") == 1  # two launches each


def test_bad_input_is_named():
    p = rl.precision
    for message, call in (
        ("code=256 must be", lambda: p.formats()["fp8_e4m3"].value(256)),
        ("format='bf15' is unknown", lambda: p.quantise([1.0], "bf15")),
        ("format='mxfp5' is unknown", lambda: p.block_quantise(A, "mxfp5")),
        ("group=16: mxfp4 has blocks", lambda: p.block_quantise(A, "mxfp4", group=16)),
        (r"a is \(12, 512\) and b \(12, 512\)", lambda: multiply(A, A, "bf16")),
        ("accumulate='int32' needs", lambda: multiply(A, B, "bf16", accumulate="int32")),
        ("bits=8 must be", lambda: p.slices(A, 2, 8)),
        ("b has 512 rows; give a's 10", lambda: p.sliced_product(B, B, 2)),
        ("peak=1.5 must be a share", lambda: p.expected((8, 8, 8), "mxfp4", "b200", peak=1.5)),
        ("mnk=.* three sizes", lambda: p.expected((8, 8), "mxfp4", "b200")),
    ):
        with pytest.raises(ValueError, match=message):
            call()
