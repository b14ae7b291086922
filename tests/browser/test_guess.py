"""The guess axis in a browser: on a page from disk, where no kernel answers, and in Notebook 7."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import x_of
from tests.browser.front import ask_kernel, wait_for_kernel

pytestmark = pytest.mark.browser
WINDOW = (900, 800)
HINT = "Click where you think it is. On the keyboard: Tab to the axis, then ← →."

QUESTION = """from rooflab.show.guess_axis import guess
from rooflab.show.canvas import figure, png
asked = {"result": 4.3, "unit": "ms", "low": 1, "high": 200}
picture = png(figure(300, 100), transparent=False)
words = "Nearly the same time."
guess("seventeen", "How long do <b>seventeen</b> take?", picture=picture, sentence=words, **asked)
"""


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("guess", QUESTION)


def settled(page) -> None:
    page.locator(".rl-guess .rl-grip[tabindex]").wait_for()


def click_axis(page, share: float) -> None:
    """Click at a share of the axis' length, where 0 is its low end and 1 its high end."""
    axis = page.locator(".rl-guess .stage svg")
    box = axis.bounding_box()
    left, right = 40 / 720, 680 / 720
    at = {"x": box["width"] * (left + share * (right - left)), "y": box["height"] * 0.6}
    axis.click(position=at)  # waits until the notebook has finished moving its cells about


def confirm(page) -> None:
    page.get_by_role("button", name="this is my guess").click()


def visible(page, selector: str) -> bool:
    return page.locator(selector).is_visible()


def test_hovering_shows_a_ghost_and_uncovers_nothing(still_page) -> None:
    box = still_page.locator(".rl-guess .stage svg").bounding_box()
    still_page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    still_page.locator(".rl-guess .hovered").wait_for()
    assert not visible(still_page, ".rl-guess .truth")
    still_page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 400)
    still_page.locator(".rl-guess .hovered").wait_for(state="hidden")


def test_a_click_places_the_guess_and_another_moves_it(still_page) -> None:
    mine = still_page.locator(".rl-guess .placed-says")
    for share, says in ((0.8, "your guess: 69 ms"), (0.5, "your guess: 14 ms")):
        click_axis(still_page, share)
        expect(mine).to_have_text(says)
        assert visible(still_page, ".rl-guess .placed")
        assert not visible(still_page, ".rl-guess .truth"), "nothing counts before it is confirmed"
    box = still_page.locator(".rl-guess .stage svg").bounding_box()
    still_page.mouse.move(box["x"] + 60, box["y"] + 60)
    assert mine.text_content() == "your guess: 14 ms", "passing over it moves nothing"
    confirm(still_page)
    assert still_page.locator(".rl-guess .say").inner_text().startswith("You guessed 14 ms")


def test_a_confirmed_guess_uncovers(still_page) -> None:
    click_axis(still_page, 0.5)  # √(1·200) = 14 ms
    confirm(still_page)
    assert visible(still_page, ".rl-guess .mine") and visible(still_page, ".rl-guess .truth")
    verdict = still_page.locator(".rl-guess .say").inner_text()
    assert verdict == "You guessed 14 ms, it is 4.3 ms: off by ×3.3, too high."
    image = still_page.locator(".rl-guess .result img")
    expect(image).to_be_visible()
    assert image.get_attribute("alt") == "Nearly the same time."
    more = still_page.locator(".rl-guess .more")
    assert not more.is_visible(), "the picture comes first, its words on demand"
    still_page.locator(".rl-guess summary").click()
    assert more.inner_text() == "Nearly the same time."
    expect(still_page.locator(".rl-guess [aria-live]")).to_have_text(verdict)
    truth, mine = (x_of(still_page, f".rl-guess .{mark}") for mark in ("truth", "mine"))
    assert 40 < truth < mine < 680


def test_a_picture_without_words_of_its_own_is_told_by_the_verdict(tab, static_page) -> None:
    address = static_page("wordless", QUESTION.replace(", sentence=words", ""))
    with tab.silent(address, WINDOW, motion="reduce") as page:
        settled(page)
        page.get_by_role("button", name="skip: show me").click()
        image = page.locator(".rl-guess .result img")
        expect(image).to_have_attribute("alt", "It is 4.3 ms (shown without a guess).")
        assert page.locator(".rl-guess details").count() == 0


def test_the_keyboard_alone_is_enough(still_page) -> None:
    axis = still_page.locator(".rl-guess .rl-grip")
    axis.focus()
    still_page.keyboard.press("Enter")
    assert not visible(still_page, ".rl-guess .truth"), "Enter without a place is no guess"
    still_page.keyboard.press("ArrowRight")
    assert axis.get_attribute("aria-valuetext") == "14 ms"
    for key in ("PageUp", "ArrowLeft", "ArrowRight", "ArrowRight"):
        still_page.keyboard.press(key)
    assert axis.get_attribute("aria-valuenow") == "142"
    still_page.keyboard.press("Enter")
    assert "too high" in still_page.locator(".rl-guess .say").inner_text()


def test_one_can_guess_again(still_page) -> None:
    still_page.get_by_role("button", name="skip: show me").click()
    again = still_page.get_by_role("button", name="guess again")
    again.focus()
    still_page.keyboard.press("Enter")
    assert not visible(still_page, ".rl-guess .truth")
    assert still_page.locator(".rl-guess .say").inner_text() == HINT
    assert not again.is_visible() and not visible(still_page, ".rl-guess .result")
    still_page.keyboard.press("ArrowRight")  # the axis has the keys again
    still_page.keyboard.press("Enter")
    assert still_page.locator(".rl-guess .say").inner_text().startswith("You guessed 14 ms")
    expect(still_page.locator(".rl-guess .result img")).to_be_visible()


def test_with_a_kernel_the_store_hears_of_it_and_a_second_look_is_uncovered(open_notebook) -> None:
    keeper = """from types import SimpleNamespace
class Keeper:
    known = {}
    def get(self, id): return self.known.get(id)
    def record(self, id, value): self.known[id] = SimpleNamespace(value=value)
    def reveal_without_guess(self, id): self.known[id] = SimpleNamespace(value=None)
store = Keeper()"""
    asking = QUESTION.replace("**asked)", "store=store, **asked)")
    page = open_notebook("notebook", "guess.ipynb", keeper, asking)
    settled(page)
    click_axis(page, 0.5)
    assert ask_kernel(page, "store.known") == "{}", "a guess that is still moved about is no guess"
    confirm(page)
    assert page.locator(".rl-guess .say").inner_text().startswith("You guessed 14 ms")
    wait_for_kernel(page, "store.known", "{'seventeen': namespace(value=14.14)}")
    page.evaluate(
        """() => { window.before = document.querySelector('.rl-guess');
        window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1;
        window.jupyterapp.commands.execute('notebook:run-cell'); }"""
    )
    page.wait_for_function(
        """() => { const now = document.querySelector('.rl-guess.done');
        return now && now !== window.before; }"""
    )
    assert page.locator(".rl-guess .mine-says").text_content() == "your guess: 14 ms"
