"""Measured operations as points: read, named, with their guesses and roofs, and put into words.

One point is one measurement, with the learner's guess of its time beside it where there is one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from reprlib import repr as short
from typing import Any, TypeAlias

from rooflab.count.operation import Operation
from rooflab.count.si import percent, plain, si, times
from rooflab.count.validation import unknown
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import homes, overhead, predict
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show import captions, theme
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.ceiling_lines import CallLine, missing, roof
from rooflab.show.waiting import is_axis

SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
Guesses: TypeAlias = tuple[tuple[float, ...], str]  # seconds, and the id of their axis if asked
LIMITS = {"memory": "memory", "compute": "arithmetic", "overhead": "the cost of the call"}


@dataclass(frozen=True)
class Dot:
    """A measured operation: ``seconds`` a call, and its words.

    ``guesses``: the learner's guess of the seconds, if there is one. With ``asked``, the id of the
    guess axis on which it has yet to be placed, they are those of all places there: so a guess
    placed in the browser hangs at its point at once, without a kernel too.
    """

    op: Operation
    cache: str
    seconds: float
    label: str
    sentence: str
    guesses: tuple[float, ...] = ()
    asked: str = ""

    @property
    def rate(self) -> float:
        """FLOP/s measured."""
        return self.op.flops / self.seconds

    def off_by(self, guess: float) -> str:
        """Return "off by ×k" of ``guess`` seconds."""
        factor = max(guess / self.seconds, self.seconds / guess)
        return "spot on" if factor < 1.1 else f"off by {times(factor, digits=2)}"

    def guess_told(self, guess: float) -> str:
        """Return ``guess`` as the last sentence about the point."""
        return f" You guessed {si(guess, 's')}: {self.off_by(guess)}."


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
        seconds, asked = wanted.get(i, ((), ""))
        dot = Dot(m.op, m.cache, m.median_s, labels[i], _sentence(m, machine), seconds, asked)
        told = "" if asked else "".join(map(dot.guess_told, seconds))
        found.append(replace(dot, sentence=dot.sentence + told))
    return tuple(found)


def read(measurements: object) -> list[Measurement]:
    """Read ``measurements``; what was measured again counts once, the last time.

    Raises TypeError or ValueError naming the argument.
    """
    if isinstance(measurements, Measurement):
        measurements = [measurements]
    if not isinstance(measurements, Iterable) or isinstance(measurements, (str, Mapping)):
        raise TypeError(
            f"measurements={short(measurements)} must be a list of what rl.measure(op) returned"
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
    for more in ([str(m.op.compute_dtype) for m in seen], [m.cache for m in seen]):
        again = Counter(short)
        short = [f"{name}, {m}" if again[name] > 1 else name for name, m in zip(short, more)]
    return short


def _short(op: Operation) -> str:
    """``GEMM 1024³`` for a cube, else what every picture writes: ``GEMV 4096×4096``."""
    edges = set(op.dims.values())
    if op.name == "gemm" and len(edges) == 1 and op.batch == 1:
        return f"GEMM {edges.pop()}³"
    return captions.short(op).replace(" million", "\u202fM").replace(" billion", "\u202fG")


def _guesses(
    guesses: Mapping[Any, Any] | None, seen: Sequence[Measurement], labels: Sequence[str]
) -> dict[int, Guesses]:
    """Number of a point → what was guessed of it, or may be."""
    if guesses is not None and not isinstance(guesses, Mapping):
        raise TypeError(f"guesses={guesses!r} must be a dict: an operation's label → seconds")
    places: dict[str, int] = {}
    for i, (m, label) in enumerate(zip(seen, labels, strict=True)):
        for name in (m.op.label, f"{m.op.label} {m.cache}", captions.short(m.op), label):
            places.setdefault(name.lower(), i)
    found = {}
    for key, value in (guesses or {}).items():
        name = key.label if isinstance(key, Operation) else str(key)
        if name.strip().lower() not in places:
            raise unknown("guesses: the operation", name, [m.op.label for m in seen])
        found[places[name.strip().lower()]] = _seconds(name, value)
    return found


def _seconds(name: str, value: Any) -> Guesses:
    """Seconds of a guess: a number, or a Guess or guess axis in a unit of time.

    Empty where nothing was guessed. An axis that is still covered gives those of all its places.
    """
    asked = value if is_axis(value) else getattr(value, "question", None)
    unit = "s" if asked is None else getattr(asked, "unit", "s")
    if unit not in SECONDS:
        raise ValueError(f"guesses[{name!r}] is in {unit!r}; a guess here is a time, in seconds")
    if is_axis(value) and value.covered:
        return tuple(SECONDS[unit] * v for v in value.geometry["values"]), value.model_id
    given: Any = value if asked is None else getattr(value, "value", None)
    if given is None and asked is not None:
        return (), ""
    try:
        seconds = math.nan if isinstance(given, bool) else float(given) * SECONDS[unit]
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ValueError(f"guesses[{name!r}]={given!r} must be a positive number of seconds")
    return (seconds,), ""


def _sentence(m: Measurement, machine: Machine | None) -> str:
    text = (
        f"{captions.what(m.op)}, {m.cache}: {si(m.op.flops, 'FLOP')} over {si(m.op.bytes, 'B')} is "
        f"{theme.intensity(m.op.intensity)} FLOP/byte. Measured {si(m.median_s, 's')}: "
        f"{si(m.flop_per_s, 'FLOP/s')}."
    )
    if machine is not None and not missing(machine, m.op.compute_dtype, "cold"):
        limit, _, level = predict(m.op, machine, cache=m.cache).limit.partition(":")
        where = f", served by {captions.level_word(level)}" if level not in ("", "dram") else ""
        text += f" The limit is {LIMITS[limit]}{where.replace('The', 'the')}."
    return text


def ceilings(dots: Sequence[Dot], machine: Machine | None) -> tuple[Roofline, ...]:
    """Roofs to draw: memory's for every dtype that is there, and the caches that feed a warm point.

    Empty without a machine, and for a dtype that it has no figure for.
    """
    if machine is None:
        return ()
    kinds = list(dict.fromkeys(dot.op.compute_dtype for dot in dots))
    known = [kind for kind in kinds if not missing(machine, kind, "cold")]
    found = [roof(machine, kind) for kind in known]
    for kind in known[:1]:
        levels = {next(iter(homes(dot.op.working_set, machine, dot.cache))) for dot in dots}
        caches = [level for level in machine.levels if level in levels - {"dram"}]
        found += [roof(machine, kind, level) for level in caches]
    return tuple(found)


def call_lines(dots: Sequence[Dot], machine: Machine | None) -> tuple[CallLine, ...]:
    """The lines, FLOP ÷ call time, of the routines whose call decides for one of ``dots``.

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


def stop_sentences(
    dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Roofline],
    calls: Sequence[CallLine],
) -> list[str]:  # fmt: skip
    """A sentence for each named stop."""
    first = _one_says(dots[0]) if len(dots) == 1 else _all_say(dots)
    return [*first, _roof_says(dots, machine, roofs), _call_says(calls)]


def _one_says(dot: Dot) -> tuple[str, str]:
    return (
        f"Your own measurement, time against work: {dot.label} takes {si(dot.seconds, 's')}. "
        "One point alone does not say whether that is fast.",
        "The same point, divided: FLOP by bytes, FLOP by seconds. Now height is speed: "
        f"{si(dot.rate, 'FLOP/s')}.",
    )


def _all_say(dots: Sequence[Dot]) -> tuple[str, str]:
    shortest, *_, longest = sorted(dots, key=lambda d: d.seconds)
    near = sum(d.seconds < 0.05 * longest.seconds for d in dots)
    ratio, best = plain(longest.seconds / shortest.seconds, 2), max(dots, key=lambda d: d.rate)
    return (
        f"Your own {len(dots)} measurements, time against work. {longest.label} takes "
        f"{si(longest.seconds, 's')}, {ratio} times as long as {shortest.label}; {near} of "
        f"{len(dots)} points are crushed into the lowest 5 % of the picture. Nothing can be read "
        "there.",
        f"The same points, each divided: FLOP by bytes, FLOP by seconds. Now height is speed: "
        f"{best.label} is the fastest, {si(best.rate, 'FLOP/s')}. To the left they still stick "
        "together.",
    )


def _roof_says(dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Roofline]) -> str:
    every = "every point has" if len(dots) > 1 else "the point has"
    room = f"Each step is now a factor of ten, and {every} its room."
    if machine is None or not roofs:
        return f"{room} The roofs of the machine they come from are not known here; pass machine=."
    roof = roofs[0]
    share = max(d.rate / roof.peak for d in dots)
    return (
        f"{room} The line is the roof of {machine.name}: {si(roof.bandwidth, 'B/s')} from memory, "
        f"then {si(roof.peak, 'FLOP/s')}, with the ridge at {theme.ridge(roof.ridge)} FLOP/byte. "
        f"Your {'best ' if len(dots) > 1 else ''}point reaches {percent(share)} of the peak."
    )


def _call_says(calls: Sequence[CallLine]) -> str:
    if not calls:
        return "What a call costs was not measured on this machine, so there is no line to draw."
    *names, name = [line.name.upper() for line in calls]
    span = " to ".join(dict.fromkeys(si(f(c.seconds for c in calls), "s") for f in (min, max)))
    verb, it, back = "is the dashed line of", "it", "it is a floor"
    if names:
        verb, it, back = "are the dashed lines of", "them", "they are floors"
        name = f"{', '.join(names)} and {name}"
    return (
        f"A call alone costs {span} here, even if it does nothing. FLOP ÷ call time {verb} "
        f"{name}: small problems climb {it} before they reach the roof. Slide back, and {back} "
        "under the times."
    )
