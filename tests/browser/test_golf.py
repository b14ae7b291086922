"""Byte golf in a browser: on a page from disk, without a kernel, and in Lab and Notebook 7."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.front import hold_hand, wait_for_kernel
from tests.browser.tab import by_hand, frames, resize

pytestmark = pytest.mark.browser
WINDOW = (1280, 900)

CELLS = (
    """import dataclasses
import numpy as np
import rooflab as rl
from rooflab.labs.golf import sweep
from rooflab.show.guess_axis import guess

def chunked(x, y, chunk=4096):
    out = np.empty_like(x)
    for i in range(0, len(x), chunk):
        half = 0.5 * x[i : i + chunk]
        np.add(half, y[i : i + chunk], out=out[i : i + chunk])
    return out

x, y = np.ones(50_000), np.ones(50_000)
swept = sweep(chunked, x, y, chunks=(1000, 4000, 50_000), rounds=0)
swept = dataclasses.replace(swept, seconds=(10e-3, 9.4e-3, 15.4e-3))
axis = guess("golf", "How many bytes?", result=40, unit="bytes", low=1, high=200)
axis""",
    "shown = rl.live.golf(rl.golf(lambda x, y: 0.5 * x + y, x, y))\nshown",
    "rl.live.golf(swept)",
    "rl.live.golf(swept, after=axis)",
)
ONE, SWEPT, COVERED = (f".rl-golf >> nth={place}" for place in range(3))


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("golf", *CELLS)


def settled(page) -> None:
    for picture, sliders in ((ONE, 1), (SWEPT, 2), (COVERED, 2)):
        handle = page.locator(picture).locator(".noUi-handle[data-lm-suppress-shortcuts]")
        handle.nth(sliders - 1).wait_for(state="attached")
    page.locator(COVERED).locator(".cover:not([hidden])").wait_for()


def press(page, picture, slider: int, key: str) -> None:
    """Press a key on a slider's handle; the picture has followed when this returns."""
    handle = picture.locator(".noUi-handle").nth(slider)
    handle.focus()
    page.keyboard.press(key)
    at = int(float(handle.get_attribute("aria-valuenow")))
    picture.locator(f"svg[data-{'ic'[slider]}='{at}']").wait_for()


def count(picture) -> str:
    return picture.locator(".count").text_content()


def seen(picture, nodes: str):
    return picture.locator(nodes).filter(visible=True)


def letters(picture, nodes: str) -> list[str]:
    return seen(picture, nodes).all_text_contents()


def test_each_step_lays_its_blocks_into_the_ledger(still_page) -> None:
    picture = still_page.locator(ONE)
    assert count(picture) == "0 of 40 bytes an element" and seen(picture, ".entry").count() == 0
    press(still_page, picture, 0, "ArrowRight")
    assert count(picture) == "16 of 40 bytes an element"
    assert letters(picture, ".entry text") == ["x", "tmp1"]
    assert letters(picture, ".trip text") == ["↓ 8 B", "↑ 8 B"]
    press(still_page, picture, 0, "ArrowRight")
    assert count(picture) == "40 of 40 bytes an element"
    assert letters(picture, ".entry text") == ["x", "tmp1", "tmp1", "y", "result"]
    widths = {node.get_attribute("width") for node in seen(picture, ".entry rect").all()}
    assert len(widths) == 1, "8 bytes an element each"
    press(still_page, picture, 0, "Home")
    assert count(picture) == "0 of 40 bytes an element" and seen(picture, ".entry").count() == 0


def test_an_array_is_a_dashed_place_until_it_is_made(still_page) -> None:
    picture = still_page.locator(ONE)
    assert letters(picture, ".home.unborn text") == ["tmp1", "result"]
    press(still_page, picture, 0, "ArrowRight")
    assert letters(picture, ".home.unborn text") == ["result"]


def test_call_code_and_sentence_belong_to_the_step(still_page) -> None:
    picture = still_page.locator(ONE)
    press(still_page, picture, 0, "ArrowRight")
    assert picture.locator(".call").text_content() == "multiply"
    assert "0.5 * x + y" in picture.locator("code").inner_text()
    text = picture.locator(".say").inner_text()
    assert text.startswith("Step 1 of 2, multiply: x is read, tmp1 is written")
    picture.locator("[aria-live]", has_text=text).wait_for(state="attached")
    assert picture.locator(".stage svg").get_attribute("aria-label") == text


def test_the_minimum_is_marked_at_24(still_page) -> None:
    picture = still_page.locator(ONE)
    tick = picture.locator(".ticks text", has_text="24").get_attribute("x")
    assert picture.locator(".least").get_attribute("x1") == tick
    assert picture.locator(".least-says").text_content() == "minimum 24"


def test_blocks_fly_over_the_bus_one_after_the_other(moving_page) -> None:
    by_hand(moving_page)
    picture = moving_page.locator(ONE)
    press(moving_page, picture, 0, "ArrowRight")
    flown = frames(
        moving_page,
        """() => { const svg = document.querySelector('.rl-golf .stage svg');
        return [+svg.dataset.flying, +svg.querySelector('.flyer').getAttribute('y')]; }""",
        50,
    )
    assert flown.pop()[0] == -1, "the last frame lays everything down"
    order = [number for number, _ in flown]
    assert order == sorted(order) and set(order) == {0, 1}
    down, up = ([y for number, y in flown if number == one] for one in (0, 1))
    assert down == sorted(down) and up == sorted(up, reverse=True), "read, then written"
    assert len(set(down)) > 5 and len(set(up)) > 5
    assert picture.locator("svg[data-landed='1']").count() == 1
    assert not picture.locator(".flyer").is_visible()


def test_run_goes_through_the_whole_program(moving_page) -> None:
    picture = moving_page.locator(ONE)
    picture.get_by_role("button", name="run").click()
    picture.locator("svg[data-i='2'][data-flying='-1'][data-landed='4']").wait_for()
    picture.get_by_role("button", name="again").wait_for()
    assert count(picture) == "40 of 40 bytes an element"
    assert picture.locator(".noUi-handle").get_attribute("aria-valuetext") == "2 of 2"


def home(picture, name: str) -> float:
    rect = picture.locator(".home", has_text=name).locator("rect")
    return float(rect.get_attribute("y"))


def test_a_small_chunk_drops_the_temporary_into_cache_and_the_bars_fall(still_page) -> None:
    picture = still_page.locator(SWEPT)
    assert count(picture) == "0 of 40 bytes an element", "it does not open at its end"
    assert picture.locator(".rl-chunk").bounding_box()["y"] < picture.bounding_box()["y"] + 20
    press(still_page, picture, 1, "ArrowLeft")
    assert count(picture) == "24 of 24 bytes an element", "another chunk shows all steps"
    press(still_page, picture, 1, "ArrowRight")
    assert count(picture) == "40 of 40 bytes an element"
    before = home(picture, "tmp1"), float(picture.locator("rect.measured").get_attribute("width"))
    assert before[0] == home(picture, "x")
    press(still_page, picture, 1, "ArrowLeft")
    after = home(picture, "tmp1"), float(picture.locator("rect.measured").get_attribute("width"))
    assert after[0] > before[0] + 100 and home(picture, "x") == before[0]
    assert after[1] / before[1] == pytest.approx(9.4 / 15.4, rel=0.01)
    counted = float(picture.locator("rect.counted").get_attribute("width"))
    assert counted / before[1] == pytest.approx(24 / 40, rel=0.01)
    assert letters(picture, ".trip.free text") == ["↓ free"]
    assert count(picture) == "24 of 24 bytes an element"
    assert picture.locator(".often").inner_text() == "× 13"
    said = picture.locator(".say").inner_text()
    assert "measured 9.40 ms, counted 9.24 ms (60 % of the bytes)" in said


def test_homes_slide_when_the_chunk_changes(moving_page) -> None:
    picture = moving_page.locator(SWEPT)
    press(moving_page, picture, 0, "End")
    by_hand(moving_page)
    press(moving_page, picture, 1, "ArrowLeft")
    ys = frames(
        moving_page,
        """() => +[...document.querySelectorAll('.rl-golf')[1].querySelectorAll('.home')]
        .find(n => n.textContent === 'tmp1').querySelector('rect').getAttribute('y')""",
        20,
    )
    assert len(set(ys)) > 10 and ys == sorted(ys) and ys[-1] > 140


def test_the_sliders_are_named_for_a_screen_reader(still_page) -> None:
    handles = still_page.locator(SWEPT).locator(".noUi-handle")
    names = [handle.get_attribute("aria-label") for handle in handles.all()]
    assert names == ["step of the program", "chunk size"]
    assert handles.nth(1).get_attribute("aria-valuetext") == "chunks of 50\u202f000"
    assert all(h.get_attribute("data-lm-suppress-shortcuts") for h in handles.all())


def test_the_picture_stays_covered_until_the_guess_is_placed(still_page) -> None:
    picture = still_page.locator(COVERED)
    for hidden in (".count", ".entry", ".code", ".noUi-handle"):
        assert not picture.locator(hidden).first.is_visible(), hidden
    shown = "".join(seen(picture, ".rl-pic > :not(.aside)").all_inner_texts())
    assert shown.strip() == "Covered until you have placed your guess above."
    low = picture.bounding_box()["height"]
    still_page.get_by_role("button", name="skip: show me").click()
    picture.locator(".count").wait_for(state="visible")
    assert "measured 15.4 ms" in picture.locator(".say").inner_text()
    assert low < 0.6 * picture.bounding_box()["height"]


SMALL_AND_OUTSIDE = """picture => {
    const svg = picture.querySelector('.stage svg'), frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')]
        .filter(t => t.textContent && t.getBoundingClientRect().width);
    const scale = frame.width / svg.viewBox.baseVal.width;
    const size = t => parseFloat(getComputedStyle(t).fontSize) * scale;
    const out = t => { const b = t.getBoundingClientRect();
        return b.left < frame.left - 1 || b.right > frame.right + 1; };
    return [texts.filter(t => size(t) < 15),
        texts.filter(out)].map(l => l.map(t => t.textContent)); }"""


def test_no_text_is_small_or_outside_the_picture(still_page) -> None:
    for width in (1280, 1600):
        resize(still_page, (width, 900))
        assert still_page.locator(SWEPT).evaluate(SMALL_AND_OUTSIDE) == [[], []], width


def test_on_a_dark_page_letters_are_light(still_page) -> None:
    still_page.evaluate("document.body.style.cssText = 'background: #111 !important'")
    picture = still_page.locator(SWEPT)
    picture.locator(".rl-dark").wait_for(state="attached")
    look = "t => getComputedStyle(t).fill"
    assert picture.locator(".count").evaluate(look) == "rgb(228, 228, 228)"


@pytest.mark.parametrize("front", ["lab", "notebook"])
def test_with_a_kernel_the_step_reaches_python(
    open_notebook: Callable[..., object], front: str
) -> None:
    """Arrow keys where Lab and Notebook 7 have shortcuts for them, too."""
    page = open_notebook(front, f"golf-{front}.ipynb", *CELLS[:2])
    picture = page.locator(".rl-golf")
    picture.locator(".noUi-handle[data-lm-suppress-shortcuts]").wait_for()
    hold_hand(page)
    press(page, picture, 0, "ArrowRight")
    press(page, picture, 0, "ArrowRight")
    picture.locator("svg[data-flying='-1'][data-landed='4']").wait_for()
    assert count(picture) == "40 of 40 bytes an element"
    page.evaluate("rest()")
    wait_for_kernel(page, "(shown.live.i, shown.sliders[0].index)", "(2, 2)")
