"""The iteration space in a browser: its knobs are pulled by a mouse and by keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
WINDOW = (1366, 680)
CELL = """import rooflab as rl
nest = rl.loops.Nest({"i": (1, 7), "j": 6}, "A[i,j] = A[i-1,j+1]*0.5")
rl.loops.space(nest)"""


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("space", CELL)


def settled(page) -> None:
    page.locator(".rl-scene .skew-knob").wait_for(state="attached")


def order(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def red(page) -> int:
    return page.locator(".rl-scene .arrow[stroke-dasharray]").count()


def middle(knob) -> tuple[float, float]:
    box = knob.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def point(page, number: int) -> tuple[float, float]:
    return middle(page.locator(".rl-scene .iteration").nth(number))


def pull(page, name: str, right: float) -> None:
    """Pull a knob sideways by so many columns, and let it go."""
    cell = point(page, 1)[0] - point(page, 0)[0]
    x, y = middle(page.locator(f".rl-scene .{name}-knob"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right * cell, y + 3, steps=6)
    page.mouse.up()


def stop(page, name: str) -> str:
    return page.locator(".rl-scene .stage svg").get_attribute(f"data-{name}")


def test_pulling_the_last_row_mends_what_columns_first_has_broken(still_page) -> None:
    order(still_page, "columns first")
    said = still_page.locator(".rl-scene .say")
    expect(said).to_contain_text("not legal, 25 of 25 arrows are red")
    assert red(still_page) == 25
    first, last = point(still_page, 0), point(still_page, 35)
    pull(still_page, "skew", 5)
    assert stop(still_page, "skew") == "1"
    assert red(still_page) == 0
    expect(said).to_contain_text("j skewed by i: legal")
    cell = point(still_page, 1)[0] - first[0]
    assert point(still_page, 0) == pytest.approx(first, abs=0.1)
    assert point(still_page, 35) == pytest.approx((last[0] + 5 * cell, last[1]), abs=0.5)
    pull(still_page, "skew", -5)
    assert stop(still_page, "skew") == "0" and red(still_page) == 25


def test_the_space_follows_the_hand_between_two_skews(still_page) -> None:
    first, last = point(still_page, 0), point(still_page, 35)
    cell = point(still_page, 1)[0] - first[0]
    x, y = middle(still_page.locator(".rl-scene .skew-knob"))
    still_page.mouse.move(x, y)
    still_page.mouse.down()
    still_page.mouse.move(x + 2 * cell, y, steps=4)
    assert point(still_page, 35)[0] - last[0] == pytest.approx(2 * cell, abs=0.2 * cell)
    still_page.mouse.up()
    assert point(still_page, 35) == pytest.approx(last, abs=0.5)
    assert stop(still_page, "skew") == "0"


def test_arrows_turn_red_while_the_hand_still_pulls(still_page) -> None:
    assert red(still_page) == 0
    cell = point(still_page, 1)[0] - point(still_page, 0)[0]
    x, y = middle(still_page.locator(".rl-scene .tile-knob"))
    still_page.mouse.move(x, y)
    still_page.mouse.down()
    for tile, broken in ((2, 6), (3, 4), (4, 4), (2, 6)):
        still_page.mouse.move(x + (tile - 1) * cell, y, steps=3)
        assert stop(still_page, "tile") == str(tile - 1)
        assert red(still_page) == broken, tile
    still_page.mouse.up()
    expect(still_page.locator(".rl-scene .say")).to_contain_text("6 of 25 arrows are red")


def test_a_pull_writes_no_attribute_of_a_knob_that_stays_as_it_is(still_page) -> None:
    # A tabindex that is set again makes Chromium lay out the whole page, in the midst of a pull.
    still_page.evaluate(
        """() => { window.again = [];
        const same = one => one.target.getAttribute(one.attributeName) === one.oldValue;
        const told = all => again.push(...all.filter(same).map(one => one.attributeName));
        const attributeFilter = ['tabindex', 'role', 'aria-label'];
        for (const knob of document.querySelectorAll('.rl-scene [role=slider]'))
            new MutationObserver(told).observe(knob, { attributeOldValue: true, attributeFilter });
        }"""
    )
    pull(still_page, "skew", 5)
    assert stop(still_page, "skew") == "1"
    assert still_page.evaluate("again") == []
