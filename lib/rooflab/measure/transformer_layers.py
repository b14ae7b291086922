"""The parts of a transformer that are not weight products, on arrays of NumPy or CuPy.

Rows are tokens. Activations are fp32 (fp64 for an fp64 model), whatever the weights are.
Norms: Zhang & Sennrich 2019 (RMS), Ba et al. 2016 (layer). Positions: Su et al. 2021, halves of a
head turned against each other. Activations: SwiGLU (Shazeer 2020), GELU (Hendrycks & Gimpel 2016,
tanh form).
"""

from __future__ import annotations

import math
from typing import Any

EPSILON = 1e-5
THETA = 10_000.0


def rms_norm(x: Any, weight: Any, out: Any, xp: Any) -> None:
    """out ← x / √(mean x²) · weight, row by row."""
    squares = xp.einsum("ij,ij->i", x, x)
    scale = 1 / xp.sqrt(squares / x.shape[1] + EPSILON)
    xp.multiply(x, scale[:, None].astype(x.dtype), out=out)
    out *= weight


def layer_norm(x: Any, weight: Any, bias: Any, out: Any, xp: Any) -> None:
    """out ← (x − mean) / √variance · weight + bias, row by row."""
    xp.subtract(x, x.mean(axis=1, keepdims=True), out=out)
    variance = xp.einsum("ij,ij->i", out, out) / x.shape[1]
    out *= (1 / xp.sqrt(variance + EPSILON))[:, None].astype(x.dtype)
    out *= weight
    out += bias


def turns(positions: int, head_dim: int, kind: Any, xp: Any) -> tuple[Any, Any]:
    """Cosine and sine of every position and pair, each (positions, head_dim / 2)."""
    pairs = xp.arange(0, head_dim, 2, dtype=xp.float64) / head_dim
    angles = xp.arange(positions, dtype=xp.float64)[:, None] / THETA ** pairs[None, :]
    return xp.cos(angles).astype(kind), xp.sin(angles).astype(kind)


def rope(x: Any, cos: Any, sin: Any) -> None:
    """Turn ``x`` (batch, tokens, heads, head_dim) in place; cos, sin (tokens, head_dim / 2)."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    cos, sin = cos[:, None], sin[:, None]
    kept = first * sin
    first *= cos
    first -= second * sin
    second *= cos
    second += kept


def swiglu(gate: Any, up: Any, spare: Any, xp: Any) -> None:
    """up ← silu(gate) · up; silu(g) = h + h·tanh(h) with h = g/2, which cannot overflow."""
    gate *= 0.5
    xp.tanh(gate, out=spare)
    spare *= gate
    spare += gate
    up *= spare


def gelu(up: Any, spare: Any, xp: Any) -> None:
    """up ← gelu(up), in the form with tanh."""
    xp.multiply(up, up, out=spare)
    spare *= 0.044715
    spare += 1
    spare *= up
    spare *= math.sqrt(2 / math.pi)
    xp.tanh(spare, out=spare)
    spare += 1
    up *= spare
    up *= 0.5


def softmax(scores: Any, xp: Any) -> None:
    """scores ← softmax over the last axis, in place."""
    scores -= scores.max(axis=-1, keepdims=True)
    xp.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)


def hide_future(scores: Any, start: int, xp: Any) -> None:
    """Query t of ``scores`` (…, tokens, positions) sees the positions up to ``start`` + t."""
    tokens, positions = scores.shape[-2:]
    if tokens == 1:
        return
    late = xp.arange(positions)[None, :] > start + xp.arange(tokens)[:, None]
    scores += xp.where(late, -math.inf, 0.0).astype(scores.dtype)


def matmul(a: Any, b: Any, out: Any, xp: Any) -> None:
    """out ← a b for every problem of a batch (problems, m, k) × (problems, k, n).

    Halves (the KV cache of a half-precision model) are multiplied one by one: CuPy 14.2 has no
    honest batched product of them.
    """
    if b.dtype.itemsize > 2:
        xp.matmul(a, b, out=out)
        return
    a = a.astype(b.dtype)
    for i in range(len(b)):
        out[i] = xp.matmul(a[i], b[i])
