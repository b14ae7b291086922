"""The frame in pixels is where matplotlib really draws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.show.canvas import ABOVE, Frame, empty, figure, frame_for

FRAME = Frame(9, 16)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.04, 2e4), st.floats(2e9, 9e15))
def test_pixels_are_matplotlibs(intensity: float, rate: float) -> None:
    fig = figure(FRAME.width, FRAME.height)
    ax = empty(fig, FRAME)
    x, y = ax.transData.transform((intensity, rate))
    assert FRAME.x(intensity) == pytest.approx(x, abs=0.01)
    assert FRAME.y(rate) == pytest.approx(FRAME.height - y, abs=0.01)


@given(st.lists(st.floats(1e6, 1e18), min_size=1, max_size=8))
def test_every_rate_fits_on_half_decades(rates: list[float]) -> None:
    frame = frame_for(rates)
    assert (2 * frame.y_lo).is_integer() and (2 * frame.y_hi).is_integer()
    assert frame.y_lo <= math.log10(min(rates)) and math.log10(max(rates)) < frame.y_hi
    assert frame.y_hi - frame.y_lo >= 3
    assert frame.y_hi - math.log10(max(rates)) >= ABOVE - 1e-9, "room for the highest roof's label"


def test_ticks_lie_on_their_decades() -> None:
    ticks = Frame(9.5, 13).ticks()
    assert [label for _, label in ticks["y"]] == ["10 G", "100 G", "1 T", "10 T"]
    assert [y for y, _ in ticks["y"]] == [
        pytest.approx(Frame(9.5, 13).y(10.0**d), abs=0.01) for d in (10, 11, 12, 13)
    ]
    assert [label for _, label in ticks["x"]][:3] == ["0.1", "1", "10"]


def test_without_rates_there_are_axes_all_the_same() -> None:
    assert frame_for([]) == FRAME


def test_what_stands_on_the_axes_has_18_pixels() -> None:
    frame = Frame(8, 13)
    made = figure(frame.width, frame.height)
    ax = empty(made, frame)
    made.canvas.draw()
    labels = [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label]
    pixels = 100 / 72
    assert min(label.get_fontsize() for label in labels) * pixels >= 17.5
    for label in labels:
        box = label.get_window_extent()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= made.bbox.width, label.get_text()
