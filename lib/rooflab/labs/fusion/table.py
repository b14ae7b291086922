"""The blind table: nine operations as PyTorch runs them eagerly, and fused, with their bytes.

The counts (table.yaml) were committed before the published times (published.yaml) were put beside
them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from rooflab.count import Operand, Operation, chain
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.catalogue import tables
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline


@dataclass(frozen=True)
class Published:
    """What others measured: seconds of the eager and the fused run, where, and the source.

    >>> rl.fusion.blind_table()["rmsnorm"].published.conditions
    'forward, 2048 × 32768 bf16'
    """

    eager: float
    fused: float
    gpu: str
    conditions: str
    source: str

    @property
    def factor(self) -> float:
        """How many times as long the eager run took."""
        return self.eager / self.fused


@dataclass(frozen=True)
class Row:
    """An operation of the table: its arrays, its eager kernels and its fused ones.

    A kernel is written "function: read read -> written". ``arrays`` gives shape and format of each.
    Without ``fused``, one kernel does all: no intermediate result is written or read.

    >>> row = rl.fusion.blind_table()["swish"]
    >>> row.eager[0], row.factor(), round(row.published.factor, 2)
    ('sigmoid: x -> s', 2.5, 2.45)
    """

    name: str
    title: str
    arrays: Mapping[str, tuple[tuple[int, ...], str]]
    eager: tuple[str, ...]
    fused: tuple[str, ...] = ()
    source: str = ""

    def kernels(self, fused: bool = False) -> tuple[Operation, ...]:
        """Return the kernels that run, each as an Operation."""
        if fused and not self.fused:
            return (chain(*map(self._kernel, self.eager), fused=True),)
        return tuple(map(self._kernel, self.fused if fused else self.eager))

    def bytes(self, fused: bool = False) -> int:
        """Return the bytes that the kernels move, each operand once a kernel."""
        return chain(*self.kernels(fused)).bytes

    def factor(self, machine: Machine | str | None = None) -> float:
        """Return how many times as much the eager kernels take: bytes, or seconds of the roofline.

        With a ``machine`` every kernel takes what its roofline allows, so that products, which
        fusion leaves alone, weigh in.
        """
        if machine is None:
            return self.bytes() / self.bytes(fused=True)
        m = _machine(machine)
        eager, fused = (
            sum(Roofline(m, op.compute_dtype).time(op) for op in self.kernels(which))
            for which in (False, True)
        )
        return eager / fused

    @property
    def machine(self) -> str:
        """The GPU of the published times, as the catalogue calls it."""
        return {"H100": "h100-sxm", "A100-SXM4-80GB": "a100-sxm-80"}[self.published.gpu]

    @property
    def published(self) -> Published:
        """What was published of it."""
        document = tables("labs.fusion", "published")
        row = document["rows"][self.name]
        cited = document["sources"][row["source"]]
        source = f"{cited['title']}; commit {cited['commit']}, {cited['licence']}"
        eager, fused = row["eager"] / 1e3, row["fused"] / 1e3
        return Published(eager, fused, row["gpu"], row["conditions"], source)

    def _kernel(self, text: str) -> Operation:
        function, _, sides = text.partition(": ")
        reads, writes = (side.split() for side in sides.split("->"))
        operands = tuple(
            Operand(name, *self.arrays[name], reads.count(name), writes.count(name))
            for name in dict.fromkeys([*reads, *writes])
        )
        elements = [operand.elements for operand in operands]
        kind = max((o.dtype for o in operands), key=lambda kind: kind.bits)
        flops, unit = max(elements), "vector"
        if function == "gemm":  # m·k, k·n and m·n elements: their product is (m·n·k)²
            flops, unit = 2 * math.isqrt(math.prod(elements)), "tensor"
        return Operation(function, {}, operands, flops, kind, unit=unit)


@functools.cache
def blind_table() -> Mapping[str, Row]:
    """Return the nine operations of the blind table, in the order in which they are asked.

    Returns
    -------
    Mapping of str to Row
        Arrays, eager and fused kernels; :meth:`Row.factor` is the bet, ``published`` what came out.

    Examples
    --------
    >>> [round(row.factor(), 2) for row in rl.fusion.blind_table().values()][:3]
    [9.0, 2.5, 3.0]
    """
    rows: dict[str, Row] = {}
    for name, entry in tables("labs.fusion", "table").items():
        arrays = {
            array: (tuple(shape), kind)
            for kind, shapes in entry["arrays"].items()
            for names, shape in shapes.items()
            for array in names.split()
        }
        eager, fused = (tuple(entry.get(key, ())) for key in ("eager", "fused"))
        rows[name] = Row(name, entry["title"], arrays, eager, fused, entry["source"])
    return rows
