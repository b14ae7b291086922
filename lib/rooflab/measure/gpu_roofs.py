"""The roofs of an NVIDIA GPU: multiply-adds, tensor-core products, L2 and memory streams.

The loops are CUDA, compiled by CuPy; products are the library routines that :func:`rooflab.measure`
times. Everything is timed with CUDA events. Levels: "l2" and "dram" (the HBM or GDDR memory).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rooflab.count.blas import gemm
from rooflab.count.si import rounded
from rooflab.measure.arrays import affordable, shrunk
from rooflab.measure.backend import Backend
from rooflab.measure.ceiling import ceiling
from rooflab.measure.cpu_roofs import BETTER, PRODUCT_SECONDS
from rooflab.measure.cuda_sources import FMA, FMA_A_TURN, STREAMS, THREADS, resident_blocks
from rooflab.measure.gpu import l2_bytes, time_gpu
from rooflab.measure.kernels import kernel_for
from rooflab.measure.memory import available_bytes, total_bytes
from rooflab.measure.operands import make
from rooflab.measure.roof_kernels import MIXES

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
    done = 0
    for step in (_vector_peaks, _product_peaks, _streams):
        for _ in step(backend, found, notes):
            done += 1
            tell(done / steps)
    capacity = {"l2": l2_bytes(backend.xp), "dram": total_bytes(backend)}
    return {**found, "capacity": capacity, "notes": notes}


def _rates(backend: Backend, amount: float, call: Callable[[], Any]) -> dict[str, Any]:
    """Rates of `amount` (FLOP or bytes) a call. Warm: the call before is of the same kind, so as
    much of it is left to be written back as the timed one leaves behind."""
    timing = time_gpu(
        backend.xp, call, cache="warm", samples=SAMPLES, seconds=SECONDS, warm_up_s=WARM_UP
    )
    rates = [amount / seconds for seconds in timing.samples]
    return {"value": rounded(ceiling(rates), 5), "samples": [rounded(rate, 5) for rate in rates]}


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
        n = _product_size(vector, 2 if dtype == "fp64" else 10)
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


def _product_size(vector_peak: float, gain: float) -> int:
    """N for which N³ takes PRODUCT_SECONDS at `gain` x the vector peak: 1024 to 8192, by 256."""
    n = (gain * vector_peak * PRODUCT_SECONDS / 2) ** (1 / 3)
    return min(max(int(n) // 256 * 256, 1024), 8192)


def _streams(backend: Backend, found: dict[str, Any], notes: list[str]) -> Iterator[None]:
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
