"""Words that wait for a guess: on a page from disk, and in a notebook where a kernel answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.front import ask_kernel, wait_for_kernel
from tests.browser.test_guess import QUESTION, click_axis, confirm

pytestmark = pytest.mark.browser
WINDOW = (900, 900)
CELLS = (
    QUESTION.replace("\nguess(", "\naxis = guess(") + "axis",
    """import rooflab as rl
from rooflab.exercises.sentences import Conclusion
said = rl.show.say("17: 4.3 ms", Conclusion("flat", "**Nearly** the same <b>time</b>."), after=axis)
said""",
)


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("said", *CELLS)


def settled(page) -> None:
    page.locator(".rl-guess .rl-grip[tabindex]").wait_for()
    page.locator(".rl-said .cover").wait_for()


def test_it_comes_with_the_guess_and_goes_with_another(still_page) -> None:
    words = still_page.locator(".rl-said")
    assert words.inner_text() == "Covered until you have placed your guess above."
    assert "Nearly" not in words.text_content(), "nor does it hide in the page"
    click_axis(still_page, 0.5)
    confirm(still_page)
    expect(words.locator(".cover")).to_be_hidden()
    assert words.inner_text().split() == ["17:", "4.3", "ms", "Nearly", "the", "same", "time."]
    assert words.locator("strong").inner_text() == "Nearly"
    assert still_page.locator(".rl-guess .say").inner_text().startswith("You guessed 14 ms")
    still_page.get_by_role("button", name="guess again").click()
    expect(words.locator(".cover")).to_be_visible()
    assert words.inner_text() == "Covered until you have placed your guess above."
    axis = still_page.locator(".rl-guess .rl-grip")
    assert not still_page.locator(".rl-guess .truth").is_visible()
    assert axis.get_attribute("aria-valuetext") == "no guess yet"
    click_axis(still_page, 0.8)
    confirm(still_page)
    assert still_page.locator(".rl-guess .say").inner_text().startswith("You guessed 69 ms")
    expect(words).to_contain_text("Nearly")


def test_in_a_notebook_it_comes_without_running_its_cell_again(open_notebook) -> None:
    page = open_notebook("lab", "said.ipynb", *CELLS)
    settled(page)
    assert ask_kernel(page, "said.covered") == "True"
    click_axis(page, 0.5)
    confirm(page)
    expect(page.locator(".rl-said strong")).to_have_text("Nearly")
    wait_for_kernel(page, "said.covered", "False")
