"""Every ledger against arrays of numbers that count what is done to them.

A number here is an object. It notes that it was read, and each product, sum, comparison and
quotient of two of them is counted. The programs are the plainest loops and NumPy's own products.
So FLOP and bytes are found, not worked out. A product with its sum is 2 FLOP, and the first
product of a sum counts as one too (0 + ab), as in reference BLAS.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.count import outer

done = Counter()
SMALL = st.integers(1, 4)


class Number:
    """A number that counts what is done with it; ``read`` says whether anybody looked."""

    def __init__(self, value: float = 1.0) -> None:
        self.value, self.read = value, False

    def _with(self, other: object, what: str) -> Number:
        done[what] += 1
        self.read = True
        if isinstance(other, Number):
            other.read = True
        return Number()

    def __mul__(self, other: object) -> Number:
        return self._with(other, "products")

    def __add__(self, other: object) -> Number:
        return self._with(other, "sums")

    def __truediv__(self, other: object) -> Number:
        return self._with(other, "quotients")

    def __gt__(self, other: object) -> bool:
        self._with(other, "comparisons")
        return False

    __rmul__, __radd__ = __mul__, __add__


def numbers(*shape: int) -> np.ndarray:
    """An array of new numbers, each of its own."""
    made = np.empty(shape, object)
    made.reshape(-1)[:] = [Number() for _ in range(made.size)]
    done.clear()
    return made


def read(array: np.ndarray) -> int:
    """How many different numbers of ``array`` were looked at."""
    return len({id(one) for one in array.reshape(-1) if one.read})


def ledger(op: rl.Operation, name: str) -> tuple[int, int]:
    """Elements of an operand that are read and that are written, once a pass."""
    (found,) = [o for o in op.operands if o.name == name]
    return found.elements * found.reads, found.elements * found.writes


def multiply_adds() -> int:
    return 2 * done["products"]


@given(st.integers(1, 30))
def test_operations_on_vectors(n):
    x, y = numbers(n), numbers(n)
    done.clear()
    written = y + 0.5 * x
    op = rl.axpy(n)
    assert op.flops == sum(done.values()) == 2 * n
    assert (ledger(op, "x"), ledger(op, "y")) == ((read(x), 0), (read(y), written.size))
    x, y = numbers(n), numbers(n)
    done.clear()
    np.dot(x, y)
    op = rl.dot(n)
    assert op.flops == multiply_adds()
    assert [ledger(op, name) for name in "xyr"] == [(read(x), 0), (read(y), 0), (0, 1)]
    x = numbers(n)
    written = 0.5 * x
    assert rl.scale(n).flops == sum(done.values())
    assert ledger(rl.scale(n), "x") == (read(x), written.size)


@given(st.integers(1, 6), st.integers(1, 6))
def test_outer_products(m, n):
    a, x, y = numbers(m, n), numbers(m), numbers(n)
    done.clear()
    written = a + np.multiply.outer(x, y)
    op = rl.ger(m, n)
    assert op.flops == sum(done.values())
    assert [ledger(op, name) for name in "axy"] == [
        (read(a), written.size), (read(x), 0), (read(y), 0),
    ]  # fmt: skip
    x, y = numbers(m), numbers(n)
    done.clear()
    written = np.multiply.outer(x, y)
    assert outer(m, n).flops == sum(done.values())
    assert ledger(outer(m, n), "a") == (0, written.size)


SHARED = st.sets(st.sampled_from(["a", "b", "c"]))


@given(SMALL, SMALL, SMALL, SMALL, SHARED, st.booleans())
def test_batches_of_products_whatever_they_share(m, n, k, batch, shared, accumulate):
    """A shared operand is one array that every problem of the batch uses."""
    op = rl.gemm(m, n, k, batch=batch, shared=tuple(shared), accumulate=accumulate)
    a, b, c = (
        [numbers(*shape)] * batch if name in shared else [numbers(*shape) for _ in range(batch)]
        for name, shape in (("a", (m, k)), ("b", (k, n)), ("c", (m, n)))
    )
    done.clear()
    for one, other in zip(a, b, strict=True):
        one @ other
    assert op.flops == multiply_adds()
    for name, arrays in (("a", a), ("b", b)):
        assert ledger(op, name) == (read(np.stack(arrays)), 0)
    places = len({id(one) for one in np.stack(c).reshape(-1)})
    assert ledger(op, "c") == (places * accumulate, places)
    assert op.bytes == 4 * sum(sum(ledger(op, name)) for name in "abc")


@given(SMALL, SMALL, SMALL, st.sets(st.sampled_from(["a", "x"])))
def test_batches_of_matrix_times_vector(m, n, batch, shared):
    op = rl.gemv(m, n, batch=batch, shared=tuple(shared))
    a, x = (
        [numbers(*shape)] * batch if name in shared else [numbers(*shape) for _ in range(batch)]
        for name, shape in (("a", (m, n)), ("x", (n,)))
    )
    done.clear()
    results = [matrix @ vector for matrix, vector in zip(a, x, strict=True)]
    assert op.flops == multiply_adds()
    assert ledger(op, "a") == (read(np.stack(a)), 0)
    assert ledger(op, "x") == (read(np.stack(x)), 0)
    assert ledger(op, "y") == (0, sum(y.size for y in results))


WINDOW = st.tuples(st.integers(1, 7), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2))


def windows(shape: tuple[int, int, int, int], dilation: int = 1) -> list[list[int]]:
    """For each output position the positions below its taps, those of the padding as they are."""
    length, kernel, stride, padding = shape
    last = length + padding - dilation * (kernel - 1)
    starts = range(-padding, last, stride)
    return [[start + tap * dilation for tap in range(kernel)] for start in starts]


@settings(max_examples=60)
@given(WINDOW, WINDOW, SMALL, st.integers(1, 2), SMALL, SMALL, st.integers(1, 2))
def test_convolutions_with_groups(rows, cols, batch, groups, c_in, c_out, dilation):
    down, across = windows(rows, dilation), windows(cols, dilation)
    assume(down and across)
    (h, r, *how_y), (w, s, *how_x) = rows, cols
    op = rl.conv2d(
        batch, h, w, groups * c_in, groups * c_out, (r, s), stride=(how_y[0], how_x[0]),
        padding=(how_y[1], how_x[1]), dilation=dilation, groups=groups,
    )  # fmt: skip
    x = numbers(batch, h, w, groups * c_in)
    weights = numbers(r, s, c_in, groups * c_out)
    zero, written = Number(), 0
    done.clear()
    for image, top, left, channel in product(range(batch), down, across, range(groups * c_out)):
        first = channel // c_out * c_in  # of the group's own channels
        for (i, y), (j, z), c in product(enumerate(top), enumerate(left), range(c_in)):
            inside = 0 <= y < h and 0 <= z < w
            _ = (x[image, y, z, first + c] if inside else zero) * weights[i, j, c, channel]
        written += 1
    assert op.flops == multiply_adds()
    assert ledger(op, "x") == (read(x), 0)
    assert ledger(op, "w") == (weights.size, 0)
    assert ledger(op, "y") == (0, written)


@settings(max_examples=60)
@given(WINDOW, WINDOW, SMALL, st.sampled_from(["max", "mean"]))
def test_pooling(rows, cols, channels, kind):
    down, across = windows(rows), windows(cols)
    assume(down and across)
    (h, r, *how_y), (w, s, *how_x) = rows, cols
    op = rl.pool2d(
        2, h, w, channels, (r, s), stride=(how_y[0], how_x[0]), padding=(how_y[1], how_x[1]),
        kind=kind,
    )  # fmt: skip
    x, written = numbers(2, h, w, channels), 0
    done.clear()
    for image, top, left, c in product(range(2), down, across, range(channels)):
        places = [(y, z) for y, z in product(top, left)]
        values = [x[image, y, z, c] if 0 <= y < h and 0 <= z < w else Number() for y, z in places]
        for one in values:
            one.read = True
        found = values[0]
        for one in values[1:]:
            found = (one if one > found else found) if kind == "max" else found + one
        written += 1
        if kind == "mean":
            _ = found / len(values)
    assert op.flops == sum(done.values())
    assert (ledger(op, "x"), ledger(op, "y")) == ((read(x), 0), (0, written))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_elementwise_operations_read_what_is_broadcast_once(shape, data):
    sides = [data.draw(st.sampled_from(sorted({1, n}))) for n in shape]
    drop = data.draw(st.integers(0, len(shape) - 1))
    part = tuple(sides[drop:])
    a, b = numbers(*shape), numbers(*part)
    done.clear()
    written = a * b
    op = rl.elementwise("mul", tuple(shape), inputs={"a": tuple(shape), "b": part})
    assert op.flops == sum(done.values())
    assert [ledger(op, name) for name in "aby"] == [(read(a), 0), (read(b), 0), (0, written.size)]


@settings(max_examples=60)
@given(
    st.integers(1, 2), st.integers(1, 4), st.integers(0, 3), st.integers(1, 2), st.integers(1, 2),
    st.integers(1, 3), st.integers(1, 3), st.booleans(), st.none() | st.integers(1, 5),
)  # fmt: skip
def test_attention_over_the_pairs_that_see_each_other(
    batch, queries, older, group, kv_heads, length, value, causal, window
):
    assume(causal or window is None)  # a window looks back, and nobody says what it does ahead
    context, heads = queries + older, group * kv_heads
    op = rl.attention(
        batch, queries, context, heads, kv_heads, length, causal=causal, window=window,
        value_dim=value,
    )  # fmt: skip
    q, k = numbers(batch, heads, queries, length), numbers(batch, kv_heads, context, length)
    v = numbers(batch, kv_heads, context, value)
    done.clear()
    for one, head, i, j in product(range(batch), range(heads), range(queries), range(context)):
        ahead = j - (older + i)
        if (causal and ahead > 0) or (window and ahead <= -window):
            continue
        q[one, head, i] @ k[one, head // group, j]
        v[one, head // group, j] * Number()
    assert op.flops == multiply_adds()
    assert ledger(op, "q") == (read(q), 0)
    assert ledger(op, "k") == (read(k), 0) and ledger(op, "v") == (read(v), 0)
    assert ledger(op, "out") == (0, batch * heads * queries * value)


def test_the_numbers_do_count():
    """One product of two, one sum, and who was looked at."""
    a = numbers(3)
    done.clear()
    _ = a[0] * a[1] + 2.0
    assert done == {"products": 1, "sums": 1} and read(a) == 2
    with pytest.raises(TypeError):
        a[0] - a[1]
