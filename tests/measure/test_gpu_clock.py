"""The GPU's clock on a stand-in for CuPy: in which order the GPU is told, and what slows it."""

from __future__ import annotations

import pytest

from rooflab.measure import gpu
from tests.measure.fake_cupy import CUDARuntimeError, FakeCupy


@pytest.fixture
def fake(monkeypatch) -> FakeCupy:
    monkeypatch.setattr(gpu, "LEAST_FLUSH", 1 << 16)
    return FakeCupy(l2=1 << 20)


def test_gpu_cold_flushes_before_every_start_and_waits_once(fake):
    found = gpu.time_gpu(fake, lambda: fake.launch("work"), samples=4, warm_up_s=0)
    flush = f"sum {4 << 20}"  # four times the L2 cache, read
    warm = fake.log.index("record") - 1
    assert fake.log[:warm] == [flush, "work", "stream.synchronize"] * 3
    assert fake.log[warm:] == [flush, "record", "work", "record"] * 4 + ["event.synchronize"]
    assert found.samples == pytest.approx([10e-6] * 4) and found.clock == "CUDA events"


def test_gpu_warm_keeps_it_busy_with_the_same_work(fake):
    gpu.time_gpu(fake, lambda: fake.launch("work"), cache="warm", samples=3, warm_up_s=0)
    start = fake.log.index("record") - 1
    assert fake.log[start:] == ["work", "record", "work", "record"] * 3 + ["event.synchronize"]


def test_gpu_small_caches_still_flush_a_least_amount(monkeypatch):
    monkeypatch.setattr(gpu, "LEAST_FLUSH", 1 << 22)
    fake = FakeCupy(l2=1024)
    gpu.l2_flush(fake)()
    assert fake.log == [f"sum {1 << 22}"]


def test_gpu_clocks_are_read_while_it_works(fake):
    gpu.time_gpu(
        fake, lambda: fake.launch("work"), samples=3, warm_up_s=0,
        while_busy=lambda: fake.log.append("clocks"),
    )  # fmt: skip
    assert fake.log[-2:] == ["clocks", "event.synchronize"]


def test_the_stand_in_refuses_times_nobody_waited_for(fake):
    start, stop = fake.cuda.Event(), fake.cuda.Event()
    start.record()
    fake.launch("work")
    stop.record()
    with pytest.raises(CUDARuntimeError, match="NotReady"):
        fake.cuda.get_elapsed_time(start, stop)


def answers(monkeypatch, **fields: str):
    """An nvidia-smi that knows ``fields``, dots written as two underscores."""
    known = {name.replace("__", "."): text for name, text in fields.items()}

    def smi(command, **_):
        asked = command[2].removeprefix("--query-gpu=").split(",")
        ok = all(name in known for name in asked)
        text = ", ".join(known[name] for name in asked) if ok else "Field is not a valid field"
        return type("Done", (), {"returncode": int(not ok), "stdout": text})

    monkeypatch.setattr(gpu.subprocess, "run", smi)


@pytest.mark.parametrize(
    ("bits", "reason"),
    [
        ("0x0000000000000000", None),
        ("0x0000000000000001", None),  # idle: no reason of a busy GPU
        ("0x0000000000000004", "power limit"),
        ("0x0000000000000048", "hardware slowdown, heat (hardware)"),
        ("[N/A]", None),
    ],
)
def test_throttling_is_read_from_the_bits_of_nvml(monkeypatch, bits, reason):
    answers(monkeypatch, clocks_event_reasons__active=bits)
    assert gpu.throttling("0000:00:00.0") == reason
    answers(monkeypatch, clocks_throttle_reasons__active=bits)  # drivers before 535
    assert gpu.throttling("0000:00:00.0") == reason


def test_no_nvidia_smi_means_no_answer(monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError("nvidia-smi")

    monkeypatch.setattr(gpu.subprocess, "run", missing)
    assert gpu.throttling("0000:00:00.0") is None
    assert gpu.nvidia_smi("0000:00:00.0", "clocks.sm") == {}
