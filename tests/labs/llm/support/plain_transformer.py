"""A transformer written the long way, to check the quick one: no cache, no buffers, fp64."""

from __future__ import annotations

import math

import numpy as np

from rooflab.labs.llm.model import Model
from rooflab.labs.llm.transformer import Weights, _split, array_dtype, shapes
from rooflab.measure.backend import select

SMALL = Model(24, 2, 4, kv_heads=2, head_dim=6, intermediate=40, vocab=50, name="small")
WIDE = Model(16, 2, 2, intermediate=24, vocab=30, name="a KV head for each")


def normed(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * weight


def turned(x: np.ndarray, position: int) -> np.ndarray:
    """Pairs (i, i + d/2) of a head turned by position / 10000^(2i/d), as complex numbers."""
    half = len(x) // 2
    z = x[:half] + 1j * x[half:]
    z = z * np.exp(1j * position / 10_000.0 ** (np.arange(half) / half))
    return np.concatenate([z.real, z.imag])


def attended(model: Model, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """One sequence: q (tokens, heads, d), k and v (tokens, kv_heads, d)."""
    out = np.zeros_like(q)
    for t in range(len(q)):
        for head in range(model.heads):
            own = head // (model.heads // model.kv_heads)
            score = k[: t + 1, own] @ q[t, head] / math.sqrt(model.head_dim)
            share = np.exp(score) / np.exp(score).sum()
            out[t, head] = share @ v[: t + 1, own]
    return out


def logits(model: Model, w: dict, tokens: np.ndarray) -> np.ndarray:
    """Logits (tokens, vocab) of one sequence, every position computed from scratch."""

    w = {name: np.asarray(array, float) for name, array in w.items()}
    x = w["embed"][tokens]
    for layer in range(model.layers):
        own = {name: w[name][layer] for name in w if name not in ("embed", "norm", "head")}
        h = normed(x, own["norm 1"])
        q, k, v = ((h @ own[name].T).reshape(len(h), -1, model.head_dim) for name in "qkv")
        q, k = (
            np.array([[turned(head, t) for head in row] for t, row in enumerate(a)]) for a in (q, k)
        )
        x = x + attended(model, q, k, v).reshape(len(x), -1) @ own["o"].T
        h = normed(x, own["norm 2"])
        gate = h @ own["gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ own["up"].T)) @ own["down"].T
    return normed(x, w["norm"]) @ w["head"].T


def greedy(model: Model, w: dict, prompt: np.ndarray, count: int) -> list[int]:
    """``count`` tokens, each the most likely after a full recompute of all before it."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(logits(model, w, np.array(tokens))[-1].argmax()))
    return tokens[len(prompt) :]


def arrays(model: Model, seed: int = 0) -> dict[str, np.ndarray]:
    """Random weights by name, in fp64, norms included."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=shape) / math.sqrt(shape[-1]) + ("norm" in name)
        for name, shape in shapes(model).items()
    }


def held(model: Model, w: dict, dtype: str = "fp64", backend: str = "cpu") -> Weights:
    """Those arrays for the quick transformer, one a layer."""
    there = select(backend)
    kind = array_dtype(dtype, there)
    lists = {name: _split(name, there.xp.array(w[name], dtype=kind)) for name in w}
    return Weights(model, dtype, there, lists)


def prompt(model: Model, length: int) -> np.ndarray:
    """What the decode loop takes in."""
    return np.random.default_rng(0).integers(0, model.vocab, length)


def grown(model: Model, w: dict, batch: int, context: int, steps: int) -> list[list[int]]:
    """The tokens of the decode loop, recomputed: sequence i begins with the i-th most likely."""
    start = prompt(model, context)
    likely = np.argsort(-logits(model, w, start)[-1])
    return [
        [int(first), *greedy(model, w, np.array([*start, first]), steps)]
        for first in likely[:batch]
    ]
