"""The golf picture: what lies where at each step and chunk size, and what a file keeps of it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.golf import HOLES
from rooflab.labs.golf import sweep as measured
from rooflab.labs.golf.live import golf
from rooflab.labs.golf.picture import NARROW, WIDE, golf_scene
from rooflab.labs.golf.story import ChunkStories, Story, names_of, story
from rooflab.labs.golf.story import sweep as read
from rooflab.show.scene import Scene, drawn
from tests.labs.golf.test_story import N, chunked, expression
from tests.support.scenes import named

CHUNKS = (1024, 4096, 65536, N)
SECONDS = (3.0e-3, 0.94e-3, 1.4e-3, 1.54e-3)
SWEEP = SimpleNamespace(
    chunks=CHUNKS, golfs=tuple(map(chunked, CHUNKS)), seconds=SECONDS, elements=N
)
PNG = b"\x89PNG"


def scene_of(shown: Any, width: float = WIDE) -> Scene:
    """The scene of a run or a sweep."""
    return golf_scene(read(shown), width)


def boxes(scene: Scene, name: str, **state: Any) -> dict[Any, np.ndarray]:
    """The boxes of all marks of a name that are seen, by their number among them."""
    marks = named(scene, name)
    return {marks.index(mark): held["box"] for mark, held in drawn(scene, **state) if mark in marks}


def texts(scene: Scene, name: str, **state: Any) -> list[str]:
    marks = named(scene, name)
    held = [held["text"] for mark, held in drawn(scene, **state) if mark in marks]
    return [text for text in held if text]


def bytes_of(scene: Scene, x: Any) -> Any:
    """Bytes an element at a place of the ledger, which begins at its bed and has the minimum 24."""
    zero = scene.value(named(scene, "bed")[0], "box")[0]
    least = scene.value(named(scene, "least")[0], "points")[0]
    return 24 * (np.asarray(x) - zero) / (least - zero)


def ledger(scene: Scene, **state: Any) -> list[list[float]]:
    """[start, end] of every block that has crossed, in bytes an element."""
    found = [box for box in boxes(scene, "entry", **state).values() if box[2] > 0]
    return [bytes_of(scene, [x, x + w]).round(2).tolist() for x, _, w, _ in found]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_ledger_grows_block_by_block_as_wide_as_the_bytes(width: float) -> None:
    scene = scene_of(expression(), width)
    assert ledger(scene, step=0) == []
    assert ledger(scene, step=1) == [[0, 8], [8, 16]]
    assert ledger(scene, step=2) == [[0, 8], [8, 16], [16, 24], [24, 32], [32, 40]]
    assert texts(scene, "entry-says", step=2) == ["x", "tmp1", "tmp1", "y", "result"]
    assert texts(scene, "step", step=0) == ["1 multiply", "2 add"]


def test_the_counter_counts_trip_by_trip() -> None:
    scene = scene_of(expression())
    said = scene.table(named(scene, "count")[0].channels["text"])[0].tolist()
    said = list(dict.fromkeys(said))
    assert [text.split(" ")[0] for text in said] == ["0", "8", "16", "24", "32", "40"]
    assert said[3] == "24 of 40 bytes an element"


def lane(scene: Scene, name: str, **state: Any) -> str:
    """Where the home of the array with this name lies."""
    number = texts(scene, "array", chunk=N).index(name)
    top = named(scene, "home")[number]
    y = scene.value(top, "box", **state)[1]
    memory = named(scene, "home")[0]  # that of x
    return "memory" if y == scene.value(memory, "box", **state)[1] else "cache"


def test_at_small_chunks_the_temporary_drops_into_the_cache() -> None:
    scene = scene_of(SWEEP)
    where = [lane(scene, "tmp1", chunk=chunk, step=2) for chunk in CHUNKS]
    assert where == ["cache", "cache", "memory", "memory"]
    for chunk, total in zip(CHUNKS, (24, 24, 40, 40), strict=True):
        assert ledger(scene, chunk=chunk, step=2)[-1][1] == total
        said = f"{total} of {total} bytes an element"
        assert texts(scene, "count", chunk=chunk, step=2) == [said]
    assert "↓ free" in texts(scene, "trip-says", chunk=4096, step=2)
    assert "↓ free" not in texts(scene, "trip-says", chunk=65536, step=2)


# The cache and its pieces.


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_what_does_not_fit_the_cache_says_so(width: float) -> None:
    """A temporary of 8 MB reaches beyond the mark of 512 KiB; one of 32 KiB is all inside."""
    cached = [SimpleNamespace(**vars(one), cache=512 * 1024) for one in SWEEP.golfs]
    scene = scene_of(SimpleNamespace(**vars(SWEEP) | {"golfs": cached}), width)
    wall = scene.value(named(scene, "wall")[0], "points")[0]
    assert texts(scene, "capacity") == ["capacity 512 KiB"]
    for chunk, fits in ((4096, True), (N, False)):
        x, _, wide, _ = boxes(scene, "piece", chunk=chunk, step=1)[0]  # tmp1 comes first
        assert bool(x + wide < wall) is fits
        assert ("tmp1: does not fit" in texts(scene, "piece-says", chunk=chunk, step=1)) is not fits


# The code line.


def code(told: Story, width: float) -> list[str]:
    return texts(golf_scene(ChunkStories((0,), (told,)), width), "code")


def test_a_long_line_of_code_is_broken_and_not_cut() -> None:
    told = story(expression())
    line = "total = " + " + ".join(f"weights[{n}] * x" for n in range(9))
    long = replace(told, stops=(replace(told.stops[0], code=line), told.stops[1]))
    for width in (WIDE, NARROW):
        shown = code(long, width)
        assert len(shown) > 1 and " ".join(one.strip() for one in shown) == line
    assert code(told, WIDE) == ["multiply"]
    endless = replace(told, stops=(replace(told.stops[0], code="z + " * 400), told.stops[1]))
    assert len(code(endless, WIDE)) == 6 and code(endless, WIDE)[-1].endswith("…")


# The figure.


def test_the_figure_shows_the_last_step_and_has_words_for_each() -> None:
    figure = rl.show.golf(expression())
    (axes,) = figure.axes
    shown = [text.get_text() for text in axes.texts]
    assert "40 of 40 bytes an element" in shown and shown.count("tmp1") == 3
    assert " ".join(figure.texts[0].get_text().split()) == story(expression()).verdict
    assert rl.show.golf(expression(), title="Mine").texts[0].get_text() == "Mine"
    assert figure.words.count("Step") == 2 and "40 bytes an element" in figure.words
    data, metadata = figure._repr_mimebundle_()
    assert data["image/png"] and metadata["image/png"]["alt"] == figure.words


def outside(figure: Any, least: float = 12.9) -> list[str]:
    """Texts of a figure that leave it, lie on another one, or have less than so many pixels."""
    shown = [text for text in (*figure.axes[0].texts, *figure.texts) if text.get_text()]
    extents = [text.get_window_extent() for text in shown]
    width, height = figure.bbox.width, figure.bbox.height
    found = [
        text.get_text()
        for text, box in zip(shown, extents, strict=True)
        if box.x0 < 0 or box.x1 > width or box.y0 < 0 or box.y1 > height
        or text.get_fontsize() * 100 / 72 < least
    ]  # fmt: skip
    for n, one in enumerate(extents):
        own = one.padded(-2)  # air above and below the letters
        found += [shown[n].get_text() for other in extents[n + 1 :] if own.overlaps(other)]
    return found


def test_the_figure_refuses_what_it_cannot_draw() -> None:
    with pytest.raises(TypeError, match=r"give one of its \.golfs"):
        rl.show.golf(SWEEP)
    with pytest.raises(ValueError, match="width=560 is in inches"):
        rl.show.golf(expression(), width=560)


@pytest.mark.parametrize("hole", HOLES)
def test_every_hole_can_be_drawn(hole: str) -> None:
    arrays = HOLES[hole].make(40_000, "float64", 0)
    for variant in [*HOLES[hole].variants.values()][1:3:2]:
        run_ = rl.golf(variant, *arrays)
        figure, told = rl.show.golf(run_), story(run_)
        assert figure.bbox.height <= 600 and outside(figure) == []
        made = golf(run_)
        assert texts(made.scene, "array", step=len(told.stops)) == names_of(told.stops)
        assert made.scene.height <= 560 and made.words.startswith("Step ")


# The widget, and what a file keeps of it.


def test_a_file_keeps_the_last_step_and_its_sentence() -> None:
    for start in (None, 2):
        data, metadata = golf(SWEEP, start=start)._repr_mimebundle_()
        assert data["text/plain"].startswith("Step 2 of 2, add:")
        assert "Chunks of 1.00 million: measured 1.54 ms" in data["text/plain"]
        assert metadata["image/png"]["alt"] == data["text/plain"]
        assert "application/vnd.jupyter.widget-view+json" in data


def test_it_begins_where_it_is_told() -> None:
    made = golf(SWEEP)
    assert golf(expression()).step == 0 == made.step, "not at its end"
    assert texts(made.scene, "trip-says", **made.state) == ["↓ 8 B"], (
        "the first block is on its way"
    )
    assert golf(expression(), start=1).step == 1
    assert made.chunk == N and made.sentence.startswith("2 steps ahead.")
    for bad in (3, -1, 1.5):
        with pytest.raises(ValueError, match=f"step={bad}"):
            golf(expression(), start=bad)


def test_the_sentence_follows_both_sliders() -> None:
    made = golf(SWEEP)
    made.chunk, made.step = 4096, 2
    assert made.sentence == (
        "Step 2 of 2, add, 245 times: y is read, result is written, 16 bytes an element. tmp1 "
        "stays in cache: free. In all 24 bytes an element, the least possible. Chunks of 4096: "
        "measured 940 µs. Expected from the bytes: 924 µs."
    )


def real_chunks(x, y, chunk=4096):
    out = np.empty_like(x)
    for i in range(0, len(x), chunk):
        half = 0.5 * x[i : i + chunk]
        np.add(half, y[i : i + chunk], out=out[i : i + chunk])
    return out


def test_the_real_engine_and_the_picture_agree() -> None:
    x, y = np.ones(50_000), np.ones(50_000)
    made = golf(measured(real_chunks, x, y, chunks=(1000, 50_000), rounds=0))
    scene = made.scene
    assert texts(scene, "array", chunk=50_000) == ["x", "half", "y", "result"]
    ends = [texts(scene, "count", chunk=chunk, step=2)[0].split()[0] for chunk in (1000, 50_000)]
    assert ends == ["24", "40"]
    assert texts(scene, "code", chunk=1000, step=1) == ["half = 0.5 * x[i : i + chunk]"]
    calls = [texts(scene, "call", chunk=1000, step=step) for step in (0, 1, 2)]
    assert calls == [["multiply × 50"], ["multiply × 50"], ["add × 50"]]
    assert texts(scene, "round", chunk=1000) == ["one piece of each: 32.0 kB"], (
        "4 pieces of 8000 bytes"
    )
