"""The strict CuPy refuses what CuPy 14.2 refuses, and its clock is that of a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from rooflab.labs.cuda.device import CUDARuntimeError
from rooflab.measure.cuda_sources import FMA, HALVES, SOURCES, halves
from tests.strict_cupy.cupy.kernels import KERNELS
from tests.support.fake_cupy import STEADY, FakeCupy
from tests.support.rows import each_row

A = np.arange(6.0).reshape(2, 3)


@pytest.fixture
def cp() -> FakeCupy:
    return FakeCupy(device=replace(STEADY, launch_s=4e-6))


@each_row(
    (lambda cp, x: x + A, TypeError, "Unsupported type <class 'numpy.ndarray'>"),
    (lambda cp, x: A + x, TypeError, "Unsupported type <class 'numpy.ndarray'>"),
    (lambda cp, x: cp.sqrt(A), TypeError, "Unsupported type"),
    (lambda cp, x: cp.matmul(x, A.T), TypeError, "Unsupported type"),
    (lambda cp, x: x.__setitem__(..., A), TypeError, "Unsupported type"),
    (lambda cp, x: np.asarray(x), TypeError, "Implicit conversion to a NumPy array"),
    (lambda cp, x: np.array([x, x]), TypeError, "Implicit conversion"),
    (lambda cp, x: float(x), ValueError, "size 1"),
    (lambda cp, x: cp.matmul(x, x.T, cp.zeros((2, 2))), TypeError, "multiple values"),
    (lambda cp, x: cp.sum(x, out=cp.zeros(2)), ValueError, "out has shape"),
    (lambda cp, x: cp.matmul(x, x.T, out=cp.zeros(2)), ValueError, "out has shape"),
    (lambda cp, x: cp.cuda.cublas.CUBLAS_TF32_TENSOR_OP_MATH, AttributeError, "TF32"),
    (lambda cp, x: cp.cuda.cublas.setMathMode(7, 99), RuntimeError, "INVALID_VALUE"),
    (lambda cp, x: cp.cuda.Device(1).use(), CUDARuntimeError, "invalid device ordinal"),
    (lambda cp, x: cp.hanning_window, AttributeError, "not part of"),
    (lambda cp, x: cp.float_, AttributeError, "on a GPU it works"),
    (lambda cp, x: cp.cublas, AttributeError, "not part of CuPy"),
)
def test_refused(use, error, told, cp):
    with pytest.raises(error, match=told):
        use(cp, cp.asarray(A))


@each_row(np.float16, ml_dtypes.bfloat16)
def test_batched_products_of_halves_are_refused(kind, cp):
    x = cp.zeros((2, 3, 3), kind)
    with pytest.raises(TypeError, match="batched product of halves"):
        cp.matmul(x, x)


def test_its_functions_are_numpys_as_far_as_cupy_has_them(cp):
    x = cp.asarray(A)
    for mine, right in (
        (cp.median(x), np.median(A)), (x.mean(axis=0), A.mean(axis=0)),
        (x.max(axis=1, keepdims=True), A.max(axis=1, keepdims=True)),
        (cp.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", A, A)),
        (x[cp.asarray([1, 0]), 1:], A[[1, 0], 1:]), (x.T[x.T > 2], A.T[A.T > 2]),
        (cp.concatenate([x, x]), np.concatenate([A, A])), (x.swapaxes(0, 1), A.T),
        (cp.where(x > 2, x, 0), np.where(A > 2, A, 0)),
    ):  # fmt: skip
        np.testing.assert_array_equal(mine.get(), right)
    x[x > 4] = 0
    x.T[...] += 1
    assert x.get().tolist() == [[1, 2, 3], [4, 5, 1]]


def test_every_kernel_of_rooflab_is_known():
    kernels = {name for source in SOURCES.values() for name in source.kernels}
    assert kernels <= set(KERNELS)


def test_times_are_read_after_a_wait_only_by_objects_and_by_handles(cp):
    cuda = cp.cuda.runtime
    start, stop = cuda.eventCreate(), cp.cuda.Event()
    cuda.eventRecord(start, 0)
    cp.launch("work", 1e-3)
    stop.record()
    with pytest.raises(CUDARuntimeError, match="not ready"):
        cuda.eventElapsedTime(start, stop.ptr)
    assert not stop.done
    stop.synchronize()
    assert stop.done
    assert cuda.eventElapsedTime(start, stop.ptr) == pytest.approx(1.0, rel=0.01)
    with pytest.raises(CUDARuntimeError, match="invalid resource handle"):
        cuda.eventRecord(start, 12345)
    with pytest.raises(TypeError):
        cuda.eventSynchronize(stop)  # the object, not its handle


def test_raw_kernels(cp):
    unknown = cp.RawKernel('extern "C" __global__ void mine(float* x) {}', "mine")
    with pytest.raises(NotImplementedError, match="what kernel 'mine' computes is to be said"):
        unknown((1,), (32,), (cp.zeros(4),))
    with pytest.raises(TypeError, match="Unsupported type <class 'numpy.ndarray'>"):
        unknown((1,), (32,), (np.zeros(4),))
    with pytest.raises(RuntimeError, match="INVALID_VALUE"):
        unknown((1,), (2048,), (cp.zeros(4),))
    with pytest.raises(RuntimeError, match="NOT_FOUND"):
        cp.RawKernel(FMA.code, "no_such_kernel")((1,), (32,), ())
    bf16 = cp.zeros(8, ml_dtypes.bfloat16)
    half = HALVES.kernel(cp, "half_scale", halves("fp16"))
    with pytest.raises(AssertionError, match="float16"):
        half((1,), (32,), (bf16, np.float32(2), np.int64(8)))


def test_a_whole_process_sees_a_gpu(repository):
    """As a folder on PYTHONPATH, which is how notebooks run on it."""
    code = (
        "import cupy, rooflab as rl\n"
        "assert not hasattr(cupy, 'cublas')\n"
        "found = rl.measure(rl.axpy(1 << 16, 'bf16'), backend='gpu', samples=3)\n"
        "import cupy.cublas\n"
        "print(found.backend, found.environment['gpu']['name'], found.environment['kernel'])"
    )
    paths = os.pathsep.join([str(repository / "tests/strict_cupy"), str(repository / "lib")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": paths, "ROOFLAB_BACKEND": "gpu"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "gpu NVIDIA Fake H100 rooflab half_axpy (bf16)"
