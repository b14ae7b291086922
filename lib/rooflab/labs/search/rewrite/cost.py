"""What an expression costs: each of its operations as a ledger of rooflab.count, added up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rooflab.count.blas import dot, gemm, gemv, outer
from rooflab.count.elementwise import ARITY, elementwise
from rooflab.count.operation import Operation
from rooflab.count.validation import unknown
from rooflab.labs.search.rewrite.expression import Array, Expression, Form, Product, Transpose
from rooflab.predict.catalogue import machine
from rooflab.predict.estimate import predict
from rooflab.predict.machine import Machine

#: Cost of the last operation of an expression.
Price: TypeAlias = Callable[[Expression], float]


def ledger(one: Expression) -> Operation | None:
    """The last operation of an expression, or None for a matrix that is there already.

    A product is a dot product, a product of matrix and vector, an outer product, or a product of
    matrices, by its shape, and reads both factors, even if they are the same. A transpose is a
    copy. All functions of a Map are one pass, which reads an argument that occurs twice once.
    """
    op, form, args = one.op, one.form, one.args
    if isinstance(op, Array):
        return None
    if isinstance(op, Transpose):
        return elementwise("copy", form.shape, form.dtype, inputs=("a",), cost={"copy": 0})
    if isinstance(op, Product):
        return _product(form, args[0].shape[1])
    functions = [function.name for function in op.functions]
    inputs = {f"x{args.index(arg)}": arg.shape for arg in args}
    cost = {name: 1 for name in functions if name not in ARITY}
    return elementwise(functions, form.shape, form.dtype, inputs=inputs, cost=cost)


def _product(form: Form, inner: int) -> Operation:
    (rows, columns), dtype = form.shape, form.dtype
    if rows == columns == 1:
        return dot(inner, dtype)
    if inner == 1:
        return outer(rows, columns, dtype)
    if 1 in form.shape:
        return gemv(max(form.shape), inner, dtype)
    return gemm(rows, columns, inner, dtype)


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
    """The same for the last operation of an expression; a matrix that is given costs nothing."""
    measured, _ = measure_of(cost)

    def price(one: Expression) -> float:
        counted = ledger(one)
        return 0 if counted is None else measured(counted)

    return price


def total(expression: Expression, cost: str | Machine = "bytes") -> float:
    """Count what ``expression`` costs, its operations one after the other: bytes, FLOP or seconds.

    A term that occurs twice is computed once and kept. What an operation writes goes to memory, and
    comes back from there; only the functions of one fused pass hand their values on.

    >>> A, v = rl.search.matrix("A", 1024, 1024), rl.search.vector("v", 1024)
    >>> rl.search.total(A @ v, "flops") == rl.gemv(1024, 1024).flops
    True
    """
    return sum(map(price_of(cost), expression.subterms()))
