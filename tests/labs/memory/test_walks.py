"""Chases: one cycle through all lines, in memory of its own, followed by real loads."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.labs.memory import walks
from rooflab.labs.memory.walks import Place, chase, copy, cycle, lay, places, read, stores_of
from rooflab.measure.operands import HUGE_PAGE, aligned
from rooflab.measure.roof_kernels import chase_hops
from rooflab.measure.roofs import SKEW
from rooflab.measure.threads import Crew
from tests.support.rows import each_row

LINE = 64


@given(st.integers(1, 3000), st.sampled_from([16, 256, walks.BLOCK]), st.integers(0, 2**32 - 1))
def test_a_cycle_comes_by_every_line_once(lines, block, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "BLOCK", block)
        order = cycle(lines, np.random.default_rng(seed))
    assert sorted(order.tolist()) == list(range(lines))


@each_row(256, walks.BLOCK)
def test_a_cycle_has_no_stride_that_a_prefetcher_could_learn(block, monkeypatch):
    monkeypatch.setattr(walks, "BLOCK", block)
    steps = np.diff(cycle(4096, np.random.default_rng(0)))
    _, counts = np.unique(steps, return_counts=True)
    assert counts.max() < 0.02 * len(steps) and (abs(steps) == 1).mean() < 0.02


def test_no_two_blocks_are_walked_alike(monkeypatch):
    monkeypatch.setattr(walks, "BLOCK", 256)
    order = cycle(16 * 256, np.random.default_rng(3)).reshape(16, 256)
    assert len({tuple(row) for row in (order % 256).tolist()}) >= 14  # two of 16 may meet


def test_the_memory_holds_one_cycle_and_no_shorter_ones():
    """A random permutation would do with many short cycles: most of the lines unvisited."""
    store = aligned(1000 * LINE)
    addresses = lay(store, Place(1000), LINE, seed=2)
    at, seen = int(addresses[0]), []
    for _ in range(1000):
        seen.append(at)
        at = int(store.view(np.int64)[(at - store.ctypes.data) // 8])
    assert at == addresses[0] and seen == addresses.tolist() and len(set(seen)) == 1000


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=40, unique=True))
def test_cycles_never_share_an_address(lines):
    found, room = places(lines, LINE)
    taken = set()
    for place, wanted in zip(found, lines):
        assert place.lines == wanted and place.offset + wanted * LINE <= room
        first = place.offset // LINE
        own = {(place.lane, line) for line in range(first, first + wanted)}
        assert not own & taken
        taken |= own
    assert room >= max(lines) * LINE


def test_working_sets_of_a_mountain_fit_into_the_memory_of_the_largest():
    lines = [64 * 2 ** (i // 4) + 16 * (i % 4) * 2 ** (i // 4) for i in range(64)]
    assert places(lines, LINE)[1] == max(lines) * LINE


@each_row(1, 3, 8, 40)
def test_loads_follow_the_cycle(chains):
    """After so many turns each chase stands where the cycle says, and goes on from there."""
    lines, turns = 500, 37
    store = aligned(lines * LINE + 4096)
    addresses = lay(store, Place(lines, lane=3, offset=4096), LINE, seed=1)
    begin = np.arange(chains) * lines // chains
    walk = chase([store], [addresses], chains)
    with Crew(1) as crew:
        for number in (1, 2):
            (job,) = walk.jobs(turns)
            crew.time([job])
            hops = number * turns * chase_hops(chains)
            at = np.array((ctypes.c_int64 * chains).from_address(job[1][0]))
            assert at.tolist() == addresses[(begin + hops) % lines].tolist()


def test_streams_walk_what_they_should():
    """Reading leaves all as it is; copying moves the first half, and nothing behind it."""
    with Crew(1) as crew:
        (source,), (target,) = stores_of(8192, crew), stores_of(8192, crew)
        source[:] = np.arange(source.nbytes) % 251
        before = source.copy()
        crew.time(read(8192, [source]).jobs(2))
        one = copy(8192, [source], [target])
        crew.time(one.jobs(1))
    assert (source == before).all() and one.amount == 8192
    assert (target[SKEW : SKEW + 4096] == source[:4096]).all()
    assert (target[:SKEW] == 1).all() and (target[SKEW + 4096 :] == 1).all()


def test_a_visit_adds_one_sample_and_aims_at_its_length():
    store = aligned(64 * LINE)
    walk = chase([store], [lay(store, Place(64), LINE, 0)])
    with Crew(1) as crew:
        for _ in range(6):
            walk.visit(crew)
    assert len(walk.samples) == 6 and all(0 < one < 1e-6 for one in walk.samples)
    assert walk.passes > 100


def test_lines_of_other_lengths():
    store = aligned(100 * 128)
    addresses = lay(store, Place(100), 128, 0)
    assert set((addresses - store.ctypes.data).tolist()) == set(range(0, 12800, 128))


SMAPS = """{first:x}-{last:x} rw-p 00000000 00:00 0
Size:               8192 kB
AnonHugePages:      {huge} kB
VmFlags: rd wr
7f0000000000-7f0000001000 r--p 00000000 08:01 1  /lib/libc.so
AnonHugePages:         0 kB
"""


@each_row((8192, 1.0), (2048, 0.25), (0, 0.0))
def test_the_share_in_huge_pages_is_read_from_the_system(huge, share, tmp_path):
    store = aligned(4 * HUGE_PAGE)
    first = store.ctypes.data
    told = tmp_path / "smaps"
    told.write_text(SMAPS.format(first=first, last=first + store.nbytes, huge=huge))
    assert walks.huge_page_share(store, told) == share


def test_no_share_where_nobody_tells(tmp_path):
    assert walks.huge_page_share(aligned(4 * HUGE_PAGE), tmp_path / "none") is None
    assert walks.huge_page_share(np.zeros(64, np.uint8)) is None
    (tmp_path / "other").write_text("not a list of pieces")
    assert walks.huge_page_share(aligned(4 * HUGE_PAGE), tmp_path / "other") is None
