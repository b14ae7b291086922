"""The stand-in for CuPy: asynchronous like CUDA, and one for a thread."""

from __future__ import annotations

import sys
import threading

import pytest

from rooflab.labs.cuda import StandIn, imported_as_cupy
from rooflab.measure import backend
from tests.labs.cuda.conftest import DEVICE


def test_a_launch_returns_before_the_device_has_finished(cp):
    x, y = cp.ones(1 << 24, dtype=cp.float32), cp.zeros(1 << 24, dtype=cp.float32)  # beyond L2
    cp.cublas.axpy(1.0, x, y)
    cp.cuda.Device().synchronize()
    before = cp.gpu.now
    cp.cublas.axpy(1.0, x, y)
    assert cp.gpu.now - before == pytest.approx(DEVICE.launch_s)
    assert not cp.cuda.get_current_stream().done
    cp.cuda.Device().synchronize()
    assert cp.gpu.now - before > 12 * x.size / DEVICE.bandwidth
    assert cp.cuda.get_current_stream().done


def test_gemm_is_bound_by_the_peak_of_its_dtype(cp):
    for kind, peak in (("float32", 1e13), ("float64", 5e12)):
        cp.ones((2048, 2048), dtype=kind) @ cp.ones((2048, 2048), dtype=kind)
        seconds = cp.gpu.log[-1]["end"] - cp.gpu.log[-1]["begin"]
        assert seconds == pytest.approx(2 * 2048**3 / peak, rel=0.02)


def test_two_stand_ins_at_once_leave_nothing_behind():
    """Overlapping, each would restore the other's module."""
    began, may_end = threading.Event(), threading.Event()

    def first():
        with imported_as_cupy(StandIn(DEVICE)):
            began.set()
            may_end.wait(5)

    def second():
        began.wait(5)
        with imported_as_cupy(StandIn(DEVICE)):
            pass

    before = sys.modules.get("cupy")
    threads = [threading.Thread(target=each) for each in (first, second)]
    for thread in threads:
        thread.start()
    began.wait(5)
    may_end.set()
    for thread in threads:
        thread.join()
    assert sys.modules.get("cupy") is before


def test_whoever_looks_for_a_gpu_waits_until_the_stand_in_is_gone(monkeypatch):
    found, began = [], threading.Event()
    monkeypatch.setattr(backend, "cupy_installed", lambda: "cupy" in sys.modules)

    def look():
        began.set()
        found.append(backend.probe_gpu())

    with imported_as_cupy(StandIn(DEVICE)):
        thread = threading.Thread(target=look)
        thread.start()
        began.wait(5)
        thread.join(0.2)
        assert not found
    thread.join(5)
    assert found == [(None, "CuPy is not installed")]
