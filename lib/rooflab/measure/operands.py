"""The arrays of an operation: which NumPy or CuPy dtype and order they have, and how to make them.

On the CPU the matrices of BLAS operations are column-major (Fortran order), with a batch axis
outermost: scipy's BLAS copies row-major ones silently, and the copy would be timed too. There is
one exception. The matrix that a batch of GEMVs shares lies by rows, as the weights of a linear
layer do: its transpose is column-major, and with few vectors libraries are up to three times as
fast on it. All other arrays, and all arrays on a GPU, are row-major (C order).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from rooflab.count import Operand, Operation, si
from rooflab.measure.backend import Backend
from rooflab.measure.gpu import flush_bytes
from rooflab.predict.estimate import one_product

# Memory to measure on: aligned to huge pages, and never more than the machine can spare.


HUGE_PAGE = 2 << 20
SHARE = 4  # at most a quarter of the free memory: the learner's notebooks live there too


def aligned(nbytes: int) -> np.ndarray:
    """`nbytes` bytes (uint8), untouched, starting on a 2 MiB boundary.

    NumPy asks Linux for huge pages for arrays this large; aligned ones can really have them, and
    translating addresses then costs next to nothing.
    """
    raw = np.empty(nbytes + HUGE_PAGE, np.uint8)
    start = -raw.ctypes.data % HUGE_PAGE
    return raw[start : start + nbytes]


def affordable(nbytes: int, free: int) -> int:
    """`nbytes`, or a quarter of the `free` bytes if that is less."""
    return min(nbytes, free // SHARE)


def shrunk(wanted: int, nbytes: int) -> str:
    """The sentence for arrays that had to be smaller than they should be."""
    return (
        f"memory is short: measured on {nbytes / 1e6:.0f} MB instead of {wanted / 1e6:.0f} MB "
        "(4 x the last-level cache), so part of it may have come from cache"
    )


COLUMN_MAJOR = ("ger", "gemv", "gemm")
GPU_DTYPES = ("fp64", "fp32", "tf32", "fp16", "bf16", "int8", "int16", "int32")
_NUMPY = {
    "fp64": "float64", "fp32": "float32", "tf32": "float32", "fp16": "float16",
    "int8": "int8", "int16": "int16", "int32": "int32",
    "bf16": "bfloat16", "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2",
}  # fmt: skip
_ALIGN, _GUARD, _STAGGER = 64, 4096, 320
_PATTERN = 1_000_003  # a prime: no tile or chunk size sees the pattern repeat at its own step


def storage(operand: Operand, backend: Backend) -> np.dtype:
    """Return the array dtype that stores ``operand`` in as many bytes as its ledger says.

    Raises ValueError with the reason when the backend has none.
    """
    name = operand.dtype.name
    if operand.dtype.group or name not in _NUMPY:
        why = "NumPy and CuPy have no packed arrays of this format"
    elif backend.is_gpu and name not in GPU_DTYPES:
        why = "CuPy has no arrays of this format"
    else:
        import ml_dtypes  # noqa: F401  # now NumPy knows the last three, too

        return np.dtype(_NUMPY[name])
    raise ValueError(
        f"op: operand {operand.name!r} is {name}, which cannot be measured on this backend "
        f"({backend.name}): {why}"
    )


def column_major(op: Operation, operand: Operand, backend: Backend) -> bool:
    """Whether ``operand`` is a matrix (or a batch of them) stored by columns."""
    if backend.is_gpu or op.name not in COLUMN_MAJOR:
        return False
    if op.name == "gemv" and one_product(op, backend.name):
        return False  # it is computed as a GEMM by rows
    batched = op.batch > 1 and operand.name not in op.shared
    return len(operand.shape) - batched == 2


def make(op: Operation, backend: Backend) -> tuple[Any, ...]:
    """Return the operands of ``op`` in ledger order, filled with numbers of ordinary size.

    Those of BLAS lie in (-1, 1), so that sums of products stay small; those of dot and of
    everything else in (0.5, 1.5): a dot product that does not cancel can be checked, and a square
    root or a logarithm has a value. Integers are small.
    """
    arrays = []
    for place, operand in enumerate(op.operands):
        flat = _empty(math.prod(operand.shape), storage(operand, backend), backend, place)
        pattern = backend.xp.asarray(_pattern(op, operand, place, flat))
        for start in range(0, flat.size, _PATTERN):
            part = flat[start : start + _PATTERN]
            part[...] = pattern[: part.size]
        arrays.append(_shaped(flat, operand.shape, column_major(op, operand, backend)))
    return tuple(arrays)


def _pattern(op: Operation, operand: Operand, place: int, flat: Any) -> np.ndarray:
    """The numbers that fill an operand, over and over if it is long."""
    signed = op.name in ("axpy", "scale", *COLUMN_MAJOR)
    low, high = (-1.0, 1.0) if signed else (0.5, 1.5)
    random = np.random.default_rng([20, place])
    values: np.ndarray = random.uniform(low, high, min(flat.size, _PATTERN))
    if op.name == "dot" and operand.dtype.name == "fp16":
        # The sum is about as large as the vector is long, and fp16 ends at 65504.
        values *= min(1.0, math.sqrt(2**14 / flat.size))
    return (np.rint(4 * values) if operand.dtype.kind == "int" else values).astype(flat.dtype)


def copies(operands: Sequence[np.ndarray], count: int) -> list[tuple[np.ndarray, ...]]:
    """Return ``count`` sets of operands, the given ones first, in the same memory order."""
    return [
        tuple(operands),
        *(tuple(_copy(a, place) for place, a in enumerate(operands)) for _ in range(count - 1)),
    ]


def require(op: Operation, given: object, backend: Backend) -> tuple[Any, ...]:
    """Return what ``setup()`` gave, as a tuple; raise when an operand does not fit the ledger.

    The error names the operand, what it is and what it must be.
    """
    names = ", ".join(operand.name for operand in op.operands)
    if not isinstance(given, (tuple, list)):
        kind = type(given).__name__
        raise TypeError(f"setup() returned a {kind}; it must return the operands ({names})")
    if len(given) != len(op.operands):
        raise ValueError(f"setup() returned {len(given)} arrays; {op.label} has ({names})")
    for operand, array in zip(op.operands, given, strict=True):
        _require_one(op, operand, array, backend)
    for (one, array), (other, its) in permutations(zip(op.operands, given), 2):
        if one.writes and not backend.is_gpu and np.may_share_memory(array, its):  # in one piece
            shared = f"setup(): operands {other.name!r} and {one.name!r} share memory"
            raise ValueError(f"{shared}, but {op.label} writes {one.name!r}; give it its own array")
    return tuple(given)


def _require_one(op: Operation, operand: Operand, array: Any, backend: Backend) -> None:
    xp, where = backend.xp, f"setup(): operand {operand.name!r}"
    if not isinstance(array, xp.ndarray):
        kind = type(array)  # NumPy's and CuPy's arrays share their name, so the module is said, too
        found = f"{kind.__module__}.{kind.__name__}" if "ndarray" in str(kind) else kind.__name__
        raise TypeError(f"{where} is a {found}; on this backend it must be a {xp.__name__}.ndarray")
    if array.dtype != (needed := storage(operand, backend)):
        raise TypeError(f"{where} has dtype {array.dtype}; {op.label} needs {needed}")
    if tuple(array.shape) != operand.shape:
        raise ValueError(f"{where} has shape {array.shape}; {op.label} needs {operand.shape}")
    by_columns = column_major(op, operand, backend)
    stored = array.swapaxes(-1, -2) if by_columns else array
    if not stored.flags.c_contiguous:
        raise ValueError(f"{where} is {_order(array, operand, by_columns)}")
    if operand.writes and not backend.is_gpu and not array.flags.writeable:
        raise ValueError(f"{where} is read-only, but {op.label} writes it")


def _order(array: Any, operand: Operand, by_columns: bool) -> str:
    """What the memory order of ``array`` is, and what it must be."""
    found = "F-ordered (column-major)" if array.flags.f_contiguous else "not contiguous"
    found = "C-ordered (row-major)" if array.flags.c_contiguous else found
    right = "it must be C-ordered (row-major): use ascontiguousarray"
    if by_columns and len(operand.shape) == 2:
        right = "it must be F-ordered (column-major), as BLAS reads it: use numpy.asfortranarray"
    elif by_columns:
        right = "each of its matrices must be F-ordered, one after the other, as BLAS reads them"
    return f"{found}; {right}"


def _shaped(flat: Any, shape: tuple[int, ...], by_columns: bool) -> Any:
    if not by_columns:
        return flat.reshape(shape)
    return flat.reshape((*shape[:-2], shape[-1], shape[-2])).swapaxes(-1, -2)


def _empty(elements: int, kind: np.dtype, backend: Backend, place: int) -> Any:
    """A flat array; on the CPU aligned to a cache line, with a page to spare at its end.

    Operands that start at the same offset in a page slow each other down on many processors (a
    load waits for an earlier store whose last 12 address bits agree), so each ``place`` in the
    ledger starts a few lines further on. The spare page keeps the prefetcher, running past the
    end of one operand, from fetching the next one.
    """
    if backend.is_gpu:
        return backend.xp.empty(elements, dtype=kind)
    nbytes = elements * kind.itemsize
    raw = np.empty(nbytes + _ALIGN + _STAGGER * place + _GUARD, np.uint8)
    start = -raw.ctypes.data % _ALIGN + _STAGGER * place
    return raw[start : start + nbytes].view(kind)


def _copy(array: np.ndarray, place: int) -> np.ndarray:
    by_columns = array.ndim > 1 and not array.flags.c_contiguous
    cpu = Backend("cpu", np, "copying")
    flat = _empty(array.size, array.dtype, cpu, place)
    new: np.ndarray = _shaped(flat, array.shape, by_columns)
    new[...] = array
    return new


SPARE = 0.9  # share of the available memory that one measurement may fill
_WORK = 128 << 20  # blocks of the reference, BLAS's packing buffers
_A_CALL = 2 << 10  # Python's objects for one problem of a batch: views of its operands, its call
_CGROUP = Path("/sys/fs/cgroup")


class OperandsTooLarge(ValueError, MemoryError):
    """The operands of an operation do not fit into the memory that is free."""


def available_bytes(backend: Backend) -> int:
    """Bytes that can still be allocated on the backend's device."""
    if backend.is_gpu:
        free, _ = backend.xp.cuda.Device().mem_info
        return int(free) + int(backend.xp.get_default_memory_pool().free_bytes())
    import psutil

    return int(min(psutil.virtual_memory().available, _container_bytes()))


def total_bytes(backend: Backend) -> int:
    """Bytes of memory that the backend's device has."""
    if backend.is_gpu:
        return int(backend.xp.cuda.Device().mem_info[1])
    import psutil

    return int(psutil.virtual_memory().total)


def needed_bytes(op: Operation, backend: Backend, *, in_turn: bool = True) -> int:
    """Bytes that measuring takes: all operands, a copy of what is updated in place, and blocks; on
    a GPU also the buffer that empties its L2 cache.

    ``in_turn``: on a CPU the problems of a batch are called one by one.
    """
    sizes = _sizes(op, backend)
    updated = sum(sizes[o.name] for o in op.operands if o.reads and o.writes)
    calls = op.batch * _A_CALL if in_turn and op.batch > 1 and not backend.is_gpu else 0
    flush = flush_bytes(backend.xp) if backend.is_gpu else 0
    return sum(sizes.values()) + updated + calls + _WORK + flush


def require_memory(
    op: Operation, backend: Backend, *, given: bool = False, in_turn: bool = True
) -> None:
    """Raise OperandsTooLarge, naming the sizes, when ``op`` cannot be measured in memory.

    ``given``: the learner brings the operands, which may be allocated already. ``in_turn`` as in
    :func:`needed_bytes`.
    """
    room = total_bytes(backend) if given else available_bytes(backend)
    needed = needed_bytes(op, backend, in_turn=in_turn)
    if needed <= SPARE * room:
        return
    sizes = _sizes(op, backend)
    parts = ", ".join(f"{o.name} {o.shape} {si(sizes[o.name], 'B')}" for o in op.operands)
    where = f"GPU memory of {backend.device}" if backend.is_gpu else "memory"
    state = "there in all" if given else "free"
    raise OperandsTooLarge(
        f"op: measuring {op.label} takes {si(needed, 'B')} of {where} ({parts}), "
        f"but {si(room, 'B')} are {state}; choose smaller sizes"
    )


def _sizes(op: Operation, backend: Backend) -> dict[str, int]:
    return {o.name: math.prod(o.shape) * storage(o, backend).itemsize for o in op.operands}


def _container_bytes() -> float:
    """What a container's limit leaves (cgroup v2); infinite without one."""
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        return max(0, limit - int((_CGROUP / "memory.current").read_text()))
    except (OSError, ValueError):  # no such file, or "max"
        return math.inf
