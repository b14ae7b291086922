"""A real transformer with a KV cache, in NumPy or CuPy: the same code through the backend.

A :class:`Pass` is a forward pass of fixed shape (sequences × new tokens) with its buffers made and
its library calls bound once, so that running it is little but the calls. ``mark(name)`` is called
after every operation, so that a clock can tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.measure import transformer_layers as layers
from rooflab.measure.backend import Backend
from rooflab.measure.timing import Call
from rooflab.measure.transformer_products import Form, array_dtype, bind
from rooflab.measure.transformer_weights import Weights
from rooflab.predict.workload_model import Model

Mark = Callable[[str], None]
ATTENTION = ("scores", "softmax", "values")
"""What attention is made of here: its scores go through memory."""


@dataclass(frozen=True, eq=False)
class Cache:
    """Keys and values of ``positions``: each (layers, batch, kv_heads, positions, head_dim)."""

    k: Any
    v: Any


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass of ``batch`` sequences with ``tokens`` new tokens each.

    ``calls``: for every product, one bound call a layer; ``buffers``: activations by name.
    """

    weights: Weights
    batch: int
    tokens: int
    calls: Mapping[str, list[Call]]
    buffers: Mapping[str, Any]
    turns: tuple[Any, Any] | None


def activation_dtype(dtype: str) -> type:
    """The dtype of activations: fp64 for an fp64 model, else fp32."""
    return np.float64 if dtype == "fp64" else np.float32


def cache_for(model: Model, batch: int, positions: int, dtype: str, backend: Backend) -> Cache:
    """An empty cache with room for ``positions`` tokens a sequence."""
    shape = (model.layers, batch, model.kv_heads, positions, model.head_dim)
    kind = array_dtype(dtype, backend)
    return Cache(backend.xp.zeros(shape, kind), backend.xp.zeros(shape, kind))


def widths(model: Model) -> dict[str, int]:
    """Numbers a token in every buffer of a pass but scores and logits."""
    queries, keys = model.heads * model.head_dim, model.kv_heads * model.head_dim
    return {
        "x": model.hidden, "h": model.hidden, "y": model.hidden, "q": queries, "k": keys,
        "v": keys, "a": queries, "gate": model.intermediate, "up": model.intermediate,
        "spare": model.intermediate,
    }  # fmt: skip


def pass_bytes(model: Model, batch: int, tokens: int, positions: int, itemsize: int) -> int:
    """Bytes of the buffers of a pass over caches of up to ``positions`` tokens."""
    rows = batch * tokens
    scores = 2 * rows * model.heads * positions  # and as much again for a passing copy
    return itemsize * (rows * 2 * sum(widths(model).values()) + scores + batch * model.vocab)


def forward_pass(
    weights: Weights, forms: Mapping[str, Form], batch: int, tokens: int, positions: int
) -> Pass:
    """Make a Pass; ``forms`` says how each product is computed (weights must lie that way)."""
    model, backend = weights.model, weights.backend
    xp, kind, rows = backend.xp, activation_dtype(weights.dtype), batch * tokens
    buffers = {name: xp.empty((rows, width), kind) for name, width in widths(model).items()}
    buffers["scores"] = xp.empty(rows * model.heads * positions, kind)
    buffers["last"] = xp.empty((batch, model.hidden), kind)
    buffers["logits"] = xp.empty((batch, model.vocab), kind)
    ways = {
        "q": ("h", "q"), "k": ("h", "k"), "v": ("h", "v"), "o": ("a", "y"),
        "gate": ("h", "gate"), "up": ("h", "up"), "down": ("up", "y"), "head": ("last", "logits"),
    }  # fmt: skip
    calls = {
        p.name: [
            bind(forms[p.name], matrix, *(buffers[end] for end in ways[p.name]), backend)
            for matrix in weights.matrices(p.name)
        ]
        for p in model.products
    }
    turned = None if model.positions else layers.turns(positions, model.head_dim, kind, xp)
    return Pass(weights, batch, tokens, calls, buffers, turned)


def run(p: Pass, tokens: Any, cache: Cache, start: int, mark: Mark) -> Any:
    """Run the pass on ``tokens`` (batch, tokens; integers) that follow ``start`` cached ones.

    Returns the logits (batch, vocab) of each sequence's last token, in a buffer of the pass.
    """
    model, xp, buffers = p.weights.model, p.weights.backend.xp, p.buffers
    _embed(p, tokens, start)
    mark("embed")
    for layer in range(model.layers):
        _norm(p, "norm 1", layer, buffers["x"], buffers["h"])
        mark("norm")
        for name in ("q", "k", "v"):
            _product(p, name, layer, mark)
        if p.turns is not None:
            _rope(p, start)
            mark("rope")
        _attend(p, cache, layer, start, mark)
        _product(p, "o", layer, mark)
        buffers["x"] += buffers["y"]
        mark("residual")
        _norm(p, "norm 2", layer, buffers["x"], buffers["h"])
        mark("norm")
        if model.gated:
            _product(p, "gate", layer, mark)
        _product(p, "up", layer, mark)
        if model.gated:
            layers.swiglu(buffers["gate"], buffers["up"], buffers["spare"], xp)
        else:
            layers.gelu(buffers["up"], buffers["spare"], xp)
        mark("activation")
        _product(p, "down", layer, mark)
        buffers["x"] += buffers["y"]
        mark("residual")
    ends = buffers["x"].reshape(p.batch, p.tokens, -1)[:, -1]
    _norm(p, "norm", 0, ends, buffers["last"])
    mark("norm")
    _product(p, "head", 0, mark)
    return buffers["logits"]


def _product(p: Pass, name: str, layer: int, mark: Mark) -> None:
    p.calls[name][layer]()
    if name in p.weights.model.biases:
        p.buffers["y" if name in ("o", "down") else name][...] += p.weights.arrays[f"{name} bias"][
            layer
        ]
    mark(name)


def _embed(p: Pass, tokens: Any, start: int) -> None:
    arrays, x = p.weights.arrays, p.buffers["x"]
    x[...] = arrays["embed"][0][tokens.reshape(-1)]
    if "positions" in arrays:
        rows = arrays["positions"][0][start : start + p.tokens]
        x.reshape(p.batch, p.tokens, -1)[...] += rows


def _norm(p: Pass, name: str, layer: int, x: Any, out: Any) -> None:
    arrays, xp = p.weights.arrays, p.weights.backend.xp
    if p.weights.model.norm == "layer":
        layers.layer_norm(x, arrays[name][layer], arrays[f"{name} bias"][layer], out, xp)
    else:
        layers.rms_norm(x, arrays[name][layer], out, xp)


def _rope(p: Pass, start: int) -> None:
    model, (cos, sin) = p.weights.model, p.turns
    here = slice(start, start + p.tokens)
    for name, heads in (("q", model.heads), ("k", model.kv_heads)):
        shape = (p.batch, p.tokens, heads, model.head_dim)
        layers.rope(p.buffers[name].reshape(shape), cos[here], sin[here])


def _attend(p: Pass, cache: Cache, layer: int, start: int, mark: Mark) -> None:
    """a ← softmax(q Kᵀ / √head_dim) V, head by head; new keys and values join the cache first."""
    xp, end = p.weights.backend.xp, start + p.tokens
    _append(p, "k", cache.k[layer], start)
    scores = _scores(p, cache, layer, end)
    mark("scores")
    layers.hide_future(scores.reshape(-1, p.tokens, end), start, xp)
    layers.softmax(scores, xp)
    mark("softmax")
    _append(p, "v", cache.v[layer], start)
    _values(p, cache, layer, scores)
    mark("values")


def _append(p: Pass, name: str, kept: Any, start: int) -> None:
    model = p.weights.model
    fresh = p.buffers[name].reshape(p.batch, p.tokens, model.kv_heads, model.head_dim)
    kept[:, :, start : start + p.tokens] = fresh.swapaxes(1, 2)


def _scores(p: Pass, cache: Cache, layer: int, end: int) -> Any:
    """q Kᵀ / √head_dim over ``end`` positions: (batch · kv_heads, queries of a group, end)."""
    model, each = p.weights.model, p.weights.model.head_dim
    kv, group = model.kv_heads, model.heads // model.kv_heads
    problems = (p.batch * kv, group * p.tokens)
    keys = cache.k[layer].reshape(problems[0], -1, each)[:, :end]
    scores = p.buffers["scores"][: problems[0] * problems[1] * end].reshape(*problems, end)
    p.buffers["q"] *= each**-0.5
    q = p.buffers["q"].reshape(p.batch, p.tokens, kv, group, each).transpose(0, 2, 3, 1, 4)
    layers.matmul(q.reshape(*problems, each), keys.swapaxes(1, 2), scores, p.weights.backend.xp)
    return scores


def _values(p: Pass, cache: Cache, layer: int, scores: Any) -> None:
    """a ← scores V."""
    model, xp, new = p.weights.model, p.weights.backend.xp, p.tokens
    kv, each, group = model.kv_heads, model.head_dim, model.heads // model.kv_heads
    problems, end = scores.shape[:2], scores.shape[2]
    values = cache.v[layer].reshape(problems[0], -1, each)[:, :end]
    attended = p.buffers["a"].reshape(p.batch, new, kv, group, each)
    if new == 1:
        layers.matmul(scores, values, attended.reshape(*problems, each), xp)
        return
    found = xp.empty((*problems, each), scores.dtype)
    layers.matmul(scores, values, found, xp)
    attended[...] = found.reshape(p.batch, kv, group, new, each).transpose(0, 3, 1, 2, 4)


def products_only(p: Pass, cache: Cache, end: int, mark: Mark) -> None:
    """All that a library multiplies in the pass over ``end`` positions, and nothing else."""
    for layer in range(p.weights.model.layers):
        for name in p.calls:
            if name == "head":
                continue
            if name == "o":
                _values(p, cache, layer, _scores(p, cache, layer, end))
                mark("attention")
            p.calls[name][layer]()
            mark(name)
    p.calls["head"][0]()
    mark("head")
