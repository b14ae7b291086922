"""What a simulated GPU did between two events, drawn from the log of ``rooflab.labs.cuda``.

Two lanes over one axis of time: Python, which queues, and the GPU, which works. The vertical lines
are the two events whose difference was asked for last; all that lies between them is in the time.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
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
    last = [k for k in kernels if k.wanted][-_LAST:]
    pair = _pair(log)
    if pair is None and not last:
        return None
    start, stop = sorted(pair or (min(last[0].begin, last[0].at), last[-1].end))
    window = _Window(start - _BEFORE * (stop - start), stop + _AFTER * (stop - start))
    there = [k for k in kernels if k.end > start and k.begin < stop]
    parts = [
        *(_drawn(k, window) for k in kernels if window.shows(k.begin, k.end)),
        *_waits(kernels, start, stop, window),
        *_python(log, start, window),
        *(_events(start, stop, window) if pair else ()),
    ]
    words = _between(log, pair, there) if pair else _without_events(last)
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

    ``at``: when Python had queued it; ``warm``: its share of bytes from L2; ``dirty``: how many
    more bytes went from L2 to memory than the operation writes; ``wanted``: it is the operation.
    Of what went there more than ``dirty`` may be of others: the own result may still be in L2.
    """

    name: str
    at: float
    begin: float
    end: float
    bytes: float
    warm: float
    dirty: float
    first: bool
    wanted: bool
    computes: bool

    @classmethod
    def of(cls, entry: Entry, op: Operation, device: Device) -> _Kernel:
        carried, computed = (
            device.kernel_seconds(flops, "float32", nbytes)
            for flops, nbytes in ((0, entry["bytes"]), (entry["flops"], 0))
        )
        written = sum(o.nbytes for o in op.operands if o.writes)
        return cls(
            str(entry["kernel"]), entry["at"], entry["begin"], entry["end"], entry["bytes"],
            warm=entry["l2_bytes"] / entry["bytes"] if entry["bytes"] else 0.0,
            dirty=max(0, entry["written_back"] - written),
            first=bool(entry["setup"]),
            wanted=entry["flops"] == op.flops and entry["bytes"] == op.bytes,
            computes=computed > carried,
        )  # fmt: skip


@dataclass(frozen=True)
class _Window:
    """The seconds that are drawn."""

    first: float
    last: float

    def shows(self, begin: float, end: float) -> bool:
        return end > self.first and begin < self.last

    def x(self, seconds: float) -> float:
        """Pixel of a time; what lies outside is at the edge."""
        share = (seconds - self.first) / (self.last - self.first)
        return _LEFT + (_RIGHT - _LEFT) * min(1.0, max(0.0, share))


def _svg(parts: Sequence[str], words: str) -> str:
    lanes = "".join(
        f'<text x="0" y="{y}" fill="currentColor">{name}</text>'
        for name, y in (("Python", _PYTHON + 4), ("GPU", _GPU + 20))
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{html.escape(words)}" style="{_STYLE}">{lanes}{"".join(parts)}</svg>'
    )


def _drawn(kernel: _Kernel, window: _Window) -> str:
    """One kernel: its colour says what it spends its time on, and so do its words if they fit."""
    left, right = window.x(kernel.begin), window.x(kernel.end)
    wide = max(right - left - 1, 1)
    kind, said = "other", ""
    if kernel.wanted:
        kind = "computing" if kernel.computes else "L2" if kernel.warm > _MOST else "memory"
        said = ", computing" if kernel.computes else f", from {kind}"
    drawn = _box(left, wide, _FILLS[kind])
    if kernel.wanted and kernel.dirty > _WORTH_SAYING * kernel.bytes:
        share = kernel.dirty / (kernel.bytes + kernel.dirty)
        drawn, said = drawn + _box(left, wide * share, _FILLS["dirty"]), ""
    fits = [w for w in (kernel.name + said, kernel.name) if wide > _LETTER * len(w) + 6]
    return drawn + (_text(left + wide / 2, _GPU + 20, fits[0], "#fff") if fits else "")


def _box(left: float, wide: float, fill: str, more: str = "") -> str:
    return (
        f'<rect x="{left:.1f}" y="{_GPU}" width="{wide:.1f}" height="{_TALL}" fill="{fill}"{more}/>'
    )


def _text(x: float, y: float, words: str, fill: str = "currentColor") -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" text-anchor="middle" fill="{fill}">{html.escape(words)}</text>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, wide: float = 1.5) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}" stroke="currentColor" '
        f'stroke-width="{wide}"/>'
    )


def _waits(kernels: Sequence[_Kernel], start: float, stop: float, window: _Window) -> Iterator[str]:
    """Dashed frames where the GPU has nothing to do between the events."""
    free = max([start, *(k.end for k in kernels if k.begin < start)])
    inside = [(k.begin, k.end) for k in kernels if start <= k.begin < stop]
    for begin, end in [*inside, (stop, stop)]:
        left, right = window.x(free), window.x(begin)
        if right - left > 3:
            dashes = ' stroke="currentColor" stroke-dasharray="4 3"'
            yield _box(left + 1, right - left - 2, "none", dashes)
        if right - left > 6 * _LETTER:
            yield _text((left + right) / 2, _GPU + 20, "waits")
        free = max(free, end)


def _python(log: Sequence[Entry], start: float, window: _Window) -> list[str]:
    """A tick for everything that Python queued, or how long before the window it did so."""
    at = [e["at"] for e in log if e["what"] in ("launch", "record")]
    ticks = [window.x(t) for t in at if window.shows(t, t)]
    if ticks:
        return [_line(x, _PYTHON - 8, x, _PYTHON + 6, 2) for x in ticks]
    ahead = window.first - max((t for t in at if t <= window.first), default=window.first)
    words = f"← queued all of this {si(ahead, 's')} before"
    left = window.x(start) + 8
    return [f'<text x="{left:.1f}" y="{_PYTHON + 4}" fill="currentColor">{words}</text>']


def _events(start: float, stop: float, window: _Window) -> list[str]:
    """The two events, and the time between them."""
    left, right, bottom = window.x(start), window.x(stop), _GPU + _TALL + 8
    return [
        _line(left, 26, left, bottom), _line(right, 26, right, bottom),
        _line(left, 30, right, 30, 1), _text((left + right) / 2, 20, si(stop - start, "s")),
        _text(left, HEIGHT - 12, "start"), _text(right, HEIGHT - 12, "stop"),
    ]  # fmt: skip


def _between(log: Sequence[Entry], pair: tuple[float, float], there: Sequence[_Kernel]) -> str:
    """What lies between the events, in sentences; what is as it should be is not mentioned.

    ``there``: the kernels that ran between them, wholly or in part.
    """
    start, stop = sorted(pair)
    inside = [k for k in there if k.begin >= start and k.end <= stop]
    span, wanted = stop - start, [k for k in inside if k.wanted]
    launches = "1 launch" if len(wanted) == 1 else f"{len(wanted)} launches"
    said = [f"Between your last two events: {launches} of the operation, {si(span, 's')}."]
    if pair[0] > pair[1]:
        said.append("You asked for them in the wrong order.")
    asked = [e["what"] for e in log if e["what"] in _ASKED]
    if asked[-1] == "not ready":
        said.append("You asked for this time before the GPU had come to the second event.")
    others = sum(not k.wanted for k in there)
    if others:
        said.append(f"{others} other kernel{'s' * (others > 1)} ran there too (grey).")
    idle = span - sum(min(k.end, stop) - max(k.begin, start) for k in there)
    if idle > _WORTH_SAYING * span:
        said.append(f"For {si(idle, 's')} of it the GPU waited for Python.")
    moved, dirty = sum(k.bytes for k in wanted), sum(k.dirty for k in wanted)
    warm = sum(k.warm * k.bytes for k in wanted if not k.computes)
    if warm > _WORTH_SAYING * moved:
        said.append(
            f"{100 * warm / moved:.0f} % of the bytes came from L2 (blue), not from memory."
        )
    if dirty > _WORTH_SAYING * moved:
        said.append(
            f"{si(dirty, 'B')} more went to memory than the operation wrote: what others had left "
            "dirty in L2 (orange)."
        )
    if any(k.first for k in inside):
        said.append("The first use of a kernel is among them, and it sets things up.")
    return " ".join(said)


def _without_events(last: Sequence[_Kernel]) -> str:
    """What a clock outside the GPU cannot see."""
    queued, ended = last[-1].at - last[0].at, last[-1].end - last[0].begin
    return (
        f"You read no two events. Python queued {len(last)} launches within {si(queued, 's')}; "
        f"the GPU worked on them for {si(ended, 's')}."
    )
