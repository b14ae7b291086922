"""Still pictures: a guess is drawn where it was placed, at the edge if it lies beyond the axes."""

from __future__ import annotations

import io
from base64 import b64decode

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

import rooflab as rl
from rooflab.show import canvas, theme
from rooflab.show.free_lunch_picture import FreeLunchPicture, free_lunch
from rooflab.show.guess_axis import GuessAxis, guess
from rooflab.show.time_to_roofline import morph
from tests.show.test_free_lunch_picture import CURVE
from tests.support.machine import measurement
from tests.support.morph_example import written

PNG = canvas.png(Figure((1, 1)), transparent=False)
MINE = theme.colour("mine")
ORANGE = [int(MINE[at : at + 2], 16) for at in (1, 3, 5)]


def pixels(png: bytes) -> np.ndarray:
    return np.rint(255 * imread(io.BytesIO(png))[..., :3]).astype(int)


def marker(png: bytes) -> tuple[float, float]:
    """Middle of what is drawn in the learner's own colour, from 0 to 1."""
    image = pixels(png)
    rows, columns = np.nonzero((abs(image - ORANGE) < 3).all(axis=2))
    return float(np.median(columns)) / image.shape[1], float(np.median(rows)) / image.shape[0]


def asked() -> GuessAxis:
    return guess("00-nine", "Seventeen?", result=4.0, unit="ms", low=1, high=200)


def waiting_for(axis: GuessAxis, **options) -> FreeLunchPicture:
    return free_lunch(CURVE, after=axis, guess_k=17, **options)


def placed(at: int) -> GuessAxis:
    axis = asked()
    axis.guess_at = at
    axis.covered = False
    return axis


def test_a_guess_stands_above_its_k_and_moves_with_its_time() -> None:
    for view in ("time", "rate"):
        low, high = (marker(waiting_for(placed(at), view=view).still()) for at in (40, 90))
        assert low[0] == high[0], "above the same k"
        assert (high[1] < low[1]) == (view == "time"), "more time is higher, and a lower rate"
    right = free_lunch(CURVE, after=placed(90), guess_k=65, view="rate")
    assert marker(right.still())[0] > high[0]


def test_intensities_on_an_axis_have_no_prefix() -> None:
    op = rl.gemm(8192, 8192, 8192, "fp16")
    scene = morph([measurement(op, "elsewhere", 1e-3)], machine="h100-sxm").scene
    across, up = ([*written(scene, "tick-2 " + axis)] for axis in "xy")
    assert "1000" in across and not any(" k" in text for text in across)
    assert {text.split()[1] for text in up} <= {"G", "T", "P"}
    times = [*written(scene, "tick-0 y")]
    assert times[0] == "0" and times[-1].endswith("ms")


@pytest.mark.parametrize(
    ("sentence", "under"),
    [("Seventeen are free.", "Seventeen are free."), ("", "It is 4.0 ms (shown without a guess).")],
)
def test_a_covered_axis_keeps_its_picture_and_what_it_says_aside(sentence: str, under: str) -> None:
    axis = guess(
        "x", "Seventeen?", result=4.0, unit="ms", low=1, high=200,
        picture=PNG, sentence=sentence,
    )  # fmt: skip
    aside = axis._repr_mimebundle_()[1]["rooflab"]["under"]
    assert b64decode(aside["png"]) == PNG
    assert aside["alt"] == under and aside["says"] == "It is 4.0 ms (shown without a guess)."
    axis.guess_at, axis.covered = 120, False
    data, about = axis._repr_mimebundle_()
    assert data["text/plain"] == "You guessed 14 ms, it is 4.0 ms: off by ×3.5, too high."
    assert "rooflab" not in about
