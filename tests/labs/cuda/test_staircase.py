"""The staircases: counts that a book would print, what can only help, and a fit that comes back."""

from __future__ import annotations

import importlib
import math

import pytest

model = importlib.import_module("rooflab.labs.cuda.staircase")  # rl.cuda.staircase is its function


STAIRS = {name: model.staircase(name) for name in ("a6000", "h100", "b200")}
RUNGS = [(name, rung) for name, stairs in STAIRS.items() for rung in stairs.rungs]


def seconds(rung: model.Rung, **changes: object) -> float:
    return model.predict_rung({**rung.numbers, **changes}, rung.machine, rung.problem).seconds


def test_a_square_tile_has_a_quarter_of_its_side_in_flop_a_byte_of_fp32():
    for side in (32, 64, 128):
        rung = {"tile": [side, side, 8], "bytes": 4}
        assert 2 * side * side * 8 / model.load_bytes(rung) == side / 4
        tall = {"tile": [2 * side, side, 8], "bytes": 4}
        assert 2 * model.load_bytes(rung | {"cluster": "multicast"}) == model.load_bytes(tall)


def test_a_column_of_8_reads_9_sixteenths_of_what_an_element_a_thread_does():
    per_fma = []
    for rung in STAIRS["a6000"].rungs[2:4]:
        m, n, k = rung.numbers["tile"]
        copies = 2 * (m + n) * k * 4 / 128  # the tiles' loads and stores
        step = model.cuda_core_step(rung.numbers)
        per_fma.append((step["shared"] - copies) / (m * n * k))
    assert per_fma[1] / per_fma[0] == pytest.approx(9 / 16)


def test_wgmma_of_256_columns_leaves_shared_memory_time_and_of_64_does_not():
    """128 B a clock: m64n64k16 reads 4 KiB in 32 clocks of MMA, m64n256k16 10 KiB in 128."""
    for rung, share in ((STAIRS["h100"].rungs[0], 1.0), (STAIRS["h100"].rungs[5], 80 / 128)):
        m, n, k = rung.numbers["tile"]
        shared = model.tensor_core_step(rung.numbers, rung.machine, 1)["shared"]
        assert (shared - (m + n) * k * 2 / 128) / (2 * m * n * k / 4096) == share


def test_one_block_pays_the_latency_and_many_hide_it():
    assert model.hide(100, 300, 1) == 400
    times = [model.hide(100, 300, tokens) for tokens in range(1, 40)]
    assert times == sorted(times, reverse=True) and times[-1] == pytest.approx(100, rel=0.01)
    assert model.hide(1e-9, 300, 4) == pytest.approx(75)  # nothing to do: a quarter each


def test_every_rung_is_below_its_machines_peak_and_no_shorter_than_its_longest_part():
    faults = []
    for name, rung in RUNGS:
        terms, machine = rung.predict(), rung.machine
        peak = machine["sms"] * machine["flop_per_clock"] * machine["clock_hz"]
        longest = max(terms.parts[level] for level in model.LEVELS)
        possible = rung.flop_per_s < peak and terms.seconds > longest
        if not possible or min(terms.parts.values()) < 0:
            faults.append((name, rung.title, terms))
    assert len(RUNGS) == 30 and not faults


def test_what_helps_never_slows_a_rung_down():
    faults = []
    for name, rung in RUNGS:
        numbers, base = rung.numbers, seconds(rung)
        better = [{"stages": 2 * numbers["stages"]}, {"store": [*numbers["store"][:2], "none"]}]
        if "reads" in numbers:
            better.append({"reads": [[count, 1] for count, _ in numbers["reads"]]})
        elif "cluster" not in numbers:
            better.append({"cluster": "multicast"})
        faults += [(name, rung.title, it) for it in better if seconds(rung, **it) > base]
        if numbers.get("persistent") and seconds(rung, persistent=None) < base:
            faults.append((name, rung.title, "not persistent"))
    assert not faults


def test_no_other_constants_describe_the_a6000s_rungs_better(monkeypatch):
    ratios = [rung.flop_per_s / rung.published for rung in STAIRS["a6000"].rungs]
    assert min(ratios) > 1 / 1.2 and max(ratios) < 1.2
    best = sum(math.log(ratio) ** 2 for ratio in ratios)
    for name in ("FMA_SHARE", "LOADED"):
        for factor in (0.99, 1.01):
            with monkeypatch.context() as patch:
                patch.setattr(model, name, factor * getattr(model, name))
                pairs = [(rung.flop_per_s, rung.published) for rung in STAIRS["a6000"].rungs]
            assert sum(math.log(a / b) ** 2 for a, b in pairs) > best, (name, factor)


def test_a_staircase_that_is_not_there_says_so():
    with pytest.raises(ValueError, match="name='a100' is unknown"):
        model.staircase("a100")


def test_25_of_the_30_published_rungs_are_within_a_quarter():
    """Three of the misses are on a B200 whose L2 nobody has published, two are told as missteps."""
    off = {(name, rung.title): rung.flop_per_s / rung.published for name, rung in RUNGS}
    near = [1 / 1.25 <= ratio <= 1.25 for ratio in off.values()]
    assert (len(near), sum(near)) == (30, 25)
    far = sorted(key for key, ratio in off.items() if not 1 / 1.3 <= ratio <= 1.3)
    assert far == [
        ("b200", "MMA of two SMs"), ("b200", "epilogue warpgroup of its own"),
        ("b200", "persistent"), ("h100", "persistent"), ("h100", "tile 128 x 256, one consumer"),
    ]  # fmt: skip
