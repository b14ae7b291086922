"""Where measuring runs: NumPy on the CPU, or CuPy on an NVIDIA GPU.

This is the only module that imports cupy. A GPU counts as usable after it has *run* something:
cupy imports happily without a driver, and counts devices happily without the CUDA libraries that
its first kernel needs.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from rooflab.count.suggest import unknown

NAMES = ("auto", "cpu", "gpu")
ENV = "ROOFLAB_BACKEND"
_INSTALL = (
    'install the CUDA libraries with `pip install "cupy-cuda13x[ctk]"` '
    '(or "cupy-cuda12x[ctk]" for a driver of CUDA 12)'
)
# What CuPy says, in its several ways, when it cannot find a library of the CUDA toolkit.
_MISSING_TOOLKIT = (
    "dynamiclibnotfound", "nvrtc", "libcublas", "cublas64", "cudart", "cannot open shared object",
    "cuda headers", "cuda_path", "failure finding", "dll load failed", "cuda toolkit",
)  # fmt: skip


@dataclass(frozen=True)
class Backend:
    """What measuring runs on: ``name`` ("cpu" or "gpu"), the array module ``xp`` and ``device``.

    ``reason`` says why this one was chosen, in words for the learner.
    """

    name: str
    xp: ModuleType = field(repr=False)
    reason: str
    device: str = ""

    @property
    def is_gpu(self) -> bool:
        """True on a GPU."""
        return self.name == "gpu"

    def to_numpy(self, array: Any) -> np.ndarray:
        """Copy an array of this backend to the host, or return it as it is on the CPU."""
        return self.xp.asnumpy(array) if self.is_gpu else np.asarray(array)

    def synchronize(self) -> None:
        """Wait until everything queued on the GPU is done; nothing to wait for on the CPU."""
        if self.is_gpu:
            self.xp.cuda.get_current_stream().synchronize()


def select(backend: str | None = None, threads: int | None = None) -> Backend:
    """Return the backend to measure on. ``threads`` are the CPU's: "auto" with some is the CPU.

    ``backend``: "cpu", "gpu", or "auto" / None = the environment variable ROOFLAB_BACKEND if it is
    set, else a GPU if one works, else the CPU. Raises ValueError for another name, RuntimeError
    with the reason when "gpu" is asked for and none can be used.
    """
    wanted, asked_by = wanted_backend(backend)
    if wanted == "auto" and threads is not None:
        wanted, asked_by = "cpu", f"threads={threads}"
    if wanted == "cpu":
        return Backend("cpu", np, f"{asked_by} asks for the CPU", _cpu())
    cupy, reason = probe_gpu()
    if cupy is not None:
        return Backend("gpu", cupy, reason, _device_name(cupy))
    if wanted == "gpu":
        raise RuntimeError(f"{asked_by} asks for a GPU, but {reason}")
    return Backend("cpu", np, f"CPU, because {reason}", _cpu())


_CUPY = threading.RLock()
_PATIENCE_S = 15.0  # an answer that is stopped late may hold CuPy's place for that long


@contextmanager
def cupy_to_oneself() -> Iterator[None]:
    """Keep other threads from importing CuPy, or from putting something in its place."""
    held = _CUPY.acquire(timeout=_PATIENCE_S)  # a thread that never ends must not stop the rest
    try:
        yield
    finally:
        if held:
            _CUPY.release()


def probe_gpu() -> tuple[ModuleType | None, str]:
    """Return (cupy, "…works") or (None, why the GPU cannot be used), after running on it.

    A GPU is tried once in a process: waking one takes seconds.
    """
    with cupy_to_oneself():
        if not cupy_installed():
            return None, "CuPy is not installed"
        return _imported()


def _imported() -> tuple[ModuleType | None, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two CuPys installed, no GPU: said below, once
            cupy = importlib.import_module("cupy")
    except Exception as error:  # ImportError, but also ABI errors from an unfitting NumPy
        return None, f"`import cupy` fails ({_brief(error)})"
    if not hasattr(cupy, "cuda"):  # a folder of that name; another thread's stand-in
        return None, "CuPy is not installed"
    return _probed(cupy, current_device())


@functools.lru_cache(maxsize=16)
def _probed(cupy: ModuleType, _device: int | None) -> tuple[ModuleType | None, str]:
    """What :func:`probe_gpu` answers for the current device of an imported CuPy."""
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # cudaErrorInsufficientDriver: no driver, or one that is too old
        return None, f"there is no usable NVIDIA driver ({_brief(error)})"
    if count == 0:
        return None, "no CUDA device is visible"
    try:
        problem = _self_test(cupy)
    except Exception as error:
        return None, _why_unusable(error)
    return (None, problem) if problem else (cupy, "a GPU is here and passed its self-test")


def cupy_installed() -> bool:
    """Whether CuPy is there; it is not imported, which takes a second or two."""
    return "cupy" in sys.modules or importlib.util.find_spec("cupy") is not None


def current_device() -> int | None:
    """Number of the GPU that this thread uses; None while CuPy is not imported or finds none."""
    cupy = sys.modules.get("cupy")
    try:
        return None if cupy is None else int(cupy.cuda.Device().id)
    except Exception:  # no driver
        return None


def use_device(number: int | None) -> None:
    """Make GPU ``number`` this thread's: every thread begins with GPU 0. None if there is none."""
    if number:
        sys.modules["cupy"].cuda.Device(number).use()


def cublas_of(cupy: ModuleType) -> ModuleType:
    """Return CuPy's cuBLAS wrappers, a module that ``import cupy`` does not load."""
    return importlib.import_module(f"{cupy.__name__}.cublas")


def _self_test(cupy: ModuleType) -> str:
    """Run an elementwise kernel (compiled by NVRTC) and a product (cuBLAS); "" if both are right.

    The product is in fp64: CuPy fixes its fp32 mode (CUPY_TF32) at the first fp32 product, and a
    self-test must not take that choice from the learner.
    """
    a = cupy.arange(4, dtype=cupy.float64).reshape(2, 2)
    b = a * 2 + 1
    cublas_of(cupy)  # `import cupy` does not load it, and exercises say cp.cublas
    got = cupy.asnumpy(a @ b).tolist()
    right = [[5.0, 7.0], [17.0, 27.0]]
    return "" if got == right else f"the GPU's self-test gave {got} instead of {right}"


def _why_unusable(error: Exception) -> str:
    told = f"{type(error).__name__} {error}".lower()
    said = f"a GPU is here but CuPy cannot use it ({_brief(error)})"
    missing = any(sign in told for sign in _MISSING_TOOLKIT)
    return f"{said}: {_INSTALL}" if missing else said


def wanted_backend(backend: str | None) -> tuple[str, str]:
    """Return (name, who asks for it), the explicit argument winning over the environment.

    The name is one of NAMES. Raises ValueError or TypeError for what is no name.
    """
    if backend is not None and not isinstance(backend, str):
        kind = type(backend).__name__
        raise TypeError(f"backend={backend!r} is a {kind}; use 'auto', 'cpu' or 'gpu'")
    name = (backend or "auto").strip().lower()
    if name not in NAMES:
        raise unknown("backend", backend, NAMES)
    if name != "auto":
        return name, f"backend={name!r}"
    value = os.environ.get(ENV, "").strip()
    if value and value.lower() not in NAMES:
        raise unknown(f"environment variable {ENV}", value, NAMES)
    return value.lower() or "auto", f"{ENV}={value}"


def _device_name(cupy: ModuleType) -> str:
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    return name.decode() if isinstance(name, bytes) else str(name)


def _cpu() -> str:
    from rooflab.measure.environment import cpu_name

    return cpu_name()


def _brief(error: Exception) -> str:
    first = str(error).strip().splitlines()[0] if str(error).strip() else ""
    return f"{type(error).__name__}: {first[:160]}".rstrip(": ")
