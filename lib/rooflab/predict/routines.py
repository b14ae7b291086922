"""How library routines behave here: the cost of a call, and the share of a roof they reach.

A machine carries, per routine and dtype, at most four timed *fitting sizes* (``Machine.routines``,
made by measure/calibrate.py). From them follow the overhead of a call (the smallest size) and an
efficiency: per memory level for routines that stream their operands, per smallest dimension for a
product of matrices. The thin product (one dimension far below the others) is a routine of its own,
because libraries run other code for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

from rooflab.count.operation import Operation
from rooflab.predict.machine import Machine

THIN = 8
"""A product is thin when its smallest dimension is this many times below its largest."""


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


def sound(routines: object, levels: Iterable[str]) -> bool:
    """Whether ``routines``, read from a file, are such as :func:`overhead` and
    :func:`efficiency` read, with points in memory ``levels`` of the machine only."""
    try:
        return all(_sound(known, tuple(levels)) for known in routines.values())
    except (AttributeError, KeyError, TypeError):
        return False


def _sound(known: Mapping[str, object], levels: tuple[str, ...]) -> bool:
    points = known["points"]
    shares = [point["efficiency"] for point in points]
    sizes = [point["smallest"] for point in points if "smallest" in point]
    calls = (known["overhead_s"], known["cold_overhead_s"])
    return (
        all(0 <= call < math.inf for call in calls)
        and all(0 < number < math.inf for number in (*shares, *sizes))
        and all(point["level"] in levels for point in points if "level" in point)
    )


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
    if not known:
        return 1.0
    key = "level" if op.unit == "vector" else "smallest"
    points = [point for point in known["points"] if key in point]
    if not points:
        return 1.0
    return (
        _per_level(points, m, level)
        if key == "level"
        else _per_size(points, smallest(op, m.backend))
    )


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

    A batch of GEMVs with one matrix is a GEMM on both. A batch of GEMMs is one where what they do
    not share lies in one piece.
    """
    if op.batch == 1 or op.name not in ("gemv", "gemm"):
        return False
    return op.shared == ("a" if op.name == "gemv" else _STACKED[backend],)


def _per_level(points: list[Mapping[str, object]], m: Machine, level: str) -> float:
    """Efficiency measured in ``level``, or in the nearest level that has a point.

    No more than 1 in memory: what came faster than that came from a cache, or the roof was measured
    in a busier moment. An estimate above the bound beside it would be one number too many.
    """
    place = m.levels.index(level)
    nearest = min(points, key=lambda p: abs(m.levels.index(p["level"]) - place))
    return min(nearest["efficiency"], 1.0) if level == "dram" else nearest["efficiency"]


def _per_size(points: list[Mapping[str, object]], size: int) -> float:
    """Efficiency at ``size``, between the points on a logarithmic scale, flat outside them."""
    known = sorted((p["smallest"], p["efficiency"]) for p in points)
    if size <= known[0][0]:
        return known[0][1]
    for (low, share), (high, next_share) in pairwise(known):
        if size <= high:
            weight = math.log(size / low) / math.log(high / low)
            return share + weight * (next_share - share)
    return known[-1][1]
