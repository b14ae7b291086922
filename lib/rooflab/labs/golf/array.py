"""The array that golf hands to a function: it computes like NumPy's and notes what moves.

Not a subclass of ndarray: NumPy turns subclasses into plain arrays in many places without a word,
and the count would go on without them. This type meets NumPy only through ``__array_ufunc__`` and
``__array_function__``; whatever else asks for its numbers is refused by name (``__array__``).
"""

from __future__ import annotations

import sys
from functools import partial, partialmethod
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.mixins import NDArrayOperatorsMixin

from rooflab.labs.golf import numpy_rules
from rooflab.labs.golf.buffers import Buffer, distinct_bytes, no_model, owner_of, place, stripped
from rooflab.labs.golf.numpy_rules import arrays_in
from rooflab.labs.golf.trace import Trace

# Brackets: slices are views and move nothing; lists, index arrays and masks copy.


def get(trace: Trace, array: Any, key: Any) -> Any:
    """``array[key]``: a view, a copy of what the index names, or one element, which is read."""
    plain, where = trace.raw(array), trace.raw(key)
    found = plain[where]
    if not isinstance(found, ndarray):
        trace.record("getitem", [(plain, plain.itemsize)], [])
        return found
    if owner_of(found) is owner_of(plain):
        return trace.wrap(found)
    named = min(found.nbytes, distinct_bytes(plain))  # repeated elements cross the bus once
    return numpy_rules.recorded(trace, "getitem", [*arrays_in((where,)), (plain, named)], found)


def put(trace: Trace, array: Any, key: Any, value: Any) -> None:
    """``array[key] = value``: the value is read, what the index names is written."""
    if type(value) is trace.kind and _is_that(trace, array, key, value):
        return  # the last third of a[key] += …: NumPy sees the same view and does nothing
    trace.own(array)
    plain, where, given = trace.raw(array), trace.raw(key), trace.raw(value)
    target = plain[where]
    is_view = isinstance(target, ndarray) and owner_of(target) is owner_of(plain)
    held = arrays_in((given,))
    if isinstance(given, (list, tuple)) and not held:
        held = [given := np.asarray(given)]  # of numbers: few of them, or nobody saw them made
    if is_view and isinstance(given, ndarray) and _copies_first(target, given):
        held = [given := trace.copied("copy (overlap)", given)]
    plain[where] = given
    reads = [*arrays_in((where,)), *held]
    size = target.nbytes if isinstance(target, ndarray) else plain.itemsize
    trace.record(
        "setitem", reads, [target if is_view else (plain, min(size, distinct_bytes(plain)))]
    )


def _is_that(trace: Trace, array: Any, key: Any, value: Any) -> bool:
    target = trace.raw(array)[trace.raw(key)]
    return isinstance(target, ndarray) and place(target) == place(trace.raw(value))


def _copies_first(target: ndarray, given: ndarray) -> bool:
    """NumPy copies an overlapping value unless both run along one line in the same direction."""
    if not np.may_share_memory(target, given) or not np.shares_memory(target, given):
        return False
    return target.ndim > 1 or (given.ndim > 0 and target.strides[0] * given.strides[-1] < 0)


_POWERS = {2: np.square, 0.5: np.sqrt, 1: np.positive, -1: np.reciprocal}
"""Exponents for which NumPy's ``**`` calls another ufunc."""
_METHODS = {  # method of an array → the NumPy function that does the same
    name: getattr(np, name)
    for name in (
        "all", "any", "argmax", "argmin", "cumprod", "cumsum", "diagonal", "dot", "max",
        "mean", "min", "nonzero", "prod", "ravel", "repeat", "round", "squeeze", "std", "sum",
        "swapaxes", "take", "trace", "var",
    )
}  # fmt: skip


class TracedArray(NDArrayOperatorsMixin):
    """An array in a golf run: ``array`` is the plain one, ``buffer`` the block it lies in."""

    __slots__ = ("__weakref__", "array", "buffer", "trace")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: ndarray, buffer: Buffer, trace: Trace) -> None:
        self.array, self.buffer, self.trace = array, buffer, trace
        if buffer.borrowed:
            buffer.views[id(self)] = self

    @property
    def __class__(self) -> type:
        """What ``isinstance`` sees, so that a function's own checks for an array still pass."""
        return ndarray

    # What NumPy asks

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self._counted(
            numpy_rules.apply_ufunc, ufunc, method, inputs, kwargs,
            asked=(f"{ufunc.__name__}.{method}", inputs, kwargs),
        )  # fmt: skip

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = numpy_rules.NAMES.get(func)
        whole = name is not None and func is not np.apply_along_axis  # that calls Python's own
        asked = (name, args, kwargs) if whole else None
        return self._counted(numpy_rules.apply_function, func, args, kwargs, asked=asked)

    def _counted(self, work: Any, *args: Any, asked: tuple[str, Any, Any] | None) -> Any:
        """Do ``work``; ``asked``: the call that it is, with its arguments."""
        try:
            if asked is None:
                return work(self.trace, *args)
            name, given, named = asked
            return self.trace.ask(name, lambda: work(self.trace, *args), given, named)
        except Exception:
            self.trace.failed += 1
            raise

    def _ask(self, name: str, work: Any, *args: Any, **kwargs: Any) -> Any:
        return self.trace.ask(f".{name}", work, (self, *args), kwargs)

    def __array__(self, *_: Any, **__: Any) -> ndarray:
        raise stripped(_caller())

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise stripped("pickling")

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    # What moves nothing

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    nbytes = property(lambda self: self.array.nbytes)
    itemsize = property(lambda self: self.array.itemsize)
    strides = property(lambda self: self.array.strides)
    flags = property(lambda self: self.array.flags)
    T = property(lambda self: self._ask("T", lambda: self.trace.wrap(self.array.T)))
    mT = property(lambda self: self._ask("mT", lambda: self.trace.wrap(self.array.mT)))
    real = property(lambda self: np.real(self))
    imag = property(lambda self: np.imag(self))

    @property
    def writeable(self) -> bool:
        """Whether NumPy would let the function write to it."""
        if not self.buffer.borrowed:
            return self.array.flags.writeable
        moves = [step for step, n in zip(self.array.strides, self.array.shape) if n > 1]
        return self.buffer.writeable and 0 not in moves

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        """Say what it is, without its numbers: reading them here would move bytes unseen."""
        shape = "×".join(map(str, self.shape)) or "0-d"
        return f"<traced array {shape} {self.dtype}>"

    __str__ = __repr__

    def view(self, *args: Any) -> Any:
        """Return the same bytes as another dtype."""
        if any(isinstance(arg, type) and issubclass(arg, ndarray) for arg in args):
            raise stripped("view")
        found = self.array.view(*self.trace.raw(args))
        numpy_rules.refuse_dtype("view", found.dtype)
        return self._ask("view", lambda: self.trace.wrap(found), *args)

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """Return a view, or a copy where the order of elements asks for one."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, **kwargs)

    def transpose(self, *axes: Any) -> Any:
        """Return a view with its axes in another order."""
        return self._ask("transpose", lambda: self.trace.wrap(self.array.transpose(*axes)), *axes)

    # What moves something

    def __getitem__(self, key: Any) -> Any:
        return self._counted(get, self, key, asked=(".__getitem__", (self, key), {}))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._counted(put, self, key, value, asked=(".__setitem__", (self, key, value), {}))

    def __iter__(self) -> Any:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, (int, float)) and self.dtype.kind in "fc":
            return _POWERS.get(exponent, lambda x: np.power(x, exponent))(self)
        return np.power(self, exponent)

    def copy(self, order: str = "C") -> Any:
        """Return a copy: everything is read and written."""
        return self._ask("copy", lambda: self._whole(ndarray.copy, order), order)

    def flatten(self, order: str = "C") -> Any:
        """Return a copy in one dimension."""
        return self._ask("flatten", lambda: self._whole(ndarray.flatten, order), order)

    def _whole(self, method: Any, order: str) -> Any:
        return numpy_rules.moved_once(self.trace, method.__name__, method, (self, order), {})

    def astype(self, dtype: Any, order: str = "K", **kwargs: Any) -> Any:
        """Return a copy as ``dtype``, or the array itself where copy=False allows it."""
        call = self.trace, "astype", ndarray.astype, (self, dtype, order), kwargs
        work = partial(numpy_rules.moved_once, *call)
        return self._ask("astype", work, dtype, order, **kwargs)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        """Cut off what is below ``min`` or above ``max``; the method needs only one of them."""
        return np.clip(self, min, max, out=out, **kwargs)

    def fill(self, value: Any) -> None:
        """Write ``value`` everywhere."""
        self[...] = value

    def conj(self) -> Any:
        """Return the complex conjugate; of real numbers, the array itself."""
        return np.conjugate(self) if self.dtype.kind == "c" else self

    conjugate = conj

    def item(self, *index: Any) -> Any:
        """Return one element as a Python number."""
        return self._ask("item", lambda: self._read(self.array.item(*index)), *index)

    def _read(self, value: Any) -> Any:
        """Count ``value``, an element that leaves the array."""
        self.trace.record("item", [(self.array, self.itemsize)], [])
        return value

    def _number(self, kind: type) -> Any:
        if self.size != 1:
            raise TypeError(
                f"{kind.__name__}() and Python's math take one number, and this array has "
                f"{self.size}; use the NumPy function (np.sqrt for math.sqrt)"
            )
        return kind(self.item())

    __float__ = partialmethod(_number, float)
    __int__ = partialmethod(_number, int)
    __complex__ = partialmethod(_number, complex)

    def __bool__(self) -> bool:
        if self.size != 1:
            return bool(self.array)  # raises NumPy's own error
        return bool(self.item())

    def __index__(self) -> int:
        return self._read(self.array.__index__())  # raises NumPy's own error

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            function = _METHODS[name]
            return lambda *args, **kwargs: function(self, *args, **kwargs)
        if name in ("data", "ctypes", "tolist", "tobytes", "tofile", "dump", "dumps", "flat"):
            raise stripped(name)
        if not name.startswith("__") and hasattr(ndarray, name):
            raise no_model(f"the method {name}")
        raise AttributeError(f"an array has no attribute {name!r}")


def _caller() -> str:
    """Name the function that asked for the numbers: the one that the traced function called."""
    frame, name = sys._getframe(2), ""
    while frame is not None:
        package = str(frame.f_globals.get("__name__") or "").partition(".")[0]
        if package in ("rooflab", "__main__", ""):
            break
        name = f"{package}'s {frame.f_code.co_qualname}"
        if package not in ("numpy", "scipy", "torch", "pandas", "numba", "jax", "matplotlib"):
            break
        frame = frame.f_back
    return name or "a function"
