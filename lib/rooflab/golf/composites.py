"""NumPy functions made of several calls, composed of the same calls as NumPy's own source does.

Read in numpy 2.4: ``_core/_methods.py`` (mean, var, std), ``linalg/_linalg.py`` (norm),
``lib/_function_base_impl.py`` (diff), ``lib/_shape_base_impl.py`` (apply_along_axis),
``_core/numeric.py`` (outer), the C sources of dot, einsum, take and argmax. What these make on the
side (copies for a cast or for strides that BLAS cannot take) is a step of its own here too; tests
compare with the memory that NumPy really asks for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.golf.errors import no_model
from rooflab.golf.trace import Trace
from rooflab.golf.ufuncs import refuse_dtype


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
    plain = [trace.raw(a), trace.raw(b)]
    arrays = [x for x in plain if isinstance(x, ndarray)]
    if len(arrays) < 2 or 0 in (arrays[0].ndim, arrays[1].ndim):
        return np.multiply(a, b, out=out) if out is not None else np.multiply(a, b)
    common = np.result_type(*arrays)
    if common.kind not in "fc" and max(x.ndim for x in arrays) > 2:
        raise no_model("np.dot of integers in more than two dimensions")
    plain = [_for_blas(trace, x, common) for x in plain]
    target = trace.raw(out)
    result = np.dot(*plain, out=target)
    made = trace.wrap(result)
    trace.record("dot", plain, [result] if isinstance(result, ndarray) else [])
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
    made = trace.wrap(result)
    arrays = [x for x in plain if isinstance(x, ndarray)]
    shared = isinstance(result, ndarray) and out is None and np.may_share_memory(result, arrays[0])
    if not shared:  # "ij->ji" gives a view
        trace.record("einsum", arrays, [result] if isinstance(result, ndarray) else [])
    return made if out is None else out


def take(trace: Trace, a: Any, indices: Any, axis: Any = None, **kwargs: Any) -> Any:
    """The index (cast to the machine's integer first) and what it names are read."""
    if kwargs:
        raise no_model("np.take with out= or mode=")
    where, plain = trace.raw(indices), trace.raw(a)
    if isinstance(where, ndarray) and where.dtype != np.intp:
        where = trace.copied("copy (cast)", where, np.intp)
    result = np.take(plain, where, axis)
    made = trace.wrap(result)
    size = min(result.nbytes, plain.nbytes)
    index = [where] if isinstance(where, ndarray) else []
    trace.record("take", [*index, (plain, size)], [result] if isinstance(result, ndarray) else [])
    return made


def _extreme(function: Any) -> Any:
    def model(trace: Trace, a: Any, axis: Any = None, **kwargs: Any) -> Any:
        plain = trace.raw(a)
        if not plain.flags.c_contiguous or axis not in (None, -1, plain.ndim - 1):
            plain = trace.copied("copy (order)", plain)  # NumPy moves the axis to the end
        result = function(plain, axis, **trace.raw(kwargs))
        made = trace.wrap(result)
        trace.record(function.__name__, [plain], [x for x in [result] if isinstance(x, ndarray)])
        return made

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
            made = _zeros(trace, found, lines.shape[:-1])
        made[at] = found
    if made is None:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    dims = range(made.ndim)
    return np.transpose(made, (*dims[:axis], *dims[ahead:], *dims[axis:ahead]))


def _zeros(trace: Trace, like: Any, ahead: tuple[int, ...]) -> Any:
    """Zeros of the type of ``like``, with axes ``ahead`` of its own; they are written."""
    one = like if type(like) is trace.kind else np.asarray(like)
    refuse_dtype("np.apply_along_axis", one.dtype)
    zeros = np.zeros((*ahead, *one.shape), one.dtype)
    made = trace.wrap(zeros)
    trace.record("zeros_like", [], [zeros])
    return made


def _same(function: Any) -> Any:
    """Of a function of np.linalg: np has the same, under another name."""

    def model(trace: Trace, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return model


MODELS = {
    np.mean: mean, np.var: var, np.std: std, np.linalg.norm: norm, np.dot: dot,
    np.einsum: einsum, np.take: take, np.argmax: _extreme(np.argmax),
    np.argmin: _extreme(np.argmin), np.diff: diff, np.outer: outer, np.tensordot: tensordot,
    np.apply_along_axis: apply_along_axis, np.linalg.vector_norm: vector_norm,
    np.linalg.vecdot: _same(np.vecdot), np.linalg.matmul: _same(np.matmul),
    np.linalg.tensordot: _same(np.tensordot),
}  # fmt: skip
