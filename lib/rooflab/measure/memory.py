"""Refuse operands that memory cannot hold before anything is allocated."""

from __future__ import annotations

import math
from pathlib import Path

from rooflab.count import Operation, si
from rooflab.measure.backend import Backend
from rooflab.measure.operands import storage

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

    return min(psutil.virtual_memory().available, _container_bytes())


def total_bytes(backend: Backend) -> int:
    """Bytes of memory that the backend's device has."""
    if backend.is_gpu:
        return int(backend.xp.cuda.Device().mem_info[1])
    import psutil

    return psutil.virtual_memory().total


def needed_bytes(op: Operation, backend: Backend, *, in_turn: bool = True) -> int:
    """Bytes that measuring takes: all operands, a copy of what is updated in place, and blocks; on
    a GPU also the buffer that empties its L2 cache.

    ``in_turn``: on a CPU the problems of a batch are called one by one.
    """
    sizes = _sizes(op, backend)
    updated = sum(sizes[o.name] for o in op.operands if o.reads and o.writes)
    calls = op.batch * _A_CALL if in_turn and op.batch > 1 and not backend.is_gpu else 0
    return sum(sizes.values()) + updated + calls + _WORK + _flush(backend)


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


def _flush(backend: Backend) -> int:
    if not backend.is_gpu:
        return 0
    from rooflab.measure.gpu import flush_bytes

    return flush_bytes(backend.xp)


def _sizes(op: Operation, backend: Backend) -> dict[str, int]:
    return {o.name: math.prod(o.shape) * storage(o, backend).itemsize for o in op.operands}


def _container_bytes() -> float:
    """What a container's limit leaves (cgroup v2); infinite without one."""
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        return max(0, limit - int((_CGROUP / "memory.current").read_text()))
    except (OSError, ValueError):  # no such file, or "max"
        return math.inf
