"""A search as a staircase: the schedules that were clearly faster than all before, and the moves
that led to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from rooflab.count.si import plain, si
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.nest import Step
from rooflab.labs.search.schedules.result import Candidate, Search

CLEARLY = 1.05  # times: what is not so much faster than the step before is no step, but noise
ORDINALS = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True)
class Replay:
    """A search, measurement by measurement; a candidate is named by its place in ``tried``."""

    found: Search

    @property
    def tried(self) -> Sequence[Candidate]:
        """What was measured, in order."""
        return self.found.measured

    @cached_property
    def rates(self) -> list[float]:
        """FLOP/s of each candidate as it was measured in its turn."""
        return [self.found.flops / (one.measured or math.nan) for one in self.tried]

    @cached_property
    def promised(self) -> list[float]:
        """FLOP/s of each candidate as predicted, nan for one without a prediction."""
        return [self.found.flops / (one.predicted or math.nan) for one in self.tried]

    @cached_property
    def steps(self) -> list[int]:
        """The candidate at the start, and each that was clearly faster than the step before."""
        found = [0]
        for place, rate in enumerate(self.rates):
            if rate > CLEARLY * self.rates[found[-1]]:
                found.append(place)
        return found

    @cached_property
    def winner(self) -> int:
        """The fastest: whole runs at the end have decided, if there were any."""
        return self.tried.index(self.found.winner)

    def gain(self, number: int) -> float:
        """How many times faster a step is than the one before."""
        before, after = (self.rates[self.steps[at]] for at in (max(0, number - 1), number))
        return after / before

    def move(self, place: int) -> str:
        """The move that made a candidate of another one, in few words."""
        log = self.tried[place].log
        known = {one.log for one in self.tried}
        start = next((n for n in range(len(log) - 1, 0, -1) if log[:n] in known), 0)
        return self._words(log[start:]) if log else "as written"

    def _words(self, steps: Sequence[Step]) -> str:
        """Transformations that were made at once, as one move."""
        made = dict(steps)
        if "split" not in made:
            name, arguments = steps[-1]
            if name == "interchange":
                return "swap {} and {}".format(*arguments)
            return f"{name} {', '.join(map(str, arguments))}"
        loop, size = made["split"]
        if "vectorize" in made:
            return f"{size} lanes of {self.dim(loop)}"
        if "unroll" in made:
            return f"unroll {self.dim(loop)} by {size}"
        return f"tile of {size} in {self.dim(loop)}"

    def dim(self, loop: str) -> str:
        """The dimension that a loop is a part of, by their names: j for joi."""
        return max((one for one in self.found.extents if loop.startswith(one)), key=len)

    def loops(self, number: int) -> list[tuple[str, bool]]:
        """The loops of a step, a line each, with what runs in them; and which lines are new."""
        lines = self._listing(self.steps[number])
        before = self._listing(self.steps[max(0, number - 1)])
        old, bare = ([line.strip() for line in every] for every in (before, lines))
        blocks = SequenceMatcher(None, old, bare, autojunk=False).get_matching_blocks()
        stay = {at for _, start, size in blocks for at in range(start, start + size)}
        return [(line, at not in stay) for at, line in enumerate(lines)]

    def _listing(self, place: int) -> list[str]:
        nest, lines = self.found.start.replay(self.tried[place].log), list[str]()
        for loop, around in trees.loops(nest.tree):
            lines.append(f"{' ' * len(around)}{loop.kind} {loop.name} in range({loop.extent}):")
        lines.append(f"{' ' * len(lines)}{self.found.text}")
        return [*lines, *(f"# {name} packed" for name in nest.packed)]

    # Words.

    def said(self, number: int) -> str:
        """A step, what it gained, and at the end what whole runs have decided."""
        place = self.steps[number]
        one, rate = self.tried[place], si(self.rates[place], "FLOP/s")
        if not number:
            return f"As written, the loops reach {rate}."
        last = number == len(self.steps) - 1
        told = (
            f"Step {number} of {len(self.steps) - 1}: {self.move(place)}. Schedule {place + 1} of "
            f"{len(self.tried)}, in round {one.round}, reaches {rate}. It is "
            f"{plain(self.gain(number), 3)} times as fast as the step before."
        )
        return f"{told} {self.end}".strip() if last else told

    @property
    def whole(self) -> float:
        """FLOP/s of the winner's whole runs, 0 if there were none."""
        final = self.found.winner.final
        return self.found.flops / final if final else 0.0

    @property
    def end(self) -> str:
        """What whole runs of the fastest schedules have decided, "" if there were none."""
        if not self.whole:
            return ""
        which = "it" if self.winner == self.steps[-1] else f"schedule {self.winner + 1}"
        rate = si(self.whole, "FLOP/s")
        return f"At the end, whole runs of the fastest were compared: {which} wins with {rate}."

    @property
    def hope(self) -> str:
        """At which place of the predictions the fastest was, and what the first one reaches."""
        known = [n for n, rate in enumerate(self.promised) if not math.isnan(rate)]
        order = sorted(known, key=lambda n: -self.promised[n])
        if self.winner not in order:
            return "The fastest had no prediction."
        place = order.index(self.winner)
        if not place:
            return "The fastest was predicted to be the fastest."
        loss = self.tried[order[0]].seconds / self.tried[self.winner].seconds
        least = "about as fast" if loss < CLEARLY else f"slower by a factor of {plain(loss, 3)}"
        return (
            f"The fastest, filled in blue, was the {ordinal(place + 1)} by its prediction. The "
            f"first by prediction is {least}."
        )


def ordinal(number: int) -> str:
    """Format a place in a row: ``"1st"``, ``"12th"``."""
    end = "th" if number % 100 in (11, 12, 13) else ORDINALS.get(number % 10, "th")
    return f"{number}{end}"
