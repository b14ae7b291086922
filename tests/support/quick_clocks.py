"""What tests of measuring share: a stand-in for CuPy, and clocks that do not dawdle."""

from __future__ import annotations

import functools
import sys

import pytest

from rooflab.measure import gpu, timing
from rooflab.measure import measure as room
from tests.support.fake_cupy import FakeCupy


@pytest.fixture(autouse=True)
def unasked() -> None:
    """No test hears what a driver told another."""
    gpu._drivers_facts.cache_clear()
    gpu._device.cache_clear()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    """A stand-in for CuPy, importable as cupy and asked for by ROOFLAB_BACKEND."""
    monkeypatch.setenv("ROOFLAB_BACKEND", "gpu")
    fake = FakeCupy()
    for name, module in fake.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    return fake


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short warm-ups, small eviction buffers; and no GPU unless a test brings one."""
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    warm = functools.partial(timing.time_warm, sample_s=1e-5, settle_s=0.0)
    monkeypatch.setattr(room, "time_warm", warm)
    monkeypatch.setattr(room, "time_cold", functools.partial(timing.time_cold, settle_s=0.0))
    monkeypatch.setattr(timing, "last_level_bytes", lambda: 1 << 18)
    monkeypatch.setattr(gpu, "LEAST_FLUSH", 1 << 16)
    monkeypatch.setitem(gpu.time_gpu.__kwdefaults__, "warm_up_s", 0.0)
    monkeypatch.setattr(gpu, "nvidia_smi", lambda *_, **__: {})
