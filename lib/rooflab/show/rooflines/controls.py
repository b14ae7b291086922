"""What moves a live roofline beside its dots and roofs, and the lines above and below it."""

from __future__ import annotations

import numpy as np

from rooflab.count.dtypes import DType
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
        if slider.options:
            scene.slider(letter, slider.label)
    if len(spec.series) > 1:
        for row, series in enumerate(spec.series):
            scene.switch(f"shows_{series.name}", series.label, sets={"touched": row})
    if len(values.offers) > 1:
        scene.switch("same_axes", "same axes for every machine", more=True)
    scene.slider("memory", "bandwidth, times", more=True)
    scene.slider("arithmetic", "peak, times", more=True)
    holes = {series.name: said for series, said in zip(spec.series, words)}
    order = np.array([f"{{{series.name}}}" for series in spec.series], object)
    scene.says = Fill(By("focus", order), **holes)
    if values.ladders:
        scene.says = Fill("{said}{steps}", said=scene.says, steps=values.ladders.words)
    for series, said in zip(spec.series, words):
        line = By(f"shows_{series.name}", ["", "{said}{why}"])
        scene.note(Fill(line, said=said, why=why(values, series)), "more")
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
    title = Fill(
        "{name} · {kind} · {how}", name=By("machine", names), kind=By("kind", kinds),
        how=By("machine", how),
    )  # fmt: skip
    scene.note(title, "title", above=True)
    fell = np.full((len(values.offers), len(values.kinds)), "", object)
    for m, offer in enumerate(values.offers):
        for k, kind in enumerate(values.kinds):
            lack, shown = _lack(offer, kind), values.kind(offer, kind)
            if offer.machine is not None and lack:
                so = f"this is {shown}" if shown != kind else "there is no roof to draw"
                fell[m, k] = f"{offer.name}: {lack}, so {so}. "
    if values.spec.rungs:
        scene.note(By("who", ["", *(_ranking(values, one) for one in values.timed)]))
    if values.spec.band is not None:
        scene.note(ceiling_lines.band_words(values.spec.band))
    scene.note(Fill("{fell}{says}", fell=By("machine dtype", fell),
                    says=By("machine", [o.says for o in values.offers])))  # fmt: skip


def _ranking(values: RooflineValues, offer: Offer) -> str:
    """What was measured under names, the fastest first, with its share of what the roof allows."""
    every = sorted(values.rungs(offer), key=lambda one: -one[1].flop_per_s)
    shares = ", ".join(f"{name} {values.share(offer, m)}" for name, m in every)
    return f"Of what the roof allows: {shares}." if shares else ""
