"""The stand-in's arrays against NumPy: what a program of array operations leaves, and where.

A large array is kept as one number, or as pieces of one number each. Values are never to depend on
how they are kept, so every program runs on arrays that began as constants too.
"""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rooflab.labs.cuda import StandIn
from rooflab.labs.cuda.arrays import LARGEST_REAL
from tests.labs.cuda.conftest import DEVICE
from tests.support.rows import each_row

FLOATS = st.sampled_from([np.float32, np.float64])
SHAPES = arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)
SMALL = st.integers(-4, 4)
INDEX = st.integers(-6, 6)


@st.composite
def twins(draw, shapes=SHAPES, kinds=FLOATS):
    """An array of the stand-in and NumPy's own, alike; of one number or of several."""
    shape, kind, cp = draw(shapes), draw(kinds), StandIn(DEVICE)
    if draw(st.booleans()):
        value = np.int8(draw(SMALL)).astype(kind)
        return cp, cp.full(shape, value, dtype=kind), np.full(shape, value, kind)
    values = draw(arrays.arrays(np.int8, shape, elements=SMALL)).astype(kind)
    return cp, cp.asarray(values), values.copy()


def alike(ours, theirs) -> None:
    """Same values, shape, type, and the same words about them."""
    found = ours.get()
    assert (found.shape, found.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(found, theirs)
    for name in ("shape", "ndim", "size", "itemsize", "nbytes", "dtype"):
        assert getattr(ours, name) == getattr(theirs, name), name


# One view after another, and something written through the last: the first must show it.

VIEWS = st.one_of(
    st.tuples(st.just("item"), INDEX),
    st.tuples(st.just("slice"), st.none() | INDEX, st.none() | INDEX),
    st.just(("flip",)),
    st.just(("flat",)),
    st.just(("all",)),
)


def viewed(array, how, *at):
    """One view of ``array``; how a slice is written is the same for both libraries."""
    if how == "item":
        return array[at[0] % len(array)] if array.ndim and len(array) else array
    if how == "slice":
        return array[slice(*at)] if array.ndim else array
    return {"flip": lambda: array.T, "flat": array.ravel, "all": lambda: array[...]}[how]()


@given(twins(), st.lists(VIEWS, max_size=4), SMALL, st.sampled_from(["fill", "set", "add", "mul"]))
def test_what_is_written_through_a_view_stands_in_the_array(twin, views, value, how):
    cp, ours, theirs = twin
    part, right = ours, theirs
    for view in views:
        if right.ndim > 1 and getattr(part, "_flipped", False) and view[0] not in ("flip", "all"):
            continue  # of a transpose the stand-in takes no part
        part, right = viewed(part, *view), viewed(right, *view)
        if right.ndim == 0:
            break
    alike(part, np.asarray(right))
    if right.size == 0 or not np.shares_memory(right, theirs):
        return  # ravel() copies where NumPy must
    if how == "fill":
        part.fill(value)
        right[...] = value
    elif how == "set":
        part[...] = value
        right[...] = value
    elif how == "add":
        part += value
        right += value
    else:
        part *= value
        right *= value
    alike(ours, theirs)


@given(twins(), st.data())
def test_arithmetic_is_numpys(twin, data):
    cp, ours, theirs = twin
    sign = data.draw(st.sampled_from(["+", "-", "*", "/"]))
    other = data.draw(
        st.one_of(
            st.integers(1, 4),
            st.sampled_from([0.5, -2.0]),
            st.sampled_from([np.float32(3), np.float64(0.25), np.int32(2)]),
            st.just("itself"),
            st.just("one row"),
        )
    )
    if isinstance(other, str):
        mine = ours if other == "itself" else cp.full(theirs.shape[-1:], 2, dtype=theirs.dtype)
        right = mine.get()
    else:
        mine = right = other
    with np.errstate(all="ignore"):
        expressions = {"+": lambda a, b: a + b, "-": lambda a, b: a - b,
                       "*": lambda a, b: a * b, "/": lambda a, b: a / b}  # fmt: skip
        compute = expressions[sign]
        alike(compute(ours, mine), compute(theirs, right))
        alike(compute(mine, ours), compute(right, theirs))
        alike(ours, theirs)  # and neither has changed


@given(twins(), st.lists(st.tuples(st.sampled_from("+-*/"), st.sampled_from([1, 2, 0.5, -4]))))
def test_a_row_of_steps_in_place_keeps_memory_and_type(twin, steps):
    cp, ours, theirs = twin
    held, number = ours, ours.span.buffer
    for sign, value in steps[:6]:
        if sign == "+":
            ours += value
            theirs += value
        elif sign == "-":
            ours -= value
            theirs -= value
        elif sign == "*":
            ours *= value
            theirs *= value
        else:
            ours /= value
            theirs /= value
    assert ours is held and ours.span.buffer == number
    alike(ours, theirs)


@given(twins(), st.data())
def test_a_new_shape_is_the_same_memory(twin, data):
    cp, ours, theirs = twin
    sides = [n for n in range(1, theirs.size + 1) if theirs.size % n == 0]
    rows = data.draw(st.sampled_from(sides))
    shape = data.draw(st.sampled_from([
        (rows, theirs.size // rows), (rows, -1), (-1,), (1, rows, theirs.size // rows),
    ]))  # fmt: skip
    again, right = ours.reshape(*shape), theirs.reshape(*shape)
    alike(again, right)
    alike(ours.reshape(shape), right)  # one tuple, as NumPy takes it too
    assert again.span == ours.span
    again.fill(7)
    assert ours.get().tolist() == np.full(theirs.shape, 7).tolist()


@given(twins())
def test_copies_stand_apart(twin):
    cp, ours, theirs = twin
    for copied in (ours.copy(), copy.copy(ours), copy.deepcopy(ours), cp.array(ours)):
        alike(copied, theirs)
        assert copied.span.buffer != ours.span.buffer
        copied.fill(99)
        alike(ours, theirs)
    assert cp.asarray(ours) is ours and cp.asarray(ours, dtype=theirs.dtype) is ours
    assert ours.astype(theirs.dtype, copy=False) is ours
    other = np.float64 if theirs.dtype == np.float32 else np.float32
    alike(ours.astype(other), theirs.astype(other))
    alike(cp.asarray(ours, dtype=other), theirs.astype(other))


@given(twins(shapes=arrays.array_shapes(min_dims=2, max_dims=3, max_side=4)))
def test_a_transpose_of_a_transpose_is_the_array(twin):
    cp, ours, theirs = twin
    alike(ours.T, theirs.T)
    alike(ours.T.T, theirs)
    alike(ours.T + ours.T, theirs.T + theirs.T)
    alike(ours.T.copy(), theirs.T)
    ours.T[...] = cp.asarray(np.arange(theirs.size, dtype=theirs.dtype).reshape(theirs.T.shape))
    theirs.T[...] = np.arange(theirs.size, dtype=theirs.dtype).reshape(theirs.T.shape)
    alike(ours, theirs)


@given(twins(kinds=st.sampled_from([np.float64, np.int32, np.uint8, np.int64])))
def test_reductions_are_numpys(twin):
    """Whole numbers, so that the order of a sum does not show."""
    cp, ours, theirs = twin
    for name in ("sum", "max", "min"):
        for found in (getattr(ours, name)(), getattr(cp, name)(ours), getattr(np, name)(ours)):
            right = getattr(theirs, name)()
            assert found.shape == () and found.dtype == right.dtype
            assert found.item() == right and float(found) == right and int(found) == right


@given(twins())
def test_iterating_gives_the_rows(twin):
    cp, ours, theirs = twin
    assert len(ours) == len(theirs)
    for mine, right in zip(ours, theirs, strict=True):
        alike(mine, np.asarray(right))


@given(twins(), st.data())
def test_copyto_spreads_as_numpy_does(twin, data):
    cp, ours, theirs = twin
    row = np.arange(theirs.shape[-1], dtype=theirs.dtype)
    cp.copyto(ours, cp.asarray(row))
    np.copyto(theirs, row)
    alike(ours, theirs)


@each_row("full", "zeros", "ones", "full_like", "zeros_like", "ones_like")
@each_row("float16", "float32", "float64", "int8", "uint16", "int64")
def test_what_is_created_is_as_numpy_creates_it(kind, how, cp):
    like = np.zeros((2, 3), kind)
    given = {
        "full": ((2, 3), 3), "zeros": ((2, 3),), "ones": (5,), "full_like": (like, 3),
        "zeros_like": (like,), "ones_like": (like,),
    }[how]  # fmt: skip
    mine = tuple(cp.asarray(one) if one is like else one for one in given)
    alike(getattr(cp, how)(*mine, dtype=kind), getattr(np, how)(*given, dtype=kind))
    if how.endswith("_like"):
        alike(getattr(cp, how)(*mine), getattr(np, how)(*given))


@each_row(((5,),), ((2, 9),), ((0, 1, 0.25),), ((9, 2, -3),), ((3.0,),))
def test_arange_is_numpys(given, cp):
    alike(cp.arange(*given), np.arange(*given))
    alike(cp.arange(*given, dtype=cp.float32), np.arange(*given, dtype=np.float32))


@each_row(3, 2.5, True, [1, 2], [[1.5], [2]], np.float32(4), np.arange(4, dtype=np.int8))
def test_an_array_is_made_of_what_numpy_makes_one_of(value, cp):
    alike(cp.array(value), np.array(value))
    alike(cp.asarray(value, dtype="float32"), np.asarray(value, dtype="float32"))
    assert np.array_equal(cp.asnumpy(cp.array(value)), np.asarray(cp.asnumpy(value)))


def test_what_came_from_the_host_is_a_copy(cp):
    host = np.arange(4.0)
    ours = cp.asarray(host)
    host[:] = 9
    assert ours.get().tolist() == [0, 1, 2, 3]
    back = ours.get()
    back[:] = 9
    assert ours.get().tolist() == [0, 1, 2, 3]


# Large arrays: pieces of one number each.

LARGE = LARGEST_REAL // 4 + 1024  # elements of fp32: more than the stand-in keeps one by one


@given(
    st.lists(
        st.tuples(st.integers(0, LARGE), st.integers(0, LARGE), st.integers(-9, 9)),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.integers(0, LARGE - 1), min_size=1, max_size=8),
)
def test_a_large_array_in_pieces_has_the_values_of_the_last_write(writes, places):
    cp = StandIn(DEVICE)
    x = cp.zeros(LARGE, dtype=cp.float32)
    for a, b, value in writes:
        x[min(a, b) : max(a, b)] = value
    for place in places:
        inside = [value for a, b, value in writes if min(a, b) <= place < max(a, b)]
        assert x[place].item() == (inside[-1] if inside else 0)
    edges = sorted({0, LARGE, *(n for a, b, _ in writes for n in (a, b))})
    for a, b in pairwise(edges):  # between two edges it is one number
        value = x[a].item()
        assert (x[a:b].min().item(), x[a:b].max().item()) == (value, value)
        assert x[a:b].sum().item() == np.float32(float(value) * (b - a))


def test_a_large_array_of_several_numbers_is_refused_where_its_values_are_asked_for(cp):
    x = cp.zeros(LARGE, dtype=cp.float32)
    x[: LARGE // 2] = 1
    for asked in (x.get, lambda: x + x, lambda: cp.asnumpy(x)):
        with pytest.raises(MemoryError, match="64 MiB|at most"):
            asked()
    assert (float(x.sum()), float(x.max()), float(x.min())) == (LARGE // 2, 1, 0)
    assert x[: LARGE // 2].get().min() == 1 and float(x[LARGE // 2 :].sum()) == 0
    x.fill(3)  # and one number again
    assert float(x.max()) == 3


def test_a_gigabyte_of_one_number_takes_no_memory(cp):
    """Everything computed from constants is a constant: the values are exact, and cost nothing."""
    n = 1 << 28
    x, y = cp.full(n, 1.5, dtype=cp.float32), cp.ones(n, dtype=cp.float32)
    z = (x + y) * 2 - y / 4
    assert (z[0].item(), z[n - 1].item(), float(z.min()), float(z.max())) == (4.75,) * 4
    assert float(z.sum()) == pytest.approx(4.75 * n)
    assert z.reshape(1 << 14, 1 << 14).T[...].shape == (1 << 14, 1 << 14)


# What a kernel is said to move.


@given(twins(), st.sampled_from(["add", "multiply"]))
def test_a_kernel_reads_its_operands_and_writes_its_result(twin, name):
    cp, ours, theirs = twin
    cp.gpu.log.clear()
    made = getattr(cp, name)(ours, ours)
    (launch,) = cp.gpu.log
    assert (launch["kernel"], launch["bytes"], launch["flops"]) == (
        name, 3 * theirs.nbytes, theirs.size,
    )  # fmt: skip
    getattr(cp, name)(ours, 2, out=made)
    assert cp.gpu.log[-1]["bytes"] == 2 * theirs.nbytes
    assert [e["what"] for e in cp.gpu.log] == ["launch"] * 2


@given(twins())
def test_a_view_costs_nothing_and_a_copy_one_round_trip(twin):
    cp, ours, theirs = twin
    cp.gpu.log.clear()
    _ = ours.T, ours[:1], ours[...], ours.reshape(-1), ours.ravel(), ours[0], len(ours), ours.size
    assert cp.gpu.log == []
    ours.copy()
    assert [(e["kernel"], e["bytes"]) for e in cp.gpu.log] == [("copy", 2 * theirs.nbytes)]


def test_making_an_array_is_free_and_filling_it_is_not(cp):
    cp.empty(100), cp.full(100, 3.0)
    assert cp.gpu.log == []
    cp.zeros(100), cp.ones(100, dtype=cp.float32)
    assert [(e["kernel"], e["bytes"]) for e in cp.gpu.log] == [("fill", 800), ("fill", 400)]
    made = cp.cuda.Event(), cp.empty(5)
    made[0].record()
    before = cp.gpu.log[-1]["buffers"]
    cp.empty(5), cp.zeros(5)
    made[0].record()
    assert cp.gpu.log[-1]["buffers"] - before == 2  # the grader counts arrays by this


# What it refuses, in words.


@each_row(
    (lambda cp, x: x[::2], NotImplementedError, "slices of step 1 only"),
    (lambda cp, x: x.T[0], NotImplementedError, "along the first axis only"),
    (lambda cp, x: x.T.reshape(-1), NotImplementedError, "does not reshape a transpose"),
    (lambda cp, x: x.reshape(4, 4), ValueError, "cannot reshape array of size 6"),
    (lambda cp, x: x[2], IndexError, "out of range"),
    (lambda cp, x: x[-3], IndexError, "out of range"),
    (lambda cp, x: x[1.5], TypeError, "float"),
    (lambda cp, x: x.max(keepdims=True), NotImplementedError, "keepdims"),
    (lambda cp, x: x.item(), ValueError, "array of size 1"),
    (lambda cp, x: float(x), ValueError, "array of size 1"),
    (lambda cp, x: bool(x), ValueError, "array of size 1"),
    (lambda cp, x: len(x.sum()), TypeError, "unsized"),
    (lambda cp, x: cp.add(x, x, out=np.ones((2, 3))), TypeError, "must be an array on the GPU"),
    (lambda cp, x: cp.sum([1.0]), TypeError, "Unsupported type <class 'list'>"),
    (lambda cp, x: x + cp.ones((3, 2)), ValueError, "shape mismatch|broadcast"),
    (lambda cp, x: np.asarray(x), TypeError, r"Please use `\.get\(\)`"),
    (lambda cp, x: x.__imatmul__(x), TypeError, r"use cp.matmul\(a, b, out=c\)"),
    (lambda cp, x: x.std, AttributeError, "no array.std; real CuPy may have it"),
    (lambda cp, x: cp.sqrt, AttributeError, "no cp.sqrt; real CuPy may have it"),
    (lambda cp, x: x.data.memset(0, 25), ValueError, "size=25: 24 bytes, or whole elements"),
    (lambda cp, x: x.data.memset(0, 3), ValueError, "size=3: 24 bytes, or whole elements"),
)
def test_refused(use, error, told, cp):
    with pytest.raises(error, match=told):
        use(cp, cp.arange(6, dtype=cp.float32).reshape(2, 3))
