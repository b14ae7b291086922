"""The sentences that say what a picture shows.

One set of templates serves the figure's text twin (filled here) and the live roofline (filled in
the browser): the words under a moving point are the words that a saved notebook keeps.
"""

from __future__ import annotations

from collections.abc import Iterable

from rooflab.count.operation import Operation
from rooflab.count.si import grouped, percent, several, si, times
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.predict.published import PublishedRun
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.rooflines.ceiling_lines import LEVELS

WHAT = "{name} {sizes}{batch} in {dtype}"
COUNT = WHAT + ": {flops} over {bytes} is {intensity} FLOP/byte"
SAY = {
    "memory": COUNT + ", left of the ridge ({ridge}). {level} is the limit: "
    "by this roof {rate}, {share} of the peak.",
    "compute": COUNT + ", right of the ridge ({ridge}). Arithmetic is the limit: "
    "by this roof {rate}, the peak.",
    "none": COUNT + ".",
    "measured": " Measured {rate}, ×{gap} below this roof.",
    "above": " Measured {rate}, ×{gap} above this roof.",
    "above_warm": " Measured {rate}, ×{gap} above this roof: some operands came from a nearer "
    "cache.",
    "predicted": " Predicted {rate}.",
    "outside": " {what} {rate}, which lies below this picture.",
}
BOX = (
    "{name} is a {solid}{boxes}: {volume} multiply-adds inside, {painted} elements moved through "
    "its faces, {reuse} multiply-adds for each. "
)


def level_word(level: str) -> str:
    """Return ``level`` as a sentence begins with it: ``Memory``, ``The L2 cache``."""
    return "Memory" if level == "dram" else f"The {LEVELS[level]} cache"


def what(op: Operation) -> str:
    """Return the operation as a sentence names it: ``GEMM 4096×4096×4096 in fp32``."""
    return WHAT.format(**counts(op))


def short(op: Operation) -> str:
    """Return the operation as a label names it: ``GEMM 4096×4096×4096``, ``AXPY 16.8 million``."""
    return f"{op.name.upper()} {sizes(op).removeprefix('of ')}{batch(op).rstrip(',')}"


def sizes(op: Operation) -> str:
    """Return the sizes: ``4096×4096``, ``of 16.8 million``."""
    found = list(op.dims.values())
    return f"of {theme.count(found[0])}" if len(found) == 1 else "×".join(map(grouped, found))


def batch(op: Operation) -> str:
    """Return ``, batch 8,`` or nothing for a single problem."""
    return f", batch {op.batch}," if op.batch > 1 else ""


def counts(op: Operation, level: str = "dram") -> dict[str, str]:
    """Return the counted values of ``op`` as the templates want them.

    Where it states its traffic at ``level``, those bytes are said, and that they are what moved.
    """
    moved = si(op.bytes_at(level), "B") + (" moved" if level in op.traffic else "")
    return {
        "name": op.name.upper(),
        "sizes": sizes(op),
        "batch": batch(op),
        "dtype": str(op.compute_dtype),
        "flops": si(op.flops, "FLOP"),
        "bytes": moved,
        "intensity": theme.intensity(op.intensity_at(level)),
    }


def solid(m: int, n: int, k: int) -> str:
    """Return what an M×N×K box looks like: point, stick, sheet, slab or cube."""
    edges = sorted((m, n, k))
    if edges[0] == edges[2]:
        return "cube" if edges[0] > 1 else "point"
    if edges[1] == 1:
        return "stick"
    if edges[0] == 1:
        return "sheet"
    return "slab" if edges[0] * 8 <= edges[1] else "box"


def box(op: Operation, m: int, n: int, k: int) -> dict[str, str]:
    """Return the values of a box's sentence: M×N×K multiply-adds, elements through its faces."""
    moved = sum(operand.elements * (operand.reads + operand.writes) for operand in op.operands)
    return {
        "solid": solid(m, n, k),
        "volume": theme.count(op.flops // 2),
        "painted": theme.count(moved),
        "reuse": theme.intensity(op.flops / 2 / moved),
    }  # fmt: skip


def bound(op: Operation, roof: Roofline) -> str:
    """Say what ``roof`` allows ``op``, and which side of the ridge it is on."""
    rate = roof.attainable(op.intensity_at(roof.level))
    return SAY[roof.limit(op)].format(
        **counts(op, roof.level),
        ridge=theme.ridge(roof.ridge),
        level=level_word(roof.level),
        rate=si(rate, "FLOP/s"),
        share=percent(rate / roof.peak),
    )


def no_flops(op: Operation) -> str:
    """Say why an operation without a FLOP has no place on the axis."""
    moved = si(op.bytes, "B")
    return f"{op.name}: 0 FLOP over {moved}, so no place on this axis; it takes the bytes' time."


def count(op: Operation, level: str = "dram") -> str:
    """Say what was counted, or what was moved at ``level`` where that is known."""
    return SAY["none"].format(**counts(op, level))


def measured(rate: float, allowed: float, cache: str = "cold") -> str:
    """Say how a measured ``rate`` compares with the roof's ``allowed`` one (both FLOP/s).

    ``cache``: "warm" may explain a rate above the roof; with cold operands nothing does.
    """
    above = "above_warm" if cache == "warm" else "above"
    key, ratio = ("measured", allowed / rate) if rate <= allowed else (above, rate / allowed)
    return SAY[key].format(rate=si(rate, "FLOP/s"), gap=times(ratio).removeprefix("×"))


def published(runs: Iterable[PublishedRun]) -> list[str]:
    """Sum up what others published, a line for each machine and number format.

    How many runs there are, and how many of them beat the memory roof, up to which working set.
    """
    groups: dict[tuple[str, str], list[PublishedRun]] = {}
    for run in runs:
        groups.setdefault((run.machine, str(run.op.compute_dtype)), []).append(run)
    lines = []
    for (machine, dtype), group in groups.items():
        above = [run.op.working_set for run in group if run.above]
        up_to = f", with working sets up to {si(max(above), 'B')}" if above else ""
        lines.append(
            f"{several(len(group), 'published run')} on {_machine(machine).name} in {dtype}: "
            f"{len(above) or 'none'} above its memory roof{up_to}."
        )
    return lines


def here(machine: Machine) -> bool:
    """Whether the figures of ``machine`` were measured on this computer."""
    if machine.origin != "measured":
        return False
    from rooflab.measure.backend import host_id

    return machine.id == host_id(machine.name if machine.backend == "gpu" else "")


def origin(machine: Machine) -> str:
    """Say where the roofs of ``machine`` come from: a datasheet, this computer, a recording."""
    if machine.origin == "datasheet":
        return f"Roofs of {machine.name} from its datasheet: a promise, not a measurement."
    day = (machine.recorded_on or "an unknown day")[:10]
    how = "measured on" if here(machine) else "a recording of"
    return f"Roofs of {machine.name}, {how} {day}."
