"""Scenes in a browser: dimensions that follow from others, shared tables, rows of buttons."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.tab import resize

pytestmark = pytest.mark.browser
WINDOW = (1280, 1000)
CELL = """import numpy as np
from rooflab.show.scene.player import Player
from rooflab.show.scene import By, Dim, Fill, Scene
def sheet(wide):
    same = Dim("same", ["no", "yes"], of=By("a b", [[1, 0], [0, 1]]))
    scene = Scene(wide, 100, [Dim("a", ["off", "on"], glide=200), Dim("b", ["off", "on"]), same])
    end = By("same", [wide / 2, wide - 10])
    scene.rect(0, 0, end, 20, name="bar")
    scene.line([(end, 20), (end, 60)], name="link")
    scene.text(10, 90, By("same", ["apart", "alike"]), name="word")
    words = By("same", ["They differ.", "Both are {a}."])
    scene.says = Fill(words, a=By("a", ["off", "on"]))
    scene.switch("a", "first")
    for n, name in enumerate(("off", "on")):
        scene.button(name, {"b": n}, shown=By("a", [1, 0]))
    return scene
Player(sheet(720), sheet(400), stem="follower", kind="rl-follower")"""


@pytest.fixture(scope="module")
def address(static_page) -> str:
    return static_page("following", CELL)


def settled(page) -> None:
    page.locator(".rl-follower .word").wait_for()


def test_what_follows_is_looked_up_again(moving_page) -> None:
    bar, link, say = (
        moving_page.locator(f".rl-follower .{name}") for name in ("bar", "link", "say")
    )
    expect(say).to_have_text("Both are off.")
    expect(bar).to_have_attribute("width", "710")
    moving_page.get_by_role("button", name="first").click()
    expect(say).to_have_text("They differ.")
    expect(bar).to_have_attribute("width", "360")  # where the glide ends
    expect(link).to_have_attribute("d", "M360.00 20.00 L360.00 60.00")
    expect(moving_page.locator(".rl-follower .word")).to_have_text("apart")


def test_the_second_sheet_reads_the_words_of_the_first(moving_page) -> None:
    resize(moving_page, (430, 800))
    expect(moving_page.locator(".rl-follower svg")).to_have_attribute("viewBox", "0 0 400 100")
    expect(moving_page.locator(".rl-follower .word")).to_have_text("alike")
    expect(moving_page.locator(".rl-follower .bar")).to_have_attribute("width", "390")
