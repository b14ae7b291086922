"""golf's rule: what crosses the bus, once each, and what the minimum is."""

from __future__ import annotations

import functools
import mmap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rooflab.labs.golf import CACHE, HOLES, solutions
from rooflab.labs.golf import golf as with_its_own_cache
from tests.labs.golf.conftest import SMALL
from tests.support.rows import each_row

golf = functools.partial(with_its_own_cache, cache=SMALL)
DTYPES = st.sampled_from(["f2", "f4", "f8", "i1", "i4", "i8", "u2", "c8", "c16"])
STATM = Path("/proc/self/statm")
LARGE = st.integers(4 * SMALL, 16 * SMALL)  # elements: beyond 32 KiB in every dtype


@settings(max_examples=15, deadline=None)
@given(n=LARGE, kind=DTYPES)
def test_an_element_wise_call_reads_and_writes_once(n, kind):
    x = np.ones(n, kind)
    done = golf(lambda x, y: x + y, x, x.copy())
    assert done.bytes == done.minimum == 3 * x.nbytes
    assert golf(lambda x: x + x, x).bytes == 2 * x.nbytes
    assert golf(lambda x, y: x + y, x, x).bytes == 2 * x.nbytes  # the same array twice


@settings(max_examples=15, deadline=None)
@given(n=LARGE, start=st.integers(0, 99), stop=st.integers(0, 99), step=st.integers(1, 9))
def test_views_move_nothing_and_count_the_lines_between_their_bounds(n, start, stop, step):
    x = np.ones(n)
    view = golf(lambda x: x[start : n - stop : step], x)
    assert (view.bytes, view.steps, view.minimum) == (0, (), 0)
    read = golf(lambda x: x[start : n - stop : step].sum(), x)
    last = range(start, n - stop, step)[-1]
    assert read.bytes == read.minimum
    assert read.bytes == (
        8 * (last - start + 1) if step <= 8 else 64 * len(range(start, last + 1, step))
    )


@settings(max_examples=15, deadline=None)
@given(n=LARGE, chunk=st.integers(1000, 3 * SMALL))
def test_any_chunk_size_reads_everything_once(n, chunk):
    def total(x):
        return sum(x[i : i + chunk].sum() for i in range(0, len(x), chunk))

    x = np.ones(n)
    done = golf(total, x)
    assert done.bytes == done.minimum == x.nbytes
    assert done.result == n


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 200), m=st.integers(SMALL // 8, SMALL), axis=st.sampled_from([0, 1]))
def test_a_broadcast_input_counts_its_distinct_bytes(n, m, axis):
    row = np.ones(m + 1)
    wide = np.broadcast_to(row if axis else row[:, None], (n, m + 1) if axis else (m + 1, n))
    assert golf(lambda x: x.sum(), wide).bytes == row.nbytes


@settings(max_examples=15, deadline=None)
@given(window=st.integers(2, 50), n=LARGE)
def test_windows_over_an_array_count_it_once(window, n):
    def moving(x):
        return np.lib.stride_tricks.sliding_window_view(x, window).max(axis=1)

    x = np.ones(n)
    assert golf(moving, x).bytes == 8 * n + 8 * (n - window + 1)


@settings(max_examples=15, deadline=None)
@example(pieces=[(2, 40), (42, 7)])
@given(pieces=st.lists(st.tuples(st.integers(0, 59), st.integers(1, 40)), min_size=1, max_size=8))
def test_the_minimum_counts_every_needed_byte_once(pieces):
    x = np.ones((100, 1000))
    seen = np.zeros(100, bool)
    for start, length in pieces:
        seen[start : start + length] = True
    done = golf(lambda x: [x[s : s + k].sum() for s, k in pieces], x)
    assert done.minimum == 8000 * seen.sum() <= done.bytes
    columns = golf(lambda x: [x.T[s : s + k].sum() for s, k in pieces], x)
    assert 0 <= columns.minimum - 800 * seen.sum() <= 100 * 64 * len(pieces), "in lines"
    assert columns.minimum <= columns.bytes


@each_row("", "l2", None, 3)
def test_a_memory_that_is_none(bad):
    with pytest.raises(ValueError, match="memory=.*'cache', 'scratchpad'"):
        golf(lambda x: x, np.ones(9), memory=bad)


@settings(max_examples=15, deadline=None)
@example(elements=1788, cache=14170)
@given(elements=st.integers(1, 3 * SMALL // 8), cache=st.integers(0, 2 * SMALL))
def test_a_piece_used_twice_is_near_as_far_as_the_cache_goes(elements, cache):
    x = np.ones(4 * SMALL)
    done = with_its_own_cache(lambda x: (x[:elements].sum(), x[:elements].sum()), x, cache=cache)
    again = done.steps[1].operands[0]
    assert done.steps[0].bytes == done.minimum == 8 * elements
    piece = 8 * elements
    assert again.moved == 0 if piece <= cache else again.moved >= piece - cache
    assert piece <= 1.1 * cache or again.moved > 0.5 * piece


def test_what_was_touched_longest_ago_leaves_first():
    x = np.ones(4 * SMALL)
    kib = 128  # elements

    def f(x, then):
        first, second, third = (x[n * 16 * kib : (n + 1) * 16 * kib] for n in range(3))
        return [{"1": first, "2": second, "3": third}[name].sum() for name in then]

    moved = {
        then: [step.bytes // 1024 for step in golf(functools.partial(f, then=then), x).steps]
        for then in ("121", "1231", "1213", "12131", "12132")
    }
    assert moved == {
        "121": [16, 16, 0], "1231": [16, 16, 16, 16], "1213": [16, 16, 0, 16],
        "12131": [16, 16, 0, 16, 0], "12132": [16, 16, 0, 16, 16],
    }  # fmt: skip


def test_what_was_written_moves_when_it_leaves_and_counts_for_its_writer():
    x, quarter = np.ones(4 * SMALL), SMALL // 4 // 8

    def f(x):
        first = x[:quarter] * 2  # 8 KiB
        stays = first.sum()
        x[quarter:].sum()  # pushes it out
        return first, stays

    multiply, add, _ = golf(f, x).steps
    assert [trip.moved for trip in multiply.operands] == [SMALL // 4, SMALL // 4]
    assert [trip.moved for trip in add.operands] == [0] and add.operands[0].where == "cache"


def test_what_is_gone_and_what_was_never_written_moves_nothing():
    x = np.ones(4 * SMALL)

    def dead(x):
        return [(x[:512] * i).sum() for i in range(50)]

    def untouched(x):
        kept = [np.zeros(512) for _ in range(50)]
        return sum(one.sum() for one in kept[:2]) + x[:512].sum()

    assert golf(dead, x).bytes == 4096
    assert golf(untouched, x).bytes == 3 * 4096  # zeros that are read are carried in


MAKERS = {  # how an array is made, and whether that writes to all of it
    "empty": (lambda x: np.empty(len(x)), False), "zeros": (lambda x: np.zeros(len(x)), False),
    "empty_like": (np.empty_like, False), "zeros_like": (np.zeros_like, True),
    "full": (lambda x: np.full(len(x), 0.0), True), "ones": (lambda x: np.ones(len(x)), True),
}  # fmt: skip


@each_row(*MAKERS)
def test_np_zeros_writes_nothing_and_zeros_like_does(name):
    make, writes = MAKERS[name]
    x = np.ones(4 * SMALL)
    assert golf(make, x).bytes == writes * x.nbytes


@pytest.mark.skipif(not STATM.exists(), reason="needs Linux's count of resident pages")
@each_row(*MAKERS)
def test_and_the_system_sees_the_same(name):
    """A page that nobody has touched takes no memory yet."""
    make, writes = MAKERS[name]
    x = np.ones(1 << 23)  # 64 MiB
    before = int(STATM.read_text().split()[1])
    made = make(x)
    taken = mmap.PAGESIZE * (int(STATM.read_text().split()[1]) - before)
    assert taken == pytest.approx(writes * made.nbytes, abs=made.nbytes / 50)


def in_unseen_arrays(x, y, piece):
    pieces = [np.linspace(0, 1, piece) for _ in range(0, len(x), piece)]
    for number, one in enumerate(pieces):
        np.multiply(x[number * piece : (number + 1) * piece], 0.5, out=one)
    for number, one in enumerate(pieces):
        y[number * piece : (number + 1) * piece] += one
    return y


@each_row(256, 4096)
def test_a_list_of_small_pieces_saves_nothing(piece):
    x, y = np.arange(1.0, (1 << 16) + 1), np.ones(1 << 16)
    done = golf(functools.partial(in_unseen_arrays, piece=piece), x, y)
    assert done.score == pytest.approx(40 / 24, rel=0.01)
    np.testing.assert_array_equal(done.result, 0.5 * x + y)


def test_scratch_in_an_input_is_not_needed_twice():
    x, out = np.ones(4 * SMALL), np.ones(4 * SMALL)

    def twice(x, out):
        np.multiply(x, 2, out=out)
        return np.add(out, 1, out=out)

    done = golf(twice, x, out)
    assert (done.bytes, done.minimum) == (4 * 32 * SMALL, 4 * 16 * SMALL)
    assert done.changed == ("out",)


def test_names_are_the_functions_own_and_temporaries_are_numbered():
    x = np.ones(4 * SMALL)

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
    x = np.ones(4 * SMALL)
    assert golf(lambda x: x + 1, x, minimum=4 * 8 * SMALL).score == 2
    assert golf(lambda x: x, x).score == 1
    assert golf(np.sqrt, x).bytes == 4 * 16 * SMALL  # NumPy's own functions too


@each_row(*HOLES)
@each_row("f4", "f8")
def test_holes_get_better_variant_by_variant_and_stay_right(kind, name):
    hole = HOLES[name]
    arguments = hole.make(1 << 18, kind, seed=3)
    right = hole.reference(*arguments)
    fewest = hole.minimum(*arguments)
    ways = hole.variants.values()
    done = [with_its_own_cache(f, *arguments, minimum=fewest) for f in ways]
    for one in done:
        np.testing.assert_allclose(one.result, right, rtol=1e-4, atol=1e-6)
    scores = [one.score for one in done]
    assert scores == sorted(scores, reverse=True) and len(scores) >= 3
    assert scores[0] > 2 and scores[-1] == pytest.approx(1, rel=1e-2)
    own = [with_its_own_cache(f, *arguments).minimum for f in ways]
    assert own == pytest.approx([fewest] * len(own), rel=0.005)


def test_a_piece_of_a_hole_is_a_quarter_of_the_cache():
    assert 8 * solutions.CHUNK == 8 * 512 * solutions.ROWS == CACHE // 4


@each_row(*HOLES)
def test_the_ledgers_in_the_variants_texts(name):
    hole = HOLES[name]
    arguments = hole.make(1 << 20)
    for variant in hole.variants.values():
        said = float(variant.__doc__.rstrip(".").split()[-1])
        assert with_its_own_cache(variant, *arguments).per_element == pytest.approx(said, rel=0.01)
    assert 8 * hole.trips == said  # the last is the best
