"""``rl.Model`` and the catalogue of language models."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from rooflab.count import llm
from rooflab.count.validation import flag, size, unknown
from rooflab.predict.catalogue import VagueName
from rooflab.predict.step_time import formats_of
from rooflab.predict.workload import Workload

# ``rl.Model``: the sizes of a language model with the workloads that it makes.


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


# The catalogue of language models: sizes and sources (count/models.yaml), found by name.


# What people add to a name that does not change the sizes.
_SUFFIX = re.compile(r"-(hf|base|chat|instruct|it|v0\.1)$")

# Releases with the sizes, and the trained context, of another one.
_SAME = {"llama-3.3-70b": "llama-3.1-70b", "deepseek-r1": "deepseek-v3"}


@cache
def document() -> Mapping[str, object]:
    """Return models.yaml as it is: the sources, and each model's sizes and published total."""
    import yaml  # costs 20 ms and is needed only when a catalogue model is asked for

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = files("rooflab.count").joinpath("models.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=loader)


@cache
def models() -> Mapping[str, Model]:
    """Return the catalogue: name → Model, in the catalogue's order."""
    return MappingProxyType({row["name"]: _model(row) for row in document()["models"]})


def model(name: str | Model) -> Model:
    """Return the catalogue model ``name``: ``"llama-2-7b"`` = ``"meta-llama/Llama-2-7b-hf"``.

    A vague name ("llama") raises VagueName, an unknown one ValueError, each with what it could
    mean; a Model is returned as it is. Sizes of one's own go into ``rl.Model(hidden=…, …)``.
    """
    if isinstance(name, Model):
        return name
    if not isinstance(name, str):
        raise TypeError(f"model={name!r} must be a model's name or a Model")
    known = models()
    key = _key(name)
    bare = {_bare(id): id for id in known}
    if _bare(key) in bare:
        return known[bare[_bare(key)]]
    meant = [id for id in known if key and _bare(key) in _bare(id)]
    if len(meant) > 1:
        raise VagueName(f"model={name!r} is vague; it could mean {', '.join(meant)}")
    close = meant or difflib.get_close_matches(key, known, n=3, cutoff=0.6)
    if close:
        likely = " or ".join(map(repr, close))
        raise ValueError(f"model={name!r} is unknown; did you mean {likely}? See rl.models()")
    raise unknown("model", name, known)


def _key(name: str) -> str:
    """The name in lower case, without its owner and without what does not change the sizes."""
    key = re.sub(r"[\s_]+", "-", name.strip().lower()).rpartition("/")[2]
    key = key.removeprefix("meta-")
    while (shorter := _SUFFIX.sub("", key)) != key:
        key = shorter
    return _SAME.get(key, key)


def _bare(key: str) -> str:
    return re.sub(r"[-.]", "", key)  # llama2-7b and llama-2-7b are one


def _model(row: Mapping[str, object]) -> Model:
    titles = document()["sources"]
    sizes = {key: value for key, value in row.items() if key not in ("parameters", "source")}
    return Model(**sizes, source=tuple(titles[key] for key in row["source"]))
