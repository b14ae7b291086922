"""Facts of lesson 11, its exercises, its sentences and its pictures."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import rooflab as rl
from rooflab.exercises.sentences import conclude
from rooflab.labs.precision.bits_picture import bits_scene
from rooflab.labs.precision.blocks_picture import example, shared
from rooflab.measure.measurement import Measurement
from tests.course.machines import unsaid
from tests.course.verdicts import answer, refused
from tests.support.rows import each_row


def by_running_sum(n, chunk, mantissa):
    """11-pieces with the lab's own sums, in formats that have this mantissa."""
    names = {f.mantissa: name for name, f in rl.precision.formats().items() if f.exponent > 4}
    if mantissa not in names:
        return answer("11-pieces")(n, chunk, mantissa)
    sums = np.append(rl.precision.running_sum(np.ones(min(chunk, n)), names[mantissa]), 0)
    return n // chunk * sums[-2] + sums[n % chunk - 1]


def by_block(block):
    return rl.precision.block_quantise([block], "mxfp4").values[0].tolist()


def test_the_labs_sums_and_blocks_give_the_right_answers():
    assert not refused({"11-pieces": by_running_sum, "11-blocks": by_block}, range(5))


def test_rounding_is_that_of_numpy_and_ml_dtypes():
    rng, rounded = np.random.default_rng(0), answer("11-round")
    for kind, mantissa in ((np.float16, 10), (ml_dtypes.bfloat16, 7), (ml_dtypes.float8_e5m2, 2)):
        info = ml_dtypes.finfo(kind)
        values = rng.standard_normal(300) * 10 ** rng.uniform(-8, 6, 300)
        given = [float(v) for v in np.float32(values)] + [float(info.max), 0.0, 257.0]
        with np.errstate(over="ignore"):
            there = np.array(given, np.float32).astype(kind).astype(float)
        ours = [rounded(x, mantissa, float(info.smallest_normal), float(info.max)) for x in given]
        assert ours == there.tolist(), kind


def test_torchao_counts_what_the_exercise_counts():
    expected = answer("11-expected")
    for row in rl.precision.published():
        if row.format == "mxfp8_e4m3":
            assert expected(*row.mnk, 8.25, 2, 1) == pytest.approx(row.expected, abs=0.011), row
        else:  # counted there with a bandwidth that is 4 % lower
            counted = expected(*row.mnk, 4.5, 4, 1 if row.static else 2)
            assert counted == pytest.approx(row.expected, rel=0.02), row


def test_the_sum_of_the_text_stays_at_256_for_9500_additions():
    total = rl.precision.running_sum(np.random.default_rng(0).random(10_000), "bf16")
    assert 9500 < (total == 256).sum() - 1 < 9600 and total[-1] == 256


def test_on_an_h100_bf16_goes_to_the_memory_side_and_is_six_times_as_fast():
    gain, memory = answer("11-claim-bound")(128, 4096, 4096, 3.35e12, [4, 6.7e13], [2, 9.894e14])
    assert memory and gain == pytest.approx(6.02, abs=0.01)


def test_eight_slices_of_seven_bits_do_the_work_of_fp64():
    for seed in range(3):
        a, b = np.random.default_rng(seed).standard_normal((2, 64, 64))
        assert rl.precision.slices_needed(a, b) == 8
    assert "off by 1 × 10⁻¹⁷" in rl.precision.sliced(np.eye(3).tolist(), np.eye(3)).sentence


def product(dtype, seconds, warnings=()):
    op = rl.gemm(1024, 1024, 1024, dtype)
    return Measurement(op, "here", "cpu", "cold", 1, (seconds,) * 3, warnings)


TRIALS = {
    "11-half": lambda on, rng: (product("fp64", rng.choice((0.01, 0.02, 0.03))),
                                product("fp32", 0.01)),
}  # fmt: skip


@each_row(
    ("11-half", (product("fp64", 0.02, ("noisy",)), product("fp32", 0.01)), "half",
     ["2 times as fast", "noisy"], ["more than"]),
    ("11-half", (product("fp64", 0.03), product("fp32", 0.01)), "more", ["3 times"], []),
    ("11-half", (product("fp64", 0.012), product("fp32", 0.01)), "less", ["would allow 2"], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(name, *given), case, words, never)


def test_every_bit_can_be_flipped_and_back():
    picture = rl.precision.bits()
    for title, form in (("FP8 E4M3", "fp8_e4m3"), ("FP4 E2M1", "fp4_e2m1")):
        picture.format = title
        values = set()
        for stop in range(128):
            picture.value = stop
            values.add(picture.sentence.split(":")[0].replace(" ", ""))
        assert len(values) == 2 ** (rl.precision.formats()[form].bits - 1), title
    scene = bits_scene(720)
    for press in scene.presses:
        flips = np.asarray(press["sets"]["value"].values).astype(int)
        for row in flips:
            assert np.array_equal(row[row[row]], row)  # twice is back, at the middle of the code


def test_the_pictures_say_what_was_computed():
    sums = rl.precision.sums(np.ones(600))
    assert sums.sentence.endswith("of 600 numbers is 256. It should be 600.")
    for wrong, message in (([1.0, -1.0], "from 0.0001 on"), (np.full(999, 100), "add up to 99900")):
        with pytest.raises(ValueError, match=f"numbers.*{message}"):
            rl.precision.sums(wrong)
    ridge = rl.precision.ridge()
    bound = {}
    for ridge.format in ("fp32", "bf16", "nvfp4"):
        bound[ridge.format] = "bound by memory" in ridge.sentence
    assert bound == {"fp32": False, "bf16": True, "nvfp4": True}
    assert rl.precision.expectations().sentence.startswith("3 of 10 layers became slower")


def test_smaller_blocks_leave_fewer_zeros():
    values = example()
    lost = [np.abs(shared(values, size)[1] - values).mean() for size in (64, 16, 4)]
    assert lost == sorted(lost, reverse=True)
    blocked = rl.precision.block_quantise(values[None], "mxfp4").values
    assert np.array_equal(shared(values, 32)[1].astype(np.float32), blocked[0])
