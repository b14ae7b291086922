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
from tests.browser.test_axe import CELLS, violations_in_jupyter
from tests.browser.test_guess import QUESTION, click_axis, confirm

pytestmark = pytest.mark.browser
WINDOW = (1500, 1000)
WALK = Path(__file__).with_name("walk.js").read_text("utf-8")
OUTPUTS = ".jp-OutputArea-output:has(svg, .rl-pic)"
READY = f"count => document.querySelectorAll('{OUTPUTS}').length === count"
SMALL = 'rl.live.box(64, 256, 64, machine="h100-sxm")'


def walked(page) -> list[list[dict]]:
    """What each picture shows in every state that a hand brings it to."""
    page.wait_for_function(READY, arg=len(CELLS) - 1)
    return [one.evaluate(WALK) for one in page.locator(OUTPUTS).all()]


def test_it_shows_in_every_state_what_lab_shows(tab: Tab, static_page, open_notebook) -> None:
    """And axe-core finds nothing there."""
    with tab.silent(static_page("every picture", *CELLS), WINDOW, motion="reduce") as page:
        here = walked(page)
    page = open_notebook("lab", "same.ipynb", *CELLS[1:])
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": WINDOW[0], "height": WINDOW[1]})
    assert violations_in_jupyter(page) == []
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
    asked = QUESTION.replace("\nguess(", "\naxis = guess(") + "axis"
    waits = 'import rooflab as rl\nrl.live.roofline("h100-sxm", dtypes=("fp32",), after=axis)'
    return static_page("far", asked, room, waits, f"import rooflab as rl\n{SMALL}")


def test_a_picture_is_drawn_when_it_comes_near_and_waits_for_a_guess_far_above(
    tab: Tab, address: str
) -> None:
    with tab.silent(f"{address}#picture-2", WINDOW, motion="reduce", whole=False) as page:
        page.locator(".rl-live-roofline > .cover").first.wait_for()
        guess = page.locator(".rl-guess")
        live = page.locator(".rl-live-roofline .stage svg").first
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
    if not page.locator(".rl-offer[open]").count():
        page.locator(".rl-offer summary").click()
    with page.expect_download() as found:
        page.get_by_role("button", name=f"save as {ending.upper()}").click()
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def test_a_picture_is_saved_as_it_is_shown(tab: Tab, static_page, tmp_path: Path) -> None:
    address = static_page("saved", f"import rooflab as rl\n{SMALL}")
    with tab.silent(address, WINDOW, motion="reduce") as page:
        page.get_by_role("button", name="true shape").click()
        words = page.locator(".rl-scene svg text:visible").all_text_contents()
        sentence = page.locator(".rl-scene .say").inner_text()
        drawing, pixels = saved(page, "svg", tmp_path), saved(page, "png", tmp_path)
    assert drawing.name == "saved-picture-1.svg"
    file = ElementTree.parse(drawing).getroot()
    texts = [one.text for one in file.iter("{http://www.w3.org/2000/svg}text") if one.text]
    _title, *texts, _origin = texts
    assert texts == [one for one in words if one] and len(texts) > 5
    assert file.find("{http://www.w3.org/2000/svg}desc").text == sentence
    text = drawing.read_text("utf-8")
    assert "var(" not in text and "class=" not in text, "a file has no styles but its own"
    with Image.open(pixels) as image:
        assert image.width == round(2 * float(file.get("width")))
        assert len(image.convert("RGB").getcolors(1 << 24)) > 20, "not an empty sheet"


# Every word of a file: its text, and where it begins and ends, with the width of the sheet.
WRITTEN = """() => [document.documentElement.viewBox.baseVal.width,
    [...document.querySelectorAll('text')].filter(one => one.textContent).map(one => {
        const box = one.getBoundingClientRect();
        return [one.textContent, box.left, box.top, box.right]; })]"""


def lines(words: list[list], text: str) -> list[list]:
    """Those of a file's words, one after the other, that are the text together."""
    runs = (words[first:end] for end in range(len(words) + 1) for first in range(end))
    return next(run for run in runs if " ".join(one[0] for one in run) == text)


@pytest.mark.parametrize("width", [1366, 390])
def test_a_saved_picture_says_whose_it_is(tab: Tab, picture_page, tmp_path, width) -> None:
    with tab.silent(picture_page("both"), (width, 900), motion="reduce") as page:
        page.evaluate("document.querySelector('.rl-live-roofline').rooflab.set('memory', 0)")
        title, origin = (
            page.locator(f".rl-live-roofline .{kind}").locator("visible=true").inner_text()
            for kind in ("title", "origin")
        )
        drawing = saved(page, "svg", tmp_path)
    assert "H100" in title and "H100" in origin
    with tab.silent(drawing.as_uri()) as page:
        sheet, words = page.evaluate(WRITTEN)
    assert all(left >= 0 and right <= sheet for _, left, _, right in words), "nothing is cut off"
    assert any(text.endswith(" ×0.5, peak ×1") for text, *_ in words)
    assert "undo" not in [text for text, *_ in words], "nothing of a file can be pressed"
    of_title, of_origin = lines(words, title), lines(words, origin)
    assert len(of_origin) == (2 if width == 390 else 1), "wrapped where the picture is narrow"
    axis = next(one for one in words if one[0] == "FLOP per second")
    assert max(one[2] for one in of_title) < axis[2] < min(one[2] for one in of_origin)


FIGURE = """from IPython.display import Image
from rooflab.show.canvas import figure, png
Image(png(figure(300, 100), transparent=False))"""
SHOWN = """() => [getComputedStyle(document.body).backgroundColor,
    ...[...document.querySelectorAll('.rl-pic')].map(one => one.classList.contains('rl-dark')),
    getComputedStyle(document.querySelector('.jp-RenderedImage img')).filter !== 'none']"""


def test_a_page_is_dark_where_the_system_is(tab: Tab, static_page: Callable[..., str]) -> None:
    address = static_page("dark", f"import rooflab as rl\n{SMALL}", FIGURE)
    black, white = "rgb(20, 20, 20)", "rgb(255, 255, 255)"
    with tab.silent(address, WINDOW, colours="dark") as page:
        page.locator(".rl-scene .say").wait_for()
        assert page.evaluate(SHOWN) == [black, True, True]
        page.emulate_media(color_scheme="light")
        page.wait_for_function("!document.querySelector('.rl-dark')")
        assert page.evaluate(SHOWN) == [white, False, False]
        page.emulate_media(color_scheme="dark")
        page.wait_for_function("document.querySelector('.rl-dark')")
        assert page.evaluate(SHOWN) == [black, True, True]
        page.emulate_media(color_scheme="dark", media="print")
        page.wait_for_function("!document.querySelector('.rl-dark')")
        assert page.evaluate(SHOWN) == [white, False, False], "paper is white"
        page.emulate_media(media="screen")


def test_an_address_brings_back_what_was_shown(tab: Tab, static_page: Callable[..., str]) -> None:
    address = static_page("linked", f"import rooflab as rl\n{SMALL}")
    with tab.silent(address, WINDOW, motion="reduce") as page:
        page.get_by_role("button", name="true shape").click()
        page.evaluate("document.querySelector('.rl-scene').rooflab.set('j', 3)")  # as by a drag
        sentence = page.locator(".rl-scene .say").inner_text()
        page.locator(".rl-offer summary").click()
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
        assert page.locator(".rl-scene .say").inner_text().startswith("This product is a box: ")


def test_no_address_holds_an_answer_or_uncovers_one(tab: Tab, address: str) -> None:
    uncovered = "#picture-1&covered=false&guess_at=3"
    with tab.silent(address + uncovered, WINDOW, motion="reduce") as page:
        page.locator(".rl-guess .skip").wait_for()
        assert page.locator(".rl-guess.done").count() == 0
        assert not page.locator("#picture-2 .rl-offer").is_visible(), "it is still covered"
        assert page.locator("#picture-1 .rl-offer").count() == 0, "an answer is nobody else's"
        click_axis(page, 0.5)
        confirm(page)
        page.locator("#picture-2 .rl-offer summary").click()
        page.locator("#picture-2").get_by_role("button", name="copy a link to this").click()
        expect(page.locator("#picture-2 .rl-offer span")).to_contain_text("as it is")
        assert page.url.endswith("#picture-2")
