"""Chunk sizes: small ones keep the temporary in the cache, and the traced run stays short."""

from __future__ import annotations

import numpy as np
import pytest

from rooflab.golf import HOLES, golf, sweep
from rooflab.golf import stopwatch as stopwatch_module

AXPY = HOLES["axpy"].variants["chunks"]


def test_the_temporary_drops_into_the_cache():
    found = sweep(AXPY, *HOLES["axpy"].make(1 << 17), chunks=(64, 4096, 8192, 1 << 17), rounds=1)
    assert found.scores == pytest.approx((1, 1, 5 / 3, 5 / 3))
    assert len(found.seconds) == 4 and min(found.seconds) > 0
    assert found.scaled == (True, False, False, False)
    assert max(len(one.steps) for one in found.golfs) <= 3 * 4096
    assert "score" in repr(found) and "ms" in repr(found)


def test_fewer_elements_change_no_score():
    arguments = HOLES["row-l2-norm"].make(1 << 17)
    chunks = HOLES["row-l2-norm"].variants["chunks"]
    (short,) = sweep(chunks, *arguments, chunks=(1,), rounds=0).golfs
    full = golf(lambda x: chunks(x, chunk=1), *arguments)
    assert len(short.steps) < len(full.steps)
    assert short.score == full.score and short.per_element == full.per_element


def test_a_minimum_is_for_all_elements():
    x = np.ones(1 << 18)

    def twice(x, chunk):
        return sum((2 * x[i : i + chunk]).sum() for i in range(0, len(x), chunk))

    found = sweep(twice, x, chunks=(64, 1 << 18), minimum=4 * x.size, rounds=0)
    assert found.scores == pytest.approx((2, 6))
    assert found.seconds == ()


@pytest.mark.parametrize(
    ("function", "chunks", "error"),
    [
        (lambda x: x, (64,), ValueError),
        (AXPY, (), ValueError),
        (AXPY, (0,), ValueError),
        (AXPY, (-4,), ValueError),
        (AXPY, (1.5,), TypeError),
        (AXPY, ("a",), TypeError),
    ],
)
def test_bad_chunks(function, chunks, error):
    with pytest.raises(error, match="chunk"):
        sweep(function, *HOLES["axpy"].make(1 << 14), chunks=chunks)


def test_timing_leaves_the_inputs_alone_and_starts_from_the_same_values():
    a, x, y = HOLES["axpy"].make(1 << 14)
    before = y.copy()
    done = golf(HOLES["axpy"].variants["out"], a, x, y)
    call, set_back = stopwatch_module.prepared(done)
    first = call().copy()
    set_back()
    np.testing.assert_array_equal(call(), first)
    assert done.time(samples=3, seconds=0.01) > 0
    np.testing.assert_array_equal(y, before)


def test_a_sweep_holds_no_arrays():
    """Eleven chunk sizes of lesson 02 held 2 GB of inputs and results."""
    found = sweep(AXPY, *HOLES["axpy"].make(1 << 14), chunks=(64, 1 << 14), rounds=1)
    assert all(one.result is None and one.arguments == () for one in found.golfs)
    with pytest.raises(ValueError, match="without its function"):
        found.golfs[0].time()


def test_functions_that_are_timed_in_turns_share_the_copies():
    a, x, y = HOLES["axpy"].make(1 << 14)
    done = [golf(HOLES["axpy"].variants["out"], a, x, y) for _ in range(3)]
    copies: dict = {}
    for one in done:
        stopwatch_module.prepared(one, copies)
    assert len(copies) == len(done[0].written)
