"""``rl.live.layer``: the box of a linear layer, in the sizes of language models, with its roof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rooflab.count.dtypes import DTypeLike
from rooflab.labs.llm.layer_time import TOKENS, WIDTHS
from rooflab.predict.machine import Machine
from rooflab.show.rooflines.live import Live, nearest, on_offer, product_box
from rooflab.show.rooflines.tables import Slider
from rooflab.show.waiting import awaited


def layer(
    tokens: int = 64,
    inputs: int = 4096,
    outputs: int = 11008,
    dtype: DTypeLike = "fp32",
    *,
    machine: Machine | str | None = None,
    machines: Iterable[Machine | str] | Machine | str | None = None,
    dtypes: Sequence[DTypeLike] = ("fp32", "bf16"),
    after: object = None,
) -> Live:
    """Return the box of a linear layer, tokens × outputs × inputs, and the roofline beside it.

    The sliders are its three edges, in the sizes of language models. The memory roof is that of
    reading, as most of what a layer moves is weights. Nothing is measured.

    Parameters
    ----------
    tokens, inputs, outputs : int, optional
        Where the sliders start, at the nearest of their values: tokens, and numbers of a row that
        goes in and of one that comes out.
    dtype : str or DType, optional
        The number format shown first.
    machine : Machine or str, optional
        The machine shown first; a name is looked up in the catalogue and the recordings.
    machines : Machine, str or iterable of these, optional
        The machines on offer, as in :func:`rooflab.live.roofline`.
    dtypes : sequence of str or DType, optional
        The number formats on offer.
    after : object, optional
        What :func:`rooflab.ask` returned, one or several: the picture stays covered until all
        are answered.

    Returns
    -------
    Live
        A widget; ``sentence`` says what it shows.

    Examples
    --------
    >>> box = rl.live.layer(64, 4096, 11008, "bf16", machines="h100-sxm")
    >>> box.sentence.split(". ")[0]
    'This layer is a slab: 2.89 billion multiply-adds inside, ... for each'
    """
    edges = ("tokens", "rows"), ("outputs", "numbers out"), ("inputs", "numbers in")
    asked = (tokens, TOKENS), (outputs, WIDTHS), (inputs, WIDTHS)
    sliders = tuple(
        Slider(f"{name}, {said}", values, nearest(name, value, values))
        for (name, said), (value, values) in zip(edges, asked)
    )
    faces = ("X, what comes in", "a"), ("W, the weights", "b"), ("Y, what goes out", "c")
    things, offer = awaited(after), on_offer(machines, machine, ())
    return product_box(
        "layer", "layer", sliders, faces, (dtypes, dtype), offer,
        letters=("X", "W", "Y"), mix="read", after=things,
    )  # fmt: skip
