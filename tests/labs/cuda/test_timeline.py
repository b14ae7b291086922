"""The picture of a simulated GPU: its marks are counted, measured, and said in words."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.cuda import Device, StandIn
from rooflab.labs.cuda.device import CUDARuntimeError
from rooflab.labs.cuda.timeline import HEIGHT, WIDTH, gpu_timeline
from tests.support.rows import each_row

DEVICE = Device("toy", bandwidth=1e12, l2_bandwidth=4e12, l2_bytes=32 << 20, peak={"float32": 1e13})
N = 16 << 20  # 64 MiB of fp32 a vector: beyond the toy's L2
AXPY = rl.axpy(N)
FILLS = {"memory": "#007D5C", "L2": "#2F7DB3", "computing": "#A8327E", "other": "#6B6B6B",
         "dirty": "#B85C00", "wait": "none"}  # fmt: skip


class Program:
    """A stand-in with arrays of AXPY on it, warmed up, and events by name."""

    def __init__(self, n: int = N) -> None:
        self.cp = cp = StandIn(DEVICE)
        self.x, self.y = cp.ones(n, dtype=cp.float32), cp.ones(n, dtype=cp.float32)
        self.start, self.stop = cp.cuda.Event(), cp.cuda.Event()
        self.other = cp.ones(n, dtype=cp.float32)
        self.axpy(), self.other.fill(1), self.wait()

    def axpy(self) -> None:
        self.cp.cublas.axpy(2.0, self.x, self.y)

    def wait(self) -> None:
        self.cp.cuda.Device().synchronize()

    def read(self) -> float:
        return self.cp.cuda.get_elapsed_time(self.start, self.stop)

    def timed(self, *work) -> Program:
        self.start.record()
        for each in work:
            each()
        self.stop.record()
        self.stop.synchronize()
        self.read()
        return self

    @property
    def stamps(self) -> list[float]:
        return [self.cp.gpu.stamps[event.ptr] for event in (self.start, self.stop)]

    def drawn(self, op=AXPY):
        return gpu_timeline(self.cp.gpu.log, op, DEVICE)


@pytest.fixture
def program():
    return Program()


def marks(picture, tag: str) -> list[ElementTree.Element]:
    return [e for e in ElementTree.fromstring(picture.svg).iter() if e.tag.endswith(tag)]


def boxes(picture, kind: str) -> list[tuple[float, float]]:
    """Left and right end of every box of a kind, from left to right."""
    found = [box for box in marks(picture, "rect") if box.get("fill") == FILLS[kind]]
    ends = [(float(b.get("x")), float(b.get("x")) + float(b.get("width"))) for b in found]
    return sorted(ends)


def texts(picture) -> list[str]:
    return ["".join(e.itertext()) for e in marks(picture, "text")]


def events(picture) -> tuple[float, float]:
    """Where the two tall vertical lines are."""
    lines = [{k: float(e.get(k)) for k in ("x1", "x2", "y1", "y2")} for e in marks(picture, "line")]
    tall = sorted(e["x1"] for e in lines if e["x1"] == e["x2"] and e["y2"] - e["y1"] > HEIGHT / 2)
    assert len(tall) == 2
    return tall[0], tall[1]


def between(picture, kind: str) -> list[tuple[float, float]]:
    """The boxes of a kind between the two lines."""
    first, last = events(picture)
    return [b for b in boxes(picture, kind) if b[0] >= first - 0.1 and b[1] <= last + 0.1]


@each_row(1, 2, 5, 20)
def test_every_launch_between_the_events_is_a_box_between_the_lines(count, program):
    picture = program.timed(*[program.axpy] * count).drawn()
    within = between(picture, "memory")
    assert len(within) == count
    assert all(a[1] <= b[0] + 0.05 for a, b in pairwise(within))
    launches = "1 launch" if count == 1 else f"{count} launches"
    assert picture.words.startswith(f"Between your last two events: {launches} of the operation, ")


def test_boxes_are_as_wide_as_the_kernels_are_long(program):
    """Two kernels of AXPY's bytes beside one that only writes: 12, 12 and 4 bytes an element."""
    fill = program.other.fill
    picture = program.timed(program.axpy, lambda: fill(0), program.axpy).drawn()
    first, last = events(picture)
    log = [e for e in program.cp.gpu.log if e["what"] == "launch"][-3:]
    begin, end = program.stamps
    scale = (last - first) / (end - begin)
    drawn = sorted(boxes(picture, "memory")[-2:] + boxes(picture, "other")[-1:])
    for (left, right), launch in zip(drawn, log, strict=True):
        assert left - first == pytest.approx((launch["begin"] - begin) * scale, abs=0.2)
        assert right - left == pytest.approx((launch["end"] - launch["begin"]) * scale, abs=1.2)


def test_the_span_above_the_lines_is_the_time_that_was_read(program):
    picture = program.timed(*[program.axpy] * 3).drawn()
    read = program.read() / 1e3
    assert rl.si(read, "s") in texts(picture)
    assert f"3 launches of the operation, {rl.si(read, 's')}." in picture.words
    assert {"start", "stop", "Python", "GPU"} <= set(texts(picture))


def test_other_kernels_are_grey_counted_and_in_the_singular_if_alone(program):
    fill = program.other.fill
    one = program.timed(program.axpy, lambda: fill(0)).drawn()
    assert len(between(one, "other")) == 1
    assert "1 other kernel ran there too (grey)." in one.words
    two = program.timed(lambda: fill(0), program.axpy, lambda: fill(0)).drawn()
    assert len(between(two, "other")) == 2
    assert "2 other kernels ran there too (grey)." in two.words


def test_what_l2_serves_is_blue_and_its_share_is_told():
    small = Program(1 << 20)  # 8 MiB: it stays in L2
    op = rl.axpy(1 << 20)
    picture = small.timed(small.axpy, small.axpy).drawn(op)
    assert len(boxes(picture, "L2")) >= 2 and not boxes(picture, "memory")
    # It reads two of its three vectors. They are what L2 has.
    assert "67 % of the bytes came from L2 (blue), not from memory." in picture.words


def test_dirty_bytes_of_others_are_orange_and_told():
    """A full L2 of them goes to memory in AXPY's time, and AXPY's own 24 MiB stay behind.

    So the 32 MiB are 8 more than AXPY's ledger has, and only these make it slower.
    """
    program, op = Program(6 << 20), rl.axpy(6 << 20)
    big = program.cp.empty(64 << 20, dtype=program.cp.uint8)
    big.fill(0)
    program.wait()
    picture = program.timed(program.axpy).drawn(op)
    ((left, right),) = boxes(picture, "dirty")
    whole = boxes(picture, "memory")[-1]
    assert left == whole[0]
    more = (32 - 24) << 20
    assert (right - left) / (whole[1] - whole[0]) == pytest.approx(more / (op.bytes + more), 0.02)
    (launch,) = [e for e in program.cp.gpu.log if e["what"] == "launch"][-1:]
    assert launch["written_back"] == 32 << 20
    said = (
        f"{rl.si(more, 'B')} more went to memory than the operation wrote: what others had left "
        "dirty in L2 (orange)."
    )
    assert said in picture.words


def test_a_product_that_computes_is_purple():
    program = Program(1 << 10)
    a = program.cp.ones((1024, 1024), dtype=program.cp.float32)
    picture = program.timed(lambda: a @ a, lambda: a @ a).drawn(rl.gemm(1024, 1024, 1024))
    assert len(boxes(picture, "computing")) == 2
    assert "came from L2" not in picture.words, "what it waits for is its arithmetic"


def test_a_wait_is_a_dashed_frame_and_a_sentence(program):
    def pause():
        for _ in range(400):  # 400 µs in which the host only asks
            _ = program.stop.done

    picture = program.timed(program.axpy, program.wait, pause, program.axpy).drawn()
    frames = boxes(picture, "wait")
    assert len(frames) >= 1
    first, last = events(picture)
    start, stop = program.stamps
    widest = max(right - left for left, right in frames)
    assert widest == pytest.approx(400e-6 / (stop - start) * (last - first), rel=0.05)
    assert "waits" in texts(picture)
    said = re.search(r"For (\d+) µs of it the GPU waited for Python\.", picture.words)
    assert float(said[1]) == pytest.approx(400, rel=0.05)


def test_a_kernel_of_another_stream_is_no_waiting(program):
    """The device is busy with it, so it does not wait for Python."""
    free = program.cp.cuda.Stream(non_blocking=True)
    program.axpy()
    with free:
        picture = program.timed(lambda: program.other.fill(0)).drawn()
    assert "waited" not in picture.words and not boxes(picture, "wait")
    assert picture.words.startswith("Between your last two events: 0 launches of the operation")
    assert "1 other kernel ran there too (grey)." in picture.words


def test_the_first_use_is_told():
    cp = StandIn(DEVICE)
    x, y = cp.ones(N, dtype=cp.float32), cp.ones(N, dtype=cp.float32)
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(), cp.cublas.axpy(1, x, y), stop.record()
    stop.synchronize()
    cp.cuda.get_elapsed_time(start, stop)
    words = gpu_timeline(cp.gpu.log, AXPY, DEVICE).words
    assert words.endswith("The first use of a kernel is among them, and it sets things up.")


def test_a_time_asked_for_too_early_is_told_even_after_one_that_was_not(program):
    """What was asked last counts: a warm-up that was read rightly says nothing of it."""
    too_early = "You asked for this time before the GPU had come to the second event."
    assert too_early not in program.timed(program.axpy).drawn().words
    program.start.record(), program.axpy(), program.stop.record()
    with pytest.raises(CUDARuntimeError):
        program.read()
    assert too_early in program.drawn().words
    program.wait()
    program.read()
    assert too_early not in program.drawn().words


def test_the_wrong_order_is_told_and_drawn_the_right_way_round(program):
    program.timed(program.axpy)
    program.cp.cuda.get_elapsed_time(program.stop, program.start)
    picture = program.drawn()
    assert "You asked for them in the wrong order." in picture.words
    first, last = events(picture)
    assert first < last and len(boxes(picture, "memory")) >= 1


def test_of_several_pairs_the_last_one_is_drawn(program):
    program.timed(*[program.axpy] * 5)
    picture = program.timed(*[program.axpy] * 2).drawn()
    assert picture.words.startswith("Between your last two events: 2 launches")
    again = program.cp.cuda.Event(), program.cp.cuda.Event()
    again[0].record(), program.axpy(), again[1].record()
    assert program.drawn().words == picture.words, "a pair that nobody read is not drawn"


@each_row(1, 3, 40)
def test_without_events_the_last_launches_are_drawn(count, program):
    program.cp.gpu.log.clear()
    for _ in range(count):
        program.axpy()
    picture = program.drawn()
    shown = min(count, 10)
    assert f"You read no two events. Python queued {shown} launches" in picture.words
    assert len(boxes(picture, "memory")) == shown or count > shown
    assert not {"start", "stop"} & set(texts(picture))


def test_without_a_launch_of_the_operation_there_is_no_picture(program):
    program.cp.gpu.log.clear()
    assert program.drawn() is None
    program.other.fill(0)
    assert program.drawn() is None
    program.start.record()
    program.cp.cuda.get_elapsed_time(program.start, program.start) if program.start.done else None
    assert program.drawn() is None, "one event twice is no stretch of time"


def test_pythons_ticks_are_one_for_each_thing_that_it_queued_in_the_window(program):
    program.wait()
    program.timed(program.axpy, program.wait, program.axpy)
    picture = program.drawn()
    lane = [e for e in marks(picture, "line") if e.get("stroke-width") == "2"]
    start, stop = program.stamps
    window = start - 0.45 * (stop - start), stop + 0.12 * (stop - start)
    at = [e["at"] for e in program.cp.gpu.log if e["what"] in ("launch", "record")]
    assert len(lane) == sum(window[0] < t < window[1] for t in at) >= 4


def test_python_far_ahead_is_a_sentence_instead_of_ticks(program):
    for _ in range(200):
        program.axpy()
    picture = program.timed(program.axpy).drawn()
    assert any(re.fullmatch(r"← queued all of this .+ before", text) for text in texts(picture))
    assert not [e for e in marks(picture, "line") if e.get("stroke-width") == "2"]


STEPS = st.lists(
    st.sampled_from(["axpy", "fill", "wait", "ask", "start", "stop", "read", "back"]), max_size=25
)


@given(STEPS)
def test_whatever_a_program_does_its_picture_stays_in_the_frame_and_says_so(steps):
    """All marks inside, all numbers finite, and the words are the text of the picture."""
    p = Program(1 << 22)
    for step in steps:
        if step in ("start", "stop"):
            getattr(p, step).record()
        elif step in ("read", "back"):
            pair = (p.start, p.stop) if step == "read" else (p.stop, p.start)
            try:
                p.cp.cuda.get_elapsed_time(*pair)
            except CUDARuntimeError:
                continue
        elif step == "ask":
            _ = p.stop.done
        else:
            {"axpy": p.axpy, "fill": lambda: p.other.fill(0), "wait": p.wait}[step]()
    picture = p.drawn(rl.axpy(1 << 22))
    root = ElementTree.fromstring(picture.svg)
    assert root.get("aria-label") == picture.words and root.get("role") == "img"
    assert root.get("viewBox") == f"0 0 {WIDTH} {HEIGHT}"
    for box in marks(picture, "rect"):
        x, y, wide, tall = (float(box.get(k)) for k in ("x", "y", "width", "height"))
        assert x >= 0 and x + wide <= WIDTH + 1 and wide >= 0
        assert y >= 0 and y + tall <= HEIGHT
    for line in marks(picture, "line"):
        assert all(0 <= float(line.get(k)) <= WIDTH for k in ("x1", "x2"))
    assert "nan" not in picture.svg and "inf" not in " ".join(texts(picture))
    assert picture.words.endswith(".") and "  " not in picture.words


def test_a_name_of_a_kernel_cannot_break_the_page():
    cp = StandIn(DEVICE)
    x = cp.ones(N, dtype=cp.float32)
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x", '</svg><script>"&')
    kernel(x), cp.cublas.axpy(1, x, x.copy())
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(), kernel(x), stop.record(), stop.synchronize()
    cp.cuda.get_elapsed_time(start, stop)
    picture = gpu_timeline(cp.gpu.log, AXPY, DEVICE)
    assert '</svg><script>"&' in texts(picture)
    assert "<script>" not in picture._repr_html_()
    assert picture._repr_html_().startswith(picture.svg)
