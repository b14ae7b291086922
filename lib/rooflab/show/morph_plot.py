"""The morph in pixels and words: all that the browser needs to move, and nothing to compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rooflab.count.si import percent, plain, si
from rooflab.predict.machine import Machine
from rooflab.show import theme, words
from rooflab.show.calls import CallLine
from rooflab.show.morph_asked import places as places_of
from rooflab.show.morph_axes import HEIGHT, PLOT, WIDTH, Layout, axes, layouts
from rooflab.show.morph_names import write
from rooflab.show.morph_points import Dot
from rooflab.show.morph_roof import call_lines, ceilings
from rooflab.show.polylines import Ceiling

STOPS = ("time against work", "speed against intensity", "the roofline", "the cost of a call")
LAST = 100 * (len(STOPS) - 1)
DECADES = 185  # from here on the axes are seen in factors of ten
STEPS = 40  # points of a roof between its ends, so that it bends as the axes do


def stop_of(at: int) -> int:
    """The named stop whose words belong to the slider at ``at``: the nearest.

    On the way into decades it is the one before until the axes read decades.
    """
    return 1 if 100 <= at < DECADES else round(at / 100)


def geometry(dots: Sequence[Dot], machine: Machine | None) -> dict[str, Any]:
    """Everything placed, as plain JSON: axes, points, roofs, call lines, labels, sentences."""
    roofs, calls = ceilings(dots, machine), call_lines(dots, machine)
    three = layouts(dots, roofs, calls)
    roof_lines = [_roof(ceiling, three) for ceiling in roofs]
    call_paths = [_call(line, dots, three) for line in calls]
    points = [_point(dot, three) for dot in dots]
    notes = []
    for layout in three:
        notes.append(write(layout, points, roofs, roof_lines, calls, call_paths))
    return {
        "width": WIDTH, "height": HEIGHT, "plot": list(PLOT), "stops": list(STOPS),
        "axes": axes(three), "points": points, "roofs": roof_lines, "calls": call_paths,
        "notes": notes, "says": _says(dots, machine, roofs, calls), "decades": DECADES,
        "origin": words.origin(machine) if machine else "",
    }  # fmt: skip


def _point(dot: Dot, three: Sequence[Layout]) -> dict[str, Any]:
    look = theme.style(dot.op.name)
    left, top, right, bottom = PLOT
    found: dict[str, Any] = {
        "name": dot.label, "look": dot.op.name, "shape": look.shape, "colour": look.colour,
        "marker": look.marker, "says": dot.sentence,
        "at": [lay.place(dot.op.intensity, dot.op.flops, dot.seconds) for lay in three],
        "label": [],
    }  # fmt: skip
    if dot.guess is not None:
        places = [lay.place(dot.op.intensity, dot.op.flops, dot.guess) for lay in three]
        inside = [[x, min(max(y, top), bottom)] for x, y in places]
        arrows = ["↑" if y < top else "↓" if y > bottom else "" for _, y in places]
        found["guess"] = {"at": inside, "arrow": arrows, "says": dot.off_by, "label": []}
    if dot.asked is not None:
        found["asked"] = places_of(dot, three, PLOT)
    return found


def _roof(ceiling: Ceiling, three: Sequence[Layout]) -> dict[str, Any]:
    """The roof in layouts 1 and 2; over work it is no line, so layout 0 repeats layout 1."""
    lo, hi, ridge = three[2].x.lo, three[2].x.hi, ceiling.roof.ridge
    grid = sorted({lo * (hi / lo) ** (i / STEPS) for i in range(STEPS + 1)} | {ridge})
    seen = [(x, ceiling.roof.attainable(x)) for x in grid]
    lines = [[[lay.x(x), lay.y(y)] for x, y in seen] for lay in three[1:]]
    return {
        "level": ceiling.level, "main": ceiling.level == "dram",
        "path": [lines[0], lines[0], lines[1]], "labels": [],
    }  # fmt: skip


def _call(line: CallLine, dots: Sequence[Dot], three: Sequence[Layout]) -> dict[str, Any]:
    """The floor over work, and the line that the same calls are as a rate."""
    left, _, right, _ = PLOT
    count = len(line.points)
    floor = three[0].y(line.seconds)
    path = [
        [[round(left + (right - left) * i / max(1, count - 1), 1), floor] for i in range(count)]
    ]
    path += [[[lay.x(x), lay.y(y)] for x, y in line.points] for lay in three[1:]]
    look = theme.style(line.name)
    return {"look": line.name, "colour": look.colour, "path": path, "label": [], "says": line.label}


def _says(
    dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Ceiling],
    calls: Sequence[CallLine],
) -> list[str]:  # fmt: skip
    """A sentence for each named stop."""
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
    return [time, rate, _roof_says(dots, machine, roofs), _call_says(machine, calls)]


def _roof_says(dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Ceiling]) -> str:
    room = "Each step is now a factor of ten, and every point has its room."
    if machine is None or not roofs:
        return f"{room} The roofs of the machine they come from are not known here; pass machine=."
    roof = roofs[0].roof
    share = max(d.rate / roof.peak for d in dots)
    return (
        f"{room} The line is the roof of {machine.name}: {si(roof.bandwidth, 'B/s')} from memory, "
        f"then {si(roof.peak, 'FLOP/s')}, with the ridge at {theme.ridge(roof.ridge)} FLOP/byte. "
        "Your best "
        f"point reaches {percent(share)} of the peak."
    )


def _call_says(machine: Machine | None, calls: Sequence[CallLine]) -> str:
    if not calls:
        return "What a call costs was not measured on this machine, so there is no line to draw."
    cheapest, dearest = (f(calls, key=lambda c: c.seconds) for f in (min, max))
    span = f"{si(cheapest.seconds, 's')}"
    if dearest is not cheapest:
        span += f" to {si(dearest.seconds, 's')}"
    return (
        f"A call alone costs {span} here, even if it does nothing. FLOP ÷ call time is the dashed "
        "line: small problems climb it before they reach the roof. Slide back, and it is a floor "
        "under the times."
    )
