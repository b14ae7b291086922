"""A strict fake of CuPy 14.2 on NumPy, for machines without a GPU.

Two ways to use it. As a folder put first on PYTHONPATH (tests/strict_cupy) a whole process sees a
working GPU: notebooks, ``python course.py gpu``. As ``tests.strict_cupy.cupy`` a test imports it
beside the real world, see tests/support/fake_cupy.py.

It is strict: it does what CuPy does, and refuses what CuPy refuses.

- Arrays do not mix with NumPy arrays and do not become one without ``.get()``; reductions return
  0-d arrays; a batched product of halves is refused, though CuPy computes one, by way of fp32.
- Only names that CuPy 14.2.0 has are there (names.txt, listed from its wheel); ``cupy.cublas`` has
  to be imported, and cuBLAS's math modes have no names.
- Events tell their time only after something has waited for them.
- A RawKernel computes if it is one of rooflab's, and refuses to run if it is unknown.

Times are those of a pretended GPU: see ``_gpu.py``.
"""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import Any

import numpy as _np

from . import cuda, random  # noqa: F401
from ._array import computed, device, host, multiplied, ndarray
from ._gpu import TOOLKIT, DynamicLibNotFoundError, gpu
from ._kernels import ElementwiseKernel, RawKernel, RawModule, ReductionKernel

__version__ = "14.2.0"
__all__ = [
    "ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "cuda", "gpu", "ndarray",
]  # fmt: skip


def _listed(text: str) -> dict[str, frozenset[str]]:
    """ "cupy: a b" and "cupy.cuda: c" -> the names of each."""
    parts = re.split(r"(?:^|\s)(cupy[\w.]*):\s", text.partition("\n")[2])
    return {k: frozenset(v.split()) for k, v in zip(parts[1::2], parts[2::2], strict=True)}


NAMES = _listed((Path(__file__).parent / "names.txt").read_text(encoding="utf-8"))
"""Public names of CuPy 14.2.0, by the object that has them."""


def __getattr__(name: str) -> Any:
    """NumPy's function, type or constant of this name, if CuPy has one too."""
    if name.startswith("_") or name not in NAMES["cupy"] or not hasattr(_np, name):
        raise AttributeError(f"module 'cupy' has no attribute {name!r}")
    found = getattr(_np, name)
    if isinstance(found, type) or not callable(found):
        return found
    return lambda *args, **kwargs: computed(found, *args, **kwargs)


# From the host, and back


def array(obj: Any, dtype: Any = None, copy: bool = True, **kwargs: Any) -> ndarray:
    """A new array on the GPU from anything, NumPy arrays too."""
    source = obj._host if isinstance(obj, ndarray) else _plain(obj)
    return ndarray._of(_np.array(source, dtype=dtype, copy=True, **kwargs))


def asarray(a: Any, dtype: Any = None, order: Any = None, **_: Any) -> ndarray:
    """``a`` itself if it is on the GPU and of this dtype, else a new array."""
    if isinstance(a, ndarray) and dtype in (None, a.dtype) and order in (None, "K", "A"):
        return a
    return array(a, dtype=dtype, order=order or "K")


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """``a`` in C order."""
    return ndarray._of(_np.ascontiguousarray(asarray(a, dtype)._host))


def _plain(obj: Any) -> Any:
    if isinstance(obj, (list, tuple)):
        return [_plain(one) for one in obj]
    return obj._host if isinstance(obj, ndarray) else obj


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, **_: Any) -> _np.ndarray:
    """A copy on the host, once the GPU is done."""
    if not isinstance(a, ndarray):
        return _np.asarray(a, order=order)
    gpu.wait("asnumpy")
    return _np.array(a._host, order=order) + (1 if gpu.fault == "wrong" else 0)


def get_array_module(*args: Any) -> Any:
    """This module if one of ``args`` is on the GPU, else NumPy."""
    import sys

    return sys.modules[__name__] if any(isinstance(a, ndarray) for a in args) else _np


# Creation


def _creator(name: str) -> Any:
    function = getattr(_np, name)

    def create(*args: Any, **kwargs: Any) -> ndarray:
        if gpu.fault == "toolkit" and name == "arange":  # the first that needs a kernel
            raise DynamicLibNotFoundError(TOOLKIT)
        made = function(*[host(a) for a in args], **kwargs)
        gpu.elementwise(made.nbytes)
        return device(made)

    create.__name__ = name
    return create


(empty, zeros, ones, full, arange, linspace, eye, identity, empty_like, zeros_like, ones_like,
 full_like) = map(_creator, (
    "empty", "zeros", "ones", "full", "arange", "linspace", "eye", "identity", "empty_like",
    "zeros_like", "ones_like", "full_like"))  # fmt: skip


# Products, which go to cuBLAS


def matmul(a: ndarray, b: ndarray, /, *more: Any, out: ndarray | None = None) -> ndarray:
    """a @ b, in fp32 inside if they are halves."""
    if more:
        raise TypeError("got multiple values for argument 'out'")
    found = product(a, b)
    if out is None:
        return found
    if out.shape != found.shape:
        raise ValueError(f"Output array has shape {out.shape}, the product {found.shape}")
    out._host[...] = found._host
    return out


_RATE = {"float64": "fp64_tensor", "float16": "fp16", "bfloat16": "bf16"}


def product(a: ndarray, b: ndarray, *, logged: bool = True) -> ndarray:
    """The new array a @ b; what an operator asks for does not stand in the log."""
    for one in (a, b):
        if not isinstance(one, ndarray):
            raise TypeError(f"Unsupported type {type(one)}")
    left, right = a._host, b._host
    kind = _np.result_type(left, right)
    half = kind.name in ("float16", "bfloat16")
    if half and max(a.ndim, b.ndim) > 2:
        raise TypeError("CuPy 14.2 has no honest batched product of halves")
    result = multiplied(left, right)
    nbytes = left.nbytes + right.nbytes + result.nbytes
    flop = 2.0 * result.size * left.shape[-1]
    seconds = gpu.seconds(nbytes, flop, _RATE.get(kind.name, "fp32"))
    gpu.launch(f"matmul {kind}", seconds, logged=logged)
    return ndarray._of(_np.array(result, kind))


def dot(a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray:
    """The product of two arrays of one or two dimensions."""
    if a.ndim > 2 or b.ndim > 2 or 0 in (a.ndim, b.ndim):
        return computed(_np.dot, a, b, out=out)
    found = matmul(a, b)
    if out is None:
        return found
    out._host[...] = found._host
    return out


def copyto(dst: ndarray, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copy ``src``, an array of the GPU or a number, into ``dst``."""
    _np.copyto(dst._host, host(src), casting=casting, where=host(where))
    gpu.elementwise(2 * dst.nbytes)


def fuse(function: Any, kernel_name: str | None = None) -> Any:
    """The same function: what CuPy makes one kernel computes what its calls compute."""
    return function


def get_default_memory_pool() -> Any:
    """A pool that keeps nothing."""
    return types.SimpleNamespace(
        free_bytes=lambda: 0, used_bytes=lambda: 0, total_bytes=lambda: 0,
        free_all_blocks=lambda *_: None,
    )  # fmt: skip


def is_available() -> bool:
    """Whether a GPU is here."""
    return cuda.is_available()
