"""The gain of fusing: seconds of each way from named terms, beside seconds that were measured.

A way's prediction has four terms. *Bytes*: what the ledger of each step moves, at the measured
bandwidth of its mix: a result in an array of its own goes with a read as in a copy, a result that
replaces what was read is an update, and what else is read is read. *Arithmetic*: what a step's
elements take, as far as it is longer than its bytes, because a core computes while it waits.
*Page faults* of new arrays, and *calls*.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np

from rooflab.count import Operation, si
from rooflab.count.dtypes import DTypeLike
from rooflab.count.si import times
from rooflab.count.validation import size, unknown
from rooflab.labs.fusion.chains import WAYS, Chain, as_chain
from rooflab.labs.fusion.costs import Costs
from rooflab.labs.fusion.costs import costs as _costs
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
    SAMPLE_S,
    Call,
    Timing,
    clock_step_s,
    page_counts,
    pages_a_call,
    settle,
    undisturbed,
)
from rooflab.predict.estimate import homes
from rooflab.predict.machine import Machine

ROUNDS, COLUMNS = fewer(7), 4096
LEAST = 64 << 20  # bytes of x: twice what glibc's malloc keeps in its heap at most

#: What the ways of a chain are called in words.
LABELS = dict(zip(WAYS, ("new arrays", "same arrays", "one loop")))


@dataclass(frozen=True)
class Terms:
    """Seconds that a way should take, in parts that add up.

    >>> rl.fusion.Terms(bytes=0.1, arithmetic=0.02, faults=0.05, calls=1e-6).seconds
    0.170001
    """

    bytes: float
    arithmetic: float
    faults: float
    calls: float

    @property
    def seconds(self) -> float:
        """The sum of the terms."""
        return self.bytes + self.arithmetic + self.faults + self.calls

    def __str__(self) -> str:
        parts = ((name.replace("faults", "new pages"), s) for name, s in asdict(self).items())
        return ", ".join(f"{name} {si(s, 's')}" for name, s in parts if s)


@dataclass(frozen=True, repr=False)
class Gain:
    """The ways of one chain on this machine, predicted and measured.

    ``predicted`` and ``measured`` hold Terms and Measurement of each way; the environment of a
    measurement has the "page_faults" that the system counted in a call.

    >>> found = rl.fusion.gain("l2_norm", 64, 256, ways=("buffers", "fused"), progress=False)
    >>> found.measured["fused"].op.bytes, found.gain("fused", "buffers") > 0
    (131072, True)
    """

    title: str
    predicted: Mapping[str, Terms]
    measured: Mapping[str, Measurement]

    def gain(self, way: str | None = None, over: str | None = None) -> float:
        """Return how many times as long ``over``, the first, took as ``way``, the last one."""
        way, over = self._ends(way, over)
        return self.measured[over].median_s / self.measured[way].median_s

    def expected(self, way: str | None = None, over: str | None = None) -> float:
        """Return how many times as long ``over`` should take as ``way``."""
        way, over = self._ends(way, over)
        return self.predicted[over].seconds / self.predicted[way].seconds

    def off(self, way: str | None = None, over: str | None = None) -> float:
        """Return the factor, 1 or more, between the expected and the measured gain."""
        ratio = self.expected(way, over) / self.gain(way, over)
        return max(ratio, 1 / ratio)

    def _ends(self, way: str | None = None, over: str | None = None) -> tuple[str, str]:
        return way or [*self.measured][-1], over or next(iter(self.measured))

    def __repr__(self) -> str:
        last, first = self._ends()
        rows = [f"{self.title}, {self.measured[first].op.compute_dtype}"]
        for way, taken in self.measured.items():
            terms = self.predicted[way]
            warned = f"; warning: {'; '.join(taken.warnings)}" if taken.warnings else ""
            rows.append(
                f"  {LABELS.get(way, way):<12}{si(taken.op.bytes, 'B'):>8}, predicted "
                f"{si(terms.seconds, 's'):>7} ({terms}), measured {si(taken.median_s, 's'):>7}"
                f"{warned}"
            )
        each = f"predicted {times(self.expected(), 2)}, measured {times(self.gain(), 2)}"
        rows.append(f"  {LABELS.get(last, last)} over {LABELS.get(first, first)}: {each}")
        return "\n".join(rows)


def predict_chain(
    chain: Chain | str, rows: int, columns: int = COLUMNS, kind: DTypeLike = "fp32", *,
    way: str = "temporaries", machine: Machine, costs: Costs, cache: str = "cold",
) -> Terms:  # fmt: skip
    """Predict what a way of a chain takes on a measured machine with one thread.

    Parameters
    ----------
    chain : Chain or str
        One of :func:`chains`, or its name.
    rows, columns : int
        Shape of x.
    kind : str, DType or a dtype of NumPy, default "fp32"
        "fp32" or "fp64".
    way : {"temporaries", "buffers", "fused"}, optional
        How it runs.
    machine : Machine
        With measured bandwidths, such as ``rl.this_machine("cpu", threads=1)``.
    costs : Costs
        Of calls, elements and pages, such as ``rl.fusion.costs()``.
    cache : {"cold", "warm"}, optional
        Whether the operands are in DRAM, or where they fit.

    Returns
    -------
    Terms
        Seconds by bytes, arithmetic, page faults and calls.

    Examples
    --------
    >>> here, costs = rl.this_machine("cpu", threads=1), rl.fusion.costs()
    >>> known = {"machine": here, "costs": costs}
    >>> rl.fusion.predict_chain("sin_sqrt", 8192, way="fused", **known).faults
    0.0
    """
    chain = as_chain(chain)
    steps = chain.operations(rows, columns, kind, way=way)
    number = steps[0].operands[0].dtype
    whole = chain.ledger(rows, columns, kind, way=way).working_set
    moved = arithmetic = faults = calls = 0.0
    for op in steps:
        key = f"{number} {chain.name if way == 'fused' else op.name}"
        elements = rows * columns if way == "fused" else op.flops
        each = carrying(op, machine, whole, cache)
        moved += each
        arithmetic += max(0.0, elements * costs.elements[key] - each)
        calls += costs.calls[key]
        if way == "temporaries":
            faults += sum(costs.faults(o.nbytes) for o in op.operands if o.writes)
    return Terms(moved, arithmetic, faults, calls)


def carrying(op: Operation, machine: Machine, whole: int, cache: str) -> float:
    """Seconds that the bytes of one step take at the bandwidths of their mixes."""
    read = sum(o.bytes for o in op.operands if o.reads and not o.writes)
    new = sum(o.bytes for o in op.operands if o.writes and not o.reads)
    replaced = sum(o.bytes for o in op.operands if o.reads and o.writes)
    copied = min(new, read)
    mixes = {"copy": new + copied, "update": replaced, "read": read - copied}
    return sum(
        share * nbytes / machine.bandwidth(level, mix)
        for level, share in homes(whole, machine, cache).items()
        for mix, nbytes in mixes.items()
    )


def gain(
    chain: Chain | str, rows: int | None = None, columns: int = COLUMNS, kind: DTypeLike = "fp32",
    *, ways: Sequence[str] = WAYS, rounds: int = ROUNDS, progress: Progress = True,
) -> Gain:  # fmt: skip
    """Predict and measure the ways of a chain on this machine, with one thread.

    The ways take turns, so that a busy moment hits all of them.

    Parameters
    ----------
    chain : Chain or str
        One of :func:`chains`, or its name.
    rows : int, optional
        Rows of x. By default x and y are 4 times the last-level cache together, x has 64 MiB at
        least, and all arrays take a quarter of the free memory at most.
    columns : int, optional
        Columns of x.
    kind : str, DType or a dtype of NumPy, default "fp32"
        "fp32" or "fp64".
    ways : sequence of str, optional
        Of "temporaries", "buffers" and "fused".
    rounds : int, optional
        Samples of each way.
    progress : bool or callable, optional
        True (default) draws progress bars, False nothing.

    Returns
    -------
    Gain
        Predictions and measurements of the ways.

    Raises
    ------
    OperandsTooLarge
        When the arrays do not fit memory, before they are allocated.

    Examples
    --------
    >>> found = rl.fusion.gain("max_pool", 64, 256, rounds=3, progress=False)
    >>> found.measured["fused"].op.bytes < found.measured["temporaries"].op.bytes
    True
    """
    chain, rounds = as_chain(chain), size("rounds", rounds)
    if not ways or set(ways) - set(WAYS):
        raise unknown("ways", ways, WAYS)
    machine, known = this_machine("cpu", 1, progress=progress), _costs(progress=progress)
    rows = _rows_beyond_caches(chain, columns, kind) if rows is None else size("rows", rows)
    ledgers = {way: chain.ledger(rows, columns, kind, way=way) for way in ways}
    flows = min(op.working_set for op in ledgers.values()) >= MARGIN * last_level_bytes()
    cache = "cold" if flows else "warm"
    require_memory(chain.ledger(rows, columns, kind), select("cpu"))
    inputs = chain.example(rows, columns, kind)
    predicted = {
        way: predict_chain(chain, rows, columns, kind, way=way, machine=machine, costs=known,
                           cache=cache)
        for way in ways
    }  # fmt: skip
    calls = {way: chain.bind(way, inputs) for way in ways}
    return compared(chain.title, ledgers, calls, predicted, cache, rounds, progress)


def compared(
    title: str, ledgers: Mapping[str, Operation], calls: Mapping[str, Call],
    predicted: Mapping[str, Terms], cache: str, rounds: int, progress: Progress,
) -> Gain:  # fmt: skip
    """Return the Gain of ``calls``, timed in turn with one thread, beside what was predicted."""
    with MEASUREMENT_LOCK, thread_limit(1), progress_bar(progress, title) as tell:
        timings = in_turns(calls, rounds, tell)
        surroundings = environment(select("cpu"))
    measured = {
        way: Measurement(
            ledgers[way], host_id(), "cpu", cache, 1, timing.samples,
            caveats(timing, threads=1, cores=available_cores(), power=power()),
            {**surroundings, "kernel": way, "clock": timing.clock, **timing.pages},
        )
        for way, timing in timings.items()
    }  # fmt: skip
    return Gain(title, predicted, measured)


def _rows_beyond_caches(chain: Chain, columns: int, kind: DTypeLike) -> int:
    row = chain.ledger(2, columns, kind, way="fused").operands[0].nbytes // 2
    arrays, beyond = 2 + len(chain.buffers("buffers")), int(briefer(MARGIN * last_level_bytes()))
    room = affordable(arrays * beyond, available_bytes(select("cpu"))) // arrays
    return max(2, math.ceil(max(LEAST, min(beyond // 2, room)) / row) // 2 * 2)


def in_turns(
    calls: Mapping[str, Call], rounds: int, tell: Callable[[float], None]
) -> dict[str, Timing]:
    """Time ``calls`` in turn, ``rounds`` samples each, and count the pages of a call.

    Before each sample its call runs once untimed, so that fresh pages are some that were just given
    back. The host of a virtual machine may take back what lies idle for two seconds, and the next
    first write to it costs ten times as much: see :mod:`rooflab.measure.pages`.
    """
    each = {name: settle([call], SAMPLE_S) for name, call in calls.items()}
    inner = {name: max(1, math.ceil(SAMPLE_S / seconds)) for name, seconds in each.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    pages: dict[str, list[dict[str, float]]] = {name: [] for name in calls}
    with undisturbed(), np.errstate(all="ignore"):
        for number in range(rounds):
            for name, call in calls.items():
                call()
                before = page_counts()
                samples[name].append(settle([call], 0.0, least=inner[name]))
                pages[name].append(pages_a_call(before, inner[name]))
            tell((number + 1) / rounds)
    step = clock_step_s()
    return {
        name: Timing(
            tuple(seconds), inner[name], "perf_counter_ns", step,
            pages={key: median(each[key] for each in pages[name]) for key in pages[name][0]},
        )
        for name, seconds in samples.items()
    }  # fmt: skip
