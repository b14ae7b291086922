"""The live roofline and the box: pictures that move in the browser and compute nothing there.

``rl.live.roofline()`` and ``rl.live.box()``. The kernel counts, places and formats everything
once; then sliders and choices work without it: after a restart, in a static page, offline. A
saved notebook keeps one still picture and its sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from rooflab.count import blas
from rooflab.count.dtypes import DTypeLike, as_dtypes
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.validation import size, unknown
from rooflab.predict.machine import Machine
from rooflab.show import canvas
from rooflab.show.box import BoxView, Solid, of_family
from rooflab.show.rooflines.ceiling_lines import CHOICES, MIX, as_band
from rooflab.show.rooflines.families import Family, as_measured, batches, families, sizes
from rooflab.show.rooflines.machine_choices import Offer, offers, well_known, with_figures
from rooflab.show.rooflines.picture import roofline_scenes
from rooflab.show.rooflines.tables import Series, Slider, Tables
from rooflab.show.scene import painter
from rooflab.show.scene.player import Player
from rooflab.show.waiting import Cover, awaited, covered

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement

DTYPES = ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3")
EDGES = tuple(2**e for e in range(15))
SMALLEST = 16  # N: an N×N matrix that lies in any L1
SMALLEST_CALL = 8  # N where the cost of a call is shown: below 64 it decides
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
        first sentence is about the last of them.
    dtype : str or DType
        The number type shown first.
    dtypes : sequence of str or DType
        The number types on offer.
    n : int, optional
        N at the start, at the nearest slider value. None: where something was measured, else 1024.
    batch : int
        Vectors that share one matrix, at the nearest slider value.
    cache : {"cold", "warm", "both"}
        "both" splits every dot in two.
    measurements : sequence of Measurement, or mapping of str to Measurement
        They appear on the machine they were taken on; by default none. Under names each has its
        name beside it.
    box : bool
        Draw the M×N×K box beside it.
    ladder : bool
        Draw where the time of the operation goes that was touched last: from the bound to what was
        measured or predicted, a bar for each step of ``rl.explain``.
    overhead : bool
        Let N start small and draw FLOP ÷ call time where calls were timed.
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
    things = awaited(after)
    shown = families(ops)
    if cache not in CHOICES:
        raise unknown("cache", cache, CHOICES)
    rungs, timed = _rungs(measurements, [one.name for one in shown])
    shown = tuple(as_measured(one, [m.op for m in rungs.values()]) for one in shown)
    offered, first = on_offer(machines, machine, timed)
    own = {m.op.dims["n"] for m in rungs.values() if m.op.name == "gemm"}
    every_n = sorted({*sizes(SMALLEST_CALL if overhead else SMALLEST), *own})
    first_n = _measured_n(shown, timed, every_n) if n is None else n
    sliders = _size_sliders(first_n, batch, every_n)
    series = tuple(_series(family, sliders[1].values) for family in shown)
    first_kind = _dtype(dtype)
    kinds, kind = as_dtypes("dtypes", dtypes, first_kind), str(first_kind)
    scene = Tables(
        sliders, series, kinds, offered, overhead, as_band(band), ladder=ladder, rungs=rungs
    )
    start = {"machine": first.id, "dtype": kind, "cache": cache, "ops": [s.name for s in series]}
    beside = None
    if box:
        beside = _box_view([of_family(family) for family in shown], scene, kind)
    return Live(scene, "rooflab-roofline", start, beside, things)


def box(
    m: int = 1,
    n: int = 4096,
    k: int = 1,
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
    >>> print(live.sentence.splitlines()[0].split(". ")[0])
    GEMM 64×64×64 in fp32: 524 kFLOP over 49.2 kB is 10.67 FLOP/byte, left of the ridge (20.0)
    """

    sliders = tuple(
        Slider(name, f"{name}, {_EDGE_WORDS[name]}", EDGES, nearest(name.lower(), value, EDGES))
        for name, value in zip("MNK", (m, n, k))
    )
    faces = (
        ("A", "a"),
        ("B", "b"),
        ("C: counted twice, read and written" if accumulate else "C", "c"),
    )
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
    after: Sequence[Any] = (),
) -> Live:
    """The box of one product whose three edges are ``sliders``, with its roofline."""

    def build(m: int, n: int, k: int, kind: DTypeLike) -> Operation:
        return blas.gemm(m, n, k, kind, accumulate=accumulate)

    unsaid = [""] * len(sliders[1].values)
    series = Series("gemm", "GEMM", build, unsaid, unsaid, spread=True, estimated=False)
    (offered, first), first_kind = offer, _dtype(types[1])
    scene = Tables(sliders, (series,), as_dtypes("dtypes", types[0], first_kind), offered, mix=mix)
    kind = str(first_kind)
    start = {"machine": first.id, "dtype": kind, "cache": "cold", "ops": ["gemm"]}
    solid = Solid("gemm", label, build, lambda *edges: edges, faces, letters=letters)
    beside = _box_view([solid], scene, kind)
    return Live(scene, f"rooflab-{stem}", start, beside, after=after)


def _rungs(
    measurements: Any, shown: Sequence[str]
) -> tuple[dict[str, Measurement], Sequence[Measurement]]:
    """Return the measurements under names, none if they have none, and all of them."""
    if not isinstance(measurements, Mapping):
        return {}, measurements
    for name, m in measurements.items():
        if m.op.name not in shown:
            raise unknown(f"measurements[{name!r}]: operation", m.op.name, shown)
    return dict(measurements), [*measurements.values()]


def _measured_n(
    shown: Sequence[Family], measurements: Sequence[Measurement], every_n: Sequence[int]
) -> int:
    """The largest N at which an operation shown was measured; 1024 if none was."""
    timed = {(m.op.name, *m.op.dims.values()) for m in measurements if m.op.batch == 1}

    def is_timed(n: int) -> bool:
        ops = (family.build(n, 1, "fp32") for family in shown)
        return any((op.name, *op.dims.values()) in timed for op in ops)

    return max((n for n in every_n if timed and is_timed(n)), default=1024)


def _size_sliders(n: int, batch: int, every_n: Sequence[int]) -> tuple[Slider, Slider, Slider]:
    every_batch, said = batches(), "batch, vectors that share one matrix"
    return (
        Slider("N", "N, the matrix size", every_n, nearest("n", n, every_n)),
        Slider("batch", said, every_batch, nearest("batch", batch, every_batch)),
        Slider(
            "", "", (1,), 0
        ),  # pictures have three sliders; one with a single value is not shown
    )


def _box_view(solids: Sequence[Solid], scene: Tables, kind: str) -> BoxView:
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


class RooflineView(Player):
    """The roofline itself: ``machine``, ``dtype``, ``cache`` and ``ops`` say what it shows.

    ``i``, ``j`` and ``k`` are the numbers of the sliders' values.
    """

    def __init__(self, spec: Tables, start: Mapping[str, Any], **more: Any) -> None:
        self.spec = spec
        scenes = roofline_scenes(spec, dict(start))
        super().__init__(*scenes, stem="roofline", kind="rl-live-roofline", **more)

    @property
    def ops(self) -> list[str]:
        """The operations that are shown, by their names."""
        return [s.name for s in self.spec.series if getattr(self, f"shows_{s.name}")]

    @ops.setter
    def ops(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in {s.name for s in self.spec.series}:
                raise unknown("ops", name, [s.name for s in self.spec.series])
        for series in self.spec.series:
            setattr(self, f"shows_{series.name}", series.name in names)

    @property
    def words(self) -> str:
        """A line for each operation that is shown, then what is said of the picture."""
        places = self.scene.places(**self.state)
        lines: dict[str, list[str]] = {kind: [] for kind in ("more", "origin", "title")}
        for kind, words, _ in self.scene.notes:
            lines[kind].append(str(self.scene.settled(words, places)))
        return "\n".join(filter(None, [*lines["more"], *lines["origin"]]))


class Live(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A live roofline, with the box beside it on the same sliders.

    ``view`` is the roofline: its ``machine``, ``dtype``, ``cache`` and ``ops`` can be read and set
    from Python. ``after``: guess axes or sortings; until all of them are uncovered, one sentence is
    shown and nothing else.
    """

    def __init__(
        self,
        scene: Tables,
        stem: str,
        start: Mapping[str, Any],
        box: BoxView | None = None,
        after: Sequence[Any] = (),
    ) -> None:
        self.scene, self.cover = scene, Cover(after) if after else None
        self.view = RooflineView(scene, start)
        self.box = box
        self._tie()
        pictures = [self.view] if box is None else [box, self.view]
        wide = "1100px" if box is None else "752px"  # beside the box the picture is at its own size
        self.view.layout = ipywidgets.Layout(flex="3 1 480px", max_width=wide, margin="0")
        row = ipywidgets.HBox(
            pictures, layout=ipywidgets.Layout(flex_flow="row wrap", grid_gap="8px")
        )
        over = [] if self.cover is None else [self.cover]
        super().__init__([*over, row], model_id=canvas.free_model_id(stem))
        self.add_class("rooflab-live")

    def _tie(self) -> None:
        """Let each picture follow the others where they share a slider or a choice."""
        view, box = self.view, self.box
        if box is not None:
            edges = {letter: (view.model_id, letter, 0) for letter in "ijk"}
            box.follow(**edges, dtype=(view.model_id, "kind", 0))
            view.follow(**{letter: (box.model_id, letter, 0) for letter in "ijk"})
            ops = box.scene.dim("op").names
            if ops is not None and set(ops) <= {series.name for series in self.scene.series}:
                view.follow(touched=(box.model_id, "op", 0))
                box.follow(op=(view.model_id, "touched", 0))

    @property
    def covered(self) -> bool:
        """Whether it still waits for a guess."""
        return self.cover is not None and self.cover.covered

    @property
    def sentence(self) -> str:
        """What the picture shows now, in words, or what it waits for."""
        if self.cover is not None and self.cover.covered:
            return str(self.cover.sentence)
        return self._said()

    def _said(self) -> str:
        parts = [one.words for one in (self.view, self.box) if one is not None]
        return "\n".join(parts)

    def still(self) -> bytes:
        """A PNG of both pictures, side by side."""
        beside = [(self.view.scene, self.view.state)]
        if self.box is not None:
            beside.append((self.box.scene, self.box.state))
        return canvas.png(painter.row(beside), transparent=False)

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        live, words = super()._repr_mimebundle_(**kwargs), self._said()
        png = self.still()
        if self.cover is None or not self.cover.covered:
            return canvas.mimebundle(live, png, words)
        over, under = self.cover.sentence, (png, "The live roofline, uncovered.")
        return canvas.mimebundle(live, covered(over), over, under)
