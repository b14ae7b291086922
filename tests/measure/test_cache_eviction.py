"""Working sets sit inside their level, with one thread and with many."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from rooflab.measure.caches import beyond_caches, cache_levels, sharers
from rooflab.measure.operands import HUGE_PAGE, affordable, aligned

KIB, MIB = 1 << 10, 1 << 20
SIZES = st.tuples(st.integers(16, 192), st.floats(4, 64), st.floats(2, 64)).map(
    lambda t: {"l1": t[0] * KIB, "l2": int(t[0] * KIB * t[1]), "l3": int(t[0] * KIB * t[1] * t[2])}
)


@given(SIZES)
def test_one_thread_s_working_set_fits_its_level_and_not_the_one_below(sizes):
    levels = cache_levels(sizes, 1, {})
    below = 0
    for level in levels:
        assert below < level.per_thread < level.capacity == sizes[level.name]
        below = level.capacity
    assert beyond_caches(levels, 0) >= 4 * sizes["l3"]


@given(SIZES, st.integers(1, 128), st.integers(1, 64))
def test_threads_divide_a_shared_cache_and_multiply_private_ones(sizes, threads, by):
    levels = {level.name: level for level in cache_levels(sizes, threads, {"l3": by})}
    assert levels["l2"].capacity == threads * sizes["l2"]
    assert levels["l3"].capacity == math.ceil(threads / by) * sizes["l3"]
    crowd = min(threads, by)
    if sizes["l3"] / crowd > sizes["l2"]:
        assert levels["l3"].per_thread * crowd <= sizes["l3"]


def test_levels_of_real_machines():
    zen4 = cache_levels(
        {"l1": 32 * KIB, "l2": MIB, "l3": 32 * MIB}, 16, {"l1": 2, "l2": 2, "l3": 16}
    )
    assert [level.capacity for level in zen4] == [8 * 32 * KIB, 8 * MIB, 32 * MIB]
    apple = cache_levels({"l1": 128 * KIB, "l2": 12 * MIB, "l3": None}, 1, {})  # it has no L3
    assert [level.name for level in apple] == ["l1", "l2"]
    assert beyond_caches(apple, 0) == 48 * MIB
    assert cache_levels({"l1": None, "l2": None, "l3": None}, 4, {}) == []
    assert beyond_caches([], 32 * MIB) == 128 * MIB


def test_cores_with_caches_of_their_own_get_memory_of_their_own():
    levels = cache_levels({"l1": 32 * KIB, "l2": MIB, "l3": 32 * MIB}, 2, {"l3": 2})
    assert beyond_caches(levels, 0, threads=2) == 2 * 4 * 32 * MIB
    assert beyond_caches(levels, 0, threads=128) == 1 << 30


def test_sharers_reads_what_linux_lists(tmp_path):
    for index, (level, kind, cpus) in enumerate(
        [("1", "Data", "0"), ("1", "Instruction", "0-7"), ("2", "Unified", "0,32"),
         ("3", "Unified", "0-7,32-39\n")]
    ):  # fmt: skip
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("shared_cpu_list", cpus)):
            (folder / name).write_text(text)
    (tmp_path / "index9").mkdir()  # a level without files is left out
    assert sharers(tmp_path) == {"l1": 1, "l2": 2, "l3": 16}
    assert sharers(tmp_path / "nowhere") == {}


def test_memory_is_aligned_and_leaves_three_quarters_free():
    for nbytes in (64, 3 * MIB):
        part = aligned(nbytes)
        assert part.ctypes.data % HUGE_PAGE == 0
        assert part.nbytes == nbytes
    assert affordable(100, free=1000) == 100
    assert affordable(1000, free=1000) == 250
