"""The request film as a picture: a roofline, the time of a step over the context, its numbers.

Machine, formats, batch and context are dimensions. Others follow from them: whether the step fits
the memory, whether the bars are seen from near or from far, the scale of time that holds them, and
how many of them go on beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.labs.llm.film import words
from rooflab.labs.llm.film.bars import LETTERS, FilmBars, area
from rooflab.labs.llm.film.captions import Captions
from rooflab.labs.llm.film.grid import ALL, ATTENTION, COMPUTE, KINDS, DotKind
from rooflab.labs.llm.film.roofline import SMALL, FilmRoofline, Look, shown
from rooflab.labs.llm.film.tables import FilmTables, written
from rooflab.show import theme
from rooflab.show.scene import By, Dim, Fill, Number, Scene, Sum, Times, Words
from rooflab.show.scene.axes import Frame

LANE = 112  # pixels of the longest bar beside the roofline
TURN = 280  # milliseconds to another machine or format


@dataclass(frozen=True)
class Layout:
    """Where the parts of a sheet stand, in pixels.

    ``rate`` and ``sizes``: x and y of the rate, and of batch and context. ``ran``: where something
    was measured, y of the rate, of what was measured, and of batch and context. ``key``: where the
    key begins, and how many entries it has in a row. ``facts``: left, right and first line; None
    without them. ``shares``: the same, and the height of a row.
    ``lane``: where their bars begin, how long they are, and how far below its row a bar lies.
    """

    width: int
    height: int
    roof: Frame
    bars: Frame
    rate: tuple[float, float]
    sizes: tuple[float, float]
    ran: tuple[float, float, float]
    key: tuple[float, int]
    facts: tuple[float, float, float] | None
    shares: tuple[float, float, float, float]
    lane: tuple[float, float, float]


WIDE = Layout(
    760, 462, Frame(54, 52, 460, 238), Frame(62, 332, 460, 424), (494, 60), (494, 84),
    (57, 80, 103), (8, 4), (494, 752, 128), (494, 752, 254, 37), (494, 112, 17),
)  # fmt: skip
NARROW = Layout(
    400, 640, Frame(52, 118, 370, 266), Frame(62, 384, 372, 476), (8, 63), (8, 86),
    (54, 74, 92), (8, 2), None, (8, 392, 530, 20), (188, 52, 0),
)  # fmt: skip


def film_dims(tables: FilmTables, start: Mapping[str, Any]) -> list[Dim]:
    """The dimensions of a film, beginning at ``start``: the place along each."""
    g, offers = tables.grid, tables.offers
    weights, kvs = [str(kind) for kind in g.weights], [str(kind) for kind in g.kvs]
    used, scale = np.unique(tables.scale, return_inverse=True)
    scale = scale.reshape(tables.scale.shape)
    names: list[tuple[str, list[str], list[Any], float]] = [
        ("machine", [one.name for one in offers], [one.id for one in offers], TURN),
        ("weights", weights, weights, TURN),
        ("kv", kvs, kvs, TURN),
        ("batch", [theme.count(n) for n in g.batches], list(g.batches), 0),
        ("context", [theme.count(n) for n in g.contexts], list(g.contexts), 0),
    ]
    return [
        *(Dim(name, said, held, start.get(name, 0), glide) for name, said, held, glide in names),
        Dim("fit", ["unknown", "no", "yes"], of=By(ALL, tables.fits)),
        Dim("zoom", ["near", "far"], of=By(ALL, tables.far)),
        Dim("scale", [str(n) for n in used], of=By("machine weights kv batch zoom", scale)),
        Dim(
            "cut",
            [str(n) for n in range(len(g.contexts) + 1)],
            of=By("machine weights kv batch zoom", tables.cut),
        ),
    ]


class FilmSheet:
    """A film on a sheet of one ``layout``; :meth:`draw` makes its marks on ``scene``."""

    def __init__(self, captions: Captions, layout: Layout, start: Mapping[str, int]) -> None:
        self.captions, self.tables, self.layout = captions, captions.tables, layout
        self.scene = Scene(layout.width, layout.height, film_dims(self.tables, start))

    def draw(self) -> None:
        """Draw everything; controls and sentences are not its matter."""
        self._title()
        FilmRoofline(self.tables, self.scene, self.layout.roof).draw()
        FilmBars(self.captions, self.scene, self.layout.bars, self.layout.key).draw()
        self._rate()
        self._shares()
        if self.layout.facts:
            self._facts(*self.layout.facts)

    def _title(self) -> None:
        machine, weights, kv = (By(one.name, list(one.stops)) for one in self.scene.dims[:3])
        lines = ["{model} · weights {weights} · KV cache {kv}", "{machine}"]
        if self.layout.facts:
            lines = [" · ".join(lines)]
        for n, template in enumerate(lines):
            name = self.tables.grid.model.name
            line = Fill(template, model=name, machine=machine, weights=weights, kv=kv)
            size = SMALL if self.layout.facts else SMALL - 2
            self.scene.text(8, 16 + 19 * n, line, "soft", size=size, name="title")

    def _shares(self) -> None:
        scene, t = self.scene, self.tables
        left, right, y, step = self.layout.shares
        stacked, (lane, _, below) = bool(self.layout.facts), self.layout.lane
        scene.text(left, y, words.HEADING, bold=True, name="heading")
        scene.line([(left, y + 6), (right, y + 6)], "soft", 1)
        rest = np.broadcast_to(t.rest[:, :, None, :, None], t.total.shape)
        whole = By(ALL, np.nan_to_num(LANE * rest / t.total)[..., None])
        for n, kind in enumerate(KINDS):
            row = y + (22 if stacked else 21) + step * n
            scene.dot(left + 9, row - 5, kind.shape, 6.5, fill="paper", ink="ink", width=2)
            scene.text(left + 22, row, kind.label, size=LETTERS, name="kind")
            time = By(kind.dims, written(t.seconds[kind.name], words.seconds))
            look: Look = {"size": LETTERS, "bold": True, "anchor": "end"}
            end = right if stacked else lane - 10
            scene.text(end, row, time, name=f"time-{kind.name}", **look)
            self._share(kind, row + below - 10, whole)
            limits = words.LIMITS[COMPUTE], words.LIMITS[kind.part]
            limit = By(kind.dims, np.where(t.computes(kind), *limits).astype(object))
            look = {"size": SMALL, "anchor": "end", "opacity": shown(t)}
            scene.text(right, row + below, limit, "soft", name=f"limit-{kind.name}", **look)

    def _share(self, kind: DotKind, y: float, whole: By) -> None:
        """How much of the step a kind takes; ``whole``: of LANE pixels, all but attention."""
        t, (lane, long, _) = self.tables, self.layout.lane
        self.scene.rect(lane, y, long, 11, "grid", radius=0)
        base, matrix = np.tile([float(lane), y], 4), np.zeros(8)
        base[[2, 4]], base[[5, 7]] = lane + 1.5, y + 11
        if kind is ATTENTION:
            base[[2, 4]] += long
            matrix[[2, 4]] = -long / LANE
            points = Sum(base, Times(matrix, whole))
        else:
            matrix[[2, 4]] = long / LANE
            share = np.nan_to_num(t.seconds[kind.name] / t.rest)[..., None] * matrix
            points = Sum(base, Times(By(kind.dims, share), whole))
        computes = np.broadcast_to(t.computes(kind), t.seconds[kind.name].shape)
        for part, clear in ((COMPUTE, computes), (kind.part, ~computes)):
            clear = clear & FilmTables.along(t.usable, clear.ndim)
            if clear.any():
                on: Number = 1.0 if clear.all() else By(kind.dims, clear)
                area(self.scene, points, part, on, name=f"share-{kind.name}")

    def _rate(self) -> None:
        """The rate, and what it is the rate of; with what was measured, as large, below it."""
        scene, c, at = self.scene, self.captions, self.layout
        (x, rate), (_, sizes), letters = at.rate, at.sizes, 25
        if any(self.tables.timed):
            (rate, ran, sizes), letters = at.ran, 18
            scene.text(x, ran, c.ran("rate", " "), size=letters, bold=True, name="ran-rate")
        look: Look = {"bold": True, "opacity": shown(self.tables), "name": "rate"}
        scene.text(x, rate, c.headline, By("fit", ["ink", "soft", "ink"]), size=letters, **look)
        ink = By("fit", ["soft", "warn", "soft"])
        scene.text(x, sizes, c.sizes, ink, size=LETTERS, name="sizes")

    def _facts(self, left: float, right: float, y: float) -> None:
        scene, c, t = self.scene, self.captions, self.tables
        known = np.where(np.isnan(t.memory), "{need}", "{need} of {has}").astype(object)
        said: dict[str, Words] = {
            "each": By(ALL, written(1 / t.total, words.rate)),
            "total": c.total,
            "moved": c.moved,
            "prompt": By("machine weights kv context", written(t.prompt, words.seconds)),
            "need": Fill(By("machine", known), need=c.need, has=c.has),
        }
        look: Look = {"size": LETTERS, "bold": True, "anchor": "end", "opacity": shown(t)}
        for n, (name, label) in enumerate(words.FACTS.items()):
            low = y + 21 * n
            scene.line([(left, low + 6), (right, low + 6)], "grid", 1)
            scene.text(left, low, label, size=LETTERS, name="fact")
            ink = By("fit", ["ink", "warn", "ink"]) if name == "need" else "ink"
            scene.text(right, low, said[name], ink, name=f"fact-{name}", **look)
