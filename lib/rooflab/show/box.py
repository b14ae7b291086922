"""The box: a product as an M×N×K solid whose volume is work and whose painted faces are traffic.

It grows from its lower left front corner: N to the right, M upwards, K to the back. So the front is
C (M×N), the top B (K×N) and the right side A (M×K): all three faces that carry operands are seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.operation import Operation
from rooflab.count.si import grouped
from rooflab.show import captions, theme
from rooflab.show.scene import By, Dim, Fill, Scene, Sum, Times, Words

if TYPE_CHECKING:
    from rooflab.show.rooflines.values import RooflineValues

LETTERS = 14  # pixels
ACROSS, DOWN, BACK = np.array(
    [[1.0, 0.0], [0.0, -1.0], [0.42, -0.36]]
)  # pixels of a pixel's length
SCALES = ("log", "true")
SCALE_WORDS = ("each doubling of an edge adds the same length", "true proportions")
CELLS = 8  # at most so many rows and columns of C can be pointed at
SHORTEST = 0.1  # of the longest edge: an edge of one element
THINNEST = 0.0075  # of the longest edge: as thin as a true edge is drawn
WIDTH = 312  # pixels of the box with its words
LEFT, ABOVE = 82, 32  # pixels that words take left of the solid, and above it
ROW = 18  # pixels from count to count
#: From the corners that are pulled to their handles: they keep apart, and off the words.
HANDLES = {"k": (18.0, -12.0), "ij": (-6.0, -14.0)}
#: The faces as corners of the unit box (n, m, k), and how strongly they are painted.
FACES = {
    "C": ([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], 0.62),
    "B": ([(0, 1, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1)], 0.2),
    "A": ([(1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)], 0.4),
}


def edge_lengths(edges: Any, scale: str, longest: int) -> Any:
    """Return the drawn lengths of M, N and K, as shares of that of an edge of ``longest``.

    ``edges``: the last axis holds M, N and K. A true edge is never too thin to be seen.
    """
    found = np.asarray(edges, float)
    if scale == "log":
        return SHORTEST + (1 - SHORTEST) / max(1.0, math.log2(longest)) * np.log2(found)
    return np.maximum(THINNEST, found / found.max(-1, keepdims=True))


@dataclass(frozen=True)
class Solid:
    """What the box of an operation shows: its ``edges`` as a function of three slider values.

    ``faces`` say what is painted on faces A, B and C, with the operand's name in the ledger, and
    ``letters`` stand on them.
    """

    label: str
    edges: Callable[[int, int, int], tuple[int, int, int]]
    faces: tuple[tuple[str, str], ...]
    letters: tuple[str, str, str] = ("A", "B", "C")


class Boxes:
    """The solids of all operations of a roofline, by the operation and its three sliders."""

    def __init__(self, values: RooflineValues, solids: Sequence[Solid]) -> None:
        self.values, self.solids = values, solids
        points = list(values.spec.points())
        shape = tuple(len(slider.values) for slider in values.spec.sliders)
        edges = np.array([[solid.edges(*point) for point in points] for solid in solids], object)
        shares = [np.stack([edge_lengths(row, s, row.max()) for s in SCALES], 1) for row in edges]
        self.shares = np.reshape(shares, (len(solids), *shape, 2, 3))[..., [1, 0, 2]]
        self.edges = edges.reshape(len(solids), *shape, 3)

    @property
    def dims(self) -> list[Dim]:
        """How its edges are drawn, and what of C is pointed at."""
        cells = ["none", *(str(n + 1) for n in range(CELLS))]
        scale = Dim("scale", ["log edges", "true shape"], SCALES, glide=350)
        return [scale, Dim("row", cells), Dim("column", cells)]

    def by_op(self, value: Callable[[Solid, Operation, Any], str]) -> By:
        """Words of every operation at every place of the sliders, for all number types."""
        ledgers = [self.values.ledgers[series.name][0] for series in self.values.spec.series]
        table = [
            [value(solid, op, edges) for op, edges in zip(ops.ravel(), own.reshape(-1, 3))]
            for solid, ops, own in zip(self.solids, ledgers, self.edges)
        ]
        return By("op i j k", np.reshape(np.array(table, object), self.edges.shape[:-1]))

    @cached_property
    def counts(self) -> dict[str, By]:
        """What is counted of a box, in words."""

        def count(_: Solid, op: Operation, edges: Any, key: str) -> str:
            return captions.box(op, *edges)[key]

        keys = ("solid", "volume", "painted", "reuse")
        return {key: self.by_op(partial(count, key=key)) for key in keys}

    @property
    def words(self) -> Words:
        """What the box is and holds, as a sentence."""
        labels = [solid.label for solid in self.solids]
        names = By("op", [one if one[:1].isupper() else f"This {one}" for one in labels])
        many = self.by_op(lambda _, op, edges: _copies(op, edges))
        return Fill(captions.BOX, name=names, boxes=many, **self.counts)

    @property
    def intensity(self) -> By:
        """FLOP/byte, which depends on the number type too."""
        every = self.values.spec.series
        tables = [self.values.by_op(one, lambda op: theme.intensity(op.intensity), "kind i j k")
                  for one in every]  # fmt: skip
        return By("op kind i j k", np.array([table.values for table in tables], object))

    @property
    def step(self) -> By:
        """What leads from multiply-adds per element to FLOP/byte, where elements are all alike."""
        every = [ops[:, 0, 0, 0] for ops in self.values.ledgers.values()]
        bits = [{o.dtype.bits for op in ops for o in op.operands} for ops in zip(*every)]
        steps = (f"× 2 FLOP ÷ {min(one) / 8:g} B: " * (len(one) == 1) for one in bits)
        return By("kind", [f"{step}FLOP per byte" for step in steps])

    def moved(self, face: int) -> By:
        """The elements that go through a face."""
        return self.by_op(lambda solid, op, _: _moved(op, solid.faces[face][1]))


@dataclass(frozen=True)
class BoxDrawing:
    """The box with its counts on ``scene``, right of ``left`` and below ``top``."""

    scene: Scene
    boxes: Boxes
    left: float
    top: float
    longest: float

    @cached_property
    def lengths(self) -> By:
        """Pixels of N, M and K."""
        return By("op i j k scale", self.longest * self.boxes.shares)

    @property
    def corner(self) -> tuple[float, float]:
        """The corner that it grows from."""
        return self.left + LEFT, self.top + ABOVE + self.longest * (1 - BACK[1])

    def draw(self) -> None:
        """Title, solid, what can be pointed at and pulled, and the counts."""
        labels = By("op", [one.label[:1].upper() + one.label[1:] for one in self.boxes.solids])
        title = Fill("{name}: a {solid}", name=labels, solid=self.boxes.counts["solid"])
        self.scene.text(self.left, self.top, title, bold=True, size=LETTERS + 1, name="solid")
        self.scene.text(self.left, self.top + 18, By("scale", list(SCALE_WORDS)), "soft",
                        size=LETTERS - 1, name="scale")  # fmt: skip
        self._solid()
        self._names()
        self._pointing()
        self._handles()
        self._counts()

    def spot(self, *corners: tuple[float, float, float], shift: Any = (0, 0)) -> Sum:
        """Places at shares (n, m, k) of the edges, moved by ``shift`` pixels, or a row for each."""
        matrix = [self._way(corner, axis) for corner in corners for axis in range(2)]
        fixed = np.broadcast_to(np.add(self.corner, shift), (len(corners), 2))
        return Sum(fixed.ravel(), Times(np.array(matrix).ravel(), self.lengths))

    def _way(self, corner: Sequence[float], axis: int) -> list[float]:
        """Pixels along an axis of the sheet for a pixel of N, M and K, at shares of these edges."""
        return [share * way[axis] for share, way in zip(corner, (ACROSS, DOWN, BACK), strict=True)]

    def _solid(self) -> None:
        """The painted faces with their letters, and the edges behind them."""
        scene = self.scene
        for end in ((1, 0, 1), (0, 1, 1), (0, 0, 0)):
            scene.line(self.spot((0, 0, 1), end), "computing", 1, dash=(3, 4), name="inside")
        for face, (corners, paint) in FACES.items():
            place = self.spot(*corners)
            scene.line(place, None, fill="paper", name="paper")
            scene.line(place, None, fill="carrying", opacity=paint, name=f"face-{face}")
            scene.line(place, "ink", 1, closed=True)
        axes, lengths = {"A": [1, 2], "B": [0, 2], "C": [0, 1]}, self.longest * self.boxes.shares
        for face, (corners, _) in FACES.items():
            slant = 0.42 if face != "C" else 1
            room = lengths[..., axes[face]].min(-1) * slant
            letter = By("op", [s.letters["ABC".index(face)] for s in self.boxes.solids])
            middle = self.spot(tuple(np.mean(corners, axis=0)), shift=(0, 5))
            shown = By("op i j k scale", np.where(room > 15, 1.0, 0.0))
            scene.text(middle, None, letter, anchor="middle", bold=True, halo=True, opacity=shown,
                       name="letter")  # fmt: skip

    def _names(self) -> None:
        """The edges' names with their lengths."""
        for n, name, middle, shift, anchor in (
            (1, "N", (0.5, 0, 0), (0, 27), "middle"),
            (0, "M", (0, 0.5, 0), (-8, 9), "end"),
            (2, "K", (1, 0, 0.5), (8, 14), "start"),
        ):
            edges = self.boxes.edges[..., n]
            words = [f"{name} {grouped(edge)}" for edge in edges.ravel()]
            table = By("op i j k", np.reshape(np.array(words, object), edges.shape))
            self.scene.text(self.spot(middle, shift=shift), None, table, anchor=anchor, halo=True,
                            size=LETTERS, name=f"edge-{name}")  # fmt: skip

    def _pointing(self) -> None:
        """What a part of C needs that is pointed at: rows of A, columns of B, the work inside."""
        scene = self.scene
        strips: dict[str, list[Any]] = {
            "A": [(1, "m0", 0), (1, "m1", 0), (1, "m1", 1), (1, "m0", 1)],
            "B": [("n0", 1, 0), ("n1", 1, 0), ("n1", 1, 1), ("n0", 1, 1)],
            "C": [("n0", "m0", 0), ("n1", "m0", 0), ("n1", "m1", 0), ("n0", "m1", 0)],
        }
        rod: list[Any] = [("n0", "m0", 0), ("n1", "m0", 0), ("n1", "m0", 1), ("n1", "m1", 1),
                          ("n0", "m1", 1), ("n0", "m1", 0)]  # fmt: skip
        for face, corners in strips.items():
            scene.line(self._part(corners), "carrying", 2, fill="carrying", opacity=0.75,
                       name=f"needs-{face}")  # fmt: skip
        scene.line(self._part(rod), "computing", 1.5, fill="computing", opacity=0.55, name="rod")
        (front,) = (mark for mark in scene.marks if mark.name == "face-C")
        scene.grip("row column", self._part([("n", "m", 0)]), None, area=front, hover=True)

    def _part(self, corners: Sequence[Sequence[Any]]) -> Sum:
        """Places whose shares (n, m, k) are numbers, or names of those that depend on a pointer."""
        fixed = [[0.0 if isinstance(v, str) else float(v) for v in corner] for corner in corners]
        rows = np.array([self._way(corner, axis) for corner in fixed for axis in range(2)])
        parts: list[Any] = [rows.ravel()]
        for dim, way, column in (("column", ACROSS, 0), ("row", DOWN, 1)):
            if not any(isinstance(corner[column], str) for corner in corners):
                continue
            table = np.zeros((*self.boxes.edges.shape[:-1], CELLS + 1, 2 * len(corners), 3))
            for n, corner in enumerate(corners):
                if isinstance(corner[column], str):
                    share = self._share(corner[column])
                    for axis in range(2):
                        table[..., 2 * n + axis, column] = share * way[axis]
            parts.append(By(f"op i j k {dim}", table.reshape(*table.shape[:-2], -1)))
        return Sum(np.tile(self.corner, len(corners)), Times(Sum(*parts), self.lengths))

    def _share(self, name: str) -> np.ndarray:
        """Beginning ("m0"), middle ("m") or end ("m1") of each part of M or N, as a share of it."""
        axis, end = "mn".index(name[0]), {"0": 0.0, "": 0.5, "1": 1.0}[name[1:]]
        many = np.minimum(self.boxes.edges[..., axis].astype(float), CELLS)[..., None]
        place = np.arange(CELLS + 1) - 1.0
        return np.where((place >= 0) & (place < many), (place + end) / many, np.nan)

    def _handles(self) -> None:
        """Where it is pulled: at its right upper edge, the back corner for K, the front one for N
        and M."""
        moves = [len(slider.values) > 1 for slider in self.boxes.values.spec.sliders]
        for dims, off in HANDLES.items():
            dims = "".join(letter for letter, one in zip("ijk", moves) if one and letter in dims)
            if dims:
                corner = (1, 1, int(dims == "k"))
                stem = self.spot(corner, corner, shift=((0, 0), off))
                self.scene.line(stem, "key", 2, name="stem")
                spot = self.spot(corner, shift=off)
                knob = self.scene.dot(spot, None, size=9, fill="paper", ink="key", width=3,
                                      name="knob")  # fmt: skip
                self.scene.grip(" ".join(dims), spot, None, area=knob)

    def _counts(self) -> None:
        """What goes through each face, and what that is for the work inside."""
        solids, boxes = self.boxes.solids, self.boxes
        faces = [By("op", [solid.faces[n][0] for solid in solids]) for n in range(3)]
        rows: list[tuple[Words, Words, str]] = [
            *((name, boxes.moved(n), "ABC"[n]) for n, name in enumerate(faces)),
            ("elements painted", boxes.counts["painted"], "total"),
            ("multiply-adds inside", boxes.counts["volume"], "inside"),
            ("multiply-adds per element", boxes.counts["reuse"], "total"),
            (boxes.step, boxes.intensity, "total"),
        ]
        right = self.left + WIDTH
        for n, (name, value, kind) in enumerate(rows):
            y, ink = self.corner[1] + 46 + ROW * n, "computing" if kind == "inside" else "ink"
            inset = 20 if kind in FACES else 0
            for fill, paint in (("paper", 1), ("carrying", FACES[kind][1])) if inset else ():
                self.scene.rect(self.left, y - 11, 13, 13, fill, ink="ink", width=1, radius=1,
                                opacity=paint)  # fmt: skip
            look: dict[str, Any] = {"size": LETTERS - 1}
            self.scene.text(self.left + inset, y, name, ink, name=f"name-{kind}", **look)
            self.scene.text(right, y, value, ink, bold=True, anchor="end", name=f"count-{kind}",
                            **look)  # fmt: skip


def _copies(op: Operation, edges: Iterable[int]) -> str:
    """``, 8 of them`` when the batch is separate boxes instead of one thicker one."""
    many = op.flops // 2 // math.prod(int(edge) for edge in edges)
    return f", {many} of them" if many > 1 else ""


def _moved(op: Operation, name: str) -> str:
    found = next((o for o in op.operands if o.name == name), None)
    if found is None:
        return "not moved"
    return theme.count(found.elements * (found.reads + found.writes))
