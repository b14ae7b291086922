"""What a simulated GPU did between two events, drawn from the log of ``rooflab.labs.cuda``.

Two lanes over one axis of time: Python, which queues, and the GPU, which works. The vertical lines
are the two events whose difference was asked for last; all that lies between them is in the time.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.labs.cuda import Device

WIDTH, HEIGHT = 660, 132
_LEFT, _RIGHT = 64, WIDTH - 12  # the lanes, in pixels
_PYTHON, _GPU, _TALL = 46, 66, 30  # top of each lane, and the height of a kernel
_BEFORE, _AFTER = 0.45, 0.12  # what is drawn around the two events, in units of their distance
_MOST = 0.5  # share of its bytes with which a kernel counts as served by L2
_WORTH_SAYING = 0.05  # a share of the time or of the bytes that gets a sentence
_LETTER = 7.2  # pixels, of 13 px text
_ASKED = ("elapsed", "not ready")  # what is logged when a time between two events is asked for
_LAST = 10  # launches that are drawn where no two events were read
_FILLS = {"memory": "#007D5C", "L2": "#2F7DB3", "computing": "#A8327E", "other": "#6B6B6B",
          "dirty": "#B85C00"}  # fmt: skip
_STYLE = (
    "max-width:100%;height:auto;display:block;font:13px system-ui,sans-serif;"
    "color:var(--jp-ui-font-color1,currentColor)"
)

Entry = Mapping[str, object]
Pixel = Callable[[float], float]  # of a time in seconds


@dataclass(frozen=True)
class GpuTimeline:
    """A picture (SVG) and the same in words."""

    svg: str
    words: str

    def _repr_html_(self) -> str:
        return f"{self.svg}<div>{html.escape(self.words)}</div>"


def gpu_timeline(log: Sequence[Entry], op: Operation, device: Device) -> GpuTimeline | None:
    """Draw the two events asked for last in ``log`` and what lies around them.

    ``log``: of a stand-in for ``device``, ``StandIn.gpu.log``. ``op``: the operation that was to be
    timed; every other kernel is drawn as other work. Where no two events were asked for, the last
    launches of ``op`` are drawn. None where there are none.
    """
    kernels = [_Kernel.of(e, op, device) for e in log if e["what"] == "launch"]
    shown = [k for k in kernels if k.kind != "other"][-_LAST:]
    pair = _pair(log)
    if pair is None and not shown:
        return None
    start, stop = sorted(pair or (min(shown[0].begin, shown[0].at), shown[-1].end))
    first, last = start - _BEFORE * (stop - start), stop + _AFTER * (stop - start)

    def x(seconds: float) -> float:
        """Return the pixel of a time; what lies outside is at the edge."""
        share = (seconds - first) / (last - first)
        return _LEFT + (_RIGHT - _LEFT) * min(1.0, max(0.0, share))

    parts = [
        *(_drawn(k, x) for k in kernels if k.end > first and k.begin < last),
        *_waits(kernels, start, stop, x),
        *_python([e["at"] for e in log if "at" in e], first, last, x(start), x),
        *(_events(x(start), x(stop), si(stop - start, "s")) if pair else ()),
    ]
    words = _between(log, pair, kernels) if pair else _without_events(shown)
    return GpuTimeline(_svg(parts, words), words)


def _pair(log: Sequence[Entry]) -> tuple[float, float] | None:
    """The stamps of the two events asked for last, as they were asked for."""
    stamps: dict[object, float] = {}
    pair = None
    for entry in log:
        if entry["what"] == "record":
            stamps[entry["event"]] = float(entry["stamp"])
        elif entry["what"] in _ASKED:
            pair = stamps.get(entry["start"], 0.0), stamps.get(entry["stop"], 0.0)
    return pair if pair and pair[0] != pair[1] else None


@dataclass(frozen=True)
class _Kernel:
    """A launch as the picture needs it.

    ``at``: when Python had queued it; ``kind``: what the operation spends its time on, "other" for
    other work; ``warm``: its bytes from L2; ``dirty``: how many more bytes went from L2 to memory
    than the operation writes. Of what went there more than ``dirty`` may be of others: the own
    result may still be in L2.
    """

    name: str
    at: float
    begin: float
    end: float
    bytes: float
    warm: float
    dirty: float
    first: bool
    kind: str

    @classmethod
    def of(cls, entry: Entry, op: Operation, device: Device) -> _Kernel:
        flops, moved, warm = entry["flops"], entry["bytes"], entry["l2_bytes"]
        kind = "L2" if warm > _MOST * moved else "memory"
        if device.kernel_seconds(flops, "float32", 0) > device.kernel_seconds(0, "float32", moved):
            kind = "computing"
        if (flops, moved) != (op.flops, op.bytes):
            kind = "other"
        written = sum(o.nbytes for o in op.operands if o.writes)
        return cls(
            str(entry["kernel"]), entry["at"], entry["begin"], entry["end"], moved, warm,
            max(0, entry["written_back"] - written), bool(entry["setup"]), kind,
        )  # fmt: skip


def _svg(parts: Sequence[str], words: str) -> str:
    lanes = "".join(
        _mark("text", name, x=0, y=y, fill="currentColor")
        for name, y in (("Python", _PYTHON + 4), ("GPU", _GPU + 20))
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{html.escape(words)}" style="{_STYLE}">{lanes}{"".join(parts)}</svg>'
    )


def _mark(tag: str, words: str = "", **attributes: object) -> str:
    """Return a mark of SVG: a float is a pixel, shown to one tenth."""
    shown = "".join(
        f' {name.replace("_", "-")}="{round(value, 1) if isinstance(value, float) else value}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{shown}>{html.escape(words)}</{tag}>" if words else f"<{tag}{shown}/>"


def _box(left: float, wide: float, fill: str, **more: str) -> str:
    return _mark("rect", x=left, y=_GPU, width=wide, height=_TALL, fill=fill, **more)


def _text(x: float, y: int, words: str, fill: str = "currentColor") -> str:
    return _mark("text", words, x=x, y=y, text_anchor="middle", fill=fill)


def _line(x1: float, y1: int, x2: float, y2: int, wide: float = 1.5) -> str:
    return _mark("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="currentColor", stroke_width=wide)


def _drawn(kernel: _Kernel, x: Pixel) -> str:
    """One kernel: its colour says what it spends its time on, and so do its words if they fit."""
    left, kind = x(kernel.begin), kernel.kind
    wide = max(x(kernel.end) - left - 1, 1.0)
    drawn = _box(left, wide, _FILLS[kind])
    because = {"other": "", "computing": ", computing"}.get(kind, f", from {kind}")
    if kind != "other" and kernel.dirty > _WORTH_SAYING * kernel.bytes:
        share, because = kernel.dirty / (kernel.bytes + kernel.dirty), ""
        drawn += _box(left, wide * share, _FILLS["dirty"])
    fits = [w for w in (kernel.name + because, kernel.name) if wide > _LETTER * len(w) + 6]
    return drawn + (_text(left + wide / 2, _GPU + 20, fits[0], "#fff") if fits else "")


def _waits(kernels: Sequence[_Kernel], start: float, stop: float, x: Pixel) -> Iterator[str]:
    """Dashed frames where the GPU has nothing to do between the events."""
    free = max([start, *(k.end for k in kernels if k.begin < start)])
    inside = [(k.begin, k.end) for k in kernels if start <= k.begin < stop]
    for begin, end in [*inside, (stop, stop)]:
        left, right = x(free), x(begin)
        if right - left > 3:
            dashes = {"stroke": "currentColor", "stroke_dasharray": "4 3"}
            yield _box(left + 1, right - left - 2, "none", **dashes)
        if right - left > 6 * _LETTER:
            yield _text((left + right) / 2, _GPU + 20, "waits")
        free = max(free, end)


def _python(at: Sequence[float], first: float, last: float, start: float, x: Pixel) -> list[str]:
    """A tick for everything that Python queued, or how long before the picture it did so."""
    if ticks := [x(t) for t in at if first < t < last]:
        return [_line(tick, _PYTHON - 8, tick, _PYTHON + 6, 2) for tick in ticks]
    ahead = first - max((t for t in at if t <= first), default=first)
    words = f"← queued all of this {si(ahead, 's')} before"
    return [_mark("text", words, x=start + 8, y=_PYTHON + 4, fill="currentColor")]


def _events(left: float, right: float, between: str) -> list[str]:
    """The two events, and the time between them."""
    bottom = _GPU + _TALL + 8
    return [
        _line(left, 26, left, bottom), _line(right, 26, right, bottom),
        _line(left, 30, right, 30, 1), _text((left + right) / 2, 20, between),
        _text(left, HEIGHT - 12, "start"), _text(right, HEIGHT - 12, "stop"),
    ]  # fmt: skip


def _between(log: Sequence[Entry], pair: tuple[float, float], kernels: Sequence[_Kernel]) -> str:
    """What lies between the events, in sentences; what is as it should be is not mentioned."""
    start, stop = sorted(pair)
    there = [k for k in kernels if k.end > start and k.begin < stop]  # wholly or in part
    inside = [k for k in there if k.begin >= start and k.end <= stop]
    wanted = [k for k in inside if k.kind != "other"]
    launches = "1 launch" if len(wanted) == 1 else f"{len(wanted)} launches"
    others = sum(k.kind == "other" for k in there)
    idle = stop - start - sum(min(k.end, stop) - max(k.begin, start) for k in there)
    moved, dirty = sum(k.bytes for k in wanted), sum(k.dirty for k in wanted)
    warm = sum(k.warm for k in wanted if k.kind != "computing")
    asked = [e["what"] for e in log if e["what"] in _ASKED]
    sentences = [
        (True, f"Between your last two events: {launches} of the operation, "
               f"{si(stop - start, 's')}."),
        (pair[0] > pair[1], "You asked for them in the wrong order."),
        (asked[-1] == "not ready",
         "You asked for this time before the GPU had come to the second event."),
        (others, f"{others} other kernel{'s' * (others > 1)} ran there too (grey)."),
        (idle > _WORTH_SAYING * (stop - start),
         f"For {si(idle, 's')} of it the GPU waited for Python."),
        (warm > _WORTH_SAYING * moved,
         f"{100 * warm / max(moved, 1):.0f} % of the bytes came from L2 (blue), not from memory."),
        (dirty > _WORTH_SAYING * moved,
         f"{si(dirty, 'B')} more went to memory than the operation wrote: what others had left "
         "dirty in L2 (orange)."),
        (any(k.first for k in inside),
         "The first use of a kernel is among them, and it sets things up."),
    ]  # fmt: skip
    return " ".join(sentence for shown, sentence in sentences if shown)


def _without_events(last: Sequence[_Kernel]) -> str:
    """What a clock outside the GPU cannot see."""
    queued, ended = last[-1].at - last[0].at, last[-1].end - last[0].begin
    return (
        f"You read no two events. Python queued {len(last)} launches within {si(queued, 's')}; "
        f"the GPU worked on them for {si(ended, 's')}."
    )
