"""A transformer that computes, and meters what it does: the counts of a step, found by running it.

Nothing here comes from the ledgers of the package. Arrays are made from a model's sizes, every
operation is done on them, and each says how many numbers it read and wrote, and of which kind. So
a size that the ledger has wrong shows, because the arrays would not fit or their counts differ.

What is counted as one FLOP follows the literature: a product is its multiply-adds, twice; attention
only the pairs that a query sees (Dao et al., "FlashAttention", 2022); a norm squares, adds, scales
and weighs (4), a rotation is two products and a sum (3), an activation 2, a residual 1 an element.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from rooflab.labs.llm.model import Model

WEIGHTS, KV, ACT = "weights", "kv", "activations"


@dataclass
class Meter:
    """Runs, FLOP and bytes by the name of the operation; ``width``: bytes of a number by role.

    ``weighed``: of each product with weights the numbers that go in, of the matrix, and that come
    out, a run after the other.
    """

    width: dict[str, int]
    runs: Counter = field(default_factory=Counter)
    flops: Counter = field(default_factory=Counter)
    moved: Counter = field(default_factory=Counter)
    weighed: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)

    def count(self, name: str, flops: int, **numbers: int) -> None:
        """One run of ``name``, which passes over so many numbers of each role."""
        self.runs[name] += 1
        self.flops[name] += int(flops)
        for role, many in numbers.items():
            self.moved[name, role] += int(many) * self.width[role]


class Metered:
    """``model`` with random weights. ``step`` runs it on new tokens and keeps a cache."""

    def __init__(self, model: Model, meter: Meter, seed: int = 0) -> None:
        self.m, self.meter, self.rng = model, meter, np.random.default_rng(seed)
        self.table = self.matrix(model.vocab, model.hidden)
        self.head = self.table.T if model.tied else self.matrix(model.hidden, model.vocab)
        self.rows = self.matrix(model.positions, model.hidden) if model.positions else None
        self.layers = [self.layer(number) for number in range(model.layers)]
        self.cache: list[list[np.ndarray]] = [[] for _ in range(model.layers)]
        self.old = 0

    def matrix(self, *shape: int) -> np.ndarray:
        return self.rng.normal(0, 1 / np.sqrt(shape[-2]), shape)

    def layer(self, number: int) -> dict[str, np.ndarray]:
        m = self.m
        width, keys = m.heads * m.head_dim, m.kv_heads * m.head_dim
        sizes = {"q": (m.hidden, width), "k": (m.hidden, keys), "v": (m.hidden, keys),
                 "o": (width, m.hidden)}  # fmt: skip
        if m.latent:
            t = m.latent
            sizes = {
                "q": (m.hidden, m.heads * (t.nope + t.rope)),
                "kv_a": (m.hidden, t.kv_rank + t.rope),
                "kv_b": (t.kv_rank, m.heads * (t.nope + t.value)),
                "o": (m.heads * t.value, m.hidden),
            }
        blocks = [("", m.intermediate, ())]
        if m.experts:
            blocks = [("", m.intermediate, (m.experts,))]
            sizes["router"] = (m.hidden, m.experts)
            if m.shared_intermediate:
                blocks.append(("shared ", m.shared_intermediate, ()))
            if number < m.dense_layers:
                del sizes["router"]
                blocks = [("dense ", m.dense_intermediate, ())]
        for prefix, wide, experts in blocks:
            for name in ("gate", "up") if m.gated else ("up",):
                sizes[prefix + name] = (*experts, m.hidden, wide)
            sizes[prefix + "down"] = (*experts, wide, m.hidden)
        made = {name: self.matrix(*shape) for name, shape in sizes.items()}
        for name in sizes:
            if name.split()[-1] in m.biases:
                made[name + " bias"] = self.rng.normal(size=(*sizes[name][:-2], sizes[name][-1]))
        return made

    # The passes of a step

    def step(self, tokens: np.ndarray, every_logit: bool = False) -> np.ndarray:
        """Logits after ``tokens``, of shape (sequences, new positions)."""
        m, (batch, queries) = self.m, tokens.shape
        x = self.embed(tokens)
        for number, w in enumerate(self.layers):
            y = self.attention(number, w, self.norm(x), batch, queries)
            x = self.add(x, self.norm(y) if m.norms == 4 else y)
            y = self.mlp(w, self.norm(x))
            x = self.add(x, self.norm(y) if m.norms == 4 else y)
        x = self.norm(x)
        self.old += queries
        x = x if every_logit else x.reshape(batch, queries, -1)[:, -1]
        return self.product("head", x, {"head": self.head})

    def embed(self, tokens: np.ndarray) -> np.ndarray:
        batch, queries = tokens.shape
        rows, x = tokens.size, self.table[tokens.reshape(-1)]
        read = len(set(tokens.reshape(-1).tolist())) * self.m.hidden
        flops = 0
        if self.rows is not None:
            at = np.tile(np.arange(self.old, self.old + queries), batch)
            x, flops = x + self.rows[at], x.size
            read += len(set(at.tolist())) * self.m.hidden
        self.meter.count("embed", flops, weights=read, activations=rows * self.m.hidden)
        return x

    def norm(self, x: np.ndarray) -> np.ndarray:
        vectors = 2 if self.m.norm == "layer" else 1
        self.meter.count("norm", 4 * x.size, activations=2 * x.size, weights=vectors * x.shape[-1])
        if vectors == 2:
            x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        self.meter.count("residual", x.size, activations=3 * x.size)
        return x + y

    def product(self, name: str, x: np.ndarray, w: dict[str, np.ndarray]) -> np.ndarray:
        y, weights = x @ w[name], w[name].size
        flops = 2 * x.shape[0] * w[name].size
        if (bias := w.get(name + " bias")) is not None:
            y, flops, weights = y + bias, flops + y.size, weights + bias.size
        self.meter.count(name, flops, weights=weights, activations=x.size + y.size)
        self.meter.weighed.setdefault(name, []).append((x.size, w[name].size, y.size))
        return y

    def mlp(self, w: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        if "dense down" in w:
            return self.block("dense ", w, x)
        if not self.m.experts:
            return self.block("", w, x)
        scores = self.product("router", x, w)
        shared = self.block("shared ", w, x) if self.m.shared_intermediate else 0
        chosen = np.argsort(-scores, axis=1)[:, : self.m.experts_active]
        return shared + self.experts(w, x, chosen)

    def block(self, prefix: str, w: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        up = self.product(prefix + "up", x, w)
        gate = self.product(prefix + "gate", x, w) if self.m.gated else up
        self.activated(prefix, gate.size)
        return self.product(prefix + "down", bent(gate) * up if self.m.gated else bent(up), w)

    def activated(self, prefix: str, numbers: int) -> None:
        arrays = 3 if self.m.gated else 2
        self.meter.count(prefix + "activation", 2 * numbers, activations=arrays * numbers)

    def experts(self, w: dict[str, np.ndarray], x: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Each row through its own experts; an expert's weights are read once, for all its rows."""
        used, active = sorted(set(chosen.reshape(-1).tolist())), chosen.shape[1]
        rows, out = len(x) * active, np.zeros_like(x)
        names = ("gate", "up", "down") if self.m.gated else ("up", "down")
        for name in names:
            inner, outer = w[name].shape[1:]
            self.meter.count(
                name, 2 * rows * inner * outer, weights=len(used) * inner * outer,
                activations=rows * (inner + outer),
            )  # fmt: skip
        self.activated("", rows * w["up"].shape[2])
        for row, mine in enumerate(chosen):
            for expert in mine:
                up = x[row] @ w["up"][expert]
                mid = bent(x[row] @ w["gate"][expert]) * up if self.m.gated else bent(up)
                out[row] += mid @ w["down"][expert] / active
        return out

    # Attention

    def attention(
        self, number: int, w: dict[str, np.ndarray], x: np.ndarray, batch: int, queries: int
    ) -> np.ndarray:
        if self.m.latent:
            return self.latent(number, w, x, batch, queries)
        m = self.m
        q = self.product("q", x, w).reshape(batch, queries, m.heads, m.head_dim)
        k = self.product("k", x, w).reshape(batch, queries, m.kv_heads, m.head_dim)
        v = self.product("v", x, w).reshape(k.shape)
        if not m.positions:
            self.meter.count("rope", 3 * (q.size + k.size), activations=2 * (q.size + k.size))
            q, k = self.turned(q), self.turned(k)
        windowed = number < m.windowed_layers
        name = "local attention" if windowed and m.windowed_layers < m.layers else "attention"
        seen = self.mask(queries, m.window if windowed else None)
        keys, values = self.with_old(number, k, v)
        read = int(seen.any(0).sum())  # positions that any of the queries sees
        old, kept = read - queries, min(queries, m.window) if windowed else queries
        a_position = 2 * batch * m.kv_heads * m.head_dim  # of keys and values
        pairs = batch * m.heads * int(seen.sum())
        self.meter.count(
            name, 2 * pairs * 2 * m.head_dim, kv=(old + kept) * a_position,
            activations=2 * q.size + queries * a_position,
        )  # fmt: skip
        share = m.heads // m.kv_heads
        out = attended(q, keys.repeat(share, 2), values.repeat(share, 2), seen)
        return self.product("o", out.reshape(batch * queries, -1), w)

    def latent(
        self, number: int, w: dict[str, np.ndarray], x: np.ndarray, batch: int, queries: int
    ) -> np.ndarray:
        """DeepSeek-V2's attention: a prompt rebuilds keys and values, a decode step does not."""
        m, t = self.m, self.m.latent
        q = self.product("q", x, w).reshape(batch, queries, m.heads, t.nope + t.rope)
        c = self.product("kv_a", x, w).reshape(batch, queries, 1, t.kv_rank + t.rope)
        rotated = batch * queries * (m.heads + 1) * t.rope
        self.meter.count("rope", 3 * rotated, activations=2 * rotated)
        q[..., t.nope :] = self.turned(q[..., t.nope :])
        c[..., t.kv_rank :] = self.turned(c[..., t.kv_rank :])
        all_c, _ = self.with_old(number, c, c)
        both = w["kv_b"].reshape(t.kv_rank, m.heads, t.nope + t.value)
        seen, cached = self.mask(queries, None), t.kv_rank + t.rope
        pairs = batch * m.heads * int(seen.sum())
        if queries > 1:
            rebuilt = self.product("kv_b", c[..., : t.kv_rank].reshape(batch * queries, -1), w)
            rebuilt = rebuilt.reshape(batch, queries, m.heads, t.nope + t.value)
            one = np.broadcast_to(c[..., t.kv_rank :], (*c.shape[:2], m.heads, t.rope))
            keys, values = np.concatenate([rebuilt[..., : t.nope], one], 3), rebuilt[..., t.nope :]
            numbers = q.size + keys.size + 2 * values.size
            flops = 2 * pairs * (t.nope + t.rope + t.value)
            self.meter.count("attention", flops, activations=numbers, kv=c.size)
            out = attended(q, keys, values, seen)
        else:
            first = np.einsum("bqhn,rhn->bqhr", q[..., : t.nope], both[..., : t.nope])
            self.absorbed("absorb k", batch, t.nope, t.kv_rank)
            asked = np.concatenate([first, q[..., t.nope :]], 3)
            whole = all_c.repeat(m.heads, 2)
            scale = np.sqrt(cached / (t.nope + t.rope))  # it is still a key of nope + rope
            mixed = attended(asked * scale, whole, whole[..., : t.kv_rank], seen)
            self.meter.count(
                "attention", 2 * pairs * (cached + t.kv_rank), kv=batch * (self.old + 1) * cached,
                activations=asked.size + batch * cached + mixed.size,
            )  # fmt: skip
            out = np.einsum("bqhr,rhv->bqhv", mixed, both[..., t.nope :])
            self.absorbed("absorb v", batch, t.kv_rank, t.value)
        return self.product("o", out.reshape(batch * queries, -1), w)

    def absorbed(self, name: str, rows: int, inner: int, outer: int) -> None:
        heads = self.m.heads
        self.meter.count(
            name, 2 * heads * rows * inner * outer, weights=heads * inner * outer,
            activations=heads * rows * (inner + outer),
        )  # fmt: skip

    def mask(self, queries: int, window: int | None) -> np.ndarray:
        """Which of the positions so far each new one sees."""
        at, all_of_it = np.arange(self.old, self.old + queries), np.arange(self.old + queries)
        seen = all_of_it[None] <= at[:, None]
        return seen & (all_of_it[None] > at[:, None] - window) if window else seen

    def with_old(self, number: int, *new: np.ndarray) -> list[np.ndarray]:
        before = self.cache[number] or [part[:, :0] for part in new]
        self.cache[number] = [np.concatenate(two, 1) for two in zip(before, new, strict=True)]
        return self.cache[number]

    def turned(self, x: np.ndarray) -> np.ndarray:
        """Rotary positions: pairs of numbers turned by an angle that grows with the position."""
        half = x.shape[-1] // 2
        at = np.arange(self.old, self.old + x.shape[1])[:, None]
        turn = np.exp(1j * at / 100.0 ** (np.arange(half) / max(half, 1)))[None, :, None]
        z = (x[..., :half] + 1j * x[..., half : 2 * half]) * turn
        return np.concatenate([z.real, z.imag, x[..., 2 * half :]], -1)


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """softmax(q kᵀ) v for (batch, positions, heads, length), over the pairs in ``seen``."""
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    share = np.exp(np.where(seen, scores, -np.inf))
    return np.einsum("bhqk,bkhd->bqhd", share / share.sum(-1, keepdims=True), v)


def bent(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))
