"""A picture with its sliders that waits for a guess, on a page from disk."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import press, ready
from tests.browser.test_guess import QUESTION, click_axis, confirm

pytestmark = pytest.mark.browser
WINDOW = (900, 900)
CELLS = (
    QUESTION.replace("\nguess(", "\naxis = guess(") + "axis",
    'import rooflab as rl\nrl.live.roofline("h100-sxm", dtypes=("fp32",), after=axis)',
)


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("cover", *CELLS)


def settled(page) -> None:
    page.locator(".rl-guess .rl-grip[tabindex]").wait_for()
    page.locator(".rl-waits .cover").wait_for()


def test_picture_and_sliders_come_with_the_guess_and_go_with_another(still_page) -> None:
    page, live = still_page, still_page.locator(".rooflab-live")
    hidden = page.locator(
        ".rooflab-live :is(.stage svg, select, .rl-play-home > .rl-sliders, .say)"
    )
    expect(hidden.first).to_be_attached()
    assert live.inner_text() == "Covered until you have placed your guess above."
    assert not any(one.is_visible() for one in hidden.all())
    click_axis(page, 0.5)
    confirm(page)
    expect(page.locator(".rl-live-roofline .stage svg")).to_be_visible()
    assert not page.locator(".rl-waits").is_visible()
    assert all(one.is_visible() for one in hidden.all())
    ready(page)
    press(page, 0, "ArrowRight")
    page.get_by_role("button", name="guess again").click()
    expect(page.locator(".rl-waits .cover")).to_be_visible()
    assert not any(one.is_visible() for one in hidden.all())
