"""Attention as a ledger: streamed through on-chip memory, or with its scores in memory.

Vaswani et al., "Attention is all you need" (2017); streamed: Dao et al., "FlashAttention" (2022);
shared keys and values: Shazeer, "Fast transformer decoding" (2019), and Ainslie et al., "GQA"
(2023). FLOPs are those of the two products, which is how published figures count.
"""

from __future__ import annotations

from rooflab.count.dtypes import DType, DTypeLike, as_dtype, wider
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operand, Operation
from rooflab.count.validation import flag, size

SOFTMAX_FLOP = 4  # an element: find the maximum, subtract it, exp, add up


def attention(
    batch: int,
    queries: int,
    context: int,
    heads: int,
    kv_heads: int | None = None,
    head_dim: int = 128,
    dtype: DTypeLike = "bf16",
    *,
    kv: DTypeLike | None = None,
    streamed: bool = True,
    causal: bool = True,
    append: bool = False,
    window: int | None = None,
    value_dim: int | None = None,
    latent: bool = False,
) -> Operation:
    """softmax(QKᵀ)V for ``batch`` sequences: ``queries`` new positions look at ``context``.

    The two products take 2·(head_dim + value_dim) FLOP a head and pair of a query and a position
    that it sees: 4·head_dim where values are as long as keys.

    Parameters
    ----------
    batch : int
        Number of sequences.
    queries : int
        New positions of each sequence, such as 1 in a step of decoding.
    context : int
        Positions that can be seen. It counts the queries' own, so it is at least ``queries``, but
        for cross-attention: with causal=False they may be those of another sequence.
    heads : int
        Heads of the queries and of the output.
    kv_heads : int, default ``heads``
        Heads of keys and values. Groups of heads share them where they are fewer; their number
        divides ``heads``.
    head_dim : int, default 128
        Length of a query and of a key.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "bf16"
        Format of the activations: Q, the output, the scores, and the newest K and V.
    kv : str, DType or a dtype of NumPy or PyTorch, default ``dtype``
        Format of the stored K and V.
    streamed : bool, default True
        Whether scores stay on the chip: Q, K and V are read once and the output is written.
        Otherwise the scores are written once, read and rewritten by the softmax, and read again.
        A head has one for each query and each position that is read, all or those within a
        window. None is skipped, because a library's product computes them all.
    causal : bool, default True
        Whether a query sees only itself and what came before.
    append : bool, default False
        Whether the newest K and V arrive as activations and are written to the cache. Only the
        older positions are read from it then, so that a step's cache traffic is exactly the cache.
    window : int, optional
        Most positions that a query sees; all of them by default.
    value_dim : int, default ``head_dim``
        Length of a value.
    latent : bool, default False
        Whether values are the first ``value_dim`` numbers of the keys, stored once, as in
        DeepSeek's multi-head latent attention.

    Returns
    -------
    Operation
        The ledger of Q, shape (batch, heads, queries, head_dim), of K and V,
        (batch, kv_heads, positions that are read, head_dim or value_dim), and of the output,
        (batch, heads, queries, value_dim). Its unit is "tensor".

    Notes
    -----
    The streamed ledger is a minimum. When K and V outgrow the chip, a real kernel rereads them for
    each block of queries: see lesson 10. FLOPs of the softmax are not counted, as in published
    figures.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", 2017.
    .. [2] T. Dao et al., "FlashAttention", 2022, for scores that stay on the chip.
    .. [3] J. Ainslie et al., "GQA", 2023, for keys and values that groups of heads share.

    Examples
    --------
    A step of decoding reads all of K and V for one query, a prompt for 4096 of them.

    >>> rl.attention(1, 1, 4096, heads=32).intensity
    0.9997559189650964
    >>> rl.attention(1, 4096, 4096, heads=32).intensity
    1024.25
    >>> rl.attention(1, 4096, 4096, heads=32, streamed=False).intensity  # moves 4.3 GB of scores
    62.06060606060606
    """
    a = _Attention(
        batch, queries, context, heads, kv_heads, head_dim, value_dim, dtype, kv, window,
        flag("append", append), flag("latent", latent), flag("causal", causal),
    )  # fmt: skip
    streamed = flag("streamed", streamed)
    scores = () if streamed else (a.scores(2, 2),)
    seen = a.queries * a.reach
    if streamed:
        seen = pairs(a.queries, a.context, causal, a.window)
    operands = (a.q, *a.stored("k"), *a.stored("v"), *scores, a.out)
    flops = a.batch * a.heads * seen * 2 * (a.head_dim + a.value_dim)
    return Operation("attention", a.dims, operands, flops, a.computed, unit="tensor")


def materialised(
    batch: int, queries: int, context: int, heads: int, kv_heads: int | None, head_dim: int,
    dtype: DTypeLike = "bf16", *, kv: DTypeLike | None = None, append: bool = False,
    window: int | None = None, value_dim: int | None = None, latent: bool = False,
) -> tuple[Operation, Operation, Operation]:  # fmt: skip
    """The three operations of attention with its scores in memory: scores, softmax, values.

    Arguments as in :func:`attention`; the bytes of the three add up to its ``streamed=False``.
    """
    a = _Attention(
        batch, queries, context, heads, kv_heads, head_dim, value_dim, dtype, kv, window, append,
        latent,
    )  # fmt: skip
    each = 2 * a.batch * a.heads * a.queries * a.reach
    q_k = (a.q, *a.stored("k"), a.scores(0, 1))
    scores_v = (a.scores(1, 0), *a.stored("v"), a.out)
    softmax_flops, softmax_kind = each // 2 * SOFTMAX_FLOP, wider(a.kind, _FP32)
    return (
        Operation("scores", a.dims, q_k, each * a.head_dim, a.computed, unit="tensor"),
        Operation("softmax", a.dims, (a.scores(1, 1),), softmax_flops, softmax_kind),
        Operation("values", a.dims, scores_v, each * a.value_dim, a.computed, unit="tensor"),
    )


def pairs(queries: int, context: int, causal: bool, window: int | None = None) -> int:
    """Pairs of query and position in one head: query i of the last ``queries`` positions sees
    ``context``, or (causal) context − queries + i + 1 of them, but at most ``window``."""
    reach = context if window is None else min(window, context)
    if not causal:
        return queries * reach
    growing = max(0, min(queries, reach - (context - queries)))  # queries that see all before them
    first = context - queries + 1
    return growing * first + growing * (growing - 1) // 2 + (queries - growing) * reach


def head_counts(heads: int, kv_heads: int | None) -> tuple[int, int]:
    """Checked ``heads`` and ``kv_heads`` (default: as many); the one must divide the other."""
    heads = size("heads", heads)
    kv_heads = heads if kv_heads is None else size("kv_heads", kv_heads)
    if kv_heads > heads:
        raise ValueError(f"kv_heads={kv_heads} must be at most heads={heads}: heads share them")
    if heads % kv_heads:
        near = min(
            (n for n in range(1, heads + 1) if heads % n == 0), key=lambda n: abs(n - kv_heads)
        )
        raise ValueError(f"kv_heads={kv_heads} must divide heads={heads}; {near} would")
    return heads, kv_heads


_FP32 = _dtype("fp32")


class _Attention:
    """Checked sizes of an attention, and the operands that its operations share."""

    def __init__(
        self, batch: int, queries: int, context: int, heads: int, kv_heads: int | None,
        head_dim: int, value_dim: int | None, dtype: DTypeLike, kv: DTypeLike | None,
        window: int | None, append: bool, latent: bool, causal: bool = True,
    ) -> None:  # fmt: skip
        self.batch, self.queries = size("batch", batch), size("queries", queries)
        self.context = size("context", context)
        self.heads, self.kv_heads = head_counts(heads, kv_heads)
        self.head_dim = size("head_dim", head_dim)
        self.value_dim = self.head_dim if value_dim is None else size("value_dim", value_dim)
        self.kind: DType = _dtype(dtype)
        self.kv = self.kind if kv is None else as_dtype("kv", kv)
        self.window = None if window is None else size("window", window)
        self.append, self.latent = append, latent
        if self.context < self.queries and (causal or append or window is not None):
            raise ValueError(
                f"context={context} must be at least queries={queries}: it counts them, unless "
                "they see another sequence (causal=False, no window, nothing appended)"
            )

    @property
    def dims(self) -> dict[str, int]:
        return {
            "batch": self.batch, "heads": self.heads, "queries": self.queries,
            "context": self.context, "head_dim": self.head_dim,
        }  # fmt: skip

    @property
    def reach(self) -> int:
        """Positions that are read: all, or those within the window of any of the queries."""
        if self.window is None:
            return self.context
        return min(self.context, self.window - 1 + self.queries)

    @property
    def computed(self) -> DType:
        """Format of the products: the activations', or the stored K's and V's where wider."""
        return self.kv if self.kv.bits > self.kind.bits else self.kind

    @property
    def q(self) -> Operand:
        return Operand("q", (self.batch, self.heads, self.queries, self.head_dim), self.kind)

    @property
    def out(self) -> Operand:
        shape = (self.batch, self.heads, self.queries, self.value_dim)
        return Operand("out", shape, self.kind, reads=0, writes=1)

    def scores(self, reads: int, writes: int) -> Operand:
        shape = (self.batch, self.heads, self.queries, self.reach)
        return Operand("scores", shape, self.kind, reads, writes)

    def stored(self, name: str) -> tuple[Operand, ...]:
        """K or V: read from where they are stored and, when appended to, the newest rows too."""
        if name == "v" and self.latent:
            return ()
        length = self.value_dim if name == "v" else self.head_dim
        new = self.queries if self.append else 0
        old = self.reach - new
        rows = []
        if old:
            rows.append(Operand(name, (self.batch, self.kv_heads, old, length), self.kv))
        if new:
            kept = new if self.window is None else min(new, self.window)
            newest = (self.batch, self.kv_heads, new, length)
            rows.append(Operand(f"new {name}", newest, self.kind))
            shape = (self.batch, self.kv_heads, kept, length)
            rows.append(Operand(f"{name} cache", shape, self.kv, reads=0, writes=1))
        return tuple(rows)
