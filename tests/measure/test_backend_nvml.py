"""What the driver tells of a GPU: through NVML while it works, its facts through nvidia-smi."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

from rooflab.measure import gpu

BUS = "0000:0A:00.0"
RUN = subprocess.run


class Nvml(types.ModuleType):
    """nvidia-ml-py as far as it is used, with a GPU whose state is set by a test."""

    def __init__(self) -> None:
        super().__init__("pynvml")
        self.bits, self.counters, self.asked = 0, {74: 0, 269: 0, 270: 0, 271: 0}, []
        self.lacks: tuple[int, ...] = ()

    def nvmlInit(self) -> None:
        self.asked.append("init")

    def nvmlDeviceGetHandleByPciBusId(self, bus: str) -> str:
        return f"handle of {bus}"

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: str) -> int:
        assert handle == f"handle of {BUS}"
        return self.bits

    def nvmlDeviceGetClockInfo(self, handle: str, kind: int) -> int:
        assert kind == 1  # NVML_CLOCK_SM
        return 1980

    def nvmlDeviceGetFieldValues(self, handle: str, fields: list[int]) -> list[object]:
        return [
            types.SimpleNamespace(
                fieldId=field, nvmlReturn=3 if field in self.lacks else 0,
                value=types.SimpleNamespace(ullVal=self.counters[field]),
            )
            for field in fields
        ]  # fmt: skip


@pytest.fixture
def library(monkeypatch) -> Nvml:
    made = Nvml()
    monkeypatch.setitem(sys.modules, "pynvml", made)
    return made


def test_nvml_tells_while_the_gpu_works(library):
    watch = gpu.ClockWatch(BUS)
    library.bits = 0x48
    watch.look()
    library.bits = 0x01  # idle again
    assert watch.reasons() == "hardware slowdown, heat (hardware)"
    assert watch.clock == "1980 MHz"


def test_counters_tell_of_what_passed_between_two_looks(library):
    library.counters[270] = 5_000_000  # of earlier, no matter
    watch = gpu.ClockWatch(BUS)
    library.counters[74] += 1_000_000
    watch.look()
    assert watch.reasons() == "power limit"


def test_answers_that_nvml_refuses_are_no_reasons(library):
    def refused(*_):
        raise RuntimeError("NVML_ERROR_NOT_SUPPORTED")

    library.nvmlDeviceGetCurrentClocksEventReasons = refused
    library.nvmlDeviceGetFieldValues = refused
    library.nvmlDeviceGetClockInfo = refused
    watch = gpu.ClockWatch(BUS)
    watch.look()
    assert watch.reasons() is None
    assert watch.clock is None


@pytest.mark.parametrize("error", [OSError("libnvidia-ml.so.1"), None])
def test_without_the_drivers_library_nobody_tells(error, monkeypatch):
    made = Nvml() if error else None  # None: there is no such package
    if error:
        made.nvmlInit = lambda: (_ for _ in ()).throw(error)
    monkeypatch.setitem(sys.modules, "pynvml", made)
    watch = gpu.ClockWatch(BUS)
    watch.look()
    assert watch.reasons() is None and watch.clock is None


def asked(monkeypatch, *command: str) -> dict[str, str]:
    """What nvidia-smi tells of two fields, ``command`` running in its place."""
    monkeypatch.setattr(subprocess, "run", lambda _, **options: RUN(command, **options))
    return gpu.nvidia_smi(BUS, "driver_version", "power.limit")


def test_an_nvidia_smi_that_fails_is_missing_or_hangs_tells_nothing(monkeypatch):
    told = asked(monkeypatch, sys.executable, "-c", "print('580.65.06, [N/A]')")
    assert told == {"driver_version": "580.65.06"}, "a field that it cannot tell is left out"
    for code in ("print('580.65.06, 700 W'); raise SystemExit(1)", "print('not a valid field')"):
        assert asked(monkeypatch, sys.executable, "-c", code) == {}
    assert asked(monkeypatch, "no-such-program") == {}
    monkeypatch.setattr(gpu, "_ANSWER_S", 0.05)
    assert asked(monkeypatch, sys.executable, "-c", "import time; time.sleep(30)") == {}


def test_the_package_has_what_is_asked_of_it():
    """Where nvidia-ml-py is installed: its names and numbers are those used here."""
    library = pytest.importorskip("pynvml")
    assert library.NVML_CLOCK_SM == gpu._SM_CLOCK
    named = {
        library.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP,
        library.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
        library.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
        library.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN,
    }
    assert named == set(gpu.COUNTERS)
    assert callable(library.nvmlDeviceGetCurrentClocksEventReasons)
    assert gpu.SLOWED_BY[library.nvmlClocksEventReasonSwPowerCap] == "power limit"
    assert gpu.SLOWED_BY[library.nvmlClocksEventReasonHwThermalSlowdown] == "heat (hardware)"
