"""Number formats: bytes with their scale blocks, and which format a product is computed in."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.count import DTYPES, DType
from tests.support.rows import each_row

WIDTHS = {
    "fp64": 64, "fp32": 32, "tf32": 32, "fp16": 16, "bf16": 16, "fp8_e4m3": 8, "fp8_e5m2": 8,
    "fp6": 6, "fp4": 4, "nf4": 4, "mxfp8": 8, "mxfp6": 6, "mxfp4": 4, "nvfp4": 4, "int32": 32,
    "int16": 16, "int8": 8, "int4": 4, "int3": 3, "int2": 2, "q4_0": 4, "q4_1": 4, "q5_0": 5,
    "q5_1": 5, "q8_0": 8, "q2_k": 2, "q3_k": 3, "q4_k": 4, "q5_k": 5, "q6_k": 6, "iq4_nl": 4,
    "iq4_xs": 4,
}  # fmt: skip


def test_stored_widths():
    assert {name: rl.dtype(name).bits for name in DTYPES} == WIDTHS


@each_row(
    ("int4", 7, 4), ("int4", 8, 4), ("fp6", 4, 3), ("fp6", 5, 4), ("fp4", 1, 1), ("tf32", 3, 12)
)
def test_odd_counts_round_up_to_whole_bytes(dtype, elements, nbytes):
    assert rl.scale(elements, dtype).operands[0].nbytes == nbytes


@each_row(
    ("mxfp4", 4 + 8 / 32), ("nvfp4", 4.5), ("mxfp8", 8.25), ("mxfp6", 6.25), ("q4_0", 4.5),
    ("q4_1", 5), ("q5_0", 5.5), ("q5_1", 6), ("q8_0", 8.5), ("q2_k", 2.625), ("q3_k", 3.4375),
    ("q4_k", 4.5), ("q5_k", 5.5), ("q6_k", 6.5625), ("iq4_xs", 4.25), ("iq4_nl", 4.5),
    (rl.dtype("int4", group=128), 4 + 16 / 128), (rl.dtype("nf4", group=64, scale="fp32"), 4.5),
    (rl.dtype("int4", group=32, scale="fp16", zero="fp16"), 5.0),
    (rl.dtype("int4", group=64, scale="fp32", zero="int4"), 4 + 36 / 64)
)  # fmt: skip
def test_bits_a_weight_with_its_scales(dtype, bits):
    """4.5 bits for nvfp4 (8 bits a block of 16), as NVIDIA states; 4.25 for MX formats (OCP)."""
    weight = rl.gemm(1, 4096, 4096, "fp16", b=dtype).operands[1]
    once = 4 if dtype == "nvfp4" else 0
    assert (weight.nbytes - once) * 8 / weight.elements == bits


def test_nvfp4_and_int8_weights_against_wider_ones():
    def weight(dtype):
        return rl.gemm(1, 11008, 4096, "bf16", b=dtype).operands[1].nbytes

    assert weight("fp16") / weight("nvfp4") == pytest.approx(3.56, abs=0.005)
    assert weight("fp32") / weight("nvfp4") == pytest.approx(7.11, abs=0.005)
    assert 1 - weight("int8") / weight("fp32") == 0.75
    assert weight("tf32") == weight("fp32")


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 300))
def test_scale_blocks_run_along_the_contraction_axis(m, n, k):
    a, b, _ = rl.gemm(m, n, k, "mxfp4").operands
    assert a.nbytes == math.ceil(m * k / 2) + m * math.ceil(k / 32)
    assert b.nbytes == math.ceil(k * n / 2) + n * math.ceil(k / 32)
    matrix, vector, _ = rl.gemv(m, k, "nvfp4").operands
    assert matrix.nbytes == math.ceil(m * k / 2) + m * math.ceil(k / 16) + 4
    assert vector.nbytes == math.ceil(k / 2) + math.ceil(k / 16) + 4


@given(st.integers(1, 300), st.integers(1, 300), st.sampled_from([8, 32, 128]))
def test_grouped_int4_weights(n, k, group):
    kind = rl.dtype("int4", group=group, scale="fp16", zero="fp16")
    weight = rl.gemm(1, n, k, "fp16", b=kind).operands[1]
    assert weight.nbytes == math.ceil(k * n / 2) + 4 * n * math.ceil(k / group)


def test_plain_int4_has_no_scales_and_is_less_than_grouped():
    assert rl.gemv(4096, 4096, "int4").operands[0].nbytes == 4096 * 4096 // 2
    assert rl.dtype("int4", group=32) != rl.dtype("int4")


@each_row(
    ("fp16", "int8", "fp16"), ("int4", "fp16", "fp16"), ("fp8_e4m3", "fp8_e4m3", "fp8_e4m3"),
    ("fp16", "bf16", "fp32"), ("fp16", "fp32", "fp32"), ("bf16", "fp8_e5m2", "bf16"),
    ("fp32", "fp64", "fp64"), ("tf32", "fp16", "tf32"), ("tf32", "fp32", "fp32"),
    ("int8", "int4", "int8"), ("int8", "bf16", "bf16"), ("int8", "mxfp4", "fp16"),
    ("int32", "tf32", "fp32"), ("fp6", "nvfp4", "fp6"),
)  # fmt: skip
def test_a_product_is_computed_in_the_wider_input(a, b, computed):
    assert rl.gemm(4, 4, 4, a=a, b=b).compute_dtype == computed
    assert rl.gemm(4, 4, 4, a=b, b=a).compute_dtype == computed


def test_two_fp8_formats_share_a_unit():
    assert rl.gemm(4, 4, 4, a="fp8_e4m3", b="fp8_e5m2").compute_dtype.family == "fp8"


def test_compute_overrides_and_the_output_does_not_matter():
    assert rl.gemm(4, 4, 4, "fp32", compute="tf32").compute_dtype == "tf32"
    op = rl.gemm(4, 4, 4, "fp8_e4m3", c="fp32")
    assert op.compute_dtype == "fp8_e4m3" and op.bytes == 16 + 16 + 64


def test_changing_one_operand_changes_only_its_bytes():
    base, mixed = rl.gemm(8, 16, 32, "fp16"), rl.gemm(8, 16, 32, "fp16", b="int8")
    assert base.bytes - mixed.bytes == 16 * 32
    assert [o.dtype.name for o in mixed.operands] == ["fp16", "int8", "fp16"]


@each_row(
    ("FP32", "fp32"), ("float16", "fp16"), ("bfloat16", "bf16"), (" fp64 ", "fp64"),
    ("fp8", "fp8_e4m3"), ("fp8-e5m2", "fp8_e5m2"), (np.float32, "fp32"), (float, "fp64"),
    (np.dtype("float64"), "fp64"), (np.int8, "int8"), (DType("fp16", 16), "fp16"),
    ("torch.bfloat16", "bf16"), ("float8_e4m3fn", "fp8_e4m3"), ("fp8e5m2", "fp8_e5m2"),
    ("float8_e4m3fnuz", "fp8_e4m3"), ("float8", "fp8_e4m3"), (np.uint8, "int8"),
    ("u4", "int4"), ("NF4", "nf4"), ("Q4_K", "q4_k"),
)  # fmt: skip
def test_names_numpy_dtypes_and_dtypes_are_all_taken(given, name):
    assert rl.dtype(given) == name
    assert rl.axpy(8, given).compute_dtype == name


def test_a_dtype_of_pytorch_is_known_by_its_text():
    """torch.bfloat16 has no name of its own, only a text."""
    kind = type("dtype", (), {"__module__": "torch", "__repr__": lambda _: "torch.bfloat16"})
    assert rl.dtype(kind()) == "bf16"


@each_row("q4_k_m", "int5", "awq", "bool", ".")
def test_what_is_no_format_is_told(name):
    with pytest.raises(ValueError, match="is unknown; .*Known: fp64"):
        rl.dtype(name)


def test_ml_dtypes_names():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    pairs = {"bfloat16": "bf16", "float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2",
             "float4_e2m1fn": "fp4", "float6_e2m3fn": "fp6", "int4": "int4"}  # fmt: skip
    assert {name: rl.dtype(getattr(ml_dtypes, name)).name for name in pairs} == pairs


def test_a_dtype_equals_and_hashes_like_its_name():
    assert rl.dtype("fp16") == "fp16" and hash(rl.dtype("fp16")) == hash("fp16")
    assert rl.dtype("fp16") != "bf16" and rl.dtype("fp16") != 16
    assert str(rl.dtype("mxfp4")) == "mxfp4"


def test_a_format_of_ones_own():
    fp12 = DType("fp12", 12)
    assert rl.axpy(4, fp12).bytes == 3 * 6
    assert rl.gemm(4, 4, 4, fp12, b="fp8").compute_dtype == fp12


@each_row(
    (lambda: rl.dtype("fp33"), ValueError, "dtype='fp33' is unknown; did you mean 'fp32'"),
    (lambda: rl.dtype("xyzzy"), ValueError, "Known: fp64, fp32"),
    (lambda: rl.dtype(32), TypeError, "dtype=32 is a int; give a name such as 'fp32'"),
    (lambda: rl.dtype(None), TypeError, "dtype=None"),
    (lambda: rl.dtype("int4", group=0), ValueError, "group=0 must be a positive integer"),
    (lambda: rl.dtype("int4", group=True), TypeError, "group=True is a bool"),
    (lambda: rl.dtype("int4", group=2.0), TypeError, r"group=2\.0 is a float"),
    (lambda: rl.dtype("int4", scale="fp16"), ValueError, "need group="),
    (lambda: rl.dtype("int4", group=8, scale="fp61"), ValueError, "scale='fp61' is unknown"),
    (lambda: rl.dtype("int4", group=8, zero=4), TypeError, "zero=4"),
    (lambda: rl.dtype("mxfp4", group=16), ValueError, "mxfp4 already has blocks of 32"),
    (lambda: DType("none", 0), ValueError, "bits=0 must be a positive integer"),
    (lambda: DType(8, 8), TypeError, "name=8 must be the name of the format"),
    (lambda: DType("fp8x", 8, kind="real"), ValueError, "kind='real' is unknown"),
    (lambda: DType("fp8x", 8, group=0), ValueError, "group=0 must be a positive integer"),
    (lambda: DType("fp8x", 8, group=8, scale_bits=-8), ValueError, "scale_bits=-8"),
    (lambda: DType("fp8x", 8, tensor_bytes=0.5), TypeError, "tensor_bytes=0.5 is a float"),
    (lambda: rl.gemm(4, 4, 4, a="fp7"), ValueError, "a='fp7' is unknown; did you mean"),
    (lambda: rl.gemm(4, 4, 4, compute="tf23"), ValueError, "compute='tf23' .* 'tf32'"),
)
def test_bad_formats_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()
