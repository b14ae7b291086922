"""What the browser gets of a request film: dots placed, bars timed, numbers formatted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rooflab.count.dtypes import DType
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import si
from rooflab.labs.llm import film_words as says
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.step_time import MIX, sixteen_bits, timing
from rooflab.labs.llm.steps import Formats, Step, attend
from rooflab.labs.llm.workload import Workload
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show import ceiling_lines, labels, theme
from rooflab.show.canvas import Frame, around, frame_for
from rooflab.show.ceiling_lines import roof
from rooflab.show.machine_choices import Offer
from rooflab.show.roofline_tables import Pool

# What a request film is counted over: batches, contexts, formats, and the kinds of operation.
#
# Everything that a slider can reach is built once. Only attention depends on the context, so the
# weight products are counted once a batch and format, attention once a batch, context and format.


BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
CONTEXTS = tuple(n * 2**e for e in range(12) for n in (32, 48)) + (131072,)
WEIGHTS, KV, OTHER, COMPUTE = "weights", "kv", "other", "compute"


@dataclass(frozen=True)
class DotKind:
    """Operations that share a dot: ``part`` is what they carry while memory is their limit.

    ``wide``: they depend on the context. ``marker`` is matplotlib's, ``shape`` the browser's;
    ``scale``: the size, so that dots in one place stay visible inside each other.
    """

    name: str
    label: str
    part: str
    marker: str
    shape: str
    scale: float
    wide: bool = False


KINDS = (
    DotKind("mlp", "MLP", WEIGHTS, "s", "square", 1.0),
    DotKind("qkvo", "Q K V O", WEIGHTS, "o", "circle", 0.62),
    DotKind("head", "head", WEIGHTS, "^", "triangle", 0.34),
    DotKind("attention", "attention", KV, "o", "circle", 1.4, wide=True),
    DotKind("other", "norms etc.", OTHER, "v", "down", 0.9),
)
PREFILL = DotKind("prefill", "prefill", COMPUTE, "D", "diamond", 1.0, wide=True)
# In the order in which bars are stacked, first at the foot. Okabe and Ito: what is carried has a
# colour, arithmetic is black as GEMM is, the rest is pale.
COLOURS = {WEIGHTS: "#D55E00", COMPUTE: "#000000", KV: "#0072B2", OTHER: "#8C3A6B"}
PART_WORDS = {
    WEIGHTS: "carrying weights", COMPUTE: "computing", KV: "carrying the KV cache", OTHER: "other"
}  # fmt: skip


def kind_of(step: Step) -> str:
    """Name of the kind that ``step`` belongs to."""
    if "kv" in step.roles or step.name in ("scores", "softmax", "values"):
        return "attention"
    if step.op.unit != "tensor":
        return "other"
    if step.name.endswith(("gate", "up", "down", "router")):
        return "mlp"
    return "head" if step.name == "head" else "qkvo"


@dataclass(frozen=True)
class Grid:
    """``model`` over every batch, context, and format of ``weights`` and ``kvs``."""

    model: Model
    weights: tuple[DType, ...]
    kvs: tuple[DType, ...]
    batches: tuple[int, ...] = BATCHES
    contexts: tuple[int, ...] = CONTEXTS

    def decode(self, w: int, kv: int, i: int, j: int) -> Workload:
        """The decode step at four indices: weights, KV cache, batch, context."""
        return self.model.decode(self.batches[i], self.contexts[j], *self._formats(w, kv))

    def prefill(self, w: int, kv: int, j: int) -> Workload:
        """Reading one prompt as long as the context at index ``j``."""
        return self.model.prefill(1, self.contexts[j], *self._formats(w, kv))

    def _formats(self, w: int, kv: int) -> tuple[DType, DType, DType]:
        """Weights, KV cache and activations; the film's products are computed in 16 bits."""
        return self.weights[w], self.kvs[kv], sixteen_bits(self.weights[w])

    @cached_property
    def computed(self) -> tuple[DType, ...]:
        """For each format of the weights, the one in which products are computed."""
        return tuple(self.decode(w, 0, 0, 0).formats.activations for w in range(len(self.weights)))

    def narrow(self) -> Iterator[tuple[int, int]]:
        """Indices (weights, batch) in table order."""
        return ((w, i) for w in range(len(self.weights)) for i in range(len(self.batches)))

    def wide(self) -> Iterator[tuple[int, int, int, int]]:
        """Indices (weights, KV cache, batch, context) in table order."""
        shape = (len(self.weights), len(self.kvs), len(self.batches), len(self.contexts))
        return ((w, kv, i, j) for w, kv, i, j in np.ndindex(*shape))

    @cached_property
    def steps(self) -> dict[str, list[tuple[Step, ...]]]:
        """The steps of each kind, in table order: narrow for most, wide for attention."""
        found: dict[str, list[tuple[Step, ...]]] = {kind.name: [] for kind in KINDS}
        for w, i in self.narrow():
            mine = by_kind(self.decode(w, 0, i, 0).steps)
            for kind in KINDS:
                if not kind.wide:
                    found[kind.name].append(mine.get(kind.name, ()))
        # Weights of one width share their attention.
        seen: dict[tuple[DType, int, int, int], tuple[Step, ...]] = {}
        for w, kv, i, j in self.wide():
            key = (self.weights[w] if self.model.latent else self.computed[w], kv, i, j)
            if key not in seen:
                seen[key] = self._attention(w, kv, i, j)
            found["attention"].append(seen[key])
        return found

    def _attention(self, w: int, kv: int, i: int, j: int) -> tuple[Step, ...]:
        """The steps of a decode that depend on the context, without the others."""
        formats = Formats(self.weights[w], self.kvs[kv], self.computed[w])
        found = attend(self.model, self.batches[i], 1, self.contexts[j], formats, True, True)
        return by_kind(found)["attention"]

    @cached_property
    def prompts(self) -> list[Workload]:
        """Prefills in table order (weights, KV cache, context)."""
        shape = (len(self.weights), len(self.kvs), len(self.contexts))
        return [self.prefill(*map(int, index)) for index in np.ndindex(*shape)]

    @cached_property
    def intensities(self) -> dict[str, np.ndarray]:
        """FLOP per byte of every dot, in table order; 0 where a kind has no operation."""
        known: dict[int, float] = {}

        def of(steps: tuple[Step, ...]) -> float:
            if id(steps) not in known:
                known[id(steps)] = intensity(steps)
            return known[id(steps)]

        found = {kind.name: np.array(list(map(of, self.steps[kind.name]))) for kind in KINDS}
        return found | {PREFILL.name: np.array([p.intensity for p in self.prompts])}

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest FLOP per byte of any dot."""
        known = np.concatenate(list(self.intensities.values()))
        return float(known[known > 0].min()), float(known.max())

    @cached_property
    def needs(self) -> np.ndarray:
        """Bytes of memory that each decode step needs, a wide table."""
        rest = []
        for w, i in self.narrow():
            step = self.decode(w, 0, i, 0)
            rest.append(float(step.memory_bytes - step.memory["kv"]))
        shape = (len(self.kvs), len(self.batches), len(self.contexts))
        cache = [
            float(self.model.kv_bytes(self.batches[i], self.contexts[j], self.kvs[kv]))
            for kv, i, j in np.ndindex(*shape)
        ]
        whole: np.ndarray = self.spread(np.array(rest)) + np.tile(cache, len(self.weights))
        return whole

    def seconds(self, machine: Machine, w: Iterable[int]) -> dict[str, np.ndarray]:
        """Seconds of each kind on ``machine``, in table order; NaN outside weights formats
        ``w``."""
        usable, each = set(w), {}
        for kind in KINDS:
            rows = self.steps[kind.name]
            span = len(rows) // len(self.weights)
            known: dict[int, float] = {}
            found = np.full(len(rows), np.nan)
            for place, steps in enumerate(rows):
                if place // span in usable:
                    if id(steps) not in known:
                        known[id(steps)] = sum(p.seconds for p in timing(steps, machine).parts)
                    found[place] = known[id(steps)]
            each[kind.name] = found
        return each

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of a narrow table, repeated over KV formats and contexts: a wide table."""
        shape = (len(self.weights), 1, len(self.batches), 1)
        whole = (len(self.weights), len(self.kvs), len(self.batches), len(self.contexts))
        return np.broadcast_to(values.reshape(shape), whole).ravel()


def by_kind(steps: Iterable[Step]) -> dict[str, tuple[Step, ...]]:
    """``steps`` sorted into the kinds that they belong to."""
    found: dict[str, tuple[Step, ...]] = {}
    for step in steps:
        name = kind_of(step)
        found[name] = (*found.get(name, ()), step)
    return found


def intensity(steps: Iterable[Step]) -> float:
    """FLOP per byte of ``steps`` together."""
    flops, moved = totals(steps)
    return flops / moved if moved else 0.0


def totals(steps: Iterable[Step]) -> tuple[int, int]:
    """FLOP and bytes of ``steps``, every run counted."""
    flops = moved = 0
    for step in steps:
        flops += step.count * step.op.flops
        moved += step.count * step.op.bytes
    return flops, moved


def crossing(contexts: Iterable[int], attention: np.ndarray, rest: float) -> float | None:
    """Context at which attention takes as long as the ``rest`` (seconds); None beyond ``contexts``.

    Between two contexts attention's time is a straight line. 0: it is so from the first one on.
    """
    known = list(contexts)
    if attention[0] >= rest:
        return 0.0
    if attention[-1] < rest:
        return None
    return float(np.interp(rest, attention, known))


# Decode loops that were really run, on the film of their model, beside the estimate.


@dataclass(frozen=True)
class TimedRun:
    """A run on the film: indices of its weights format and batch (-1: no slider value).

    ``context``: positions in the middle of the run; ``dots``: kind → (FLOP/byte, FLOP/s).
    """

    w: int
    i: int
    context: int
    seconds: float
    sentence: str
    rate: str
    dots: dict[str, tuple[float, float]]


def as_runs(
    decode_run: DecodeRun | Iterable[DecodeRun] | None, model: Model
) -> tuple[DecodeRun, ...]:
    """``decode_run`` as a tuple of runs of ``model``; TypeError for anything else, ValueError for
    runs of another model, whose times would say nothing about this one."""
    if decode_run is None:
        return ()
    listed = tuple(decode_run) if isinstance(decode_run, Iterable) else (decode_run,)
    for one in listed:
        if not isinstance(one, DecodeRun):
            raise TypeError(
                f"decode_run={one!r} is no DecodeRun; pass what rl.decode_loop returned"
            )
        if one.model != model:
            raise ValueError(
                f"decode_run: it ran {one.model.name}, and the film is of {model.name}; both must "
                "be of one model"
            )
    return listed


def ran_on(run: DecodeRun, machine: Machine | None) -> bool:
    """Whether ``run`` was made on ``machine``, with the threads of its roofs."""
    return bool(machine and machine.id == run.machine and machine.threads in (None, run.threads))


def home(runs: Sequence[DecodeRun], offered: Sequence[Offer]) -> Offer | None:
    """The machine on offer that the first run was made on; ValueError if there is none."""
    if not runs:
        return None
    for offer in offered:
        if ran_on(runs[0], offer.machine):
            return offer
    raise ValueError(
        f"decode_run: it ran on {runs[0].machine} with {runs[0].threads} thread(s), and no machine "
        "on offer has those roofs; give machine=rl.this_machine()"
    )


def timed(runs: Sequence[DecodeRun], machine: Machine, grid: Grid) -> list[TimedRun]:
    """What ``runs`` measured on ``machine``, for the formats that ``grid`` has."""
    return [
        _timed_run(run, machine, grid)
        for run in runs
        if ran_on(run, machine) and _dtype(run.dtype) in grid.weights
    ]


def _timed_run(run: DecodeRun, machine: Machine, grid: Grid) -> TimedRun:
    kind = _dtype(run.dtype)
    expected = run.model.decode(run.batch, run.middle, kind, kind).seconds(machine)
    dots = {}
    for name, steps in by_kind(run.ledger()).items():
        flops, moved = totals(steps)
        seconds = sum(run.seconds(step.name) for step in steps)
        if flops and seconds > 0:
            dots[name] = (flops / moved, flops / seconds)
    return TimedRun(
        grid.weights.index(kind), _place_run(run.batch, grid.batches), run.middle, run.step_s,
        says.measured(run.step_s, expected, run.middle, run.tokens_per_s),
        says.MEASURED.format(value=says.rate(run.tokens_per_s)), dots,
    )  # fmt: skip


def _place_run(value: int, values: Sequence[int]) -> int:
    return values.index(value) if value in values else -1


def pack_runs(
    found: Sequence[TimedRun], frame: Frame, at: Callable[[float], float]
) -> list[dict[str, object]]:
    """``found`` for the browser; ``at`` maps a context to pixels of the bars."""
    order = [kind.name for kind in KINDS]
    return [
        {
            "w": one.w, "i": one.i, "x": at(one.context), "seconds": one.seconds,
            "value": says.seconds(one.seconds), "says": one.sentence,
            "rate": one.rate,
            "dots": {
                name: [round(frame.x(x), 2), round(min(frame.y(rate), frame.height), 2)]
                for name, (x, rate) in sorted(one.dots.items(), key=lambda d: order.index(d[0]))
            },
        }
        for one in found
    ]  # fmt: skip


def rates_of_runs(found: Iterable[TimedRun]) -> list[float]:
    """The rates, in FLOP/s, that the axes should hold."""
    return [rate for one in found for _, rate in one.dots.values() if np.isfinite(rate)]


# What a request film shows at one place of its sliders: the step, its times, its sentences.


@dataclass(frozen=True)
class Now:
    """What a film shows: machine ``offer``, and indices into the ``grid``'s formats and sizes."""

    grid: Grid
    offer: Offer
    w: int
    kv: int
    i: int
    j: int
    runs: tuple[DecodeRun, ...] = ()

    @cached_property
    def timed(self) -> list[TimedRun]:
        """What was measured with these weights and this batch on this machine."""
        found = timed(self.runs, self.machine, self.grid)
        return [one for one in found if (one.w, one.i) == (self.w, self.i)]

    @property
    def machine(self) -> Machine:
        """The machine; every film starts on one that has figures."""
        return self.offer.known

    @cached_property
    def decode(self) -> Workload:
        """The decode step."""
        return self.grid.decode(self.w, self.kv, self.i, self.j)

    @cached_property
    def prefill(self) -> Workload:
        """The prompt that is read."""
        return self.grid.prefill(self.w, self.kv, self.j)

    def kinds(self, j: int | None = None) -> list[tuple[DotKind, float, float]]:
        """Each kind of operation with its seconds and FLOP/byte; ``j``: at another context."""
        at = self.j if j is None else j
        steps = by_kind(self.grid.decode(self.w, self.kv, self.i, at).steps)
        return [
            (kind, sum(p.seconds for p in timing(mine, self.machine).parts), intensity(mine))
            for kind in KINDS
            if (mine := steps.get(kind.name))
        ]

    @property
    def roof(self) -> Roofline:
        """The roof that every dot lies on."""
        return roof(self.machine, self.grid.computed[self.w], mix=MIX)

    def parts(self, j: int) -> dict[str, float]:
        """Seconds of the step at context ``j``, by what the kinds of operation wait for."""
        found, ridge = dict.fromkeys(COLOURS, 0.0), self.roof.ridge
        for kind, seconds, x in self.kinds(j):
            found[COMPUTE if x >= ridge else kind.part] += seconds
        return found

    @cached_property
    def crossing(self) -> float | None:
        """Context at which attention takes as long as all the rest."""
        kinds = [self.kinds(j) for j in range(len(self.grid.contexts))]
        attention = [sum(s for kind, s, _ in one if kind.wide) for one in kinds]
        rest = sum(s for kind, s, _ in kinds[0] if not kind.wide)
        return crossing(self.grid.contexts, np.array(attention), rest)

    @property
    def values(self) -> dict[str, str]:
        """What the sentences say."""
        seconds, memory = self.decode.seconds(self.machine), self.machine.capacities.get("dram")
        return {
            "batch": theme.count(self.decode.batch), "context": theme.count(self.decode.context),
            "moved": says.size(self.decode.bytes), "total": says.seconds(seconds),
            "rate": says.rate(self.decode.batch / seconds), "each": says.rate(1 / seconds),
            "machine": self.offer.name,
            "need": says.size(self.decode.memory_bytes), "has": says.size(memory) if memory else "",
            "prompt": says.seconds(self.prefill.seconds(self.machine)),
        }  # fmt: skip

    @property
    def fits(self) -> bool | None:
        """Whether the step fits the machine's memory; None where that is not known."""
        memory = self.machine.capacities.get("dram")
        return None if memory is None else self.decode.memory_bytes <= memory

    @property
    def sentence(self) -> str:
        """What the film says."""
        values, limit = self.values, self.grid.model.context
        said = says.SAY["step"].format(**values)
        if self.fits is not None:
            said += says.SAY["fits" if self.fits else "full"].format(**values)
        said += says.crossing(self.crossing, self.grid.contexts[-1])
        if limit and self.decode.context > limit:
            said += says.SAY["beyond"].format(limit=theme.count(limit))
        said += "".join(one.sentence for one in self.timed)
        return f"{said}\n{origin(self.offer)}"


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
    if m is not None and _drawn(grid, offer):
        peaks = [m.peak(kind) for kind in grid.computed if m.has_peak(kind)]
        lowest = m.bandwidth(mix=MIX) * ends[0] * 10**-BELOW
        rates = [*rates_of_runs(timed(runs, m, grid)), *peaks, lowest]
    return replace(frame_for(rates), x_lo=low, x_hi=high, height=400, right=30)


def _drawn(grid: Grid, offer: Offer) -> bool:
    """Whether ``offer`` has a roof in one of the formats."""
    return any(not lacks(offer.machine, kind, "no roofs") for kind in grid.computed)


def sheet(grid: Grid, offers: Sequence[Offer], runs: Sequence[DecodeRun] = ()) -> Frame:
    """Return axes that hold every machine on offer: what everything is placed on."""
    frames = [fitted(grid, offer, runs) for offer in offers if _drawn(grid, offer)]
    low, high = around(*frames)
    return replace(frames[0], y_lo=low, y_hi=high)


def pack_film(
    grid: Grid, offers: Sequence[Offer], frame: Frame, runs: Sequence[DecodeRun] = ()
) -> dict[str, Any]:
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
    wides = [18 + labels.width(PART_WORDS[name]) for name in COLOURS]
    gap = (WIDTH - X0 - sum(wides)) / (len(wides) - 1) if len(wides) > 1 else 0.0
    return [
        round(X0 + sum(wides[:place]) + place * min(gap, 28.0), 1) for place in range(len(wides))
    ]


def _labels(values: Sequence[int]) -> list[str]:
    return [theme.count(value) for value in values]


def _floats(values: Iterable[float]) -> bytes:
    return np.fromiter(values, "<f4").tobytes()


def _look(kind: DotKind) -> dict[str, object]:
    return {"name": kind.name, "label": kind.label, "part": kind.part, "shape": kind.shape,
            "colour": COLOURS[kind.part], "ink": theme.ink(COLOURS[kind.part]),
            "scale": kind.scale, "wide": kind.wide}  # fmt: skip


def _kind(kind: DotKind, grid: Grid, frame: Frame) -> dict[str, object]:
    return _look(kind) | {"x": _xs(kind, grid, frame)}


def _xs(kind: DotKind, grid: Grid, frame: Frame) -> bytes:
    lowest = 10 ** (frame.x_lo - 1)  # outside the axes: no dot
    return _floats(frame.x(max(x, lowest)) for x in grid.intensities[kind.name])


def _moved(grid: Grid) -> np.ndarray:
    total = np.zeros(1)
    for kind in KINDS:
        values = np.array([float(totals(steps)[1]) for steps in grid.steps[kind.name]])
        total = total + (values if kind.wide else grid.spread(values))
    return total


def lacks(machine: Machine | None, kind: DType, reason: str) -> str:
    """What ``machine`` has no figure for, in a few words, or ""."""
    return reason if machine is None else ceiling_lines.missing(machine, kind, "cold")


def _machine(
    offer: Offer, grid: Grid, frame: Frame, pool: Pool, runs: Sequence[DecodeRun]
) -> dict[str, object]:
    m = offer.machine
    kinds = grid.computed
    no = {str(w): lacks(m, kind, offer.reason) for w, kind in zip(grid.weights, kinds)}
    packed: dict[str, Any] = {
        "id": offer.id, "name": offer.name, "group": offer.group, "origin": origin(offer),
        "says": f"{offer.name} · {m.provenance}" if m else offer.name,
        "no": {kind: text for kind, text in no.items() if text}, "roofs": {}, "has": "", "runs": [],
        "decades": around(fitted(grid, offer, runs)),
    }  # fmt: skip
    usable = [w for w, kind in enumerate(grid.weights) if not no[str(kind)]]
    if m is None or not usable:
        return packed
    for w in usable:
        packed["roofs"][str(grid.weights[w])] = ceiling_lines.lines(m, kinds[w], "cold", frame, MIX)
    found = timed(runs, m, grid)
    measured = pack_runs(found, frame, lambda context: _place(grid, context))
    return packed | _timed(m, usable, grid, pool) | {"runs": measured}


def origin(offer: Offer) -> str:
    """Say where the roofs come from, and what a call is taken to cost."""
    known = offer.machine is None or offer.machine.routines
    return offer.says if known else f"{offer.says} {says.FREE}"


def _timed(m: Machine, usable: Sequence[int], grid: Grid, pool: Pool) -> dict[str, object]:
    each = grid.seconds(m, usable)
    rest = sum((each[kind.name] for kind in KINDS if not kind.wide), np.zeros(1))
    attention = sum((each[kind.name] for kind in KINDS if kind.wide), np.zeros(1))
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


def scales() -> list[dict[str, Any]]:
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


def fitting(seconds: float) -> dict[str, Any]:
    """The first of :func:`scales` that reaches ``seconds``, else the last."""
    found = scales()
    return next((one for one in found if one["seconds"] >= seconds), found[-1])


def trained(grid: Grid) -> dict[str, object] | None:
    """Where the contexts that the model was trained on end; None beyond the bars or unknown."""
    limit = grid.model.context or 0
    inside = [j for j, context in enumerate(grid.contexts) if context <= limit]
    if not inside or len(inside) == len(grid.contexts):
        return None
    edge = centres(grid)[inside[-1]] + (X1 - X0) / len(grid.contexts) / 2
    return {"at": inside[-1], "x": round(edge, 1), "limit": theme.count(limit)}
