"""What a live roofline says of an operation in every state: templates of Python's own sentences."""

from __future__ import annotations

import itertools

import numpy as np

from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.predict.estimate import CACHES, Prediction, overhead
from rooflab.predict.machine import Machine
from rooflab.show import captions, theme
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.ceiling_lines import PEAK, SAY_OVERHEAD, SAY_SIDES, SIDES
from rooflab.show.rooflines.tables import FACTORS, Series
from rooflab.show.rooflines.values import AS_IT_IS, LEVELS, RooflineValues
from rooflab.show.scene import By, Fill, Value, Words
from rooflab.show.scene.graph import Less, Reading, gaps, rates, ridges, shares

SAY = captions.SAY


def sentence(values: RooflineValues, series: Series) -> Words:
    """Say what is known of an operation: counts, roof, prediction, measurement."""
    roofless = [float(o.machine is None or not any(values.has(o, k, "cold") for k in values.kinds))
                for o in values.offers]  # fmt: skip
    kinds = ["{cold}", "{warm}", "{both}"]
    none = [[*kinds] if not lacks else ["{none}"] * 3 for lacks in roofless]
    counted = _counts(values, series)
    parts = [_side(values, series, side) for side in CACHES]
    both = Fill("{count}{cold}{warm}{trap}", count=Fill(SAY["none"], **counted), cold=parts[0],
                warm=parts[1], trap=_trap(values, series))  # fmt: skip
    return Fill(
        By("machine side", np.array(none, object)),
        cold=_alone(values, series, "cold", counted), warm=_alone(values, series, "warm", counted),
        both=both, none=Fill(SAY["none"], **counted),
    )  # fmt: skip


def as_it_is() -> list[str]:
    """Templates by a what-if: read off the axis, or known where nothing was changed."""
    return ["{known}" if n == AS_IT_IS else "{read}" for n in range(len(FACTORS))]


def _counts(values: RooflineValues, series: Series) -> dict[str, Words]:
    """What was counted, as the holes of the templates."""
    own = values.own(series)
    return {
        "name": series.label,
        "sizes": values.by_op(series, captions.sizes, "i j k"),
        "batch": values.by_op(series, captions.batch, "j"),
        "dtype": By("kind", [str(kind) for kind in values.kinds]),
        "flops": values.by_op(series, lambda op: si(op.flops, "FLOP"), "i j k"),
        "bytes": values.by_op(series, lambda op: si(op.bytes, "B"), "kind i j k"),
        "intensity": values.by_op(series, lambda op: theme.intensity(op.intensity), own),
    }


def ridge_words(values: RooflineValues, dims: str, ridge: Value, level: str = "") -> Words:
    """The ridge: as it is formatted for the machine, or read off the axis for what might be."""
    levels = (level,) if level else LEVELS
    table = [values.by_roof(lambda roof: theme.ridge(roof.ridge), one).values for one in levels]
    known = By(dims, table[0] if level else np.stack(table, axis=-1))
    return Fill(By("real", ["{read}", "{known}"]), known=known, read=Reading(ridges(), ridge))


def _alone(values: RooflineValues, series: Series, side: str, counted: dict[str, Words]) -> Words:
    """One side alone: the bound by its roof, then what was predicted and measured."""
    at, home = f"{series.name}_{side}", f"home_{series.name}"
    roof, ridge = values.roof_over(series, side), values.ridge(series, side)
    cold = side == "cold"
    level: Words = captions.level_word("dram")
    dims = "machine kind"
    if not cold:
        level, dims = By(home, [captions.level_word(one) for one in LEVELS]), f"machine kind {home}"
    bound = Fill(
        By(f"right_{at}", [SAY["memory"], SAY["compute"]]), **counted, level=level,
        ridge=ridge_words(values, dims, ridge, "dram" if cold else ""),
        rate=_allowed(values, series, side), share=Reading(shares(), Less(roof, values.peak())),
    )  # fmt: skip
    timed = values.measured(series, side)
    above = SAY["above" if cold else "above_warm"]
    found = [[["", ""], ["", ""]], [[SAY["measured"], above], [SAY["outside"]] * 2]]
    measured = Fill(
        By(f"has_{at} out_{at} over_{at}", np.array(found, object)),
        rate=Reading(rates(), timed), what="Measured", gap=_gap(timed, roof, f"over_{at}"),
    )  # fmt: skip
    foreseen = [["", ""], [SAY["predicted"], SAY["outside"]]]
    predicted: Words = ""
    if series.estimated:
        predicted = Fill(
            By(f"can_{side} low_{at}", np.array(foreseen, object)),
            rate=Reading(rates(), values.predicted(series, side)), what="Predicted",
        )  # fmt: skip
    return Fill("{bound}{predicted}{call}{measured}", bound=bound, predicted=predicted,
                call=_call(values, series, side), measured=measured)  # fmt: skip


def _allowed(values: RooflineValues, series: Series, side: str, unit: str = "FLOP/s") -> Words:
    """The rate that the roof allows; a known peak is said as it is formatted for the machine."""
    templates = np.array([["{read}"] * len(FACTORS), as_it_is()], object)
    return Fill(
        By(f"right_{series.name}_{side} arithmetic", templates),
        read=Reading(rates(unit), values.roof_over(series, side)),
        known=values.by_roof(lambda roof: si(roof.peak, unit)),
    )


def rate_words(values: RooflineValues, mark: str, unit: str) -> Words:
    """The rate at a mark of the key, for the operation that is looked at where it has one."""
    series, holes = values.spec.series, dict[str, Words]()
    for one, side in itertools.product(series, CACHES):
        at = f"{one.name}_{side}"
        if mark == "allowed":
            holes[at] = _allowed(values, one, side, unit)
        else:
            foreseen = mark == "predicted"
            rate = values.predicted(one, side) if foreseen else values.measured(one, side)
            there = By(f"can_{side}" if foreseen else f"has_{at}", ["", "{rate}"])
            holes[at] = Fill(there, rate=Reading(rates(unit), rate))
    first = "warm" if mark == "warm" else "cold"
    sides = (first, "warm", first)  # of cold, warm, both
    table = [[f"{{{one.name}_{side}}}" for side in sides] for one in series]
    return Fill(By("op side", np.array(table, object)), **holes)


def _gap(value: Value, roof: Value, over: str) -> Words:
    """The factor between a rate and the roof, whichever is larger."""
    down, up = Reading(gaps(), Less(roof, value)), Reading(gaps(), Less(value, roof))
    return Fill(By(over, ["{down}", "{up}"]), down=down, up=up)


def _call(values: RooflineValues, series: Series, side: str) -> Words:
    """The cost of a call, where it is most of a predicted time and its line is drawn."""
    if not (values.spec.overhead and series.estimated):
        return ""

    def said(op: Operation, found: Prediction, machine: Machine) -> str:
        if found.limit != "overhead":
            return ""
        return SAY_OVERHEAD[f"call_{side}"].format(call=si(overhead(op, machine, side), "s"))

    words = By("who kind i k", values.estimates(series, side, said, ""))
    return Fill(By(f"can_{side}", ["", "{call}"]), call=words)


def _side(values: RooflineValues, series: Series, side: str) -> Words:
    """One of two sides: what is best known of it, against its own roof."""
    at, home = f"{series.name}_{side}", f"home_{series.name}"
    roof, known = values.roof_over(series, side), values.known(series, side)
    bound, told, out = (SAY_SIDES[key] for key in ("side_bound", "side", "side_outside"))
    bound = bound.replace("{rate}", "{allowed}")
    roofs = [ceiling_lines.roof_word(level) for level in LEVELS]
    word = (
        By(f"right_{at}", [roofs[0], PEAK])
        if side == "cold"
        else By(f"right_{at} {home}", np.array([roofs, [PEAK] * 4], object))
    )
    templates = [[bound, bound], [told, out], [told, out]]
    said = Fill(
        By(f"how_{at} known_out_{at}", np.array(templates, object)), side=SIDES[side],
        how=By(f"how_{at}", ["bound", "predicted", "measured"]), roof=word,
        rate=Reading(rates(), known), allowed=_allowed(values, series, side),
        where=By(f"known_over_{at}", ["below", "above"]), gap=_gap(known, roof, f"known_over_{at}"),
    )  # fmt: skip
    call = Fill(By(f"how_{at}", ["", "{call}", ""]), call=_call(values, series, side))
    return Fill("{said}{call}", said=said, call=call)


def _trap(values: RooflineValues, series: Series) -> Words:
    """Why a warm rate may lie above the memory roof, where it does."""
    memory, known = values.roof_over(series, "cold"), values.known(series, "warm")
    return Fill(
        By(f"trap_{series.name}", ["", SAY_SIDES["trap"]]),
        gap=Reading(gaps(), Less(known, memory)),
        source=By(f"home_{series.name}", [ceiling_lines.source(level) for level in LEVELS]),
    )


def why(values: RooflineValues, series: Series) -> Words:
    """What a batch does to it."""
    reasons = [f" {why}" if why else "" for why in series.why]
    sizes = [str(value) for value in values.spec.sliders[0].values]
    return Fill(By("j", np.array(reasons, object)), n=By("i", np.array(sizes, object)))
