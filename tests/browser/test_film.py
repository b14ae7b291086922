"""The request film in a browser: on a page from disk, where no kernel answers, and in Lab."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.front import hold_hand, wait_for_kernel
from tests.browser.tab import by_hand, frames

pytestmark = pytest.mark.browser
WINDOW = (1280, 1000)

ROOT = Path(__file__).parents[2]
START = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
import rooflab as rl
from rooflab.show.guess_axis import guess
from tests.support.film_example import HERE, SMALL, run
axis = guess("film", "How many tokens a second?", result=240, unit="tokens/s", low=1, high=10_000)
axis"""
CELLS = (
    START,
    'rl.live.film("llama-2-7b", ("h100-sxm", "rtx-4090", HERE), machine="h100-sxm")',
    "rl.live.film(SMALL, HERE, decode_run=[run(1), run(8)], context=256)",
    "rl.live.film(SMALL, 'h100-sxm', after=axis)",
)
FILM, RAN, COVERED = (f".rl-film >> nth={place}" for place in range(3))


@pytest.fixture(scope="module")
def address(static_page: Callable[..., str]) -> str:
    return static_page("film", *CELLS)


def settled(page) -> None:
    for picture in (FILM, RAN, COVERED):
        page.locator(picture).locator("svg[data-tick]").wait_for(state="attached")
    page.locator(COVERED).locator(".cover:not([hidden])").wait_for()


def slide(page, picture, slider: int, key: str, times: int = 1) -> None:
    """Press a key on a slider, which says where it stands at once."""
    picture.locator("input[type=range]").nth(slider).focus()
    for _ in range(times):
        page.keyboard.press(key)


def x_of(picture, name: str) -> float:
    text = picture.locator(f".op-{name}").get_attribute("transform")
    return float(text.removeprefix("translate(").split()[0])


def rate(picture) -> float:
    return float(picture.locator(".rate").text_content().split()[0].replace(",", ""))


def test_batch_walks_the_weight_products_right_while_attention_stays(still_page) -> None:
    picture = still_page.locator(FILM)
    before = {name: x_of(picture, name) for name in ("mlp", "head", "attention", "prefill")}
    one = rate(picture)
    slide(still_page, picture, 0, "ArrowRight", 11)
    after = {name: x_of(picture, name) for name in before}
    assert after["mlp"] > before["mlp"] + 100 and after["head"] > before["head"] + 100
    assert abs(after["attention"] - before["attention"]) < 2
    assert after["prefill"] == before["prefill"]
    assert 10 < rate(picture) / one < 64, "batch 64 is not 64×: every sequence reads its own cache"


def test_a_longer_context_costs_time_and_moves_the_prefill(still_page) -> None:
    picture = still_page.locator(FILM)
    one, prefill = rate(picture), x_of(picture, "prefill")
    slide(still_page, picture, 1, "End")
    assert rate(picture) < one / 4 and x_of(picture, "prefill") > prefill
    said = picture.locator(".say").inner_text()
    assert "trained on contexts up to 4096" in said and "131\u202f072" in said
    assert picture.locator(".sizes").text_content().startswith("batch 1, context")
    slide(still_page, picture, 0, "End")
    assert picture.locator(".sizes").text_content().startswith("does not fit: ")
    assert picture.locator(".sizes").evaluate("t => getComputedStyle(t).fill") == "rgb(176, 0, 32)"


def test_past_the_ridge_the_weight_products_compute(still_page) -> None:
    picture = still_page.locator(FILM)
    assert picture.locator(".limit-mlp").text_content() == "memory: weights"
    slide(still_page, picture, 0, "End")
    assert picture.locator(".limit-mlp").text_content() == "compute"


def test_a_click_on_a_bar_moves_the_context_slider(still_page) -> None:
    picture = still_page.locator(FILM)
    bars, slider = picture.locator("rect.rl-grip"), picture.locator("input[type=range]").nth(1)
    box = bars.bounding_box()
    bars.click(position={"x": box["width"] * 5.5 / 27, "y": box["height"] / 2})
    assert slider.get_attribute("aria-valuetext") == "96"


def test_fewer_bits_are_faster_and_another_machine_has_another_roof(still_page) -> None:
    picture = still_page.locator(FILM)
    full, ridge = rate(picture), picture.locator(".ridge").get_attribute("d")
    picture.get_by_label("weights").select_option(label="int4")
    fewer = rate(picture)
    assert 3 < fewer / full < 4
    picture.get_by_label("machine").select_option(label="NVIDIA GeForce RTX 4090")
    assert 3 < fewer / rate(picture) < 3.6, "3.35 against 1.01 TB/s"
    assert picture.locator(".ridge").get_attribute("d") != ridge


def test_a_machine_that_lacks_every_format_is_greyed_with_the_reason(still_page) -> None:
    option = still_page.locator(FILM).locator("option", has_text="test machine")
    assert option.evaluate("node => node.disabled")
    assert "no bf16 figure" in option.text_content()


def test_what_was_measured_shows_at_its_batch_only(still_page) -> None:
    picture = still_page.locator(RAN)
    assert "Measured at context 257" in picture.locator(".say").inner_text()
    assert picture.locator(".ran-rate").text_content().startswith("measured")
    slide(still_page, picture, 0, "ArrowRight")
    assert "Measured" not in picture.locator(".say").inner_text()
    assert picture.locator(".ran-rate").text_content() == ""


def test_it_stays_covered_until_there_is_a_guess(still_page) -> None:
    picture = still_page.locator(COVERED)
    assert picture.inner_text().strip() == "Covered until you have placed your guess above."
    assert not picture.locator("input").first.is_visible()
    still_page.get_by_role("button", name="skip: show me").click()
    picture.locator("input").first.wait_for(state="visible")


def test_it_speaks_to_a_screen_reader_and_names_its_sliders(still_page) -> None:
    picture = still_page.locator(FILM)
    sliders = picture.locator("input[type=range]").all()
    assert [s.get_attribute("aria-label").split(",")[0] for s in sliders] == ["batch", "context"]
    assert all(s.get_attribute("data-lm-suppress-shortcuts") for s in sliders)
    slide(still_page, picture, 0, "ArrowRight")
    said = picture.locator(".say").inner_text()
    assert said.startswith("A batch of 2 at context 1024")
    picture.locator("[aria-live]", has_text=said).wait_for(state="attached")


def test_the_roof_slides_to_another_machine_unless_stillness_was_asked_for(moving_page) -> None:
    by_hand(moving_page)
    picture = moving_page.locator(FILM)
    picture.get_by_label("machine").select_option(label="NVIDIA GeForce RTX 4090")
    ridges = frames(moving_page, "() => document.querySelector('.ridge').getAttribute('d')", 20)
    places = [float(d[1:].split()[0]) for d in ridges]
    assert len(set(places)) > 10 and places in (sorted(places), sorted(places, reverse=True))


def test_in_lab_arrow_keys_move_it_and_the_kernel_knows_where_it_stands(open_notebook) -> None:
    cell = 'import rooflab as rl\nw = rl.live.film("llama-2-7b", "h100-sxm")\nw'
    page = open_notebook("lab", "film.ipynb", cell)
    picture = page.locator(".rl-film")
    picture.locator("svg[data-tick]").wait_for(state="attached")
    hold_hand(page)
    slide(page, picture, 0, "ArrowRight", 3)
    assert picture.locator(".say").inner_text().startswith("A batch of 4")
    page.evaluate("rest()")
    wait_for_kernel(page, "w.batch", "4")
