"""The GPU's clock on a stand-in for CuPy: in which order the GPU is told what to do."""

from __future__ import annotations

import itertools

import pytest

from rooflab.measure import gpu
from tests.support.fake_cupy import FakeCupy

GATE = ["rooflab_spin", "record"]
DONE = ["record", "stream.synchronize"]  # when the GPU is through, and the one wait


@pytest.fixture
def fake(monkeypatch) -> FakeCupy:
    """A stand-in, and a Python that queues whatever it is in a microsecond."""
    moments = itertools.count()
    monkeypatch.setattr(gpu, "perf_counter", lambda: next(moments) * 1e-6)
    monkeypatch.setattr(gpu, "LEAST_FLUSH", 1 << 16)
    return FakeCupy(l2=1 << 20)


def timed(fake: FakeCupy) -> list[str]:
    """What was queued from the last gate on."""
    starts = [at for at in range(len(fake.log)) if fake.log[at : at + 2] == GATE]
    return fake.log[starts[-1] + 2 :]


def test_gpu_cold_flushes_before_every_start_and_waits_once(fake):
    found = gpu.time_gpu(fake, lambda: fake.launch("work"), samples=4, warm_up_s=0)
    flush = f"sum {4 << 20}"  # four times the L2 cache, read
    first = fake.log.index(flush)
    assert fake.log[first : first + 9] == [flush, "work", "stream.synchronize"] * 3
    assert timed(fake) == [flush, "record", "work", "record"] * 4 + DONE
    assert found.samples == pytest.approx([10e-6] * 4) and found.clock == "CUDA events"


def test_gpu_warm_keeps_it_busy_with_the_same_work(fake):
    gpu.time_gpu(fake, lambda: fake.launch("work"), cache="warm", samples=3, warm_up_s=0)
    assert timed(fake) == ["work", "record", "work", "record"] * 3 + DONE


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
    assert timed(fake)[-2:] == ["clocks", "stream.synchronize"]


def test_a_gate_says_how_long_it_stays_shut(fake):
    made, before = gpu.Gate(fake), fake.device_s
    made.close(3e-3)
    assert fake.device_s - before == pytest.approx(3e-3)
    made.close(1.0)
    assert fake.device_s - before == pytest.approx(3e-3 + gpu.MOST_S)
