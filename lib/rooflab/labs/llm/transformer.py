"""A real transformer with a KV cache, in NumPy or CuPy: the same code through the backend.

A :class:`Pass` is a forward pass of fixed shape (sequences × new tokens) with its buffers made and
its library calls bound once, so that running it is little but the calls. ``mark(name)`` is called
after every operation, so that a clock can tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from reprlib import repr as short
from typing import Any

import numpy as np

from rooflab.count.validation import unknown
from rooflab.labs.llm.model import Model
from rooflab.measure.backend import Backend, cublas_of, select
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.kernels import in_turn
from rooflab.measure.settings import fewer
from rooflab.measure.timing import MARGIN, Call

# A linear layer, Y = X Wᵀ, in the ways that a library offers for it.
#
# X holds one token a row, (rows, in); W is (out, in); Y is (rows, out). A library may be asked for
# one matrix-vector product a token or for one matrix-matrix product, and W may be stored as BLAS
# has it or transposed. None of them always wins, so :mod:`rooflab.labs.llm.decode_loop` times them.

DTYPES = {"fp32": "float32", "fp64": "float64", "fp16": "float16", "bf16": "bfloat16"}


@dataclass(frozen=True)
class Form:
    """A way to compute the layer: one GEMV a token or one GEMM, on W or on stored-transposed W."""

    gemv: bool
    transposed: bool


FORMS = {
    "gemv ×B": Form(gemv=True, transposed=False),
    "gemv ×B on Wᵀ": Form(gemv=True, transposed=True),
    "gemm": Form(gemv=False, transposed=False),
    "gemm on Wᵀ": Form(gemv=False, transposed=True),
}


def array_dtype(kind: str, backend: Backend) -> np.dtype[Any]:
    """The array dtype of ``kind`` ("fp32", …); ValueError where the backend has no products."""
    known = [*DTYPES] if backend.is_gpu else ["fp32", "fp64"]
    if kind not in known:
        where = "a GPU" if backend.is_gpu else "a CPU, whose BLAS knows no other"
        raise ValueError(f"dtype={kind!r}: the loop runs in {', '.join(known)} on {where}")
    if kind == "bf16":
        import ml_dtypes  # noqa: F401  # now NumPy knows it, too

    return np.dtype(DTYPES[kind])


def by_columns(form: Form, backend: Backend) -> bool:
    """Whether ``form`` wants W (out, in) stored by columns: BLAS's own order on a CPU, the other
    one on a GPU, whose arrays are row-major in this package."""
    return form.transposed == backend.is_gpu


def viewed(flat: Any, shape: tuple[int, int], columns: bool) -> Any:
    """The memory ``flat`` as a matrix of ``shape`` (out, in), by columns or by rows; no copy."""
    return flat.reshape(shape[::-1]).T if columns else flat.reshape(shape)


def flat(matrix: Any) -> Any:
    """The memory of ``matrix``, which lies by rows or by columns, as one axis; no copy."""
    return (matrix if matrix.flags.c_contiguous else matrix.T).reshape(-1)


def relaid(matrix: Any, columns: bool, xp: Any) -> Any:
    """``matrix`` with the same numbers in the order asked for, in the same memory."""
    if matrix.flags.c_contiguous != columns or min(matrix.shape) == 1:
        return matrix
    memory = flat(matrix)
    memory[...] = xp.ascontiguousarray(matrix.T if columns else matrix).reshape(-1)
    return viewed(memory, matrix.shape, columns)


def bind(form: Form, weight: Any, x: Any, y: Any, backend: Backend) -> Call:
    """Return the call that writes x Wᵀ to ``y``; ``weight`` (out, in) in the form's order."""
    if backend.is_gpu:
        return _bind_gpu(form, weight, x, y, backend.xp)
    from scipy.linalg import blas

    letter = {"float32": "s", "float64": "d"}[weight.dtype.name]
    stored, trans = (weight.T, 1) if form.transposed else (weight, 0)
    if not form.gemv:  # X and Y hold a token a row, so their transposes are F-ordered
        gemm = getattr(blas, f"{letter}gemm")
        return partial(gemm, 1.0, stored, x.T, 0.0, y.T, trans, 0, 1)
    gemv = getattr(blas, f"{letter}gemv")
    return in_turn([
        partial(gemv, 1.0, stored, row, 0.0, out, 0, 1, 0, 1, trans, 1)
        for row, out in zip(x, y, strict=True)
    ])  # fmt: skip


def _bind_gpu(form: Form, weight: Any, x: Any, y: Any, xp: Any) -> Call:
    """CuPy reads W in either order; halves go through matmul, one 2-D product at a time."""
    if weight.dtype.itemsize == 2:
        pairs = zip(x, y, strict=True) if form.gemv else [(x, y)]
        return in_turn([partial(_halves, xp, a, weight, out) for a, out in pairs])
    cublas = cublas_of(xp)
    one, zero = (np.array(value, dtype=weight.dtype) for value in (1, 0))
    if not form.gemv:
        return partial(cublas.gemm, "N", "T", x, weight, y, one, zero)
    rows = zip(x, y, strict=True)
    return in_turn([partial(cublas.gemv, "N", one, weight, row, zero, out) for row, out in rows])


def _halves(xp: Any, x: Any, weight: Any, y: Any) -> None:
    """The product of halves: activations are kept in fp32, and rounded as they go in."""
    y[...] = xp.matmul(x.astype(weight.dtype), weight.T)


# The weights of a transformer: made at random, or the learner's own.
#
# Names are those of the operations ("q", "gate", "head", …); a name that every layer has comes with
# a leading axis of layers. Matrices are (layers, outputs, inputs), as y = x Wᵀ wants them.

_CHUNK = 1 << 22  # numbers drawn at once: halves are drawn in fp32 and rounded


@dataclass(frozen=True, eq=False)
class Weights:
    """``arrays``: name → one array a layer (a single one for embed, head, norm).

    Matrices may be stored by rows or by columns.
    """

    model: Model
    dtype: str
    backend: Backend
    arrays: dict[str, list[Any]] = field(repr=False)

    @property
    def nbytes(self) -> int:
        """Bytes of all weights, each once."""
        return sum(a.nbytes for arrays in self.arrays.values() for a in arrays)


# What a model that the loop runs has: RMS norms, rotary positions, a gated MLP, nothing else.
_RUN = {
    "norm": "rms", "norms": 2, "positions": 0, "gated": True, "biases": (), "qk_norm": 0,
    "window": None, "latent": None, "experts": 0, "tied": False,
}  # fmt: skip


def require_loop(model: Model) -> Model:
    """Return ``model`` if the loop can run it; ValueError naming the part that it has not."""
    if not isinstance(model, Model):
        kind = type(model).__name__
        raise TypeError(f"model={short(model)} is a {kind}; use rl.Model(…) or rl.loop_model()")
    for name, wanted in _RUN.items():
        if (value := getattr(model, name)) != wanted:
            raise ValueError(
                f"model: the loop runs decoders of the Llama kind, and {model.name} has "
                f"{name}={value}; m.decode(…) analyses it"
            )
    return model


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Shape of every array of weights, the axis of layers first where there is one."""
    hidden, layers = model.hidden, model.layers
    found: dict[str, tuple[int, ...]] = {"embed": (model.vocab, hidden)}
    found |= {p.name: (layers, p.outputs, p.inputs) for p in model.products[:-1]}
    found |= {"norm 1": (layers, hidden), "norm 2": (layers, hidden), "norm": (hidden,)}
    return found | {"head": (model.vocab, hidden)}


def random_weights(model: Model, dtype: str, backend: Backend) -> Weights:
    """Weights of ``model`` drawn evenly, scaled so that a product keeps the size of its input."""
    kind, xp = array_dtype(dtype, backend), backend.xp
    rng = xp.random.default_rng(0)
    arrays = {}
    for name, shape in shapes(model).items():
        flat = xp.empty(math.prod(shape), kind)
        if "norm" in name:
            flat[...] = 1
        else:
            width = math.sqrt(3 / shape[-1])
            for start in range(0, flat.size, _CHUNK):
                part = flat[start : start + _CHUNK]
                part[...] = (2 * rng.random(part.size, dtype=np.float32) - 1) * width
        arrays[name] = _split(name, flat.reshape(shape))
    return Weights(model, dtype, backend, arrays)


def _split(name: str, array: Any) -> list[Any]:
    """One array a layer; those that no layer owns stay whole."""
    return [array] if name in ("embed", "head", "norm") else list(array)


# The parts of a transformer that are not weight products, on arrays of NumPy or CuPy.
#
# Rows are tokens. Activations are fp32 (fp64 for an fp64 model), whatever the weights are.
# RMS norms: Zhang & Sennrich 2019. Positions: Su et al. 2021, halves of a head turned against each
# other. SwiGLU: Shazeer 2020.

EPSILON = 1e-5
THETA = 10_000.0


def rms_norm(x: Any, weight: Any, out: Any, xp: Any) -> None:
    """out ← x / √(mean x²) · weight, row by row."""
    squares = xp.einsum("ij,ij->i", x, x)
    scale = 1 / xp.sqrt(squares / x.shape[1] + EPSILON)
    xp.multiply(x, scale[:, None].astype(x.dtype), out=out)
    out *= weight


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


Mark = Callable[[str], None]
ATTENTION = ("scores", "softmax", "values")
"""What attention is made of here: its scores go through memory."""


@dataclass(frozen=True, eq=False)
class KVCache:
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
    buffers: dict[str, Any]
    turns: tuple[Any, Any]


def activation_dtype(dtype: str) -> type:
    """The dtype of activations: fp64 for an fp64 model, else fp32."""
    return np.float64 if dtype == "fp64" else np.float32


def cache_for(model: Model, batch: int, positions: int, dtype: str, backend: Backend) -> KVCache:
    """An empty cache with room for ``positions`` tokens a sequence."""
    shape = (model.layers, batch, model.kv_heads, positions, model.head_dim)
    kind = array_dtype(dtype, backend)
    return KVCache(backend.xp.zeros(shape, kind), backend.xp.zeros(shape, kind))


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
    calls = {}
    for name in (p.name for p in model.products):
        x, y = (buffers[end] for end in ways[name])
        calls[name] = [bind(forms[name], w, x, y, backend) for w in weights.arrays[name]]
    return Pass(weights, batch, tokens, calls, buffers, turns(positions, model.head_dim, kind, xp))


def run(p: Pass, tokens: Any, cache: KVCache, start: int, mark: Mark) -> Any:
    """Run the pass on ``tokens`` (batch, tokens; integers) that follow ``start`` cached ones.

    Returns the logits (batch, vocab) of each sequence's last token, in a buffer of the pass.
    """
    xp, arrays, buffers = p.weights.backend.xp, p.weights.arrays, p.buffers
    buffers["x"][...] = arrays["embed"][0][tokens.reshape(-1)]
    mark("embed")
    for layer in range(p.weights.model.layers):
        rms_norm(buffers["x"], arrays["norm 1"][layer], buffers["h"], xp)
        mark("norm")
        for name in ("q", "k", "v"):
            _product(p, name, layer, mark)
        _rope(p, start)
        mark("rope")
        _attend(p, cache, layer, start, mark)
        _product(p, "o", layer, mark)
        buffers["x"] += buffers["y"]
        mark("residual")
        rms_norm(buffers["x"], arrays["norm 2"][layer], buffers["h"], xp)
        mark("norm")
        _product(p, "gate", layer, mark)
        _product(p, "up", layer, mark)
        swiglu(buffers["gate"], buffers["up"], buffers["spare"], xp)
        mark("activation")
        _product(p, "down", layer, mark)
        buffers["x"] += buffers["y"]
        mark("residual")
    ends = buffers["x"].reshape(p.batch, p.tokens, -1)[:, -1]
    rms_norm(ends, arrays["norm"][0], buffers["last"], xp)
    mark("norm")
    _product(p, "head", 0, mark)
    return buffers["logits"]


def _product(p: Pass, name: str, layer: int, mark: Mark) -> None:
    p.calls[name][layer]()
    mark(name)


def _rope(p: Pass, start: int) -> None:
    model, (cos, sin) = p.weights.model, p.turns
    here = slice(start, start + p.tokens)
    for name, heads in (("q", model.heads), ("k", model.kv_heads)):
        shape = (p.batch, p.tokens, heads, model.head_dim)
        rope(p.buffers[name].reshape(shape), cos[here], sin[here])


def _attend(p: Pass, cache: KVCache, layer: int, start: int, mark: Mark) -> None:
    """a ← softmax(q Kᵀ / √head_dim) V, head by head; new keys and values join the cache first."""
    xp, end = p.weights.backend.xp, start + p.tokens
    _append(p, "k", cache.k[layer], start)
    scores = _scores(p, cache, layer, end)
    mark("scores")
    hide_future(scores.reshape(-1, p.tokens, end), start, xp)
    softmax(scores, xp)
    mark("softmax")
    _append(p, "v", cache.v[layer], start)
    _values(p, cache, layer, scores)
    mark("values")


def _append(p: Pass, name: str, kept: Any, start: int) -> None:
    model = p.weights.model
    fresh = p.buffers[name].reshape(p.batch, p.tokens, model.kv_heads, model.head_dim)
    kept[:, :, start : start + p.tokens] = fresh.swapaxes(1, 2)


def _scores(p: Pass, cache: KVCache, layer: int, end: int) -> Any:
    """q Kᵀ / √head_dim over ``end`` positions: (batch · kv_heads, queries of a group, end)."""
    model, each = p.weights.model, p.weights.model.head_dim
    kv, group = model.kv_heads, model.heads // model.kv_heads
    problems = (p.batch * kv, group * p.tokens)
    keys = cache.k[layer].reshape(problems[0], -1, each)[:, :end]
    scores = p.buffers["scores"][: problems[0] * problems[1] * end].reshape(*problems, end)
    p.buffers["q"] *= each**-0.5
    q = p.buffers["q"].reshape(p.batch, p.tokens, kv, group, each).transpose(0, 2, 3, 1, 4)
    matmul(q.reshape(*problems, each), keys.swapaxes(1, 2), scores, p.weights.backend.xp)
    return scores


def _values(p: Pass, cache: KVCache, layer: int, scores: Any) -> None:
    """a ← scores V."""
    model, xp, new = p.weights.model, p.weights.backend.xp, p.tokens
    kv, each, group = model.kv_heads, model.head_dim, model.heads // model.kv_heads
    problems, end = scores.shape[:2], scores.shape[2]
    values = cache.v[layer].reshape(problems[0], -1, each)[:, :end]
    attended = p.buffers["a"].reshape(p.batch, new, kv, group, each)
    if new == 1:
        matmul(scores, values, attended.reshape(*problems, each), xp)
        return
    found = xp.empty((*problems, each), scores.dtype)
    matmul(scores, values, found, xp)
    attended[...] = found.reshape(p.batch, kv, group, new, each).transpose(0, 3, 1, 2, 4)


def products_only(p: Pass, cache: KVCache, end: int, mark: Mark) -> None:
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


# Models for the decode loop, small enough to run anywhere and larger than any cache.

SIZES = {
    "small": Model(768, 6, 12, kv_heads=4, intermediate=2048, vocab=8192, name="small"),
    "large": Model(1536, 8, 16, kv_heads=4, intermediate=4096, vocab=16_384, name="large"),
}
ODD = Model(1048, 2, 12, kv_heads=6, head_dim=56, intermediate=2824, vocab=9016, name="odd sizes")
"""Sizes that nobody runs, so that predictions rest on no other model's shapes."""


def loop_model(which: str = "small", backend: str = "cpu") -> Model:
    """A model of the Llama kind for :func:`rooflab.decode_loop`: "small" or "large".

    It gets as many more layers as its weights need to be 4 × the last cache of where it will run.
    Smaller ones would stay there from step to step, which no real model's do. Where ROOFLAB_QUICK
    is set, it begins with a quarter of its layers, two at least.

    Parameters
    ----------
    which : {"small", "large"}, optional
        Layers 768 or 1536 wide.
    backend : {"cpu", "gpu", "auto"}, optional
        Where it will run.

    Returns
    -------
    Model
        A plain decoder that the loop can run.

    Examples
    --------
    >>> small = rl.loop_model("small")
    >>> small.hidden, small.heads, small.kv_heads
    (768, 12, 4)
    """
    if not isinstance(which, str) or which not in SIZES:
        raise unknown("which", which, SIZES)
    model = replace(SIZES[which], layers=fewer(SIZES[which].layers))
    return beyond(model, last_cache_bytes(select(backend)))


def last_cache_bytes(backend: Backend) -> int:
    """Bytes of the last cache before the memory of ``backend``."""
    if not backend.is_gpu:
        return last_level_bytes()
    from rooflab.measure.gpu import l2_bytes

    return l2_bytes(backend.xp)


def beyond(model: Model, cache: int, itemsize: int = 4) -> Model:
    """``model`` with the layers that 4 × ``cache`` bytes of weights take, or its own if more.

    The table of embeddings does not count: a step reads one row of it.
    """
    table = model.vocab * model.hidden
    one, two = (itemsize * (replace(model, layers=n).parameters - table) for n in (1, 2))
    layers = 1 + math.ceil(max(0, MARGIN * cache - one) / (two - one))
    return replace(model, layers=max(model.layers, layers))
