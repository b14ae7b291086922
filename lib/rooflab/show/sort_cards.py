"""Cards to sort into three bins, in the browser: what limits an operation, before it is measured.

One tap or one key puts the card on top into a bin; another takes it back. When all cards lie, a
button uncovers what the model says, and beside it what the clock said. Everything is prepared here
and covered in the page, so that it works without a kernel; with one, the sorting also reaches
``store``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import anywidget
import traitlets
from matplotlib import rc_context

from rooflab.show import canvas, theme

WIDTH = 720


@dataclass(frozen=True)
class Face:
    """What stands on a card: its ``name``; covered, the ``bin`` it belongs to, fact and reason."""

    name: str
    bin: int
    fact: str
    reason: str


class SortStore(Protocol):
    """Where a sorting is kept."""

    def recall(self) -> tuple[list[int] | None, bool]:
        """The places of the cards in the bins (None: not sorted yet), and whether they were
        shown."""
        ...

    def record(self, placed: Sequence[int]) -> None: ...
    def look(self) -> None: ...


class SortCards(anywidget.AnyWidget):
    """The cards, the bins and the covered truth. ``placed``: a bin for each card, -1 for none."""

    _esm = canvas.source("overlay.js", "reading.js", "sort_cards.js")
    _css = canvas.source("overlay.css", "sort_cards.css")
    title = traitlets.Unicode().tag(sync=True)
    bins = traitlets.List(traitlets.Unicode()).tag(sync=True)
    cards = traitlets.List(traitlets.Dict()).tag(sync=True)
    placed = traitlets.List(traitlets.Int()).tag(sync=True)
    covered = traitlets.Bool(True).tag(sync=True)
    origin = traitlets.Unicode().tag(sync=True)

    def __init__(
        self, faces: Sequence[Face], store: SortStore | None, how: str, **traits: Any
    ) -> None:
        self.faces, self.store, self.how = tuple(faces), store, how
        placed, shown = store.recall() if store is not None else (None, False)
        super().__init__(
            cards=[vars(face) for face in faces],
            placed=list(placed or [-1] * len(faces)),
            covered=placed is None and not shown,
            **traits,
        )
        self.observe(self._tell, "covered")

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

    def cover(self) -> None:
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
            self, SortCards, lambda one: [one.how, *(face.name for face in one.faces)]
        ):
            twin.placed, twin.covered = self.placed, self.covered

    @property
    def text(self) -> str:
        """The cards as text: the question while they are covered, then a line or two for each."""
        rows = [f"{n:>4}  {face.name}" for n, face in enumerate(self.faces, 1)]
        if self.covered:
            return "\n".join([self.title, *rows, f"Covered. {self.how}"])
        return "\n".join([*self._told(), self.origin])

    @property
    def head(self) -> str:
        """How many of the sorted cards lie right; it says so if none was sorted."""
        sorted_ = sum(at >= 0 for at in self.placed)
        if not sorted_:
            return "Shown without a sorting."
        whose = f"the {sorted_} sorted" if sorted_ < len(self.faces) else f"{sorted_}"
        return f"{self.right} of {whose} lie where the model puts them."

    def _told(self) -> list[str]:
        """The truth: a line or two for each card, with a mark for each that was sorted."""
        marks = [
            "·" if at < 0 else "✓" if at == face.bin else "✗"
            for at, face in zip(self.placed, self.faces, strict=True)
        ]
        lines = [self.head]
        for mark, at, face in zip(marks, self.placed, self.faces, strict=True):
            mine = f" (you said {self.bins[at]})" if mark == "✗" else ""
            lines += [f"{mark} {face.name}: {self.bins[face.bin]}{mine}. {face.fact}."]
            lines += [f"    {face.reason}"]
        return lines

    def __repr__(self) -> str:
        return self.text

    def still(self) -> bytes:
        """One PNG: the cards with what is uncovered of them."""
        return self._drawn(self.text.splitlines())

    def _drawn(self, lines: Sequence[str]) -> bytes:
        with rc_context(theme.RC):
            height = 24 + 24 * sum(1 + len(line) // 82 for line in lines)
            figure, axes = canvas.empty_axes(WIDTH, height, (0, 0, 0, 0))
            axes.set(xlim=(0, WIDTH), ylim=(height, 0))
            axes.axis("off")
            y = 24
            for row, line in enumerate(lines):
                for part in _wrapped(line, 82):
                    weight = "bold" if row == 0 else "normal"
                    axes.text(12, y, part, weight=weight, va="baseline", size=theme.SMALL)
                    y += 24
            return canvas.png(figure, transparent=False)

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        live = super()._repr_mimebundle_(**kwargs)
        told = [*self._told(), self.origin] if self.covered else []
        under = (self._drawn(told), "\n".join(told)) if told else None
        return canvas.mimebundle(live, self.still(), self.text, under)


def _wrapped(line: str, most: int) -> list[str]:
    import textwrap

    lead = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, most, initial_indent="", subsequent_indent=lead + "    ") or [""]
