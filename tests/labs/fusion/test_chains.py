"""Chains: published bytes, and three ways that agree on ordinary numbers and on the strangest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import rooflab as rl
from rooflab.labs.fusion.chains import DTYPES, WAYS

CHAINS = rl.fusion.chains()
NAMES = st.sampled_from(sorted(CHAINS))
#: Bytes an element of x in fp32, one after the other and fused, for large rows.
BYTES = {
    "sin_sqrt": (16, 8), "l2_norm": (20, 8), "softmax": (32, 8), "rms_norm": (28, 8),
    "bias_gelu": (92, 8), "max_pool": (9, 5),
}  # fmt: skip


def agree(one, other, x):
    """Equal to rounding, relative to the numbers that went in; NaN and infinities in one place."""
    eps = np.finfo(one.dtype).eps
    with np.errstate(all="ignore"):
        scale = np.abs(x[np.isfinite(x)]).max(initial=0)
    np.testing.assert_allclose(one, other, rtol=40 * eps, atol=16 * eps * min(scale, 1e3))


def test_the_bytes_are_those_of_the_field():
    for name, each in BYTES.items():
        for kind, width in (("fp32", 1), ("fp64", 2)):
            ledgers = [CHAINS[name].ledger(4096, 4096, kind, way=way) for way in WAYS]
            moved = [op.bytes / 4096**2 / width for op in ledgers]
            assert moved == pytest.approx([each[0], each[0], each[1]], rel=2e-3), name
            assert len({op.flops for op in ledgers}) == 1, "fusing changes no arithmetic"


def test_buffers_take_less_memory_than_temporaries_and_move_as_much():
    chain = CHAINS["bias_gelu"]
    new, there = (chain.ledger(1000, 1000, way=way) for way in WAYS[:2])
    assert new.bytes == there.bytes
    assert new.working_set == pytest.approx(11 * 4e6, rel=1e-3)
    assert there.working_set == pytest.approx(3 * 4e6, rel=1e-3)


def test_the_program_that_is_shown_is_the_one_that_runs():
    softmax = CHAINS["softmax"]
    assert softmax.source("temporaries").splitlines()[2:4] == [
        "    y = np.subtract(x, m)", "    y = np.exp(y)"
    ]  # fmt: skip
    assert "np.exp(y, out=y)" in softmax.source("buffers")
    assert "math.exp(row[j] - top)" in softmax.source("fused")
    names = {"np": np}
    exec(softmax.source("temporaries"), names)
    x = softmax.example(3, 50, "fp64")
    np.testing.assert_array_equal(names["softmax"](*x), softmax.run("temporaries", *x))


@settings(max_examples=60)
@given(NAMES, st.sampled_from(["fp32", "fp64"]), st.integers(1, 9), st.integers(1, 70))
def test_all_ways_agree(name, kind, rows, columns):
    if name == "max_pool":
        rows, columns = 2 * rows, 2 * columns
    inputs = CHAINS[name].example(rows, columns, kind)
    first, *others = (CHAINS[name].run(way, *inputs) for way in WAYS)
    assert first.dtype == inputs[0].dtype
    for other in others:
        agree(first, other, inputs[0])


STRANGE = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -7.25, 1e-30, np.inf, -np.inf, np.nan)


@settings(max_examples=80)
@given(NAMES, st.sampled_from(["fp32", "fp64"]), st.data())
def test_all_ways_agree_on_nan_infinities_zeros_and_denormals(name, kind, data):
    real = DTYPES[kind]
    values = st.sampled_from([*STRANGE, float(np.finfo(real).smallest_subnormal)])
    shape = st.sampled_from([(2, 2), (2, 18), (4, 36), (6, 4)])
    x = data.draw(arrays.arrays(real, shape, elements=values.map(real.type)))
    inputs = (x, np.full(x.shape[1], 0.75, real))[: len(CHAINS[name].inputs)]
    first, *others = (CHAINS[name].run(way, *inputs) for way in WAYS)
    for other in others:
        agree(first, other, x)


def test_bad_input_is_named():
    softmax, gelu, pool = (CHAINS[name] for name in ("softmax", "bias_gelu", "max_pool"))
    x = np.ones((4, 6), np.float32)
    for kind, message, call in (
        (ValueError, r"x of shape \(0, 6\)", lambda: softmax.run("fused", x[:0])),
        (ValueError, r"x of shape \(6,\)", lambda: softmax.run("fused", x[0])),
        (ValueError, "lie by rows", lambda: softmax.run("fused", x.T)),
        (TypeError, "x is int64", lambda: softmax.run("fused", np.ones((2, 2), int))),
        (TypeError, "x is list", lambda: softmax.run("fused", [[1.0]])),
        (TypeError, "takes x, b, not 1 arrays", lambda: gelu.run("fused", x)),
        (TypeError, "b is float64; it must be float32", lambda: gelu.run("fused", x, np.ones(6))),
        (ValueError, r"b has shape \(1,\).*\(6,\)", lambda: gelu.run("fused", x, x[0, :1])),
        (ValueError, "rows=3", lambda: pool.run("fused", np.ones((3, 4)))),
        (ValueError, "did you mean 'fused'", lambda: softmax.run("fuse", x)),
        (ValueError, "rows=0", lambda: softmax.ledger(0, 4)),
        (ValueError, "kind='bf16'", lambda: softmax.ledger(4, 4, "bf16")),
    ):  # fmt: skip
        with pytest.raises(kind, match=message):
            call()
