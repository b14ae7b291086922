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

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from itertools import combinations, starmap

from rooflab.predict.machine import Machine

BLOCK = 1 << 20  # bytes per tracked piece of L2
POLL_S = 1e-6  # what one look at an event or a stream takes the host
UNTESTED_SHARE = 0.9  # of a datasheet figure, where no achieved one is published


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


@dataclass(frozen=True)
class Span:
    """Bytes of device memory that a kernel touches: buffer number, offset, length."""

    buffer: int
    start: int
    nbytes: int


def _overlap(one: Span, other: Span) -> bool:
    if one.buffer != other.buffer:
        return False
    return one.start < other.start + other.nbytes and other.start < one.start + one.nbytes


Parts = tuple[tuple[int, int], ...]  # of a piece of L2: from this byte to that, none twice


class L2Cache:
    """A write-back L2 of ``capacity`` bytes; the least recently used pieces leave first."""

    def __init__(self, capacity: int) -> None:
        self._capacity, self._used = capacity, 0
        self._held: OrderedDict[tuple[int, int], tuple[Parts, Parts]] = OrderedDict()  # and dirty

    def read(self, span: Span) -> tuple[int, int]:
        """Pass over ``span``; return the bytes found here and the dirty bytes that had to leave."""
        return self._touch(span, writes=False)

    def write(self, span: Span) -> int:
        """Leave ``span`` here as dirty; return the dirty bytes that had to leave for it."""
        return self._touch(span, writes=True)[1]

    def _touch(self, span: Span, writes: bool) -> tuple[int, int]:
        found, written_back, end, position = 0, 0, span.start + span.nbytes, span.start
        while position < end:
            block = position // BLOCK
            stop = min(end, (block + 1) * BLOCK)
            key = (span.buffer, block)
            held, dirty = self._held.pop(key, ((), ()))
            now = _with(held, position, stop)
            self._held[key] = now, _with(dirty, position, stop) if writes else dirty
            new = _bytes(now) - _bytes(held)
            found += stop - position - new
            self._used += new
            position = stop
            while self._used > self._capacity:
                held, dirty = self._held.popitem(last=False)[1]
                self._used -= _bytes(held)
                written_back += _bytes(dirty)
        return found, written_back


def _with(parts: Parts, start: int, stop: int) -> Parts:
    """Return ``parts`` and the bytes from ``start`` to ``stop``; parts that touch become one."""
    if not parts or parts == ((start, stop),):
        return ((start, stop),)
    apart = [(a, b) for a, b in parts if b < start or stop < a]
    touching = [(a, b) for a, b in parts if a <= stop and start <= b]
    ends = [start, stop, *(end for part in touching for end in part)]
    return (*apart, (min(ends), max(ends)))


def _bytes(parts: Parts) -> int:
    total = 0  # a plain loop is faster than sum(), and grading comes here millions of times
    for start, stop in parts:
        total += stop - start
    return total


@dataclass
class Stream:
    """A queue of work; ``free_at`` is when the device has finished all of it."""

    number: int
    blocking: bool = True
    free_at: float = field(default=0.0, repr=False)


@dataclass
class SimulatedGpu:
    """The clocks, the cache and the log. ``log`` is a list of plain dictionaries, in host order.

    ``commands``: what was asked of it, as plain lists: a name, then the arguments.
    """

    device: Device
    now: float = 0.0
    log: list[dict[str, object]] = field(default_factory=list)
    commands: list[list[object]] = field(default_factory=list)
    _busy_until: float = 0.0
    _known: set[str] = field(default_factory=set)
    _streams: list[Stream] = field(default_factory=lambda: [Stream(0)])
    _buffers: int = 0
    _stamps: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._cache = L2Cache(self.device.l2_bytes)

    @property
    def null(self) -> Stream:
        return self._streams[0]

    def new_stream(self, blocking: bool) -> Stream:
        self.commands.append(["new_stream", blocking])
        self._streams.append(Stream(len(self._streams), blocking))
        return self._streams[-1]

    def stream(self, number: int) -> Stream | None:
        """Return the stream of that number, None if there is none."""
        return self._streams[number] if 0 <= number < len(self._streams) else None

    def new_buffer(self) -> int:
        self.commands.append(["new_buffer"])
        self._buffers += 1
        return self._buffers

    def launch(
        self,
        kernel: str,
        stream: Stream,
        *,
        flops: float = 0,
        dtype: str = "float32",
        reads: Iterable[Span] = (),
        writes: Iterable[Span] = (),
        library: str = "",
    ) -> None:
        """Queue one kernel. Those of one ``library`` share one first-use cost.

        The log's "bytes" are what it reads and writes, "l2_bytes" what it read from L2, and
        "written_back" the dirty bytes, of whatever array, that went to memory to make room; "at"
        is when Python had queued it, "apart" whether it reads no byte twice.
        """
        reads, writes = list(reads), list(writes)
        spans = [[astuple(span) for span in each] for each in (reads, writes)]
        self.commands.append(["launch", kernel, stream.number, flops, dtype, *spans, library])
        passed = [self._cache.read(span) for span in reads]
        hit = sum(held for held, _ in passed)
        back = sum(left for _, left in passed) + sum(self._cache.write(span) for span in writes)
        wanted = sum(span.nbytes for span in reads)
        total = wanted + sum(span.nbytes for span in writes)
        dram = wanted - hit + back
        self._queue(
            kernel, stream, library or f"{kernel}/{dtype}",
            self.device.kernel_seconds(flops, dtype, dram, max(0, total - dram)),
            flops=flops, bytes=total, l2_bytes=hit, written_back=back, library=library,
            apart=not any(starmap(_overlap, combinations(reads, 2))),
        )  # fmt: skip

    def run(self, kernel: str, stream: Stream, seconds: float) -> None:
        """Queue one kernel that takes ``seconds``, whatever it does; it goes by L2."""
        self.commands.append(["run", kernel, stream.number, seconds])
        self._queue(
            kernel, stream, kernel, seconds, flops=0, bytes=0, l2_bytes=0, written_back=0,
            library="", apart=True,
        )  # fmt: skip

    def _queue(
        self, kernel: str, stream: Stream, first: str, seconds: float, **facts: object
    ) -> None:
        """Let the device work ``seconds`` for a kernel, and log it with ``facts``."""
        setup = 0.0 if first in self._known else self.device.setup_s
        self._known.add(first)
        self.now += setup + self.device.launch_s
        begin = max(self.now, self._queue_end(stream), self._busy_until)
        stream.free_at = self._busy_until = begin + seconds
        self.log.append({
            "what": "launch", "kernel": kernel, "stream": stream.number, "setup": setup > 0,
            "begin": begin, "end": begin + seconds, "at": self.now, **facts,
        })  # fmt: skip

    def record(self, event: int, stream: Stream) -> None:
        """Queue event number ``event``, which is stamped when the device reaches it.

        The log's "buffers" are how many pieces of memory had been asked for by then.
        """
        self.commands.append(["record", event, stream.number])
        self.now += self.device.record_s
        stamp = max(self.now, self._queue_end(stream))
        stream.free_at = self._stamps[event] = stamp
        self.log.append({
            "what": "record", "event": event, "stream": stream.number, "stamp": stamp,
            "at": self.now, "buffers": self._buffers,
        })  # fmt: skip

    def stamp(self, event: int) -> float | None:
        """Return when an event is stamped; None if it was never recorded."""
        return self._stamps.get(event)

    def wait_event(self, event: int) -> None:
        """Let the host wait for an event; one that was never recorded is over."""
        self.commands.append(["wait_event", event])
        self._wait("event", self._stamps.get(event, 0.0))

    def wait_stream(self, stream: Stream) -> None:
        """Let the host wait for all work of a stream."""
        self.commands.append(["wait_stream", stream.number])
        self._wait("stream", self._queue_end(stream))

    def wait_all(self) -> None:
        """Let the host wait for all work of the device."""
        self.commands.append(["wait_all"])
        self._wait("device", max(stream.free_at for stream in self._streams))

    def _wait(self, what: str, until: float) -> None:
        self.now = max(self.now, until)
        self.log.append({"what": "synchronize", "of": what, "now": self.now})

    def hold(self, stream: Stream, event: int) -> None:
        """Let later work of a stream wait for an event; one that was never recorded is over."""
        self.commands.append(["hold", stream.number, event])
        stamp = self._stamps.get(event)
        if stamp is not None:  # the null stream waits for the blocking ones here too
            stream.free_at = max(self._queue_end(stream), stamp)

    def look(self) -> None:
        """Let the host ask how far the device is: the time that this takes passes."""
        self.commands.append(["look"])
        self.now += POLL_S

    def over(self, stream: Stream) -> bool:
        """Whether ``wait_stream`` would return at once.

        CUDA's cudaStreamQuery() answers what cudaStreamSynchronize() would wait for. Blocking
        streams wait for the null stream ("Stream synchronization behavior", legacy default
        stream), so one without work of its own is not over before that.
        """
        return self._queue_end(stream) <= self.now

    def elapsed(self, start: int, stop: int) -> float:
        """Return milliseconds between two events; CUDARuntimeError if one is still to come."""
        self.commands.append(["elapsed", start, stop])
        begin, end = (self._stamps.get(event) for event in (start, stop))
        if begin is None or end is None:
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
        if max(begin, end) > self.now:
            self.log.append({"what": "not ready", "start": start, "stop": stop})
            raise CUDARuntimeError("cudaErrorNotReady: device not ready")
        milliseconds = (end - begin) * 1e3
        self.log.append({"what": "elapsed", "start": start, "stop": stop, "ms": milliseconds})
        return milliseconds

    def _queue_end(self, stream: Stream) -> float:
        """When a stream is free: the null stream waits for the blocking ones and they for it."""
        others = [s.free_at for s in self._streams if s.blocking] if stream is self.null else []
        null = [self.null.free_at] if stream.blocking else []
        return max([stream.free_at, *others, *null])


# Doing the same once more, elsewhere.


MOST_COMMANDS = 200_000
MOST_PIECES = 2_000_000  # of L2, over which all kernels pass together
_OF_COMMANDS: Mapping[str, tuple[type, ...]] = {  # name → what its arguments are
    "new_stream": (bool,), "new_buffer": (), "record": (int, int), "wait_event": (int,),
    "wait_stream": (int,), "wait_all": (), "hold": (int, int), "look": (), "elapsed": (int, int),
    "launch": (str, int, float, str, list, list, str), "run": (str, int, float),
}  # fmt: skip
#: Commands that take a stream → which of their arguments that is.
_TAKE_A_STREAM = {"record": 1, "wait_stream": 0, "hold": 0, "launch": 1, "run": 1}


def replay(gpu: SimulatedGpu, commands: object) -> None:
    """Do on ``gpu`` what another one was asked for: its ``commands``.

    Raises ValueError for what no program can have asked for, or what would take too long.
    """
    pieces = 0
    if not isinstance(commands, list) or len(commands) > MOST_COMMANDS:
        raise ValueError(f"commands must be a list of at most {MOST_COMMANDS:,}")
    for command in commands:
        name, arguments = _checked(command)
        if (place := _TAKE_A_STREAM.get(name)) is not None:
            if (stream := gpu.stream(arguments[place])) is None:
                raise ValueError(f"stream={arguments[place]} was never made")
            arguments[place] = stream
        if name == "launch":
            *_, reads, writes, library = arguments
            spans = [[_span(each) for each in part] for part in (reads, writes)]
            pieces += sum(span.nbytes // BLOCK + 2 for part in spans for span in part)
            if pieces > MOST_PIECES:
                most = MOST_PIECES * BLOCK >> 40
                raise ValueError(f"the kernels pass over more than {most} TiB; fewer will do")
            kernel, stream, flops, dtype = arguments[:4]
            gpu.launch(kernel, stream, flops=flops, dtype=dtype, reads=spans[0], writes=spans[1],
                       library=library)  # fmt: skip
            continue
        with suppress(CUDARuntimeError):  # the program was told so, too
            getattr(gpu, name)(*arguments)


def _checked(command: object) -> tuple[str, list]:
    """Return the name and the arguments of a command that a SimulatedGpu may have written."""
    if not isinstance(command, list) or not command or command[0] not in _OF_COMMANDS:
        raise ValueError(f"command={command!r:.60} is none of {', '.join(_OF_COMMANDS)}")
    name, *arguments = command
    kinds = _OF_COMMANDS[name]
    if len(arguments) != len(kinds) or not all(map(_is, arguments, kinds)):
        raise ValueError(f"{name}: {len(kinds)} arguments are wanted, not {arguments!r:.60}")
    return name, arguments


def _is(value: object, kind: type) -> bool:
    if kind is float:
        return type(value) in (int, float) and 0 <= value < math.inf
    return type(value) is kind


def _span(part: object) -> Span:
    sound = isinstance(part, (list, tuple)) and len(part) == 3
    if not sound or not all(type(n) is int and n >= 0 for n in part):
        raise ValueError(f"{part!r:.60}: a buffer, an offset and a length are wanted")
    return Span(*part)
