"""The operations of a language model's steps: decode and prefill."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rooflab.count.attention import attention, materialised
from rooflab.count.dtypes import DType, dtype, wider
from rooflab.count.operation import Operand, Operation
from rooflab.labs.llm.products import NORMS, Product

if TYPE_CHECKING:
    from rooflab.labs.llm.model import Model

# What a transformer does between its products: passes over activations, little arithmetic.
#
# Each is an operation of its own that reads its inputs and writes its output once, as an unfused
# program does; norms, rotations and activations are computed in fp32, as published code does.

# FLOP an element: square, add, scale, weigh; two products and a sum; sigmoid and product; add.
FLOP = {"norm": 4, "rope": 3, "activation": 2, "residual": 1}
_FP32 = dtype("fp32")


def over(
    name: str, shape: tuple[int, int], kind: DType, flop: int, count: int, reads: int = 1
) -> Step:
    """``count`` passes: ``reads`` arrays of ``shape`` read, one written; ``flop`` an element."""
    operands = [Operand(f"x{place or ''}", shape, kind) for place in range(reads)]
    operands.append(Operand("y", shape, kind, reads=0, writes=1))
    dims, flops = dict(zip("mn", shape, strict=True)), flop * math.prod(shape)
    op = Operation(name, dims, tuple(operands), flops, wider(kind, _FP32))
    return Step(op, count, ("activations",) * len(operands))


def embed(model: Model, rows: int, queries: int, act: DType, weights: DType) -> Step:
    """Gather one row of the table for each token; learned positions are a second row and an add.

    All sequences have the same ``queries`` positions, so each of these rows is read once.
    """
    touched = min(rows, model.vocab) * model.hidden  # if no two tokens are the same word
    tables = [Operand("table", (model.vocab, model.hidden), weights, touched=touched)]
    if model.positions:
        shape = (model.positions, model.hidden)
        touched = min(queries, model.positions) * model.hidden
        tables.append(Operand("positions", shape, weights, touched=touched))
    out = Operand("y", (rows, model.hidden), act, reads=0, writes=1)
    flops = rows * model.hidden * (len(tables) - 1)
    dims = {"m": rows, "n": model.hidden}
    op = Operation("embed", dims, (*tables, out), flops, wider(act, _FP32))
    return Step(op, 1, (*("weights" for _ in tables), "activations"))


def rotate(model: Model, rows: int, act: DType) -> list[Step]:
    """Rotary positions on queries and keys; none where positions are learned."""
    if model.positions:
        return []
    width = (model.heads + model.kv_heads) * model.head_dim
    if model.latent:
        width = (model.heads + 1) * model.latent.rope
    return [over("rope", (rows, width), act, FLOP["rope"], model.layers)]


def activation(model: Model, p: Product, rows: int, act: DType) -> Step:
    """What follows ``up``: act(gate) · up where gated, else act(up)."""
    name, shape = p.name.removesuffix("up") + "activation", (rows * p.active, p.outputs)
    return over(name, shape, act, FLOP["activation"], p.layers, 2 if model.gated else 1)


def norms(model: Model, rows: int, act: DType, weights: DType) -> Step:
    """The norms of all layers and the last one; each has its own weights."""
    count = model.norms * model.layers + 1
    step = over("norm", (rows, model.hidden), act, FLOP["norm"], count)
    weight = Operand("weight", (NORMS[model.norm] * model.hidden,), weights)
    op = replace(step.op, operands=(*step.op.operands, weight))
    return replace(step, op=op, roles=(*step.roles, "weights"))


# The operations of one decode step and of one prefill of a language model.

ROLES = ("weights", "kv", "activations")  # of operands; "kv" is the cache
PLAIN = dtype("bf16")  # what activations are in where nothing else is known


@dataclass(frozen=True)
class Formats:
    """Number formats of a step: its stored weights, its KV cache, its activations.

    ``assumed``: nobody named the activations' format, so a machine with a peak for narrower ones
    may use those. ``tables``: of embedding, head and norms where they are not as the weights.
    """

    weights: DType
    kv: DType
    activations: DType
    assumed: bool = False
    tables: DType | None = None

    @property
    def outer(self) -> DType:
        """Of activations outside products, which serving software leaves in 16 bits."""
        return self.activations if self.activations.bits >= 16 else PLAIN


@dataclass(frozen=True)
class Step:
    """Operation ``op``, run ``count`` times in a step; ``roles`` are its operands' roles.

    ``reduced``: bytes that devices sharing the layer must add up after each run.
    """

    op: Operation
    count: int
    roles: tuple[str, ...]
    reduced: int = 0

    @property
    def name(self) -> str:
        """What it does in the model: "q", "up", "attention", … ."""
        return self.op.name

    @property
    def whole(self) -> Operation:
        """All ``count`` runs as one Operation: independent problems (``batch``), each launched."""
        if self.count == 1:
            return self.op
        operands = tuple(_repeated(o, self.count) for o in self.op.operands)
        flops, runs = self.count * self.op.flops, self.count * self.op.batch
        return replace(self.op, operands=operands, flops=flops, batch=runs)

    @property
    def operands(self) -> tuple[tuple[Operand, str], ...]:
        """Each operand with its role."""
        return tuple(zip(self.op.operands, self.roles, strict=True))

    def bytes_of(self, role: str) -> int:
        """Traffic of the operands with ``role`` in all runs, in bytes."""
        return self.count * sum(o.bytes for o, its in self.operands if its == role)


def _repeated(o: Operand, count: int) -> Operand:
    """``count`` such operands as one, of which each keeps what its format stores once a tensor."""
    kind = replace(o.dtype, tensor_bytes=count * o.dtype.tensor_bytes)
    touched = None if o.touched is None else count * o.touched
    return replace(o, shape=(count, *o.shape), dtype=kind, touched=touched)


def generate(
    model: Model,
    batch: int,
    queries: int,
    context: int,
    formats: Formats,
    *,
    streamed: bool = True,
    causal: bool = True,
    logits: int = 1,
) -> tuple[Step, ...]:
    """Operations of a step in which ``batch`` sequences get ``queries`` new positions each.

    ``context`` counts the new positions; what is older is read from the cache. ``logits``:
    positions a sequence that pass the head.
    """
    rows, act, table = batch * queries, formats.outer, formats.tables or formats.weights
    steps = [embed(model, rows, queries, act, table)]
    for p in model.products:
        if p.name == "o":
            steps += rotate(model, rows, act)
            steps += attend(model, batch, queries, context, formats, streamed, causal)
        if p.name == "head":
            shape, count = (rows, model.hidden), 2 * model.layers
            steps.append(norms(model, rows, act, table))
            steps.append(over("residual", shape, act, FLOP["residual"], count, 2))
            steps.append(weigh(p, batch * logits, replace(formats, weights=table)))
        elif p.name != "kv_b" or queries > 1:  # a decode step works on the latent vectors
            steps.append(weigh(p, rows, formats))
        if p.name.endswith("up"):
            steps.append(activation(model, p, rows, act))
    return tuple(steps)


def distinct(experts: int, active: int, tokens: int) -> float:
    """Experts that ``tokens`` touch on average when each picks ``active`` of them at random.

    A token misses a given expert with probability 1 − active/experts, and ``tokens`` of them miss
    it with that to their power. Real routers are less even, so that they touch fewer.
    """
    return experts * (1 - (1 - active / experts) ** min(tokens, 10**9))  # a float has its limits


def weigh(p: Product, rows: int, formats: Formats) -> Step:
    """The product of ``rows`` rows with the weights ``p``: C[rows, out] = A[rows, in] B[in, out].

    With experts each row meets its active ones, and what is read are the weights of the experts
    that the rows touch (:func:`distinct`).
    """
    act, many = formats.activations, rows * p.active
    operands = [Operand("a", (many, p.inputs), act), _matrix(p, rows, formats.weights)]
    roles = ["activations", "weights"]
    if p.bias:
        operands.append(Operand("bias", (p.outputs,), formats.weights))
        roles.append("weights")
    operands.append(Operand("c", (many, p.outputs), formats.outer, reads=0, writes=1))
    op = Operation(
        p.name, {"m": many, "n": p.outputs, "k": p.inputs}, tuple(operands),
        (2 * p.inputs + p.bias) * many * p.outputs, wider(act, formats.weights), unit="tensor",
    )  # fmt: skip
    reduced = Operand("c", (rows, p.outputs), formats.outer).nbytes if p.reduced else 0
    return Step(op, p.layers, (*roles, "activations"), reduced)


def _matrix(p: Product, rows: int, kind: DType) -> Operand:
    if p.experts == 1:
        return Operand("b", (p.inputs, p.outputs), kind, axis=-2)
    columns = round(distinct(p.experts, p.active, rows) * p.outputs)
    touched = min(columns, p.experts * p.outputs) * p.inputs
    return Operand("b", (p.experts, p.inputs, p.outputs), kind, axis=-2, touched=touched)


def attend(
    model: Model, batch: int, queries: int, context: int, formats: Formats,
    streamed: bool, causal: bool,
) -> list[Step]:  # fmt: skip
    """Attention in all layers: over the whole context, and over the window where there is one."""
    if model.latent:
        return _attend_latent(model, batch, queries, context, formats, streamed, causal)
    found = []
    full = model.layers - model.windowed_layers
    for layers, window in ((full, None), (model.windowed_layers, model.window)):
        if layers:
            sizes = (batch, queries, context, model.heads, model.kv_heads, model.head_dim)
            ops = _attention(
                streamed, causal, sizes, formats.activations, kv=formats.kv, append=True,
                window=window,
            )  # fmt: skip
            prefix = "local " if window and full else ""
            found += [_cached(replace(op, name=prefix + op.name), layers) for op in ops]
    return found


def _attention(
    streamed: bool, causal: bool, sizes: tuple[int, int, int, int, int, int], act: DType, **how: Any
) -> list[Operation]:
    """Attention over ``sizes``: batch, queries, context, heads, kv_heads, head_dim."""
    if streamed:
        return [attention(*sizes, act, causal=causal, **how)]
    return list(materialised(*sizes, act, **how))


def _cached(op: Operation, layers: int) -> Step:
    in_cache = ("k", "v", "k cache", "v cache")
    roles = tuple("kv" if o.name in in_cache else "activations" for o in op.operands)
    return Step(op, layers, roles)


def _attend_latent(
    model: Model, batch: int, queries: int, context: int, formats: Formats,
    streamed: bool, causal: bool,
) -> list[Step]:  # fmt: skip
    """Latent attention: a decode step stays with the latent vectors, a prefill rebuilds K and V.

    In the decode step all heads share one key, the cached vector, whose first kv_rank numbers are
    the value too; the matrix that would have rebuilt K and V moves to the query and to the output.
    """
    t, act = model.latent, formats.activations
    if queries == 1:
        ops = _attention(
            streamed, causal, (batch, 1, context, model.heads, 1, t.cached), act, kv=formats.kv,
            append=True, value_dim=t.kv_rank, latent=True,
        )  # fmt: skip
        into = _absorbed("absorb k", model, batch, t.nope, t.kv_rank, formats)
        out = _absorbed("absorb v", model, batch, t.kv_rank, t.value, formats)
        return [into, *(_cached(op, model.layers) for op in ops), out]
    sizes = (batch, queries, context, model.heads, model.heads, model.head_dim)
    ops = _attention(streamed, causal, sizes, act, value_dim=t.value)
    cache = Operand("k cache", (batch, queries, t.cached), formats.kv, reads=0, writes=1)
    *steps, last = (Step(op, model.layers, ("activations",) * len(op.operands)) for op in ops)
    op = replace(last.op, operands=(*last.op.operands, cache))
    return [*steps, replace(last, op=op, roles=(*last.roles, "kv"))]


def _absorbed(name: str, model: Model, rows: int, inner: int, outer: int, formats: Formats) -> Step:
    """One small matrix a head: [rows, heads, inner] → [rows, heads, outer]."""
    act, heads = formats.activations, model.heads
    operands = (
        Operand("a", (heads, rows, inner), act),
        Operand("b", (heads, inner, outer), formats.weights, axis=-2),
        Operand("c", (heads, rows, outer), act, reads=0, writes=1),
    )
    op = Operation(
        name, {"h": heads, "m": rows, "n": outer, "k": inner}, operands,
        2 * heads * rows * inner * outer, wider(act, formats.weights), unit="tensor",
    )  # fmt: skip
    return Step(op, model.layers, ("activations", "weights", "activations"))
