"""How large this machine's caches are, on Linux, macOS and Windows."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import re
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rooflab.count.si import si
from rooflab.measure.settings import printed
from rooflab.measure.threads import listed_numbers

SYSFS = Path("/sys/devices/system/cpu/cpu0/cache")
TOLD = "ROOFLAB_LAST_LEVEL"
FALLBACK = 32 << 20
"""Bytes assumed for a last-level cache that the system does not tell: on the large side of what
laptops have, because evicting too much costs time and evicting too little costs the truth."""

LINE = 64
"""Bytes of a cache line that the system does not tell."""


@functools.cache
def system_sizes() -> tuple[tuple[str, int | None], ...]:
    """Bytes of l1, l2 and l3 as the system shows them, None for what it does not show."""
    readers: dict[str, Callable[[], dict[str, int]]] = {"darwin": _macos, "win32": _windows}
    try:
        sizes = readers.get(sys.platform, _linux)()
    except (OSError, ValueError, AttributeError):
        sizes = {}  # a system that will not say: callers get None and use FALLBACK
    return tuple((name, sizes.get(name) or None) for name in ("l1", "l2", "l3"))


def cache_sizes() -> dict[str, int | None]:
    """Return {"l1", "l2", "l3"}: bytes of the data or unified cache that one core sees.

    None where there is no such level or the system does not tell. The last one is what the
    environment variable ROOFLAB_LAST_LEVEL says ("32M"), if it is set: a virtual machine with two
    cores may show the cache of its whole host. Raises ValueError if that is not a size.
    """
    sizes, told = dict(system_sizes()), os.environ.get(TOLD, "").strip()
    if told:
        sizes[max((name for name, size in sizes.items() if size), default="l3")] = told_bytes(told)
    return sizes


def last_level_bytes() -> int:
    """Bytes of the largest cache, or 32 MiB where the system does not tell."""
    return max((size for size in cache_sizes().values() if size), default=FALLBACK)


def shown_bytes() -> int | None:
    """Bytes of the largest cache that the system shows, whatever ROOFLAB_LAST_LEVEL says."""
    return max((size for _, size in system_sizes() if size), default=None)


def last_level_words() -> str:
    """How large the largest cache is taken to be, and by whom: "34 MB", or who says otherwise."""
    used, shown = last_level_bytes(), shown_bytes()
    system = "shows none" if shown is None else f"shows {si(shown, 'B')}"
    if used == shown:
        return si(used, "B")
    if os.environ.get(TOLD, "").strip():
        return f"{si(used, 'B')}, as `{TOLD}` says; the system {system}"
    return f"{si(used, 'B')}, an assumption: the system {system}"


def told_bytes(text: str) -> int:
    """Return the bytes that ``text`` of ROOFLAB_LAST_LEVEL says; ValueError if it says none."""
    size = bytes_of(text) if re.fullmatch(r"\d+\s*[KMG]?", text, re.IGNORECASE) else 0
    if size <= 0:
        raise ValueError(f"{TOLD}={text!r} must be a size in bytes, such as 33554432 or '32M'")
    return size


def _linux(root: Path = SYSFS) -> dict[str, int]:
    return _largest((name, bytes_of(text)) for name, text in _listed(root, "size")) or _sysconf()


def _listed(root: Path, field: str) -> Iterator[tuple[str, str]]:
    """What Linux says of each cache that holds data: its level, and the text of ``field``."""
    for index in sorted(root.glob("index*")):
        try:
            level, kind, text = (
                (index / name).read_text().strip() for name in ("level", "type", field)
            )
        except OSError:
            continue
        if kind != "Instruction":
            yield f"l{level}", text


def bytes_of(text: str) -> int:
    """``"32K"`` → 32768, as the kernel writes sizes."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper())
    return int(text[:-1]) * factor if factor else int(text)


def _sysconf() -> dict[str, int]:
    """The C library's answer, for kernels (ARM boards, sandboxes) whose sysfs is silent."""
    names = {"l1": "LEVEL1_DCACHE", "l2": "LEVEL2_CACHE", "l3": "LEVEL3_CACHE"}
    known = getattr(os, "sysconf_names", {})
    sizes = {k: os.sysconf(f"SC_{v}_SIZE") for k, v in names.items() if f"SC_{v}_SIZE" in known}
    return {name: size for name, size in sizes.items() if size > 0}


def _macos() -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, keys in {
        "l1": ("hw.perflevel0.l1dcachesize", "hw.l1dcachesize"),  # Apple: performance cores first
        "l2": ("hw.perflevel0.l2cachesize", "hw.l2cachesize"),
        "l3": ("hw.l3cachesize",),
    }.items():
        told = (printed("sysctl", "-n", key) for key in keys)
        sizes[name] = next((int(text) for text in told if text.isdigit() and int(text)), 0)
    return sizes


def _windows() -> dict[str, int]:
    """GetLogicalProcessorInformation, called twice: once for the length, once for the table."""
    ask = ctypes.windll.kernel32.GetLogicalProcessorInformation  # type: ignore[attr-defined]
    length = ctypes.c_ulong(0)
    ask(None, ctypes.byref(length))
    table = ctypes.create_string_buffer(length.value)
    if not ask(table, ctypes.byref(length)):
        return {}
    return from_windows_table(table.raw[: length.value], ctypes.sizeof(ctypes.c_void_p))


def from_windows_table(table: bytes, pointer: int) -> dict[str, int]:
    """Read SYSTEM_LOGICAL_PROCESSOR_INFORMATION records (winnt.h).

    A record is a processor mask (one pointer), a 4-byte relationship padded to a pointer, and a
    16-byte union; in the union of relationship 2 (cache): level, associativity (a byte each), line
    size (2 bytes), size and type (4 bytes each; type 1 is the instruction cache).
    """
    step = 2 * pointer + 16
    return _largest(
        (f"l{level}", size)
        for start in range(0, len(table) - step + 1, step)
        for relationship in struct.unpack_from("<I", table, start + pointer)
        for level, _, _, size, kind in [struct.unpack_from("<BBHII", table, start + 2 * pointer)]
        if relationship == 2 and kind != 1 and size
    )


@functools.cache
def line_bytes() -> int:
    """Bytes of a cache line as the system tells them; 64 where it does not, as most have."""
    try:
        if sys.platform == "darwin":
            told = printed("sysctl", "-n", "hw.cachelinesize")
        else:
            told = (SYSFS / "index0" / "coherency_line_size").read_text()
        line = int(told)
    except (OSError, ValueError):
        return LINE
    return line if line >= 8 and line & (line - 1) == 0 else LINE


def _largest(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, size in found:
        sizes[name] = max(size, sizes.get(name, 0))
    return sizes


# Which working set sits well inside which level of the memory hierarchy.


BEYOND = 4
"""Main memory is measured on arrays this many times the last-level cache."""


@dataclass(frozen=True)
class Level:
    """A level of the hierarchy as `threads` threads see it.

    `capacity`: bytes of it that they hold together, in `copies` caches; `per_thread`: bytes each
    works on while it is measured.
    """

    name: str
    capacity: int
    per_thread: int
    copies: int = 1


def sharers(root: Path = SYSFS) -> dict[str, int]:
    """How many processors share one cache of each level, where Linux tells: {"l3": 16, ...}."""
    listed = _listed(root, "shared_cpu_list")
    return {name: len(listed_numbers(cpus)) for name, cpus in listed if cpus}


def cache_levels(
    sizes: Mapping[str, int | None], threads: int, shared: Mapping[str, int]
) -> list[Level]:
    """The caches, nearest first, with the working set to measure each on.

    Half of the first level; of the others the geometric mean of the level below and their own
    size: as far from being held below as from spilling over. A level that the system does not say
    is shared counts as private, the last of three as shared by all.
    """
    levels: list[Level] = []
    below = 0.0
    known = {name: size for name, size in sizes.items() if size}
    for name, size in known.items():
        by = shared.get(name, threads if name == "l3" else 1)
        share = size / min(threads, by)
        per_thread = math.sqrt(below * share) if below else share / 2
        copies = math.ceil(threads / by)
        levels.append(Level(name, size * copies, int(per_thread), copies))
        below = share
    return levels


def levels_here(threads: int) -> list[Level]:
    """The levels of this machine's caches as ``threads`` threads see them."""
    return cache_levels(cache_sizes(), threads, sharers())


def beyond_caches(levels: list[Level], fallback: int, threads: int = 1) -> int:
    """Bytes that only main memory holds: 4 x the largest cache, with all of its copies in use.

    A virtual machine may show one cache where its cores have two. So it is 4 x that cache for each
    of `threads` where this is no more than 1 GiB. `fallback`: its size where the system tells none.
    """
    held = max((level.capacity for level in levels), default=fallback)
    one = max((level.capacity // level.copies for level in levels), default=fallback)
    return max(BEYOND * held, min(BEYOND * one * threads, 1 << 30))
