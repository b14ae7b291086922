"""What NVIDIA's driver tells about a GPU: its facts, its clock, and what slows it down.

Two ways lead to the driver. The package nvidia-ml-py calls its library NVML and has an answer in
microseconds, while the GPU still works. The program nvidia-smi takes 20 to 300 ms to start, so the
GPU must be kept at work for as long.
"""

from __future__ import annotations

import functools
import importlib
import subprocess
import time
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

SLOWED_BY = {  # bits of nvmlClocksEventReasons (nvml.h) that mean "slower than it could be"
    0x04: "power limit", 0x08: "hardware slowdown", 0x20: "heat (driver)",
    0x40: "heat (hardware)", 0x80: "power brake",
}  # fmt: skip
COUNTERS = {  # NVML_FI_DEV_CLOCKS_EVENT_REASON_… (nvml.h): times that only grow
    74: "power limit", 269: "heat (driver)", 270: "heat (hardware)", 271: "power brake",
}  # fmt: skip
_SM_CLOCK = 1  # NVML_CLOCK_SM
_ANSWER_S = 10.0  # nvidia-smi has an answer by then, or none
_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")  # new name, old name


class Watch:
    """Looks whether a GPU is slowed down, from here to :meth:`reasons`.

    ``pci_bus_id`` as CuPy gives it. Call :meth:`look` while the GPU works. A cause counts if it is
    active then, or if the time that the driver counts for it has grown since the watch began.
    """

    def __init__(self, pci_bus_id: str) -> None:
        self._bus, self._nvml = pci_bus_id, _device(pci_bus_id)
        self._began = _counted(*self._nvml) if self._nvml else {}
        self._active: set[str] = set()
        self.clock: str | None = None
        """The multiprocessors' clock while the GPU worked, such as "1980 MHz", if NVML tells."""

    def look(self) -> None:
        """Ask NVML what slows the GPU at this moment, and for its clock; nothing without NVML."""
        if self._nvml is None:
            return
        library, device = self._nvml
        self._active |= set(_named(_told(lambda: _reasons_of(library)(device)) or 0))
        clock = _told(lambda: library.nvmlDeviceGetClockInfo(device, _SM_CLOCK))
        self.clock = f"{clock} MHz" if clock else self.clock

    def reasons(self, work: Callable[[], Any]) -> str | None:
        """Return what slowed the GPU, None if nothing did or nobody tells.

        ``work`` runs the operation once more and waits for it: without NVML it is repeated until
        nvidia-smi has answered.
        """
        if self._nvml is None:
            return throttling(self._bus, work)
        ended = _counted(*self._nvml)
        grown = {name for name, at in ended.items() if at > self._began.get(name, at)}
        return _listed(self._active | grown)


def throttling(pci_bus_id: str, work: Callable[[], Any] = lambda: time.sleep(1e-3)) -> str | None:
    """Return why the GPU runs slower than it could, as nvidia-smi says it while ``work`` repeats.

    None if it does not, or if nvidia-smi will not tell.
    """
    told: dict[str, str] = {}
    for field in _REASONS:
        told = nvidia_smi(pci_bus_id, field, work=work)
        if told:
            break
    try:
        bits = int(next(iter(told.values()), "0"), 16)
    except ValueError:
        return None
    return _listed(_named(bits))


def nvidia_smi(
    pci_bus_id: str, *fields: str, work: Callable[[], Any] | None = None
) -> dict[str, str]:
    """Ask nvidia-smi for ``fields`` of one GPU; fields that it cannot tell are left out.

    ``work`` is called again and again until the answer is there.
    """
    command = [
        "nvidia-smi", f"--id={pci_bus_id}", f"--query-gpu={','.join(fields)}",
        "--format=csv,noheader",
    ]  # fmt: skip
    text = _output(command, work)
    values = [value.strip() for value in text.strip().split(",")]
    if not text or len(values) != len(fields):
        return {}
    return {k: v for k, v in zip(fields, values, strict=True) if not v.startswith("[")}


def _output(command: list[str], work: Callable[[], Any] | None) -> str:
    """What ``command`` prints; "" if it fails, is not there or takes too long."""
    try:
        asked = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
    except OSError:
        return ""
    with asked:
        latest = time.monotonic() + _ANSWER_S
        while work is not None and asked.poll() is None and time.monotonic() < latest:
            work()
        try:
            text, _ = asked.communicate(timeout=max(0.0, latest - time.monotonic()))
        except subprocess.TimeoutExpired:
            asked.kill()
            return ""
    return "" if asked.returncode else text


@functools.cache
def _device(pci_bus_id: str) -> tuple[ModuleType, Any] | None:
    """NVML and its handle of the GPU; None where the package or the driver's library is missing."""
    try:
        library = importlib.import_module("pynvml")  # of nvidia-ml-py, where a GPU is wanted
    except ImportError:
        return None

    def handle() -> Any:
        library.nvmlInit()
        return library.nvmlDeviceGetHandleByPciBusId(pci_bus_id)

    device = _told(handle)
    return None if device is None else (library, device)


def _told(ask: Callable[[], Any]) -> Any:
    """NVML's answer; None where it has none: an old driver, a slice of a GPU, a missing right."""
    try:
        return ask()
    except Exception:  # NVMLError has a subclass for each cause, and an old package other errors
        return None


def _reasons_of(library: ModuleType) -> Callable[[Any], int]:
    new = getattr(library, "nvmlDeviceGetCurrentClocksEventReasons", None)
    return new or library.nvmlDeviceGetCurrentClocksThrottleReasons  # packages before 12.535


def _counted(library: ModuleType, device: Any) -> dict[str, int]:
    """The driver's counters of time spent slowed down, by cause; those that this GPU has."""
    values = _told(lambda: library.nvmlDeviceGetFieldValues(device, list(COUNTERS))) or ()
    return {COUNTERS[v.fieldId]: int(v.value.ullVal) for v in values if v.nvmlReturn == 0}


def _named(bits: int) -> list[str]:
    return [name for bit, name in SLOWED_BY.items() if bits & bit]


def _listed(found: Iterable[str]) -> str | None:
    """The causes in the order of their bits, as one text; None if there are none."""
    found = set(found)
    return ", ".join(name for name in SLOWED_BY.values() if name in found) or None
