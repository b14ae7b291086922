"""The live waterfall without a browser: its tables hold what explain() and predict() say."""

from __future__ import annotations

import dataclasses
import io
import json
from base64 import b64decode

import numpy as np
import pytest
from ipywidgets import Widget
from ipywidgets.embed import embed_data
from matplotlib.image import imread

import rooflab as rl
from rooflab.predict.explain import explain
from rooflab.show import waterfall_picture
from rooflab.show.waterfall_picture import LOWEST, PER_DECADE, ticks
from tests.show.test_live_roofline import LIMIT
from tests.show.test_waterfall_picture import TIMED
from tests.support.machine import measurement


@pytest.fixture(autouse=True)
def _nothing_stored(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))


def live(*, ops="gemv", n=4096, **options) -> object:
    machines = [TIMED, "h100-sxm", "apple-m1"]
    return rl.live.roofline(machines, ops=ops, n=n, waterfall=True, **options)


def machine(view, name: str) -> dict:
    return view.data["machines"][name]


def numbers(raw: bytes, kind: str) -> np.ndarray:
    return np.frombuffer(raw, kind)


def read(seconds: dict, place: float) -> str:
    """What the browser reads at a place (reading.js), in seconds."""
    decade = int(np.floor(place))
    marks = numbers(seconds["marks"], "<f4")
    row = int(np.searchsorted(marks, place - decade, side="right"))
    decade, row = (decade + 1, 0) if row == len(marks) else (decade, row)
    period = len(seconds["labels"]) // len(marks)
    turn, within = divmod(decade - seconds["lo"], period)
    return seconds["labels"][within * len(marks) + row] + seconds["suffixes"][turn]


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_the_rows_are_the_stages_of_predict(cache: str) -> None:
    made = live(ops=("axpy", "gemv", "gemm"))
    data, many = made.waterfall.data, made.waterfall.data["many"]
    mine = machine(made.waterfall, "here/1")
    table = numbers(mine["rows"][cache], "<u2").reshape(len(mine["kinds"]), 3, many, 10)
    for at, n in enumerate(made.scene.sliders[0].values):
        p = rl.predict(rl.gemv(n, n, mine["kinds"][1]), TIMED, cache=cache)
        row = table[1, 1, at]
        for stage, place, note in zip(p.terms[1:], row[:3], row[6:9]):
            assert read(data["seconds"], place / PER_DECADE + LOWEST) == rl.si(stage.seconds, "s")
            assert data["texts"][note] == stage.note


@pytest.mark.parametrize("name", ["here/1", "nvidia-h100-sxm", "apple-m1"])
def test_the_curves_are_the_bounds_of_predict(name: str) -> None:
    made = live(ops=("axpy", "gemv", "gemm"))
    data, mine = made.waterfall.data, machine(made.waterfall, name)
    offer = next(one for one in made.scene.offers if one.id == name)
    for k, kind in enumerate(mine["kinds"]):
        for s, series in enumerate(made.scene.series):
            carried, low, high = mine["bound"][k * 3 + s]
            curves = {
                key: numbers(raw, "<f4") for key, raw in data["ops"][s]["curves"][kind].items()
            }
            for at, n in enumerate(made.scene.sliders[0].values):
                bound = rl.predict(series.build(n, 1, 1, kind), offer.machine).bound
                place = curves["carry"][at] + low if at < carried else curves["compute"][at] + high
                assert place == pytest.approx(np.log10(bound), abs=1e-5)


@pytest.mark.parametrize("seconds", [1e-9, 9.994e-9, 9.996e-9, 1.234e-6, 0.0999, 999.4, 5000.0])
def test_a_place_reads_as_the_three_digits_that_python_writes(seconds: float) -> None:
    place = waterfall_picture.place(seconds) / PER_DECADE + LOWEST
    assert read(live().waterfall.data["seconds"], place) == rl.si(seconds, "s")


def test_a_measured_size_ends_at_the_measurement() -> None:
    timed = measurement(rl.gemv(4096, 4096), "here", 0.02)
    made = live(measurements=[timed])
    found = machine(made.waterfall, "here/1")["measured"]["cold"]["fp32"]["gemv"]
    ((at, (place, *texts)),) = found.items()
    assert made.scene.sliders[0].values[int(at)] == 4096
    e = explain(timed, TIMED)
    said = [made.waterfall.data["texts"][text] for text in texts]
    assert read(made.waterfall.data["seconds"], place / PER_DECADE + LOWEST) == "20.0 ms"
    assert said[2] == e.sentence and e.sentence in made.sentence


def test_it_says_why_it_stops() -> None:
    made = live()
    assert "Nothing was measured at this size" in made.waterfall.sentence
    made.waterfall.machine = "nvidia-h100-sxm"
    assert "A datasheet knows no caches" in made.waterfall.sentence
    made.waterfall.j = 3
    assert "set the batch to 1" in made.sentence and made.waterfall.picture() is None
    made.waterfall.machine, made.waterfall.dtype = "apple-m1", "fp64"
    assert made.waterfall.sentence == "Apple M1 (8-core GPU): no fp64 figure."


def test_of_both_sides_the_measured_one_is_explained() -> None:
    cold = measurement(rl.gemv(4096, 4096), "here", 0.02)
    warm = dataclasses.replace(measurement(rl.gemv(1024, 1024), "here", 1e-3), cache="warm")
    made = live(measurements=[cold, warm], cache="both")
    values = made.scene.sliders[0].values
    for timed, side in ((cold, "cold"), (warm, "warm")):
        made.waterfall.i = values.index(timed.op.dims["n"])
        assert made.waterfall.state == side
        assert explain(timed, TIMED).sentence in made.sentence
        assert f"This is the {side} side." in made.waterfall.sentence
    made.waterfall.i -= 1
    assert made.waterfall.state == "cold" and "Nothing was measured" in made.waterfall.sentence
    made.waterfall.cache = "warm"
    assert "side." not in made.waterfall.sentence
    assert made.waterfall.data["sizes"] == [str(value) for value in values]


def test_a_machine_without_timed_routines_is_explained_where_it_was_measured(here) -> None:
    timed = measurement(rl.gemv(4096, 4096), "here", 0.02)
    made = rl.live.roofline(here, ops="gemv", measurements=[timed], waterfall=True)
    assert "unexplained" in made.waterfall.sentence
    made.waterfall.i -= 1
    assert "never timed" in made.waterfall.sentence
    assert not machine(made.waterfall, "here/1")["predicts"]


def test_every_fall_fits_a_window_whose_ticks_lie_inside() -> None:
    found = waterfall_picture.windows()
    widths = [one["hi"] - one["lo"] for one in found]
    assert widths == sorted(widths) and found[-1]["lo"] <= -7 and found[-1]["hi"] >= 7
    for one in found:
        assert [tuple(tick) for tick in one["ticks"]] == list(ticks(one["lo"], one["hi"]))
        assert [0, "×1"] in one["ticks"]


def test_it_starts_with_what_was_measured_and_follows_the_box() -> None:
    timed = measurement(rl.gemm(256, 256, 256), "here", 1e-3)
    every = ("axpy", "gemv", "gemm")
    assert live(ops=every, n=256, measurements=[timed]).waterfall.op == "gemm"
    assert live(ops=every).waterfall.op == "axpy"
    beside = live(ops=every, box=True)
    assert beside.waterfall.op == beside.box.op


def test_a_saved_notebook_keeps_both_pictures() -> None:
    data, _ = live()._repr_mimebundle_()
    alone, _ = rl.live.roofline([TIMED], ops="gemv")._repr_mimebundle_()
    tall, low = (imread(io.BytesIO(b64decode(d["image/png"]))).shape for d in (data, alone))
    assert tall[0] > 1.4 * low[0] and tall[1] >= low[1]
    assert "routine efficiency" in data["text/plain"]
    assert live()._repr_mimebundle_()[0]["image/png"] == data["image/png"]


def test_links_need_no_kernel_and_its_ticks_are_hushed() -> None:
    Widget.close_all()
    made = live(box=True)
    state = embed_data(views=[made])["manager_state"]["state"]
    targets = [m["state"]["target"][0] for m in state.values() if m["model_name"] == "LinkModel"]
    assert targets.count(f"IPY_MODEL_{made.waterfall.model_id}") == 6
    assert made.waterfall.model_id in made.view.hushed


@pytest.mark.parametrize("box", [False, True])
def test_the_state_stays_below_a_megabyte(box: bool, monkeypatch) -> None:
    from rooflab.measure import this_machine

    own = dataclasses.replace(TIMED, id="own", name="This computer")
    monkeypatch.setattr(this_machine, "stored_machine", lambda *a, **k: own)
    Widget.close_all()
    made = rl.live.roofline(box=box, waterfall=True)
    state = embed_data(views=[made])["manager_state"]["state"]
    assert len(json.dumps(state)) < LIMIT
