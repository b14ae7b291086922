"""The live roofline and the box: pictures that move in the browser and compute nothing there.

``rl.live.roofline()`` and ``rl.live.box()``. The kernel counts, places and formats everything
once; then sliders and choices work without it: after a restart, in a static page, offline. A
saved notebook keeps one still picture and its sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rooflab.count import blas
from rooflab.count.dtypes import DTypeLike, as_dtypes
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.validation import size, unknown
from rooflab.predict.machine import Machine
from rooflab.show.box import Solid
from rooflab.show.rooflines import tables
from rooflab.show.rooflines.ceiling_lines import CHOICES, MIX, as_band
from rooflab.show.rooflines.machine_choices import Offer, offers, well_known, with_figures
from rooflab.show.rooflines.picture import roofline_scenes
from rooflab.show.rooflines.tables import Family, Series, Slider, Tables
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement

DTYPES = ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3")
EDGES = tuple(2**e for e in range(15))
SMALLEST = 16  # N: an N×N matrix that lies in any L1
BATCH = "batch, vectors that share one matrix"
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
    dtype: DTypeLike = "fp32",
    dtypes: Sequence[DTypeLike] = DTYPES,
    n: int | None = None,
    batch: int = 1,
    cache: str = "cold",
    measurements: Sequence[Measurement] | Mapping[str, Measurement] = (),
    box: bool = False,
    ladder: bool = False,
    overhead: bool = False,
    band: tuple[float, float] | None = None,
    after: Any = None,
) -> Live:
    """Return the live roofline: sliders for N and the batch, choices for everything else.

    Nothing is measured.

    Parameters
    ----------
    machines : Machine, str or iterable of them, optional
        The machines on offer. None: this computer if its roofs are stored, all recordings, the
        whole catalogue.
    machine : Machine or str, optional
        The one shown first.
    ops : str or iterable of str
        Some of "axpy", "gemv", "gemm". AXPY has N² numbers, as many as the others' N×N matrix. The
        last of them is looked at first; of the others only their points are drawn.
    dtype : str or DType
        The number type shown first.
    dtypes : sequence of str or DType
        The number types on offer.
    n : int, optional
        N at the start, at the nearest slider value. None: where the operation that is looked at was
        measured, else any; 1024 where none was.
    batch : int
        Vectors that share one matrix, at the nearest slider value.
    cache : {"cold", "warm", "both"}
        "both" splits every dot in two.
    measurements : sequence of Measurement, or mapping of str to Measurement
        They appear on the machine they were taken on; by default none. Under names each has its
        name beside it, N has their sizes alone, and nothing is predicted.
    box : bool
        Draw the M×N×K box of the operation that is looked at beside it.
    ladder : bool
        Draw where the time of the operation goes that is looked at: from the bound to what was
        measured or predicted, a bar for each step of ``rl.explain``. It has the place of the box.
    overhead : bool
        Draw FLOP ÷ call time where calls were timed.
    band : (float, float), optional
        Intensities of a thumb rule to shade, in FLOP/byte, e.g. (4, 8).
    after : GuessAxis, SortCards or iterable of them, optional
        What ``rl.ask`` or ``rl.sort`` returned, one or several: all is covered until they are
        uncovered. None covers nothing.

    Returns
    -------
    Live
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> live = rl.live.roofline("H100-SXM", ops="gemv")
    >>> print(live.sentence.splitlines()[0].split(". ")[0])
    GEMV 1024×1024 in fp32: 2.10 MFLOP over 4.20 MB is 0.499 FLOP/byte, left of the ridge (20.0)
    """
    if box and ladder:
        raise ValueError("box=True and ladder=True have one place; choose one of them")
    if cache not in CHOICES:
        raise unknown("cache", cache, CHOICES)
    shown, rungs, timed = _rungs(measurements, tables.families(ops))
    offered, first = on_offer(machines, machine, timed)
    own = {m.op.dims["n"] for m in rungs.values() if m.op.name == "gemm"}
    every_n = sorted(own) or tables.sizes(SMALLEST)
    first_n = _measured_n(shown, timed, every_n) if n is None else n
    every_batch = (1,) if rungs else tables.batches()
    sliders = (
        Slider("N, the matrix size", every_n, nearest("n", first_n, every_n)),
        Slider(BATCH, every_batch, nearest("batch", batch, every_batch)),
        Slider("", (1,), 0),  # of three; one with a single value is not shown
    )
    series = tuple(_series(family, every_batch, not rungs) for family in shown)
    kinds, kind = as_dtypes("dtypes", dtypes, _dtype(dtype)), str(_dtype(dtype))
    spec = Tables(
        sliders, series, kinds, offered, overhead, as_band(band), ladder=ladder, rungs=rungs,
        solids=tuple(_solid(family) for family in shown if box),
    )  # fmt: skip
    start = {"machine": first.id, "dtype": kind, "cache": cache}
    return Live(spec, "rooflab-roofline", start, after)


def box(
    m: int = 1024,
    n: int = 1024,
    k: int = 1024,
    dtype: DTypeLike = "fp32",
    *,
    accumulate: bool = False,
    machine: Machine | str | None = None,
    machines: Iterable[Machine | str] | Machine | str | None = None,
    dtypes: Sequence[DTypeLike] = ("fp64", "fp32", "fp16"),
) -> Live:
    """Return the box with sliders for M, N and K, and beside it the roofline its point walks on.

    Nothing is measured.

    Parameters
    ----------
    m : int
        Rows of A and C at the start, at the nearest power of two up to 16 384.
    n : int
        Columns of B and C at the start, at the nearest power of two.
    k : int
        Columns of A, rows of B at the start, at the nearest power of two.
    dtype : str or DType
        The number type shown first.
    accumulate : bool
        C is read as well as written: then the stick M = K = 1 is AXPY.
    machine : Machine or str, optional
        The machine shown first, as in :func:`roofline`.
    machines : Machine, str or iterable of them, optional
        The machines on offer, as in :func:`roofline`.
    dtypes : sequence of str or DType
        The number types on offer.

    Returns
    -------
    Live
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> live = rl.live.box(64, 64, 64, machines="H100-SXM")
    >>> print(live.sentence.split(", ")[2])
    21.33 multiply-adds for each. GEMM 64×64×64 in fp32: 524 kFLOP over 49.2 kB is 10.67 FLOP/byte
    """

    sliders = tuple(
        Slider(f"{name}, {_EDGE_WORDS[name]}", EDGES, nearest(name.lower(), value, EDGES))
        for name, value in zip("MNK", (m, n, k))
    )
    faces = (("A", "a"), ("B", "b"), ("C, read and written: twice" if accumulate else "C", "c"))
    offer = on_offer(machines, machine, ())
    return product_box("box", "product", sliders, faces, (dtypes, dtype), offer, accumulate)


def product_box(
    stem: str,
    label: str,
    sliders: tuple[Slider, ...],
    faces: tuple[tuple[str, str], ...],
    types: tuple[Sequence[DTypeLike], DTypeLike],
    offer: tuple[tuple[Offer, ...], Offer],
    accumulate: bool = False,
    letters: tuple[str, str, str] = ("A", "B", "C"),
    mix: str = MIX,
    after: Any = None,
) -> Live:
    """The box of one product whose three edges are ``sliders``, with its roofline."""

    def build(m: int, n: int, k: int, kind: DTypeLike) -> Operation:
        return blas.gemm(m, n, k, kind, accumulate=accumulate)

    unsaid = [""] * len(sliders[1].values)
    series = Series("gemm", "GEMM", build, unsaid, unsaid, spread=True, estimated=False)
    (offered, first), first_kind = offer, _dtype(types[1])
    kinds = as_dtypes("dtypes", types[0], first_kind)
    solid = Solid(label, lambda m, n, k: (m, n, k), faces, letters)
    spec = Tables(sliders, (series,), kinds, offered, mix=mix, solids=(solid,))
    start = {"machine": first.id, "dtype": str(first_kind), "cache": "cold"}
    return Live(spec, f"rooflab-{stem}", start, after)


def _solid(family: Family) -> Solid:
    """The box of a family, driven by N and the batch."""
    return Solid(family.label, lambda n, batch, _: family.edges(n, batch), family.faces)


def _rungs(
    measurements: Any, shown: tuple[Family, ...]
) -> tuple[tuple[Family, ...], dict[str, Measurement], Sequence[Measurement]]:
    """The families as measured, measurements under names, if they have any, and all of them."""
    if not isinstance(measurements, Mapping):
        return shown, {}, measurements
    names, timed = [one.name for one in shown], [*measurements.values()]
    for name, m in measurements.items():
        if m.op.name not in names:
            raise unknown(f"measurements[{name!r}]: operation", m.op.name, names)
    return (
        tuple(tables.as_measured(one, [m.op for m in timed]) for one in shown),
        dict(measurements),
        timed,
    )


def _measured_n(
    shown: Sequence[Family], measurements: Sequence[Measurement], every_n: Sequence[int]
) -> int:
    """The largest N at which the operation looked at was measured, else any; 1024 if none was."""
    timed = {(m.op.name, *m.op.dims.values()) for m in measurements if m.op.batch == 1}

    def largest(some: Sequence[Family]) -> int:
        ops = ((n, family.build(n, 1, "fp32")) for n in every_n for family in some if timed)
        return max((n for n, op in ops if (op.name, *op.dims.values()) in timed), default=0)

    return largest(shown[-1:]) or largest(shown) or 1024


def _series(family: Family, every_batch: Sequence[int], estimated: bool) -> Series:
    """A family that slides; one that is not ``estimated`` is the base of what has names."""
    moves, roof = family.spread, "" if estimated else "roof: 100 %"
    tags = [roof or family.label + f" ×{b}" * (moves and b > 1) for b in every_batch]
    why = [family.why.replace("{batch}", str(b)) if b > 1 else "" for b in every_batch]

    def build(n: int, batch: int, _: int, kind: DTypeLike) -> Operation:
        return family.build(n, batch, kind)

    return Series(family.name, family.label, build, tags, why, moves, estimated)


def nearest(argument: str, value: int, values: Sequence[int]) -> int:
    """Return the index of the slider value nearest to ``value``, a positive integer."""
    wanted = size(argument, value)
    return min(range(len(values)), key=lambda index: abs(values[index] - wanted))


def on_offer(
    machines: Iterable[Machine | str] | Machine | str | None,
    machine: Machine | str | None,
    measurements: Sequence[Measurement],
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
    usable = with_figures(offered, machines)
    here = (offer for offer in usable if offer.known.origin == "measured")
    return offered, next(here, None) or well_known(usable)


class Live(Player):
    """A live roofline: ``machine``, ``dtype``, ``cache`` and ``op`` say what it shows.

    They can be read and set from Python. ``i``, ``j`` and ``k`` are the numbers of the sliders'
    values. ``after``: guess axes or sortings; until all of them are uncovered, one sentence is
    shown and nothing else.
    """

    def __init__(self, spec: Tables, stem: str, start: Mapping[str, Any], after: Any) -> None:
        self.spec = spec
        scenes = roofline_scenes(spec, dict(start))
        super().__init__(*scenes, stem=stem, kind="rl-live-roofline", after=after)

    @property
    def words(self) -> str:
        """A line for each operation, then what is said of the picture."""
        if self.covered:
            return self.sentence
        places = self.scene.places(**self.state)
        notes = (words for kind in ("more", "origin") for own, words, _ in self.scene.notes
                 if own == kind)  # fmt: skip
        return "\n".join(filter(None, (self.scene.settled(one, places) for one in notes)))
