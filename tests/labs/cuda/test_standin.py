"""The stand-in for CuPy: asynchronous like CUDA, handles that are its own, one for a thread."""

from __future__ import annotations

import sys
import threading

import pytest

from rooflab.labs.cuda import StandIn, imported_as_cupy
from rooflab.labs.cuda.device import CUDARuntimeError
from rooflab.measure import backend
from tests.labs.cuda.conftest import DEVICE

N = 1 << 20  # 4 MiB of fp32: a vector that fits the toy's L2


def timed(cp, work):
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    work()
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e3


def cold(cp, n=16 * N):
    x, y = cp.ones(n, dtype=cp.float32), cp.zeros(n, dtype=cp.float32)
    cp.cublas.axpy(1.0, x, y)
    cp.cuda.Device().synchronize()
    return x, y


def test_a_launch_returns_before_the_device_has_finished(cp):
    x, y = cold(cp)
    before = cp.gpu.now
    cp.cublas.axpy(1.0, x, y)
    assert cp.gpu.now - before == pytest.approx(DEVICE.launch_s)
    assert not cp.cuda.get_current_stream().done
    cp.cuda.Device().synchronize()
    assert cp.gpu.now - before > 12 * x.size / DEVICE.bandwidth
    assert cp.cuda.get_current_stream().done


def test_only_its_own_events_and_streams_are_taken(cp):
    class Free:
        stamp, disabled, ptr, free_at = 0.0, False, 1, 0.0
        stream = property(lambda self: self)

    mine = cp.cuda.Event()
    mine.record()
    for call in (
        lambda: cp.cuda.get_elapsed_time(Free(), mine),
        lambda: cp.cuda.get_elapsed_time(mine, Free()),
        lambda: mine.record(Free()),
        lambda: cp.cuda.get_current_stream().record(Free()),
        lambda: cp.cuda.get_current_stream().wait_event(Free()),
    ):
        with pytest.raises(TypeError, match=r"must be made by cp\.cuda\..*, not a Free"):
            call()


def test_gemm_is_bound_by_the_peak_of_its_dtype(cp):
    for kind, peak in (("float32", 1e13), ("float64", 5e12)):
        a, b = cp.ones((2048, 2048), dtype=kind), cp.ones((2048, 2048), dtype=kind)
        a @ b
        seconds = timed(cp, lambda a=a, b=b: [cp.matmul(a, b) for _ in range(4)]) / 4
        assert seconds == pytest.approx(2 * 2048**3 / peak, rel=0.02)


def test_cudas_own_functions_take_handles(cp):
    x, y = cold(cp)
    cuda, stream = cp.cuda.runtime, cp.cuda.Stream(non_blocking=True)
    start, stop = cuda.eventCreate(), cuda.eventCreate()
    assert (cp.cuda.Stream.null.ptr, type(stream.ptr), stop - start) == (0, int, 1)
    with stream:
        cuda.eventRecord(start, stream.ptr)
        cp.cublas.axpy(1.0, x, y)
        cuda.eventRecord(stop, stream.ptr)
    assert cp.gpu.log[-1]["stream"] == stream.ptr
    with pytest.raises(CUDARuntimeError, match="not ready"):
        cuda.eventElapsedTime(start, stop)
    cuda.eventSynchronize(stop)
    assert cuda.eventElapsedTime(start, stop) * 1e-3 > 12 * x.size / DEVICE.bandwidth
    for wrong in (lambda: cuda.eventSynchronize(99), lambda: cuda.eventRecord(start, 99)):
        with pytest.raises(CUDARuntimeError, match="invalid resource handle"):
            wrong()
    with pytest.raises(TypeError, match="an integer is required, not Event"):
        cuda.eventSynchronize(cp.cuda.Event())


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
