"""Small arrays count as cache four at a time: a list of small pieces is a large array."""

from __future__ import annotations

import numpy as np
import pytest

from rooflab.golf import CACHE, golf, sweep
from rooflab.golf.room import CACHE_ROOM

N, CHUNK = 1 << 16, 4096
X, Y = np.arange(1.0, N + 1), np.ones(N)


def plain(x, y):
    return np.add(0.5 * x, y, out=y)


def in_a_list(x, y, chunk=CHUNK):
    pieces = [0.5 * x[at : at + chunk] for at in range(0, len(x), chunk)]
    for number, piece in enumerate(pieces):
        y[number * chunk : (number + 1) * chunk] += piece
    return y


def backwards(x, y):
    pieces = [0.5 * x[at : at + CHUNK] for at in range(0, len(x), CHUNK)]
    for number in reversed(range(len(pieces))):
        y[number * CHUNK : (number + 1) * CHUNK] += pieces[number]
    return y


def everything_in_lists(x, y):
    starts = range(0, len(x), CHUNK)
    xs, ys = ([a[at : at + CHUNK].copy() for at in starts] for a in (x, y))
    sums = [0.5 * a + b for a, b in zip(xs, ys)]
    out = np.empty_like(x)
    for at, one in zip(starts, sums):
        out[at : at + CHUNK] = one
    return out


def in_unseen_arrays(x, y):
    pieces = [np.linspace(0, 1, CHUNK) for _ in range(0, len(x), CHUNK)]
    for number, piece in enumerate(pieces):
        np.multiply(x[number * CHUNK : (number + 1) * CHUNK], 0.5, out=piece)
    for number, piece in enumerate(pieces):
        y[number * CHUNK : (number + 1) * CHUNK] += piece
    return y


@pytest.mark.parametrize("cheat", [in_a_list, everything_in_lists, in_unseen_arrays])
def test_a_list_of_small_pieces_saves_nothing(cheat):
    done = golf(cheat, X, Y)
    assert done.score >= golf(plain, X, Y).score == pytest.approx(40 / 24)
    np.testing.assert_array_equal(done.result, 0.5 * X + Y)


@pytest.mark.parametrize("chunk", [64, 256])
def test_smaller_pieces_do_not_help(chunk):
    x, y = X[: 8 * CHUNK].copy(), Y[: 8 * CHUNK].copy()
    assert golf(lambda x, y: in_a_list(x, y, chunk), x, y).score == pytest.approx(40 / 24)
    found = sweep(in_a_list, np.ones(1 << 20), np.ones(1 << 20), chunks=(chunk,), rounds=0)
    assert found.scores == pytest.approx((40 / 24,))


def test_backwards_keeps_what_the_room_holds():
    """The last pieces can be read in the cache, as in a real one; they are written back later."""
    saved = golf(plain, X, Y).bytes - golf(backwards, X, Y).bytes
    assert saved == CACHE_ROOM * CACHE


@pytest.mark.parametrize(("alive", "spills"), [(CACHE_ROOM, 0), (CACHE_ROOM + 1, 1)])
def test_four_at_a_time(alive, spills):
    def f(x):
        kept = [x[:CHUNK] * i for i in range(alive)]
        return kept[-1].sum()

    done = golf(f, X)
    spilled = [t for step in done.steps if step.call == "spill" for t in step.operands]
    assert [(t.name, t.bytes, t.way, t.where) for t in spilled] == [
        ("tmp1", CACHE, "write", "memory")
    ] * spills
    assert done.bytes == (alive + spills) * CACHE


def test_what_is_gone_or_was_never_written_takes_no_trip():
    def dead(x):
        return [(x[:CHUNK] * i).sum() for i in range(50)]

    def untouched(x):
        kept = [np.zeros(CHUNK) for _ in range(50)]
        return sum(one.sum() for one in kept[:5]) + x[:CHUNK].sum()

    assert golf(dead, X).bytes == 50 * CACHE
    assert golf(untouched, X).bytes == CACHE  # zeros that were only read are not written back


def test_small_inputs_take_no_room():
    small = [np.ones(CHUNK) for _ in range(20)]
    assert golf(lambda *parts: sum(part.sum() for part in parts), *small).bytes == 0


def test_what_spilled_counts_as_memory_from_then_on():
    def f(x):
        first = x[:CHUNK] * 1
        others = [x[:CHUNK] * i for i in range(CACHE_ROOM)]
        first += 1
        return first, others

    last = golf(f, X).steps[-1]
    assert [(t.way, t.where, t.bytes) for t in last.operands] == [
        ("read", "memory", CACHE), ("write", "memory", CACHE),
    ]  # fmt: skip
