"""What a transformer does between its products: passes over activations, little arithmetic.

Each is an operation of its own that reads its inputs and writes its output once, as an unfused
program does; norms, rotations and activations are computed in fp32, as published code does. FLOPs
an element are the usual small counts; none of these operations is ever near the ridge.
"""

from __future__ import annotations

import math
from dataclasses import replace

from rooflab.count.dtypes import DType, dtype, wider
from rooflab.count.llm import NORMS, Model
from rooflab.count.llm_products import Product
from rooflab.count.operation import Operand, Operation

# FLOP an element: square, add, scale, weigh; two products and a sum; sigmoid and product; add.
FLOP = {"norm": 4, "rope": 3, "activation": 2, "residual": 1}
_FP32 = dtype("fp32")
Row = tuple[Operation, int, tuple[str, ...]]  # an operation, how often it runs, operands' roles


def over(name: str, shape: tuple[int, ...], kind: DType, flop: int, reads: int = 1) -> Operation:
    """One pass: ``reads`` arrays of ``shape`` read, one written, ``flop`` FLOP an element."""
    operands = [Operand(f"x{place or ''}", shape, kind) for place in range(reads)]
    operands.append(Operand("y", shape, kind, reads=0, writes=1))
    dims = dict(zip("mn", shape, strict=False))
    return Operation(name, dims, tuple(operands), flop * math.prod(shape), wider(kind, _FP32))


def embed(model: Model, rows: int, queries: int, act: DType, weights: DType) -> Row:
    """Gather one row of the table for each token; learned positions are a second row and an add.

    All sequences have the same ``queries`` positions, so each of these rows is read once.
    """
    tables = [Operand("table", (model.vocab, model.hidden), weights, touched=_rows(rows, model))]
    if model.positions:
        shape = (model.positions, model.hidden)
        touched = min(queries, model.positions) * model.hidden
        tables.append(Operand("positions", shape, weights, touched=touched))
    out = Operand("y", (rows, model.hidden), act, reads=0, writes=1)
    flops = rows * model.hidden * (len(tables) - 1)
    dims = {"m": rows, "n": model.hidden}
    op = Operation("embed", dims, (*tables, out), flops, wider(act, _FP32))
    return op, 1, (*("weights" for _ in tables), "activations")


def _rows(rows: int, model: Model) -> int:
    """Elements of the table that ``rows`` tokens touch, if no two of them are the same word."""
    return min(rows, model.vocab) * model.hidden


def rotate(model: Model, rows: int, act: DType) -> list[Row]:
    """Rotary positions on queries and keys; none where positions are learned."""
    if model.positions:
        return []
    width = (model.heads + model.kv_heads) * model.head_dim
    if model.latent:
        width = (model.heads + 1) * model.latent.rope
    op = over("rope", (rows, width), act, FLOP["rope"])
    return [(op, model.layers, _roles(op))]


def activation(model: Model, p: Product, rows: int, act: DType) -> Row:
    """What follows ``up``: act(gate) · up where gated, else act(up)."""
    name = p.name.removesuffix("up") + "activation"
    shape = (rows * p.active, p.outputs)
    op = over(name, shape, act, FLOP["activation"], 2 if model.gated else 1)
    return op, p.layers, _roles(op)


def norms(model: Model, rows: int, act: DType, weights: DType) -> Row:
    """The norms of all layers and the last one; each has its own weights."""
    op = over("norm", (rows, model.hidden), act, FLOP["norm"])
    weight = Operand("weight", (NORMS[model.norm] * model.hidden,), weights)
    op = replace(op, operands=(*op.operands, weight))
    return op, model.norms * model.layers + 1, (*_roles(op)[:-1], "weights")


def residuals(model: Model, rows: int, act: DType) -> Row:
    """Two additions to the residual stream in each layer."""
    op = over("residual", (rows, model.hidden), act, FLOP["residual"], 2)
    return op, 2 * model.layers, _roles(op)


def _roles(op: Operation) -> tuple[str, ...]:
    return ("activations",) * len(op.operands)
