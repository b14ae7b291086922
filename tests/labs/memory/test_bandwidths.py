"""Why one core has several bandwidths: what is counted, and what travels."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.measure.roof_kernels import MIXES
from tests.labs.memory.support.core import found
from tests.support.rows import each_row


def core(**rates: float) -> rl.Machine:
    usual = {"read": 20e9, "copy": 18e9, "update": 36e9, "axpy": 27e9}
    return rl.Machine("core", origin="measured", bandwidths={"dram": {**usual, **rates}}, threads=1)


def test_what_travels_is_what_is_asked_for_and_what_a_copy_fetches_besides():
    """The ledger: loads and stores of each mix; STREAM's copy moves 3 lines for 2 asked for."""
    said = rl.memory.bandwidths(core())
    for mix, (loads, stores) in MIXES.items():
        one = said[mix]
        extra = 1 if mix == "copy" else 0
        assert one.fetched / one.rate == pytest.approx((loads + extra) / (loads + stores))
        assert one.written / one.rate == pytest.approx(stores / (loads + stores))
    assert said["copy"].bus / said["copy"].rate == pytest.approx(1.5)


def test_a_core_that_is_limited_by_fetching_fetches_the_same_in_every_mix():
    """20 GB/s of fetched lines: ×2 for update, ×1.5 for axpy, ×1 for a copy that fetches both."""
    said = rl.memory.bandwidths(core(copy=20e9, update=40e9, axpy=30e9))
    assert {round(one.fetched / 1e9, 6) for one in said.figures} == {20.0}


@each_row(
    ("update", 36e9, "Each line is fetched and goes back"),
    ("axpy", 27e9, "Of two lines that are fetched one goes back"),
    ("update", 20e9, "share one limit"),
    ("update", 12e9, "slower"),
    ("copy", 18e9, "90 % of what reading does, and the copy only looks slow"),
    ("copy", 12e9, "fetches 60 % of what reading does."),
    ("copy", 36e9, "without fetching them first"),
)
def test_the_sentence_is_chosen_by_the_figures(mix, rate, words):
    assert words in rl.memory.bandwidths(core(**{mix: rate}))[mix].sentence


def test_reading_is_judged_beside_the_best_mix():
    assert "one direction" in rl.memory.bandwidths(core())["read"].sentence.lower()
    flat = core(copy=20e9, update=20e9, axpy=20e9)
    assert "No mix is much faster" in rl.memory.bandwidths(flat)["read"].sentence


def test_a_free_lunch_stands_beside_the_update_mix():
    n, k = 10**8, (1, 2, 64, 128)
    for seconds, words in ((8e8 / 36e9, "agrees"), (8e8 / 24e9, "50 % less"), (8e8 / 54e9, "more")):
        curve = rl.FreeLunch(k, [seconds, seconds, 1, 2], [0] * 4, n, 4, 1)
        said = rl.memory.bandwidths(core(), curve=curve)["free lunch"]
        assert words in said.sentence and said.fetched == said.written == said.rate / 2


def test_chases_and_all_cores_are_added():
    said = rl.memory.bandwidths(core(), chases=found(10, together=30e9))
    assert said["chase"].rate == pytest.approx(0.8e9) and said["chases"].rate == pytest.approx(8e9)
    assert "prefetchers ask ahead" in said["chases"].sentence
    assert "One of them alone read 12.0 GB/s just before: that is ×2.5 of it." in (
        said["all cores"].sentence
    )
    assert (
        "do not help" in rl.memory.bandwidths(core(read=8e9), chases=found(10))["chases"].sentence
    )
    with pytest.raises(KeyError, match="all cores"):
        rl.memory.bandwidths(core(), chases=found(10, together=None))["all cores"]


@each_row((11e9, "the difference is noise"), (9e9, "each other's way"))
def test_all_cores_are_judged_beside_one_that_ran_when_they_did(together, words):
    """The roofs' reading, 20 GB/s, is another moment's, and says nothing of the cores together."""
    said = rl.memory.bandwidths(core(), chases=found(10, stream=12e9, together=together))
    assert words in said["all cores"].sentence and "×" not in said["all cores"].sentence


def test_a_mix_that_fetches_more_than_reading_takes_its_limit_from_it():
    """55 GB/s fetched beside 48 read: reading cannot have been at the limit of fetched lines."""
    said = rl.memory.bandwidths(core(read=48e9, copy=40e9, update=70e9, axpy=83e9))
    assert "That is more than reading fetches. So reading was not" in said["axpy"].sentence
    assert "since axpy fetches more" in said["read"].sentence
    assert "more than reading" not in said["update"].sentence
    assert not any("One direction alone" in one.sentence for one in said.figures)


def test_a_copy_that_would_fetch_more_than_reading_may_not_fetch():
    said = rl.memory.bandwidths(core(copy=24e9, update=40e9))["copy"].sentence
    assert "it would fetch 120 % of what reading does" in said and "looks slow" not in said


def test_a_recorded_core_tells_the_same_story():
    """The recorded EPYC: fetched lines differ by a quarter, figures by more than a half."""
    said = rl.memory.bandwidths(rl.recording("epyc-2core-vm").at(threads=1))
    rates, fetched = ([getattr(one, name) for one in said.figures] for name in ("rate", "fetched"))
    assert max(rates) / min(rates) > 1.5 > 1.3 > max(fetched) / min(fetched)
    assert repr(said).count("\n") == 8


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(ValueError, match="no measured bandwidth of its memory for copy"):
        rl.memory.bandwidths(rl.machine("h100-sxm"))
    for name in ("machine", "curve", "chases"):
        with pytest.raises(TypeError, match=f"{name}="):
            rl.memory.bandwidths(**{"machine": core(), name: "this"})
