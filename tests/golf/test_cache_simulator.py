"""A second, independent count: a simulated cache of 32 KiB under explicit loops."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from rooflab.golf import HOLES, golf
from tests.golf import loops
from tests.golf.conftest import COLUMNS, ROWS, N
from tests.golf.lru import LINE, Cache

FEW_PER_CENT = 0.03  # small arrays (temporaries of a chunk, sums of rows) cross the bus once


def counted(name, function, arrays) -> int:
    parameters = inspect.signature(function).parameters
    on_rows = {"x": "m"} if "rows" in name or "bias" in name else {}
    return golf(function, *(arrays[on_rows.get(p, p)] for p in parameters if p != "chunk")).bytes


@pytest.mark.parametrize("name", loops.PAIRS)
def test_golf_agrees_with_the_simulated_cache(name, arrays):
    simulate, function = loops.PAIRS[name]
    cache = Cache()
    simulate(cache)
    assert counted(name, function, arrays) == pytest.approx(cache.bytes(), rel=FEW_PER_CENT)


def test_the_simulator_on_its_own_facts():
    """Reading n bytes loads n bytes; twice as well if they do not fit, once if they do."""
    for elements, passes in ((N, 2), (1024, 1)):
        cache = Cache()
        array = cache.array(elements)
        for _ in range(2):
            loops.total(cache, array, elements)
        assert cache.bytes() == passes * 8 * elements
    cache = Cache()
    loops.elementwise(cache, [cache.array(N)], cache.array(N))
    assert (cache.bytes(), cache.loaded) == (16 * N, 8 * N)


# Where the two differ, and why


def test_a_temporary_as_large_as_the_cache_is_pushed_out_of_it(arrays):
    """The rule takes 32 KiB as cache; a cache of exactly 32 KiB also holds what streams past.

    A real core has a second level behind it, which the rule leaves out.
    """
    cache, roomy = Cache(), Cache(128 * 1024)
    loops.axpy_chunks(cache, 4096)
    loops.axpy_chunks(roomy, 4096)
    chunks = HOLES["axpy"].variants["chunks"]
    rule = golf(chunks, 0.5, arrays["x"], arrays["y"]).bytes
    assert rule == 24 * N
    assert cache.bytes() > 1.5 * rule
    assert roomy.bytes() == pytest.approx(rule, rel=0.05)


def test_every_second_element_still_carries_whole_lines(arrays):
    """golf counts the elements that a view names; the bus carries lines of 64 bytes."""
    cache = Cache()
    x, z = cache.array(N), cache.array(N // 2)
    for i in range(N // 2):
        cache.read(x, 2 * i)
        cache.write(z, i)
    assert golf(lambda x: 2 * x[::2], arrays["x"]).bytes == 8 * N
    assert cache.bytes() == 12 * N


def test_a_row_read_twice_may_still_be_there(arrays):
    """golf counts a view of a large array as memory each time; the cache keeps a short row."""

    def rows(m):
        out = np.empty_like(m)
        for row, target in zip(m, out):
            np.divide(row, np.sqrt(np.dot(row, row)), out=target)
        return out

    cache = Cache()
    m, z = cache.array(N), cache.array(N)
    for row in range(ROWS):
        for i in range(COLUMNS):
            cache.read(m, row * COLUMNS + i)
        for i in range(COLUMNS):
            cache.read(m, row * COLUMNS + i)
            cache.write(z, row * COLUMNS + i)
    assert golf(rows, arrays["m"]).bytes == 24 * N
    assert cache.bytes() == 16 * N


def test_scattered_elements_load_a_line_each(arrays):
    """golf counts 8 bytes for an element that an index names; a lone element loads 64."""
    cache = Cache()
    x = cache.array(N)
    for i in arrays["i"]:
        cache.read(x, int(i))
    gathered = golf(lambda x, i: x[i], arrays["x"], arrays["i"])
    (read,) = [t for t in gathered.steps[0].operands if t.name == "x"]
    assert read.bytes == 8 * N
    assert cache.bytes() > 4 * read.bytes
    assert cache.bytes() <= LINE * N
