"""Sorting cards in a browser, on a page from disk where no kernel answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.front import wait_for_kernel
from tests.browser.tab import Tab, stand

pytestmark = pytest.mark.browser

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


@pytest.fixture
def table(tab: Tab, address: str) -> Iterator[object]:
    """The page with the cards still covered."""
    with tab.silent(address) as opened:
        opened.locator(".rl-sort .deck").wait_for()
        yield opened


def top(page) -> str:
    return page.locator(".rl-sort .top").inner_text()


def placed(page) -> int:
    return int(page.locator(".rl-sort").get_attribute("data-placed"))


def truth(card: str) -> str:
    """The key of the bin in which the card belongs."""
    from tests.exercises.test_sorting import BINS, TRUTH

    return str(1 + BINS.index(TRUTH[card]))


def sort_all(page, key: Callable[[str], str]) -> None:
    page.locator(".rl-sort .deck").focus()
    for count in range(10):
        page.keyboard.press(key(top(page)))
        page.locator(f".rl-sort[data-placed='{count + 1}']").wait_for()


def test_ten_keys_sort_ten_cards_and_enter_uncovers(table) -> None:
    sort_all(table, truth)
    assert not table.get_by_text("GFLOP/s").first.is_visible()
    table.keyboard.press("Enter")
    table.locator(".rl-sort.done").wait_for()
    assert top(table) == "10 of 10 lie where the model puts them"
    assert table.locator("li.right").count() == 10
    assert (
        table.locator("section[data-bin=overhead] .reason")
        .first.inner_text()
        .startswith("The call")
    )
    assert table.locator(".fact").first.inner_text().startswith("measured ")


def test_wrong_cards_say_where_they_belong(table) -> None:
    sort_all(table, lambda card: "1" if truth(card) == "3" else truth(card))
    table.get_by_role("button", name="what the model says").click()
    assert top(table).startswith("7 of 10")
    assert table.locator("li.wrong .truth").all_inner_texts() == ["it is overhead"] * 3
    assert table.locator("section[data-bin=memory] li").count() == 7


def test_a_tap_on_a_bin_places_and_a_tap_on_a_card_takes_back(table) -> None:
    first = top(table)
    table.locator("section[data-bin=compute] .head").click()
    assert placed(table) == 1 and top(table) != first
    table.locator("section[data-bin=memory] ul").click()
    assert placed(table) == 2
    table.get_by_role("button", name=first).click()
    assert placed(table) == 1 and top(table) == first
    table.keyboard.press("3")
    assert table.locator("section[data-bin=overhead] .chip").inner_text() == first
    table.keyboard.press("Backspace")
    assert placed(table) == 1, "the last one in the deck's order"


def test_nothing_is_uncovered_before_all_cards_lie(table) -> None:
    table.locator(".rl-sort .deck").focus()
    for _ in range(9):
        table.keyboard.press("1")
    assert not table.get_by_role("button", name="what the model says").is_visible()
    table.keyboard.press("Enter")
    assert "done" not in table.locator(".rl-sort").get_attribute("class")
    table.keyboard.press("1")
    table.get_by_role("button", name="what the model says").wait_for()
    assert "all placed" in table.locator(".rl-sort .count").inner_text()


def test_show_me_uncovers_without_a_score(table) -> None:
    table.get_by_role("button", name="skip: show me").click()
    assert top(table) == "Shown without a sorting."
    assert table.locator("li.told").count() == 10
    assert table.locator("section[data-bin=compute] li").count() == 3


def test_the_cards_that_were_sorted_are_counted_though_not_all_were(table) -> None:
    table.locator(".rl-sort .deck").focus()
    for right in (True, False, True):
        bin = truth(top(table))
        table.keyboard.press(bin if right else "123".replace(bin, "")[0])
    table.get_by_role("button", name="skip: show me").click()
    assert top(table) == "2 of the 3 sorted lie where the model puts them"
    assert table.locator("li.told").count() == 7 and table.locator("li.wrong").count() == 1


def test_keys_are_kept_from_the_notebook_and_spoken(table) -> None:
    for node in table.locator(".rl-sort button, .rl-sort .deck").all():
        assert node.get_attribute("data-lm-suppress-shortcuts") == "true"
    first = top(table)
    table.locator(".rl-sort .deck").focus()
    table.keyboard.press("1")
    table.wait_for_function(
        "name => document.querySelector('.rl-sort [aria-live]').textContent.startsWith(`${name}: "
        "memory`)",
        arg=first,
    )


def test_the_keys_stand_on_the_bins_and_letters_do_nothing(table) -> None:
    assert table.locator(".rl-sort kbd").all_inner_texts() == ["1", "2", "3"]
    table.locator(".rl-sort .deck").focus()
    for letter in "mcoMCO":
        table.keyboard.press(letter)
    assert placed(table) == 0


@pytest.mark.parametrize("spot", [".hint", ".title", ".deck", ".top"])
def test_a_click_anywhere_brings_the_keys_and_the_hint_says_so(table, spot: str) -> None:
    hint = table.locator(".rl-sort .hint")
    assert "click the card first, then press 1, 2 or 3" in hint.inner_text()
    table.locator(f".rl-sort {spot}").click()
    expect(hint).to_contain_text("or press 1, 2 or 3")
    table.keyboard.press("2")
    assert placed(table) == 1


def test_on_a_phone_the_bins_stand_below_each_other(tab: Tab, address: str) -> None:
    with tab.silent(address, (420, 900)) as page:
        page.locator(".rl-sort .deck").wait_for()
        stand(page)
        lefts = {round(bin.bounding_box()["x"]) for bin in page.locator(".rl-sort .bin").all()}
        assert len(lefts) == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_in_lab_keys_sort_and_the_kernel_keeps_the_sorting(open_notebook) -> None:
    page = open_notebook("lab", "sort.ipynb", CELL.replace("rl.sort", "w = rl.sort", 1) + "\nw")
    page.locator(".rl-sort .deck").wait_for()
    page.locator(".rl-sort .hint").click()
    page.keyboard.press(truth(top(page)))
    page.locator(".rl-sort[data-placed='1']").wait_for()
    page.keyboard.press("Backspace")
    page.locator(".rl-sort[data-placed='0']").wait_for()
    sort_all(page, truth)
    page.keyboard.press("Enter")
    page.locator(".rl-sort.done").wait_for()
    assert page.locator(".jp-Cell.jp-MarkdownCell").count() == 0, "no key reached the notebook"
    wait_for_kernel(page, "w.score", "'10 of 10'")
    wait_for_kernel(page, "w.store.recall()[0] == w.placed", "True")
