"""A decoder-only language model as its sizes; parameters and bytes follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING

from rooflab.count.attention import head_counts
from rooflab.count.dtypes import DType
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operand
from rooflab.count.si import si
from rooflab.count.validation import flag, size, unknown

if TYPE_CHECKING:
    pass

NORMS = {"rms": 1, "layer": 2}  # vectors of parameters that a norm has
_COUNTS = ("norms", "qk_norm", "positions", "experts", "experts_active", "shared_intermediate",
           "dense_layers")  # fmt: skip


@dataclass(frozen=True, repr=False)
class Model:
    """The sizes of a transformer. Only ``hidden``, ``layers`` and ``heads`` are needed.

    ``kv_heads``: default ``heads``; ``head_dim``: hidden / heads; ``intermediate``: width of the
    MLP, 4 · hidden; ``gated``: the MLP has gate, up and down, else up and down. ``tied``: the head
    is the embedding table. ``context``: trained limit in tokens (None: not known). ``biases``: the
    products that have one ("up" is also that of the shared and the dense MLPs). ``norm`` is "rms"
    or "layer", ``norms`` of them a layer, one more before the head; ``qk_norm``: further norm
    parameters of a layer. ``positions``: rows of a learned position table (0: rotary). ``latent``:
    multi-head latent attention (a :class:`Latent`, or a mapping of its sizes).

    Mixture of experts: ``experts`` a layer, ``experts_active`` a token, each ``intermediate`` wide;
    every token also passes ``shared_intermediate``; the first ``dense_layers`` layers have a plain
    MLP of ``dense_intermediate``. ``window``: positions that the ``windowed_layers`` (default all)
    look back. Raises TypeError or ValueError naming the size that does not fit.
    """

    hidden: int
    layers: int
    heads: int
    kv_heads: int | None = None
    head_dim: int | None = None
    intermediate: int | None = None
    vocab: int = 32_000
    tied: bool = False
    gated: bool = True
    name: str = "model"
    context: int | None = None
    biases: tuple[str, ...] = ()
    norm: str = "rms"
    norms: int = 2
    qk_norm: int = 0
    positions: int = 0
    experts: int = 0
    experts_active: int = 0
    shared_intermediate: int = 0
    dense_layers: int = 0
    dense_intermediate: int | None = None
    window: int | None = None
    windowed_layers: int | None = None
    latent: Latent | Mapping[str, int] | None = None
    source: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in ("hidden", "layers", "heads", "vocab"):
            self._set(name, size(name, getattr(self, name)))
        self._set("kv_heads", head_counts(self.heads, self.kv_heads)[1])
        for name in _COUNTS:
            self._set(name, size(name, getattr(self, name), 0))
        for name in ("tied", "gated"):
            self._set(name, flag(name, getattr(self, name)))
        if not isinstance(self.name, str):
            raise TypeError(f"name={self.name!r} must be a text, such as 'my-model'")
        self._check_heads()
        self._default("intermediate", 4 * self.hidden)
        self._default("dense_intermediate", self.intermediate)
        if not isinstance(self.norm, str) or self.norm not in NORMS:
            raise unknown("norm", self.norm, NORMS)
        self._set("biases", _names("biases", self.biases))
        self._check_experts()
        self._check_reach()
        self._check_biases()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _default(self, name: str, value: int) -> None:
        given = getattr(self, name)
        self._set(name, value if given is None else size(name, given))

    def _at_most(self, name: str, limit: str) -> None:
        if getattr(self, name) > getattr(self, limit):
            raise ValueError(
                f"{name}={getattr(self, name)} must be at most {limit}={getattr(self, limit)}"
            )

    def _check_heads(self) -> None:
        if self.latent is not None:
            self._set("latent", as_latent(self.latent))
            self._set("head_dim", self.latent.nope + self.latent.rope)
        elif self.head_dim is None and self.hidden % self.heads:
            raise ValueError(
                f"heads={self.heads} must divide hidden={self.hidden}; or give head_dim="
            )
        self._default("head_dim", self.hidden // self.heads)

    def _check_experts(self) -> None:
        self._at_most("experts_active", "experts")
        self._at_most("dense_layers", "layers")
        if self.experts and not self.experts_active:
            raise ValueError("experts_active=0 must be 1 or more: the experts that a token uses")
        for name in ("shared_intermediate", "dense_layers"):
            if getattr(self, name) and not self.experts:
                raise ValueError(f"{name}={getattr(self, name)} needs experts=, the number of them")

    def _check_reach(self) -> None:
        for name in ("context", "window"):
            if getattr(self, name) is not None:
                self._set(name, size(name, getattr(self, name)))
        if self.windowed_layers is None:
            self._set("windowed_layers", self.layers if self.window else 0)
        self._set("windowed_layers", size("windowed_layers", self.windowed_layers, 0))
        self._at_most("windowed_layers", "layers")
        if self.windowed_layers and not self.window:
            raise ValueError("window=None: say how many positions a windowed layer looks back")
        if self.latent and self.windowed_layers:
            raise ValueError(f"window={self.window}: latent attention looks back over everything")

    def _check_biases(self) -> None:
        biased = {p.name.split()[-1] for p in self.products if p.bias}
        for name in self.biases:
            if name not in biased:
                raise ValueError(f"biases: {self.name} has no product {name!r} that can have one")

    def __repr__(self) -> str:
        return f"<Model {self}>"

    def __str__(self) -> str:
        heads = f"{self.heads} heads of {self.head_dim}"
        if self.kv_heads != self.heads:
            heads += f" on {self.kv_heads} KV heads"
        mlp = f"MLP {self.intermediate}{' gated' if self.gated else ''}"
        if self.experts:
            mlp = f"{self.experts_active} of {self.experts} experts, {self.intermediate} wide"
        limit = f", trained to {self.context} tokens" if self.context else ""
        return (
            f"{self.name}: {si(self.parameters)} parameters, {self.layers} layers of {self.hidden} "
            f"({heads}; {mlp}), vocabulary {self.vocab}{' (tied head)' if self.tied else ''}{limit}"
        )

    @cached_property
    def products(self) -> tuple[Product, ...]:
        """The weight matrices, the head last (listed even where it is the embedding table)."""
        return products(self)

    @property
    def norm_parameters(self) -> int:
        """Parameters of the norms: ``norms`` of them a layer and one before the head."""
        each = NORMS[self.norm] * self.hidden
        return self.layers * (self.norms * each + self.qk_norm) + each

    @property
    def table_parameters(self) -> int:
        """Parameters of the embedding table and of learned positions."""
        return (self.vocab + self.positions) * self.hidden

    @cached_property
    def parameters(self) -> int:
        """Parameters, every one counted once (a tied head is the embedding table)."""
        tied = self.vocab * self.hidden if self.tied else 0
        matrices = sum(p.parameters for p in self.products)
        return matrices - tied + self.table_parameters + self.norm_parameters

    @cached_property
    def active_parameters(self) -> int:
        """Parameters that one token uses: all but the other experts' (tables count in full)."""
        return self.parameters - sum(p.parameters - p.active_parameters for p in self.products)

    def weight_bytes(self, dtype: object = "bf16") -> int:
        """Bytes of all parameters in ``dtype``, scales included."""
        kind = _dtype(dtype)
        kept = (p for p in self.products if not (self.tied and p.name == "head"))
        tables = Operand("tables", (self.vocab + self.positions, self.hidden), kind).nbytes
        norms = Operand("norms", (self.norm_parameters,), kind).nbytes
        return sum(p.nbytes(kind) for p in kept) + tables + norms

    def kv_bytes(self, batch: int, context: int, dtype: object = "bf16") -> int:
        """Bytes of the KV cache of ``batch`` sequences of ``context`` tokens each.

        A windowed layer keeps at most its window; latent attention one latent vector a position.
        """
        batch, context, kind = size("batch", batch), size("context", context), _dtype(dtype)
        full = self.layers - self.windowed_layers
        reached = min(context, self.window or context)
        both = ((full, context), (self.windowed_layers, reached))
        return sum(n * self._layer_kv(batch, reach, kind) for n, reach in both if n)

    def _layer_kv(self, batch: int, context: int, kind: object) -> int:
        if self.latent:
            return Operand("k", (batch, context, self.latent.cached), kind).nbytes
        return 2 * Operand("k", (batch, self.kv_heads, context, self.head_dim), kind).nbytes


def _names(argument: str, given: Iterable[str]) -> tuple[str, ...]:
    if not isinstance(given, Iterable):
        raise TypeError(f"{argument}={given!r} must be a tuple of product names out of {NAMES}")
    listed = (given,) if isinstance(given, str) else tuple(given)
    for name in listed:
        if name not in NAMES:
            raise unknown(argument, name, NAMES)
    return listed


# The weight matrices of a language model, listed once.
#
# Parameter counts, weight bytes and the operations of a step all come from this list.


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


def as_latent(given: object) -> Latent:
    """Return ``given``, a Latent or a mapping of its sizes, as a Latent."""
    if isinstance(given, Latent):
        return given
    known = [field.name for field in fields(Latent)]
    if not isinstance(given, Mapping):
        raise TypeError(f"latent={given!r} must be a Latent, or a mapping of {', '.join(known)}")
    for name in given:
        if name not in known:
            raise unknown("latent", name, known)
    missing = [name for name in known[:4] if name not in given]
    if missing:
        raise ValueError(f"latent={given!r} needs {', '.join(missing)} too")
    return Latent(**given)


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
        return self.layers * self.experts * self._each

    @property
    def active_parameters(self) -> int:
        """Parameters that one token meets."""
        return self.layers * self.active * self._each

    @property
    def _each(self) -> int:
        return (self.inputs + self.bias) * self.outputs

    def nbytes(self, kind: DType) -> int:
        """Bytes in format ``kind``, scales included; groups run along the inputs."""
        each = Operand("b", (self.experts, self.inputs, self.outputs), kind, axis=-2).nbytes
        if self.bias:
            each += Operand("bias", (self.experts, self.outputs), kind).nbytes
        return self.layers * each


def products(m: Model) -> tuple[Product, ...]:
    """The weight matrices of ``m`` in the order in which a token meets them, the head last."""
    attention = _latent_attention(m) if m.latent else _attention(m)
    return (*attention, *_mlp(m), Product("head", m.hidden, m.vocab, 1))


def _attention(m: Model) -> tuple[Product, ...]:
    queries, keys = m.heads * m.head_dim, m.kv_heads * m.head_dim
    sizes = {
        "q": (m.hidden, queries), "k": (m.hidden, keys), "v": (m.hidden, keys),
        "o": (queries, m.hidden),
    }  # fmt: skip
    return _listed(m, sizes)


def _latent_attention(m: Model) -> tuple[Product, ...]:
    """Names as in DeepSeek's code: q_a and q_b make queries, kv_a the latent, kv_b keys, values."""
    t = m.latent
    queries = m.heads * (t.nope + t.rope)
    sizes = {"q": (m.hidden, queries)}
    if t.q_rank:
        sizes = {"q_a": (m.hidden, t.q_rank), "q_b": (t.q_rank, queries)}
    sizes["kv_a"] = (m.hidden, t.cached)
    sizes["kv_b"] = (t.kv_rank, m.heads * (t.nope + t.value))
    sizes["o"] = (m.heads * t.value, m.hidden)
    return _listed(m, sizes)


def _listed(m: Model, sizes: Mapping[str, tuple[int, int]]) -> tuple[Product, ...]:
    """The products of attention, in every layer; "o" ends the block."""
    return tuple(
        Product(name, *both, m.layers, bias=name in m.biases, reduced=name == "o")
        for name, both in sizes.items()
    )


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
