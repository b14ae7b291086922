"""``cp.ndarray`` of the stand-in: real addresses; real values where they are small or all equal.

NumPy reserves the addresses of every array, so views, orders and overlaps are NumPy's own. Where
all elements are equal only that number is kept: a gigabyte costs nothing here, and everything that
is computed from equal numbers stays exact. Different values are kept up to ``cp.largest`` bytes; a
larger array of them has been computed with, but nobody knows its values: each reads as nan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from rooflab.labs.cuda.device import Span
from rooflab.labs.cuda.modules import Namespace

if TYPE_CHECKING:
    from rooflab.labs.cuda.standin import StandIn

OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
METHODS = {
    "__lt__": "less", "__le__": "less_equal", "__eq__": "equal", "__ne__": "not_equal",
    "__gt__": "greater", "__ge__": "greater_equal", "__neg__": "negative", "__pos__": "positive",
    "__abs__": "absolute", "__invert__": "invert", "__matmul__": "matmul", "dot": "dot",
    "sum": "sum", "max": "max", "min": "min",
}  # fmt: skip
UNKNOWN = np.asarray(np.nan)  # each value of a large array that nobody computes here
_NUMBERS = (bool, int, float, complex, np.generic)


class Memory:
    """What an array and its views share: addresses, and the one number or the values there."""

    def __init__(self, cp: StandIn, room: np.ndarray, same: np.generic | None) -> None:
        self.number, self.room, self.same = cp.gpu.new_buffer(), room, same
        self.at = room.__array_interface__["data"][0]


class ndarray(Namespace):
    """An array on the simulated GPU, or a view of one."""

    _called, _listed = "array", "cupy.ndarray"

    def __init__(self, cp: StandIn, memory: Memory, view: np.ndarray) -> None:
        self._cp, self._memory, self._view = cp, memory, view

    shape, strides, dtype, size, ndim, nbytes, itemsize, flags = (
        property(attrgetter(f"_view.{name}"))
        for name in ("shape", "strides", "dtype", "size", "ndim", "nbytes", "itemsize", "flags")
    )
    data = property(lambda self: MemoryPointer(self))
    T = property(lambda self: self._seen(self._view.T))

    def _seen(self, view: np.ndarray) -> ndarray:
        return type(self)(self._cp, self._memory, view)

    # What the device has

    @property
    def span(self) -> Span:
        """The bytes that a kernel touches when it passes over the array."""
        low = np.lib.array_utils.byte_bounds(self._view)[0]
        return Span(self._memory.number, low - self._memory.at, self.nbytes)

    @property
    def constant(self) -> bool:
        """Whether all elements are known to be equal."""
        return self._memory.same is not None or self.size == 1

    def values(self) -> np.ndarray:
        """Return the values as the device sees them, without waiting for it: not to be written."""
        same = self._memory.same
        return self._view if same is None else np.broadcast_to(same, self.shape)

    def one(self) -> np.ndarray:
        """Return the number that all elements are, as an array of shape ()."""
        same = self._memory.same
        return np.asarray(self._view.reshape(()) if same is None else same)

    def writable(self) -> np.ndarray:
        """Return the values, to be written to: from now on each is kept by itself."""
        memory = self._memory
        if memory.same is not None:
            memory.room[...], memory.same = memory.same, None
        return self._view

    def store(self, result: np.ndarray) -> None:
        """Put the result of a kernel here; shape () is one number for all."""
        memory, kind = self._memory, self.dtype
        if result.ndim == 0 and self.size == memory.room.size:
            memory.same = result.astype(kind)[()]
        elif memory.same is None or memory.room.nbytes <= self._cp.largest:
            self.writable()[...] = result
        elif result.ndim or result.astype(kind) != memory.same:
            memory.same = UNKNOWN.astype(kind)[()]  # the whole array, of which this is a part

    # Parts and shapes, which cost nothing

    def __len__(self) -> int:
        return len(self._view)

    def __getitem__(self, index: Any) -> ndarray:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, (bool, list, tuple, np.ndarray, ndarray)) for part in parts):
            raise NotImplementedError(
                "an index that picks elements is part of CuPy, but not of this stand-in"
            )
        if not any(part is Ellipsis for part in parts):
            parts = (*parts, ...)  # a view, also of one element
        return self._seen(self._view[parts])

    def __setitem__(self, index: Any, value: object) -> None:
        target = ndarray.__getitem__(self, index)
        again = isinstance(value, ndarray) and value._memory is self._memory
        if not again or value._view.__array_interface__ != target._view.__array_interface__:
            self._cp.assign(target, value)  # x[i] += 1 stores x[i] once more, and CuPy nothing

    def reshape(self, *shape: Any) -> ndarray:
        """Return the same memory with another shape, or a copy where it cannot be had."""
        whole = self if self.flags.c_contiguous else self.copy()
        return whole._seen(whole._view.reshape(*shape))

    def ravel(self) -> ndarray:
        return self.reshape(-1)

    # Kernels

    def fill(self, value: object) -> None:
        of_the_gpu_or_numbers(value)
        self._cp.run("fill", lambda: np.asarray(value, self.dtype), [], self)

    def copy(self) -> ndarray:
        return self._cp.array(self, order="C")

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> ndarray:
        return self.copy()

    def astype(self, dtype: DTypeLike, *, copy: bool = True) -> ndarray:
        return self if not copy and self.dtype == dtype else self._cp.array(self, dtype=dtype)

    # To the host, after a wait

    def get(self) -> np.ndarray:
        """Bring the values to the host: waits for the device, like CuPy."""
        self._cp.wait()
        return np.array(self.values(), order="C")

    def item(self) -> Any:
        self._cp.wait()
        return self.values().item()

    __float__ = lambda self: float(self.item())  # noqa: E731
    __int__ = lambda self: int(self.item())  # noqa: E731
    __bool__ = lambda self: bool(self.item())  # noqa: E731

    def __repr__(self) -> str:
        return f"<array of shape {self.shape}, {self.dtype}, on the stand-in>"

    # NumPy's own functions on these arrays are the GPU's, as with CuPy.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        if isinstance(out := kwargs.pop("out", None), tuple):
            kwargs["out"] = out[0]
        return getattr(self._cp, ufunc.__name__)(*inputs, **kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: object, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        return getattr(self._cp, func.__name__)(*args, **kwargs)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )


def _function(name: str) -> Callable[..., Any]:
    """Return the method that is the function ``cp.name`` of the array and what else is given."""
    return lambda self, *args, **more: getattr(self._cp, name)(self, *args, **more)


def _reflected(name: str) -> Callable[..., Any]:
    return lambda self, other: getattr(self._cp, name)(other, self)


def _in_place(name: str) -> Callable[..., Any]:
    return lambda self, other: getattr(self._cp, name)(self, other, out=self)


for _sign, _name in OPERATORS.items():  # each is one kernel, as in CuPy
    setattr(ndarray, f"__{_sign}__", _function(_name))
    setattr(ndarray, f"__r{_sign}__", _reflected(_name))
    setattr(ndarray, f"__i{_sign}__", _in_place(_name))
for _method, _name in METHODS.items():
    setattr(ndarray, _method, _function(_name))
ndarray.__hash__ = None  # CuPy's arrays are no keys either


class MemoryPointer(Namespace):
    """``array.data``: the array's memory, which can be set byte by byte."""

    _called = "array.data"

    def __init__(self, array: ndarray) -> None:
        self._array, self.ptr = array, np.lib.array_utils.byte_bounds(array._view)[0]

    def memset_async(self, value: int, size: int) -> None:
        """Set all ``size`` bytes to ``value``, on the current stream."""
        array = self._array
        if size != array.nbytes:
            raise NotImplementedError(f"size={size}: the stand-in sets all {array.nbytes} bytes")
        one = np.full(array.itemsize, value & 255, np.uint8).view(array.dtype)
        array._cp.run("memset", lambda: one.reshape(()), [], array)


def of_the_gpu(*operands: Any) -> Any:
    """Return the first operand; CuPy's TypeError unless all are arrays of the stand-in."""
    for operand in operands:
        if not isinstance(operand, ndarray):
            raise TypeError(f"Unsupported type {type(operand)}; an array on the GPU is wanted")
    return operands[0] if operands else None


def of_the_gpu_or_numbers(*operands: object) -> None:
    """Raise CuPy's TypeError unless each operand is an array of the stand-in, or a number."""
    of_the_gpu(*(operand for operand in operands if not isinstance(operand, _NUMBERS)))


def can_hold(out: object, shape: tuple[int, ...], dtype: DTypeLike) -> None:
    """Raise CuPy's errors unless a result of this shape and type may go into ``out``."""
    if of_the_gpu(out).shape != shape:
        raise ValueError(f"out has shape {out.shape}; {shape} is wanted")
    np.copyto(np.empty((), out.dtype), np.zeros((), dtype), casting="same_kind")
