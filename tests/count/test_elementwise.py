"""Element-wise operations and chains: what fusion saves, and what it cannot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from tests.support.rows import each_row

unary = st.sampled_from(["relu", "sin", "exp", "sqrt", "tanh"])


def reduce_rows(rows, columns):
    """Sum of each row of s into r, as a ledger of one's own."""
    kind = rl.dtype("fp32")
    operands = (
        rl.Operand("s", (rows, columns), kind),
        rl.Operand("r", (rows,), kind, reads=0, writes=1),
    )
    return rl.Operation("sum", {"m": rows, "n": columns}, operands, rows * columns, kind)


def test_every_function_costs_one_flop_unless_a_table_says_more():
    for name in ("relu", "sin", "exp", "sqrt"):
        assert rl.elementwise(name, 1000).flops == 1000
    assert rl.elementwise("exp", 1000, cost={"exp": 22}).flops == 22_000
    assert rl.elementwise("swoosh", 1000, cost={"swoosh": 2.5}).flops == 2500


def test_functions_of_one_pass_add_up_and_read_what_they_need():
    assert rl.elementwise(("sin", "sqrt"), 100).bytes == 2 * 400
    multiply_add = rl.elementwise(("mul", "add"), 100)
    assert multiply_add.flops == 200
    assert multiply_add.bytes == 4 * 400  # three arrays in, one out
    assert rl.elementwise(("relu", "add"), 100).bytes == 3 * 400
    assert rl.elementwise(("add",) * 20, 100).bytes == 22 * 400  # 21 arrays in, one out


def test_an_array_multiplied_by_itself_is_read_once():
    assert rl.elementwise("mul", 100, inputs=("a", "a")).bytes == 2 * 400
    assert rl.elementwise("square", 100).bytes == 2 * 400


def test_in_place_moves_what_out_of_place_moves():
    in_place = rl.elementwise("relu", 100, inputs=("x",), output="x")
    assert in_place.bytes == rl.elementwise("relu", 100).bytes
    assert in_place.working_set == rl.elementwise("relu", 100).working_set / 2


@given(st.lists(unary, min_size=1, max_size=6), st.integers(1, 10**9))
def test_a_fused_chain_of_maps_reads_once_and_writes_once(names, n):
    ops = [
        rl.elementwise(name, n, inputs=(f"t{i}",), output=f"t{i + 1}")
        for i, name in enumerate(names)
    ]
    apart, fused = rl.chain(*ops), rl.chain(*ops, fused=True)
    assert apart.bytes == 8 * n * len(names)
    assert fused.bytes == 8 * n
    assert apart.flops == fused.flops == len(names) * n
    assert fused.intensity == pytest.approx(len(names) * apart.intensity)


random_ops = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.sampled_from("abcd")),
    min_size=1, max_size=7,
)  # fmt: skip


@given(random_ops)
def test_fusing_never_moves_more_and_never_changes_the_flops(names):
    ops = [rl.elementwise("add", 64, inputs=(a, b), output=y) for a, b, y in names]
    apart, fused = rl.chain(*ops), rl.chain(*ops, fused=True)
    assert fused.bytes <= apart.bytes == sum(op.bytes for op in ops)
    assert fused.flops == apart.flops == sum(op.flops for op in ops)


@given(random_ops)
def test_a_fused_chain_reads_its_inputs_and_writes_its_results(names):
    """Against a walk through the program: who reads from outside, which last version is unread."""
    outside, fresh, unread = set(), set(), {}
    for a, b, y in names:
        outside |= {a, b} - fresh
        for name in (a, b):
            unread.pop(name, None)
        fresh.add(y)
        unread[y] = True
    results = {*unread, names[-1][2]}
    ops = [rl.elementwise("add", 64, inputs=(a, b), output=y) for a, b, y in names]
    fused = rl.chain(*ops, fused=True)
    assert {o.name for o in fused.operands if o.reads} == outside
    assert {o.name for o in fused.operands if o.writes} == results


def test_an_intermediate_that_leaves_must_still_be_written():
    """sin(x) → t, sqrt(t) → y, t copied out by a last operation: 12 B an element, not 8."""
    ops = (
        rl.elementwise("sin", 100, output="t"),
        rl.elementwise("sqrt", 100, inputs=("t",), output="t"),
    )
    assert rl.chain(*ops, fused=True).bytes == 800
    kept = (*ops, rl.elementwise("exp", 100, inputs=("x",), output="z"))
    assert rl.chain(*kept, fused=True).bytes == 1200  # x in, t and z out


def test_l2_norm_of_rows_moves_20_bytes_an_element_apart_and_8_fused():
    rows, columns = 4096, 4096
    square = rl.elementwise("square", (rows, columns), output="s")
    divide = rl.elementwise(
        "div", (rows, columns), inputs={"x": (rows, columns), "r": (rows, 1)}, output="y"
    )
    apart = rl.chain(square, reduce_rows(rows, columns), divide)
    fused = rl.chain(square, reduce_rows(rows, columns), divide, fused=True)
    elements = rows * columns
    assert apart.bytes / elements == pytest.approx(20, abs=0.003)
    assert apart.intensity == pytest.approx(0.15, abs=1e-4)
    assert fused.bytes == 8 * elements
    assert fused.intensity == 0.375
    h100 = rl.Roofline("h100-sxm", "fp32")
    assert h100.time(apart) == pytest.approx(100e-6, rel=0.005)
    assert h100.time(fused) == pytest.approx(40e-6, rel=0.005)


def test_a_product_with_a_fused_activation_saves_one_round_trip_of_c():
    product = rl.gemm(512, 256, 128)
    relu = rl.elementwise("relu", (512, 256), inputs=("c",), output="y")
    apart, fused = rl.chain(product, relu), rl.chain(product, relu, fused=True)
    assert apart.bytes - fused.bytes == 2 * 512 * 256 * 4
    assert apart.unit == fused.unit == "tensor"
    assert fused.label == "fused(gemm, relu) fp32"


def test_horizontal_fusion_saves_only_shared_inputs():
    shared = rl.chain(rl.dot(1000), rl.axpy(1000), fused=True)
    assert shared.bytes == 4 * (1000 + 1000 + 1 + 1000)  # x and y in, r and y out
    assert rl.chain(rl.axpy(1000)).bytes == rl.axpy(1000).bytes


@each_row(
    (lambda: rl.elementwise("relu", 0), ValueError, "shape=0 must be a positive integer"),
    (lambda: rl.elementwise("relu", (4, -1)), ValueError, r"shape\[1\]=-1"),
    (lambda: rl.elementwise("relu", ()), ValueError, r"shape=\(\) is empty"),
    (lambda: rl.elementwise("relu", 4.0), TypeError, r"shape=4\.0 is a float"),
    (lambda: rl.elementwise("relu", (4, True)), TypeError, r"shape\[1\]=True is a bool"),
    (lambda: rl.elementwise("rel", 4), ValueError, "function='rel' .* did you mean 'relu'"),
    (lambda: rl.elementwise((), 4), ValueError, r"function=\(\) is empty"),
    (lambda: rl.elementwise(None, 4), TypeError, "function=None must be a name"),
    (lambda: rl.elementwise("exp", 4, cost={"exp": -1}), ValueError, r"cost\['exp'\]=-1"),
    (lambda: rl.elementwise("exp", 4, cost={"exp": "1"}), TypeError, r"cost\['exp'\]='1'"),
    (lambda: rl.elementwise("exp", 4, cost={"exp": True}), TypeError, r"cost\['exp'\]=True"),
    (lambda: rl.elementwise("exp", 4, cost=20), TypeError, "cost=20 must be a mapping"),
    (lambda: rl.elementwise("add", 4, inputs=3), TypeError, "inputs=3 must be operand names"),
    (lambda: rl.elementwise("add", (4, 4), inputs={"a": (4, 4), "b": (5,)}), ValueError,
     r"inputs\['b'\]=\(5,\) does not broadcast to shape=\(4, 4\)"),
    (lambda: rl.elementwise("add", 4, inputs={"a": 1}, output="a"), ValueError, "output='a'"),
    (lambda: rl.elementwise("add", 4, "fp31"), ValueError, "dtype='fp31' is unknown"),
    (lambda: rl.chain(), ValueError, "at least one operation"),
    (lambda: rl.chain(rl.axpy(4), 5), TypeError, r"operations\[1\]=5 must be an Operation"),
    (lambda: rl.chain(rl.axpy(4), rl.axpy(5)), ValueError, "'x' is .4,. fp32 .* .5,. fp32"),
    (lambda: rl.chain(rl.axpy(4), rl.axpy(4, "fp64")), ValueError, "fp32 .* fp64"),
    (lambda: rl.chain(rl.axpy(4), fused="no"), TypeError, "fused='no' must be True or False"),
    (lambda: rl.elementwise("add", 4, inputs=(1, 2)), TypeError, "inputs: 1 must be the name"),
    (lambda: rl.elementwise("relu", 4, output=3), TypeError, "output: 3 must be the name"),
)  # fmt: skip
def test_bad_maps_and_chains_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()
