"""Operators: loops, index maps and FLOP, against tables, rooflab.count and enumeration."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.search.statement import Operator
from tests.support.rows import each_row

O = rl.search.operators  # noqa: E741

#: FLOP, bytes with a perfect cache, FLOP per byte: counted by hand, element by element.
TABLE = [
    (lambda: O.gemm(1024, 1024, 1024), 2_147_483_648, 12_582_912, 170.7),
    (lambda: O.conv2d(1, 58, 58, 64, 64, 3), 231_211_008, 1_811_456, 127.6),
    (lambda: O.max_pool(1, 57, 57, 64, 2, stride=1), 602_112, 1_634_560, 0.368),
    (lambda: O.max_pool(1, 58, 58, 64, 3, stride=1), 1_605_632, 1_664_000, 0.965),
    (lambda: O.max_pool(1, 56, 56, 64, 2, stride=2), 150_528, 1_003_520, 0.15),
]


@each_row(*TABLE)
def test_the_table_comes_out(make, flops: int, moved: int, intensity: float) -> None:
    one = make()
    assert (one.flops, one.compulsory_bytes) == (flops, moved)
    assert one.operation().intensity == pytest.approx(intensity, rel=1e-3)


def test_the_two_products_of_attention() -> None:
    scores, values = O.attention_scores(1024, 1024, 64), O.attention_values(1024, 1024, 64)
    whole = rl.attention(1, 1024, 1024, 1, head_dim=64, dtype="fp16", causal=False)
    assert scores.flops + values.flops == whole.flops == 268_435_456
    between = 2 * 1024 * 1024 * 2  # the softmax reads the scores and writes them again
    unfused = scores.compulsory_bytes + between + values.compulsory_bytes
    kept = rl.attention(1, 1024, 1024, 1, head_dim=64, dtype="fp16", causal=False, streamed=False)
    assert unfused == kept.bytes == 8_912_896
    assert whole.bytes == 524_288


def same_ledger(one: Operator, operation: rl.Operation) -> None:
    assert (one.flops, one.compulsory_bytes) == (operation.flops, operation.bytes)
    assert one.operation().unit == operation.unit


@given(*[st.integers(1, 50)] * 3, st.sampled_from(["fp32", "fp64", "bf16"]))
def test_products_have_the_ledgers_of_blas(m: int, n: int, k: int, dtype: str) -> None:
    same_ledger(O.gemm(m, n, k, dtype), rl.gemm(m, n, k, dtype))
    assert O.gemv(m, n, dtype).compulsory_bytes == rl.gemv(m, n, dtype).bytes
    assert O.gemv(m, n, dtype).flops == rl.gemv(m, n, dtype).flops


@given(st.integers(5, 20), st.integers(5, 20), st.integers(1, 5), st.integers(1, 6))
def test_windows_have_the_ledgers_of_conv2d_and_pool2d(height, width, kernel, stride) -> None:
    sizes = (2, height, width, 3, 4, kernel)
    same_ledger(O.conv2d(*sizes, stride=stride), rl.conv2d(*sizes, stride=stride))
    sizes = (2, height, width, 3, kernel)
    same_ledger(O.max_pool(*sizes, stride=stride), rl.pool2d(*sizes, stride=stride))


# Footprints, by formula and by looking at every point.


@settings(max_examples=75)
@given(
    st.tuples(*[st.integers(1, 5)] * 3),
    st.lists(st.tuples(*[st.integers(-3, 4)] * 3), min_size=1, max_size=2),
)
def test_a_footprint_is_what_is_touched(extents, rows) -> None:
    loops = dict(zip("ijk", extents, strict=True))
    index = ", ".join(f"{a}*i + {b}*j + {c}*k + 50" for a, b, c in rows)
    one = rl.search.operator(f"y[i, j, k] = x[{index}]", loops)
    points = itertools.product(*map(range, extents))
    touched = {tuple(np.dot(rows, point).tolist()) for point in points}
    assert one.footprints["x"] == len(touched)


def test_reads_of_one_tensor_are_one_footprint() -> None:
    one = rl.search.operator("y[i] = a[i] + a[i + 1] + a[i + 2]", {"i": 100})
    assert one.footprints["a"] == 102 and one.flops == 200
    assert one.compulsory_bytes == 4 * (102 + 100)
    assert one.operation().operands[0].shape == (102,)


def test_a_diagonal_is_as_long_as_it_is() -> None:
    one = rl.search.operator("y[i] = a[i, i]", {"i": 9})
    assert one.footprints["a"] == 9 and one.operation().operands[0].shape == (9, 9)


# What follows.


def test_what_a_loop_does() -> None:
    product = O.gemm(3, 4, 5)
    assert [product.role(loop) for loop in "mnk"] == ["broadcast", "broadcast", "reduction"]
    total = rl.search.operator("y[i] = a[i] + b[i]", {"i": 9})
    assert total.role("i") == "element-wise" and total.flops == 9
    pool = O.max_pool(1, 8, 8, 3, 2)
    assert pool.role("kh") == "reduction" and pool.role("c") == "element-wise"


def test_the_innermost_loop_is_the_one_that_goes_along_rows() -> None:
    # Carr, McKinley and Tseng (1994) find J, K, I best where columns are contiguous. Here rows are,
    # so that it is the loop over columns of C and B that goes innermost.
    one = O.gemm(512, 512, 512)
    assert one.innermost == "n"
    assert [one.lines(loop) for loop in "mnk"] == [2.0, 2 * 4 / 64, 1 + 4 / 64]
    assert [one.output.stride(loop) for loop in "mnk"] == [512, 1, 0]
    assert O.gemv(512, 512).innermost == "n"


#: Statement, extents → FLOP, bytes with a perfect cache. Reported by users.
SPELLINGS = [
    ("x[i] = 2*x[i]", {"i": 1000}, 1000, 8000),
    ("x[i] *= 2", {"i": 1000}, 1000, 8000),
    ("x[i] = max(x[i], 0)", {"i": 1000}, 1000, 8000),
    ("y[i] = 3*y[i] + x[i]", {"i": 1000}, 2000, 12_000),
    ("y[i] += 2*x[i]", {"i": 1000}, 2000, 12_000),
    ("C[i,j] = A[i,k]*B[k,j] + C[i,j]", {"i": 8, "j": 8, "k": 8}, 1024, 768),
    ("C[i,j] = C[i,j] - A[i,k]*B[k,j]", {"i": 8, "j": 8, "k": 8}, 1024, 768),
    ("m[0] = max(A[i], m[0])", {"i": 100}, 99, 404),
    ("s[0] = s[0] - A[i] - B[i]", {"i": 100}, 200, 804),
]


@each_row(*SPELLINGS)
def test_an_operator_is_counted_alike_in_each_spelling(
    statement: str, extents: dict[str, int], flops: int, perfect: int
) -> None:
    one = rl.search.operator(statement, extents)
    assert (one.flops, one.compulsory_bytes) == (flops, perfect)


def test_axpy_as_an_operator_is_the_routine() -> None:
    same_ledger(rl.search.operator("y[i] += 2*x[i]", {"i": 1000}), rl.axpy(1000))


def test_it_is_counted_without_running() -> None:
    one = O.gemm(10**6, 10**6, 10**6)
    assert one.footprints["A"] == 10**12 and one.flops == 2 * 10**18
    assert math.isclose(one.operation().intensity, 10**6 / 6)


STATEMENT = "y[i] += a[i, j] * x[j]"


@each_row(
    (lambda: rl.search.operator(3, {"i": 4}), TypeError, "text=3"),
    (lambda: rl.search.operator(STATEMENT, 4), TypeError, "extents=4"),
    (lambda: rl.search.operator(STATEMENT, {"i": 0, "j": 1}), ValueError, r"extents\['i'\]=0"),
    (lambda: rl.search.operator(STATEMENT, {"i": 4}), ValueError, "no loop has this name"),
    (lambda: rl.search.operator(STATEMENT, {"i": 4, "j": 4, "k": 2}), ValueError, "loop 'k'"),
    (lambda: rl.search.operator("y[i] +", {"i": 4}), ValueError, "no assignment"),
    (lambda: rl.search.operator("y = a", {"i": 4}), ValueError, "an array element is wanted"),
    (lambda: rl.search.operator("y[i] = a[i]; z[i] = a[i]", {"i": 4}), ValueError, "no more"),
    (lambda: rl.search.operator("y[i] = a[i*i]", {"i": 4}), ValueError, "a sum of loops"),
    (lambda: rl.search.operator("y[i] = a[i - 1]", {"i": 4}), ValueError, "is -1 in iteration S"),
    (lambda: rl.search.operator("y[i] = y[i + 1]", {"i": 4}), ValueError, "order of its points"),
    (lambda: rl.search.operator("y[i] = a[i] + a[i, i]", {"i": 4}), ValueError, "has 1 axes"),
    (lambda: O.gemm(4, 4, 4).role("q"), ValueError, "loop='q'"),
    (lambda: O.conv2d(1, 4, 4, 1, 1, 5), ValueError, "kernel=5 does not fit an image of 4"),
    (lambda: O.gemm(4, 4, 4, "fp33"), ValueError, "fp33"),
)
def test_bad_input_is_refused(call, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()


def windows(image: np.ndarray, kernel: int, stride: int = 1) -> np.ndarray:
    """Every window of the two last axes, as two further axes."""
    seen = np.lib.stride_tricks.sliding_window_view(image, (kernel, kernel), axis=(2, 3))
    return seen[:, :, ::stride, ::stride]


OPS = rl.search.operators
CONV = "nchwij,ocij->nohw"
NESTS = {
    "gemm": (OPS.gemm(6, 7, 8), lambda A, B: A @ B),
    "gemv": (OPS.gemv(9, 5), lambda A, x: A @ x),
    "conv2d": (
        OPS.conv2d(2, 9, 8, 3, 4, 3), lambda image, W: np.einsum(CONV, windows(image, 3), W)
    ),
    "conv2d, apart": (
        OPS.conv2d(1, 11, 12, 2, 3, 3, stride=2),
        lambda image, W: np.einsum(CONV, windows(image, 3, 2), W),
    ),
    "max-pool": (OPS.max_pool(2, 9, 8, 3, 2), lambda image: windows(image, 2, 2).max((4, 5))),
    "scores": (OPS.attention_scores(6, 7, 4), lambda Q, K: Q @ K.T),
    "values": (OPS.attention_values(6, 7, 4), lambda P, V: P @ V),
}  # fmt: skip


@each_row(*NESTS)
def test_its_nest_computes_it_and_can_be_searched(name: str) -> None:
    """Against NumPy, as written and as a search leaves it; positive numbers, for the maximum."""
    one, numpy = NESTS[name]
    nest, rng = one.nest(), np.random.default_rng(1)
    given = {read.tensor: rng.random(read.shape) for read in one.inputs}
    wanted = numpy(*given.values())
    found = rl.search.search(nest, seconds=0.5, width=1, measure=lambda it: 9 - len(it.log),
                             score=lambda it: -len(it.log), progress=False)  # fmt: skip
    assert len(found.measured) > 1
    for schedule in (nest, *(nest.replay(last.log) for last in found.measured[-2:])):
        (made,) = schedule.run("python", **given).values()
        assert np.allclose(made, wanted), schedule
    shapes = {read.tensor: read.shape for read in one.inputs}
    assert one.flops == rl.search.operator(one.statement, one.extents, shapes=shapes).flops


def test_what_counts_as_nothing_ends_no_search() -> None:
    found = rl.search.search(8, seconds=1, width=1, measure=lambda it: 0, score=lambda it: 0,
                             progress=False)  # fmt: skip
    assert found.winner.seconds == 0
    assert dataclasses.replace(found, timed=True).flops_per_s == math.inf
