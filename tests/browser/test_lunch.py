"""The free lunch in a browser: on a page from disk, where no kernel answers, and in Lab."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.front import wait_for_kernel
from tests.browser.tab import by_hand, frames

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
    "free_lunch(curve, names=True, after=axis)",
)
WAITING, NAMED, BOTH = (f".rl-lunch >> nth={place}" for place in range(3))


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("lunch", *CELLS)


def settled(page) -> None:
    for picture in (WAITING, NAMED, BOTH):
        page.locator(picture).locator("input[type=range]").wait_for(state="attached")
    for picture in (WAITING, BOTH):
        page.locator(picture).locator(".cover:not([hidden])").wait_for()


def bar(picture, name: str) -> float:
    return float(picture.locator(f"rect.{name}").get_attribute("width"))


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


def test_the_slider_moves_the_bars_and_the_sentence(still_page) -> None:
    picture = still_page.locator(NAMED)
    assert said(picture).startswith("1 multiply-add: carrying 4.0 ms, computing 0.20 ms → 4.0 ms.")
    carry, compute = bar(picture, "carrying"), bar(picture, "computing")
    slide(still_page, picture, *["ArrowRight"] * 8)
    assert said(picture).startswith("9 multiply-adds: carrying 4.0 ms, computing 1.8 ms → 4.0 ms.")
    assert bar(picture, "carrying") == carry
    assert bar(picture, "computing") == pytest.approx(9 * compute, rel=0.03)
    slide(still_page, picture, "End")
    assert said(picture).startswith("257 multiply-adds: carrying 4.0 ms, computing 51 ms → 51 ms.")
    assert bar(picture, "computing") > bar(picture, "carrying") == carry


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


def test_what_can_be_pulled_looks_like_it(still_page) -> None:
    cursor = "node => getComputedStyle(node).cursor"
    area = still_page.locator(NAMED).locator(".rl-grip")
    assert area.evaluate(cursor) == "grab"
    area.hover()
    still_page.mouse.down()
    assert area.evaluate(cursor) == "grabbing"
    still_page.mouse.up()
    assert still_page.locator(NAMED).locator("input").evaluate(cursor) == "grab"


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


def test_the_toggle_redraws_the_same_points_as_work_per_second(still_page) -> None:
    picture = still_page.locator(NAMED)
    dots = picture.locator(".dot.measured")
    assert dots.count() == 10

    def heights() -> list[float]:
        return [spot(dot)[1] for dot in dots.all()]

    flat_then_rising = heights()
    assert max(flat_then_rising[:6]) - min(flat_then_rising[:6]) < 1
    assert flat_then_rising[-1] < flat_then_rising[5] - 50
    rate = picture.get_by_role("button", name="work per second")
    rate.click()
    picture.locator("svg[data-view='1']").wait_for()
    rising_then_flat = heights()
    assert rising_then_flat[5] < rising_then_flat[0] - 50
    assert max(rising_then_flat[6:]) - min(rising_then_flat[6:]) < 1
    assert "GFLOP/s" in said(picture)
    assert rate.get_attribute("aria-pressed") == "true"
    picture.get_by_role("button", name="time").click()
    assert heights() == flat_then_rising


def test_the_dots_travel_unless_the_reader_asked_for_stillness(moving_page) -> None:
    by_hand(moving_page)
    moving_page.locator(NAMED).get_by_role("button", name="work per second").click()
    first = "document.querySelectorAll('.rl-lunch')[1].querySelector('.measured')"
    seen = f"() => -{first}.getAttribute('transform').match(/ ([\\d.]+)/)[1]"
    steps = frames(moving_page, seen, 60)
    assert len(set(steps)) > 12
    assert steps == sorted(steps) or steps == sorted(steps, reverse=True)


def test_names_appear_only_after_the_reveal(still_page) -> None:
    named, before = still_page.locator(NAMED), still_page.locator(WAITING)
    labels = named.locator("text.label")
    assert labels.all_text_contents() == ["bandwidth 33.6 GB/s", "peak 168 GFLOP/s"]
    assert "5 FLOP/byte" in named.locator(".ridge-says").text_content()
    names = named.get_by_role("button", name="names")
    names.click()
    assert labels.all_text_contents() == ["carrying", "computing"]
    assert not named.locator(".ridge-says").is_visible()
    assert names.get_attribute("aria-pressed") == "false"
    assert before.get_by_role("button", name="names").count() == 0
    assert "bandwidth" not in before.inner_text()


def test_the_picture_stays_covered_until_the_guess_above_is_placed(still_page) -> None:
    picture = still_page.locator(WAITING)
    for hidden in (".measured", ".bar", "input", ".mine", "button"):
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


def test_names_do_not_lift_the_cover(still_page) -> None:
    picture = still_page.locator(BOTH)
    for hidden in (".measured", ".bar", "button", ".ridge-says", "text.label", ".origin"):
        assert not picture.locator(hidden).first.is_visible(), hidden
    assert "ms" not in picture.inner_text()
    still_page.get_by_role("button", name="skip: show me").click()
    picture.locator(".measured").first.wait_for(state="visible")
    assert picture.locator("text.label").first.text_content() == "bandwidth 33.6 GB/s"


def test_a_screen_reader_hears_the_sentence_and_knows_the_slider(still_page) -> None:
    picture = still_page.locator(NAMED)
    slider = picture.get_by_role("slider", name="multiply-adds on each number")
    assert slider.get_attribute("aria-valuetext") == "1 multiply-add"
    slide(still_page, picture, "ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "2 multiply-adds")
    picture.locator("[aria-live]", has_text="2 multiply-adds:").wait_for(state="attached")


@pytest.mark.parametrize("front", ["lab", "notebook"])
def test_with_a_kernel_the_guess_uncovers_the_next_cell_and_reaches_python(
    open_notebook: Callable[..., object], front: str
) -> None:
    """Arrow keys, Enter and the slider where Lab and Notebook 7 have shortcuts for them, too."""
    page = open_notebook(front, f"lunch-{front}.ipynb", CELLS[0], f"lunch = {CELLS[1]}\nlunch")
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
