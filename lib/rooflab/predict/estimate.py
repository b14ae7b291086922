"""The estimate: what a call will take, as opposed to the bound that it cannot beat.

It starts from the roofline and adds, one stage at a time, what a roofline leaves out: the cache
level that really feeds the operation, the cost of a call, and how well the library's routine uses
the machine. The stages are listed, so that every number can be argued with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rooflab.count.operation import Operation, as_timeable
from rooflab.count.si import percent, si
from rooflab.count.validation import size, unknown
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Figure, Machine

# How library routines behave here: the cost of a call, and the share of a roof they reach.
#
# A machine carries, per routine and dtype, at most four timed *fitting sizes*
# (``Machine.routines``, made by measure/this_machine.py). The smallest gives the overhead of a
# call. The others give an efficiency: per memory level for routines that stream their operands,
# per smallest dimension for a product of matrices.

THIN = 8
"""A product is thin when its smallest dimension is this many times below its largest. Libraries run
other code for it, so it is a routine of its own."""


_STACKED = {"cpu": "a", "gpu": "b"}
"""The operand that a batch of GEMMs shares where it is one product. On the CPU matrices lie by
columns, and B and C of the batch stand side by side; on a GPU they lie by rows, and A and C stand
one below the other."""


def routine(op: Operation, backend: str = "cpu") -> str:
    """Key of the routine that computes ``op``: ``"axpy/fp32"``, ``"gemm-thin/fp64"``."""
    sizes = _product(op, backend)
    thin = sizes and max(sizes) > THIN * min(sizes)
    name = "gemm" if sizes else op.name
    return f"{name}{'-thin' if thin else ''}/{op.compute_dtype}"


def sound(routines: Any, levels: Iterable[str]) -> bool:
    """Whether ``routines``, read from a file, are such as :func:`overhead` and
    :func:`efficiency` read, with points in memory ``levels`` of the machine only."""
    try:
        known = routines.values()
        calls = [routine[key] for routine in known for key in ("overhead_s", "cold_overhead_s")]
        points = [point for routine in known for point in routine["points"]]
        figures = [p[key] for p in points for key in ("efficiency", "smallest") if key in p]
        return (
            all("efficiency" in point for point in points)
            and all(0 <= call < math.inf for call in calls)
            and all(0 < figure < math.inf for figure in figures)
            and {point["level"] for point in points if "level" in point} <= set(levels)
        )
    except (AttributeError, KeyError, TypeError):
        return False


def overhead(op: Operation, m: Machine, cache: str = "warm") -> float:
    """Seconds that the calls of ``op`` cost before any work; 0 where nothing was measured.

    A "cold" call also waits for the first lines of its operands.
    """
    name, _, kind = routine(op, m.backend).partition("/")
    known = m.routines.get(f"{name.removesuffix('-thin')}/{kind}")
    calls = 1 if one_product(op, m.backend) else op.batch
    return calls * known["cold_overhead_s" if cache == "cold" else "overhead_s"] if known else 0.0


def efficiency(op: Operation, m: Machine, level: str) -> float:
    """Share of the roof that the routine reaches with its operands in ``level``; 1 if unknown."""
    known = m.routines.get(routine(op, m.backend))
    key = "level" if op.unit == "vector" else "smallest"
    points = [point for point in known["points"] if key in point] if known else []
    if not points:
        return 1.0
    if key == "level":
        return _per_level(points, m, level)
    # Between the points on a logarithmic scale, flat outside them.
    sizes, shares = zip(*sorted((p["smallest"], p["efficiency"]) for p in points))
    return float(np.interp(math.log(smallest(op, m.backend)), np.log(sizes), shares))


def smallest(op: Operation, backend: str = "cpu") -> int:
    """Smallest dimension of a product, which decides how well a library can block it."""
    return min(_product(op, backend) or (1,))


def _product(op: Operation, backend: str) -> tuple[int, ...]:
    """Dimensions m, n, k of a matrix product; empty for any other operation.

    A GEMV whose matrix serves a batch of vectors is a product with n = batch; a batch of GEMMs
    that is one product has batch times the rows or columns.
    """
    many = op.batch if one_product(op, backend) else 1
    if op.unit == "tensor" and tuple(op.dims) == ("m", "n", "k"):  # gemm, whatever it is called
        rows, columns = (many, 1) if op.shared == ("b",) else (1, many)
        return (op.dims["m"] * rows, op.dims["n"] * columns, op.dims["k"])
    return (op.dims["m"], many, op.dims["n"]) if op.name == "gemv" and many > 1 else ()


def one_product(op: Operation, backend: str) -> bool:
    """Whether the whole batch of ``op`` is one call of a product on ``backend``, "cpu" or "gpu".

    A batch of GEMVs with one matrix is a GEMM on both. A batch of GEMMs that share one factor is a
    GEMM where the other factors lie in one piece, one behind the other.
    """
    if op.batch == 1 or op.name not in ("gemv", "gemm"):
        return False
    return op.shared == ("a" if op.name == "gemv" else _STACKED[backend],)


def _per_level(points: Sequence[Mapping[str, Any]], m: Machine, level: str) -> float:
    """Efficiency measured in ``level``, or in the nearest level that has a point.

    In memory it is at most 1. A point that was faster came from a cache, or the roof was measured
    in a busier moment, and an estimate must not beat the bound beside it.
    """
    place = m.levels.index(level)
    nearest = min(points, key=lambda p: abs(m.levels.index(p["level"]) - place))
    share: float = nearest["efficiency"]
    return min(share, 1.0) if level == "dram" else share


CACHES = ("cold", "warm")
FADED = 4
"""A working set this many times the largest on which a cache was measured leaves nothing in it."""
# The mixes that bandwidths are measured with, in words, because "axpy" is also an operation.
ROOFS = {
    "read": "roof of reading only",
    "axpy": "roof of two reads to a write",
    "copy": "roof of a read to a write",
    "update": "roof of a read to a write in place",
}


@dataclass(frozen=True)
class Stage:
    """A step of the estimate: its ``name``, the time in ``seconds`` so far, and why (``note``)."""

    name: str
    seconds: float
    note: str


@dataclass(frozen=True)
class Prediction:
    """An estimated time. ``float(p)`` is ``p.seconds``.

    Attributes
    ----------
    seconds : float
        The estimate, in seconds.
    limit : str
        What most of the time is spent on: "memory:LEVEL", "compute" or "overhead".
    level : str
        Where the operands live: l1, l2, l3 or dram.
    terms : tuple of Stage
        The stages from the bound to the estimate, each with its name, the seconds so far, and a
        note why.
    bound : float
        The roofline's bound in seconds.

    Examples
    --------
    >>> p = rl.predict(rl.gemm(4096, 4096, 4096, "bf16"), "h100-sxm")
    >>> print(p)
    139 µs, limited by compute
      roofline bound          139 µs  989 TFLOP/s tensor peak, 3.35 TB/s DRAM, datasheet
      level and mix           139 µs  101 MB moved, operands in DRAM, one roof for ...
      call overhead           139 µs  0 s a cold call
      routine efficiency      139 µs  not measured (gemm/bf16)
    """

    seconds: float
    limit: str
    level: str
    terms: tuple[Stage, ...]

    def __float__(self) -> float:
        return self.seconds

    @property
    def bound(self) -> float:
        """The roofline's bound in seconds, from the same machine's DRAM roof."""
        return self.terms[0].seconds

    def __str__(self) -> str:
        lines = [f"{si(self.seconds, 's')}, limited by {self.limit}"]
        lines += [f"  {t.name:<20} {si(t.seconds, 's'):>9}  {t.note}" for t in self.terms]
        return "\n".join(lines)


def predict(
    op: Operation, m: Machine | str, *, cache: str = "cold", threads: int | None = None
) -> Prediction:
    """Estimate how long ``op`` takes on ``m``, in seconds.

    Parameters
    ----------
    op : Operation
        What is computed, such as ``rl.axpy(1_000_000)``.
    m : Machine or str
        The machine, or its name in the catalogue.
    cache : {"cold", "warm"}, default "cold"
        Whether the operands are in DRAM, or where they fit.
    threads : int, optional
        CPU threads. They must be as many as the machine's roofs were measured with, which is the
        default.

    Returns
    -------
    Prediction
        Its seconds, what limits it, and the terms that lead from the bound to it.

    Raises
    ------
    ValueError
        If the machine has no peak for the format of ``op``, or its roofs were measured with other
        ``threads``.

    Notes
    -----
    A catalogue machine has no measured routines, so its estimate is the bound, and the terms say
    so.

    Examples
    --------
    >>> p = rl.predict(rl.gemm(4096, 4096, 4096, "bf16"), "h100-sxm")
    >>> round(p.seconds * 1e6), p.limit  # microseconds
    (139, 'compute')
    """
    as_timeable("op", op)
    if cache not in CACHES:
        raise unknown("cache", cache, CACHES)
    m = _machine(m)
    wanted = m.threads if threads is None else size("threads", threads)
    if m.threads is not None and wanted != m.threads:
        raise ValueError(
            f"threads={threads}: the roofs of {m.id} were measured with {m.threads} thread(s); "
            f"use rl.this_machine(threads={threads})"
        )
    stages, limit, level = _stages(op, m, cache)
    return Prediction(stages[-1].seconds, limit, level, stages)


def peak_of(op: Operation, m: Machine) -> tuple[Figure, str]:
    """Peak of ``m`` for ``op`` in FLOP/s, and a note when its own unit has no figure there."""
    if m.has_peak(op.compute_dtype, op.unit):
        return m.peak(op.compute_dtype, op.unit), f"{op.unit} peak"
    figure = m.peak(op.compute_dtype)
    return figure, f"{figure.unit} peak: {m.id} lists no {op.unit} peak for {op.compute_dtype}"


def limit_of(op: Operation, m: Machine, bound: float) -> str:
    """Return "memory" or "compute": which of its two times the ``bound`` of ``op`` is."""
    return "memory" if op.flops / peak_of(op, m)[0] < bound else "compute"


def mix_of(op: Operation, m: Machine, level: str) -> str:
    """Mix of ``m`` nearest to the ledger of ``op``: its share of writes, and in place or not."""
    written = sum(o.nbytes * o.writes for o in op.operands) / op.bytes
    in_place = any(o.reads and o.writes for o in op.operands)
    shares = {"read": 0.0, "axpy": 1 / 3, "update" if in_place else "copy": 1 / 2, "copy": 1 / 2}
    there = [mix for mix in shares if mix in m.bandwidths.get(level, ())] or ["read"]
    return min(there, key=lambda mix: abs(shares[mix] - written))


def homes(nbytes: float, m: Machine, cache: str) -> dict[str, float]:
    """Share of the traffic of ``nbytes`` that each level serves; the shares add up to 1.

    Warm operands live in the first level that serves any of them, and the rest in the next one.
    """
    if cache == "cold":
        return {"dram": 1.0}
    for level, below in pairwise(m.levels):
        spilled = _spilled(nbytes, m, level)
        if spilled == 0:
            return {level: 1.0}
        if spilled < 1:
            return {level: 1 - spilled, below: spilled}
    return {"dram": 1.0}


def _spilled(nbytes: float, m: Machine, level: str) -> float:
    """Share of ``nbytes`` that the level behind ``level`` serves, 0 to 1.

    Where the machine measured its caches, the share grows with the logarithm of the size from one
    of its points to the next, and from the last one to 1 at FADED times its size. Elsewhere it is
    assumed to grow from 0 at half the cache's size to 1 at twice its size.
    """
    held, known = m.capacities.get(level), m.spills.get(level)
    if known:
        known = (*known, (FADED * known[-1][0], 1.0))
    elif held:
        known = ((held / 2, 0.0), (2 * held, 1.0))
    else:
        return 1.0
    sizes, shares = zip(*known)
    return float(np.interp(math.log(nbytes), np.log(sizes), shares))


def _carried(op: Operation, m: Machine, shares: dict[str, float], level: str) -> str:
    """Say how many bytes travel, and from where: an operand both read and written counts twice."""
    several = (f"{percent(share)} in {name.upper()}" for name, share in shares.items())
    where = " and ".join(several) if len(shares) > 1 else f"in {level.upper()}"
    roof = ROOFS[mix_of(op, m, level)]
    if m.origin == "datasheet":  # which states no other
        roof = "one roof for reading and writing"
    return f"{si(op.bytes_at(level), 'B')} moved, operands {where}, {roof}"


def _stages(op: Operation, m: Machine, cache: str) -> tuple[tuple[Stage, ...], str, str]:
    peak, peak_note = peak_of(op, m)
    bandwidth = m.bandwidth("dram", "best")
    bound = max(op.flops / peak, op.bytes_at("dram") / bandwidth)
    note = f"{si(peak, 'FLOP/s')} {peak_note}, {si(bandwidth, 'B/s')} DRAM, {m.provenance}"
    stages = [Stage("roofline bound", bound, note)]
    shares = homes(op.working_set, m, cache)
    level = max(shares, key=shares.__getitem__)
    computing = op.flops / peak
    carrying = {
        where: share * op.bytes_at(where) / m.bandwidth(where, mix_of(op, m, where))
        for where, share in shares.items()
    }
    here = max(computing, sum(carrying.values()))
    stages.append(Stage("level and mix", here, _carried(op, m, shares, level)))
    call = overhead(op, m, cache)
    stages.append(Stage("call overhead", here + call, f"{si(call, 's')} a {cache} call"))
    if op.unit == "tensor":
        share = efficiency(op, m, level)
        computing, slowed = computing / share, sum(carrying.values())
    else:
        slowed = sum(part / efficiency(op, m, name) for name, part in carrying.items())
    total = call + max(computing, slowed)
    timed = routine(op, m.backend) in m.routines
    known = f"then {percent(here / (total - call))} of the roof" if timed else "not measured"
    stages.append(Stage("routine efficiency", total, f"{known} ({routine(op, m.backend)})"))
    if call > total / 2:
        return tuple(stages), "overhead", level
    return tuple(stages), "compute" if computing >= slowed else f"memory:{level}", level
