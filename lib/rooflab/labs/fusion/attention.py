"""Attention in two ways: its scores in memory, or streamed through a cache in blocks.

Streamed, the softmax is *online*: each block of keys brings a new maximum, and what was added up
before is scaled to it (M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax",
2018; T. Dao et al., "FlashAttention", 2022). Products are NumPy's, block by block.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rooflab.count import Operand, Operation, gemm
from rooflab.count.attention import attention
from rooflab.count.dtypes import DTypeLike
from rooflab.count.validation import flag, size
from rooflab.labs.fusion.chains import DTYPES, format_name, require_floats
from rooflab.labs.fusion.costs import Costs
from rooflab.labs.fusion.costs import costs as _costs
from rooflab.labs.fusion.gain import Gain, Terms, carrying, compared
from rooflab.measure.backend import select
from rooflab.measure.operands import require_memory
from rooflab.measure.progress import Progress
from rooflab.measure.this_machine import this_machine
from rooflab.predict.estimate import predict
from rooflab.predict.machine import Machine

BLOCK = (256, 512)  # queries and keys whose scores are in the cache at a time
SMALL_CALLS = 9  # NumPy calls a block on what has one number a query, or head_dim
WAYS = ("materialised", "streamed")


def attend(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, *, mask: np.ndarray | None = None,
    streamed: bool = True, block: tuple[int, int] = BLOCK,
) -> np.ndarray:  # fmt: skip
    """Compute softmax(q kᵀ / √d + mask) v for one head.

    Parameters
    ----------
    q, k, v : ndarray
        Of shapes (m, d), (n, d) and (n, e), fp32 or fp64.
    mask : ndarray, optional
        Added to the scores, shape (m, n); −inf hides a key from a query. A query that sees no key
        has NaNs.
    streamed : bool, optional
        Whether scores exist in blocks only, which a cache holds.
    block : tuple of int, optional
        Queries and keys of a block.

    Returns
    -------
    ndarray
        Of shape (m, e).

    Examples
    --------
    >>> import numpy as np
    >>> q, k, v = np.random.default_rng(0).normal(size=(3, 1000, 64))
    >>> both = [rl.fusion.attend(q, k, v, streamed=way) for way in (True, False)]
    >>> np.allclose(*both)
    True
    """
    _checked(q, k, v, mask)
    rows, columns = (size(f"block[{i}]", part) for i, part in enumerate(block))
    scaled = q * q.dtype.type(1 / math.sqrt(q.shape[1]))
    with np.errstate(all="ignore"):
        if not flag("streamed", streamed):
            return _materialised(scaled, k, v, mask)
        out = np.empty((len(q), v.shape[1]), q.dtype)
        for i in range(0, len(q), rows):
            part = slice(i, i + rows)
            seen = None if mask is None else mask[part]
            out[part] = _streamed(scaled[part], k, v, seen, columns)
        return out


def _materialised(q: Any, k: Any, v: Any, mask: Any) -> np.ndarray:
    scores = q @ k.T
    if mask is not None:
        scores += mask
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    result: np.ndarray = (scores @ v) / total
    return result


def _streamed(q: Any, k: Any, v: Any, mask: Any, columns: int) -> np.ndarray:
    """A block of queries; ``top`` is the maximum so far, to which the sums are relative."""
    top = np.full((len(q), 1), -np.inf, q.dtype)
    total, out = np.zeros_like(top), np.zeros((len(q), v.shape[1]), q.dtype)
    for j in range(0, len(k), columns):
        scores = q @ k[j : j + columns].T
        if mask is not None:
            scores += mask[:, j : j + columns]
        new = np.maximum(top, scores.max(axis=1, keepdims=True))
        base = np.where(np.isneginf(new), 0, new)  # nothing seen yet: −inf − −inf would be NaN
        scores -= base
        np.exp(scores, out=scores)
        scale = np.exp(top - base)
        total = total * scale + scores.sum(axis=1, keepdims=True)
        out *= scale
        out += scores @ v[j : j + columns]
        top = new
    result: np.ndarray = out / total
    return result


def _checked(q: Any, k: Any, v: Any, mask: Any) -> None:
    for name, array in {"q": q, "k": k, "v": v}.items():
        require_floats(name, array)
        if array.ndim != 2 or not array.size or array.dtype != q.dtype:
            raise ValueError(f"{name} of shape {array.shape}, {array.dtype}, must have two "
                             f"dimensions, an element at least, and q's {q.dtype}")  # fmt: skip
    if k.shape[1] != q.shape[1] or len(v) != len(k):
        raise ValueError(
            f"k has shape {k.shape} and v {v.shape}; k needs {q.shape[1]} columns, as q has, and "
            f"v as many rows as k"
        )
    if mask is not None and np.shape(mask) != (len(q), len(k)):
        raise ValueError(f"mask has shape {np.shape(mask)}; it must be {(len(q), len(k))}")


def predict_attention(
    length: int, head_dim: int = 64, kind: DTypeLike = "fp32", *, streamed: bool = True,
    machine: Machine, costs: Costs,
) -> Terms:  # fmt: skip
    """Predict the seconds of :func:`attend` for one head, ``length`` queries and as many keys.

    The products are arithmetic, at one rate for both ways. The scores are written and read by
    them, and passed over four times by the softmax (maximum, difference, exponential, sum): at the
    level that holds all of them, or a block of them.

    Examples
    --------
    >>> known = {"machine": rl.this_machine("cpu", threads=1), "costs": rl.fusion.costs()}
    >>> rl.fusion.predict_attention(4096, streamed=True, **known).faults
    0.0
    """
    length, name = size("length", length), format_name(kind)
    rows, columns = (min(length, part) for part in BLOCK)
    tiles = math.ceil(length / rows) * math.ceil(length / columns)
    shape, many = ((rows, columns), tiles) if streamed else ((length, length), 1)
    scores = Operand("scores", shape, name)
    written, changed = replace(scores, reads=0, writes=1), replace(scores, writes=1)
    products = gemm(rows, columns, head_dim, name), gemm(rows, head_dim, columns, name)
    arithmetic = tiles * sum(predict(op, machine, cache="warm").seconds for op in products)
    moved = calls = 0.0
    for function, operand in (
        ("", written), ("row max", scores), ("sub", changed), ("exp", changed),
        ("row sum", scores), ("", scores),
    ):  # fmt: skip
        op = Operation(function, {}, (operand,), scores.elements, name)
        each, key = carrying(op, machine, scores.nbytes, "warm"), f"{name} {function}"
        moved += many * each
        if function:
            arithmetic += many * max(0.0, op.flops * costs.elements[key] - each)
            calls += many * costs.calls[key]
    calls += many * SMALL_CALLS * costs.calls[f"{name} mul"] if streamed else 0.0
    return Terms(moved, arithmetic, 0.0 if streamed else costs.faults(scores.nbytes), calls)


def attention_gain(
    length: int, head_dim: int = 64, kind: DTypeLike = "fp32", *, rounds: int = 5,
    progress: Progress = True,
) -> Gain:  # fmt: skip
    """Predict and measure both ways of attention for one head on this machine, one thread.

    Parameters
    ----------
    length : int
        Queries, and keys.
    head_dim : int, default 64
        Numbers of a query, a key and a value.
    kind : str, DType or a dtype of NumPy, default "fp32"
        "fp32" or "fp64".
    rounds : int, default 5
        Samples of each way.
    progress : bool or callable, default True
        Whether progress bars are drawn.

    Returns
    -------
    Gain
        Of the ways "materialised" and "streamed".

    Examples
    --------
    >>> found = rl.fusion.attention_gain(256, rounds=3, progress=False)
    >>> found.measured["streamed"].op.bytes < found.measured["materialised"].op.bytes
    True
    """
    machine, known = this_machine("cpu", 1, progress=progress), _costs(progress=progress)
    length, name = size("length", length), format_name(kind)
    streams = dict(zip(WAYS, (False, True)))
    ledgers = {
        way: attention(1, length, length, 1, head_dim=head_dim, dtype=name, causal=False,
                       streamed=streamed) for way, streamed in streams.items()
    }  # fmt: skip
    predicted = {
        way: predict_attention(length, head_dim, name, streamed=streamed, machine=machine,
                               costs=known) for way, streamed in streams.items()
    }  # fmt: skip
    require_memory(ledgers["materialised"], select("cpu"))
    q, k, v = np.random.default_rng(10).normal(size=(3, length, head_dim)).astype(DTYPES[name])
    calls = {way: partial(attend, q, k, v, streamed=streamed) for way, streamed in streams.items()}
    title = f"attention over {length}"
    return compared(title, ledgers, calls, predicted, "warm", rounds, progress)
