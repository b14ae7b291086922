"""The morph that waits for guesses, on a page from disk where no kernel answers, and in Lab."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.browser.front import wait_for_kernel
from tests.browser.tab import Tab, stand
from tests.browser.test_morph import BIG, CELL, place, stop, visible

pytestmark = pytest.mark.browser

ASKED = (
    CELL.rpartition("\n")[0]
    + """
from rooflab.show.guess_axis import guess
from tests.support.morph_example import OPS, bound

def ask(n):
    truth = 1e3 * bound(OPS[n])
    return guess(f"morph-{n}", "How long?", result=truth, unit="ms",
                 low=truth / 99, high=truth * 99)

asked = {OPS[n]: ask(n) for n in (8, 9)}
asked[OPS[8]]""",
    "asked[OPS[9]]",
    "rl.live.morph(MEASURED, machine=HERE, after=asked)",
)


@pytest.fixture(scope="module")
def asked_address(static_page: Callable[..., str]) -> str:
    return static_page("morph asked", *ASKED)


@pytest.fixture
def asked_page(tab: Tab, asked_address: str) -> Iterator[object]:
    with tab.silent(asked_address, (1280, 1100), motion="reduce") as opened:
        opened.locator(".rl-guess .rl-grip[tabindex]").nth(1).wait_for()
        opened.locator(".rl-morph.rl-covered").wait_for()
        yield opened


def guess_at(page, number: int, key: str, times: int) -> None:
    """Place a guess with the keyboard, from the middle of its axis, and confirm it."""
    axis = page.locator(".rl-guess .rl-grip").nth(number)
    axis.focus()
    for _ in range(times):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.locator(".rl-guess").nth(number).locator(".say").wait_for()


def test_the_cover_opens_after_the_last_guess_and_shows_one_sentence(asked_page) -> None:
    picture = asked_page.locator(".rl-morph")
    covered = picture.locator(".cover > p").inner_text()
    assert covered == "Covered until you have placed your two guesses above."
    low = picture.bounding_box()["height"]
    guess_at(asked_page, 0, "PageDown", 2)
    assert "rl-covered" in picture.get_attribute("class")
    asked_page.locator(".rl-guess").nth(1).get_by_role("button", name="skip: show me").click()
    asked_page.locator(".rl-morph:not(.rl-covered)").wait_for()
    assert picture.locator(".say").is_visible() and not picture.locator(".cover").is_visible()
    assert picture.locator(".point").count() == 10
    assert low < 0.6 * picture.bounding_box()["height"]


def test_a_guess_placed_on_the_page_hangs_at_its_point_without_a_kernel(asked_page) -> None:
    guess_at(asked_page, 0, "PageDown", 2)  # 21 of 240 places below the middle is ×99^(1/3)
    asked_page.locator(".rl-guess").nth(1).get_by_role("button", name="skip: show me").click()
    asked_page.locator(".rl-morph:not(.rl-covered)").wait_for()
    stop(asked_page, "the roofline")
    x, y = place(asked_page, BIG)
    gx, gy = place(asked_page, ".rl-morph .guess >> nth=0")
    assert gx == pytest.approx(x, abs=0.1) and gy < y - 20, "a shorter time is faster"
    off = asked_page.locator(".rl-morph .off").first
    assert visible(asked_page, ".rl-morph .off >> nth=0") and off.text_content().startswith(
        "off by ×"
    )
    assert "You guessed" in asked_page.locator(BIG).get_attribute("aria-label")
    assert not visible(asked_page, ".rl-morph .guess >> nth=1"), "shown without a guess"
    assert not visible(asked_page, ".rl-morph .gap >> nth=1") and not visible(
        asked_page, ".rl-morph .off >> nth=1"
    )


def test_in_lab_the_kernel_hears_that_it_opened(open_notebook) -> None:
    cells = [*ASKED[:2], "w = rl.live.morph(MEASURED[7:], machine=HERE, after=asked)\nw"]
    page = open_notebook("lab", "morph-asked.ipynb", *cells)
    page.locator(".rl-morph.rl-covered").wait_for()
    for number in (0, 1):
        guess_at(page, number, "ArrowRight", 3)
    page.locator(".rl-morph:not(.rl-covered)").wait_for()
    wait_for_kernel(page, "(w.covered, 'You guessed' in w.words)", "(False, True)")
    stand(page, ".jp-Notebook *")
    taller = page.evaluate(
        """() => [...document.querySelectorAll(
            '.jp-OutputArea-output, .jp-OutputArea-child, .jp-Cell-outputWrapper')]
        .map(node => node.scrollHeight - node.clientHeight).filter(more => more > 1)"""
    )
    assert taller == [], "no output has a scrollbar of its own"
