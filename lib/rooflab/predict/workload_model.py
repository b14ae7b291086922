"""``rl.Model``: the sizes of a language model with the workloads that it makes."""

from __future__ import annotations

from rooflab.count import llm
from rooflab.count.sizes import flag, size
from rooflab.count.suggest import unknown
from rooflab.predict.workload import Workload
from rooflab.predict.workload_formats import formats_of

ATTENTION = ("streamed", "materialised")
LOGITS = ("last", "all")


class Model(llm.Model):
    __doc__ = llm.Model.__doc__

    def decode(
        self,
        batch: int,
        context: int,
        weights: object = None,
        kv: object = "bf16",
        activations: object = None,
        *,
        quant: object = None,
        attention: str = "streamed",
    ) -> Workload:
        """One step that gives each of ``batch`` sequences its ``context``-th token.

        The new token is counted in ``context``: context − 1 positions are read from the KV cache
        and one is written, ``kv_bytes(batch, context, kv)`` in all. ``weights``: default bf16.
        ``activations``: None lets them follow weights of less than 16 bits on a machine that has a
        peak for their format (fp8, int8, fp4, …), and be 16 bits wide on any other; what was
        assumed is in the notes of :meth:`Workload.time`. ``quant`` names both at once: "w16a16",
        "w8a16", "w8a8", "w4a16", "w4a8", "w4a4" (integers of 8 and 4 bits), or a format that both
        have, such as "fp8" or "nvfp4". ``attention``: "streamed" or "materialised" (its scores go
        through memory). Raises ValueError or TypeError naming the argument that does not fit.
        """
        batch, context = size("batch", batch), size("context", context)
        formats = formats_of(weights, kv, activations, quant)
        options = {"streamed": _streamed(attention)}
        return Workload.of(self, "decode", (batch, 1, context), formats, options)

    def prefill(
        self,
        batch: int,
        tokens: int,
        weights: object = None,
        kv: object = "bf16",
        activations: object = None,
        *,
        quant: object = None,
        attention: str = "streamed",
        causal: bool = True,
        logits: str = "last",
    ) -> Workload:
        """Read ``batch`` prompts of ``tokens`` tokens each and write their KV cache.

        Formats as in :meth:`decode`. ``causal``: count only the pairs that are not in the future,
        as streamed attention computes them; many published counts take all of them. ``logits``:
        "last" if only the last position passes the head, "all" if every one does, as in scoring a
        text and in the count 2 N.
        """
        batch, tokens = size("batch", batch), size("tokens", tokens)
        formats, options = formats_of(weights, kv, activations, quant), {}
        options["streamed"] = _streamed(attention)
        if logits not in LOGITS:
            raise unknown("logits", logits, LOGITS)
        options |= {"causal": flag("causal", causal), "logits": tokens if logits == "all" else 1}
        return Workload.of(self, "prefill", (batch, tokens, tokens), formats, options)

    def train_step(
        self,
        batch: int,
        tokens: int,
        weights: object = None,
        kv: object = "bf16",
        activations: object = None,
        *,
        quant: object = None,
        attention: str = "streamed",
        causal: bool = True,
    ) -> Workload:
        """Forward and backward (dX and dW) over ``batch`` sequences of ``tokens`` tokens.

        Formats as in :meth:`decode`; every position passes the head. Nothing is cached: ``kv`` is
        here only so that all three workloads take the same arguments. The optimiser is not
        counted, in time or in memory.
        """
        batch, tokens = size("batch", batch), size("tokens", tokens)
        formats = formats_of(weights, kv, activations, quant)
        options = {"streamed": _streamed(attention), "causal": flag("causal", causal)}
        return Workload.of(self, "train", (batch, tokens, tokens), formats, options)


def _streamed(attention: str) -> bool:
    if attention not in ATTENTION:
        raise unknown("attention", attention, ATTENTION)
    return attention == "streamed"
