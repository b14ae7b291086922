"""The free lunch in a browser: on a page from disk, where no kernel answers, and in Lab."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.front import hold_hand, wait_for_kernel
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
        handle = page.locator(picture).locator(".noUi-handle[data-lm-suppress-shortcuts]")
        handle.wait_for(state="attached")
    for picture in (WAITING, BOTH):
        page.locator(picture).locator(".cover:not([hidden])").wait_for()


def bar(picture, name: str) -> float:
    return float(picture.locator(f"rect.{name}").get_attribute("width"))


def slide(page, picture, *keys: str) -> None:
    """Press keys on the slider's handle; the picture has followed when this returns."""
    handle = picture.locator(".noUi-handle")
    handle.focus()
    for key in keys:
        page.keyboard.press(key)
    at = str(int(float(handle.get_attribute("aria-valuenow"))))
    picture.locator(f"svg[data-i='{at}']").wait_for()


def said(picture) -> str:
    return picture.locator(".say").inner_text()


def test_the_slider_moves_the_bars_and_the_sentence(still_page) -> None:
    picture = still_page.locator(NAMED)
    assert said(picture).startswith("1 multiply-add: carrying 4.0 ms, computing 0.20 ms → 4.0 ms.")
    carry, compute = bar(picture, "carry"), bar(picture, "compute")
    slide(still_page, picture, *["ArrowRight"] * 8)
    assert said(picture).startswith("9 multiply-adds: carrying 4.0 ms, computing 1.8 ms → 4.0 ms.")
    assert bar(picture, "carry") == carry
    assert bar(picture, "compute") == pytest.approx(9 * compute, rel=0.03)
    slide(still_page, picture, "End")
    assert said(picture).startswith("257 multiply-adds: carrying 4.0 ms, computing 51 ms → 51 ms.")
    assert bar(picture, "compute") > bar(picture, "carry") == carry


def test_the_longer_bar_is_the_bold_one(still_page) -> None:
    picture = still_page.locator(NAMED)
    assert "short" in picture.locator("rect.compute").get_attribute("class")
    slide(still_page, picture, "End")
    assert "short" in picture.locator("rect.carry").get_attribute("class")
    assert "short" not in picture.locator("rect.compute").get_attribute("class")


def test_dragging_in_the_plot_moves_slider_and_marker(still_page) -> None:
    picture = still_page.locator(NAMED)
    picture.locator(".stage svg").scroll_into_view_if_needed()
    box = picture.locator(".stage svg").bounding_box()
    still_page.mouse.move(box["x"] + 200, box["y"] + 100)
    still_page.mouse.down()
    still_page.mouse.move(box["x"] + 500, box["y"] + 100)
    still_page.mouse.up()
    x = picture.locator(".now")
    still_page.wait_for_function(
        "([dot, x]) => Math.abs(dot.getAttribute('cx') - x) < 8",
        arg=[x.element_handle(), 500 * 720 / box["width"]],
    )
    k = picture.locator(".stage svg").get_attribute("data-k")
    assert 20 < int(k) < 80
    assert picture.locator(".stage .at").text_content() == k


def test_the_handle_says_that_it_can_be_grabbed(still_page) -> None:
    cursor = "node => getComputedStyle(node).cursor"
    track = still_page.locator(NAMED).locator(".slider-container")
    assert track.evaluate(cursor) == "grab"
    track.hover()
    still_page.mouse.down()
    assert track.evaluate(cursor) == "grabbing"
    still_page.mouse.up()


def middle(locator) -> float:
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2


def test_the_handle_stands_under_its_dot_and_follows_the_mouse(still_page) -> None:
    picture = still_page.locator(NAMED)
    handle, now = picture.locator(".noUi-handle"), picture.locator(".now")
    for key in ("Home", *["ArrowRight"] * 4, *["PageUp"] * 3, "End"):
        slide(still_page, picture, key)
        assert abs(middle(handle) - middle(now)) < 1.5, key
    box = picture.locator(".slider-container").bounding_box()
    y = box["y"] + box["height"] / 2
    still_page.mouse.move(box["x"] + box["width"] * 0.25, y)
    still_page.mouse.down()
    k = picture.locator(".stage svg")
    expect(k).to_have_attribute("data-k", "4")  # the root of the root of 257
    still_page.mouse.move(box["x"] + box["width"] * 0.5, y)
    still_page.mouse.up()
    expect(k).to_have_attribute("data-k", "16")
    assert abs(middle(handle) - middle(now)) < 1.5


def test_a_bar_that_goes_on_is_cut_and_tells_its_length(still_page) -> None:
    picture = still_page.locator(NAMED)
    slide(still_page, picture, "End")
    assert picture.locator(".cut").get_attribute("d").count("M") == 2, "one bar, two slanted lines"
    assert picture.locator(".bars text.value").nth(1).text_content() == "51 ms →"


def test_the_legend_says_what_dots_and_line_are(still_page) -> None:
    picture = still_page.locator(NAMED)
    assert picture.locator(".dots .dot").count() == 10
    assert "dots: measured" in picture.locator(".key").inner_text()
    assert "line: the longer of the two" in picture.locator(".key").inner_text()
    picture.locator("[data-view=rate]").click()
    assert "line: the lower of the two" in picture.locator(".key").inner_text()


def test_the_toggle_redraws_the_same_points_as_work_per_second(still_page) -> None:
    picture = still_page.locator(NAMED)

    def heights() -> list[float]:
        return [float(d.get_attribute("cy")) for d in picture.locator(".dots .dot").all()]

    flat_then_rising = heights()
    assert max(flat_then_rising[:6]) - min(flat_then_rising[:6]) < 1
    assert flat_then_rising[-1] < flat_then_rising[5] - 50
    picture.locator("[data-view=rate]").click()
    picture.locator("svg[data-morph='1']").wait_for()
    rising_then_flat = heights()
    assert rising_then_flat[5] < rising_then_flat[0] - 50
    assert max(rising_then_flat[6:]) - min(rising_then_flat[6:]) < 1
    assert "GFLOP/s" in said(picture)
    assert picture.locator("[data-view=rate]").get_attribute("aria-pressed") == "true"
    picture.locator("[data-view=time]").click()
    picture.locator("svg[data-morph='0']").wait_for()
    assert heights() == flat_then_rising


def test_the_dots_travel_unless_the_reader_asked_for_stillness(moving_page) -> None:
    by_hand(moving_page)
    moving_page.locator(NAMED).locator("[data-view=rate]").click()
    seen = "() => +document.querySelectorAll('.rl-lunch .stage svg')[1].dataset.morph"
    steps = frames(moving_page, seen, 30)
    assert len(set(steps)) > 20 and steps == sorted(steps) and steps[-1] == 1


def test_names_appear_only_after_the_reveal(still_page) -> None:
    named, before = still_page.locator(NAMED), still_page.locator(WAITING)
    labels = named.locator(".stage text.carry, .stage text.compute")
    assert labels.all_text_contents() == ["bandwidth 33.6 GB/s", "peak 168 GFLOP/s"]
    assert "20 multiply-adds = 5 FLOP/byte" in named.locator(".ridge-says").text_content()
    named.locator(".naming").click()
    assert labels.all_text_contents() == ["carrying", "computing"]
    assert not named.locator(".ridge-says").is_visible()
    assert not before.locator(".naming").is_visible()
    assert "bandwidth" not in before.inner_text()


def test_the_picture_stays_covered_until_the_guess_above_is_placed(still_page) -> None:
    picture = still_page.locator(WAITING)
    for hidden in (".dots", ".bars", ".noUi-handle", "[data-view=rate]", ".guessed"):
        assert not picture.locator(hidden).first.is_visible(), hidden
    assert "ms" not in said(picture)
    axis = still_page.locator(".rl-guess .axis svg")
    axis.focus()
    for key in ("ArrowRight", "PageUp", "PageUp", "Enter"):
        still_page.keyboard.press(key)
    picture.locator(".dots").wait_for(state="visible")
    picture.locator(".noUi-handle").wait_for(state="visible")
    assert said(picture).startswith("17 multiply-adds: carrying 4.0 ms, computing 3.4 ms")
    assert picture.locator(".guessed text").text_content().startswith("your guess: 34 ms")
    mine = float(picture.locator(".mine").get_attribute("cy"))
    dot = float(picture.locator(".dots .dot").nth(5).get_attribute("cy"))
    assert mine < dot - 50, "34 ms hangs far above the flat line"


def test_names_do_not_lift_the_cover(still_page) -> None:
    picture = still_page.locator(BOTH)
    for hidden in (".dots", ".bars", ".naming", ".ridge-says", ".stage text.carry", ".key"):
        assert not picture.locator(hidden).first.is_visible(), hidden
    assert "ms" not in said(picture)
    still_page.get_by_role("button", name="skip: show me").click()
    picture.locator(".dots").wait_for(state="visible")
    assert picture.locator(".stage text.carry").text_content() == "bandwidth 33.6 GB/s"


def test_a_screen_reader_hears_the_sentence_and_knows_the_handle(still_page) -> None:
    picture = still_page.locator(NAMED)
    handle = picture.locator(".noUi-handle")
    assert handle.get_attribute("aria-label") == "multiply-adds on each number"
    assert handle.get_attribute("aria-valuetext") == "1 multiply-add"
    slide(still_page, picture, "ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", "2 multiply-adds")
    picture.locator("[aria-live]", has_text="2 multiply-adds:").wait_for(state="attached")


@pytest.mark.parametrize("front", ["lab", "notebook"])
def test_with_a_kernel_the_guess_uncovers_the_next_cell_and_reaches_python(
    open_notebook: Callable[..., object], front: str
) -> None:
    """Arrow keys, Enter and the slider where Lab and Notebook 7 have shortcuts for them, too."""
    page = open_notebook(front, f"lunch-{front}.ipynb", *CELLS[:2])
    picture = page.locator(".rl-lunch")
    picture.locator(".cover:not([hidden])").wait_for()
    axis = page.locator(".rl-guess .axis svg")
    axis.focus()
    for key in ("ArrowRight", "PageUp", "Enter"):
        page.keyboard.press(key)
    picture.locator(".dots").wait_for(state="visible")
    hold_hand(page)
    slide(page, picture, "ArrowRight", "ArrowRight")
    assert said(picture).startswith("19 multiply-adds:")
    picture.locator("[data-view=rate]").focus()
    page.keyboard.press("Enter")
    picture.locator("svg[data-morph='1']").wait_for()
    page.evaluate("rest()")
    wait_for_kernel(page, "(axis.value, axis.covered)", "(21.99, False)")
