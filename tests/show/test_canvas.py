"""What moving pictures need of their notebook, and axes that hold every rate."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ipywidgets import widgets

from rooflab.show.canvas import ABOVE, decades_for, free_model_id, living


@pytest.mark.parametrize("version", [7, 8])
def test_all_widgets_of_a_kernel_are_found(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    there = {"film": object()}
    found = SimpleNamespace(_instances=there)
    if version == 7:  # its widgets are in the class
        found = SimpleNamespace(Widget=SimpleNamespace(widgets=there))
    monkeypatch.setattr(widgets, "widget", found)
    assert living() is there


def test_no_picture_has_the_name_of_one_of_an_earlier_day() -> None:
    names = {free_model_id("film") for _ in range(1000)}
    assert len(names) == 1000 and all(name.startswith("film-") for name in names)


@given(st.lists(st.floats(1e6, 1e18), min_size=1, max_size=8))
def test_every_rate_fits_on_half_decades(rates: list[float]) -> None:
    low, high = decades_for(rates)
    assert (2 * low).is_integer() and (2 * high).is_integer() and high - low >= 3
    assert low <= math.log10(min(rates))
    assert high - math.log10(max(rates)) >= ABOVE - 1e-9, "room for the highest roof's label"


def test_without_rates_there_are_axes_all_the_same() -> None:
    assert decades_for([]) == (9, 16)
