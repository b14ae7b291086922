"""The thumb rules' band stays where it is, whatever machine and dtype are shown."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.show.scene import drawn
from tests.support.scenes import named, seen

FEW = {"ops": "axpy", "dtypes": ("fp32",)}


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
    assert "band" not in seen(rl.live.roofline("h100-sxm", **FEW))


def test_in_the_live_picture_it_lies_between_its_two_intensities() -> None:
    view = rl.live.roofline(["h100-sxm", "mi300x"], band=(1, 10), **FEW)
    (band,) = named(view.scene, "band")
    left, _, wide, _ = view.scene.value(band, "box")
    ticks = {h["text"]: h["at"][0] for m, h in drawn(view.scene) if m.kind == "text"}
    assert (left, left + wide) == pytest.approx((ticks["1"], ticks["10"]))
    assert "less than 1 FLOP/byte" in view.words


def test_a_band_beyond_the_axes_ends_at_them() -> None:
    view = rl.live.roofline("h100-sxm", band=(1e-9, 1e9), **FEW)
    (band,), (axis, *_) = named(view.scene, "band"), named(view.scene, "axis")
    left, _, wide, _ = view.scene.value(band, "box")
    corners = view.scene.value(axis, "points")
    assert (left, left + wide) == (corners[0], corners[4])


def test_bad_bands() -> None:
    for band, error in [
        (True, TypeError), (4, TypeError), ("48", TypeError), ((4,), TypeError),
        ((4, 8, 16), TypeError), ((4, "8"), TypeError), ((True, 8), TypeError),
        ((8, 4), ValueError), ((0, 8), ValueError), ((4, 4), ValueError), ((-1, 8), ValueError),
        ((4, float("inf")), ValueError), ((float("nan"), 8), ValueError),
    ]:  # fmt: skip
        for draw in (rl.live.roofline, lambda **k: rl.show.roofline("h100-sxm", **k)):
            with pytest.raises(error, match=r"band=.*\(4, 8\)"):
                draw(band=band)
