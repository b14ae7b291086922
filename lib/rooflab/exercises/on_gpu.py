"""With a GPU, a timing exercise that passed on the stand-in is run for real as well.

It is compared with the exercise's own reference and nothing else: another routine, other numbers
in the arrays, another state of L2 or of the clocks would be another experiment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rooflab.count.si import percent, si
from rooflab.exercises.compare import close
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.kinds.timing import seconds_of, sizes
from rooflab.exercises.observe.observation import describe, observe
from rooflab.exercises.observe.timing import arguments
from rooflab.exercises.verdict import Verdict, failed

ROOF = 1e12  # byte/s or FLOP/s that the real run is given; only the seconds are compared
LOAD_S = 0.3  # a GPU raises its clocks only under load
ROUNDS = 2  # ours, mine, ours, mine; the least of each counts
TRIES = 2  # a disagreement is measured once more before it is told
LONGEST_S = 0.2  # a product that would take longer is replaced by one of size SMALLER
SMALLER = 1024


class _Wrong(Exception):
    """The learner's function gave no seconds. The message says what it did instead."""


def confirm(exercise: Exercise, answer: Callable[..., object], verdict: Verdict) -> Verdict:
    """Return ``verdict``, confirmed or taken back by a run on this machine's GPU, if it has one.

    The learner's seconds and those of the exercise's reference, on the same arrays, must agree
    within its tolerance, or within one step of the GPU's clock where that is more.
    """
    from rooflab.measure.backend import cublas_of, select

    try:
        backend = select("auto")
    except (RuntimeError, ValueError) as error:  # ROOFLAB_BACKEND asks for what is not there
        return replace(verdict, note=f"Not run for real: {describe(error)}")
    if backend.name != "gpu":
        return replace(verdict, note="No GPU here: the times are the stand-in's, not measured.")
    cp = backend.xp
    try:
        if not hasattr(cp, "cublas"):
            cublas_of(cp)  # `import cupy` does not load it, and learners say cp.cublas
        ours, mine = _alternating(exercise, answer, _operands(exercise, cp))
    except _Wrong as problem:
        return failed(exercise, f"{exercise.name} on {backend.device}: {problem}")
    except Exception as error:  # of ours: too little memory, say
        return replace(verdict, note=f"Not compared on {backend.device}: {describe(error)}")
    if _agree(ours, mine, exercise.tolerance):
        told = f"On {backend.device} it agrees with the course's own function"
        return replace(verdict, note=f"{told} within {_reached(ours, mine, exercise.tolerance)}.")
    told = _difference(backend.device, ours, mine, exercise.tolerance)
    return failed(exercise, told)


def _operands(exercise: Exercise, cp: Any) -> list[object]:
    """Return the arguments of both functions, in sizes that suit this GPU."""
    l2_bytes = int(cp.cuda.Device().attributes["L2CacheSize"])
    case = {"op": exercise.timed, "roof": ROOF, **sizes(exercise.timed, l2_bytes)}
    if exercise.timed != "gemm":
        return arguments(cp, case)
    small = arguments(cp, {**case, "n": min(SMALLER, case["n"])})
    longer = (case["n"] / SMALLER) ** 3
    slow = longer * _ours(exercise.reference, small) > LONGEST_S
    return small if slow else arguments(cp, case)


def _alternating(
    exercise: Exercise, answer: Callable[..., object], given: Sequence[Any]
) -> tuple[float, float]:
    """Return the least seconds of the reference and of the answer, run by turns after a load."""
    reference = exercise.reference
    _ours(reference, given), _mine(answer, given)  # whatever is compiled is compiled here
    began = time.perf_counter()
    while time.perf_counter() - began < LOAD_S:
        _ours(reference, given)
    ours, mine = [], []
    for _ in range(TRIES):
        for _ in range(ROUNDS):
            ours.append(_ours(reference, given))
            mine.append(_mine(answer, given))
        if _agree(min(ours), min(mine), exercise.tolerance):
            break
    return min(ours), min(mine)


def _ours(reference: Callable[..., object], given: Sequence[Any]) -> float:
    value = reference(*given)
    return value[0] if isinstance(value, tuple) else value


def _mine(answer: Callable[..., object], given: Sequence[Any]) -> float:
    """Return the learner's seconds; _Wrong if there are none."""
    seen = observe(lambda: answer(*given))
    seconds = seconds_of(seen)
    if seconds is None:
        raise _Wrong(str(seen.get("error") or seen.get("unreadable") or "it gave no seconds"))
    return seconds


def _agree(ours: float, mine: float, tolerance: float) -> bool:
    from rooflab.measure.gpu import EVENT_STEP_S

    return close(ours, mine, tolerance) or abs(ours - mine) <= EVENT_STEP_S


def _reached(ours: float, mine: float, tolerance: float) -> str:
    """Within what two times that agree do so."""
    from rooflab.measure.gpu import EVENT_STEP_S

    if close(ours, mine, tolerance):
        return percent(tolerance)
    return f"one step of the GPU's clock, {si(EVENT_STEP_S, 's')}, not within {percent(tolerance)}"


def _difference(device: str, ours: float, mine: float, tolerance: float) -> str:
    told = (
        f"right on the stand-in, but on {device} your {mine:.3g} s and the {ours:.3g} s of the "
        f"course's own function, on the same arrays, differ by more than {percent(tolerance)}"
    )
    if mine > ours:
        return f"{told}; between your events the GPU also did something else, or waited for Python"
    return f"{told}; part of what your launch needs may still have been in L2"
