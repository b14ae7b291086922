"""Simulated machines on which every conclusion of every lesson is tried, and their simulated clock.

The figures of the four CPU cores are made up, to be as unlike each other as the computers of a
class are; those of the H200 are the catalogue's. The clock is the roofline with the operation's
own mix, divided by ``share``: no noise, no call cost, nothing that has to be measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import rooflab as rl
from rooflab.count import Operation
from rooflab.exercises.sentences import Conclusion, conclude, conclusions
from rooflab.measure.free_lunch import FreeLunch, K
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import mix_of, peak_of
from rooflab.predict.machine import Figure, Machine

MADE_UP = "made up for the tests"
MIXES = ("read", "axpy", "copy", "update")
MiB = 2**20


@dataclass(frozen=True)
class Simulated:
    """A computer of the class: ``machine`` is what ``rl.this_machine(threads=1)`` gives there.

    ``told``: bytes of the caches that its system tells of, what ``cache_sizes()`` returns.
    ``cores`` of the whole processor; ``lines``: bytes of a cache line.
    """

    name: str
    machine: Machine
    told: Mapping[str, int | None] = field(default_factory=dict)
    cores: int = 8
    lines: int = 64

    @property
    def last_level(self) -> int:
        """Bytes of the largest cache that the system tells of, 32 MiB if it tells of none."""
        return max((size for size in self.told.values() if size), default=32 * MiB)

    def clock(
        self,
        op: Operation,
        *,
        cache: str = "cold",
        share: float = 0.9,
        warnings: tuple[str, ...] = (),
    ) -> Measurement:
        """Measurement of ``op`` at ``share`` of the roof: three equal samples.

        "cold" reads from memory; "warm" from the nearest cache twice as large as the operands.
        """
        level = self.machine.home(2 * op.bytes) if cache == "warm" else "dram"
        bandwidth = self.machine.bandwidth(level, mix_of(op, self.machine, level))
        peak, _ = peak_of(op, self.machine)
        seconds = max(op.flops / peak, op.bytes / bandwidth) / share
        backend = "gpu" if self.machine.kind == "gpu" else "cpu"
        threads = None if backend == "gpu" else 1
        return Measurement(op, self.machine.id, backend, cache, threads, (seconds,) * 3, warnings)

    def curve(self, *, share: float = 1.0, warnings: tuple[str, ...] = ()) -> FreeLunch:
        """The curve of lesson 00: multiply-adds in vector registers, in place, from memory."""
        n, itemsize = self.last_level, 4  # as many numbers as it has bytes: 4 times the cache
        peak = self.machine.peak("fp32", "vector")
        carrying = 2 * n * itemsize / self.machine.bandwidth(mix="update")
        seconds = tuple(max(carrying, 2 * n * k / peak) / share for k in K)
        return FreeLunch(
            K, seconds, (0.0,) * len(K), n, itemsize, 1, machine=self.machine.id,
            name=self.name, warnings=warnings,
        )  # fmt: skip


def core(
    id: str,
    *,
    peaks: Mapping[str, float],
    dram: tuple[float, float, float, float],
    caches: Mapping[str, tuple[int, float]],
    memory: float = 16e9,
) -> Machine:
    """One measured core: FLOP/s, DRAM byte/s of the four MIXES, bytes and byte/s of each cache."""
    rates = {level: dict.fromkeys(MIXES, rate) for level, (_, rate) in caches.items()}
    rates["dram"] = dict(zip(MIXES, dram, strict=True))
    sizes = {level: size for level, (size, _) in caches.items()}
    return Machine(
        id, f"{id}, {MADE_UP}", kind="cpu", origin="measured", recorded_on="2026-01-01T00:00:00",
        threads=1, bandwidths=rates, capacities={**sizes, "dram": memory},
        peaks={
            key: Figure(rate, (MADE_UP,), "tensor" if key.endswith("_tensor") else "vector")
            for key, rate in peaks.items()
        },
    )  # fmt: skip


def _simulated(
    name: str, machine: Machine, cores: int = 8, *, lines: int = 64
) -> tuple[str, Simulated]:
    sizes = {level: machine.capacities.get(level) for level in ("l1", "l2", "l3")}
    return name, Simulated(name, machine, sizes, cores, lines)


HYBRID = core(  # 8 cores of two sorts; what runs here landed on one of the efficient ones
    "hybrid-laptop-e-core", peaks={"fp32": 61e9, "fp64": 30e9}, dram=(18e9, 22e9, 21e9, 26e9),
    caches={"l1": (32 * 1024, 220e9), "l2": (2 * MiB, 90e9), "l3": (16_000_000, 40e9)},
)  # fmt: skip
MAC = core(  # no L3 is told of; the library's products run on a matrix unit behind the core
    "m-series", peaks={"fp32": 110e9, "fp64": 55e9, "fp32_tensor": 1100e9, "fp64_tensor": 275e9},
    dram=(80e9, 90e9, 88e9, 100e9),
    caches={"l1": (128 * 1024, 400e9), "l2": (16 * MiB, 180e9)},
)  # fmt: skip
SMALL = core(
    "small-cache", peaks={"fp32": 96e9, "fp64": 48e9}, dram=(12e9, 14e9, 13e9, 16e9), memory=8e9,
    caches={"l1": (32 * 1024, 300e9), "l2": (256 * 1024, 100e9), "l3": (4 * MiB, 50e9)},
)  # fmt: skip
XEON = core(  # a virtual machine that shows the cache of its whole host; ridge 10.7 to 13.7
    "xeon-core", peaks={"fp32": 192e9, "fp64": 96e9}, dram=(14e9, 16e9, 15e9, 18e9), memory=64e9,
    caches={"l1": (48 * 1024, 420e9), "l2": (2 * MiB, 150e9), "l3": (300 * MiB, 28e9)},
)  # fmt: skip

MACHINES: Mapping[str, Simulated] = dict([
    _simulated("hybrid laptop", HYBRID),
    _simulated("M-series Mac", MAC, lines=128),
    _simulated("4 MB of L3", SMALL, 4),
    _simulated("300 MB of L3", XEON, 2),
    _simulated("H200", rl.machine("h200-sxm"), 132, lines=128),
])  # fmt: skip

# A conclusion on trial: what it is given on a machine, and machine → the case it must choose.
Trial = tuple[Callable[[Simulated], tuple[object, ...]], Mapping[str, str]]


def faults(lesson: str, table: Mapping[str, Trial]) -> list[str]:
    """Sentences of ``lesson`` that ``table`` does not try or expects otherwise, and odd texts."""
    there = {
        (name, machine) for name in conclusions() if name[:2] == lesson for machine in MACHINES
    }
    tried = {(name, machine) for name, (_, chosen) in table.items() for machine in chosen}
    found = [f"{name} on {machine}: tried or there, not both" for name, machine in there ^ tried]
    for name, machine in sorted(tried):
        given, chosen = table[name]
        told = conclude(name, *given(MACHINES[machine]))
        odd = re.search(r"[{}]|\w  \w|\bnan\b|[^.|*\s]\s*$", told.text)
        if told.case != chosen[machine] or odd:
            found.append(f"{name} on {machine}, not {chosen[machine]}: {told}")
    return found


def unsaid(told: Conclusion, case: str, words: Iterable[str], never: Iterable[str] = ()) -> str:
    """What is missing or too much: the case, the ``words`` of the text, those of ``never``."""
    missing = [word for word in words if word not in told.text]
    there = [word for word in never if word in told.text]
    fine = told.case == case and not missing and not there
    return "" if fine else f"{told.case}, not {case}; without {missing}, with {there}: {told}"
