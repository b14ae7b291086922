"""What every moving picture needs of the notebook that it lives in."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ipywidgets import widgets

from rooflab.show.canvas import free_model_id, living


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
