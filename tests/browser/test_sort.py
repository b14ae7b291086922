"""Sorting cards in a browser, on a page from disk where no kernel answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.front import wait_for_kernel
from tests.browser.tab import resize

pytestmark = pytest.mark.browser
WINDOW = (1280, 1000)

ROOT = Path(__file__).parents[2]
CELL = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
import os, tempfile
os.environ["ROOFLAB_HOME"] = tempfile.mkdtemp()
import rooflab as rl
from tests.exercises.test_sorting import HERE, TEN
rl.sort("03-ten", TEN, machine=HERE)"""


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("sort", CELL)


def settled(page) -> None:
    page.locator(".rl-sort svg[tabindex]").wait_for()


def top(page) -> str:
    """What stands on the card on top of the deck."""
    return page.locator(".rl-sort text.top").text_content()


def placed(page) -> int:
    return int(page.locator(".rl-sort svg").get_attribute("data-sorted"))


def names_in(page, bin: str) -> list[str]:
    """The cards in a bin, from top to bottom, by what a screen reader calls them."""
    nodes = page.locator(f".rl-sort [aria-label*=': {bin}; take it back']").all()
    nodes.sort(key=lambda node: node.bounding_box()["y"])
    return [node.get_attribute("aria-label").partition(": ")[0] for node in nodes]


def bin_of(page, bin: str):
    return page.locator(f".rl-sort .bin[aria-label^='{bin}']")


def truth(card: str) -> str:
    """The key of the bin in which the card belongs."""
    from tests.exercises.test_sorting import BINS, TRUTH

    return str(1 + BINS.index(TRUTH[card]))


def sort_all(page, key: Callable[[str], str]) -> None:
    page.locator(".rl-sort svg").focus()
    for count in range(10):
        page.keyboard.press(key(top(page)))
        page.locator(f".rl-sort svg[data-sorted='{count + 1}']").wait_for()


def says(page) -> str:
    return page.locator(".rl-sort .say").inner_text()


def test_ten_keys_sort_ten_cards_and_enter_uncovers(still_page) -> None:
    sort_all(still_page, truth)
    assert not still_page.get_by_text("GFLOP/s").first.is_visible()
    still_page.keyboard.press("Enter")
    still_page.locator(".rl-sort.done").wait_for()
    assert says(still_page) == "10 of 10 lie where the model puts them."
    names = still_page.locator(".rl-sort text.card-name").all_text_contents()
    assert len(names) == 10 and all(one.startswith("✓") for one in names)
    reasons = " ".join(still_page.locator(".rl-sort text.why").all_text_contents())
    assert reasons.count("Measured") == 10 and "The call alone" in reasons
    assert still_page.locator(".rl-sort .fact").count() == 0, "each stands on its card"
    assert still_page.locator(".rl-sort [role=button], .rl-sort svg[tabindex]").count() == 0


def test_a_tap_on_a_bin_places_and_a_tap_on_a_card_takes_back(still_page) -> None:
    first = top(still_page)
    bin_of(still_page, "compute").click(position={"x": 20, "y": 200})
    assert placed(still_page) == 1 and top(still_page) != first
    bin_of(still_page, "memory").click(position={"x": 20, "y": 200})
    assert placed(still_page) == 2
    still_page.get_by_role("button", name=first).click()
    assert placed(still_page) == 1 and top(still_page) == first
    still_page.keyboard.press("3")
    assert names_in(still_page, "overhead") == [first]
    still_page.keyboard.press("Backspace")
    assert placed(still_page) == 1, "the last one in the deck's order"
    still_page.get_by_role("button", name="take the last one back").click()
    assert placed(still_page) == 0


def test_nothing_is_uncovered_before_all_cards_lie(still_page) -> None:
    still_page.locator(".rl-sort svg").focus()
    for _ in range(9):
        still_page.keyboard.press("1")
    assert not still_page.get_by_role("button", name="what the model says").is_visible()
    still_page.keyboard.press("Enter")
    assert "done" not in still_page.locator(".rl-sort").get_attribute("class")
    still_page.keyboard.press("1")
    still_page.get_by_role("button", name="what the model says").wait_for()
    assert "all placed" in still_page.locator(".rl-sort .count").text_content()


def test_keys_are_kept_from_the_notebook_and_spoken(still_page) -> None:
    for node in still_page.locator(".rl-sort button, .rl-sort [tabindex]").all():
        assert node.get_attribute("data-lm-suppress-shortcuts") == "true"
    first = top(still_page)
    still_page.locator(".rl-sort svg").focus()
    still_page.keyboard.press("1")
    live = still_page.locator(".rl-sort [aria-live]")
    expect(live).to_have_text(re.compile(f"^{re.escape(first)}: memory. "))
    expect(live).to_contain_text(f"{top(still_page)}: which one decides")
    still_page.keyboard.press("Backspace")
    expect(live).to_have_text(re.compile(f"^{re.escape(first)}: which one decides"))


def test_a_click_anywhere_brings_the_keys_and_the_hint_says_so(still_page) -> None:
    assert "Tap a bin, or click here and press 1, 2 or 3." in says(still_page)
    still_page.keyboard.press("2")
    assert placed(still_page) == 0, "the keys are not here yet"
    still_page.locator(".rl-sort .title").click()
    still_page.keyboard.press("2")
    assert placed(still_page) == 1


def test_on_another_sheet_the_same_keys_press_once(still_page) -> None:
    still_page.locator(".rl-sort svg").focus()
    still_page.keyboard.press("1")
    resize(still_page, (420, 900))
    still_page.locator(".rl-sort svg").focus()
    still_page.keyboard.press("2")
    assert placed(still_page) == 2, "a key puts one card"
    assert len(names_in(still_page, "memory")) == len(names_in(still_page, "compute")) == 1


def test_bins_and_cards_are_buttons_for_the_keyboard(still_page) -> None:
    labels = [bin_of(still_page, one).get_attribute("aria-label") for one in ("memory", "compute")]
    assert labels == ["memory, key 1", "compute, key 2"]
    first = top(still_page)
    bin_of(still_page, "compute").focus()
    still_page.keyboard.press("Enter")
    assert names_in(still_page, "compute") == [first]
    still_page.get_by_role("button", name=first).focus()
    still_page.keyboard.press(" ")
    assert placed(still_page) == 0
    still_page.keyboard.press("3")
    assert names_in(still_page, "overhead") == [first], "the picture still has the keys"


def test_in_lab_keys_sort_and_the_kernel_keeps_the_sorting(open_notebook) -> None:
    page = open_notebook("lab", "sort.ipynb", CELL.replace("rl.sort", "w = rl.sort", 1) + "\nw")
    page.locator(".rl-sort svg[tabindex]").wait_for()
    page.locator(".rl-sort .say").click()
    page.keyboard.press(truth(top(page)))
    page.locator(".rl-sort svg[data-sorted='1']").wait_for()
    page.keyboard.press("Backspace")
    page.locator(".rl-sort svg[data-sorted='0']").wait_for()
    sort_all(page, truth)
    page.keyboard.press("Enter")
    page.locator(".rl-sort.done").wait_for()
    assert page.locator(".jp-Cell.jp-MarkdownCell").count() == 0, "no key reached the notebook"
    wait_for_kernel(page, "w.score", "'10 of 10'")
    wait_for_kernel(page, "w.store.recall()[0] == w.placed", "True")
