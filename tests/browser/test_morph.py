"""The morph in a browser, on a page from disk where no kernel answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.tab import by_hand

pytestmark = pytest.mark.browser
WINDOW = (1280, 1100)

ROOT = Path(__file__).parents[2]
CELL = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
import rooflab as rl
from tests.support.morph_example import HERE, MEASURED
rl.live.morph(MEASURED, machine=HERE, guesses={{"gemm 1024×1024×1024 fp32": 0.2}})"""
BIG, MIDDLE, SMALL = (f".point >> nth={n}" for n in (8, 9, 0))
STOPS = ("time against work", "speed against intensity", "the roofline", "the cost of a call")


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("morph", CELL)


def settled(page) -> None:
    page.locator(".rl-morph svg[data-at='0']").wait_for()


def stop(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.locator(f".rl-morph svg[data-at='{STOPS.index(name)}']").wait_for()


def rest(page, at: float) -> None:
    """Move the slider as a hand does: it may rest between two stops."""
    slider = page.locator(".rl-morph input")
    slider.fill(str(at / 3 * float(slider.get_attribute("max"))))
    page.locator(f".rl-morph svg[data-at='{at:g}']").wait_for()


def place(page, selector: str) -> tuple[float, float]:
    text = page.locator(selector).first.get_attribute("transform")
    x, y = text.removeprefix("translate(").rstrip(")").split()
    return float(x), float(y)


def visible(page, selector: str) -> bool:
    return page.locator(selector).first.evaluate(
        "n => { for (; n.ownerSVGElement; n = n.parentNode) { const s = getComputedStyle(n); "
        "if (+s.opacity < 0.05 || s.visibility === 'hidden' || s.display === 'none') return false; "
        "}"
        " return true; }"
    )


def test_the_four_stops_and_what_they_say(still_page) -> None:
    said = []
    for name in STOPS:
        stop(still_page, name)
        said.append(still_page.locator(".rl-morph .say").inner_text())
        slider = still_page.locator(".rl-morph input")
        assert slider.get_attribute("aria-valuetext") == name
        pressed = still_page.locator(".rl-morph button[aria-pressed=true]")
        assert pressed.all_inner_texts() == [name]
    assert "crushed" in said[0] and "divided" in said[1] and "roof" in said[2]
    assert "FLOP ÷ call time" in said[3]
    rest(still_page, 2.5)
    assert slider.get_attribute("aria-valuetext").endswith(", on the way")
    assert slider.get_attribute("aria-label") == "from time against work to the roofline"


def test_arrow_and_page_keys_move_the_slider(still_page) -> None:
    slider = still_page.locator(".rl-morph input")
    assert slider.get_attribute("data-lm-suppress-shortcuts") == "true"
    slider.focus()
    before = place(still_page, MIDDLE)
    for _ in range(5):
        still_page.keyboard.press("ArrowRight")
    still_page.locator(".rl-morph svg[data-at='0.1']").wait_for()
    assert place(still_page, MIDDLE) != before
    for key, at in (("PageUp", 1), ("PageUp", 2), ("End", 3), ("PageDown", 2), ("Home", 0)):
        still_page.keyboard.press(key)
        still_page.locator(f".rl-morph svg[data-at='{at}']").wait_for()
    assert place(still_page, MIDDLE) == before


def test_playing_goes_through_all_stops_and_rests_where_it_is_stopped(moving_page) -> None:
    by_hand(moving_page)
    play = moving_page.locator(".rl-morph .rl-play")
    assert play.inner_text() == "▶ run"
    play.click()
    moving_page.evaluate("() => { for (let n = 0; n < 20; n++) oneFrame(20); }")
    play.click()
    rests = float(moving_page.locator(".rl-morph svg").get_attribute("data-at"))
    assert 0 < rests < 1 and play.inner_text() == "▶ run"
    play.click()
    moving_page.evaluate(
        """async () => { for (let n = 0; n < 400; n++) {
            oneFrame(20); await new Promise(then => setTimeout(then)); } }"""
    )
    moving_page.locator(".rl-morph svg[data-at='3']").wait_for()
    assert play.inner_text() == "↺ again"


def test_pointing_at_a_point_says_its_sentence(still_page) -> None:
    stop(still_page, "the roofline")
    still_page.locator(BIG).hover()
    say = still_page.locator(".rl-morph .say")
    expect(say).to_contain_text("GEMM 1024×1024×1024 in fp32, cold: 2.15 GFLOP over")
    still_page.mouse.move(2, 2)
    expect(say).to_contain_text("Each step is now a factor of ten")
    mark = still_page.locator(SMALL)
    mark.focus()
    expect(say).to_have_text(mark.get_attribute("aria-label"))
