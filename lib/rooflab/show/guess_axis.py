"""A guess before the measurement: an empty log axis to click on, and a result that waits under it.

A click places the guess, another moves it, a button or Enter makes it count. Everything is prepared
here and covered in the page, so that this works without a kernel too.
With a kernel, the guess also reaches ``store``: anything with ``record(id, value)``,
``reveal_without_guess(id)`` and ``get(id)``, which is None or has a ``value`` (None: only looked).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import traitlets

from rooflab.count.si import times
from rooflab.show import canvas, labels, theme
from rooflab.show.scene import By, Dim, Fill, Number, Scene, Words, painter
from rooflab.show.scene.axes import Frame, Scale
from rooflab.show.scene.player import Player

#: The two sheets: a page's column, and a phone.
WIDE, NARROW = 720, 400
HEIGHT, BASE, SIDE = 128, 80, 40  # pixels of a sheet; where the axis lies; the room at its ends
LETTERS = 15
LINE = 32  # from answer to answer, where they are words
#: Places on the axis where a guess can be put: about every third pixel.
PLACES = 241
SPOT_ON = 1.05  # off by less than this is right
SAME_AS_SLIP = 1.2  # times the value that a slip leads to: nearer, and that slip was made
_WORDS = {"×": "times"}  # a unit as a sentence says it, where that is not the sign itself
CLICK = "Click where you think it is. On the keyboard: Tab to the axis, then ← →."
MOVE = "You can still move it. Enter confirms it, too."
RUN = "Run this cell, then click on the axis: the result is covered until you guess."


class GuessAxis(Player):
    """The axis, the guess on it and the covered result. Make one with ``guess``.

    ``guess_at`` is the place of the guess that counts, -1 while there is none; ``placed`` is one
    more than the place where a hand has put a mark that can still be moved, and 0 without one.
    """

    #: A PNG that is uncovered with the result.
    picture = traitlets.Bytes(b"").tag(sync=True)
    #: What is said of the picture.
    more = traitlets.Unicode().tag(sync=True)

    def __init__(self, plan: _Plan, store: Any, **traits: Any) -> None:
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

    def under(self) -> tuple[bytes, str, str]:
        """The picture that the guess was asked for, and the number beside it; or the axis."""
        shown = self.plan.verdict(None)
        if self.picture:
            return self.picture, self.more or shown, shown
        looked = {**self.state, "guess_at": -1, "covered": False}
        return painter.page(self.scene, self.plan.question, [shown], **looked), shown, ""


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
        says = self.says
        scene = _scene(wide, HEIGHT, says, PLACES)
        shut = By("covered", [0.12, 0])
        scene.rect(SIDE - 14, BASE - 44, wide - 2 * SIDE + 28, 50, "key", radius=8, opacity=shut)
        x = draw_axis(scene, self.low, self.high, BASE)
        unit = _WORDS.get(self.unit, self.unit)
        scene.text(wide / 2, BASE + 42, unit, "soft", size=14, anchor="middle")
        for words, value in self.marks.items():
            at, room = x(value), labels.width(words, LETTERS) + 12
            left = at - SIDE > room
            scene.line([(at, BASE - 22), (at, BASE)], width=2, name="known")
            scene.text(at - 5 if left else at + 5, BASE - 8, words, size=14,
                       anchor="end" if left else "start", name="known-says")  # fmt: skip
        # What lies beyond the axis is at its end.
        places = x(np.clip(self.values, self.low, self.high))
        _truth(scene, self, x(self.result), np.array([math.nan, *places]))
        for dim, name, opacity in _hands(PLACES):
            many = len(scene.dim(dim).stops) - 1
            beside, anchors = inwards(wide, places[:many])
            draw_flag(
                scene, By(dim, [math.nan, *places[:many]]), By(dim, [math.nan, *beside]),
                By(dim, ["", *(f"your guess: {one}" for one in says[:many])]), BASE, name,
                anchor=By(dim, ["middle", *anchors]), opacity=opacity,
            )  # fmt: skip
        _answering(scene, self, By("placed", [math.nan, *places[:PLACES]]), BASE, PLACES)
        return scene

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

    def number(self, value: float) -> str:
        """The value with two digits and its unit."""
        return number(value, self.unit)

    def verdict(self, value: float | None) -> str:
        """How far off a guess is; None stands for looking without guessing."""
        if value is None:
            return f"It is {self.number(self.result)} (shown without a guess)."
        return verdict(value, self.result, self.unit) + self._slip(value)

    def _slip(self, value: float) -> str:
        """What led to a guess of ``value`` that is not right, if that is known."""
        for words, at in self.slips.items() if off_by(value, self.result) >= SPOT_ON else ():
            if off_by(value, at) < SAME_AS_SLIP:
                return f" {words}"
        return ""


def number(value: float, unit: str) -> str:
    """Return the value with two digits and its unit."""
    digits = 1 - math.floor(math.log10(value))
    short = round(value, digits)
    written = theme.intensity(short) if short > 999 else f"{short:.{max(0, digits)}f}"
    return f"{written} {_WORDS.get(unit, unit)}".rstrip()


def verdict(guess: float, truth: float, unit: str) -> str:
    """Say how far off a guess is."""
    said = f"You guessed {number(guess, unit)}, it is {number(truth, unit)}"
    off = off_by(guess, truth)
    if off < SPOT_ON:
        return f"{said}: spot on."
    side = "too high" if guess > truth else "too low"
    return f"{said}: off by {times(float(f'{off:.2g}'))}, {side}."


def off_by(one: float, other: float) -> float:
    """Return how many times the larger of two values is the smaller."""
    return max(one / other, other / one)


# The scene. A mark that is pointed at, one that is put down and one that counts look alike; each
# has a dimension of its own, so that only the last one is an answer.


def _scene(wide: float, high: float, says: Sequence[str], many: int) -> Scene:
    """A sheet for a guess at one of ``many`` places; a stored one may have a place more."""
    none, numbers = "no guess yet", [-1, *range(len(says))]
    dims = [
        Dim("placed", [none, *says[:many]]),
        Dim("over", ["nowhere", *says[:many]]),
        Dim("guess_at", [none, *says], numbers),
        Dim("covered", ["covered", "uncovered"], [True, False], glide=700),
    ]
    return Scene(wide, high, dims)


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
        many = len(self.values)
        scene = _scene(wide, LINE * many + 6, self.values, many)
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


def draw_axis(
    scene: Scene, low: float, high: float, base: float, write: Any = theme.intensity
) -> Scale:
    """Draw a log axis at the height ``base`` across ``scene``, with ticks; return its scale."""
    frame = Frame(SIDE, 0, scene.width - SIDE, base)
    x, decades = frame.x(low, high), math.log10(high / low)
    minor = x.steps(range(1, 10)) if decades < 8 else []
    named = x.steps() if decades < scene.width / 225 else x.decades()
    comb: list[tuple[float, float]] = [(frame.left, base)]
    for value in sorted({*minor, *named}):
        foot = base + (6 if value in named else 3)
        comb += [(x(value), base), (x(value), foot), (x(value), base)]
    scene.line([*comb, (frame.right, base)], "soft", 1, name="axis")
    frame.x_ticks(scene, x, named, write, grid=False, below=22)
    return x


def inwards(wide: float, x: Any) -> tuple[np.ndarray, list[str]]:
    """Where words about ``x`` begin, end or have their middle: near an end they grow inwards.

    Returns pixels and anchors.
    """
    edge = 0.21 * wide
    near = [1 if one < edge else -1 if one > wide - edge else 0 for one in x]
    return np.asarray(x) - 7 * np.array(near), [("middle", "start", "end")[n] for n in near]


def draw_flag(
    scene: Scene, x: Number, beside: Number, words: Words, base: float, name: str, *,
    anchor: Words, opacity: Number = 1,
) -> None:  # fmt: skip
    """Draw a value on an axis, with words above it: the truth, lower, or a guess."""
    true = name == "truth"
    look: dict[str, Any] = {"size": 6.5} if true else {"size": 7.5, "fill": "mine", "ink": "ink"}
    top = base - (26 if true else 46)
    scene.line([(x, base), (x, top)], "soft", 1, opacity=opacity)
    scene.dot(x, base, opacity=opacity, name=name, **look)
    scene.text(beside, top - 6, words, "ink" if true else "mine-says", bold=True, halo=True,
               anchor=anchor, opacity=opacity, name=f"{name}-says")  # fmt: skip


def _truth(scene: Scene, plan: _Plan, there: float, mine: np.ndarray) -> None:
    """The result; it comes from the guess, and the line between them is how far off that was."""
    begin = np.where(np.isnan(mine), there, mine)
    moving = By("covered guess_at", np.array([begin, np.full(len(begin), there)]))
    way = [(By("guess_at", begin), BASE), (moving, BASE)]
    scene.line(way, "mine", 5, opacity=By("covered", [0, 0.3]), name="gap")
    (beside,), (anchor,) = inwards(scene.width, [there])
    words, shown = plan.number(plan.result), By("covered", [0, 1])
    draw_flag(scene, moving, beside, words, BASE, "truth", anchor=anchor, opacity=shown)


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
    store: Any = None,
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

    Raises ValueError naming the argument; an axis too short for the result grows.
    """
    for name, text in {"id": id, "question": question}.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{name}={text!r} must be a text that is not empty")
    if answers:
        return GuessAxis(
            _Choice(id, question, str(result), answers), store, picture=picture, more=sentence
        )
    for name, value in {"result": result, "low": low, "high": high, **marks, **slips}.items():
        if not (isinstance(value, (int, float, np.number)) and 0 < value < math.inf):
            raise ValueError(f"{name}={value!r} must be a positive number: the axis is logarithmic")
    if low >= high:
        raise ValueError(f"low={low!r} must be below high={high!r}")
    plan = _Plan(id, question, float(result), unit, (float(low), float(high)), marks, slips)
    return GuessAxis(plan, store, picture=picture, more=sentence)
