"""The strict fake of CuPy as a fixture: a fresh GPU that logs what it is told, in order.

What CuPy does and refuses is written once, in tests/strict_cupy. Here it gets a queue that moves
only with routines and kernels, each of ``kernel_s``, so that a test can say what a time must be.
"""

from __future__ import annotations

import types
from typing import Any

import tests.strict_cupy.cupy as strict
from tests.strict_cupy.cupy import cublas
from tests.strict_cupy.cupy._gpu import TOOLKIT, CUDARuntimeError, Event
from tests.strict_cupy.cupy._gpu import gpu as the_gpu

__all__ = ["TOOLKIT", "CUDARuntimeError", "Event", "FakeCupy"]


def _state(name: str) -> Any:
    """A property that reads and writes ``name`` of the GPU."""
    return property(
        lambda _: getattr(the_gpu, name), lambda _, value: setattr(the_gpu, name, value)
    )


class FakeCupy(types.ModuleType):
    """The module ``cupy`` with a new GPU. ``fault`` breaks it in one way: "driver", "devices",
    "toolkit" or "wrong"; ``l2`` and ``free`` in bytes."""

    log, l2, free = _state("log"), _state("l2"), _state("free")
    kernel_s, flush_s, device_s = _state("kernel_s"), _state("flush_s"), _state("device_s")
    math_mode, fault = _state("math_mode"), _state("fault")

    def __init__(self, fault: str = "", l2: int = 1 << 20, free: int = 1 << 33) -> None:
        super().__init__("cupy")
        the_gpu.reset(
            fault=fault, name="Stand-in GPU", l2=l2, free=free, call_s=0.0, kernel_s=10e-6
        )
        the_gpu.flush_s = 50e-6

    def __getattr__(self, name: str) -> Any:
        return getattr(strict, name)

    def modules(self) -> dict[str, types.ModuleType]:
        """What to put into sys.modules."""
        cuda = strict.cuda
        return {
            "cupy": self, "cupy.cublas": cublas, "cupy.cuda": cuda,
            "cupy.cuda.runtime": cuda.runtime, "cupy.cuda.stream": cuda.stream,
        }  # fmt: skip

    def launch(self, name: str, seconds: float | None = None) -> None:
        """Queue work of a test's own."""
        the_gpu.launch(name, the_gpu.kernel_s if seconds is None else seconds)

    def wait(self, name: str) -> None:
        """Let the host wait, and say so in the log."""
        the_gpu.wait(name)
