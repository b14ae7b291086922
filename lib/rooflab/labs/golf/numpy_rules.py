"""What NumPy's functions move: one stated model each, or a refusal by name."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.array_utils import byte_bounds

from rooflab.labs.golf.buffers import Untraceable, no_model, owner_of, place, stripped
from rooflab.labs.golf.program import by_id, in_numpy, unfollowed
from rooflab.labs.golf.trace import Trace

# Universal functions on traced arrays: calls, reductions, outer products, ``at``.
#
# A call reads every distinct input once and writes its output once. NumPy makes three kinds of
# copies on the side that a large array pays for, and they are counted: an input that overlaps the
# output in the wrong order, an operand of a matrix product in another dtype, and the values of
# ``ufunc.at`` that share memory with their target. Casts in element-wise calls and sums go through
# a buffer of 8192 elements, which the cache holds, and count nothing.


def apply_ufunc(trace: Trace, ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
    """Compute ``ufunc.method(*inputs, **kwargs)``, record it, return the traced result."""
    call = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if all(set(types.replace("->", "")) <= {"O"} for types in ufunc.types) and ufunc.types:
        raise Untraceable(
            f"{call} was made by np.frompyfunc: it calls Python for every element and gives "
            "objects, whose bytes golf does not know; write it with NumPy's own ufuncs"
        )
    trace.check(call)
    if method == "at":
        return _at(trace, ufunc, call, *inputs)
    given = kwargs.get("out", ())
    if len(given) == 1 and given[0] is ...:
        given, kwargs = (), {**kwargs, "out": ...}
    for out in given:
        trace.own(out)
    if "out" in kwargs and given:
        kwargs = {**kwargs, "out": trace.raw(given)}
    plain = [trace.raw(value) for value in inputs]
    outs = [trace.raw(out) for out in given if out is not None]
    for array in (one for one in (*plain, *outs) if isinstance(one, ndarray)):
        trace.meet(array, call)
        refuse_dtype(call, array.dtype)
    _refuse_objects(call, plain, kwargs)
    mask = trace.raw(kwargs.get("where", True))
    if mask is not True:
        kwargs = {**kwargs, "where": mask}
    plain = _copies_on_the_side(trace, ufunc, method, plain, outs)
    result = getattr(ufunc, method)(*plain, **kwargs)
    results = result if isinstance(result, tuple) else (result,)
    made = trace.wrap(results)  # known before it is recorded, so that it has its name
    reads = [array for array in (*plain, mask) if isinstance(array, ndarray)]
    writes = [array for array in results if isinstance(array, ndarray)]
    trace.record(call, reads, writes)
    answers = tuple(out if out is not None else new for out, new in zip(given or made, made))
    return answers if isinstance(result, tuple) else answers[0]


def _refuse_objects(call: str, inputs: list, kwargs: dict) -> None:
    """Raise where NumPy would hand every number to Python: for objects that are no numbers."""
    others = [value for value in inputs if not isinstance(value, ndarray)]
    if kwargs.get("initial") not in (None, np._NoValue):
        others.append(kwargs["initial"])
    for value in others:
        if arrays_in((value,)):
            raise stripped(f"{call} of a list of arrays (np.stack can be counted)")
        refuse_dtype(call, np.asarray(value).dtype)
    for wanted in ("dtype", "signature", "sig"):
        if kwargs.get(wanted) is not None and "O" in _letters(kwargs[wanted]):
            raise Untraceable(f"{call} with {wanted}={kwargs[wanted]!r}; golf counts numbers")


def _letters(wanted: Any) -> str:
    """The dtypes of ``dtype=`` or ``signature=`` as letters, "O" for objects."""
    if isinstance(wanted, str) and "->" in wanted:
        return wanted
    parts = wanted if isinstance(wanted, tuple) else (wanted,)
    return "".join(np.dtype(part).char for part in parts if part is not None)


def refuse_dtype(name: str, dtype: np.dtype) -> None:
    """Raise for a dtype whose bytes golf does not know: objects, texts, dates, records."""
    if dtype.kind not in "biufc" and not getattr(dtype.type, "__module__", "") == "ml_dtypes":
        raise Untraceable(
            f"{name} has dtype {dtype}; golf counts numbers: bool, integers, floats, complex"
        )


def _copies_on_the_side(
    trace: Trace, ufunc: np.ufunc, method: str, inputs: list, outs: list[ndarray]
) -> list:
    """Return ``inputs`` with those replaced by a copy that NumPy would copy first."""
    arrays = [array for array in inputs if isinstance(array, ndarray)]
    if ufunc.signature is not None and len({array.dtype for array in arrays}) > 1:
        common = np.result_type(*arrays)
        return [
            trace.copied("copy (cast)", array, common)
            if isinstance(array, ndarray) and array.dtype != common
            else array
            for array in inputs
        ]
    if method != "__call__":
        return inputs
    return _apart(trace, inputs, lambda array: any(needs_copy(array, out) for out in outs))


def _apart(trace: Trace, values: Iterable, overlaps: Callable[[ndarray], bool]) -> list:
    """The values, with a copy in place of each array that overlaps what will be written."""
    return [
        trace.copied("copy (overlap)", value)
        if isinstance(value, ndarray) and overlaps(value)
        else value
        for value in values
    ]


def needs_copy(array: ndarray, out: ndarray) -> bool:
    """True when ``out`` overwrites parts of ``array`` before they have been read.

    NumPy walks from low to high addresses: where both are dense and alike and ``out`` starts
    earlier, nothing is lost and nothing is copied.
    """
    if not np.may_share_memory(array, out) or place(array) == place(out):
        return False
    low, out_low = byte_bounds(array)[0], byte_bounds(out)[0]
    alike = array.strides == out.strides and array.shape == out.shape
    forward = alike and array.flags.forc and all(step > 0 for step in array.strides)
    return np.shares_memory(array, out) and not (forward and out_low < low)


def _at(trace: Trace, ufunc: np.ufunc, call: str, target: Any, index: Any, *value: Any) -> None:
    """``ufunc.at``: what the index names is read and written, the index and values are read."""
    trace.own(target)
    array, where, values = trace.raw(target), trace.raw(index), trace.raw(value)
    _refuse_objects(call, list(values), {})
    values = _apart(trace, values, lambda value: np.may_share_memory(value, array))
    touched = min(np.size(array[where]) * array.itemsize, array.nbytes)
    ufunc.at(array, where, *values)
    trace.record(call, [*arrays_in((where, *values)), (array, touched)], [(array, touched)])


# NumPy functions made of several calls, composed of the same calls as NumPy's own source does.
#
# Read in numpy 2.4: ``_core/_methods.py`` (mean, var, std), ``linalg/_linalg.py`` (norm),
# ``lib/_function_base_impl.py`` (diff), ``lib/_shape_base_impl.py`` (apply_along_axis),
# ``_core/numeric.py`` (outer), the C sources of dot, einsum, take and argmax. What these make on
# the side (copies for a cast or for strides that BLAS cannot take) is a step of its own here too;
# tests compare with the memory that NumPy really asks for.


def _count(a: Any, axis: Any) -> int:
    axes = range(a.ndim) if axis is None else np.atleast_1d(axis)
    return math.prod(a.shape[i] for i in axes)


def _exact(a: Any, dtype: Any) -> Any:
    """The dtype in which NumPy sums for a mean."""
    if dtype is not None:
        return dtype
    return np.float64 if a.dtype.kind in "biu" else None


def mean(
    trace: Trace, a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
    keepdims: Any = False, *, where: Any = True,
) -> Any:  # fmt: skip
    """A sum, then a division of the sums in place."""
    if where is not True:
        raise no_model("np.mean with where=")
    half = dtype is None and a.dtype == np.float16
    kind = np.float32 if half else _exact(a, dtype)
    total = np.add.reduce(a, axis, kind, out, keepdims)
    many = _count(a, axis)
    if type(total) is trace.kind:
        total = np.true_divide(total, many, out=total, casting="unsafe")
        return total.astype(np.float16) if half and out is None else total
    return (np.float16 if half else total.dtype.type)(total / many)


def var(
    trace: Trace, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: Any = False, **others: Any,
) -> Any:  # fmt: skip
    """The mean, the differences from it, their squares in place, the sum, a division in place."""
    if others or a.dtype.kind == "c":
        raise no_model("np.var and np.std with where=, mean=, correction= or of complex numbers")
    kind, many = _exact(a, dtype), _count(a, axis)
    middle = np.add.reduce(a, axis, kind, keepdims=True)
    middle = np.true_divide(middle, many, out=middle, casting="unsafe")
    apart = np.subtract(a, middle)
    np.square(apart, out=apart)
    total = np.add.reduce(apart, axis, kind, out, keepdims)
    left = max(many - ddof, 0)
    if type(total) is trace.kind:
        return np.true_divide(total, left, out=total, casting="unsafe")
    return total.dtype.type(total / left)


def std(trace: Trace, a: Any, *args: Any, **kwargs: Any) -> Any:
    """The variance, then its square root in place."""
    spread = var(trace, a, *args, **kwargs)
    return np.sqrt(spread, out=spread) if type(spread) is trace.kind else np.sqrt(spread)


def norm(trace: Trace, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Of everything: dot of x with itself. Along an axis: x·x in a temporary, its sum, a root."""
    if x.dtype.kind not in "f":
        x = x.astype(float) if x.dtype.kind in "biu" else x
    if x.dtype.kind == "c":
        raise no_model("np.linalg.norm of complex numbers")
    if axis is None and (ord is None or (ord in ("f", "fro", 2) and x.ndim <= (ord != 2) + 1)):
        flat = np.ravel(x, order="K")
        root = np.sqrt(np.dot(flat, flat))
        return np.reshape(root, (1,) * x.ndim) if keepdims else root
    if axis is None and x.ndim != 1:
        raise no_model(f"np.linalg.norm of a matrix with ord={ord!r}")
    axis = 0 if axis is None else axis
    if ord in (None, 2) and not isinstance(axis, (tuple, list)):
        return np.sqrt(np.add.reduce(np.multiply(x, x), axis=axis, keepdims=keepdims))
    if ord == 1 and not isinstance(axis, (tuple, list)):
        return np.add.reduce(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == math.inf and not isinstance(axis, (tuple, list)):
        return np.maximum.reduce(np.abs(x), axis=axis, keepdims=keepdims, initial=0)
    raise no_model(f"np.linalg.norm with ord={ord!r}, axis={axis!r}")


def vector_norm(
    trace: Trace, x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Any:
    """np.linalg.norm along an axis, of everything too: unlike that one, never a dot."""
    if isinstance(axis, tuple):
        raise no_model("np.linalg.vector_norm along several axes")
    flat, along = (np.ravel(x), 0) if axis is None else (x, axis)
    found = np.linalg.norm(flat, ord, along, keepdims and axis is not None)
    return np.reshape(found, (1,) * x.ndim) if keepdims and axis is None else found


def dot(trace: Trace, a: Any, b: Any, out: Any = None) -> Any:
    """Each matrix or vector once; BLAS gets copies of what it cannot take as it is."""
    trace.own(out)
    plain = [np.asarray(x) if type(x) in (list, tuple) else trace.raw(x) for x in (a, b)]
    arrays = [x for x in plain if isinstance(x, ndarray)]
    if len(arrays) < 2 or 0 in (arrays[0].ndim, arrays[1].ndim):
        return np.multiply(a, b, out=out) if out is not None else np.multiply(a, b)
    common = np.result_type(*arrays)
    if common.kind not in "fc" and max(x.ndim for x in arrays) > 2:
        raise no_model("np.dot of integers in more than two dimensions")
    plain = [_for_blas(trace, x, common) for x in plain]
    made = recorded(trace, "dot", plain, np.dot(*plain, out=trace.raw(out)))
    return made if out is None else out


def _for_blas(trace: Trace, x: ndarray, common: np.dtype) -> ndarray:
    if x.dtype != common:
        return trace.copied("copy (cast)", x, common)
    bad = x.ndim >= 2 and common.kind in "fc" and x.itemsize not in x.strides[-2:]
    return trace.copied("copy (strides)", x) if bad else x


def einsum(trace: Trace, subscripts: Any, *operands: Any, out: Any = None, optimize: Any = False,
           **kwargs: Any) -> Any:  # fmt: skip
    """Each operand once, the result once; no temporaries unless optimize= asks for them."""
    if optimize is not False or not isinstance(subscripts, str):
        raise no_model("np.einsum with optimize= or without a text of subscripts")
    trace.own(out)
    plain = trace.raw(operands)
    result = np.einsum(subscripts, *plain, out=trace.raw(out), **kwargs)
    arrays = [x for x in plain if isinstance(x, ndarray)]
    if isinstance(result, ndarray) and out is None and np.may_share_memory(result, arrays[0]):
        return trace.wrap(result)  # "ij->ji" gives a view
    made = recorded(trace, "einsum", arrays, result)
    return made if out is None else out


def take(trace: Trace, a: Any, indices: Any, axis: Any = None, **kwargs: Any) -> Any:
    """The index (cast to the machine's integer first) and what it names are read."""
    if kwargs:
        raise no_model("np.take with out= or mode=")
    where, plain = trace.raw(indices), trace.raw(a)
    if isinstance(where, ndarray) and where.dtype != np.intp:
        where = trace.copied("copy (cast)", where, np.intp)
    result = np.take(plain, where, axis)
    named = plain, min(result.nbytes, plain.nbytes)
    return recorded(trace, "take", [*arrays_in((where,)), named], result)


def _extreme(function: Any) -> Any:
    def model(trace: Trace, a: Any, axis: Any = None, **kwargs: Any) -> Any:
        plain = trace.raw(a)
        if not plain.flags.c_contiguous or axis not in (None, -1, plain.ndim - 1):
            plain = trace.copied("copy (order)", plain)  # NumPy moves the axis to the end
        result = function(plain, axis, **trace.raw(kwargs))
        return recorded(trace, function.__name__, [plain], result)

    return model


def diff(trace: Trace, a: Any, n: int = 1, axis: int = -1, **kwargs: Any) -> Any:
    """Differences of neighbours: one subtraction of two views, n times."""
    if kwargs or a.dtype.kind == "b":
        raise no_model("np.diff with prepend= or append=, or of booleans")
    for _ in range(n):
        end = np.moveaxis(a, axis, -1)
        a = np.moveaxis(np.subtract(end[..., 1:], end[..., :-1]), -1, axis)
    return a


def outer(trace: Trace, a: Any, b: Any, out: Any = None) -> Any:
    """A multiplication of a column and a row."""
    return np.multiply(np.ravel(a)[:, None], np.ravel(b)[None, :], out=out)


def tensordot(trace: Trace, a: Any, b: Any, axes: Any = 2) -> Any:
    """Over the last axes of a and the first of b: a product of two matrices, as NumPy does it."""
    if not isinstance(axes, int):
        raise no_model("np.tensordot with axes= that are no number")
    summed = math.prod(b.shape[:axes])
    product = np.dot(np.reshape(a, (-1, summed)), np.reshape(b, (summed, -1)))
    return np.reshape(product, (*a.shape[: a.ndim - axes], *b.shape[axes:]))


def apply_along_axis(
    trace: Trace, func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """The function on one line after the other, into an array that NumPy fills with zeros first."""
    axis = range(arr.ndim)[axis]
    lines = np.moveaxis(arr, axis, -1)
    ahead, made = lines.ndim - 1, None
    for at in np.ndindex(lines.shape[:-1]):
        found = func1d(lines[(*at, ...)], *args, **kwargs)
        if made is None:
            one = np.asarray(unfollowed(found)) if type(found) is not trace.kind else found
            refuse_dtype("np.apply_along_axis", one.dtype)
            ahead_of = (*lines.shape[:-1], *one.shape)
            made = np.zeros_like(lines, dtype=one.dtype, shape=ahead_of)  # they are written
        made[at] = found
    if made is None:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    dims = range(made.ndim)
    return np.transpose(made, (*dims[:axis], *dims[ahead:], *dims[axis:ahead]))


# NumPy functions that are not ufuncs: each has a stated model here, or is refused by name.
#
# ``_ONCE`` reads each array once and writes its result once, where that is no view; reductions are
# those of ufuncs; what NumPy composes of several calls is composed above.


_ONCE = {
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze,
    np.expand_dims, np.broadcast_to, np.broadcast_arrays, np.atleast_1d, np.atleast_2d,
    np.atleast_3d, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.flip, np.fliplr,
    np.flipud, np.rot90, np.diagonal, np.real, np.imag, np.matrix_transpose,
    getattr(np, "unstack", np.split),  # since NumPy 2.1
    np.lib.stride_tricks.sliding_window_view,
    np.where, np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.dstack,
    np.copy, np.repeat, np.roll, np.clip, np.nonzero, np.flatnonzero, np.count_nonzero, np.round,
    np.vdot, np.inner, np.trace,
}  # fmt: skip
_ABOUT = {
    np.shape, np.ndim, np.size, np.may_share_memory, np.shares_memory, np.result_type,
    np.can_cast, np.min_scalar_type, np.iscomplexobj, np.isrealobj, np.common_type,
}  # fmt: skip
_REDUCTIONS = {
    np.sum: np.add, np.prod: np.multiply, np.max: np.maximum, np.min: np.minimum,
    np.amax: np.maximum, np.amin: np.minimum, np.all: np.logical_and, np.any: np.logical_or,
}  # fmt: skip


def apply_function(trace: Trace, function: Any, args: tuple, kwargs: dict) -> Any:
    """Compute ``function(*args, **kwargs)`` on traced arrays by its model, or refuse it."""
    kwargs = {key: value for key, value in kwargs.items() if value is not np._NoValue}
    while args and args[-1] is np._NoValue:
        args = args[:-1]
    model = _MODELS.get(function)
    if model is not None:
        return model(trace, *args, **kwargs)
    name = function.__name__
    if function in _ABOUT:
        return function(*trace.raw(args), **trace.raw(kwargs))
    if function in _ONCE:
        return moved_once(trace, name, function, args, kwargs)
    module = (function.__module__ or "numpy").replace("numpy", "np", 1).split("._")[0]
    raise no_model(f"{module}.{name}")


def moved_once(trace: Trace, name: str, function: Callable, args: Any, kwargs: dict) -> Any:
    """Compute; every distinct array among the arguments is read once, the result written once.

    A result that is a view of an argument moves nothing.
    """
    trace.check(name)
    out = kwargs.get("out")
    trace.own(out)
    plain, named = trace.raw(args), trace.raw(kwargs)
    sources = arrays_in((*plain, *(value for key, value in named.items() if key != "out")))
    for array in sources:
        trace.meet(array, name)
        refuse_dtype(name, array.dtype)
        if out is not None and needs_copy(array, named["out"]):
            raise no_model(f"{name} with an out= that overlaps its input")
    result = function(*plain, **named)
    results, owners = arrays_in((result,)), {id(owner_of(array)) for array in sources}
    for array in results:
        refuse_dtype(name, array.dtype)
    fresh = [one for one in results if out is not None or id(owner_of(one)) not in owners]
    made = trace.wrap(result)  # known before it is recorded, so that it has its name
    if fresh or not results:
        trace.record(name, sources, fresh)
    return made if out is None else out


def recorded(trace: Trace, call: str, reads: list, result: Any) -> Any:
    """Record that ``result`` was written; return it traced, as it has to be to have a name."""
    made = trace.wrap(result)
    trace.record(call, reads, arrays_in((result,)))
    return made


def arrays_in(values: Any) -> list[ndarray]:
    """Return the plain arrays among ``values`` and in tuples and lists among them."""
    found: list[ndarray] = []
    for value in values:
        if isinstance(value, ndarray):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += arrays_in(value)
    return found


def _reduction(ufunc: np.ufunc) -> Callable:
    def model(trace: Trace, a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        names = ("dtype", "out") if ufunc in (np.add, np.multiply) else ("out",)
        kwargs = {**dict(zip((*names, "keepdims"), args)), **kwargs}
        return ufunc.reduce(a, axis=axis, **kwargs)

    return model


def _accumulation(ufunc: np.ufunc) -> Callable:
    def model(trace: Trace, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            a, axis = np.ravel(a), 0
        return ufunc.accumulate(a, axis=axis, dtype=dtype, out=out)

    return model


def _copyto(trace: Trace, dst: Any, src: Any, casting: str = "same_kind", where: Any = True):
    trace.own(dst)
    target, source, mask = trace.raw(dst), trace.raw(src), trace.raw(where)
    trace.meet(target, "copyto")
    if isinstance(source, ndarray) and needs_copy(source, target):
        raise no_model("np.copyto between overlapping views")
    np.copyto(target, source, casting, mask)
    trace.record("copyto", arrays_in((source, mask)), [target])


def _putmask(trace: Trace, a: Any, mask: Any, values: Any) -> None:
    """Of one number: the same as ``a[mask] = number``."""
    if np.ndim(trace.raw(values)):
        raise no_model("np.putmask with an array of values")
    a[mask] = values


def _like(function: Callable) -> Callable:
    def model(trace: Trace, *args: Any, **kwargs: Any) -> Any:
        return _make(trace, function, args, kwargs)

    return model


_MODELS: dict[Any, Callable] = {
    **{function: _reduction(ufunc) for function, ufunc in _REDUCTIONS.items()},
    np.cumsum: _accumulation(np.add), np.cumprod: _accumulation(np.multiply),
    **{f: _like(f) for f in (np.empty_like, np.zeros_like, np.ones_like, np.full_like)},
    np.copyto: _copyto, np.putmask: _putmask,
    np.mean: mean, np.var: var, np.std: std, np.linalg.norm: norm, np.dot: dot,
    np.einsum: einsum, np.take: take, np.argmax: _extreme(np.argmax),
    np.argmin: _extreme(np.argmin), np.diff: diff, np.outer: outer, np.tensordot: tensordot,
    np.apply_along_axis: apply_along_axis, np.linalg.vector_norm: vector_norm,
    np.linalg.vecdot: lambda _, *args, **kwargs: np.vecdot(*args, **kwargs),
    np.linalg.matmul: lambda _, *args, **kwargs: np.matmul(*args, **kwargs),
    np.linalg.tensordot: tensordot,
}  # fmt: skip

# np.empty and its like inside a traced function: there they give traced arrays.
#
# These functions take no array, so NumPy tells nobody when they are called, and what they made
# could be worked on unseen. The traced function therefore gets a stand-in for the numpy module
# whose makers do tell (run.py exchanges it). The real module stays as it is: compiled code such as
# numpy.random calls np.empty too, and would crash on anything but its result.
#
# Nor does NumPy tell when np.array or np.max is given a list of arrays: it copies them into one
# array first. The stand-ins count that copy.


_MAKERS = (np.empty, np.zeros, np.ones, np.full, np.arange)
_CONVERTERS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
_OF_ONE_ARRAY = (
    np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.all, np.any, np.mean, np.var, np.std,
    np.argmax, np.argmin, np.cumsum, np.cumprod,
)  # fmt: skip
_NOT_WRITTEN = (np.empty, np.zeros, np.empty_like)  # the system hands out zeros' pages


class NumPy(ModuleType):
    """The numpy module as a traced function sees it: some functions exchanged."""

    def __init__(self, exchanged: dict[str, Callable]) -> None:
        super().__init__("numpy")
        self.__dict__.update(exchanged)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def stand_ins(trace: Trace) -> dict[int, Any]:
    """Return id of an original → its stand-in; numpy itself has one too."""
    exchanged = {f.__name__: (f, _stand_in(trace, f, _make)) for f in _MAKERS}
    exchanged |= {f.__name__: (f, _stand_in(trace, f, _convert)) for f in _CONVERTERS}
    exchanged |= {f.__name__: (f, _stand_in(trace, f, _after_joining)) for f in _OF_ONE_ARRAY}
    if trace.recorder is not None:
        exchanged |= in_numpy()
    module = NumPy({name: new for name, (_, new) in exchanged.items()})
    others = {} if trace.recorder is None else by_id()
    return {id(np): module, **{id(old): new for old, new in exchanged.values()}, **others}


@contextmanager
def importing(exchanged: Mapping[int, Any], scope: dict[str, Any] | None) -> Iterator[None]:
    """Let an import inside a function whose module is ``scope`` give what is exchanged.

    ``exchanged``: id of an original → its stand-in, as :func:`stand_ins` gives it.
    """
    original = builtins.__import__

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level=0):
        found = original(name, globals, locals, fromlist, level)
        here = globals is scope and scope is not None
        return exchanged.get(id(found), found) if here else found

    builtins.__import__ = import_
    try:
        yield
    finally:
        builtins.__import__ = original


def _stand_in(trace: Trace, original: Callable, model: Callable) -> Callable:
    def function(*args: Any, **kwargs: Any) -> Any:
        work = partial(model, trace, original, args, kwargs)
        return trace.ask(original.__name__, work, args, kwargs)

    function.__name__ = function.__qualname__ = original.__name__
    return function


def _make(trace: Trace, original: Callable, args: tuple, kwargs: dict) -> Any:
    """A new array, written once; an array that it is filled with is read."""
    trace.check(original.__name__)
    kwargs.pop("like", None)
    plain, named = trace.raw(args), trace.raw(kwargs)
    made = original(*plain, **named)
    if original in _NOT_WRITTEN:
        return trace.wrap(made)
    fill = (*plain[1:2], named.get("fill_value"))
    return recorded(trace, original.__name__, arrays_in(fill), made)


def _convert(trace: Trace, original: Callable, args: tuple, kwargs: dict) -> Any:
    """np.array and np.asarray: the array itself, or a copy that is read and written.

    All arrays of a list are read, and one new array is written.
    """
    name = original.__name__
    trace.check(name)
    given = args[0] if args else kwargs.get("object", kwargs.get("a"))
    plain, kwargs = trace.raw(args), trace.raw(kwargs)
    for array in arrays_in((*plain, *kwargs.values())):
        trace.meet(array, name)
    kwargs.pop("like", None)
    result = original(*plain, **kwargs)
    source = trace.raw(given)
    if not isinstance(source, (ndarray, list, tuple)):
        trace.strangers.note(result)  # perhaps an array that an object of the function's holds
    sources = arrays_in((source,))
    if sources:
        refuse_dtype(name, result.dtype)
    if isinstance(source, ndarray) and np.may_share_memory(source, result):
        same = source.shape == result.shape and source.strides == result.strides
        return given if same and type(given) is trace.kind else trace.wrap(result)
    return recorded(trace, name, sources, result)


def _after_joining(trace: Trace, original: Callable, args: tuple, kwargs: dict) -> Any:
    """A function of one array that is given a list of them: np.array of the list comes first."""
    listed = args[0] if args and type(args[0]) in (list, tuple) else ()
    if any(type(array) is trace.kind for array in arrays_in(listed)):
        args = (_convert(trace, np.array, args[:1], {}), *args[1:])
    return original(*args, **kwargs)


# Everything that golf has a model for, by the name under which numpy has it.


_HOMES = {"": np, "linalg.": np.linalg, "lib.stride_tricks.": np.lib.stride_tricks}
FUNCTIONS: Mapping[str, Any] = {
    home + function.__name__: function
    for function in (*_MODELS, *_ONCE, *_ABOUT, *_MAKERS, *_CONVERTERS, *_OF_ONE_ARRAY)
    for home, module in _HOMES.items()
    if getattr(module, function.__name__, None) is function
}
NAMES: Mapping[Any, str] = {function: name for name, function in FUNCTIONS.items()}
