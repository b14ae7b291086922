"""Measured operations as points: read, named, with their guesses and roofs, and put into words.

One point is one measurement, with the learner's guess of its time beside it where there is one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rooflab.count.operation import Operation
from rooflab.count.si import percent, plain, si, times
from rooflab.count.validation import unknown
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import homes, overhead, predict
from rooflab.predict.machine import Machine
from rooflab.show import captions, theme
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.ceiling_lines import CallLine, Ceiling, missing, roof
from rooflab.show.waiting import is_axis

SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
LIMITS = {"memory": "memory", "compute": "arithmetic", "overhead": "the cost of the call"}


@dataclass(frozen=True)
class TimeAxis:
    """A guess axis about the time of an operation: its widget's id, the seconds at its places.

    A guess axis is a fixed row of places. Each of them is known beforehand, so that a guess placed
    in the browser hangs at its point at once, without a kernel too.
    """

    id: str
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class Dot:
    """A measured operation: ``seconds`` a call, the learner's ``guess`` of them, and its words.

    ``asked``: the axis on which that guess has yet to be placed.
    """

    op: Operation
    cache: str
    seconds: float
    label: str
    sentence: str
    guess: float | None = None
    asked: TimeAxis | None = None

    @property
    def rate(self) -> float:
        """FLOP/s measured."""
        return self.op.flops / self.seconds

    @property
    def guessed_rate(self) -> float | None:
        """FLOP/s that the guess amounts to."""
        return None if self.guess is None else self.op.flops / self.guess

    @property
    def off_by(self) -> str:
        """ "off by ×k" of the guess, "" without one."""
        if self.guess is None:
            return ""
        factor = max(self.guess / self.seconds, self.seconds / self.guess)
        return "spot on" if factor < 1.1 else f"off by {times(factor, digits=2)}"

    @property
    def guesses(self) -> tuple[float, ...]:
        """All seconds that its guess is or may become."""
        if self.asked is not None:
            return self.asked.seconds
        return () if self.guess is None else (self.guess,)

    @property
    def guess_told(self) -> str:
        """The guess as the last sentence about the point, "" without one."""
        return "" if self.guess is None else f" You guessed {si(self.guess, 's')}: {self.off_by}."

    def at_guess(self, seconds: float) -> Dot:
        """The same point with ``seconds`` guessed."""
        return replace(self, guess=seconds)


def dots(
    seen: Sequence[Measurement], machine: Machine | None, guesses: Mapping[Any, Any] | None
) -> tuple[Dot, ...]:
    """The points of what :func:`read` has read.

    ``guesses``: label of an operation (or the Operation) → seconds, or what ``rl.guess`` or
    ``rl.ask`` returned; a guess axis that is still covered makes an ``asked`` point.
    Raises TypeError or ValueError naming the argument.
    """
    labels = _labels(seen)
    wanted = _guesses(guesses, seen, labels)
    found = []
    for i, m in enumerate(seen):
        given = wanted.get(i)
        guess, asked = (None, given) if isinstance(given, TimeAxis) else (given, None)
        dot = Dot(m.op, m.cache, m.median_s, labels[i], _sentence(m, machine), guess, asked)
        found.append(replace(dot, sentence=dot.sentence + dot.guess_told))
    return tuple(found)


def read(measurements: object) -> list[Measurement]:
    """Read ``measurements``; what was measured again counts once, the last time.

    Raises TypeError or ValueError naming the argument.
    """
    if isinstance(measurements, Measurement):
        measurements = [measurements]
    if not isinstance(measurements, Iterable) or isinstance(measurements, (str, Mapping)):
        raise TypeError(
            f"measurements={measurements!r} must be a list of what rl.measure(op) returned"
        )
    found = list(measurements)
    for one in found:
        if not isinstance(one, Measurement):
            raise TypeError(f"measurements: {one!r} is no Measurement; rl.measure(op) makes one")
        if one.op.flops <= 0:
            raise ValueError(f"measurements: {one.op.label} does no FLOP, so it has no rate")
    if not found:
        raise ValueError("measurements is empty; give one measured operation at least")
    return list({(m.op, m.cache): m for m in found}.values())


def _labels(seen: Sequence[Measurement]) -> list[str]:
    """Short names, each as long as it must be to be the only one."""
    short = [_short(m.op) for m in seen]
    for more in (lambda m: str(m.op.compute_dtype), lambda m: m.cache):
        again = Counter(short)
        short = [
            f"{name}, {more(m)}" if again[name] > 1 else name
            for name, m in zip(short, seen, strict=True)
        ]
    return short


def _short(op: Operation) -> str:
    """``GEMM 1024³`` for a cube, else what every picture writes: ``GEMV 4096×4096``."""
    edges = set(op.dims.values())
    if op.name == "gemm" and len(edges) == 1 and op.batch == 1:
        return f"GEMM {edges.pop()}³"
    return captions.short(op).replace(" million", "\u202fM").replace(" billion", "\u202fG")


def _guesses(
    guesses: Mapping[Any, Any] | None, seen: Sequence[Measurement], labels: Sequence[str]
) -> dict[int, float | TimeAxis]:
    """Place of a point → guessed seconds, or where they are asked for."""
    if guesses is None:
        return {}
    if not isinstance(guesses, Mapping):
        raise TypeError(f"guesses={guesses!r} must be a dict: an operation's label → seconds")
    places: dict[str, int] = {}
    for i, (m, label) in enumerate(zip(seen, labels, strict=True)):
        for name in (m.op.label, f"{m.op.label} {m.cache}", captions.short(m.op), label):
            places.setdefault(name.lower(), i)
    found = {}
    for key, value in guesses.items():
        name = key.label if isinstance(key, Operation) else str(key)
        if name.strip().lower() not in places:
            raise unknown("guesses: the operation", name, [m.op.label for m in seen])
        seconds = _seconds(name, value)
        if seconds is not None:
            found[places[name.strip().lower()]] = seconds
    return found


def _seconds(name: str, value: Any) -> float | TimeAxis | None:
    """Seconds of a guess: a number, or a Guess or guess axis in a unit of time.

    None where nothing was guessed. An axis that is still covered is where they are asked for.
    """
    asked = value if is_axis(value) else getattr(value, "question", None)
    unit = "s" if asked is None else getattr(asked, "unit", "s")
    if unit not in SECONDS:
        raise ValueError(f"guesses[{name!r}] is in {unit!r}; a guess here is a time, in seconds")
    if is_axis(value) and value.covered:
        places = value.geometry["values"]
        return TimeAxis(value.model_id, tuple(SECONDS[unit] * place for place in places))
    given: Any = value if asked is None else getattr(value, "value", None)
    if given is None and asked is not None:
        return None
    wrong = f"guesses[{name!r}]={given!r} must be a positive number of seconds"
    try:
        seconds = math.nan if isinstance(given, bool) else float(given) * SECONDS[unit]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(wrong) from None
    if not 0 < seconds < math.inf:
        raise ValueError(wrong)
    return seconds


def _sentence(m: Measurement, machine: Machine | None) -> str:
    text = (
        f"{captions.what(m.op)}, {m.cache}: {si(m.op.flops, 'FLOP')} over {si(m.op.bytes, 'B')} is "
        f"{theme.intensity(m.op.intensity)} FLOP/byte. Measured {si(m.median_s, 's')}: "
        f"{si(m.flop_per_s, 'FLOP/s')}."
    )
    known = machine is not None and not missing(machine, m.op.compute_dtype, "cold")
    if machine is not None and known:
        limit, _, level = predict(m.op, machine, cache=m.cache).limit.partition(":")
        where = f", served by {captions.level_word(level)}" if level not in ("", "dram") else ""
        text += f" The limit is {LIMITS[limit]}{where.replace('The', 'the')}."
    return text


# The machine's roofs that matter to the points, and the lines on which a call is all cost.
#
# A call that does nothing still takes the time of a call. Over work that time is a floor; as a rate
# it is FLOP ÷ call time, a line that small problems climb before they reach the roof.


def ceilings(dots: Sequence[Dot], machine: Machine | None) -> tuple[Ceiling, ...]:
    """Roofs to draw: memory's for every dtype that is there, and the caches that feed a warm point.

    Empty without a machine, and for a dtype that it has no figure for.
    """
    if machine is None:
        return ()
    kinds = list(dict.fromkeys(dot.op.compute_dtype for dot in dots))
    found = [
        Ceiling("dram", roof(machine, kind)) for kind in kinds if not missing(machine, kind, "cold")
    ]
    if found:
        kind = found[0].roof.dtype
        levels = {next(iter(homes(dot.op.working_set, machine, dot.cache))) for dot in dots}
        caches = [level for level in machine.levels if level in levels - {"dram"}]
        found += [Ceiling(level, roof(machine, kind, level)) for level in caches]
    return tuple(found)


def call_lines(dots: Sequence[Dot], machine: Machine | None) -> tuple[CallLine, ...]:
    """The overhead lines of the routines whose call decides for one of ``dots``.

    If it decides for none, of all routines that are there. The warm call is taken, the cheapest
    there is, so that nothing can lie above its line. Empty where no call was calibrated.
    """
    if machine is None or not machine.routines:
        return ()
    usable = [
        dot for dot in dots
        if dot.op.name in ceiling_lines.ROUTINES and overhead(dot.op, machine) > 0
        and not missing(machine, dot.op.compute_dtype, "cold")
    ]  # fmt: skip
    small = [d for d in usable if predict(d.op, machine, cache=d.cache).limit == "overhead"]
    routines = dict.fromkeys((d.op.name, d.op.compute_dtype) for d in small or usable)
    lines = (ceiling_lines.call_line(ceiling_lines.square(*key), machine, None) for key in routines)
    return tuple(line for line in lines if line)


# What the picture of all points says at its four stops.


def stop_sentences(
    dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Ceiling],
    calls: Sequence[CallLine],
) -> list[str]:  # fmt: skip
    """A sentence for each named stop."""
    first = _one_says(dots[0]) if len(dots) == 1 else _all_say(dots)
    return [*first, _roof_says(dots, machine, roofs), _call_says(calls)]


def _one_says(dot: Dot) -> tuple[str, str]:
    time = (
        f"Your own measurement, time against work: {dot.label} takes {si(dot.seconds, 's')}. "
        "One point alone does not say whether that is fast."
    )
    rate = (
        "The same point, divided: FLOP by bytes, FLOP by seconds. Now height is speed: "
        f"{si(dot.rate, 'FLOP/s')}."
    )
    return time, rate


def _all_say(dots: Sequence[Dot]) -> tuple[str, str]:
    longest = max(dots, key=lambda d: d.seconds)
    shortest = min(dots, key=lambda d: d.seconds)
    near = sum(d.seconds < 0.05 * longest.seconds for d in dots)
    ratio = plain(longest.seconds / shortest.seconds, 2)
    time = (
        f"Your own {len(dots)} measurements, time against work. {longest.label} takes "
        f"{si(longest.seconds, 's')}, {ratio} times as long as {shortest.label}; {near} of "
        f"{len(dots)} points are crushed into the lowest 5 % of the picture. Nothing can be read "
        "there."
    )
    best = max(dots, key=lambda d: d.rate)
    rate = (
        f"The same points, each divided: FLOP by bytes, FLOP by seconds. Now height is speed: "
        f"{best.label} is the fastest, {si(best.rate, 'FLOP/s')}. To the left they still stick "
        "together."
    )
    return time, rate


def _roof_says(dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Ceiling]) -> str:
    every = "every point has" if len(dots) > 1 else "the point has"
    room = f"Each step is now a factor of ten, and {every} its room."
    if machine is None or not roofs:
        return f"{room} The roofs of the machine they come from are not known here; pass machine=."
    roof = roofs[0].roof
    share = max(d.rate / roof.peak for d in dots)
    return (
        f"{room} The line is the roof of {machine.name}: {si(roof.bandwidth, 'B/s')} from memory, "
        f"then {si(roof.peak, 'FLOP/s')}, with the ridge at {theme.ridge(roof.ridge)} FLOP/byte. "
        f"Your {'best ' if len(dots) > 1 else ''}point reaches {percent(share)} of the peak."
    )


def _call_says(calls: Sequence[CallLine]) -> str:
    if not calls:
        return "What a call costs was not measured on this machine, so there is no line to draw."
    cheapest, dearest = (f(calls, key=lambda c: c.seconds) for f in (min, max))
    span = f"{si(cheapest.seconds, 's')}"
    if dearest is not cheapest:
        span += f" to {si(dearest.seconds, 's')}"
    names = [line.label.partition(" call")[0] for line in calls]
    lines = f"the dashed line of {names[0]}"
    if len(names) > 1:
        lines = f"the dashed lines of {', '.join(names[:-1])} and {names[-1]}"
    verb, it, back = (
        ("are", "them", "they are floors") if names[1:] else ("is", "it", "it is a floor")
    )
    return (
        f"A call alone costs {span} here, even if it does nothing. FLOP ÷ call time {verb} "
        f"{lines}: small problems climb {it} before they reach the roof. Slide back, and {back} "
        "under the times."
    )
