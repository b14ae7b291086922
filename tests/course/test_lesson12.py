"""Facts of lesson 12, its exercises, its sentences and its pictures."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab as rl
from rooflab.exercises.sentences import conclude
from rooflab.labs.sparse.gain import GemvGain, Limits
from rooflab.measure.measurement import Measurement
from tests.course.machines import unsaid
from tests.course.verdicts import answer, refused
from tests.support.rows import each_row


def by_packing(row):
    """12-prune with the lab's own packing."""
    kept = rl.sparse.pack(rl.sparse.prune(np.array([row], np.float32)))
    places = np.unpackbits(kept.positions.view(np.uint8), bitorder="little").reshape(-1, 2) @ [1, 2]
    return [float(np.float64(str(v))) for v in kept.values[0]], places[: len(row) // 2].tolist()


def test_the_labs_packing_gives_the_right_answer():
    assert not refused({"12-prune": by_packing}, range(10))


def test_the_knee_is_that_of_marlins_ideal_curve():
    for wanted in (3.8, 3.0, 2.0, 1.5):
        last = answer("12-knee")(18432, 73728, 4.125, 125e12, 600e9, wanted)
        assert last + 1 == rl.sparse.marlin_batch(wanted), wanted
    with pytest.raises(ValueError, match="wanted=1"):
        rl.sparse.marlin_batch(1)


def test_two_of_four_on_an_h100_dips_to_1_60():
    gains = {m: answer("12-claim-half")(m, 4096, 4096, 16, 9.894e14, 3.35e12)
             for m in (1, 128, 345, 467)}  # fmt: skip
    assert gains == pytest.approx({1: 1.78, 128: 1.70, 345: 1.60, 467: 2.0}, abs=0.005)
    for m, gain in gains.items():
        assert rl.sparse.levers(m, 4096, 4096, "h100-sxm")["2:4"] == pytest.approx(gain, rel=1e-3)


def test_the_figures_of_the_text_are_those_of_the_count():
    """220 and 196 tokens a second, 142 with 32; 2.9 times either way; 3 % of computing."""
    llm, gpu = rl.model("llama-3.1-8b"), rl.machine("h100-sxm")
    seconds = {n: llm.decode(n, 2048).bound(gpu) for n in (1, 8, 32)}
    assert [round(1 / s) for s in seconds.values()] == [220, 196, 142]
    assert 32 / seconds[32] * seconds[8] / 8 == pytest.approx(2.9, abs=0.05)
    int4 = llm.decode(8, 2048, weights=rl.dtype("int4", group=128, scale="fp16")).bound(gpu)
    assert seconds[8] / int4 == pytest.approx(2.9, abs=0.05)
    step = llm.decode(8, 2048)
    assert step.flops / gpu.peak("bf16") / seconds[8] == pytest.approx(0.03, abs=0.005)
    rows = rl.sparse.published()["a100"]["rows"]
    assert [round(min(row[n] for row in rows), 1) for n in (5, 3)] == [9.2, 2.6]  # int4, bf16


def seen(before: float, after: float, limits: tuple[float, float], warnings=()):
    op = rl.gemv(64, 4096)
    measured = {kind: Measurement(op, "here", "cpu", "cold", 1, (s,) * 3, warnings)
                for kind, s in (("fp32", before), ("int8", after))}  # fmt: skip
    return GemvGain({"fp32": Limits(0.4, 0.1), "int8": Limits(*limits)}, measured), "int8", "fp32"


TRIALS = {
    id: lambda on, rng: seen(rng.choice((0.4, 0.8)), rng.choice((0.1, 0.2, 0.4, 0.9)),
                             rng.choice(((0.1, 0.05), (0.1, 0.3), (0.05, 0.1), (0.1, 0.39))))
    for id in ("12-int8", "12-int4", "12-sparse")
}  # fmt: skip


@each_row(
    ("12-int8", seen(0.4, 0.1, (0.1, 0.05), ("noisy",)), "faster, bytes",
     ["4 times as fast", "memory is still what", "gain was 4 times", "noisy"], ["unpacking"]),
    ("12-int8", seen(0.4, 0.39, (0.1, 0.3)), "alike, unpacking",
     ["stands out", "unpacking is what", "gain was 1.33 times"], []),
    ("12-int8", seen(0.8, 0.2, (0.05, 0.1)), "faster, instructions, both slow",
     ["as many as for fp32", "Both took 2 times"], ["unpacking"]),
    ("12-int8", seen(0.4, 0.4, (0.1, 0.39)), "alike, unpacking, none", ["No gain was pred"], []),
    ("12-int8", seen(0.4, 0.9, (0.1, 0.05)), "slower, bytes, far", ["slower", "off by 9"], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(name, *given), case, words, never)


def test_the_pictures_say_what_was_measured_and_published():
    found, *_ = seen(0.4, 0.1, (0.1, 0.05))
    assert "predicted ×4 as fast as fp32, measured ×4." in rl.sparse.bars(found).sentence
    with pytest.raises(ValueError, match="kinds='int4'"):
        rl.sparse.bars(found, "int4")
    shapes = rl.sparse.shapes()
    for shapes.rows, slower in ((1, 9), (64, 12)):
        assert f"of 20 matrices {slower} became slower" in shapes.sentence
    serving = rl.sparse.serving()
    serving.batch = 512
    assert serving.sentence.endswith("No room with 16 bits; int8; int4.")
