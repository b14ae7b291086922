"""What an expression costs: each of its operations as a ledger of rooflab.count, added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rooflab.count.blas import dot, gemm, gemv, outer
from rooflab.count.elementwise import ARITY, elementwise
from rooflab.count.operation import Operation
from rooflab.count.validation import unknown
from rooflab.labs.search.rewrite.expression import (
    Array,
    Expression,
    Form,
    Op,
    Product,
    Transpose,
    infer,
)
from rooflab.predict.catalogue import machine
from rooflab.predict.estimate import predict
from rooflab.predict.machine import Machine

#: Cost of one operation whose arguments have these forms, and these names.
Price: TypeAlias = Callable[[Op, Sequence[Form], Sequence[object]], float]


def ledger(op: Op, args: Sequence[Form], names: Sequence[object]) -> Operation | None:
    """The operation that computes ``op``, or None for a matrix that is there already.

    A product is a dot product, a product of matrix and vector, an outer product, or a product of
    matrices, by its shape. A transpose is a copy. All functions of a Map are one pass, which reads
    an argument that occurs twice in ``names`` once.
    """
    if isinstance(op, Array):
        return None
    form = infer(op, args)
    if isinstance(op, Transpose):
        return elementwise("copy", form.shape, form.dtype, inputs=("a",), cost={"copy": 0})
    if isinstance(op, Product):
        left = args[0].shape
        inner = left[0] if op.left_transposed else left[1]
        return _product(form, inner, op.adds)
    functions = [function.name for function in op.functions]
    inputs = {f"x{names.index(name)}": arg.shape for name, arg in zip(names, args, strict=True)}
    cost = {name: 1 for name in functions if name not in ARITY}
    return elementwise(functions, form.shape, form.dtype, inputs=inputs, cost=cost)


def _product(form: Form, inner: int, adds: bool) -> Operation:
    (rows, columns), dtype = form.shape, form.dtype
    if rows == columns == 1 and not adds:
        return dot(inner, dtype)
    if inner == 1 and not adds:
        return outer(rows, columns, dtype)
    if columns == 1:
        return gemv(rows, inner, dtype, accumulate=adds)
    if rows == 1:
        return gemv(columns, inner, dtype, accumulate=adds)
    return gemm(rows, columns, inner, dtype, accumulate=adds)


def operations(expression: Expression) -> list[Operation]:
    """The operations of ``expression`` in the order in which they run, each different one once."""
    ledgers = (
        ledger(one.op, [arg.form for arg in one.args], one.args) for one in expression.subterms()
    )
    return [one for one in ledgers if one is not None]


def measure_of(cost: str | Machine) -> tuple[Callable[[Operation], float], str]:
    """What ``cost`` counts of an operation, and its unit.

    "bytes" and "flops" are the ledger's. A machine, or its name in the catalogue, is the time that
    ``predict`` gives the operation there, in seconds.
    """
    if cost == "bytes":
        return (lambda op: op.bytes), "B"
    if cost == "flops":
        return (lambda op: op.flops), "FLOP"
    if not isinstance(cost, (str, Machine)):
        raise TypeError(f"cost={cost!r} must be 'bytes', 'flops', or a machine")
    try:
        there = machine(cost)
    except ValueError as error:
        known = ("bytes", "flops", "or a machine of rl.machines()")
        raise unknown("cost", cost, known) from error
    return (lambda op: predict(op, there).seconds), "s"


def price_of(cost: str | Machine) -> Price:
    """The same for an operation that is not counted yet: an operation on matrices of some form."""
    measured, _ = measure_of(cost)

    def price(op: Op, args: Sequence[Form], names: Sequence[object]) -> float:
        counted = ledger(op, args, names)
        return 0.0 if counted is None else measured(counted)

    return price


def total(expression: Expression, cost: str | Machine = "bytes") -> float:
    """Count what ``expression`` costs, its operations one after the other: bytes, FLOP or seconds.

    A term that occurs twice is computed once and kept. What an operation writes goes to memory, and
    comes back from there; only the functions of one fused pass hand their values on.

    >>> A, v = rl.search.matrix("A", 1024, 1024), rl.search.vector("v", 1024)
    >>> rl.search.total(A @ v, "flops") == rl.gemv(1024, 1024).flops
    True
    """
    measured, _ = measure_of(cost)
    return sum(map(measured, operations(expression)))
