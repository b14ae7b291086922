"""Still pictures: a guess is drawn where it was placed, at the edge if it lies beyond the axes."""

from __future__ import annotations

import io
from base64 import b64decode

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

import rooflab as rl
from rooflab.show import theme
from rooflab.show.free_lunch_picture import FreeLunchPicture, free_lunch
from rooflab.show.guess_axis import GuessAxis, guess
from rooflab.show.scene import painter
from rooflab.show.time_to_roofline import morph
from tests.show.test_free_lunch_picture import CURVE
from tests.support.machine import measurement
from tests.support.morph_example import says, written

CURVE_PNG = free_lunch(CURVE, start=9).still()
MINE = theme.colour("mine")
ORANGE = [int(MINE[at : at + 2], 16) for at in (1, 3, 5)]


def pixels(png: bytes) -> np.ndarray:
    return np.rint(255 * imread(io.BytesIO(png))[..., :3]).astype(int)


def marker(png: bytes) -> tuple[float, float] | None:
    """Middle of what is drawn in the learner's own colour, from 0 to 1; None if nothing is."""
    image = pixels(png)
    rows, columns = np.nonzero((abs(image - ORANGE) < 3).all(axis=2))
    if not rows.size:
        return None
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


@pytest.mark.parametrize("view", ["time", "rate"])
def test_a_guess_stands_above_its_k_and_moves_with_its_time(view: str) -> None:
    low, high = (marker(waiting_for(placed(at), view=view).still()) for at in (40, 90))
    assert low[0] == high[0], "above the same k"
    assert (high[1] < low[1]) == (view == "time"), "more time is higher, and a lower rate"
    right = free_lunch(CURVE, after=placed(90), guess_k=65, view=view)
    assert marker(right.still())[0] > high[0]


@pytest.mark.parametrize("view", ["time", "rate"])
def test_a_guess_beyond_the_axes_sits_at_their_edge(view: str) -> None:
    one, other = (marker(waiting_for(placed(at), view=view).still()) for at in (220, 240))
    assert one == other and 0.03 < one[1] < 0.7


def test_the_picture_draws_the_guess_it_waited_for() -> None:
    low, high = (waiting_for(placed(at)) for at in (60, 180))
    assert not low.covered and low.guess == 61
    assert marker(high.still())[1] < marker(low.still())[1]
    assert marker(waiting_for(placed(-1)).still()) is None, "looked, without a guess"
    assert marker(free_lunch(CURVE).still()) is None


def test_a_covered_picture_shows_no_guess_and_keeps_the_uncovered_one_aside() -> None:
    picture = waiting_for(asked())
    assert picture.covered and marker(picture.still()) is None
    _, about = picture._repr_mimebundle_()
    assert about["rooflab"]["under"]["alt"].startswith("1 multiply-add: carrying 4.0 ms")
    assert "rooflab" not in free_lunch(CURVE)._repr_mimebundle_()[1]


def test_a_k_outside_the_curve_cannot_be_guessed() -> None:
    with pytest.raises(ValueError, match="guess_k=400 is outside the sweep: 1 to 257"):
        free_lunch(CURVE, after=asked(), guess_k=400)


def test_the_axis_itself_draws_the_guess_also_while_it_can_still_be_moved() -> None:
    axis = asked()
    assert marker(axis.still()) is None
    spots = []
    for axis.placed in (40, 200):
        spots.append(marker(axis.still()))
    assert spots[0][0] < spots[1][0] and spots[0][1] == spots[1][1]
    axis.covered = False
    assert marker(axis.still()) is None, "looked, without a guess"
    assert marker(placed(40).still())[0] < marker(placed(200).still())[0]


def test_an_axis_that_is_covered_again_forgets_its_guess() -> None:
    axis = placed(120)
    assert axis.value == pytest.approx(14.1, rel=0.02)
    axis.forget()
    assert axis.covered and axis.value is None and axis.guess_at == -1


def test_stacked_pictures_are_white_beside_the_narrower_one() -> None:
    wide, narrow = (Figure((width, 1), dpi=50, facecolor="black") for width in (4, 2))
    with_both = pixels(painter.stacked([wide, narrow]))
    high, across, _ = with_both.shape
    below = with_both[high // 2 :]
    assert (below[:, across // 2 + 1 :] == 255).all()
    assert painter.stacked([wide, narrow]) == painter.stacked([wide, narrow])


def test_intensities_on_an_axis_have_no_prefix() -> None:
    op = rl.gemm(8192, 8192, 8192, "fp16")
    scene = morph([measurement(op, "elsewhere", 1e-3)], machine="h100-sxm").scene
    across, up = ([*written(scene, "tick-2 " + axis)] for axis in "xy")
    assert "1000" in across and not any(" k" in text for text in across)
    assert {text.split()[1] for text in up} <= {"G", "T", "P"}
    times = [*written(scene, "tick-0 y")]
    assert times[0] == "0" and times[-1].endswith("ms")


def test_one_point_is_told_in_the_singular_at_the_roof_too() -> None:
    one = [measurement(rl.gemm(64, 64, 64), "elsewhere", 1e-5)]
    two = [*one, measurement(rl.gemm(32, 32, 32), "elsewhere", 1e-5)]
    single, several = (says(morph(seen, machine="h100-sxm"))[2] for seen in (one, two))
    assert "and the point has its room" in single and "Your point reaches" in single
    assert "and every point has its room" in several and "Your best point reaches" in several


@pytest.mark.parametrize(
    ("sentence", "under"),
    [("Seventeen are free.", "Seventeen are free."), ("", "It is 4.0 ms (shown without a guess).")],
)
def test_a_covered_axis_keeps_its_picture_and_what_it_says_aside(sentence: str, under: str) -> None:
    axis = guess(
        "x", "Seventeen?", result=4.0, unit="ms", low=1, high=200,
        picture=CURVE_PNG, sentence=sentence,
    )  # fmt: skip
    aside = axis._repr_mimebundle_()[1]["rooflab"]["under"]
    assert b64decode(aside["png"]) == CURVE_PNG
    assert aside["alt"] == under and aside["says"] == "It is 4.0 ms (shown without a guess)."
    axis.guess_at, axis.covered = 120, False
    data, about = axis._repr_mimebundle_()
    assert data["text/plain"] == "You guessed 14 ms, it is 4.0 ms: off by ×3.5, too high."
    assert "rooflab" not in about
