"""The request film as a picture: a roofline, the time of a step over the context, its numbers.

Machine, formats, batch and context are dimensions. Others follow from them: whether the step fits
the memory, whether the bars are seen from near or from far, and the scale of time that holds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rooflab.labs.llm.film import captions as words
from rooflab.labs.llm.film.bars import LETTERS, FilmBars, area
from rooflab.labs.llm.film.captions import Captions, written
from rooflab.labs.llm.film.grid import ALL, ATTENTION, COMPUTE, KINDS, DotKind
from rooflab.labs.llm.film.roofline import FilmRoofline, Look
from rooflab.labs.llm.film.tables import TOPS, FilmTables
from rooflab.show import theme
from rooflab.show.scene import By, Dim, Scene, Sum, Times
from rooflab.show.scene.axes import Frame

LANE = 100  # of the longest bar beside the roofline are all of it
TURN = 280  # milliseconds to another machine or format


@dataclass(frozen=True)
class Layout:
    """Where the parts of a sheet stand, in pixels.

    ``columns``: entries in a row of the key. ``rate``: x and y of the rate; what was measured, and
    batch and context, lie below it. ``facts``: left, right and first line; None without them.
    ``shares``: the same, and the height of a row. ``lane``: where their bars begin and end.
    """

    width: int
    height: int
    roof: Frame
    bars: Frame
    columns: int
    rate: tuple[float, float]
    facts: tuple[float, float, float] | None
    shares: tuple[float, float, float, float]
    lane: tuple[float, float]


WIDE = Layout(
    760, 462, Frame(54, 52, 446, 238), Frame(62, 332, 446, 424), 4, (492, 60), (492, 752, 142),
    (492, 752, 296, 30), (606, 678),
)  # fmt: skip
NARROW = Layout(
    400, 646, Frame(52, 118, 370, 266), Frame(62, 384, 372, 476), 2, (8, 49), None,
    (8, 392, 532, 21), (122, 310),
)  # fmt: skip


def film_dims(tables: FilmTables, start: Mapping[str, int]) -> list[Dim]:
    """The dimensions of a film, beginning at ``start``: the place along each."""
    grid, count = tables.grid, theme.count
    names, ids = zip(*((offer.name, offer.id) for offer in tables.offers))
    weights, kvs = ([str(kind) for kind in kinds] for kinds in (grid.weights, grid.kvs))
    return [
        Dim("machine", names, ids, start["machine"], TURN),
        Dim("weights", weights, weights, start["weights"], TURN),
        Dim("kv", kvs, kvs, glide=TURN),
        Dim("batch", [*map(count, grid.batches)], grid.batches, start["batch"]),
        Dim("context", [*map(count, grid.contexts)], grid.contexts, start["context"]),
        Dim("fit", ["unknown", "no", "yes"], of=By(ALL, tables.fits)),
        Dim("zoom", ["near", "far"], of=By(ALL, tables.far)),
        Dim("scale", [*map(str, TOPS)], of=By("machine weights kv batch zoom", tables.scale)),
    ]


@dataclass(frozen=True)
class FilmSheet:
    """A film on a ``scene`` of one ``layout``; :meth:`draw` makes its marks."""

    captions: Captions
    layout: Layout
    scene: Scene

    def draw(self) -> None:
        """Draw everything; controls and sentences are not its matter."""
        t, at = self.captions.tables, self.layout
        self.scene.text(at.rate[0], 20, t.grid.model.name, "soft", size=LETTERS, name="title")
        FilmRoofline(t, self.scene, at.roof).draw()
        FilmBars(t, self.captions.numbers["total"], self.scene, at.bars, at.columns).draw()
        self._rate()
        self._shares()
        if at.facts:
            self._facts(*at.facts)

    def _rate(self) -> None:
        """The rate, and what it is the rate of; with what was measured, as large, below it."""
        scene, c, (x, y) = self.scene, self.captions, self.layout.rate
        letters, low = 25, y + 24
        headline: str | By = "{rate}"
        if c.tables.timed:
            letters, y, low = 18, y - 6, y + 36
            ran = c.ran(lambda run: words.MEASURED.format(rate=words.rate(run.per_second)), " ")
            scene.text(x, y + 22, ran, size=letters, bold=True, name="ran-rate")
            headline = By(ran.dims, np.where(ran.values == "", "{rate}", words.ESTIMATED))
        ink, pale = By("fit", ["ink", "soft", "ink"]), By("fit", ["soft", "warn", "soft"])
        scene.text(x, y, c.fill(headline), ink, size=letters, bold=True, name="rate")
        sizes = By("fit", [words.SIZES, words.MISFIT, words.SIZES])
        scene.text(x, low, c.fill(sizes), pale, size=LETTERS, name="sizes")

    def _facts(self, left: float, right: float, y: float) -> None:
        look: Look = {"size": LETTERS, "bold": True, "anchor": "end"}
        for n, (label, number) in enumerate(words.FACTS.items()):
            low, said = y + 23 * n, self.captions.fill(number)
            self.scene.line([(left, low + 7), (right, low + 7)], "grid", 1)
            self.scene.text(left, low, label, size=LETTERS, name="fact")
            ink = By("fit", ["ink", "warn" if label == "memory" else "ink", "ink"])
            self.scene.text(right, low, said, ink, name=f"fact {label}", **look)

    def _shares(self) -> None:
        scene, t = self.scene, self.captions.tables
        left, right, y, step = self.layout.shares
        scene.text(left, y, words.HEADING, size=LETTERS, bold=True, name="heading")
        scene.line([(left, y + 7), (right, y + 7)], "soft", 1)
        whole = By(ALL, (LANE * t.rest[:, :, None, :, None] / t.total)[..., None])
        for n, kind in enumerate(KINDS):
            row = y + 7 + step * (n + 1) - (step - 16) / 2
            scene.dot(left + 9, row - 5, kind.shape, 6.5, fill="paper", ink="ink", width=2)
            scene.text(left + 22, row, kind.label, size=LETTERS, name="kind")
            time = By(kind.dims, written(t.seconds[kind.name], words.seconds))
            look: Look = {"size": LETTERS, "bold": True, "anchor": "end"}
            scene.text(right, row, time, name=f"time-{kind.name}", **look)
            self._share(kind, row - 11, whole)

    def _share(self, kind: DotKind, y: float, whole: By) -> None:
        """How much of the step a kind takes; ``whole``: of LANE, all but attention."""
        t, (left, right) = self.captions.tables, self.layout.lane
        self.scene.rect(left, y, right - left, 11, "grid", radius=0)
        base = np.array([left, y, left + 1.5, y, left + 1.5, y + 11, left, y + 11])
        along = np.array([0, 0, 1, 0, 1, 0, 0, 0]) * (right - left)
        if kind is ATTENTION:
            points = Sum(base + along, Times(-along / LANE, whole))
        else:
            share = (t.seconds[kind.name] / t.rest)[..., None] * along / LANE
            points = Sum(base, Times(By(kind.dims, share), whole))
        computes = np.broadcast_to(t.computes(kind), t.seconds[kind.name].shape)
        for part, on in ((COMPUTE, computes), (kind.part, ~computes)):
            area(self.scene, points, part, By(kind.dims, on), name=f"share-{kind.name}")
