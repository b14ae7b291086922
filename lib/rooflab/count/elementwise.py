"""Element-wise operations and chains of operations, fused or not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from rooflab.count.dtypes import DTypeLike, wider
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operand, Operation, as_operation
from rooflab.count.validation import amount, flag, unknown
from rooflab.count.validation import shape as _shape

# Operands of each function; every one costs 1 FLOP an element unless a ``cost=`` table says more
# (a transcendental is many instructions; 1 is the usual convention, and the table shows it).
ARITY = {
    "relu": 1, "neg": 1, "abs": 1, "exp": 1, "log": 1, "sqrt": 1, "sin": 1, "cos": 1, "tanh": 1,
    "sigmoid": 1, "gelu": 1, "silu": 1, "square": 1, "reciprocal": 1,
    "add": 2, "sub": 2, "mul": 2, "div": 2, "max": 2, "min": 2,
}  # fmt: skip

#: Arrays that are read: their names, or a mapping name → shape.
Inputs: TypeAlias = Sequence[str] | Mapping[str, int | Sequence[int]] | None


def elementwise(
    function: str | Sequence[str],
    shape: int | Sequence[int],
    dtype: DTypeLike = "fp32",
    *,
    inputs: Inputs = None,
    output: str = "y",
    cost: Mapping[str, float] | None = None,
) -> Operation:
    """y ← f(x, …) on every element of ``shape``: 1 FLOP each; inputs are read, y is written, once.

    Parameters
    ----------
    function : str or sequence of str
        One name, or several applied in one pass: ``("mul", "add")``.
    shape : int or sequence of int
        Shape of the output.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of every array; its width in bits decides the bytes.
    inputs : sequence of str or mapping of str to shape, optional
        Names of the arrays that are read, of ``shape`` each. A mapping gives each its shape, for
        one that is broadcast, such as a bias row of (n,). By default there are as many as the
        functions need: x, or a, b, c, …
    output : str, default "y"
        Name of the array that is written; one of the inputs if it happens in place.
    cost : mapping of str to float, optional
        FLOP an element of each function, 1 where none is given. A function outside the table
        needs one.

    Returns
    -------
    Operation
        The ledger of the inputs and the output. Its unit is "vector".

    Notes
    -----
    A transcendental function such as exp is many instructions. Counting it as 1 FLOP is the usual
    convention; ``cost`` is for another one.

    Examples
    --------
    >>> rl.elementwise("relu", (64, 1000)).intensity  # 1 FLOP for 8 bytes
    0.125
    >>> op = rl.elementwise("exp", 1000, cost={"exp": 20})
    >>> op.flops, op.bytes
    (20000, 8000)
    """
    names, full, kind = _functions(function, cost or {}), _shape("shape", shape), _dtype(dtype)
    _require_name("output", output)
    shapes = _inputs(names, full, inputs)
    operands = [Operand(name, size, kind) for name, size in shapes.items()]
    if output in shapes:
        operands = [replace(o, writes=1) if o.name == output else o for o in operands]
        if shapes[output] != full:
            raise ValueError(f"output={output!r} has shape {shapes[output]}, not {full}")
    else:
        operands.append(Operand(output, full, kind, reads=0, writes=1))
    each = sum((cost or {}).get(name, 1) for name in names)
    dims = {"nmklhijpqrst"[-1 - axis]: full[axis] for axis in range(-min(12, len(full)), 0)}
    flops = round(each * math.prod(full))
    return Operation("+".join(names), dims, tuple(operands), flops, kind)


def _functions(function: str | Sequence[str], costs: Mapping[str, float]) -> tuple[str, ...]:
    """Names of the functions, each known to the table or given a cost."""
    if not isinstance(costs, Mapping):
        raise TypeError(f"cost={costs!r} must be a mapping, such as {{'exp': 20}}")
    for name, flops in costs.items():
        amount(f"cost[{name!r}]", flops, "FLOP an element, 0 or more", zero=True)
    names = function if isinstance(function, (tuple, list)) else (function,)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"function={function!r} must be a name, such as 'relu', or several")
        if name not in ARITY and name not in costs:
            raise unknown("function", name, sorted(ARITY))
    if not names:
        raise ValueError(f"function={function!r} is empty; give at least one name")
    return tuple(names)


def _inputs(
    names: tuple[str, ...], full: tuple[int, ...], inputs: Inputs
) -> dict[str, tuple[int, ...]]:
    """Shape of every array that is read, checked to broadcast to ``full``."""
    if inputs is None:
        # The first function takes its own operands, each later one the result and the others.
        needed = 1 + sum(ARITY.get(name, 1) - 1 for name in names)
        letters = ("x",) if needed == 1 else tuple("abcdefghijkl")
        inputs = letters[:needed] + tuple(f"x{number}" for number in range(len(letters), needed))
    if isinstance(inputs, str):
        inputs = (inputs,)
    if not isinstance(inputs, (Mapping, tuple, list)):
        raise TypeError(f"inputs={inputs!r} must be operand names, or a mapping name → shape")
    for name in inputs:
        _require_name("inputs", name)
    given = inputs if isinstance(inputs, Mapping) else dict.fromkeys(inputs, full)
    shapes = {name: _shape(f"inputs[{name!r}]", size) for name, size in given.items()}
    for name, part in shapes.items():
        fits = all(
            n in (1, whole) for n, whole in zip(reversed(part), reversed(full), strict=False)
        )
        if len(part) > len(full) or not fits:
            raise ValueError(f"inputs[{name!r}]={part} does not broadcast to shape={full}")
    return shapes


def _require_name(argument: str, name: object) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"{argument}: {name!r} must be the name of an operand, such as 'x'")


def chain(*operations: Operation, fused: bool = False) -> Operation:
    """Operations one after the other, joined by operand name; the FLOPs add up.

    Parameters
    ----------
    *operations : Operation
        In the order in which they run. One name is one array in all of them.
    fused : bool, default False
        Unfused, every operation reads and writes its own operands. Fused, an operand that one
        operation writes and a later one reads never leaves the registers: its write and its reads
        are dropped. An outside operand that several of them read is read once. The last
        operation's outputs are always written.

    Returns
    -------
    Operation
        The ledger of the whole chain, without ``dims``. It is computed in the widest of their
        formats, and its unit is "tensor" where one of them has that unit.

    Examples
    --------
    >>> product = rl.elementwise("mul", 1000, inputs=("a", "b"), output="ab")
    >>> total = rl.elementwise("add", 1000, inputs=("ab", "c"), output="y")
    >>> rl.chain(product, total).bytes, rl.chain(product, total, fused=True).bytes
    (24000, 16000)
    """
    if not operations:
        raise ValueError("operations: give chain() at least one operation")
    for position, op in enumerate(operations):
        as_operation(f"operations[{position}]", op)
    operands = _joined(operations) if flag("fused", fused) else _in_sequence(operations)
    compute = operations[0].compute_dtype
    for op in operations[1:]:
        compute = wider(compute, op.compute_dtype)
    return Operation(
        f"{'fused' if fused else 'chain'}({', '.join(op.name for op in operations)})",
        {}, operands, sum(op.flops for op in operations), compute,
        unit="tensor" if any(op.unit == "tensor" for op in operations) else "vector",
    )  # fmt: skip


def _in_sequence(operations: Sequence[Operation]) -> tuple[Operand, ...]:
    ledger: dict[str, Operand] = {}
    for op in operations:
        for new in op.operands:
            old = ledger.get(new.name)
            if old is None:
                ledger[new.name] = new
                continue
            _same_array(old, new)
            ledger[new.name] = replace(
                old, reads=old.reads + new.reads, writes=old.writes + new.writes
            )
    return tuple(ledger.values())


def _joined(operations: Sequence[Operation]) -> tuple[Operand, ...]:
    last = {o.name for o in operations[-1].operands if o.writes}
    written: set[str] = set()
    passed_on: set[str] = set()  # written by one operation, and that version read by a later one
    from_outside: set[str] = set()
    for op in operations:
        reads = {o.name for o in op.operands if o.reads}
        writes = {o.name for o in op.operands if o.writes}
        passed_on = (passed_on | reads & written) - writes
        from_outside |= reads - written
        written |= writes
    kept = []
    for operand in _in_sequence(operations):
        name = operand.name
        is_read = name in from_outside
        is_written = name in written and (name in last or name not in passed_on)
        if is_read or is_written:
            kept.append(replace(operand, reads=int(is_read), writes=int(is_written)))
    return tuple(kept)


def _same_array(old: Operand, new: Operand) -> None:
    if math.prod(old.shape) != math.prod(new.shape) or old.dtype != new.dtype:
        raise ValueError(
            f"operations: operand {new.name!r} is {old.shape} {old.dtype} in one operation and "
            f"{new.shape} {new.dtype} in a later one; use one shape and dtype, or other names"
        )
