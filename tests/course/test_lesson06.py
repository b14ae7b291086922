"""Facts of lesson 06, its exercises and its sentences."""

from __future__ import annotations

import math
import random
from functools import cache

import numpy as np
import pytest

import rooflab as rl
from rooflab.exercises.registry import exercise, lesson
from rooflab.exercises.sentences import conclude
from rooflab.labs.memory.concurrency import CHAINS, Concurrency, Run
from rooflab.labs.memory.levels import hierarchy
from rooflab.labs.memory.mountain import Mountain
from tests.course.machines import MACHINES, MIXES, MiB, Simulated, unsaid
from tests.course.verdicts import refused
from tests.labs.memory.support.synthetic import zen
from tests.support.rows import each_row

SEEDS = [0, *range(40)]


def right(id: str, *inputs):
    return exercise(id).reference(*inputs)


def by_the_curve(sizes, seconds):
    """06-levels from where the slope of the logarithms is steep."""
    steep = np.diff(np.log(seconds)) / np.diff(np.log(sizes)) > 0.5
    return list(np.array(sizes[:-1])[steep])


def by_marking(follows):
    """06-claim-chain with a mark on every line that was visited."""
    visited, at = [False] * len(follows), 0
    while not visited[at]:
        visited[at], at = True, follows[at]
    return 64 * sum(visited)


OTHER_WAYS = {
    "06-levels": by_the_curve,
    "06-claim-chain": by_marking,
    "06-underway": lambda b, t, n: (b / (64 / t), min(b, n * 64 / t), math.ceil(b * t / n / 64)),
    "06-bus": lambda r, a, b, f: r / (len(a) + len(b)) * (len(a) + len(b) + f * len({*b} - {*a})),
    "06-break-even": lambda s, b, p, q, peak, w: (s * b / ((p + q) / 3), peak / w / (2 / 3 / s)),
    "06-token": lambda w, s, n, c, b, p, q: (
        (w * (s / n * b + p + q) + c * b) / 1e12, 1 / ((p + q) / s / b)
    ),
}  # fmt: skip


def test_other_algebra_is_accepted():
    assert not refused(OTHER_WAYS, SEEDS)


def test_every_exercise_has_another_way():
    assert {e.id for e in lesson("06")} == set(OTHER_WAYS) and len(OTHER_WAYS) >= 6


def test_a_product_of_392_costs_as_much_to_carry_as_to_compute_at_45_nm():
    """Horowitz (ISSCC 2014): 0.9 and 4 pJ for an fp32 addition and multiplication, rounded, and
    Dally (MICRO 2019): 640 pJ for a word of 4 bytes from memory."""
    even, _ = right("06-break-even", 4, 640 / 4, 0.9, 4.0, 1.0, 1.0)
    assert even == pytest.approx(392, abs=0.5)


def test_the_time_of_a_product_breaks_even_at_the_ridge():
    _, even = right("06-break-even", 8, 1.0, 1.0, 1.0, 3e12, 2e10)
    n = round(even)
    assert rl.gemm(n, n, n, "fp64").intensity == pytest.approx(3e12 / 2e10, rel=0.01)


def test_stream_counts_a_triad_three_times_and_the_bus_carries_four():
    """McCalpin's STREAM counts 24 bytes for a triad in fp64; with write-allocate 32 travel."""
    assert right("06-bus", 24.0, ["b", "c"], ["a"], True) == 32
    assert right("06-bus", 16.0, ["x"], ["y"], True) == 24
    assert right("06-bus", 16.0, ["x"], ["y"], False) == 16
    assert right("06-bus", 24.0, ["x", "y"], ["y"], True) == 24


def test_one_line_at_a_time_is_a_bandwidth_that_no_one_would_buy():
    """64 bytes every 80 ns are 0.8 GB/s; 20 lines in flight make 16 GB/s of it (Little's law)."""
    assert right("06-underway", 1e12, 80e-9, 1)[1] == pytest.approx(0.8e9)
    assert right("06-underway", 1e12, 80e-9, 20)[1] == pytest.approx(16e9)
    assert right("06-underway", 16e9, 80e-9, 20)[0] == pytest.approx(20)


def test_the_cases_of_the_chain_are_permutations():
    for seed in SEEDS:
        for case in exercise("06-claim-chain").draw(seed):
            assert sorted(case["follows"]) == list(range(len(case["follows"])))


def test_mountains_have_as_many_steps_as_caches():
    for seed in SEEDS:
        for case, caches in zip(exercise("06-levels").draw(seed)[:3], (3, 2, 4), strict=True):
            assert len(right("06-levels", *case.values())) == caches
            assert all(
                b / a < 1.05 or b / a > 2.3 for a, b in zip(case["seconds"], case["seconds"][1:])
            )


def test_no_threshold_in_seconds_finds_the_caches_of_all_machines():
    """A step of the fast machine is smaller than a wobble of the slow one's clock."""
    fast, _, slow, *_ = (case["seconds"] for case in exercise("06-levels").fixed)
    step = min(b - a for a, b in zip(fast, fast[1:]) if b > 1.5 * a)
    assert step < max(b - a for a, b in zip(slow, slow[1:]) if b < 1.5 * a)


def test_no_rounding_gives_the_cores_of_all_memories():
    shares = [
        case["bandwidth"] * case["latency"] / 64 / case["lines"] % 1
        for case in exercise("06-underway").fixed
    ]
    assert 0 < sorted({*shares})[1] < 0.5 < max(shares)


def test_neighbours_alone_miss_a_cache_that_ends_over_an_octave():
    """What the insight of 06-levels says of a real mountain, on one that is known."""
    real = zen(32 << 20, soft=2.0)
    found, _ = hierarchy(real, {})
    assert len([level for level in found if level.found]) == 3
    assert len(right("06-levels", real.sizes, real.latency)) != 3


HOPS = {"l1": 1.2e-9, "l2": 4e-9, "l3": 16e-9, "dram": 110e-9}
SIZES = tuple(round(4096 * 2 ** (i / 2)) for i in range(2 * 19))  # 4 KiB to 1.5 GB


def mountain(on: Simulated, memory_s: float = HOPS["dram"], warnings=(), told=(), **holds: int):
    """A walk on caches that hold what ``holds`` says, or else what the machine's own do.

    ``told``: bytes of caches that the system tells of otherwise.
    """
    there = {**on.machine.capacities, **holds}
    levels = {level: size for level, size in there.items() if level in ("l1", "l2", "l3") and size}
    rows: dict[str, list[tuple[float, ...]]] = {"read": [], "copy": [], "latency": []}
    for size in SIZES:
        level = next((name for name, held in levels.items() if size <= held), "dram")
        hop = memory_s if level == "dram" else HOPS[level]
        rate = float(on.machine.bandwidth(level if level in on.machine.bandwidths else "dram"))
        for key, value in (("read", rate), ("copy", rate), ("latency", hop)):
            rows[key].append((value,) * 5)
    return Mountain(
        1, SIZES, {key: tuple(row) for key, row in rows.items()}, {**on.told, **dict(told)},
        on.lines, warnings=warnings,
    )  # fmt: skip


def chases(on: Simulated, buffers: int = 12, stream: float = 2.0, cores: float = 3.0):
    """Chases that fill ``buffers``; a stream that gets ``stream`` times as far as they do."""
    hops = tuple((HOPS["dram"] * max(1, k / buffers),) for k in CHAINS)
    rate = stream * buffers * on.lines / HOPS["dram"]
    runs = (Run(1, hops, (rate,)), Run(on.cores, hops, (cores * rate,)))
    return Concurrency("dram", 2**28, CHAINS, runs, on.lines, name=on.name)


def bandwidths(*rates: float, chases: Concurrency | None = None):
    """Those of a core with these byte/s of MIXES: reading, AXPY, copying, updating in place."""
    of_memory = {"dram": dict(zip(MIXES, rates, strict=True))}
    core = rl.Machine("core", origin="measured", bandwidths=of_memory, threads=1)
    return rl.memory.bandwidths(core, chases=chases)


@cache  # finding levels takes long
def walked(name: str, kind: str, memory_s: float) -> Mountain:
    """As the system tells, or with a cache that is smaller, hidden, absent, or has no end."""
    on, whole = MACHINES[name], 4096 * MiB
    last = max(level for level, size in on.told.items() if size)
    told, holds = {
        "as told": ({}, {}), "smaller": ({}, {last: on.last_level // 8}), "absent": ({}, {last: 0}),
        "hidden": ({last: None}, {}), "endless": ({last: whole}, {last: whole}),
        "the only one": ({"l1": whole}, {"l1": whole}),
    }[kind]  # fmt: skip
    return mountain(on, memory_s, told=told, **holds)


def any_mountain(on: Simulated, rng: random.Random) -> Mountain:
    kinds = ("as told", "smaller", "absent", "hidden", "endless", "the only one")
    return walked(on.name, rng.choice(kinds), rng.choice((9e-9, 30e-9, 60e-9)))


def any_chases(on: Simulated, rng: random.Random) -> Concurrency:
    return chases(on, rng.choice((4, 12, 500)), rng.uniform(0.8, 2), rng.uniform(0.5, 4))


TRIALS = {
    "06-hop": lambda on, rng: (any_mountain(on, rng), on.machine),
    "06-levels": lambda on, rng: (any_mountain(on, rng),),
    "06-underway": lambda on, rng: (any_chases(on, rng),),
    "06-keep": lambda on, rng: (any_mountain(on, rng),),
    "06-bandwidths": lambda on, rng: (
        bandwidths(*(on.machine.bandwidth() * rng.choice((1, 1, 0.7, 1.3, 1.8)) for _ in MIXES),
                   chases=rng.choice((None, any_chases(on, rng)))),),
}  # fmt: skip


LAPTOP, MAC, SMALL, XEON, H200 = MACHINES.values()
ENDLESS = {"l3": 4096 * MiB}  # memory was short, and working sets ended amid it


def hop(on: Simulated, memory_s: float = HOPS["dram"], **more):
    return conclude("06-hop", mountain(on, memory_s, **more), on.machine)


def levels(on: Simulated, memory_s: float = HOPS["dram"], **more):
    return conclude("06-levels", mountain(on, memory_s, **more))


@each_row(
    # 110 ns at 96 GFLOP/s are 10 560 FLOPs, half as many multiply-adds.
    (lambda: hop(SMALL), "far", ["91.7 times as long", "5300 multiply-adds"], []),
    # 110 GFLOP/s are the Mac's core's own; the library's products reach 1100.
    (lambda: hop(MAC), "far", ["6000 multiply-adds"], []),
    # 16 and 30 ns are what the last caches of a laptop and of a server take.
    (lambda: hop(SMALL, 9e-9), "near", ["still lay in a cache"], []),
    (lambda: hop(SMALL, 16e-9), "near", [], []),
    (lambda: hop(SMALL, 39e-9), "near", [], []),
    (lambda: hop(SMALL, 41e-9), "far", [], []),
    (lambda: hop(XEON, told=ENDLESS, **ENDLESS), "cache", ["an L3 of 4.29 GB"], []),
    (lambda: levels(XEON, told=ENDLESS, **ENDLESS), "otherwise", ["memory was not reached"], []),
    (lambda: levels(SMALL), "as told", [], []),
    # A virtual machine shows 300 MiB of its host's L3 and gets 32.
    (lambda: levels(XEON, l3=32 * MiB), "otherwise", ["gets only a part"], []),
    (lambda: levels(SMALL, 30e-9, told={"l3": None}, l3=0), "otherwise", ["little for memory"], []),
    (lambda: levels(H200, l2=0), "none", ["no step there"], []),
    (lambda: hop(LAPTOP, warnings=("busy",)), "far", ["*Warning: busy.*"], []),
    (lambda: levels(LAPTOP, warnings=("busy",)), "as told", ["*Warning: busy.*"], []),
    (lambda: conclude("06-underway", chases(MAC, stream=1.0)), "no more than chases",
     ["12 lines"], []),
    (lambda: conclude("06-underway", chases(MAC, stream=1.2)), "prefetchers help", [], []),
    (lambda: conclude("06-bandwidths", bandwidths(20e9, 30e9, 20e9, 40e9)), "several",
     ["- Updating in place reports ×2 of what", "the copy only looks slow"], []),
    (lambda: conclude("06-keep", mountain(LAPTOP)), "all",
     ["| a hop in L2 | 4 ns | 4.0 ns |", "| a line | 64 bytes | 64 bytes |"], ["–"]),
    (lambda: conclude("06-keep", mountain(H200, l2=0)), "some", ["| a hop in L2 | 4 ns | – |"], []),
    (lambda: conclude("06-bandwidths", bandwidths(20e9, 20e9, 20e9, 21e9)), "alike", [], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(tell, case, words, never):
    assert not unsaid(tell(), case, words, never)
