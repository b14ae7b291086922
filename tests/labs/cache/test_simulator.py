"""The compiled caches: known patterns, and plain caches in Python on whatever hypothesis draws."""

from __future__ import annotations

import dataclasses
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.cache import AccessStream, Cache, Guard, Hierarchy, Reference, simulate, simulator
from rooflab.labs.cache.ledger import KINDS
from rooflab.labs.loops.nest import Nest
from tests.support.plain_caches import PlainCaches, walked
from tests.support.rows import each_row

QUICK = settings(max_examples=60, deadline=None)
LINE = 16


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """One to three small caches of every kind."""
    levels = []
    for at in range(draw(st.integers(1, 3))):
        sets, ways = draw(st.integers(1, 5)), draw(st.integers(1, 4))
        levels.append(
            Cache(
                f"L{at + 1}", sets * ways * LINE, ways, LINE,
                write_allocate=draw(st.booleans()), prefetch=draw(st.booleans()),
            )
        )  # fmt: skip
    kind = draw(st.sampled_from(({}, {"inclusive": True}, {"exclusive": len(levels) > 1})))
    return Hierarchy(*levels, **kind)


@st.composite
def streams(draw: st.DrawFn) -> AccessStream:
    """Up to three loops with a few references, some before or after inner loops.

    The innermost loop may be long and its steps short: its turns are then simulated together.
    """
    loops = draw(st.integers(1, 3))
    extents = (*(draw(st.integers(1, 4)) for _ in range(loops - 1)), draw(st.integers(1, 40)))
    number = st.sampled_from((0, 0, 1, 2, 4, -1, -4, 8, -8, 16, -16, 24))
    references = tuple(
        Reference(
            array=draw(st.sampled_from("AB")),
            offset=draw(st.integers(800, 900)),
            strides=tuple(draw(number) for _ in range(loops)),
            depth=draw(st.integers(0, loops)),
            write=draw(st.booleans()),
            bytes=draw(st.sampled_from((1, 2, 4, 4, 8, 20))),
            when=draw(st.sampled_from(("before", "after"))),
        )
        for _ in range(draw(st.integers(1, 4)))
    )
    guards = tuple(
        Guard(tuple(draw(st.integers(0, 3)) for _ in range(loops)), draw(st.integers(1, 12)))
        for _ in range(draw(st.integers(0, 2)))
    )
    return AccessStream(extents, references, guards)


def counted(ledger: rl.cache.Ledger) -> dict[tuple[str, int, str], int]:
    """What a ledger holds, but for zeros, with the oracle's keys."""
    return {
        (operand, level, kind): int(ledger.counts[row, level, at])
        for row, operand in enumerate(ledger.operands)
        for level in range(len(ledger.hierarchy.names))
        for at, kind in enumerate(KINDS)
        if ledger.counts[row, level, at]
    }


def expected(caches: PlainCaches) -> dict[tuple[str, int, str], int]:
    return {key: number for key, number in caches.counts.items() if number}


@pytest.fixture(params=["by age", "by a linked list"], autouse=True)
def replacement(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to find the oldest line, whatever the number of ways."""
    monkeypatch.setattr(simulator, "FEW_WAYS", 32 if request.param == "by age" else 0)


# Facts


def test_a_vector_that_fits_is_fetched_once_and_one_that_does_not_every_time():
    for elements, times in ((1024, 1), (2048, 2)):
        twice = AccessStream((2, elements), (Reference("x", 0, (0, 4), 2),))
        assert simulate(twice, Cache("L1", 4096)).bytes() == times * 4 * elements


def test_one_element_more_than_fits_costs_every_access_of_a_loop():
    """What makes LRU infamous: the line that comes next is always the one that has just left."""
    for lines, misses in ((64, 64), (65, 10 * 65)):
        loop = np.tile(np.arange(lines) * 64, 10)
        assert simulate(loop, Cache("L1", 4096)).traffic("L1").misses == misses


def test_written_lines_cross_twice_and_a_streaming_store_once():
    stores = Nest({"i": 1024}, "y[i] = x[i]").stream()
    ledger = simulate(stores, Cache("L1", 4096))
    assert (ledger.bytes("L1", "x"), ledger.bytes("L1", "y")) == (4096, 8192)
    past = simulate(stores, Cache("L1", 4096, write_allocate=False))
    assert past.traffic("L1", "y").bytes_in == 0
    assert past.bytes("L1", "y") == 4096


def test_the_next_line_is_there_when_a_walk_comes_to_it():
    walk = np.arange(0, 64 * 1000, 4)
    without, ahead = (simulate(walk, Cache("L1", 4096, prefetch=p)) for p in (False, True))
    assert (without.traffic().misses, ahead.traffic().misses) == (1000, 500)
    assert ahead.traffic().prefetched == ahead.traffic().useful == 500
    assert ahead.bytes() == without.bytes()


def test_addresses_of_one_set_push_each_other_out_though_there_is_room():
    """Five lines, 4096 bytes apart, in a cache of 64 sets and 4 ways."""
    apart = np.tile(np.arange(5) * 4096, 100)
    assert simulate(apart, Cache("L1", 64 * 4 * 64, ways=4)).traffic().misses == 500
    assert simulate(apart, Cache("L1", 64 * 4 * 64)).traffic().misses == 5


def test_an_inclusive_level_takes_its_lines_away_from_those_above():
    """One line is used all the time; the level below sees it once and drops it."""
    trace = np.array([address for other in range(1, 65) for address in (0, 64 * other)])
    levels = Cache("L1", 128), Cache("L2", 256)
    apart = simulate(trace, Hierarchy(*levels))
    inclusive = simulate(trace, Hierarchy(*levels, inclusive=True))
    assert apart.traffic("L1").misses == 65
    assert inclusive.traffic("L1").misses > 65 + 10


def test_a_place_that_became_empty_is_taken_before_a_line_leaves():
    """Line 2 drives line 0 out of the level below, so out of this one; line 1 can stay."""
    levels = Cache("L1", 2 * LINE, line=LINE), Cache("L2", 2 * LINE, ways=1, line=LINE)
    trace = [LINE, 0, 2 * LINE, LINE]
    assert simulate(trace, Hierarchy(*levels, inclusive=True)).traffic("L1").misses == 3


def test_turns_that_are_alike_are_not_simulated_together_around_a_prefetch():
    """The line fetched ahead is newer than x and y after the first turn, older after the second."""
    cache = Hierarchy(Cache("L1", 4 * LINE, line=LINE, prefetch=True))
    x, y = Reference("x", 0, (0, 0), 2, bytes=1), Reference("y", 160, (0, 1), 2, bytes=1)
    z = Reference("z", 320, (320, 0), 1, bytes=1)
    stream, plain = AccessStream((3, 8), (z, x, y)), PlainCaches(cache)
    for one, address in walked(stream):
        plain.access(one.array, address, one.bytes, one.write)
    plain.flush()
    assert counted(simulate(stream, cache)) == expected(plain)


def test_turns_that_are_alike_write_what_the_first_of_them_wrote_past_the_cache():
    """The first store misses and goes past; the load fetches its line, and later stores hit it."""
    store = Reference("A", 800, (0,), 1, write=True, bytes=1)
    load = Reference("A", 800, (0,), 1, bytes=1)
    past = Cache("L1", LINE, ways=1, line=LINE, write_allocate=False)
    for turns, lines in ((1, 0), (2, 1), (40, 1)):
        traffic = simulate(AccessStream((turns,), (store, load)), past).traffic()
        assert traffic.bytes_out == 1 + lines * LINE, turns


def test_warm_caches_have_no_first_misses():
    x = AccessStream((1024,), (Reference("x", 0, (4,), 1),))
    assert simulate(x, Cache("L1", 4096), warm=True).traffic().misses == 0
    assert simulate(x, Cache("L1", 2048), warm=True).traffic().misses == 64


def test_what_is_dirty_at_the_end_is_written_unless_one_says_no():
    y = AccessStream((1024,), (Reference("y", 0, (4,), 1, write=True),))
    assert simulate(y, Cache("L1", 1 << 20)).traffic().bytes_out == 4096
    assert simulate(y, Cache("L1", 1 << 20), flush=False).traffic().bytes_out == 0


def test_several_nests_run_one_after_the_other_over_the_same_caches():
    x = AccessStream((512,), (Reference("x", 0, (4,), 1),))
    assert simulate([x, x], Cache("L1", 4096)).bytes() == 2048
    assert simulate([x, x], Cache("L1", 1024)).bytes() == 4096


# The same in plain Python


@QUICK
@given(hierarchies(), st.lists(st.tuples(st.integers(0, 400), st.booleans()), max_size=120))
def test_every_trace_as_plain_caches_count_it(
    hierarchy: Hierarchy, trace: list[tuple[int, bool]]
) -> None:
    plain = PlainCaches(hierarchy)
    for address, write in trace:
        plain.access("trace", address, 8, write)
    plain.flush()
    addresses, writes = [a for a, _ in trace], np.array([w for _, w in trace], bool)
    ledger = simulate(addresses, hierarchy, writes=writes, width=8)
    assert counted(ledger) == expected(plain)


@QUICK
@given(hierarchies(), streams())
def test_every_stream_as_loops_within_loops_make_it(
    hierarchy: Hierarchy, stream: AccessStream
) -> None:
    plain = PlainCaches(hierarchy)
    asked = dict.fromkeys(stream.arrays, 0)
    for reference, address in walked(stream):
        plain.access(reference.array, address, reference.bytes, reference.write)
        asked[reference.array] += reference.bytes
    plain.flush()
    ledger = simulate(stream, hierarchy)
    assert counted(ledger) == expected(plain)
    assert ledger.requested == asked


@QUICK
@given(hierarchies(), st.integers(0, 8), streams(), st.booleans())
def test_places_that_are_never_used_change_no_count(
    hierarchy: Hierarchy, doublings: int, stream: AccessStream, warm: bool
) -> None:
    """However large a cache is, it has only the places that the addresses can use."""
    caches = [
        dataclasses.replace(one, capacity=one.capacity << doublings) for one in hierarchy.caches
    ]
    large = Hierarchy(*caches, inclusive=hierarchy.inclusive)
    found = simulate(stream, large, warm=warm)
    with mock.patch.object(
        simulator, "_room", lambda cache, _: (cache.sets, cache.lines // cache.sets)
    ):
        whole = simulate(stream, large, warm=warm)
    assert counted(found) == counted(whole)


@each_row(None, 8)
def test_a_cache_of_terabytes_takes_no_memory(ways: int | None) -> None:
    x = AccessStream((2, 512), (Reference("x", 0, (0, 4), 2),))
    assert simulate(x, Cache("L3", 1 << 45, ways)).bytes() == 2048


def test_addresses_may_begin_anywhere():
    near = rl.cache.gemm_stream(20, 20, 20)
    far = rl.cache.gemm_stream(20, 20, 20, bases=[(1 << 40) + base for base in (0, 4096, 8192)])
    caches = Hierarchy(Cache("L1", 2048, ways=2), Cache("L2", 8192, ways=4))
    assert str(simulate(far, caches)) == str(simulate(near, caches))


# What a ledger gives


def test_a_ledger_becomes_the_traffic_of_an_operation():
    caches = Hierarchy(Cache("L1", 4096, 4), Cache("L2", 16384, 8), Cache("L3", 65536, 16))
    ledger = simulate(rl.cache.gemm_stream(64, 64, 64), caches)
    op = ledger.of(rl.gemm(64, 64, 64))
    assert op.traffic == {
        "l1": ledger.bytes("registers"), "l2": ledger.bytes("L1"),
        "l3": ledger.bytes("L2"), "dram": ledger.bytes("L3"),
    }  # fmt: skip
    assert ledger.bytes_per_flop(op) == ledger.bytes("L3") / 2 / 64**3
    assert ledger.bytes("registers", "A") == 4 * 64**3


def test_a_ledger_prints_a_row_for_each_level_and_operand():
    caches = Hierarchy(Cache("L1", 4096, 4), Cache("L2", 16384, 8))
    rows = str(simulate(rl.cache.gemm_stream(8, 8, 8), caches)).splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [
        [level, name] for level in ("L1", "L2") for name in ("C", "A", "B", "all")
    ]


def test_a_last_level_of_victims_adds_its_room_to_the_one_above():
    """12 KiB walked twice: 4 and 8 KiB hold them together, one within the other do not."""
    levels = Cache("L1", 4 << 10), Cache("L2", 8 << 10)
    twice = AccessStream((2, 3072), (Reference("x", 0, strides=(0, 4), depth=2),))
    fetched = {
        kind: simulate(twice, Hierarchy(*levels, **{kind: True})).traffic("L2").bytes_in // 64
        for kind in ("exclusive", "inclusive")
    }
    assert fetched == {"exclusive": 192, "inclusive": 384}


def test_any_number_of_sets_may_be_told():
    """An L3 of 25 MiB in 20 ways, as a Xeon has it: line modulo sets."""
    cache = Cache("L3", 25 << 20, 20)
    assert cache.sets == 20_480
    column = AccessStream((2, 21), (Reference("x", 0, strides=(0, 20_480 * 64), depth=2),))
    assert simulate(column, cache).traffic("L3").misses == 42
    assert simulate(column, Cache("L3", 25 << 20, 25)).traffic("L3").misses == 21


def test_the_caches_of_machines():
    mine = rl.Machine(
        "mine", peaks={"fp32": 1e11}, bandwidths=1e10,
        capacities={"l1": 48 << 10, "l2": 1280 << 10, "l3": 36 << 20},
    )  # fmt: skip
    for cache, capacity in zip(Hierarchy.like(mine).caches, (48 << 10, 1280 << 10, 36 << 20)):
        assert cache.capacity == capacity
        assert cache.sets & (cache.sets - 1) == 0
        assert cache.ways < 40
    assert Hierarchy.like().names[0] == "L1"
