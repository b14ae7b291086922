"""The state of a launch as its statements execute: who is active, variables, barriers, faults."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic
from rooflab.labs.cuda.emulator.races import Order
from rooflab.labs.cuda.emulator.report import Fault, KernelFault
from rooflab.labs.cuda.emulator.threads import WARP, Geometry, Mask

MOST_FAULTS, MOST_SHOWN = 64, 120  # of a launch; characters of a line, in a message
_REFUSALS = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError
)  # fmt: skip
_WORDS = {OverflowError: "an integer has more than 64 bits", RecursionError: "this is too long"}
DEEPEST = 16  # calls of device functions within each other


class Place(NamedTuple):
    """A source line: its number, its text, the function's name and file."""

    line: int
    text: str
    function: str
    file: str

    def __str__(self) -> str:
        return f"line {self.line} ({self.text[:MOST_SHOWN]}{'…' * (len(self.text) > MOST_SHOWN)})"


class Variable(NamedTuple):
    """A value and the threads that have assigned it."""

    value: Any
    defined: Mask


Variables = dict[Any, Variable]


class Faults:
    """What a launch has found wrong; the first one raises KernelFault unless all are collected."""

    def __init__(self, file: str, collect: bool) -> None:
        self.file, self.collect = file, collect
        self.seen: dict[Any, Fault] = {}

    def key(self, place: Place) -> int | str:
        return place.line if place.file == self.file else f"{place.function}:{place.line}"

    def add(self, kind: str, message: str, places: Any, threads: Any, fatal: bool = False) -> None:
        lines = tuple(dict.fromkeys(map(self.key, places)))
        fault = Fault(kind, f"{kind}: {message}", lines, tuple(threads))
        self.seen.setdefault((kind, lines), fault)
        if fatal or not self.collect or len(self.seen) >= MOST_FAULTS:
            raise KernelFault(fault)


class Counts:
    """What a launch adds up as it executes."""

    def __init__(self, most_steps: int, shared_limit: int) -> None:
        self.steps, self.most_steps, self.shared_limit = 0, most_steps, shared_limit
        self.flops = self.barriers = self.atomics = 0
        # (place, array, what) → requests, sectors, bytes; place → requests, wavefronts, least
        self.traffic: defaultdict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])
        self.banks: defaultdict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])


Step = Callable[["Execution"], Any]


class Execution:
    """One box of blocks: ``active`` threads execute, ``alive`` ones have not returned."""

    def __init__(
        self, geometry: Geometry, order: Order, faults: Faults, counts: Counts, real: type
    ) -> None:
        self.geometry, self.order, self.faults = geometry, order, faults
        self.counts, self.real = counts, real
        self.special = geometry.special()
        self.active = self.alive = geometry.all
        self.variables: Variables = {}
        self.names: Mapping[str, Any] = {}
        self.loops: list[Any] = []
        self.running: list[Any] = []  # places of loops, those around a call included
        self.shared: dict[Any, Any] = {}
        self.depth, self.place = 0, Place(0, "", "", "")

    def run(self, body: Step) -> None:
        """Execute a body; what Python or NumPy refuse becomes a ValueError with its line."""
        try:
            with np.errstate(all="ignore"):
                body(self)
        except _REFUSALS as error:
            message = _WORDS.get(type(error)) or str(error) or type(error).__name__
            message = re.sub("^(ufunc|bad operand) .*", "this takes integers; write int()", message)
            at_line = "" if message.startswith("line ") else f"{self.place}: "
            raise ValueError(at_line + message) from error

    @contextmanager
    def narrowed(self, mask: Mask) -> Iterator[None]:
        before, self.active = self.active, mask
        yield
        self.active = before

    def fault(self, kind: str, message: str, place: Place, bad: Any, values: Any = ()) -> Mask:
        """Note a fault where ``bad`` holds, ``{at}`` its first values; return the other threads."""
        hit = self.geometry.both(self.active, bad)
        if not hit.count:
            return self.active
        self.work(8, self.geometry.threads << 3)
        threads, own = self.geometry.lanes(hit, 0, *values)
        thread = self.geometry.thread(threads[0][0])
        message = message.replace("{at}", ", ".join(str(value[0]) for value in own[1:]))
        self.faults.add(kind, f"{place}, {thread}: {message}", (place,), (thread,))
        return self.geometry.minus(self.active, hit)

    def work(self, steps: int, size: int = 0) -> None:
        """Count own work on ``size`` numbers in steps of up to 10 µs; give up beyond the limit."""
        self.counts.steps += steps + (size >> 12)
        if self.counts.steps > self.counts.most_steps:
            places = (self.running or [self.place])[:-4:-1]
            what = f"{self.counts.most_steps:,} steps: see what ends a loop, or raise max_steps"
            message = f"the launch gave up at {' in '.join(map(str, places))} after {what}"
            self.faults.add("infinite loop", message, places, (), fatal=True)

    # Variables, and the cells of local arrays: each is assigned by the active threads.

    def assign(self, table: Variables, key: Any, value: Any) -> None:
        """Let the active threads assign; the others keep what they have."""
        old, active, g = table.get(key), self.active, self.geometry
        if old is not None and g.minus(g.both(self.alive, old.defined.bits), active).count:
            value = arithmetic.join(active.bits, value, old.value, self.real)
            self.work(1, getattr(value, "size", 1) << 1)
            active = g.either(old.defined, active)
        table[key] = Variable(value, active)

    def read(self, table: Variables, key: Any, what: str, place: Place) -> Any:
        """Return the value, which all active threads must have assigned."""
        variable = table.get(key)
        if variable is not None and variable.defined in (self.active, self.geometry.all):
            return variable.value
        missing = ~variable.defined.bits if variable else True
        message = f"{what} is read before this thread has assigned it; give it a value on every way"
        self.fault("uninitialised", message, place, missing)
        return variable.value if variable else 0

    # Control flow. Masks keep their identity where nobody is lost.

    def branch(self, test: Any, yes: Step, no: Step) -> None:
        g, before = self.geometry, self.active
        chosen = g.both(before, test)
        ends = []
        for mask, body in ((chosen, yes), (g.minus(before, chosen), no)):
            self.active = mask
            if mask.count:
                body(self)
            ends.append(self.active)
        self.active = g.same(g.either(*ends), before)

    def repeat(self, test: Step, body: Step, place: Place) -> None:
        """Execute ``body`` while ``test`` holds, each thread as often as it does there."""
        g, before, live = self.geometry, self.active, self.active
        loop = SimpleNamespace(done=g.none, broken=g.none, continued=g.none)
        self.loops.append(loop)
        self.running.append(place)
        while live.count:
            self.place = place
            self.work(2, live.bits.size << 1)
            self.active = live
            going = g.both(live, test(self))
            loop.done = g.either(loop.done, g.minus(live, going))
            self.active = going
            if going.count:
                body(self)
            live = g.same(g.either(self.active, loop.continued), going)
            loop.continued = g.none
        self.loops.pop()
        self.running.pop()
        self.active = g.same(g.either(loop.done, loop.broken), before)

    def leave(self, way: str) -> None:
        g, loop = self.geometry, self.loops[-1] if self.loops else None
        if way == "break":
            loop.broken = g.either(loop.broken, self.active)
        elif way == "continue":
            loop.continued = g.either(loop.continued, self.active)
        elif not self.depth:
            self.alive = g.minus(self.alive, self.active)
        self.active = g.none

    def call(self, program: Any, args: tuple[Any, ...], place: Place) -> Any:
        """Execute a device function by the active threads and return what it returns."""
        if self.depth == DEEPEST:
            raise ValueError(f"{program.name} calls itself, or {DEEPEST} deep; use a loop")
        self.work(2 + len(args))
        state = self.variables, self.names, self.active, self.loops
        bound = program.bound(args)
        variables = {name: Variable(value, self.geometry.all) for name, value in bound.items()}
        self.variables, self.names, self.loops = variables, program.names, []
        self.depth += 1
        program.body(self)
        self.depth -= 1
        self.variables, self.names, self.active, self.loops = state
        self.place = place
        what = f"what {program.name} returns"
        return self.read(variables, "return", what, place) if "return" in variables else None

    # Barriers and shuffles.

    def barrier(self, place: Place) -> None:
        blocks = self.geometry.block_numbers
        self.work(4, self.active.bits.size << 2)
        if self.active is not self.geometry.all:
            here, there = (
                np.broadcast_to(mask.bits, self.geometry.shape).reshape(len(blocks), -1)
                for mask in (self.active, self.alive)
            )
            self._all_there(here, there, place, "cuda.syncthreads", "of its block")
            blocks = blocks[here.any(1)]
        self.counts.barriers += len(blocks)
        self.order.settled_blocks[blocks] = len(self.order.places) - 1

    def syncwarp(self, place: Place, mask: Any = 0xFFFFFFFF) -> None:
        """Let the lanes of each warp wait for each other."""
        g, here = self.geometry, self._lanes_there(mask, place, "syncwarp")
        alive, named = g.all_warps(self.alive.bits), g.all_warps(mask)
        warps = g.block_numbers[:, None] * g.block_warps + np.arange(g.block_warps)
        every = (alive << np.arange(WARP)).sum(1, keepdims=True)  # lanes, as a mask
        whole = ((here & (named & every == every)) == alive).all(1)
        self.order.settled_warps[warps.ravel()[whole]] = len(self.order.places) - 1
        if not whole.all():
            threads, (names,) = g.lanes(self.active, mask, full=True)
            self.order.settle(threads[0], names)

    def _all_there(self, here: Any, there: Any, place: Place, what: str, of: str) -> None:
        """Note a fault if some threads ``there`` are not ``here`` while others of the row are."""
        missing, g = there & ~here & here.any(1)[:, None], self.geometry
        if missing.any():
            row = int(missing.any(1).argmax())
            block, inside = divmod(row, len(here) // g.blocks)
            before = g.block_numbers[block] * g.block_threads + inside * here.shape[1]
            threads = [g.thread(before + bits[row].argmax()) for bits in (here, missing)]
            message = (
                f"{place}: {threads[0]} waits at {what}(), {threads[1]} does not come; every "
                f"thread {of} must reach it, so move it out of the branch or loop"
            )
            self.faults.add("divergent barrier", message, (place,), threads)

    def _lanes_there(self, mask: Any, place: Place, what: str) -> np.ndarray:
        """Return which lanes are active, by warp, after checks against their mask."""
        g = self.geometry
        self.work(8, g.threads << 7)
        if arithmetic.kind(mask) != "i":
            raise ValueError(f"the mask of cuda.{what} is an integer, such as 0xffffffff")
        here, there = (g.all_warps(each.bits) for each in (self.active, self.alive))
        named = (g.all_warps(mask)[:, :, None] >> np.arange(WARP) & 1).astype(bool)
        own = g.from_warps(named.diagonal(axis1=1, axis2=2))
        message = f"the mask of cuda.{what} does not name the calling lane; 0xffffffff names all 32"
        self.fault("shuffle" if "shfl" in what else "syncwarp", message, place, ~own)
        named = (named & here[:, :, None]).any(1)
        self._all_there(here & named, there & named, place, f"cuda.{what}", "named in its mask")
        return here

    def shuffle(self, way: str, mask: Any, value: Any, by: Any, place: Place) -> Any:
        """Return the value of another lane of the warp: lane + by, - by, ^ by, or ``by`` itself."""
        g, lane = self.geometry, np.arange(WARP)
        here = self._lanes_there(mask, place, way)
        if arithmetic.kind(value) and arithmetic.kind(by) != "i":
            raise ValueError(f"the last argument of cuda.{way} is an integer")
        offset = g.all_warps(by)
        source = {
            "shfl_down_sync": lane + offset, "shfl_up_sync": lane - offset,
            "shfl_xor_sync": lane ^ offset, "shfl_sync": offset % WARP,
        }[way]  # fmt: skip
        source = np.where((source < 0) | (source >= WARP), lane, source)
        named = g.all_warps(mask) >> source & 1 == 1
        alone = g.from_warps(~(np.take_along_axis(here, source, 1) & named))
        why = "(it has returned, is in another branch, beyond the block or outside the mask)"
        message = f"cuda.{way} reads a lane that is not there {why}; let all 32 lanes execute it"
        self.fault("shuffle", message, place, alone)
        return g.from_warps(np.take_along_axis(g.all_warps(value), source, 1))
