"""The box: a product as an M×N×K solid whose volume is work and whose painted faces are traffic.

It grows from its lower left front corner: N to the right, M upwards, K to the back. So the front is
C (M×N), the top B (K×N) and the right side A (M×K): all three faces that carry operands are seen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.count.dtypes import DType, DTypeLike
from rooflab.count.operation import Operation
from rooflab.count.si import grouped, si
from rooflab.show import captions, theme
from rooflab.show.rooflines.families import Family
from rooflab.show.rooflines.tables import Slider
from rooflab.show.scene import By, Dim, Fill, Scene, Sum, Times
from rooflab.show.scene.player import Player

#: So narrow that letters of 14 pixels stay larger than 12 on a phone.
WIDTH, HEIGHT, LETTERS = 420, 550, 14
CORNER = (90.0, 336.0)  # the corner it grows from
ACROSS, DOWN, BACK = np.array(
    [[1.0, 0.0], [0.0, -1.0], [0.42, -0.36]]
)  # pixels of a pixel's length
SCALES = ("log", "true")
SCALE_WORDS = {
    "log": "log edges: each doubling adds the same length",
    "true": "true proportions; the longest edge keeps its length",
}
CELLS = 8  # at most so many rows and columns of C can be pointed at
_BASE, _LONGEST = 10.0, 198.0
_SAME_IN_ALL_TYPES = ("solid", "m", "n", "k", "volume", "painted", "reuse", "flops")
_TABLE, _ROW = 386, 20  # where the counts begin; from one to the next
#: From the corners that are pulled to their handles: they keep apart, and off the words.
_OUT = {"k": (18.0, -12.0), "nm": (-6.0, -14.0)}
#: The faces as corners of the unit box (n, m, k), and how strongly they are painted.
_FACES = {
    "C": ([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], 0.62),
    "B": ([(0, 1, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1)], 0.2),
    "A": ([(1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)], 0.4),
}


def edge_lengths(edges: Any, scale: str, longest: int) -> Any:
    """Return the drawn lengths of M, N and K in pixels, in a box with edges up to ``longest``.

    ``edges``: the last axis holds M, N and K. A true edge is never thinner than 1.5.
    """
    found = np.asarray(edges, float)
    if scale == "log":
        return _BASE + (_LONGEST - _BASE) / max(1.0, math.log2(longest)) * np.log2(found)
    return np.maximum(1.5, _LONGEST * found / found.max(-1, keepdims=True))


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


class BoxView(Player):
    """The solid with its three painted faces and what they count; ``op`` says which one."""

    def __init__(
        self, solids: Sequence[Solid], sliders: Sequence[Slider], dtypes: Sequence[DType],
        **start: Any,
    ) -> None:  # fmt: skip
        scene = box_scene(solids, sliders, dtypes)
        super().__init__(scene, stem="rooflab-box", kind="rl-box", **start)
        self.layout.flex, self.layout.max_width, self.layout.margin = "2 1 400px", "500px", "0"


@dataclass(frozen=True)
class _Drawing:
    """Everything that the marks are made of: the scene, and the solids at each slider value."""

    scene: Scene
    solids: Sequence[Solid]
    edges: np.ndarray  # of the box, by solid, i, j and k
    lengths: By  # N, M, K in pixels

    def spot(self, *corners: tuple[float, float, float], shift: Any = (0, 0)) -> Sum:
        """Places at shares (n, m, k) of the edges, moved by ``shift`` pixels, or a row for each."""
        matrix = [direction(corner, axis) for corner in corners for axis in range(2)]
        fixed = np.broadcast_to(np.add(CORNER, shift), (len(corners), 2))
        return Sum(fixed.ravel(), Times(np.array(matrix).ravel(), self.lengths))


def direction(corner: Sequence[float], axis: int) -> list[float]:
    """Pixels along an axis of the sheet for a pixel of N, M and K, at shares of these edges."""
    return [share * way[axis] for share, way in zip(corner, (ACROSS, DOWN, BACK), strict=True)]


def box_scene(solids: Sequence[Solid], sliders: Sequence[Slider], dtypes: Sequence[DType]) -> Scene:
    """The boxes of ``solids`` for every value of three ``sliders``, with their counts."""
    every = [[str(v) for v in slider.values] for slider in sliders]
    dims = [
        Dim("op", [s.label for s in solids], [s.name for s in solids], glide=350),
        *(Dim(name, stops) for name, stops in zip("ijk", every, strict=True)),
        Dim("scale", ["log edges", "true shape"], SCALES, glide=350),
        Dim("dtype", [str(d) for d in dtypes], [str(d) for d in dtypes]),
        *(Dim(name, ["none", *(str(n + 1) for n in range(CELLS))]) for name in ("row", "column")),
    ]
    scene = Scene(WIDTH, HEIGHT, dims)
    first, second, third = (slider.values for slider in sliders)
    points = list(itertools.product(first, second, third))
    shape = tuple(len(slider.values) for slider in sliders)
    edges = np.array([[s.edges(*p) for p in points] for s in solids], object)
    found = [np.stack([edge_lengths(row, one, row.max()) for one in SCALES], 1) for row in edges]
    table = np.reshape(found, (len(solids), *shape, 2, 3))[..., [1, 0, 2]]  # N, M, K
    drawing = _Drawing(
        scene, solids, edges.reshape(len(solids), *shape, 3), By("op i j k scale", table)
    )
    _solid(drawing)
    _pointing(drawing)
    _handles(drawing, [len(slider.values) > 1 for slider in sliders])
    _counts(drawing, points, shape, dtypes)
    if len(solids) > 1:
        scene.choice("op", "operation in the box", [s.label for s in solids])
    scene.choice("scale", "scale of the edges", ["log edges", "true shape"])
    return scene


def _solid(drawing: _Drawing) -> None:
    """The painted faces with their letters, the edges behind them, and the edges' names."""
    scene, edges = drawing.scene, drawing.edges
    hidden = [((0, 0, 1), end) for end in ((1, 0, 1), (0, 1, 1), (0, 0, 0))]
    for start, end in hidden:
        scene.line(drawing.spot(start, end), "computing", 1, dash=(3, 4), name="inside")
    for face, (corners, paint) in _FACES.items():
        scene.line(drawing.spot(*corners), None, fill="paper", name="paper")
        scene.line(
            drawing.spot(*corners), None, fill="carrying", opacity=paint, name=f"face-{face}"
        )
        scene.line(drawing.spot(*corners), "ink", 1, closed=True)
    axes = {"A": (1, 2), "B": (0, 2), "C": (0, 1)}
    lengths = scene.table(drawing.lengths)
    for face, (corners, _) in _FACES.items():
        room = lengths[..., list(axes[face])].min(-1) * (0.42 if face != "C" else 1)
        letter = By("op", [s.letters["ABC".index(face)] for s in drawing.solids])
        middle = tuple(np.mean(corners, axis=0))
        shown = By("op i j k scale", np.where(room > 15, 1.0, 0.0))
        look: dict[str, Any] = {"anchor": "middle", "bold": True, "halo": True, "opacity": shown}
        scene.text(drawing.spot(middle, shift=(0, 5)), None, letter, name="letter", **look)
    for n, name, middle, shift, anchor in (
        (1, "N", (0.5, 0, 0), (0, 28), "middle"),
        (0, "M", (0, 0.5, 0), (-10, 9), "end"),
        (2, "K", (1, 0, 0.5), (10, 14), "start"),
    ):
        words = By(
            "op i j k",
            np.vectorize(lambda v, name=name: f"{name} = {grouped(v)}", otypes=[object])(
                edges[..., n]
            ),
        )
        scene.text(
            drawing.spot(middle, shift=shift),
            None,
            words,
            anchor=anchor,
            halo=True,
            size=LETTERS,
            name=f"edge-{name}",
        )


def _pointing(drawing: _Drawing) -> None:
    """Pointing at a part of C: rows of A and columns of B that it needs, and the work inside."""
    scene = drawing.scene
    shares = _Shares(drawing.edges)
    strips: dict[str, list[Any]] = {
        "A": [(1, "m0", 0), (1, "m1", 0), (1, "m1", 1), (1, "m0", 1)],
        "B": [("n0", 1, 0), ("n1", 1, 0), ("n1", 1, 1), ("n0", 1, 1)],
        "C": [("n0", "m0", 0), ("n1", "m0", 0), ("n1", "m1", 0), ("n0", "m1", 0)],
    }
    rod: list[Any] = [
        ("n0", "m0", 0),
        ("n1", "m0", 0),
        ("n1", "m0", 1),
        ("n1", "m1", 1),
        ("n0", "m1", 1),
        ("n0", "m1", 0),
    ]
    for face, corners in strips.items():
        spot = shares.spot(drawing, corners)
        scene.line(spot, "carrying", 2, fill="carrying", opacity=0.75, name=f"needs-{face}")
    scene.line(
        shares.spot(drawing, rod), "computing", 1.5, fill="computing", opacity=0.55, name="rod"
    )
    (front,) = (mark for mark in scene.marks if mark.name == "face-C")
    scene.grip("row column", shares.spot(drawing, [("n", "m", 0)]), None, area=front, hover=True)
    words = By("row", ["", *["This part needs whole rows of A and columns of B."] * CELLS])
    scene.text(WIDTH / 2, 42, words, "soft", size=LETTERS, anchor="middle", name="needs")


class _Shares:
    """Ends and middles of the rows and columns of C that can be pointed at, as shares of M, N."""

    def __init__(self, edges: np.ndarray) -> None:
        self.by: dict[str, tuple[str, np.ndarray]] = {}
        for name, dim, axis in (("m", "row", 0), ("n", "column", 1)):
            many = np.minimum(edges[..., axis].astype(float), CELLS)[..., None]
            place = np.arange(CELLS + 1) - 1.0
            inside = (place >= 0) & (place < many)
            for end, key in ((0.0, f"{name}0"), (0.5, name), (1.0, f"{name}1")):
                self.by[key] = (dim, np.where(inside, (place + end) / many, np.nan))

    def spot(self, drawing: _Drawing, corners: Sequence[Sequence[Any]]) -> Sum:
        """Places whose shares (n, m, k) are numbers, or names of those that depend on a pointer."""
        fixed = [[0.0 if isinstance(v, str) else float(v) for v in corner] for corner in corners]
        rows = np.array([direction(corner, axis) for corner in fixed for axis in range(2)])
        parts: list[Any] = [rows.ravel()]
        for dim, way, column in (("column", ACROSS, 0), ("row", DOWN, 1)):
            table = np.zeros((*drawing.edges.shape[:-1], CELLS + 1, 2 * len(corners), 3))
            for n, corner in enumerate(corners):
                if isinstance(corner[column], str):
                    share = self.by[corner[column]][1]
                    for axis in range(2):
                        table[..., 2 * n + axis, column] = share * way[axis]
            if np.isnan(table).any():
                flat = table.reshape(*table.shape[:-2], -1)
                parts.append(By(f"op i j k {dim}", flat))
        return Sum(np.tile(CORNER, len(corners)), Times(Sum(*parts), drawing.lengths))


def _handles(drawing: _Drawing, moves: Sequence[bool]) -> None:
    """Where the box is pulled: at its right upper edge, the back corner for K, the front one for N
    and M."""
    scene = drawing.scene
    dims = " ".join(name for name, one in zip("ij", moves) if one)
    for key, name, back in (("k", "k" if moves[2] else "", 1), ("nm", dims, 0)):
        if name:
            corner = (1, 1, back)
            stem = drawing.spot(corner, corner, shift=((0, 0), _OUT[key]))
            scene.line(stem, "key", 2, name="stem")
            spot = drawing.spot(corner, shift=_OUT[key])
            knob = scene.dot(spot, None, size=9, fill="paper", ink="key", width=3, name="knob")
            scene.grip(name, spot, None, area=knob)


def _counts(
    drawing: _Drawing, points: Sequence[tuple[int, int, int]], shape: tuple[int, ...],
    dtypes: Sequence[DType],
) -> None:  # fmt: skip
    """The counts under the box, its title, and its sentence."""
    scene, solids = drawing.scene, drawing.solids
    cells = [[(s, s.build(*p, kind)) for s in solids for p in points] for kind in dtypes]
    edges = drawing.edges.reshape(-1, 3)

    def table(texts: Iterable[str], more: str = "") -> By:
        full = (*((len(dtypes),) if more else ()), len(solids), *shape)
        return By(f"{more} op i j k", np.array([*texts], object).reshape(full))

    told = [captions.box(op, *e) for (_, op), e in zip(cells[0], edges, strict=True)]
    holes: dict[str, Any] = {key: table(one[key] for one in told) for key in _SAME_IN_ALL_TYPES}
    holes["boxes"] = table(_boxes(op, e) for (_, op), e in zip(cells[0], edges, strict=True))
    every = [op for row in cells for _, op in row]
    holes["bytes"] = table((si(op.bytes, "B") for op in every), "dtype")
    holes["intensity"] = table((theme.intensity(op.intensity) for op in every), "dtype")
    holes["name"] = By("op", [_subject(s.label) for s in solids])
    holes["dtype"] = By("dtype", [str(d) for d in dtypes])
    scene.says = Fill(captions.BOX, **holes)
    title = Fill("a {solid}{boxes}", solid=holes["solid"], boxes=holes["boxes"])
    scene.text(WIDTH / 2, 22, title, bold=True, anchor="middle", size=17, name="title")
    rows: list[tuple[Any, Any, str]] = []
    for n, face in enumerate("ABC"):
        moved = table(_moved(op, s.faces[n][1]) for s, op in cells[0])
        rows.append((By("op", [s.faces[n][0] for s in solids]), moved, face))
    work = Fill("{flops} ÷ {bytes}", flops=holes["flops"], bytes=holes["bytes"])
    rows += [
        ("elements painted", holes["painted"], "total"),
        ("multiply-adds inside", holes["volume"], "inside"),
        ("multiply-adds per element", holes["reuse"], "total"),
        (work, Fill("{i} FLOP/byte", i=holes["intensity"]), "total"),
    ]
    _table(scene, rows)
    _foot(scene, solids)


def _foot(scene: Scene, solids: Sequence[Solid]) -> None:
    """How its edges are drawn, and why a batch does not thicken it."""
    soft: dict[str, Any] = {"size": LETTERS, "anchor": "middle"}
    told = By("scale", [SCALE_WORDS[scale] for scale in SCALES])
    scene.text(WIDTH / 2, HEIGHT - 26, told, "soft", name="scale", **soft)
    if any(s.stays for s in solids):
        stays = [[s.stays if j else "" for j in range(scene.dim("j").size)] for s in solids]
        scene.text(WIDTH / 2, HEIGHT - 8, By("op j", stays), "soft", name="stays", **soft)


def _table(scene: Scene, rows: Sequence[tuple[Any, Any, str]]) -> None:
    """Names and values below each other; ``kind`` is a face, "inside" or "total"."""
    for row, (name, value, kind) in enumerate(rows):
        y = _TABLE + _ROW * row
        if kind in _FACES:
            scene.rect(24, y - 11, 14, 14, "paper", ink="ink", width=1, radius=1)
            scene.rect(24, y - 11, 14, 14, "carrying", opacity=_FACES[kind][1], radius=1)
        else:
            scene.line([(24, y - 15), (WIDTH - 24, y - 15)], "grid", 1)
        ink = "computing" if kind == "inside" else "ink"
        look: dict[str, Any] = {"size": LETTERS}
        scene.text(46 if kind in _FACES else 24, y, name, ink, name=f"name-{kind}", **look)
        look |= {"bold": True, "anchor": "end"}
        scene.text(WIDTH - 24, y, value, ink, name=f"count-{kind}", **look)


def _subject(label: str) -> str:
    """What a sentence about a solid begins with: ``This layer``, but ``GEMM``."""
    return label if label[:1].isupper() else f"This {label}"


def _boxes(op: Operation, edges: Iterable[int]) -> str:
    """``, 8 of them`` when the batch is separate boxes instead of one thicker one."""
    many = op.flops // 2 // math.prod(int(edge) for edge in edges)
    return f", {many} of them" if many > 1 else ""


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
