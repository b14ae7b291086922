"""Judge kernels: right on every grid, without a fault, and with no more traffic than needed.

Only the text of a kernel is believed. The judge gives it to the emulator, on arrays of its own.

A case says the launch: "grid", "block", and "arguments" in the order of the signature, each a
number or the shape of an array of fp32. Arrays named in "empty" come without values. "counts"
names what is held to the reference's, times the exercise's par: "sectors" of global memory,
"requests" to it, "wavefronts" of shared memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from rooflab.count.si import grouped
from rooflab.exercises.exercise import Case, Exercise, Observation
from rooflab.exercises.observe.kernel import text_of
from rooflab.exercises.verdict import Verdict, failed, passed
from rooflab.labs.cuda.emulator import Run, launch

STEPS = 2_000_000
CLOSE = 1e-4  # of the largest magnitude of an array: sums of fp32 in another order
COUNTS: Mapping[str, tuple[str, Callable[[Run], int]]] = {
    "sectors": ("sectors of 32 bytes to and from global memory", lambda run: sum(
        each.sectors for each in (run.global_loads, run.global_stores, run.global_atomics))),
    "requests": ("requests of warps to global memory", lambda run: sum(
        each.requests for each in (run.global_loads, run.global_stores, run.global_atomics))),
    "wavefronts": ("turns of shared memory", lambda run: run.shared.wavefronts),
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """What is wrong with a kernel on a case, "" if nothing is.

    ``mark`` is equal for kernels that fail in the same way.
    """

    problem: str = ""
    mark: tuple[object, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """Return the verdict: on every case right, without a fault, and within the traffic."""
    findings = []
    for case, seen in zip(cases, observations, strict=True):
        finding = examined(exercise, case, seen)
        findings.append(finding)
        if finding.problem:
            reason = f"{exercise.name} {_launch_words(case)}: {finding.problem}"
            mistake = next((
                m for m in exercise.misconceptions
                if any(_examined(exercise, case, text_of(wrong)).mark == finding.mark != ()
                       for wrong in (m.wrong, *m.variants))
            ), None)  # fmt: skip
            return failed(exercise, reason, case=dict(case), mistake=mistake)
    last = findings[-1].counts
    words = ", ".join(f"{grouped(number)} {COUNTS[name][0]}" for name, number in last.items())
    return passed(exercise, f"right, and no fault; {_launch_words(cases[-1])}: {words}")


def examined(exercise: Exercise, case: Case, seen: Observation) -> Finding:
    """Return what is wrong with the kernel in an observation."""
    if "error" in seen:
        kind, _, message = str(seen["error"]).partition(": ")
        return Finding(message if kind == "ValueError" else str(seen["error"]))
    if "unreadable" in seen:
        return Finding(str(seen["unreadable"]))
    text = seen.get("value")
    if not isinstance(text, str):
        return Finding("what came back is no kernel")
    return _examined(exercise, case, text)


def _examined(exercise: Exercise, case: Case, text: str) -> Finding:
    right, budget = _reference(text_of(exercise.reference), json.dumps(case))
    arguments = _arguments(case)
    try:
        run = launch(text, tuple(case["grid"]), tuple(case["block"]), *arguments.values(),
                     on_fault="collect", max_steps=STEPS)  # fmt: skip
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        return Finding(str(error) or type(error).__name__)
    if run.faults:
        return Finding(str(run.faults[0]), ("fault", run.faults[0].kind, run.faults[0].threads))
    if wrong := _wrong(arguments, right):
        return wrong
    counts = {name: COUNTS[name][1](run) for name in budget}
    for name, most in budget.items():
        if counts[name] > exercise.par * most:
            words, allowed = COUNTS[name][0], grouped(math.floor(exercise.par * most))
            problem = f"right, but it takes {grouped(counts[name])} {words}, where {allowed} do"
            return Finding(problem, ("count", name, counts[name]), counts)
    return Finding(counts=counts)


@lru_cache(maxsize=64)
def _reference(text: str, case_text: str) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """The arrays after the reference's launch, and what it counted."""
    case = json.loads(case_text)
    arguments = _arguments(case)
    run = launch(text, tuple(case["grid"]), tuple(case["block"]), *arguments.values())
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    return arrays, {name: COUNTS[name][1](run) for name in case.get("counts", ("sectors",))}


def _arguments(case: Case) -> dict[str, Any]:
    """Arrays and numbers of a launch, alike on every machine."""
    entry: Mapping[str, Any] = case
    draw, arguments = np.random.default_rng(entry.get("seed", 0)), {}
    for name, value in entry["arguments"].items():
        if isinstance(value, list):
            array = draw.uniform(-1, 1, value).astype(np.float32)
            value = np.full_like(array, np.nan) if name in entry.get("empty", ()) else array
        arguments[name] = value
    return arguments


def _wrong(arguments: Mapping[str, Any], right: Mapping[str, np.ndarray]) -> Finding | None:
    """What is wrong with the arrays after a launch; the first cell, never its right value."""
    for name, wanted in right.items():
        mine = arguments[name]
        unwritten = np.isnan(mine) & ~np.isnan(wanted)
        far = ~(np.abs(mine - wanted) <= CLOSE * np.nanmax(np.abs(wanted))) & ~np.isnan(wanted)
        if far.any():
            cell = ", ".join(map(str, np.argwhere(far)[0]))
            what = "is not written" if unwritten[far].all() else "is not right"
            digest = tuple(np.round(mine[far][:16].astype(float), 4).tolist())
            others = f", nor are {int(far.sum()) - 1} others" if far.sum() > 1 else ""
            problem = f"{name}[{cell}] {what}{others}"
            return Finding(problem, ("values", name, int(far.sum()), str(digest)))
    return None


def _launch_words(case: Case) -> str:
    entry: Mapping[str, Any] = case
    grid, block = (" × ".join(map(str, entry[part])) for part in ("grid", "block"))
    sizes = [f"{n} = {v}" for n, v in entry["arguments"].items() if not isinstance(v, list)]
    return f"on {grid} blocks of {block} threads" + (f", {', '.join(sizes)}" if sizes else "")
