"""The box: a product as an M×N×K solid whose volume is work and whose painted faces are traffic.

Drawn in the browser beside the roofline, on the same sliders. As everywhere, Python counts and
places, the browser draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anywidget
import ipywidgets
import numpy as np
import traitlets
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from rooflab.count.dtypes import DType, DTypeLike
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.show import canvas, captions, theme
from rooflab.show.families import Family
from rooflab.show.scene import Pool, Slider

# The M×N×K box as a drawing: lengths of its edges, its three painted faces, its still picture.
#
# N runs to the right, M down, K back to the upper right. So the front is C (M×N), the top B (K×N)
# and the right side A (M×K): all three faces that carry operands are in sight.


WIDTH, HEIGHT = 420, 330
# Left, top, right and bottom of where the box itself is drawn, in pixels: around it stand the
# title, the edges' names (M to the left, K to the right, N below) and a note, and never on each
# other.
AREA = (94, 32, 352, 278)
# Directions of the edges in pixels per pixel of length; y grows downwards.
ACROSS = {"n": (1.0, 0.0), "m": (0.0, 1.0), "k": (0.52, -0.42)}
SCALES = ("log", "true")
SCALE_WORDS = {
    "log": "log edges: each doubling adds the same length",
    "true": "true proportions; the longest edge keeps its length",
}
_BASE, _DOUBLING, _LONGEST = 8.0, 8.4, 150.0


def edge_lengths(edges: Sequence[int], scale: str) -> tuple[float, float, float]:
    """Return the drawn lengths of M, N and K in pixels; a true edge is never thinner than 1.5."""
    if scale == "log":
        m, n, k = (_BASE + _DOUBLING * math.log2(edge) for edge in edges)
    else:
        m, n, k = (max(1.5, _LONGEST * edge / max(edges)) for edge in edges)
    return m, n, k


def corners(lengths: Sequence[float]) -> dict[str, list[tuple[float, float]]]:
    """Return the corners of faces A, B and C in pixels, the box centred in its area."""
    m, n, k = lengths
    step = {
        axis: (x * length, y * length) for (axis, (x, y)), length in zip(ACROSS.items(), (n, m, k))
    }
    width, height = n + step["k"][0], m - step["k"][1]
    x, y = (AREA[0] + AREA[2] - width) / 2, (AREA[1] + AREA[3] - height) / 2 - step["k"][1]

    def at(*axes: str) -> tuple[float, float]:
        return (x + sum(step[a][0] for a in axes), y + sum(step[a][1] for a in axes))

    return {
        "C": [at(), at("n"), at("n", "m"), at("m")],
        "B": [at(), at("n"), at("n", "k"), at("k")],
        "A": [at("n"), at("n", "m"), at("n", "m", "k"), at("n", "k")],
    }


def draw(
    figure: Figure, left: float, title: str, edges: Sequence[int], scale: str, note: str,
    letters: Sequence[str] = "ABC",
) -> None:  # fmt: skip
    """Draw the box on ``figure``, ``left`` pixels from its left edge, edges and faces named."""
    dots = figure.dpi
    wide, high = figure.get_figwidth() * dots, figure.get_figheight() * dots
    ax = figure.add_axes((left / wide, 0.5 - HEIGHT / high / 2, WIDTH / wide, HEIGHT / high))
    ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    ax.axis("off")
    faces = corners(edge_lengths(edges, scale))
    for name, points in faces.items():
        ax.add_patch(Polygon(points, fc=theme.FACES[name], ec=theme.INK, lw=1, joinstyle="round"))
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points
        if min(math.hypot(x1 - x0, y1 - y0), math.hypot(x2 - x1, y2 - y1)) > 18:
            middle = ((x0 + x2) / 2, (y0 + y2) / 2)
            letter = letters["ABC".index(name)]
            ax.text(*middle, letter, ha="center", va="center", weight="bold")
    (x, y), (right, _), (_, bottom), _ = faces["C"]
    back = faces["A"][2]
    small: dict[str, Any] = {"fontsize": theme.SMALL, "va": "center"}
    ax.text((x + right) / 2, bottom + 21, f"N = {edges[1]}", ha="center", **small)
    ax.text(x - 7, (y + bottom) / 2, f"M = {edges[0]}", ha="right", **small)
    ax.text(
        (right + back[0]) / 2 + 8, (bottom + back[1]) / 2 + 5, f"K = {edges[2]}", ha="left", **small
    )
    ax.text(WIDTH / 2, 12, title, ha="center", weight="bold")
    ax.text(WIDTH / 2, HEIGHT - 8, note, ha="center", fontsize=theme.SMALL - 0.5, color="#555555")


@dataclass(frozen=True)
class Solid:
    """What one box shows: ``build`` and ``edges`` as functions of the three slider values.

    ``letters`` stand on the faces A, B and C; ``stays``: why a batch does not thicken it, shown
    once there is one.
    """

    name: str
    label: str
    build: Callable[[int, int, int, DTypeLike], Operation]
    edges: Callable[[int, int, int], tuple[int, int, int]]
    faces: tuple[tuple[str, str], ...]
    stays: str = ""
    letters: tuple[str, str, str] = ("A", "B", "C")


class BoxView(anywidget.AnyWidget):
    """The solid with its three painted faces and what they count."""

    _esm = canvas.source("overlay.js", "reading.js", "box.js")
    _css = canvas.source("live.css", "box.css")
    data = traitlets.Dict().tag(sync=True)
    # Ticks are the browser's own: the kernel need not send them back.
    i = traitlets.Int(0).tag(sync=True, echo_update=False)
    j = traitlets.Int(0).tag(sync=True, echo_update=False)
    k = traitlets.Int(0).tag(sync=True, echo_update=False)
    dtype = traitlets.Unicode().tag(sync=True)
    op = traitlets.Unicode().tag(sync=True)
    scale = traitlets.Unicode("log").tag(sync=True)
    width = WIDTH

    def __init__(
        self,
        solids: Sequence[Solid],
        sliders: Sequence[Slider],
        dtypes: Sequence[DType],
        **start: Any,
    ) -> None:
        self.solids, self.slider_values = tuple(solids), tuple(s.values for s in sliders)
        self.dtypes = tuple(dtypes)
        beside = ipywidgets.Layout(flex="1 1 330px", max_width="440px", margin="0")
        data = _pack(self.solids, self.slider_values, self.dtypes)
        super().__init__(data=data, layout=beside, **start)

    def _now(self) -> tuple[Solid, Operation, tuple[int, int, int]]:
        shown = next(s for s in self.solids if s.name == self.op)
        at = (self.i, self.j, self.k)
        m, n, k = (values[index] for values, index in zip(self.slider_values, at))
        kind = next(d for d in self.dtypes if str(d) == self.dtype)
        return shown, shown.build(m, n, k, kind), shown.edges(m, n, k)

    @property
    def sentence(self) -> str:
        """What the box shows now, in words."""
        _, op, edges = self._now()
        return captions.BOX.format(**captions.box(op, *edges), boxes=_boxes(op, edges))

    def draw(self, figure: Figure, left: float) -> None:
        """Draw the box as it is now on ``figure``, ``left`` pixels from its left edge."""
        shown, op, edges = self._now()
        title = f"{shown.label}: a {captions.solid(*edges)}"
        note = SCALE_WORDS[self.scale]
        draw(figure, left, title, edges, self.scale, note, shown.letters)


def _boxes(op: Operation, edges: Sequence[int]) -> str:
    """``, 8 of them`` when the batch is separate boxes instead of one thicker one."""
    many = op.flops // 2 // int(np.prod(edges, dtype=object))
    return f", {many} of them" if many > 1 else ""


def _pack(
    solids: Sequence[Solid], values: Sequence[Sequence[int]], dtypes: Sequence[DType]
) -> dict[str, object]:
    pool, (i, j, k) = Pool(), values
    points = list(itertools.product(i, j, k))
    return {
        "width": WIDTH, "height": HEIGHT,
        "shape": [len(v) for v in values], "area": AREA,
        "across": ACROSS, "colours": theme.FACES,
        "scales": SCALE_WORDS, "sentence": captions.BOX,
        "solids": [_pack_one(one, points, dtypes, pool) for one in solids],
        "texts": pool.texts,
    }  # fmt: skip


def _pack_one(
    one: Solid, points: Sequence[tuple[int, int, int]], dtypes: Sequence[DType], pool: Pool
) -> dict[str, object]:
    ledgers = {str(kind): [one.build(*point, kind) for point in points] for kind in dtypes}
    first = ledgers[str(dtypes[0])]
    edges = [one.edges(*point) for point in points]
    said = [captions.box(op, *edge) for op, edge in zip(first, edges)]
    keys = ("solid", "m", "n", "k", "volume", "painted", "reuse", "flops")
    tables = {key: pool.table(entry[key] for entry in said) for key in keys}
    tables["boxes"] = pool.table(_boxes(op, edge) for op, edge in zip(first, edges))
    for face, (_, name) in zip("ABC", one.faces):
        tables[face] = pool.table(_moved(op, name) for op in first)
    lengths = {
        scale: np.array([edge_lengths(edge, scale) for edge in edges]) * 64 for scale in SCALES
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
