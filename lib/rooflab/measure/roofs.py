"""The roofs of this machine: its peak FLOP/s, and its bandwidth per memory level and mix."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rooflab.count.blas import gemm
from rooflab.count.si import rounded
from rooflab.count.validation import size
from rooflab.measure import roof_kernels as kernels
from rooflab.measure.backend import Backend, available_cores, now, select
from rooflab.measure.caches import FALLBACK, Level, beyond_caches, levels_here
from rooflab.measure.cuda_sources import FMA, FMA_A_TURN, STREAMS, THREADS, resident_blocks
from rooflab.measure.gpu import l2_bytes, time_gpu
from rooflab.measure.kernels import kernel_for
from rooflab.measure.operands import affordable, aligned, available_bytes, make, shrunk, total_bytes
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.roof_kernels import MIXES, host
from rooflab.measure.threads import (
    Crew,
    Job,
    core_kinds,
    hybrid_note,
    processor_now,
    thread_limit,
    unlimited,
)
from rooflab.measure.timing import MEASUREMENT_LOCK, robust_peak, spread, time_warm

SCHEMA = 1


def measure_roofs(
    backend: str | None = "cpu", threads: int | None = None, progress: Progress = True
) -> dict[str, Any]:
    """Measure the roofs and return them as plain JSON data, in SI units, in a few seconds.

    `threads`: CPU threads, None for every core this process may use. `progress`: True draws a bar,
    False nothing; a function is called with the share done, 0 to 1. The result holds "schema",
    "backend", "threads", "measured_on", "seconds" (how long it took), "peak" {dtype: entry},
    "bandwidth" {level: {mix: entry}}, "capacity" {level: bytes the threads hold together} and
    "notes"; an entry is {"value", "samples"} and perhaps "note". A value is the median of the
    three fastest slices, see :mod:`rooflab.measure.timing`. Bandwidths count what the operation
    asks for (copy: one read, one write an element), as the byte ledger does.

    Safe to call in a thread: nearly all its time is spent in machine code, outside the GIL.
    Raises RuntimeError for "gpu" without one.
    """
    chosen = select(backend, threads)
    count = None if chosen.is_gpu else thread_count(threads)
    began = time.perf_counter()
    with MEASUREMENT_LOCK, progress_bar(progress, "measuring the roofs") as tell:
        found = gpu_roofs(chosen, tell) if count is None else cpu_roofs(chosen, count, tell)
    return {
        "schema": SCHEMA,
        "backend": chosen.name,
        "threads": count,
        "measured_on": now(),
        "seconds": round(time.perf_counter() - began, 3),
        **found,
    }


def thread_count(threads: object, each: int = 1) -> int:
    """`threads` checked, None becoming all cores, and no more than `each` for every core.

    Roofs of more threads than cores mean nothing; more than a few would only wait for each other.
    """
    cores = available_cores()
    most, count = each * cores, cores if threads is None else size("threads", threads)
    if count > most:
        raise ValueError(
            f"threads={count}: this process may use {cores} core{'s' * (cores > 1)}; "
            f"give 1{f' to {most}' * (most > 1)}, or None for all"
        )
    return count


# The roofs of a CPU: all kernels in turn, a few short slices each, round after round, until the
# fastest slices of each kernel agree. A program that takes the core for half a second then spoils
# a few slices of every kernel instead of all slices of one.


BUDGET = 3.0  # seconds of slices at most; a quiet machine needs about one
SLICE = 1.5e-3  # seconds: thousands of timer ticks, and short beside a scheduler's turn
LEAST, MOST = 24, 240  # slices of a kernel
MIB = 1 << 20
SHORT = 4  # slices of a cache for one of memory, which takes up to a hundred times as long
AGREEMENT = 0.02  # how close its three fastest must be
SKEW = 2048  # bytes from x's place in its page to y's: equal places make loads wait for stores
WINDOWS = 8  # a DRAM slice walks an eighth of its array, half a last-level cache
POINTS = 6  # working sets from where a cache is measured to twice its size: where does it spill?
SETTLING, COUNTED = 2, 5  # slices of each
LEAD, TIMED = 2, 4  # windows walked to fill the caches with lines to be written back, then timed
PRODUCT_SECONDS = 0.01  # of a product at the vector peak
BETTER = 1.1  # a product counts as a peak of its own if it beats the vector peak by a tenth
STREAMS_SHARE = 0.9  # of the time; the rest is products
WRITE_ALLOCATE = (
    "counted as 1 read + 1 write; storing to a line that is not in cache usually reads it first, "
    "so up to 1.5 times as many bytes really move"
)


@dataclass
class Roof:
    """One kernel on one working set: what a pass does, and the rates seen so far."""

    path: tuple[str, ...]
    amount: int  # FLOP or bytes of one pass, all threads together
    jobs: Callable[[int], list[Job]]  # passes -> one job a thread
    passes: int = 1
    moves_on: bool = False  # each slice is one pass over the next window, beyond the caches
    rates: list[float] = field(default_factory=list)

    def slice(self, crew: Crew) -> None:
        """Run one slice; aim the next one at SLICE seconds. Main memory: a few windows in a row.

        What is stored reaches memory only when later lines push it out of the caches. A lone
        window would leave half of its writes behind, unpaid; after the lead-in as many old ones
        are pushed out as new ones stay.
        """
        if self.moves_on:
            windows = [crew.time(self.jobs(1)) for _ in range(LEAD + TIMED)]
            self.rates.append(self.amount * TIMED / sum(windows[LEAD:]))
            return
        seconds = crew.time(self.jobs(self.passes))
        self.rates.append(self.amount * self.passes / seconds)
        aim = self.passes * SLICE * (1 + crew.size / 16) / max(seconds, 1e-7)
        self.passes = max(1, min(int(aim), 100 * self.passes))

    @property
    def agrees(self) -> bool:
        """True when the three fastest slices, of enough, say the same."""
        return len(self.rates) >= LEAST and spread(self.rates) <= AGREEMENT

    def entry(self) -> dict[str, Any]:
        """The measured value and its samples, as plain JSON data."""
        notes = [WRITE_ALLOCATE] if self.path[1:] == ("dram", "copy") else []
        apart = spread(self.rates)
        if apart > AGREEMENT:
            notes.append(f"its three fastest slices lie {apart:.0%} apart: other work?")
        elif len(self.rates) < LEAST:
            notes.append(f"measured {len(self.rates)} times only: there was no time for more")
        return _entry(self.rates, **({"note": "; ".join(notes)} if notes else {}))


def _entry(rates: Sequence[float], **more: str) -> dict[str, Any]:
    """The value of measured ``rates``, the rates themselves, and what ``more`` there is to say."""
    samples = [rounded(rate, 5) for rate in rates]
    return {"value": rounded(robust_peak(rates), 5), "samples": samples, **more}


def cpu_roofs(backend: Backend, threads: int, tell: Callable[[float], None]) -> dict[str, Any]:
    """The roofs with `threads` threads: "peak", "bandwidth", "capacity", "spill", "notes"."""
    levels = levels_here(threads)
    wanted = beyond_caches(levels, FALLBACK, threads)
    nbytes = affordable(wanted, available_bytes(backend))
    dram = Level("dram", total_bytes(backend), nbytes // threads)
    seen = [processor_now()]
    room = math.ceil(max(level.per_thread for level in [*levels, dram]) / MIB + 1) * MIB
    with Crew(threads) as crew:
        store = [aligned(room) for _ in range(threads)]
        crew.run([(np.ndarray.fill, (part.view(np.float64), 1.0)) for part in store])
        turn = itertools.count()  # one for all mixes: none may find what the one before it loaded
        streams = [_stream(level, mix, store) for level in levels for mix in MIXES]
        roofs = [*_peaks(threads), *streams, *(_stream(dram, mix, store, turn) for mix in MIXES)]
        _measure(roofs, crew, lambda share: tell(STREAMS_SHARE * share))
        found = _nested(roofs)
        spill = _spills([*levels, dram], found["bandwidth"], store, crew)
    found["peak"].update(product_peaks(backend, found["peak"], threads))
    tell(1.0)
    free, cores = unlimited(), "one core" if threads == 1 else f"{threads} cores"
    unbound = free and threads != available_cores()  # its products may use more cores than this
    notes = [
        None if nbytes == wanted else shrunk(wanted, nbytes),
        hybrid_note(core_kinds(), threads, (*seen, processor_now())),
        f"the library cannot be kept to {cores}: {free}" if unbound else None,
    ]
    return {
        **found,
        "spill": spill,
        "capacity": {level.name: level.capacity for level in [*levels, dram]},
        "notes": [note for note in notes if note],
    }


def product_peaks(
    backend: Backend, peaks: Mapping[str, Mapping[str, Any]], threads: int
) -> dict[str, dict[str, Any]]:
    """Peaks of unit "tensor" for the number types whose library product beats the vector peak.

    ``peaks``: the measured vector peaks, {dtype: {"value", "samples"}} in FLOP/s. Keys are
    "fp32_tensor" and "fp64_tensor"; empty on a processor without a matrix unit that its library
    can use, such as Apple's; no loop of multiply-adds can. Products are compared with the fastest
    slice of the vector loop: a busy computer slows most, and that would look like a matrix unit.
    """
    found = {}
    for dtype, vector in peaks.items():
        n = product_size(vector["value"])
        op = gemm(n, n, n, dtype)
        call = kernel_for(op, backend).bind(make(op, backend))
        with thread_limit(threads):
            timing = time_warm(call, samples=10, seconds=0.1)
        rates = [op.flops / seconds for seconds in timing.samples]
        value = robust_peak(rates)
        if value > BETTER * max(vector["samples"]):
            note = (
                f"matrix unit, through the library's product of size {n}: "
                f"{value / vector['value']:.1f} times the vector peak"
            )
            found[f"{dtype}_tensor"] = _entry(rates, unit="tensor", note=note)
    return found


def product_size(peak: float, least: int = 256, most: int = 2048) -> int:
    """N for which N³ multiply-adds take PRODUCT_SECONDS at ``peak``, by quarters of ``least``."""
    step, n = least // 4, (peak * PRODUCT_SECONDS / 2) ** (1 / 3)
    return min(max(int(n) // step * step, least), most)


def _measure(roofs: list[Roof], crew: Crew, tell: Callable[[float], None]) -> None:
    for roof in roofs * 2:  # load the code and the caches, find the number of passes
        roof.slice(crew)
        roof.rates.clear()
    began = time.perf_counter()
    open_roofs = roofs
    while open_roofs:
        for roof in open_roofs:
            for _ in range(1 if roof.moves_on else SHORT):
                roof.slice(crew)
        open_roofs = [roof for roof in roofs if not roof.agrees and len(roof.rates) < MOST]
        spent = (time.perf_counter() - began) / BUDGET
        tell(max(min(spent, 1.0), 1 - len(open_roofs) / len(roofs)))
        if spent > 1 and all(len(roof.rates) >= 3 for roof in roofs):
            return


def _peaks(threads: int) -> list[Roof]:
    sinks = [aligned(kernels.lunch_block(host())) for _ in range(threads)]
    roofs = []
    for dtype in ("fp64", "fp32"):
        kernel, flop = kernels.fma_kernel(dtype)

        def jobs(turns: int, kernel: Any = kernel) -> list[Job]:
            return [(kernel, (sink.ctypes.data, turns, 0.5, 1.0)) for sink in sinks]

        roofs.append(Roof(("peak", dtype), flop * threads, jobs))
    return roofs


def _stream(
    level: Level, mix: str, store: list[np.ndarray], turn: Iterator[int] | None = None
) -> Roof:
    """`mix` on `level`: each thread walks its working set, or two halves of it as x and y.

    With `turn`, a slice walks the next of WINDOWS windows only.
    """
    windows, starts = WINDOWS if turn else 1, [part.ctypes.data for part in store]
    kernel, block = kernels.stream_kernel(mix), kernels.stream_block(host())
    arrays = 2 if mix in ("axpy", "copy") else 1
    window = level.per_thread // windows // block * block
    nbytes = max(block, window // arrays // block * block)

    def jobs(passes: int) -> list[Job]:
        at = next(turn) % windows * window if turn else 0
        return [
            (kernel, (start + at, start + at + nbytes + SKEW, nbytes, passes, 1.0, 0.0))
            for start in starts
        ]

    amount = sum(kernels.MIXES[mix]) * nbytes * len(starts)
    return Roof(("bandwidth", level.name, mix), amount, jobs, moves_on=turn is not None)


def _spills(
    levels: list[Level], rates: dict[str, Any], store: list[np.ndarray], crew: Crew
) -> dict[str, list[list[float]]]:
    """Per cache: bytes read over and over, and the share of them that the next level serves.

    Measured, because a size tells little: other cores use the cache too, a virtual machine may show
    the cache of its whole host, and policies of replacement differ.
    """
    found = {}
    for level, below in itertools.pairwise(levels):
        near, far = (1 / rates[each.name]["read"]["value"] for each in (level, below))
        most = min(2 * level.capacity // crew.size, store[0].nbytes - MIB)
        if most < 1.5 * level.per_thread:
            continue  # memory is short: there is no room to see it spill
        steps = np.geomspace(level.per_thread, most, POINTS)[1:]
        shares = [0.0]
        for per_thread in steps:
            wanted = Level(level.name, level.capacity, int(per_thread))
            each = 1 / _settled(_stream(wanted, "read", store), crew)
            share = (each - near) / max(far - near, 1e-3 * near)
            shares.append(min(max(share, shares[-1]), 1.0))
        sizes = [crew.size * level.per_thread, *(crew.size * int(size) for size in steps)]
        found[level.name] = [[size, rounded(share, 3)] for size, share in zip(sizes, shares)]
    return found


def _settled(roof: Roof, crew: Crew) -> float:
    """Bytes a second of a roof that is walked over and over."""
    for _ in range(SETTLING + COUNTED):
        roof.slice(crew)
    return robust_peak(roof.rates[SETTLING:])


def _nested(roofs: list[Roof]) -> dict[str, Any]:
    found: dict[str, Any] = {"peak": {}, "bandwidth": {}}
    for roof in roofs:
        place = found
        for key in roof.path[:-1]:
            place = place.setdefault(key, {})
        place[roof.path[-1]] = roof.entry()
    return found


# The roofs of an NVIDIA GPU: multiply-adds, tensor-core products, L2 and memory streams.
#
# The loops are CUDA, compiled by CuPy; products are the library routines that ``rl.measure`` times.
# Everything is timed with CUDA events. Levels: "l2" and "dram" (the HBM or GDDR memory).


TURNS = 1024  # of the loop of multiply-adds: a millisecond or so
MEMORY = 4 << 30  # bytes for main memory: a millisecond on the fastest of today
L2_BEYOND, L2_SHARE = 4, 3  # main memory beyond 4 x L2; L2 on a third: half of it may be far away
BYTES_PER_MULTIPROCESSOR = 40_000_000  # what one L2 sample moves: a millisecond or so
SAMPLES, SECONDS, WARM_UP = 20, 0.1, 0.05  # twenty steps of this: well below ten seconds
PRODUCTS = ("fp16", "bf16", "tf32", "fp64")


def gpu_roofs(backend: Backend, tell: Callable[[float], None]) -> dict[str, Any]:
    """Measure the current GPU; the "peak", "bandwidth", "capacity", "notes" of the roofs."""
    notes: list[str] = []
    found: dict[str, Any] = {"peak": {}, "bandwidth": {"l2": {}, "dram": {}}}
    steps = 2 + len(PRODUCTS) + 2 * len(MIXES)
    work = (step(backend, found, notes) for step in (_vector_peaks, _product_peaks, _gpu_streams))
    for done, _ in enumerate(itertools.chain.from_iterable(work), 1):
        tell(done / steps)
    capacity = {"l2": l2_bytes(backend.xp), "dram": total_bytes(backend)}
    return {**found, "capacity": capacity, "notes": notes}


def _rates(backend: Backend, amount: float, call: Callable[[], Any]) -> dict[str, Any]:
    """Rates of a call that does or moves `amount` FLOP or bytes.

    Warm, so that a call of the same kind comes before each. It leaves as much to be written back as
    the timed one leaves behind.
    """
    timing = time_gpu(
        backend.xp, call, cache="warm", samples=SAMPLES, seconds=SECONDS, warm_up_s=WARM_UP
    )
    return _entry([amount / seconds for seconds in timing.samples])


def _vector_peaks(backend: Backend, found: dict[str, Any], _: list[str]) -> Iterator[None]:
    xp = backend.xp
    for dtype, options in zip(("fp32", "fp64"), FMA.variants, strict=True):
        kernel = FMA.kernel(xp, "fma_roof", options)
        blocks = resident_blocks(xp, kernel)
        out = xp.empty(blocks * THREADS, dtype={"fp32": xp.float32, "fp64": xp.float64}[dtype])
        kind = out.dtype.type
        # fp64 runs at a half to a sixty-fourth of the fp32 rate: fewer turns are long enough
        turns = TURNS if dtype == "fp32" else TURNS // 16
        args = (out, xp.int32(turns), kind(0.5), kind(1.0))

        call = partial(kernel, (blocks,), (THREADS,), args)
        flop = 2.0 * blocks * THREADS * FMA_A_TURN * turns
        found["peak"][dtype] = {**_rates(backend, flop, call), "unit": "vector"}
        yield


def _product_peaks(backend: Backend, found: dict[str, Any], notes: list[str]) -> Iterator[None]:
    """What cuBLAS reaches on a large square product: the roof a program can hope for, below the
    tensor cores' datasheet figure."""
    for dtype in PRODUCTS:
        vector = found["peak"]["fp64" if dtype == "fp64" else "fp32"]["value"]
        n = product_size((2 if dtype == "fp64" else 10) * vector, 1024, 8192)
        op = gemm(n, n, n, dtype)
        try:
            call = kernel_for(op, backend).bind(make(op, backend))
            entry = _rates(backend, op.flops, call)
        except Exception as error:  # CuPy has no such product on this GPU: a roof less, no failure
            notes.append(f"{dtype} product not measured ({type(error).__name__}: {error})")
            entry = None
        if entry and entry["value"] > BETTER * vector:
            key = "fp64_tensor" if dtype == "fp64" else dtype
            note = f"reached by a cuBLAS product of size {n}, not the tensor cores' datasheet peak"
            found["peak"][key] = {**entry, "unit": "tensor", "note": note}
        yield


def _gpu_streams(backend: Backend, found: dict[str, Any], notes: list[str]) -> Iterator[None]:
    xp, l2 = backend.xp, l2_bytes(backend.xp)
    wanted = max(MEMORY, L2_BEYOND * l2)
    beyond = affordable(wanted, available_bytes(backend))
    if beyond < L2_BEYOND * l2:
        notes.append(shrunk(L2_BEYOND * l2, beyond))
    moved = BYTES_PER_MULTIPROCESSOR * int(xp.cuda.Device().attributes["MultiProcessorCount"])
    store = xp.ones(beyond // 16 * 4, dtype=xp.float32)  # whole float4s
    for level, nbytes in (("l2", l2 // L2_SHARE), ("dram", store.nbytes)):
        for mix, (loads, stores) in MIXES.items():
            arrays = 2 if mix in ("axpy", "copy") else 1
            kernel = STREAMS.kernel(xp, f"{mix}_roof")
            blocks, n = _even(nbytes // 16 // arrays, resident_blocks(xp, kernel))
            passes = 1 if level == "dram" else max(1, moved // nbytes)
            y = store[4 * n :] if arrays == 2 else store
            args = (store, y, xp.int64(n), xp.int32(passes), xp.float32(1.0))
            call = partial(kernel, (blocks,), (THREADS,), args)
            bytes_ = 16.0 * n * passes * (loads + stores)
            found["bandwidth"][level][mix] = _rates(backend, bytes_, call)
            yield


def _even(n: int, blocks: int) -> tuple[int, int]:
    """Blocks, at most ``blocks``, and a size up to ``n`` of which every thread gets as much."""
    blocks = max(1, min(blocks, n // THREADS))
    return blocks, max(1, n // (blocks * THREADS)) * blocks * THREADS
