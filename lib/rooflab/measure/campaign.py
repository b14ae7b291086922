"""What a recording measures: the three operations over N × dtype × cache × threads, within limits.

What would take too long, or does not fit memory, is left out and named with the reason: a gap in a
recording must be visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rooflab.count.blas import axpy, gemm, gemv
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.measure.backend import Backend
from rooflab.measure.environment import available_cores
from rooflab.measure.memory import SPARE, available_bytes, needed_bytes
from rooflab.measure.roofs import thread_count
from rooflab.measure.threads import with_threads
from rooflab.measure.timing import SECONDS
from rooflab.predict.estimate import CACHES, predict
from rooflab.predict.machine import Machine

DTYPES = {"cpu": ("fp32", "fp64"), "gpu": ("fp32", "fp64", "tf32", "bf16", "fp16")}
# Powers of two: the sizes of AXPY are the element counts of the matrices of GEMV and GEMM too.
_LARGEST = {
    "cpu": {"axpy": 26, "gemv": 13, "gemm": 12},
    "gpu": {"axpy": 30, "gemv": 15, "gemm": 14},
}
_SMALLEST = {"axpy": 8, "gemv": 6, "gemm": 4}
_STEP = {"axpy": 2, "gemv": 1, "gemm": 1}
FIXED_S = 0.35  # making a measurement ready: operands, warm-up, the description of the machine
MAKING = {"cpu": 4e8, "gpu": 2e11}  # byte/s at which operands are filled, copied and checked
CALLS = 8  # calls of a slow operation: settling, checking, three samples, and rates below the roof
MINUTES = {False: 6.0, True: 2.0}


@dataclass(frozen=True)
class Task:
    """One measurement to make, and the seconds it is expected to take with all around it."""

    op: Operation
    cache: str
    threads: int | None
    cost: float

    @property
    def key(self) -> str:
        """Its name in the journal and on the screen."""
        return with_threads(f"{self.op.label}, {self.cache}", self.threads)


@dataclass(frozen=True)
class LeftOut:
    """Something that is not measured, and why."""

    what: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """Return it as plain JSON data."""
        return {"what": self.what, "reason": self.reason}


def operations(backend: str, dtypes: Iterable[str], *, quick: bool) -> list[Operation]:
    """Return the operations of a recording: every size in every dtype, a third of them if quick."""
    found = []
    for kind in dtypes:
        for name, largest in _LARGEST[backend].items():
            if _dtype(kind) == "tf32" and name != "gemm":
                continue  # tf32 is a mode of matrix units; a vector operation has none
            stride = _STEP[name] * (3 if quick else 1)
            exponents = range(largest, _SMALLEST[name] - 1, -stride)  # the largest in any case
            found += [_square(name, 2**exponent, kind) for exponent in exponents]
    return found


def tasks(
    machines: Mapping[int | None, Machine], backend: str, dtypes: Iterable[str], *, quick: bool,
    fixed_s: float = FIXED_S,
) -> list[Task]:  # fmt: skip
    """Return all that a recording would measure without limits, cheapest first.

    ``machines``: the machine as measured with each thread count (None on a GPU). ``fixed_s`` as in
    :func:`expected_seconds`.
    """
    found = [
        Task(op, cache, threads, expected_seconds(op, machine, fixed_s))
        for op in operations(backend, dtypes, quick=quick)
        for threads, machine in machines.items()
        for cache in CACHES
    ]
    return sorted(found, key=lambda task: task.cost)


def within(
    wanted: Iterable[Task], backend: Backend, seconds: float
) -> tuple[list[Task], list[LeftOut]]:
    """Return the tasks that memory and ``seconds`` (for all of them) allow, and the others.

    The costliest are dropped first: one huge product takes the time of a hundred points.
    """
    room = SPARE * available_bytes(backend)
    kept, left_out = [], []
    for task in wanted:
        needed = needed_bytes(task.op, backend)
        if needed <= room:
            kept.append(task)
            continue
        reason = f"needs {si(needed, 'B')} of memory, of which {si(room, 'B')} can be used"
        left_out.append(LeftOut(task.key, reason))
    total = sum(task.cost for task in kept)
    while kept and total > seconds:
        dropped = kept.pop()
        total -= dropped.cost
        reason = f"would take about {dropped.cost:.0f} s of the {seconds:.0f} s for everything"
        left_out.append(LeftOut(dropped.key, reason))
    return kept, left_out


def expected_seconds(op: Operation, machine: Machine, fixed_s: float = FIXED_S) -> float:
    """Return about how long measuring ``op`` once takes, preparations included.

    ``fixed_s``: what the smallest of all operations takes.
    """
    if machine.has_peak(op.compute_dtype):
        call = predict(op, machine).seconds
    else:  # no roof was measured for this dtype: at worst it runs at the slowest one that was
        call = op.flops / min(machine.peaks.values()) + op.bytes / machine.bandwidth()
    return (
        fixed_s
        + op.working_set / MAKING[machine.backend]
        + max(CALLS * call, min(SECONDS, 30 * call))
    )


def _square(name: str, n: int, kind: str) -> Operation:
    if name == "axpy":
        return axpy(n, kind)
    return gemv(n, n, kind) if name == "gemv" else gemm(n, n, n, kind)


def kinds(dtypes: Iterable[object] | None, backend: Backend) -> tuple[str, ...]:
    """Return the names of the dtypes to record; ValueError for one without routines here."""
    known = DTYPES[backend.name]
    if dtypes is None:
        return known
    wanted = [str(_dtype(one)) for one in ([dtypes] if isinstance(dtypes, str) else dtypes)]
    for kind in wanted:
        if kind not in known:
            raise ValueError(
                f"dtypes: {kind} cannot be recorded on this backend ({backend.name}), which has "
                f"routines for {', '.join(known)}"
            )
    if not wanted:
        raise ValueError(f"dtypes={dtypes!r} is empty; give at least one of {', '.join(known)}")
    return tuple(dict.fromkeys(wanted))


def thread_counts(threads: Iterable[int] | None, backend: Backend) -> tuple[int | None, ...]:
    """Return the thread counts to record, 1 and all by default; (None,) on a GPU."""
    if backend.is_gpu:
        if threads is not None:
            raise ValueError(f"threads={threads!r}: a GPU is recorded as a whole; leave it out")
        return (None,)
    wanted = (1, available_cores()) if threads is None else threads
    if isinstance(wanted, int) or not (counts := [thread_count(count) for count in wanted]):
        raise ValueError(f"threads={threads!r} must be one or more thread counts, such as (1, 4)")
    return tuple(sorted(set(counts)))
