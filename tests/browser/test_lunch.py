"""The free lunch in a browser: on a page from disk, where no kernel answers, and in Notebook 7."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.browser.front import wait_for_kernel

pytestmark = pytest.mark.browser
WINDOW = (900, 1700)

CELLS = (
    """from rooflab.measure.free_lunch import FreeLunch
from rooflab.show.guess_axis import guess
from rooflab.show.free_lunch_picture import free_lunch
k = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
curve = FreeLunch(k, tuple(max(4e-3, 2e-4 * v) for v in k), (0.0,) * 10, 1 << 24, 4, 1)
axis = guess("seventeen", "How long do seventeen take?", result=4.0, unit="ms", low=1, high=200)
axis""",
    "free_lunch(curve, after=axis, guess_k=17, start=17)",
    "free_lunch(curve, names=True)",
)
WAITING, NAMED = (f".rl-lunch >> nth={place}" for place in range(2))


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("lunch", *CELLS)


def settled(page) -> None:
    for picture in (WAITING, NAMED):
        page.locator(picture).locator("input[type=range]").wait_for(state="attached")
    page.locator(WAITING).locator(".cover:not([hidden])").wait_for()


def slide(page, picture, *keys: str) -> None:
    """Press keys on the slider; the picture has followed when this returns."""
    handle = picture.locator("input[type=range]")
    handle.focus()
    for key in keys:
        page.keyboard.press(key)
    picture.locator(f"svg[data-i='{handle.get_attribute('aria-valuenow')}']").wait_for()


def said(picture) -> str:
    return picture.locator(".say").inner_text()


def k_of(picture) -> str:
    return picture.locator("text.at").text_content()


def spot(locator) -> list[float]:
    """Where a marker stands on its sheet."""
    return [float(v) for v in re.findall(r"[\d.]+", locator.get_attribute("transform"))]


def test_dragging_in_the_plot_moves_slider_and_marker(still_page) -> None:
    picture = still_page.locator(NAMED)
    picture.locator(".stage svg").scroll_into_view_if_needed()
    box = picture.locator(".stage svg").bounding_box()
    still_page.mouse.move(box["x"] + 200, box["y"] + 100)
    still_page.mouse.down()
    still_page.mouse.move(box["x"] + 500, box["y"] + 100)
    still_page.mouse.up()
    assert spot(picture.locator(".now"))[0] == pytest.approx(500 * 720 / box["width"], abs=8)
    assert 10 < int(k_of(picture)) < 80


def test_a_finger_pulls_it_too(tab, address: str) -> None:
    with tab.silent(address, WINDOW, motion="reduce") as page:
        settled(page)
        picture = page.locator(NAMED)
        area = picture.locator(".rl-grip")
        assert area.evaluate("node => getComputedStyle(node).touchAction") == "pan-y"
        box = area.bounding_box()
        middle = {"clientX": box["x"] + box["width"] / 2, "clientY": box["y"] + 50}
        touch = {"pointerId": 1, "pointerType": "touch", "isPrimary": True, "buttons": 1, **middle}
        area.evaluate("node => { node.setPointerCapture = () => {}; }")
        area.dispatch_event("pointerdown", touch)
        assert 8 < int(k_of(picture)) < 32


def test_the_thumb_stands_under_its_dot_and_follows_the_mouse(still_page) -> None:
    picture = still_page.locator(NAMED)
    slider, sheet = picture.locator("input"), picture.locator(".stage svg")

    def thumb() -> float:
        """Where the middle of the thumb is: half of its 24 pixels stand out at both ends."""
        box = slider.bounding_box()
        share = slider.evaluate("node => (node.value - node.min) / (node.max - node.min)")
        return box["x"] + 12 + share * (box["width"] - 24)

    for key in ("Home", *["ArrowRight"] * 4, *["PageUp"] * 3, "End"):
        slide(still_page, picture, key)
        scale = sheet.bounding_box()["width"] / 720
        ring = sheet.bounding_box()["x"] + scale * spot(picture.locator(".now"))[0]
        assert abs(thumb() - ring) < 1.5, key
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    still_page.mouse.move(box["x"] + 12 + (box["width"] - 24) * 0.25, y)
    still_page.mouse.down()
    assert k_of(picture) == "4"  # the root of the root of 257
    still_page.mouse.move(box["x"] + box["width"] * 0.5, y)
    still_page.mouse.up()
    assert k_of(picture) == "16"


def test_the_picture_stays_covered_until_the_guess_above_is_placed(still_page) -> None:
    picture = still_page.locator(WAITING)
    for hidden in (".measured", ".bar", "input", ".mine", "button:not(.rl-lead)"):
        assert not picture.locator(hidden).first.is_visible(), hidden
    assert "ms" not in picture.inner_text()
    place_guess(still_page)
    picture.locator(".measured").first.wait_for(state="visible")
    assert said(picture).startswith("17 multiply-adds: carrying 4.0 ms, computing 3.4 ms")
    assert picture.locator("text.mine-says").text_content().startswith("your guess: 34 ms")
    mine, dot = spot(picture.locator(".dot.mine"))[1], spot(picture.locator(".measured").nth(5))[1]
    assert mine < dot - 50, "34 ms hangs far above the flat line"


def place_guess(page) -> None:
    """With the keyboard, some way right of the middle."""
    page.locator(".rl-guess [role=slider]").first.focus()
    for key in ("ArrowRight", "PageUp", "PageUp", "Enter"):
        page.keyboard.press(key)


def test_with_a_kernel_the_guess_uncovers_the_next_cell_and_reaches_python(open_notebook) -> None:
    """Arrow keys, Enter and the slider where Notebook 7 has shortcuts for them, too."""
    page = open_notebook("notebook", "lunch.ipynb", CELLS[0], f"lunch = {CELLS[1]}\nlunch")
    picture = page.locator(".rl-lunch")
    picture.locator(".cover:not([hidden])").wait_for()
    place_guess(page)
    picture.locator(".measured").first.wait_for(state="visible")
    slide(page, picture, "ArrowRight", "ArrowRight")
    assert said(picture).startswith("19 multiply-adds:")
    picture.get_by_role("button", name="work per second").focus()
    page.keyboard.press("Enter")
    picture.locator("svg[data-view='1']").wait_for()
    wait_for_kernel(page, "(axis.covered, lunch.covered, lunch.view)", "(False, False, 'rate')")
    wait_for_kernel(page, "lunch.sentence.split(' ')[0]", "'19'")
