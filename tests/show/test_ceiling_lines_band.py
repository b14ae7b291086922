"""The thumb rules' band stays where it is, whatever machine and dtype are shown."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.show import ceiling_lines
from rooflab.show.canvas import Frame


def texts(figure) -> set[str]:
    return {text.get_text() for text in figure.axes[0].texts}


@pytest.mark.parametrize("machine", ["h100-sxm", "raspberry-pi-5"])
def test_it_is_shaded_and_labelled_on_both_sides(machine: str) -> None:
    figure = rl.show.roofline(machine, rl.axpy(100), band=(4, 8))
    assert {"< 4 memory", "> 8 compute?"} <= texts(figure)
    (patch,) = figure.axes[0].patches
    assert (patch.get_x(), patch.get_width()) == (4, 4)
    assert "the ridge decides" in figure.words


def test_without_it_nothing_is_shaded() -> None:
    figure = rl.show.roofline("h100-sxm", rl.axpy(100))
    assert not figure.axes[0].patches and "thumb" not in figure.words
    assert rl.live.roofline("h100-sxm").view.data["band"] is None


def test_the_browser_gets_it_in_pixels() -> None:
    live = rl.live.roofline(["h100-sxm", "mi300x"], band=(4, 8))
    frame, band = live.scene.frame, live.view.data["band"]
    assert band["x0"] == pytest.approx(frame.x(4), abs=0.01)
    assert band["x1"] == pytest.approx(frame.x(8), abs=0.01)
    assert "less than 4 FLOP/byte" in live.sentence


def test_a_band_beyond_the_axes_ends_at_them() -> None:
    frame = Frame(9, 12)
    packed = ceiling_lines.pack_band((1e-9, 1e9), frame)
    assert (packed["x0"], packed["x1"]) == (frame.left, frame.width - frame.right)


@pytest.mark.parametrize(
    ("band", "error"),
    [
        (True, TypeError), (4, TypeError), ("48", TypeError), ((4,), TypeError),
        ((4, 8, 16), TypeError), ((4, "8"), TypeError), ((True, 8), TypeError),
        ((8, 4), ValueError), ((0, 8), ValueError), ((4, 4), ValueError), ((-1, 8), ValueError),
        ((4, float("inf")), ValueError), ((float("nan"), 8), ValueError),
    ],
)  # fmt: skip
def test_bad_bands(band: object, error: type[Exception]) -> None:
    for draw in (rl.live.roofline, lambda **k: rl.show.roofline("h100-sxm", **k)):
        with pytest.raises(error, match=r"band=.*\(4, 8\)"):
            draw(band=band)
