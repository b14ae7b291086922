"""``cp.ndarray`` of the stand-in: real addresses; real values where they are small or all equal.

NumPy reserves the addresses of every array, so views, orders and overlaps are NumPy's own. Where
all elements are equal only that number is kept: a gigabyte costs nothing here, and everything that
is computed from equal numbers stays exact. Different values are kept up to ``cp.largest`` bytes; a
larger array has been computed with, and only its values are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
_NUMBERS = (bool, int, float, complex, np.generic)


class Memory:
    """What an array and its views share: addresses, and the one number or the values there."""

    def __init__(self, cp: StandIn, room: np.ndarray, same: np.generic | None) -> None:
        self.number, self.room, self.same = cp.gpu.new_buffer(), room, same
        self.at = room.__array_interface__["data"][0]
        self.known, self._largest = True, cp.largest

    def spread(self) -> None:
        """Keep every element by itself from now on; MemoryError where they are too many."""
        self.known &= self.same is None or self.room.nbytes <= self._largest
        if not self.known:
            self.same = None
            raise MemoryError(
                f"values that the stand-in does not know: it keeps {self._largest >> 20} MiB of "
                "different ones, and computes nothing from larger arrays of them"
            )
        if self.same is not None:
            self.room[...], self.same = self.same, None


class ndarray(Namespace):
    """An array on the simulated GPU, or a view of one."""

    _called, _listed = "array", "cupy.ndarray"
    _inside = frozenset(("span", "constant", "values", "one", "writable", "store", "forget"))

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
        several = self._memory.same is None and self.size > 1
        return self._memory.known and self.size > 0 and not several

    def values(self) -> np.ndarray:
        """Return the values as the device sees them, without waiting for it: not to be written."""
        if self._memory.same is None:
            self._memory.spread()
            return self._view
        if self.nbytes > self._cp.largest:
            raise MemoryError(f"{self.nbytes} bytes of one number: more than the stand-in copies")
        return np.broadcast_to(self._memory.same, self.shape)

    def one(self) -> np.ndarray:
        """Return the number that all elements are, as an array of shape ()."""
        same = self._memory.same
        return np.asarray(self._view.reshape(()) if same is None else same)

    def writable(self) -> np.ndarray:
        """Return the values, to be written to."""
        self._memory.spread()
        return self._view

    def store(self, result: np.ndarray) -> None:
        """Put the result of a kernel here; shape () is one number for all."""
        memory = self._memory
        if self.size == memory.room.size and (result.ndim == 0 or self.nbytes <= self._cp.largest):
            memory.known, memory.same = True, None if result.ndim else result.astype(self.dtype)[()]
        if memory.same is None or result.ndim or result.astype(self.dtype) != memory.same:
            self.writable()[...] = result

    def forget(self) -> None:
        """Know the values no longer."""
        self._memory.known, self._memory.same = False, None

    # Parts and shapes, which cost nothing

    def __len__(self) -> int:
        return len(self._view)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[i] for i in range(len(self)))

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

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        """Return the same memory with another shape, or a copy where it cannot be had."""
        if not (self._view.flags.c_contiguous and order == "C"):
            return self.copy().reshape(*shape)
        return self._seen(self._view.reshape(*shape))

    def ravel(self, order: str = "C") -> ndarray:
        return self.reshape(-1, order=order)

    # Kernels

    def fill(self, value: object) -> None:
        of_the_gpu_or_numbers(value)
        self._cp.run("fill", lambda: np.asarray(value, self.dtype), [], self)

    def copy(self, order: str = "C") -> ndarray:
        return self._cp.array(self, order=order)

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> ndarray:
        return self.copy()

    def astype(self, dtype: DTypeLike, order: str = "K", *, copy: bool = True) -> ndarray:
        return self if not copy and self.dtype == dtype else self._cp.array(self, dtype=dtype)

    def __imatmul__(self, other: object) -> NoReturn:
        raise TypeError("use cp.matmul(a, b, out=c)")

    # To the host, after a wait

    def get(self, stream: None = None, order: str = "C", out: None = None) -> np.ndarray:
        """Bring the values to the host: waits for the device, like CuPy."""
        values = self.values()
        self._cp.wait()
        return np.array(values, order=order)

    def item(self) -> Any:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    __float__ = lambda self: float(self.item())  # noqa: E731
    __int__ = lambda self: int(self.item())  # noqa: E731
    __index__ = lambda self: self.item().__index__()  # noqa: E731
    __bool__ = lambda self: bool(self.item())  # noqa: E731

    def __format__(self, form: str) -> str:
        """Write a number as one; for that it is fetched from the GPU."""
        return format(self.item() if form and not self.shape else str(self), form)

    def __repr__(self) -> str:
        return f"<array {'×'.join(map(str, self.shape)) or '0-d'} {self.dtype} on the stand-in>"

    # NumPy's own functions on these arrays are the GPU's, as with CuPy.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or getattr(np, ufunc.__name__, None) is not ufunc:
            return NotImplemented
        if isinstance(out := kwargs.pop("out", None), tuple):
            kwargs["out"] = out[0]
        return getattr(self._cp, ufunc.__name__)(*inputs, **kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: object, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        if getattr(np, func.__name__, None) is not func:
            return NotImplemented
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

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        """Set all ``size`` bytes to ``value``, on ``stream`` or the current one."""
        array, cp = self._array, self._array._cp
        if size != array.nbytes:
            raise NotImplementedError(f"size={size}: the stand-in sets all {array.nbytes} bytes")
        one = np.full(array.itemsize, value & 255, np.uint8).view(array.dtype)
        with stream or cp.cuda.get_current_stream():
            cp.run("memset", lambda: one.reshape(()), [], array)


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
    if not isinstance(out, ndarray):
        raise TypeError(f"out={type(out).__name__} must be an array on the GPU")
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}; {shape} is wanted")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast output operand from {np.dtype(dtype)!r} to {out.dtype!r} according to "
            "the rule 'same_kind'"
        )
