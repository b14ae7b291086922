"""What every moving picture needs of the notebook that it lives in."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ipywidgets import widgets

from rooflab.show.overlay import free_model_id


@pytest.mark.parametrize("version", [7, 8])
def test_a_picture_takes_a_name_that_no_other_has(
    monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    taken = {"film": object(), "film-2": object()}
    found = SimpleNamespace(_instances=taken)
    if version == 7:  # its widgets are in the class
        found = SimpleNamespace(Widget=SimpleNamespace(widgets=taken))
    monkeypatch.setattr(widgets, "widget", found)
    assert free_model_id("film") == "film-3"
    assert free_model_id("golf") == "golf"
