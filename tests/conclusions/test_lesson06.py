"""The sentences of lesson 06: mountains and chases of simulated machines."""

from __future__ import annotations

import dataclasses

import rooflab as rl
from rooflab.conclusions import conclude
from rooflab.labs.memory.concurrency import CHAINS, Concurrency, Run
from rooflab.labs.memory.mountain import Mountain
from tests.conclusions.machines import MACHINES, MIXES, MiB, Simulated, Trial, faults
from tests.support.rows import each_row

EVERYWHERE = tuple(MACHINES)
HOPS = {"l1": 1.2e-9, "l2": 4e-9, "l3": 16e-9, "dram": 110e-9}
SIZES = tuple(round(4096 * 2 ** (i / 4)) for i in range(4 * 19))  # 4 KiB to 1.8 GB


def mountain(
    on: Simulated,
    *,
    holds: dict[str, int] | None = None,
    memory_s: float = HOPS["dram"],
    warnings: tuple[str, ...] = (),
) -> Mountain:
    """A walk on caches that hold what ``holds`` says, or else what the machine's own do."""
    there = {**on.machine.capacities, **(holds or {})}
    levels = {level: size for level, size in there.items() if level in ("l1", "l2", "l3") and size}
    rows: dict[str, list[tuple[float, ...]]] = {"read": [], "copy": [], "latency": []}
    for size in SIZES:
        level = next((name for name, held in levels.items() if size <= held), "dram")
        hop = memory_s if level == "dram" else HOPS[level]
        rate = float(on.machine.bandwidth(level if level in on.machine.bandwidths else "dram"))
        for key, value in (("read", rate), ("copy", rate), ("latency", hop)):
            rows[key].append((value,) * 5)
    return Mountain(
        1, SIZES, {key: tuple(row) for key, row in rows.items()}, dict(on.told), on.lines,
        warnings=warnings,
    )  # fmt: skip


def chases(on: Simulated, buffers: int = 12, stream: float = 2.0, cores: float = 3.0):
    """Chases that fill ``buffers``; a stream that gets ``stream`` times as far as they do."""
    hops = tuple((HOPS["dram"] * max(1, k / buffers),) for k in CHAINS)
    rate = stream * buffers * on.lines / HOPS["dram"]
    runs = (Run(1, hops, (rate,)), Run(on.cores, hops, (cores * rate,)))
    return Concurrency("dram", 2**28, CHAINS, runs, on.lines, name=on.name)


def bandwidths(on: Simulated):
    """Those of the machine; of a catalogue's, which has one figure, as if all mixes had it."""
    if on.machine.origin == "measured":
        return rl.memory.bandwidths(on.machine)
    rates = dict.fromkeys(MIXES, float(on.machine.bandwidth()))
    core = rl.Machine(on.machine.id, origin="measured", bandwidths={"dram": rates}, threads=1)
    return rl.memory.bandwidths(core)


TABLE: dict[str, Trial] = {
    "06-hop": (lambda on: (mountain(on), on.machine), dict.fromkeys(EVERYWHERE, "far")),
    "06-levels": (lambda on: (mountain(on),), dict.fromkeys(EVERYWHERE, "as told")),
    "06-underway": (lambda on: (chases(on),), dict.fromkeys(EVERYWHERE, "prefetchers help")),
    "06-bandwidths": (
        lambda on: (bandwidths(on),),
        dict.fromkeys(EVERYWHERE, "several") | {"H200": "alike"},
    ),
}


def test_every_machine_gets_its_sentence():
    assert faults("06", TABLE) == []


def test_a_cache_that_serves_less_than_the_system_tells_is_said_to():
    """A virtual machine shows 300 MiB of its host's L3 and gets 32."""
    xeon = MACHINES["300 MB of L3"]
    found = conclude("06-levels", mountain(xeon, holds={"l3": 32 * MiB}))
    assert found.case == "otherwise" and "gets only a part" in found.text


def test_a_curve_without_a_step_shows_no_level():
    found = conclude("06-levels", mountain(MACHINES["H200"], holds={"l2": 0}))
    assert found.case == "none" and "no step there" in found.text


@each_row(9e-9, 16e-9, 30e-9)
def test_a_memory_that_is_strangely_near_is_doubted(hop):
    """16 and 30 ns are what the last caches of a laptop and of a server take."""
    on = MACHINES["4 MB of L3"]
    found = conclude("06-hop", mountain(on, memory_s=hop), on.machine)
    assert found.case == "near" and "still lay in a cache" in found.text


def test_levels_that_end_in_a_cache_that_is_not_told_are_not_as_told():
    on = MACHINES["4 MB of L3"]
    hidden = dataclasses.replace(on, told={**on.told, "l3": None})
    found = conclude("06-levels", mountain(hidden, holds={"l3": 0}, memory_s=30e-9))
    assert found.case == "otherwise" and "little for memory" in found.text


def test_a_largest_array_that_still_lies_in_the_last_cache_is_said_to():
    """Memory was short, and working sets ended amid the 4 GiB that the system tells."""
    on = MACHINES["300 MB of L3"]
    told = dataclasses.replace(on, told={**on.told, "l3": 4096 * MiB})
    found = mountain(told, holds={"l3": 4096 * MiB})
    assert conclude("06-hop", found, on.machine).case == "cache"
    levels = conclude("06-levels", found)
    assert levels.case == "otherwise" and "memory was not reached" in levels.text


def test_multiply_adds_of_a_hop_are_latency_times_peak():
    """110 ns at 96 GFLOP/s are 10 560 FLOPs, half as many multiply-adds."""
    on = MACHINES["4 MB of L3"]
    assert "5300 multiply-adds" in conclude("06-hop", mountain(on), on.machine).text


def test_a_matrix_unit_behind_the_core_does_not_count_as_the_core():
    """110 ns at the 110 GFLOP/s of the core itself; the library's products reach 1100."""
    on = MACHINES["M-series Mac"]
    assert "6000 multiply-adds" in conclude("06-hop", mountain(on), on.machine).text


def test_what_the_clock_warned_of_is_said_with_the_figures():
    on = MACHINES["hybrid laptop"]
    for name, given in (("06-hop", (on.machine,)), ("06-levels", ())):
        assert "*Warning: busy.*" in conclude(name, mountain(on, warnings=("busy",)), *given).text


def test_a_core_whose_prefetchers_get_no_further():
    found = conclude("06-underway", chases(MACHINES["M-series Mac"], stream=1.0))
    assert found.case == "no more than chases" and "12 lines" in found.text


def test_a_copy_that_fetches_what_it_writes_is_not_slow():
    """Fetching is the limit: a copy reports what reading does, and half as much again travels."""
    rates = {"read": 20e9, "copy": 20e9, "update": 40e9, "axpy": 30e9}
    core = rl.Machine("core", origin="measured", bandwidths={"dram": rates}, threads=1)
    found = conclude("06-bandwidths", rl.memory.bandwidths(core))
    assert "| copy | 20.0 GB/s | up to 20.0 GB/s | 10.0 GB/s | up to 30.0 GB/s |" in found.text
