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
from rooflab.labs.cuda.emulator.report import KernelFault, Point, SharedTraffic, Traffic, fault
from rooflab.labs.cuda.emulator.threads import WARP, Geometry, Mask

MOST_SHOWN = 120  # characters of a line, in a message
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
Step = Callable[["Execution"], Any]


class Execution:
    """A launch: ``active`` threads execute, ``alive`` ones have not returned."""

    def __init__(self, grid: Point, block: Point, real: type, most_steps: int) -> None:
        self.geometry, self.real = Geometry(grid, block), real
        self.order = Order(self.geometry.blocks, self.geometry.block_threads)
        self.special = self.geometry.special()
        self.active = self.alive = self.geometry.all
        self.variables: Variables = {}
        self.names: Mapping[str, Any] = {}
        self.loops: list[Any] = []
        self.shared: dict[Any, Any] = {}  # arrays
        self.depth, self.place = 0, Place(0, "", "", "")
        self.steps, self.most_steps = 0, most_steps
        self.flops = self.barriers = self.atomics = 0
        self.traffic: defaultdict[Any, Traffic] = defaultdict(Traffic)  # by place, array, what
        self.banks: defaultdict[Place, SharedTraffic] = defaultdict(SharedTraffic)

    def run(self, body: Step) -> None:
        """Execute a body; what Python or NumPy refuse becomes a ValueError with its line."""
        try:
            with np.errstate(all="ignore"):
                body(self)
        except KernelFault:
            raise
        except Exception as error:
            message = _WORDS.get(type(error)) or str(error) or type(error).__name__
            message = re.sub("^(ufunc|bad operand) .*", "this takes integers; write int()", message)
            at_line = "" if message.startswith("line ") else f"{self.place}: "
            raise ValueError(at_line + message) from error

    @contextmanager
    def narrowed(self, mask: Mask) -> Iterator[None]:
        before, self.active = self.active, mask
        yield
        self.active = before

    def check(self, kind: str, message: str, bad: Any, values: Any = ()) -> None:
        """Raise a fault where ``bad`` holds for a thread; ``{at}`` is its ``values`` there."""
        hit = self.geometry.both(self.active, bad)
        if hit.count:
            threads, own = self.geometry.lanes(hit, 0, *values)
            thread = self.geometry.thread(threads[0][0])
            message = message.replace("{at}", ", ".join(str(value[0]) for value in own[1:]))
            raise fault(kind, f"{self.place}, {thread}: {message}", (self.place,), (thread,))

    def work(self, steps: int, size: int = 0) -> None:
        """Count own work on ``size`` numbers in steps of up to 10 µs; give up beyond the limit."""
        self.steps += steps + (size >> 12)
        if self.steps > self.most_steps:
            places = [loop.place for loop in self.loops[:-4:-1]] or [self.place]
            what = f"{self.most_steps:,} steps: see what ends a loop, or raise max_steps"
            message = f"the launch gave up at {' in '.join(map(str, places))} after {what}"
            raise fault("infinite loop", message, places, ())

    # Variables are assigned by the active threads.

    def assign(self, table: Variables, key: Any, value: Any) -> None:
        """Let the active threads assign; the others keep what they have."""
        old, active, g = table.get(key), self.active, self.geometry
        if old is not None and g.minus(g.both(self.alive, old.defined.bits), active).count:
            value = arithmetic.join(active.bits, value, old.value)
            active = g.either(old.defined, active)
        table[key] = Variable(value, active)

    def read(self, table: Variables, key: Any, what: str) -> Any:
        """Return the value, which all active threads must have assigned."""
        variable = table.get(key)
        if variable is not None and variable.defined in (self.active, self.geometry.all):
            return variable.value
        missing = ~variable.defined.bits if variable else True
        message = f"{what} is read before this thread has assigned it; give it a value on every way"
        self.check("uninitialised", message, missing)
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

    def select(self, test: Any, yes: Step, no: Step) -> Any:
        """Return what ``yes`` gives the threads where ``test`` holds, and ``no`` the others."""
        chosen = self.geometry.both(self.active, test)
        values = []
        for mask, part in ((chosen, yes), (self.geometry.minus(self.active, chosen), no)):
            if mask.count:
                with self.narrowed(mask):
                    values.append(part(self))
        return values[0] if len(values) < 2 else arithmetic.join(chosen.bits, *values)

    def repeat(self, test: Step, body: Step) -> None:
        """Execute ``body`` while ``test`` holds, each thread as often as it does there."""
        g, before, live = self.geometry, self.active, self.active
        loop = SimpleNamespace(place=self.place, done=g.none, broken=g.none, continued=g.none)
        self.loops.append(loop)
        while live.count:
            self.place = loop.place
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

    def call(self, program: Any, args: tuple[Any, ...]) -> Any:
        """Execute a device function by the active threads and return what it returns."""
        if self.depth == DEEPEST:
            raise ValueError(f"{program.name} calls itself, or {DEEPEST} deep; use a loop")
        state = self.variables, self.names, self.active, self.place
        self.enter(program, program.bound(args))
        self.depth += 1
        program.body(self)
        self.depth -= 1
        variables = self.variables
        self.variables, self.names, self.active, self.place = state
        what = f"what {program.name} returns"
        return self.read(variables, "return", what) if "return" in variables else None

    def enter(self, program: Any, values: Mapping[str, Any]) -> None:
        """Let names be those of a function, whose parameters all threads have assigned."""
        self.names = program.names
        self.variables = {name: Variable(v, self.geometry.all) for name, v in values.items()}

    # Barriers and shuffles.

    def barrier(self) -> None:
        g = self.geometry
        self.work(4, g.threads << 2)
        here, there = (
            np.broadcast_to(mask.bits, g.shape).reshape(g.blocks, -1)
            for mask in (self.active, self.alive)
        )
        self._all_there(here, there, "cuda.syncthreads", "of its block")
        self.barriers += int(here.any(1).sum())
        self.order.settled_blocks[here.any(1)] = len(self.order.places) - 1

    def syncwarp(self) -> None:
        """Let the lanes of each warp wait for each other."""
        here = self._lanes_there(0xFFFFFFFF, "cuda.syncwarp")
        self.order.settled_warps[here.any(1)] = len(self.order.places) - 1

    def _all_there(self, here: Any, there: Any, what: str, of: str) -> None:
        """Raise a fault if some threads ``there`` are not ``here`` while others of the row are."""
        missing, g = there & ~here & here.any(1)[:, None], self.geometry
        if missing.any():
            row = int(missing.any(1).argmax())
            block, inside = divmod(row, len(here) // g.blocks)
            before = block * g.block_threads + inside * here.shape[1]
            threads = [g.thread(before + bits[row].argmax()) for bits in (here, missing)]
            message = (
                f"{self.place}: {threads[0]} waits at {what}(), {threads[1]} does not come; every "
                f"thread {of} must reach it, so move it out of the branch or loop"
            )
            raise fault("divergent barrier", message, (self.place,), threads)

    def _lanes_there(self, mask: int, what: str) -> np.ndarray:
        """Return which lanes of the mask are active, by warp; those that live have to be."""
        g, named = self.geometry, mask >> np.arange(WARP) & 1 == 1
        self.work(8, g.threads << 3)
        here, there = (g.all_warps(each.bits) & named for each in (self.active, self.alive))
        self._all_there(here, there, what, "named in its mask")
        return here

    def shuffle(self, way: str, mask: Any, value: Any, by: Any) -> Any:
        """Return the value of another lane of the warp: lane + by, - by, ^ by, or ``by`` itself."""
        g, lane, name = self.geometry, np.arange(WARP), f"cuda.{way}"
        if type(mask) is not int or (arithmetic.kind(value) and arithmetic.kind(by) != "i"):
            raise ValueError(f"{name} takes one mask, such as 0xffffffff, a number, an integer")
        message = f"the mask of {name} does not name the calling lane; 0xffffffff names all 32"
        self.check("shuffle", message, mask >> self.special["cuda.laneid"] & 1 == 0)
        here, offset = self._lanes_there(mask, name), g.all_warps(by)
        source = {
            "shfl_down_sync": lane + offset, "shfl_up_sync": lane - offset,
            "shfl_xor_sync": lane ^ offset, "shfl_sync": offset % WARP,
        }[way]  # fmt: skip
        source = np.where((source < 0) | (source >= WARP), lane, source)
        why = "(it has returned, is in another branch, beyond the block or outside the mask)"
        message = f"{name} reads a lane that is not there {why}; let all 32 lanes execute it"
        self.check("shuffle", message, g.from_warps(~np.take_along_axis(here, source, 1)))
        return g.from_warps(np.take_along_axis(g.all_warps(value), source, 1))
