"""golf's rule: what counts as memory, once each, and what the minimum is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.golf import CACHE, HOLES, golf

DTYPES = st.sampled_from(["f2", "f4", "f8", "i1", "i4", "i8", "u2", "c8", "c16"])
LARGE = st.integers(CACHE, 4 * CACHE)  # elements: beyond 32 KiB in every dtype


@settings(max_examples=40, deadline=None)
@given(n=LARGE, kind=DTYPES)
def test_an_element_wise_call_reads_and_writes_once(n, kind):
    x = np.ones(n, kind)
    done = golf(lambda x, y: x + y, x, x.copy())
    assert done.bytes == done.minimum == 3 * x.nbytes
    assert golf(lambda x: x + x, x).bytes == 2 * x.nbytes
    assert golf(lambda x, y: x + y, x, x).bytes == 2 * x.nbytes  # the same array twice


@settings(max_examples=40, deadline=None)
@given(n=LARGE, start=st.integers(0, 99), stop=st.integers(0, 99), step=st.integers(1, 9))
def test_views_count_their_elements_and_move_nothing(n, start, stop, step):
    x = np.ones(n)
    view = golf(lambda x: x[start : n - stop : step], x)
    assert (view.bytes, view.steps, view.minimum) == (0, (), 0)
    read = golf(lambda x: x[start : n - stop : step].sum(), x)
    assert read.bytes == read.minimum == 8 * len(range(start, n - stop, step))


@settings(max_examples=40, deadline=None)
@given(n=LARGE, chunk=st.integers(1000, 3 * CACHE))
def test_any_chunk_size_reads_everything_once(n, chunk):
    def total(x):
        return sum(x[i : i + chunk].sum() for i in range(0, len(x), chunk))

    x = np.ones(n)
    done = golf(total, x)
    assert done.bytes == done.minimum == x.nbytes
    assert done.result == n


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 200), m=st.integers(CACHE // 8, CACHE), axis=st.sampled_from([0, 1]))
def test_a_broadcast_input_counts_its_distinct_bytes(n, m, axis):
    row = np.ones(m + 1)
    wide = np.broadcast_to(row if axis else row[:, None], (n, m + 1) if axis else (m + 1, n))
    assert golf(lambda x: x.sum(), wide).bytes == row.nbytes


@settings(max_examples=30, deadline=None)
@given(window=st.integers(2, 50), n=LARGE)
def test_windows_over_an_array_count_it_once(window, n):
    def moving(x):
        return np.lib.stride_tricks.sliding_window_view(x, window).max(axis=1)

    x = np.ones(n)
    assert golf(moving, x).bytes == 8 * n + 8 * (n - window + 1)


@settings(max_examples=30, deadline=None)
@given(pieces=st.lists(st.tuples(st.integers(0, 59), st.integers(1, 40)), min_size=1, max_size=8))
def test_the_minimum_counts_every_needed_byte_once(pieces):
    x = np.ones((100, 1000))
    seen = np.zeros(100, bool)
    for start, length in pieces:
        seen[start : start + length] = True
    done = golf(lambda x: [x[s : s + k].sum() for s, k in pieces], x)
    assert done.minimum == 8000 * seen.sum() <= done.bytes
    columns = golf(lambda x: [x.T[s : s + k].sum() for s, k in pieces], x)
    assert columns.minimum == 800 * seen.sum()


@pytest.mark.parametrize(("elements", "where"), [(4096, "cache"), (4097, "memory")])
def test_thirty_two_kib_is_the_line(elements, where):
    x = np.ones(CACHE)
    done = golf(lambda x: x[:elements] * 2, x)
    (read, write) = done.steps[0].operands
    assert (read.where, write.where) == ("memory", where)  # the view of a large array: memory
    again = golf(lambda x: (x[:elements] * 2)[:5] * 2, x).steps[1].operands[0]
    assert again.where == where  # a slice of a temporary is where the temporary is
    assert golf(lambda x: x * 2, x, cache=8 * CACHE).bytes == 0


def test_scratch_in_an_input_is_not_needed_twice():
    x, out = np.ones(CACHE), np.ones(CACHE)

    def twice(x, out):
        np.multiply(x, 2, out=out)
        return np.add(out, 1, out=out)

    done = golf(twice, x, out)
    assert (done.bytes, done.minimum) == (32 * CACHE, 16 * CACHE)
    assert done.changed == ("out",)


def test_names_are_the_functions_own_and_temporaries_are_numbered():
    x = np.ones(CACHE)

    def f(left, right, scale=2.0):
        return (left * scale + right) / (left - right)

    names = [[t.name for t in s.operands] for s in golf(f, x, x * 3).steps]
    assert names == [
        ["left", "tmp1"],
        ["tmp1", "right", "tmp2"],
        ["left", "right", "tmp1"],
        ["tmp2", "tmp1", "result"],
    ]
    assert [s.line for s in golf(f, x, x * 3).steps] == [2, 2, 2, 2]
    many = golf(lambda x: [x + i for i in range(3)], x)
    assert [s.operands[-1].name for s in many.steps] == ["result1", "result2", "result3"]


def test_a_minimum_of_your_own():
    x = np.ones(CACHE)
    assert golf(lambda x: x + 1, x, minimum=8 * CACHE).score == 2
    assert golf(lambda x: x, x).score == 1
    assert golf(np.sqrt, x).bytes == 16 * CACHE  # NumPy's own functions too


@pytest.mark.parametrize("name", HOLES)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_holes_get_better_variant_by_variant_and_stay_right(name, kind):
    hole = HOLES[name]
    arguments = hole.make(1 << 16, kind, seed=3)
    right = hole.reference(*arguments)
    done = [golf(f, *arguments, minimum=hole.minimum(*arguments)) for f in hole.variants.values()]
    for one in done:
        np.testing.assert_allclose(one.result, right, rtol=1e-4, atol=1e-6)
    scores = [one.score for one in done]
    assert scores == sorted(scores, reverse=True) and len(scores) >= 3
    assert scores[0] > 2 and scores[-1] == pytest.approx(1, rel=1e-3)
    assert [one.minimum for one in done] == [hole.minimum(*arguments)] * len(done)


@pytest.mark.parametrize("name", HOLES)
def test_the_ledgers_in_the_variants_texts(name):
    hole = HOLES[name]
    arguments = hole.make(1 << 16)
    for variant in hole.variants.values():
        said = float(variant.__doc__.rstrip(".").split()[-1])
        assert golf(variant, *arguments).per_element == pytest.approx(said, rel=0.01)
    assert hole.minimum_per_element == said  # the last is the best
