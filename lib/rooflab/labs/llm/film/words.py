"""The sentences of a request film, with holes for its numbers; and how the numbers are written."""

from __future__ import annotations

import math

from rooflab.count.si import plain, si, times
from rooflab.labs.llm.film.grid import COMPUTE, KV, OTHER, WEIGHTS
from rooflab.show import theme

STEP = (
    "A batch of {batch} at context {context}: one step moves {moved} and takes about "
    "{total}, so {rate} in all.{fits}{crossed}{beyond}{measured}"
)
FITS = " It needs {need} of {machine}'s {has}."
FULL = " It does not fit: it needs {need}, {machine} has {has}."
BEYOND = " The model was trained on contexts up to {limit}."
NONE = "{machine}: {reason}, so there is no roof and no time."
#: The numbers beside the roofline.
FACTS = {
    "each": "each sequence",
    "total": "one step",
    "moved": "bytes moved",
    "prompt": "reading one prompt",
    "need": "memory",
}
#: Under the rate: what it is the rate of, or why there is none.
SIZES = "batch {batch}, context {context}"
MISFIT = "does not fit: {need} of {has}"
#: The parts of a bar, first at its foot, and what they say in the key.
PARTS = {WEIGHTS: "carrying weights", COMPUTE: "computing", OTHER: "other", KV: "carrying KV cache"}
LIMITS = {
    WEIGHTS: "memory: weights", COMPUTE: "compute", OTHER: "memory: activations",
    KV: "memory: KV cache",
}  # fmt: skip
CROSSING = "attention = all the rest at {context}"
MEASURED = "measured {value}"
ESTIMATED = "estimated {rate}"  # where something measured stands beside it
FREE = "What a call costs is not known here: counted as nothing."
HEADING = "Where the step's time goes"


def rate(per_second: float) -> str:
    """Tokens a second in three digits: ``57.9 tokens/s``."""
    short = si(per_second) if 1 <= per_second < 999.5 else plain(per_second, 3)
    return f"{short} tokens/s"


def crossing(context: float, last: int) -> str:
    """Say where attention, which reads the KV cache, takes as long as all the rest."""
    if math.isinf(context):
        return (
            f" Up to a context of {theme.count(last)} attention takes less time than all the rest."
        )
    if context == 0:
        return " Attention takes longer than all the rest, at every context here."
    return f" From a context of {short(context)} on, attention takes longer than all the rest."


def measured(step: float, estimate: float, context: int, per_second: float) -> str:
    """Say what a real decode loop took, beside the estimate of the same step (seconds)."""
    return (
        f" Measured at context {theme.count(context)}: {seconds(step)} a step, "
        f"{rate(per_second)}, {times(step / estimate)} the estimate of {seconds(estimate)}."
    )


def short(context: float) -> str:
    """A context in three digits: ``25 700``."""
    return theme.count(int(float(f"{context:.3g}")))


def seconds(value: float) -> str:
    """Seconds in three digits: ``17.3 ms``."""
    return si(value, "s")


def size(nbytes: float) -> str:
    """Bytes in three digits: ``13.5 GB``."""
    return si(nbytes, "B")
