"""Judge exercises in which the learner times a GPU.

The learner's process says what was asked of the simulated device. The judge asks a device of its
own for the same and believes only that one's log and clock.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from rooflab.count import Operation, axpy, gemm, gemv
from rooflab.count.si import percent
from rooflab.exercises.compare import close, same, show
from rooflab.exercises.exercise import Case, Exercise, Observation
from rooflab.exercises.observe.plaindata import Plain
from rooflab.exercises.observe.timing import prepared
from rooflab.exercises.verdict import Verdict, failed, passed
from rooflab.labs.cuda import Device
from rooflab.labs.cuda.device import replay

if TYPE_CHECKING:
    from rooflab.labs.cuda.timeline import GpuTimeline

MOST_ENCLOSED = 1_000_000  # entries of a log between two events, of all times that were read
ARITHMETIC = 0.01  # relative: what follows from the learner's own seconds
OWN = 0.02  # relative: a mean or median lies among the learner's own times, but for overheads
LEAST_VECTOR = 32 << 20
"""Bytes of AXPY's vectors at least: on a GPU with a small L2 they keep it busy for some 300 µs,
beside which the few that Python needs for a launch do not count."""


@dataclass(frozen=True)
class Region:
    """What the device did between two events whose difference the learner read.

    ``seconds`` between the stamps, ``kernels`` the log entries of the launches in between,
    ``waits`` how often Python waited there, ``made`` how many arrays it made there, ``before`` the
    bytes of the launches that were queued between the last event before and this region,
    ``stream`` the number of that on which its first event was recorded.
    """

    seconds: float
    kernels: tuple[Observation, ...]
    waits: int = 0
    before: int = 0
    made: int = 0
    stream: int = 0

    def of(self, op: Operation) -> list[Observation]:
        """Launches that do exactly the work and traffic of ``op``, on operands that lie apart.

        A product is the library's.
        """
        work = op.flops, op.bytes, True
        alike = [k for k in self.kernels if (k["flops"], k["bytes"], k["apart"]) == work]
        return alike if op.name == "axpy" else [k for k in alike if k.get("library")]


def operation(case: Case) -> Operation:
    """Return the operation of a case; all are fp32."""
    if case["op"] == "axpy":
        return axpy(case["n"])
    return gemv(case["m"], case["n"]) if case["op"] == "gemv" else gemm(*[case["n"]] * 3)


def sizes(op: str, l2_bytes: int) -> dict[str, int]:
    """Return sizes that make the point on a GPU with that L2: AXPY far beyond it, GEMV within.

    What one AXPY leaves in L2 of its result, one L2 at most, is 1/12 of what it moves.
    """
    if op == "axpy":
        return {"n": max(4 * l2_bytes, LEAST_VECTOR) // 4096 * 1024}
    if op == "gemv":
        n = 4096
        return {"m": max(8, int(0.6 * l2_bytes) // (4 * n) // 8 * 8), "n": n}
    return {"n": 4096}


def truth(case: Case) -> float:
    """Seconds that the operation takes on the simulated device from memory, cold."""
    op = operation(case)
    return Device(**case["device"]).kernel_seconds(op.flops, "float32", op.bytes)


def with_log(case: Case, seen: Observation) -> Observation:
    """Return an observation with the "log" of a fresh device that does its "commands".

    Raises ValueError for commands that no stand-in has written, or that would take minutes.
    """
    if "commands" not in seen:
        return {**seen, "log": []}
    cp, *_ = prepared(case)
    replay(cp.gpu, seen["commands"])
    if sum(max(begin, end) - last for _, last, begin, end in _read(cp.gpu.log)) > MOST_ENCLOSED:
        raise ValueError("the times that it read enclose too many launches; fewer will do")
    return {**{key: seen[key] for key in seen if key != "commands"}, "log": cp.gpu.log}


def _read(log: Sequence[Observation]) -> Iterator[tuple[float, int, int, int]]:
    """Seconds that were read, and their places in the log: the event before, begin and end."""
    at: dict[int, int] = {}
    stamps = [0]
    for place, entry in enumerate(log):
        if entry["what"] == "record":
            at[entry["event"]] = place
            stamps.append(place)
        elif entry["what"] == "elapsed":
            begin, end = at[entry["start"]], at[entry["stop"]]
            last = stamps[max(0, bisect_left(stamps, begin) - 1)]
            yield entry["ms"] / 1e3, last, begin, end


def regions(observation: Observation) -> list[Region]:
    """Return the timed regions of a log, one for each elapsed time that was read."""
    log = observation["log"]
    return [
        Region(
            seconds,
            tuple(e for e in log[begin:end] if e["what"] == "launch"),
            waits=sum(e["what"] == "synchronize" for e in log[begin:end]),
            before=sum(e["bytes"] for e in log[last:begin] if e["what"] == "launch"),
            made=log[end]["buffers"] - log[begin]["buffers"],
            stream=log[begin]["stream"],
        )
        for seconds, last, begin, end in _read(log)
    ]


def happened(observation: Observation, what: str) -> bool:
    """Whether the log has an entry of that kind."""
    return any(entry["what"] == what for entry in observation["log"])


def seconds_of(observation: Observation) -> float | None:
    """The seconds that the learner returned, alone or as the first of several values."""
    value = observation.get("value")
    first = value[0] if isinstance(value, list) and value else value
    is_number = isinstance(first, (int, float)) and not isinstance(first, bool)
    return first if is_number else None


def per_launch(observation: Observation) -> float | None:
    """Median seconds of a launch according to the learner's own events."""
    times = [r.seconds / len(r.kernels) for r in regions(observation) if r.kernels]
    return statistics.median(times) if times else None


def derived(case: Case, seconds: float) -> list[float]:
    """What follows from the learner's own seconds: rate and share of the roof."""
    op = operation(case)
    if op.name == "axpy":
        return []
    rate = (op.bytes if op.name == "gemv" else op.flops) / seconds
    return [rate, rate / case["roof"]]


def reordered(case: Case, seen: Observation, tolerance: float) -> bool:
    """Whether the values are the right ones, in another order than asked.

    ``tolerance`` of the seconds is relative.
    """
    value = seen.get("value")
    if not isinstance(value, list) or len(value) != 1 + len(derived(case, 1.0)):
        return False
    others = (order for order in permutations(value) if list(order) != value)
    return any(_right(case, order, tolerance) for order in others)


def _right(case: Case, values: Sequence[Plain], tolerance: float) -> bool:
    """Whether ``values`` are the right seconds, and what follows from them."""
    seconds, *rest = values
    return same(truth(case), seconds, tolerance) and all(
        same(right, mine, ARITHMETIC)
        for right, mine in zip(derived(case, seconds), rest, strict=True)
    )


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """Return the verdict: first the seconds and how they came about, then what follows."""
    try:
        observations = list(map(with_log, cases, observations))
    except ValueError as error:
        return failed(exercise, f"{exercise.name} asked the GPU for what cannot be done: {error}")
    for case, seen in zip(cases, observations, strict=True):
        problem = _problem(exercise, case, seen)
        if problem is None:
            continue
        known = (m for m in exercise.misconceptions if m.shows and m.shows(case, seen))
        timed = "value" in seen and happened(seen, "elapsed")
        return failed(
            exercise, f"{exercise.name} on the stand-in for an {case['device']['name']}: {problem}",
            case={name: value for name, value in case.items() if name != "device"},
            yours=show(seen["value"]) if timed else None,
            mistake=None if _misshapen(exercise, seen) else next(known, None),
        )  # fmt: skip
    devices = len({case["device"]["name"] for case in cases})
    said = [
        f"; {remark}"
        for remark, shows in exercise.remarks
        if any(shows(case, seen) for case, seen in zip(cases, observations, strict=True))
    ]
    return passed(exercise, f"timed right on the stand-ins for {devices} GPUs{''.join(said)}")


def drawn(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> GpuTimeline | None:
    """Draw what the stand-in did in the first case that failed, or in the first of all."""
    from rooflab.labs.cuda.timeline import gpu_timeline

    try:
        ran = [(case, with_log(case, seen)) for case, seen in zip(cases, observations, strict=True)]
    except ValueError:
        return None
    case, seen = next((pair for pair in ran if _problem(exercise, *pair)), ran[0])
    return gpu_timeline(seen["log"], operation(case), Device(**case["device"]))


def _problem(exercise: Exercise, case: Case, seen: Observation) -> str | None:
    if str(seen.get("error", "")).startswith("Stopped: "):
        told = str(seen["error"]).removeprefix("Stopped: ")
        return f"it {told}; does its loop end?" if told.startswith("was stopped") else f"it {told}"
    if "error" in seen:
        return f"it raised {seen['error']}"
    if "unreadable" in seen:
        return str(seen["unreadable"])
    if (shape := _misshapen(exercise, seen)) is not None:
        return shape
    seconds, op, room = seconds_of(seen), operation(case), exercise.tolerance
    between = regions(seen)
    taken = [region.seconds / many for region in between if (many := len(region.of(op)))]
    if not taken:
        if any(region.seconds < 0 for region in between):
            return "the time that you read between two events is negative"
        return f"no two events that you read enclose one {op.name} of the right size"
    if reordered(case, seen, room):
        return f"{', '.join(exercise.returns)} are wanted, in this order"
    if not close(truth(case), seconds, room):
        return f"your seconds are more than {percent(room)} away from what its clock needed"
    own = [each for each in taken if close(truth(case), each, room)]
    if not own:
        return f"your seconds are right, but no {op.name} between events that you read took them"
    if not (1 - OWN) * min(own) <= seconds <= (1 + OWN) * max(own):
        return "your seconds do not follow from the times that you read between events"
    rest = seen["value"][1:] if isinstance(seen["value"], list) else []
    for name, right, mine in zip(exercise.returns[1:], derived(case, seconds), rest, strict=True):
        if not same(right, mine, ARITHMETIC):
            return f"the {name} does not follow from your own seconds"
    return None


def _misshapen(exercise: Exercise, seen: Observation) -> str | None:
    """Say what is wanted, if a value is not as many numbers as that."""
    wanted, value = exercise.returns, seen.get("value")
    many = len(value) if isinstance(value, list) else 1
    if (
        "error" in seen
        or "unreadable" in seen
        or (seconds_of(seen) is not None and many == len(wanted))
    ):
        return None
    several = f"{len(wanted)} numbers are wanted: {', '.join(wanted)}"
    return several if len(wanted) > 1 else "one number is wanted"
