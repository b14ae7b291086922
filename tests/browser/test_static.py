"""A static page: what it shows is what Lab shows, and what it can do without a kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.front import hold_hand
from tests.browser.tab import Tab
from tests.browser.test_axe import CELLS
from tests.browser.test_cover import CELLS as COVERED
from tests.browser.test_guess import click_axis, confirm

pytestmark = pytest.mark.browser
WINDOW = (1500, 1000)
WALK = Path(__file__).with_name("walk.js").read_text("utf-8")
OUTPUTS = ".jp-OutputArea-output:has(svg, .rl-pic)"
# All pictures are there, and have put their names on their sliders.
READY = f"""count => document.querySelectorAll('{OUTPUTS}').length === count
    && [...document.querySelectorAll('.noUi-handle')].every(one => one.ariaLabel)"""
SMALL = 'rl.live.box(64, 256, 64, machine="h100-sxm").box'


def walked(page) -> list[list[dict]]:
    """What each picture shows in every state that a hand brings it to."""
    page.wait_for_function(READY, arg=len(CELLS) - 1)
    return [one.evaluate(WALK) for one in page.locator(OUTPUTS).all()]


def test_it_shows_in_every_state_what_lab_shows(
    tab: Tab, static_page: Callable[..., str], open_notebook: Callable[..., object]
) -> None:
    with tab.silent(static_page("same", *CELLS[1:]), WINDOW, motion="reduce") as page:
        here = walked(page)
    page = open_notebook("lab", "same.ipynb", *CELLS[1:])
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": WINDOW[0], "height": WINDOW[1]})
    hold_hand(page)  # what the kernel answers would come while the next thing is moved
    there = walked(page)
    page.evaluate("letGo()")
    assert len(here) == len(there) >= 7
    assert sum(map(len, here)) > 100, "they were moved"
    for mine, labs in zip(here, there, strict=True):
        assert [one["what"] for one in mine] == [one["what"] for one in labs]
        for one, other in zip(mine, labs, strict=True):
            assert one == other, one["what"]


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    """A guess, a picture that waits for it, and far below a picture that does not."""
    room = "from IPython.display import HTML\nHTML('<div style=\"height: 3000px\"></div>')"
    return static_page("far", COVERED[0], room, COVERED[1], f"import rooflab as rl\n{SMALL}")


def test_a_picture_is_drawn_when_it_comes_near_and_waits_for_a_guess_far_above(
    tab: Tab, address: str
) -> None:
    with tab.silent(f"{address}#picture-2", WINDOW, motion="reduce", whole=False) as page:
        page.locator(".rl-waits .cover").wait_for()
        guess, live = page.locator(".rl-guess"), page.locator(".rl-live-roofline .stage svg")
        expect(guess).not_to_be_attached()
        page.evaluate("scrollTo(0, 0)")
        page.locator(".rl-guess .skip").wait_for()
        assert not live.is_visible()
        click_axis(page, 0.5)
        confirm(page)
        expect(live).to_be_visible()


def test_a_page_asks_for_nothing_outside_its_folder(tab: Tab, address: str) -> None:
    asked: list[str] = []
    with tab.silent(whole=False) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.evaluate("() => rooflabPage.all()")
        page.locator(".rl-scene [data-mark]").first.wait_for(state="attached")
    folder = address.rpartition("/")[0]
    assert len(asked) > 8 and asked[0].startswith("file:")
    assert [one for one in asked if not one.startswith((folder, "blob:", "data:"))] == []


def saved(page, ending: str, folder: Path) -> Path:
    """What the button below the only picture saves."""
    with page.expect_download() as found:
        page.get_by_role("button", name=f"save as {ending.upper()}").click()
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def test_a_picture_is_saved_as_it_is_shown(
    tab: Tab, static_page: Callable[..., str], tmp_path: Path
) -> None:
    address = static_page("saved", f"import rooflab as rl\n{SMALL}")
    with tab.silent(address, WINDOW, motion="reduce") as page:
        page.get_by_role("button", name="true shape").click()
        words = page.locator(".rl-scene svg text:visible").all_text_contents()
        sentence = page.locator(".rl-scene .say").inner_text()
        drawing, pixels = saved(page, "svg", tmp_path), saved(page, "png", tmp_path)
    assert drawing.name == "saved-picture-1.svg"
    file = ElementTree.parse(drawing).getroot()
    texts = [one.text for one in file.iter("{http://www.w3.org/2000/svg}text") if one.text]
    assert texts == [one for one in words if one] and len(texts) > 5
    assert file.find("{http://www.w3.org/2000/svg}desc").text == sentence
    text = drawing.read_text("utf-8")
    assert "var(" not in text and "class=" not in text, "a file has no styles but its own"
    with Image.open(pixels) as image:
        assert image.width == round(2 * float(file.get("width")))
        assert len(image.convert("RGB").getcolors(1 << 24)) > 20, "not an empty sheet"


def test_an_address_brings_back_what_was_shown(tab: Tab, static_page: Callable[..., str]) -> None:
    address = static_page("linked", f"import rooflab as rl\n{SMALL}")
    with tab.silent(address, WINDOW, motion="reduce") as page:
        page.get_by_role("button", name="true shape").click()
        page.evaluate("document.querySelector('.rl-scene').rooflab.set('j', 3)")  # as by a drag
        sentence = page.locator(".rl-scene .say").inner_text()
        page.get_by_role("button", name="copy a link to this").click()
        expect(page.locator(".rl-offer span")).to_contain_text("as it is")
        link = page.url
    assert re.search(r"#picture-1(&\w+=[^&]+){2,}$", link)
    with tab.silent(link, WINDOW, motion="reduce") as page:
        expect(page.locator(".rl-scene .say")).to_have_text(sentence)
        expect(page.get_by_role("button", name="true shape")).to_have_attribute(
            "aria-pressed", "true"
        )
    with tab.silent(address + "#picture-1&k=no&m=&nothing=1&scenes=0", WINDOW) as page:
        assert page.locator(".rl-scene .say").inner_text() != sentence
        assert page.locator(".rl-scene .say").inner_text().startswith("This product is a box of 64")


def test_no_address_holds_an_answer_or_uncovers_one(tab: Tab, address: str) -> None:
    uncovered = "#picture-1&covered=false&guess_at=3"
    with tab.silent(address + uncovered, WINDOW, motion="reduce") as page:
        page.locator(".rl-guess .skip").wait_for()
        assert page.locator(".rl-guess.done").count() == 0
        assert not page.locator("#picture-2 .rl-offer").is_visible(), "it is still covered"
        assert page.locator("#picture-1 .rl-offer").count() == 0, "an answer is nobody else's"
        click_axis(page, 0.5)
        confirm(page)
        page.locator("#picture-2").get_by_role("button", name="copy a link to this").click()
        expect(page.locator("#picture-2 .rl-offer span")).to_contain_text("as it is")
        assert page.url.endswith("#picture-2")
