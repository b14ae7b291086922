"""The two bars of a chunk sweep: what was measured, what the bytes promise, and bad sweeps."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from rooflab.labs.golf.live import golf
from rooflab.labs.golf.story import sweep as read
from rooflab.show.scene import Scene
from tests.labs.golf.test_picture import CHUNKS, PNG, SECONDS, SWEEP, boxes, texts
from tests.labs.golf.test_story import N


def test_the_sentence_of_a_bar_says_what_the_bytes_do_not_explain() -> None:
    sweep = read(SWEEP)
    assert sweep.sentence(1) == (
        "Chunks of 4096: measured 940 µs. Expected from the bytes: 924 µs."
    )
    assert sweep.sentence(0).endswith(" It took ×3.2 as long: 1954 calls take time, too.")
    assert sweep.sentence(3) == (
        "Chunks of 1.00 million: measured 1.54 ms. Chunks that move half the bytes are expected to "
        "take half of it."
    )
    fast = SimpleNamespace(**{**vars(SWEEP), "seconds": (1e-4, *SECONDS[1:])})
    assert (
        read(fast).sentence(0).endswith(" It took ×0.11 as long: a larger cache kept some of them.")
    )


def test_a_sweep_in_any_order_is_shown_from_small_to_large() -> None:
    backwards = SimpleNamespace(
        chunks=CHUNKS[::-1], golfs=SWEEP.golfs[::-1], seconds=SECONDS[::-1], elements=N
    )
    assert read(backwards) == read(SWEEP)


def test_a_sweep_that_was_not_timed_has_no_bars() -> None:
    untimed = golf(SimpleNamespace(**{**vars(SWEEP), "seconds": ()}))
    assert untimed.scene.height < golf(SWEEP).scene.height - 40
    assert not [mark for mark in untimed.scene.marks if mark.name in ("measured", "expected")]
    assert untimed.sentence.endswith("Chunks of 1.00 million.")
    assert untimed.still().startswith(PNG)


def test_a_small_chunk_traced_on_a_part_tells_the_rounds_of_the_whole() -> None:
    longer = SimpleNamespace(**vars(SWEEP) | {"elements": 10 * N})
    told = read(longer).stories[1]
    assert [stop.rounds for stop in told.stops] == [2450, 2450]
    assert told.total == 24


def test_the_last_smaller_piece_counts_as_one() -> None:
    """10,000,000 numbers in pieces of 4,096 are 2,442: 64 whole ones were traced."""
    for elements, pieces in [(10_000_000, 2442), (9_994_240, 2440)]:
        first = [
            SimpleNamespace(**vars(one) | {"steps": one.steps[: 2 * 64], "elements": 64 * 4096})
            for one in SWEEP.golfs
        ]
        longer = SimpleNamespace(**vars(SWEEP) | {"golfs": first, "elements": elements})
        told = read(longer).stories[1]
        assert [stop.rounds for stop in told.stops] == [pieces] * 2


def bars(scene: Scene, chunk: int) -> list[float]:
    """How long both bars are."""
    return [boxes(scene, name, chunk=chunk)[0][2] for name in ("measured", "expected")]


def test_bars_are_measured_by_the_largest_chunk_and_longer_ones_are_cut() -> None:
    slow = SimpleNamespace(**{**vars(SWEEP), "seconds": (82e-3, *SECONDS[1:])})
    scene = golf(slow).scene
    longest = bars(scene, CHUNKS[0])[0]
    assert bars(scene, CHUNKS[-1]) == pytest.approx([0.8 * longest] * 2)
    assert texts(scene, "measured-says", chunk=CHUNKS[0]) == ["→ 82.0 ms"]
    assert texts(scene, "expected-says", chunk=CHUNKS[0]) == ["924 µs"]
    assert bars(scene, CHUNKS[1])[0] == pytest.approx(0.8 * longest * SECONDS[1] / SECONDS[3])
    assert golf(slow).still().startswith(PNG)


def test_counts_are_written_as_in_every_other_picture() -> None:
    """A thin space from ten thousand on, words from a million; never a comma."""
    made = golf(SWEEP)
    assert made.scene.dim("chunk").stops == ["1024", "4096", "65\u202f536", "1.00 million"]
    written = json.dumps([one.get("texts", []) for one in made.packed], ensure_ascii=False)
    assert "65\u202f536" in written and re.search(r"\d,\d{3}", written) is None
