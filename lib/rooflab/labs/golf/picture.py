"""Byte golf as a picture: arrays cross the bus step by step, and every byte stays in the ledger.

From top to bottom: the line of code, memory with the arrays' homes, the bus, the cache, the
processor. Below them the ledger, in which every block that crossed the bus stays, as wide as its
bytes an element. A sweep over chunk sizes has two more bars: the time measured, and the time that
the bytes promise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rooflab.count.si import plain, si
from rooflab.labs.golf.sheet import GAP, TINY, WIDE, Flight, Sheet, both, chunk, first_fit, wide
from rooflab.labs.golf.story import ChunkStories, Story, number, story
from rooflab.show import figures, theme
from rooflab.show.figures import Panel, Picture
from rooflab.show.scene import By, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLOCK, SMALL = 26, 13  # pixels of a block's height, and of small letters
#: The share of its strip that the cache takes; pieces that need more reach beyond it.
ROOM = 0.6
#: Steps of the figure; the rest of a long run becomes one more.
ROWS = 12
Look: TypeAlias = dict[str, Any]  # what several marks have in common


def size(count: float) -> str:
    """Bytes of a cache as text: ``"512 KiB"`` as golf's rule says, ``"33.6 MB"`` from 1 MB on."""
    if 1024 <= count < 1e6:
        return f"{plain(count / 1024, 3)} KiB"
    return si(count, "B")


def ticks(longest: float) -> list[float]:
    """Powers of two apart, from 0 to ``longest`` bytes an element: four to eight steps."""
    step = 2.0 ** math.ceil(math.log2(longest / 8))
    return [step * n for n in range(math.floor(longest / step + 1e-9) + 1)]


def golf_scene(
    stories: Sequence[Story], width: float = WIDE, *, sweep: ChunkStories | None = None,
    start: int = 0, hands: bool = True,
) -> Scene:  # fmt: skip
    """The scene of the stories, one a chunk size of ``sweep``, at the step ``start``.

    ``hands``: whether there is something to take hold of.
    """
    sheet = Sheet(stories, width, sweep, start)
    _lanes(sheet)
    for flight in sheet.flights:
        _trail(sheet, flight)
    if any(told.cache for told in stories):
        _strip(sheet)
    for name in sheet.names:
        _home(sheet, name)
    for flight in sheet.flights:
        _block(sheet, flight)
    _ledger(sheet, hands)
    if sweep is not None and sweep.measured:
        _bars(sheet, sweep)
    sheet.scene.play("step")
    sheet.scene.slider("step", "step")
    if sweep is not None:
        sheet.scene.slider("chunk", "chunk size")
    _words(sheet)
    return sheet.scene


def _lanes(sheet: Sheet) -> None:
    """The line of code; memory, bus, cache and processor, and the call that it does."""
    scene = sheet.scene
    scene.rect(0, 0, scene.width, 20 * sheet.lines + 10, "soft", opacity=0.1, radius=4)
    for n in range(sheet.lines):
        line = {code: "".join(cut[n : n + 1]) for code, cut in sheet.code.items()}
        said = sheet.each(lambda told, at, line=line: line[told.stops[at - 1].code if at else ""])
        scene.text(8, 20 * n + 20, said, mono=True, name="code")
    for (top, foot), shade in ((sheet.memory, 0.1), (sheet.cache, 0.1), (sheet.cpu, 0.2)):
        scene.rect(0, top, scene.width, foot - top, "soft", opacity=shade, radius=0)
    (top, foot), ends = sheet.bus, (sheet.left, sheet.right)
    wires = [(x, (top + foot) / 2) for x in ends]
    scene.line(wires, "soft", foot - top, dash=(1, 21), opacity=0.35)
    sheet.label(sheet.memory, "memory")
    sheet.label(sheet.bus, "bus", "soft")
    sheet.label((sheet.cache[0], sheet.cache[0] + 34), "cache")
    sheet.label(sheet.cpu, "CPU")

    def call(told: Story, at: int) -> str:
        one = told.stops[at - 1]
        often = f" × {theme.count(one.rounds)}" if one.rounds > 1 else ""
        return one.call + often if at else ""

    look: Look = {"bold": True, "anchor": "middle", "name": "call"}
    scene.text(sum(ends) / 2, sum(sheet.cpu) / 2 + 5, sheet.each(call), **look)


# Homes: where an array is while nobody needs it. A name may come back for another array, after the
# first has gone; then its home moves.


def _home(sheet: Sheet, name: str) -> None:
    """A dashed place until the array is made, then a box; it is green in the cache."""
    scene, room = sheet.scene, sheet.pitch - GAP

    def box(told: Story, at: int) -> tuple[float, ...]:
        trip = told.home(name, at)
        if trip is None:
            return (math.nan,) * 4
        long = min(max(sheet.block(trip.per), wide(name) + 4), room)
        near = trip.where == "cache"
        y, high = (sheet.cache[1] - 34, 28) if near else (sheet.memory[0] + 8, 36)
        return sheet.middle(name) - long / 2, y, long, high

    x, y, w, h = np.moveaxis(sheet.each(box).values, -1, 0)
    made = np.array([_made(sheet, row, name) for row in range(len(sheet.stories))])
    where, ink = [both(one) for one in (x, y, w, h)], np.where(made, "ink", "soft")
    edge = both(np.where(y > sheet.cache[0], "carrying", "soft"))
    look: Look = {"dash": (4, 4), "opacity": both(~made), "name": "unborn"}
    scene.rect(*where, None, ink="soft", **look)
    scene.rect(*where, "paper", ink=edge, width=2, opacity=both(made), name="home")
    short = first_fit(room, name, *(name[:n] + "…" for n in range(len(name) - 1, 0, -1)))
    look = {"anchor": "middle", "name": "array"}
    scene.text(sheet.middle(name), both(y + h / 2 + 5), short, both(ink), **look)


def _made(sheet: Sheet, row: int, name: str) -> np.ndarray:
    """At which places an array exists: from the end of the flight that writes it first."""
    first = next((one for one in sheet.flights if one.name == name and one.there[row]), None)
    given = np.ones(len(sheet.at), bool)
    return given if first is None or first.down else first.come == 1


# Flights: from an array's home to the processor, or back. Over the bus goes a full block; from the
# cache a hollow one, which costs nothing.


def _front(sheet: Sheet, flight: Flight) -> tuple[np.ndarray, np.ndarray]:
    """y at which its trail begins, and how far it has come, slow at both ends; chunk × place."""
    homes = np.where(flight.free, sheet.cache[1] - 6, sheet.memory[0] + 44)[:, None]
    cpu = np.full_like(homes, sheet.cpu[0])
    start, end = (homes, cpu) if flight.down else (cpu, homes)
    t = flight.come
    return start[:, 0], start + (end - start) * t * t * (3 - 2 * t)


def _trail(sheet: Sheet, flight: Flight) -> None:
    """A line from where it comes from, with an arrow at its head."""
    start, front = _front(sheet, flight)
    x, tip = chunk(sheet.middle(flight.name) + 0.4 * flight.aside), 6 - 12 * flight.down
    look: Look = {"opacity": flight.seen, "name": "trail"}
    sheet.scene.line([(x, chunk(start)), (x, both(front + tip))], "carrying", 4, **look)
    shape = "down" if flight.down else "triangle"
    sheet.scene.dot(x, both(front + tip), shape, 7, fill="carrying", **look)


def _block(sheet: Sheet, flight: Flight) -> None:
    """A block that goes with the trail's head, and stays on the bus or near the processor."""
    scene, middle, free = sheet.scene, sheet.middle(flight.name), flight.free
    long, front = sheet.block(flight.per), _front(sheet, flight)[1]
    rest = np.where(free, sum(sheet.near), sum(sheet.bus)) / 2 + flight.aside - BLOCK / 2
    nearer = np.minimum if flight.down else np.maximum
    y = nearer(front - BLOCK * flight.down, rest[:, None])
    x, fill = chunk(middle - long / 2), chunk(np.where(free, "paper", "carrying"))
    look: Look = {"ink": "carrying", "width": 2, "opacity": flight.seen}
    scene.rect(x, both(y), chunk(long), BLOCK, fill, name="trip", **look)
    arrow = "↓" if flight.down else "↑"
    said = [f"{arrow} free" if at_no_cost else f"{arrow} {number(per)} B"
            for per, at_no_cost in zip(flight.per, free)]  # fmt: skip
    room = sheet.pitch / 2 - long / 2
    beside = np.array([w < wide(one, SMALL) < r for one, w, r in zip(said, long, room)])
    inside = [first_fit(r, one, arrow, letters=SMALL) for r, one in zip(long, said)]
    words = np.where(beside, said, inside).astype(object)
    x = middle + np.where(beside, long / 2 + 5, 0)
    ink, anchor = np.where(free | beside, "ink", "paper"), np.where(beside, "start", "middle")
    look = {"anchor": chunk(anchor), "opacity": flight.seen, "name": "trip-says"}
    scene.text(chunk(x), both(y + 18), chunk(words), chunk(ink), size=SMALL, **look)


# The room of the cache, and the pieces that one round of the program touches, at their size.


def _strip(sheet: Sheet) -> None:
    """From step 1 on: what is too large reaches beyond the wall; what stays is hollow."""
    scene, left, right, top = sheet.scene, sheet.left, sheet.right, sheet.cache[0] + 7
    wall, capacity = left + ROOM * sheet.room, max(told.cache for told in sheet.stories)
    scene.rect(left, top, right - left, 20, "paper", radius=0)
    homes = [(name, told.home(name, 0)) for told in sheet.stories for name in sheet.names]
    given = {name for name, trip in homes if trip and trip.way == "read"} | {"result"}
    names = sorted(sheet.names, key=lambda name: name in given)

    def pieces(told: Story, at: int) -> list[float]:
        held, scale = told.together(at), (wall - left) / capacity
        return [max(held[name] * scale, TINY) if name in held else 0 for name in names]

    def came(told: Story, at: int) -> list[bool]:
        return [any(t.where == "memory" for t in told.trips(name, 0, at)) for name in names]

    long, filled = sheet.each(pieces).values, 0.25 * sheet.each(came).values
    ends = np.minimum(left + np.cumsum(long, axis=-1), right + 2)
    starts = np.concatenate([np.full_like(ends[..., :1], left), ends[..., :-1]], axis=-1)
    seen = np.minimum(ends, wall) - starts
    on = sheet.each(lambda told, at: float(at > 0)).values
    look: Look = {"clip": (left, top - 1, right, top + 21), "radius": 0}
    for n in range(len(names)):
        x, w = both(starts[..., n]), both(ends[..., n] - starts[..., n])
        scene.rect(x, top, w, 20, "carrying", opacity=both(filled[..., n]), name="touched", **look)
        scene.rect(x, top, w, 20, None, ink="carrying", opacity=both(on), name="piece", **look)
        out = (ends[..., n] > wall + 0.1) & (names[n] not in given)
        words = both(np.where(on > 0, _piece_says(seen[..., n], out, names[n]), ""))
        middle = both(starts[..., n] + seen[..., n] / 2)
        scene.text(middle, top + 15, words, size=SMALL, anchor="middle", name="piece-says")
    scene.line([(wall, top - 5), (wall, top + 25)], width=3, name="wall")
    scene.text(left - 12, top + 42, size(capacity), "soft", size=SMALL, anchor="end")
    sheet.torn(top, both(on * (ends[..., -1] > right)))
    _round(sheet, top, wall, ends[..., -1])


@partial(np.vectorize, otypes=[object])
def _piece_says(room: float, out: bool, name: str) -> str:
    """A piece's name; where it reaches ``out`` of the cache, that it does not fit."""
    every = (f"{name}: does not fit", f"{name} →", name) if out else (name,)
    return first_fit(room, *every, letters=SMALL)


def _round(sheet: Sheet, top: float, wall: float, ends: np.ndarray) -> None:
    """How much is touched together, and the handle that makes the pieces larger or smaller."""
    scene, right = sheet.scene, sheet.right - 14
    scale = (wall - sheet.left) / max(told.cache for told in sheet.stories)

    def said(told: Story, at: int) -> str:
        together = sum(told.together(at).values())
        loop = told.stops[max(at, 1) - 1].rounds > 1
        arrow = " →" if at and scale * together > sheet.room else ""
        touched = si(together, "B") + arrow
        every = ("one piece of each", "pieces") if loop else ("all arrays", "all")
        words = (*(f"{one}: {touched}" for one in every), touched)
        return first_fit(right - wall - 2, *words, letters=SMALL)

    scene.text(right, top + 15, sheet.each(said), size=SMALL, anchor="end", name="round")
    if sheet.sweep is None:
        return
    hand = np.minimum(ends, sheet.right)
    look: Look = {"fill": "paper", "ink": "key", "width": 3, "name": "chunk-now"}
    scene.dot(both(hand), top + 10, size=7, **look)
    # What lies at one place, too small or too large, is pulled to 8 pixels apart.
    shift = 8 * np.arange(len(hand))[:, None]
    spots = np.maximum.accumulate(hand - shift) + shift
    area = (sheet.left - 14, top - 6, sheet.right + 14, top + 26)
    scene.grip("chunk", both(spots), top + 10, area=area)


# The ledger: what has crossed the bus so far, block after block.


def _ledger(sheet: Sheet, hands: bool) -> None:
    scene, left, (top, foot) = sheet.scene, sheet.left, sheet.ledger
    scene.rect(left, top, sheet.room, foot - top, "soft", opacity=0.12, radius=0)
    sheet.label(sheet.ledger, "crossed")
    long = sheet.long(np.stack([flight.crossing for flight in sheet.flights], axis=1))
    starts = left + np.cumsum(long, axis=1) - long
    come = np.array([np.clip(2 * flight.come - 1, 0, 1) for flight in sheet.flights])
    for n, flight in enumerate(sheet.flights):
        x, w = chunk(starts[:, n]), long[:, n]
        scene.rect(x, top, chunk(w), 30, None, ink="soft", width=1, opacity=0.6)
        edge = By("step", np.where(sheet.at == flight.stop, "ink", "paper"))
        scene.rect(x, top, both(w[:, None] * come[n]), 30, "carrying", ink=edge, name="entry")
        said = chunk([first_fit(one, flight.name) for one in w])
        look: Look = {"anchor": "middle", "opacity": By("step", come[n] == 1), "name": "entry-says"}
        scene.text(chunk(starts[:, n] + w / 2), top + 20, said, "paper", **look)
    _steps(sheet, starts, long)
    _axis(sheet)
    counts = [
        [f"{number(per)} of {number(told.total)} bytes an element" for per in row]
        for told, row in zip(sheet.stories, long @ (come == 1) / sheet.long(1))
    ]
    scene.text(left, top - 26, both(counts), bold=True, name="count")
    if hands:
        end, middle = both(left + long @ come), (top + foot) / 2
        scene.dot(end, middle, fill="paper", ink="key", width=3, name="step-now")
        area = (left - 16, top - 8, sheet.right + 16, foot + 8)
        scene.grip("step", end, middle, area=area)


def _steps(sheet: Sheet, starts: np.ndarray, long: np.ndarray) -> None:
    """Over the ledger: the step that its blocks belong to."""
    stops = np.array([flight.stop for flight in sheet.flights])
    for stop in dict.fromkeys(stops.tolist()):
        start, span = starts[:, stops == stop].min(1), long[:, stops == stop].sum(1)
        calls = [told.stops[min(stop, len(told.stops)) - 1].call for told in sheet.stories]
        said = [
            first_fit(room, f"{stop} {call}", str(stop), letters=SMALL)
            for room, call in zip(span, calls)
        ]
        ink = By("step", np.where(sheet.at >= stop, "ink", "soft"))
        look: Look = {"size": SMALL, "anchor": "middle", "name": "step"}
        sheet.scene.text(chunk(start + span / 2), sheet.ledger[0] - 6, chunk(said), ink, **look)


def _axis(sheet: Sheet) -> None:
    """Bytes an element under the ledger, and the least that any program needs."""
    scene, (top, foot), edge = sheet.scene, sheet.ledger, sheet.scene.width - 2
    scene.line([(sheet.left, foot), (sheet.right, foot)], "soft", 1)
    last = -math.inf
    for tick in ticks(sheet.reach):
        x, half = sheet.left + sheet.long(tick), wide(number(tick), 14) / 2
        scene.line([(x, foot), (x, foot + 5)], "soft", 1)
        x = min(x, edge - half)
        if x - half > last:
            scene.text(x, foot + 21, number(tick), anchor="middle", size=14, name="tick")
            last = x + half
    least = np.array([sheet.left + sheet.long(told.minimum) for told in sheet.stories])
    ends = [(chunk(least), top - 3), (chunk(least), foot + 8)]
    scene.line(ends, width=2.5, dash=(5, 3), name="least")
    said = [f"minimum {number(told.minimum)}" for told in sheet.stories]
    half = 0.55 * max(map(wide, said))
    middle = chunk(np.clip(least, sheet.left + half, edge - half))
    scene.text(middle, foot + 40, chunk(said), bold=True, anchor="middle", name="least-says")


def _bars(sheet: Sheet, sweep: ChunkStories) -> None:
    """The time measured with each chunk size, and the time that its bytes promise."""
    scene, left, top = sheet.scene, sheet.left, sheet.bars[0]
    two = ("measured", "ink", sweep.measured), ("expected", "carrying", sweep.expected)
    for name, ink, seconds in two:
        sheet.label((top, top + 20), name)
        scene.rect(left, top, sheet.room, 20, "soft", opacity=0.12, radius=0)
        long = sheet.room * np.minimum(np.array(seconds) / sweep.reach, 1)
        scene.rect(left, top, chunk(long), 20, ink, radius=0, name=name)
        sheet.torn(top, chunk(np.array(seconds) > sweep.reach))
        said = [si(one, "s") + (" →" if one > sweep.reach else "") for one in seconds]
        inside = long > sheet.room - 100
        x, ink_on = left + long + np.where(inside, -14, 8), np.where(inside, "paper", "ink")
        look: Look = {"anchor": chunk(np.where(inside, "end", "start")), "name": f"{name}-says"}
        bold = name == "measured"
        scene.text(chunk(x), top + 15, chunk(said), chunk(ink_on), size=14, bold=bold, **look)
        top += 24


def _words(sheet: Sheet) -> None:
    """The sentence of every state, and what the log calls an array with the learner's name."""
    sweep = sheet.sweep
    further = [f" {sweep.sentence(at)}" if sweep else "" for at in range(len(sheet.stories))]
    said = sheet.each(lambda told, at: told.sentence(at)).values
    sheet.scene.says = both(said + np.array(further, object)[:, None])
    renamed = dict(pair for told in sheet.stories for pair in told.renamed)
    if renamed:
        also = ", ".join(f"{name} is {tmp}" for tmp, name in renamed.items())
        sheet.scene.note(f"In the log of rl.golf {also}.")


def golf(
    golf: Any, *, title: str | None = None, ax: Axes | None = None, width: float | None = None
) -> Picture | Panel:
    """Draw every trip of an ``rl.golf`` run as a block of the ledger, and its last step.

    ``ax`` draws into axes of yours, ``width`` is in inches: 3.3 for a paper's column, 7 for a post.
    The ``words`` of what comes back say what it shows, ``save(path)`` writes a pdf, svg or png.

    >>> import numpy as np
    >>> run = rl.golf(lambda x, y: 2 * x + y, np.ones(1_000_000), np.ones(1_000_000))
    >>> print(rl.show.golf(run).words.splitlines()[0])
    Step 1 of 2, multiply: x is read, tmp1 is written, 16 bytes an element.
    """
    told = story(golf, most=ROWS)
    build = partial(golf_scene, [told], start=len(told.stops), hands=False)
    words = "\n".join(told.sentence(n) for n in range(1, len(told.stops) + 1))
    return figures.painted(build, words, ax, width, title, told.verdict)
