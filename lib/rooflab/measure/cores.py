"""Processors with several kinds of cores, and which kind a measurement ran on.

A laptop's performance core is up to twice as fast as its efficiency core, and the system moves
threads between them. A roof of "one core" is the roof of one kind.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEVICES = Path("/sys/devices")
_INTEL = {"cpu_core": "performance", "cpu_atom": "efficiency", "cpu_lowpower": "low-power"}
_APART = 1.05  # ratio of two capacities or base frequencies that makes two kinds


@dataclass(frozen=True)
class Kind:
    """One kind of core: its name, and how many of the system's processors are on such cores.

    A core with hyper-threading is two processors. ``processors`` are the system's numbers, empty
    where it tells only how many there are.
    """

    name: str
    count: int
    processors: frozenset[int] = frozenset()


def core_kinds(devices: Path = DEVICES) -> tuple[Kind, ...]:
    """The kinds of cores, fastest first; empty where all are alike or the system does not tell."""
    if sys.platform == "darwin":
        return _macos()
    kinds = _by_counters(devices) or _by_figures(devices / "system" / "cpu")
    return kinds if len(kinds) > 1 else ()


def hybrid_note(kinds: tuple[Kind, ...], threads: int, seen: tuple[int | None, ...]) -> str | None:
    """What to say of roofs measured with ``threads``; None where all cores are alike.

    ``seen``: the processors on which the measuring thread was, before and after; None for unknown.
    """
    if not kinds:
        return None
    listed = " and ".join(f"{kind.count} on {kind.name} cores" for kind in kinds)
    here = f"the system counts {sum(kind.count for kind in kinds)} processors, {listed}"
    if threads >= sum(kind.count for kind in kinds):
        return f"{here}; all of them worked together"
    if threads > 1:
        return f"{here}; the system chose which of them the {threads} threads ran on"
    names = {kind.name for kind in kinds for one in seen if one in kind.processors}
    if not set(seen) <= {one for kind in kinds for one in kind.processors}:
        return f"{here}; the system does not tell which kind was measured"
    if len(names) > 1:
        return f"{here}; the thread was moved between them, so the roofs are of neither kind alone"
    name = names.pop()
    article = "an" if name[0] in "aeiou" else "a"
    return f"{here}; the thread was on {article} {name} core before and after"


def processor_now() -> int | None:
    """The processor that this thread is on; None where the system does not tell."""
    try:
        number = ctypes.CDLL(None).sched_getcpu()
    except (AttributeError, OSError, TypeError):  # macOS, Windows
        return None
    return number if number >= 0 else None


def _by_counters(devices: Path) -> tuple[Kind, ...]:
    """Linux lists each kind of Intel's hybrid processors as a performance counter of its own."""
    kinds = []
    there = {cpus.parent.name: cpus for cpus in devices.glob("cpu_*/cpus")}
    for counter in [*_INTEL, *sorted(there.keys() - _INTEL)]:  # the fastest first
        try:
            processors = _numbers(there[counter].read_text())
        except (KeyError, OSError, ValueError):
            continue
        name = _INTEL.get(counter, counter.removeprefix("cpu_"))
        kinds.append(Kind(name, len(processors), processors))
    return tuple(kinds)


def _by_figures(root: Path) -> tuple[Kind, ...]:
    """Kinds by capacity (Linux on ARM), else by base frequency; two kinds get their usual names."""
    for name in ("cpu_capacity", "cpufreq/base_frequency"):
        figures = {}
        for path in root.glob(f"cpu[0-9]*/{name}"):
            number = path.relative_to(root).parts[0].removeprefix("cpu")
            try:
                figures[int(number)] = int(path.read_text())
            except (OSError, ValueError):
                continue
        groups = _groups(figures)
        if len(groups) > 1:
            usual = ("performance", "efficiency") if len(groups) == 2 else None
            names = usual or tuple(f"{figure}-rated" for figure, _ in groups)
            return tuple(
                Kind(name, len(found), found)
                for name, (_, found) in zip(names, groups, strict=True)
            )
    return ()


def _groups(figures: Mapping[int, int]) -> list[tuple[int, frozenset[int]]]:
    """Processors whose figures lie close together, highest first."""
    groups: list[tuple[int, set[int]]] = []
    for number in sorted(figures, key=lambda n: (-figures[n], n)):
        if groups and groups[-1][0] < _APART * figures[number]:
            groups[-1][1].add(number)
        else:
            groups.append((figures[number], {number}))
    return [(figure, frozenset(found)) for figure, found in groups]


def _macos() -> tuple[Kind, ...]:
    levels = _sysctl("hw.nperflevels")
    if not levels.isdigit() or int(levels) < 2:
        return ()
    kinds = []
    for level in range(int(levels)):
        name = _sysctl(f"hw.perflevel{level}.name").lower() or f"level {level}"
        count = _sysctl(f"hw.perflevel{level}.logicalcpu")
        if count.isdigit():
            kinds.append(Kind(name, int(count)))
    return tuple(kinds)


def _sysctl(key: str) -> str:
    command = ["sysctl", "-n", key]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _numbers(text: str) -> frozenset[int]:
    """ "0-3,8" -> {0, 1, 2, 3, 8}, as Linux lists processors."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
