"""The simulated L2 against a slow model that keeps every byte by itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.labs.cuda import Device, StandIn, device
from rooflab.labs.cuda.device import L2Cache, Span
from tests.support.rows import each_row

SMALL = 8  # bytes of a piece where the model counts bytes one by one


@dataclass
class ByteByByte:
    """A write-back cache that knows of every byte whether it is here, and whether it is dirty.

    Pieces leave whole, and have no gaps. ``order``: the least recently used piece first.
    """

    capacity: int
    here: set[tuple[int, int]] = field(default_factory=set)
    dirty: set[tuple[int, int]] = field(default_factory=set)
    order: list[tuple[int, int]] = field(default_factory=list)

    def touch(self, span: Span, *, writes: bool) -> tuple[int, int]:
        """Bytes that were here, and dirty ones that had to leave."""
        hit, left = 0, 0
        inside = range(span.start, span.start + span.nbytes)
        for number in dict.fromkeys(at // SMALL for at in inside):
            piece = span.buffer, number
            wanted = {(span.buffer, at) for at in inside if at // SMALL == number}
            hit += len(wanted & self.here)
            for kept in (self.here, self.dirty) if writes else (self.here,):
                ends = [at for _, at in wanted | self.of(piece, kept)]
                kept |= {(span.buffer, at) for at in range(min(ends), max(ends) + 1)}
            self.order = [each for each in self.order if each != piece] + [piece]
            while len(self.here) > self.capacity:
                gone = self.of(self.order.pop(0), self.here)
                left += len(gone & self.dirty)
                self.here -= gone
                self.dirty -= gone
        return hit, left

    def of(self, piece: tuple[int, int], kept: set[tuple[int, int]]) -> set[tuple[int, int]]:
        return {(buffer, at) for buffer, at in kept if (buffer, at // SMALL) == piece}


PASSES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3 * SMALL), st.integers(0, 5 * SMALL),
              st.booleans()), min_size=1, max_size=25,
)  # fmt: skip


@given(PASSES, st.integers(1, 6 * SMALL))
def test_bytes_are_found_and_leave_as_in_the_model(program, capacity):
    """Wherever a pass begins and ends; the capacity need be no multiple of a piece."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "BLOCK", SMALL)
        cache, model = L2Cache(capacity), ByteByByte(capacity)
        for buffer, start, length, writes in program:
            span = Span(buffer, start, length)
            assert cache.touch(span, writes=writes) == model.touch(span, writes=writes)


# The same, seen from a program.


def gpu_of(megabytes: int) -> StandIn:
    return StandIn(
        Device(
            "toy", bandwidth=1e12, l2_bandwidth=4e12, l2_bytes=megabytes << 20,
            peak={"float32": 1e13},
        )
    )  # fmt: skip


@each_row(0.25, 0.5, 0.9, 1.5, 4.0)
def test_a_second_pass_finds_what_fits_and_nothing_of_a_larger_array(share):
    """Least recently used is all or nothing for a repeated pass: the mean of both never shows."""
    cp = gpu_of(64)
    x = cp.ones(int(share * (64 << 20)) // 4, dtype=cp.float32)
    x.sum(), x.sum()
    launch = cp.gpu.log[-1]
    assert launch["l2_bytes"] == (x.nbytes if share < 1 else 0)


def test_arrays_made_earlier_are_found_by_slices_of_them():
    cp = gpu_of(64)
    x = cp.ones(8 << 20, dtype=cp.float32)
    half = x[: x.size // 2]
    x.sum()
    half.sum()
    assert cp.gpu.log[-1]["l2_bytes"] == half.nbytes
    assert cp.gpu.log[-1]["bytes"] == half.nbytes + 4


def test_a_kernel_pays_for_the_dirty_bytes_that_it_displaces_and_is_slower_by_them():
    """The same reading pass, after 128 MiB that were read and after 128 MiB that were written."""
    seconds = {}
    for work in ("read", "written"):
        cp = gpu_of(64)
        x, big = cp.ones(8 << 20, dtype=cp.float32), cp.ones(32 << 20, dtype=cp.float32)
        big.sum() if work == "read" else big.fill(0)
        x.sum()
        launch = cp.gpu.log[-1]
        seconds[work] = launch["end"] - launch["begin"]
        # The 32 MiB come in, and as many of the written ones go out.
        moved = x.nbytes + (x.nbytes if work == "written" else 0)
        assert launch["l2_bytes"] == 0
        assert seconds[work] - cp.gpu.device.kernel_s == pytest.approx(moved / 1e12, rel=0.02)
    assert seconds["written"] > 1.9 * seconds["read"]


def test_bytes_of_l2_cost_time_too():
    """A pass that L2 serves runs at L2's bandwidth, not at once."""
    cp = gpu_of(64)
    x = cp.ones(8 << 20, dtype=cp.float32)
    x.sum(), x.sum()
    launch = cp.gpu.log[-1]
    took = launch["end"] - launch["begin"] - cp.gpu.device.kernel_s
    assert took == pytest.approx(x.nbytes / 4e12, rel=0.01)
