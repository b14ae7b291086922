"""A simulated GPU: two clocks (host and device), streams, events and an L2 cache.

What it models, because a timing procedure must get it right:
- launching is asynchronous: the host pays ``launch_s`` and runs on, the device works when it can;
- the first use of a kernel stalls the host for ``setup_s`` (compilation, library handle);
- an event is stamped when the device reaches it; asking for an unfinished event is an error;
- the L2 cache is write-back: a result stays in L2 as *dirty* lines, and goes to memory when other
  data displace it. The kernel that displaces it pays, whoever wrote it. So whoever empties L2 by
  writing a large buffer leaves that buffer's dirty lines to the next kernel.
The simulated L2 keeps a dirty line until it needs the room, and the least recently used goes
first. A real one may write it back earlier, so there the next kernel pays for all of it or less.
What it leaves out: clock ramps, throttling, overlap of kernels, page faults.

Whatever the device is asked for is also noted as plain data in ``commands``. From these
:func:`replay` computes the same log once more, on a device that nobody else has touched.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from rooflab.predict.machine import Machine

BLOCK = 1 << 20  # bytes per tracked piece of L2
POLL_S = 1e-6  # what one look at an event or a stream takes the host
UNTESTED_SHARE = 0.9  # of a datasheet figure, where no achieved one is published
NO_HANDLE = "cudaErrorInvalidResourceHandle: invalid resource handle"


class CUDARuntimeError(RuntimeError):
    """Same name and wording as CuPy's."""


@dataclass(frozen=True)
class Device:
    """Figures of a simulated GPU: byte/s, FLOP/s, bytes, seconds.

    The four ``…_s`` times are the stand-in's own round numbers, of the size usually seen.
    """

    name: str
    bandwidth: float
    l2_bandwidth: float
    l2_bytes: int
    peak: Mapping[str, float]
    launch_s: float = 4e-6
    record_s: float = 1e-6
    kernel_s: float = 1e-6
    setup_s: float = 0.08

    @classmethod
    def from_machine(cls, machine: Machine) -> Device:
        """Device that runs at a machine's published achieved figures, else at UNTESTED_SHARE of
        the datasheet's; ValueError when nobody measured its L2 bandwidth.
        """
        done = machine.measured
        if "l2_bandwidth_bytes_per_s" not in done or "l2" not in machine.capacities:
            raise ValueError(f"machine={machine.id!r} has no measured L2 bandwidth to simulate")
        peak = {
            kind: float(done.get(short, UNTESTED_SHARE * machine.peak(short, "vector")))
            for kind, short in (("float64", "fp64"), ("float32", "fp32"))
            if machine.has_peak(short, "vector")
        }
        bandwidth = done.get("bandwidth_bytes_per_s", UNTESTED_SHARE * machine.bandwidth())
        return cls(
            machine.name, float(bandwidth), float(done["l2_bandwidth_bytes_per_s"]),
            machine.capacities["l2"], peak,
        )  # fmt: skip

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain JSON data; ``Device(**data)`` reads them."""
        return {**vars(self), "peak": dict(self.peak)}

    def kernel_seconds(self, flops: float, dtype: str, dram: float, l2: float = 0.0) -> float:
        """Seconds of one kernel: its fixed cost plus the longest of arithmetic, memory and L2.

        ``dram``: bytes between L2 and memory; ``l2``: bytes that L2 serves beyond those.
        """
        peak = self.peak.get(dtype) or max(self.peak.values())
        return self.kernel_s + max(
            flops / peak, dram / self.bandwidth, (dram + l2) / self.l2_bandwidth
        )


class Span(NamedTuple):
    """Bytes of device memory that a kernel touches."""

    buffer: int
    start: int
    nbytes: int


Bytes = tuple[int, int]  # of a buffer: from this one up to that one


class L2Cache:
    """A write-back L2 of ``capacity`` bytes; the least recently used pieces leave first.

    Of a piece that is touched in two places, all that lies between them counts as touched.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity, self._used = capacity, 0
        self._pieces: OrderedDict[tuple[int, int], tuple[Bytes, Bytes]] = OrderedDict()

    def touch(self, span: Span, *, writes: bool) -> tuple[int, int]:
        """Pass over ``span``, and leave it here as dirty if that ``writes``.

        Returns the bytes that were here, and the dirty ones that had to leave.
        """
        hit, written_back, position, end = 0, 0, span.start, span.start + span.nbytes
        while position < end:
            block = position // BLOCK
            stop = min(end, (block + 1) * BLOCK)
            held, dirty = self._pieces.pop((span.buffer, block), ((0, 0), (0, 0)))
            hit += max(0, min(stop, held[1]) - max(position, held[0]))
            now = _joined(held, (position, stop))
            dirty = _joined(dirty, (position, stop)) if writes else dirty
            self._pieces[span.buffer, block] = now, dirty
            self._used += _length(now) - _length(held)
            position = stop
            while self._used > self._capacity:
                held, dirty = self._pieces.popitem(last=False)[1]
                self._used -= _length(held)
                written_back += _length(dirty)
        return hit, written_back


def _joined(one: Bytes, other: Bytes) -> Bytes:
    return (min(one[0], other[0]), max(one[1], other[1])) if _length(one) else other


def _length(part: Bytes) -> int:
    return part[1] - part[0]


@dataclass
class SimulatedGpu:
    """The clocks, the cache and the log. ``log`` is a list of plain dictionaries, in host order.

    ``commands``: what was asked of it, as plain lists: a name, then the arguments. Streams and
    events are numbers. Stream 0 is the null stream; ``blocking`` says of each whether it waits for
    that one, and that one for it. ``stamps``: event → device time at which it is reached.
    """

    device: Device
    now: float = 0.0
    log: list[dict[str, object]] = field(default_factory=list)
    commands: list[list[object]] = field(default_factory=list)
    blocking: list[bool] = field(default_factory=lambda: [True])
    stamps: dict[int, float] = field(default_factory=dict)
    _free_at: list[float] = field(default_factory=lambda: [0.0])  # of each stream
    _blocking_free_at: float = 0.0
    _busy_until: float = 0.0  # with a kernel
    _known: set[str] = field(default_factory=set)
    _buffers: int = 0

    def __post_init__(self) -> None:
        self._cache = L2Cache(self.device.l2_bytes)

    def new_stream(self, blocking: bool) -> int:
        self.commands.append(["new_stream", blocking])
        self.blocking.append(blocking)
        self._free_at.append(0.0)
        return len(self.blocking) - 1

    def new_buffer(self) -> int:
        self.commands.append(["new_buffer"])
        self._buffers += 1
        return self._buffers

    def launch(
        self, kernel: str, stream: int, flops: float = 0, dtype: str = "float32",
        reads: Sequence[Span] = (), writes: Sequence[Span] = (), library: str = "",
    ) -> None:  # fmt: skip
        """Queue one kernel. Those of one ``library`` share one first-use cost.

        The log's "bytes" are what it reads and writes, "l2_bytes" what it read from L2, and
        "written_back" the dirty bytes, of whatever array, that went to memory to make room; "at"
        is when Python had queued it, "apart" whether it reads no byte twice.
        """
        self.commands.append(["launch", kernel, stream, flops, dtype, reads, writes, library])
        passed = [self._cache.touch(span, writes=False) for span in reads]
        hit, wanted = sum(held for held, _ in passed), sum(span.nbytes for span in reads)
        passed += [self._cache.touch(span, writes=True) for span in writes]
        back, total = sum(left for _, left in passed), wanted + sum(span.nbytes for span in writes)
        dram = wanted - hit + back
        twice = any(
            one.buffer == other.buffer and other.start < one.start + one.nbytes
            for one, other in pairwise(sorted(reads))
        )
        self._queue(
            kernel, stream, library or f"{kernel}/{dtype}",
            self.device.kernel_seconds(flops, dtype, dram, max(0, total - dram)),
            flops=flops, bytes=total, l2_bytes=hit, written_back=back, library=library,
            apart=not twice,
        )  # fmt: skip

    def _queue(self, kernel: str, stream: int, first: str, seconds: float, **facts: object) -> None:
        """Let the device work ``seconds`` for a kernel, and log it with ``facts``."""
        setup = 0.0 if first in self._known else self.device.setup_s
        self._known.add(first)
        self.now += setup + self.device.launch_s
        begin = max(self.now, self.free_at(stream), self._busy_until)
        self._busy_until = begin + seconds
        self._reach(stream, self._busy_until)
        self.log.append({
            "what": "launch", "kernel": kernel, "stream": stream, "setup": setup > 0,
            "begin": begin, "end": begin + seconds, "at": self.now, **facts,
        })  # fmt: skip

    def record(self, event: int, stream: int) -> None:
        """Queue event number ``event``, which is stamped when the device reaches it.

        The log's "buffers" are how many pieces of memory had been asked for by then.
        """
        self.commands.append(["record", event, stream])
        self.now += self.device.record_s
        self.stamps[event] = stamp = max(self.now, self.free_at(stream))
        self._reach(stream, stamp)
        self.log.append({
            "what": "record", "event": event, "stream": stream, "stamp": stamp, "at": self.now,
            "buffers": self._buffers,
        })  # fmt: skip

    def wait_event(self, event: int) -> None:
        """Let the host wait for an event; one that was never recorded is over."""
        self.commands.append(["wait_event", event])
        self._wait("event", self.stamps.get(event, 0.0))

    def wait_stream(self, stream: int) -> None:
        """Let the host wait for all work of a stream."""
        self.commands.append(["wait_stream", stream])
        self._wait("stream", self.free_at(stream))

    def wait_all(self) -> None:
        """Let the host wait for all work of the device."""
        self.commands.append(["wait_all"])
        self._wait("device", self._busy_until)

    def _wait(self, what: str, until: float) -> None:
        self.now = max(self.now, until)
        self.log.append({"what": "synchronize", "of": what, "now": self.now})

    def look(self) -> float:
        """Let the host ask how far the device is, which takes a moment; return the time then."""
        self.commands.append(["look"])
        self.now += POLL_S
        return self.now

    def elapsed(self, start: int, stop: int) -> float:
        """Return milliseconds between two events; CUDARuntimeError if one is still to come."""
        self.commands.append(["elapsed", start, stop])
        if start not in self.stamps or stop not in self.stamps:
            raise CUDARuntimeError(NO_HANDLE)
        begin, end = self.stamps[start], self.stamps[stop]
        if max(begin, end) > self.now:
            self.log.append({"what": "not ready", "start": start, "stop": stop})
            raise CUDARuntimeError("cudaErrorNotReady: device not ready")
        milliseconds = (end - begin) * 1e3
        self.log.append({"what": "elapsed", "start": start, "stop": stop, "ms": milliseconds})
        return milliseconds

    def free_at(self, stream: int) -> float:
        """Return when a stream has nothing more to do.

        The null stream waits for the blocking ones and they for it (CUDA's "Stream synchronization
        behavior", legacy default stream), so one without work of its own may be busy.
        """
        if stream == 0:
            return self._blocking_free_at
        return max(self._free_at[stream], self._free_at[0] if self.blocking[stream] else 0.0)

    def _reach(self, stream: int, until: float) -> None:
        """Keep ``stream`` busy until then."""
        self._free_at[stream] = until
        if self.blocking[stream]:
            self._blocking_free_at = max(self._blocking_free_at, until)


# Doing the same once more, elsewhere.


MOST_COMMANDS = 200_000
MOST_PIECES = 2_000_000  # of L2, over which all kernels pass together
_COMMANDS: Mapping[str, tuple[object, ...]] = {  # name → the forms of its arguments
    "new_stream": (bool,), "new_buffer": (), "record": (int, int), "wait_event": (int,),
    "wait_stream": (int,), "wait_all": (), "look": (), "elapsed": (int, int),
    "launch": (str, int, float, str, [(int, int, int)], [(int, int, int)], str),
}  # fmt: skip


def replay(gpu: SimulatedGpu, commands: object) -> None:
    """Do on ``gpu`` what another one was asked for: its ``commands``.

    Raises ValueError for what no program can have asked for, or what would take too long.
    """
    pieces = 0
    if not isinstance(commands, list) or len(commands) > MOST_COMMANDS:
        raise ValueError(f"commands must be a list of at most {MOST_COMMANDS:,}")
    for command in commands:
        name = str(command[0]) if isinstance(command, list) and command else ""
        if name not in _COMMANDS or not _is(command[1:], _COMMANDS[name]):
            raise ValueError(f"command={command!r:.60} is none that a program can give")
        arguments = command[1:]
        if name == "launch":
            arguments[4:6] = spans = [[Span(*span) for span in part] for part in arguments[4:6]]
            pieces += sum(span.nbytes // BLOCK + 2 for part in spans for span in part)
        if pieces > MOST_PIECES:
            most = MOST_PIECES * BLOCK >> 40
            raise ValueError(f"the kernels pass over more than {most} TiB; fewer will do")
        try:
            getattr(gpu, name)(*arguments)
        except CUDARuntimeError:
            continue  # the program was told so, too
        except IndexError:
            raise ValueError(f"command={command!r:.60}: that stream was never made") from None


def _is(value: object, form: object) -> bool:
    """Whether plain data has a form: a type, a tuple of forms, or a list with the form of each."""
    if isinstance(form, tuple):
        alike = isinstance(value, (list, tuple)) and len(value) == len(form)
        return alike and all(map(_is, value, form))
    if isinstance(form, list):
        return isinstance(value, list) and all(_is(each, form[0]) for each in value)
    if form in (int, float):
        return type(value) in (int, form) and 0 <= value <= sys.float_info.max
    return type(value) is form
