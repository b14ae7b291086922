"""The gain of fewer bytes a weight: seconds of y = Wx, predicted and measured, one thread.

A product should take what its bytes take at the bandwidth of reading, or what its instructions
take, the longer of the two: those of the same kernel, a weight, while the matrix lies in a cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rooflab.count import Operand, Operation, si
from rooflab.count import gemv as ledger
from rooflab.count.validation import shape as _shape
from rooflab.count.validation import size, unknown
from rooflab.labs.sparse import weights
from rooflab.labs.sparse.products import gemv
from rooflab.labs.sparse.weights import Array
from rooflab.measure.backend import available_cores, environment, host_id, power, select
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.measure import caveats
from rooflab.measure.measurement import Measurement
from rooflab.measure.operands import affordable, available_bytes, require_memory
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.settings import briefer, fewer
from rooflab.measure.this_machine import this_machine
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import (
    MARGIN,
    MEASUREMENT_LOCK,
    Timing,
    clock_step_s,
    evictor,
    quickest,
    settle,
    time_warm,
    undisturbed,
)

KINDS, BITS = ("fp32", "blas", "int8", "int4", "2:4"), {"int8": 8, "int4": 4}
COLUMNS, ROUNDS, TURNS = 4096, fewer(15), fewer(4)  # of products, of their calibration
FEW, MANY = 8, 32  # rows that a cache holds: the cost of a call is not in their difference


class Limits(NamedTuple):
    """Seconds that the bytes of a product take, and its instructions."""

    bytes: float
    instructions: float

    @property
    def seconds(self) -> float:
        """The longer of the two."""
        return max(self)


@dataclass(frozen=True, repr=False)
class GemvGain:
    """Limits and Measurements of "fp32" (rooflab's loop), "blas" (sgemv), and the kinds asked for.

    >>> gain = rl.sparse.gemv_gain("int8", (64, 256), rounds=1, progress=False)
    >>> list(gain.measured), gain.gain("int8", "fp32") > 0, gain.off() >= 1
    (['fp32', 'blas', 'int8'], True, True)
    """

    predicted: Mapping[str, Limits]
    measured: Mapping[str, Measurement]

    def gain(self, fast: str | None = None, slow: str = "fp32") -> float:
        """Return how many times as long ``slow`` took as ``fast``, by default the last kind."""
        return self.measured[slow].median_s / self.measured[fast or [*self.measured][-1]].median_s

    def expected(self, fast: str | None = None, slow: str = "fp32") -> float:
        """Return how many times as long ``slow`` should take as ``fast``."""
        return self.predicted[slow].seconds / self.predicted[fast or [*self.measured][-1]].seconds

    def off(self, fast: str | None = None, slow: str = "fp32") -> float:
        """Return the factor, 1 or more, between the expected and the measured gain."""
        ratio = self.expected(fast, slow) / self.gain(fast, slow)
        return max(ratio, 1 / ratio)

    def __repr__(self) -> str:
        rows = ["y = Wx, one thread: seconds of bytes, of instructions, measured; gain over fp32"]
        for kind, taken in self.measured.items():
            seconds = [si(s, "s") for s in (*self.predicted[kind], taken.median_s)]
            gains = f"predicted {self.expected(kind):.2f}, measured {self.gain(kind):.2f}"
            warned = f"; warning: {'; '.join(taken.warnings)}" if taken.warnings else ""
            rows.append(f"  {kind:<5}{''.join(f'{s:>9}' for s in seconds)}; {gains}{warned}")
        return "\n".join(rows)


def gemv_gain(
    kind: str | Sequence[str], shape: tuple[int, int] | None = None, *, rounds: int = ROUNDS,
    progress: Progress = True,
) -> GemvGain:  # fmt: skip
    """Predict and measure y = Wx with fewer bytes a weight, beside fp32, in turns and cold.

    Parameters
    ----------
    kind : str or sequence of str
        "int8", "int4" (groups of 128) or "2:4" (packed, fp32).
    shape : tuple of int, optional
        Rows and columns of W. By default 4096 columns, and in fp32 4 times the last-level cache,
        or a quarter of the free memory.
    rounds, progress : int, and bool or callable, optional
        Samples of each product, which take turns; False draws no progress bars.

    Returns
    -------
    GemvGain
        Predictions and measurements.

    Examples
    --------
    >>> gain = rl.sparse.gemv_gain(["int8", "int4"], (64, 256), rounds=1, progress=False)
    >>> gain.measured["int4"].op.bytes < gain.measured["int8"].op.bytes / 1.5
    True
    """
    kinds = (kind,) if isinstance(kind, str) else tuple(kind)
    if not kinds or set(kinds) - set(KINDS[2:]):
        raise unknown("kind", kind, KINDS[2:])
    if shape is None:
        nbytes = affordable(
            int(briefer(MARGIN * last_level_bytes())), available_bytes(select("cpu"))
        )
        shape = (nbytes // (4 * COLUMNS), COLUMNS)
    sizes = _shape("shape", shape)
    if len(sizes) != 2 or ("2:4" in kinds and sizes[1] % 4):
        raise ValueError(f"shape={shape!r} must be rows and columns of W, a multiple of 4 for 2:4")
    rate = this_machine("cpu", 1, progress=progress).bandwidth("dram", "read")
    require_memory(ledger(*sizes), select("cpu"))
    costs, number = measured_weights(progress), sizes[0] * sizes[1]
    calls = dict.fromkeys(KINDS[:2], product("fp32", *sizes))
    calls |= {name: product(name, *sizes) for name in kinds}
    predicted = {n: Limits(op.bytes / rate, number * costs[n]) for n, (op, _) in calls.items()}
    return GemvGain(predicted, in_turns(calls, size("rounds", rounds), progress))


def in_turns(
    calls: Mapping[str, tuple[Operation, list[Array]]], rounds: int, progress: Progress
) -> dict[str, Measurement]:
    """Time products in turn, one call each: what the others read pushes a matrix out of caches."""
    evict = evictor(sum(op.bytes for op, _ in calls.values()))
    runs = {name: partial(compute, name, *arrays) for name, (_, arrays) in calls.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    with (
        MEASUREMENT_LOCK, thread_limit(1), undisturbed(),
        progress_bar(progress, "products in turn") as tell,
    ):  # fmt: skip
        for run in runs.values():  # compiles
            run()
        for turn in range(rounds):
            for name, run in runs.items():
                evict()
                samples[name].append(settle([run], 0.0))
            tell((turn + 1) / rounds)
    timings = {
        n: Timing(tuple(s), 1, "perf_counter_ns", clock_step_s()) for n, s in samples.items()
    }
    surroundings = environment(select("cpu"))
    return {
        name: Measurement(
            calls[name][0], host_id(), "cpu", "cold", 1, timing.samples,
            caveats(timing, threads=1, cores=available_cores(), power=power()),
            {**surroundings, "kernel": name, "clock": timing.clock},
        )
        for name, timing in timings.items()
    }  # fmt: skip


def product(kind: str, m: int, k: int) -> tuple[Operation, list[Array]]:
    """Return y = Wx as ledger and operands; W repeats 32 rows."""
    *rows, x = np.random.default_rng(12).normal(size=(min(m, 32) + 1, k)).astype(np.float32)
    stored = {"w": (w := np.array(rows))}
    if kind == "2:4":
        p = weights.pack(weights.prune(w))
        stored = {"values": p.values, "positions": p.positions.view(np.int8)}
    elif kind in BITS:
        q = weights.quantise_weights(w, BITS[kind])
        stored = {"values": q.values, "scales": q.scales}
    arrays = {name: np.resize(a, (m, a.shape[1])) for name, a in stored.items()} | {"x": x}
    operands = [Operand(name, a.shape, a.dtype) for name, a in arrays.items()]
    operands.append(Operand("y", (m,), "fp32", reads=0, writes=1))
    flops, y = m * k * (1 if kind == "2:4" else 2), np.empty(m, np.float32)
    op = Operation(f"gemv {kind}", {"m": m, "k": k}, tuple(operands), flops, "fp32")
    return op, [*arrays.values(), y]


def compute(kind: str, w: Array, *others: Array) -> Array:
    """Return y of the operands of :func:`product`."""
    beside, x, _ = (w, *others)[-3:]
    if kind == "blas":
        from scipy.linalg import blas

        return np.asarray(blas.sgemv(1.0, w.T, x, trans=1))
    if kind == "2:4":
        return gemv(weights.Packed24(w, beside.view(np.uint8)), x)
    if kind in BITS:
        return gemv(weights.GroupQuantised(w, beside, BITS[kind], 128, (len(w), x.size)), x)
    return gemv(w, x)


def measured_weights(progress: Progress = False) -> dict[str, float]:
    """Measure each kernel with few and with many rows in a cache, in turns: the quickest count."""
    tasks = [(kind, rows) for kind in KINDS for rows in (FEW, MANY)]
    calls = {task: partial(compute, task[0], *product(*task, COLUMNS)[1]) for task in tasks}
    samples: dict[tuple[str, int], list[float]] = {task: [] for task in tasks}
    with progress_bar(progress, "measuring products in a cache") as tell, thread_limit(1):
        for turn in range(TURNS):
            for task in tasks:
                samples[task] += time_warm(calls[task], seconds=0.03, settle_s=0.01).samples
            tell((turn + 1) / TURNS)
    seconds = {task: quickest(each) for task, each in samples.items()}
    rows = (MANY - FEW) * COLUMNS
    return {kind: max(seconds[kind, MANY] - seconds[kind, FEW], 1e-9) / rows for kind in KINDS}
