"""Byte golf in a browser: on a page from disk, without a kernel, and in Lab and Notebook 7."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.front import wait_for_kernel
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
        slider = page.locator(picture).locator("input[type=range]").nth(sliders - 1)
        slider.wait_for(state="attached")
    page.locator(COVERED).locator(".cover:not([hidden])").wait_for()


def press(picture, name: str, *keys: str) -> None:
    """Press keys on the slider of a dimension; where nothing moves, the picture has followed."""
    label = {"step": "step", "chunk": "chunk size"}[name]
    for key in keys:
        picture.locator(f"input[aria-label='{label}']").press(key)


def count(picture) -> str:
    return picture.locator("text.count").text_content()


def seen(picture, nodes: str):
    return picture.locator(nodes).filter(visible=True)


def letters(picture, nodes: str) -> list[str]:
    return [text for text in seen(picture, nodes).all_text_contents() if text]


def widths(picture, nodes: str) -> list[float]:
    return [float(node.get_attribute("width")) for node in picture.locator(nodes).all()]


def said(picture) -> str:
    return picture.locator(".say").inner_text()


def test_each_step_lays_its_blocks_into_the_ledger(still_page) -> None:
    picture = still_page.locator(ONE)
    assert count(picture) == "0 of 40 bytes an element" and not letters(picture, ".entry-says")
    press(picture, "step", "ArrowRight")
    assert count(picture) == "16 of 40 bytes an element"
    assert letters(picture, ".entry-says") == ["x", "tmp1"]
    assert letters(picture, ".trip-says") == ["↓ 8 B", "↑ 8 B"]
    press(picture, "step", "ArrowRight")
    assert count(picture) == "40 of 40 bytes an element"
    assert letters(picture, ".entry-says") == ["x", "tmp1", "tmp1", "y", "result"]
    assert len(set(widths(picture, "rect.entry"))) == 1, "8 bytes an element each"
    press(picture, "step", "Home")
    assert count(picture) == "0 of 40 bytes an element"
    assert set(widths(picture, "rect.entry")) == {0}


def test_an_array_is_a_dashed_place_until_it_is_made(still_page) -> None:
    picture = still_page.locator(ONE)
    assert seen(picture, "rect.unborn").count() == 2, "tmp1 and the result"
    press(picture, "step", "ArrowRight")
    assert seen(picture, "rect.unborn").count() == 1
    assert seen(picture, "rect.home").count() == 3


def test_call_code_and_sentence_belong_to_the_step(still_page) -> None:
    picture = still_page.locator(ONE)
    press(picture, "step", "ArrowRight")
    assert letters(picture, "text.call") == ["multiply"]
    assert "0.5 * x + y" in " ".join(letters(picture, "text.code"))
    text = said(picture)
    assert text.startswith("Step 1 of 2, multiply: x is read, tmp1 is written")
    picture.locator("[aria-live]", has_text=text).wait_for(state="attached")
    assert picture.locator(".stage svg").get_attribute("aria-label") == text


def test_blocks_fly_over_the_bus_one_after_the_other_at_one_pace(moving_page) -> None:
    by_hand(moving_page)
    picture = moving_page.locator(ONE)
    press(picture, "step", "ArrowRight")
    flown = frames(
        moving_page,
        """() => { const svg = document.querySelector('.rl-golf .stage svg');
        const two = (kind, name) => [...svg.querySelectorAll(kind)].slice(0, 2)
            .map(node => +node.getAttribute(name));
        return [...two('rect.trip', 'y'), ...two('rect.entry', 'width')]; }""",
        50,
    )
    down, up, first, second = zip(*flown, strict=True)
    assert list(down) == sorted(down) and len(set(down)) > 5, "what is read comes down"
    assert list(up) == sorted(up, reverse=True) and len(set(up)) > 5, "what is written goes up"
    last = first[-1]
    assert all(b == 0 for a, b in zip(first, second, strict=True) if a < last)
    done = [wide.index(last) for wide in (first, second)]
    assert done[1] - done[0] == pytest.approx(800 / 50, abs=2), "0.8 s a flight"
    assert len(flown) == pytest.approx((200 + 2 * 800) / 50, abs=3)


def test_run_goes_through_the_whole_program(moving_page) -> None:
    picture = moving_page.locator(ONE)
    picture.get_by_role("button", name="run").click()
    picture.get_by_role("button", name="stop").wait_for()
    picture.get_by_role("button", name="again").wait_for()
    expect(picture.locator("text.count")).to_have_text("40 of 40 bytes an element")
    assert picture.locator("input").get_attribute("aria-valuetext") == "2 of 2"
    picture.get_by_role("button", name="again").click()
    picture.get_by_role("button", name="stop").click()
    assert picture.locator("svg").get_attribute("data-step") == "1"


def homes(picture) -> dict[str, float]:
    """Where each array's name stands, from the top of the picture."""
    spots = picture.locator("text.array").all()
    return {
        spot.text_content(): float(spot.get_attribute("transform").split()[1].rstrip(")"))
        for spot in spots
    }


def test_a_small_chunk_drops_the_temporary_into_cache_and_the_bars_fall(still_page) -> None:
    picture = still_page.locator(SWEPT)
    assert count(picture) == "0 of 40 bytes an element", "it does not open at its end"
    press(picture, "step", "End")
    assert count(picture) == "40 of 40 bytes an element"
    before, measured = homes(picture), widths(picture, "rect.measured")[0]
    assert before["half"] == before["x"], "under the learner's own name"
    press(picture, "chunk", "ArrowLeft")
    after = homes(picture)
    assert after["half"] > before["half"] + 100 and after["x"] == before["x"]
    assert widths(picture, "rect.measured")[0] / measured == pytest.approx(9.4 / 15.4, rel=0.01)
    assert widths(picture, "rect.expected")[0] / measured == pytest.approx(24 / 40, rel=0.01)
    assert "↓ free" in letters(picture, ".trip-says")
    assert count(picture) == "24 of 24 bytes an element"
    assert letters(picture, "text.call") == ["add × 13"]
    assert letters(picture, "text.round") == ["one piece of each: 128 kB"]
    assert "measured 9.40 ms. Expected from the bytes: 9.24 ms." in said(picture)
    assert "half stays in cache: free." in said(picture)
    assert picture.locator(".origin").inner_text() == "In the log of rl.golf half is tmp1."


def test_homes_slide_when_the_chunk_changes(moving_page) -> None:
    picture = moving_page.locator(SWEPT)
    press(picture, "step", "End")
    by_hand(moving_page)
    press(picture, "chunk", "ArrowLeft")
    ys = frames(
        moving_page,
        """() => +[...document.querySelectorAll('.rl-golf')[1].querySelectorAll('text.array')]
        .find(n => n.textContent === 'half').getAttribute('transform').match(/[\\d.]+/g)[1]""",
        20,
    )
    assert len(set(ys)) > 10 and ys == sorted(ys) and ys[-1] > ys[0] + 100


def pull(page, picture, area: int, start: float, end: float) -> None:
    """Pull on a grip, from and to shares of its width."""
    grip = picture.locator(".rl-grip").nth(area)
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=4)
    page.mouse.up()


def test_pulling_along_the_ledger_goes_through_the_program(still_page) -> None:
    picture = still_page.locator(ONE)
    for share, bytes_ in ((0.45, 16), (0.97, 40), (0.02, 0)):
        pull(still_page, picture, 0, 0.1, share)
        assert count(picture) == f"{bytes_} of 40 bytes an element"
    assert picture.locator("input").get_attribute("aria-valuetext") == "0 of 2"


def test_pulling_at_the_pieces_makes_them_larger_or_smaller(still_page) -> None:
    picture = still_page.locator(SWEPT)
    chunk = picture.locator("input[aria-label='chunk size']")
    pull(still_page, picture, 0, 0.97, 0.15)
    assert chunk.get_attribute("aria-valuetext") == "4000"
    pull(still_page, picture, 0, 0.15, 0.03)
    assert chunk.get_attribute("aria-valuetext") == "1000"
    pull(still_page, picture, 0, 0.03, 0.97)
    assert chunk.get_attribute("aria-valuetext") == "50\u202f000"


def test_the_sliders_are_named_for_a_screen_reader(still_page) -> None:
    sliders = still_page.locator(SWEPT).locator("input[type=range]")
    names = [slider.get_attribute("aria-label") for slider in sliders.all()]
    assert names == ["step", "chunk size"]
    assert sliders.nth(1).get_attribute("aria-valuetext") == "50\u202f000"
    assert all(one.get_attribute("data-lm-suppress-shortcuts") for one in sliders.all())


def test_the_picture_stays_covered_until_the_guess_is_placed(still_page) -> None:
    picture = still_page.locator(COVERED)
    for hidden in ("text.count", "rect.entry", "text.code", "input"):
        assert not picture.locator(hidden).first.is_visible(), hidden
    low = picture.bounding_box()["height"]
    assert picture.inner_text().strip() == "Covered until you have placed your guess above."
    still_page.get_by_role("button", name="skip: show me").click()
    picture.locator("text.count").wait_for(state="visible")
    assert "measured 15.4 ms" in said(picture)
    assert low < 0.6 * picture.bounding_box()["height"]


def test_all_of_it_is_in_sight_on_a_laptop_and_every_letter_is_large_enough(still_page) -> None:
    picture = still_page.locator(SWEPT)
    for window, most in (((1366, 680), 600), ((1280, 900), 780), ((390, 800), 600)):
        resize(still_page, window)
        top, bar = picture.bounding_box(), picture.locator("rect.expected").bounding_box()
        assert bar["y"] + bar["height"] - top["y"] < most, window
        small = picture.evaluate(
            """picture => { const svg = picture.querySelector('.stage svg');
            const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            const size = text => parseFloat(getComputedStyle(text).fontSize) * scale;
            return [...svg.querySelectorAll('text')].filter(text => size(text) < 11)
                .map(text => text.textContent); }"""
        )
        assert small == [], window


def test_on_a_phone_the_code_is_broken_and_not_cut(still_page) -> None:
    resize(still_page, (390, 800))
    picture = still_page.locator(SWEPT)
    press(picture, "step", "End")
    line = " ".join(one.strip() for one in letters(picture, "text.code"))
    assert line == "np.add(half, y[i : i + chunk], out=out[i : i + chunk])"
    assert len(letters(picture, "text.code")) == 2


def test_on_a_dark_page_letters_are_light(still_page) -> None:
    still_page.evaluate("document.body.style.cssText = 'background: #111 !important'")
    picture = still_page.locator(f"{SWEPT} >> css=:scope.rl-dark")
    picture.wait_for(state="attached")
    look = "t => getComputedStyle(t).fill"
    assert picture.locator("text.count").evaluate(look) == "rgb(228, 228, 228)"


@pytest.mark.parametrize("front", ["lab", "notebook"])
def test_with_a_kernel_the_step_reaches_python(
    open_notebook: Callable[..., object], front: str
) -> None:
    """Arrow keys where Lab and Notebook 7 have shortcuts for them, too."""
    page = open_notebook(front, f"golf-{front}.ipynb", *CELLS[:2])
    picture = page.locator(".rl-golf")
    picture.locator("input").wait_for()
    press(picture, "step", "ArrowRight", "ArrowRight")
    expect(picture.locator("text.count")).to_have_text("40 of 40 bytes an element")
    wait_for_kernel(page, "(shown.step, shown.sentence[:11])", "(2, 'Step 2 of 2')")
