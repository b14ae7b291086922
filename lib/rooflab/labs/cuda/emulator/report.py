"""What a launch counted, and what a fault tells: traffic by array and by line, FLOPs, threads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SECTOR_BYTES = 32  # what global memory moves at least (CUDA C++ Best Practices Guide)
Point = tuple[int, int, int]  # x, y, z


@dataclass(frozen=True)
class Traffic:
    """Requests (one instruction of one warp), the sectors they touch, the bytes threads ask for."""

    requests: int = 0
    sectors: int = 0
    bytes_asked: int = 0

    @property
    def bytes_moved(self) -> int:
        """Bytes of all sectors, 32 each."""
        return SECTOR_BYTES * self.sectors

    @property
    def sectors_per_request(self) -> float:
        """4 for a coalesced warp of 4-byte words, 32 where each lane touches another sector."""
        return self.sectors / self.requests if self.requests else 0.0

    def __add__(self, other: Traffic) -> Traffic:
        asked = self.bytes_asked + other.bytes_asked
        return Traffic(self.requests + other.requests, self.sectors + other.sectors, asked)


@dataclass(frozen=True)
class ArrayTraffic:
    """Traffic of one array in global memory."""

    loads: Traffic = Traffic()
    stores: Traffic = Traffic()
    atomics: Traffic = Traffic()


@dataclass(frozen=True)
class SharedTraffic:
    """Requests to shared memory, and the wavefronts (passes over 32 banks) that they take.

    ``least``: wavefronts without a conflict. It is 1 a request; an access of 8 bytes a thread goes
    by half warps and one of 16 bytes by quarters, so that it is 2 and 4 there.
    """

    requests: int = 0
    wavefronts: int = 0
    least: int = 0

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond the least: ``wavefronts - requests`` for words of 4 bytes."""
        return self.wavefronts - self.least

    def __add__(self, other: SharedTraffic) -> SharedTraffic:
        wavefronts, least = self.wavefronts + other.wavefronts, self.least + other.least
        return SharedTraffic(self.requests + other.requests, wavefronts, least)


@dataclass(frozen=True)
class LineTraffic:
    """What one source line asks of global memory (loads, stores, atomics) and of shared memory."""

    text: str
    requests: int = 0
    sectors: int = 0
    shared_requests: int = 0
    wavefronts: int = 0


@dataclass(frozen=True)
class Thread:
    """One thread by its place (x, y, z) in the block, and the block's in the grid."""

    block: Point
    thread: Point

    def __str__(self) -> str:
        return f"thread {self.thread} of block {self.block}"


@dataclass(frozen=True)
class Fault:
    """A mistake in a kernel: its kind, the threads and source lines it shows at."""

    kind: str
    message: str
    lines: tuple[int, ...]
    threads: tuple[Thread, ...]


class KernelFault(RuntimeError):
    """Raised by a launch at the first ``fault`` of the kernel.

    >>> import numpy as np
    >>> try:
    ...     rl.cuda.launch("def f(A): A[cuda.threadIdx.x] = 1", 1, 32, np.zeros(31, np.float32))
    ... except rl.cuda.KernelFault as error:
    ...     print(error.fault.kind)
    out of bounds
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def fault(kind: str, message: str, places: Iterable[Any], threads: Iterable[Thread]) -> KernelFault:
    lines = dict.fromkeys(place.line for place in places)
    return KernelFault(Fault(kind, f"{kind}: {message}", tuple(lines), tuple(threads)))


@dataclass(frozen=True)
class Run:
    """Counts of one launch. Traffic is what warps ask of memory, before any cache.

    ``arrays``: by parameter name; ``global_loads``, …: of all arrays together. ``lines``: by line
    number in the file, cell or text; a line of a function from elsewhere is ``"name:number"``.
    ``flops``: float +, -, * and / of threads, a fused multiply-add two. ``barriers``: of blocks.
    ``atomics``: of threads.
    """

    arrays: Mapping[str, ArrayTraffic]
    shared: SharedTraffic
    lines: Mapping[int | str, LineTraffic]
    flops: int
    barriers: int
    atomics: int
    global_loads: Traffic
    global_stores: Traffic
    global_atomics: Traffic
