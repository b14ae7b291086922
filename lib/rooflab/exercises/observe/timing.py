"""Timing a GPU: run the learner's function on the stand-in, and keep what it asked of the device.

A case names the operation, the simulated device and the sizes. The learner's function gets the
stand-in where CuPy would be, so the same function runs on a real GPU (on_gpu.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rooflab.exercises.observe.observation import Case, Observation, observe
from rooflab.labs.cuda import Device, StandIn, imported_as_cupy

A = 0.5  # the a of AXPY


def arguments(cp: Any, case: Case) -> list[object]:
    """Return the learner's arguments: operands on ``cp``, then a, the bandwidth or the peak."""
    op, n, kind = case["op"], case["n"], cp.float32
    if op == "axpy":
        return [cp, cp.ones(n, dtype=kind), cp.zeros(n, dtype=kind), A]
    if op == "gemv":
        m = case["m"]
        matrix, x, y = cp.ones((m, n), dtype=kind), cp.ones(n, dtype=kind), cp.empty(m, dtype=kind)
        return [cp, matrix, x, y, case["roof"]]
    square = [
        cp.ones((n, n), dtype=kind),
        cp.ones((n, n), dtype=kind),
        cp.empty((n, n), dtype=kind),
    ]
    return [cp, *square, case["roof"]]


def prepared(case: Case) -> tuple[StandIn, list[object], int]:
    """Return a fresh stand-in, the learner's arguments on it, and how many commands that took."""
    cp = StandIn(Device(**case["device"]))
    given = arguments(cp, case)
    cp.cuda.Device().synchronize()
    cp.gpu.log.clear()
    return cp, given, len(cp.gpu.commands)


def run(case: Case, answer: Callable[..., object]) -> Observation:
    """Run ``answer`` on a fresh stand-in; the observation adds the "commands" to its device.

    An ``import cupy`` in ``answer`` finds the stand-in as well.
    """
    cp, given, before = prepared(case)
    with imported_as_cupy(cp):
        seen = dict(observe(lambda: answer(*given)))
    return {**seen, "commands": cp.gpu.commands[before:]}
