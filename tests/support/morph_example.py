"""Ten operations exactly at the roof of a machine that does not exist, plus what a call costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import rooflab as rl
from rooflab.show.scene import Mark, Scene
from rooflab.show.time_to_roofline import Morph
from tests.support.machine import ROOFS, measurement
from tests.support.scenes import named

CALLS = {"axpy": 1e-7, "gemv": 2e-7, "gemm": 1.5e-7}
HERE = rl.Machine.from_roofs(
    ROOFS, id="here", name="A test machine",
    routines={
        f"{name}/fp32": {"overhead_s": call, "cold_overhead_s": 20 * call, "points": []}
        for name, call in CALLS.items()
    },
)  # fmt: skip
OPS = (
    rl.axpy(256), rl.gemv(32, 32), rl.gemm(8, 8, 8), rl.axpy(20_000), rl.gemv(1024, 1024),
    rl.axpy(2**24), rl.gemv(4096, 4096), rl.gemm(256, 256, 256), rl.gemm(1024, 1024, 1024),
    rl.gemv(2048, 2048, batch=64, shared=("a",)),
)  # fmt: skip


def bound(op: rl.Operation) -> float:
    """Seconds at the roof, plus those of a call."""
    return rl.Roofline(HERE, "fp32").time(op) + CALLS[op.name]


MEASURED = tuple(measurement(op, "here", bound(op)) for op in OPS)


# The ten operations of the lesson as a server's core measured them: six warm, four cold.
THERE = rl.Machine.from_roofs(
    ROOFS | {
        "peak": {"fp32": {"value": 2.58e11, "samples": []}},
        "bandwidth": {
            level: {mix: {"value": v, "samples": []} for mix in ("read", "axpy", "copy", "update")}
            for level, v in (("l1", 6.88e11), ("l2", 4e11), ("l3", 2.08e11), ("dram", 8.31e10))
        },
    },
    id="here", name="A server's core",
    routines={
        f"{name}/fp32": {"overhead_s": call, "cold_overhead_s": 20 * call, "points": []}
        for name, call in (("axpy", 8e-8), ("gemv", 1.6e-7), ("gemm", 2.1e-7))
    },
)  # fmt: skip
_ORDER = (0, 3, 1, 4, 2, 7, 5, 6, 8, 9)
_RATES = (6.1e9, 4.6e10, 1.16e10, 4.5e10, 4.5e9, 1.18e11, 1e10, 1.65e10, 1.24e11, 9.4e10)
LESSON = tuple(
    replace(measurement(OPS[i], "here", OPS[i].flops / rate), cache="warm" if n < 6 else "cold")
    for n, (i, rate) in enumerate(zip(_ORDER, _RATES))
)


def says(picture: Morph) -> list[str]:
    """The sentence of each stop."""
    return [picture.scene.sentence(at=at) for at in range(4)]


def places(scene: Scene, mark: Mark, channel: str = "at", **state: Any) -> np.ndarray:
    """Where a mark lies at the first three stops."""
    return np.array([scene.value(mark, channel, at=at, **state) for at in range(3)])


def lines(scene: Scene, name: str) -> list[Mark]:
    """The lines of that name, none if there is none."""
    return [mark for mark in scene.marks if mark.kind == "line" and mark.name == name]


def written(scene: Scene, name: str) -> dict[str, Mark]:
    """Texts of that name: what they say at the last stop → the mark."""
    marks = [mark for mark in scene.marks if mark.kind == "text" and mark.name == name]
    return {str(scene.value(mark, "text", at=3)): mark for mark in marks}


def points(picture: Morph) -> list[dict[str, Any]]:
    """Every point as it is drawn, in the order measured."""
    return [point(picture, dot.label) for dot in picture.dots]


def point(picture: Morph, name: str, scene: Scene | None = None) -> dict[str, Any]:
    """The point of that name: its places, what it says, and the guess that hangs at it.

    A guess that is asked for has "y", "says" and "told" of all its places.
    """
    scene, state = scene or picture.scene, picture.state
    number = [dot.label for dot in picture.dots].index(name)
    dot, mark = picture.dots[number], named(scene, "point")[number]
    told = scene.settled(mark.look["point"], scene.places(**state))
    found = {"name": name, "at": places(scene, mark).tolist(), "says": told,
             "shape": mark.look["shape"], "mark": mark}  # fmt: skip
    if dot.guesses:
        before = [one for one in picture.dots[:number] if one.guesses]
        guess = named(scene, "guess")[len(before)]
        off = scene.marks[scene.marks.index(guess) + 1]
        if dot.asked:
            asked = len([one for one in before if one.asked])
            return found | {"asked": _asked(scene, mark, guess, off, asked)}
        words = scene.value(off, "text") if off.name == "off" else ""
        found["guess"] = {"at": places(scene, guess).tolist(), "says": words}
    return found


def _asked(scene: Scene, mark: Mark, guess: Mark, off: Mark, n: int) -> dict[str, Any]:
    many = scene.dim(f"guess{n}").size - 1
    states = [{f"guess{n}": g + 1, f"hidden{n}": False} for g in range(many)]
    told = [scene.settled(mark.look["point"], scene.places(**state)) for state in states]
    own = scene.settled(mark.look["point"], scene.places())
    return {
        "y": [places(scene, guess, **state)[:, 1].tolist() for state in states],
        "says": [str(scene.value(off, "text", **state)) for state in states],
        "told": [text.removeprefix(own) for text in told],
    }
