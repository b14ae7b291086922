"""``rl.sort``: operations to sort into memory, compute and overhead before they are measured.

A card belongs where ``rl.predict``, a model, puts it on this very machine; the measured time stands
beside it, and says so where it disagrees.
A sorting is kept like a guess: the first one counts, and without one the truth stays covered.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy import base_repr

from rooflab.count.operation import Operation
from rooflab.count.si import percent, si, times
from rooflab.count.validation import unknown
from rooflab.exercises.guesses import store
from rooflab.measure.measurement import Measurement
from rooflab.optional import installed
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.estimate import CACHES, Prediction, mix_of, peak_of, predict
from rooflab.predict.machine import Machine

if TYPE_CHECKING:
    from rooflab.show.sort_cards import Face, SortCards

# The truth of a card to sort: what limits its operation according to the model, and the clock.
#
# ``rl.predict`` decides the bin; what was measured stands beside it. A part that the model states
# is never left standing as if it were clearly larger than the whole that the clock saw.


ASTRAY = 2.0  # a measured time this many times beside the estimate, or the limit alone, is said
NOISE = 1.1  # two times of which one is longer by less do not contradict each other

# Where a part of the model is longer than the whole that was measured.
_DOUBTS = {
    "overhead": "the usual call was timed in a busier moment.",
    "memory": "the bandwidth was measured in a busier moment, or a nearer cache held some of it.",
    "compute": "the library computes on a faster unit than the one whose peak was measured, or "
    "that was in a busier moment.",
}

#: An operation, "cold" or "warm", and its measurement if there is one.
Thing = tuple[Operation, str, Measurement | None]


def where(things: Sequence[Thing], machine: Machine | str | None) -> Machine:
    """The machine whose limits count; this computer is measured only if it has to be."""
    if machine is not None:
        return _machine(machine)
    from rooflab.measure.backend import host_id
    from rooflab.measure.this_machine import machine_of, stored_machine, this_machine

    seen = [m for _, _, m in things if m is not None]
    if not seen:
        return stored_machine() or this_machine()
    found = machine_of(seen)
    if found is None and {(m.machine, m.backend) for m in seen} == {(host_id(), "cpu")}:
        found = this_machine("cpu", seen[0].threads)
    if found is None:
        raise ValueError(f"machine=None: the roofs of {seen[0].machine} are unknown; pass machine=")
    return found


def name(op: Operation, cache: str) -> str:
    """What stands on a card: ``GEMM 32×32×32, fp32, warm``."""
    from rooflab.show import captions

    return f"{captions.short(op)}, {op.compute_dtype}, {cache}"


def card(op: Operation, cache: str, seen: Measurement | None, m: Machine) -> Face:
    """The card of an operation: its limit on the machine ``m``, the time it took, and why."""
    from rooflab.show.sort_cards import Face

    estimate = predict(op, m, cache=cache)
    limit = BINS.index(estimate.limit.partition(":")[0])
    if seen is None:
        fact = f"predicted {si(estimate.seconds, 's')}, {si(op.flops / estimate.seconds, 'FLOP/s')}"
    else:
        fact = f"measured {si(seen.median_s, 's')}, {si(seen.flop_per_s, 'FLOP/s')}"
        fact += "".join(f", ⚠ {text.partition(':')[0]}" for text in seen.warnings)
    return Face(name(op, cache), limit, fact, _reason(op, m, estimate, seen))


def _reason(op: Operation, m: Machine, estimate: Prediction, seen: Measurement | None) -> str:
    """Why the limit is what it is, in the times that compete."""
    from rooflab.show.captions import level_word

    peak = peak_of(op, m)[0]
    bandwidth = m.bandwidth(estimate.level, mix_of(op, m, estimate.level))
    computing, carrying = op.flops / peak, op.bytes_at(estimate.level) / bandwidth
    stages = {stage.name: stage.seconds for stage in estimate.terms}
    call = stages["call overhead"] - stages["level and mix"]
    place = level_word(estimate.level).replace("The", "the").replace("Memory", "memory")
    work = max(computing, carrying)
    if estimate.limit == "overhead":
        part, text = call, f"The call alone costs {si(call, 's')}, the work {si(work, 's')}."
    elif estimate.limit != "compute":
        part = carrying
        text = (
            f"Carrying {si(op.bytes, 'B')} from {place} takes {si(carrying, 's')}, "
            f"computing {si(computing, 's')}."
        )
    elif computing >= carrying:
        part = computing
        text = (
            f"Computing {si(op.flops, 'FLOP')} takes {si(computing, 's')}, "
            f"carrying from {place} {si(carrying, 's')}."
        )
    else:
        part, share = estimate.seconds - call, percent(computing / (estimate.seconds - call))
        text = f"The routine reaches {share} of the peak on this shape: slower than the carrying."
    return text + _beside(estimate, part, seen)


def _beside(estimate: Prediction, part: float, seen: Measurement | None) -> str:
    """What the clock says: ``part`` alone is longer or far shorter, or the estimate is off."""
    if seen is None:
        return ""
    whole = si(seen.median_s, "s")
    if part > NOISE * seen.median_s:
        return f" But all of it took only {whole} here: {_DOUBTS[estimate.limit.partition(':')[0]]}"
    ratio = seen.median_s / estimate.seconds
    if ratio >= ASTRAY:
        return (
            f" But the clock says {whole}, {times(ratio, 2)} what is predicted here, and nothing "
            "that was measured explains it: measure again, with nothing else running."
        )
    if ratio <= 1 / ASTRAY:
        return f" Measured {times(1 / ratio, 2)} shorter than predicted."
    if seen.median_s > ASTRAY * part:
        return (
            f" But the clock says {whole}, {times(seen.median_s / part, 2)} that: none of the "
            "three alone, but the routine."
        )
    return ""


BINS = ("memory", "compute", "overhead")
MOST = 20  # cards; their places are kept in one number, two bits a card


@dataclass(frozen=True)
class _Kept:
    """Where the sorting ``id`` of the cards ``names`` is kept."""

    id: str
    names: tuple[str, ...]

    @property
    def key(self) -> str:
        """Other cards are another question: a check sum of theirs belongs to the name."""
        return f"{self.id}.{zlib.crc32('|'.join(self.names).encode()):08x}"

    def recall(self) -> tuple[list[int] | None, bool]:
        """The first complete sorting, and whether the truth was looked at without one."""
        mine = [record for record in store().records() if record.id == self.key]
        sorted_ = [record.value for record in mine if record.what == "guess"]
        placed = _unpacked(sorted_[0], len(self.names)) if sorted_ else None
        return placed, any(record.what == "shown" for record in mine)

    def record(self, placed: Sequence[int]) -> None:
        """Keep a complete sorting; the same again adds nothing."""
        if self.recall()[0] != list(placed):
            store().add(self.key, "guess", float(_packed(placed)))

    def look(self) -> None:
        """Keep that the truth was shown without a sorting."""
        if not self.recall()[1]:
            store().add(self.key, "shown")


@installed("rooflab.sort")
def sort(
    id: str,
    measurements: Iterable[Measurement | Operation | tuple[Operation, str]],
    answers: object = None,
    *,
    machine: Machine | str | None = None,
) -> SortCards:
    """Return the cards of ``measurements``, shuffled, to sort into memory, compute and overhead.

    The truth is covered until every card lies in a bin.

    Parameters
    ----------
    id : str
        Name of the sorting, such as "03-ten". It decides the order of the cards.
    measurements : iterable of Measurement, Operation or (Operation, str)
        What ``rl.measure`` returned, or operations, alone (cold) or as (operation, "warm"); those
        come with the predicted time. One to 20, each given once.
    answers : list, mapping or str, optional
        Sorts without a mouse: a bin for each card, in the order in which they are printed, or
        {card: bin}; the first letter of a bin will do, and ``...`` leaves a card unplaced. None
        leaves the sorting to the mouse.
    machine : Machine or str, optional
        Whose limits count; None takes the machine of the measurements.

    Returns
    -------
    SortCards
        A widget; its ``score`` counts the cards that lie where the model puts them.

    Examples
    --------
    >>> ops = [rl.axpy(100_000_000), rl.gemm(4096, 4096, 4096)]
    >>> rl.sort("demo", ops, machine="H100-SXM")
    2 operations: what decides how long each takes?
       1  GEMM 4096×4096×4096, fp32, cold
       2  AXPY 100 million, fp32, cold
    Covered. Sort them: rl.sort("demo", …, answers=[…]) with memory, compute or overhead for each.
    >>> rl.sort("demo", ops, ["compute", "memory"], machine="H100-SXM").score
    '2 of 2'
    """
    from rooflab.show import captions
    from rooflab.show.sort_cards import Deck, SortCards

    if not isinstance(id, str) or not id.strip():
        raise TypeError(f"id={id!r} must be a text such as '03-ten'")
    things = _things(measurements)
    home = where(things, machine)
    deck = shuffled(id, [card(op, cache, seen, home) for op, cache, seen in things])
    placed = _answers(answers, deck)
    names = tuple(each.name for each in deck)
    title = f"{len(deck)} operations: what decides how long each takes?"
    how = f'Sort them: rl.sort("{id}", …, answers=[…]) with memory, compute or overhead for each.'
    own = id.strip().lower()
    asked = Deck(tuple(deck), title, BINS, captions.origin(home), how)
    cards = SortCards(asked, _Kept(own, names), f"sort-{own}")
    if placed is not None:
        cards.covered = True
        cards.placed = placed
        cards.covered = -1 in placed
    return cards


def shuffled(id: str, cards: Sequence[Face]) -> list[Face]:
    """The cards in the order of the question ``id``: the same for everybody, whatever order
    came."""
    ordered = sorted(cards, key=lambda card: card.name)
    return random.Random(id.strip().lower()).sample(ordered, len(ordered))


def _things(measurements: object) -> list[Thing]:
    wanted = "a list of measurements (rl.measure), operations, or (operation, 'warm')"
    if isinstance(measurements, (str, Mapping)) or not isinstance(measurements, Iterable):
        raise TypeError(f"measurements={measurements!r} must be {wanted}")
    found: list[Thing] = []
    for one in measurements:
        if isinstance(one, Measurement):
            found.append((one.op, one.cache, one))
            continue
        op, cache = one if isinstance(one, tuple) and len(one) == 2 else (one, "cold")
        if not isinstance(op, Operation):
            raise TypeError(f"measurements: {one!r} must be in {wanted}")
        if cache not in CACHES:
            raise unknown("measurements: cache", cache, CACHES)
        found.append((op, cache, None))
    if not 1 <= len(found) <= MOST:
        raise ValueError(f"measurements: {len(found)} cards; 1 to {MOST} can be sorted")
    names = [name(op, cache) for op, cache, _ in found]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice:
        raise ValueError(f"measurements: the card {twice!r} is there twice; give it once")
    return found


def _answers(answers: object, deck: Sequence[Face]) -> list[int] | None:
    """A bin for each card of ``deck``, -1 for none; None where there are no answers at all."""
    if answers is None or answers is ...:
        return None
    names = [each.name for each in deck]
    if isinstance(answers, Mapping):
        for key in answers:
            if key not in names:
                raise unknown("answers: the card", key, names)
        return [_bin(answers.get(each, ...)) for each in names]
    if not isinstance(answers, Iterable):
        raise TypeError(f"answers={answers!r} must be a list of bins or a dict of card → bin")
    given = list(answers.split() if isinstance(answers, str) and " " in answers else answers)
    if len(given) != len(deck):
        raise ValueError(f"answers has {len(given)} bins; there are {len(deck)} cards")
    return [_bin(each) for each in given]


def _bin(value: object) -> int:
    if value is ... or value is None:
        return -1
    word = str(value).strip().lower()
    found = [i for i, known in enumerate(BINS) if word and known.startswith(word)]
    if len(found) != 1:
        raise unknown("answers: the bin", value, BINS)
    return found[0]


def _packed(placed: Sequence[int]) -> int:
    """One number for a complete sorting: two bits a card, and a leading one."""
    return int("1" + "".join(map(str, placed)), 4)


def _unpacked(value: float, count: int) -> list[int] | None:
    """Inverse of :func:`_packed`; None for a number that no sorting of ``count`` cards has."""
    one, *placed = map(int, base_repr(max(0, int(value)), 4))  # none is negative
    sound = one == 1 and len(placed) == count and max(placed, default=0) < len(BINS)
    return placed if sound else None
