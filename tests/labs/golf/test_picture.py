"""The golf picture: where its blocks lie, what its bars say, and what a file keeps of it."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.golf import HOLES, picture
from rooflab.labs.golf import sweep as measured
from rooflab.labs.golf.ledger import Step
from rooflab.labs.golf.live import golf
from rooflab.labs.golf.picture import story
from rooflab.show.guess_axis import guess
from tests.labs.golf.test_picture_story import N, chunked, expression, run, trip

CHUNKS = (1024, 4096, 65536, N)
SECONDS = (3.0e-3, 0.94e-3, 1.4e-3, 1.54e-3)
SWEEP = SimpleNamespace(chunks=CHUNKS, golfs=tuple(map(chunked, CHUNKS)), seconds=SECONDS)
PNG = b"\x89PNG"


def placed(*stories: object) -> dict:
    return picture.geometry([story(one, fold=True) for one in stories])


def placed_short(one: object) -> dict:
    return picture.geometry([story(one)])


def entries(geometry: dict, at: int = 0) -> list[list[float]]:
    """[start, end] of every block in the ledger, in bytes an element."""
    (x0, zero), (x1, one) = geometry["ticks"][0], geometry["ticks"][-1]
    scale = (float(one) - float(zero)) / (x1 - x0)
    blocks = [block[4:] for block in geometry["stories"][at]["blocks"]]
    return [[(x - x0) * scale, (x + w - x0) * scale] for x, w in blocks]


def test_the_ledger_is_as_wide_as_the_bytes() -> None:
    expected = [[0, 8], [8, 16], [16, 24], [24, 32], [32, 40]]
    np.testing.assert_allclose(entries(placed(expression())), expected, atol=0.02)


def test_the_minimum_stands_at_24() -> None:
    geometry = placed(expression())
    tick = {says: x for x, says in geometry["ticks"]}
    assert geometry["stories"][0]["least"] == [tick["24"], "minimum 24"]


def test_the_counter_counts_trip_by_trip() -> None:
    said = placed(expression())["stories"][0]["counters"]
    assert [text.split(" ")[0] for text in said] == ["0", "8", "16", "24", "32", "40"]
    assert said[3] == "24 of 40 bytes an element"


@pytest.mark.parametrize("bytes_", [0.001, 1, 8, 24, 40, 100, 3000])
def test_ticks_are_few_and_inside(bytes_: float) -> None:
    found = picture.ticks(bytes_)
    assert 4 <= len(found) <= 9 and found[0] == 0 and found[-1] <= bytes_


def test_at_small_chunks_the_temporary_drops_into_the_cache_lane() -> None:
    geometry = placed(*SWEEP.golfs)
    tmp = [column["name"] for column in geometry["columns"]].index("tmp1")
    ys = [shown["homes"][-1][tmp][0] for shown in geometry["stories"]]
    top, bottom = picture.CACHE
    assert [top <= y < bottom for y in ys] == [True, True, False, False]
    mine = [n for n, key in enumerate(geometry["keys"]) if key[1] == tmp]
    for shown, small in zip(geometry["stories"], (True, True, False, False), strict=True):
        for n in mine:
            assert shown["free"][n] is small and (shown["blocks"][n][5] == 0) is small


def test_a_name_that_comes_back_for_another_array_moves_its_home() -> None:
    steps = [
        Step("add.reduce", (trip("x", "read"), trip("tmp1", "write", 9, "cache")), 1),
        Step("repeat", (trip("tmp1", "read", 9, "cache"), trip("tmp2", "write")), 1),
        Step("sin", (trip("tmp2", "read"), trip("tmp1", "write")), 1),
        Step("cos", (trip("tmp1", "read"), trip("result", "write")), 1),
    ]
    geometry = placed_short(run(steps))
    shown, tmp = geometry["stories"][0], geometry["columns"][1]
    assert tmp["name"] == "tmp1"
    tops = [tops[1][0] for tops in shown["homes"]]
    assert [picture.CACHE[0] <= y for y in tops] == [True, True, True, False, False]
    assert [alive[1] for alive in shown["alive"]] == [0, 1, 1, 1, 1]


def test_reading_and_writing_one_array_in_place_are_two_blocks() -> None:
    step = Step("multiply", (trip("x", "read"), trip("x", "write")), 1)
    first, second = placed(run([step], minimum=16 * N))["stories"][0]["blocks"]
    assert first[1] + first[3] <= second[1], "one above the other"


@given(st.lists(st.sampled_from([1, 100, N]), min_size=1, max_size=9))
def test_every_block_lies_inside_and_beside_its_neighbours(sizes: list[int]) -> None:
    trips = tuple(trip(f"tmp{n}", "write", size) for n, size in enumerate(sizes))
    geometry = placed(run([Step("make", trips, 1)]))
    json.dumps(geometry, allow_nan=False)
    middles = [column["x"] for column in geometry["columns"]]
    wide = [width for _, width in geometry["stories"][0]["homes"][-1]]
    homes = sorted([x - w / 2, w] for x, w in zip(middles, wide, strict=True))
    for x, width in homes:
        assert x >= picture.LEFT and x + width <= picture.RIGHT
    assert all(a[0] + a[1] < b[0] for a, b in zip(homes, homes[1:], strict=False))


def test_a_name_keeps_its_colour_and_no_two_of_few_share_one() -> None:
    names = ("x", "y", "tmp1", "tmp2", "tmp3", "result")
    found = picture.colours(names)
    assert len(set(found.values())) == len(names)
    assert picture.colours(("x", "tmp1", "result")).items() <= found.items()


def test_the_figure_has_one_block_a_trip_and_words_for_each_step() -> None:
    figure = rl.show.golf(expression())
    (axes,) = figure.axes
    assert len(axes.patches) == 5 + 1, "five trips and the cache lane"
    assert figure.words.count("Step") == 2 and "40 bytes an element" in figure.words
    data, metadata = figure._repr_mimebundle_()
    assert data["image/png"] and metadata["image/png"]["alt"] == figure.words


def texts(figure: object) -> list[object]:
    return [text for text in figure.axes[0].texts if text.get_text()]


@pytest.mark.parametrize("shown", [expression(), chunked(4096), chunked(N // 5)])
def test_no_text_of_the_figure_leaves_it_or_is_too_small(shown: object) -> None:
    figure = rl.show.golf(shown)
    width, height = figure.bbox.width, figure.bbox.height
    for text in texts(figure):
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height, text
        assert text.get_fontsize() * 100 / 72 >= 14.9, text


def test_texts_of_the_figure_do_not_overlap() -> None:
    boxes = [text.get_window_extent() for text in texts(rl.show.golf(chunked(4096)))]
    for n, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[n + 1 :])


def test_the_figure_refuses_what_it_cannot_draw() -> None:
    with pytest.raises(TypeError, match=r"give one of its \.golfs"):
        rl.show.golf(SWEEP)
    with pytest.raises(ValueError, match="width=100"):
        rl.show.golf(expression(), width=100)


def test_a_file_keeps_one_picture_and_its_sentence() -> None:
    data, metadata = golf(SWEEP, start=2)._repr_mimebundle_()
    assert data["text/plain"].startswith("Step 2 of 2, add:")
    assert "Chunks of 1.00 million: measured 1.54 ms" in data["text/plain"]
    assert metadata["image/png"]["alt"] == data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_sliders_begin_where_they_are_told() -> None:
    assert golf(expression()).live.i == 0 == golf(SWEEP).live.i, "not at its end"
    assert golf(expression(), start=1).sliders[0].index == 1
    assert golf(SWEEP).live.c == 3 and golf(SWEEP).sliders[1].index == 3
    for bad in (3, -1, 1.5, True):
        with pytest.raises(ValueError, match="must be a step from 0"):
            golf(expression(), start=bad)


def test_the_state_is_small_and_deterministic() -> None:
    one, two = golf(SWEEP), golf(SWEEP)
    assert one.live.geometry == two.live.geometry and one.still() == two.still()
    assert one.model_id != two.model_id and one.model_id.startswith("golf")
    assert len(json.dumps(one.live.geometry)) + len(one.live._esm) + len(one.live._css) < 100e3


def test_many_chunks_of_a_long_program_stay_small() -> None:
    steps = [Step(f"call{n}", (trip("x", "read"), trip("result", "write")), n) for n in range(60)]
    golfs = tuple(run(steps) for _ in range(16))
    wide = SimpleNamespace(chunks=tuple(range(1, 17)), golfs=golfs, seconds=(1e-3,) * 16)
    assert len(json.dumps(golf(wide).live.geometry)) < 500e3


def test_the_picture_waits_for_its_guess() -> None:
    axis = guess("02-ratio", "How much slower?", result=1.6, unit="times", low=1, high=20)
    picture = golf(SWEEP, after=axis)
    covered = picture.still()
    assert picture.live.covered and "1.54" not in picture.sentence and covered.startswith(PNG)
    picture.live.covered = False
    assert "1.54" in picture.sentence and picture.still() != covered
    with pytest.raises(TypeError, match="no guess axis"):
        golf(SWEEP, after="02-ratio")


def test_a_story_whose_code_is_long_is_cut_in_the_figure_only() -> None:
    told = story(expression())
    long = replace(told.stops[0], code="z" * 90)
    assert placed(expression())["stories"][0]["codes"][1] == "tmp1 = multiply(x)"
    from rooflab.labs.golf.picture import picture

    drawn = [t.get_text() for t in texts(picture(replace(told, stops=(long, told.stops[1]))))]
    assert max(len(text) for text in drawn if text.startswith("zz")) < 30


def real_chunks(x, y, chunk=4096):
    out = np.empty_like(x)
    for i in range(0, len(x), chunk):
        half = 0.5 * x[i : i + chunk]
        np.add(half, y[i : i + chunk], out=out[i : i + chunk])
    return out


def test_the_real_engine_and_the_picture_agree() -> None:
    x, y = np.ones(50_000), np.ones(50_000)
    picture = golf(measured(real_chunks, x, y, chunks=(1000, 50_000), rounds=0))
    assert [column["name"] for column in picture.live.geometry["columns"]] == [
        "x", "tmp1", "y", "result",
    ]  # fmt: skip
    small, large = picture.live.geometry["stories"]
    assert [one["counters"][-1].split()[0] for one in (small, large)] == ["24", "40"]
    assert small["codes"][1] == "half = 0.5 * x[i : i + chunk]"
    assert small["rounds"][1:] == ["× 50", "× 50"]


@pytest.mark.parametrize("hole", HOLES)
def test_every_hole_can_be_drawn(hole: str) -> None:
    arrays = HOLES[hole].make(40_000, "float64", 0)
    for variant in HOLES[hole].variants.values():
        run_ = rl.golf(variant, *arrays)
        figure = rl.show.golf(run_)
        assert figure.bbox.height <= 700
        words = " ".join(text.get_text() for text in texts(figure)).split()
        assert set(story(run_).names) <= set(words), "in a block or in the legend"
        assert len(golf(run_).live.geometry["stories"][0]["says"]) > 1
        boxes = [text.get_window_extent() for text in texts(figure)]
        assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[n + 1 :])
