"""Joules that this machine really used, from the counters of its processor and its GPUs.

A processor of Intel or AMD counts its energy (RAPL, running average power limit). Linux shows the
counters as files of the power capping framework: ``energy_uj`` grows in microjoules up to
``max_energy_range_uj`` and begins again. NVIDIA's driver counts each GPU's millijoules since it was
loaded (NVML, nvmlDeviceGetTotalEnergyConsumption, from Volta on).
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from rooflab.count.si import si
from rooflab.count.validation import amount, flag
from rooflab.measure.settings import briefer

POWERCAP = Path("/sys/class/powercap")
SHORT_S = 0.5
"""Seconds from which on a reading means something. A GPU's counter moves every 20 to 100 ms (PETSc,
manual page of PetscLogGpuEnergyMeter)."""
#: Domains that are added up: a package holds its cores, and psys all of the machine.
_ADDED = ("package", "dram", "gpu")
_ROOT_ONLY = (
    "only root may read the processor's energy counters (Linux closed them in November 2020, "
    "since they betray secrets: CVE-2020-8694); as root, `chmod a+r {files}` opens them until the "
    "next start"
)

#: A counter: what it is called, joules at which it begins again, and how to read its joules.
Counter: TypeAlias = tuple[str, float, Callable[[], float]]


@dataclass
class Joules:
    """What was read: joules by domain ("package-0", "dram-0", "gpu-0", …), and the seconds.

    The object fills when its ``with`` block ends. Cores are part of their package. ``idle_watts``
    are watts while nothing was done, if that was asked for; ``missing`` says what cannot be read
    here.

    >>> with rl.memory.joules(idle_s=0) as used:
    ...     total = sum(range(100_000))
    >>> used.seconds > 0, bool(used.joules) or bool(used.missing)
    (True, True)
    """

    seconds: float = 0.0
    joules: Mapping[str, float] = field(default_factory=dict)
    idle_watts: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def watts(self) -> dict[str, float]:
        """Domain → watts on average."""
        return {name: used / self.seconds for name, used in self.joules.items()}

    @property
    def total(self) -> float | None:
        """Joules of all packages, their DRAM and all GPUs; None if nothing can be read here."""
        found = [used for name, used in self.joules.items() if _kind(name) in _ADDED]
        return sum(found) if found else None

    @property
    def above_idle(self) -> float | None:
        """``total`` less what the same seconds of idling use; None if either is not known."""
        if self.total is None or not self.idle_watts:
            return None
        idle = sum(watts for name, watts in self.idle_watts.items() if _kind(name) in _ADDED)
        return self.total - idle * self.seconds

    def __str__(self) -> str:
        if not self.joules:
            return "joules are not readable here: " + "; ".join(self.missing)
        each = ", ".join(
            f"{name} {si(used, 'J')} ({si(self.watts[name], 'W')})"
            for name, used in self.joules.items()
        )
        more = self.above_idle
        rest = "" if more is None else f"; {si(more, 'J')} more than idle"
        return f"{si(self.seconds, 's')}: {each}{rest}"

    def __repr__(self) -> str:
        lines = [str(self)]
        if self.joules:
            lines += [f"  not readable: {why}" for why in self.missing]
        return "\n".join([*lines, *(f"  {said}" for said in self.warnings)])


class Meter:
    """Counts what a ``with`` block uses by ``counters``; ``missing`` says why there are no others.

    ``idle_s``: seconds to stay idle first. ``clock`` tells seconds, ``sleep`` waits for some.
    """

    def __init__(
        self,
        counters: Sequence[Counter],
        missing: Sequence[str] = (),
        idle_s: float = 0.0,
        *,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._counters, self._idle_s = tuple(counters), idle_s
        self._clock, self._sleep = clock, sleep
        self.used = Joules(missing=tuple(missing))
        self._began: tuple[float, dict[str, float]] = (0.0, {})

    def __enter__(self) -> Joules:
        """Idle if that is asked for, then begin to count."""
        if self._counters and self._idle_s:
            self._began = self._now()
            self._sleep(self._idle_s)
            seconds, spent = self._since()
            self.used.idle_watts = {name: joule / seconds for name, joule in spent.items()}
        self._began = self._now()
        return self.used

    def __exit__(self, *raised: object) -> None:
        """End, also where the block raised."""
        self.used.seconds, self.used.joules = self._since()
        if self.used.joules and self.used.seconds < SHORT_S:
            self.used.warnings += (
                f"{si(self.used.seconds, 's')} is short: counters move in steps of up to 100 ms; "
                f"repeat the work for {SHORT_S:g} s or more",
            )

    def _now(self) -> tuple[float, dict[str, float]]:
        return self._clock(), {name: read() for name, _, read in self._counters}

    def _since(self) -> tuple[float, dict[str, float]]:
        """Seconds since it began, and joules by domain; a counter may have begun again once."""
        began, first = self._began
        ended, last = self._now()
        spent = {}
        for name, most, _ in self._counters:
            grown = last[name] - first[name]
            spent[name] = grown + most if grown < 0 else grown
        return max(ended - began, 1e-9), spent


def joules(idle_s: float = 1.0, *, gpu: bool = True) -> Meter:
    """Count the joules that a ``with`` block uses: of the processor, its DRAM and the GPUs.

    Parameters
    ----------
    idle_s : float, default 1
        Seconds to stay idle before the block, so that ``above_idle`` is known; 0 skips it.
    gpu : bool, default True
        Whether GPUs are asked too. What they have queued must have ended within the block.

    Returns
    -------
    Meter
        For a ``with`` statement. What it binds is a :class:`Joules`, which fills when the block
        ends.

    Notes
    -----
    The counters see the whole machine: everything that runs beside is counted too. Where there is
    none, or it is closed, ``joules`` stays empty and ``missing`` says why; nothing is raised.

    Examples
    --------
    >>> with rl.memory.joules(idle_s=0) as used:
    ...     total = sum(range(100_000))
    >>> used.total is None or used.total >= 0
    True
    """
    right = "a number of seconds, from 0 to an hour"
    idle_s = amount("idle_s", idle_s, right, zero=True, most=3600)
    counters, missing = processor_counters(POWERCAP)
    if flag("gpu", gpu):
        found, why = gpu_counters()
        counters, missing = counters + found, missing + why
    return Meter(counters, missing, briefer(idle_s))


def processor_counters(folder: Path) -> tuple[list[Counter], list[str]]:
    """The counters of the processor's domains below ``folder``, and why there are none."""
    found: list[Counter] = []
    closed = False
    for zone in sorted(folder.glob("intel-rapl:*")):  # AMD's have this name too
        try:
            name = (zone / "name").read_text().strip()
            most = int((zone / "max_energy_range_uj").read_text()) / 1e6
            _microjoules(zone / "energy_uj")()
        except PermissionError:
            closed = True
        except (OSError, ValueError):
            continue  # a zone that has no counter, only limits
        else:
            found.append((_domain(zone.name, name), most, _microjoules(zone / "energy_uj")))
    if found:
        return found, []
    if closed:
        return [], [_ROOT_ONLY.format(files=folder / "intel-rapl:*" / "energy_uj")]
    return [], ["no energy counters of a processor: they need Linux on Intel or AMD, and a "
                "virtual machine rarely has them"]  # fmt: skip


def _microjoules(path: Path) -> Callable[[], float]:
    return lambda: int(path.read_text()) / 1e6


def _domain(zone: str, name: str) -> str:
    """What a zone is called: ``intel-rapl:0:1`` named "dram" is ``"dram-0"``."""
    if "-" in name or _kind(name) == "psys":
        return name
    return f"{name}-{zone.split(':')[1]}"


def _kind(name: str) -> str:
    return name.partition("-")[0]


def gpu_counters(library: ModuleType | Any | None = None) -> tuple[list[Counter], list[str]]:
    """The counters of all GPUs that NVML knows, and why there are none.

    ``library`` stands for the package nvidia-ml-py.
    """
    if library is None:
        try:
            library = importlib.import_module("pynvml")
        except ImportError:
            return [], ["no GPU is asked: the package nvidia-ml-py is not installed"]
    try:
        library.nvmlInit()
        many = int(library.nvmlDeviceGetCount())
    except Exception:  # NVMLError has a subclass for each cause: no driver, no library, no right
        return [], ["no NVIDIA GPU, or no driver that answers"]
    found: list[Counter] = []
    for number in range(many):
        try:
            handle = library.nvmlDeviceGetHandleByIndex(number)
            library.nvmlDeviceGetTotalEnergyConsumption(handle)
        except Exception:  # older than Volta, or a part of a GPU
            continue
        found.append((f"gpu-{number}", float("inf"), _millijoules(library, handle)))
    return found, [] if found else [f"{many} GPUs, none of which counts its energy"]


def _millijoules(library: Any, handle: Any) -> Callable[[], float]:
    return lambda: library.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3
