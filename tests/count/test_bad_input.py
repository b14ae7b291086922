"""Sizes, names and flags of the BLAS operations: a wrong one is named, with what would be right."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab as rl
from tests.support.rows import each_row

# Operation → its size arguments.
SIZES = {
    rl.axpy: ("n",),
    rl.dot: ("n",),
    rl.scale: ("n",),
    rl.ger: ("m", "n"),
    rl.gemv: ("m", "n"),
    rl.gemm: ("m", "n", "k"),
}
EVERY_SIZE = [(make, name) for make, names in SIZES.items() for name in names]
EVERY_SIZE += [(rl.gemv, "batch"), (rl.gemm, "batch")]


def call(make, **changed):
    return make(**{**dict.fromkeys(SIZES[make], 8), **changed})


@each_row(*EVERY_SIZE)
@each_row(0, -1, -(10**20), np.int64(0))
def test_sizes_below_one(value, make, name):
    with pytest.raises(
        ValueError, match=f"{name}={int(value)} must be a positive integer, 1 or more"
    ):
        call(make, **{name: value})


@each_row(*EVERY_SIZE)
@each_row(8.0, 1e3, "8", None, [8], np.float32(8), np.ones(2), 8 + 0j)
def test_sizes_that_are_not_integers(value, make, name):
    with pytest.raises(TypeError, match=f"(?s){name}=.* is a {type(value).__name__}; it must be"):
        call(make, **{name: value})


@each_row(*EVERY_SIZE)
@each_row(True, False, np.True_)
def test_bools_are_no_sizes(value, make, name):
    with pytest.raises(TypeError, match=f"{name}=.* is a bool"):
        call(make, **{name: value})


@each_row(*SIZES)
@each_row(np.int8, np.uint16, np.int32, np.int64, np.uint64)
def test_numpy_integers_count_like_pythons(kind, make):
    op = call(make, **{name: kind(100) for name in SIZES[make]})
    assert op == call(make, **dict.fromkeys(SIZES[make], 100))
    assert type(op.flops) is int and type(op.bytes) is int  # no int8 overflow on the way


@each_row(*SIZES)
def test_unknown_dtypes(make):
    with pytest.raises(ValueError, match="dtype='fp23' is unknown; did you mean .*Known: fp64"):
        call(make, dtype="fp23")
    with pytest.raises(TypeError, match="dtype=None is a NoneType; give a name such as 'fp32'"):
        call(make, dtype=None)
    with pytest.raises(TypeError, match="dtype=True"):
        call(make, dtype=True)


@each_row(
    (rl.gemv, ("b",), ValueError, "shared='b' is unknown; .*Known: a, x"),
    (rl.gemv, ("y",), ValueError, "shared='y' is unknown"),
    (rl.gemm, ("a", "d"), ValueError, "shared='d' is unknown; .*Known: a, b, c"),
    (rl.gemm, "ab", ValueError, "shared='ab' is unknown"),
    (rl.gemm, None, TypeError, "shared=None must be a tuple of operand names"),
    (rl.gemm, True, TypeError, "shared=True must be a tuple"),
)
def test_unknown_shared_operands(make, shared, error, message):
    with pytest.raises(error, match=message):
        call(make, batch=2, shared=shared)


def test_shared_takes_one_name_and_any_order():
    assert rl.gemm(8, 8, 8, batch=2, shared="a") == rl.gemm(8, 8, 8, batch=2, shared=("a",))
    assert rl.gemm(8, 8, 8, batch=2, shared=["b", "a"]).shared == ("a", "b")


@each_row(rl.gemv, rl.gemm)
@each_row("no", None, 1, 0.5)
def test_accumulate_is_a_flag(value, make):
    with pytest.raises(TypeError, match="accumulate=.* must be True or False"):
        call(make, accumulate=value)


@each_row(
    (5, TypeError, "traffic=5 must be a mapping"),
    ({"l4": 5}, ValueError, "level='l4' is unknown; did you mean"),
    ({"hbm": 5}, ValueError, "level='hbm' is unknown; .*Known: l1, l2, l3, dram"),
    ({"dram": 0}, ValueError, r"traffic\['dram'\]=0 must be a positive number of bytes"),
    ({"dram": -1.0}, ValueError, r"traffic\['dram'\]=-1\.0"),
    ({"dram": float("nan")}, ValueError, r"traffic\['dram'\]=nan"),
    ({"dram": float("inf")}, ValueError, r"traffic\['dram'\]=inf"),
    ({"dram": "5"}, TypeError, r"traffic\['dram'\]='5' must be a positive number of bytes"),
    ({"dram": True}, TypeError, r"traffic\['dram'\]=True"),
)
def test_bad_traffic(traffic, error, message):
    with pytest.raises(error, match=message):
        rl.gemm(8, 8, 8).with_traffic(traffic)


@each_row("l9", "", None, 2)
def test_unknown_levels(level):
    with pytest.raises(ValueError, match="level=.* is unknown; .*Known: l1, l2, l3, dram"):
        rl.gemm(8, 8, 8).intensity_at(level)


def test_nothing_is_refused_for_memory_when_only_counting():
    assert rl.gemm(10**12, 10**12, 10**12).bytes == 12 * 10**24


FP32 = rl.dtype("fp32")


@each_row(
    (lambda: rl.Operand("x", (0,), FP32), ValueError,
     r"shape\[0\]=0 must be a positive integer"),
    (lambda: rl.Operand("x", (4, 2.0), FP32), TypeError, r"shape\[1\]=2.0 is a float"),
    (lambda: rl.Operand("x", (True,), FP32), TypeError, r"shape\[0\]=True is a bool"),
    (lambda: rl.Operand("x", (), FP32), ValueError, r"shape=\(\) is empty"),
    (lambda: rl.Operand("x", (4,), "fp33"), ValueError,
     "dtype='fp33' is unknown; did you mean"),
    (lambda: rl.Operand("x", (4,), FP32, reads=-1), ValueError, "reads=-1 must be"),
    (lambda: rl.Operand("x", (4,), FP32, writes=0.5), TypeError, "writes=0.5 is a float"),
    (lambda: rl.Operand("x", (4,), FP32, touched=[]), TypeError, r"touched=\[\] is a list"),
    (lambda: rl.Operation("x", {}, (), 0, FP32), ValueError, r"operands=\(\) is empty"),
    (lambda: rl.Operation("x", {}, (rl.Operand("x", (4,), FP32),), -1, FP32), ValueError,
     "flops=-1 must be"),
    (lambda: rl.Operation("x", {}, (rl.Operand("x", (4,), FP32),), "8", FP32), TypeError,
     "flops='8' is a str"),
)  # fmt: skip
def test_a_ledger_of_ones_own_is_checked(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_ledger_of_ones_own_takes_names_and_numpy_integers():
    assert rl.Operand("x", (np.int64(4), 2), "fp16").nbytes == 16
    assert rl.Operand("x", [4, 2], FP32).shape == (4, 2)


@each_row(
    lambda d: d.clear(), lambda d: d.pop("operands"), lambda d: d.update(operands=None),
    lambda d: d.update(operands=3), lambda d: d.update(extra=1), lambda d: d.update(flops="2"),
    lambda d: d["operands"][0].update(shape=[0]), lambda d: d["operands"][0].update(shape="x"),
    lambda d: d["operands"][0].update(reads=None), lambda d: d.update(compute_dtype={}),
    lambda d: d["operands"][0].update(dtype="fp33"), lambda d: d.update(dims=3),
)  # fmt: skip
def test_damaged_data_is_no_operation(damage):
    data = rl.gemm(8, 8, 8).to_dict()
    damage(data)
    with pytest.raises(ValueError, match="data: no operation that rooflab wrote"):
        rl.Operation.from_dict(data)


def test_a_long_wrong_value_does_not_fill_the_screen():
    with pytest.raises(ValueError, match="is unknown") as told:
        rl.dtype("x" * 100_000)
    assert len(str(told.value)) < 400
