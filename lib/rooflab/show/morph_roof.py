"""What stands still in the morph: the machine's roofs, and the lines on which a call is all cost.

A call that does nothing still takes the time of a call. Over work that time is a floor; as a rate
it is FLOP ÷ call time, a line that small problems climb before they reach the roof.
"""

from __future__ import annotations

from collections.abc import Sequence

from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import homes, predict
from rooflab.predict.machine import Machine
from rooflab.predict.routines import overhead
from rooflab.show import calls
from rooflab.show.calls import CallLine
from rooflab.show.morph_points import Dot
from rooflab.show.polylines import Ceiling, missing, roof


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
        if dot.op.name in calls.ROUTINES and overhead(dot.op, machine) > 0
        and not missing(machine, dot.op.compute_dtype, "cold")
    ]  # fmt: skip
    small = [d for d in usable if predict(d.op, machine, cache=d.cache).limit == "overhead"]
    routines = dict.fromkeys((d.op.name, d.op.compute_dtype) for d in small or usable)
    lines = (calls.call_line(calls.square(*key), machine, None) for key in routines)
    return tuple(line for line in lines if line)
