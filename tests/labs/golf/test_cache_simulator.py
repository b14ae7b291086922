"""A second, independent count: a simulated cache under the lines that real loops would touch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

import numpy as np
import pytest

from rooflab.labs.golf import HOLES, golf
from tests.labs.golf.support import pieces
from tests.labs.golf.support.lru import LINE, Cache
from tests.labs.golf.support.walked import simulated
from tests.support.rows import each_row

SIZE = 32 * 1024  # bytes of both caches: a small one, so that the walks are short
N = 1 << 16  # elements of the arrays: 16 times that cache
AGREE = 0.03
# Pieces as parts of the cache: up to 3/8 what is used twice stays, from 3/2 on it does not. In
# between there are sizes at which single lines decide, which golf's stretches blur.
PARTS = (1 / 16, 3 / 8, 3 / 2, 4)


def played(hole: str, name: str, part: float | None) -> tuple[Callable, list]:
    """A variant with its pieces ``part`` of the cache long, and its arguments."""
    found = HOLES[hole]
    given = list(found.make(N))
    function = found.variants[name]
    if part is None:
        return function, given
    row = next(a for a in given if isinstance(a, np.ndarray))[0].nbytes
    return functools.partial(function, chunk=max(1, int(part * SIZE / row))), given


VARIANTS = [
    (hole, name, part)
    for hole, found in HOLES.items()
    for name, function in found.variants.items()
    for part in (PARTS if "chunk" in inspect.signature(function).parameters else (None,))
]


@each_row(*VARIANTS)
def test_every_way_to_play_a_hole(hole, name, part):
    function, given = played(hole, name, part)
    counted, walked = golf(function, *given, cache=SIZE).bytes, simulated(function, given, SIZE)
    assert counted == pytest.approx(walked, rel=AGREE)


@each_row(*pieces.PROGRAMS)
def test_programs(name):
    function = pieces.PROGRAMS[name]
    given = pieces.inputs(function, N)
    counted, walked = golf(function, *given, cache=SIZE).bytes, simulated(function, given, SIZE)
    assert counted == pytest.approx(walked, rel=AGREE)


def test_the_simulator_on_its_own_facts():
    """Reading n bytes loads n bytes; twice as well if they do not fit, once if they do."""
    for elements, passes in ((N, 2), (1024, 1)):
        cache = Cache(SIZE)
        array = cache.array(elements)
        for index in [*range(elements)] * 2:
            cache.read(array, index)
        assert cache.bytes() == passes * 8 * elements
    cache = Cache(SIZE)
    one, other = cache.array(N), cache.array(N)
    for index in range(N):
        cache.read(one, index)
        cache.write(other, index)
    assert (cache.bytes(), cache.loaded) == (16 * N, 8 * N)


@pytest.mark.parametrize(("columns", "times"), [(2, 8), (1 / 4, 1)])
def test_columns_load_their_lines_again_where_they_do_not_stay(columns, times):
    """Lines of 8 numbers each: a column of them is twice the cache, or a quarter."""
    m = np.ones((int(columns * SIZE // LINE), 32))

    def doubled(m):
        for j in range(m.shape[1]):
            m[:, j] *= 2.0
        return m

    assert golf(doubled, m, cache=SIZE).bytes == pytest.approx(times * 2 * m.nbytes, rel=0.01)
    assert simulated(doubled, [m], SIZE) == pytest.approx(times * 2 * m.nbytes, rel=0.01)


#: Calls on matrices and vectors, and the bytes that they read. Reported by users.
READS = [
    (lambda x: x[::16].sum(), (4_000_000,), 16e6), (lambda m: m.T + 1, (20_000, 200), 32e6),
    (lambda a: a[:, ::16].copy(), (2000, 1000), 8.064e6), (lambda s: s.T @ s, (1000, 1000), 8e6),
    (lambda a: a[:, 0].copy(), (2000, 1000), 0.128e6), (lambda s: s + s.T, (1000, 1000), 15.75e6),
    (lambda m: m.T.copy(), (20_000, 200), 256e6), (lambda s: s.T.copy(), (1000, 1000), 8e6),
]  # fmt: skip


def test_views_read_the_lines_that_they_touch_in_the_order_of_the_call():
    for function, shape, expected in READS:
        steps = golf(function, np.ones(shape)).steps
        moved = sum(t.moved for step in steps for t in step.operands if t.way == "read")
        assert moved == pytest.approx(expected, rel=0.02), (shape, expected)


# Where the two differ, and why


def test_scattered_elements_load_a_line_each():
    """golf counts 8 bytes for an element that an index names; a lone element loads 64."""
    cache, random = Cache(SIZE), np.random.default_rng(7)
    x, index = cache.array(N), random.integers(0, N, N)
    for i in index:
        cache.read(x, int(i))
    gathered = golf(lambda x, i: x[i], np.ones(N), index, cache=SIZE)
    (read,) = [t for t in gathered.steps[0].operands if t.name == "x"]
    assert read.moved == 8 * N
    assert 4 * read.moved < cache.bytes() <= LINE * N


def test_one_call_carries_the_same_bytes_once():
    """Here it meets them at two times; golf does not look into a call."""
    function, given = lambda x: x + x[::-1], [np.ones(N)]
    assert golf(function, *given, cache=SIZE).bytes == 16 * N
    assert simulated(function, given, SIZE) == pytest.approx(24 * N, rel=0.02)


def test_a_piece_of_just_half_the_cache_is_blurred():
    """One line more or less decides there; golf rounds in favour of the player."""
    function, given = played("axpy", "chunks", 1 / 2)
    counted, walked = golf(function, *given, cache=SIZE).bytes, simulated(function, given, SIZE)
    assert counted < 0.8 * walked
