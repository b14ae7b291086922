"""What stands still in the morph: the machine's roofs, and the lines on which a call is all cost.

A call that does nothing still takes the time of a call. Over work that time is a floor; as a rate
it is FLOP ÷ call time, a line that small problems climb before they reach the roof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rooflab.count import blas
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import homes, predict
from rooflab.predict.machine import Machine
from rooflab.predict.routines import overhead
from rooflab.show.morph_points import Dot
from rooflab.show.polylines import Ceiling, missing, roof

_FAMILIES = {
    "axpy": blas.axpy, "dot": blas.dot, "scale": blas.scale,
    "ger": lambda n, kind: blas.ger(n, n, kind),
    "gemv": lambda n, kind: blas.gemv(n, n, kind),
    "gemm": lambda n, kind: blas.gemm(n, n, n, kind),
}  # fmt: skip
LARGEST = 1 << 20


@dataclass(frozen=True)
class CallLine:
    """Calls of one routine that cost ``seconds`` each, whatever they do: (intensity, FLOP/s)."""

    name: str
    seconds: float
    points: tuple[tuple[float, float], ...]

    @property
    def label(self) -> str:
        """What stands at the line."""
        return f"{self.name.upper()} call {si(self.seconds, 's')}"


def machine_of(measurements: Sequence[Measurement]) -> Machine | None:
    """The machine that ``measurements`` were taken on, if its roofs are stored or recorded.

    None when they come from several machines or thread counts, or when nothing is known of it.
    Nothing is measured.
    """
    from rooflab.measure.recording import recording, recordings
    from rooflab.measure.this_machine import stored_machine

    homes_of = {(m.machine, m.backend, m.threads) for m in measurements}
    if len(homes_of) != 1:
        return None
    id, backend, threads = homes_of.pop()
    try:
        here = stored_machine(backend, threads)
    except (ValueError, RuntimeError):  # a recorded GPU's measurements, on a computer without one
        here = None
    kept = (recording(name).machine for name in recordings())
    for known in (here, *kept):
        if known is not None and known.id == id and known.threads in (None, threads):
            return known
    return None


def ceilings(dots: Sequence[Dot], machine: Machine | None) -> tuple[Ceiling, ...]:
    """Roofs to draw: memory's for every dtype that is there, and the caches that feed a warm point.

    Empty without a machine, and for a dtype that it has no figure for.
    """
    if machine is None:
        return ()
    kinds = list(dict.fromkeys(dot.op.compute_dtype for dot in dots))
    found = [
        Ceiling("dram", roof(machine, kind)) for kind in kinds if not missing(machine, kind, "cold")
    ]
    if found:
        kind = found[0].roof.dtype
        levels = {next(iter(homes(dot.op.working_set, machine, dot.cache))) for dot in dots}
        caches = [level for level in machine.levels if level in levels - {"dram"}]
        found += [Ceiling(level, roof(machine, kind, level)) for level in caches]
    return tuple(found)


def call_lines(dots: Sequence[Dot], machine: Machine | None) -> tuple[CallLine, ...]:
    """The overhead lines of the routines whose call decides for one of ``dots``.

    If it decides for none, of all routines that are there. The warm call is taken, the cheapest
    there is, so that nothing can lie above its line. Empty where no call was calibrated.
    """
    if machine is None or not machine.routines:
        return ()
    usable = [
        dot for dot in dots
        if dot.op.name in _FAMILIES and overhead(dot.op, machine) > 0
        and not missing(machine, dot.op.compute_dtype, "cold")
    ]  # fmt: skip
    small = [d for d in usable if predict(d.op, machine, cache=d.cache).limit == "overhead"]
    families = dict.fromkeys((d.op.name, d.op.compute_dtype) for d in small or usable)
    return tuple(_line(name, kind, machine) for name, kind in families)


def _line(name: str, kind: object, machine: Machine) -> CallLine:
    call = overhead(_FAMILIES[name](1, kind), machine)
    top = [roof(machine, kind, level) for level in machine.levels]
    points: list[tuple[float, float]] = []
    for n in _sizes():
        op: Operation = _FAMILIES[name](n, kind)
        rate = op.flops / call
        if points and rate > max(r.attainable(op.intensity) for r in top):
            break  # beyond the highest roof the call no longer decides
        points.append((op.intensity, rate))
    return CallLine(name, call, tuple(points))


def _sizes() -> list[int]:
    """1, 2, 3, 4, 5, 6, 7, 8, 10, 11, …: four to every doubling."""
    return list(dict.fromkeys(round(2 ** (step / 4)) for step in range(4 * LARGEST.bit_length())))
