"""Facts of lesson 01, its exercises and its sentences."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.count import axpy, dot, gemm, gemv, ger
from rooflab.course.drawing import DTYPES
from rooflab.exercises.registry import exercise
from rooflab.exercises.sentences import conclude
from rooflab.predict.roofline import Roofline
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.support.rows import each_row


def test_the_right_answers_count_as_the_ledger_does():
    for size, kind in DTYPES.items():
        for m, n, k in ((1, 1, 1), (7, 5, 3), (1, 40_961, 3), (64, 64, 64)):
            for added in (False, True):
                op = gemm(m, n, k, kind, accumulate=added)
                counted = exercise("01-product").reference(m, n, k, size, added)
                assert counted == (op.flops, op.bytes, op.intensity)
        for n in (8, 61, 10_007):
            for name, op in {
                "axpy": axpy(n, kind), "dot": dot(n, kind), "gemv": gemv(n, n, kind),
                "outer": ger(n, n, kind), "gemm": gemm(n, n, n, kind),
            }.items():  # fmt: skip
                assert exercise("01-name").reference(op.flops, op.bytes, size) == name
            work = axpy(n * n, kind).bytes, gemv(n, n, kind).bytes, gemm(n, n, n, kind).flops
            rates = exercise("01-witnesses").reference(n, size, *(one / 1e11 for one in work))
            assert rates == (pytest.approx(1e11), pytest.approx(1e11), "nobody")
        ratio = exercise("01-speed-limit").reference(9e12, 1e11, size)
        assert ratio == pytest.approx(9e12 / (1e11 * axpy(10, kind).intensity))
    ops = axpy(10, "fp16"), gemv(61, 61, "fp16"), gemm(61, 61, 61, "fp16")
    of_vectors, of_matrix, of_product = (op.intensity for op in ops)
    between = (of_matrix + 1) / 2  # its value for that size, and for large ones
    intensities = exercise("01-three-intensities").reference(61)
    assert intensities == pytest.approx((of_vectors, between, of_product))
    claim = exercise("01-claim-1365").reference()
    assert claim == (pytest.approx(gemm(4096, 4096, 4096, "fp32").intensity), 2)
    assert gemm(4096, 4096, 4096, "fp16").intensity == pytest.approx(1365, abs=0.5)


N = 4096
AXPY, GEMM = rl.axpy(N * N), rl.gemm(N, N, N)
H200, L4, A100 = (Roofline(name, "fp32") for name in ("h200-sxm", "l4", "a100-sxm-80"))
SHARES = (0.05, 0.3, 0.6, 0.75, 0.9, 1.0, 1.05, 1.09, 1.11, 1.3, 1.62, 2.5)


def both(on: Simulated, slow: float = 0.9, fast: float = 0.9):
    """AXPY and GEMM, each at a share of its roof."""
    return on.clock(AXPY, share=slow), on.clock(GEMM, share=fast), on.machine


def short(on: Simulated, n: int = N, share: float = 0.9):
    return on.clock(AXPY), on.clock(rl.axpy(n), cache="warm", share=share), on.machine


def any_shares(rng: random.Random) -> tuple[float, float]:
    """Mostly below both roofs, where five sentences are chosen from."""
    shares = SHARES if rng.random() < 0.4 else SHARES[2:7]
    return tuple(rng.choice(shares) * rng.uniform(0.95, 1.05) for _ in "ab")


TRIALS = {
    "01-ratio": lambda on, rng: both(on, *any_shares(rng)),
    "01-roofs": lambda on, rng: both(on, *any_shares(rng)),
    "01-elsewhere": lambda on, rng: (AXPY, GEMM, on.machine, rng.choice((H200, L4, A100))),
    "01-small": lambda on, rng: short(
        on, rng.choice((1000, N, 30_000, 10**6, N * N)), rng.choice((0.9, 0.6, 0.3, 0.01))
    ),
}


LAPTOP, MAC, SMALL, XEON, GPU = MACHINES.values()


def blind(name: str):
    """A Mac whose matrix unit has not been measured: the vector roof is not GEMM's."""
    axpy, gemm, machine = both(MAC)
    vector = {key: figure for key, figure in machine.peaks.items() if "tensor" not in key}
    return conclude(name, axpy, gemm, replace(machine, peaks=vector))


def test_the_ratio_at_the_roofs_is_tens_or_hundreds_in_the_whole_catalogue():
    """What lesson 01 says of fp32 on every machine of the course."""
    there = [m for m in map(rl.machine, rl.machines()) if m.has_peak("fp32")]
    ratios = [Roofline(m, "fp32").ridge / AXPY.intensity for m in there]
    assert min(ratios) > 10 and max(ratios) < 1000


@each_row(*MACHINES)
@each_row("01-ratio", "01-roofs")
def test_no_share_of_a_roof_is_contradicted(name, here):
    """Who is "far below" is; who is blamed reached less; who is above a roof is named."""
    for slow, fast in itertools.product(SHARES, repeat=2):
        text = conclude(name, *both(MACHINES[here], slow, fast)).text
        assert "GEMM stays far below" not in text or fast < 0.75
        assert "AXPY stays far below" not in text or slow < 0.75
        assert "AXPY reaches a smaller" not in text or slow < fast
        assert "GEMM reaches a smaller" not in text or fast < slow
        assert slow <= 1.1 or "AXPY ran" in text or "AXPY is at" in text
        assert fast <= 1.1 or "GEMM ran" in text


def ratio(on: Simulated, slow: float = 0.9, fast: float = 0.9):
    return conclude("01-ratio", *both(on, slow, fast))


def roofs(on: Simulated, slow: float = 0.9, fast: float = 0.9):
    return conclude("01-roofs", *both(on, slow, fast))


@each_row(
    # 61 GFLOP/s over 22 GB/s ÷ 6: 16.6 times, where the best mix, 26 GB/s, would give 14.1.
    # The roofs of this core were timed, like the two operations.
    (lambda: roofs(LAPTOP), "alike", ["At the roofs **16.6 times**, measured **16.6 times**"],
     ["clock", "takes each of them apart"]),
    (lambda: conclude("01-elsewhere", AXPY, GEMM, GPU.machine, H200), "alike",
     ["**83.6 times**"], []),
    # AXPY at 105 %, GEMM at 88 %: within the noise of the roofs
    (lambda: roofs(LAPTOP, 1.05, 0.88), "gemm loses", [], ["below"]),
    (lambda: ratio(LAPTOP, 1.05, 0.88), "mostly", ["smaller share"], ["below"]),
    (lambda: roofs(SMALL, 0.6), "axpy loses", ["no limit", "takes each of them apart"], []),
    (lambda: roofs(SMALL, 0.9, 0.6), "gemm loses", ["GEMM 60 %", "each of them apart"], []),
    (lambda: ratio(LAPTOP, 0.4), "axpy loses", ["AXPY stays far below"], []),
    # 192 GFLOP/s ÷ 16 GB/s is a ridge of 12, so the roof cuts off 682.7 ÷ 12.
    (lambda: ratio(XEON, 0.9, 0.9 / 1.24), "mostly", ["most of it, a factor of 56.9"], []),
    (lambda: ratio(XEON, 0.9 / 1.24), "more than all", ["more, a factor of 56.9"], []),
    # What a matrix unit loses is the library's: the ×3.3 that is missing there is no roof's.
    (lambda: ratio(MAC, 1.0, 0.3), "gemm loses", ["10 times as high", "even that roof"],
     ["cut it off"]),
    (lambda: ratio(MAC), "cut off", ["10 times as high", "The flat roof has cut it off."], []),
    (lambda: blind("01-ratio"), "above the roof", ["9 times as fast as the flat roof"],
     ["as high as"]),
    (lambda: blind("01-roofs"), "above the roof", ["9 times as fast as the flat roof"], []),
    # 67 MB of results stay in a cache of 300 MB; one of 4 MB cannot hold them. GEMM is not blamed.
    (lambda: ratio(XEON, 1.62, 0.96), "unwritten", ["1.62 times as fast as memory", "315 MB"],
     ["stays", "below", "busier"]),
    (lambda: roofs(XEON, 1.3, 0.95), "unwritten", ["1.3 times as fast as memory", "315 MB"],
     ["stays", "below", "busier"]),
    (lambda: ratio(SMALL, 1.62, 0.96), "above the roof", ["busier moment"],
     ["written back", "GEMM stays"]),
    (lambda: roofs(SMALL, 1.3, 0.95), "above the roof", ["busier moment", "GEMM 95 %"],
     ["written back", "GEMM stays"]),
    (lambda: roofs(SMALL, 0.9, 1.3), "above the roof", ["GEMM 130 %", "matrix unit"], []),
    (lambda: ratio(SMALL, 1.3, 1.4), "above the roof",
     ["GEMM ran 1.4 times", "AXPY is at 130 % of its own"], []),
    # 33 kB, 240 kB and 134 MB, beside 48 KiB, 2 MiB and 300 MiB of cache
    (lambda: conclude("01-small", *short(XEON)), "faster", ["cache nearest to the core"], []),
    (lambda: conclude("01-small", *short(XEON, 30_000)), "faster", ["second of its caches"], []),
    (lambda: conclude("01-small", *short(XEON, N * N)), "alike", ["last of its caches"], []),
    (lambda: conclude("01-small", *short(SMALL, N * N)), "alike", ["no cache that we"], []),
    (lambda: conclude("01-small", *short(XEON, share=0.01)), "slower", ["cost of a call"], []),
    # 16.6 and 73 times (the matrix unit), beside 606 and 57
    (lambda: conclude("01-elsewhere", AXPY, GEMM, LAPTOP.machine, L4), "more room", [], []),
    (lambda: conclude("01-elsewhere", AXPY, GEMM, MAC.machine, A100), "less room", [], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(tell, case, words, never):
    assert not unsaid(tell(), case, words, never)
