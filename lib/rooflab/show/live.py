"""The live roofline and the box: pictures that move in the browser and compute nothing there.

``rl.live.roofline()`` and ``rl.live.box()``. The kernel counts, places and formats everything
once; then sliders and choices work without it: after a restart, in a static page, offline. A
saved notebook keeps one still picture and its sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rooflab.count import blas
from rooflab.count.dtypes import DType
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.validation import size, unknown
from rooflab.predict.machine import Machine
from rooflab.show.box import BoxView, Solid, of_family
from rooflab.show.ceiling_lines import CHOICES, MIX, as_band
from rooflab.show.families import Family, batches, families, sizes
from rooflab.show.film import film as film  # rl.live.film
from rooflab.show.free_lunch_picture import free_lunch as free_lunch  # rl.live.free_lunch
from rooflab.show.layer_time import TOKENS, WIDTHS
from rooflab.show.live_golf import golf as golf  # rl.live.golf
from rooflab.show.live_roofline import Live
from rooflab.show.machine_choices import Offer, offers
from rooflab.show.scene import Scene, Series, Slider
from rooflab.show.time_to_roofline import morph as morph  # rl.live.morph
from rooflab.show.waiting import awaited
from rooflab.show.waterfall_picture import waterfall_of

DTYPES = ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3")
EDGES = tuple(2**e for e in range(15))
SMALLEST = 16  # N: an N×N matrix that lies in any L1
SMALLEST_CALL = 8  # N where the cost of a call is shown: below 64 it decides
WELL_KNOWN = "nvidia-h100-sxm"
_EDGE_WORDS = {
    "M": "rows of A and C",
    "N": "columns of B and C",
    "K": "the edge that is summed over",
}


def roofline(
    machines: Iterable[Machine | str] | Machine | str | None = None,
    *,
    machine: Machine | str | None = None,
    ops: Iterable[str] | str = ("axpy", "gemv", "gemm"),
    dtype: object = "fp32",
    dtypes: Sequence[object] = DTYPES,
    n: int | None = None,
    batch: int = 1,
    cache: str = "cold",
    measurements: Sequence[object] = (),
    box: bool = False,
    waterfall: bool = False,
    overhead: bool = False,
    band: tuple[float, float] | None = None,
    after: object = None,
) -> Live:
    """Return the live roofline: sliders for N and the batch, choices for everything else.

    ``machines`` on offer (None: this computer if its roofs are stored, all recordings, the whole
    catalogue) and the one shown first, ``machine``. ``ops``: some of "axpy", "gemv", "gemm";
    AXPY has N² numbers, as many as the others' N×N matrix. ``n`` (None: where something was
    measured, else 1024) and ``batch`` start at the nearest slider value. ``cache``: "cold", "warm"
    or "both", which splits every dot in two. ``measurements`` appear on the machine they were taken
    on. ``box`` draws the M×N×K box beside it, ``waterfall`` below it where the time of one
    operation goes, on the same sliders. ``overhead`` lets N start small and draws FLOP ÷ call time
    where calls were timed; ``band``, e.g. (4, 8), shades a thumb rule. ``after``: what ``rl.ask``
    or ``rl.sort`` returned, one or several: all is covered until they are. Nothing is measured.
    """
    things = awaited(after)
    shown = families(ops)
    if cache not in CHOICES:
        raise unknown("cache", cache, CHOICES)
    offered, first = _on_offer(machines, machine, measurements)
    smallest = SMALLEST_CALL if overhead else SMALLEST
    first_n = _measured_n(shown, measurements, smallest) if n is None else n
    sliders = _size_sliders(first_n, batch, smallest)
    series = tuple(_series(family, sliders[1].values) for family in shown)
    scene = Scene(sliders, series, _kinds(dtypes, dtype), offered, overhead, as_band(band))
    kind = str(_dtype(dtype))
    start = {"machine": first.id, "dtype": kind, "cache": cache, "ops": [s.name for s in series]}
    beside = None
    if box:
        beside = _box_view([of_family(family) for family in shown], scene, kind)
    below = waterfall_of(scene, start, beside) if waterfall else None
    return Live(scene, "rooflab-roofline", start, beside, below, things)


def box(
    m: int = 1,
    n: int = 4096,
    k: int = 1,
    dtype: object = "fp32",
    *,
    accumulate: bool = False,
    machine: Machine | str | None = None,
    machines: Iterable[Machine | str] | Machine | str | None = None,
    dtypes: Sequence[object] = ("fp64", "fp32", "fp16"),
) -> Live:
    """Return the box with sliders for M, N and K, and beside it the roofline its point walks on.

    Starts at the powers of two nearest to ``m``, ``n``, ``k``. With ``accumulate`` C is read as
    well as written: then the stick M = K = 1 is AXPY. The other arguments are those of
    :func:`roofline`. Nothing is measured.
    """

    sliders = tuple(
        Slider(name, f"{name}, {_EDGE_WORDS[name]}", EDGES, _nearest(name.lower(), value, EDGES))
        for name, value in zip("MNK", (m, n, k))
    )
    faces = (
        ("A", "a"),
        ("B", "b"),
        ("C: counted twice, read and written" if accumulate else "C", "c"),
    )
    offer = _on_offer(machines, machine, ())
    return _solid("box", "product", sliders, faces, (dtypes, dtype), offer, accumulate)


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
        Slider(name, f"{name}, {said}", values, _nearest(name, value, values))
        for (name, said), (value, values) in zip(edges, asked)
    )
    faces = ("X, what comes in", "a"), ("W, the weights", "b"), ("Y, what goes out", "c")
    things, offer = awaited(after), _on_offer(machines, machine, ())
    return _solid(
        "layer", "layer", sliders, faces, (dtypes, dtype), offer,
        letters="XWY", mix="read", after=things,
    )  # fmt: skip


def _solid(
    stem: str,
    label: str,
    sliders: tuple[Slider, ...],
    faces: tuple[tuple[str, str], ...],
    types: tuple[Sequence[object], object],
    offer: tuple[tuple[Offer, ...], Offer],
    accumulate: bool = False,
    letters: str = "ABC",
    mix: str = MIX,
    after: Sequence[object] = (),
) -> Live:
    """The box of one product whose three edges are ``sliders``, with its roofline."""

    def build(m: int, n: int, k: int, kind: object) -> Operation:
        return blas.gemm(m, n, k, kind, accumulate=accumulate)

    unsaid = [""] * len(sliders[1].values)
    series = Series("gemm", "GEMM", build, unsaid, unsaid, spread=True, estimated=False)
    offered, first = offer
    scene = Scene(sliders, (series,), _kinds(*types), offered, mix=mix)
    start = {"machine": first.id, "dtype": str(_dtype(types[1])), "ops": ["gemm"]}
    solid = Solid("gemm", label, build, lambda *edges: edges, faces, letters=tuple(letters))
    beside = _box_view([solid], scene, start["dtype"])
    return Live(scene, f"rooflab-{stem}", start, beside, after=after)


def _measured_n(shown: Sequence[Family], measurements: Sequence[object], smallest: int) -> int:
    """The largest N at which an operation shown was measured; 1024 if none was."""
    timed = {(m.op.name, *m.op.dims.values()) for m in measurements if m.op.batch == 1}

    def is_timed(n: int) -> bool:
        ops = (family.build(n, 1, "fp32") for family in shown)
        return any((op.name, *op.dims.values()) in timed for op in ops)

    return max((n for n in sizes(smallest) if timed and is_timed(n)), default=1024)


def _size_sliders(n: int, batch: int, smallest: int) -> tuple[Slider, Slider, Slider]:
    every_n, every_batch = sizes(smallest), batches()
    said = "batch, vectors that share one matrix"
    return (
        Slider("N", "N, the matrix size", every_n, _nearest("n", n, every_n)),
        Slider("batch", said, every_batch, _nearest("batch", batch, every_batch)),
        Slider(
            "", "", (1,), 0
        ),  # pictures have three sliders; one with a single value is not shown
    )


def _box_view(solids: Sequence[Solid], scene: Scene, kind: str) -> BoxView:
    start = {letter: slider.start for letter, slider in zip("ijk", scene.sliders)}
    return BoxView(solids, scene.sliders, scene.dtypes, dtype=kind, op=solids[-1].name, **start)


def _series(family: Family, every_batch: Sequence[int]) -> Series:
    moves = family.spread
    return Series(
        family.name,
        family.label,
        lambda n, batch, _, kind: family.build(n, batch, kind),
        [f"{family.label} ×{b}" if moves and b > 1 else family.label for b in every_batch],
        [family.why.replace("{batch}", str(b)) if b > 1 else "" for b in every_batch],
        moves,
    )


def _kinds(dtypes: Sequence[object] | object, first: object) -> tuple[DType, ...]:
    """Return the dtypes on offer, the one shown first among them."""
    several = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]
    return tuple(dict.fromkeys(_dtype(kind) for kind in (*several, first)))


def _nearest(argument: str, value: object, values: Sequence[int]) -> int:
    """Return the index of the slider value nearest to ``value``, a positive integer."""
    wanted = size(argument, value)
    return min(range(len(values)), key=lambda index: abs(values[index] - wanted))


def _on_offer(
    machines: Iterable[Machine | str] | Machine | str | None,
    machine: Machine | str | None,
    measurements: Sequence[object],
) -> tuple[tuple[Offer, ...], Offer]:
    """Return the machines on offer and the one shown first.

    First comes the one asked for, else this computer, else a recording, else one well known.
    """
    offered = offers(machines, measurements)
    if machine is not None:
        first = offers([machine], measurements)[0]
        if first.id not in {offer.id for offer in offered}:
            offered = (first, *offered)
        return offered, first
    usable = [offer for offer in offered if offer.machine is not None]
    if not usable:
        raise ValueError(
            f"machines={machines!r}: none has figures; rl.this_machine() measures this one"
        )
    known = [offer for offer in usable if offer.id == WELL_KNOWN]
    here = [offer for offer in usable if offer.machine.origin == "measured"]
    return offered, (here or known or usable)[0]
