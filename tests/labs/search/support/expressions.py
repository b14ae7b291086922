"""Random expressions, arrays for them, and what a tree of them costs."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from rooflab.labs.search.rewrite.cost import ledger, measure_of
from rooflab.labs.search.rewrite.egraph import EGraph
from rooflab.labs.search.rewrite.expression import (
    Array,
    Expression,
    Product,
    Transpose,
    elementwise,
    make,
    matrix,
)
from rooflab.measure.verify import functions

NUMPY = functions(np) | {"shift": np.left_shift}
SIDES = (1, 2, 3)


@st.composite
def expressions(draw: st.DrawFn, shape: tuple[int, int] | None = None, depth: int = 3):
    """An expression of ``shape`` at most ``depth`` operations deep; its dtype is fp64."""
    side = st.sampled_from(SIDES)
    rows, columns = shape or (draw(side), draw(side))
    kinds = ["array", "product", "sum", "scale", "divide", "transpose", "relu"]
    kind = draw(st.sampled_from(kinds)) if depth else "array"
    if kind == "array":
        return matrix(f"{draw(st.sampled_from('AB'))}{rows}x{columns}", rows, columns, "fp64")

    def of(*wanted: int) -> Expression:
        return draw(expressions(wanted, depth - 1))

    if kind == "product":
        inner = draw(side)
        return of(rows, inner) @ of(inner, columns)
    if kind == "sum":
        return of(rows, columns) + of(rows, columns)
    if kind == "scale":
        return draw(st.sampled_from([1, 2, 3, -0.5])) * of(rows, columns)
    if kind == "divide":
        return of(rows, columns) / draw(st.sampled_from([2, 3, -4]))
    if kind == "transpose":
        return of(columns, rows).T
    return elementwise("relu", of(rows, columns))


def written(graph: EGraph, number: int, depth: int) -> set[Expression]:
    """Every expression of a class that is at most ``depth`` operations deep, one by one."""
    found = set()
    for node in graph.nodes(number):
        if depth or not node.args:
            parts = [written(graph, arg, depth - 1) for arg in node.args]
            found |= {make(node.op, *args) for args in itertools.product(*parts)}
    return found


def arrays_for(expression: Expression, seed: int = 0) -> dict[str, np.ndarray]:
    """A random array for each matrix that ``expression`` is given."""
    rng = np.random.default_rng(seed)
    whole = expression.dtype.kind == "int"
    return {
        str(one): rng.integers(-99, 99, one.shape) if whole else rng.standard_normal(one.shape)
        for one in expression.subterms()
        if isinstance(one.op, Array)
    }


def value(one: Expression, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What NumPy makes of an expression."""
    if isinstance(one.op, Array):
        return arrays[one.op.name]
    first, *others = (value(arg, arrays) for arg in one.args)
    if isinstance(one.op, Transpose):
        return first.T
    if isinstance(one.op, Product):
        return first @ others[0]
    for function in one.op.functions:
        numbers = [] if function.number is None else [first.dtype.type(function.number)]
        more = numbers or [others.pop(0) for _ in range(function.arity - 1)]
        first = NUMPY[function.name](first, *more)
    return first


def tree_cost(expression: Expression, cost: str) -> float:
    """Cost of ``expression`` with every term paid as often as it stands there."""
    counted = ledger(expression)
    own = 0.0 if counted is None else measure_of(cost)[0](counted)
    return math.fsum([own, *(tree_cost(arg, cost) for arg in expression.args)])
