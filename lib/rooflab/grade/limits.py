"""How much one submission may use."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Limits of one submission; what is beyond them costs the exercise, never the neighbour.

    ``wall``: seconds for the whole submission, ``cell``: for one cell (after it, only that cell is
    lost); ``cpu``: seconds of processor time of one process; ``memory``: bytes of all its
    processes, and of one's address space; ``processes``; ``threads``: those of all its processes;
    ``files``: bytes of each writable folder and of a file; ``shown``: bytes that one cell may
    print, ``shown_in_all``: all cells.
    """

    wall: float = 45.0
    cell: float = 10.0
    cpu: int = 60
    memory: int = 4096 * MIB
    processes: int = 32
    threads: int = 128
    files: int = 64 * MIB
    shown: int = 1 * MIB
    shown_in_all: int = 8 * MIB

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise ValueError(f"{name}={value!r} must be a positive number")
