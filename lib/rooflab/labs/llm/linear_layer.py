"""``rl.live.layer``: the box of a linear layer in the sizes of language models, and its roofline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rooflab.labs.llm.layer_time import TOKENS, WIDTHS
from rooflab.predict.machine import Machine
from rooflab.show.live_roofline import Live, nearest, on_offer, product_box
from rooflab.show.scene import Slider
from rooflab.show.waiting import awaited


def layer(
    tokens: int = 64,
    inputs: int = 4096,
    outputs: int = 11008,
    dtype: object = "fp32",
    *,
    machine: Machine | str | None = None,
    machines: Iterable[Machine | str] | Machine | str | None = None,
    dtypes: Sequence[object] = ("fp32", "bf16"),
    after: object = None,
) -> Live:
    """Return the box of a linear layer, tokens × outputs × inputs, and the roofline beside it.

    The sliders are its three edges, in the sizes of language models; they start at the nearest to
    ``tokens``, ``inputs`` and ``outputs``. The memory roof is that of reading, as most of what a
    layer moves is weights. The other arguments: as in :func:`roofline`. Nothing is measured.
    """
    edges = ("tokens", "rows"), ("outputs", "numbers out"), ("inputs", "numbers in")
    asked = (tokens, TOKENS), (outputs, WIDTHS), (inputs, WIDTHS)
    sliders = tuple(
        Slider(name, f"{name}, {said}", values, nearest(name, value, values))
        for (name, said), (value, values) in zip(edges, asked)
    )
    faces = ("X, what comes in", "a"), ("W, the weights", "b"), ("Y, what goes out", "c")
    things, offer = awaited(after), on_offer(machines, machine, ())
    return product_box(
        "layer", "layer", sliders, faces, (dtypes, dtype), offer,
        letters="XWY", mix="read", after=things,
    )  # fmt: skip
