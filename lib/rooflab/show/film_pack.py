"""What the browser gets of a request film: every dot placed, every bar timed, every number
formatted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rooflab.count.si import si
from rooflab.measure.decode_run import DecodeRun
from rooflab.predict.machine import Machine
from rooflab.predict.workload_time import MIX
from rooflab.show import film_runs, polylines, room, theme
from rooflab.show import film_words as says
from rooflab.show.axes import Frame, around, frame_for
from rooflab.show.film_grid import (
    COLOURS,
    KINDS,
    PART_WORDS,
    PREFILL,
    Grid,
    Kind,
    crossing,
    totals,
)  # fmt: skip
from rooflab.show.offers import Offer
from rooflab.show.pool import Pool

WIDTH, HEIGHT = 720, 294
X0, X1, Y1, Y0 = 84, 690, 62, 244
# Where a scale of time ends, and its ticks.
STEPS = (
    (1, (0.5, 1)),
    (1.5, (0.5, 1, 1.5)),
    (2, (1, 2)),
    (3, (1, 2, 3)),
    (5, (1, 3, 5)),
    (7, (2, 4, 6)),
)
BELOW = 0.35  # decades below the lowest dot, for its name
CLEAR = -1.0  # where no crossing lies among the contexts


def fitted(grid: Grid, offer: Offer, runs: Sequence[DecodeRun] = ()) -> Frame:
    """Return the axes that hold every dot on the machine ``offer``, in half decades both ways."""
    ends, m, rates = grid.ends, offer.machine, []
    low, high = map(math.log10, ends)
    low, high = math.floor(2 * low - 0.2) / 2, math.ceil(2 * high + 0.2) / 2
    if _drawn(grid, offer):
        peaks = [m.peak(kind) for kind in grid.computed if m.has_peak(kind)]
        lowest = m.bandwidth(mix=MIX) * ends[0] * 10**-BELOW
        rates = [*film_runs.rates(film_runs.timed(runs, m, grid)), *peaks, lowest]
    return replace(frame_for(rates), x_lo=low, x_hi=high, height=400, right=30)


def _drawn(grid: Grid, offer: Offer) -> bool:
    """Whether ``offer`` has a roof in one of the formats."""
    return any(not lacks(offer.machine, kind, "no roofs") for kind in grid.computed)


def sheet(grid: Grid, offers: Sequence[Offer], runs: Sequence[DecodeRun] = ()) -> Frame:
    """Return axes that hold every machine on offer: what everything is placed on."""
    frames = [fitted(grid, offer, runs) for offer in offers if _drawn(grid, offer)]
    low, high = around(*frames)
    return replace(frames[0], y_lo=low, y_hi=high)


def pack(
    grid: Grid, offers: Sequence[Offer], frame: Frame, runs: Sequence[DecodeRun] = ()
) -> dict[str, object]:
    """Return the whole film as plain data and bytes."""
    pool = Pool()
    moved = _moved(grid)
    return {
        "frame": frame.as_data(), "ticks": frame.ticks(),
        "shape": [len(grid.batches), len(grid.contexts)],
        "sliders": [
            {"label": "batch, sequences that share one step", "values": _labels(grid.batches)},
            {"label": "context, tokens so far in each sequence", "values": _labels(grid.contexts)},
        ],
        "weights": [str(kind) for kind in grid.weights], "kvs": [str(kind) for kind in grid.kvs],
        "kinds": [_kind(kind, grid, frame) for kind in KINDS],
        "prefill": _look(PREFILL) | {"x": _xs(PREFILL, grid, frame)},
        "parts": [{"name": name, "label": PART_WORDS[name], "colour": COLOURS[name], "left": left}
                  for name, left in zip(COLOURS, _key())],
        "whole": {"weights": {"many": 3, "label": "weight products"}},
        "machines": [_machine(offer, grid, frame, pool, runs) for offer in offers],
        "moved": pool.table(says.size(value) for value in moved),
        "need": pool.table(says.size(value) for value in grid.needs),
        "bars": bars(grid), "trained": trained(grid),
        "say": says.SAY, "facts": says.FACTS, "limits": says.LIMITS, "heading": says.HEADING,
        "texts": pool.texts,
    }  # fmt: skip


def _key() -> list[float]:
    """Pixels where the entries of the bars' key begin: all are as far apart as there is room."""
    wides = [18 + room.width(PART_WORDS[name]) for name in COLOURS]
    gap = (WIDTH - X0 - sum(wides)) / (len(wides) - 1) if len(wides) > 1 else 0.0
    return [
        round(X0 + sum(wides[:place]) + place * min(gap, 28.0), 1) for place in range(len(wides))
    ]


def _labels(values: Sequence[int]) -> list[str]:
    return [theme.count(value) for value in values]


def _floats(values: object) -> bytes:
    return np.fromiter(values, "<f4").tobytes()


def _look(kind: Kind) -> dict[str, object]:
    return {"name": kind.name, "label": kind.label, "part": kind.part, "shape": kind.shape,
            "colour": COLOURS[kind.part], "ink": theme.ink(COLOURS[kind.part]),
            "scale": kind.scale, "wide": kind.wide}  # fmt: skip


def _kind(kind: Kind, grid: Grid, frame: Frame) -> dict[str, object]:
    return _look(kind) | {"x": _xs(kind, grid, frame)}


def _xs(kind: Kind, grid: Grid, frame: Frame) -> bytes:
    lowest = 10 ** (frame.x_lo - 1)  # outside the axes: no dot
    return _floats(frame.x(max(x, lowest)) for x in grid.intensities[kind.name])


def _moved(grid: Grid) -> np.ndarray:
    total = np.zeros(1)
    for kind in KINDS:
        values = np.array([float(totals(steps)[1]) for steps in grid.steps[kind.name]])
        total = total + (values if kind.wide else grid.spread(values))
    return total


def lacks(machine: Machine | None, kind: object, reason: str) -> str:
    """What ``machine`` has no figure for, in a few words, or ""."""
    return reason if machine is None else polylines.missing(machine, kind, "cold")


def _machine(
    offer: Offer, grid: Grid, frame: Frame, pool: Pool, runs: Sequence[DecodeRun]
) -> dict[str, object]:
    m = offer.machine
    kinds = grid.computed
    no = {str(w): lacks(m, kind, offer.reason) for w, kind in zip(grid.weights, kinds)}
    packed: dict[str, object] = {
        "id": offer.id, "name": offer.name, "group": offer.group, "origin": origin(offer),
        "says": f"{offer.name} · {m.provenance}" if m else offer.name,
        "no": {kind: text for kind, text in no.items() if text}, "roofs": {}, "has": "", "runs": [],
        "decades": around(fitted(grid, offer, runs)),
    }  # fmt: skip
    usable = [w for w, kind in enumerate(grid.weights) if not no[str(kind)]]
    if not usable:
        return packed
    for w in usable:
        packed["roofs"][str(grid.weights[w])] = polylines.lines(m, kinds[w], "cold", frame, MIX)
    found = film_runs.timed(runs, m, grid)
    measured = film_runs.pack(found, frame, lambda context: _place(grid, context))
    return packed | _timed(m, usable, grid, pool) | {"runs": measured}


def origin(offer: Offer) -> str:
    """Say where the roofs come from, and what a call is taken to cost."""
    known = offer.machine is None or offer.machine.routines
    return offer.says if known else f"{offer.says} {says.FREE}"


def _timed(m: Machine, usable: Sequence[int], grid: Grid, pool: Pool) -> dict[str, object]:
    each = grid.seconds(m, usable)
    rest = sum(each[kind.name] for kind in KINDS if not kind.wide)
    attention = sum(each[kind.name] for kind in KINDS if kind.wide)
    total = grid.spread(rest) + attention
    batch = np.broadcast_to(
        np.array(grid.batches)[:, None],
        (len(grid.weights) * len(grid.kvs), len(grid.batches), len(grid.contexts)),
    ).ravel()
    turns = attention.reshape(len(grid.weights), len(grid.kvs), len(grid.batches), -1)
    crossings = [
        crossing(grid.contexts, turns[w, kv, i], rest[w * len(grid.batches) + i])
        if w in usable else None
        for w, kv, i in np.ndindex(*turns.shape[:3])
    ]  # fmt: skip
    memory = m.capacities.get("dram")
    prompts = [
        prompt.seconds(m) if place // (len(grid.prompts) // len(grid.weights)) in usable else np.nan
        for place, prompt in enumerate(grid.prompts)
    ]
    return {
        "seconds": {name: values.astype("<f4").tobytes() for name, values in each.items()},
        "times": {name: pool.table(map(says.seconds, values)) for name, values in each.items()},
        "total": pool.table(map(says.seconds, total)),
        "rate": pool.table(map(says.rate, batch / total)),
        "each": pool.table(map(says.rate, 1 / total)),
        "prompt": pool.table(map(says.seconds, prompts)),
        "crossings": _floats(_place(grid, at) for at in crossings),
        "crossing": pool.table(says.short(at) if at else "" for at in crossings),
        "crossed": pool.table(says.crossing(at, grid.contexts[-1]) for at in crossings),
        "has": says.size(memory) if memory else "",
        "fits": (grid.needs <= (memory or np.inf)).astype(np.uint8).tobytes(),
    }


def _place(grid: Grid, context: float | None) -> float:
    """Pixels of a context between the bars; CLEAR where there is none."""
    if not context:
        return CLEAR
    return float(np.interp(np.log(context), np.log(grid.contexts), centres(grid)))


def centres(grid: Grid) -> list[float]:
    """Pixels of the middle of each bar."""
    pitch = (X1 - X0) / len(grid.contexts)
    return [round(X0 + pitch * (j + 0.5), 2) for j in range(len(grid.contexts))]


def bars(grid: Grid) -> dict[str, object]:
    """The axes of the bars: where each stands, the scales of time that they can have."""
    xs, pitch = centres(grid), (X1 - X0) / len(grid.contexts)
    limit = grid.model.context
    trained = f" (| trained up to {theme.count(limit)})" if limit else ""
    return {
        "width": WIDTH, "height": HEIGHT, "x0": X0, "x1": X1, "y0": Y0, "y1": Y1,
        "xs": xs, "pitch": pitch, "wide": round(0.74 * pitch, 1),
        "ticks": [[xs[j], theme.count(grid.contexts[j])] for j in range(0, len(xs), 4)],
        "scales": scales(), "axis": f"context, tokens{trained}",
        "says": "time of one step over the context, as stacked bars",
        "crossing": says.CROSSING, "measured": says.MEASURED,
    }  # fmt: skip


def scales() -> list[dict[str, object]]:
    """Scales of time from a microsecond to a day, each with its ticks as (share, label)."""
    found = []
    for decade in range(-6, 5):
        for top, ticks in STEPS:
            labels = [
                [tick / top, si(tick * 10.0**decade, "s", digits=2 if tick == 1.5 else 1)]
                for tick in ticks
            ]
            found.append({"seconds": top * 10.0**decade, "ticks": [[0, "0"], *labels]})
    return found


def fitting(seconds: float) -> dict[str, object]:
    """The first of :func:`scales` that reaches ``seconds``, else the last."""
    found = scales()
    return next((one for one in found if one["seconds"] >= seconds), found[-1])


def trained(grid: Grid) -> dict[str, object] | None:
    """Where the contexts that the model was trained on end; None beyond the bars or unknown."""
    limit = grid.model.context
    inside = [j for j, context in enumerate(grid.contexts) if limit and context <= limit]
    if not inside or len(inside) == len(grid.contexts):
        return None
    edge = centres(grid)[inside[-1]] + (X1 - X0) / len(grid.contexts) / 2
    return {"at": inside[-1], "x": round(edge, 1), "limit": theme.count(limit)}
