"""rl.measure on the GPU, on a stand-in for CuPy."""

from __future__ import annotations

import pytest

import rooflab.count as rl
from rooflab.measure import gpu
from rooflab.measure.measure import measure
from rooflab.measure.operands import OperandsTooLarge
from tests.support.products import GEMM, gemm_arrays
from tests.support.rows import each_row

pytestmark = pytest.mark.usefixtures("quick")


@each_row("cold", "warm")
@each_row(rl.axpy(500), rl.dot(50), rl.gemm(8, 6, 4, "fp16"), GEMM)
def test_gpu_measures(op, cache, fake):
    fake.log.clear()
    found = measure(op, cache=cache, threads=3)
    assert found.backend == "gpu" and found.threads is None
    assert found.machine.startswith("stand-in-gpu-")
    assert found.samples == pytest.approx([10e-6] * 20)
    assert found.environment["clock"] == "CUDA events"
    assert found.environment["gpu"]["name"] == "Stand-in GPU"
    timed = fake.log[fake.log.index("rooflab_spin") :]
    waits = [at for at, entry in enumerate(timed) if entry == "stream.synchronize"]
    assert {timed[at - 1] for at in waits} == {"record"}  # never between a start and its stop


def test_gpu_short_calls_are_below_the_resolution_of_events(fake, monkeypatch):
    monkeypatch.setattr(gpu, "_CYCLES", 0)  # nothing shows a finer step than the documented one
    fake.kernel_s = 2e-6
    assert any("CUDA events moves in steps" in w for w in measure(rl.axpy(10)).warnings)


def test_gpu_throttling_is_a_warning(fake, monkeypatch):
    monkeypatch.setattr(gpu.ClockWatch, "reasons", lambda self: "power limit")
    assert "throttled: power limit" in measure(GEMM).warnings


def test_gpu_results_that_stay_in_l2_are_a_caveat_of_cold_calls(fake):
    fake.l2 = 64 << 20
    cold, warm = (measure(rl.axpy(1 << 20), cache=cache) for cache in ("cold", "warm"))
    (said,) = (text for text in cold.warnings if text.startswith("its results"))
    assert said == (
        "its results, 4.19 MB, may stay in the 67.1 MB cache: writing them back to memory is not "
        "in this time"
    )
    assert not any(text.startswith("its results") for text in warm.warnings)


def test_gpu_facts_are_asked_of_the_driver_once(fake, monkeypatch):
    asked = []
    monkeypatch.setattr(gpu, "nvidia_smi", lambda bus, *_: asked.append(bus) or {"a": "b"})
    for _ in range(3):
        assert measure(GEMM).environment["gpu"]["a"] == "b"
    assert len(asked) == 1


def test_gpu_memory_is_asked_before_allocating(fake):
    fake.free = 1 << 28
    with pytest.raises(OperandsTooLarge, match="of GPU memory of Stand-in GPU .* 268 MB are free"):
        measure(rl.axpy(30_000_000))


def test_gpu_runs_are_checked_too(fake):
    def half_done(a, b, c):
        c[:4] = a[:4] @ b

    with pytest.raises(ValueError, match=r"c\[4, 0\] is nan"):
        measure(GEMM, half_done)
    found = measure(GEMM, lambda a, b, c: fake.launch("mine") or a @ b)
    assert found.environment["kernel"].startswith("run: ")


def test_gpu_operands_are_row_major(fake):
    with pytest.raises(ValueError, match=r"'a' is F-ordered .*use ascontiguousarray"):
        measure(GEMM, setup=lambda: [fake.asarray(array) for array in gemm_arrays()])


def test_gpu_operands_are_not_numpys(fake):
    wrong = "'a' is a numpy.ndarray; on this backend it must be a cupy.ndarray"
    with pytest.raises(TypeError, match=wrong):
        measure(GEMM, setup=gemm_arrays)


def test_gpu_errors_at_the_wait_belong_to_the_run(fake, monkeypatch):
    def illegal():
        raise RuntimeError("cudaErrorIllegalAddress")

    monkeypatch.setattr(fake.cuda.get_current_stream(), "synchronize", illegal)
    with pytest.raises(ValueError, match=r"run\(x, y\) raised RuntimeError: cudaErrorIllegal"):
        measure(rl.axpy(10), lambda x, y: 2 * x + y)
