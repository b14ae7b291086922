"""What the loop's operations would take on a machine of invented habits."""

from __future__ import annotations

import functools
from collections.abc import Callable

from rooflab.labs.llm.decode_loop import ledger
from rooflab.labs.llm.decode_prediction import RUNS, STEPS, WEIGHED, bound
from rooflab.labs.llm.transformer import ODD
from rooflab.predict.machine import Figure, Machine

HERE = Machine(
    "here", "here", "cpu", "measured", threads=1,
    peaks={"fp32": Figure(1e11, unit="vector")},
    bandwidths={"dram": {"read": Figure(2e10), "copy": Figure(1.5e10)}},
)  # fmt: skip
CALL, BYTE = 3e-6, 6e-11  # seconds a call and a byte of everything that is no product


@functools.cache
def habits(share: Callable[[int], float] = lambda rows: 0.5) -> dict[str, object]:
    """What loop_efficiency() would find on a machine whose products reach ``share`` of the roof."""
    rows = []
    for batch, context in RUNS:
        for phase, shape in (
            ("prefill", (1, context, context)),
            ("decode", (batch, 1, context + 1 + (STEPS - 1) // 2)),
        ):
            seconds = {"sample": 1e-9 * shape[0] * ODD.vocab}
            for step in ledger(ODD, *shape, "fp32"):
                if step.name in WEIGHED:
                    best = step.count * bound(step.op, HERE)
                    seconds[step.name] = best / share(step.op.dims["m"])
                else:
                    seconds[step.name] = step.count * (CALL + BYTE * step.op.bytes)
            sizes = dict(zip(("batch", "queries", "context"), shape, strict=True))
            rows.append({"phase": phase, **sizes, "seconds": seconds})
    return {"schema": 2, "dtype": "fp32", "layers": ODD.layers, "rows": rows}
