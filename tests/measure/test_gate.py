"""The gate, on the simulated GPU of rooflab.labs.cuda: what is timed is the kernel, however short.

The simulated host pays 4 µs for every launch and 1 µs for every event, and the simulated device
writes down when each kernel really began and ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

import pytest

from rooflab.labs.cuda import Device
from rooflab.labs.llm import decode_loop
from rooflab.labs.llm.decode_loop import Clock
from rooflab.measure import gpu
from rooflab.measure.backend import Backend
from rooflab.measure.measure import caveats, launch_bound
from rooflab.predict.catalogue import machine
from tests.strict_cupy.cupy.raw_kernels import Launch
from tests.strict_cupy.cupy.strict import Cupy
from tests.support.rows import each_row

SHORT = [1 << 8, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24]


@pytest.fixture
def cp(monkeypatch) -> Cupy:
    """The simulated H200 with the waiting kernel, and Python's clock running on its host."""
    made = Cupy(Device.from_machine(machine("h200-sxm")))
    made.kernels["rooflab_spin"], made.cublas = spin, made._cublas
    monkeypatch.setattr(gpu, "perf_counter", lambda: made.gpu.now)
    return made


def spin(launch: Launch) -> float:
    """A cycle takes 0.5 ns, and kernels last whole steps of 32 ns: what Hopper's events show."""
    nanoseconds, cycles = map(float, launch.args)
    return 1e-6 + max(nanoseconds * 1e-9, round(0.5e-9 * cycles / 32e-9) * 32e-9)


def axpy(cp: Cupy, n: int, times: int = 1) -> Callable[[], None]:
    x, y = cp.ones(n, dtype=cp.float32), cp.zeros(n, dtype=cp.float32)

    def call() -> None:
        for _ in range(times):
            cp.cublas.axpy(0.5, x, y)

    return call


def timed(cp: Cupy, call: Callable[[], None], cache: str = "warm", samples: int = 20) -> Any:
    return gpu.time_gpu(cp, call, cache=cache, samples=samples, seconds=1e9, warm_up_s=0)


def lasted(cp: Cupy) -> list[float]:
    return [
        entry["end"] - entry["begin"]
        for entry in cp.gpu.log
        if entry["what"] == "launch" and entry["kernel"] == "axpy"
    ]


@each_row(*SHORT)
def test_warm_is_the_kernels_time_from_a_microsecond_up(n, cp):
    found = timed(cp, axpy(cp, n))
    true = median(lasted(cp)[-40:])
    assert true < 7e-6 or n == SHORT[-1]  # most of them shorter than a launch and two events
    assert found.median_s == pytest.approx(true, rel=0.02)
    assert found.samples == pytest.approx([found.median_s] * 20, rel=0.02)
    assert found.queueing_s == 0.0


def test_without_the_gate_python_would_have_been_timed(cp, monkeypatch):
    """The case that the gate is for is really there."""
    monkeypatch.setattr(gpu.Gate, "close", lambda self, seconds: self._passed.record(self._stream))
    found = timed(cp, axpy(cp, SHORT[0]))
    assert found.median_s > 3 * median(lasted(cp)[-40:])
    assert found.queueing_s > found.median_s
    assert any(text.startswith("launch-bound") for text in caveats(found))


def test_a_slow_look_does_not_make_an_open_gate_a_shut_one(cp, monkeypatch):
    def look() -> None:  # asks the driver for so long that any GPU would be done
        cp.gpu.now += 0.1

    monkeypatch.setattr(gpu.Gate, "close", lambda self, seconds: self._passed.record(self._stream))
    turns = [axpy(cp, SHORT[0])] * 20
    assert gpu.Gate(cp).run(turns, look) > 0.0


@each_row(*SHORT)
def test_cold_is_the_time_of_a_kernel_that_finds_an_empty_cache(n, cp, monkeypatch):
    flush = cp.ones(gpu.flush_bytes(cp) // 4, dtype=cp.float32)
    monkeypatch.setattr(gpu, "l2_flush", lambda xp: flush.sum)
    found = timed(cp, axpy(cp, n), "cold")
    assert found.median_s == pytest.approx(median(lasted(cp)[-20:]), rel=0.02)
    if n in (1 << 20, 1 << 22):  # smaller: no time of memory; larger: no L2 holds it
        assert found.median_s > 1.3 * timed(cp, axpy(cp, n)).median_s


@each_row(10, 100, 400)
def test_many_launches_a_call_go_through_in_groups_that_a_queue_holds(times, cp):
    found = timed(cp, axpy(cp, 256, times), samples=6)
    assert found.median_s == pytest.approx(times * median(lasted(cp)), rel=0.02)
    assert found.queueing_s == 0.0
    assert max(behind_gates(cp)) <= 1024


def behind_gates(cp: Cupy) -> list[int]:
    """How many kernels and events were queued at once, from each gate to the next wait."""
    counts, queued = [], 0
    for entry in cp.gpu.log:
        if entry["what"] == "synchronize":
            counts.append(queued)
            queued = 0
        elif entry["what"] in ("launch", "record"):
            queued += 1
    return counts


def test_a_call_too_long_to_be_queued_at_once_says_so(cp):
    cp.gpu.device = replace(cp.gpu.device, launch_s=40e-6)  # a slow Python, so that few will do
    found = timed(cp, axpy(cp, 256, 600), samples=3)
    assert found.queueing_s > gpu.MOST_S
    assert launch_bound(found).startswith("launch-bound: Python takes ")


def test_a_python_that_slows_down_gets_a_longer_gate(cp):
    call, calls = axpy(cp, 256), 0

    def hindered() -> None:
        nonlocal calls
        calls += 1
        if calls == 12:  # after the warm-up and the three turns that are looked at
            cp.gpu.device = replace(cp.gpu.device, launch_s=12e-6)
        call()

    found = timed(cp, hindered)
    assert found.median_s == pytest.approx(median(lasted(cp)[-40:]), rel=0.02)
    assert found.queueing_s == 0.0


def test_a_run_that_waits_for_its_result_is_timed_too(cp):
    call, stream = axpy(cp, 1 << 24), cp.cuda.get_current_stream()

    def waiting() -> None:
        call()
        stream.synchronize()

    found = timed(cp, waiting)
    assert found.median_s == pytest.approx(median(lasted(cp)), rel=0.1)


def test_the_step_of_the_events_is_measured(cp):
    assert gpu.event_step_s(cp, 0) == pytest.approx(32e-9, rel=0.01)
    found = timed(cp, axpy(cp, 256))
    assert found.step_s == pytest.approx(32e-9, rel=0.01)
    assert caveats(found) == ()  # one microsecond is thirty steps of this clock


def test_equal_times_tell_no_step_and_the_documented_one_holds(cp, monkeypatch):
    monkeypatch.setattr(gpu, "_CYCLES", 0)
    assert gpu.event_step_s(cp, 0) == gpu.EVENT_STEP_S
    found = timed(cp, axpy(cp, 256))
    assert any("moves in steps of 500 ns" in text for text in caveats(found))


def test_a_gate_opens_by_itself_after_twenty_milliseconds(cp):
    made = gpu.Gate(cp)
    began = cp.gpu.now
    made.close(3.0)
    assert not made.is_open
    cp.cuda.get_current_stream().synchronize()
    assert made.is_open
    assert cp.gpu.now - began < 1.1 * gpu.MOST_S


@pytest.fixture
def clock(cp, monkeypatch) -> Clock:
    monkeypatch.setattr(decode_loop, "perf_counter", lambda: cp.gpu.now)
    return Clock(Backend("gpu", cp, "simulated", "H200"))


def run_through(clock: Clock, cp: Cupy, launches: dict[str, int], layers: int) -> None:
    """A pass of ``layers``, each with so many launches of a microsecond an operation."""
    call = axpy(cp, 256)
    for _ in range(2):  # the first one learns how long gates must stay shut
        clock.start()
        for _ in range(layers):
            for name, count in launches.items():
                for _ in range(count):
                    call()
                clock(name)


@each_row(
    ({"q": 1}, 1),
    ({"q": 1, "norm": 4, "attention": 12}, 6),  # some hundred calls a step, as in fp32
    ({"q": 1, "norm": 4, "attention": 300}, 6),  # some thousand, as halves head by head
)
def test_a_pass_of_many_launches_is_timed_without_python(launches, layers, clock, cp):
    run_through(clock, cp, launches, layers)
    found, one = clock.seconds(), median(lasted(cp))
    for name, count in launches.items():
        assert found[name] == pytest.approx(layers * count * one, rel=0.02)
    calls = layers * sum(launches.values())
    assert clock.queueing[-1] >= calls * cp.gpu.device.launch_s
    assert clock.late == 0
    assert max(behind_gates(cp)) <= 1024


def test_an_operation_too_long_for_any_queue_is_called_late(clock, cp):
    cp.gpu.device = replace(cp.gpu.device, launch_s=40e-6)
    run_through(clock, cp, {"q": 800}, 1)
    clock.seconds()
    assert clock.late == 1
