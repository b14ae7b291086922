"""The memory mountain, live: a slider moves the working set from level to level.

Above stands the bandwidth of reading and of copying, below it the latency of a hop, both over the
working set. The levels that the data show are bands, those that the system tells are dotted lines.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rooflab.count.si import si
from rooflab.count.validation import size
from rooflab.labs.memory.levels import Level
from rooflab.labs.memory.mountain import Mountain
from rooflab.measure.threads import with_threads
from rooflab.optional import installed
from rooflab.show.chart import Chart, Line, Panel
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.show.guess_axis import GuessAxis

WIDE, NARROW, HEIGHT = 720, 400, 544
DIFFERS = 1.5  # times: bandwidths of two levels that can be told apart


def picture_scene(found: Mountain, wide: int, start: int) -> Scene:
    """The picture of ``found`` on a sheet ``wide`` pixels wide."""
    sizes, read, copy, hop = found.sizes, found.read, found.copy, found.latency
    scene = Scene(wide, HEIGHT, [Dim("i", [si(one, "B", 2) for one in sizes], start=start)])
    rates = [
        Line("read", "carrying", sizes, read),
        Line("copy", "carrying", sizes, copy, dash=(5, 3)),
    ]
    hops = [Line("latency", "ink", sizes, hop)]
    panels = [
        Panel("bandwidth", lambda value: si(value, "B/s", 1), rates, share=0.54),
        Panel("latency of a hop", lambda value: si(value, "s", 1), hops, share=0.46),
    ]
    ends = (sizes[0] / 1.1, sizes[-1] * 1.1)
    chart = Chart(scene, panels, ends, "working set", lambda nbytes: si(nbytes, "B", 1))
    seen = [level for level in found.levels if math.isfinite(level.latency)]
    chart.bands((level.name, level.found or math.inf) for level in seen)
    chart.axes(raised=True)
    told = {name.upper(): size for name, size in found.told.items() if size}
    chart.dotted(told.values())
    for name, at in told.items():  # between the panels
        if chart.x.lo < at < chart.x.hi:
            scene.text(chart.x(at), chart.frames[0].bottom + 14, name, "soft", size=LETTERS,
                       anchor="middle", name="told")  # fmt: skip
    chart.lines()
    chart.slider("i", "working set", sizes, [(0, copy), (0, read), (1, hop)])
    scene.says = By("i", [sentence(found, number) for number in range(len(sizes))])
    whose = (with_threads(found.name or "a machine", found.threads), found.measured_on[:10])
    scene.note(
        "Bands: levels found in the data. Dotted: sizes that the system reports. "
        + " · ".join(filter(None, (*whose, *found.warnings)))
    )
    return scene


def home(found: Mountain, number: int) -> tuple[Level, Level]:
    """The level of a working set, twice, or the two between whose plateaus it lies."""
    seen = [level for level in found.levels if math.isfinite(level.latency)]
    nbytes = found.sizes[number]
    near = next((one for one in seen[::-1] if one.first <= nbytes), seen[0])
    far = next((one for one in seen if nbytes <= one.last), seen[-1])
    return near, far


def streamed(found: Mountain, number: int) -> Level | None:
    """The level before, if a working set is still read as fast as there; else None."""
    near, far = home(found, number)
    before = [one for one in found.levels if math.isfinite(one.latency) and one.last < near.first]
    if near is not far or not before:
        return None
    least = float(found.read[found.at(far.first) : found.at(far.last) + 1].min())
    falls = before[-1].read > DIFFERS * least
    half = math.sqrt(before[-1].read * least)
    return before[-1] if falls and found.read[number] > half else None


def sentence(found: Mountain, number: int) -> str:
    """What the picture says of one working set."""
    before = streamed(found, number)
    near, far = (_called(level) for level in home(found, number))
    odd = ""
    if before:
        odd = (
            f" The two halves disagree here: its hops are as slow as in {near}, but it is still "
            f"read about as fast as in {_called(before)}."
        )
    read, copy, hop = (float(one[number]) for one in (found.read, found.copy, found.latency))
    lies = f"in {near}" if near == far else f"between {near} and {far}"
    threads = "" if found.threads == 1 else f" for each of {found.threads} threads"
    return (
        f"A working set of {si(found.sizes[number], 'B', 2)}{threads} lies {lies}: it is read at "
        f"{si(read, 'B/s')} and copied at {si(copy, 'B/s')}. A hop takes {si(hop, 's')}.{odd}"
    )


def _called(level: Level) -> str:
    unknown = "a cache that the system does not report"
    return {"memory": "main memory", "cache": unknown}.get(level.name, level.name)


@installed("rooflab.live.mountain")
def mountain(
    found: Mountain, *, after: GuessAxis | None = None, start: int | None = None
) -> Player:
    """Show a memory mountain with a slider that moves the working set from level to level.

    Parameters
    ----------
    found : Mountain
        From ``rl.memory.mountain()``, or a kept one.
    after : GuessAxis, optional
        What ``rl.ask`` returned: the picture stays covered until that guess is placed. None covers
        nothing.
    start : int, optional
        Bytes of the working set at which the slider stands first; None: the smallest.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> found = rl.memory.mountain(sizes=[4096, 2**14, 2**22], progress=False)
    >>> print(rl.live.mountain(found).sentence[:27])
    A working set of 4.1 kB lie
    """
    if not isinstance(found, Mountain):
        raise TypeError(f"found={found!r} is no mountain; pass what rl.memory.mountain() returned")
    if after is not None and not hasattr(after, "covered"):
        raise TypeError(f"after={after!r} is no guess axis; pass what rl.ask returned")
    number = 0 if start is None else found.at(size("start", start))
    scenes = [picture_scene(found, wide, number) for wide in (WIDE, NARROW)]
    return Player(*scenes, stem="mountain", after=after)
