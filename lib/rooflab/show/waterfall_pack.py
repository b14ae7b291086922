"""What the live waterfall gets: every step of every slider value, placed and formatted.

Places are log10 of seconds as 16-bit integers; each lies where a ruler reads the same three
digits that Python writes. Texts are 16-bit indices into one pool.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from rooflab.count.dtypes import DType
from rooflab.count.operation import Operation
from rooflab.count.si import rounded
from rooflab.predict.estimate import peak_of, predict
from rooflab.predict.explain import explain
from rooflab.predict.machine import Machine
from rooflab.show import ruler, theme, words
from rooflab.show.offers import Offer
from rooflab.show.polylines import CACHES, missing
from rooflab.show.scene import Pool, Scene, Series
from rooflab.show.waterfall_steps import (
    ALLOWED,
    BOUND,
    EXPECTED,
    KEY,
    REST,
    RULE,
    SIDE,
    SINGLE,
    UNTIMED,
    factor_text,
    roof_of,
    ticks,
    why_it_stops,
)

PER_DECADE, LOWEST = 4000, -12  # 16-bit places from 1 ps to 24 000 s, finer than three digits
NOTHING = 65535
_SIDES = (0.25, 0.6, 1.2, 2.2, 4, 8), (0.5, 1.1, 2.2, 3.2, 5, 8)  # decades left, right of the bound


def place(seconds: float) -> int:
    """The 16-bit place of a time, rounded to the three digits that are written."""
    code = round((math.log10(rounded(seconds, 3)) - LOWEST) * PER_DECADE)
    return min(max(code, 0), NOTHING - 1)


def windows() -> list[dict[str, object]]:
    """Every window of the axis, narrowest first: the browser takes the first that fits."""
    found = [
        {"lo": -left, "hi": right, "ticks": [[at, label] for at, label in ticks(-left, right)]}
        for left, right in product(*_SIDES)
    ]
    return sorted(found, key=lambda one: one["hi"] - one["lo"])


def pack(scene: Scene) -> dict[str, object]:
    """Return the waterfalls of a scene as the browser wants them: JSON values and bytes.

    They are those of single problems, the first value of the second and third slider.
    """
    pool = Pool()
    ledgers = {
        (series.name, kind): ops_of(series, scene, kind)
        for series in scene.series
        for kind in scene.dtypes
    }
    first = scene.dtypes[0]
    return {
        "ops": [
            {
                "name": s.name, "label": s.label, "ink": theme.style(s.name).ink,
                "sizes": pool.table(words.sizes(op) for op in ledgers[s.name, first]),
                "curves": {str(kind): _curves(ledgers[s.name, kind]) for kind in scene.dtypes},
            }
            for s in scene.series
        ],
        "many": len(scene.sliders[0].values),
        "sizes": [str(value) for value in scene.sliders[0].values],
        "machines": {offer.id: _offer(offer, scene, ledgers, pool) for offer in scene.offers},
        "windows": windows(),
        "seconds": ruler.seconds(), "perDecade": PER_DECADE, "lowest": LOWEST,
        "steps": ["level and mix", "call overhead", "routine efficiency"],
        "say": {
            "what": words.WHAT, "allowed": ALLOWED, "expected": f"{EXPECTED} {UNTIMED}",
            "single": SINGLE, "bound": BOUND, "rest": REST, "rule": RULE, **KEY, **SIDE,
            "jumps": f"measured at {scene.sliders[0].name} =",
            "jump": f"go to {scene.sliders[0].name} =",
        },
        "texts": pool.texts,
    }  # fmt: skip


def ops_of(series: Series, scene: Scene, kind: DType) -> list[Operation]:
    """The single problems of ``series``: one operation a value of the first slider."""
    i, j, k = (slider.values for slider in scene.sliders)
    return [series.build(n, j[0], k[0], kind) for n in i]


def _offer(offer: Offer, scene: Scene, ledgers: Mapping, pool: Pool) -> dict[str, object]:
    m = offer.machine
    if m is None:
        return {"name": offer.name, "kinds": [], "no": offer.reason}
    kinds = [kind for kind in scene.dtypes if not missing(m, kind, "cold")]
    ops = [ledgers[series.name, kind] for kind in kinds for series in scene.series]
    packed: dict[str, object] = {
        "name": offer.name, "kinds": [str(kind) for kind in kinds], "no": "no figure",
        "bound": [_bound(some, m) for some in ops],
        "notes": [pool.add(roof_of(some[0], m)) for some in ops],
        "why": why_it_stops(m),
    }  # fmt: skip
    timed = _timed(offer, scene, kinds, ledgers, pool)
    if m.routines or timed:
        packed["rows"] = {cache: _rows(ops, m, cache, pool) for cache in CACHES}
        packed["predicts"] = bool(m.routines)
        packed["measured"] = timed
    return packed


def _curves(ops: Sequence[Operation]) -> dict[str, bytes]:
    """log10 of the bytes and of the FLOPs of ``ops``: the shapes that every bound is made of."""
    moved, work = (np.log10([float(x) for x in xs]) for xs in (
        (op.bytes_at("dram") for op in ops), (op.flops for op in ops)
    ))  # fmt: skip
    return {"carry": moved.astype("<f4").tobytes(), "compute": work.astype("<f4").tobytes()}


def _bound(ops: Sequence[Operation], m: Machine) -> list[float]:
    """The bounds of ``ops``, growing in size: so many follow the one curve, the others the other.

    [how many, shift of those, shift of the others]; a curve and its shift add up to the log10 of
    predict()'s bound in seconds. Ten times smaller than the bounds of 40 machines themselves.
    """
    bandwidth, peak = m.bandwidth("dram", "best"), peak_of(ops[0], m)[0]
    carried = sum(op.bytes_at("dram") / bandwidth >= op.flops / peak for op in ops)
    return [carried, round(-math.log10(bandwidth), 6), round(-math.log10(peak), 6)]


def _rows(ops: Sequence[Sequence[Operation]], m: Machine, cache: str, pool: Pool) -> bytes:
    """Ten numbers an operation: three places, three factors, three notes, the product."""
    found = [_row(op, m, cache, pool) for some in ops for op in some]
    return np.array(found, "<u2").tobytes()


def _row(op: Operation, m: Machine, cache: str, pool: Pool) -> list[int]:
    terms = predict(op, m, cache=cache).terms
    reached = [term.seconds for term in terms]
    factors = [factor_text(after / before) for before, after in zip(reached, reached[1:])]
    factors.append(factor_text(reached[-1] / reached[0]))
    notes = [pool.add(term.note) for term in terms[1:]]
    factor = [pool.add(text) for text in factors]
    return [*(place(s) for s in reached[1:]), *factor[:3], *notes, factor[3]]


def _timed(
    offer: Offer, scene: Scene, kinds: Sequence[DType], ledgers: Mapping, pool: Pool
) -> dict[str, dict[str, dict[str, dict[str, list[int]]]]]:
    """cache → dtype → operation → slider value → its last bar: place, factor, product, sentence."""
    index = {
        (name, str(kind), tuple(op.dims.items()), op.batch): at
        for (name, kind), ops in ledgers.items()
        for at, op in enumerate(ops)
    }
    found: dict = {}
    for m in offer.measurements:
        kind = str(m.op.compute_dtype)
        at = index.get((m.op.name, kind, tuple(m.op.dims.items()), m.op.batch))
        if at is None or kind not in map(str, kinds):
            continue
        e = explain(m, offer.machine)
        last = [pool.add(text) for text in (
            factor_text(e.factors[-1].factor), factor_text(e.seconds / e.bound), e.sentence,
            e.factors[-1].note,
        )]  # fmt: skip
        there = found.setdefault(m.cache, {}).setdefault(kind, {}).setdefault(m.op.name, {})
        there.setdefault(str(at), [place(e.seconds), *last])
    return found
