"""cupy.ndarray on a NumPy array that nobody else can reach.

It refuses what CuPy refuses: a NumPy array beside it, and to become one without ``.get()``. What
it returns is an array of the GPU again, a 0-d one where NumPy would return a number.
"""

from __future__ import annotations

import operator
import types
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._gpu import gpu

IMPLICIT = (
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a "
    "NumPy array explicitly."
)


def host(value: Any) -> Any:
    """What NumPy may compute with in place of ``value``; a NumPy array is refused."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (list, tuple)):
        return type(value)(host(one) for one in value)
    return value


def device(value: Any) -> Any:
    """What NumPy computed, as arrays of the GPU; names, sizes and types stay what they are."""
    if isinstance(value, (np.ndarray, np.generic)):
        return ndarray._of(np.asarray(value))
    if isinstance(value, (list, tuple)):
        return type(value)(device(one) for one in value)
    return value


def computed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function`` of NumPy on arrays of the GPU, into ``out`` if it is given."""
    out = kwargs.pop("out", None)
    if isinstance(out, tuple):
        (out,) = out
    given = [host(value) for value in args]
    result = function(*given, **{name: host(value) for name, value in kwargs.items()})
    gpu.elementwise(sum(np.asarray(a).nbytes for a in given if isinstance(a, np.ndarray)))
    if out is None:
        return device(result)
    if not isinstance(out, ndarray):
        raise TypeError(f"Argument 'out' has incorrect type (expected ndarray, got {type(out)})")
    if out.shape != np.shape(result):
        raise ValueError(f"Output shape mismatch. Expected: {np.shape(result)}, actual {out.shape}")
    out._host[...] = result
    return out


FLUSHED = 256 << 20  # bytes that are read to flush L2
LARGE = 1e9  # FLOP of a product from which on its last results are kept
_products: dict[tuple, np.ndarray] = {}


def multiplied(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left @ right in fp32 or fp64. Timing repeats large products: of the same factors only one
    is computed."""
    key = None
    if 2.0 * left.size * right.shape[-1] >= LARGE:
        key = (*_content(left), *_content(right))
        if key in _products:
            return _products[key]
    result = np.matmul(
        *[m.astype(np.float32) if m.dtype.itemsize == 2 else m for m in (left, right)]
    )
    if key:
        while len(_products) > 1:
            del _products[next(iter(_products))]
        _products[key] = result
    return result


def _content(array: np.ndarray) -> tuple:
    """What an array holds, by its checksum."""
    turned = array.T if array.flags.f_contiguous else np.ascontiguousarray(array)
    return array.shape, str(array.dtype), zlib.crc32(turned.view(np.uint8))


class ndarray:
    """An array on the pretended GPU."""

    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 100
    _host: np.ndarray

    def __init__(self, shape: Any, dtype: Any = float, order: str = "C") -> None:
        self._host = np.empty(shape, dtype, order)

    @classmethod
    def _of(cls, array: np.ndarray) -> ndarray:
        new = cls.__new__(cls)
        new._host = array
        return new

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(IMPLICIT)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        return computed(ufunc, *inputs, **kwargs)

    def __array_function__(self, function: Any, _: Any, args: Any, kwargs: Any) -> Any:
        return computed(function, *args, **kwargs)

    # what it is

    shape = property(lambda self: self._host.shape)
    strides = property(lambda self: self._host.strides)
    dtype = property(lambda self: self._host.dtype)
    size = property(lambda self: self._host.size)
    ndim = property(lambda self: self._host.ndim)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    flags = property(lambda self: self._host.flags)
    T = property(lambda self: self._of(self._host.T))
    data = property(lambda self: types.SimpleNamespace(ptr=self._host.ctypes.data))

    @property
    def base(self) -> ndarray | None:
        return None if self._host.base is None else self._of(self._host.base)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[i] for i in range(len(self)))

    # to the host: each of these waits

    def get(self, stream: Any = None, order: str = "C", out: Any = None) -> np.ndarray:
        gpu.wait()
        return np.array(self._host, order=order)

    def item(self, *at: int) -> Any:
        gpu.wait()
        return self._host.item(*at)

    def tolist(self) -> Any:
        gpu.wait()
        return self._host.tolist()

    def __bool__(self) -> bool:
        gpu.wait()
        return bool(self._host)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    __index__ = __int__

    def __repr__(self) -> str:
        return repr(self.get())

    def __format__(self, form: str) -> str:
        return format(self.item() if self.ndim == 0 else self.get(), form)

    # parts

    def __getitem__(self, at: Any) -> ndarray:
        return device(self._host[_place(at)])

    def __setitem__(self, at: Any, value: Any) -> None:
        self._host[_place(at)] = host(value)
        gpu.elementwise(2 * self.nbytes)

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        return device(self._host.reshape(*shape, order=order))

    def view(self, dtype: Any = None) -> ndarray:
        return device(self._host.view(dtype) if dtype is not None else self._host.view())

    # in place

    def fill(self, value: Any) -> None:
        self._host.fill(host(value))
        gpu.launch(f"fill {self.nbytes}", gpu.seconds(self.nbytes), logged=False)

    def set(self, array: np.ndarray, stream: Any = None) -> None:
        if not isinstance(array, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        self._host[...] = array

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False):
        """A sum; one into an array is how L2 is flushed, and stands in the log.

        A flush reads 256 MiB, and nobody asks what their sum is: here it is no number.
        """
        if out is None:
            return computed(np.sum, self, axis=axis, dtype=dtype, keepdims=keepdims)
        usual = gpu.flush_s if gpu.flush_s is not None else gpu.seconds(self.nbytes)
        gpu.launch(f"sum {self.nbytes}", usual)
        if axis is None and self.nbytes >= FLUSHED:
            result = np.full((1,) * self.ndim if keepdims else (), np.nan)
        else:
            result = self._host.sum(axis=axis, dtype=dtype, keepdims=keepdims)
        if out.shape != np.shape(result):
            raise ValueError(f"Output shape mismatch: {np.shape(result)} into {out.shape}")
        out._host[...] = result
        return out

    def dot(self, other: Any, out: Any = None) -> Any:
        from . import dot

        return dot(self, other, out=out)

    def __matmul__(self, other: Any) -> Any:
        from . import product

        return product(self, other, logged=False)


def _place(at: Any) -> Any:
    """An index that NumPy can use; masks and integer arrays must be CuPy's, numbers anybody's."""
    if isinstance(at, tuple):
        return tuple(_place(one) for one in at)
    if isinstance(at, ndarray):
        gpu.wait()
        return at._host
    return at


def _method(name: str) -> Callable[..., Any]:
    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return computed(getattr(np.ndarray, name), self, *args, **kwargs)

    method.__name__ = name
    return method


def _operator(function: Callable[..., Any], swapped: bool = False) -> Callable[..., Any]:
    def method(self: ndarray, *others: Any) -> Any:
        both = (*others, self) if swapped else (self, *others)
        return computed(function, *both)

    return method


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: ndarray, other: Any) -> ndarray:
        function(self._host, host(other))
        gpu.elementwise(2 * self.nbytes)
        return self

    return method


_METHODS = (
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "copy", "cumsum",
    "diagonal", "flatten", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "round",
    "squeeze", "std", "swapaxes", "take", "trace", "transpose", "var",
)  # fmt: skip
_OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift, "rshift": operator.rshift,
}  # fmt: skip
_COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "abs", "invert")
for _name in _METHODS:
    setattr(ndarray, _name, _method(_name))
for _name, _function in _OPERATORS.items():
    setattr(ndarray, f"__{_name}__", _operator(_function))
    setattr(ndarray, f"__r{_name}__", _operator(_function, swapped=True))
    setattr(ndarray, f"__i{_name}__", _in_place(getattr(operator, f"i{_name}")))
for _name in _COMPARISONS:
    setattr(ndarray, f"__{_name}__", _operator(getattr(operator, _name)))
