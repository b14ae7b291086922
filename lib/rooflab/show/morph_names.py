"""Where the words of the morph stand: names of points, roofs and call lines, in each layout.

A point that finds no room for its name gets it at the end of a thin line; where whole crowds of
points lie on each other, one note counts them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rooflab.count.si import si
from rooflab.show.calls import CallLine
from rooflab.show.morph_asked import Placed, write_labels
from rooflab.show.morph_axes import PLOT, Layout
from rooflab.show.polylines import Ceiling
from rooflab.show.room import Box, Room, width

GAP = 40  # how much worse words where a guess will hang are than on a roof
BELOW_BEND = 45  # pixels between the flat part of a roof and the words at its slope


def write(
    layout: Layout, points: list[Placed], roofs: Sequence[Ceiling],
    roof_lines: list[Placed], calls: Sequence[CallLine], call_paths: list[Placed],
) -> Placed:  # fmt: skip
    """Find room for every label of ``layout``; returns the notes beside them."""
    k, (left, top, right, bottom) = layout.index, PLOT
    room = Room((left + 4, top - 4, right + 12, bottom - 3))
    for marker in (*points, *(p["guess"] for p in points if "guess" in p)):
        room.add_marker(*marker["at"][k])
    if k == 2:
        for line in (*roof_lines, *call_paths):
            room.add_line(inside(line["path"][k]))
    for p in points:
        if "guess" in p:
            room.add_line([p["guess"]["at"][k], p["at"][k]], weight=GAP)
        if "asked" in p:
            x = p["at"][k][0]
            room.add_line([[x, top], [x, bottom]], radius=9, weight=GAP)
    if k == 2:
        _name_roofs(room, roofs, roof_lines, layout)
    note: Placed = {}
    if k == 0 and calls:
        text = f"the floor: no call below {si(min(c.seconds for c in calls), 's')}"
        note["floor"] = [text, room.put(text, [(x, bottom - 9) for x in (590, 480, 370, 260)])]
    room.taken += _hanging(points, k)
    guesses = [p["guess"] for p in points if "guess" in p]
    named = [(p["name"], p["at"][k]) for p in points]
    if k == 2:  # only there is the gap of a guess long enough to carry words
        named += [(guess["says"], guess["at"][k]) for guess in guesses]
    places = room.put_all(named) + [None] * len(guesses)
    for marker, place in zip((*points, *guesses), places):
        marker["label"].append(place)
    if k == 2:
        _name_calls(room, call_paths)
    hidden = [p for p in points if p["label"][k] is None]
    marks = _aside(room, hidden, layout)
    if k == 2:  # last: a guess's words must keep off all names
        for mark in marks:
            room.add_line(mark["lead"])
        write_labels(room, points, k)
    return note | {"hidden": len(hidden), "marks": marks}


def _hanging(points: list[Placed], k: int) -> list[Box]:
    """Where guesses that have yet to be made may come to hang: no name lies there."""
    asked = [(p["at"][k][0], [row[k] for row in p["asked"]["y"]]) for p in points if "asked" in p]
    return [(x - 9, min(heights) - 9, x + 9, max(heights) + 9) for x, heights in asked]


def _aside(room: Room, hidden: Sequence[Placed], layout: Layout) -> list[Placed]:
    """Names at the end of a thin line, or in layouts 0 and 1 one note that counts the points."""
    k, named = layout.index, []
    if k == 2 or len(hidden) == 1:
        named = [(p["name"], p["at"][k], p) for p in hidden]
    elif hidden:
        x, y = (sum(p["at"][k][axis] for p in hidden) / len(hidden) for axis in (0, 1))
        named = [(f"no room for {len(hidden)} more names", [x, y], {})]
    found = []
    for text, own, p in named:
        near = 24 if p else 45  # a crowd's middle is not a marker
        clear = [spot for spot in _rings(*own) if room.sees(spot, own, near)]
        at = room.put(text, clear) or room.put(text, _rings(*own))
        if at is not None:
            end = min(max(own[0], at[0] - width(text) / 2 - 4), at[0] + width(text) / 2 + 4)
            foot = at[1] - 5 if end not in (own[0],) else at[1] + (6 if at[1] < own[1] else -16)
            lead = _stop_short([end, foot], own)
            found.append(
                {
                    "text": text,
                    "at": at,
                    "lead": lead,
                    "look": p.get("look", ""),
                    "colour": p.get("colour", ""),
                }
            )
    return found


def _rings(x: float, y: float) -> list[tuple[float, float]]:
    """Places around (x, y), nearer ones first."""
    return [
        (x + 1.6 * far * math.cos(math.pi * turn / 8), y - far * math.sin(math.pi * turn / 8))
        for far in (35, 50, 65, 80, 100, 120, 145, 170)
        for turn in (1, 0.5, 2, 0, -1, 3, 4, -2, -3, -4, 5, 6, 7, 7.5, 8)
    ]


def _stop_short(start: Sequence[float], own: Sequence[float], gap: float = 10) -> list[list[float]]:
    """The line from a label to its marker, ending ``gap`` pixels before the marker's middle."""
    dx, dy = own[0] - start[0], own[1] - start[1]
    share = max(0.0, 1 - gap / max(math.hypot(dx, dy), gap))
    return [
        [round(v, 1) for v in start],
        [round(start[0] + share * dx, 1), round(start[1] + share * dy, 1)],
    ]


def inside(path: Sequence[Sequence[float]]) -> list[list[float]]:
    left, top, right, bottom = PLOT
    return [[x, y] for x, y in path if left <= x <= right and top <= y <= bottom]


def _name_roofs(
    room: Room, roofs: Sequence[Ceiling], roof_lines: list[Placed], layout: Layout
) -> None:
    """Memory's bandwidth along its slope, the peaks at theirs, the caches in one label."""
    caches = [(c, line) for c, line in zip(roofs, roof_lines, strict=True) if c.level != "dram"]
    for ceiling, line in zip(roofs, roof_lines, strict=True):
        if ceiling.level == "dram":
            y, bend = layout.y(ceiling.roof.peak), layout.x(ceiling.roof.ridge)
            flat = [
                (x, y + dy) for dy in (-8, 22) for x in range(int(PLOT[2]) - 60, int(bend), -20)
            ]
            line["labels"].append([ceiling.flat_text, room.put(ceiling.flat_text, flat)])
            slope = [[x, y] for x, y in inside(line["path"][2]) if x <= bend]
            text = ceiling.slope_text
            along = room.put_along(text, slope) or room.put_along(text, slope, -1)
            if along is not None:
                line["labels"].append([text, along])
            else:
                _name_slope(room, ceiling.slope_text, line, bend, 1)
    if caches:
        slow, fast = (f(c.roof.bandwidth for c, _ in caches) for f in (min, max))
        text = (
            caches[0][0].slope_text
            if len(caches) == 1
            else f"caches {si(slow, '')[:-2]} to {si(fast, 'B/s')}"
        )
        _name_slope(room, text, caches[-1][1], layout.x(caches[-1][0].roof.ridge), -1)


def _name_calls(room: Room, call_paths: list[Placed]) -> None:
    """What a call costs, beside its line."""
    for line in call_paths:
        half = width(line["says"]) / 2 + 13
        path = inside(line["path"][2])
        line["label"] = room.put(
            line["says"], [(x + d, y + 5) for x, y in path for d in (half, -half)]
        )


def _name_slope(room: Room, text: str, line: Placed, bend: float, side: int) -> None:
    """Write ``text`` beside the slanted part of a roof: below it (side 1) or above it (-1)."""
    half = width(text) / 2 + 8
    slanted = [(x, y) for x, y in inside(line["path"][2]) if x <= bend][::-1]
    if side > 0:  # clear of the flat part, which has a name of its own
        slanted = [(x, y) for x, y in slanted if y > slanted[0][1] + BELOW_BEND] or slanted
    spots = [(x + side * half, y + side * 5 + 4) for x, y in slanted]
    if side > 0:
        spots += [(x - half, y - 1) for x, y in slanted]
    spots += [(PLOT[0] + half + 6 + dx, y - 10) for dx in (0, 30, 60) for _, y in slanted]
    line["labels"].append([text, room.put(text, spots)])
