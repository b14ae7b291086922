"""What the marks of a live roofline mean, and the rate that each stands at: its key.

With a ladder it is a bill of the time: what the roof allows, what each step adds, what it came to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.predict.estimate import CACHES
from rooflab.show import theme
from rooflab.show.falls import REST
from rooflab.show.rooflines.ladder import STEPS, UNIT, Ladders
from rooflab.show.rooflines.words import rate_words
from rooflab.show.scene import By, Fill, Sum, Times, Words
from rooflab.show.waterfall_picture import INKS

if TYPE_CHECKING:
    from rooflab.show.rooflines.picture import Sheet

HOLLOW: dict[str, Any] = {"size": 9, "fill": "paper", "width": 3}  # what a roof allows
SMALL: dict[str, Any] = {"size": 5, "fill": "paper", "ink": "ink", "width": 2}  # predicted
FULL: dict[str, Any] = {"size": 7, "fill": "ink", "ink": "ink", "width": 1.5}  # measured
WARM: dict[str, Any] = {"shape": "circle", "size": 2.6, "fill": "paper"}  # in it, if it was warm
OTHER: dict[str, Any] = {"size": 4, "fill": "soft"}  # measured at another N
LETTERS, BAR = 13, 10  # pixels of letters and of bars
RATES, NAMES = 206, 296  # pixels of names with rates, and of all words left of bars
DROP = np.array([14.0, 0, 22, 0, 22, 0, 14, 0])  # from marks to the corners of a drop
WORDS = 26  # pixels from the left edge of a row to its words
CORNER = (210, 174)  # pixels of a key in the corner of a wide and of a narrow sheet
SIDES = {"cold": [1, 0, 1], "warm": [0, 1, 0], "both": [0, 0, 1], "all": [1, 1, 1]}  # by side


def draw_key(sheet: Sheet) -> None:
    """Draw a row for each kind of mark in the corner where no roof comes.

    Only while the axes are those of the machine: else dots may come there.
    """
    rows = [row for row in _rows(sheet) if row[1] and not sheet.values.spec.rungs]
    rows.sort(key=lambda row: row[0] == "warm")  # which is not always seen: last
    if len(rows) > 1:
        f, wide = sheet.frame, CORNER[not sheet.wide]
        for n, row in enumerate(reversed(rows), 1):
            y = f.bottom - 16 - 18 * (n + sheet.values.spec.overhead)
            _mark(sheet, row, (f.right - wide, y))


def draw_drop(sheet: Sheet, ladders: Ladders) -> None:
    """Draw each step from the roof to the prediction beside the marks, in the colour of its bar."""
    for step in STEPS[:-1]:
        x, start, end = ladders.heights(step)
        corners = sheet.at(x, start, x, start, x, end, x, end)
        sheet.scene.line(Sum(corners, DROP), INKS[step], 1, fill=INKS[step], closed=True,
                         clip=sheet.frame.box, name=f"drop {step}")  # fmt: skip


def draw_bill(
    sheet: Sheet, ladders: Ladders, place: tuple[float, float, float], high: float
) -> None:
    """Draw the key with a ladder in it, a bar for each time, at ``place`` (left, top, width).

    ``high``: pixels of a row.
    """
    left, top, wide = place
    there = ladders.each(lambda *_: "where time goes", "")
    head: dict[str, Any] = {"size": LETTERS, "name": "ladder title"}
    sheet.scene.text(left, top, there, bold=True, **head)
    heads: tuple[tuple[float, Words], ...] = (
        (RATES, "FLOP/s"), (NAMES - 10, ladders.each(lambda *_: "time", ""))
    )  # fmt: skip
    for right, words in heads:
        sheet.scene.text(left + right, top, words, "soft", anchor="end", **head)
    marks = {row[0]: row for row in _rows(sheet) if row[1]}
    rows = [(name, top - 4 + n * high) for n, name in enumerate(_in_order(list(marks)), 1)]
    ends = np.array([left + NAMES, top + high - 9, left + NAMES, rows[-1][1] - high + 5])
    along = (wide - NAMES) / UNIT * np.array([[0, 1, 0], [0, 0, 0]] * 2)
    sheet.scene.line(Sum(ends, Times(along, ladders.shares("allowed"))), "key", 1, dash=(2, 3),
                     name="allowed")  # fmt: skip
    for name, y in rows:
        _draw_bar(sheet, name, ladders.shares(name), (left + NAMES, y - 5, wide - NAMES), high)
    for name, y in rows:
        text: dict[str, Any] = {"size": LETTERS, "name": "ladder"}
        if name in STEPS:
            step, factor = ladders.step(name)
            sheet.scene.text(left + WORDS, y + 4, step, "soft", **text)
            sheet.scene.text(left + RATES, y + 4, factor, "soft", anchor="end", **text)
        else:
            _mark(sheet, marks[name], (left, y), RATES)
        time, ink = ladders.time(name), "soft" if name in STEPS else "ink"
        sheet.scene.text(left + NAMES - 10, y + 4, time, ink, anchor="end", bold=name in marks,
                         **text)  # fmt: skip


def _draw_bar(
    sheet: Sheet, row: str, shares: By, place: tuple[float, float, float], high: float
) -> None:
    """Draw the bar of a row at ``place`` (left, top, width) and a line down to the next one."""
    left, top, room = place
    known = row not in (REST, "predicted")
    corners = np.zeros((8, 3))
    for number, column in ((0, 0), (2, 1), (4, 1), (6, 0)):
        corners[number, column] = room / UNIT
    box = np.array([left, top, left, top, left, top + BAR, left, top + BAR])
    ink: Words = "key" if row == "allowed" else INKS.get(row, "ink")
    sheet.scene.line(Sum(box, Times(corners, shares)), ink, 1.5, closed=True,
                     fill=ink if known else "paper", dash=() if row != REST else (4, 3),
                     name=f"bar {row}")  # fmt: skip
    if row not in ("measured", "warm", "another N"):
        down = room / UNIT * np.array([[0, 0, 1], [0, 0, 0]] * 2)
        ends = np.array([left, top + BAR, left, top + high])
        sheet.scene.line(Sum(ends, Times(down, shares)), "soft", 1, name="then")


Row = tuple[str, set[int], dict[str, Any], str]


def _rows(sheet: Sheet) -> list[Row]:
    """Each kind of mark, the machines that have it, its look, and the sides that show it."""
    values, series = sheet.values, sheet.values.spec.series
    cold, warm = ({who for one in series for who, *_ in values.hits[one.name, side].points}
                  for side in CACHES)  # fmt: skip
    foreseen = {n for n, o in enumerate(values.timed, 1)
                if o.known.routines and any(one.estimated for one in series)}  # fmt: skip
    every = {*range(len(values.timed) + 1)}
    bound = {**HOLLOW, "ink": "key" if sheet.pulled else "ink"}
    return [
        ("allowed", every, bound, "all"), ("predicted", foreseen, SMALL, "all"),
        ("measured", cold | warm, FULL, "all"), ("warm", warm, FULL, "both"),
        ("another N", cold | warm, OTHER, "all"),
    ]  # fmt: skip


def _in_order(marks: list[str]) -> list[str]:
    """The marks with the steps that lie between them."""
    between = {"allowed": STEPS[:-1], "predicted": STEPS[-1:]}
    return [one for mark in marks for one in (mark, *between.get(mark, ()))]


def _mark(sheet: Sheet, row: Row, place: tuple[float, float], rates: float = 0) -> None:
    """Draw a mark, its name and its rate; ``place``: left, and the height of its middle.

    ``rates``: pixels from there to the right end of the rate in a column of its own; 0: it stands
    behind the name, and only while the axes are those of the machine.
    """
    (mark, own, look, sides), (left, y) = row, place
    values, axes = sheet.values, [1, rates > 0]
    known = np.outer([who in own for who in range(len(values.timed) + 1)], SIDES[sides])
    seen = By("who side same_axes", np.multiply.outer(known, axes))
    shape = theme.style(values.spec.series[-1].name).shape
    sheet.scene.dot(left + 9, y, shape, **look, opacity=seen, name="key")
    if look is FULL:
        eye = known * SIDES["warm" if mark == "measured" else "all"]
        eyes = By("who side same_axes", np.multiply.outer(eye, axes))
        sheet.scene.dot(left + 9, y, **WARM, opacity=eyes, name="key")
    text: dict[str, Any] = {"size": LETTERS, "opacity": seen, "halo": True, "name": "key"}
    text["bold"] = rates > 0 and look is not OTHER
    rate = "" if look is OTHER else rate_words(values, mark, "" if rates else "FLOP/s")
    words: Words = mark if rates else Fill(f"{mark} {{rate}}", rate=rate)
    if look is OTHER:
        words = By("side", [mark, mark, f"{mark}, warm dashed"])
    sheet.scene.text(left + WORDS, y + 4, words, **text)
    if rates and rate:
        sheet.scene.text(left + rates, y + 4, rate, anchor="end", **text)
