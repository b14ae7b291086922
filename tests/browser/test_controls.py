"""Sliders and buttons of all pictures: one grid, one row for each, rings that fit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.tab import resize, stand
from tests.browser.test_axe import CELLS
from tests.browser.test_guess import click_axis, confirm

pytestmark = pytest.mark.browser
WINDOW = (1366, 820)
# Of every bar with sliders: their names, tracks and values as [left, top, right, bottom].
GRIDS = """() => [...document.querySelectorAll('.rl-sliders')]
    .filter(bar => bar.querySelector('.rl-slider') && bar.getClientRects().length)
    .map(bar => [...bar.querySelectorAll('.rl-slider')].map(slider => [...slider.children]
        .map(node => { const b = node.getBoundingClientRect();
            return [b.left, b.top, b.right, b.bottom].map(Math.round); })))"""
SLIDERS = ".rl-sliders input[type=range]"
OUTLINE = "node => getComputedStyle(node).outlineStyle"


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("every picture", *CELLS)


def settled(page) -> None:
    page.locator(".rl-guess .rl-grip[tabindex]").wait_for()


def ends(grids: list) -> list[list]:
    """Left and right ends of all tracks."""
    return [[track[::2] for _, track, _ in grid] for grid in grids]


@pytest.mark.parametrize("width", [390, 1366])
def test_the_sliders_of_all_pictures_stand_in_one_grid(opened, width: int) -> None:
    resize(opened, (width, 820))
    assert len(sliders_stand_in_one_grid(opened)) >= 5


def sliders_stand_in_one_grid(opened) -> list[list]:
    """Names, tracks and values of each picture's sliders, which are one below the other."""
    opened.evaluate("for (const one of document.querySelectorAll('.rl-more')) one.open = true")
    first = opened.evaluate(GRIDS)
    for grid in first:
        wide = max(value[2] for *_, value in grid) - grid[0][0][0]
        columns = {(track[0], value[2]) for _, track, value in grid}
        assert len(columns) <= (2 if wide >= 800 else 1), "one edge of tracks, one of values"
        lengths = [track[2] - track[0] for _, track, _ in grid]
        assert max(lengths) - min(lengths) <= 1 and min(lengths) >= 110, grid
        for name, track, value in grid:
            assert value[1] < track[3] and track[1] < value[3], "beside its track"
            assert track[2] <= value[0] and value[3] - value[1] < 32, "in one line"
            above = name[3] <= track[1] + 8
            assert above or name[2] <= track[0], "a name beside its track, or above it"
    for end in ("max", "min"):
        for slider in opened.locator(SLIDERS).locator("visible=true").all():
            slider.fill(slider.get_attribute(end))
        now = opened.evaluate(GRIDS)
        assert ends(now) == ends(first), "no value makes a track shorter"
    opened.evaluate("for (const one of document.querySelectorAll('.rl-more')) one.open = false")
    return first


# Of all pictures: what moves without a name, a value or the keys of its own in a notebook.
NAMELESS = """() => [...document.querySelectorAll(
    '.rl-pic :is(input[type=range], [role=slider])')].filter(one =>
        !one.ariaLabel || !one.ariaValueText && one.ariaDisabled !== 'true'
        || one.dataset.lmSuppressShortcuts !== 'true').map(one => one.outerHTML)"""


def test_everything_that_moves_has_a_name_its_keys_and_a_sentence_that_is_spoken(opened) -> None:
    assert opened.evaluate(NAMELESS) == []
    for slider in opened.locator(SLIDERS).locator("visible=true").all():
        before = slider.get_attribute("aria-valuetext")
        slider.press("End")
        slider.press("ArrowLeft")
        assert slider.get_attribute("aria-valuetext") != before or slider.evaluate(
            "one => one.max - one.min < 2"
        )
    for scene in opened.locator(".rl-scene").all():
        said, spoken = scene.locator(".say").first, scene.locator("[aria-live]").first
        expect(spoken).to_have_text(said.text_content())


def test_a_click_on_the_axis_leaves_no_frame_and_the_keyboard_one(opened) -> None:
    click_axis(opened, 0.5)
    axis = opened.locator(".rl-guess .rl-grip[tabindex]")
    assert axis.evaluate("node => node === document.activeElement")
    assert axis.evaluate(OUTLINE) == "none"
    opened.keyboard.press("ArrowRight")
    assert axis.evaluate(OUTLINE) == "solid"


def test_the_ring_of_a_slider_is_around_what_is_moved(opened) -> None:
    slider = opened.locator(".rl-lunch input[type=range]")
    slider.scroll_into_view_if_needed()
    slider.press("Home")
    area = slider.bounding_box()
    thumb = {**area, "x": area["x"] - 8, "width": 60}
    track = {**area, "x": area["x"] + 60, "width": area["width"] - 40}
    opened.evaluate("document.activeElement.blur()")
    before = [opened.screenshot(clip=part) for part in (thumb, track)]
    slider.press("Home")
    assert slider.evaluate(OUTLINE) == "none"
    after = [opened.screenshot(clip=part) for part in (thumb, track)]
    assert after[0] != before[0], "a ring around the thumb"
    assert after[1] == before[1], "numbers beside it are not struck through"


def test_hidden_buttons_take_no_room(opened) -> None:
    left = "one => one.getBoundingClientRect().left"
    stand(opened, ".rl-guess *, .rl-sort *")
    click_axis(opened, 0.5)
    confirm(opened)
    for picture, words in ((".rl-guess", "guess again"), (".rl-sort", "skip")):
        button = opened.locator(f"{picture} .rl-sliders button", has_text=words)
        assert button.evaluate(left) == opened.locator(picture).evaluate(left), words
