"""Simulated bytes beside the formula's, and where the difference comes from.

Two more simulations split the difference into three parts. The first has lines of one element in
fully associative caches: what it moves beyond the formula is due to the replacement of the least
recently used. The second has the real lines in fully associative caches: what is added is due to
lines. What the real caches add is due to sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rooflab.count.operation import Operation, as_operation
from rooflab.count.si import percent, si, times
from rooflab.labs.cache.formula import (
    Bound,
    as_stream,
    fitting_depth,
    gemm_bounds,
    tile_ledger,
    unit,
)
from rooflab.labs.cache.hierarchy import Cache, Hierarchy, as_hierarchy
from rooflab.labs.cache.ledger import Ledger
from rooflab.labs.cache.simulator import simulate
from rooflab.labs.cache.stream import AccessStream
from rooflab.optional import installed

NOTICEABLE = 0.02
"""Share of the simulated bytes from which on a part of the difference is worth a sentence."""


@dataclass(frozen=True)
class Difference:
    """Bytes below one level, in both directions, and what they are made of.

    Attributes
    ----------
    formula : int
        What a memory moves that holds exactly a tile.
    replacement : int
        What a fully associative cache with lines of one element moves beyond that.
    lines : int
        What the real length of a line adds.
    sets : int
        What the real sets add. The four of them sum to the simulated bytes.
    """

    formula: int
    replacement: int
    lines: int
    sets: int

    @property
    def simulated(self) -> int:
        """What the real caches move."""
        return self.formula + self.replacement + self.lines + self.sets

    def __add__(self, other: Difference) -> Difference:
        return Difference(
            self.formula + other.formula, self.replacement + other.replacement,
            self.lines + other.lines, self.sets + other.sets,
        )  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Simulated bytes beside the formula's, for each level and operand, with the reasons.

    Attributes
    ----------
    levels : mapping of str to mapping of str to Difference
        For each level, and in it for each operand.
    why : tuple of str
        A sentence for each reason that matters.
    bounds : mapping of str to Bound
        For a product: the highest proven lower bound at each level.

    Examples
    --------
    >>> stream = rl.cache.gemm_stream(100, 100, 100, tile=10)
    >>> words = rl.cache.Cache("L1", 4 * 300, line=4)
    >>> found = rl.cache.compare(stream, words)
    >>> found.total("L1").formula, found.total("L1").simulated
    (880000, 1585600)
    >>> print(found.why[0])
    L1 moves ×1.8 the formula's bytes. Replacing the least recently used adds 706 kB: \
the last tile is still there while the next one comes in, and so more than a tile must fit.
    """

    levels: Mapping[str, Mapping[str, Difference]]
    why: tuple[str, ...]
    bounds: Mapping[str, Bound]

    def total(self, level: str) -> Difference:
        """Return the sum over the operands of one level."""
        parts = self.levels[level].values()
        return sum(parts, Difference(0, 0, 0, 0))

    def __str__(self) -> str:
        head = ("level", "operand", "formula", "replacement", "lines", "sets", "simulated")
        rows: list[tuple[str, ...]] = [head]
        for level, operands in self.levels.items():
            for name, part in [*operands.items(), ("all", self.total(level))]:
                numbers = (part.formula, part.replacement, part.lines, part.sets, part.simulated)
                rows.append((level, name, *(si(number, "B") for number in numbers)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        text = [
            "  ".join(
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        for level, bound in self.bounds.items():
            text.append(
                f"{level}: no order of the multiply-adds has less than {si(bound.bytes, 'B')} "
                f"{bound.counts} ({bound.name})."
            )
        return "\n".join([*text, *self.why])

    __repr__ = __str__


@installed("rooflab.cache.compare")
def compare(
    stream: AccessStream, hierarchy: Hierarchy | Cache, op: Operation | None = None
) -> Comparison:
    """Simulate a nest, set the formula beside it, and say why the two differ.

    The formula of a level is that of :func:`tile_ledger`, for the largest tiles of the nest that
    fit into the level.

    Parameters
    ----------
    stream : AccessStream
        The nest.
    hierarchy : Hierarchy or Cache
        The caches.
    op : Operation, optional
        The product that the nest computes, of ``rl.gemm``: adds lower bounds.

    Returns
    -------
    Comparison
        The bytes of each level and operand, split by their reason, and sentences.

    Raises
    ------
    TypeError, ValueError
        If ``stream`` is no AccessStream, or ``op`` is no product of matrices.

    Examples
    --------
    >>> found = rl.cache.compare(rl.cache.gemm_stream(64, 64, 64), rl.cache.Cache("L1", 65536))
    >>> print(found.why[0])
    L1 moves what the formula says.
    """
    caches = as_hierarchy(hierarchy)
    as_stream(stream)
    grain = unit(stream, caches.line)
    whole = [replace(cache, ways=None) for cache in caches.caches]
    words = [replace(cache, line=grain, prefetch=False) for cache in whole]
    ledgers = [
        simulate(stream, one)
        for one in (
            Hierarchy(*words, inclusive=caches.inclusive),
            Hierarchy(*whole, inclusive=caches.inclusive),
            caches,
        )
    ]
    levels = {cache.name: _differences(stream, cache, ledgers) for cache in caches.caches}
    bounds = {} if op is None else {cache.name: _bound(op, cache) for cache in caches.caches}
    blank = Comparison(levels, (), bounds)
    why = [said for cache in caches.caches for said in _why(cache, blank.total(cache.name))]
    return replace(blank, why=tuple(why))


def _differences(
    stream: AccessStream, cache: Cache, ledgers: list[Ledger]
) -> dict[str, Difference]:
    """What the bytes below a level are made of, for each operand."""
    depth = fitting_depth(stream, cache.capacity)
    formulas = tile_ledger(stream, depth, write_allocate=cache.write_allocate)
    found = {}
    for name in ledgers[-1].operands:
        formula = formulas[name].bytes
        words, whole, real = (ledger.bytes(cache.name, name) for ledger in ledgers)
        found[name] = Difference(formula, words - formula, whole - words, real - whole)
    return found


def _bound(op: Operation, cache: Cache) -> Bound:
    if as_operation("op", op).name != "gemm" or op.batch > 1:
        raise ValueError(
            f"op={op.name!r} must be one product of matrices, such as rl.gemm(9, 9, 9)"
        )
    m, n, k = (op.dims[name] for name in "mnk")
    return gemm_bounds(m, n, k, cache.capacity, op.compute_dtype)[-1]


def _why(cache: Cache, part: Difference) -> list[str]:
    """Sentences on one level: how far it is from the formula, and the reasons, largest first."""
    least = NOTICEABLE * max(part.simulated, 1)
    reasons = {
        _of_replacement(part): part.replacement,
        _of_lines(cache, part): part.lines,
        _of_sets(part): part.sets,
    }
    matter = {said: size for said, size in reasons.items() if abs(size) >= least}
    if not matter:
        return [f"{cache.name} moves what the formula says."]
    ratio = (
        f"{cache.name} moves {times(part.simulated / max(part.formula, 1))} the formula's bytes."
    )
    order = sorted(matter, key=lambda said: -abs(matter[said]))
    return [" ".join([ratio, *order])]


def _of_replacement(part: Difference) -> str:
    size = si(abs(part.replacement), "B")
    if part.replacement < 0:
        return (
            f"It saves {size} because more than a tile stays: some of it is used again for the "
            f"next tile, which the formula does not count."
        )
    return (
        f"Replacing the least recently used adds {size}: the last tile is still there while the "
        f"next one comes in, and so more than a tile must fit."
    )


def _of_lines(cache: Cache, part: Difference) -> str:
    size = si(abs(part.lines), "B")
    if part.lines < 0:
        return (
            f"Lines of {cache.line} bytes save {size}: neighbours come along that are used later."
        )
    return f"Lines of {cache.line} bytes add {size}, of which the program uses only a part in time."


def _of_sets(part: Difference) -> str:
    size = si(abs(part.sets), "B")
    if part.sets < 0:
        share = percent(-part.sets / max(part.simulated - part.sets, 1))
        return f"Sets save {size} ({share}): they keep some lines that one large set would lose."
    return (
        f"Conflicts add {size}: lines that belong to one set push each other out, though there "
        f"is room elsewhere."
    )
