"""The stand-in for CuPy: asynchronous like CUDA, same names and errors, exact values."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from rooflab.labs.cuda import StandIn, imported_as_cupy
from rooflab.labs.cuda.device import CUDARuntimeError
from rooflab.measure import backend
from tests.labs.cuda.conftest import DEVICE

N = 1 << 20  # 4 MiB of fp32: a vector that fits the toy's L2


def timed(cp, work, stream=None):
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(stream)
    work()
    stop.record(stream)
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e3


def cold(cp, n=16 * N):
    x, y = cp.ones(n, dtype=cp.float32), cp.zeros(n, dtype=cp.float32)
    cp.cublas.axpy(1.0, x, y)
    return x, y


def test_a_launch_returns_before_the_device_has_finished(cp):
    x, y = cold(cp)
    cp.cuda.Device().synchronize()
    before = cp.gpu.now
    cp.cublas.axpy(1.0, x, y)
    assert cp.gpu.now - before == pytest.approx(DEVICE.launch_s)
    assert not cp.cuda.get_current_stream().done
    cp.cuda.Device().synchronize()
    assert (
        cp.gpu.now - before > 12 * x.size / DEVICE.bandwidth and cp.cuda.get_current_stream().done
    )


def test_only_its_own_events_and_streams_are_taken(cp):
    class Free:
        stamp, disabled, number, free_at = 0.0, False, 1, 0.0
        stream = property(lambda self: self)

    mine = cp.cuda.Event()
    mine.record()
    refused = [
        lambda: cp.cuda.get_elapsed_time(Free(), mine),
        lambda: cp.cuda.get_elapsed_time(mine, Free()),
        lambda: mine.record(Free()),
        lambda: cp.cuda.get_current_stream().record(Free()),
        lambda: cp.cuda.get_current_stream().wait_event(Free()),
    ]
    for call in refused:
        with pytest.raises(TypeError, match=r"must be made by cp\.cuda\..*, not a Free"):
            call()


def test_the_first_use_of_a_kernel_costs_the_setup(cp):
    x, y = cp.ones(N, dtype=cp.float32), cp.ones(N, dtype=cp.float32)
    assert timed(cp, lambda: cp.add(x, y)) > DEVICE.setup_s > 100 * timed(cp, lambda: cp.add(x, y))
    assert timed(cp, lambda: cp.cublas.axpy(1, x, y)) > DEVICE.setup_s
    assert timed(cp, lambda: cp.dot(x, y)) < DEVICE.setup_s  # the library is set up already


def test_gemm_is_bound_by_the_peak_of_its_dtype(cp):
    for kind, peak in (("float32", 1e13), ("float64", 5e12)):
        a, b = cp.ones((2048, 2048), dtype=kind), cp.ones((2048, 2048), dtype=kind)
        a @ b
        seconds = timed(cp, lambda a=a, b=b: [cp.matmul(a, b) for _ in range(4)]) / 4
        assert seconds == pytest.approx(2 * 2048**3 / peak, rel=0.02)


def test_handles_and_arrays_say_it_too(cp):
    for missing in (
        lambda: cp.ones(3).mean, lambda: cp.cuda.Event().query, lambda: cp.cuda.Device().mem_info,
        lambda: cp.ones(3).data.copy_from,
    ):  # fmt: skip
        with pytest.raises(AttributeError, match="real CuPy may have it; the stand-in has"):
            missing()
    with pytest.raises(KeyError, match=r"real CuPy may have it; it has L2CacheSize"):
        cp.cuda.Device().attributes["MultiProcessorCount"]
    with pytest.raises(NotImplementedError, match="attrib=16: the stand-in knows cudaDevAttrL2"):
        cp.cuda.runtime.deviceGetAttribute(16, 0)


def test_cudas_own_functions_take_handles(cp):
    x, y = cold(cp)
    cuda, stream = cp.cuda.runtime, cp.cuda.Stream(non_blocking=True)
    start, stop = cuda.eventCreate(), cuda.eventCreate()
    with stream:
        cuda.eventRecord(start, stream.ptr)
        cp.cublas.axpy(1.0, x, y)
        cuda.eventRecord(stop, stream.ptr)
    with pytest.raises(CUDARuntimeError, match="not ready"):
        cuda.eventElapsedTime(start, stop)
    cuda.streamSynchronize(stream.ptr)
    assert cuda.eventElapsedTime(start, stop) * 1e-3 > 12 * x.size / DEVICE.bandwidth
    event = cp.cuda.Event()
    event.record()
    cuda.eventSynchronize(event.ptr)
    assert event.done
    for wrong in (0, 99, None):
        with pytest.raises(CUDARuntimeError, match="invalid resource handle"):
            cuda.eventSynchronize(wrong)
    with pytest.raises(CUDARuntimeError, match="invalid resource handle"):
        cuda.streamSynchronize(99)


def test_reductions_have_numpys_values_and_types(cp):
    values = np.array([3, 250, 7, 200], np.uint8)
    for name in ("sum", "max", "min"):
        made = getattr(cp.array(values), name)()
        right = getattr(values, name)()
        assert made.get() == right and made.dtype == right.dtype
        assert float(getattr(cp, name)(cp.ones(1000, dtype=cp.float32))) in (1, 1000)
    total = cp.zeros((), dtype=cp.float32)
    assert cp.arange(10, dtype=cp.float32).sum(out=total) is total and float(total) == 45
    assert cp.ones(300, dtype=cp.uint8).sum().item() == 300
    halves = cp.ones(100_000, dtype=cp.float16)  # more than a half can hold
    assert halves.sum(dtype=cp.float32).item() == np.ones(100_000, "e").sum(dtype="f") == 100_000
    varied = np.array([60_000, 60_000], np.float16)
    assert cp.array(varied).sum(dtype="float32").item() == varied.sum(dtype="f") < np.inf
    assert cp.ones(3).sum(dtype=cp.int64).dtype == np.int64
    with pytest.raises(NotImplementedError, match="no axis"):
        cp.ones((2, 2)).sum(axis=0)
    with pytest.raises(ValueError, match=r"out has shape \(2,\)"):
        cp.sum(cp.ones(3), out=cp.ones(2))
    with pytest.raises(TypeError, match="Unsupported type <class 'numpy.ndarray'>"):
        cp.sum(np.ones(3))


def test_random_numbers_are_real_where_they_fit_and_repeat_where_they_do_not(cp):
    small, again = (cp.random.default_rng(3).random((2, 3)) for _ in range(2))
    assert small.shape == (2, 3) and small.dtype == np.float64
    assert np.array_equal(small.get(), again.get()) and 0 <= small.get().min() < 1
    assert cp.random.rand(2, 3).shape == (2, 3) and cp.random.random().shape == ()
    n = 1 << 25  # 128 MiB of fp32
    large = cp.random.random(n, dtype=cp.float32)
    first = large[: 1 << 20].get()
    assert np.array_equal(first, large[1 << 20 : 2 << 20].get())
    assert float(large.sum()) == pytest.approx(32 * first.sum(dtype=np.float64), rel=1e-5)
    assert float(large.max()) == first.max() and float(large.min()) == first.min()
    assert [e["bytes"] for e in cp.gpu.log if e["what"] == "launch"][-1] == large.nbytes + 4
    with pytest.raises(MemoryError, match="64 MiB"):
        large.get()
    half = large.astype(cp.float64)
    assert float(half.max()) == first.max() and half.nbytes == 2 * large.nbytes
    with pytest.raises(MemoryError, match="64 MiB"):
        cp.copyto(cp.empty(n)[: n - 1], large[1:])
    large.fill(2)
    assert float(large.sum()) == 2 * n


def test_memory_can_be_set_byte_by_byte(cp):
    x = cp.ones(8, dtype=cp.float32)
    x.data.memset_async(0, 16, stream=cp.cuda.Stream())
    assert x.get().tolist() == [0] * 4 + [1] * 4
    assert cp.gpu.log[-2]["kernel"] == "memset" and cp.gpu.log[-2]["bytes"] == 16
    x.data.memset(257, 32)
    assert x.get().view(np.uint8).tolist() == [1] * 32


def test_numpys_functions_run_on_the_gpu_as_with_cupy(cp):
    a, b, c = cp.ones((3, 4)), cp.ones((4, 2)), cp.zeros((3, 2))
    cp.gpu.log.clear()
    assert np.matmul(a, b, out=c) is c and c.get().tolist() == [[4, 4]] * 3
    assert (np.shape(a), np.size(a), np.ndim(a)) == ((3, 4), 12, 2)
    assert np.dot(a, b, out=c) is c and float(np.sum(a)) == 12 and np.max(a).item() == 1
    assert (np.float32(2) * cp.ones(2, dtype=cp.float32)).dtype == np.float32
    assert len(cp.gpu.log) >= 5
    for mixed in (lambda: a + np.ones((3, 4)), lambda: np.ones((3, 4)) + a, lambda: a @ np.ones(4)):
        with pytest.raises(TypeError, match="Unsupported type <class 'numpy.ndarray'>"):
            mixed()
    with pytest.raises(TypeError, match="Implicit conversion to a NumPy array is not allowed"):
        np.asarray(a)
    with pytest.raises(AttributeError, match="no cp.sin; real CuPy may have it"):
        np.sin(a)
    with pytest.raises(TypeError, match="multiple values for argument 'out'"):
        cp.matmul(a, b, c)


def test_no_ufunc_of_ones_own_reaches_the_stand_ins_insides(cp):
    def run(x, y):
        return x

    with pytest.raises(TypeError, match="NotImplemented"):
        np.frompyfunc(run, 2, 1)(cp.ones(2), cp.ones(2))
    with pytest.raises(TypeError, match="NotImplemented"):
        np.add.reduce(cp.ones(2))


def test_properties_are_where_cupy_has_them(cp):
    assert cp.cuda.Device(0).attributes["L2CacheSize"] == DEVICE.l2_bytes
    assert cp.cuda.runtime.getDeviceProperties(0)["name"] == b"toy"
    assert cp.cuda.runtime.getDeviceCount() == 1 and cp.cuda.is_available()
    assert cp.cuda.runtime.getDeviceProperties(0)["l2CacheSize"] == DEVICE.l2_bytes
    attribute = cp.cuda.runtime.cudaDevAttrL2CacheSize
    assert cp.cuda.runtime.deviceGetAttribute(attribute, 0) == DEVICE.l2_bytes
    assert cp.get_array_module(cp.ones(1)) is cp and cp.get_array_module(np.ones(1)) is np
    assert cp.float32 is np.float32 and cp.ones(2).dtype == np.float64


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
