"""The record of a run: which block each array belongs to, and every step with its trips."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy import ndarray

from rooflab.labs.golf.buffers import (
    LINE,
    Buffer,
    GolfError,
    Stopped,
    Strangers,
    Untraceable,
    byte_bounds,
    crossed_bytes,
    distinct_bytes,
    line_bytes,
    new_bytes,
    owner_of,
    place,
    stripped,
    whole_lines,
)
from rooflab.labs.golf.cache import Cache, CachedOperand, Passage
from rooflab.labs.golf.ledger import Step, Trip
from rooflab.labs.golf.program import Recorder, unfollowed

_HOOKS = ("__array_ufunc__", "__array_function__")  # to them NumPy hands all arguments of a call
COPIES = frozenset(["copy", "array", "ascontiguousarray", "setitem", "reshape", "ravel", "astype"])
UNSEEN = 32 * 1024
"""Bytes of an array that may turn up without golf having seen how it was made."""
Moved = ndarray | tuple[ndarray, int]
"""An array that a step moves, with a number of bytes where it is not all of them."""


@dataclass(frozen=True)
class Limits:
    """When a run is stopped: after ``steps`` steps or ``seconds`` of processor time, or when it has
    written ``unseen`` bytes to arrays that golf has not seen being made."""

    steps: int = 100_000
    seconds: float = 30.0  # a lesson's own programs need one or two
    unseen: int | None = None


class Trace:
    """One run of a function on traced arrays of type ``kind``."""

    def __init__(
        self,
        kind: type,
        cache: Cache,
        limits: Limits,
        code: CodeType | None,
        recorder: Recorder | None = None,
    ) -> None:
        self.kind, self.cache, self.limits, self.recorder = kind, cache, limits, recorder
        self.over, self.stop_reason = False, ""
        self.buffers: WeakValueDictionary[int, Buffer] = WeakValueDictionary()
        self._steps: list[tuple[str, list[Passage], int | None]] = []
        self._free: list[int] = []  # numbers of temporaries that are gone
        self._made = 0
        self._aside: list[Buffer] = []  # copies that the next step reads
        self.strangers = Strangers(limits.unseen)
        self.failed = 0  # calls that raised: what an error says of an array was read, too
        self._foreign: list[Buffer] = []  # small arrays of unknown origin that were written to
        self.first_line = code.co_firstlineno if code else 0
        self.codes = nested(code) if code else frozenset()

    def __len__(self) -> int:
        return len(self._steps)

    def steps(self) -> tuple[Step, ...]:
        """Return the steps, under the names that the arrays have now."""
        return tuple(
            Step(
                call,
                tuple(
                    Trip(p.label.name, p.bytes, p.way, p.moved, p.shape, p.dtype) for p in passages
                ),
                line,
            )
            for call, passages, line in self._steps
        )

    def add_input(self, array: ndarray, name: str) -> Any:
        """Return the traced array for the caller's ``array``."""
        view = array.view(ndarray)
        owner = owner_of(view)
        buffer = self.buffers.get(id(owner))
        if buffer is None:
            buffer = self.buffers[id(owner)] = Buffer(owner, name, borrowed=True)
            buffer.writeable = array.flags.writeable
        view.flags.writeable = False  # nothing may write to the caller's array behind our back
        return self.kind(view, buffer, self)

    def ask(
        self, name: str, work: Callable[[], Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Do ``work``, a call of ``name``, and note it if a program is written down."""
        return work() if self.recorder is None else self.recorder.call(name, work, args, kwargs)

    def make(self, array: ndarray) -> Buffer:
        """Return the block of ``array``, giving it the next free name when it is new."""
        owner = owner_of(array)
        buffer = self.buffers.get(id(owner))
        if buffer is None:
            if self._free:
                number = min(self._free)
                self._free.remove(number)
            else:
                self._made = number = self._made + 1
            buffer = Buffer(owner, f"tmp{number}")
            key = id(buffer)
            self.cache.hold(key, owner.nbytes)
            buffer.released = lambda: (self._free.append(number), self.cache.leave(key))
            self.buffers[id(owner)] = buffer
        return buffer

    def meet(self, array: ndarray, call: str) -> Buffer:
        """Return the block of an array that turns up in a call; refuse a large unknown one.

        A small one is harmless: what was done to it before may well have been done in the cache.
        """
        owner = owner_of(array)
        buffer = self.buffers.get(id(owner))
        if buffer is None and owner.nbytes > UNSEEN:
            raise Untraceable(
                f"{call} met an array of shape {array.shape} that golf has not seen being made; "
                "pass it as an argument, or make it with np.empty, np.zeros or np.empty_like"
            )
        return buffer or self.make(array)

    def wrap(self, value: Any) -> Any:
        """Return ``value`` with every array in it (tuples and lists too) traced."""
        if isinstance(value, ndarray):
            return self.kind(value, self.make(value), self)
        if type(value) in (tuple, list):
            return type(value)(map(self.wrap, value))
        return value

    def raw(self, value: Any) -> Any:
        """Return ``value`` with every traced array in it replaced by its plain one."""
        if type(value) is self.kind:
            if self.over or value.trace is not self:
                raise GolfError(
                    "this array belongs to a golf run that is over; call the function again"
                )
            return value.array
        if type(value) in (tuple, list):
            return type(value)(map(self.raw, value))
        if type(value) is dict:
            return {key: self.raw(item) for key, item in value.items()}
        if type(value) is ndarray:
            self.strangers.note(value)
        elif self.recorder is not None and (plain := unfollowed(value)) is not value:
            return plain
        elif any(hasattr(type(value), hook) for hook in _HOOKS):
            raise stripped(f"{type(value).__name__}'s own {' or '.join(_HOOKS)}")
        return value

    def own(self, value: Any) -> None:
        """Copy the caller's array, if ``value`` is a view of it, before it is written to.

        A small plain array that golf has not seen being made is kept: nobody tells when it goes.
        """
        if type(value) is ndarray and value.nbytes <= UNSEEN:
            self._foreign.append(self.meet(value, "out="))
        if type(value) is self.kind and value.buffer.borrowed and value.writeable:
            old = id(value.buffer.owner)
            low, high = value.buffer.bounds()
            self.buffers[id(value.buffer.take_copy(low, high))] = self.buffers.pop(old)

    def copied(self, call: str, array: ndarray, dtype: Any = None) -> ndarray:
        """Record and return a copy that NumPy makes on the side, such as for a cast."""
        copy = array.astype(dtype or array.dtype, order="C", copy=True)
        earlier = [*self._aside, self.make(copy)]
        self.record(call, [array], [copy])
        self._aside += earlier
        return copy

    def record(self, call: str, reads: Sequence[Moved], writes: Sequence[Moved]) -> None:
        """Add a step that reads every distinct byte of ``reads`` and of ``writes`` once."""
        self.check(call)
        out = writes[0] if in_order(call) and len(writes) == 1 else None
        room = self.cache.size
        operands: list[CachedOperand] = []
        for way, items in (("read", reads), ("write", writes)):
            earlier: list[ndarray] = []
            for item in items:
                array, most = item if isinstance(item, tuple) else (item, None)
                if not array.size:
                    continue
                buffer = self.meet(array, call)
                if array.ndim == 0 and buffer.owner.nbytes <= UNSEEN:
                    continue  # a number, not an array
                count = new_bytes(array, earlier) if earlier else distinct_bytes(array)
                count = count if most is None else min(count, most)
                earlier.append(array)
                if way == "write":
                    self.strangers.wrote(buffer, count, call)
                whole = way == "read" and most is None and isinstance(out, ndarray)
                across = crossed_bytes(array, out, room) if whole else 0
                if count or across:
                    some = None if most is None else count
                    operands.append(_operand(buffer, array, way, across or count, some, across))
                    _cover(buffer, array, way, some)
        passages = [one.read or one.write for one in operands]
        self._steps.append((call, passages, self._line()))
        self.cache.call(operands)
        self._aside.clear()

    def check(self, call: str) -> None:
        """Raise when the run is over, or stop it when it has had its steps."""
        if self.over:
            raise GolfError(f"{call}: this golf run is over; call the function again")
        if len(self._steps) + self.failed >= self.limits.steps:
            self.stop_reason = f"{self.limits.steps:,} steps"
        if self.stop_reason:  # also that of the watchdog, whose exception f may have swallowed
            raise Stopped(self.stop_reason)
        if self.strangers.refused:
            raise self.strangers.refused

    def _line(self) -> int | None:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code in self.codes:
                return frame.f_lineno - self.first_line + 1
            frame = frame.f_back
        return None


def _operand(
    buffer: Buffer, array: ndarray, way: str, count: int, some: int | None, across: int
) -> CachedOperand:
    """Where the bytes of ``array`` lie: in its buffer, or in a place of their own with gaps."""
    key, (low, high) = id(buffer), (edge - buffer.origin for edge in byte_bounds(array))
    form: Any = None
    if across:
        form, low, high = "across", 0, across
    elif some is None and not whole_lines(array):
        address, *rest = place(array)
        low, (high, together) = 0, line_bytes(array)
        if together < LINE:  # neighbouring columns lie on the same lines
            address -= (address - buffer.origin) % LINE
        form, count = (address - buffer.origin, *rest), max(count, high)
    passage = Passage(buffer.label, count, way, array.shape, array.dtype.name)
    return CachedOperand((key, form), low, high, **{way: passage}, some=some)


def in_order(call: str) -> bool:
    """Whether a call goes through its arrays element by element, in the order of what it writes."""
    return call in COPIES or (isinstance(getattr(np, call, None), np.ufunc) and call != "matmul")


def _cover(buffer: Buffer, array: ndarray, way: str, some: int | None) -> None:
    """Note which bytes were written, and which of an input's were needed."""
    if way == "write":
        buffer.changed = True
        buffer.written.add(array, some)
    elif buffer.source and not buffer.written.covers(array):
        buffer.read.add(array, some)


def nested(code: CodeType) -> frozenset[CodeType]:
    """Return the code of a function and of the functions and comprehensions written inside it."""
    inner = (nested(part) for part in code.co_consts if isinstance(part, CodeType))
    return frozenset({code}).union(*inner)
