"""The operations of one training step: forward, then what backward adds to each of them.

A product C = AB has two behind it, dA = dC·Bᵀ ("up dX") and dB = Aᵀ·dC ("up dW"), each of as many
FLOPs: hence the usual 6 FLOP a parameter and token. Any other operation goes back once ("norm
back"): it reads its inputs and its output's gradient and writes its inputs' gradients. Gradients
have the format of what they belong to. The optimiser's pass over the weights is not included.
"""

from __future__ import annotations

from dataclasses import replace

from rooflab.count.dtypes import wider
from rooflab.count.llm import Model
from rooflab.count.llm_passes import over
from rooflab.count.llm_products import Product
from rooflab.count.llm_steps import Formats, Step, generate, matrix
from rooflab.count.operation import Operand, Operation

# Backward FLOPs of an operation over its forward FLOPs: a product has two behind it; streamed
# attention also computes its scores again (Dao et al. 2022: five products after two).
BACK = {"attention": 2.5, "scores": 2, "values": 2}
_LINEAR = ("rope", "residual")  # their gradient is the same pass again, with no input needed
_FIRST = ("q", "q_a", "up", "dense up")  # devices that share a layer add up these dX


def train(
    model: Model,
    batch: int,
    tokens: int,
    formats: Formats,
    *,
    streamed: bool = True,
    causal: bool = True,
) -> tuple[Step, ...]:
    """Operations of forward and backward over ``batch`` sequences of ``tokens`` tokens.

    Every position passes the head; nothing is cached.
    """
    rows = batch * tokens
    found = generate(
        model, batch, tokens, tokens, formats, streamed=streamed, causal=causal, logits=tokens
    )
    forward = [_without_cache(step) for step in found]
    loss = over("loss", (rows, model.vocab), formats.activations, 5)
    steps = [*forward, Step(loss, 1, ("activations",) * len(loss.operands))]
    weighed = {p.name: p for p in model.products}
    for step in reversed(forward):
        if step.name in weighed:
            steps += _product(step, weighed[step.name], rows, formats)
        else:
            steps.append(_back(step))
    return tuple(steps)


def _without_cache(step: Step) -> Step:
    """The step without its KV cache's traffic: in training K and V are activations."""
    if "kv" not in step.roles:
        return step
    rows = zip(step.op.operands, step.roles, strict=True)
    kept = tuple((o, role) for o, role in rows if role != "kv")
    op = replace(step.op, operands=tuple(o for o, _ in kept))
    return replace(step, op=op, roles=tuple(role for _, role in kept))


def _product(step: Step, p: Product, rows: int, formats: Formats) -> list[Step]:
    """dX and dW of the product of ``rows`` rows with the weights ``p``."""
    act, many = formats.activations, step.op.dims["m"]
    gradient = Operand("dc", (many, p.outputs), act)
    into = (
        gradient,
        matrix(p, rows, formats.weights),
        Operand("da", (many, p.inputs), act, reads=0, writes=1),
    )
    weights = replace(matrix(p, rows, formats.weights, "db"), reads=0, writes=1)
    back = (Operand("a", (many, p.inputs), act), gradient, weights)
    flops = 2 * many * p.inputs * p.outputs
    kind = wider(act, formats.weights)
    dx = Operation(
        f"{p.name} dX", {"m": many, "n": p.inputs, "k": p.outputs}, into, flops, kind, "tensor"
    )
    dw = Operation(
        f"{p.name} dW", {"m": p.inputs, "n": p.outputs, "k": many}, back, flops, act, "tensor"
    )
    reduced = Operand("da", (rows, p.inputs), act).nbytes if p.name in _FIRST else 0
    return [
        Step(dx, p.layers, ("activations", "weights", "activations"), reduced),
        Step(dw, p.layers, ("activations", "activations", "weights")),
    ]


def _back(step: Step) -> Step:
    """The gradient of an operation that is no product with weights."""
    op, kind = step.op, step.name.removeprefix("local ")
    if kind in _LINEAR:
        return replace(step, op=replace(op, name=f"{op.name} back"))
    rows: list[tuple[Operand, str]] = []
    for o, role in zip(op.operands, step.roles, strict=True):
        if o.reads and kind != "embed":
            rows.append((replace(o, reads=1, writes=0), role))
        if o.writes:
            if kind == "attention":  # its rows' sums are found from the output
                rows.append((replace(o, reads=1, writes=0), role))
            rows.append((replace(o, name=f"d{o.name}", reads=1, writes=0), role))
        if o.reads:
            rows.append((replace(o, name=f"d{o.name}", reads=0, writes=1), role))
    flops = round(BACK.get(kind, 2) * op.flops)
    back = replace(op, name=f"{op.name} back", operands=tuple(o for o, _ in rows), flops=flops)
    return Step(back, step.count, tuple(role for _, role in rows))
