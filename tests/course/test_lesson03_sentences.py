"""The sentences of lesson 03: drawn on simulated machines, and facts that they must say."""

from __future__ import annotations

import random
from dataclasses import replace

import rooflab as rl
from rooflab.exercises.sentences import conclude
from rooflab.measure.measurement import Measurement
from rooflab.predict.machine import Machine
from tests.course.machines import MACHINES, MiB, Simulated, core, unsaid
from tests.support.rows import each_row

H200, A100 = rl.machine("h200-sxm"), rl.machine("a100-sxm-80")
SMALL_GEMV, GEMV, CUBE = rl.gemv(1024, 1024), rl.gemv(4096, 4096), rl.gemm(1024, 1024, 1024)
OPERATIONS = (
    rl.axpy(256), rl.axpy(20_000), rl.axpy(2**24), rl.gemv(32, 32), SMALL_GEMV, GEMV,
    rl.gemv(2048, 2048, batch=64, shared=("a",)), rl.gemm(8, 8, 8), rl.gemm(256, 256, 256), CUBE,
)  # fmt: skip


def timed(on: Simulated, op: rl.Operation, ratio: float, cache="cold", *warnings) -> Measurement:
    """``op`` at ``ratio`` times its bound: the peak, or main memory with the mix of ``op``."""
    return replace(on.clock(op, share=1 / ratio, warnings=warnings), cache=cache)


def any_times(on: Simulated, rng: random.Random) -> list[Measurement]:
    return [
        timed(on, op, 10 ** rng.uniform(-0.7, 1.2), rng.choice(("cold", "warm")),
              *rng.choice(((), (), ("noisy",))))
        for op in rng.sample(OPERATIONS, rng.randint(1, 10))
    ]  # fmt: skip


def calibrated(here: Machine, efficiency: float = 1.0) -> Machine:
    """``here`` with what calls cost, and with routines that reach ``efficiency`` of the roof."""
    point = {"bytes": GEMV.bytes, "flops": GEMV.flops, "efficiency": efficiency}
    points = [{**point, "level": level, "smallest": 1024} for level in here.levels]
    calls = {"overhead_s": 3e-7, "cold_overhead_s": 2e-6, "points": points}
    return replace(here, routines={f"{name}/fp32": calls for name in ("axpy", "gemv", "gemm")})


def made(read: float, best: float, cache: float = 2e11) -> Machine:
    """A core of 100 GFLOP/s; byte/s of its memory, reading and with the best mix, and its cache."""
    return core(
        "made", peaks={"fp32": 1e11}, dram=(read, read, read, best), caches={"l2": (MiB, cache)}
    )


def any_core(on: Simulated, rng: random.Random) -> Machine:
    here = rng.choice((on.machine, on.machine, made(2e10, 2e10, cache=1e9)))
    return rng.choice((here, calibrated(here), calibrated(here, 0.3)))


def any_memory(on: Simulated, rng: random.Random) -> Machine:
    read = rng.uniform(8e9, 4e10)
    return rng.choice((on.machine, made(read, read * rng.uniform(1, 3))))


TRIALS = {
    "03-bounds": lambda on, rng: (any_times(on, rng), any_core(on, rng)),
    "03-slopes": lambda on, rng: (any_memory(on, rng),),
    "03-thumb": lambda on, rng: (any_memory(on, rng), rng.choice((H200, A100))),
    "03-pairs": lambda on, rng: (any_times(on, rng), any_core(on, rng)),
}


LAPTOP, MAC, SMALL, XEON = list(MACHINES.values())[:4]
CALLS, SLOW_ROUTINES = calibrated(SMALL.machine), calibrated(SMALL.machine, 0.4)
BLIND = replace(  # the Mac whose matrix unit was not measured
    MAC.machine, peaks={k: peak for k, peak in MAC.machine.peaks.items() if "tensor" not in k}
)
NEAR, FAR = timed(SMALL, rl.axpy(1000), 0.2, "warm"), timed(SMALL, rl.axpy(2**24), 1)
SLOW, DOUBTED = timed(SMALL, GEMV, 9), replace(FAR, warnings=("noisy: made up",))
MANY = [timed(SMALL, rl.gemv(n, n), 50) for n in (2000, 3000, 4000)]
MANY += [timed(SMALL, rl.axpy(2**20 + n), 1) for n in range(3)]


def bound(on: Simulated, op: rl.Operation, ratio: float, cache="cold", here=None, warnings=()):
    return conclude("03-bounds", [timed(on, op, ratio, cache, *warnings)], here or on.machine)


def pairs(*measured: Measurement):
    return conclude("03-pairs", measured, SMALL.machine)


def test_pairs_under_one_limit_are_marked_and_come_first():
    """A cold GEMV is slower than AXPY from memory, under one limit, and than AXPY in a cache."""
    first, second = [row for row in pairs(NEAR, FAR, SLOW).text.splitlines() if "gemv" in row]
    assert FAR.op.label in first and first.endswith("| memory, DRAM |")
    assert NEAR.op.label in second and second.endswith("|  |")


@each_row(
    (lambda: bound(SMALL, rl.gemm(8, 8, 8), 40, "warm", CALLS), "call",
     ["gemm 8×8×8 fp32, ×40. Most of their time is the call", "says nothing"], []),
    # What is slow beside a routine known to be slow is the routine's.
    (lambda: bound(SMALL, GEMV, 2.5, here=SLOW_ROUTINES), "routine", ["own calibration"], []),
    (lambda: bound(SMALL, GEMV, 2.5, here=CALLS), "unexplained", ["nobody knows why"], []),
    (lambda: bound(SMALL, rl.gemv(99, 99), 9, "warm", made(2e10, 2e10, cache=1e9)), "level",
     ["the cache is slower than the memory"], []),
    # Right of the ridge it is the peak that counts, wherever the operands are.
    (lambda: bound(XEON, rl.gemm(256, 256, 256), 1.1, "warm"), "roof", [], ["cache"]),
    (lambda: bound(SMALL, GEMV, 1.1, warnings=["noisy: made up"]), "roof",
     [f"{GEMV.label}, ×1.1 ⚠. The roof is what stops them",
      f"*Warning: {GEMV.label}: noisy: made up.*"], []),
    # A warm GEMV of 4.2 MB, and a product that fits the L1, beside the bound of memory
    (lambda: bound(LAPTOP, SMALL_GEMV, 0.95, "warm"), "chance",
     ["came from a cache", "not what stops them"], ["The roof is"]),
    (lambda: bound(SMALL, rl.gemm(32, 32, 32, "fp64"), 0.95, "warm"), "chance", [], []),
    # At its own roof AXPY is at 1, though the best mix is faster by 26 to 22.
    (lambda: bound(LAPTOP, rl.axpy(2**24), 1), "roof", ["axpy 16777216 fp32, ×1. "], []),
    # The Mac's products run at ten times the peak of its core.
    (lambda: bound(MAC, CUBE, 1.1), "roof", [], []),
    (lambda: bound(MAC, CUBE, 1.1, here=BLIND), "faster unit", ["×0.11", "Apple's matrix"], []),
    (lambda: bound(SMALL, GEMV, 0.6), "busy roof", ["No memory is faster than itself"], []),
    (lambda: bound(SMALL, GEMV, 0.6, "warm"), "busy roof", [], ["cache"]),
    (lambda: bound(SMALL, rl.axpy(20_000), 0.3, "warm"), "cache", ["it is steeper"], []),
    # 4.2 MB and an L3 of 4 MiB, so about half is taken to stay: that explains 0.6, not 0.3.
    (lambda: bound(SMALL, SMALL_GEMV, 0.6, "warm"), "cache", ["at least in part"], ["never"]),
    (lambda: bound(SMALL, SMALL_GEMV, 0.3, "warm"), "busy roof", [], []),
    # 61 GFLOP/s over 18 GB/s of reading and 26 GB/s of an update in place
    (lambda: conclude("03-slopes", LAPTOP.machine), "both directions",
     ["18.0 GB/s", "26.0 GB/s", "at 3.39 FLOP/byte", "at 2.35 for"], []),
    (lambda: conclude("03-slopes", made(8e9, 26e9)), "one is wrong", ["refresh=True"], []),
    (lambda: conclude("03-slopes", made(2e10, 2e10)), "one slope", ["at 5 FLOP/byte"], []),
    (lambda: conclude("03-thumb", made(26e9, 26e9), H200), "below 4",
     ["206 FLOP/byte", "between 3.85 and 4"], []),
    (lambda: conclude("03-thumb", made(15e9, 15e9), H200), "between", [], []),
    (lambda: conclude("03-thumb", made(10e9, 10e9), H200), "above 8", ["between 8 and 10"], []),
    (lambda: pairs(DOUBTED), "none", ["*Warning: axpy 16777216 fp32: noisy: made up.*"], []),
    (lambda: pairs(DOUBTED, SLOW), "same limit",
     ["axpy 16777216 fp32, cold ⚠ | ", "In this pair", "*Warning: axpy 16777216 fp32: noisy"], []),
    (lambda: pairs(NEAR, FAR, SLOW), "same limit", ["In 1 of these 2 pairs"], ["more", "⚠"]),
    (lambda: pairs(*MANY), "same limit", ["and 3 more.", "In 9 of these 9 pairs"], ["gemv 4000"]),
    (lambda: pairs(NEAR, SLOW), "other limits", ["two different limits"], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(tell, case, words, never):
    assert not unsaid(tell(), case, words, never)
