"""The weight matrices of a language model, listed once.

Parameter counts, weight bytes and the operations of a step all come from this list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.count.dtypes import DType
from rooflab.count.operation import Operand
from rooflab.count.validation import size

if TYPE_CHECKING:
    from rooflab.labs.llm.model import Model

NORMS = {"rms": 1, "layer": 2}  # vectors of parameters that a norm has
NAMES = ("q", "k", "v", "o", "gate", "up", "down", "router")


@dataclass(frozen=True)
class Latent:
    """Multi-head latent attention: keys and values are rebuilt from one short vector a position.

    ``kv_rank``: its length; ``rope``: length of the one rotated key that all heads share; ``nope``
    and ``value``: lengths of a head's other key part and of its value; ``q_rank``: length of the
    vector that queries are made from (0: queries are made from the hidden vector). Cached are
    kv_rank + rope numbers a position and layer. DeepSeek-AI, "DeepSeek-V2" (arXiv 2405.04434).
    """

    kv_rank: int
    rope: int
    nope: int
    value: int
    q_rank: int = 0

    def __post_init__(self) -> None:
        for name in ("kv_rank", "rope", "nope", "value"):
            size(name, getattr(self, name))
        size("q_rank", self.q_rank, 0)

    @property
    def cached(self) -> int:
        """Numbers cached for each position in each layer."""
        return self.kv_rank + self.rope


@dataclass(frozen=True)
class Product:
    """A weight matrix of ``inputs`` × ``outputs`` in each of ``layers`` layers.

    ``experts`` of them a layer, of which a token uses ``active``. ``reduced``: it ends a block, so
    devices that share the layer must add up their results.
    """

    name: str
    inputs: int
    outputs: int
    layers: int
    experts: int = 1
    active: int = 1
    bias: bool = False
    reduced: bool = False

    @property
    def parameters(self) -> int:
        """Parameters in all layers and experts."""
        return self.layers * self.experts * (self.inputs + self.bias) * self.outputs

    @property
    def active_parameters(self) -> int:
        """Parameters that one token meets."""
        return self.parameters // self.experts * self.active

    def nbytes(self, kind: DType) -> int:
        """Bytes in format ``kind``, scales included; groups run along the inputs."""
        each = Operand("b", (self.experts, self.inputs, self.outputs), kind, axis=-2).nbytes
        if self.bias:
            each += Operand("bias", (self.experts, self.outputs), kind).nbytes
        return self.layers * each


def products(m: Model) -> tuple[Product, ...]:
    """The weight matrices of ``m`` in the order in which a token meets them, the head last."""
    sizes = _latent_attention(m) if m.latent else _attention(m)
    attention = (
        Product(name, *both, m.layers, bias=name in m.biases, reduced=name == "o")
        for name, both in sizes.items()
    )
    return (*attention, *_mlp(m), Product("head", m.hidden, m.vocab, 1))


def _attention(m: Model) -> dict[str, tuple[int, int]]:
    queries, keys = m.heads * m.head_dim, m.kv_heads * m.head_dim
    return {
        "q": (m.hidden, queries), "k": (m.hidden, keys), "v": (m.hidden, keys),
        "o": (queries, m.hidden),
    }  # fmt: skip


def _latent_attention(m: Model) -> dict[str, tuple[int, int]]:
    """Names as in DeepSeek's code: q_a and q_b make queries, kv_a the latent, kv_b keys, values."""
    t: Latent = m.latent
    queries = m.heads * (t.nope + t.rope)
    sizes = {"q": (m.hidden, queries)}
    if t.q_rank:
        sizes = {"q_a": (m.hidden, t.q_rank), "q_b": (t.q_rank, queries)}
    sizes["kv_a"] = (m.hidden, t.cached)
    sizes["kv_b"] = (t.kv_rank, m.heads * (t.nope + t.value))
    sizes["o"] = (m.heads * t.value, m.hidden)
    return sizes


def _mlp(m: Model) -> tuple[Product, ...]:
    if not m.experts:
        return _block(m, "", m.intermediate, m.layers)
    sparse = m.layers - m.dense_layers
    rows = _block(m, "dense ", m.dense_intermediate, m.dense_layers) if m.dense_layers else ()
    if sparse:
        rows += (Product("router", m.hidden, m.experts, sparse, bias="router" in m.biases),)
        if m.shared_intermediate:
            rows += _block(m, "shared ", m.shared_intermediate, sparse)
        rows += _block(m, "", m.intermediate, sparse, m.experts, m.experts_active)
    return rows


def _block(
    m: Model, prefix: str, width: int, layers: int, experts: int = 1, active: int = 1
) -> tuple[Product, ...]:
    """Gate, up and down of an MLP ``width`` wide; up and down where it is not gated.

    Shared and routed experts are added up on each device before they are sent: one reduction.
    """
    into = [
        Product(f"{prefix}{name}", m.hidden, width, layers, experts, active, name in m.biases)
        for name in (("gate", "up") if m.gated else ("up",))
    ]
    ends = prefix != "shared "
    down = Product(
        f"{prefix}down", width, m.hidden, layers, experts, active, "down" in m.biases, ends
    )
    return (*into, down)
