"""The request film in a browser: a click on a bar brings the context to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.browser
WINDOW = (1280, 1000)


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("film", 'import rooflab as rl\nrl.live.film("llama-2-7b", "h100-sxm")')


def settled(page) -> None:
    page.locator(".rl-film svg[data-tick]").wait_for(state="attached")


def test_a_click_on_a_bar_moves_the_context_slider(still_page) -> None:
    picture = still_page.locator(".rl-film")
    bars, slider = picture.locator("rect.rl-grip"), picture.locator("input[type=range]").nth(1)
    box = bars.bounding_box()
    bars.click(position={"x": box["width"] * 5.5 / 27, "y": box["height"] / 2})
    assert slider.get_attribute("aria-valuetext") == "96"
