"""What the browser gets is what Python counted, and it is small."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import rooflab as rl
from rooflab.count.operation import LEVELS
from rooflab.predict.machine import Figure
from rooflab.show import captions
from rooflab.show.machine_choices import offers
from rooflab.show.roofline_tables import Pool, Series, Slider, Tables
from tests.support.machine import measurement

SIZES, BATCHES = (16, 64, 1024, 4096), (1, 8, 64)
KINDS = (rl.dtype("fp32"), rl.dtype("fp64"), rl.dtype("bf16"))


def gemv(n: int, batch: int, _: int, kind: object) -> rl.Operation:
    return rl.gemv(n, n, kind, batch=batch, shared=("a",))


def gemm(n: int, batch: int, _: int, kind: object) -> rl.Operation:
    return rl.gemm(n, n, n, kind, batch=batch)


def scene(machines, measurements=()) -> Tables:
    sliders = (
        Slider("N", "size", SIZES, 0),
        Slider("batch", "batch", BATCHES, 0),
        Slider("", "", (1,), 0),
    )
    series = (
        Series("gemv", "GEMV", gemv, ["GEMV"] * 3, ["", "x", "x"], spread=True),
        Series("gemm", "GEMM", gemm, ["GEMM"] * 3, ["", "x", "x"], spread=False),
    )
    return Tables(sliders, series, KINDS, offers(machines, measurements))


def test_tables_hold_the_ledger() -> None:
    made = scene("h100-sxm")
    packed, frame = made.pack(), made.frame
    texts = packed["texts"]
    for op_data, build in zip(packed["ops"], (gemv, gemm)):
        for kind in KINDS:
            table = op_data["dtypes"][str(kind)]
            xs = np.frombuffer(table["x"], "<f4")
            moved, ratio = (np.frombuffer(table[key], "<u2") for key in ("bytes", "intensity"))
            for i, n in enumerate(SIZES):
                for j, batch in enumerate(BATCHES):
                    op, at = build(n, batch, 1, kind), i * len(BATCHES) + j
                    spot = at if op_data["spread"] else i
                    said = captions.counts(op)
                    assert xs[spot] == pytest.approx(frame.x(op.intensity), abs=1e-4)
                    assert texts[moved[at]] == said["bytes"]
                    assert texts[ratio[spot]] == said["intensity"]


def test_warm_homes_are_the_machines(here: rl.Machine) -> None:
    packed = scene(here).pack()
    found = packed["machines"][0]["home"]["fp32"]["gemv"]
    ops = [gemv(n, batch, 1, "fp32") for n in SIZES for batch in BATCHES]
    assert [LEVELS[level] for level in found] == [here.home(op.working_set) for op in ops]
    assert {"l1", "l3", "dram"} <= {LEVELS[level] for level in found}


def test_what_is_missing_has_a_reason(here: rl.Machine) -> None:
    apple, ours = scene(["apple-m1", here]).pack()["machines"]
    assert apple["no"]["fp64"] == {"cold": "no fp64 figure", "warm": "no fp64 figure"}
    assert (
        apple["no"]["fp32"] == {"warm": "no cache bandwidth"} and "cold" in apple["roofs"]["fp32"]
    )
    assert ours["no"]["fp32"] == {} and ours["no"]["bf16"]["cold"] == "no bf16 figure"


def test_measurements_lie_at_their_slider_value(here: rl.Machine) -> None:
    taken = measurement(rl.gemm(64, 64, 64), "here", 1e-5)
    other = measurement(rl.gemm(65, 65, 65), "here", 1e-5)
    foreign = measurement(rl.gemm(16, 16, 16), "elsewhere", 1e-5)
    made = scene(here, [taken, other, foreign])
    packed = made.pack()["machines"][0]
    first, second = packed["measured"]["fp32"]["cold"]["gemm"]
    assert first["at"] == 1 * len(BATCHES) and second["at"] == -1
    assert first["y"] == pytest.approx(made.frame.y(taken.flop_per_s), abs=1e-3)


def test_an_axpy_is_found_at_its_own_size_not_in_a_batch(here: rl.Machine) -> None:
    live = rl.live.roofline(here, measurements=[measurement(rl.axpy(4096**2), "here", 1e-2)])
    (found,) = live.view.data["machines"][0]["measured"]["fp32"]["cold"]["axpy"]
    sizes, batches = live.scene.sliders[0].values, live.scene.sliders[1].values
    assert found["at"] == sizes.index(4096) * len(batches)


def test_a_full_pool_says_so() -> None:
    pool = Pool()
    with pytest.raises(ValueError, match="65536 different texts"):
        pool.table(str(i) for i in range(70_000))
    assert Pool().table(["a", "b", "a"]) == b"\x00\x00\x01\x00\x00\x00"


@pytest.mark.parametrize("name", ["axpy", "gemv", "gemm"])
def test_what_was_measured_alone_lies_at_the_large_n_without_a_batch(
    here: rl.Machine, name: str
) -> None:
    """AXPY on 4096² numbers is also a batch of 4096 vectors of 64²: it belongs to N = 4096."""
    live = rl.live.roofline(here, measurements=[measurement(op_of(name, 4096), "here", 0.05)])
    found = live.view.data["machines"][0]["measured"]["fp32"]["cold"][name][0]["at"]
    n, batch = (slider.values for slider in live.scene.sliders[:2])
    assert (n[found // len(batch)], batch[found % len(batch)]) == (4096, 1)
    assert live.sliders[0].value == 4096


def op_of(name: str, n: int) -> rl.Operation:
    return {"axpy": rl.axpy(n * n), "gemv": rl.gemv(n, n), "gemm": rl.gemm(n, n, n)}[name]


def test_one_machine_fills_its_axes(here: rl.Machine) -> None:
    """The catalogue needs six decades and more; one core with its measurements needs three."""
    taken = [measurement(op_of("axpy", 4096), "here", 0.02)]
    alone, crowd = scene(here, taken), scene([here, "nvidia-b200"], taken)
    own, other = (crowd.frame_of(offer) for offer in crowd.offers)
    assert own == alone.frame_of(alone.offers[0]) == alone.frame
    assert own.y_hi - own.y_lo == 3 and own.y(1.2e11) < 180
    assert other.y_hi > 15 > own.y_hi and other.y_lo > own.y_lo
    assert (crowd.frame.y_lo, crowd.frame.y_hi) == (own.y_lo, other.y_hi)


def test_locked_axes_hold_the_machine_as_well(here: rl.Machine) -> None:
    made = scene([here, "nvidia-b200"])
    own, other = (made.frame_of(offer) for offer in made.offers)
    locked = made.frame_of(made.offers[1], (own.y_lo, own.y_hi))
    assert (locked.y_lo, locked.y_hi) == (own.y_lo, other.y_hi)
    assert made.frame_of(made.offers[0], (own.y_lo - 1, own.y_hi + 1)).y_lo == own.y_lo - 1


def test_the_roof_is_the_best_mix_so_no_mix_lies_above_it(here: rl.Machine) -> None:
    """AXPY in place may travel faster than reading alone; its dot must stay under the roof."""
    bandwidths = {"dram": {"read": Figure(1e10), "axpy": Figure(2e10)}}
    quick = dataclasses.replace(here, bandwidths=bandwidths)
    op = op_of("axpy", 4096)
    live = rl.live.roofline(quick, measurements=[measurement(op, "here", op.bytes / 1.9e10)])
    assert "×1.05 below this roof" in live.sentence and "memory 20.0 GB/s" in str(
        live.view.data["machines"]
    )
    figure = rl.show.roofline(quick, [measurement(op, "here", op.bytes / 1.9e10)])
    assert "below" in figure.words and "above" not in figure.words


def test_a_prediction_below_the_axes_is_said_and_not_drawn(here: rl.Machine, monkeypatch) -> None:
    from types import SimpleNamespace

    from rooflab.show import live_roofline

    slow = dataclasses.replace(here, routines={"axpy": {}})
    crawl = lambda op, machine, cache: SimpleNamespace(seconds=op.flops / 3e6)  # noqa: E731
    monkeypatch.setattr(live_roofline, "predict", crawl)
    monkeypatch.setattr("rooflab.show.roofline_tables.predict", crawl)
    live = rl.live.roofline(slow, ops="axpy")
    assert "Predicted 3.00 MFLOP/s, which lies below this picture." in live.sentence
    drawn = live_roofline.still(live.scene, live.view).axes[0].lines
    assert sum(line.get_marker() == "o" for line in drawn) == 1, "the bound alone"
