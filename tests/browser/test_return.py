"""Come back tomorrow: a notebook that was saved, its kernel ended, opened again and not run yet."""

from __future__ import annotations

from collections.abc import Callable

import nbformat
import pytest

from rooflab.jupyter_save import STATE
from tests.browser.conftest import BOUND, PICTURES, press, ready, x_of
from tests.browser.front import RUN_ALL, Front
from tests.browser.server import Server
from tests.browser.test_guess import click_axis, confirm
from tests.browser.test_lunch import CELLS
from tests.browser.test_sort import CELL as CARDS

pytestmark = pytest.mark.browser
LOST = ".jp-OutputArea :text('Error displaying widget'), .jp-OutputArea :text('model not found')"
HAS_RUN = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
    .every(prompt => /[0-9]/.test(prompt.textContent))"""
ICON = """() => [...document.querySelectorAll('.jupyter-widgets-disconnected')]
    .map(node => getComputedStyle(node, '::before').display).filter(shown => shown !== 'none')"""


def move(page, picture: str) -> None:
    """One step of the picture's slider; returns when its marker has followed."""
    svg = page.locator(f"{picture} .stage svg").first
    before = svg.get_attribute("data-i")
    page.locator(f"{picture} input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "([one, before]) => document.querySelector(one).dataset.i !== before",
        arg=[f"{picture} .stage svg", before],
    )


@pytest.mark.parametrize("front", ["lab", pytest.param("notebook", marks=pytest.mark.slow)])
def test_a_saved_notebook_shows_its_pictures_again_and_they_move(
    open_notebook, fronts, front
) -> None:
    name = f"back-{front}.ipynb"
    asked, picture = CELLS[:2]
    unasked = 'guess("later", "And later?", result=4.0, unit="ms", low=1, high=200)'
    roofline = f"import rooflab as rl\n{PICTURES['roofline']}"
    page = open_notebook(front, name, asked, picture, unasked, roofline)
    page.locator(".rl-guess .rl-grip[tabindex]").nth(1).wait_for()
    page.locator(".rl-guess .skip").first.click()
    page.locator(".rl-lunch input[type=range]").wait_for()
    ready(page)
    page = fronts[front].open_again(name)
    page.locator(".rl-lunch input[type=range]").wait_for()
    assert page.locator(LOST).count() == 0
    assert page.locator(".rl-guess.done").first.inner_text().startswith("How long do seventeen")
    move(page, ".rl-lunch")
    ready(page)
    before = x_of(page, BOUND.format("gemm"))
    press(page, 0, "PageUp")
    assert x_of(page, BOUND.format("gemm")) > before, "the live roofline moves, too"
    assert page.locator(".jupyter-widgets-disconnected").count() > 0, "no kernel answers them"
    assert page.evaluate(ICON) == [], "a broken chain stands in a picture"


def test_a_guess_in_a_notebook_that_was_not_run_says_what_to_do(open_notebook, fronts) -> None:
    page = open_notebook("notebook", "unasked.ipynb", CELLS[0])
    page.locator(".rl-guess .rl-grip[tabindex]").wait_for()
    page = fronts["notebook"].open_again("unasked.ipynb")
    page.locator(".rl-guess .rl-grip[tabindex]").wait_for()
    click_axis(page, 0.5)
    assert "Run the cells from the top first" in page.locator(".rl-guess .say").inner_text()
    page.locator(".rl-guess .skip").click()
    assert page.locator(".rl-guess.done").count() == 0
    assert page.locator(".rl-guess .mine-is").is_disabled()
    page.evaluate(RUN_ALL)
    page.wait_for_function("!document.querySelector('.jupyter-widgets-disconnected')")
    page.locator(".rl-guess .rl-grip[tabindex]").wait_for()
    click_axis(page, 0.5)
    confirm(page)
    assert page.locator(".rl-guess .say").inner_text().startswith("You guessed 14 ms")


def test_cards_in_a_notebook_that_was_not_run_say_what_to_do(open_notebook, fronts) -> None:
    page = open_notebook("lab", "cards.ipynb", CARDS)
    page.locator(".rl-sort svg[tabindex]").wait_for()
    page = fronts["lab"].open_again("cards.ipynb")
    page.locator(".rl-sort .title").click()
    page.keyboard.press("1")
    page.get_by_role("button", name="skip: show me").click()
    assert "Run the cells from the top first" in page.locator(".rl-sort .say").inner_text()
    assert page.locator(".rl-sort:not(.done) svg[data-sorted='0']").count() == 1


def test_a_cell_that_is_run_again_leaves_no_picture_behind_in_the_file(
    open_notebook: Callable[..., object], fronts: dict[str, Front], jupyter: Server
) -> None:
    page = open_notebook("lab", "again.ipynb", *CELLS[:2])
    sizes, file = [], jupyter.folder / "again.ipynb"
    for _ in range(2):
        page.wait_for_function(HAS_RUN)
        page.locator(".rl-lunch input[type=range]").wait_for(state="attached")
        page = fronts["lab"].open_again("again.ipynb")
        sizes.append(file.stat().st_size)
        page.evaluate(RUN_ALL)
        page.wait_for_function("!document.querySelector('.jupyter-widgets-disconnected')")
    assert max(sizes) < 1.05 * min(sizes), sizes
    state = nbformat.read(file, as_version=4).metadata.widgets[STATE]["state"]
    assert [one["model_name"] for one in state.values()].count("AnyModel") == 2
