"""Beam search: predict many schedules, measure the most promising, go on from the fastest."""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from rooflab.count.si import si
from rooflab.count.validation import amount, size
from rooflab.labs.loops.code.execution import Array, Bound, Kernel, Team, room
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.legality.points import count as turns_of
from rooflab.labs.loops.nest import Nest, outline
from rooflab.labs.search.schedules.moves import Move
from rooflab.labs.search.schedules.moves import space as usual_moves
from rooflab.labs.search.schedules.prediction import flops, misfit, predicted
from rooflab.labs.search.schedules.result import ENDS, Candidate, Search, fastest
from rooflab.measure.progress import Progress, Tell, progress_bar
from rooflab.measure.roof_kernels import Target, host
from rooflab.measure.roofs import thread_count
from rooflab.measure.settings import briefer
from rooflab.measure.timing import MEASUREMENT_LOCK, quickest, undisturbed
from rooflab.optional import installed

if TYPE_CHECKING:
    from rooflab.predict.machine import Machine

GEMM = "C[i,j] += A[i,k]*B[k,j]"
EACH = 3  # times the width: schedules of a round that are measured
BETTER = 0.995  # of the time of the round before: less is no gain
IDLE = 2  # rounds without a gain end a search
FINAL = 5  # whole runs of each of the fastest schedules at the end
FINAL_SHARE = 0.05  # of the time, kept for them
SLICE_S = 3e-3  # a slice of the outermost loop runs at least so long
SLICES = 7  # of a schedule that may be the best
PROMISING = 2.5  # times the best so far: slower than that is timed once
Score = Callable[[Nest], float]
Clock = Callable[[], float]


@installed("rooflab.search.search")
def search(
    nest: Nest | int,
    threads: int = 1,
    *,
    seconds: float = 60.0,
    width: int = 4,
    space: Sequence[Move] | None = None,
    score: Score | None = None,
    measure: Score | None = None,
    machine: Machine | None = None,
    progress: Progress = True,
    seed: int = 0,
    clock: Clock = time.perf_counter,
) -> Search:
    """Look for a fast schedule of a loop nest.

    Each round applies all moves to the ``width`` fastest schedules. What comes out is ranked by
    a predicted score. The first of the ranking are checked for legality, compiled and measured, and
    the measured time decides. The search ends when two rounds bring no gain or the time is up.
    Control-C ends it too, and what was found by then is returned.

    Parameters
    ----------
    nest : Nest or int
        The nest as written, or N for a product of N×N matrices of fp32.
    threads : int, default 1
        Threads among which a schedule may share its outermost loop.
    seconds : float, default 60
        The time for this call. Measuring the machine's roofs, once, comes on top, and so does the
        check of the winner, see Notes.
    width : int, default 4
        How many schedules each round goes on from.
    space : sequence of functions, optional
        The moves, by default ``rl.search.space(threads)``. A move takes a nest and yields nests.
    score : function, optional
        Seconds, or any number that is to be small, for a nest; it ranks the candidates. By default
        the byte ledger of the schedule at the machine's roofs.
    measure : function, optional
        What decides, by default the seconds that the compiled nest takes. Packing counts. What
        another function returns has a unit of its own, so that there are no FLOP/s of it.
    machine : Machine, optional
        Whose roofs are used, by default this machine's.
    progress : bool or callable, default True
        True draws a progress bar. A function is called with the share done, 0 to 1.
    seed : int, default 0
        For the order of schedules that are predicted alike.
    clock : function, optional
        Tells the time in seconds.

    Returns
    -------
    Search
        The best schedule and every candidate, those that were not measured with the reason.

    Notes
    -----
    What the clock has chosen is run once more beside the nest as it was written, on random numbers.
    A schedule with another result is refused, and the next one takes its place. Only where the nest
    as written would take longer than ``seconds`` is it left out.

    References
    ----------
    .. [1] A. Adams et al., "Learning to optimize Halide with tree search and random programs",
       ACM Transactions on Graphics 38(4), 2019: beam search over schedules with a predicted score.

    Examples
    --------
    >>> found = rl.search.search(64, seconds=2, progress=False)
    >>> found.flops_per_s > found.rate(found.naive)
    True
    """
    start = _start(nest)
    count, beam, dice = size("threads", threads), size("width", width), size("seed", seed, 0)
    if measure is None:
        thread_count(count)
    budget, moves = _budget(seconds), _moves(space, count)
    if score is None and machine is None:
        machine = _roofs(count, progress)
    with Team(count) as team, progress_bar(progress, "search") as tell, MEASUREMENT_LOCK:
        arrays = None if measure else _operands(start)
        rules = _Rules(start, moves, beam, score, machine, measure, arrays, team, host())
        running = _Beam(rules, random.Random(dice), clock, budget, tell)
        ended = running.run()
    return Search(
        _text(start), start.extents, start.shapes, start.order, count, beam, flops(start),
        tuple(running.candidates), ended, machine.name if machine else "", measure is None,
    )  # fmt: skip


def _start(nest: object) -> Nest:
    """The nest that a search begins with: a legal one, or a product of the size that is given."""
    if isinstance(nest, Nest):
        legal = nest.check()
        if not legal:
            raise ValueError(f"nest: its schedule is not legal. {legal.why}")
        return nest
    if not isinstance(nest, (int, np.integer)):
        raise TypeError(f"nest={nest!r} must be a Nest, or N for a product of N×N matrices")
    n = size("nest", nest)
    return Nest({"i": n, "j": n, "k": n}, GEMM)


def _budget(seconds: object) -> float:
    return briefer(amount("seconds", seconds, "a positive number of seconds: the time to measure"))


def _moves(space: object, threads: int) -> tuple[Move, ...]:
    if space is None:
        return usual_moves(threads)
    if not isinstance(space, Sequence) or not space or not all(map(callable, space)):
        raise TypeError(f"space={space!r} must be moves: functions of a nest that yield nests")
    return tuple(space)


def _name_of(function: Callable[..., object]) -> str:
    """What a move or a score is called: a function by its name, an object by its class."""
    return getattr(function, "__name__", type(function).__name__)


def _roofs(threads: int, progress: Progress) -> Machine:
    from rooflab.measure.this_machine import this_machine

    return this_machine("cpu", threads, progress=progress)


def _operands(nest: Nest) -> dict[str, Array]:
    """Random numbers in arrays that begin at a cache line."""
    dice, found = np.random.default_rng(0), {}
    for name, shape in nest.shapes.items():
        found[name] = room(shape)
        found[name][...] = dice.random(shape, np.float32)
    return found


@dataclass(frozen=True)
class _Rules:
    """What a search is asked for, and its two scores."""

    start: Nest
    moves: tuple[Move, ...]
    width: int
    score: Score | None
    machine: Machine | None
    measure: Score | None
    arrays: dict[str, Array] | None
    team: Team
    target: Target

    def predicted(self, nest: Nest) -> tuple[float | None, dict[str, float]]:
        """The score that ranks, and the bytes that it counted; None for no affine schedule."""
        if self.score is not None or self.machine is None:
            return float(self.score(nest)) if self.score else None, {}
        try:
            found = predicted(nest, self.machine, self.target)
        except ValueError:
            return None, {}
        return found.seconds, dict(found.bytes)

    def bound(self, nest: Nest) -> Bound:
        """A schedule on the arrays of this search."""
        return Kernel(nest).bind(self.arrays or {}, self.team)

    def measured(self, nest: Nest, best: float, clock: Clock) -> float:
        """The score that decides."""
        if self.measure is not None:
            return float(self.measure(nest))
        with undisturbed():
            return sliced(self.bound(nest), best, clock)

    def results(self, nest: Nest) -> dict[str, Array]:
        """What a schedule leaves in the arrays that it writes, from the same random numbers."""
        arrays = _operands(self.start)
        Kernel(nest).bind(arrays, self.team)()
        return {name: arrays[name] for name in nest.written}

    def moved(self, nest: Nest) -> Iterator[Nest]:
        """What all moves make of a schedule."""
        for move in self.moves:
            for made in move(nest):
                if not isinstance(made, Nest):
                    raise TypeError(f"space: the move {_name_of(move)} yields {made!r}, no Nest")
                yield made


class _TimeUp(Exception):
    """The time of a search is spent."""


@dataclass
class _Beam:
    """One search while it runs."""

    rules: _Rules
    dice: random.Random
    clock: Clock
    seconds: float
    tell: Tell
    candidates: list[Candidate] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    began: float = 0.0
    best: float = math.inf

    def run(self) -> str:
        """Search; the answer is why it ended."""
        self.began = self.clock()
        start = self.rules.start
        self.seen.add(identity(start))
        first = self.decided(start, 0, *self.rules.predicted(start), may_stop=False)
        self.candidates.append(first)
        if first.measured is None:
            raise ValueError(f"nest: {first.why}")
        beam = [(first.measured, start)]
        try:
            ended = self.rounds(beam)
        except _TimeUp:
            ended = ENDS[1]
        except KeyboardInterrupt:
            ended = ENDS[2]
        if ended != ENDS[2]:
            with suppress(KeyboardInterrupt):
                self.finals()
        self.confirm()
        return ended

    def rounds(self, beam: list[tuple[float, Nest]]) -> str:
        """Round after round, until two of them bring no gain or one nothing new."""
        idle = 0
        for number in itertools.count(1):
            before, found = beam[0][0], self.round(beam, number)
            beam = sorted([*beam, *found], key=itemgetter(0))[: self.rules.width]
            idle = idle + 1 if beam[0][0] > BETTER * before else 0
            if idle == IDLE or not found:
                break
        return ENDS[0]

    def round(self, beam: list[tuple[float, Nest]], number: int) -> list[tuple[float, Nest]]:
        """One round: new schedules, ranked, and the first of them measured."""
        ranked = self.ranked(beam, number)
        found: list[tuple[float, Nest]] = []
        most = EACH * self.rules.width
        for nest, score, amounts in ranked:
            if len(found) >= most:
                why = f"predicted slower than {most} others"
                self.candidates.append(
                    Candidate(nest.log, number, score, None, amounts, self.spent(), why)
                )
                continue
            candidate = self.decided(nest, number, score, amounts)
            self.candidates.append(candidate)
            if candidate.measured is not None:
                found.append((candidate.measured, nest))
        return found

    def ranked(
        self, beam: list[tuple[float, Nest]], number: int
    ) -> list[tuple[Nest, float | None, dict[str, float]]]:
        """New schedules with their predictions, the most promising first."""
        fresh = []
        for _, nest in beam:
            for made in self.rules.moved(nest):
                name = identity(made)
                if name not in self.seen:
                    self.seen.add(name)
                    fresh.append(made)
        self.dice.shuffle(fresh)
        ranked = []
        for made in fresh:
            self.wait()
            why = _misfit(made, self.rules.target)
            if why:
                self.candidates.append(Candidate(made.log, number, at_s=self.spent(), why=why))
            else:
                ranked.append((made, *self.rules.predicted(made)))
        return sorted(ranked, key=lambda one: math.inf if one[1] is None else one[1])

    def decided(
        self, nest: Nest, number: int, score: float | None, amounts: dict[str, float],
        may_stop: bool = True,
    ) -> Candidate:  # fmt: skip
        """A schedule, measured or refused."""
        if may_stop:
            self.wait()
        verdict = nest.check()
        found = Candidate(nest.log, number, score, None, amounts, self.spent(), verdict.why)
        if verdict:
            try:
                measured = self.rules.measured(nest, self.best, self.clock)
            except ValueError as error:  # marks that no code can follow
                return replace(found, why=str(error))
            self.best = min(self.best, measured)
            found = replace(found, measured=measured, at_s=self.spent(), why="")
        return found

    def spent(self) -> float:
        """Seconds of this search so far."""
        return self.clock() - self.began

    def wait(self) -> None:
        """Tell how far the search is. Raises _TimeUp at its end."""
        share = (self.clock() - self.began) / self.seconds
        if share >= 1 - FINAL_SHARE:
            raise _TimeUp
        clocked = self.rules.measure is None
        self.tell(share, si(flops(self.rules.start) / self.best, "FLOP/s") if clocked else "")

    def finals(self) -> None:
        """Whole runs of the fastest schedules in turn: a slice of one may have been lucky."""
        if self.rules.measure is not None:
            return
        measured = [one for one in self.candidates if one.measured is not None]
        last = sorted(measured, key=lambda one: one.seconds)[: 2 * self.rules.width]
        if FINAL * sum(one.seconds for one in last) > FINAL_SHARE * self.seconds:
            return
        nests = [self.rules.start.untouched().replay(one.log) for one in last]
        bounds = [self.rules.bound(nest) for nest in nests]
        with undisturbed():
            runs = [[clocked(bound, self.clock) for bound in bounds] for _ in range(FINAL)]
        for one, taken in zip(last, np.median(runs, axis=0)):
            at = self.candidates.index(one)
            self.candidates[at] = replace(one, final=float(taken))

    def confirm(self) -> None:
        """Refuse the fastest for as long as it computes something else than the nest as written."""
        if self.rules.measure is not None:
            return
        start = self.rules.start
        written = start.untouched()
        if sliced(self.rules.bound(written), 0.0, self.clock) > self.seconds:
            return
        wanted = self.rules.results(written)
        while (one := fastest(self.candidates)).log:
            why = difference(self.rules.results(written.replay(one.log)), wanted, turns_of(written))
            if not why:
                return
            if one.log == start.log:
                raise ValueError(f"nest: {why}")
            refused = replace(one, measured=None, final=None, why=why)
            self.candidates[self.candidates.index(one)] = refused


def sliced(bound: Bound, best: float, clock: Clock) -> float:
    """Seconds of a whole call, judged by a slice that grows until it takes ``SLICE_S``.

    The median of the three quickest of several slices, or one where that is far slower than
    ``best``: what else runs only ever slows a slice. The time for packing is added whole.
    """
    bound.pack()  # so that the room has been touched
    packing = min(clocked(bound.pack, clock) for _ in range(2)) if bound.copies else 0.0
    whole, most = bound.longest, 1
    bound.run(most)
    while (spent := clocked(partial(bound.run, most), clock)) < SLICE_S and most < whole:
        grown = 1.3 * most * SLICE_S / max(spent, 1e-7)
        most = min(whole, max(2 * most, int(grown)))
    found = [spent]
    if packing + spent * whole / most < PROMISING * best:
        found += [clocked(partial(bound.run, most), clock) for _ in range(SLICES - 1)]
    return packing + quickest(found) * whole / most


def clocked(call: Callable[[], None], clock: Clock) -> float:
    """Seconds that a call takes."""
    start = clock()
    call()
    return clock() - start


def difference(found: Mapping[str, Array], wanted: Mapping[str, Array], turns: int) -> str:
    """How results differ by more than fp32 rounds, in words, or ""; ``turns`` of the nest.

    Sums in another order differ by up to a rounding for each term (Higham, Accuracy and Stability
    of Numerical Algorithms, 2002, section 4.2).
    """
    for name, right in wanted.items():
        terms = max(8.0, turns / right.size)
        share = 2 * float(np.finfo(np.float32).eps) * terms
        finite = np.abs(right[np.isfinite(right)])
        room = share * float(finite.max(initial=0.0))
        wrong = ~np.isclose(found[name], right, rtol=share, atol=room, equal_nan=True)
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0].tolist())
            return (
                f"it computes something else than the nest as written: {name}{list(at)} is "
                f"{found[name][at]:g}, and should be {right[at]:g}"
            )
    return ""


def _text(nest: Nest) -> str:
    return "; ".join(one.text for one in nest.statements)


def _misfit(nest: Nest, target: Target) -> str:
    try:
        return misfit(nest, target)
    except ValueError as error:  # marks that no code can follow
        return str(error)


def identity(nest: Nest) -> str:
    """A schedule as text: the same for two ways that lead to it."""
    places = [
        f"{leaf.statement} {dim}={place}"
        for leaf, _, _ in trees.leaves(nest.tree)
        for dim, place in leaf.index.items()
    ]
    return "\n".join([outline(nest.tree), *places, *sorted(nest.packed)])
