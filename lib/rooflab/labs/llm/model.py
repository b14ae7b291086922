"""``rl.Model``: a decoder-only language model as its sizes; all else follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rooflab.count.attention import head_counts
from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operand
from rooflab.count.si import si
from rooflab.count.validation import As, flag, size, unknown
from rooflab.labs.llm.products import NAMES, NORMS, Latent, Product, products
from rooflab.labs.llm.step_time import formats_of
from rooflab.labs.llm.workload import Workload

ATTENTION = ("streamed", "materialised")
LOGITS = ("last", "all")
_COUNTS = ("norms", "qk_norm", "positions", "experts", "experts_active", "shared_intermediate",
           "dense_layers")  # fmt: skip


@dataclass(frozen=True, repr=False)
class Model:
    """The sizes of a transformer. Only ``hidden``, ``layers`` and ``heads`` are needed.

    By default there are as many ``kv_heads`` as ``heads``, of hidden / heads numbers each, and a
    gated MLP (gate, up and down) of width ``intermediate`` = 4 · hidden. ``tied``: the head is the
    embedding table. ``norms`` a layer, one more before the head, and ``qk_norm`` further
    parameters. ``positions`` are rows of a learned table; 0 means rotary. ``biases`` names the
    products that have one; "up" is also that of the shared and the dense MLPs.

    A token passes ``experts_active`` of a layer's ``experts``, ``intermediate`` wide, and the
    shared ones, ``shared_intermediate`` wide; the first ``dense_layers`` have a plain MLP of
    ``dense_intermediate``. ``windowed_layers`` look back ``window`` positions; by default all
    layers do, if there is one. ``latent`` has the sizes of multi-head latent attention, and
    ``source`` says where all this is published.

    >>> m = rl.Model(hidden=4096, layers=32, heads=32, intermediate=11008, name="llama-2-7b")
    >>> m.parameters
    6738415616
    >>> m.kv_bytes(batch=1, context=4096)
    2147483648
    >>> m.decode(batch=1, context=4096).bytes
    15374105088
    """

    hidden: int
    layers: int
    heads: int
    # A None that a caller leaves is a number in the model that is made: see __post_init__.
    kv_heads: As[int | None, int] = None  # type: ignore[assignment]  # as above
    head_dim: As[int | None, int] = None  # type: ignore[assignment]  # as above
    intermediate: As[int | None, int] = None  # type: ignore[assignment]  # as above
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
    dense_intermediate: As[int | None, int] = None  # type: ignore[assignment]  # as above
    window: int | None = None
    windowed_layers: As[int | None, int] = None  # type: ignore[assignment]  # as above
    latent: As[Latent | Mapping[str, int] | None, Any] = None  # type: ignore[assignment]  # as above
    source: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in ("hidden", "layers", "heads", "vocab"):
            self._set(name, size(name, getattr(self, name)))
        self._set("kv_heads", head_counts(self.heads, self.kv_heads)[1])
        for name in _COUNTS:
            self._set(name, size(name, getattr(self, name), 0))
        for name in ("tied", "gated"):
            self._set(name, flag(name, getattr(self, name)))
        self._check_heads()
        self._default("intermediate", 4 * self.hidden)
        self._default("dense_intermediate", self.intermediate)
        if not isinstance(self.norm, str) or self.norm not in NORMS:
            raise unknown("norm", self.norm, NORMS)
        self._check_experts()
        self._check_reach()
        self._check_biases()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _default(self, name: str, value: int, least: int = 1) -> None:
        given = getattr(self, name)
        self._set(name, value if given is None else size(name, given, least))

    def _at_most(self, name: str, limit: str) -> None:
        if getattr(self, name) > getattr(self, limit):
            raise ValueError(
                f"{name}={getattr(self, name)} must be at most {limit}={getattr(self, limit)}"
            )

    def _check_heads(self) -> None:
        if self.latent is not None:
            if isinstance(self.latent, Mapping):
                self._set("latent", Latent(**self.latent))
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

    def _check_reach(self) -> None:
        for name in ("context", "window"):
            if getattr(self, name) is not None:
                self._set(name, size(name, getattr(self, name)))
        self._default("windowed_layers", self.layers if self.window else 0, 0)
        self._at_most("windowed_layers", "layers")
        if self.windowed_layers and not self.window:
            raise ValueError("window=None: say how many positions a windowed layer looks back")
        if self.latent and self.windowed_layers:
            raise ValueError(f"window={self.window}: latent attention looks back over everything")

    def _check_biases(self) -> None:
        self._set("biases", (self.biases,) if isinstance(self.biases, str) else tuple(self.biases))
        for name in self.biases:
            if name not in NAMES:
                raise unknown("biases", name, NAMES)

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

    @cached_property
    def parameters(self) -> int:
        """Parameters, every one counted once (a tied head is the embedding table)."""
        tables = (self.positions if self.tied else self.vocab + self.positions) * self.hidden
        return sum(p.parameters for p in self.products) + tables + self.norm_parameters

    @cached_property
    def active_parameters(self) -> int:
        """Parameters that one token uses: all but the other experts' (tables count in full)."""
        return self.parameters - sum(p.parameters - p.active_parameters for p in self.products)

    def weight_bytes(self, dtype: DTypeLike = "bf16", tables: DTypeLike | None = None) -> int:
        """Bytes of all parameters in ``dtype``, scales included.

        ``tables``: what embedding, head and norms are in, if not in ``dtype``.
        """
        kind, other = _dtype(dtype), _dtype(dtype if tables is None else tables)
        kept = (p for p in self.products if not (self.tied and p.name == "head"))
        held = sum(p.nbytes(other if p.name == "head" else kind) for p in kept)
        held += Operand("tables", (self.vocab + self.positions, self.hidden), other).nbytes
        return held + Operand("norms", (self.norm_parameters,), other).nbytes

    def kv_bytes(self, batch: int, context: int, dtype: DTypeLike = "bf16") -> int:
        """Bytes of the KV cache of ``batch`` sequences of ``context`` tokens each.

        A windowed layer keeps at most its window; latent attention one latent vector a position.
        """
        batch, context, kind = size("batch", batch), size("context", context), _dtype(dtype)
        if self.latent:
            latents = Operand("k", (batch, context, self.latent.cached), kind)
            return self.layers * latents.nbytes
        full = self.layers - self.windowed_layers
        both = (full, context), (self.windowed_layers, min(context, self.window or context))
        return sum(
            2 * n * Operand("k", (batch, self.kv_heads, reach, self.head_dim), kind).nbytes
            for n, reach in both
        )

    def decode(
        self,
        batch: int,
        context: int,
        weights: DTypeLike | None = None,
        kv: DTypeLike = "bf16",
        activations: DTypeLike | None = None,
        *,
        quant: DTypeLike | None = None,
        attention: str = "streamed",
    ) -> Workload:
        """One step that gives each of ``batch`` sequences its ``context``-th token.

        The new token is counted in ``context``: context − 1 positions are read from the KV cache
        and one is written, ``kv_bytes(batch, context, kv)`` in all.

        Parameters
        ----------
        batch, context : int
            Sequences, and positions of each, the new one included.
        weights, kv : str or DType, optional
            Number formats of the weights and of the KV cache; bf16 by default.
        activations : str or DType, optional
            By default activations follow weights of less than 16 bits on a machine that has a peak
            for their format (fp8, int8, fp4, …), and are 16 bits wide on any other. What was
            assumed is in the notes of :meth:`Workload.time`.
        quant : str, optional
            Weights and activations at once: "w16a16", "w8a16", "w8a8", "w4a16", "w4a8", "w4a4"
            (integers of 8 and 4 bits), or a format that both have, such as "fp8" or "nvfp4". Those
            of 4 bits are as AWQ stores them: a scale and a zero point for 128 values, and the
            embedding, the head and the norms in bf16.
        attention : {"streamed", "materialised"}, optional
            "materialised": its scores go through memory.

        Returns
        -------
        Workload
            The step, to be timed on any machine.

        Examples
        --------
        >>> step = rl.model("llama-2-7b").decode(batch=1, context=1024, quant="w4a16")
        >>> step.traffic["weights"], step.traffic["kv"]
        (3627171840, 536870912)
        """
        batch, context = size("batch", batch), size("context", context)
        formats = formats_of(weights, kv, activations, quant)
        streamed = _streamed(attention)
        return Workload.of(self, "decode", (batch, 1, context), formats, streamed=streamed)

    def prefill(
        self,
        batch: int,
        tokens: int,
        weights: DTypeLike | None = None,
        kv: DTypeLike = "bf16",
        activations: DTypeLike | None = None,
        *,
        quant: DTypeLike | None = None,
        attention: str = "streamed",
        causal: bool = True,
        logits: str = "last",
    ) -> Workload:
        """Read ``batch`` prompts of ``tokens`` tokens each and write their KV cache.

        Parameters
        ----------
        batch, tokens : int
            Prompts, and tokens of each.
        weights, kv, activations, quant, attention : optional
            As in :meth:`decode`.
        causal : bool, optional
            True counts only the pairs that are not in the future, as streamed attention computes
            them. Many published counts take all of them.
        logits : {"last", "all"}, optional
            "last": only the last position passes the head. "all": every one does, as in scoring a
            text and in the count 2 N.

        Returns
        -------
        Workload
            The step, to be timed on any machine.

        Examples
        --------
        >>> rl.model("llama-2-7b").prefill(batch=1, tokens=1024).flops
        13541153177600
        """
        batch, tokens = size("batch", batch), size("tokens", tokens)
        formats = formats_of(weights, kv, activations, quant)
        if logits not in LOGITS:
            raise unknown("logits", logits, LOGITS)
        return Workload.of(
            self, "prefill", (batch, tokens, tokens), formats, streamed=_streamed(attention),
            causal=flag("causal", causal), logits=tokens if logits == "all" else 1,
        )  # fmt: skip


def _streamed(attention: str) -> bool:
    if attention not in ATTENTION:
        raise unknown("attention", attention, ATTENTION)
    return attention == "streamed"
