"""Judge kernels: right on every grid, without a fault, and with no more traffic than needed.

Only the text of a kernel is believed. The judge gives it to the emulator, on arrays of its own.
Where the reference is CUDA C++, so is the answer; NVRTC has to accept it too if it is installed.

A case says the launch: "grid", "block", and "arguments" in the order of the signature, each a
number or the shape of an array of fp32. Arrays named in "empty" come without values. "counts"
names what is held to the reference's, times the exercise's par: "sectors" of global memory,
"requests" to it, "wavefronts" of shared memory, "barriers" of blocks, "atomics" of threads.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from rooflab.count.si import grouped
from rooflab.exercises.exercise import Case, Exercise, Observation
from rooflab.exercises.observe.kernel import text_of
from rooflab.exercises.observe.observation import LONGEST_MESSAGE
from rooflab.exercises.verdict import Verdict, failed, passed
from rooflab.labs.cuda.compiler import CompilationError, compile
from rooflab.labs.cuda.emulator import KernelFault, Run, launch
from rooflab.labs.cuda.emulator.cuda_text import emulate

MOST_CHARACTERS = 20_000  # of a text; honest ones have hundreds
CUDA = "__global__"  # stands in CUDA C++, never in Python
CLOSE = 1e-5  # of the largest magnitude of an array: sums of fp32 in another order
COUNTS: Mapping[str, tuple[str, Callable[[Run], int]]] = {
    "sectors": ("sectors of 32 bytes to and from global memory", lambda run: sum(
        each.sectors for each in (run.global_loads, run.global_stores, run.global_atomics))),
    "requests": ("requests of warps to global memory", lambda run: sum(
        each.requests for each in (run.global_loads, run.global_stores, run.global_atomics))),
    "wavefronts": ("turns of shared memory", lambda run: run.shared.wavefronts),
    "barriers": ("barriers of all blocks", lambda run: run.barriers),
    "atomics": ("atomic additions", lambda run: run.atomics),
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
    if len({str(seen.get("value")) for seen in observations}) > 1:
        return failed(exercise, "another kernel came back for another grid; one is wanted for all")
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
        kind, _, message = str(seen["error"])[:LONGEST_MESSAGE].partition(": ")
        return Finding(message if kind == "ValueError" else f"{kind}: {message}")
    if "unreadable" in seen:
        return Finding(str(seen["unreadable"])[:LONGEST_MESSAGE])
    text = seen.get("value")
    if not isinstance(text, str):
        return Finding("what came back is no kernel")
    if len(text) > MOST_CHARACTERS:
        return Finding(f"a kernel of {grouped(len(text))} characters is not judged")
    finding = _examined(exercise, case, text)
    refusal = "" if finding.problem or CUDA not in text else _refusal(text)
    return Finding(refusal) if refusal else finding


@lru_cache(maxsize=64)
def _refusal(text: str) -> str:
    """What NVRTC says against a text, "" if nothing, or if it is not installed.

    A text that includes files is not compiled: a message could quote a file of this machine.
    """
    try:
        if "include" not in re.sub(r"[\s\\]", "", text):
            compile(text)
    except CompilationError as error:
        return str(error)
    except ModuleNotFoundError:
        pass
    return ""


def _examined(exercise: Exercise, case: Case, text: str) -> Finding:
    wanted = text_of(exercise.reference)
    if CUDA in wanted and CUDA not in text:
        return Finding(f"CUDA C++ is wanted, with a {CUDA} void function")
    right, budget = _reference(wanted, json.dumps(case))
    arguments = _arguments(case)
    try:
        run = _run(text, case, arguments)
    except KernelFault as error:
        return Finding(str(error), ("fault", error.fault.kind, error.fault.threads))
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        return Finding(str(error)[:LONGEST_MESSAGE] or type(error).__name__)
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
    run = _run(text, case, arguments)
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    return arrays, {name: COUNTS[name][1](run) for name in case.get("counts", ("sectors",))}


def _run(text: str, case: Case, arguments: Mapping[str, Any]) -> Run:
    start = emulate if CUDA in text else launch
    return start(text, tuple(case["grid"]), tuple(case["block"]), *arguments.values())


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
