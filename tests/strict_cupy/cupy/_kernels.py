"""Kernels of one's own: RawKernel, RawModule, ElementwiseKernel, ReductionKernel.

A RawKernel is known by its name: what each kernel of rooflab computes is written here once more, in
NumPy. One with an unknown name refuses to run, unless it takes no array, so that nobody takes
silence for a result; a test that brings a kernel adds it to ``KERNELS``. (That the CUDA itself is
right is another matter: tests/measure/test_cuda_blocks.py runs it, test_nvrtc.py compiles it.)
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._array import host, ndarray
from ._gpu import TOOLKIT, CUDADriverError, DynamicLibNotFoundError, gpu

Grid = Sequence[int]
Effect = Callable[["Launch"], float]
"""Does what the kernel does to its arrays; returns the seconds that the GPU takes."""
CLOCK_HZ = 1.7e9
REGISTERS = 32  # of every kernel: two thousand threads fit


class Launch:
    """One launch: the arguments as NumPy sees them, the options as a dictionary, the threads."""

    def __init__(self, options: Sequence[str], grid: Grid, block: Grid, args: Sequence[Any]):
        macros = (option[2:].partition("=") for option in options if option.startswith("-D"))
        self.macros = {name: value for name, _, value in macros}
        self.threads = int(np.prod([int(n) for n in (*grid, *block)]))
        self.args = [_argument(value) for value in args]


def _argument(value: Any) -> Any:
    """An argument as CUDA gets it: an array, or a number of a stated size."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (np.generic, bool, int, float, complex)):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


class RawKernel:
    """A kernel in CUDA C++ by its name."""

    def __init__(
        self, code: str, name: str, options: tuple[str, ...] = (), backend: str = "nvrtc", **_: Any
    ) -> None:
        if not isinstance(options, tuple):
            raise TypeError(f"options={options!r} must be a tuple")
        self.code, self.name, self.options, self.backend = code, name, options, backend

    @property
    def kernel(self) -> Any:
        """The compiled function. Its pointer stands for its registers, which occupancy asks for."""
        self.compile()
        return types.SimpleNamespace(ptr=self.num_regs)

    num_regs = REGISTERS
    local_size_bytes = 0
    max_threads_per_block = 1024

    def compile(self, log_stream: Any = None) -> None:
        """Refuse what NVRTC or the driver would refuse and can be seen from here."""
        if gpu.fault == "toolkit":
            raise DynamicLibNotFoundError(TOOLKIT)
        if not re.search(rf"\b{re.escape(self.name)}\s*\(", self.code):
            raise CUDADriverError("CUDA_ERROR_NOT_FOUND: named symbol not found")

    def __call__(self, grid: Grid, block: Grid, args: Sequence[Any], **_: Any) -> None:
        self.compile()
        for shape in (grid, block):
            if not 1 <= len(shape) <= 3 or any(int(n) < 1 for n in shape):
                raise CUDADriverError("CUDA_ERROR_INVALID_VALUE: invalid argument")
        if np.prod([int(n) for n in block]) > self.max_threads_per_block:
            raise CUDADriverError("CUDA_ERROR_INVALID_VALUE: invalid argument")
        launch = Launch(self.options, grid, block, args)
        gpu.launch(self.name, self._effect(launch))

    def _effect(self, launch: Launch) -> float:
        if self.name in KERNELS:
            return KERNELS[self.name](launch)
        numbers = [value for value in launch.args if not isinstance(value, np.ndarray)]
        if len(numbers) == len(launch.args):  # nothing that it could write
            return gpu.seconds(0)
        raise NotImplementedError(
            f"the fake CuPy does not know what kernel {self.name!r} computes; say so in "
            "tests/strict_cupy/cupy/_kernels.py"
        )


class RawModule:
    """Several kernels of one source."""

    def __init__(self, *, code: str, options: tuple[str, ...] = (), **_: Any) -> None:
        self.code, self.options = code, options

    def get_function(self, name: str) -> RawKernel:
        return RawKernel(self.code, name, self.options)


# What rooflab's kernels do, in the order of their arguments.


def _fma_roof(launch: Launch) -> float:
    out, turns, a, b = launch.args
    assert out.dtype == a.dtype == b.dtype, "REAL is one type"
    assert out.size == launch.threads, "each thread stores one number"
    chains, unroll = int(launch.macros["CHAINS"]), int(launch.macros["UNROLL"])
    steps = int(turns) * unroll
    x = np.arange(256.0)[:, None] + np.arange(chains)
    limit = b / (1 - a) if a != 1 else 0.0
    x = (x - limit) * float(a) ** min(steps, 2000) + limit if a != 1 else x + steps * float(b)
    out[...] = np.resize(x.sum(axis=1), out.size)
    kind = {"float": "fp32", "double": "fp64"}[launch.macros["REAL"]]
    return gpu.seconds(0, 2.0 * launch.threads * chains * steps, kind)


def _stream(loads: int, stores: int, arrays: int, effect: Callable[..., None]) -> Effect:
    """A kernel (x, y, n float4s, passes, a) that loads and stores so many arrays."""

    def run(launch: Launch) -> float:
        x, y, n, passes, a = launch.args
        assert (type(n), type(passes), type(a)) == (np.int64, np.int32, np.float32)
        assert 4 * n <= x.size and (arrays == 1 or 4 * n <= y.size)
        effect(x[: 4 * n], y[: 4 * n], int(passes), a)
        if gpu.kernel_s is not None:
            return gpu.kernel_s
        level = "l2" if 16 * n * arrays <= gpu.l2 else "dram"
        return max(gpu.floor_s, 16.0 * n * passes * (loads + stores) / gpu.rates[level])

    return run


def _copy(x: np.ndarray, y: np.ndarray, passes: int, a: Any) -> None:
    y[...] = x


def _update(x: np.ndarray, y: np.ndarray, passes: int, a: Any) -> None:
    if a != 1:
        x *= a**passes


def _axpy(x: np.ndarray, y: np.ndarray, passes: int, a: Any) -> None:
    y += np.float32(a * passes) * x


def _narrow(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """fp32 rounded to a half; above the largest one it is infinite, as on a GPU."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(kind)


def _half(launch: Launch, *arrays: np.ndarray) -> None:
    kind = {"0": "float16", "1": "bfloat16"}[launch.macros["BF16"]]
    assert all(str(a.dtype) == kind and a.flags.c_contiguous for a in arrays), kind


def _half_axpy(launch: Launch) -> float:
    x, y, a, n = launch.args
    _half(launch, x, y)
    assert (type(a), type(n)) == (np.float32, np.int64)
    y[:n] = _narrow(a * x[:n].astype("f") + y[:n].astype("f"), y.dtype)
    return gpu.seconds(3 * y[:n].nbytes)


def _half_scale(launch: Launch) -> float:
    x, a, n = launch.args
    _half(launch, x)
    assert (type(a), type(n)) == (np.float32, np.int64)
    x[:n] = _narrow(a * x[:n].astype("f"), x.dtype)
    return gpu.seconds(2 * x[:n].nbytes)


def _half_dot(launch: Launch) -> float:
    x, y, r, n, partial, arrived = launch.args
    _half(launch, x, y, r)
    assert type(n) is np.int64
    assert partial.dtype == np.float32 and partial.size * 256 >= launch.threads
    assert arrived.dtype == np.uint32 and arrived[0] == 0, "counted from 0"
    total = np.sum(x[:n].astype("f") * y[:n].astype("f"), dtype="f")
    r.ravel()[:1] = _narrow(np.asarray([total]), r.dtype)
    return gpu.seconds(2 * x[:n].nbytes)


def _half_ger(launch: Launch) -> float:
    a, x, y, rows, columns = launch.args
    _half(launch, a, x, y)
    assert a.shape == (rows, columns) and (type(rows), type(columns)) == (np.int64, np.int64)
    a[...] = _narrow(np.outer(x.astype("f"), y.astype("f")) + a.astype("f"), a.dtype)
    return gpu.seconds(2 * a.nbytes)


def _spin(launch: Launch) -> float:
    """Waits for nanoseconds and for cycles of the clock, whichever end later."""
    nanoseconds, cycles = launch.args
    return max(float(nanoseconds) * 1e-9, float(cycles) / CLOCK_HZ)


def _saxpy(launch: Launch) -> float:
    """y += 2 x, the learner's kernel of tests/measure/test_gpu.py."""
    x, y, n = launch.args
    y[:n] += 2 * x[:n]
    return gpu.seconds(3 * x[:n].nbytes)


KERNELS: dict[str, Effect] = {
    "rooflab_spin": _spin,
    "saxpy": _saxpy,
    "fma_roof": _fma_roof,
    "read_roof": _stream(1, 0, 1, lambda x, y, passes, a: None),
    "copy_roof": _stream(1, 1, 2, _copy),
    "update_roof": _stream(1, 1, 1, _update),
    "axpy_roof": _stream(2, 1, 2, _axpy),
    "half_axpy": _half_axpy,
    "half_scale": _half_scale,
    "half_dot": _half_dot,
    "half_ger": _half_ger,
}
"""Kernel name -> what it does."""


class ElementwiseKernel:
    """A kernel whose body is arithmetic on its parameters, statement by statement."""

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", **_: Any
    ) -> None:
        self.name = name
        self._inputs, self._outputs = (_names(text) for text in (in_params, out_params))
        plain = re.sub(r"\(\s*(T|float|double|float32|float64)\s*\)", "", operation)
        self._body = [line.strip() for line in plain.split(";") if line.strip()]

    def __call__(self, *args: Any, **_: Any) -> Any:
        names = [*self._inputs, *self._outputs]
        given = [*args, *[None] * (len(names) - len(args))]
        values = {name: host(value) for name, value in zip(names, given, strict=True)}
        wide = {
            name: v.astype(np.float32) if getattr(v, "itemsize", 0) == 2 else v
            for name, v in values.items()
        }
        for line in self._body:
            exec(line, {"__builtins__": {}}, wide)
        results = [self._written(name, given[names.index(name)], wide) for name in self._outputs]
        moved = sum(a.nbytes for a in values.values() if isinstance(a, np.ndarray))
        gpu.launch(self.name, gpu.seconds(moved))
        return results[0] if len(results) == 1 else tuple(results)

    def _written(self, name: str, out: ndarray | None, values: dict[str, Any]) -> ndarray:
        if out is None:
            return ndarray._of(np.asarray(values[name]))
        out._host[...] = values[name]
        return out


class ReductionKernel:
    """A kernel that maps its inputs and adds up what comes out ("a + b")."""

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: str,
        name: str = "reduce",
        reduce_type: str | None = None,
        **_: Any,
    ) -> None:
        if reduce_expr.replace(" ", "") != "a+b":
            raise NotImplementedError(f"the fake CuPy only adds up, not {reduce_expr!r}")
        self.name, self._inputs = name, _names(in_params)
        self._map = re.sub(r"\(\s*(T|float|double)\s*\)", "", map_expr)
        self._type = {"float": np.float32, "double": np.float64}.get(reduce_type or "")

    def __call__(self, *args: Any, out: ndarray | None = None, **_: Any) -> ndarray:
        given = [host(value) for value in args]
        values = dict(zip(self._inputs, given, strict=True))
        total = np.sum(eval(self._map, {"__builtins__": {}}, values), dtype=self._type)
        gpu.launch(self.name, gpu.seconds(sum(a.nbytes for a in given)))
        if out is None:
            return ndarray._of(np.asarray(total, given[0].dtype))
        out._host[...] = total
        return out


def _names(params: str) -> list[str]:
    return [part.split()[-1] for part in params.split(",") if part.strip()]
