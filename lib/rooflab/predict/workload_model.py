"""``rl.Model``: the sizes of a language model with the workloads that it makes."""

from __future__ import annotations

from rooflab.count import llm
from rooflab.count.dtypes import as_dtype
from rooflab.count.llm_steps import Formats, generate
from rooflab.count.llm_training import train
from rooflab.count.sizes import flag, size
from rooflab.count.suggest import unknown
from rooflab.predict.workload import Workload

ATTENTION = ("streamed", "materialised")
LOGITS = ("last", "all")


class Model(llm.Model):
    __doc__ = llm.Model.__doc__

    def decode(
        self,
        batch: int,
        context: int,
        weights: object = "bf16",
        kv: object = "bf16",
        activations: object = None,
        *,
        attention: str = "streamed",
    ) -> Workload:
        """One step that gives each of ``batch`` sequences its ``context``-th token.

        The new token is counted in ``context``: context − 1 positions are read from the KV cache
        and one is written, ``kv_bytes(batch, context, kv)`` in all. ``activations``: by default
        the weights' format if that is a 16- or 32-bit float, else bf16. ``attention``: "streamed"
        or "materialised" (its scores go through memory).
        """
        batch, context = size("batch", batch), size("context", context)
        formats = _formats(weights, kv, activations)
        steps = generate(self, batch, 1, context, formats, streamed=_streamed(attention))
        return Workload(self, "decode", batch, 1, context, formats, steps)

    def prefill(
        self,
        batch: int,
        tokens: int,
        weights: object = "bf16",
        kv: object = "bf16",
        activations: object = None,
        *,
        attention: str = "streamed",
        causal: bool = True,
        logits: str = "last",
    ) -> Workload:
        """Read ``batch`` prompts of ``tokens`` tokens each and write their KV cache.

        ``causal``: count only the pairs that are not in the future, as streamed attention computes
        them; many published counts take all of them. ``logits``: "last" if only the last position
        passes the head, "all" if every one does, as in scoring a text and in the count 2 N.
        """
        batch, tokens = size("batch", batch), size("tokens", tokens)
        formats, how = _formats(weights, kv, activations), {"streamed": _streamed(attention)}
        if logits not in LOGITS:
            raise unknown("logits", logits, LOGITS)
        how |= {"causal": flag("causal", causal), "logits": tokens if logits == "all" else 1}
        steps = generate(self, batch, tokens, tokens, formats, **how)
        return Workload(self, "prefill", batch, tokens, tokens, formats, steps)

    def train_step(
        self,
        batch: int,
        tokens: int,
        weights: object = "bf16",
        kv: object = "bf16",
        activations: object = None,
        *,
        attention: str = "streamed",
        causal: bool = True,
    ) -> Workload:
        """Forward and backward (dX and dW) over ``batch`` sequences of ``tokens`` tokens.

        Every position passes the head. Nothing is cached: ``kv`` is here only so that all three
        workloads take the same arguments. The optimiser is not counted, in time or in memory.
        """
        batch, tokens = size("batch", batch), size("tokens", tokens)
        formats = _formats(weights, kv, activations)
        formats = Formats(formats.weights, formats.activations, formats.activations)
        streamed, causal = _streamed(attention), flag("causal", causal)
        steps = train(self, batch, tokens, formats, streamed=streamed, causal=causal)
        return Workload(self, "train", batch, tokens, tokens, formats, steps)


def _formats(weights: object, kv: object, activations: object) -> Formats:
    weights, kv = as_dtype("weights", weights), as_dtype("kv", kv)
    if activations is not None:
        return Formats(weights, kv, as_dtype("activations", activations))
    plain = weights.kind == "float" and weights.bits in (16, 32) and not weights.group
    return Formats(weights, kv, weights if plain else as_dtype("activations", "bf16"))


def _streamed(attention: str) -> bool:
    if attention not in ATTENTION:
        raise unknown("attention", attention, ATTENTION)
    return attention == "streamed"
