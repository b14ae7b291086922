"""A scene as the browser gets it: every table once, as whole numbers in one buffer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from rooflab.show.scene.sheet import Scene
from rooflab.show.scene.values import By, Dim, Fill, Made, Mark, Sum, Times, outline

# A table loses each dimension along which nothing changes. Rows that are alike are kept once. On a
# path only the places are kept between which a straight line would lead astray. Where few numbers
# of a mark change, each of them is a table of its own: marks that share one keep it once. The
# sheets of a picture share one buffer and one pool of words.

SCALE = {  # steps of a unit
    "points": 16, "box": 16, "at": 16, "turn": 100, "opacity": 1000, "stop": 1, "matrix": 1000,
    "vector": 64,
}  # fmt: skip
MISSING = -32768  # a place that is not a number: the mark is not there
LONG = 90  # letters of a part from which it is kept once
_MOST = 32767
_LONG = 64  # numbers of a matrix that stays the same, from which on it is a table
_FEW = 3  # numbers of a mark that change, at most, for each to be a table of its own


class Buffer:
    """Tables of one kind of number, one after the other, each kept once."""

    def __init__(self, kind: str) -> None:
        self.kind, self.places, self.size = kind, dict[bytes, int](), 0

    def put(self, table: np.ndarray) -> int:
        """Keep ``table``; return how many numbers lie before it."""
        key = np.ascontiguousarray(table, self.kind).tobytes()
        if key not in self.places:
            self.places[key] = self.size
            self.size += table.size
        return self.places[key]


class Packer:
    """Turns the channels of a scene into tables in one buffer, and its words into one pool."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.order = scene, [one.name for one in scene.dims]
        self.texts: dict[str, int] = {}
        self.rulers: dict[str, Any] = {}
        self.buffers = {"at": Buffer("<i2"), "exact": Buffer("<f4")}
        self._tables: dict[tuple[int, str], tuple[By, Any]] = {}

    def track(self, value: Any, channel: str) -> Any:
        """What a browser reads a channel from: a constant, a table, or a template with holes."""
        if isinstance(value, Fill):
            holes = {key: self.track(hole, "text") for key, hole in value.holes.items()}
            return {"template": self.track(value.template, "text"), "holes": holes}
        if isinstance(value, Made):
            return self._made(value)
        if isinstance(value, Sum):
            return {"sum": [self.track(part, channel) for part in value.parts]}
        if isinstance(value, Times):
            matrix, vector = self.track(value.matrix, "matrix"), self.track(value.vector, "vector")
            return {"matrix": matrix, "vector": vector}
        if isinstance(value, str):
            return value
        if not isinstance(value, By):
            digits = 6 if channel == "exact" else 3
            if channel == "matrix" and np.size(value) > _LONG:  # shorter as bytes than as JSON
                codes = _coded(np.ravel(value), 0, SCALE[channel])
                return self._packed(codes, [], False, SCALE[channel])
            return [None if np.isnan(v) else round(v, digits) for v in np.ravel(value).tolist()]
        key = id(value), channel
        if key not in self._tables:  # one that is used again and again is looked through once
            self._tables[key] = value, self._table(value, channel)
        return self._tables[key][1]

    def _table(self, value: By, channel: str) -> Any:
        table = self.scene.table(value)
        if table.dtype == object:
            return self._packed(self._words(table), list(value.names), True, 1)
        if channel == "exact":
            return self._packed_exact(value, table)
        codes, scale = _coded(table, len(value.names), SCALE[channel]), SCALE[channel]
        parts, of = _columns(codes)
        if not parts:
            return self._packed(codes, list(value.names), False, scale)
        found = [
            [part.flat[0] / scale]
            if (part == part.flat[0]).all()
            else self._packed(part, list(value.names), False, scale)
            for part in parts
        ]
        return {"parts": found, "of": of}

    def _made(self, value: Made) -> dict[str, Any]:
        found: dict[str, Any] = {"made": value.kind}
        ruler = getattr(value, "ruler", None)
        if ruler is not None:
            self.rulers.setdefault(ruler.name, ruler.packed())
            found["ruler"] = ruler.name
        return found | {"from": [self.track(part, "exact") for part in value.parts]}

    def _packed_exact(self, value: By, table: np.ndarray) -> dict[str, Any]:
        many = len(value.names)
        data = table.astype("<f4").reshape((*table.shape[:many], -1))
        found = {
            "n": data.shape[-1], "shape": [*data.shape[:-1]],
            "dims": [self.order.index(name) for name in value.names],
        }  # fmt: skip
        return found | self._rows(data, "exact")

    def _words(self, table: np.ndarray) -> np.ndarray:
        index = [self.texts.setdefault(text, len(self.texts)) for text in table.ravel()]
        if len(self.texts) > 2 * _MOST:
            raise ValueError(f"more than {2 * _MOST} different texts; give fewer states")
        return np.array(index, "<u2").view("<i2").reshape((*table.shape, 1))

    def _packed(self, codes: np.ndarray, names: list[str], words: bool, scale: int) -> Any:
        for axis in reversed(range(len(names))):
            if (codes == codes.take([0], axis)).all():
                codes, _ = codes.take(0, axis), names.pop(axis)
        found: dict[str, Any] = {"n": codes.shape[-1]}
        found |= {"words": True} if words else {"scale": scale}
        keys = {}
        for axis, name in enumerate(names):
            if self.scene.dim(name).path and codes.shape[axis] > 2:
                kept = _kept(np.moveaxis(codes, axis, 0), words)
                if len(kept) < codes.shape[axis]:
                    codes, keys[name] = codes.take(kept, axis), kept
        found |= {"dims": [self.order.index(n) for n in names], "shape": [*codes.shape[:-1]]}
        if keys:
            found["keys"] = [keys.get(name) for name in names]
        return found | self._rows(codes)

    def _rows(self, codes: np.ndarray, home: str = "at") -> dict[str, int]:
        """Where the table lies; rows along its last dimension are kept once if that is shorter."""
        if codes.ndim >= 3:
            rows = codes.reshape(-1, codes.shape[-2] * codes.shape[-1])
            bits = rows.view(f"<i{rows.itemsize}")  # there, what is not a number equals itself
            _, first, index = np.unique(bits, axis=0, return_index=True, return_inverse=True)
            if rows[first].size + index.size < 0.8 * rows.size and len(first) <= _MOST:
                kept = self.buffers[home].put(rows[first])
                return {"rows": self.buffers["at"].put(index), home: kept}
        return {home: self.buffers[home].put(codes)}


def _coded(table: np.ndarray, dims: int, scale: int) -> np.ndarray:
    """A table of numbers as whole steps of 1/scale, one axis for each dimension and one more."""
    flat = table.reshape((*table.shape[:dims], -1))
    steps = np.clip(np.rint(np.nan_to_num(flat, nan=0.0) * scale), -_MOST, _MOST)
    return np.where(np.isnan(flat), MISSING, steps).astype("<i2")


def _columns(codes: np.ndarray) -> tuple[list[np.ndarray], list[int]]:
    """The different numbers of a mark, and which of them each number is; none if many change."""
    many = codes.shape[-1]
    columns = codes.reshape(-1, many)
    if many == 1 or (columns == MISSING).all(axis=0).any():
        return [], []
    different: dict[bytes, int] = {}
    of = [different.setdefault(columns[:, n].tobytes(), len(different)) for n in range(many)]
    kept = [codes[..., of.index(n), None] for n in range(len(different))]
    if sum(bool((part != part.flat[0]).any()) for part in kept) > _FEW:
        return [], []
    return kept, of


def _kept(codes: np.ndarray, words: bool) -> list[int]:
    """The places along the first axis that are needed: between them all lies on a line.

    For words, the places at which they change.
    """
    flat = codes.reshape(len(codes), -1).astype(float)
    last = len(flat) - 1
    changes = np.flatnonzero((flat[1:] != flat[:-1]).any(1)).tolist()  # the place before each
    if words:
        return [0, *(place + 1 for place in changes)]
    kept, start = [0], 0
    while start < last:
        steady = next((place for place in changes if place >= start), last)
        end = max(start + 1, steady)
        while end < last and _straight(flat, start, end + 1):
            end += 1
        kept.append(end)
        start = end
    return kept


def _straight(flat: np.ndarray, start: int, end: int) -> bool:
    if ((flat[start : end + 1] == MISSING) != (flat[start] == MISSING)).any():
        return False
    share = np.linspace(0, 1, end - start + 1)[:, None]
    line = flat[start] + share * (flat[end] - flat[start])
    return bool((abs(line - flat[start : end + 1]) < 1).all())


def sheets(*scenes: Scene) -> list[dict[str, Any]]:
    """Return the sheets of a picture for a browser; the first one holds what all share.

    That is words, tables, rulers, and in ``pool`` each long part that is said more than once.
    """
    pool: dict[str, int] = {}
    shared = ("texts", "buffer", "exact", "dims")  # dims are read by a lecture, too
    found = [
        {key: one[key] if key in shared else _pooled(one[key], pool) for key in one}
        for one in pack(*scenes)
    ]
    found[0]["pool"] = [json.loads(one) for one in pool]
    return found


def pack(*scenes: Scene) -> list[dict[str, Any]]:
    """Return the sheets as JSON values, and their tables as bytes, with the first one."""
    packer = Packer(scenes[0])
    found = [_sheet(scene, packer) for scene in scenes]
    tables, exact = (b"".join(one.places) for one in packer.buffers.values())
    found[0] |= {"texts": list(packer.texts), "buffer": tables}
    if packer.rulers or exact:
        found[0] |= {"rulers": packer.rulers, "exact": exact}
    return found


def _pooled(node: Any, pool: dict[str, int]) -> Any:
    """The same, with each long part of it kept once, in ``pool``: {"ref": its number}."""
    if isinstance(node, list):
        return [_pooled(one, pool) for one in node]
    if not isinstance(node, dict):
        return node
    found = {key: _pooled(one, pool) for key, one in node.items()}
    if len(text := json.dumps(found)) < LONG:
        return found
    return {"ref": pool.setdefault(text, len(pool))}


#: What grips, controls and presses hold that depends on the state, and what it is packed as.
_CHANNELS = dict.fromkeys(("shown", "enabled", "off", "sets", "also"), "stop") | {
    "at": "at", "label": "text", "labels": "text", "says": "text",
}  # fmt: skip


def _held(one: Mapping[str, Any], packer: Packer, plain: str = "") -> dict[str, Any]:
    """A grip, a control or a press with its values packed; one is ``plain`` numbers."""

    def packed(value: Any, channel: str) -> Any:
        if isinstance(value, dict):
            return {name: packer.track(each, channel) for name, each in value.items()}
        if isinstance(value, list):
            return [packer.track(each, channel) for each in value]
        return None if value is None else packer.track(value, channel)

    keys = one.keys() & _CHANNELS.keys() - {plain}
    return {key: packed(one[key], _CHANNELS[key]) if key in keys else one[key] for key in one}


def _sheet(scene: Scene, packer: Packer) -> dict[str, Any]:
    marks = [_mark(mark, packer) for mark in scene.marks]
    grips = [_held(one, packer, "sets") for one in scene.grips]
    presses = [_held(one, packer) for one in scene.presses]
    classes = {name: packer.track(value, "stop") for name, value in scene.classes.items()}
    notes = [[kind, packer.track(words, "text"), above] for kind, words, above in scene.notes]
    controls = [_held(one, packer, "at") for one in scene.controls]
    return {
        "width": scene.width, "height": scene.height,
        "dims": [_dim(one, packer) for one in scene.dims],
        "marks": marks, "controls": controls, "grips": grips, "presses": presses,
        "classes": classes,
        "says": packer.track(scene.says, "text"), "longest": _longest(scene), "notes": notes,
    }  # fmt: skip


def _longest(scene: Scene) -> list[str]:
    """The sentences that need the most room, so that the picture can keep it."""
    points = [mark.look["point"] for mark in scene.marks if "point" in mark.look]
    every = {text for words in (scene.says, *points) for text in scene.longest(words)}
    return sorted(every, key=len, reverse=True)[:3]


def _dim(one: Dim, packer: Packer) -> dict[str, Any]:
    return ({"trail": one.trail} if one.trail else {}) | {
        "name": one.name, "stops": [*one.stops], "names": one.names and [*one.names],
        "keys": one.keys and [*one.keys], "glide": one.glide, "free": one.free, "even": one.even,
        "once": one.once,
        "of": None if one.of is None else packer.track(one.of, "stop"),
    }  # fmt: skip


def _mark(mark: Mark, packer: Packer) -> dict[str, Any]:
    look = {key: value for key, value in mark.look.items() if value not in ([], None, False)}
    if "point" in look:
        look["point"] = packer.track(look["point"], "text")
    if mark.kind == "dot":
        look["outline"] = outline(mark.look["shape"], mark.look["size"])
    channels = {name: packer.track(value, name) for name, value in mark.channels.items()}
    return {"kind": mark.kind, "name": mark.name, "look": look, "channels": channels}
