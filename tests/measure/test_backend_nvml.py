"""What the driver tells of a GPU: through NVML if its package is there, else through nvidia-smi."""

from __future__ import annotations

import sys
import time
import types

import pytest

from rooflab.measure import gpu
from tests.support.rows import each_row

BUS = "0000:0A:00.0"


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
    monkeypatch.setattr(gpu, "nvidia_smi", lambda *_, **__: pytest.fail("NVML could tell"))
    return made


def never() -> None:
    pytest.fail("NVML needs no work repeated")


def test_nvml_tells_while_the_gpu_works(library):
    watch = gpu.ClockWatch(BUS)
    library.bits = 0x48
    watch.look()
    library.bits = 0x01  # idle again
    assert watch.reasons(never) == "hardware slowdown, heat (hardware)"
    assert watch.clock == "1980 MHz"


def test_counters_tell_of_what_passed_between_two_looks(library):
    library.counters[270] = 5_000_000  # of earlier, no matter
    watch = gpu.ClockWatch(BUS)
    library.counters[74] += 1_000_000
    watch.look()
    assert watch.reasons(never) == "power limit"


def test_answers_that_nvml_refuses_are_no_reasons(library):
    def refused(*_):
        raise RuntimeError("NVML_ERROR_NOT_SUPPORTED")

    library.nvmlDeviceGetCurrentClocksEventReasons = refused
    library.nvmlDeviceGetFieldValues = refused
    library.nvmlDeviceGetClockInfo = refused
    watch = gpu.ClockWatch(BUS)
    watch.look()
    assert watch.reasons(never) is None
    assert watch.clock is None


def test_without_the_drivers_library_nvidia_smi_is_asked(monkeypatch):
    made = Nvml()
    made.nvmlInit = lambda: (_ for _ in ()).throw(OSError("libnvidia-ml.so.1"))
    monkeypatch.setitem(sys.modules, "pynvml", made)
    answers(monkeypatch, clocks_event_reasons__active="0x04")
    watch = gpu.ClockWatch(BUS)
    watch.look()
    assert watch.reasons(lambda: None) == "power limit"


def answers(monkeypatch, after: int = 0, **fields: str) -> None:
    """An nvidia-smi that knows ``fields``, dots written as two underscores; it has its answer when
    it was asked for the ``after``-th time."""
    known = {name.replace("__", "."): text for name, text in fields.items()}

    class Process:
        def __init__(self, command, **_):
            asked = command[2].removeprefix("--query-gpu=").split(",")
            ok = all(name in known for name in asked)
            self.text = ", ".join(known[name] for name in asked) if ok else "not a valid field"
            self.code, self.polls, self.returncode = int(not ok), 0, None

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def poll(self):
            self.polls += 1
            self.returncode = self.code if self.polls > after else None
            return self.returncode

        def communicate(self, timeout):
            self.returncode = self.code
            return self.text, None

    monkeypatch.setattr(gpu.subprocess, "Popen", Process)


@each_row(
    ("0x0000000000000000", None),
    ("0x0000000000000001", None),  # idle: no reason of a busy GPU
    ("0x0000000000000004", "power limit"),
    ("0x0000000000000048", "hardware slowdown, heat (hardware)"),
    ("[N/A]", None),
)
def test_throttling_is_read_from_the_bits_of_nvml(bits, reason, monkeypatch):
    answers(monkeypatch, clocks_event_reasons__active=bits)
    assert gpu.throttling(BUS) == reason
    answers(monkeypatch, clocks_throttle_reasons__active=bits)  # drivers before 535
    assert gpu.throttling(BUS) == reason


def test_the_gpu_is_kept_at_work_until_nvidia_smi_has_its_answer(monkeypatch):
    answers(monkeypatch, after=5, clocks_event_reasons__active="0x04")
    done = []
    assert gpu.throttling(BUS, lambda: done.append(1)) == "power limit"
    assert len(done) == 5


def test_an_nvidia_smi_that_hangs_is_left(monkeypatch):
    monkeypatch.setattr(gpu, "_ANSWER_S", 0.05)
    began = time.monotonic()
    assert gpu._output(["sleep", "30"], lambda: None) == ""
    assert time.monotonic() - began < 20


def test_no_nvidia_smi_means_no_answer(monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError("nvidia-smi")

    monkeypatch.setattr(gpu.subprocess, "Popen", missing)
    assert gpu.throttling(BUS) is None
    assert gpu.nvidia_smi(BUS, "clocks.sm") == {}


def test_fields_that_nvidia_smi_cannot_tell_are_left_out(monkeypatch):
    answers(monkeypatch, driver_version="580.65.06", power__limit="[N/A]")
    told = gpu.nvidia_smi(BUS, "driver_version", "power.limit")
    assert told == {"driver_version": "580.65.06"}


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
