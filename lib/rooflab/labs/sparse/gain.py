"""The gain of fewer bytes a weight: seconds of y = Wx, predicted and measured, one thread.

A product should take what its bytes take at the bandwidth of reading, or what its instructions
take, the longer of the two: a core unpacks while it waits. The instructions are calibrated: seconds
a weight of the same kernel while the matrix lies in a cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rooflab.count import Operand, Operation, si
from rooflab.count.validation import shape as _shape
from rooflab.count.validation import size, unknown
from rooflab.labs.sparse import products
from rooflab.labs.sparse.pruning import Array, Packed24, pack, prune
from rooflab.labs.sparse.quantised import GroupQuantised, quantise_weights
from rooflab.measure import store
from rooflab.measure.backend import host_id, select
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.measure import measure
from rooflab.measure.measurement import Measurement
from rooflab.measure.operands import affordable, available_bytes
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.settings import briefer, fewer
from rooflab.measure.this_machine import this_machine
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import FEWEST, MARGIN, MEASUREMENT_LOCK, quickest, time_warm

KINDS = ("fp32", "blas", "int8", "int4", "2:4")
SCHEMA, GROUP, COLUMNS, ROUNDS = 1, 128, 4096, fewer(5)
FEW, MANY = 8, 32  # rows that a cache holds: the cost of a call is not in their difference
_FORMATS = {"float32": "fp32", "float16": "fp16", "int8": "int8"}


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
    """Products with one matrix in several formats on this machine, predicted and measured.

    ``predicted`` and ``measured`` hold Limits and Measurement of "fp32" (rooflab's own loop),
    "blas" (SciPy's sgemv) and of each kind that was asked for.

    >>> gain = rl.sparse.gemv_gain("int8", (64, 256), rounds=1, progress=False)
    >>> list(gain.measured), gain.gain("int8", "fp32") > 0, gain.off() >= 1
    (['fp32', 'blas', 'int8'], True, True)
    """

    predicted: Mapping[str, Limits]
    measured: Mapping[str, Measurement]

    def gain(self, fast: str | None = None, slow: str = "fp32") -> float:
        """Return how many times as long ``slow`` took as ``fast``, by default the last kind."""
        return self._ratio({kind: m.median_s for kind, m in self.measured.items()}, fast, slow)

    def expected(self, fast: str | None = None, slow: str = "fp32") -> float:
        """Return how many times as long ``slow`` should take as ``fast``."""
        return self._ratio({kind: p.seconds for kind, p in self.predicted.items()}, fast, slow)

    def off(self, fast: str | None = None, slow: str = "fp32") -> float:
        """Return the factor, 1 or more, between the expected and the measured gain."""
        ratio = self.expected(fast, slow) / self.gain(fast, slow)
        return max(ratio, 1 / ratio)

    def _ratio(self, seconds: Mapping[str, float], fast: str | None, slow: str) -> float:
        fast = list(seconds)[-1] if fast is None else fast
        for name, kind in (("fast", fast), ("slow", slow)):
            if kind not in seconds:
                raise unknown(name, kind, seconds)
        return seconds[slow] / seconds[fast]

    def __repr__(self) -> str:
        rows = ["y = Wx, one thread"]
        for kind, m in self.measured.items():
            moved, instructions = (si(seconds, "s") for seconds in self.predicted[kind])
            warned = f"; warning: {'; '.join(m.warnings)}" if m.warnings else ""
            rows.append(
                f"  {kind:<5}{si(m.op.bytes, 'B'):>8}, predicted: bytes {moved}, instructions "
                f"{instructions}; measured {si(m.median_s, 's')}; fp32 takes "
                f"{self.gain(kind):.2f} times as long, predicted {self.expected(kind):.2f}{warned}"
            )
        return "\n".join(rows)


def gemv_gain(
    kind: str | Sequence[str], shape: tuple[int, int] | None = None, *, rounds: int = ROUNDS,
    progress: Progress = True,
) -> GemvGain:  # fmt: skip
    """Predict and measure y = Wx with fewer bytes a weight, beside W in fp32, with one thread.

    The products take turns, cold and each by :func:`rooflab.measure`: a busy moment hits all.

    Parameters
    ----------
    kind : str or sequence of str
        "int8", "int4" (groups of 128) or "2:4" (packed, fp32).
    shape : tuple of int, optional
        Rows and columns of W. By default 4096 columns, and in fp32 4 times the last-level cache,
        or what a quarter of the free memory holds.
    rounds : int, optional
        Turns; each takes three samples of each product.
    progress : bool or callable, optional
        True (default) draws progress bars, False nothing.

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
    nbytes = affordable(
        int(briefer(2 * MARGIN * last_level_bytes())), available_bytes(select("cpu"))
    )
    sizes = _shape("shape", (nbytes // (8 * COLUMNS), COLUMNS) if shape is None else shape)
    if len(sizes) != 2 or "2:4" in kinds and sizes[1] % 4:
        raise ValueError(f"shape={shape!r} must be rows and columns of W, and 2:4 takes fours")
    bandwidth = this_machine("cpu", 1, progress=progress).bandwidth("dram", "read")
    costs = weight_seconds(progress)
    calls = {name: product(name, *sizes) for name in dict.fromkeys((*KINDS[:2], *kinds))}
    predicted = {
        name: Limits(op.bytes / bandwidth, math.prod(sizes) * costs[name])
        for name, (op, _, _) in calls.items()
    }
    taken: dict[str, list[Measurement]] = {name: [] for name in calls}
    with MEASUREMENT_LOCK, progress_bar(progress, "products in turn") as tell:
        for number in range(size("rounds", rounds)):
            for name, (op, run, arrays) in calls.items():
                setup = partial(tuple, arrays)
                one = measure(op, run, setup, backend="cpu", threads=1, samples=FEWEST)
                taken[name].append(one)
            tell((number + 1) / rounds)
    return GemvGain(predicted, {name: _pooled(each) for name, each in taken.items()})


def product(kind: str, m: int, k: int) -> tuple[Operation, Callable[..., Array], list[Array]]:
    """Return y = Wx as ledger, run and operands; W has 32 rows of its own, over and over."""
    random = np.random.default_rng(12)
    w, x = random.normal(size=(min(m, 32), k)).astype(np.float32), random.normal(size=k)
    stored, run = {"w": w}, lambda w, x, _: products.gemv_dense(w, x)
    if kind == "blas":
        from scipy.linalg.blas import sgemv

        run = lambda w, x, _: sgemv(1.0, w.T, x, trans=1)
    elif kind == "2:4":
        p = pack(prune(w))
        stored = {"values": p.values, "positions": p.positions.view(np.int8)}
        run = lambda v, p, x, _: products.gemv_24(Packed24(v, p.view(np.uint8)), x)
    elif kind != "fp32":
        q = quantise_weights(w, bits := int(kind[3:]), GROUP)
        stored = {"values": q.values, "scales": q.scales}
        gemv = products.gemv_int8 if bits == 8 else products.gemv_int4
        run = lambda v, s, x, _: gemv(GroupQuantised(v, s, bits, GROUP, k), x)
    arrays = {name: np.resize(array, (m, array.shape[1])) for name, array in stored.items()}
    arrays |= {"x": x.astype(np.float32), "y": np.empty(m, np.float32)}
    operands = tuple(
        Operand(name, a.shape, _FORMATS[str(a.dtype)], int(name != "y"), int(name == "y"))
        for name, a in arrays.items()
    )
    flops = m * k * (1 if kind == "2:4" else 2)
    return (
        Operation(f"gemv {kind}", {"m": m, "k": k}, operands, flops, "fp32"),
        run,
        [*arrays.values()],
    )


def _pooled(taken: Sequence[Measurement]) -> Measurement:
    """Return one Measurement of all samples; rl.measure has no reference for these products."""
    warnings = dict.fromkeys(w for m in taken for w in m.warnings if "no reference" not in w)
    return replace(taken[0], samples=sum((m.samples for m in taken), ()), warnings=tuple(warnings))


def weight_seconds(progress: Progress = True) -> Mapping[str, float]:
    """Return the seconds a weight that each kernel takes in a cache; stored beside the roofs."""
    name = f"sparse-{host_id()}"
    with MEASUREMENT_LOCK:
        document = store.load(name, _problem)
        if document is None:
            document = {"schema": SCHEMA, "weights": measured_weights(progress)}
            store.save(name, document)
    return dict(document["weights"])


def _problem(document: Any) -> str:
    """What is wrong with stored costs, as the end of a sentence."""
    try:
        costs = document["weights"]
        sound = document["schema"] == SCHEMA and costs.keys() == set(KINDS)
        sound = sound and all(0 < cost < math.inf for cost in costs.values())
    except (AttributeError, KeyError, TypeError):
        sound = False
    return "" if sound else "another version of rooflab wrote it, or it is damaged"


def measured_weights(progress: Progress = False) -> dict[str, float]:
    """Measure each kernel with few and with many rows, all in a cache."""
    costs = {}
    with progress_bar(progress, "measuring products in a cache") as tell, thread_limit(1):
        for number, kind in enumerate(KINDS, 1):
            seconds = []
            for rows in (FEW, MANY):
                _, run, arrays = product(kind, rows, COLUMNS)
                seconds.append(quickest(time_warm(partial(run, *arrays), seconds=0.1).samples))
            costs[kind] = max(seconds[1] - seconds[0], 1e-9) / ((MANY - FEW) * COLUMNS)
            tell(number / len(KINDS))
    return costs
