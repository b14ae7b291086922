"""The stand-in's arrays against NumPy: what a program of array operations leaves, and where.

An array is kept as one number while all its elements are equal. Values are never to depend on how
they are kept, so every program runs on arrays that began as constants too.
"""

from __future__ import annotations

import copy
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rooflab.labs.cuda import StandIn
from rooflab.labs.cuda.arrays import METHODS, OPERATORS
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
    values = ours.get()
    assert (values.shape, values.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(values, theirs)
    for name in ("shape", "ndim", "size", "itemsize", "nbytes", "dtype"):
        assert getattr(ours, name) == getattr(theirs, name), name


# One view after another, and something written through the last: the first must show it.

VIEWS = st.one_of(
    st.tuples(st.just("item"), INDEX),
    st.tuples(st.just("slice"), st.none() | INDEX, st.none() | INDEX, st.sampled_from([1, 2, -1])),
    st.just(("flip",)),
    st.just(("flat",)),
    st.just(("last",)),
)


def viewed(array, how, *at):
    """One view of ``array``, written for both libraries alike."""
    if how == "item":
        return array[at[0] % len(array), ...] if array.ndim and len(array) else array
    if how == "slice":
        return array[slice(*at)] if array.ndim else array
    return {"flip": lambda: array.T, "flat": array.ravel, "last": lambda: array[..., -1:]}[how]()


@given(twins(), st.lists(VIEWS, max_size=4), SMALL, st.sampled_from(["fill", "set", "add", "mul"]))
def test_what_is_written_through_a_view_stands_in_the_array(twin, views, value, how):
    cp, ours, theirs = twin
    part, right = ours, theirs
    for view in views:
        if right.ndim:
            part, right = viewed(part, *view), viewed(right, *view)
    alike(part, np.asarray(right))
    if right.size == 0 or not np.shares_memory(right, theirs):
        return  # ravel() copies where NumPy must
    if how == "fill":
        part.fill(value)
        right[...] = value
    elif how == "set":
        part[...] = value
        right[...] = value
    else:
        work = {"add": operator.iadd, "mul": operator.imul}[how]
        work(part, value)
        work(right, value)
    alike(ours, theirs)
    low = right.__array_interface__["data"][0] - theirs.__array_interface__["data"][0]
    if all(stride > 0 for stride in right.strides):
        assert (part.span.buffer, part.span.start) == (ours.span.buffer, low)


@given(twins(kinds=st.sampled_from([np.float32, np.float64, np.int32])), st.data())
def test_operators_are_numpys_and_one_kernel_each(twin, data):
    cp, ours, theirs = twin
    signs = [f"__{sign}__" for sign in OPERATORS] + [s for s in METHODS if "__matmul" not in s]
    sign = data.draw(st.sampled_from([sign for sign in signs if sign.startswith("__")]))
    other = data.draw(st.sampled_from([1, 3, 0.5, np.int32(2), "itself", "one row"]))
    mine = right = other
    if isinstance(other, str):
        mine = ours if other == "itself" else cp.full(theirs.shape[-1:], 2, dtype=theirs.dtype)
        right = mine.get()
    unary = sign in ("__neg__", "__pos__", "__abs__", "__invert__")
    work = getattr(operator, sign)
    given = [(ours,), (theirs,)] if unary else [(ours, mine), (theirs, right)]
    cp.gpu.log.clear()
    with np.errstate(all="ignore"):
        try:
            expected = work(*given[1])
        except (TypeError, ValueError) as error:  # shifts of fractions; whole numbers to the -1
            with pytest.raises(type(error)):
                work(*given[0]).get()
            return
        made = work(*given[0])
        assert [e["what"] for e in cp.gpu.log] == ["launch"]
        assert cp.gpu.log[0]["flops"] == theirs.size
        alike(made, expected)
        if not unary and not isinstance(other, np.generic):
            alike(work(mine, ours), work(right, theirs))
    alike(ours, theirs)  # and it has not changed


@given(twins(), SMALL)
def test_in_place_keeps_memory_and_type_and_only_same_kinds_go_in(twin, value):
    cp, ours, theirs = twin
    held, number = ours, ours.span.buffer
    ours += value
    ours *= cp.full(theirs.shape[-1:], 2.0)
    ours[0:1] -= 1
    theirs += value
    theirs *= 2
    theirs[0:1] -= 1
    assert ours is held and ours.span.buffer == number
    alike(ours, theirs)
    whole = cp.arange(3)
    for use in (
        lambda: whole.__iadd__(1.5), lambda: whole.__itruediv__(2),
        lambda: cp.add(ours, ours, out=cp.zeros(theirs.shape, int)),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="Cannot cast .* according to the rule 'same_kind'"):
            use()
    whole[...] = cp.full(3, 1.5)  # an assignment does, as in NumPy
    assert whole.get().tolist() == [1, 1, 1]


@given(twins(), st.data())
def test_a_new_shape_is_the_same_memory_and_a_copy_another(twin, data):
    cp, ours, theirs = twin
    rows = data.draw(st.sampled_from([n for n in range(1, 9) if theirs.size % n == 0]))
    again = ours.reshape(rows, -1)
    alike(again, theirs.reshape(rows, -1))
    assert again.span == ours.span
    for copied in (ours.copy(), copy.copy(ours), copy.deepcopy(ours), cp.array(ours)):
        alike(copied, theirs)
        copied.fill(99)
    alike(ours, theirs)
    assert cp.asarray(ours, dtype=theirs.dtype) is ours.astype(theirs.dtype, copy=False) is ours
    for kind in ("float16", "int64"):
        alike(ours.astype(kind), theirs.astype(kind))
    alike(ours.T.copy(), theirs.T)
    assert ours.T.copy().flags.c_contiguous
    again.fill(7)
    assert ours.get().tolist() == np.full(theirs.shape, 7).tolist()


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
def test_rows_and_what_spreads_are_numpys(twin):
    cp, ours, theirs = twin
    for mine, right in zip(ours, theirs, strict=True):
        alike(mine, np.asarray(right))
    row = np.arange(theirs.shape[-1], dtype=theirs.dtype)
    ours[...] = cp.asarray(row)
    theirs[...] = row
    alike(ours, theirs)


@each_row("full", "zeros", "ones", "zeros_like", "ones_like")
@each_row("float16", "float32", "float64", "int8", "uint16", "int64")
def test_what_is_created_is_as_numpy_creates_it(kind, how, cp):
    like = np.zeros((2, 3), kind)
    given = {"full": ((2, 3), 3), "ones": (5,)}.get(how, (like if "_" in how else (2, 3),))
    mine = tuple(cp.asarray(one) if one is like else one for one in given)
    alike(getattr(cp, how)(*mine, dtype=kind), getattr(np, how)(*given, dtype=kind))


@each_row(3, 2.5, True, [1, 2], [[1.5], [2]], np.float32(4), np.arange(4, dtype=np.int8))
def test_an_array_is_made_of_what_numpy_makes_one_of(value, cp):
    alike(cp.array(value), np.array(value))
    alike(cp.asarray(value, dtype="float32"), np.asarray(value, dtype="float32"))
    alike(cp.arange(9, 2, -3), np.arange(9, 2, -3))
    assert f"{float(cp.full(4, 0.75).sum()):.2f} {cp.ones(2)}".startswith(
        "3.00 <array of shape (2,)"
    )


def test_what_came_from_the_host_is_a_copy(cp):
    host = np.arange(4.0)
    ours = cp.asarray(host)
    host[:] = 9
    ours.get()[:] = 9
    assert ours.get().tolist() == [0, 1, 2, 3]


# Large arrays: one number each, or nan.

LARGE = StandIn.largest // 4 + 1024  # elements of fp32: more than the stand-in keeps one by one


def test_a_gigabyte_of_one_number_takes_no_memory(cp):
    """Everything computed from constants is a constant: the values are exact, and cost nothing."""
    n = 1 << 28
    x, y = cp.full(n, 1.5, dtype=cp.float32), cp.ones(n, dtype=cp.float32)
    z = (x + y) * 2 - y / 4
    assert (z[0].item(), z[n - 1].item(), float(z.min()), float(z.max())) == (4.75,) * 4
    assert float(z.sum()) == pytest.approx(4.75 * n)
    assert z.reshape(1 << 14, 1 << 14).T[...].shape == (1 << 14, 1 << 14)
    halves = cp.full(100_000, 0.5, dtype=cp.float16)  # more than a half can count one by one
    assert halves.sum().item() == np.float16(50_000)
    assert cp.dot(halves, halves).item() == np.float16(25_000)


def test_a_large_array_of_several_numbers_is_timed_and_reads_as_nan(cp):
    x = cp.zeros(LARGE, dtype=cp.float32)
    x[: LARGE // 2] = 0
    assert float(x.sum()) == 0  # still one number
    x[: LARGE // 2] = 1
    cp.gpu.log.clear()
    for unknown in (x, x + x, x.sum(), x[:3], cp.random.rand(LARGE)):
        assert np.isnan(unknown.reshape(-1)[0].item())
    assert [e["kernel"] for e in cp.gpu.log if e["what"] == "launch"] == ["add", "sum", "rand"]
    x.fill(3)  # and one number again
    assert float(x.max()) == 3


def test_small_random_numbers_are_real(cp):
    made = cp.random.rand(2, 3, dtype=cp.float32)
    assert made.shape == (2, 3) and made.dtype == np.float32 and np.ptp(made.get()) > 0


# What the log says of them.


@given(twins())
def test_a_view_costs_nothing_and_a_copy_one_round_trip(twin):
    cp, ours, theirs = twin
    cp.gpu.log.clear()
    _ = ours.T, ours[:1], ours[...], ours.reshape(-1), ours.ravel(), ours[0], len(ours), ours.size
    assert cp.gpu.log == []
    ours.copy()
    assert [(e["kernel"], e["bytes"]) for e in cp.gpu.log] == [("copy", 2 * theirs.nbytes)]
    made = cp.multiply(ours, ours)
    assert cp.gpu.log[-1]["bytes"] == 3 * theirs.nbytes
    cp.multiply(ours, 2, out=made)
    assert cp.gpu.log[-1]["bytes"] == 2 * theirs.nbytes


def test_making_an_array_is_free_and_filling_it_is_not(cp):
    cp.empty(100), cp.ones(0), cp.ones(0) + 1
    assert cp.gpu.log == []
    cp.zeros(100), cp.ones(100, dtype=cp.float32), cp.full(100, 3.0)
    assert [(e["kernel"], e["bytes"]) for e in cp.gpu.log] == [
        ("fill", 800), ("fill", 400), ("fill", 800),
    ]  # fmt: skip
    made = cp.cuda.Event(), cp.empty(5)
    made[0].record()
    before = cp.gpu.log[-1]["buffers"]
    cp.empty(5), cp.zeros(5)
    made[0].record()
    assert cp.gpu.log[-1]["buffers"] - before == 2  # the grader counts arrays by this


def test_memory_can_be_set_byte_by_byte(cp):
    x = cp.ones(8, dtype=cp.float32)
    x.data.memset_async(257, 32)
    assert x.get().view(np.uint8).tolist() == [1] * 32
    assert cp.gpu.log[-2]["kernel"] == "memset" and cp.gpu.log[-2]["bytes"] == 32


# What it refuses, in words.


@each_row(
    (lambda cp, x: x[[0]], NotImplementedError, "index that picks elements"),
    (lambda cp, x: x[x > 1], NotImplementedError, "index that picks elements"),
    (lambda cp, x: x.reshape(4, 4), ValueError, "cannot reshape array of size 6"),
    (lambda cp, x: x[2], IndexError, "out of bounds"),
    (lambda cp, x: x[1.5], IndexError, "valid indices"),
    (lambda cp, x: x.max(axis=0), NotImplementedError, "without axis, keepdims"),
    (lambda cp, x: x.item(), ValueError, "array of size 1"),
    (lambda cp, x: len(x.sum()), TypeError, "unsized"),
    (lambda cp, x: hash(x), TypeError, "unhashable"),
    (lambda cp, x: cp.sum(x, out=cp.ones(2)), ValueError, r"out has shape \(2,\); \(\) is wanted"),
    (lambda cp, x: cp.add(x, x, out=np.ones((2, 3))), TypeError, "Unsupported type"),
    (lambda cp, x: cp.add(x, 1, out=cp.ones((1, 2, 3))), ValueError, r"out has shape \(1, 2, 3\)"),
    (lambda cp, x: x[0].__iadd__(x), ValueError, r"out has shape \(3,\); \(2, 3\) is wanted"),
    (lambda cp, x: x[0].__setitem__(..., x), ValueError, r"from shape \(2, 3\) into shape \(3,\)"),
    (lambda cp, x: cp.sum([1.0]), TypeError, "Unsupported type <class 'list'>"),
    (lambda cp, x: x + cp.ones((3, 2)), ValueError, "shape mismatch|broadcast"),
    (lambda cp, x: np.asarray(x), TypeError, r"Please use `\.get\(\)`"),
    (lambda cp, x: np.array([x, x]), TypeError, r"Please use `\.get\(\)`"),
    (lambda cp, x: cp.matmul(x, x.T, cp.ones((2, 2))), TypeError, "values for argument 'out'"),
    (lambda cp, x: x.std, AttributeError, "array.std is part of CuPy, but not of this stand-in"),
    (lambda cp, x: np.add.reduce(x), TypeError, "NotImplemented"),
    (lambda cp, x: x.data.memset_async(0, 3), NotImplementedError, "sets all 24 bytes"),
)
def test_refused(use, error, told, cp):
    with pytest.raises(error, match=told):
        use(cp, cp.arange(6, dtype=cp.float32).reshape(2, 3))


@each_row([1, 2, 3], ((1,),), "1", None, np.ones(3), np.array(1.5))
def test_only_arrays_of_the_gpu_and_numbers_are_operands(wrong, cp):
    x = cp.ones(3)
    for use in (
        lambda: x + wrong, lambda: wrong * x, lambda: cp.subtract(wrong, x), lambda: x == wrong,
        lambda: x.__itruediv__(wrong), lambda: x.__setitem__(slice(None), wrong),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="Unsupported type"):
            use()
    assert x.get().tolist() == [1, 1, 1]
