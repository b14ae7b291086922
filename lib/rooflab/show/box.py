"""The box: a product as an M×N×K solid whose volume is work and whose painted faces are traffic.

Drawn in the browser beside the roofline, on the same sliders. As everywhere, Python counts and
places, the browser draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anywidget
import ipywidgets
import numpy as np
import traitlets
from matplotlib.figure import Figure

from rooflab.count.dtypes import DType
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.show import overlay, solid, theme, words
from rooflab.show.families import Family
from rooflab.show.scene import Pool, Slider


@dataclass(frozen=True)
class Solid:
    """What one box shows: ``build`` and ``edges`` as functions of the three slider values.

    ``letters`` stand on the faces A, B and C; ``stays``: why a batch does not thicken it, shown
    once there is one.
    """

    name: str
    label: str
    build: Callable[[int, int, int, object], Operation]
    edges: Callable[[int, int, int], tuple[int, int, int]]
    faces: tuple[tuple[str, str], ...]
    stays: str = ""
    letters: tuple[str, str, str] = ("A", "B", "C")


class BoxView(anywidget.AnyWidget):
    """The solid with its three painted faces and what they count."""

    _esm = overlay.source("overlay.js", "reading.js", "box.js")
    _css = overlay.source("live.css", "box.css")
    data = traitlets.Dict().tag(sync=True)
    # Ticks are the browser's own: the kernel need not send them back.
    i = traitlets.Int(0).tag(sync=True, echo_update=False)
    j = traitlets.Int(0).tag(sync=True, echo_update=False)
    k = traitlets.Int(0).tag(sync=True, echo_update=False)
    dtype = traitlets.Unicode().tag(sync=True)
    op = traitlets.Unicode().tag(sync=True)
    scale = traitlets.Unicode("log").tag(sync=True)
    width = solid.WIDTH

    def __init__(
        self,
        solids: Sequence[Solid],
        sliders: Sequence[Slider],
        dtypes: Sequence[DType],
        **start: object,
    ) -> None:
        self.solids, self.slider_values = tuple(solids), tuple(s.values for s in sliders)
        self.dtypes = tuple(dtypes)
        beside = ipywidgets.Layout(flex="1 1 330px", max_width="440px", margin="0")
        data = _pack(self.solids, self.slider_values, self.dtypes)
        super().__init__(data=data, layout=beside, **start)

    def _now(self) -> tuple[Solid, Operation, tuple[int, int, int]]:
        shown = next(s for s in self.solids if s.name == self.op)
        values = [v[index] for v, index in zip(self.slider_values, (self.i, self.j, self.k))]
        kind = next(d for d in self.dtypes if str(d) == self.dtype)
        return shown, shown.build(*values, kind), shown.edges(*values)

    @property
    def sentence(self) -> str:
        """What the box shows now, in words."""
        _, op, edges = self._now()
        return words.BOX.format(**words.box(op, *edges), boxes=_boxes(op, edges))

    def draw(self, figure: Figure, left: float) -> None:
        """Draw the box as it is now on ``figure``, ``left`` pixels from its left edge."""
        shown, op, edges = self._now()
        title = f"{shown.label}: a {words.solid(*edges)}"
        note = solid.SCALE_WORDS[self.scale]
        solid.draw(figure, left, title, edges, self.scale, note, shown.letters)


def _boxes(op: Operation, edges: Sequence[int]) -> str:
    """``, 8 of them`` when the batch is separate boxes instead of one thicker one."""
    many = op.flops // 2 // int(np.prod(edges, dtype=object))
    return f", {many} of them" if many > 1 else ""


def _pack(
    solids: Sequence[Solid], values: Sequence[Sequence[int]], dtypes: Sequence[DType]
) -> dict[str, object]:
    pool = Pool()
    return {
        "width": solid.WIDTH, "height": solid.HEIGHT,
        "shape": [len(v) for v in values], "area": solid.AREA,
        "across": solid.ACROSS, "colours": theme.FACES,
        "scales": solid.SCALE_WORDS, "sentence": words.BOX,
        "solids": [
            _pack_one(one, list(itertools.product(*values)), dtypes, pool) for one in solids
        ],
        "texts": pool.texts,
    }  # fmt: skip


def _pack_one(
    one: Solid, points: Sequence[tuple[int, ...]], dtypes: Sequence[DType], pool: Pool
) -> dict[str, object]:
    ledgers = {str(kind): [one.build(*point, kind) for point in points] for kind in dtypes}
    first = ledgers[str(dtypes[0])]
    edges = [one.edges(*point) for point in points]
    said = [words.box(op, *edge) for op, edge in zip(first, edges)]
    keys = ("solid", "m", "n", "k", "volume", "painted", "reuse", "flops")
    tables = {key: pool.table(entry[key] for entry in said) for key in keys}
    tables["boxes"] = pool.table(_boxes(op, edge) for op, edge in zip(first, edges))
    for face, (_, name) in zip("ABC", one.faces):
        tables[face] = pool.table(_moved(op, name) for op in first)
    lengths = {
        scale: np.array([solid.edge_lengths(edge, scale) for edge in edges]) * 64
        for scale in solid.SCALES
    }
    return {
        "name": one.name, "label": one.label, "ink": theme.style(one.name).ink,
        "faces": [text for text, _ in one.faces], "letters": one.letters, "stays": one.stays,
        "tables": tables,
        "lengths": {scale: found.astype("<u2").tobytes() for scale, found in lengths.items()},
        "dtypes": {
            kind: {
                "bytes": pool.table(si(op.bytes, "B") for op in ops),
                "intensity": pool.table(theme.intensity(op.intensity) for op in ops),
            }
            for kind, ops in ledgers.items()
        },
    }  # fmt: skip


def _moved(op: Operation, name: str) -> str:
    found = next((o for o in op.operands if o.name == name), None)
    if found is None:
        return "not moved"
    return theme.count(found.elements * (found.reads + found.writes))


def of_family(family: Family) -> Solid:
    """Return the box of a family, driven by N, the batch and an idle third slider."""
    return Solid(
        family.name,
        family.label,
        lambda n, batch, _, kind: family.build(n, batch, kind),
        lambda n, batch, _: family.edges(n, batch),
        family.faces,
        family.stays,
    )
