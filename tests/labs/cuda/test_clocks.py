"""The two clocks, the host's and the device's: streams, events and waits, as CUDA orders them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.cuda import Device, StandIn
from rooflab.labs.cuda.device import POLL_S, CUDARuntimeError

DEVICE = Device(
    "toy", bandwidth=1e12, l2_bandwidth=4e12, l2_bytes=32 << 20, peak={"float32": 1e13},
    launch_s=4e-6, record_s=1e-6, kernel_s=1e-6, setup_s=5e-3,
)  # fmt: skip
WAITS_FOR = {0: (0, 1, 2), 1: (0, 1), 2: (0, 2), 3: (3,)}  # of streams, by the CUDA Runtime API
WORK = 1 << 26  # bytes of the array that a kernel of these tests fills: 64 µs of memory


@pytest.fixture
def cp():
    found = StandIn(DEVICE)
    found.empty(1, dtype=found.uint8).fill(0)  # the first use is over
    found.cuda.Device().synchronize()
    return found


@pytest.fixture
def busy(cp):
    """Queue one long kernel on the current stream; it displaces what the one before it left."""
    target = cp.empty(WORK, dtype=cp.uint8)
    target.fill(0)
    cp.cuda.Device().synchronize()
    return lambda: target.fill(0)


# What a program may queue, and when CUDA finishes it. The model below knows nothing of a "time at
# which a stream is free". It keeps every item, with all the items that must be finished before.


@dataclass
class Item:
    """One thing that was queued: from ``issued`` on it may run, once all ``after`` it have."""

    stream: int
    issued: float
    seconds: float
    after: list[Item]
    event: int | None = None

    @property
    def finished(self) -> float:
        return max([self.issued, *(item.finished for item in self.after)]) + self.seconds


@dataclass
class Queue:
    """CUDA's order for a null stream (0), blocking streams (1, 2) and a non-blocking one (3).

    Everything waits for what was queued before in its stream. The null stream also waits for what
    the blocking ones have, and they for what it has. The device runs one kernel at a time.
    """

    items: list[Item] = field(default_factory=list)
    recorded: dict[int, Item] = field(default_factory=dict)
    now: float = 0.0

    def put(self, stream: int, seconds: float = 0.0) -> Item:
        before = [item for item in self.items if item.stream in WAITS_FOR[stream]]
        kernels = [item for item in self.items if item.seconds] if seconds else []
        # Only the last of each stream matters, as each has waited for those before it.
        last = {item.stream: item for item in before}
        found = Item(stream, self.now, seconds, [*last.values(), *kernels[-1:]])
        found.after = [Item(-1, item.finished, 0.0, []) for item in found.after]  # settled
        self.items.append(found)
        return found

    def finish(self, *streams: int) -> float:
        return max((i.finished for i in self.items if i.stream in (streams or range(4))), default=0)


STREAMS = st.integers(0, 3)
EVENTS = st.integers(0, 2)
PROGRAMS = st.lists(
    st.one_of(
        st.tuples(st.just("launch"), STREAMS),
        st.tuples(st.just("record"), EVENTS, STREAMS),
        st.tuples(st.just("wait for event"), EVENTS),
        st.tuples(st.just("wait for device")),
        st.tuples(st.just("wait for stream"), STREAMS),
        st.tuples(st.just("ask"), EVENTS),
        st.tuples(st.just("ask stream"), STREAMS),
    ),
    min_size=3,
    max_size=20,
)


class Both:
    """A program that runs on the stand-in and on the model, a step at a time."""

    def __init__(self) -> None:
        self.cp = StandIn(DEVICE)
        null = self.cp.cuda.Stream.null
        made = [self.cp.cuda.Stream(non_blocking=free) for free in (False, False, True)]
        self.streams = [null, *made]
        self.events = [self.cp.cuda.Event() for _ in range(3)]
        self.array = self.cp.empty(WORK, dtype=self.cp.uint8)
        self.array.fill(0)
        self.cp.cuda.Device().synchronize()
        self.model = Queue(now=self.cp.gpu.now)

    def run(self, what: str, *on: int) -> None:
        getattr(self, "_" + what.replace(" ", "_"))(*on)
        assert self.cp.gpu.now == pytest.approx(self.model.now, rel=1e-12)

    def _launch(self, stream: int) -> None:
        with self.streams[stream]:
            self.array.fill(0)
        self.model.now += DEVICE.launch_s
        # Every fill displaces what the one before it left: the same bytes move each time.
        self.model.put(stream, DEVICE.kernel_seconds(0, "uint8", WORK))

    def _record(self, event: int, stream: int) -> None:
        self.events[event].record(self.streams[stream])
        self.model.now += DEVICE.record_s
        self.model.recorded[event] = self.model.put(stream)

    def _wait_for_event(self, event: int) -> None:
        self.events[event].synchronize()
        if (mark := self.model.recorded.get(event)) is not None:
            self.model.now = max(self.model.now, mark.finished)

    def _wait_for_device(self) -> None:
        self.cp.cuda.Device().synchronize()
        self.model.now = max(self.model.now, self.model.finish())

    def _wait_for_stream(self, stream: int) -> None:
        self.streams[stream].synchronize()
        self.model.now = max(self.model.now, self.model.finish(*WAITS_FOR[stream]))

    def _ask_stream(self, stream: int) -> None:
        """CUDA: where cudaStreamQuery() says success, cudaStreamSynchronize() returns at once."""
        self.model.now += POLL_S
        over = self.model.finish(*WAITS_FOR[stream]) <= self.model.now
        assert self.streams[stream].done is over

    def _ask(self, event: int) -> None:
        self.model.now += POLL_S
        mark = self.model.recorded.get(event)
        assert self.events[event].done is (mark is None or mark.finished <= self.model.now)


@settings(max_examples=150)
@given(PROGRAMS)
def test_every_event_is_stamped_when_cuda_would_reach_it(program):
    both = Both()
    for step in program:
        both.run(*step)
    for number, mark in both.model.recorded.items():
        assert both.cp.gpu.stamps[both.events[number].ptr] == pytest.approx(
            mark.finished, rel=1e-12
        )


@given(PROGRAMS)
def test_an_elapsed_time_is_told_when_both_events_are_over_and_not_before(program):
    both = Both()
    for step in program:
        both.run(*step)
    get, recorded = both.cp.cuda.get_elapsed_time, both.model.recorded
    for first in range(3):
        for second in range(3):
            pair = [both.events[first], both.events[second]]
            marks = [recorded.get(first), recorded.get(second)]
            if None in marks:
                with pytest.raises(CUDARuntimeError, match="^cudaErrorInvalidResourceHandle"):
                    get(*pair)
            elif max(mark.finished for mark in marks) > both.model.now:
                with pytest.raises(CUDARuntimeError, match="^cudaErrorNotReady: device not ready$"):
                    get(*pair)
            else:
                right = (marks[1].finished - marks[0].finished) * 1e3
                assert get(*pair) == pytest.approx(right, abs=1e-9)


@given(PROGRAMS)
def test_time_goes_forward_and_the_log_is_in_the_hosts_order(program):
    both = Both()
    both.cp.gpu.log.clear()
    for step in program:
        both.run(*step)
    log = both.cp.gpu.log
    hosts = [e["now"] if e["what"] == "synchronize" else e["at"] for e in log]
    assert hosts == sorted(hosts)
    kernels = [e for e in log if e["what"] == "launch"]
    assert all(a["end"] <= b["begin"] for a, b in pairwise(kernels))
    assert all(e["at"] <= e["begin"] < e["end"] for e in kernels)
    assert all(e["at"] <= e["stamp"] for e in log if e["what"] == "record")


# One rule at a time, as a learner meets it.


def test_a_block_of_with_ends_where_it_began_even_after_an_error(cp):
    outer, inner = cp.cuda.Stream(), cp.cuda.Stream()
    null = cp.cuda.get_current_stream()
    with outer:
        with inner:
            assert cp.cuda.get_current_stream() is inner
        with pytest.raises(ZeroDivisionError), inner:
            _ = 1 / 0
        assert cp.cuda.get_current_stream() is outer
    assert cp.cuda.get_current_stream() is null is cp.cuda.Stream.null


def test_fetching_values_waits_for_the_current_stream(cp, busy):
    x = cp.ones(4)
    busy()
    event = cp.cuda.Event()
    event.record()
    assert not event.done
    x.get()
    assert event.done


def test_kernels_of_one_library_are_set_up_together_and_others_by_name_and_type(cp):
    def setups(work):
        cp.gpu.log.clear()
        work()
        return [e["setup"] for e in cp.gpu.log if e["what"] == "launch"]

    x, y = cp.ones(8, dtype=cp.float32), cp.ones(8, dtype=cp.float32)
    assert setups(lambda: (cp.cublas.axpy(1, x, y), cp.cublas.scal(1, x))) == [True, False]
    assert setups(lambda: x @ y) == [False], "a product is cuBLAS's too"
    assert setups(lambda: (cp.add(x, y), cp.add(x, y), cp.multiply(x, y))) == [True, False, True]
    double = cp.ones(8)
    assert setups(lambda: cp.add(double, double)) == [True], "compiled for fp32 only so far"
