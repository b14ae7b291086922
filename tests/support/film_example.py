"""A small model, a machine and a decode run that needs no measuring: each operation at 60 %."""

from __future__ import annotations

import rooflab as rl
from rooflab.labs.llm.decode_loop import PHASES, DecodeRun, ledger
from rooflab.labs.llm.step_time import timing
from tests.support.machine import ROOFS

SMALL = rl.Model(1024, 8, 8, kv_heads=2, intermediate=4096, vocab=8192, name="small", context=2048)
HERE = rl.Machine.from_roofs(ROOFS, id="here", name="A test machine")
SHARE = 0.6


def run(batch: int, context: int = 256) -> DecodeRun:
    """A run of SMALL on HERE in which everything takes its bound's time divided by SHARE."""
    seconds = {}
    for phase, queries, rows in zip(PHASES, (context, 1), (1, batch), strict=True):
        steps = ledger(SMALL, rows, queries, context + (phase == "decode"), "fp32")
        timed = {p.name: p.seconds / SHARE for p in timing(steps, HERE).parts}
        seconds[phase] = timed
    return DecodeRun(
        model=SMALL, batch=batch, context=context, steps=1, dtype="fp32", backend="cpu", threads=1,
        machine="here", forms={}, trials={}, tokens=((1, 2),) * batch,
        **{phase: {name: (s,) for name, s in each.items()} for phase, each in seconds.items()},
    )  # fmt: skip
