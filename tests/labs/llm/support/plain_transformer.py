"""A transformer written the long way, to check the quick one: no cache, no buffers, fp64."""

from __future__ import annotations

import math

import numpy as np

from rooflab.labs.llm.model import Model

SMALL = Model(24, 2, 4, kv_heads=2, head_dim=6, intermediate=40, vocab=50, name="small")
PLAIN = Model(
    16, 2, 2, intermediate=24, vocab=30, tied=True, gated=False, norm="layer", positions=32,
    biases=("q", "k", "v", "o", "up", "down"), name="plain",
)  # fmt: skip


def normed(model: Model, w: dict, name: str, layer: int | None, x: np.ndarray) -> np.ndarray:
    def pick(key: str) -> np.ndarray:
        return w[key] if layer is None else w[key][layer]

    if model.norm == "layer":
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * pick(name) + pick(
            f"{name} bias"
        )
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * pick(name)


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

    def product(name: str, layer: int, x: np.ndarray) -> np.ndarray:
        y = x @ w[name][layer].T
        return y + w[f"{name} bias"][layer] if name in model.biases else y

    w = {name: np.asarray(array, float) for name, array in w.items()}
    x = w["embed"][tokens]
    if model.positions:
        x = x + w["positions"][: len(tokens)]
    for layer in range(model.layers):
        h = normed(model, w, "norm 1", layer, x)
        q, k, v = (product(name, layer, h).reshape(len(h), -1, model.head_dim) for name in "qkv")
        if not model.positions:
            q, k = (
                np.array([[turned(head, t) for head in row] for t, row in enumerate(a)])
                for a in (q, k)
            )
        x = x + product("o", layer, attended(model, q, k, v).reshape(len(x), -1))
        h = normed(model, w, "norm 2", layer, x)
        if model.gated:
            gate = product("gate", layer, h)
            inner = gate / (1 + np.exp(-gate)) * product("up", layer, h)
        else:
            up = product("up", layer, h)
            inner = up / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (up + 0.044715 * up**3)))
        x = x + product("down", layer, inner)
    return normed(model, w, "norm", None, x) @ w["embed" if model.tied else "head"].T


def greedy(model: Model, w: dict, prompt: np.ndarray, count: int) -> list[int]:
    """``count`` tokens, each the most likely after a full recompute of all before it."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(logits(model, w, np.array(tokens))[-1].argmax()))
    return tokens[len(prompt) :]


def arrays(model: Model, seed: int = 0) -> dict[str, np.ndarray]:
    """Random weights by name, in fp64, norms and biases included."""
    from rooflab.labs.llm.transformer import shapes

    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=shape) / math.sqrt(shape[-1]) + ("norm" in name)
        for name, shape in shapes(model).items()
    }
