"""The sentences of lesson 06: drawn on simulated machines, and facts that they must say."""

from __future__ import annotations

import random
from functools import cache

import rooflab as rl
from rooflab.exercises.sentences import conclude
from rooflab.labs.memory.concurrency import CHAINS, Concurrency, Run
from rooflab.labs.memory.mountain import Mountain
from tests.course.machines import MACHINES, MIXES, MiB, Simulated, unsaid
from tests.support.rows import each_row

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
    # Fetching is the limit: a copy reports what reading does, and half as much again travels.
    (lambda: conclude("06-bandwidths", bandwidths(20e9, 30e9, 20e9, 40e9)), "several",
     ["| copy | 20.0 GB/s | up to 20.0 GB/s | 10.0 GB/s | up to 30.0 GB/s |",
      "| read | 20.0 GB/s | 20.0 GB/s | – | 20.0 GB/s |"], []),
    (lambda: conclude("06-bandwidths", bandwidths(20e9, 20e9, 20e9, 21e9)), "alike", [], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(tell, case, words, never):
    assert not unsaid(tell(), case, words, never)
