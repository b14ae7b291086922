"""The memory mountain, live: a slider moves the working set from level to level.

Above stands the bandwidth of reading and of copying, below it the latency of a hop, both over the
working set. The levels that the data show are bands, those that the system tells are dotted lines.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.si import si
from rooflab.count.validation import size
from rooflab.labs.memory.levels import Level
from rooflab.labs.memory.mountain import Mountain
from rooflab.measure.threads import with_threads
from rooflab.optional import installed
from rooflab.show.labels import width
from rooflab.show.scene import FONT, By, Dim, Scene
from rooflab.show.scene.axes import LETTERS, Frame, Scale
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.show.guess_axis import GuessAxis

WIDE, NARROW, HEIGHT = 720, 400, 592
LEFT, RIGHT, TOP, FOOT = 92, 22, 62, 84  # pixels around both panels
MIDDLE, SLIDER = 40, 64  # between them; from the lower one to the slider
UPPER = 0.54  # of the room for both
BAND = 0.09  # opacity of every other band
ROOM = 1.6  # times: how much further than its values a scale reaches
BOLD = 1.1  # bold letters are so much wider


def picture_scene(found: Mountain, wide: int, start: int) -> Scene:
    """The picture of ``found`` on a sheet ``wide`` pixels wide."""
    stops = [si(one, "B", 2) for one in found.sizes]
    sheet = _Sheet(found, Scene(wide, HEIGHT, [Dim("i", stops, start=start)]))
    sheet.draw_bands()
    sheet.draw_axes()
    sheet.draw_told()
    sheet.draw_curves()
    sheet.draw_marker()
    scene = sheet.scene
    scene.says = By("i", [sentence(found, number) for number in range(len(found.sizes))])
    whose = (with_threads(found.name or "a machine", found.threads), found.measured_on[:10])
    warned = found.warnings
    scene.note(
        "Bands: levels found in the data. Dotted: sizes that the system tells. "
        + " · ".join(filter(None, (*whose, *warned)))
    )
    return scene


def home(found: Mountain, number: int) -> tuple[Level, Level]:
    """The level of a working set, twice, or the two between whose plateaus it lies."""
    seen = [level for level in found.levels if math.isfinite(level.latency)]
    nbytes = found.sizes[number]
    near = next((one for one in seen[::-1] if one.first <= nbytes), seen[0])
    far = next((one for one in seen if nbytes <= one.last), seen[-1])
    return near, far


def sentence(found: Mountain, number: int) -> str:
    """What the picture says of one working set."""
    near, far = (_called(level) for level in home(found, number))
    read, copy, hop = (float(one[number]) for one in (found.read, found.copy, found.latency))
    lies = f"in {near}" if near == far else f"between {near} and {far}"
    threads = "" if found.threads == 1 else f" for each of {found.threads} threads"
    return (
        f"A working set of {si(found.sizes[number], 'B', 2)}{threads} lies {lies}: it is read at "
        f"{si(read, 'B/s')} and copied at {si(copy, 'B/s')}. A hop takes {si(hop, 's')}."
    )


def _called(level: Level) -> str:
    unknown = "a cache that the system does not tell of"
    return {"memory": "main memory", "cache": unknown}.get(level.name, level.name)


class _Sheet:
    """A mountain on a sheet of one width: its scene, its two frames, its scales."""

    def __init__(self, found: Mountain, scene: Scene) -> None:
        self.found, self.scene = found, scene
        right, room = scene.width - RIGHT, HEIGHT - TOP - MIDDLE - FOOT
        turn = TOP + UPPER * room
        self.upper = Frame(LEFT, TOP, right, turn)
        self.lower = Frame(LEFT, turn + MIDDLE, right, HEIGHT - FOOT)
        sizes = found.sizes
        self.x = self.upper.x(sizes[0] / 1.1, sizes[-1] * 1.1)
        rates = np.concatenate([found.read, found.copy])
        self.rate = self.upper.y(rates.min() / ROOM, rates.max() * ROOM)
        self.hop = self.lower.y(found.latency.min() / ROOM, found.latency.max() * ROOM)

    def draw_bands(self) -> None:
        """A band for each level that was found, every other one shaded, with its name on top."""
        seen = [level for level in self.found.levels if math.isfinite(level.latency)]
        start = self.upper.left
        for number, level in enumerate(seen):
            end = self.upper.right if level.found is None else self.x(level.found)
            for frame in (self.upper, self.lower) if number % 2 else ():
                tall = frame.bottom - frame.top
                self.scene.rect(start, frame.top, end - start, tall, "soft", radius=0,
                                opacity=BAND, name="band")  # fmt: skip
            if BOLD * width(level.name) * LETTERS / FONT < end - start:
                self.scene.text((start + end) / 2, TOP - 8, level.name, "soft", size=LETTERS,
                                bold=True, anchor="middle", name="level")  # fmt: skip
            start = end

    def draw_axes(self) -> None:
        """Ticks and names of both panels, and bytes below."""
        scene, x = self.scene, self.x
        _ticks(self.upper, scene, self.rate, "B/s")
        _ticks(self.lower, scene, self.hop, "s")
        self.upper.x_ticks(scene, x, x.decades(), lambda _: "")
        self.lower.x_ticks(scene, x, x.decades(), lambda nbytes: si(nbytes, "B", 1))
        look: dict[str, Any] = {"size": LETTERS, "anchor": "start"}
        scene.text(8, TOP - 31, "bandwidth", **look)
        scene.text(8, self.lower.top - 12, "latency of a hop", **look)
        foot = self.lower.bottom + 38
        scene.text(self.lower.right, foot, "working set", "soft", size=LETTERS, anchor="end")
        for frame in (self.upper, self.lower):
            frame.draw(scene)

    def draw_told(self) -> None:
        """A dotted line at the size of each cache that the system tells of."""
        for told in self.found.told.values():
            if told and self.x.lo < told < self.x.hi:
                for frame in (self.upper, self.lower):
                    ends = [(self.x(told), frame.top), (self.x(told), frame.bottom)]
                    self.scene.line(ends, "ink", 1.6, dash=(2, 4), name="told")

    def draw_curves(self) -> None:
        """What was measured, and how it is called."""
        found, scene, x = self.found, self.scene, self.x(self.found.sizes)
        for values, y, ink, dash, name in (
            (found.read, self.rate, "carrying", (), "read"),
            (found.copy, self.rate, "carrying", (5, 3), "copy"),
            (found.latency, self.hop, "overhead", (), "latency"),
        ):
            points = [*zip(x.tolist(), y(values).tolist())]
            scene.line(points, ink, 2.4, dash=dash, name=name)
        foot, right = TOP - 31, self.upper.right - 10
        for end, name, dash in ((right, "copy", (5, 3)), (right - 84, "read", ())):
            scene.text(end, foot, name, "carrying", size=LETTERS, anchor="end", name="key")
            ends = [(end - 64, foot - 5), (end - 38, foot - 5)]
            scene.line(ends, "carrying", 2.4, dash=dash, name="key")

    def draw_marker(self) -> None:
        """The working set under the hand: a line through both panels, a ring on each curve."""
        found, scene = self.found, self.scene
        at = self.x(found.sizes)
        x = By("i", at)
        for frame in (self.upper, self.lower):
            ends = [(x, frame.top), (x, frame.bottom)]
            scene.line(ends, "key", 1.5, dash=(3, 3), name="here")
        for values, y in (
            (found.copy, self.rate), (found.read, self.rate), (found.latency, self.hop)
        ):  # fmt: skip
            scene.dot(x, By("i", y(values)), size=6, fill="paper", ink="key", width=2.5, name="now")
        for frame in (self.upper, self.lower):
            scene.grip("i", x, 0, area=frame.box)
        scene.slider("i", "working set", at=at, y=self.lower.bottom + SLIDER)


def _ticks(frame: Frame, scene: Scene, y: Scale, unit: str) -> None:
    values = y.steps((1, 3)) if y.hi < 300 * y.lo else y.decades()
    frame.y_ticks(scene, y, values, lambda value: si(value, unit, 1))


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
