"""Operators from statements: named loops, an index map for each tensor, and FLOP per point.

From those three follows what the course counts: points, FLOP, the elements of each tensor that are
touched, bytes with a perfect cache, and which loop is best innermost. Nothing is run. P. Feautrier,
"Dataflow analysis of array and scalar references", 1991, is where loops with such indices, sums of
loops with whole coefficients, are analysed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from rooflab.count.dtypes import DType, DTypeLike, as_dtype
from rooflab.count.operation import Operand, Operation
from rooflab.count.validation import size, unknown
from rooflab.labs.cache.hierarchy import LINE
from rooflab.labs.loops.language.expression import Affine
from rooflab.labs.loops.language.statement import accesses
from rooflab.labs.loops.nest import Nest

MOST_POINTS = 20_000_000  # that are listed where no formula counts the footprint


@dataclass(frozen=True)
class Access:
    """A tensor of this ``shape``, and which element of it a point of the loops touches."""

    tensor: str
    index: tuple[Affine, ...]
    shape: tuple[int, ...]

    @property
    def loops(self) -> tuple[str, ...]:
        """Loops that it depends on."""
        return tuple(dict.fromkeys(loop for one in self.index for loop in one.names()))

    def stride(self, loop: str) -> int:
        """Elements that it moves by when ``loop`` goes one on; rows lie one after the other."""
        steps = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return sum(one.factor(loop) * step for one, step in zip(self.index, steps, strict=True))


def _values(index: Affine, extents: Mapping[str, int]) -> int:
    """Different values of one coordinate.

    A loop of n steps of c reaches n values, c apart. A second loop whose step is a multiple of c,
    and no longer than what is reached already, only makes the row of values longer. Where the
    values have gaps they are listed.
    """
    import numpy as np

    terms = sorted((abs(index.factor(loop)), extents[loop]) for loop in index.names())
    step, count = terms[0] if terms else (1, 1)
    for c, n in terms[1:]:
        if c % step or c > step * count:
            _require_few(math.prod(n for _, n in terms))
            values = np.zeros(1, int)
            for c, n in terms:
                values = np.unique(np.add.outer(values, c * np.arange(n)))
            return len(values)
        count += c // step * (n - 1)
    return count


def _require_few(points: int) -> None:
    if points > MOST_POINTS:
        raise ValueError(
            f"extents: no formula counts what is touched here, and {points} points are too many to "
            f"be listed; give at most {MOST_POINTS}"
        )


def footprint(accesses: Sequence[Access], extents: Mapping[str, int]) -> int:
    """Different elements that all ``accesses`` of one tensor touch, over all points of the loops.

    There is a formula for a single access in which no loop moves two coordinates at once.
    """
    import numpy as np

    named = [loop for one in accesses[0].index for loop in one.names()]
    if len(accesses) == 1 and len(named) == len(set(named)):
        return math.prod(_values(one, extents) for one in accesses[0].index)
    every = []
    for one in accesses:
        _require_few(math.prod(extents[loop] for loop in one.loops))
        at = dict(zip(one.loops, np.indices([extents[loop] for loop in one.loops]), strict=True))
        address = np.zeros(1, dtype=np.int64)
        for part, length in zip(one.index, one.shape, strict=True):
            address = address * length + part.at(at)
        every.append(np.ravel(address))
    return len(np.unique(np.concatenate(every)))


@dataclass(frozen=True)
class Operator:
    """Loops, what each point of them touches, and what it computes. Made by :func:`operator`.

    ``extents`` are the steps of each loop; ``reduction`` ("+", "*", "max", "min" or "") says how
    points that meet in one element of the output are joined. ``updates``: whether a point reads the
    element that it writes.

    >>> product = rl.search.operators.gemm(1024, 1024, 1024)
    >>> product.flops, product.compulsory_bytes
    (2147483648, 12582912)
    """

    name: str
    extents: Mapping[str, int]
    output: Access
    inputs: tuple[Access, ...]
    flops_per_point: int
    reduction: str
    dtype: DType
    statement: str
    updates: bool = False

    @property
    def points(self) -> int:
        """Points of all loops together."""
        return math.prod(self.extents.values())

    @property
    def flops(self) -> int:
        """FLOP of all points; of a largest or smallest one, see :func:`compared`."""
        first = self.footprints[self.output.tensor] if self.meets else 0
        return compared(self.points, self.flops_per_point, first, self.reduction)

    @cached_property
    def footprints(self) -> Mapping[str, int]:
        """Different elements of each tensor that are touched."""
        accesses: dict[str, list[Access]] = {}
        for one in (*self.inputs, self.output):
            accesses.setdefault(one.tensor, []).append(one)
        return {name: footprint(found, self.extents) for name, found in accesses.items()}

    @property
    def compulsory_bytes(self) -> int:
        """Bytes with a perfect cache: every element that is touched crosses the bus once."""
        return self.operation().bytes

    def role(self, loop: str) -> str:
        """What ``loop`` does.

        It is a "reduction" if the output does not depend on it, a "broadcast" if some input does
        not, and "element-wise" if all tensors do.
        """
        if loop not in self.extents:
            raise unknown("loop", loop, self.extents)
        if loop not in self.output.loops:
            return "reduction"
        alike = all(loop in one.loops for one in self.inputs)
        return "element-wise" if alike else "broadcast"

    def lines(self, loop: str) -> float:
        """Cache lines that a step of ``loop`` needs anew, on average, if it is innermost.

        A tensor that stands still needs none, one that goes on element by element a part of a
        line, one that jumps a whole line.

        References
        ----------
        .. [1] S. Carr, K. S. McKinley, C.-W. Tseng, "Compiler optimizations for improving data
           locality", ASPLOS 1994: the cost of a loop as the innermost one.
        """
        self.role(loop)
        each = [
            abs(one.stride(loop)) * self.dtype.bits / 8 / LINE
            for one in (self.output, *self.inputs)
        ]
        return sum(min(1.0, part) for part in each)

    @property
    def innermost(self) -> str:
        """The loop that needs fewest new cache lines a step, so the best one innermost."""
        return min((loop for loop, n in self.extents.items() if n > 1), key=self.lines, default="")

    @property
    def meets(self) -> bool:
        """Whether points meet in an element of the output, as in a sum, be it of one term."""
        summed = any(loop not in self.output.loops for loop in self.extents)
        return summed or self.points > self.footprints[self.output.tensor]

    def operation(self) -> Operation:
        """The ledger: each input read once and the output written once, as far as touched.

        A sum begins at zero. An output that each point updates for itself, as in ``y[i] += x[i]``,
        is read as well.
        """
        shapes = {one.tensor: one.shape for one in self.inputs}
        operands = [
            Operand(tensor, shape, self.dtype, touched=self.footprints[tensor])
            for tensor, shape in shapes.items()
        ]
        tensor = self.output.tensor
        read = int(self.updates and not self.meets)
        written = Operand(
            tensor, self.output.shape, self.dtype, read, 1, touched=self.footprints[tensor]
        )
        return Operation(
            self.name, self.extents, (*operands, written), self.flops, self.dtype,
            unit="tensor" if self.reduction == "+" and len(self.inputs) > 1 and self.meets
            else "vector",
        )  # fmt: skip

    def nest(self) -> Nest:
        """The loops in the order of ``extents``, to be transformed, simulated or searched.

        >>> scores = rl.search.operators.attention_scores(64, 64, 32).nest()
        >>> scores.loops, scores.check().ok
        (('q', 'c', 'd'), True)
        """
        tensors = (self.output, *self.inputs)
        shapes = {one.tensor: one.shape for one in tensors}
        return Nest(self.extents, self.statement, shapes=shapes)

    def __repr__(self) -> str:
        rows = [str(self.operation())]
        for loop, extent in self.extents.items():
            strides = ", ".join(
                f"{one.tensor} {one.stride(loop)}" for one in (self.output, *self.inputs)
            )
            rows.append(f"  {loop:<4}{extent:>6}  {self.role(loop):<13}strides {strides}")
        return "\n".join(rows)


def operator(
    statement: str,
    extents: Mapping[str, int],
    dtype: DTypeLike = "fp32",
    *,
    name: str = "operator",
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> Operator:
    """An operator from its statement, such as ``"C[m, n] += A[m, k] * B[k, n]"``.

    Parameters
    ----------
    statement : str
        What happens at each point, in the language of ``rl.loops.Nest``: numbers, elements,
        ``+ - * /``, ``sqrt``, ``sin``, ``exp``, ``max`` and ``min``. An index is a sum of loops
        with whole coefficients, such as ``2*ho + kh - 1``. ``+=`` sums, and
        ``O[i] = max(O[i], …)`` takes the largest.
    extents : mapping of str to int
        Steps of each loop.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of all tensors.
    name : str, default "operator"
        What it is called.
    shapes : mapping of str to shape, optional
        Shapes of tensors. By default a tensor ends with the last element that is touched.

    Returns
    -------
    Operator
        What can be counted of it without running it. A FLOP is counted for each operation and
        function on the right, and for the sum.

    Examples
    --------
    >>> rl.search.operator("y[i] += A[i, j] * x[j]", {"i": 4, "j": 8})
    operator 4×8 fp32: 64.0 FLOP, 176 B, 0.3636 FLOP/B
      i        4  broadcast    strides y 1, A 8, x 0
      j        8  reduction    strides y 0, A 1, x 1
    """
    nest = Nest(extents, statement, shapes=shapes)
    sizes = {loop: size(f"extents[{loop!r}]", n) for loop, n in extents.items()}
    one, *more = nest.statements
    if more:
        raise ValueError(f"statement={statement!r} must be one statement; an operator has no more")
    read = [element for element in one.reads if element != one.target]
    output, *others = (
        Access(each.array, each.subscripts, nest.shapes[each.array]) for each in (one.target, *read)
    )
    inputs = tuple(others)
    if any(each.tensor == output.tensor for each in inputs):
        raise ValueError(
            f"statement={statement!r} reads other elements of {output.tensor} than it writes: "
            "the order of its points matters then, and it is no operator"
        )
    found = Operator(
        name, MappingProxyType(sizes), output, inputs, one.flops, one.reduction,
        as_dtype("dtype", dtype), one.text, one.target in one.reads,
    )  # fmt: skip
    if found.updates and found.meets and one.target in accesses(one.value):
        raise ValueError(
            f"statement={statement!r} changes what {output.tensor} holds at each point: the order "
            "of its points matters then, and it is no operator"
        )
    unused = set(sizes).difference(*(each.loops for each in (output, *inputs)))
    if unused:
        raise ValueError(f"extents: loop {min(unused)!r} is in no index of {statement!r}")
    return found


def compared(points: int, flops_per_point: int, elements: int, reduction: str) -> int:
    """FLOP of all points, which meet in so many elements.

    A sum starts from zero and adds at each point. A maximum starts from its first element, which
    is compared with nothing; where no points meet, each is compared with what the output holds.
    """
    return points * flops_per_point - (elements if reduction in ("max", "min") else 0)
