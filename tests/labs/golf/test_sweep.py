"""Chunk sizes: small ones keep the temporary in the cache, and the traced run stays short."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest

from rooflab.labs.golf import HOLES, GolfError, Limits, golf, sweep
from rooflab.labs.golf import score as stopwatch_module
from tests.labs.golf.conftest import SMALL
from tests.support.rows import each_row

AXPY = HOLES["axpy"].variants["chunks"]


def test_the_temporary_drops_into_the_cache():
    sizes = (64, 1024, 4096, 1 << 17)
    found = sweep(AXPY, *HOLES["axpy"].make(1 << 17), chunks=sizes, rounds=1, cache=SMALL)
    assert found.scores == pytest.approx((1, 1, 5 / 3, 5 / 3), rel=0.01)
    assert len(found.seconds) == 4 and min(found.seconds) > 0
    assert [one.elements < 1 << 17 for one in found.golfs] == [True, True, False, False]
    assert max(len(one.steps) for one in found.golfs) <= 3 * 4096
    assert "score" in repr(found) and "ms" in repr(found)


def test_fewer_elements_change_no_score():
    arguments = HOLES["row-l2-norm"].make(1 << 17)
    chunks = HOLES["row-l2-norm"].variants["chunks"]
    (short,) = sweep(chunks, *arguments, chunks=(1,), rounds=0, cache=SMALL).golfs
    full = golf(lambda x: chunks(x, chunk=1), *arguments, cache=SMALL)
    assert len(short.steps) < len(full.steps)
    assert short.score == full.score and short.per_element == full.per_element


def test_a_minimum_is_for_all_elements():
    x = np.ones(1 << 18)

    def twice(x, chunk):
        return sum((2 * x[i : i + chunk]).sum() for i in range(0, len(x), chunk))

    found = sweep(twice, x, chunks=(64, 1 << 18), minimum=4 * x.size, rounds=0, cache=SMALL)
    assert found.scores == pytest.approx((2, 6), rel=0.01)
    assert found.seconds == ()


@each_row(
    (lambda x: x, (64,), ValueError), (AXPY, (), ValueError), (AXPY, (0,), ValueError),
    (AXPY, (-4,), ValueError), (AXPY, (1.5,), TypeError), (AXPY, ("a",), TypeError),
)  # fmt: skip
def test_bad_chunks(function, chunks, error):
    with pytest.raises(error, match="chunk"):
        sweep(function, *HOLES["axpy"].make(1 << 14), chunks=chunks)


def test_timing_leaves_the_inputs_alone_and_starts_from_the_same_values():
    a, x, y = HOLES["axpy"].make(1 << 14)
    before = y.copy()
    done = golf(HOLES["axpy"].variants["out"], a, x, y)
    call, set_back = stopwatch_module.prepared(done, {})
    first = call().copy()
    set_back()
    np.testing.assert_array_equal(call(), first)
    assert done.time(samples=3, seconds=0.01) > 0
    np.testing.assert_array_equal(y, before)


def test_a_sweep_holds_no_arrays():
    """Eleven chunk sizes of lesson 02 held 2 GB of inputs and results."""
    found = sweep(AXPY, *HOLES["axpy"].make(1 << 14), chunks=(64, 1 << 14), rounds=1)
    assert all(one.result is None and one.arguments == () for one in found.golfs)


def test_functions_timed_in_turns_share_their_copies_and_start_from_the_same_values():
    x, seen = np.arange(1000.0), []

    def add(x):
        x += 1
        seen.append(x)
        return x

    def read(x):
        seen.append(x)
        return float(x.sum())

    stopwatch_module.in_turn([golf(add, x), golf(add, x), golf(read, x)], rounds=2)
    timed = seen[3:]  # the first three are golf's own runs
    written = {id(array) for array in timed[0::3] + timed[1::3]}
    assert len(written) == 1, "one copy for both"
    assert all(array is x for array in timed[2::3]), "what is only read is not copied"
    np.testing.assert_array_equal(timed[0], np.arange(1000.0) + 1)


def test_the_best_size_is_the_quickest_and_without_times_the_one_with_fewest_bytes():
    hole = HOLES["axpy"]
    found = sweep(AXPY, *hole.make(1 << 17), chunks=(1 << 17, 1024), rounds=0, cache=SMALL)
    assert found.best == 1024
    assert replace(found, seconds=(1.0, 2.0)).best == 1 << 17


@each_row(("axpy", 65_536), ("row-l2-norm", 128))
def test_the_ways_of_a_hole_take_the_size_of_a_piece_in_numbers(name, rows):
    hole = HOLES[name]
    assert list(hole.ways(65_536)) == list(hole.variants)
    assert hole.ways(65_536)["chunks"].keywords == {"chunk": rows}
    assert hole.ways(1)["chunks"].keywords == {"chunk": 1}
    assert hole.ways(65_536)["expression"] is hole.variants["expression"]


def test_a_sweep_waits_for_small_pieces_longer_than_golf_does_and_no_longer_than_told():
    def endless(x, *, chunk):
        while True:
            x += 1

    waits = inspect.signature(sweep).parameters["limits"].default
    assert waits.seconds > Limits().seconds
    with pytest.raises(GolfError, match=r"stopped after 0\.2 s"):
        sweep(endless, np.ones(2**16), chunks=[2**10], limits=Limits(seconds=0.2), rounds=0)
