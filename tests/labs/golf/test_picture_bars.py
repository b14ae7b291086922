"""The two bars of a chunk sweep: what was measured, what the bytes promise, and bad sweeps."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from rooflab.labs.golf import picture
from rooflab.labs.golf.live import golf
from tests.labs.golf.test_picture import CHUNKS, PNG, SECONDS, SWEEP
from tests.labs.golf.test_picture_story import N


def test_half_the_bytes_promise_half_the_time() -> None:
    sweep = picture.sweep(SWEEP)
    assert sweep.counted == pytest.approx([s * 1.54e-3 for s in (0.6, 0.6, 1, 1)])
    assert sweep.counted[-1] == sweep.measured[-1]
    assert sweep.says(1) == ("940 µs", "924 µs")


def test_the_sentence_of_a_bar_says_what_the_bytes_do_not_explain() -> None:
    sweep = picture.sweep(SWEEP)
    assert sweep.sentence(1) == (
        "Chunks of 4096: measured 940 µs, counted 924 µs (60 % of the bytes)."
    )
    assert sweep.sentence(0).endswith("×3.2 more: 1954 calls take time, too.")
    assert "start from it" in sweep.sentence(3)
    fast = SimpleNamespace(**{**vars(SWEEP), "seconds": (1e-4, *SECONDS[1:])})
    assert "less: a larger cache kept some" in picture.sweep(fast).sentence(0)


def test_a_sweep_in_any_order_is_shown_from_small_to_large() -> None:
    backwards = SimpleNamespace(chunks=CHUNKS[::-1], golfs=SWEEP.golfs[::-1], seconds=SECONDS[::-1])
    assert picture.sweep(backwards) == picture.sweep(SWEEP)


def test_a_sweep_that_was_not_timed_has_no_bars() -> None:
    untimed = golf(SimpleNamespace(**{**vars(SWEEP), "seconds": ()}))
    assert untimed.live.geometry["bars"]["rows"] == []
    assert untimed.sentence.endswith("Chunks of 1.00 million.")
    assert untimed.still().startswith(PNG)


def test_a_small_chunk_traced_on_a_part_tells_the_rounds_of_the_whole() -> None:
    parts = [SimpleNamespace(**vars(one), elements=N) for one in SWEEP.golfs]
    longer = SimpleNamespace(**{**vars(SWEEP), "golfs": parts}, elements=10 * N)
    told = picture.sweep(longer).stories[1]
    assert [stop.rounds for stop in told.stops] == [2450, 2450] and told.calls == 4900
    assert told.total == 24


@pytest.mark.parametrize(("elements", "pieces"), [(10_000_000, 2442), (9_994_240, 2440)])
def test_the_last_smaller_piece_counts_as_one(elements: int, pieces: int) -> None:
    """10,000,000 numbers in pieces of 4,096 are 2,442: 64 whole ones were traced."""
    first = [
        SimpleNamespace(**vars(one) | {"steps": one.steps[: 2 * 64], "elements": 64 * 4096})
        for one in SWEEP.golfs
    ]
    longer = SimpleNamespace(**{**vars(SWEEP), "golfs": first}, elements=elements)
    told = picture.sweep(longer).stories[1]
    assert [stop.rounds for stop in told.stops] == [pieces] * 2 and told.calls == 2 * pieces


def test_bars_are_measured_by_the_largest_chunk_and_longer_ones_run_off() -> None:
    slow = SimpleNamespace(**{**vars(SWEEP), "seconds": (82e-3, *SECONDS[1:])})
    bars = picture.bars(picture.sweep(slow), 600)
    assert bars["lengths"][-1] == [480.0, 480.0], "four fifths of the bed"
    assert bars["lengths"][0][0] == 600 and bars["says"][0] == ["82.0 ms →", "924 µs"]
    assert bars["lengths"][1][0] == pytest.approx(480 * SECONDS[1] / SECONDS[3], abs=0.1)
    assert golf(slow).still().startswith(PNG)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seconds": SECONDS[1:]}, "4 chunks, 4 golfs, 3 seconds"),
        ({"seconds": (0.0, *SECONDS[1:])}, "must all be positive"),
        ({"seconds": (float("nan"), *SECONDS[1:])}, "must all be positive"),
        ({"chunks": (4096, *CHUNKS[1:])}, "one size twice"),
        ({"chunks": (), "golfs": (), "seconds": ()}, "0 chunks"),
    ],
)
def test_a_bad_sweep_is_named(change: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        golf(SimpleNamespace(**{**vars(SWEEP), **change}))


def test_counts_are_written_as_in_every_other_picture() -> None:
    """A thin space from ten thousand on, words from a million; never a comma."""
    picture = golf(SWEEP)
    assert [label for label, _ in picture.sliders[1].options] == [
        "1024", "4096", "65\u202f536", "1.00 million",
    ]  # fmt: skip
    geometry = picture.live.geometry
    assert geometry["chunks"][2] == "chunks of 65\u202f536"
    written = json.dumps([geometry["bars"]["sentences"], geometry["stories"]], ensure_ascii=False)
    assert re.search(r"\d,\d{3}", written) is None
