"""What moves a live roofline beside its dots and roofs, and the lines above and below it."""

from __future__ import annotations

import numpy as np

from rooflab.count.dtypes import DType
from rooflab.count.si import times
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.machine_choices import Offer
from rooflab.show.rooflines.values import AS_IT_WAS, RooflineValues
from rooflab.show.rooflines.words import why
from rooflab.show.scene import By, Fill, Scene, Words


def add_controls(scene: Scene, values: RooflineValues, words: list[Words]) -> None:
    """Give a sheet its menus, sliders and switches; ``words``: what each series says."""
    spec = values.spec
    _choices(scene, values)
    for letter, slider in zip("ijk", spec.sliders):
        if len(slider.values) > 1:
            scene.slider(letter, slider.label)
    if len(spec.series) > 1:
        scene.choice("op", "the operation that is looked at", [s.label for s in spec.series])
    if values.boxes:
        scene.switch("scale", "true shape")
    if len(values.offers) > 1:
        scene.switch("same_axes", "same axes for every machine", more=True)
    scene.slider("memory", "bandwidth, times", more=True)
    scene.slider("arithmetic", "peak, times", more=True)
    holes = {series.name: said for series, said in zip(spec.series, words)}
    order = np.array([f"{{{series.name}}}" for series in spec.series], object)
    scene.says = Fill(By("op", order), **holes)
    if spec.rungs:
        ranked = By("who", ["", *(_ranking(values, one) for one in values.timed)])
        scene.says = Fill("{ranked}{said}", ranked=ranked, said=scene.says)
    if values.ladders:
        scene.says = Fill("{said}{steps}", said=scene.says, steps=values.ladders.words)
    if values.boxes:
        scene.says = Fill("{box}{said}", box=values.boxes.words, said=scene.says)
    for series, said in zip(spec.series, words):
        scene.note(Fill("{said}{why}", said=said, why=why(values, series)), "more")
    _notes(scene, values)


def _choices(scene: Scene, values: RooflineValues) -> None:
    lacks = [[_lack(o, k) for k in values.kinds] for o in values.offers]
    words = [
        By("dtype", np.array([o.name + (f" ({no})" if no else "") for no in row], object))
        for o, row in zip(values.offers, lacks)
    ]
    scene.menu(
        "machine", "machine", words, groups=[o.group for o in values.offers],
        enabled=[float(not all(row)) for row in lacks],
        also=AS_IT_WAS,
    )  # fmt: skip
    columns = list(zip(*lacks))
    words = [
        By("machine", np.array([f"{k} (no figure)" if no else str(k) for no in column], object))
        for k, column in zip(values.kinds, columns)
    ]
    known = [By("machine", [float(not no) for no in column]) for column in columns]
    scene.menu("dtype", "dtype", words, enabled=known)
    if values.cached:
        off = [[[float(n > 0 and not values.has(o, k, "warm")) for n in range(3)]
                for k in values.kinds] for o in values.offers]  # fmt: skip
        scene.choice("cache", "where the operands come from", ["cold", "warm", "both"],
                     off=By("machine kind cache", off))  # fmt: skip


def _lack(offer: Offer, kind: DType) -> str:
    if offer.machine is None:
        return str(offer.reason)
    return ceiling_lines.missing(offer.machine, kind, "cold")


def _notes(scene: Scene, values: RooflineValues) -> None:
    how = [o.machine.provenance if o.machine else o.reason for o in values.offers]
    names, kinds = [o.name for o in values.offers], [str(k) for k in values.kinds]
    title: Words = Fill(
        "{name} · {kind} · {how}", name=By("machine", names), kind=By("kind", kinds),
        how=By("machine", how),
    )  # fmt: skip
    if values.ladders:
        title = values.ladders.headline(title)
    scene.note(title, "title", above=True)
    fell = np.full((len(values.offers), len(values.kinds)), "", object)
    for m, offer in enumerate(values.offers):
        for k, kind in enumerate(values.kinds):
            lack, shown = _lack(offer, kind), values.kind(offer, kind)
            if offer.machine is not None and lack:
                so = f"this is {shown}" if shown != kind else "there is no roof to draw"
                fell[m, k] = f"{offer.name}: {lack}, so {so}. "
    if values.spec.band is not None:
        scene.note(ceiling_lines.band_words(values.spec.band))
    scene.note(Fill("{fell}{says}", fell=By("machine dtype", fell),
                    says=By("machine", [o.says for o in values.offers])))  # fmt: skip


def _ranking(values: RooflineValues, offer: Offer) -> str:
    """How far apart the slowest and the fastest are that were measured under names."""
    ends = values.extremes(offer)
    if not ends:
        return ""
    (slow, last), (fast, first) = ends
    twice = "".join(f", {o.name.upper()} read and written" for o in first.op.operands
                    if o.reads and o.writes)  # fmt: skip
    factor = times(first.flop_per_s / last.flop_per_s)
    return (f"The fastest is {fast}, {factor} as fast as {slow}, with the same FLOPs and the same "
            f"bytes{twice}. It reaches {values.share(offer, first)} of what the roof allows, and "
            f"{slow} {values.share(offer, last)}. ")  # fmt: skip
