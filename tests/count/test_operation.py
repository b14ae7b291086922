"""The ledger as data: stated traffic, labels, plain dicts, pickles, hashes."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.count import outer
from tests.support.rows import each_row

GROUPED = rl.dtype("int4", group=32, scale="fp16", zero="fp16")
EVERY_KIND = [
    rl.axpy(10, "fp64"),
    rl.dot(10),
    rl.scale(10**30, "fp6"),
    rl.ger(3, 4),
    outer(3, 4),
    rl.gemv(3, 4, "bf16", batch=5, shared=("a",), accumulate=True),
    rl.gemm(3, 4, 5, "fp16", b=GROUPED, c="fp32", batch=2, shared=("b",)),
    rl.gemm(64, 64, 64, "nvfp4", compute="fp16").with_traffic({"l2": 1e6, "dram": np.int64(7)}),
    rl.conv2d(2, 9, 9, 4, 8, 3, "mxfp4", stride=2, padding=1),
    rl.pool2d(2, 9, 9, 4, 3, kind="mean"),
    rl.elementwise("add", (4, 5), inputs={"a": (4, 5), "bias": (5,)}),
    rl.chain(rl.axpy(4), rl.dot(4), fused=True),
    rl.axpy(8, rl.DType("fp12", 12)),
]


@each_row(*EVERY_KIND)
def test_plain_data_and_back(op):
    again = rl.Operation.from_dict(json.loads(json.dumps(op.to_dict())))
    assert again == op and hash(again) == hash(op)
    assert (again.flops, again.bytes, again.label) == (op.flops, op.bytes, op.label)
    assert [o.dtype for o in again.operands] == [o.dtype for o in op.operands]
    assert pickle.loads(pickle.dumps(op)) == op


def test_stated_traffic_changes_the_intensity_of_its_level_only():
    op = rl.gemm(1024, 1024, 1024)
    tiled = op.with_traffic({"l2": 4 * op.bytes}).with_traffic({"DRAM": 2 * op.bytes})
    assert tiled.bytes == op.bytes and tiled.intensity == op.intensity
    assert tiled.intensity_at("l2") == op.intensity / 4
    assert tiled.intensity_at("dram") == op.intensity / 2
    assert tiled.intensity_at("l3") == op.intensity  # nothing stated: the minimum
    assert op.intensity_at("dram") == op.intensity


def test_numpy_numbers_of_bytes_become_plain_ones():
    op = rl.axpy(8).with_traffic({"l1": np.float32(96), "l2": np.int32(96)})
    assert {key: type(value) for key, value in op.traffic.items()} == {"l1": float, "l2": int}


def test_an_operation_cannot_be_changed():
    op = rl.axpy(8)
    with pytest.raises(AttributeError):
        op.flops = 3
    with pytest.raises(TypeError):
        op.dims["n"] = 3
    with pytest.raises(TypeError):
        op.with_traffic({"l2": 5}).traffic["l2"] = 6


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 10**9))
def test_the_ledger_is_the_only_source_of_bytes(m, n, k):
    op = rl.gemm(m, n, k, "fp16", accumulate=True)
    assert op.bytes == sum(o.bytes for o in op.operands)
    assert op.bytes == sum(o.nbytes * (o.reads + o.writes) for o in op.operands)
    assert op.intensity == op.flops / op.bytes
    assert op.working_set == op.bytes - op.operands[2].nbytes


@each_row(
    (rl.gemm(8, 11008, 4096, "bf16"), "gemm 8×11008×4096 bf16"),
    (rl.gemv(64, 32, batch=4), "gemv 64×32 ×4 fp32"),
    (rl.axpy(10), "axpy 10 fp32"),
    (rl.chain(rl.axpy(4), rl.dot(4)), "chain(axpy, dot) fp32"),
    (rl.conv2d(1, 56, 56, 64, 32, 3), "conv2d 1×56×56×64×32×3×3 fp32"),
    (rl.elementwise("add", (2, 3, 4)), "add 2×3×4 fp32"),
)
def test_labels(op, label):
    assert op.label == label
    assert str(op).startswith(f"{label}: ")


def test_a_set_of_operations():
    assert len({rl.axpy(4), rl.axpy(4), rl.axpy(5), rl.axpy(4, "fp64")}) == 3


def test_outer_writes_where_ger_updates():
    assert (outer(3, 5).flops, outer(3, 5).bytes) == (15, 4 * (15 + 3 + 5))
    assert rl.ger(3, 5).bytes - outer(3, 5).bytes == 4 * 15
