"""Read machine code: instructions (SASS) and how many blocks a multiprocessor holds at once.

nvdisasm, which lists the instructions, is a program in NVIDIA's wheel ``nvidia-cuda-nvdisasm``.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rooflab.count.validation import size, unknown
from rooflab.labs.cuda.compiler import Compiled, nvidia_file

_ARITHMETIC = ("FFMA", "FFMA2", "DFMA", "HMMA", "IMMA", "QMMA", "HGMMA", "IDP")
_SIZED = ("LD", "ST", "LDG", "STG", "LDS", "STS", "LDL", "STL", "LDGSTS")
# A condition closes a loop; code that was moved out of its way comes back without one.
_BRANCH = re.compile(r"@.*\bBRA\b.*`?\((\.L_x_\d+)\)")


@dataclass(frozen=True)
class Sass:
    """Machine code of one ``kernel``: its ``lines``, and how often each instruction occurs.

    ``counts`` are of the whole kernel, ``loop`` of its hot loop: the smallest of those with the
    most multiply-adds; without a loop both are the same. Loads and stores are counted by width:
    "LDG.128" moves 16 bytes a thread, "LDG" 4.
    """

    kernel: str
    lines: tuple[str, ...] = field(repr=False)
    counts: Mapping[str, int]
    loop: Mapping[str, int]


def sass(compiled: Compiled, kernel: str | None = None) -> Sass:
    """Return the machine code of a kernel that :func:`compile` has made, by default the only one.

    Raises ModuleNotFoundError without nvdisasm, with what to install.

    >>> rl.cuda.sass(rl.cuda.compile("axpy_float4")).counts["LDG.128"]
    2
    """
    if not isinstance(compiled, Compiled):
        raise TypeError(f"compiled={compiled!r} must be what compile() returns")
    listings = machine_code(compiled.cubin)
    if kernel is None and len(listings) == 1:
        kernel = next(iter(listings))
    if kernel not in listings:
        raise unknown("kernel", kernel, listings)
    lines = listings[kernel]
    return Sass(kernel, lines, instruction_counts(lines), instruction_counts(hot_loop(lines)))


@functools.lru_cache(maxsize=256)
def machine_code(cubin: bytes) -> dict[str, tuple[str, ...]]:
    """Return for each kernel of a cubin its instructions, and labels such as ".L_x_3"."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        done = subprocess.run(
            [_nvdisasm(), "-c", "-ndf", str(path)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise ValueError(f"nvdisasm cannot read this cubin: {done.stderr.strip()}")
    kernels: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in done.stdout.splitlines():
        if start := re.match(r"\s*\.text\.(\w+):", line):
            lines = kernels.setdefault(start[1], [])
        elif instruction := re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;", line):
            lines.append(instruction[1])
        elif label := re.match(r"(\.L_x_\d+):", line):
            lines.append(label[1])
    return {name: tuple(lines) for name, lines in kernels.items()}


def _nvdisasm() -> str:
    program = "nvdisasm.exe" if sys.platform == "win32" else "nvdisasm"
    path = nvidia_file(f"bin/**/{program}")
    if path is None or not os.access(path, os.X_OK):
        raise ModuleNotFoundError(
            "listing machine code needs nvdisasm, which is not installed here: "
            'pip install "nvidia-cuda-nvdisasm>=13.4"',
            name="nvidia-cuda-nvdisasm",
        )
    return str(path)


def instruction_counts(lines: Sequence[str]) -> dict[str, int]:
    """Count instructions by their name, loads and stores by their name and width, most first."""
    counter: Counter[str] = Counter()
    for line in lines:
        words = line.split()
        name, *modifiers = words[words[0].startswith("@")].split(".")
        if name in ("", "NOP") or words[0] == "@!PT":  # a label; padding; never executed
            continue
        width = next((m for m in modifiers if m in ("U8", "S8", "U16", "S16", "64", "128")), "")
        counter[f"{name}.{width}" if width and name in _SIZED else name] += 1
    return dict(counter.most_common())


def hot_loop(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of the smallest loop with the most multiply-adds; all without a loop.

    A loop runs from a label to a branch back to it.
    """
    labels = {line: at for at, line in enumerate(lines) if line.startswith(".L")}
    loops = [
        lines[labels[branch[1]] : at + 1]
        for at, line in enumerate(lines)
        if (branch := _BRANCH.search(line)) and labels.get(branch[1], at) < at
    ]

    def heat(loop: Sequence[str]) -> tuple[int, int]:
        counts = instruction_counts(loop)
        return sum(counts.get(name, 0) for name in _ARITHMETIC), -len(loop)

    return max(loops, key=heat, default=lines)


# Occupancy, by the rules of CUDA's own calculator (cuda_occupancy.h).


@dataclass(frozen=True)
class Limits:
    """What a multiprocessor of one architecture holds, and what a block of it may take.

    Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
    """

    threads: int
    blocks: int
    shared_bytes: int
    shared_bytes_a_block: int
    reserved_bytes: int = 1024  # of shared memory, for the system, in each block
    shared_unit: int = 128
    registers: int = 65536


_KIB = 1024
LIMITS: Mapping[int, Limits] = {
    75: Limits(1024, 16, 64 * _KIB, 64 * _KIB, reserved_bytes=0, shared_unit=256),
    80: Limits(2048, 32, 164 * _KIB, 163 * _KIB),
    86: Limits(1536, 16, 100 * _KIB, 99 * _KIB),
    89: Limits(1536, 24, 100 * _KIB, 99 * _KIB),
    90: Limits(2048, 32, 228 * _KIB, 227 * _KIB),
    100: Limits(2048, 32, 228 * _KIB, 227 * _KIB),
    120: Limits(1536, 24, 100 * _KIB, 99 * _KIB),
}
"""Compute capability -> limits."""
_WARP, _QUARTERS, _REGISTER_UNIT, _MOST_REGISTERS = 32, 4, 256, 255
MOST_THREADS = 1024  # of a block


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps that a multiprocessor holds at once, and what does not allow one more.

    ``limits``: some of "registers", "shared memory", "threads", "blocks".
    """

    blocks: int
    warps: int
    share: float
    limits: tuple[str, ...]


def occupancy(
    registers: int, shared_bytes: int, threads: int, arch: str | int = "sm_90"
) -> Occupancy:
    """Return how many blocks a multiprocessor holds at once, 0 of one that cannot run at all.

    ``registers`` are those of a thread, ``threads`` of a block; ``shared_bytes`` of a block, static
    and dynamic together.

    >>> rl.cuda.occupancy(64, 0, 128).blocks, rl.cuda.occupancy(56, 0, 128).blocks
    (8, 9)
    """
    registers = size("registers", registers)
    shared = size("shared_bytes", shared_bytes, least=0)
    threads = size("threads", threads)
    limits = limits_of(arch)
    warps = -(-threads // _WARP)
    # A warp takes registers in units of 256, all from one quarter of the multiprocessor.
    a_warp = -(-registers * _WARP // _REGISTER_UNIT) * _REGISTER_UNIT
    a_quarter = limits.registers // _QUARTERS // a_warp
    whole = -(-warps // _QUARTERS) * _QUARTERS * a_warp <= limits.registers
    fits = whole and registers <= _MOST_REGISTERS
    block = -(-(shared + limits.reserved_bytes) // limits.shared_unit) * limits.shared_unit
    may = shared <= limits.shared_bytes_a_block
    most = {
        "registers": a_quarter * _QUARTERS // warps if fits else 0,
        "shared memory": limits.shared_bytes // max(1, block) if may else 0,
        "threads": limits.threads // (warps * _WARP) if threads <= MOST_THREADS else 0,
        "blocks": limits.blocks,
    }
    blocks = min(most.values())
    return Occupancy(
        blocks, blocks * warps, blocks * warps * _WARP / limits.threads,
        tuple(name for name, count in most.items() if count == blocks),
    )  # fmt: skip


def limits_of(arch: str | int) -> Limits:
    """Return the limits of "sm_90a", "sm_90" or 90; ValueError for one that the table lacks."""
    number = re.fullmatch(r"(?:sm_)?(\d+)[af]?", str(arch))
    if not number or int(number[1]) not in LIMITS:
        raise unknown("arch", arch, [f"sm_{each}" for each in LIMITS])
    return LIMITS[int(number[1])]
