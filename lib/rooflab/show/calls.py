"""The overhead line: what an operation reaches if all of its time is the cost of the call.

A call takes its time before any work is done. As a rate that is FLOP ÷ call time: a line that small
sizes slide down along, far below every roof, until they are large enough to reach the roof. The
line takes a warm call, the cheapest there is, so that no measurement lies above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rooflab.count import blas
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.predict.estimate import Prediction, predict
from rooflab.predict.machine import Machine
from rooflab.predict.routines import overhead
from rooflab.show import theme
from rooflab.show.axes import Frame
from rooflab.show.labels import Crowd
from rooflab.show.polylines import roof
from rooflab.show.sides import home

SAY = {
    "call_warm": " More than half of that time is the call itself, {call}.",
    "call_cold": " More than half of that time is the call itself, {call} with its operands "
    "in memory.",
}
LABEL = "{name} call {call}"
LOWEST = 1e7  # FLOP/s: the foot of a picture that shows the line
#: Routines that one line over n stands for, and how many edges of length n each has.
ROUTINES = {"axpy": 1, "dot": 1, "scale": 1, "ger": 2, "gemv": 2, "gemm": 3}
_SIZES = tuple(dict.fromkeys(round(2 ** (step / 4)) for step in range(84)))


@dataclass(frozen=True)
class CallLine:
    """Calls of ``name``, ``seconds`` each, whatever they do: (FLOP/byte, FLOP/s) up to the roof."""

    name: str
    seconds: float
    points: tuple[tuple[float, float], ...]

    @property
    def label(self) -> str:
        """What the key says of the line: ``AXPY call 111 ns``."""
        return LABEL.format(name=self.name.upper(), call=si(self.seconds, "s"))


def call_line(
    build: Callable[[int], Operation], machine: Machine, cache: str | None
) -> CallLine | None:
    """Return the line of ``build(n)`` on ``machine`` over n = 1, 2, …, cut off at its roof.

    ``cache``: "cold" or "warm", which decides the roof; the line ends on it. None: the highest
    roof of all levels, and the line ends at its last size below. None where calls were never timed.
    """
    smallest = build(1)
    call = overhead(smallest, machine)
    if not call:
        return None
    roofs = {level: roof(machine, smallest.compute_dtype, level) for level in machine.levels}
    points: list[tuple[float, float]] = []
    below = 0.0
    for n in _SIZES:
        op = build(n)
        # A batch of separate calls costs several: the line says what each of them reaches.
        x, rate = op.intensity, op.flops / overhead(op, machine)
        allowed = (
            roofs[home(op, machine, cache)].attainable(x)
            if cache
            else max(one.attainable(x) for one in roofs.values())
        )
        above = math.log(rate / allowed)
        if above >= 0:
            if points and cache:
                points.append(_between(points[-1], (x, rate), below / (below - above)))
            break
        points.append((x, rate))
        below = above
    return CallLine(smallest.name, call, tuple(points)) if len(points) > 1 else None


def _between(a: tuple[float, float], b: tuple[float, float], t: float) -> tuple[float, float]:
    """The point a share ``t`` of the way from ``a`` to ``b`` on logarithmic axes."""
    return tuple(p ** (1 - t) * q**t for p, q in zip(a, b))


def of_operations(
    ops: Iterable[Operation], machine: Machine, cache: str
) -> dict[tuple[str, str], CallLine]:
    """Return the lines of the routines of ``ops``, all edges equal, by operation name and dtype."""
    found = {}
    for op in ops:
        key = (op.name, str(op.compute_dtype))
        if key in found or op.name not in ROUTINES:
            continue
        line = call_line(square(*key), machine, cache)
        if line:
            found[key] = line
    return found


def square(name: str, kind: object) -> Callable[[int], Operation]:
    """Return what makes the routine ``name`` in dtype ``kind`` with all its edges equal to n."""
    make, edges = getattr(blas, name), ROUTINES[name]
    return lambda n: make(*[n] * edges, kind)


def pack(
    builds: Sequence[Callable[[int], Operation]],
    machine: Machine,
    cache: str,
    frame: Frame,
    estimates: Sequence[Prediction],
) -> dict[str, object] | None:
    """Return the lines of one operation for the browser: an SVG path for each of ``builds``.

    ``until``: index of the last of ``estimates`` (one a slider value, smallest first) that is
    mostly call; ``labels``: what the key says of each, "" where there is no line.
    """
    lines = [call_line(build, machine, cache) for build in builds]
    if not any(lines):
        return None
    placed = [
        [(frame.x(x), frame.y(rate)) for x, rate in line.points] if line else [] for line in lines
    ]
    limited = [place for place, estimate in enumerate(estimates) if estimate.limit == "overhead"]
    return {
        "paths": ["M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in p) if p else "" for p in placed],
        "call": si(overhead(builds[0](1), machine, cache), "s"),
        "labels": [line.label if line else "" for line in lines],
        "until": max(limited, default=-1),
    }  # fmt: skip


def said(op: Operation, machine: Machine, cache: str) -> str:
    """Say what the call costs, if it is most of the predicted time of ``op``; else ""."""
    if predict(op, machine, cache=cache).limit != "overhead":
        return ""
    return SAY[f"call_{cache}"].format(call=si(overhead(op, machine, cache), "s"))


def draw(crowd: Crowd, lines: dict[tuple[str, str], CallLine]) -> None:
    """Draw the ``lines`` of :func:`of_operations`, thin, each in its operation's colour."""
    for (name, _), line in lines.items():
        xs, ys = zip(*line.points)
        crowd.ax.plot(xs, ys, "--", color=theme.style(name).colour, lw=1.2, zorder=2)
        crowd.add_line([crowd.pixel(x, max(y, crowd.ax.get_ylim()[0])) for x, y in line.points], 2)
