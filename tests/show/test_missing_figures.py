"""Machines that lack a figure, and rates below the axes: what is drawn, and what is said."""

from __future__ import annotations

import dataclasses

import pytest

import rooflab as rl
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.live import Live
from rooflab.show.rooflines.machine_choices import offers
from tests.support.machine import measurement
from tests.support.scenes import seen

APPLE = "Apple M1 (8-core GPU)"


@pytest.fixture(autouse=True)
def _nothing_stored(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))


def title(live: Live) -> str:
    """What stands above the picture."""
    (words,) = (words for kind, words, _ in live.scene.notes if kind == "title")
    return str(live.scene.settled(words, live.scene.places(**live.state)))


def marks(live: Live) -> list[str]:
    """The roofs and dots that are seen."""
    parts = ("slope", "flat", "bound", "measured", "thread")
    return [name for name in seen(live) if name.startswith(parts)]


def test_without_a_peak_the_counts_stay_and_the_reason_is_said() -> None:
    live = rl.live.roofline("apple-m1", dtype="fp64", dtypes=["fp64"], ops="gemv", band=(4, 8))
    count, band, origin = live.words.splitlines()
    assert count == "GEMV 1024×1024 in fp64: 2.10 MFLOP over 8.40 MB is 0.2495 FLOP/byte."
    assert band.startswith("Shaded:")
    reason = f"{APPLE}: no fp64 figure, so there is no roof to draw."
    assert origin.startswith(f"{reason} Roofs of {APPLE}")
    assert title(live) == f"{APPLE} · fp64 · datasheet" and marks(live) == []


def test_another_number_type_is_shown_where_the_machine_lacks_the_one_asked_for() -> None:
    live = rl.live.roofline("apple-m1", dtype="fp64", dtypes=("fp32",), ops="gemv")
    assert f"{APPLE}: no fp64 figure, so this is fp32. Roofs of" in live.words
    assert title(live) == f"{APPLE} · fp32 · datasheet"
    assert live.words.startswith("GEMV 1024×1024 in fp32: ") and "no roof" not in live.words
    assert {"slope dram", "flat dram", "bound gemv_cold"} <= set(marks(live))
    live.dtype = "fp32"
    assert "no fp64" not in live.words


def test_a_computer_that_was_never_measured_says_how_to_measure_it(here: rl.Machine) -> None:
    live = rl.live.roofline(["this", here], machine=here, ops="gemv", ladder=True, dtypes=["fp32"])
    live.machine = "this"
    _, origin = live.words.splitlines()
    assert origin == "This computer: not measured yet, rl.this_machine() does it."
    assert marks(live) == []


def test_what_is_not_measured_has_no_figures_to_ask_for() -> None:
    (this,) = offers("this")
    assert this.rates(["fp32"]) == []
    with pytest.raises(ValueError, match="this computer has no figures: not measured yet"):
        _ = this.known


def test_the_machine_shown_first_is_on_offer_whatever_else_is() -> None:
    live = rl.live.roofline("apple-m1", machine="h100-sxm", ops="gemv", dtypes=["fp32"])
    assert [offer.id for offer in live.spec.offers] == ["nvidia-h100-sxm", "apple-m1"]
    assert live.machine == "nvidia-h100-sxm"


@pytest.mark.parametrize("cache", ["cold", "both"])
def test_a_rate_below_the_axes_is_said_and_not_drawn(here: rl.Machine, cache: str) -> None:
    op = rl.gemv(64, 64)
    fast = measurement(op, "here", op.flops / 2e9)
    slow = measurement(op, "here", op.flops / 1e6)
    lives = [
        rl.live.roofline(here, ops="gemv", measurements=[one], n=64, cache=cache, dtypes=["fp32"])
        for one in (fast, slow)
    ]
    assert "easured 1.00 MFLOP/s, which lies below this picture." in lives[1].sentence
    assert "below this picture" not in lives[0].sentence


def test_a_measurement_in_a_number_type_not_on_offer_is_left_out(here: rl.Machine) -> None:
    taken = measurement(rl.gemv(64, 64, "fp16"), "here", 1.0)
    live = rl.live.roofline(
        here, ops="gemv", measurements=[taken], n=64, ladder=True, dtypes=["fp32"]
    )
    assert "easured at" not in live.words and "unexplained" not in live.words


@pytest.mark.parametrize(
    ("lacks", "reason"),
    [({"bandwidths": {}}, "no memory bandwidth"), ({"peaks": {}}, "no fp32 figure")],
)
def test_a_static_picture_is_refused_in_the_same_words(here, lacks, reason) -> None:
    bare = dataclasses.replace(here, **lacks)
    assert ceiling_lines.missing(bare, "fp32", "cold") == reason
    with pytest.raises(ValueError, match=f"A test machine: {reason}, so there is no cold roof"):
        rl.show.roofline(bare, rl.axpy(100))


def test_a_guess_alone_is_named_and_has_no_factor(here: rl.Machine) -> None:
    figure = rl.show.roofline(here, rl.show.Point(rl.gemv(64, 64), 1e9, "guess"))
    assert "your guess" in [text.get_text() for text in figure.axes[0].texts]
    assert figure.words.splitlines()[-1] == "GEMV 64×64 in fp32: guess 1.00 GFLOP/s."


def test_the_title_says_which_machines_and_where_the_figures_come_from():
    for machines, options, title in [
        (
            "h100-sxm",
            {"dtype": ["fp32", "fp16"]},
            "NVIDIA H100 SXM5 80 GB · fp32, fp16 · datasheet",
        ),
        (["h100-sxm", "mi300x"], {}, "2 machines · fp32 · datasheet"),
        ("h100-sxm", {"title": "My own"}, "My own"),
    ]:
        assert [text.get_text() for text in rl.show.roofline(machines, **options).texts] == [title]
