"""Chunk sizes: small ones keep the temporary in the cache, and the traced run stays short."""

from __future__ import annotations

import numpy as np
import pytest

from rooflab.golf import HOLES, golf, sweep
from rooflab.golf import stopwatch as stopwatch_module
from tests.golf.conftest import SMALL

AXPY = HOLES["axpy"].variants["chunks"]


def test_the_temporary_drops_into_the_cache():
    sizes = (64, 1024, 4096, 1 << 17)
    found = sweep(AXPY, *HOLES["axpy"].make(1 << 17), chunks=sizes, rounds=1, cache=SMALL)
    assert found.scores == pytest.approx((1, 1, 5 / 3, 5 / 3), rel=0.01)
    assert len(found.seconds) == 4 and min(found.seconds) > 0
    assert found.scaled == (True, True, False, False)
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
