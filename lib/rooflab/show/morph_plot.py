"""The morph in pixels and words: all that the browser needs to move, and nothing to compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rooflab.count.si import percent, si
from rooflab.predict.machine import Machine
from rooflab.show import theme, words
from rooflab.show.morph_axes import HEIGHT, PLOT, WIDTH, Layout, axes, layouts
from rooflab.show.morph_points import Dot
from rooflab.show.morph_roof import CallLine, call_lines, ceilings
from rooflab.show.morph_room import Room, around
from rooflab.show.polylines import Ceiling

STOPS = ("time against work", "rate against intensity", "factors of ten", "the cost of a call")
LAST = 100 * (len(STOPS) - 1)
STEPS = 40  # points of a roof between its ends, so that it bends as the axes do


def geometry(dots: Sequence[Dot], machine: Machine | None) -> dict[str, Any]:
    """Everything placed, as plain JSON: axes, points, roofs, call lines, labels, sentences."""
    roofs, calls = ceilings(dots, machine), call_lines(dots, machine)
    three = layouts(dots, roofs, calls)
    roof_lines = [_roof(ceiling, three) for ceiling in roofs]
    call_paths = [_call(line, dots, three) for line in calls]
    points = [_point(dot, three) for dot in dots]
    notes = []
    for layout in three:
        notes.append(_write(layout, points, roofs, roof_lines, calls, call_paths))
    return {
        "width": WIDTH, "height": HEIGHT, "plot": list(PLOT), "stops": list(STOPS),
        "axes": axes(three), "points": points, "roofs": roof_lines, "calls": call_paths,
        "notes": notes, "says": _says(dots, machine, roofs, calls, notes[0]["hidden"]),
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
    path = [[[round(left + (right - left) * i / max(1, count - 1), 1), floor] for i in range(count)]]
    path += [[[lay.x(x), lay.y(y)] for x, y in line.points] for lay in three[1:]]
    look = theme.style(line.name)
    return {"look": line.name, "colour": look.colour, "path": path, "label": [], "says": line.label}


def _write(
    layout: Layout, points: list[dict[str, Any]], roofs: Sequence[Ceiling],
    roof_lines: list[dict[str, Any]], calls: Sequence[CallLine], call_paths: list[dict[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    """Find room for every label of ``layout``; returns what the hidden ones are summed up as."""
    k, (left, top, right, bottom) = layout.index, PLOT
    room = Room((left + 4, top - 4, right + 12, bottom - 3))
    for marker in (*points, *(p["guess"] for p in points if "guess" in p)):
        x, y = marker["at"][k]
        room.taken.append((x - 9, y - 9, x + 9, y + 9))
    if k == 2:
        for line in (*roof_lines, *call_paths):
            room.add_line(_inside(line["path"][k]))
        for ceiling, line in zip(roofs, roof_lines, strict=True):
            _name_roof(room, ceiling, line, layout)
        for line in call_paths:
            spots = [(x + dx, y + 5) for x, y in _inside(line["path"][k])[::2] for dx in (90, -90)]
            line["label"] = room.put(line["says"], spots)
    for p in points:
        if "guess" in p:
            p["guess"]["label"].append(_beside(room, p["guess"], k) if k == 2 else None)
    order = sorted(points, key=lambda p: (-p["at"][k][0], p["at"][k][1]))
    for p in order:
        p["label"].append(_beside(room, p, k))
    hidden = [p for p in points if p["label"][k] is None]
    return _crowd(room, hidden, k) if hidden else {"hidden": 0}


def _beside(room: Room, marker: dict[str, Any], k: int) -> list[float] | None:
    text = marker.get("name") or marker["says"]
    return room.put(text, around(*marker["at"][k], text))


def _crowd(room: Room, hidden: list[dict[str, Any]], k: int) -> dict[str, Any]:
    """One note for all points that lie too close together to be named."""
    x = sum(p["at"][k][0] for p in hidden) / len(hidden)
    y = sum(p["at"][k][1] for p in hidden) / len(hidden)
    many = len(hidden)
    text = f"{many} more {'points lie' if many > 1 else 'point lies'} here"
    spots = [(x + dx, y + dy) for dy in (-30, -50, 40, -80, -120) for dx in (0, 60, 110, 160, -110)]
    return {"hidden": many, "text": text, "at": room.put(text, spots), "from": [round(x, 1), round(y, 1)]}


def _inside(path: Sequence[Sequence[float]]) -> list[list[float]]:
    left, top, right, bottom = PLOT
    return [[x, y] for x, y in path if left <= x <= right and top <= y <= bottom]


def _name_roof(room: Room, ceiling: Ceiling, line: dict[str, Any], layout: Layout) -> None:
    """Bandwidth beside the slanted part; peak, once a dtype, on the flat part of memory's roof."""
    roof, seen = ceiling.roof, _inside(line["path"][2])
    bend = layout.x(roof.ridge)
    if ceiling.level == "dram":
        y = layout.y(roof.peak)
        spots = [(x, y + dy) for dy in (-8, 22) for x in range(int(PLOT[2]) - 90, int(bend), -30)]
        line["labels"].append([ceiling.flat_text, room.put(ceiling.flat_text, spots)])
    side = 1 if ceiling.level == "dram" else -1  # caches lie above memory: their names do too
    slanted = [(x, y) for x, y in seen if x < bend]
    spots = [(x + side * dx, y + side * 5 + 4) for dx in (100, 80, 125) for x, y in slanted[::-1]]
    line["labels"].append([ceiling.slope_text, room.put(ceiling.slope_text, spots)])


def _says(
    dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Ceiling],
    calls: Sequence[CallLine], crushed: int,
) -> list[str]:  # fmt: skip
    """A sentence for each named stop."""
    longest = max(dots, key=lambda d: d.seconds)
    shortest = min(dots, key=lambda d: d.seconds)
    near = sum(d.seconds < 0.05 * longest.seconds for d in dots)
    ratio = si(longest.seconds / shortest.seconds, "", 2)
    time = (
        f"Your own {len(dots)} measurements, time against work. {longest.label} takes "
        f"{si(longest.seconds, 's')}, {ratio} times as long as {shortest.label}; {near} of "
        f"{len(dots)} points are crushed into the lowest 5 % of the picture. Nothing can be read there."
    )
    best = max(dots, key=lambda d: d.rate)
    rate = (
        f"The same points, each divided: FLOP by bytes, FLOP by seconds. Now height is speed: "
        f"{best.label} is the fastest, {si(best.rate, 'FLOP/s')}. To the left they still stick together."
    )
    return [time, rate, _roof_says(dots, machine, roofs), _call_says(machine, calls)]


def _roof_says(dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Ceiling]) -> str:
    room = "Each step is now a factor of ten, and every point has its room."
    if machine is None or not roofs:
        return f"{room} The roofs of the machine they come from are not known here; pass machine=."
    roof = roofs[0].roof
    share = max(d.rate / roof.peak for d in dots)
    return (
        f"{room} The line is the roof of {machine.name}: {si(roof.bandwidth, 'B/s')} from memory, then "
        f"{si(roof.peak, 'FLOP/s')}, with the ridge at {theme.ridge(roof.ridge)} FLOP/byte. Your best "
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
