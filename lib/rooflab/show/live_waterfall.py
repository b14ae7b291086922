"""The live waterfall, below the live roofline on the same sliders and choices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
from matplotlib.figure import Figure

from rooflab.count.dtypes import DType
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.predict.estimate import CACHES, peak_of, predict
from rooflab.predict.explain import explain
from rooflab.predict.machine import Machine
from rooflab.show import captions, falls
from rooflab.show.falls import REST, Fall, WaterfallStep
from rooflab.show.rooflines.ceiling_lines import CHOICES, missing
from rooflab.show.rooflines.machine_choices import Offer
from rooflab.show.rooflines.tables import Tables
from rooflab.show.scene import By, Dim, Fill, Scene, Words, painter
from rooflab.show.scene.player import Player
from rooflab.show.waterfall_picture import ARROWS, INKS, STACKED, WITH_RULE, Row, Sheet, fill_of

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement
    from rooflab.show.box import BoxView

SINGLE = "The steps are worked out for a single problem: set the batch to 1."
NOT_THERE = "nothing was measured at this size"
SIDE = " This is the {} side."
WIDE, NARROW = 720, 400  # pixels of the two sheets; on the narrow one bars lie below names
STEPS = ("level and mix", "call overhead", "routine efficiency", REST)
KINDS = ("no figure", "batch", "bound", "predicted", "measured")  # what can be shown
FAINT = 0.45  # how clear the name of a step is that is not there
_SIDES = (0.25, 0.6, 1.2, 2.2, 4, 8), (0.5, 1.1, 2.2, 3.2, 5, 8)  # decades left, right of the bound
#: Every window of the axis in decades from the bound, narrowest first.
WINDOWS = sorted(((-a, b) for a, b in product(*_SIDES)), key=lambda one: one[1] - one[0])


def window_of(fall: Fall | None) -> tuple[float, float]:
    """The narrowest window that holds a waterfall, with some room at its ends."""
    places = [0.0] if fall is None else [place - fall.start for place in fall.places]
    for lo, hi in WINDOWS:
        free = 0.06 * (hi - lo)
        if lo + free <= min(places) and max(places) <= hi - free:
            return lo, hi
    return WINDOWS[-1]


def timed_on(offer: Offer) -> dict[tuple[str, str], Measurement]:
    """What was measured, by operation and side; the first of several counts."""
    return {(m.op.label, m.cache): m for m in reversed(offer.measurements)}


def falls_of(
    op: Operation, m: Machine, timed: Mapping[tuple[str, str], Measurement]
) -> tuple[Fall, Fall, Fall]:
    """The waterfall of ``op`` for each of CHOICES: of its time there, else of what is predicted.

    Of both sides it is the one that was measured, first cold.
    """

    def alone(cache: str) -> Fall:
        if (op.label, cache) in timed:
            return falls.of_explanation(explain(timed[op.label, cache], m))
        if m.routines:
            return falls.of_prediction(op, m, predict(op, m, cache=cache))
        return falls.of_bound(op, m)

    cold, warm = (alone(cache) for cache in CACHES)
    side, both = ("warm", warm) if warm.reached == "measured" != cold.reached else ("cold", cold)
    if both.reached:
        both = dataclasses.replace(both, sentence=both.sentence + SIDE.format(side))
    return cold, warm, both


def lacks(offer: Offer, kind: DType) -> str:
    """Why there is no waterfall for a number type on a machine, or nothing."""
    return missing(offer.machine, kind, "cold") if offer.machine else offer.reason


def _part(n: int, step: WaterfallStep) -> str:
    """Of the note on level and mix: the bytes, where they lay, or the roof."""
    return step.note.split(", ", 2)[n]


def from_kind(kind: str, template: str) -> By:
    """A template from one of KINDS on, and nothing before."""
    first = KINDS.index(kind)
    return By("kind", [""] * first + [template] * (len(KINDS) - first))


class Cases:
    """The waterfalls of a live picture, and what its rows show, as tables by *case* and size.

    A case is a machine, a number type, an operation and a side of which more than the bound is
    known. Before those come three that have no waterfall of their own, the first three of KINDS.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        i, j, k = (slider.values for slider in tables.sliders)
        #: The single problems of each dtype and series, one a value of the first slider.
        self.ops = [
            [[series.build(n, j[0], k[0], kind) for n in i] for series in tables.series]
            for kind in tables.dtypes
        ]
        self.falls: list[Sequence[Fall | None]] = [[None] * len(i) for _ in KINDS[:3]]
        shape = (len(tables.offers), len(tables.dtypes), len(tables.series))
        #: The number of each case, by machine, dtype, series and choice of side.
        self.numbers = np.zeros((*shape, len(CHOICES)), int)
        for place in np.ndindex(shape):
            self.numbers[place] = self._case(*place)
        self.kind = np.array(
            [[KINDS.index(fall.reached or "bound") if fall else n for fall in row]
             for n, row in enumerate(self.falls)]
        )  # fmt: skip
        found = [[window_of(fall) for fall in row] for row in self.falls]
        self.windows = [one for one in WINDOWS if any(one in row for row in found)]
        #: The number of the window, from 1 on; 0 is no axis.
        self.axis = np.array([[1 + self.windows.index(one) for one in row] for row in found])
        self.axis[self.kind < KINDS.index("bound")] = 0
        self.bound, self.roof = self._bounds()
        self.end = self.each(lambda fall: falls.seconds_of(fall.end) if fall.reached else "")
        self.total = self.each(lambda fall: fall.total if fall.reached else "")
        self.limit = self.each(lambda fall: fall.roof if fall.reached else "")

    def _case(self, m: int, d: int, o: int) -> int | range:
        """The numbers of a machine, a dtype and a series; they may be new ones."""
        offer = self.tables.offers[m]
        if lacks(offer, self.tables.dtypes[d]):
            return KINDS.index("no figure")
        if not offer.known.routines and not offer.measurements:
            return KINDS.index("bound")
        timed = timed_on(offer)
        self.falls += zip(*(falls_of(op, offer.known, timed) for op in self.ops[d][o]))
        return range(len(self.falls) - len(CHOICES), len(self.falls))

    def _bounds(self) -> tuple[By, list[Words]]:
        """The bound of every operation, and the two lines on the roof that it comes from."""
        shape = self.numbers.shape[:3]
        counted = [
            [[(op.flops, op.bytes_at("dram")) for op in ops] for ops in row] for row in self.ops
        ]
        times = np.full((*shape, len(self.falls[0])), "", object)
        roofs = np.full((2, *shape), "", object)
        for m, d, o in zip(*np.nonzero(self.numbers[..., 0])):
            machine, op = self.tables.offers[m].known, self.ops[d][o][0]
            peak, bandwidth = peak_of(op, machine)[0], machine.bandwidth("dram", "best")
            bounds = (max(flops / peak, moved / bandwidth) for flops, moved in counted[d][o])
            times[m, d, o] = [si(seconds, "s") for seconds in bounds]
            figures, _, source = falls.roof_of(op, machine).rpartition(", ")
            roofs[:, m, d, o] = f"{figures},", source
        there = from_kind("bound", "{line}")
        lines = [Fill(there, line=By("machine dtype op", roof)) for roof in roofs]
        return By("machine dtype op i", times), [*lines]

    def each(self, value: Callable[[Fall], Any], none: Any = "") -> By:
        """A text or a number of each waterfall, by case and size."""
        found = [[none if fall is None else value(fall) for fall in row] for row in self.falls]
        return By("case i", np.array(found, object if isinstance(none, str) else float))

    def step(self, name: str, value: Callable[[WaterfallStep], Any], none: Any = "") -> By:
        """A text or a number of a step of each waterfall, ``none`` where the step is not there."""
        return self.each(lambda f: next((value(s) for s in f.steps if s.name == name), none), none)

    def rows_on(self, wide: float) -> list[Row]:
        """What stands in the rows of a sheet ``wide`` pixels wide."""
        first, mix, *others = self.rows
        lines = ["{moved}, {where},"] if wide < STACKED else ["{moved},", "{where},"]
        return [first, dataclasses.replace(mix, notes=self._mix(*lines, "{roof}")), *others]

    @cached_property
    def rows(self) -> list[Row]:
        """What stands in the rows of every sheet; each note is one line."""
        found = [Row(falls.BOUND, Fill(from_kind("bound", "{time}"), time=self.bound), self.roof)]
        start = self.each(lambda fall: fall.start, math.nan).values
        here = np.where(self.kind > KINDS.index("bound"), 0.0, math.nan)
        for name in STEPS:
            end = self.step(name, lambda step: step.end, math.nan).values - start
            gone = np.isnan(end)
            here = np.where(gone, here, end)
            found.append(
                Row(
                    name,
                    self.step(name, lambda step: step.seconds),
                    self._notes(name),
                    self.step(name, lambda step: step.factor),
                    self.step(name, lambda step: ARROWS[step.kind]),
                    INKS[name],
                    self.step(name, fill_of, "paper"),
                    bar=(found[-1].end, By("case i", end)),
                    end=By("case i", here),
                    shown=By("case i", np.where(gone, FAINT, 1.0)),
                )
            )
        last = By("kind", ["measured"] * 3 + [f"{kind}: {{total}} the bound" for kind in KINDS[3:]])
        shown = By("kind", [FAINT] * 3 + [1, 1])
        note = [self.limit]
        found.append(
            Row(Fill(last, total=self.total), self.end, note, end=found[-1].end, shown=shown)
        )
        return found

    def _notes(self, name: str) -> list[Words]:
        """The note of a step."""
        notes = self.step(name, lambda step: step.note)
        if name == REST:
            notes.values[self.kind == KINDS.index("predicted")] = NOT_THERE
        return self._mix("{moved}, {where}, {roof}") if name == STEPS[0] else [notes]

    def _mix(self, *lines: str) -> list[Words]:
        """The note on level and mix in some lines; what many notes share is said once."""
        there = self.step(STEPS[0], lambda _: "{line}")
        moved, where, roof = (self.step(STEPS[0], partial(_part, n)) for n in range(3))
        parts = {"moved": moved, "where": where, "roof": roof}
        return [Fill(there, line=Fill(line, **parts)) for line in lines]

    @cached_property
    def sentences(self) -> Words:
        """The rows as sentences, as in :attr:`Fall.words`."""
        first, *steps, _ = self.rows
        found: dict[str, Words] = {}
        for n, row in enumerate(steps):
            template = self.step(STEPS[n], lambda _: f" {falls.SAID_STEP}")
            held = {"name": row.name, "factor": row.factor, "time": row.time}
            found[f"step{n}"] = Fill(template, **held, note=row.notes[0])
        figures, source = first.notes
        note = Fill("{figures} {source}", figures=figures, source=source)
        template = from_kind("bound", falls.SAID_BOUND)
        found["bound"] = Fill(template, name=first.name, time=self.bound, note=note)
        found["end"] = Fill(
            from_kind("predicted", f" {falls.SAID_END}"),
            reached=By("kind", KINDS), time=self.end, total=self.total, roof=self.limit,
        )  # fmt: skip
        return Fill("{bound}{step0}{step1}{step2}{step3}{end}", **found)

    @cached_property
    def says(self) -> Words:
        """The sentence."""
        offers, kinds = self.tables.offers, self.tables.dtypes
        expected = f"{falls.EXPECTED} {falls.UNTIMED}{{side}}"
        alone = f"{falls.ALLOWED} {{why}}"
        names = [[captions.what(op).rpartition(" in ")[0] for op in ops] for ops in self.ops[0]]
        dtype = By("dtype", [str(kind) for kind in kinds])
        why = [falls.why_it_stops(one.machine) if one.machine else "" for one in offers]
        no = [[f"{one.name}: {lacks(one, kind)}." for kind in kinds] for one in offers]
        return Fill(
            By("kind", ["{no}", SINGLE, alone, expected, "{measured}"]),
            no=By("machine dtype", no),
            what=Fill("{op} in {dtype}", op=By("op i", names), dtype=dtype),
            machine=By("machine", [one.name for one in offers]),
            why=By("machine", why),
            bound=self.bound,
            end=self.end,
            total=self.total,
            measured=self.each(lambda f: f.sentence if f.reached == "measured" else ""),
            side=By("cache", ["", "", SIDE.format("cold")]),  # of two predictions the cold one
        )

    def dims(self, start: Mapping[str, Any]) -> list[Dim]:
        """What is chosen, and what follows from it."""
        tables = self.tables
        names = {
            "machine": [offer.id for offer in tables.offers],
            "dtype": [str(kind) for kind in tables.dtypes],
            "op": [series.name for series in tables.series],
            "cache": list(CHOICES),
        }
        given = [Dim(key, held, held, held.index(start[key]), 250) for key, held in names.items()]
        i, j = (
            Dim(key, [str(value) for value in slider.values], start=start[key])
            for key, slider in zip("ij", tables.sliders)
        )
        every = np.arange(len(self.falls))
        batch = np.arange(len(j.stops))[:, None] > 0
        case = np.where(batch & (every > 0), KINDS.index("batch"), every)
        return [
            *given,
            j,
            _following("spot", every.size, "machine dtype op cache", self.numbers),
            _following("case", every.size, "j spot", case),
            i,
            _following("kind", len(KINDS), "case i", self.kind),
            _following("axis", 1 + len(self.windows), "case i", self.axis),
        ]


def _following(name: str, stops: int, dims: str, of: np.ndarray) -> Dim:
    return Dim(name, [""] * stops, of=By(dims, of))


def live_scene(cases: Cases, wide: float, start: Mapping[str, Any]) -> Scene:
    """The live picture on a sheet ``wide`` pixels wide."""
    scene = Scene(wide, 0, cases.dims(start), says=cases.says)
    top, windows = 34 if wide >= WITH_RULE else 54, [(math.nan, math.nan), *cases.windows]
    sheet = Sheet(scene, cases.rows_on(wide), top, windows)
    sheet.draw(By("kind", ["paper"] * 4 + ["ink"]))
    series = cases.tables.series
    if len(series) > 1:
        scene.choice("op", "operation in the waterfall", [one.label for one in series])
    _jumps(scene, cases)
    scene.note(cases.sentences, "aside steps")
    return scene


def _jumps(scene: Scene, cases: Cases) -> None:
    """Buttons for the sizes that were measured: they move the slider."""
    slider, at = cases.tables.sliders[0], np.arange(len(cases.falls[0]))
    sizes = [np.flatnonzero(row == KINDS.index("measured")) for row in cases.kind]
    for n in range(max(map(len, sizes))):
        goal = np.array([one[n] if n < len(one) else -1 for one in sizes])
        label = [str(slider.values[i]) if i >= 0 else "" for i in goal]
        scene.button(
            By("spot", label), {"i": By("spot", np.maximum(goal, 0)), "j": 0},
            shown=By("spot", goal >= 0), pressed=By("case i", goal[:, None] == at),
            row=f"measured at {slider.name} =", kind="jump",
        )  # fmt: skip


class WaterfallView(Player):
    """Where the time goes: from the bound of one operation, factor by factor, to its time.

    Where the roofline shows both sides, the one that was measured at this size is explained.

    ``i`` and ``j`` are the sliders' indices; ``machine``, ``dtype``, ``cache`` and ``op`` are what
    is explained. A machine of which only the roofs are known stops at the bound, a size that was
    never measured at the prediction.
    """

    def __init__(self, tables: Tables, **start: Any) -> None:
        self.cases = Cases(tables)
        scenes = [live_scene(self.cases, wide, start) for wide in (WIDE, NARROW)]
        whole = ipywidgets.Layout(width="100%", margin="0")
        super().__init__(*scenes, stem="waterfall", kind="rl-fall", layout=whole, **start)

    @property
    def fall(self) -> Fall | None:
        """The waterfall as it is now; None where there is none, which the sentence explains."""
        places = self.scene.places(**self.state)
        if places["kind"] < KINDS.index("bound"):
            return None
        known = self.cases.falls[places["case"]][self.i]
        op = self.cases.ops[places["dtype"]][places["op"]][self.i]
        return known or falls.of_bound(op, self.cases.tables.offers[places["machine"]].known)

    @property
    def words(self) -> str:
        """The waterfall as text: its sentence, then a line a bar."""
        return self.fall.words if self.fall else self.sentence

    def picture(self) -> Figure | None:
        """The still waterfall as it is now; None where there is none."""
        return painter.figure(self.scene, [self.state]) if self.fall else None


def waterfall_of(
    tables: Tables, start: Mapping[str, Any], box: BoxView | None = None
) -> WaterfallView:
    """The waterfall of ``tables``, where its sliders stand, with the choices of ``start``.

    It begins with the operation of ``box``, else with the first one that was measured there.
    """
    i, j, _ = (slider.start for slider in tables.sliders)
    choices = {key: start[key] for key in ("machine", "dtype", "cache")}
    names = [box.op] if box else [series.name for series in tables.series]
    view = WaterfallView(tables, i=i, j=j, op=names[0], **choices)
    for name in reversed(names):
        state = view.state | {"op": name}
        if view.scene.places(**state)["kind"] == KINDS.index("measured"):
            view.op = name
    return view
