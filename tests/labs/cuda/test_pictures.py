"""Pictures of lanes and of blocks: what is drawn and said is what the emulator and rules count."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

from rooflab.labs.cuda.cubin import occupancy
from rooflab.labs.cuda.emulator import launch
from rooflab.labs.cuda.lanes_picture import LENGTHS, READS, STRIDES, banks, coalescing
from rooflab.labs.cuda.occupancy_picture import GPUS, RESOURCES, multiprocessor
from rooflab.show.scene import Scene
from tests.support.scene_texts import faults
from tests.support.scenes import named, some_states

LOAD = """
def load(x, y, stride, first):
    y[cuda.threadIdx.x] = x[first + stride * cuda.threadIdx.x]
"""
TILE = """
def tile(y, down):
    words = cuda.shared.array(2048, float32)
    for n in range(64):
        words[32 * n + cuda.threadIdx.x] = 1
    cuda.syncthreads()
    y[cuda.threadIdx.x] = words[down * cuda.threadIdx.x]
"""


def drawn(scene: Scene, name: str, **state: Any) -> np.ndarray:
    """Left, top, width and height of the rectangles of that name, in pixels."""
    return np.array([scene.value(mark, "box", **state) for mark in named(scene, name)])


def test_sectors_are_those_that_the_emulator_counts() -> None:
    """Four for 128 bytes that begin a line, five a number further on, never more than 32."""
    scene, memory, out = coalescing().scene, np.ones(1024, "f4"), np.zeros(32, "f4")
    counts = []
    for stride in STRIDES:
        for first in (0, 1):
            here = {"stride": stride, "first": first}
            lit = [str(scene.value(mark, "fill", **here)) == "carrying"
                   for mark in named(scene, "sector")]  # fmt: skip
            loads = launch(LOAD, 1, 32, memory, out, stride, first).global_loads
            assert f": {sum(lit)} sectors, {loads.bytes_moved} bytes for" in scene.sentence(**here)
            assert sum(lit) == loads.sectors and loads.bytes_asked == 128
            boxes = drawn(scene, "sector")[lit]
            for x, y, *_ in drawn(scene, "used", **here):
                assert any(box[0] <= x < box[0] + box[2] and box[1] == y for box in boxes), here
            counts.append(sum(lit))
    assert counts == [4, 5, 8, 8, 12, 12, 16, 16, 32, 32, 32, 32, 32, 32]


def test_turns_are_the_emulators_wavefronts_and_a_columns_are_a_greatest_common_divisor() -> None:
    scene, out = banks().scene, np.zeros(32, "f4")
    for length in LENGTHS:
        for read, down in zip(READS, (length, 1, 0)):
            here = {"read": read, "length": length}
            turns = gcd(length, 32) if read == "a column" else 1
            rows = {y for _, y, *_ in drawn(scene, "served", **here)}
            assert len(rows) == turns, here
            assert f": {turns} turn" in scene.sentence(**here), here
            shared = launch(TILE, 1, 32, out, down).shared
            assert shared.wavefronts - 64 == turns, here  # 64 stores without a conflict


def test_a_further_block_fits_into_every_bar_but_those_that_run_out() -> None:
    """The bars are drawn by shares, the blocks counted by CUDA's rules."""
    scene, bars = multiprocessor().scene, len(RESOURCES)
    for state in some_states(scene, limit=400):
        gpu, shared = GPUS[state["gpu"]], state["shared"] * 1024
        fit = occupancy(state["registers"], shared, state["threads"], gpu)
        seen = [float(scene.value(mark, "opacity", **state)) > 0 for mark in named(scene, "block")]
        assert sum(seen) == bars * fit.blocks, state
        rooms, nexts = drawn(scene, "room"), drawn(scene, "next", **state)
        ends = rooms[:, 0] + rooms[:, 2]
        ends[2] -= drawn(scene, "left-over", **state)[0, 2]
        full = nexts[:, 0] + nexts[:, 2] > ends + 0.01
        assert {name for name, one in zip(RESOURCES, full) if one} == {*fit.limits}, state


def test_words_have_room_and_a_saved_picture_is_small() -> None:
    for picture in (coalescing(), banks(), multiprocessor()):
        assert len(picture.scenes) + len(picture.numbers) * 4 / 3 < 300_000
        for scene in picture.sheets:
            for state in some_states(scene, limit=60):
                assert faults(scene, **state)[0] == [], (scene.width, state)
                assert scene.sentence(**state) == picture.scene.sentence(**state)
