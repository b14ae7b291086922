"""The live waterfall without a browser: in every state it says and shows what explain() says."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import math
from base64 import b64decode

import pytest
from ipywidgets.embed import dependency_state
from matplotlib.image import imread

import rooflab as rl
from rooflab.predict.explain import explain
from rooflab.show.falls import Fall
from rooflab.show.live_waterfall import WaterfallView
from rooflab.show.scene import Scene
from tests.show.test_waterfall_picture import TIMED, bars
from tests.support.machine import measurement

COLD = measurement(rl.gemv(4096, 4096), "here", 0.02)
WARM = dataclasses.replace(measurement(rl.gemv(1024, 1024), "here", 1e-4), cache="warm")
LIMIT, OWN_LIMIT = 1_000_000, 450_000  # bytes saved of a roofline, and of what is below it


@pytest.fixture(autouse=True)
def _nothing_stored(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))


THREE = {"machines": [TIMED, "h100-sxm", "apple-m1"], "dtypes": ("fp64", "fp32")}


def live(*, ops="gemv", n=4096, **options) -> object:
    given = {"machines": TIMED, "dtypes": ("fp32",)} | options
    return rl.live.roofline(ops=ops, n=n, waterfall=True, **given)


@pytest.fixture(scope="module")
def measured() -> WaterfallView:
    every = ("axpy", "gemv", "gemm")
    return live(ops=every, measurements=[COLD, WARM], **THREE).waterfall


def seen(scene: Scene, name: str, view: WaterfallView) -> list[str]:
    """The words of all rows with that name, as they are read in the state of ``view``."""
    places = scene.places(**view.state)
    marks = [mark for mark in scene.marks if mark.name == name]
    return [scene.settled(mark.channels["text"], places) for mark in marks]


def states(view: WaterfallView) -> list[dict[str, object]]:
    """Every choice, at the sizes that were measured, beside them, and at the ends."""
    values = list(view.cases.tables.sliders[0].values)
    sizes = [0, *(values.index(n) + step for n in (1024, 4096) for step in (0, 1)), -1]
    names = [[*dim.names] for dim in view.scene.given if dim.names]
    keys = [dim.name for dim in view.scene.given if dim.names]
    found = []
    for chosen in itertools.product(*names):
        for i, j in [*((i % len(values), 0) for i in sizes), (3, 2)]:
            found.append({**dict(zip(keys, chosen)), "i": i, "j": j})
    return found


def test_whatever_is_chosen_its_words_are_those_of_the_explanation(measured) -> None:
    """The sentence, the rows for who cannot see them, and each number that stands in a row."""
    scene, kinds = measured.scene, set()
    (steps,) = (words for kind, words, _ in scene.notes if kind == "aside steps")
    for state in states(measured)[::3]:
        measured.set_trait("machine", state["machine"])
        for key, value in state.items():
            setattr(measured, key, value)
        fall, places = measured.fall, scene.places(**state)
        said, *rows = measured.words.splitlines()
        assert measured.sentence == said
        assert scene.settled(steps, places) == " ".join(rows)
        if not isinstance(fall, Fall):
            kinds.add("none")
            assert seen(scene, "time", measured) == [""] * 6
            continue
        kinds.add(fall.reached)
        held = {step.name: step for step in fall.steps}
        names = seen(scene, "name", measured)[1:5]
        every = [held.get(name) for name in names]
        assert seen(scene, "time", measured)[1:5] == [s.seconds if s else "" for s in every]
        factors = [text.split(" ")[0] for text in seen(scene, "factor", measured)[1:5]]
        assert factors == [s.factor if s else "" for s in every]
    assert kinds == {"none", "", "predicted", "measured"}


def test_a_measured_size_ends_at_the_measurement() -> None:
    made = live(measurements=[COLD])
    e = explain(COLD, TIMED)
    said = e.sentence.replace("gemv", "GEMV")
    assert said in made.sentence and made.waterfall.sentence == said
    assert seen(made.waterfall.scene, "time", made.waterfall)[-1] == "20.0 ms"
    last = [m for m in made.waterfall.scene.marks if m.name == "stop end"][0]
    scene, state = made.waterfall.scene, made.waterfall.state
    assert scene.value(last, "at", **state)[0] == bars(scene, **state)[-1][1]
    assert scene.value(last, "fill", **state) == "ink"
    assert scene.value(last, "fill", **{**state, "i": state["i"] - 1}) == "paper"


def test_it_says_why_it_stops() -> None:
    view = live(**THREE).waterfall
    assert "Nothing was measured at this size" in view.sentence
    view.machine = "nvidia-h100-sxm"
    assert "A datasheet knows no caches" in view.sentence
    assert seen(view.scene, "note", view)[:2] == [
        "66.9 TFLOP/s peak, 3.35 TB/s memory,",
        "datasheet",
    ]
    view.j = 3
    assert "set the batch to 1" in view.words and view.picture() is None
    view.machine, view.dtype = "apple-m1", "fp64"
    assert view.words == view.sentence == "Apple M1 (8-core GPU): no fp64 figure."


def test_of_both_sides_the_measured_one_is_explained() -> None:
    made = live(measurements=[COLD, WARM], cache="both")
    view, values = made.waterfall, made.scene.sliders[0].values
    for timed, side in ((COLD, "cold"), (WARM, "warm")):
        view.i = values.index(timed.op.dims["n"])
        assert (
            view.sentence
            == f"{explain(timed, TIMED).sentence} This is the {side} side.".replace("gemv", "GEMV")
        )
    view.i -= 1
    assert "Nothing was measured" in view.sentence and view.sentence.endswith("cold side.")
    view.cache = "warm"
    assert "side." not in view.sentence


def test_the_sizes_that_were_measured_are_buttons() -> None:
    made = live(measurements=[COLD, WARM], cache="both", **THREE)
    scene, values = made.waterfall.scene, made.scene.sliders[0].values
    jumps = [one for one in scene.controls if one["kind"] == "button"]

    def offered(**state: object) -> list[tuple[str, int, bool]]:
        """Label, size and whether it is pressed, of each button that is shown."""
        places = scene.places(**{**made.waterfall.state, **state})
        held = [{key: scene.settled(one[key], places) for key in ("label", "shown", "pressed")} | {
            "i": int(scene.settled(one["sets"]["i"], places))} for one in jumps]  # fmt: skip
        return [(h["label"], values[h["i"]], bool(h["pressed"])) for h in held if h["shown"]]

    at = values.index(1024)
    assert offered(i=at) == [("1024", 1024, True), ("4096", 4096, False)]
    assert offered(i=at, j=2) == [("1024", 1024, False), ("4096", 4096, False)]
    assert offered(cache="cold", i=at) == [("4096", 4096, False)]
    assert offered(machine="nvidia-h100-sxm") == offered(dtype="fp64") == []
    assert {one["row"] for one in jumps} == {"measured at N ="}
    assert all(one["sets"]["j"] == 0 for one in jumps)


def test_a_machine_without_timed_routines_is_explained_where_it_was_measured(here) -> None:
    made = live(machines=here, measurements=[COLD])
    view = made.waterfall
    assert "unexplained" in view.words
    drawn = dict(zip(seen(view.scene, "name", view)[1:5], bars(view.scene, **view.state)))
    assert math.isnan(drawn["routine efficiency"][0]) and not math.isnan(drawn["unexplained"][0])
    view.i -= 1
    assert "never timed" in view.words
    assert all(math.isnan(begin) for begin, _ in bars(view.scene, **view.state))


def test_it_starts_with_what_was_measured_and_follows_the_box() -> None:
    timed = measurement(rl.gemm(256, 256, 256), "here", 1e-3)
    every = ("axpy", "gemm")
    assert live(ops=every, n=256, measurements=[timed]).waterfall.op == "gemm"
    assert live(ops=every).waterfall.op == "axpy"
    beside = live(ops=every, box=True)
    assert beside.waterfall.op == beside.box.op


def test_a_saved_notebook_keeps_both_pictures() -> None:
    data, _ = live()._repr_mimebundle_()
    alone, _ = rl.live.roofline(TIMED, ops="gemv", dtypes=("fp32",))._repr_mimebundle_()
    tall, low = (imread(io.BytesIO(b64decode(d["image/png"]))).shape for d in (data, alone))
    assert tall[0] > 1.4 * low[0] and tall[1] >= low[1]
    assert "routine efficiency" in data["text/plain"]
    assert live()._repr_mimebundle_()[0]["image/png"] == data["image/png"]


def test_it_follows_its_neighbours_without_a_kernel() -> None:
    made = live(box=True)
    view, box = made.view.model_id, made.box.model_id
    shared = {name: [[view, name, 0]] for name in ("i", "j", "machine", "cache")}
    own = {"dtype": [[view, "kind", 0]], "op": [[box, "op", 0]]}
    assert made.waterfall.follows == shared | own
    there = made.waterfall.model_id
    assert [there, "i", 0] in made.view.follows["i"] and [box, "i", 0] in made.view.follows["i"]
    for picture in (made.view, made.box, made.waterfall):
        for dim in picture.scene.given:
            assert picture.trait_metadata(dim.name, "echo_update") is False, dim.name


def test_the_state_stays_below_a_megabyte(monkeypatch) -> None:
    from rooflab.measure import this_machine

    own = dataclasses.replace(TIMED, id="own", name="This computer")
    monkeypatch.setattr(this_machine, "stored_machine", lambda *a, **k: own)
    every = {"cache": "both", "overhead": True, "band": (4, 8)}
    made = rl.live.roofline(waterfall=True, **every)
    sizes = {id: len(json.dumps(one)) for id, one in dependency_state([made]).items()}
    assert sizes.pop(made.waterfall.model_id) < OWN_LIMIT and sum(sizes.values()) < LIMIT
