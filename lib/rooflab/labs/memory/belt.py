"""Lines in flight as a belt (Little's law): dots on their way from memory to the core.

A core asks for as many lines as it has buffers, and a new one whenever a line arrives. So the belt,
which is a latency long, carries as many dots as there are buffers, unless the memory gives no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rooflab.count.si import several, si
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

LINE = 64  # bytes
BUFFERS = (1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40)
START = BUFFERS.index(10)
TICKS = 40  # of a run, which takes 100 ns
RUN = 100e-9
WIDE, NARROW, HEIGHT = 720, 400, 282
BELT, DEEP, SLOTS, BAR = 12, 44, 108, 192  # pixels from the top: belt, its height, buffers, rate


@dataclass(frozen=True)
class Memory:
    """A memory that gives ``bandwidth`` byte/s, each line ``latency`` seconds after the request."""

    name: str
    bandwidth: float
    latency: float

    @property
    def wanted(self) -> float:
        """Lines in flight that use the whole bandwidth, by Little's law."""
        return self.bandwidth * self.latency / LINE

    def lines(self, buffers: int) -> float:
        """Lines in flight for a core with so many buffers."""
        return min(buffers, self.wanted)

    def rate(self, buffers: int) -> float:
        """Byte/s that this core gets."""
        return self.lines(buffers) * LINE / self.latency


MEMORIES = (
    Memory("one memory", 12.8e9, 100e-9),
    Memory("twice the bandwidth", 25.6e9, 100e-9),
    Memory("half the latency", 12.8e9, 50e-9),
)
FULL = max(one.bandwidth for one in MEMORIES)


def belt() -> Player:
    """Show lines in flight on a belt as long as the latency, with a slider for the buffers.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.memory.belt().sentence[:63])
    10 buffers, all taken: 10 lines are in flight, each for 100 ns.
    """
    return Player(*(belt_scene(wide) for wide in (WIDE, NARROW)), stem="belt")


def belt_scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    stops = [several(n, "buffer") for n in BUFFERS]
    ticks = [si(RUN * n / TICKS, "s") for n in range(TICKS + 1)]
    memories = Dim("memory", [one.name for one in MEMORIES], glide=400)
    scene = Scene(wide, HEIGHT, [
        Dim("buffers", stops, start=START, glide=200), memories,
        Dim("t", ticks, glide=150, even=True),
    ])  # fmt: skip
    left, right = 84.0, wide - 76.0
    ends = [left + (right - left) * one.latency / RUN for one in MEMORIES]
    scene.choice("memory", "which memory", [one.name for one in MEMORIES])
    scene.play("t")
    _belt(scene, left, ends)
    _dots(scene, left, ends)
    _buffers(scene, left, wide)
    _rate(scene, left, right)
    scene.slider("buffers", "buffers of the core")
    scene.says = scene.each("buffers memory", lambda n, m: _sentence(BUFFERS[n], MEMORIES[m]))
    return scene


def _belt(scene: Scene, left: float, ends: list[float]) -> None:
    """The belt from memory to the core, as long as the latency."""
    foot, end = BELT + DEEP, By("memory", ends)
    long = By("memory", [one - left for one in ends])
    scene.rect(left, BELT, long, DEEP, "soft", radius=0, opacity=0.12, name="belt")
    for y in (BELT, foot):
        scene.line([(left, y), (end, y)], "soft", 2, name="edge")
    scene.text(left - 10, BELT + 26, "memory", anchor="end", bold=True)
    scene.text(By("memory", [one + 10 for one in ends]), BELT + 26, "core", bold=True)
    middle = By("memory", [(left + one) / 2 for one in ends])
    words = By("memory", [f"latency: {si(one.latency, 's', 2)}" for one in MEMORIES])
    scene.text(middle, foot + 22, words, "soft", size=14, anchor="middle", name="latency")
    for x in (left, end):
        scene.line([(x, foot + 8), (x, foot + 22)], "soft", 1, name="end")


def _dots(scene: Scene, left: float, ends: list[float]) -> None:
    """The lines of one run: those in flight, and behind them those that are asked for meanwhile."""
    most = int(max(one.lines(n) * RUN / one.latency for one in MEMORIES for n in BUFFERS))
    many = most + max(int(one.lines(BUFFERS[-1])) for one in MEMORIES)
    shares = np.linspace(0, 1, TICKS + 1)
    for number in range(many):
        places = np.array([[_place(one, n, number, shares) for one in MEMORIES] for n in BUFFERS])
        long = np.array(ends)[:, None] - left
        x = np.where((places < 0) | (places > 1), np.nan, left + places * long)
        if np.isnan(x).all():
            continue
        y = BELT + DEEP * (0.3, 0.7, 0.5)[number % 3]
        scene.dot(By("buffers memory t", x), y, size=5, fill="carrying", name="line")


def _place(one: Memory, buffers: int, number: int, shares: np.ndarray) -> np.ndarray:
    """How far along the belt a line is, 0 to 1, at each share of a run."""
    apart = 1 / one.lines(buffers)
    return 1 - (number + 0.5) * apart + shares * RUN / one.latency


def _buffers(scene: Scene, left: float, wide: float) -> None:
    """A box for each buffer of the core, filled while it waits for a line."""
    room = (wide - left - 16) / 20
    scene.text(left - 10, SLOTS + 17, "buffers", anchor="end")
    size = min(18.0, room - 3)
    for slot in range(BUFFERS[-1]):
        there = By("buffers", [float(slot < n) for n in BUFFERS])
        taken = By("buffers memory", [
            [float(slot < round(one.lines(n))) for one in MEMORIES] for n in BUFFERS
        ])  # fmt: skip
        x, y = left + room * (slot % 20), SLOTS + 23 * (slot // 20)
        scene.rect(x, y, size, size, None, ink="soft", opacity=there, name="buffer")
        scene.rect(x, y, size, size, "carrying", opacity=taken, name="taken")


def _rate(scene: Scene, left: float, right: float) -> None:
    """What the core gets, as a bar and a number, beside what the memory could give."""
    rates = np.array([[one.rate(n) for one in MEMORIES] for n in BUFFERS])
    scale = (right - left) / FULL
    scene.text(left - 10, BAR + 20, "rate", anchor="end")
    could = By("memory", [one.bandwidth * scale for one in MEMORIES])
    scene.rect(left, BAR, could, 28, None, ink="soft", dash=(5, 4), radius=0, name="could")
    scene.rect(
        left, BAR, By("buffers memory", rates * scale), 28, "carrying", radius=0, name="rate"
    )
    words = np.array([[si(rate, "B/s") for rate in row] for row in rates], object)
    scene.text(left, BAR + 56, By("buffers memory", words), "carrying", size=24, bold=True)
    most = By("memory", [f"the memory could give {si(one.bandwidth, 'B/s')}" for one in MEMORIES])
    scene.text(left, BAR - 8, most, "soft", size=14, name="most")
    there = [[[_arrived(one, n, t) for t in range(TICKS + 1)] for one in MEMORIES] for n in BUFFERS]
    arrived = By("buffers memory t", np.array(there, object))
    scene.text(scene.width - 16, BAR + 54, arrived, anchor="end", name="arrived")


def _arrived(one: Memory, buffers: int, tick: int) -> str:
    lines = int(one.lines(buffers) * RUN / one.latency * tick / TICKS + 0.5)
    return f"arrived: {several(lines, 'line')}"


def _sentence(buffers: int, one: Memory) -> str:
    lines, rate = one.lines(buffers), one.rate(buffers)
    latency = si(one.latency, "s", 2)
    taken = "all taken" if lines == buffers else f"of which {lines:.0f} are taken"
    limit = "the memory could give more" if rate < one.bandwidth else "the memory gives no more"
    return (
        f"{several(buffers, 'buffer')}, {taken}: {several(int(lines), 'line')} "
        f"{'is' if lines == 1 else 'are'} in flight, each for {latency}. The core "
        f"gets {lines:.0f} × {LINE} bytes ÷ {latency} = {si(rate, 'B/s')}, and {limit}."
    )
