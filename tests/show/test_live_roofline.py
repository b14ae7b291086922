"""The live roofline and the box as widgets, without a browser."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from base64 import b64decode

import numpy as np
import pytest

import rooflab as rl
from rooflab.measure.backend import host_id
from tests.support.machine import measurement
from tests.support.scenes import named

HERE_AND_AFRESH = """import rooflab as rl, hashlib, json
live = rl.live.roofline('mi300x', dtypes=('fp32', 'bf16'), box=True)
data, told = live._repr_mimebundle_()
del data['application/vnd.jupyter.widget-view+json']  # as a committed notebook has it
saved = hashlib.sha256(json.dumps([data, told]).encode()).hexdigest()
print(saved)
"""


@pytest.fixture(autouse=True)
def _nothing_stored(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))


def at(live) -> list[int]:
    """What its sliders stand at."""
    return [slider.values[getattr(live, letter)]
            for letter, slider in zip("ijk", live.spec.sliders)]  # fmt: skip


def test_a_saved_notebook_keeps_picture_and_sentences() -> None:
    data, about = rl.live.roofline("h100-sxm", dtype="bf16", dtypes=())._repr_mimebundle_()
    assert b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"].count("FLOP/byte") == 3 and "datasheet" in data["text/plain"]
    assert about["image/png"]["alt"] == data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_a_fresh_kernel_saves_the_same_but_for_the_widgets_id() -> None:
    here: dict[str, str] = {}
    exec(HERE_AND_AFRESH, here)
    there = subprocess.run(
        [sys.executable, "-c", HERE_AND_AFRESH], capture_output=True, text=True, check=True
    )
    assert there.stdout.strip() == here["saved"]


def test_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    from rooflab.measure import roofs, this_machine

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the live roofline measured")

    monkeypatch.setattr(roofs, "measure_roofs", refuse)
    monkeypatch.setattr(this_machine, "measure_roofs", refuse)
    live = rl.live.roofline(ops="axpy", dtypes=("fp32",))
    first = live.spec.offers[0]
    assert first.reason.startswith("not measured yet") and live.machine != first.id


def test_this_computer_comes_first_once_it_is_stored(monkeypatch, here: rl.Machine) -> None:
    from rooflab.measure import this_machine

    own = dataclasses.replace(here, id=host_id())
    monkeypatch.setattr(this_machine, "stored_machine", lambda *a, **k: own)
    live = rl.live.roofline(cache="warm", n=64, ops="axpy", dtypes=("fp32",))
    assert live.machine == f"{host_id()}/1"
    assert "measured on 2026-11-21" in live.words
    assert "L1 cache is the limit" in live.sentence or "L2 cache is the limit" in live.sentence


def test_saved_pictures_do_not_call_the_readers_computer_this_one(monkeypatch, here) -> None:
    from rooflab.measure import this_machine

    own = dataclasses.replace(here, id=host_id())
    monkeypatch.setattr(this_machine, "stored_machine", lambda *a, **k: own)
    live = rl.live.roofline(["this", here], ops="gemv", dtypes=("fp32",), ladder=True)
    said = live.scenes
    for text in (said, live.words):
        assert "this computer" not in text and host_id() not in text.replace(live.machine, "")


def test_n_starts_at_a_matrix_that_lies_in_l1(here) -> None:
    live = rl.live.roofline(here, n=1, cache="warm", ops="axpy", dtypes=("fp32",))
    assert at(live)[0] == 16 and "The L1 cache is the limit" in live.sentence


def test_one_computer_with_other_threads_is_another_offer(here: rl.Machine) -> None:
    two = dataclasses.replace(here, threads=2, name="A test machine, 2 threads")
    live = rl.live.roofline([here, two], machine=two, ops="axpy", dtypes=("fp32",))
    assert [offer.id for offer in live.spec.offers] == ["here/1", "here/2"]
    assert "2 threads" in live.words


def test_it_starts_where_something_was_measured(here: rl.Machine) -> None:
    taken = [measurement(rl.gemm(n, n, n), "here", 1e-3) for n in (64, 512)]
    few = {"ops": "gemm", "dtypes": ("fp32",)}
    live = rl.live.roofline(here, measurements=taken, **few)
    assert at(live)[0] == 512
    assert "Measured 268 GFLOP/s" in live.sentence and "above this roof" in live.sentence
    assert at(rl.live.roofline(here, n=100, **few))[0] == 96
    more = [*taken, measurement(rl.gemv(2048, 2048), "here", 1e-3)]  # GEMM is looked at
    assert at(rl.live.roofline(here, measurements=more, dtypes=("fp32",)))[0] == 512


def test_sliders_start_where_asked_and_sentences_follow_them() -> None:
    live = rl.live.roofline("h100-sxm", n=4000, batch=30, ops="gemv", dtype="fp16", dtypes=())
    assert at(live) == [4096, 32, 1]
    assert live.sentence.startswith("GEMV 4096×4096, batch 32, in fp16")
    live.j = 0
    assert "batch" not in live.sentence


def test_the_operation_looked_at_is_chosen_by_name_from_python() -> None:
    live = rl.live.roofline("h100-sxm", dtypes=("fp32",))
    assert live.op == "gemm" and live.sentence.startswith("GEMM 1024")
    live.op = "axpy"
    assert live.sentence.startswith("AXPY of ")


def test_bad_input() -> None:
    for arguments, error, message in [
        ({"cache": "hot"}, ValueError, "cache='hot' is unknown"),
        ({"ops": "conv"}, ValueError, "ops='conv' is unknown"),
        ({"machine": "h100"}, ValueError, "vague"),
        ({"machines": "h1000"}, ValueError, "machine='h1000' is unknown"),
        ({"machines": []}, ValueError, "machines=.* is empty"),
        ({"dtype": "fp31"}, ValueError, "dtype='fp31' is unknown"),
        ({"dtypes": ["fp32", "fp31"]}, ValueError, "dtypes='fp31' is unknown"),
        ({"n": 0}, ValueError, "n=0 must be a positive integer"),
        ({"batch": 1.5}, TypeError, "batch=1.5 is a float"),
        ({"machines": "this"}, ValueError, "rl.this_machine"),
        ({"box": True, "ladder": True}, ValueError, "box=True and ladder=True have one place"),
    ]:
        with pytest.raises(error, match=message):
            rl.live.roofline(**arguments)


def test_measurements_under_names_stand_below_the_bound_of_their_n_and_form(here) -> None:
    op = rl.gemm(800, 800, 800, accumulate=True)  # no N of the slider, and C is read, too
    rates = {"ijk": 2e9, "ikj": 2.1e9, "library": 9e10}
    own = {name: measurement(op, here.id, op.flops / rate) for name, rate in rates.items()}
    live = rl.live.roofline(here, measurements=own, ops="gemm")
    scene = live.scene
    assert live.sentence.startswith(
        "The fastest is library, ×45 as fast as ijk, with the same FLOPs and the same bytes, C "
        "read and written. It reaches 75 % of what the roof allows, and ijk 1.7 %. GEMM "
        "800×800×800 in fp32: 1.02 GFLOP over 10.2 MB is 100 FLOP/byte"
    )
    assert [scene.value(one, "text") for one in named(scene, "jump")] == ["×43"]
    assert "Predicted" not in live.sentence
    (bound,) = named(scene, "bound gemm_cold")
    marks, names = named(scene, "rung"), named(scene, "rung name")
    said = [scene.value(one, "text") for one in names]
    assert said[::2] == [*rates] and said[1] == "2 GFLOP/s, 1.7 %"
    places = np.array([scene.value(one, "at")[:2] for one in marks])
    np.testing.assert_allclose(places[:, 0], scene.value(bound, "at")[0])
    heights = np.array([scene.value(one, "at")[1] for one in names[::2]])
    assert (np.diff(heights) < -14).all() and heights[0] > places[0, 1] > places[1, 1]
    with pytest.raises(ValueError, match="operation='axpy' is unknown"):
        rl.live.roofline(
            here, measurements={"a": measurement(rl.axpy(9), here.id, 1.0)}, ops="gemm"
        )


def test_each_level_has_its_name_at_the_left_end_of_its_own_roof(here) -> None:
    scene = rl.live.roofline(here, cache="warm").scene
    said = [scene.value(one, "text") for one in named(scene, "level")]
    assert said == ["memory", "L3", "L2", "L1"]
    for level, leader in zip(named(scene, "level"), named(scene, "leader"), strict=True):
        x, y = scene.value(leader, "points", cache="warm")[:2]
        word = scene.value(level, "text")
        (slope,) = named(scene, f"slope {'dram' if word == 'memory' else word.lower()}")
        left, foot, right, top = scene.value(slope, "points", cache="warm")
        assert foot + (top - foot) * (x - left) / (right - left) == pytest.approx(y, abs=0.1)
