"""A guess before the measurement: an empty log axis to click on, and a result that waits under it.

A click places the guess, another moves it, a button or Enter makes it count. Everything is prepared
here and covered in the page, so that this works without a kernel too.
With a kernel, the guess also reaches ``store``: anything with ``get(id)``, ``record(id, value)``
and ``reveal_without_guess(id)``; this module keeps no guesses itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import traitlets

from rooflab.count.si import times
from rooflab.show import canvas, labels, theme
from rooflab.show.scene import By, Dim, Fill, Scene, painter
from rooflab.show.scene.axes import Frame, Scale
from rooflab.show.scene.player import Player

#: The two sheets: a page's column, and a phone.
WIDE, NARROW = 720, 400
HEIGHT, BASE, SIDE = 128, 80, 40  # pixels of a sheet; where the axis lies; the room at its ends
LETTERS = 15
LINE = 32  # from answer to answer, where they are words
#: Places on the axis where a guess can be put: about every third pixel.
PLACES = 241
SAME_AS_SLIP = 1.2  # times the value that a slip leads to: nearer, and that slip was made
_WORDS = {"×": "times"}  # a unit as a sentence says it, where that is not the sign itself
CLICK = "Click where you think it is. On the keyboard: Tab to the axis, then ← →."
MOVE = "You can still move it. Enter confirms it, too."
RUN = "Run this cell, then click on the axis: the result is covered until you guess."


class GuessStore(Protocol):
    """Where guesses are kept. ``get``: None, or something with ``value`` (None: only looked)."""

    def get(self, id: str) -> Any: ...
    def record(self, id: str, value: float) -> Any: ...
    def reveal_without_guess(self, id: str) -> Any: ...


class GuessAxis(Player):
    """The axis, the guess on it and the covered result. Make one with ``guess``.

    ``guess_at`` is the place of the guess that counts, -1 while there is none; ``placed`` is one
    more than the place where a hand has put a mark that can still be moved, and 0 without one.
    """

    #: A PNG that is uncovered with the result.
    picture = traitlets.Bytes(b"").tag(sync=True)
    #: What is said of the picture.
    more = traitlets.Unicode().tag(sync=True)

    def __init__(self, plan: _Plan, store: GuessStore | None, **traits: Any) -> None:
        self.plan, self.store = plan, store
        stored = store.get(plan.id) if store is not None else None
        value = getattr(stored, "value", None)
        super().__init__(
            *(plan.scene(wide) for wide in (WIDE, NARROW)),
            stem=f"guess-{plan.id}",
            kind="rl-guess",
            asks=True,
            guess_at=-1 if value is None else plan.place(value),
            covered=stored is None,
            **traits,
        )
        self.observe(self._tell, "covered")

    @property
    def value(self) -> float | None:
        """The guess in the axis' unit, or None."""
        places = self.plan.values
        return places[self.guess_at] if 0 <= self.guess_at < len(places) else None

    @property
    def unit(self) -> str:
        """The unit of the axis, of the guess and of the result."""
        return self.plan.unit

    @property
    def geometry(self) -> dict[str, list[Any]]:
        """The places of ``guess_at``: their values, and the words for each of them."""
        return {"values": self.plan.values, "says": self.plan.says}

    def _tell(self, change: Any) -> None:
        # The browser sends the place of the guess and the uncovering in one message.
        if self.store is not None and not change["new"]:
            if self.value is None:
                self.store.reveal_without_guess(self.plan.id)
            else:
                self.store.record(self.plan.id, self.value)
        for twin in canvas.twins(self, GuessAxis, lambda axis: axis.plan.key):
            twin.guess_at, twin.covered = self.guess_at, self.covered

    def forget(self) -> None:
        """Cover the result again, as if nobody had guessed; what ``store`` has stays there."""
        self.placed, self.guess_at = 0, -1
        self.covered = True

    @property
    def words(self) -> str:
        """The question, or how far off the guess was."""
        return self.plan.asked if self.covered else self.plan.verdict(self.value)

    def still(self) -> bytes:
        """One PNG on white: the question over its axis, and what is uncovered of the answer."""
        said = RUN if self.covered else self.plan.verdict(self.value)
        return painter.page(self.scene, self.plan.question, [said], **self.state)

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        live = super(Player, self)._repr_mimebundle_(**kwargs)
        if not self.covered:
            return canvas.mimebundle(live, self.still(), self.words)
        shown = self.plan.verdict(None)
        if self.picture:
            # The picture is what the guess was asked for; the number is said beside it.
            under = (self.picture, self.more or shown)
            return canvas.mimebundle(live, self.still(), self.words, under, says=shown)
        looked = {**self.state, "guess_at": -1, "covered": False}
        drawn = painter.page(self.scene, self.plan.question, [shown], **looked)
        return canvas.mimebundle(live, self.still(), self.words, (drawn, shown))


class _Plan:
    """A question with its result and the axis it is asked on."""

    click = CLICK
    result: Any
    marks: Mapping[str, float]

    def __init__(
        self,
        id: str,
        question: str,
        result: float,
        unit: str,
        ends: tuple[float, float],
        marks: Mapping[str, float],
        slips: Mapping[str, float],
    ) -> None:
        self.id, self.question, self.result, self.unit = id, question, result, unit
        self.marks, self.slips = dict(marks), dict(slips)
        # ``values``: those of the places on the axis; a stored guess comes last.
        # A machine nobody thought of must not stop a lesson: the axis grows to hold all of it.
        self.low = min(ends[0], *(value / 2 for value in (result, *self.marks.values())))
        self.high = max(ends[1], *(value * 2 for value in (result, *self.marks.values())))
        self.values = [float(f"{v:.4g}") for v in np.geomspace(self.low, self.high, PLACES)]

    def place(self, value: Any) -> int:
        """The place of a stored guess: the last one, wherever on the axis that is."""
        self.values.append(float(value))
        return PLACES

    def scene(self, wide: float) -> Scene:
        """The scene of the question on a sheet ``wide`` pixels wide."""
        return axis_scene(self, wide)

    @property
    def key(self) -> tuple[str, str, str]:
        """What two axes share that ask the same."""
        return self.id, self.question, self.unit

    @property
    def says(self) -> list[str]:
        """The values of the places in words."""
        return [self.number(value) for value in self.values]

    @property
    def asked(self) -> str:
        """The question, and what is marked on its axis."""
        seen = "; ".join(f"{words}, {self.number(value)}" for words, value in self.marks.items())
        return f"{self.question} Marked on the axis: {seen}." if seen else self.question

    @property
    def unit_words(self) -> str:
        """The unit as a sentence says it."""
        return _WORDS.get(self.unit, self.unit)

    def number(self, value: float) -> str:
        """The value with two digits and its unit."""
        digits = max(0, 1 - math.floor(math.log10(value)))
        short = round(value, 1 - math.floor(math.log10(value)))
        written = theme.intensity(short) if short > 999 else f"{short:.{digits}f}"
        return f"{written} {self.unit_words}".rstrip()

    def verdict(self, value: float | None) -> str:
        """How far off a guess is; None stands for looking without guessing."""
        truth = self.number(self.result)
        if value is None:
            return f"It is {truth} (shown without a guess)."
        off = max(value / self.result, self.result / value)
        if off < 1.05:
            return f"You guessed {self.number(value)}, it is {truth}: spot on."
        side = "too high" if value > self.result else "too low"
        how_far = f"off by {times(float(f'{off:.2g}'))}, {side}"
        return f"You guessed {self.number(value)}, it is {truth}: {how_far}.{self._slip(value)}"

    def _slip(self, value: float) -> str:
        """What led to a guess of ``value``, if that is known."""
        for words, at in self.slips.items():
            if max(value / at, at / value) < SAME_AS_SLIP:
                return f" {words}"
        return ""


# The scene. A mark that is pointed at, one that is put down and one that counts look alike; each
# has a dimension of its own, so that only the last one is an answer.


class _Drawing:
    """The axis of a plan on a sheet of one width."""

    def __init__(self, plan: _Plan, wide: float) -> None:
        self.plan, self.wide = plan, wide
        self.frame = Frame(SIDE, 0, wide - SIDE, BASE)
        self.x: Scale = self.frame.x(plan.low, plan.high)
        none, says = "no guess yet", plan.says
        numbers = [-1, *range(len(says))]
        dims = [
            Dim("placed", [none, *says[:PLACES]]),
            Dim("over", ["nowhere", *says[:PLACES]]),
            Dim("guess_at", [none, *says], numbers),
            Dim("covered", ["covered", "uncovered"], [True, False], glide=700),
        ]
        self.scene = Scene(wide, HEIGHT, dims)

    @cached_property
    def places(self) -> np.ndarray:
        """Pixels of all places; what lies beyond the axis is at its end."""
        inside = np.clip(self.plan.values, self.plan.low, self.plan.high)
        return np.asarray(self.x(inside))

    def at(self, dim: str) -> By:
        """Where the mark of a dimension stands; its first stop has no mark."""
        many = len(self.scene.dim(dim).stops)
        return By(dim, [math.nan, *self.places[: many - 1]])

    def sides(self, x: Any) -> tuple[np.ndarray, list[str]]:
        """Where words about ``x`` begin, end or have their middle: near an end they grow inwards.

        Returns pixels and anchors.
        """
        edge = 0.21 * self.wide
        near = [1 if one < edge else -1 if one > self.wide - edge else 0 for one in x]
        return np.asarray(x) - 7 * np.array(near), [("middle", "start", "end")[n] for n in near]


def axis_scene(plan: _Plan, wide: float) -> Scene:
    """The scene of a number's question on a sheet ``wide`` pixels wide."""
    drawing = _Drawing(plan, wide)
    _axis(drawing)
    _truth(drawing)
    for dim, name, opacity in _hands(PLACES):
        _mark(drawing, dim, name, opacity)
    _answering(drawing.scene, plan, drawing.at("placed"), BASE, PLACES)
    return drawing.scene


def _hands(many: int) -> tuple[tuple[str, str, By], ...]:
    """The marks of a guess that is pointed at, put down and final: dimension, name, opacity."""
    over = By("covered placed", [[0.55, *[0] * many], [0] * (many + 1)])
    shut, open_ = By("covered", [1, 0]), By("covered", [0, 1])
    return ("over", "hovered", over), ("placed", "placed", shut), ("guess_at", "mine", open_)


def _answering(scene: Scene, plan: _Plan, x: Any, y: Any, many: int) -> None:
    """What asks, and what is pressed; a hand puts its mark at (x, y) of ``many`` places."""
    shut, open_ = By("covered", [1, 0]), By("covered", [0, 1])
    scene.grip(
        "placed", x, y, area=(0, 0, scene.width, scene.height), label=plan.asked, ghost="over",
        enabled=shut,
    )  # fmt: skip
    ready = By("placed", [0, *[1] * many])
    commit: dict[str, Any] = {"guess_at": By("placed", [*range(many + 1)]), "covered": 1}
    scene.button("this is my guess", commit, shown=shut, enabled=ready, kind="confirm mine-is")
    scene.button("skip: show me", {"covered": 1}, shown=shut, kind="skip")
    fresh = {"placed": 0, "guess_at": 0, "covered": 0}
    scene.button("guess again", fresh, shown=open_, kind="again")
    scene.note(plan.question, "title", above=True)
    verdicts = By("guess_at", [plan.verdict(one) for one in (None, *plan.values)])
    hints = By("placed", [plan.click, *[MOVE] * many])
    scene.says = Fill(By("covered", ["{hint}", "{verdict}"]), hint=hints, verdict=verdicts)
    scene.classes["done"] = open_


class _Choice(_Plan):
    """A question with a few answers in words, and which of them is right."""

    click = "Click on your answer. On the keyboard: Tab to the answers, then ← →."
    marks = MappingProxyType[str, float]({})

    def __init__(self, id: str, question: str, result: str, answers: Sequence[str]) -> None:
        self.id, self.question, self.result, self.unit = id, question, result, ""
        self.values: list[Any] = list(answers)

    def place(self, value: Any) -> int:
        return self.values.index(value)

    def number(self, value: Any) -> str:
        return str(value)

    def verdict(self, value: Any) -> str:
        if value is None:
            return f"It is {self.result} (shown without a guess)."
        right = value == self.result
        return f"You guessed {value}{', and so it is' if right else f'; it is {self.result}'}."

    def scene(self, wide: float) -> Scene:
        """A line for each answer, with a ring that the guess fills."""
        many, none = len(self.values), "no guess yet"
        dims = [
            Dim("placed", [none, *self.values]), Dim("over", ["nowhere", *self.values]),
            Dim("guess_at", [none, *self.values], [-1, *range(many)]),
            Dim("covered", ["covered", "uncovered"], [True, False], glide=700),
        ]  # fmt: skip
        scene = Scene(wide, LINE * many + 6, dims)
        lines = [LINE * (row + 0.5) for row in range(many)]
        for y, answer in zip(lines, self.values, strict=True):
            scene.dot(SIDE, y, size=7.5, fill="paper", ink="soft", name="ring")
            scene.text(SIDE + 18, y + 5, answer, size=LETTERS, name="answer")
        for dim, name, opacity in _hands(many):
            at = By(dim, [math.nan, *lines])
            scene.dot(SIDE, at, size=7.5, fill="mine", ink="ink", opacity=opacity, name=name)
        right = LINE * (self.values.index(self.result) + 0.5)
        scene.dot(SIDE, right, size=4.5, opacity=By("covered", [0, 1]), name="truth")
        _answering(scene, self, SIDE, By("placed", [math.nan, *lines]), many)
        return scene


def _axis(drawing: _Drawing) -> None:
    """The line with its ticks, the unit, and what is known already."""
    scene, x, plan, frame = drawing.scene, drawing.x, drawing.plan, drawing.frame
    decades = math.log10(plan.high / plan.low)
    minor = x.steps(range(1, 10)) if decades < 8 else []
    named = x.steps() if decades < drawing.wide / 225 else x.decades()
    comb: list[tuple[float, float]] = [(frame.left, BASE)]
    for value in sorted({*minor, *named}):
        foot = BASE + (6 if value in named else 3)
        comb += [(x(value), BASE), (x(value), foot), (x(value), BASE)]
    scene.line([*comb, (frame.right, BASE)], "soft", 1, name="axis")
    frame.x_ticks(scene, x, named, theme.intensity, grid=False, below=22)
    scene.text(drawing.wide / 2, BASE + 42, plan.unit_words, "soft", size=14, anchor="middle")
    for words, value in plan.marks.items():
        at, room = x(value), labels.width(words) * LETTERS / labels.SIZE + 12
        left = at - frame.left > room
        scene.line([(at, BASE - 22), (at, BASE)], width=2, name="known")
        scene.text(at - 5 if left else at + 5, BASE - 8, words, size=14,
                   anchor="end" if left else "start", name="known-says")  # fmt: skip


def _mark(drawing: _Drawing, dim: str, name: str, opacity: By) -> None:
    """A guess on the axis, with its value above it."""
    scene, at = drawing.scene, drawing.at(dim)
    many = len(scene.dim(dim).stops)
    places, anchors = drawing.sides(drawing.places[: many - 1])
    says = ["", *(f"your guess: {one}" for one in drawing.plan.says[: many - 1])]
    scene.line([(at, BASE), (at, BASE - 46)], "soft", 1, opacity=opacity)
    scene.dot(at, BASE, size=7.5, fill="mine", ink="ink", opacity=opacity, name=name)
    scene.text(
        By(dim, [math.nan, *places]), BASE - 52, By(dim, says), "mine-says", bold=True, halo=True,
        anchor=By(dim, ["middle", *anchors]), opacity=opacity, name=f"{name}-says",
    )  # fmt: skip


def _truth(drawing: _Drawing) -> None:
    """The result; it comes from the guess, and the line between them is how far off that was."""
    scene, plan, shown = drawing.scene, drawing.plan, By("covered", [0, 1])
    there = drawing.x(plan.result)
    mine = drawing.at("guess_at").values
    begin = np.where(np.isnan(mine), there, mine)
    moving = By("covered guess_at", np.array([begin, np.full(len(begin), there)]))
    way = [(By("guess_at", begin), BASE), (moving, BASE)]
    scene.line(way, "mine", 5, opacity=By("covered", [0, 0.3]), name="gap")
    look: dict[str, Any] = {"opacity": shown}
    scene.line([(moving, BASE), (moving, BASE - 26)], "soft", 1, **look)
    scene.dot(moving, BASE, size=6.5, name="truth", **look)
    (x,), (anchor,) = drawing.sides([there])
    scene.text(x, BASE - 32, plan.number(plan.result), anchor=anchor, bold=True, halo=True,
               name="truth-says", **look)  # fmt: skip


def guess(
    id: str,
    question: str,
    *,
    result: float | str,
    unit: str = "",
    low: float,
    high: float,
    picture: bytes = b"",
    sentence: str = "",
    store: GuessStore | None = None,
    marks: Mapping[str, float] = MappingProxyType({}),
    slips: Mapping[str, float] = MappingProxyType({}),
    answers: Sequence[str] = (),
) -> GuessAxis:
    """Ask for a guess on an empty log axis from ``low`` to ``high``; ``result`` waits covered.

    With ``answers`` it is a line to click on for each of them; ``result`` is the right one.

    id: the name under which ``store`` keeps the guess. result, low, high: in ``unit``.
    picture (PNG bytes) and sentence are uncovered together with the result.
    A guess that ``store`` already has is shown at once, uncovered.
    marks: words → what is known already, marked on the axis. slips: a sentence → the value that
    a usual slip leads to; who guesses that is told so afterwards. Both in ``unit``.

    Raises TypeError or ValueError naming the argument; an axis too short for the result grows.
    """
    for name, text in {"id": id, "question": question}.items():
        if not isinstance(text, str) or not text.strip():
            raise TypeError(f"{name}={text!r} must be a text that is not empty")
    if answers:
        return GuessAxis(
            _Choice(id, question, str(result), answers), store, picture=picture, more=sentence
        )
    numbers = {"result": result, "low": low, "high": high}
    for name, value in [*numbers.items(), *marks.items(), *slips.items()]:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise TypeError(f"{name}={value!r} must be a number")
        if not (math.isfinite(value) and value > 0):
            raise ValueError(
                f"{name}={value!r} must be positive and finite: the axis is logarithmic"
            )
    if low >= high:
        raise ValueError(f"low={low!r} must be below high={high!r}")
    if not isinstance(picture, bytes) or (picture and not picture.startswith(b"\x89PNG")):
        raise TypeError("picture must be the bytes of a PNG file (or empty)")
    plan = _Plan(id, question, float(result), unit, (float(low), float(high)), marks, slips)
    return GuessAxis(plan, store, picture=picture, more=sentence)
