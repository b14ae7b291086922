"""The iteration space under schedules that have names: a button for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rooflab.labs.loops.picture.fates import Fate, Pair, direct, fate
from rooflab.labs.loops.picture.sheet import NARROW, WIDE, Place, Sheet
from rooflab.show.scene import Dim, Scene

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest


def scenes(nest: Nest, schedules: Mapping[str, Nest]) -> list[Scene]:
    """The sheets of the picture, the widest first."""
    arrows = direct(nest)
    fates = [fate(one, arrows) for one in schedules.values()]
    return [_scene(nest, list(schedules), arrows, fates, wide) for wide in (WIDE, NARROW)]


def _scene(
    nest: Nest, names: Sequence[str], arrows: Sequence[Pair], found: Sequence[Fate], wide: float
) -> Scene:
    fates: dict[Place, Fate] = {(n,): one for n, one in enumerate(found)}
    sheet = Sheet(nest, arrows, [Dim("schedule", names, names, glide=250)], fates, (0,), wide)
    sheet.draw()
    scene = sheet.scene
    scene.choice("schedule", "schedule", names)
    scene.play("step")
    scene.slider("step", "iterations run")
    said = [
        f"{name}: legal." if one.legal else f"{name}: not legal. {one.why}"
        for name, one in zip(names, found)
    ]
    scene.says = sheet.says(sheet.each(lambda place, one: said[place[0]]))
    scene.note(sheet.code(), "code")
    scene.note(f"{nest.statements[0].text}. An arrow's tail must run before its head.")
    return scene
