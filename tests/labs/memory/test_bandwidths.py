"""Why one core has several bandwidths: what is counted, and what travels."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.measure.roof_kernels import MIXES
from rooflab.show.scene import drawn
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
    ("update", 36e9, "each line is fetched and goes back"),
    ("update", 20e9, "share one limit"),
    ("update", 12e9, "although both ways count"),
    ("update", 48e9, "Reading was not at the limit"),
    ("copy", 18e9, "90 % of what reading fetches, and the copy only looks slow"),
    ("copy", 12e9, "fetches 60 % of what reading fetches."),
    ("copy", 24e9, "seem not to be fetched"),
    ("copy", 36e9, "seem not to be fetched"),
)
def test_the_sentence_is_chosen_by_the_figures(mix, rate, words):
    assert words in " ".join(rl.memory.bandwidths(core(**{mix: rate})).sentences)


def test_chases_and_all_cores_are_added():
    said = rl.memory.bandwidths(core(), chases=found(10, together=30e9))
    assert said["chase"].rate == pytest.approx(0.8e9) and said["chases"].rate == pytest.approx(8e9)
    assert said["all cores"].rate == 30e9
    with pytest.raises(KeyError, match="all cores"):
        rl.memory.bandwidths(core(), chases=found(10, together=None))["all cores"]


def test_bars_are_cut_where_fetching_ends_and_marked_at_what_is_asked_for():
    """20 GB/s of lines fetched everywhere: the first pieces end together, a copy's perhaps."""
    said = rl.memory.bandwidths(
        core(copy=2e10, update=4e10, axpy=3e10), chases=found(together=5e11)
    )
    for scene in rl.memory.bandwidth_bars(said).sheets:
        ends = [held["box"][0] + held["box"][2] for mark, held in drawn(scene, shown="what travels")
                if mark.name in ("fetched", "perhaps")][:5]  # fmt: skip
        assert max(ends) - min(ends[:1] + ends[2:]) < 0.5 and ends[1] < ends[0] - 50
        assert "×1:" in scene.sentence(shown="what travels")
        assert "×2:" in scene.sentence(shown="asked for")
    with pytest.raises(TypeError, match="found="):
        rl.memory.bandwidth_bars(core())


def test_a_recorded_core_tells_the_same_story():
    """The recorded EPYC: fetched lines differ by a quarter, figures by more than a half."""
    said = rl.memory.bandwidths(rl.recording("epyc-2core-vm").at(threads=1))
    rates, fetched = ([getattr(one, name) for one in said.figures] for name in ("rate", "fetched"))
    assert max(rates) / min(rates) > 1.5 > 1.3 > max(fetched) / min(fetched)


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(ValueError, match="no measured bandwidth of its memory for copy"):
        rl.memory.bandwidths(rl.machine("h100-sxm"))
    for name in ("machine", "chases"):
        with pytest.raises(TypeError, match=f"{name}="):
            rl.memory.bandwidths(**{"machine": core(), name: "this"})
