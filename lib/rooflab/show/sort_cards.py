"""Cards to sort into three bins, in the browser: what limits an operation, before it is measured.

One tap or one key puts the card on top into a bin; another takes it back. When all cards lie, a
button uncovers what the model says: each card moves to where it belongs, and says why. All is here
and covered in the page, so that it works without a kernel; with one, the sorting also reaches
``store``: anything with ``record(bins)``, ``look()``, and ``recall()`` for the bins (None: not
sorted yet) and whether the truth was shown.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.show import canvas, labels
from rooflab.show.scene import By, Dim, Fill, Number, Scene, Sum, painter
from rooflab.show.scene.player import Player

#: The two sheets: the bins beside each other, and on a phone below each other.
WIDE, NARROW = 960, 400
DECK, HEAD, GAP = 58, 40, 10  # pixels of the deck and of a bin's head, and between bins
CARD, ROW, LINE = 30, 34, 18  # pixels of a card, from one to the next, and of a line more on it
LETTERS, GLIDE = 15, 500
MOST = 560  # pixels of cards in a bin; where reasons need more, they stand below the sheet
INKS = ("carrying", "computing", "overhead")  # of the three bins: the course's language of colour


@dataclass(frozen=True)
class Face:
    """What stands on a card: its ``name``; covered, the ``bin`` it belongs to, fact and reason."""

    name: str
    bin: int
    fact: str
    reason: str


@dataclass(frozen=True)
class Deck:
    """The cards with their question: ``title``, the names of the ``bins``, ``origin`` of a truth.

    ``how``: how to sort without a mouse.
    """

    faces: tuple[Face, ...]
    title: str
    bins: tuple[str, ...]
    origin: str
    how: str

    def head(self, sorted_: int, right: int) -> str:
        """How many of the sorted cards lie right; it says so if none was sorted."""
        if not sorted_:
            return "Shown without a sorting."
        whose = f"the {sorted_} sorted" if sorted_ < len(self.faces) else f"{sorted_}"
        return f"{right} of {whose} lie where the model puts them."

    def why(self, number: int, at: int) -> str:
        """Why a card belongs where it does, after its time; and the bin ``at`` if that is wrong."""
        face = self.faces[number]
        mine = f"You said {self.bins[at]}. " if at not in (-1, face.bin) else ""
        return f"{mine}{face.fact[:1].upper()}{face.fact[1:]}. {face.reason}"

    @property
    def shortest(self) -> list[str]:
        """The names of the cards without the parts that all of them have."""
        parts = [face.name.split(", ") for face in self.faces]
        common = set(parts[0]).intersection(*parts) if len(parts) > 1 else set()
        return [", ".join(one for one in name if one not in common) for name in parts]


def sign(face: Face, at: int) -> str:
    """A tick, a cross, or a dot for a card that lies in the bin ``at``."""
    return "·" if at < 0 else "✓" if at == face.bin else "✗"


class SortCards(Player):
    """The cards, the bins and the covered truth. Make one with ``rl.sort``.

    The trait ``card0`` holds the bin of the first card, -1 for none; the others follow.
    """

    def __init__(self, deck: Deck, store: Any, stem: str) -> None:
        self.deck, self.faces, self.store = deck, deck.faces, store
        placed, shown = store.recall() if store is not None else (None, False)
        start: dict[str, Any] = dict(zip(names(len(deck.faces)), placed or [], strict=False))
        start["covered"] = placed is None and not shown
        scenes = (cards_scene(deck, wide) for wide in (WIDE, NARROW))
        super().__init__(*scenes, stem=stem, kind="rl-sort rl-wide", asks=True, **start)
        self.observe(self._tell, "covered")

    @property
    def placed(self) -> list[int]:
        """A bin for each card, -1 for none."""
        return [getattr(self, name) for name in names(len(self.faces))]

    @placed.setter
    def placed(self, bins: Sequence[int]) -> None:
        with self.hold_sync():
            for name, at in zip(names(len(self.faces)), bins, strict=True):
                setattr(self, name, at)

    @property
    def right(self) -> int:
        """How many cards lie in the bin they belong to."""
        return sum(at == face.bin for at, face in zip(self.placed, self.faces, strict=True))

    @property
    def score(self) -> str:
        """``"7 of 10"``; nothing as long as the truth is covered."""
        return "" if self.covered else f"{self.right} of {len(self.faces)}"

    def show(self) -> SortCards:
        """Uncover what the model says; a sorting that is not complete counts as only looked at."""
        self.covered = False
        return self

    def forget(self) -> None:
        """Take all cards back and cover the truth again; what the store has stays there."""
        self.placed = [-1] * len(self.faces)
        self.covered = True

    def _tell(self, change: Any) -> None:
        if self.store is not None and not change["new"]:
            if -1 in self.placed:
                self.store.look()
            else:
                self.store.record(self.placed)
        for twin in canvas.twins(
            self, SortCards, lambda one: (one.deck.how, *(face.name for face in one.faces))
        ):
            twin.placed, twin.covered = self.placed, self.covered

    @property
    def head(self) -> str:
        """How many of the sorted cards lie right; it says so if none was sorted."""
        return self.scene.sentence(**{**self.state, "covered": False})

    def _lines(self, covered: bool) -> list[str]:
        """A line for each card: its name while it is covered, then why it belongs where it does."""
        if covered:
            rows = [f"{n:>4}  {face.name}" for n, face in enumerate(self.faces, 1)]
            return [self.deck.title, *rows, f"Covered. {self.deck.how}"]
        rows = [
            f"{sign(face, at)} {face.name}: {self.deck.bins[face.bin]}. {self.deck.why(n, at)}"
            for n, (at, face) in enumerate(zip(self.placed, self.faces, strict=True))
        ]
        return [self.head, *rows, self.deck.origin]

    @property
    def words(self) -> str:
        """The cards as text: the question while they are covered, then a line for each."""
        return "\n".join(self._lines(self.covered))

    def __repr__(self) -> str:
        return self.words

    def still(self) -> bytes:
        """One PNG: the cards and bins, and the words that a browser sets around them."""
        return self._page(self.covered)

    def _page(self, covered: bool) -> bytes:
        state, sheet = {**self.state, "covered": covered}, copy.copy(self.scene)
        if covered:  # empty bins fill no page
            held = max(self.placed.count(b) for b in range(3))
            sheet.height = min(sheet.height, DECK + GAP + HEAD + ROW * max(3, held + 1))
        first, *lines = self._lines(covered)
        if not covered:
            notes = [words for _, words, above in self.scene.notes if not above]
            lines = [self.scene.settled(words, self.scene.places(**state)) for words in notes]
        return painter.page(sheet, first, lines, **state)

    def under(self) -> tuple[bytes, str, str]:
        """The cards where they belong, with their reasons."""
        return self._page(False), "\n".join(self._lines(False)), ""


# The scene. While it is covered, a card stands a row lower for each card above it: their count is a
# dimension that follows. Uncovered, each lies where it belongs, whatever was said.


def names(many: int) -> list[str]:
    """The dimensions of so many cards."""
    return [f"card{n}" for n in range(many)]


def _dims(deck: Deck, beside: bool) -> list[Dim]:
    """Where each card was put, and what follows from that.

    ``top`` is the first card that lies nowhere; ``back`` is one more than the last that was put.
    ``beside``: each bin counts its own rows; else they go on from bin to bin.
    """
    many, cards, stops = len(deck.faces), names(len(deck.faces)), ["not placed", *deck.bins]
    dims = [Dim(name, stops, [-1, *range(len(deck.bins))]) for name in cards]
    dims.append(Dim("covered", ["covered", "uncovered"], [True, False], glide=GLIDE))
    for name in ("top", "back"):  # card by card, from what the cards before it say
        for n in range(many):
            here = name if n == many - 1 else f"{name}{n}"
            table = [[before, *[n + 1 if name == "back" or before == n else before] * 3]
                     for before in range(n + 1)]  # fmt: skip
            of = By(f"{name}{n - 1} card{n}", table) if n else By("card0", table[0])
            dims.append(Dim(here, [*map(str, range(n + 2))], of=of))

    def count(what: str, *parts: By) -> None:
        dims.append(Dim(what, [*map(str, range(many + 1))], of=Sum(*parts)))

    count("sorted", *(By(name, [0, 1, 1, 1]) for name in cards))
    count("right", *(By(f"card{n}", np.eye(4)[f.bin + 1]) for n, f in enumerate(deck.faces)))
    for n in range(many):
        above = (By(f"card{m} card{n}", _above(m < n, beside)) for m in range(many) if m != n)
        count(f"row{n}", By(f"card{n}", [0] * 4), *above)
    for b in range(3):
        below = [0, *(other < b and not beside for other in range(3))]
        count(f"rows{b}", *(By(name, below) for name in cards))
        count(f"held{b}", *(By(name, np.eye(4)[b + 1]) for name in cards))
    return dims


def _above(first: bool, beside: bool) -> np.ndarray:
    """Whether a card lies above another, by the bins of both; ``first``: it comes first."""
    theirs, mine = np.indices((4, 4))
    above: np.ndarray = first * (theirs == mine) + (theirs < mine) * (not beside)
    return np.where((theirs > 0) & (mine > 0), above, 0)


class _Table:
    """A deck on a sheet of one width."""

    def __init__(self, deck: Deck, wide: float) -> None:
        self.deck, self.wide, self.many = deck, wide, len(deck.faces)
        self.beside = wide > NARROW
        self.across = (wide - 2 * GAP) / 3 if self.beside else wide
        self.room = self.across - 2 * 8
        right, down = (self.across + GAP, 0) if self.beside else (0, HEAD + GAP)
        self.corners = [(b * right, DECK + GAP + b * down) for b in range(3)]
        self.rows = ROW * np.arange(self.many + 1.0)  # pixels of so many covered cards
        self.bins = np.array([face.bin for face in deck.faces])
        self.texts = [[self._lines(n, at) for at in range(-1, 3)] for n in range(self.many)]
        if not self.beside or max(self._sizes()) > MOST:
            self.texts = [[[]] * 4] * self.many
        self.own = self._sizes()
        most = max(self.own) if self.beside else sum(self.own)
        self.foot = self.corners[2][1] + HEAD + max(ROW * self.many, most) + 8
        self.scene = Scene(wide, self.foot + 4, _dims(deck, self.beside))
        self.open = By("covered top", [[*[1] * self.many, 0], [0] * (self.many + 1)])

    def _lines(self, n: int, at: int) -> list[str]:
        """The lines of the card n below its name, uncovered, if it was put into the bin ``at``."""
        lines = [""]
        for word in _whole(self.deck.why(n, at)).split(" "):
            longer = f"{lines[-1]} {word}".lstrip()
            lines = (
                [*lines, word]
                if labels.width(longer, LETTERS) > self.room - 20
                else [*lines[:-1], longer]
            )
        return lines

    def _sizes(self) -> list[int]:
        """Pixels of the cards that belong into each bin, uncovered."""
        lines = np.array([max(map(len, each)) for each in self.texts])
        self.tall = CARD + LINE * lines + 2 * (lines > 0)
        return [int((self.tall + ROW - CARD)[self.bins == b].sum()) for b in range(3)]

    def before(self, b: int, n: int = 0) -> int:
        """Pixels of the uncovered cards above the bin ``b``, and of those in it before ``n``."""
        above = 0 if self.beside else sum(self.own[:b])
        return above + int((self.tall + ROW - CARD)[:n][self.bins[:n] == b].sum())

    def down(self, top: float, uncovered: float) -> list[np.ndarray]:
        """Pixels below ``top``, covered of each number of cards, and uncovered."""
        return [top + self.rows, np.full_like(self.rows, top + uncovered)]

    def bin(self, b: int, right: float, down: float) -> tuple[float, By]:
        """A place in a bin, from its upper left corner: x and y."""
        x, y = self.corners[b]
        return x + right, By(f"covered rows{b}", self.down(y + down, self.before(b)))

    def high(self, b: int) -> Number:
        """The height of a bin: beside each other that of all cards, else of those in it."""
        if self.beside:
            return self.foot - self.corners[b][1]
        return By(f"covered held{b}", self.down(HEAD + 4, self.own[b]))

    def card(self, n: int, right: float, down: float) -> tuple[By, By]:
        """A place on the card n, from its upper left corner: x and y."""
        home, xs = self.deck.faces[n].bin, [x + 8 + right for x, _ in self.corners]
        tops = [y + HEAD + down for _, y in self.corners]
        belongs = np.full_like(self.rows, tops[home] + self.before(home, n))
        ys = [[self.rows * math.nan, *(top + self.rows for top in tops)], [belongs] * 4]
        across = By(f"covered card{n}", [[math.nan, *xs], [xs[home]] * 4])
        return across, By(f"covered card{n} row{n}", ys)

    def fit(self, words: str) -> str:
        """``words`` without their last parts where a card has no room for them."""
        parts = words.split(", ")
        while len(parts) > 1 and labels.width(", ".join(parts), LETTERS) > self.room - 20:
            parts.pop()
        return ", ".join(parts)


def cards_scene(deck: Deck, wide: float) -> Scene:
    """The scene of a deck on a sheet ``wide`` pixels wide."""
    table = _Table(deck, wide)
    scene = table.scene
    _top(table)
    for b in range(3):
        _bin(table, b)
    for n, short in enumerate(deck.shortest):
        _card(table, n, short)
    _buttons(table)
    scene.note(deck.title, "title", above=True)
    for n in range(table.many):
        if not table.texts[n][0]:
            why = [_whole(f"{deck.faces[n].name}: {deck.why(n, at)}") for at in range(-1, 3)]
            scene.note(By(f"covered card{n}", [[""] * 4, why]), "fact")
    scene.note(By("covered", ["", deck.origin]), "origin")
    ask = [f"{face.name}: which one decides how long it takes? Tap a bin, or click here and press "
           "1, 2 or 3. A tap on a placed card takes it back." for face in deck.faces]  # fmt: skip
    ask.append("All cards are placed: see what the model says. A tap on a card takes it back.")
    each = range(table.many + 1)
    head = By("sorted right", [[deck.head(some, right) for right in each] for some in each])
    shown = By("covered", ["{ask}", "{head}"])
    scene.says = Fill(shown, ask=By("top", ask), head=head)
    scene.classes["done"] = By("covered", [0, 1])
    return scene


def _top(table: _Table) -> None:
    """The deck: the card on top, then the score."""
    scene, many, each = table.scene, table.many, range(table.many + 1)
    seen = By("covered sorted", [[1.0] * (many + 1), [0, *[0.4] * many]])  # a score has a frame
    scene.rect(1, 1, table.wide - 2, DECK - 2, None, ink="key", width=2, radius=10, opacity=seen,
               name="deck")  # fmt: skip
    counts = [*(f"card {n} of {many}" for n in range(1, many + 1)), "all placed"]
    size = 20 if table.beside else 15
    faces = [*(face.name for face in table.deck.faces), ""]
    none, shut = [""] * (many + 1), By("covered", [1, 0])
    scene.text(14, 21, By("covered top", [counts, none]), "soft", size=14, name="count")
    scene.text(14, 45, By("top", faces), size=size, bold=True, opacity=shut, name="top")
    score = [[f"{hits} of {some}" if some else "" for hits in each] for some in each]
    scene.text(14, 36, By("sorted right", score), size=20, bold=True,
               opacity=By("covered", [0, 1]), name="score")  # fmt: skip


def _bin(table: _Table, b: int) -> None:
    """A bin: a frame that takes the card on top, its name and its key."""
    scene, deck, wide = table.scene, table.deck, table.across
    frame = scene.rect(*table.bin(b, 1, 0), wide - 2, table.high(b), None, ink="soft", radius=10,
                       name="bin")  # fmt: skip
    scene.text(*table.bin(b, 14, 26), deck.bins[b], INKS[b], size=16, bold=True, name="bin-name")
    shut, key = By("covered", [1, 0]), str(b + 1)
    scene.rect(*table.bin(b, wide - 34, 9), 22, 22, None, ink="soft", opacity=shut)
    scene.text(*table.bin(b, wide - 23, 25), key, size=14, anchor="middle", opacity=shut,
               name="key")  # fmt: skip
    said = [*(f"{face.name}: {deck.bins[b]}." for face in deck.faces), ""]
    scene.press(frame, _move(table.many, "top", 0, b + 1), f"{deck.bins[b]}, key {key}",
                enabled=table.open, key=key, says=By("top", said))  # fmt: skip


def _move(many: int, dim: str, first: int, stop: int) -> dict[str, By]:
    """What brings to ``stop`` the card that ``dim`` stands at, counted from ``first``."""
    here, stays = np.arange(many + 1)[:, None], np.arange(4)
    return {name: By(f"{dim} {name}", np.where(here == n + first, stop, stays))
            for n, name in enumerate(names(many))}  # fmt: skip


def _card(table: _Table, n: int, short: str) -> None:
    """A card that was put into a bin: a tap takes it back; at the end it says how right it lies."""
    scene, deck, face = table.scene, table.deck, table.deck.faces[n]
    own, shut = f"covered card{n}", By("covered", [1, 0])
    inks = [["soft"] * 4, [INKS[at] for at in (face.bin, *range(3))]]
    frame = scene.rect(*table.card(n, 0, 0), table.room, By("covered", [CARD, table.tall[n]]),
                       "paper", ink=By(own, inks), width=2, radius=7, name="card")  # fmt: skip
    signed = [table.fit(f"{sign(face, at)} {short}") for at in range(-1, 3)]
    scene.text(*table.card(n, 10, 20), By(own, [[table.fit(short)] * 4, signed]), size=LETTERS,
               name="card-name")  # fmt: skip
    for row, each in enumerate(itertools.zip_longest(*table.texts[n], fillvalue=""), 1):
        scene.text(*table.card(n, 10, 20 + LINE * row), By(own, [[""] * 4, each]), "soft",
                   size=LETTERS, name="why")  # fmt: skip
    where = [f"{face.name}: {one}; take it back" for one in ("not placed", *deck.bins)]
    scene.press(frame, {f"card{n}": 0}, By(f"card{n}", where), enabled=shut,
                says=f"Taken back: {face.name}.")  # fmt: skip


def _whole(words: str) -> str:
    """Words in which no line ends between a number and its unit."""
    return re.sub(r"(\d) (?=\S)", "\\1\u00a0", words)


def _buttons(table: _Table) -> None:
    scene, many, none = table.scene, table.many, [0] * (table.many + 1)
    full, some = [*[0] * many, 1], [0, *[1] * many]
    scene.button("what the model says", {"covered": 1}, shown=By("covered top", [full, none]),
                 kind="confirm mine-is", key="Enter")  # fmt: skip
    scene.button("skip: show me", {"covered": 1}, shown=table.open, kind="skip")
    scene.button("take the last one back", _move(many, "back", 1, 0),
                 shown=By("covered back", [some, none]), kind="back", key="Backspace")  # fmt: skip
