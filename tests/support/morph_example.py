"""Ten operations exactly at the roof of a machine that does not exist, plus what a call costs."""

from __future__ import annotations

import rooflab as rl
from rooflab.show.time_to_roofline import Morph
from tests.support.machine import ROOFS, measurement

CALLS = {"axpy": 1e-7, "gemv": 2e-7, "gemm": 1.5e-7}
HERE = rl.Machine.from_roofs(
    ROOFS, id="here", name="A test machine",
    routines={
        f"{name}/fp32": {"overhead_s": call, "cold_overhead_s": 20 * call, "points": []}
        for name, call in CALLS.items()
    },
)  # fmt: skip
OPS = (
    rl.axpy(256), rl.gemv(32, 32), rl.gemm(8, 8, 8), rl.axpy(20_000), rl.gemv(1024, 1024),
    rl.axpy(2**24), rl.gemv(4096, 4096), rl.gemm(256, 256, 256), rl.gemm(1024, 1024, 1024),
    rl.gemv(2048, 2048, batch=64, shared=("a",)),
)  # fmt: skip


def bound(op: rl.Operation) -> float:
    """Seconds at the roof, plus those of a call."""
    return rl.Roofline(HERE, "fp32").time(op) + CALLS[op.name]


MEASURED = tuple(measurement(op, "here", bound(op)) for op in OPS)


def point(picture: Morph, name: str) -> dict:
    """The point of that name in the picture's geometry."""
    return next(p for p in picture.geometry["points"] if p["name"] == name)
